//! Weights of rows in their groups, and rows that belong to several groups.

use std::ops::Range;

use super::{Groups, order};
use crate::linalg::vector::{dot, sum, update_with};
use crate::model::row_data::RowData;
use crate::model::setting::{InvalidSetting, positive};

impl Groups {
    /// Groups that may overlap: group i has the rows `members[starts[i]..starts[i + 1]]`, numbers
    /// of rows from 0 on. No row is copied; a row of no group takes no part. Passes are fastest
    /// where the members of a group rise in steps of 1.
    ///
    /// # Errors
    /// As [`Groups::new`], with starts that rise from 0 to the number of members, each of which is
    /// the number of a row.
    pub fn of_members(
        width: usize,
        rows: impl Into<RowData>,
        members: Vec<u32>,
        starts: Vec<usize>,
        intercept: bool,
    ) -> Result<Self, InvalidSetting> {
        let rows = rows.into();
        let all = rows.len() / width.max(1);
        if let Some(k) = members.iter().position(|&row| row as usize >= all) {
            return Err(InvalidSetting::new(
                format!("members[{k}]"),
                members[k].to_string(),
                format!("a number of a row, below {all}"),
            ));
        }
        let plain = members.len() == all && members.iter().zip(0..).all(|(&row, k)| row == k);
        let members = if plain { Vec::new() } else { members };
        Self::of_places(width, rows, members, starts, intercept)
    }

    /// The same with a weight for each place: the mean of a group becomes the weighted one. Whole
    /// numbers are the rows repeated as often.
    ///
    /// # Errors
    /// Unless there is a weight for each place, finite and above 0.
    pub fn with_weights(mut self, weights: &[f64]) -> Result<Self, InvalidSetting> {
        if weights.len() != self.rows() {
            let expected = format!("one for each of {} rows", self.rows());
            let given = format!("{} numbers", weights.len());
            return Err(InvalidSetting::new("weights", given, expected));
        }
        for (r, &weight) in weights.iter().enumerate() {
            if !(weight.is_finite() && weight > 0.0) {
                positive(&format!("weights[{r}]"), weight)?;
            }
        }
        let mut factors = Vec::with_capacity(weights.len());
        self.totals.clear();
        for i in 0..self.count() {
            let own = &weights[self.range(i)];
            let total: f64 = own.iter().sum();
            self.totals.push(total);
            factors.extend(own.iter().map(|weight| weight * (own.len() as f64 / total)));
        }
        // Equal weights are none.
        let largest = factors.iter().copied().fold(0.0, f64::max);
        self.longest *= largest.max(1.0);
        self.in_random_order &= order::is_random(1, &weights.to_vec().into(), &self.starts);
        self.factors = if factors.iter().all(|c| *c == 1.0) { Vec::new() } else { factors };
        Ok(self)
    }

    /// The sum of the weights of group i; without weights, the number of its rows.
    pub fn total(&self, i: usize) -> f64 {
        if self.totals.is_empty() { self.size(i) as f64 } else { self.totals[i] }
    }

    /// The smallest share that a row has in the mean of group i.
    pub fn least_share(&self, i: usize) -> f64 {
        let own = self.factors.get(self.range(i)).unwrap_or_default();
        own.iter().copied().fold(1.0, f64::min) / self.size(i) as f64
    }

    /// The row at place r.
    #[inline(always)]
    pub(super) fn row_at(&self, r: usize) -> usize {
        if self.members.is_empty() { r } else { self.members[r] as usize }
    }

    /// The end of the places from `first` on, `end` at most, whose rows lie one after the other.
    #[inline(always)]
    pub(super) fn end_of_run(&self, first: usize, end: usize) -> usize {
        if self.members.is_empty() {
            return end;
        }
        let run = self.members[first..end].windows(2).position(|pair| pair[1] != pair[0] + 1);
        run.map_or(end, |k| first + k + 1)
    }

    /// `c_ij` of the row at place r.
    #[inline(always)]
    pub(super) fn factor(&self, r: usize) -> f64 {
        if self.factors.is_empty() { 1.0 } else { self.factors[r] }
    }

    /// `sum_r c_r values_r` over places.
    #[inline(always)]
    pub(super) fn weighted_sum(&self, places: &Range<usize>, values: &[f64]) -> f64 {
        if self.factors.is_empty() {
            sum(values)
        } else {
            dot(&self.factors[places.clone()], values)
        }
    }

    /// `values_r <- c_r values_r` at places.
    #[inline(always)]
    pub(super) fn weigh(&self, places: &Range<usize>, values: &mut [f64]) {
        if !self.factors.is_empty() {
            update_with(values, &self.factors[places.clone()], |value, c| c * value);
        }
    }
}

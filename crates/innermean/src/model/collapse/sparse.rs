//! Rows of which most numbers are zero.

use std::ops::Range;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::model::inner::Inner;
use crate::model::setting::InvalidSetting;

/// Compressed rows: ell rows of length d for each term, all with the same columns, those of the
/// term.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SparseRows {
    #[serde(with = "crate::run::checkpoint::shape::fixed")]
    d: usize,
    #[serde(with = "crate::run::checkpoint::shape::fixed")]
    ell: usize,
    /// Term i owns `columns[starts[i]..starts[i + 1]]`.
    #[serde(with = "crate::run::checkpoint::shape::fixed")]
    starts: Vec<usize>,
    /// Rising within a term.
    #[serde(with = "crate::run::checkpoint::shape::fixed")]
    columns: Vec<u32>,
    /// For each term ell rows, each as long as its columns.
    values: Vec<f64>,
}

/// Rows that a thread checks at once.
const ROWS_PER_TASK: usize = 1 << 10;

impl SparseRows {
    /// One row for each term, ell = 1: row i holds `values[starts[i]..starts[i + 1]]` at the
    /// columns of the same places.
    ///
    /// # Errors
    /// Unless the starts rise from 0 to the number of values, columns rise within a row and are
    /// below d, and values are finite.
    pub fn new(
        d: usize,
        starts: Vec<usize>,
        columns: Vec<u32>,
        values: Vec<f64>,
    ) -> Result<Self, InvalidSetting> {
        let whole = starts.first() == Some(&0) && starts.last() == Some(&values.len());
        if !whole || columns.len() != values.len() || !starts.is_sorted() {
            let given = format!(
                "{} starts, {} columns, {} values",
                starts.len(),
                columns.len(),
                values.len()
            );
            let expected =
                "starts that rise from 0 to the number of values, and a column for each value";
            return Err(InvalidSetting::new("rows", given, expected));
        }
        let wrong = |i: usize| {
            let own = starts[i]..starts[i + 1];
            let columns = &columns[own.clone()];
            if let Some(k) = (1..columns.len()).find(|&k| columns[k - 1] >= columns[k]) {
                let given =
                    format!("column {} after column {} in row {i}", columns[k], columns[k - 1]);
                return Some(InvalidSetting::new("rows", given, "columns that rise"));
            }
            if let Some(last) = columns.last().filter(|&&last| last as usize >= d) {
                let given = format!("column {last} in row {i}");
                return Some(InvalidSetting::new("rows", given, format!("columns below {d}")));
            }
            let bad = own.clone().find(|&k| !values[k].is_finite())?;
            let given = format!("{} in row {i}, column {}", values[bad], columns[bad - own.start]);
            Some(InvalidSetting::new("rows", given, "finite numbers"))
        };
        let rows = (0..starts.len() - 1).into_par_iter().with_min_len(ROWS_PER_TASK);
        if let Some(error) = rows.find_map_first(wrong) {
            return Err(error);
        }
        Ok(SparseRows { d, ell: 1, starts, columns, values })
    }

    /// Rows that are known to be in order.
    pub(super) fn of_parts(
        d: usize,
        starts: Vec<usize>,
        columns: Vec<u32>,
        values: Vec<f64>,
    ) -> Self {
        SparseRows { d, ell: 1, starts, columns, values }
    }

    /// The mean Jacobians at theta of an f that knows its supports; None if it does not.
    pub fn mean_jacobians(f: &dyn Inner, theta: &[f64]) -> Option<Self> {
        let mut rows = Self::zeros(f)?;
        rows.linearise(f, theta);
        Some(rows)
    }

    /// Zeros at the supports of f; None if it does not know them.
    pub(super) fn zeros(f: &dyn Inner) -> Option<Self> {
        let (d, ell, n_x) = (f.d(), f.ell(), f.n_x());
        let mut rows =
            SparseRows { d, ell, starts: vec![0], columns: Vec::new(), values: Vec::new() };
        for i in 0..n_x {
            rows.columns.extend_from_slice(f.support(i)?);
            rows.starts.push(rows.columns.len());
        }
        rows.values.resize(ell * rows.columns.len(), 0.0);
        Some(rows)
    }

    /// Takes the mean Jacobians at another point; the columns stay.
    pub(super) fn linearise(&mut self, f: &dyn Inner, theta: &[f64]) {
        let mut whole = vec![0.0; self.d];
        let mut unit = vec![0.0; self.ell];
        for i in 0..self.terms() {
            for c in 0..self.ell {
                unit[c] = 1.0;
                f.add_mean_jac_t(theta, i, &unit, 1.0, &mut whole);
                unit[c] = 0.0;
                let (own, columns) = (self.own(i, c), self.range(i));
                for (value, &l) in self.values[own].iter_mut().zip(&self.columns[columns]) {
                    *value = std::mem::take(&mut whole[l as usize]);
                }
            }
        }
    }

    /// The length of a row.
    pub fn d(&self) -> usize {
        self.d
    }

    /// The number of terms.
    pub fn terms(&self) -> usize {
        self.starts.len() - 1
    }

    /// All numbers that are stored.
    pub fn numbers(&self) -> usize {
        self.values.len()
    }

    #[inline(always)]
    /// The lengths of all terms' columns, added up, and the most of one.
    pub(super) fn support_sizes(&self) -> (usize, usize) {
        let sizes = self.starts.windows(2).map(|own| own[1] - own[0]);
        (self.columns.len(), sizes.max().unwrap_or(0))
    }

    fn range(&self, i: usize) -> Range<usize> {
        self.starts[i]..self.starts[i + 1]
    }

    /// Where the values of row c of term i lie.
    #[inline(always)]
    fn own(&self, i: usize, c: usize) -> Range<usize> {
        let Range { start, end } = self.range(i);
        let first = self.ell * start + c * (end - start);
        first..first + (end - start)
    }

    /// The columns of term i.
    #[inline(always)]
    pub fn columns(&self, i: usize) -> &[u32] {
        &self.columns[self.range(i)]
    }

    /// The values of row c of term i, at the term's columns.
    #[inline(always)]
    pub fn values(&self, i: usize, c: usize) -> &[f64] {
        &self.values[self.own(i, c)]
    }

    /// The values of all rows of term i.
    #[inline(always)]
    pub(super) fn term(&self, i: usize) -> &[f64] {
        &self.values[self.ell * self.starts[i]..self.ell * self.starts[i + 1]]
    }

    /// Asks for the rows of term i to be brought near.
    #[inline(always)]
    pub(super) fn prefetch(&self, i: usize) {
        let Range { start, end } = self.range(i);
        crate::linalg::vector::prefetch(&self.values, self.ell * start, self.ell * (end - start));
        crate::linalg::vector::prefetch(&self.columns, start, (end - start).div_ceil(2));
    }

    /// Multiplies every column l by `factors[l]`.
    pub(super) fn multiply_columns(&mut self, factors: &[f64]) {
        for i in 0..self.terms() {
            for c in 0..self.ell {
                let (own, columns) = (self.own(i, c), self.range(i));
                for (value, &l) in self.values[own].iter_mut().zip(&self.columns[columns]) {
                    *value *= factors[l as usize];
                }
            }
        }
    }
}

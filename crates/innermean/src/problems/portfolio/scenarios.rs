//! Periods as scenarios: with weights, against a benchmark, and without the mean inside.
//!
//! With weights `omega_i` of mean 1 and the returns `z_i` of a benchmark,
//!
//! ```text
//! m = (1/n) sum_j omega_j x_j,  zbar = (1/n) sum_j omega_j z_j
//! fbar_i(theta) = <x_i - m, theta> - (z_i - zbar)
//! ```
//!
//! is the deviation of period i, to which [`Weighted`](crate::Weighted) gives its weight. Risks of
//! the return itself look at losses beside a threshold, [`Portfolio::losses`], or at wealth,
//! [`Portfolio::wealth`].

use std::sync::OnceLock;

use super::Portfolio;
use crate::linalg::blocks::Blocks;
use crate::linalg::vector::axpy;
use crate::model::collapse::Collapsed;
use crate::model::row_data::{Made, RowData};
use crate::model::setting::{InvalidSetting, all_finite, positive};

impl Portfolio {
    /// The same with a weight above 0 for each period; only their ratios count. The mean is the
    /// weighted one, and phi has to be [`Weighted`](crate::Weighted) by [`Self::weights`].
    ///
    /// # Errors
    /// Unless there is one for each period, all finite and above 0.
    pub fn with_weights(mut self, weights: Vec<f64>) -> Result<Self, InvalidSetting> {
        self.check_periods("weights", weights.len())?;
        for (i, &weight) in weights.iter().enumerate() {
            positive(&format!("weights[{i}]"), weight)?;
        }
        let share = self.n as f64 / weights.iter().sum::<f64>();
        self.weights = weights.into_iter().map(|weight| share * weight).collect();
        self.mean = mean(self.d, &self.returns, &self.weights);
        (self.reach, self.squares) = (OnceLock::new(), OnceLock::new());
        self.products = None;
        self.centre_benchmark();
        Ok(self)
    }

    /// The same where the return of a period is that beyond a benchmark's.
    ///
    /// # Errors
    /// Unless there is one number for each period, all finite.
    pub fn with_benchmark(mut self, benchmark: Vec<f64>) -> Result<Self, InvalidSetting> {
        self.check_periods("benchmark", benchmark.len())?;
        self.benchmark = all_finite("benchmark", benchmark)?;
        self.centre_benchmark();
        Ok(self)
    }

    /// `omega_i`, of mean 1, if periods have weights.
    pub fn weights(&self) -> Option<&[f64]> {
        Some(&*self.weights).filter(|weights| !weights.is_empty())
    }

    /// `z_i`, if there is a benchmark.
    pub fn benchmark(&self) -> Option<&[f64]> {
        Some(&*self.benchmark).filter(|benchmark| !benchmark.is_empty())
    }

    /// The mean return of the benchmark, 0 if there is none.
    pub fn benchmark_return(&self) -> f64 {
        mean_of_numbers(&self.benchmark, &self.weights).first().copied().unwrap_or(0.0)
    }

    /// `f_i(theta, t) = -<x_i, theta> + z_i - base - t`, with t behind the weights of the assets: by
    /// how much the loss of a period is beyond `base + t`. Conditional value at risk and the
    /// entropic risk are minima over t ([`Excess`](crate::Excess),
    /// [`Exponential`](crate::Exponential)).
    pub fn losses(&self, base: f64) -> Collapsed {
        let d = self.d;
        let loss = move |row: &[f64], out: &mut [f64]| {
            out.iter_mut().zip(row).for_each(|(out, x)| *out = -x);
            out[d] = -1.0;
        };
        let rows = Made::where_they_are((&self.returns, d), d + 1, loss);
        let behind = |benchmark: &[f64]| benchmark.iter().map(|z| z - base).collect();
        let offsets = self.benchmark().map_or_else(|| vec![-base; self.n], behind);
        Collapsed::from_rows(self.d + 1, rows, offsets)
    }

    /// `f_i(theta) = 1 + (<x_i, theta> - z_i) / unit`: what one unit of money becomes in period i,
    /// for returns in that unit, 1 for fractions and 100 for percent.
    pub fn wealth(&self, unit: f64) -> Collapsed {
        let share = move |row: &[f64], out: &mut [f64]| {
            out.iter_mut().zip(row).for_each(|(out, x)| *out = x / unit);
        };
        let rows = Made::where_they_are((&self.returns, self.d), self.d, share);
        let ones = || vec![1.0; self.n];
        let offsets = self
            .benchmark()
            .map_or_else(ones, |benchmark| benchmark.iter().map(|z| 1.0 - z / unit).collect());
        Collapsed::from_rows(self.d, rows, offsets)
    }

    /// Whether all periods count alike and there is no benchmark.
    pub(super) fn is_plain(&self) -> bool {
        self.weights.is_empty() && self.offsets.is_empty()
    }

    /// `max_j |omega_j x_j - m|`
    pub(super) fn weighted_reach(&self) -> f64 {
        self.blocks().max(
            || (),
            |(), j| {
                self.with_row(j, |row| {
                    let terms = row.iter().zip(&self.mean);
                    terms.map(|(x, m)| (self.weight(j) * x - m).powi(2)).sum::<f64>().sqrt()
                })
            },
        )
    }

    fn check_periods(&self, name: &str, found: usize) -> Result<(), InvalidSetting> {
        if found == self.n {
            return Ok(());
        }
        let expected = format!("{}, one for each period", self.n);
        Err(InvalidSetting::new(name, format!("{found} numbers"), expected))
    }

    fn centre_benchmark(&mut self) {
        let centre = self.benchmark_return();
        self.offsets = self.benchmark.iter().map(|z| centre - z).collect();
    }
}

/// `(1/n) sum_i omega_i x_i`
pub(super) fn mean(d: usize, rows: &RowData, weights: &[f64]) -> Vec<f64> {
    let n = rows.len() / d;
    let mut mean = vec![0.0; d];
    if n == 0 {
        return Vec::new();
    }
    Blocks::new(n, d).add(
        1.0 / n as f64,
        &mut mean,
        #[inline(always)]
        |range, partial| {
            rows.visit(
                d,
                range,
                #[inline(always)]
                |range, own| {
                    if weights.is_empty() {
                        return add_rows(d, own, partial);
                    }
                    for (i, row) in range.zip(own.chunks_exact(d)) {
                        axpy(weights[i], row, partial);
                    }
                },
            );
        },
    );
    mean
}

/// [`mean`] of a column at hand.
fn mean_of_numbers(numbers: &[f64], weights: &[f64]) -> Vec<f64> {
    mean(1, &numbers.to_vec().into(), weights)
}

/// `sum += x_i` row after row, four at a time, so that the sum is read and written for each four.
#[inline(always)]
fn add_rows(d: usize, rows: &[f64], sum: &mut [f64]) {
    let mut fours = rows.chunks_exact(4 * d);
    for four in &mut fours {
        let (a, rest) = four.split_at(d);
        let (b, rest) = rest.split_at(d);
        let (c, e) = rest.split_at(d);
        for ((((sum, a), b), c), e) in sum.iter_mut().zip(a).zip(b).zip(c).zip(e) {
            *sum = *sum + a + b + c + e;
        }
    }
    for row in fours.remainder().chunks_exact(d) {
        sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
}

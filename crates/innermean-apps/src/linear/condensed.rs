//! Square loss of rows that were read once and not kept. The loss depends on their moments alone,
//!
//! ```text
//! (1/n) sum_i (<x_i, theta> + b - t_i)^2 / 2,   (x_i, t_i) of mean m and covariance Sigma
//! ```
//!
//! so that few rows with the same moments give the same problem: with an intercept, those of
//! [`RowMoments::symmetric_rows`] about the means, which the intercept takes up; without, rows
//! whose mean products are `Sigma + m m'`.

use innermean::RowMoments;
use innermean::problems::scaling::Scaling;

use super::{LinearData, LinearError, LinearFit, LinearSettings, LinearTask, Loss, Rows, Target};
use crate::error::{Error, same_length};

/// What is known of rows that were not kept.
pub(super) struct Read {
    /// How many.
    rows: u64,
    /// The mean of the target, which the targets of the run lack where there is an intercept.
    shift: f64,
    /// The variance of the target.
    spread: f64,
    /// [`Facts::roundings`](innermean::Facts::roundings)
    pub(super) roundings: u32,
}

impl LinearTask {
    /// The problem of rows of which only the moments are kept: of the features in the order of
    /// `names`, and of the target behind them.
    ///
    /// # Errors
    /// As [`Self::new`], and if the loss is not the square.
    pub fn of_moments(
        names: Vec<String>,
        moments: &RowMoments,
        settings: &LinearSettings,
    ) -> Result<Self, Error> {
        settings.check()?;
        if settings.loss != Loss::Square {
            return Err(LinearError::OfMoments(settings.loss).into());
        }
        let d = names.len();
        same_length("columns of the moments", moments.d(), d + 1)?;
        let mean = moments.mean();
        let (rows, roundings) =
            if settings.intercept { moments.symmetric_rows() } else { moments.rows_about_zero() };
        let size = |l: usize| {
            let far = if settings.intercept { 0.0 } else { mean[l] };
            power_of_two_near((moments.covariance(l, l) + far * far).sqrt())
        };
        let sizes: Vec<f64> = (0..d).map(size).collect();
        let centers = if settings.intercept { mean[..d].to_vec() } else { Vec::new() };
        let target = rows.iter().skip(d).step_by(d + 1).copied().collect();
        let scaled: Vec<f64> = rows
            .chunks_exact(d + 1)
            .flat_map(|row| row.iter().zip(&sizes).map(|(x, size)| x / size))
            .collect();
        let data = LinearData::new(names, Rows::Dense(scaled.into()), Target::Numbers(target))?;
        let shift = if settings.intercept { mean[d] } else { 0.0 };
        let spread = if moments.constant().contains(&d) { 0.0 } else { moments.covariance(d, d) };
        let read = Read { rows: moments.rows(), shift, spread, roundings };
        Self::with_scaling(data, settings, Scaling::given(sizes, centers), Some(read))
    }

    /// How many rows there are.
    pub fn rows_read(&self) -> u64 {
        self.read.as_ref().map_or(self.data.len() as u64, |read| read.rows)
    }

    /// Whether the rows were read once and not kept.
    pub fn is_of_moments(&self) -> bool {
        self.read.is_some()
    }

    /// What the targets of the run lack.
    pub(super) fn shift(&self) -> f64 {
        self.read.as_ref().map_or(0.0, |read| read.shift)
    }

    /// How well rows that were not kept are fitted.
    pub(super) fn fit_of_moments(&self, scores: &[f64]) -> Option<LinearFit> {
        let read = self.read.as_ref()?;
        let targets = self.data.target().numbers();
        let square = |(score, target): (&f64, &f64)| (score - target) * (score - target);
        let sum: f64 = scores.iter().zip(targets).map(square).sum();
        Some(LinearFit::of_moments(sum / targets.len() as f64, read.spread))
    }
}

/// Units in which nothing is rounded; 1 for what is always 0.
fn power_of_two_near(x: f64) -> f64 {
    if x.is_normal() { x.log2().round().exp2() } else { 1.0 }
}

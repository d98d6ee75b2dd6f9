//! Transitions that were read once and not kept. A, b and C are mean products of `phi_t`, `phi'_t`,
//! `r_t` and, with traces, `z_t`, so that few transitions with the same mean products give the same
//! problem ([`RowMoments::rows_about_zero`]).

use super::{Given, Mspbe};
use crate::linalg::vector::dot;
use crate::model::row_moments::RowMoments;
use crate::model::setting::{self, InvalidSetting};

impl Mspbe {
    /// The projected error of transitions of which only the moments are known: those of the rows
    /// `(phi_t, phi'_t, r_t)`, or `(phi_t, phi'_t, r_t, z_t)` with traces of whatever lambda. A proof
    /// allows for their [roundings](crate::Facts::roundings).
    ///
    /// # Errors
    /// Unless rows are so long and finite, and the discount lies in `[0, 1]`.
    pub fn of_moments(
        d: usize,
        moments: &RowMoments,
        discount: f64,
    ) -> Result<Self, InvalidSetting> {
        let width = moments.d();
        let traced = width == 3 * d + 1;
        if d == 0 || moments.rows() == 0 || !(traced || width == 2 * d + 1) {
            let given = format!("{} rows of {width} numbers", moments.rows());
            let expected = format!("rows of {} numbers, or {}", 2 * d + 1, 3 * d + 1);
            return Err(InvalidSetting::new("moments", given, expected));
        }
        let (rows, roundings) = moments.rows_about_zero();
        let rows = setting::all_finite("moments", rows)?;
        let part = |from: usize, length: usize| -> Vec<f64> {
            rows.chunks_exact(width).flat_map(|row| &row[from..from + length]).copied().collect()
        };
        let (features, next_features, rewards) = (part(0, d), part(d, d), part(2 * d, 1));
        let left = traced.then(|| part(2 * d + 1, d));
        let made = Mspbe::new(d, features.clone(), &next_features, rewards.clone(), discount)?;
        let given = Given {
            left: left.clone(),
            features,
            next_features,
            rewards,
            weights: None,
            discount,
            episodes: None,
        };
        let Mspbe { features, differences, rewards, .. } = made;
        let traces = left.map_or_else(|| features.clone(), Into::into);
        let of_rows = Self::of_rows(d, features, traces, differences, rewards);
        Ok(Mspbe { given: Some(given), roundings, ..of_rows })
    }

    /// `<phi_t, theta>`, for each t
    pub fn values(&self, theta: &[f64]) -> Vec<f64> {
        self.features.chunks_exact(self.d).map(|row| dot(row, theta)).collect()
    }

    /// `(1/T) sum_t (r_t - <phi_t - gamma phi'_t, theta>)^2`
    pub fn mean_squared_error(&self, theta: &[f64]) -> f64 {
        let errors = self.differences.chunks_exact(self.d).zip(&self.rewards);
        let square = |(row, reward): (&[f64], &f64)| (reward - dot(row, theta)).powi(2);
        errors.map(square).sum::<f64>() / self.rewards.len() as f64
    }
}

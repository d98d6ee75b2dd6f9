//! A market of few periods with the means and covariances of another.

use super::{Moved, Portfolio};
use crate::linalg::cholesky::Cholesky;
use crate::linalg::gram;
use crate::model::inner::{CommonGram, Passes};
use crate::model::row_moments::RowMoments;
use crate::model::setting::InvalidSetting;

impl Portfolio {
    /// A market of `2 d` periods with the same means m and the same covariances, but for rounding:
    /// with the columns `c_k` of the Cholesky factor of the covariance matrix, its rows are `m +
    /// sqrt(d) c_k` and `m - sqrt(d) c_k`, since
    ///
    /// ```text
    /// (1 / 2d) sum_k 2 d c_k c_k' = L L' = (1/n) sum_i (x_i - m) (x_i - m)'
    /// ```
    ///
    /// Where the risk is the variance, all problems on it are those on this one: many of them cost
    /// one pass over the rows, and share one Gram matrix. None if there are no more rows than that, or the covariance matrix
    /// is not positive definite in double precision, or there is a benchmark.
    pub fn condensed(&self) -> Option<Portfolio> {
        let Portfolio { d, n, .. } = *self;
        if self.moved.is_some() || n <= 2 * d || self.benchmark().is_some() {
            return None;
        }
        let share = |i: usize| self.weights().map_or(1.0, |weights| weights[i]) / n as f64;
        let covariance = self.gram(&share).ok()??;
        let factor = Cholesky::new(&covariance, d).ok()?;
        let scale = (d as f64).sqrt();
        let mut rows = Vec::with_capacity(2 * d * d);
        for k in 0..d {
            for sign in [scale, -scale] {
                let column = factor.factor().chunks_exact(d).map(|row| row[k]);
                rows.extend(column.zip(&self.mean).map(|(c, m)| m + sign * c));
            }
        }
        Some(Portfolio::of(d, rows.into()).ok()?.with_products())
    }

    /// The same periods, whose Gram matrix is kept.
    fn with_products(mut self) -> Self {
        let products = gram::of_data(self.d, &self.returns, Some(&self.mean), &|_| 1.0);
        self.products = Some(CommonGram::new(products, self.d));
        self
    }

    /// A market of few periods that represents rows of which only the moments are known: its
    /// deviations have their covariances up to the [roundings](crate::Facts::roundings) that proofs
    /// allow for, and the expected returns are theirs.
    ///
    /// # Errors
    /// If there are no moments, or they are not finite.
    pub fn of_moments(moments: &RowMoments) -> Result<Self, InvalidSetting> {
        let (rows, roundings) = moments.symmetric_rows();
        let mean = moments.mean();
        if !mean.iter().all(|m| m.is_finite()) {
            return Err(InvalidSetting::new("moments", "no numbers", "those of finite rows"));
        }
        let mut market = Portfolio::of(moments.d(), rows.into())?;
        market.moved = Some(Moved { mean, roundings });
        Ok(market.with_products())
    }
}

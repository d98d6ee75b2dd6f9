//! A market of few periods with the means and covariances of another.

use super::Portfolio;
use crate::linalg::cholesky::Cholesky;
use crate::linalg::gram;
use crate::model::numbers::Numbers;

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
    /// one pass over the rows. None if there are no more rows than that, or the covariance matrix
    /// is not positive definite in double precision, or there is a benchmark.
    pub fn condensed(&self) -> Option<Portfolio> {
        let Portfolio { d, n, .. } = *self;
        if n <= 2 * d || self.benchmark().is_some() {
            return None;
        }
        let share = |i: usize| self.weights().map_or(1.0, |weights| weights[i]) / n as f64;
        let covariance = gram::of_centred_rows(d, &self.returns, &self.mean, &share);
        let factor = Cholesky::new(&covariance, d).ok()?;
        let scale = (d as f64).sqrt();
        let mut rows = Vec::with_capacity(2 * d * d);
        for k in 0..d {
            for sign in [scale, -scale] {
                let column = factor.factor().chunks_exact(d).map(|row| row[k]);
                rows.extend(column.zip(&self.mean).map(|(c, m)| m + sign * c));
            }
        }
        Portfolio::of(d, Numbers::from(rows)).ok()
    }
}

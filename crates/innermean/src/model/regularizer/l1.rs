//! `lambda |theta|_1`

use serde::{Deserialize, Serialize};

use super::{Coordinate, Regularizer};
use crate::linalg::scalar::soft_threshold;
use crate::linalg::vector;
use crate::model::setting::{self, InvalidSetting};

/// The l1 norm, `lambda` times: sparse theta.
///
/// ```text
/// g(theta)          = lambda sum_l |theta_l|
/// g*(v)             = 0  if max_l |v_l| <= lambda,  inf otherwise
/// prox_{alpha g}(v) = sign(v) max(|v| - alpha lambda, 0), coordinate by coordinate
/// mu                = 0
/// ```
///
/// The threshold is `alpha lambda`, not `lambda`. The edge of the conjugate's domain has no slack:
/// a certificate scales its dual point into it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct L1 {
    #[serde(deserialize_with = "setting::read_non_negative")]
    lambda: f64,
}

impl L1 {
    /// `lambda |theta|_1`.
    ///
    /// # Errors
    /// Unless `lambda` is finite and 0 or above.
    pub fn new(lambda: f64) -> Result<Self, InvalidSetting> {
        Ok(Self { lambda: setting::non_negative("lambda", lambda)? })
    }

    /// `lambda`
    #[inline(always)]
    pub fn lambda(&self) -> f64 {
        self.lambda
    }
}

impl Regularizer for L1 {
    fn value(&self, theta: &[f64]) -> f64 {
        self.lambda * theta.iter().map(|x| x.abs()).sum::<f64>()
    }

    fn prox(&self, alpha: f64, theta: &mut [f64]) {
        let threshold = alpha * self.lambda;
        vector::update(theta, |x| soft_threshold(x, threshold));
    }

    fn step(&self, alpha: f64, direction: &[f64], theta: &mut [f64]) {
        let threshold = alpha * self.lambda;
        vector::update_with(theta, direction, |x, v| soft_threshold(x - alpha * v, threshold));
    }

    fn conjugate(&self, v: &[f64]) -> f64 {
        if v.iter().all(|v| v.abs() <= self.lambda) { 0.0 } else { f64::INFINITY }
    }

    fn mu(&self) -> f64 {
        0.0
    }

    fn coordinate(&self, _: usize) -> Option<Coordinate> {
        Some(Coordinate { l1: self.lambda, ..Coordinate::FREE })
    }
}

//! `c min(u, 0)^2`

use serde::{Deserialize, Serialize};

use super::ScalarMerit;
use crate::linalg::scalar::negative_part;
use crate::model::setting::{self, InvalidSetting};

/// The square of what falls below zero, `c` times: semivariance, shortfall.
///
/// ```text
/// phi(u)               = c min(u, 0)^2
/// phi'(u)              = 2 c min(u, 0)
/// phi*(w)              = w^2 / (4 c)  if w <= 0,  inf otherwise
/// prox_{alpha phi*}(w) = min(w, 0) / (1 + alpha / (2 c))
/// gamma                = 1 / (2 c)
/// B_w                  = inf
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DownsideSquare {
    #[serde(deserialize_with = "setting::read_positive")]
    weight: f64,
}

impl DownsideSquare {
    /// `weight min(u, 0)^2`.
    ///
    /// # Errors
    /// Unless `weight` is finite and above 0.
    pub fn new(weight: f64) -> Result<Self, InvalidSetting> {
        Ok(Self { weight: setting::positive("weight", weight)? })
    }

    /// `c`
    #[inline(always)]
    pub fn weight(&self) -> f64 {
        self.weight
    }
}

impl ScalarMerit for DownsideSquare {
    #[inline(always)]
    fn phi(&self, _: usize, u: f64) -> f64 {
        let u = negative_part(u);
        self.weight * (u * u)
    }

    #[inline(always)]
    fn slope(&self, _: usize, u: f64) -> f64 {
        2.0 * self.weight * negative_part(u)
    }

    /// `2 c` below 0, 0 above
    #[inline(always)]
    fn second_derivative(&self, _: usize, u: f64) -> f64 {
        if u > 0.0 { 0.0 } else { 2.0 * self.weight }
    }

    #[inline(always)]
    fn phi_star(&self, _: usize, w: f64) -> f64 {
        if w > 0.0 { f64::INFINITY } else { w * w / (4.0 * self.weight) }
    }

    #[inline(always)]
    fn prox_phi_star(&self, _: usize, alpha: f64, w: f64) -> f64 {
        // The quotient does not wait for w.
        negative_part(w) * (2.0 * self.weight / (2.0 * self.weight + alpha))
    }

    #[inline(always)]
    fn max_curvature(&self) -> f64 {
        2.0 * self.weight
    }

    #[inline(always)]
    fn max_slope(&self) -> f64 {
        f64::INFINITY
    }
}

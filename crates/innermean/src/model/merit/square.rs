//! `c u^2`

use serde::{Deserialize, Serialize};

use super::ScalarMerit;
use crate::model::setting::{self, InvalidSetting};

/// The square, `c` times: variances, Bellman residuals, least squares.
///
/// ```text
/// phi(u)               = c u^2
/// phi'(u)              = 2 c u
/// phi*(w)              = w^2 / (4 c)
/// prox_{alpha phi*}(w) = w / (1 + alpha / (2 c))
/// gamma                = 1 / (2 c)
/// B_w                  = inf
/// ```
///
/// For `c = 1` the prox divides by `1 + alpha/2`. Dividing by `1 + 2 alpha`, the prox of `alpha
/// phi`, is an easy slip: it still converges, to the wrong point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Square {
    #[serde(deserialize_with = "setting::read_positive")]
    weight: f64,
}

impl Square {
    /// `weight u^2`.
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

impl ScalarMerit for Square {
    #[inline(always)]
    fn phi(&self, _: usize, u: f64) -> f64 {
        self.weight * (u * u)
    }

    #[inline(always)]
    fn slope(&self, _: usize, u: f64) -> f64 {
        2.0 * self.weight * u
    }

    /// `2 c`
    #[inline(always)]
    fn second_derivative(&self, _: usize, _: f64) -> f64 {
        2.0 * self.weight
    }

    #[inline(always)]
    fn phi_star(&self, _: usize, w: f64) -> f64 {
        w * w / (4.0 * self.weight)
    }

    #[inline(always)]
    fn prox_phi_star(&self, _: usize, alpha: f64, w: f64) -> f64 {
        // The quotient does not wait for w.
        w * (2.0 * self.weight / (2.0 * self.weight + alpha))
    }

    #[inline(always)]
    fn max_curvature(&self) -> f64 {
        2.0 * self.weight
    }

    #[inline(always)]
    fn max_slope(&self) -> f64 {
        f64::INFINITY
    }

    fn square_factor(&self) -> Option<f64> {
        Some(self.weight)
    }
}

//! `c |u|`

use serde::{Deserialize, Serialize};

use super::ScalarMerit;
use crate::linalg::scalar::clamp;
use crate::model::setting::{self, InvalidSetting};

/// The absolute value, `c` times: mean absolute deviation. Not smooth; [`Huber`](super::Huber) is
/// its smooth kin.
///
/// ```text
/// phi(u)               = c |u|
/// phi'(u)              = c sign(u), 0 at the kink
/// phi*(w)              = 0  if |w| <= c,  inf otherwise
/// prox_{alpha phi*}(w) = min(max(w, -c), c)
/// gamma                = 0
/// B_w                  = c sqrt(ell)
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Absolute {
    #[serde(deserialize_with = "setting::read_positive")]
    weight: f64,
}

impl Absolute {
    /// `weight |u|`.
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

impl ScalarMerit for Absolute {
    #[inline(always)]
    fn phi(&self, _: usize, u: f64) -> f64 {
        self.weight * u.abs()
    }

    #[inline(always)]
    fn slope(&self, _: usize, u: f64) -> f64 {
        if u == 0.0 { 0.0 } else { self.weight * u.signum() }
    }

    /// 0: all that bends is the kink.
    #[inline(always)]
    fn second_derivative(&self, _: usize, _: f64) -> f64 {
        0.0
    }

    #[inline(always)]
    fn phi_star(&self, _: usize, w: f64) -> f64 {
        if w.abs() <= self.weight { 0.0 } else { f64::INFINITY }
    }

    #[inline(always)]
    fn prox_phi_star(&self, _: usize, _: f64, w: f64) -> f64 {
        clamp(w, -self.weight, self.weight)
    }

    #[inline(always)]
    fn prox_slope(&self, _: usize, _: f64, w: f64) -> f64 {
        if w.abs() <= self.weight { 1.0 } else { 0.0 }
    }

    #[inline(always)]
    fn max_curvature(&self) -> f64 {
        f64::INFINITY
    }

    #[inline(always)]
    fn max_slope(&self) -> f64 {
        self.weight
    }
}

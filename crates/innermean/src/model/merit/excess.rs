//! `b + c max(u, 0)`

use serde::{Deserialize, Serialize};

use super::ScalarMerit;
use crate::linalg::scalar::clamp;
use crate::model::setting::{self, InvalidSetting};

/// What is above 0, `c` times, and a constant b, 0 unless it is given. With `c = 1 / (1 - level)`
/// and losses beyond a threshold `b + t` as averages, `t + F` is the conditional value at risk once
/// t is minimised (Rockafellar and Uryasev, "Optimization of Conditional Value-at-Risk", 2000).
///
/// ```text
/// phi(u)               = b + c max(u, 0)
/// phi'(u)              = c if u > 0, 0 otherwise
/// phi*(w)              = -b  if 0 <= w <= c,  inf otherwise
/// prox_{alpha phi*}(w) = min(max(w, 0), c)
/// gamma                = 0
/// B_w                  = c sqrt(ell)
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Excess {
    #[serde(deserialize_with = "setting::read_positive")]
    weight: f64,
    base: f64,
}

impl Excess {
    /// `weight max(u, 0)`.
    ///
    /// # Errors
    /// Unless `weight` is finite and above 0.
    pub fn new(weight: f64) -> Result<Self, InvalidSetting> {
        Ok(Self { weight: setting::positive("weight", weight)?, base: 0.0 })
    }

    /// The same with a constant.
    #[must_use]
    pub fn raised(self, base: f64) -> Self {
        Self { base, ..self }
    }

    /// `c`
    #[inline(always)]
    pub fn weight(&self) -> f64 {
        self.weight
    }
}

impl ScalarMerit for Excess {
    #[inline(always)]
    fn phi(&self, _: usize, u: f64) -> f64 {
        // Not f64::max, which would drop a NaN.
        self.base + if u < 0.0 { 0.0 } else { self.weight * u }
    }

    #[inline(always)]
    fn slope(&self, _: usize, u: f64) -> f64 {
        if u <= 0.0 { 0.0 } else { self.weight + 0.0 * u }
    }

    /// 0: all that bends is the kink.
    #[inline(always)]
    fn second_derivative(&self, _: usize, _: f64) -> f64 {
        0.0
    }

    #[inline(always)]
    fn phi_star(&self, _: usize, w: f64) -> f64 {
        if (0.0..=self.weight).contains(&w) { -self.base } else { f64::INFINITY }
    }

    #[inline(always)]
    fn prox_phi_star(&self, _: usize, _: f64, w: f64) -> f64 {
        clamp(w, 0.0, self.weight)
    }

    #[inline(always)]
    fn prox_slope(&self, _: usize, _: f64, w: f64) -> f64 {
        if (0.0..=self.weight).contains(&w) { 1.0 } else { 0.0 }
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

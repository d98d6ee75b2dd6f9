//! `c |u|`, rounded off around zero

use serde::{Deserialize, Serialize};

use super::ScalarMerit;
use crate::linalg::scalar::clamp;
use crate::model::setting::{self, InvalidSetting};

/// Huber's function, `c` times: the absolute value with its kink replaced by a parabola of
/// half-width `h`.
///
/// ```text
/// phi(u)               = c u^2 / (2 h)  if |u| <= h,  c (|u| - h/2)  otherwise
/// phi'(u)              = c min(max(u/h, -1), 1)
/// phi*(w)              = h w^2 / (2 c)  if |w| <= c,  inf otherwise
/// prox_{alpha phi*}(w) = min(max(w / (1 + alpha h / c), -c), c)
/// gamma                = h / c
/// B_w                  = c sqrt(ell)
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Huber {
    #[serde(deserialize_with = "setting::read_positive")]
    weight: f64,
    #[serde(deserialize_with = "setting::read_positive")]
    width: f64,
}

impl Huber {
    /// Slope `weight` beyond `|u| = width`, a parabola within.
    ///
    /// # Errors
    /// Unless `weight` and `width` are finite and above 0.
    pub fn new(weight: f64, width: f64) -> Result<Self, InvalidSetting> {
        Ok(Self {
            weight: setting::positive("weight", weight)?,
            width: setting::positive("width", width)?,
        })
    }

    /// `c`
    #[inline(always)]
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// `h`
    #[inline(always)]
    pub fn width(&self) -> f64 {
        self.width
    }
}

impl ScalarMerit for Huber {
    /// With `m = min(max(u, -h), h)` both branches are `c (m/h) (u - m/2)`.
    #[inline(always)]
    fn phi(&self, _: usize, u: f64) -> f64 {
        let m = clamp(u, -self.width, self.width);
        self.weight * (m / self.width) * (u - 0.5 * m)
    }

    #[inline(always)]
    fn slope(&self, _: usize, u: f64) -> f64 {
        self.weight * clamp(u / self.width, -1.0, 1.0)
    }

    /// `c / h` within, 0 beyond
    #[inline(always)]
    fn second_derivative(&self, _: usize, u: f64) -> f64 {
        if u.abs() > self.width { 0.0 } else { self.weight / self.width }
    }

    #[inline(always)]
    fn phi_star(&self, _: usize, w: f64) -> f64 {
        if w.abs() <= self.weight {
            0.5 * self.width * w * (w / self.weight)
        } else {
            f64::INFINITY
        }
    }

    #[inline(always)]
    fn prox_phi_star(&self, _: usize, alpha: f64, w: f64) -> f64 {
        // The quotient does not wait for w.
        clamp(w * (self.weight / (self.weight + alpha * self.width)), -self.weight, self.weight)
    }

    #[inline(always)]
    fn max_curvature(&self) -> f64 {
        self.weight / self.width
    }

    #[inline(always)]
    fn max_slope(&self) -> f64 {
        self.weight
    }
}

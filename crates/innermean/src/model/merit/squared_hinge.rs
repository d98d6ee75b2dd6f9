//! `max(1 - y_i u, 0)^2`

use serde::{Deserialize, Serialize};

use super::ScalarMerit;
use super::labels::Labels;
use crate::linalg::scalar::positive_part;
use crate::model::setting::InvalidSetting;

/// The squared hinge loss of a score u for a label `y_i` of -1 or 1: the square of what the margin
/// `y_i u` falls short of 1.
///
/// ```text
/// phi_i(u)               = max(1 - y_i u, 0)^2
/// phi_i'(u)              = -2 y_i max(1 - y_i u, 0)
/// phi_i*(w)              = v^2/4 - v  with  v = -y_i w,  if v >= 0;  inf otherwise
/// prox_{alpha phi_i*}(w) = -y_i max(v + alpha, 0) / (1 + alpha/2)
/// gamma                  = 1/2
/// B_w                    = inf
/// ```
///
/// With `t = 1 - y_i u` the conjugate is `sup over t of v t - max(t, 0)^2 - v`, and the prox is
/// that of a parabola on a half-line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SquaredHinge {
    labels: Labels,
}

impl SquaredHinge {
    /// One label, -1 or 1, for each outer term.
    ///
    /// # Errors
    /// If a label is anything else.
    pub fn new(labels: Vec<f64>) -> Result<Self, InvalidSetting> {
        Ok(Self { labels: Labels::new(labels)? })
    }

    /// `y_i`
    pub fn labels(&self) -> &[f64] {
        self.labels.all()
    }
}

impl ScalarMerit for SquaredHinge {
    fn count(&self) -> Option<usize> {
        Some(self.labels.all().len())
    }

    #[inline(always)]
    fn phi(&self, i: usize, u: f64) -> f64 {
        let short = positive_part(1.0 - self.labels.of(i) * u);
        short * short
    }

    #[inline(always)]
    fn slope(&self, i: usize, u: f64) -> f64 {
        let y = self.labels.of(i);
        -2.0 * y * positive_part(1.0 - y * u)
    }

    /// 2 short of the margin, 0 beyond
    #[inline(always)]
    fn second_derivative(&self, i: usize, u: f64) -> f64 {
        if self.labels.of(i) * u > 1.0 { 0.0 } else { 2.0 }
    }

    #[inline(always)]
    fn phi_star(&self, i: usize, w: f64) -> f64 {
        let v = -self.labels.of(i) * w;
        if v < 0.0 { f64::INFINITY } else { v * (0.25 * v - 1.0) }
    }

    #[inline(always)]
    fn prox_phi_star(&self, i: usize, alpha: f64, w: f64) -> f64 {
        let y = self.labels.of(i);
        -y * positive_part(alpha - y * w) / (1.0 + 0.5 * alpha)
    }

    #[inline(always)]
    fn max_curvature(&self) -> f64 {
        2.0
    }

    #[inline(always)]
    fn max_slope(&self) -> f64 {
        f64::INFINITY
    }
}

//! `max(1 - y_i u, 0)`, rounded off where it bends

use serde::{Deserialize, Serialize};

use super::ScalarMerit;
use super::labels::Labels;
use crate::linalg::scalar::clamp;
use crate::model::setting::{self, InvalidSetting};

/// The hinge loss of a score u for a label `y_i` of -1 or 1, with its kink at the margin `y_i u =
/// 1` replaced by a parabola of width `h`.
///
/// ```text
/// phi_i(u)               = 0 if t <= 0,  t^2 / (2 h) if t <= h,  t - h/2 otherwise,  with  t = 1 - y_i u
/// phi_i'(u)              = -y_i min(max(t / h, 0), 1)
/// phi_i*(w)              = h v^2 / 2 - v  with  v = -y_i w,  if 0 <= v <= 1;  inf otherwise
/// prox_{alpha phi_i*}(w) = -y_i min(max((v + alpha) / (1 + alpha h), 0), 1)
/// gamma                  = h
/// B_w                    = sqrt(ell)
/// ```
///
/// It lies between the hinge loss and `h/2` below it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SmoothedHinge {
    labels: Labels,
    #[serde(deserialize_with = "setting::read_positive")]
    width: f64,
}

impl SmoothedHinge {
    /// One label, -1 or 1, for each outer term; a parabola from `1 - width` to 1.
    ///
    /// # Errors
    /// If a label is anything else, and unless `width` is finite and above 0.
    pub fn new(labels: Vec<f64>, width: f64) -> Result<Self, InvalidSetting> {
        Ok(Self { labels: Labels::new(labels)?, width: setting::positive("width", width)? })
    }

    /// `y_i`
    pub fn labels(&self) -> &[f64] {
        self.labels.all()
    }

    /// `h`
    #[inline(always)]
    pub fn width(&self) -> f64 {
        self.width
    }
}

impl ScalarMerit for SmoothedHinge {
    fn count(&self) -> Option<usize> {
        Some(self.labels.all().len())
    }

    /// With `m = min(max(t, 0), h)` all branches are `(m/h) (t - m/2)`.
    #[inline(always)]
    fn phi(&self, i: usize, u: f64) -> f64 {
        let t = 1.0 - self.labels.of(i) * u;
        let m = clamp(t, 0.0, self.width);
        (m / self.width) * (t - 0.5 * m)
    }

    #[inline(always)]
    fn slope(&self, i: usize, u: f64) -> f64 {
        let y = self.labels.of(i);
        -y * clamp((1.0 - y * u) / self.width, 0.0, 1.0)
    }

    /// `1 / h` on the parabola, 0 on the lines
    #[inline(always)]
    fn second_derivative(&self, i: usize, u: f64) -> f64 {
        let t = 1.0 - self.labels.of(i) * u;
        if t < 0.0 || t > self.width { 0.0 } else { 1.0 / self.width }
    }

    #[inline(always)]
    fn phi_star(&self, i: usize, w: f64) -> f64 {
        let v = -self.labels.of(i) * w;
        if (0.0..=1.0).contains(&v) { v * (0.5 * self.width * v - 1.0) } else { f64::INFINITY }
    }

    #[inline(always)]
    fn prox_phi_star(&self, i: usize, alpha: f64, w: f64) -> f64 {
        let y = self.labels.of(i);
        -y * clamp((alpha - y * w) / (1.0 + alpha * self.width), 0.0, 1.0)
    }

    #[inline(always)]
    fn max_curvature(&self) -> f64 {
        1.0 / self.width
    }

    #[inline(always)]
    fn max_slope(&self) -> f64 {
        1.0
    }
}

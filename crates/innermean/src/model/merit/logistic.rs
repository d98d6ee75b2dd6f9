//! `log(1 + e^(-y_i u))`

use crate::linalg::elementary::Elementary;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::ScalarMerit;
use super::labels::Labels;
use super::scalar_merit::one_by_one;
use crate::linalg::exponential::{exp, sigmoid};
use crate::linalg::scalar::{clamp, positive_part};
use crate::linalg::vector::{LANES, dispatch};
use crate::model::setting::InvalidSetting;

/// The logistic loss of a score u for a label `y_i` of -1 or 1.
///
/// ```text
/// phi_i(u)               = log(1 + e^(-y_i u))
/// phi_i'(u)              = -y_i s(-y_i u),  s(t) = 1 / (1 + e^-t)
/// phi_i*(w)              = v log v + (1 - v) log(1 - v)  with  v = -y_i w,  if 0 <= v <= 1;  inf otherwise
/// prox_{alpha phi_i*}(w) = -y_i s(t)  for the root t of  alpha t + s(t) = -y_i w
/// gamma                  = 4
/// B_w                    = sqrt(ell)
/// ```
///
/// With `v = s(t)` the derivative of `phi_i*` in v is t, which turns the prox into that equation.
/// Its left side rises with a slope between alpha and `alpha + 1/4`: Newton's steps, safeguarded by
/// halving, find the root to rounding in a few.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Logistic {
    labels: Labels,
}

impl Logistic {
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

/// The root t of `alpha t + s(t) = p`, which lies between `(p - 1) / alpha` and `p / alpha`.
#[inline(always)]
fn root(alpha: f64, p: f64) -> f64 {
    let (mut lo, mut hi) = ((p - 1.0) / alpha, p / alpha);
    let mut t = clamp(0.0, lo, hi);
    for _ in 0..MOST_STEPS {
        let v = sigmoid(t);
        let excess = alpha * t + v - p;
        let rounding = 2.0 * f64::EPSILON * (alpha * t.abs() + v + p.abs());
        if excess.abs() <= rounding || excess.is_nan() {
            break;
        }
        if excess > 0.0 {
            hi = t;
        } else {
            lo = t;
        }
        let newton = t - excess / (alpha + v * (1.0 - v));
        t = if lo <= newton && newton <= hi { newton } else { 0.5 * (lo + hi) };
    }
    t
}

/// Bisection alone narrows any bracket by 30 digits; Newton's method rarely takes more than 10
/// steps.
const MOST_STEPS: usize = 100;

/// Numbers whose logarithms are taken together: a lane multiplies at most 16 factors of at most 2.
const TILE: usize = 128;

/// Slopes, and the sum of values. One exponential serves both: with `e = e^-|t|` the slope is made
/// of `1 / (1 + e)` and the value of `log(1 + e)`. The logarithms of a lane are that of a product,
/// kept as `q = prod (1 + e) - 1` so that small e are not lost.
#[inline(always)]
fn tile(u: &[f64], y: &[f64], out: &mut [f64]) -> f64 {
    let (mut lines, mut q) = ([0.0; LANES], [0.0; LANES]);
    let mut one = |lane: usize, u: f64, y: f64| {
        let t = -y * u;
        let e = exp(-t.abs());
        lines[lane] += positive_part(t);
        q[lane] += e * (1.0 + q[lane]);
        -y * (if t < 0.0 { e } else { 1.0 }) / (1.0 + e)
    };
    let (us, more_u) = u.as_chunks::<LANES>();
    let (ys, more_y) = y.as_chunks::<LANES>();
    let (outs, more_out) = out.as_chunks_mut::<LANES>();
    for ((u, y), out) in us.iter().zip(ys).zip(outs) {
        for lane in 0..LANES {
            out[lane] = one(lane, u[lane], y[lane]);
        }
    }
    for (lane, ((u, y), out)) in more_u.iter().zip(more_y).zip(more_out).enumerate() {
        *out = one(lane, *u, *y);
    }
    lines.iter().sum::<f64>() + q.iter().map(|q| q.natural_log_1p()).sum::<f64>()
}

impl ScalarMerit for Logistic {
    fn count(&self) -> Option<usize> {
        Some(self.labels.all().len())
    }

    #[inline(always)]
    fn phi(&self, i: usize, u: f64) -> f64 {
        let t = -self.labels.of(i) * u;
        t.max(0.0) + exp(-t.abs()).natural_log_1p()
    }

    #[inline(always)]
    fn slope(&self, i: usize, u: f64) -> f64 {
        -self.labels.of(i) * sigmoid(-self.labels.of(i) * u)
    }

    /// `s(t) (1 - s(t))`, `t = -y_i u`
    #[inline(always)]
    fn second_derivative(&self, _: usize, u: f64) -> f64 {
        let e = exp(-u.abs());
        e / ((1.0 + e) * (1.0 + e))
    }

    fn phis(&self, terms: Range<usize>, u: &[f64]) -> f64 {
        let ell = u.len() / terms.len().max(1);
        let mut slopes = [0.0; TILE];
        if ell == 1 {
            let tiles = terms.clone().step_by(TILE).zip(u.chunks(TILE));
            return tiles
                .map(|(i, u)| self.phis_and_slopes(i..i + u.len(), u, &mut slopes[..u.len()]))
                .sum();
        }
        terms
            .zip(u.chunks_exact(ell.max(1)))
            .map(|(i, u)| u.iter().map(|&u| self.phi(i, u)).sum::<f64>())
            .sum()
    }

    fn phis_and_slopes(&self, terms: Range<usize>, u: &[f64], out: &mut [f64]) -> f64 {
        if u.len() != terms.len() {
            return one_by_one(self, terms, u, out);
        }
        let labels = &self.labels.all()[terms];
        dispatch(
            #[inline(always)]
            || {
                let tiles = u.chunks(TILE).zip(labels.chunks(TILE)).zip(out.chunks_mut(TILE));
                tiles.map(|((u, y), out)| tile(u, y, out)).sum()
            },
        )
    }

    fn phi_star(&self, i: usize, w: f64) -> f64 {
        let v = -self.labels.of(i) * w;
        if !(0.0..=1.0).contains(&v) {
            return f64::INFINITY;
        }
        // Of the rounded 1 - v the logarithm would be wrong by a unit of 1, however small v is.
        let log_rest = if v < 0.5 { (-v).natural_log_1p() } else { (1.0 - v).natural_log() };
        let part = |v: f64, log: f64| if v == 0.0 { 0.0 } else { v * log };
        part(v, v.natural_log()) + part(1.0 - v, log_rest)
    }

    #[inline(always)]
    fn prox_phi_star(&self, i: usize, alpha: f64, w: f64) -> f64 {
        let y = self.labels.of(i);
        if w.is_nan() { w } else { -y * sigmoid(root(alpha, -y * w)) }
    }

    #[inline(always)]
    fn max_curvature(&self) -> f64 {
        0.25
    }

    #[inline(always)]
    fn max_slope(&self) -> f64 {
        1.0
    }
}

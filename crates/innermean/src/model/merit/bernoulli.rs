//! `-q_i log u - (1 - q_i) log(1 - u)`

use crate::linalg::elementary::Elementary;
use serde::{Deserialize, Serialize};

use super::ScalarMerit;
use crate::linalg::scalar::clamp;
use crate::model::setting::InvalidSetting;

/// The cross-entropy of an averaged probability u for a known proportion `q_i`.
///
/// ```text
/// phi_i(u)               = -q log u - (1 - q) log(1 - u)
/// phi_i'(u)              = (u - q) / (u (1 - u))
/// phi_i*(w)              = w u + q log u + (1 - q) log(1 - u)  at the u in [0, 1] with  w u^2 + (1 - w) u - q = 0
/// prox_{alpha phi_i*}(w) = v  with  v + alpha u(v) = w,  u(v) that same u for v
/// gamma                  = 0: the curvature q / u^2 + (1 - q) / (1 - u)^2 has no bound
/// B_w                    = inf
/// ```
///
/// for `0 < q < 1`, on `0 < u < 1`. A proportion of exactly 0 leaves `-log(1 - u)`, which is on
/// all `u < 1`, one of 1 leaves `-log u` on all `u > 0`: nothing bends at the other end, which
/// averages of probabilities do not pass. Then
///
/// ```text
/// q = 0:  phi*(w) = w - 1 - log w,  w > 0;   prox: the positive root of  v^2 + (alpha - w) v - alpha = 0
/// q = 1:  phi*(w) = -1 - log(-w),   w < 0;   prox: the negative root of  v^2 - w v - alpha = 0
/// ```
///
/// `u(v)` is `(phi*)'`. Its slope `1 / phi''(u)` is at most 1, so that the equation of the prox
/// rises with a slope between 1 and `1 + alpha`: Newton's steps, safeguarded by halving, find the
/// root to rounding in a few.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<f64>", into = "Vec<f64>")]
pub struct Bernoulli {
    proportions: Vec<f64>,
}

impl Bernoulli {
    /// One proportion for each outer term.
    ///
    /// # Errors
    /// Unless all lie in [0, 1].
    pub fn new(proportions: Vec<f64>) -> Result<Self, InvalidSetting> {
        match proportions.iter().position(|q| !(0.0..=1.0).contains(q)) {
            None => Ok(Self { proportions }),
            Some(i) => {
                let name = format!("proportions[{i}]");
                Err(InvalidSetting::new(
                    name,
                    format!("{:?}", proportions[i]),
                    "a number in [0, 1]",
                ))
            }
        }
    }

    /// `q_i`
    pub fn proportions(&self) -> &[f64] {
        &self.proportions
    }

    /// `(1/n_X) sum_i` of the entropies of the `q_i`: no averages whatever have a smaller loss.
    pub fn floor(&self) -> f64 {
        let part = |q: f64| if q == 0.0 { 0.0 } else { -q * q.natural_log() };
        let sum: f64 = self.proportions.iter().map(|&q| part(q) + part(1.0 - q)).sum();
        sum / self.proportions.len() as f64
    }
}

impl TryFrom<Vec<f64>> for Bernoulli {
    type Error = InvalidSetting;

    fn try_from(proportions: Vec<f64>) -> Result<Self, InvalidSetting> {
        Self::new(proportions)
    }
}

impl From<Bernoulli> for Vec<f64> {
    fn from(merit: Bernoulli) -> Self {
        merit.proportions
    }
}

/// The u in [0, 1] with `w u^2 + (1 - w) u - q = 0`, and 1 - u, both without cancellation: with `s
/// = sqrt((1 - w)^2 + 4 w q)` they are `2 q / (1 - w + s)` and `2 (1 - q) / (1 + w + s)`.
#[inline(always)]
fn averages(q: f64, w: f64) -> (f64, f64) {
    let s = if w > 0.0 {
        ((1.0 - w) * (1.0 - w) + 4.0 * w * q).sqrt()
    } else {
        ((1.0 + w) * (1.0 + w) - 4.0 * w * (1.0 - q)).sqrt()
    };
    // Of each pair at least one has a denominator in which nothing cancels; the other follows from
    // u + (1 - u) = 1.
    if w > 0.0 {
        let rest = 2.0 * (1.0 - q) / (1.0 + w + s);
        let u = if w < 1.0 { 2.0 * q / (1.0 - w + s) } else { (w - 1.0 + s) / (2.0 * w) };
        (u, rest)
    } else {
        let u = 2.0 * q / (1.0 - w + s);
        let rest =
            if w > -1.0 { 2.0 * (1.0 - q) / (1.0 + w + s) } else { (-w - 1.0 + s) / (-2.0 * w) };
        (u, rest)
    }
}

/// The root v of `v + alpha u(v) = w`, which lies between `w - alpha` and w.
#[inline(always)]
fn root(q: f64, alpha: f64, w: f64) -> f64 {
    let (mut lo, mut hi) = (w - alpha, w);
    // The tangent at u = q, where v = 0 and phi'' = 1 / (q (1 - q)).
    let mut v = clamp((w - alpha * q) / (1.0 + alpha * q * (1.0 - q)), lo, hi);
    let mut last = f64::INFINITY;
    for _ in 0..MOST_STEPS {
        let (u, rest) = averages(q, v);
        let excess = v + alpha * u - w;
        let rounding = 2.0 * f64::EPSILON * (v.abs() + alpha * u + w.abs());
        if excess.abs() <= rounding || excess.is_nan() {
            break;
        }
        if excess > 0.0 {
            hi = v;
        } else {
            lo = v;
        }
        // 1/phi''(u) = u^2 (1-u)^2 / (q (1-u)^2 + (1-q) u^2)
        let slope = (u * rest).powi(2) / (q * rest * rest + (1.0 - q) * u * u);
        let newton = excess / (1.0 + alpha * slope);
        // u bends sharply where q is small: a step that does not halve the one before it is of no
        // use either.
        let useful = lo <= v - newton && v - newton <= hi && 2.0 * newton.abs() <= last;
        let step = if useful { newton } else { v - 0.5 * (lo + hi) };
        last = step.abs();
        v -= step;
    }
    v
}

/// Bisection alone narrows any bracket by 30 digits; Newton's method rarely takes more than 6
/// steps.
const MOST_STEPS: usize = 100;

/// `-q log u`, without end where u is 0.
#[inline(always)]
fn part(q: f64, u: f64, log: f64) -> f64 {
    if u > 0.0 || u.is_nan() { -q * log } else { f64::INFINITY }
}

impl ScalarMerit for Bernoulli {
    fn count(&self) -> Option<usize> {
        Some(self.proportions.len())
    }

    #[inline(always)]
    fn phi(&self, i: usize, u: f64) -> f64 {
        let q = self.proportions[i];
        // `ln_1p` of -u and the products keep a NaN; an absent part is left out, so that 0 log 0 is
        // 0.
        let yes = if q > 0.0 { part(q, u, u.natural_log()) } else { 0.0 * u };
        let no = if q < 1.0 { part(1.0 - q, 1.0 - u, (-u).natural_log_1p()) } else { 0.0 * u };
        yes + no
    }

    fn phi_beside(&self, i: usize, u: f64, rest: f64) -> f64 {
        let q = self.proportions[i];
        let of = |q: f64, u: f64| if q > 0.0 { part(q, u, u.natural_log()) } else { 0.0 * u };
        of(q, u) + of(1.0 - q, rest)
    }

    #[inline(always)]
    fn slope(&self, i: usize, u: f64) -> f64 {
        let q = self.proportions[i];
        if q == 0.0 {
            1.0 / (1.0 - u)
        } else if q == 1.0 {
            -1.0 / u
        } else {
            (u - q) / (u * (1.0 - u))
        }
    }

    /// `q / u^2 + (1 - q) / (1 - u)^2`
    #[inline(always)]
    fn second_derivative(&self, i: usize, u: f64) -> f64 {
        let q = self.proportions[i];
        let part = |q: f64, u: f64| if q == 0.0 { 0.0 } else { q / (u * u) };
        part(q, u) + part(1.0 - q, 1.0 - u)
    }

    fn phi_star(&self, i: usize, w: f64) -> f64 {
        let q = self.proportions[i];
        if q == 0.0 {
            return if w > 0.0 { (w - 1.0) - (w - 1.0).natural_log_1p() } else { f64::INFINITY };
        }
        if q == 1.0 {
            return if w < 0.0 { -1.0 - (-w).natural_log() } else { f64::INFINITY };
        }
        let (u, rest) = averages(q, w);
        // A logarithm of what is near 1 keeps its digits if it is taken of the distance from 1.
        let log = |x: f64, other: f64| {
            if other < 0.5 { (-other).natural_log_1p() } else { x.natural_log() }
        };
        w * u + q * log(u, rest) + (1.0 - q) * log(rest, u)
    }

    #[inline(always)]
    fn prox_phi_star(&self, i: usize, alpha: f64, w: f64) -> f64 {
        let q = self.proportions[i];
        if q == 0.0 {
            positive_root(w - alpha, alpha)
        } else if q == 1.0 {
            -positive_root(-w, alpha)
        } else if w.is_nan() {
            w
        } else {
            root(q, alpha, w)
        }
    }

    #[inline(always)]
    fn max_curvature(&self) -> f64 {
        f64::INFINITY
    }

    #[inline(always)]
    fn is_kinked(&self) -> bool {
        false
    }

    #[inline(always)]
    fn max_slope(&self) -> f64 {
        f64::INFINITY
    }
}

/// The positive root of `v^2 - b v - c = 0`, c > 0, written so that nothing cancels.
#[inline(always)]
pub(super) fn positive_root(b: f64, c: f64) -> f64 {
    let s = (b * b + 4.0 * c).sqrt();
    if b < 0.0 { 2.0 * c / (s - b) } else { 0.5 * (b + s) }
}

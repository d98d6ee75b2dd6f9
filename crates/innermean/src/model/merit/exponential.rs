//! `b + c (exp(r u) - 1) / r`

use serde::{Deserialize, Serialize};

use super::ScalarMerit;
use crate::linalg::elementary::Elementary;
use crate::model::setting::{self, InvalidSetting};

/// The exponential with a rate r, `c` times, which is a constant b, 0 unless it is given, with
/// slope c at 0. With losses beyond a threshold `b + t` as averages, `t + F` is the entropic risk
/// `(1/r) log mean exp(r loss)` once t is minimised.
///
/// ```text
/// phi(u)               = b + c (exp(r u) - 1) / r
/// phi'(u)              = c exp(r u)
/// phi*(w)              = (w log(w/c) - w + c) / r - b  if w >= 0,  inf otherwise
/// prox_{alpha phi*}(w) = c exp(y)  for the root y of  c exp(y) + (alpha/r) y = w
/// gamma                = 0: the curvature c r exp(r u) has no bound
/// B_w                  = inf
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Exponential {
    #[serde(deserialize_with = "setting::read_positive")]
    weight: f64,
    #[serde(deserialize_with = "setting::read_positive")]
    rate: f64,
    base: f64,
}

/// Newton steps to the root of the prox; they come from one side of a convex function, and a dozen
/// is the most that was seen.
const MOST_STEPS: usize = 100;

/// `|w/c - 1|` below which the terms of `phi*` nearly cancel: at small rates of large numbers next
/// to nothing would be left of its digits.
const NEAR: f64 = 0.5;
/// Terms of its series, of which the last is below the last digit of the first.
const MOST_TERMS: u32 = 60;

/// `(1 + e) log(1 + e) - e = e^2/2 - e^3/6 + e^4/12 - ...` for `|e| < 1/2`.
fn divergence_near_one(e: f64) -> f64 {
    let (mut sum, mut power) = (0.0, -e);
    for k in 2..MOST_TERMS {
        power *= -e;
        let term = power / f64::from(k * (k - 1));
        sum += term;
        if term.abs() <= 0.1 * f64::EPSILON * sum {
            break;
        }
    }
    sum
}

impl Exponential {
    /// `weight (exp(rate u) - 1) / rate`.
    ///
    /// # Errors
    /// Unless `weight` and `rate` are finite and above 0.
    pub fn new(weight: f64, rate: f64) -> Result<Self, InvalidSetting> {
        let weight = setting::positive("weight", weight)?;
        Ok(Self { weight, rate: setting::positive("rate", rate)?, base: 0.0 })
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

    /// `r`
    #[inline(always)]
    pub fn rate(&self) -> f64 {
        self.rate
    }
}

impl ScalarMerit for Exponential {
    #[inline(always)]
    fn phi(&self, _: usize, u: f64) -> f64 {
        self.base + self.weight * (self.rate * u).exponential_m1() / self.rate
    }

    #[inline(always)]
    fn slope(&self, _: usize, u: f64) -> f64 {
        self.weight * (self.rate * u).exponential()
    }

    #[inline(always)]
    fn second_derivative(&self, _: usize, u: f64) -> f64 {
        self.rate * self.weight * (self.rate * u).exponential()
    }

    fn phi_star(&self, _: usize, w: f64) -> f64 {
        let c = self.weight;
        if w > 0.0 {
            let beyond = (w - c) / c;
            let divergence = if beyond.abs() < NEAR {
                c * divergence_near_one(beyond)
            } else {
                w * (w / c).natural_log() - w + c
            };
            divergence / self.rate - self.base
        } else if w == 0.0 {
            c / self.rate - self.base
        } else {
            // A NaN stays one.
            f64::INFINITY + 0.0 * w
        }
    }

    /// Newton's method from above: `h(y) = c exp(y) + a y - w`, with `a = alpha/r`, is convex and
    /// rises, and its root is at most `w/a` and at most `max(0, log(w/c))`.
    fn prox_phi_star(&self, _: usize, alpha: f64, w: f64) -> f64 {
        let (c, a) = (self.weight, alpha / self.rate);
        if w.is_nan() {
            return w;
        }
        let line = w / a;
        let mut y = if w > c { line.min((w / c).natural_log()) } else { line.min(0.0) };
        for _ in 0..MOST_STEPS {
            let bent = c * y.exponential();
            let step = (bent + a * y - w) / (bent + a);
            let next = y - step;
            // From above until rounding ends it.
            if step.is_nan() || next >= y {
                break;
            }
            y = next;
        }
        c * y.exponential()
    }

    /// `v / (v + alpha/r)` at the prox v
    fn prox_slope(&self, i: usize, alpha: f64, w: f64) -> f64 {
        let v = self.prox_phi_star(i, alpha, w);
        if v == 0.0 { 0.0 } else { v / (v + alpha / self.rate) }
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

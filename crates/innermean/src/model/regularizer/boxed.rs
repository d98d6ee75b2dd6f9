//! `lo <= theta <= hi`, with or without an l1 norm inside

use serde::{Deserialize, Serialize};

use super::{Coordinate, Regularizer};
use crate::linalg::scalar::{clamp, soft_threshold};
use crate::linalg::vector;
use crate::model::setting::{self, InvalidSetting};

/// The same bounds for every coordinate, either of which may be infinite, and an l1 norm between
/// them.
///
/// ```text
/// g(theta)          = lambda |theta|_1  if lo <= theta_l <= hi for all l,  inf otherwise
/// g*(v)             = sum_l max_{lo <= x <= hi} v_l x - lambda |x|
/// prox_{alpha g}(v) = min(max(soft_threshold(v, alpha lambda), lo), hi), coordinate by coordinate
/// mu                = 0
/// ```
///
/// The function under the max is concave and has its only kink at 0, so the max is taken at `lo`,
/// at `hi` or at the point of `[lo, hi]` nearest to 0. Towards an infinite bound it is `+inf` if
/// the function rises that way and is otherwise attained elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct BoxConstraint {
    lo: f64,
    hi: f64,
    lambda: f64,
}

/// The bounds are checked against each other, so that reading needs all fields before it can
/// refuse.
#[derive(Deserialize)]
#[serde(rename = "BoxConstraint")]
struct Unchecked {
    lo: f64,
    hi: f64,
    lambda: f64,
}

impl TryFrom<Unchecked> for BoxConstraint {
    type Error = InvalidSetting;

    fn try_from(unchecked: Unchecked) -> Result<Self, InvalidSetting> {
        Self::new(unchecked.lo, unchecked.hi)?.with_l1(unchecked.lambda)
    }
}

impl BoxConstraint {
    /// `lo <= theta_l <= hi`; `lo` may be `-inf`, `hi` may be `inf`.
    ///
    /// # Errors
    /// If a bound is NaN, if no number lies between them, or if `lo > hi`.
    pub fn new(lo: f64, hi: f64) -> Result<Self, InvalidSetting> {
        let lo = setting::bound("lo", lo, f64::INFINITY)?;
        let hi = setting::bound("hi", hi, f64::NEG_INFINITY)?;
        if lo > hi {
            return Err(InvalidSetting::new(
                "lo",
                format!("{lo:?}"),
                format!("at most hi = {hi:?}"),
            ));
        }
        Ok(Self { lo, hi, lambda: 0.0 })
    }

    /// `0 <= theta_l`
    pub fn non_negative() -> Self {
        Self { lo: 0.0, hi: f64::INFINITY, lambda: 0.0 }
    }

    /// The same bounds, with `lambda |theta|_1` between them.
    ///
    /// # Errors
    /// Unless `lambda` is finite and 0 or above.
    pub fn with_l1(self, lambda: f64) -> Result<Self, InvalidSetting> {
        Ok(Self { lambda: setting::non_negative("lambda", lambda)?, ..self })
    }

    /// The lower bound.
    #[inline(always)]
    pub fn lo(&self) -> f64 {
        self.lo
    }

    /// The upper bound.
    #[inline(always)]
    pub fn hi(&self) -> f64 {
        self.hi
    }

    /// The weight of the l1 norm, 0 without one.
    #[inline(always)]
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    #[inline(always)]
    pub(super) fn prox_one(&self, threshold: f64, x: f64) -> f64 {
        clamp(soft_threshold(x, threshold), self.lo, self.hi)
    }

    /// `max_{lo <= x <= hi} v x - lambda |x|`
    fn conjugate_one(&self, v: f64) -> f64 {
        let line = |x: f64| v * x - self.lambda * x.abs();
        let end = |bound: f64| {
            if bound.is_finite() {
                line(bound)
            } else if v * bound.signum() > self.lambda {
                f64::INFINITY
            } else {
                f64::NEG_INFINITY
            }
        };
        // The first term carries a NaN in v to the result: max alone would drop it.
        let nearest = line(clamp(0.0, self.lo, self.hi));
        if nearest.is_nan() { nearest } else { nearest.max(end(self.lo)).max(end(self.hi)) }
    }
}

impl Regularizer for BoxConstraint {
    fn value(&self, theta: &[f64]) -> f64 {
        if theta.iter().all(|x| (self.lo..=self.hi).contains(x)) {
            self.lambda * theta.iter().map(|x| x.abs()).sum::<f64>()
        } else {
            f64::INFINITY
        }
    }

    fn prox(&self, alpha: f64, theta: &mut [f64]) {
        let threshold = alpha * self.lambda;
        vector::update(theta, |x| self.prox_one(threshold, x));
    }

    fn step(&self, alpha: f64, direction: &[f64], theta: &mut [f64]) {
        let threshold = alpha * self.lambda;
        vector::update_with(theta, direction, |x, v| self.prox_one(threshold, x - alpha * v));
    }

    fn conjugate(&self, v: &[f64]) -> f64 {
        v.iter().map(|&v| self.conjugate_one(v)).sum()
    }

    fn mu(&self) -> f64 {
        0.0
    }

    fn coordinate(&self, _: usize) -> Option<Coordinate> {
        Some(Coordinate { l1: self.lambda, lo: self.lo, hi: self.hi, ..Coordinate::FREE })
    }
}

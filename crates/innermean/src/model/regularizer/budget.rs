//! `lo <= theta <= hi, sum_l theta_l = 1`, with or without an l1 norm

use serde::{Deserialize, Serialize};

use super::{BoxConstraint, Coordinate, Regularizer};
use crate::linalg::vector::{self, dispatch};
use crate::model::setting::InvalidSetting;

/// A budget that is spent to the last: the sum is 1, each coordinate lies between bounds, either of
/// which may be infinite, and there may be an l1 norm. With h the [`BoxConstraint`] of these bounds
/// and that norm:
///
/// ```text
/// g(theta)          = h(theta)  if sum_l theta_l = 1,  inf otherwise
/// g*(v)             = min over tau of  tau + h*(v - tau)
/// prox_{alpha g}(v) = prox_{alpha h}(v - tau), with the tau that makes the sum 1
/// mu                = 0
/// ```
///
/// `value` forgives [`SLACK`](Self::SLACK) in the sum, which rounding needs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "(usize, BoxConstraint)", into = "(usize, BoxConstraint)")]
pub struct Budget {
    d: usize,
    bounds: BoxConstraint,
}

impl TryFrom<(usize, BoxConstraint)> for Budget {
    type Error = InvalidSetting;

    fn try_from((d, bounds): (usize, BoxConstraint)) -> Result<Self, InvalidSetting> {
        Self::new(d, bounds)
    }
}

impl From<Budget> for (usize, BoxConstraint) {
    fn from(budget: Budget) -> Self {
        (budget.d, budget.bounds)
    }
}

impl Budget {
    /// How far from 1 the sum may be for `value` to say 0, for bounds of ordinary size.
    pub const SLACK: f64 = 1e-9;

    /// Of `d` coordinates within `bounds`.
    ///
    /// # Errors
    /// If `d` numbers within the bounds cannot sum to 1.
    pub fn new(d: usize, bounds: BoxConstraint) -> Result<Self, InvalidSetting> {
        let least = 1.0 / d as f64;
        if bounds.hi() < least || d == 0 {
            let expected = format!("at least {least}, so that {d} numbers can sum to 1");
            return Err(InvalidSetting::new("hi", format!("{:?}", bounds.hi()), expected));
        }
        if bounds.lo() > least {
            let expected = format!("at most {least}, so that {d} numbers can sum to 1");
            return Err(InvalidSetting::new("lo", format!("{:?}", bounds.lo()), expected));
        }
        Ok(Self { d, bounds })
    }

    /// What each coordinate may be.
    pub fn bounds(&self) -> BoxConstraint {
        self.bounds
    }

    /// `sum_l prox_{alpha h}(v_l - tau)` and how many of its terms move with tau.
    #[inline(always)]
    fn sum_at(&self, tau: f64, threshold: f64, v: &[f64]) -> (f64, f64) {
        let (mut sum, mut moving) = (0.0, 0.0);
        for &v in v {
            let x = self.bounds.prox_one(threshold, v - tau);
            sum += x;
            let inside = x != 0.0 || threshold == 0.0;
            moving +=
                if inside && x > self.bounds.lo() && x < self.bounds.hi() { 1.0 } else { 0.0 };
        }
        (sum, moving)
    }

    /// The tau that makes the sum 1: the sum falls with tau and is piecewise linear, so that
    /// Newton's steps, kept between bounds that are halved now and then, end at it; once no
    /// coordinate changes its piece, the step is exact.
    #[inline(always)]
    fn multiplier(&self, threshold: f64, v: &[f64]) -> f64 {
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for &v in v {
            least = if v < least { v } else { least };
            most = if v > most { v } else { most };
        }
        let (lo, hi, others) = (self.bounds.lo(), self.bounds.hi(), v.len() as f64 - 1.0);
        // At the first the sum is at least 1, at the second at most: all at a bound or, where that
        // is infinite, one coordinate beyond.
        let reach = threshold + 1.0;
        let mut a = if hi.is_finite() {
            least - hi - reach
        } else if lo.is_finite() {
            most - reach - others * lo.abs()
        } else {
            least - reach
        };
        let mut b = if lo.is_finite() {
            most - lo + reach
        } else if hi.is_finite() {
            least + reach + others * hi.abs()
        } else {
            most + reach
        };
        let mut tau = 0.5 * (a + b);
        for step in 1..MOST_STEPS {
            let (sum, moving) = self.sum_at(tau, threshold, v);
            let excess = sum - 1.0;
            if excess > 0.0 {
                a = tau;
            } else {
                b = tau;
            }
            // Without a coordinate that moves this is no number. Every third step halves: Newton's
            // alone may go in circles.
            let newton = tau + excess / moving;
            let inside = a < newton && newton < b && !step.is_multiple_of(3);
            let next = if inside { newton } else { 0.5 * (a + b) };
            if excess == 0.0 || excess.is_nan() || next <= a || next >= b {
                break;
            }
            tau = next;
        }
        tau
    }
}

/// Newton's method rarely takes more than 10 steps; bisection alone narrows any bracket to rounding
/// in fewer than these.
const MOST_STEPS: usize = 200;

impl Regularizer for Budget {
    fn d(&self) -> Option<usize> {
        Some(self.d)
    }

    fn value(&self, theta: &[f64]) -> f64 {
        let sum: f64 = theta.iter().sum();
        let size = theta.iter().fold(1.0, |size: f64, x| size.max(x.abs()));
        if (sum - 1.0).abs() <= Self::SLACK * size {
            self.bounds.value(theta)
        } else {
            f64::INFINITY
        }
    }

    /// Twice: the first tau carries the rounding of the largest entry, and one of size 1e12 would
    /// swallow the 1. The residual is small, and the projection does not change when all of v
    /// is shifted.
    ///
    /// Not a part of its callers, whose code for every other g it would swell: it takes far longer
    /// than a call.
    #[inline(never)]
    fn prox(&self, alpha: f64, theta: &mut [f64]) {
        dispatch(
            #[inline(always)]
            || {
                let threshold = alpha * self.bounds.lambda();
                for _ in 0..2 {
                    let tau = self.multiplier(threshold, theta);
                    vector::update(theta, |x| x - tau);
                }
                vector::update(theta, |x| self.bounds.prox_one(threshold, x));
            },
        );
    }

    /// `tau + h*(v - tau)` is convex and piecewise linear in tau, with kinks at `v_l - lambda` and
    /// `v_l + lambda`: least at one of them.
    fn conjugate(&self, v: &[f64]) -> f64 {
        if v.iter().any(|v| v.is_nan()) {
            return f64::NAN;
        }
        let (lo, hi, lambda) = (self.bounds.lo(), self.bounds.hi(), self.bounds.lambda());
        let nearest = self.bounds.prox_one(0.0, 0.0);
        let mut kinks: Vec<f64> = v.iter().flat_map(|v| [v - lambda, v + lambda]).collect();
        kinks.sort_by(f64::total_cmp);
        // h* is infinite above lambda where there is no upper bound, and below -lambda where there
        // is no lower one. All comparisons are made with the kinks as they were rounded.
        let finite = |tau: &f64| {
            v.iter().all(|v| {
                (hi.is_finite() || v - lambda <= *tau) && (lo.is_finite() || v + lambda >= *tau)
            })
        };
        if hi.is_infinite() || lo.is_infinite() {
            kinks.retain(finite);
        }
        // The slope to the right of tau is 1 - sum_l x_l, with the x_l that h* is attained at just
        // below v_l - tau; it rises with tau.
        let just_below = |v: f64, tau: f64| match v {
            v if v - lambda > tau => hi,
            v if v + lambda > tau => nearest,
            _ => lo,
        };
        let falls = |tau: &f64| v.iter().map(|&v| just_below(v, *tau)).sum::<f64>() > 1.0;
        let least = kinks.partition_point(falls).min(kinks.len().saturating_sub(1));
        kinks.get(least).map_or(f64::INFINITY, |&tau| {
            let term = |v: f64| {
                let x = if v + lambda == tau { nearest } else { just_below(v, tau) };
                (v - tau) * x - lambda * x.abs()
            };
            tau + v.iter().map(|&v| term(v)).sum::<f64>()
        })
    }

    fn mu(&self) -> f64 {
        0.0
    }

    fn constrained_coordinate(&self, l: usize) -> Option<Coordinate> {
        self.bounds.coordinate(l)
    }
}

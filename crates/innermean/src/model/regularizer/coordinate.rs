//! One coordinate of a g that is a sum over coordinates, and many equal steps on it at once.

use crate::linalg::elementary::Elementary;
use crate::linalg::scalar::{clamp, soft_threshold};

/// `g_l(x) = tilt x + l1 |x| + (l2/2) x^2` for `lo <= x <= hi`, inf elsewhere: what every g of this
/// room that is a sum over coordinates looks like along one of them.
///
/// ```text
/// prox_{alpha g_l}(v) = min(max(s soft_threshold(v - alpha tilt, alpha l1), lo), hi)  with  s = 1 / (1 + alpha l2)
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coordinate {
    /// The slope of the linear term.
    pub tilt: f64,
    /// The weight of the absolute value, 0 or above.
    pub l1: f64,
    /// The weight of half the square, 0 or above.
    pub l2: f64,
    /// The lower bound, `-inf` for none.
    pub lo: f64,
    /// The upper bound, `inf` for none.
    pub hi: f64,
}

impl Coordinate {
    /// `g_l = 0`
    pub const FREE: Coordinate =
        Coordinate { tilt: 0.0, l1: 0.0, l2: 0.0, lo: f64::NEG_INFINITY, hi: f64::INFINITY };

    /// Whether `g_l` is a straight line without end.
    pub fn is_free(&self) -> bool {
        self.l1 == 0.0 && self.l2 == 0.0 && self.lo == f64::NEG_INFINITY && self.hi == f64::INFINITY
    }

    /// Whether neither a bound nor a ridge ends a way in this direction.
    pub(crate) fn recedes(&self, direction: f64) -> bool {
        let bound = if direction > 0.0 { self.hi } else { self.lo };
        direction == 0.0 || self.l2 == 0.0 && bound.is_infinite()
    }

    /// Whether `g_l` is a parabola or a straight line, without a kink or an end.
    pub fn is_smooth(&self) -> bool {
        self.l1 == 0.0 && self.lo == f64::NEG_INFINITY && self.hi == f64::INFINITY
    }

    /// `g_l(x)`
    pub fn value(&self, x: f64) -> f64 {
        if (self.lo..=self.hi).contains(&x) {
            self.tilt * x + self.l1 * x.abs() + 0.5 * self.l2 * x * x
        } else {
            f64::INFINITY
        }
    }

    /// `g_l*(v) = sup over x of v x - g_l(x)`, attained at `soft_threshold(v - tilt, l1) / l2` or
    /// the bound next to it; without l2, at a bound or the point next to 0, see
    /// [`BoxConstraint`](super::BoxConstraint).
    pub fn conjugate(&self, v: f64) -> f64 {
        let v = v - self.tilt;
        let line = |x: f64| v * x - self.l1 * x.abs() - 0.5 * self.l2 * x * x;
        if self.l2 > 0.0 {
            return line(clamp(soft_threshold(v, self.l1) / self.l2, self.lo, self.hi));
        }
        let end = |bound: f64| match bound {
            bound if bound.is_finite() => line(bound),
            bound if v * bound.signum() > self.l1 => f64::INFINITY,
            _ => f64::NEG_INFINITY,
        };
        // The first term carries a NaN in v to the result: max alone would drop it.
        let nearest = line(clamp(0.0, self.lo, self.hi));
        if nearest.is_nan() { nearest } else { nearest.max(end(self.lo)).max(end(self.hi)) }
    }

    /// `prox_{alpha g_l}(x - alpha direction)`
    #[inline(always)]
    pub fn step(&self, alpha: f64, direction: f64, x: f64) -> f64 {
        let s = 1.0 / (1.0 + alpha * self.l2);
        let moved = s * (x - alpha * (direction + self.tilt));
        clamp(soft_threshold(moved, alpha * s * self.l1), self.lo, self.hi)
    }

    /// x after this many steps `x <- prox_{alpha g_l}(x - alpha direction)` in a constant
    /// direction.
    ///
    /// With `v = direction + tilt`, `a = alpha (v + l1)`, `b = alpha (v - l1) <= a` and without the
    /// bounds, a step is
    ///
    /// ```text
    /// S(x) = s (x - a)  if x > a,   0  if b <= x <= a,   s (x - b)  if x < b.
    /// ```
    ///
    /// While it stays on the first line, m steps give `s^m x - a (s + s^2 + ... + s^m) = s^m x - a
    /// r_m` with `r_m = (1 - s^m) / (alpha l2)`, or `r_m = m` if l2 = 0, for `s / (1 - s) = 1 /
    /// (alpha l2)`; on the third likewise with b. S never falls, so the points go one way: up,
    /// down, or nowhere. On the first line they are positive, and leave it only if `a > 0`,
    /// downwards; the third is its mirror image, from which they could only come back upwards; and
    /// from 0 there is a way on only if 0 is not between b and a, along one line for ever. So there
    /// are at most three stretches, each by its formula.
    ///
    /// Bounds change nothing until a point would pass one; as S never falls, it would pass it for
    /// ever after, and the step with the bounds stays there. So it is enough to bring the last
    /// point between them, if the first is.
    #[inline]
    pub fn repeated_step(&self, steps: u64, alpha: f64, direction: f64, x: f64) -> f64 {
        let mut x = x;
        let mut left = steps;
        // A few are as fast one by one, bit for bit the steps themselves. A start beyond the bounds
        // takes its first step so.
        while left > 0 && (steps <= STEPS_ONE_BY_ONE || x < self.lo || x > self.hi) {
            x = self.step(alpha, direction, x);
            left -= 1;
        }
        if left == 0 {
            return x;
        }
        let v = direction + self.tilt;
        let line = Line::new(alpha * self.l2);
        let (a, b) = (alpha * (v + self.l1), alpha * (v - self.l1));
        if self.l1 == 0.0 || x.is_nan() || v.is_nan() {
            // One line, a = b; a NaN stays one.
            return clamp(line.after(left, a, x), self.lo, self.hi);
        }
        while left > 0 {
            let taken;
            if x > a {
                (taken, x) = line.follow(left, a, x);
            } else if x < b {
                let (steps, mirrored) = line.follow(left, -b, -x);
                (taken, x) = (steps, -mirrored);
            } else if b <= 0.0 && 0.0 <= a {
                (taken, x) = (left, 0.0);
            } else {
                (taken, x) = (1, 0.0);
            }
            left -= taken;
        }
        clamp(x, self.lo, self.hi)
    }
}

/// This many steps are taken one by one.
const STEPS_ONE_BY_ONE: u64 = 4;

/// Steps `x <- s (x - a)`.
struct Line {
    /// `alpha l2 = (1 - s) / s`
    rate: f64,
    /// `log(1/s)`
    decay: f64,
}

impl Line {
    #[inline(always)]
    fn new(rate: f64) -> Self {
        Line { rate, decay: if rate == 0.0 { 0.0 } else { rate.natural_log_1p() } }
    }

    /// `s^m x - a r_m`
    #[inline(always)]
    fn after(&self, m: u64, a: f64, x: f64) -> f64 {
        if self.rate == 0.0 {
            return x - m as f64 * a;
        }
        // s^m = 1 + less
        let less = (-(m as f64) * self.decay).exponential_m1();
        x + less * (x + a / self.rate)
    }

    /// From `x > a`: how many steps go along the line, at most this many, and where they lead. A
    /// step is along the line if it starts above a, and for `a <= 0` all are.
    #[inline(always)]
    fn follow(&self, most: u64, a: f64, x: f64) -> (u64, f64) {
        if a <= 0.0 {
            return (most, self.after(most, a, x));
        }
        // The first m with s^m x - a r_m <= a, that is s^m (rate x + a) <= a (rate + 1).
        let crossing = if self.rate == 0.0 {
            x / a - 1.0
        } else {
            (self.rate * (x - a) / (a * (1.0 + self.rate))).natural_log_1p() / self.decay
        };
        // Rounding may be off by one: a step too few is made up for in the next stretch, one too
        // many led from a to 0. The conversion sees to infinities.
        let m = (crossing.ceil().max(1.0) as u64).min(most);
        let there = self.after(m, a, x);
        (m, if there < 0.0 { 0.0 } else { there })
    }
}

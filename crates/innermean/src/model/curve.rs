//! Convex functions of one number that are known by their values and slopes alone. Their prox and
//! conjugate are found numerically: both are where a function that never falls crosses zero.

use std::sync::Arc;

use super::regularizer::Coordinate;

/// Convex functions of one number, one for each term or coordinate.
pub trait Curve: Send + Sync {
    /// How many there are; none if all are the same.
    fn count(&self) -> Option<usize> {
        None
    }

    /// The value of function i at t.
    fn value(&self, i: usize, t: f64) -> f64;

    /// A subgradient of function i at t.
    fn slope(&self, i: usize, t: f64) -> f64;
}

impl<C: Curve + ?Sized> Curve for Arc<C> {
    fn count(&self) -> Option<usize> {
        (**self).count()
    }

    fn value(&self, i: usize, t: f64) -> f64 {
        (**self).value(i, t)
    }

    fn slope(&self, i: usize, t: f64) -> f64 {
        (**self).slope(i, t)
    }
}

/// One of the functions and what is added to it: `h(t) = curve_i(t) + part(t)`.
pub(super) struct Along<'c, C> {
    pub(super) curve: &'c C,
    pub(super) i: usize,
    pub(super) part: Coordinate,
}

/// Where a function that never falls crosses zero: it is at most 0 at the first number and at least
/// 0 at the second.
type Bracket = [f64; 2];

/// Halvings and secants before a crossing is taken as found.
const MOST_STEPS: usize = 200;

impl<C: Curve> Along<'_, C> {
    pub(super) fn value(&self, t: f64) -> f64 {
        match self.part.value(t) {
            added if added < f64::INFINITY => self.curve.value(self.i, t) + added,
            // A NaN stays one.
            added => added + 0.0 * t,
        }
    }

    fn slope(&self, t: f64) -> f64 {
        let Coordinate { tilt, l1, l2, .. } = self.part;
        let side = if t == 0.0 { 0.0 } else { l1.copysign(t) };
        self.curve.slope(self.i, t) + tilt + side + l2 * t
    }

    /// `argmin_t alpha h(t) + (t - v)^2 / 2`, where `t - v + alpha h'(t)` crosses zero.
    pub(super) fn prox(&self, alpha: f64, v: f64) -> f64 {
        let Coordinate { l1, lo, hi, .. } = self.part;
        let rise = |t: f64| t - v + alpha * self.slope(t);
        if l1 > 0.0 && lo <= 0.0 && hi >= 0.0 && rise(0.0).abs() <= alpha * l1 {
            return 0.0;
        }
        let from = clamped(v, lo, hi);
        let there = rise(from);
        if there.is_nan() {
            return there;
        }
        // Its slope is at least 1, so that the crossing is at most the residual away. Where slopes
        // are exponentials, that is far too far.
        let step = there.abs().min(1.0 + from.abs());
        match self.bracket(&rise, from, there, step) {
            Found::Crossing(bracket) => nearer(&rise, bracket),
            Found::End(t) => t,
            Found::Nowhere => f64::NAN,
        }
    }

    /// `h*(v) = sup_t v t - h(t)`. Where the slope crosses v between two numbers it is no more than
    /// the tangents at both of them say, and that is what is returned: an upper bound, so that no
    /// gap is too small by the width of the bracket.
    pub(super) fn conjugate(&self, v: f64) -> f64 {
        let Coordinate { lo, hi, .. } = self.part;
        let rise = |t: f64| self.slope(t) - v;
        let mut from = clamped(0.0, lo, hi);
        if !self.value(from).is_finite() || !rise(from).is_finite() {
            from = match (lo.is_finite(), hi.is_finite()) {
                (true, true) => 0.5 * lo + 0.5 * hi,
                (true, false) => lo + 1.0,
                (false, true) => hi - 1.0,
                (false, false) => from,
            };
        }
        let there = rise(from);
        if there.is_nan() {
            return there;
        }
        match self.bracket(&rise, from, there, 1.0) {
            Found::Crossing(bracket) => self.above(v, bracket),
            Found::End(t) => self.line(v, t, 0.0),
            Found::Nowhere => f64::INFINITY,
        }
    }

    /// `v t - h(t)` and what it may be more elsewhere, rounded up.
    fn line(&self, v: f64, t: f64, more: f64) -> f64 {
        let (product, value) = (v * t, self.value(t));
        product - value + more + 4.0 * f64::EPSILON * (product.abs() + value.abs() + more)
    }

    /// What the tangents at both ends leave of `v t - h(t)`.
    fn above(&self, v: f64, [a, b]: Bracket) -> f64 {
        let by_tangent = |t: f64| {
            let bound = self.line(v, t, (self.slope(t) - v).abs() * (b - a));
            if bound.is_nan() { f64::INFINITY } else { bound }
        };
        let (below, above) = (by_tangent(a), by_tangent(b));
        if below < above { below } else { above }
    }

    /// Goes from `from`, where `rise` is `there`, towards the crossing, by steps that double.
    fn bracket(&self, rise: &impl Fn(f64) -> f64, from: f64, there: f64, step: f64) -> Found {
        if there == 0.0 {
            return Found::Crossing([from, from]);
        }
        let Coordinate { lo, hi, .. } = self.part;
        let (mut near, mut step) = ((from, there), if there < 0.0 { step } else { -step });
        loop {
            let next = clamped(near.0 + step, lo, hi);
            if next == near.0 {
                // The end of where it is defined, or no room between two numbers.
                return if next == lo || next == hi {
                    Found::End(next)
                } else if step.abs() > near.0.abs() {
                    Found::Nowhere
                } else {
                    step *= 2.0;
                    continue;
                };
            }
            if next.is_infinite() {
                return Found::Nowhere;
            }
            let rose = rise(next);
            if rose.is_nan() {
                return Found::Nowhere;
            }
            if rose == 0.0 {
                return Found::Crossing([next, next]);
            }
            if (rose < 0.0) != (there < 0.0) {
                let far = (next, rose);
                let ends = if there < 0.0 { [near, far] } else { [far, near] };
                return Found::Crossing(narrowed(rise, ends));
            }
            near = (next, rose);
            step *= 2.0;
        }
    }
}

enum Found {
    Crossing(Bracket),
    /// It does not cross up to this end.
    End(f64),
    Nowhere,
}

/// As `f64::clamp`, where a NaN stays one and ends may be the same.
fn clamped(t: f64, lo: f64, hi: f64) -> f64 {
    crate::linalg::scalar::clamp(t, lo, hi)
}

/// The end of a bracket at which less is left.
fn nearer(rise: &impl Fn(f64) -> f64, [a, b]: Bracket) -> f64 {
    if a == b || rise(a).abs() <= rise(b).abs() { a } else { b }
}

/// Neighbours, or nearly, between which `rise` crosses zero: secants by the Illinois rule (Dowell
/// and Jarratt 1971), and every third time the middle.
fn narrowed(rise: &impl Fn(f64) -> f64, ends: [(f64, f64); 2]) -> Bracket {
    let [(mut a, mut at_a), (mut b, mut at_b)] = ends;
    // The end that moved last.
    let mut moved = 0;
    for step in 0..MOST_STEPS {
        let width = b - a;
        if width <= f64::EPSILON * a.abs().max(b.abs()) || width < f64::MIN_POSITIVE {
            break;
        }
        let middle = 0.5 * a + 0.5 * b;
        let secant = a - at_a * (width / (at_b - at_a));
        let t = if step % 3 != 2 && secant > a && secant < b { secant } else { middle };
        if t <= a || t >= b {
            break;
        }
        let here = rise(t);
        if here == 0.0 {
            return [t, t];
        }
        if here < 0.0 {
            (a, at_a) = (t, here);
            if moved == -1 {
                at_b *= 0.5;
            }
            moved = -1;
        } else if here > 0.0 {
            (b, at_b) = (t, here);
            if moved == 1 {
                at_a *= 0.5;
            }
            moved = 1;
        } else {
            return [f64::NAN; 2];
        }
    }
    [a, b]
}

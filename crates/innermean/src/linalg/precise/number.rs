//! Numbers of twice the precision: unevaluated sums `hi + lo` with `|lo|` at most half a unit in
//! the last place of hi.
//!
//! Dekker, "A Floating-Point Technique for Extending the Available Precision", 1971; sums after
//! Knuth. Products are split by Veltkamp's constant instead of a fused multiply-add, so that every
//! CPU gives the same bits.

use serde::{Deserialize, Serialize};
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// `hi + lo`
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Double {
    pub(crate) hi: f64,
    pub(crate) lo: f64,
}

/// `2^27 + 1`
const SPLITTER: f64 = 134_217_729.0;

impl Double {
    pub(crate) const ZERO: Double = Double { hi: 0.0, lo: 0.0 };

    /// `a + b`, exactly.
    #[inline(always)]
    pub(crate) fn sum(a: f64, b: f64) -> Self {
        let hi = a + b;
        let shadow = hi - a;
        Double { hi, lo: (a - (hi - shadow)) + (b - shadow) }
    }

    /// `a b`, exactly, unless it overflows or falls below the normal range.
    #[inline(always)]
    pub(crate) fn product(a: f64, b: f64) -> Self {
        let hi = a * b;
        let (a_hi, a_lo) = split(a);
        let (b_hi, b_lo) = split(b);
        Double { hi, lo: ((a_hi * b_hi - hi) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo }
    }

    /// `hi + lo` where hi dominates.
    #[inline(always)]
    fn tidy(hi: f64, lo: f64) -> Self {
        let sum = hi + lo;
        Double { hi: sum, lo: lo - (sum - hi) }
    }

    pub(crate) fn sqrt(self) -> Self {
        if self.hi <= 0.0 {
            return Double::ZERO;
        }
        // One Newton step from the root of hi.
        let root = self.hi.sqrt();
        let left = self - Double::product(root, root);
        Double::tidy(root, left.hi / (2.0 * root))
    }

    /// `self + x`, the same bits as of two numbers of this precision.
    #[inline(always)]
    pub(crate) fn plus(self, x: f64) -> Self {
        let high = Double::sum(self.hi, x);
        Double::tidy(high.hi, high.lo + self.lo)
    }

    /// The nearest number of double precision.
    #[inline(always)]
    pub(crate) fn value(self) -> f64 {
        self.hi + self.lo
    }

    pub(crate) fn is_finite(self) -> bool {
        self.hi.is_finite() && self.lo.is_finite()
    }
}

#[inline(always)]
fn split(a: f64) -> (f64, f64) {
    let shifted = SPLITTER * a;
    let hi = shifted - (shifted - a);
    (hi, a - hi)
}

impl From<f64> for Double {
    #[inline(always)]
    fn from(hi: f64) -> Self {
        Double { hi, lo: 0.0 }
    }
}

impl Neg for Double {
    type Output = Double;
    #[inline(always)]
    fn neg(self) -> Double {
        Double { hi: -self.hi, lo: -self.lo }
    }
}

impl Add for Double {
    type Output = Double;
    #[inline(always)]
    fn add(self, other: Double) -> Double {
        let (high, low) = (Double::sum(self.hi, other.hi), Double::sum(self.lo, other.lo));
        let first = Double::tidy(high.hi, high.lo + low.hi);
        Double::tidy(first.hi, first.lo + low.lo)
    }
}

impl Sub for Double {
    type Output = Double;
    #[inline(always)]
    fn sub(self, other: Double) -> Double {
        self + -other
    }
}

impl Mul for Double {
    type Output = Double;
    #[inline(always)]
    fn mul(self, other: Double) -> Double {
        let product = Double::product(self.hi, other.hi);
        Double::tidy(product.hi, product.lo + (self.hi * other.lo + self.lo * other.hi))
    }
}

impl Div for Double {
    type Output = Double;
    fn div(self, other: Double) -> Double {
        let first = self.hi / other.hi;
        let left = self - other * Double::from(first);
        let second = left.hi / other.hi;
        let left = left - other * Double::from(second);
        Double::tidy(first, second) + Double::from(left.hi / other.hi)
    }
}

impl AddAssign for Double {
    #[inline(always)]
    fn add_assign(&mut self, other: Double) {
        *self = *self + other;
    }
}

impl SubAssign for Double {
    #[inline(always)]
    fn sub_assign(&mut self, other: Double) {
        *self = *self - other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Stream;

    /// Below this an identity of real numbers holds.
    const TINY: f64 = 1e-30;

    #[test]
    fn identities_of_real_numbers_hold_to_thirty_digits() {
        let mut draws = Stream::new(11, 0);
        let mut number = || {
            let size = 10.0_f64.powi((draws.unit() * 20.0) as i32 - 10);
            Double::sum((draws.unit() - 0.5) * size, (draws.unit() - 0.5) * size * 1e-17)
        };
        for _ in 0..2000 {
            let (a, b, c) = (number(), number(), number());
            let close = |x: Double, y: Double, size: f64| ((x - y).hi).abs() <= TINY * size;
            let size = (a.hi.abs() + b.hi.abs()) * c.hi.abs();
            assert!(close((a + b) * c, a * c + b * c, size));
            assert!(close(a / b * b, a, a.hi.abs()));
            let positive = if a.hi < 0.0 { -a } else { a };
            let root = positive.sqrt();
            assert!(close(root * root, positive, a.hi.abs()));
            assert!(close(a + b - b, a, a.hi.abs() + b.hi.abs()));
            assert_eq!(a.plus(b.hi), a + Double::from(b.hi));
        }
    }

    #[test]
    fn sums_and_products_of_two_numbers_are_exact() {
        assert_eq!(Double::sum(1.0, 1e-30), Double { hi: 1.0, lo: 1e-30 });
        // (2^27 + 1)^2 = 2^54 + 2^28 + 1 has 55 digits.
        let product = Double::product(SPLITTER, SPLITTER);
        assert_eq!((product.hi as i128) + product.lo as i128, (1 << 54) + (1 << 28) + 1);
        assert_eq!(Double::product(0.1, 0.0), Double::ZERO);
    }
}

//! Numbers of twice the length of a double: about 32 digits, as unevaluated sums of two doubles
//! (Dekker 1971, Knuth).
//!
//! What is summed or multiplied here is exact to `2^-104` of the result or so. There is no fused
//! operation in it, so that it runs at one speed, and with the same bits, everywhere.

use std::cmp::Ordering;
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// `high + low` with `|low| <= ulp(high) / 2`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Dd {
    high: f64,
    low: f64,
}

/// What the objectives that are not convex are written in: doubles to search with, [`Dd`] for the
/// truth.
pub trait Real:
    Copy
    + From<f64>
    + PartialOrd
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Sum
{
    /// `e^x`
    #[must_use]
    fn exp(self) -> Self;
    /// The natural logarithm.
    #[must_use]
    fn ln(self) -> Self;
}

impl Real for f64 {
    fn exp(self) -> Self {
        self.exp()
    }

    fn ln(self) -> Self {
        self.ln()
    }
}

/// `a + b` and what rounding took off.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// The same for `|a| >= |b|`.
fn quick_two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// Two halves of 26 digits.
fn split(a: f64) -> (f64, f64) {
    let big = 134_217_729.0 * a;
    let high = big - (big - a);
    (high, a - high)
}

/// `a b` and what rounding took off.
fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    let ((a_high, a_low), (b_high, b_low)) = (split(a), split(b));
    (product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low)
}

impl Dd {
    /// 0
    pub const ZERO: Dd = Dd { high: 0.0, low: 0.0 };
    /// 1
    pub const ONE: Dd = Dd { high: 1.0, low: 0.0 };
    /// `ln 2`
    const LN_2: Dd = Dd { high: std::f64::consts::LN_2, low: 2.319_046_813_846_299_6e-17 };

    fn of((high, low): (f64, f64)) -> Self {
        // What is not finite has no rest.
        if high.is_finite() { Dd { high, low } } else { Dd { high, low: 0.0 } }
    }

    /// The nearest double.
    #[must_use]
    pub fn rounded(self) -> f64 {
        self.high
    }

    /// Its absolute value.
    #[must_use]
    pub fn abs(self) -> Self {
        if self.high < 0.0 { -self } else { self }
    }

    /// The smaller one; a NaN gives way.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        if other < self || self.high.is_nan() { other } else { self }
    }

    /// The larger one; a NaN gives way.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        if other > self || self.high.is_nan() { other } else { self }
    }

    /// Whether it is a number.
    #[must_use]
    pub fn is_finite(self) -> bool {
        self.high.is_finite()
    }

    /// The square root, by a step of Newton's from that of the high part.
    #[must_use]
    pub fn sqrt(self) -> Self {
        if self.high <= 0.0 {
            return if self.high < 0.0 { Dd::from(f64::NAN) } else { Dd::ZERO };
        }
        let guess = Dd::from(self.high.sqrt());
        guess + (self - guess * guess) / (guess * Dd::from(2.0))
    }

    /// `x 2^power`
    fn times_power(self, power: i32) -> Self {
        // In two steps: the power itself may not be a double where the result is.
        let half = power / 2;
        let (a, b) = (2.0_f64.powi(half), 2.0_f64.powi(power - half));
        Dd::of((self.high * a * b, self.low * a * b))
    }
}

impl From<f64> for Dd {
    fn from(high: f64) -> Self {
        Dd { high, low: 0.0 }
    }
}

impl From<usize> for Dd {
    fn from(n: usize) -> Self {
        Dd::from(n as f64)
    }
}

impl PartialOrd for Dd {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match self.high.partial_cmp(&other.high) {
            Some(Ordering::Equal) => self.low.partial_cmp(&other.low),
            order => order,
        }
    }
}

impl Neg for Dd {
    type Output = Dd;

    fn neg(self) -> Dd {
        Dd { high: -self.high, low: -self.low }
    }
}

impl Add for Dd {
    type Output = Dd;

    fn add(self, other: Dd) -> Dd {
        let (high, low) = two_sum(self.high, other.high);
        // The rest of an infinity is no number.
        if !high.is_finite() {
            return Dd::from(high);
        }
        let (middle, least) = two_sum(self.low, other.low);
        let (high, low) = quick_two_sum(high, low + middle);
        Dd::of(quick_two_sum(high, low + least))
    }
}

impl Sub for Dd {
    type Output = Dd;

    fn sub(self, other: Dd) -> Dd {
        self + -other
    }
}

impl Mul for Dd {
    type Output = Dd;

    fn mul(self, other: Dd) -> Dd {
        let (product, rest) = two_product(self.high, other.high);
        if !product.is_finite() {
            return Dd::from(product);
        }
        Dd::of(quick_two_sum(product, rest + (self.high * other.low + self.low * other.high)))
    }
}

impl Div for Dd {
    type Output = Dd;

    fn div(self, other: Dd) -> Dd {
        let first = self.high / other.high;
        if !first.is_finite() || first == 0.0 {
            return Dd::from(first);
        }
        let rest = self - other * Dd::from(first);
        let second = rest.high / other.high;
        let rest = rest - other * Dd::from(second);
        let third = rest.high / other.high;
        Dd::of(quick_two_sum(first, second)) + Dd::from(third)
    }
}

impl AddAssign for Dd {
    fn add_assign(&mut self, other: Dd) {
        *self = *self + other;
    }
}

impl SubAssign for Dd {
    fn sub_assign(&mut self, other: Dd) {
        *self = *self - other;
    }
}

impl Sum for Dd {
    fn sum<I: Iterator<Item = Dd>>(terms: I) -> Dd {
        terms.fold(Dd::ZERO, |sum, term| sum + term)
    }
}

impl fmt::Display for Dd {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.high.fmt(out)
    }
}

/// Terms of the series of `e^r` for `|r| <= ln 2 / 2 / 64`.
const TERMS: usize = 15;
/// `r` is halved so often before, and the result squared as often after.
const HALVINGS: i32 = 6;

impl Real for Dd {
    /// `x = k ln 2 + 64 r`, then `e^x = 2^k (e^r)^64`; with `e^r - 1` in place of `e^r`, squaring
    /// keeps all digits.
    fn exp(self) -> Self {
        if self.high < -745.0 || self.high > 709.0 || self.high.is_nan() {
            return Dd::from(self.high.exp());
        }
        let k = (self.high / std::f64::consts::LN_2).round();
        let r = (self - Dd::LN_2 * Dd::from(k)).times_power(-HALVINGS);
        let (mut less_one, mut term) = (Dd::ZERO, Dd::ONE);
        for t in 1..=TERMS {
            term = term * r / Dd::from(t);
            less_one += term;
        }
        for _ in 0..HALVINGS {
            // (1 + y)^2 - 1
            less_one = less_one * Dd::from(2.0) + less_one * less_one;
        }
        (less_one + Dd::ONE).times_power(k as i32)
    }

    /// Newton's steps for `e^y = x`, from the double: `y + x e^-y - 1`.
    fn ln(self) -> Self {
        if !(self.high > 0.0 && self.high.is_finite()) {
            return Dd::from(self.high.ln());
        }
        let mut y = Dd::from(self.high.ln());
        for _ in 0..2 {
            y += self * (-y).exp() - Dd::ONE;
        }
        y
    }
}

/// `sum_l a_l b_l`
pub fn dot(a: &[Dd], b: &[Dd]) -> Dd {
    a.iter().zip(b).map(|(a, b)| *a * *b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: Dd, b: Dd) -> bool {
        (a - b).abs() <= b.abs() * Dd::from(1e-29)
    }

    #[test]
    fn what_doubles_lose_is_kept() {
        let tiny = Dd::from(1e-25);
        assert_eq!((Dd::ONE + tiny) - Dd::ONE, tiny);
        let third = Dd::ONE / Dd::from(3.0);
        assert!(near(third + third + third, Dd::ONE));
        // (1 + e)(1 - e) = 1 - e^2
        let product = (Dd::ONE + Dd::from(1e-10)) * (Dd::ONE - Dd::from(1e-10));
        assert!(((Dd::ONE - product).rounded() / 1e-20 - 1.0).abs() < 1e-11);
        assert_eq!((Dd::from(f64::INFINITY) - Dd::ONE).rounded(), f64::INFINITY);
        assert!(near(Dd::from(2.0).sqrt() * Dd::from(2.0).sqrt(), Dd::from(2.0)));
    }

    #[test]
    fn exponentials_and_logarithms_have_thirty_digits() {
        // e = 2.718281828459045 + 1.4456468917292502e-16 + ...
        let e = Dd { high: std::f64::consts::E, low: 1.445_646_891_729_250_2e-16 };
        assert!(near(Dd::ONE.exp(), e));
        for x in [-300.0, -20.5, -1e-9, 0.3, 1.0, 33.3, 600.0] {
            let x = Dd::from(x);
            assert!(near(x.exp() * (-x).exp(), Dd::ONE), "{x}");
            assert!((x.exp().ln() - x).abs() <= Dd::from(1e-28), "{x}");
        }
    }
}

//! Logarithms, exponentials and powers whose bits are the same on every machine.
//!
//! `f64::ln` and its like are those of the system's library, which takes other instructions on
//! other processors and differs by a unit in the last place; a run goes another way from there.
//! These are written in the four operations that IEEE 754 fixes (`libm`, in Rust), and whatever
//! reaches a result goes through them. Square roots and [`f64::mul_add`] are fixed already. Loops
//! over many numbers have an exponential of their own, see `exponential`.

/// The functions, as methods of a number.
pub trait Elementary {
    /// `log x`
    #[must_use]
    fn natural_log(self) -> Self;

    /// `log(1 + x)`, precise for small x.
    #[must_use]
    fn natural_log_1p(self) -> Self;

    /// `e^x`
    #[must_use]
    fn exponential(self) -> Self;

    /// `e^x - 1`, precise for small x.
    #[must_use]
    fn exponential_m1(self) -> Self;

    /// `x^power`
    #[must_use]
    fn to_power(self, power: Self) -> Self;

    /// The third root.
    #[must_use]
    fn cube_root(self) -> Self;

    /// `sqrt(x^2 + y^2)` without overflow.
    #[must_use]
    fn hypotenuse(self, y: Self) -> Self;
}

impl Elementary for f64 {
    #[inline]
    fn natural_log(self) -> f64 {
        libm::log(self)
    }

    #[inline]
    fn natural_log_1p(self) -> f64 {
        libm::log1p(self)
    }

    #[inline]
    fn exponential(self) -> f64 {
        libm::exp(self)
    }

    #[inline]
    fn exponential_m1(self) -> f64 {
        libm::expm1(self)
    }

    #[inline]
    fn to_power(self, power: f64) -> f64 {
        libm::pow(self, power)
    }

    #[inline]
    fn cube_root(self) -> f64 {
        libm::cbrt(self)
    }

    #[inline]
    fn hypotenuse(self, y: f64) -> f64 {
        libm::hypot(self, y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Close to the system's, and at the ends of the range what they should be.
    #[test]
    fn they_are_what_they_are_called() {
        let near = |a: f64, b: f64| (a - b).abs() <= 4.0 * f64::EPSILON * b.abs();
        for k in -300..300 {
            let x = 1.09_f64.powi(k);
            assert!(near(x.natural_log(), x.ln()) && near(x.natural_log_1p(), x.ln_1p()), "{x}");
            assert!(near(x.to_power(-0.75), x.powf(-0.75)) && near(x.cube_root(), x.cbrt()), "{x}");
            assert!(near(x.hypotenuse(3.0), x.hypot(3.0)), "{x}");
            let y = f64::from(k) / 20.0;
            assert!(near(y.exponential(), y.exp()) && near(y.exponential_m1(), y.exp_m1()), "{y}");
        }
        assert_eq!((0.0.natural_log(), 0.0.exponential()), (f64::NEG_INFINITY, 1.0));
        assert!((-1.0).natural_log().is_nan() && f64::NAN.exponential_m1().is_nan());
        assert_eq!((1000.0.exponential(), (-1000.0).exponential()), (f64::INFINITY, 0.0));
    }

    /// One fingerprint of many results: whatever the machine, it is this one.
    #[test]
    fn bits_are_fixed() {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut add = |x: f64| hash = (hash ^ x.to_bits()).wrapping_mul(0x0100_0000_01b3);
        for k in 1..2000 {
            let x = f64::from(k) * 0.037;
            add(x.natural_log());
            add(x.natural_log_1p());
            add((-x).exponential());
            add((-x).exponential_m1());
            add(x.to_power(-5.0 / 9.0));
            add(x.cube_root());
            add(x.hypotenuse(1.0));
            add(crate::linalg::exponential::exp(-x));
        }
        assert_eq!(hash, 0x9267_befb_5bba_5754, "{hash:#x}");
    }
}

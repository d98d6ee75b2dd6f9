//! `e^x` in a form that loops over many numbers can be vectorised with.
//!
//! The library's `f64::exp` is a call for each number, which costs as much as the row of features
//! before it. This one is a polynomial and two tricks with bits: inlined into a loop, four of them
//! run side by side. Its bits are the same on every machine.

use crate::linalg::scalar::clamp;

/// `1.5 * 2^52`: added to a number below `2^51`, it leaves the number's nearest integer in the low
/// bits.
const TO_INTEGER: f64 = 6_755_399_441_055_744.0;
/// `ln 2` in two parts: the first has so few digits that whole multiples of it are exact.
const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];
/// Where the result stays a normal number. Beyond, it is as if x were here: `1e-307` and `1e308`
/// serve as 0 and infinity.
const RANGE: (f64, f64) = (-708.0, 709.0);

/// `e^x`, off by at most one or two units in the last place for x in -708 to 709; a NaN stays one.
///
/// `x = k ln 2 + r` with a whole k and `|r| <= ln(2)/2`; then `e^x = 2^k e^r`, and 14 terms of the
/// series of `e^r` reach rounding.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    let x = clamp(x, RANGE.0, RANGE.1);
    let shifted = x * std::f64::consts::LOG2_E + TO_INTEGER;
    let k = shifted - TO_INTEGER;
    let r = (x - k * LN_2[0]) - k * LN_2[1];
    let mut series = 1.0 / 6_227_020_800.0;
    for term in TERMS {
        series = series * r + term;
    }
    // 2^k: the low bits of `shifted` moved to the place of the exponent.
    let power = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52));
    series * power
}

/// `1/12!` to `1/0!`
const TERMS: [f64; 13] = [
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];

/// `1 / (1 + e^-t)`, precise at both ends.
#[inline(always)]
pub(crate) fn sigmoid(t: f64) -> f64 {
    let e = exp(-t.abs());
    (if t < 0.0 { e } else { 1.0 }) / (1.0 + e)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many numbers lie between two of one sign.
    fn steps_between(a: f64, b: f64) -> u64 {
        a.to_bits().abs_diff(b.to_bits())
    }

    #[test]
    fn exp_is_that_of_the_library_up_to_two_units_in_the_last_place() {
        let mut draws = crate::draws::Stream::new(1, 0);
        let evenly = (-70_800..=70_900).map(|k| f64::from(k) / 100.0 + 0.000_3);
        // Where r is largest, near multiples of ln 2 / 2, and where x is small.
        let halves = (-2040..=2040).map(|k| (f64::from(k) + 1e-9) * 0.5 * std::f64::consts::LN_2);
        let small = (0..320).map(|k| 0.1_f64.powi(k) * if k % 2 == 0 { 1.0 } else { -1.0 });
        let drawn: Vec<f64> = (0..200_000).map(|_| (draws.unit() - 0.5) * 80.0).collect();
        for x in
            evenly.chain(halves).chain(small).chain(drawn).filter(|x| (-708.0..=709.0).contains(x))
        {
            assert!(steps_between(exp(x), x.exp()) <= 2, "{x}: {} {}", exp(x), x.exp());
        }
        assert_eq!([exp(0.0), exp(-0.0)], [1.0, 1.0]);
        assert!(exp(f64::NAN).is_nan() && sigmoid(f64::NAN).is_nan());
        for (far, end) in
            [(-1e300, -708.0), (f64::NEG_INFINITY, -708.0), (f64::INFINITY, 709.0), (1e300, 709.0)]
        {
            assert_eq!(exp(far), exp(end));
        }
        assert!(
            exp(-708.0) > 0.0
                && exp(-708.0) < 1e-307
                && exp(709.0) > 8e307
                && exp(709.0).is_finite()
        );
    }

    /// Loops over many numbers, compiled for vectors or not, say what single calls say, bit for
    /// bit.
    #[test]
    fn many_at_once_are_bit_for_bit_one_by_one() {
        for n in [1, 3, 8, 29] {
            let x: Vec<f64> = (0..n).map(|k| f64::from(k) * 7.3 - 90.0).collect();
            let (mut exps, mut sigmoids) = (x.clone(), x.clone());
            crate::linalg::vector::dispatch(
                #[inline(always)]
                || {
                    crate::linalg::vector::update(&mut exps, exp);
                    crate::linalg::vector::update(&mut sigmoids, sigmoid);
                },
            );
            for (k, x) in x.into_iter().enumerate() {
                assert_eq!(
                    (exps[k].to_bits(), sigmoids[k].to_bits()),
                    (exp(x).to_bits(), sigmoid(x).to_bits())
                );
            }
        }
    }

    #[test]
    fn the_sigmoid_is_precise_at_both_ends() {
        assert_eq!(sigmoid(0.0), 0.5);
        assert!(sigmoid(-800.0) > 0.0 && sigmoid(800.0) == 1.0);
        for k in -700..=700 {
            let t = f64::from(k) + 0.1;
            let expected =
                if t < 0.0 { t.exp() / (1.0 + t.exp()) } else { 1.0 / (1.0 + (-t).exp()) };
            assert!(steps_between(sigmoid(t), expected) <= 4, "{t}");
        }
    }
}

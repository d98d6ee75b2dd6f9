//! `e^x` in a form that loops over many numbers can be vectorised with.
//!
//! The library's `f64::exp` is a call for each number, which costs as much as the row of features before it. This one is a polynomial and
//! two tricks with bits: inlined into a loop, four of them run side by side. Its bits are the same on every machine.

use crate::scalar::clamp;

/// `1.5 * 2^52`: added to a number below `2^51`, it leaves the number's nearest integer in the low bits.
const TO_INTEGER: f64 = 6_755_399_441_055_744.0;
/// `ln 2` in two parts: the first has so few digits that whole multiples of it are exact.
const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];
/// Where the result stays a normal number. Beyond, it is as if x were here: `1e-307` and `1e308` serve as 0 and infinity.
const RANGE: (f64, f64) = (-708.0, 709.0);

/// `e^x`, off by at most one or two units in the last place for x in -708 to 709; a NaN stays one.
///
/// `x = k ln 2 + r` with a whole k and `|r| <= ln(2)/2`; then `e^x = 2^k e^r`, and 14 terms of the series of `e^r` reach rounding.
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
    // 2^k: the low bits of `shifted` moved to where the exponent stands.
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

    #[test]
    fn exp_is_that_of_the_library_up_to_rounding() {
        for k in -70_800..=70_900 {
            let x = f64::from(k) / 100.0 + 0.000_3;
            let (ours, library) = (exp(x.min(709.0)), x.min(709.0).exp());
            assert!((ours / library - 1.0).abs() <= 4.0 * f64::EPSILON, "{x}: {ours} {library}");
        }
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(f64::NAN).is_nan() && sigmoid(f64::NAN).is_nan());
        assert!(exp(-1e300) < 1e-300 && exp(f64::INFINITY) > 1e300);
        assert_eq!(sigmoid(0.0), 0.5);
        assert!(sigmoid(-800.0) > 0.0 && sigmoid(800.0) == 1.0);
    }
}

//! Class probabilities of one step, and of a stretch of steps at once.

use crate::vector::{axpy, row_dots, update, update_with};

/// `e^x` for `x <= 0`, to about one unit in the last place; `e^-708` for anything below -708. A NaN stays one.
///
/// `x = n log 2 + r` with a whole n, `e^r` by its Taylor series up to `r^13` (`|r| <= log(2)/2`: the rest is below 1e-17), and `2^n` put
/// together from its bits. No branch and no table, so that a loop over it runs as wide as the CPU's vectors.
#[inline(always)]
pub(super) fn exp_of_negative(x: f64) -> f64 {
    /// Adding it leaves a number's nearest whole number in the last bits.
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    /// `log 2` in two parts, the first with trailing zeros so that its multiples are exact.
    const LN2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];
    let x = if x < -708.0 { -708.0 } else { x };
    let shifted = x * std::f64::consts::LOG2_E + SHIFT;
    let n = shifted - SHIFT;
    let r = (x - n * LN2[0]) - n * LN2[1];
    let mut series = 1.0 / 6_227_020_800.0;
    for factorial in [
        479_001_600.0,
        39_916_800.0,
        3_628_800.0,
        362_880.0,
        40_320.0,
        5_040.0,
        720.0,
        120.0,
        24.0,
        6.0,
        2.0,
        1.0,
        1.0,
    ] {
        series = series * r + 1.0 / factorial;
    }
    series * f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52))
}

/// The class probabilities of `len` steps, whose rows of `width` numbers stand in `rows`: class c owns `out[c * len..(c + 1) * len]`, so that
/// all that follows runs along the steps. `theta` holds a row for each class. `work` is scratch of length `len`.
#[inline(always)]
pub(super) fn class_probabilities(
    theta: &[f64],
    rows: &[f64],
    width: usize,
    work: &mut [f64],
    out: &mut [f64],
) {
    let len = work.len();
    work.fill(f64::NEG_INFINITY);
    for (theta_c, logits) in theta.chunks_exact(width).zip(out.chunks_exact_mut(len)) {
        row_dots(rows, width, theta_c, logits);
        update_with(work, logits, |most, logit| if logit > most { logit } else { most });
    }
    for logits in out.chunks_exact_mut(len) {
        update_with(logits, work, |logit, most| exp_of_negative(logit - most));
    }
    work.fill(0.0);
    for odds in out.chunks_exact(len) {
        axpy(1.0, odds, work);
    }
    update(work, |total| 1.0 / total);
    for odds in out.chunks_exact_mut(len) {
        update_with(odds, work, |odds, share| odds * share);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_the_exponential() {
        for k in 0..200_000 {
            let x = -f64::from(k) * 0.003_541_7;
            let (ours, theirs) = (exp_of_negative(x), x.exp());
            if x > -708.0 {
                assert!((ours / theirs - 1.0).abs() <= 4.0 * f64::EPSILON, "e^{x} = {theirs}, not {ours}");
            } else {
                assert!(ours < 1e-300 && ours > 0.0);
            }
        }
        assert_eq!(exp_of_negative(0.0), 1.0);
        assert!(exp_of_negative(f64::NEG_INFINITY) < 1e-300);
        assert!(exp_of_negative(f64::NAN).is_nan());
    }
}

//! The scalar kernels that merits and regularisers share.
//!
//! `f64::min` and `f64::max` answer a NaN with their other argument, which would turn a diverged
//! run into a plausible number; `f64::clamp` checks its bounds at each call. These keep a NaN and
//! compile to two instructions without a branch.

/// `x` moved into `[lo, hi]`; a NaN stays one. Asks for `lo <= hi`, which the settings guarantee.
#[inline(always)]
pub(crate) fn clamp(x: f64, lo: f64, hi: f64) -> f64 {
    let x = if x < lo { lo } else { x };
    if x > hi { hi } else { x }
}

/// The power of two next to a positive number, by its digits alone; 1 where that has no such
/// neighbour among normal numbers.
pub(crate) fn power_of_two_near(x: f64) -> f64 {
    const DIGITS: u32 = f64::MANTISSA_DIGITS - 1;
    if !x.is_normal() || x < 0.0 {
        return 1.0;
    }
    let down = f64::from_bits(x.to_bits() >> DIGITS << DIGITS);
    let up = 2.0 * down;
    // By ratios: the border is the square root of 2.
    if up.is_finite() && x / down > up / x { up } else { down }
}

/// `min(x, 0)`; a NaN stays one.
#[inline(always)]
pub(crate) fn negative_part(x: f64) -> f64 {
    if x > 0.0 { 0.0 } else { x }
}

/// `max(x, 0)`; a NaN stays one.
#[inline(always)]
pub(crate) fn positive_part(x: f64) -> f64 {
    if x < 0.0 { 0.0 } else { x }
}

/// `sign(x) max(|x| - t, 0)`, the prox of `t |x|`.
#[inline(always)]
pub(crate) fn soft_threshold(x: f64, t: f64) -> f64 {
    x - clamp(x, -t, t)
}

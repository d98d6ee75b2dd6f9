//! Random numbers of every size, and sizes that rounding is measured against.

use proptest::prelude::*;

/// `10^e` for e uniform between the bounds.
pub(super) fn magnitude(e: std::ops::Range<f64>) -> impl Strategy<Value = f64> {
    e.prop_map(|e| 10f64.powf(e))
}

/// A number of either sign whose magnitude has its exponent between the bounds; sometimes zero.
pub(super) fn signed(e: std::ops::Range<f64>) -> impl Strategy<Value = f64> {
    let number = (magnitude(e), any::<bool>()).prop_map(|(x, sign)| if sign { x } else { -x });
    prop_oneof![1 => Just(0.0), 9 => number]
}

/// A step of the dual prox.
pub(super) fn alpha() -> impl Strategy<Value = f64> {
    magnitude(-4.0..4.0)
}

/// `sum |a_l b_l|`: the size that the rounding of `<a, b>` is measured against.
pub(super) fn weight_of(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a * b).abs()).sum()
}

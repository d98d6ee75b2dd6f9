//! The projection onto the simplex, against sorting and by its own optimality.

use super::drawn::{magnitude, signed};
use super::regularizer_laws::{INF, alpha, number};
use innermean::regularizer::{Regularizer, Simplex};
use proptest::prelude::*;

/// A point for the simplex: entries of all sizes, of like sizes, or drawn from few values so that
/// ties abound.
pub(super) fn simplex_point() -> impl Strategy<Value = Vec<f64>> {
    (magnitude(-9.0..12.0), number()).prop_flat_map(|(scale, shift)| {
        let any_size = signed(-9.0..12.0);
        let like_sizes = (-1.0..1.0f64).prop_map(move |x| shift + scale * x);
        let ties = (0..3).prop_map(move |k| shift + scale * f64::from(k));
        let near_ties = (0..3).prop_map(move |k| shift + 1e-16 * f64::from(k));
        prop_oneof![
            prop::collection::vec(any_size, 1..=40),
            prop::collection::vec(like_sizes, 1..=40),
            prop::collection::vec(ties, 1..=40),
            prop::collection::vec(near_ties, 1..=40),
        ]
    })
}

/// The projection by sorting: the support is the longest prefix of the sorted entries that stays
/// above its own tau.
fn project_by_sorting(v: &[f64]) -> Vec<f64> {
    let mut sorted = v.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let top = sorted[0];
    let (mut sum, mut tau) = (0.0, 0.0);
    for (k, x) in sorted.iter().enumerate() {
        sum += x - top;
        let candidate = (sum - 1.0) / (k as f64 + 1.0);
        if x - top > candidate {
            tau = candidate;
        }
    }
    v.iter().map(|x| (x - top - tau).max(0.0)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn simplex_projection_agrees_with_sorting(v in simplex_point(), alpha in alpha()) {
        let mut x = v.clone();
        Simplex.prox(alpha, &mut x);
        for (x, expected) in x.iter().zip(project_by_sorting(&v)) {
            prop_assert!((x - expected).abs() <= 1e-14, "{x} {expected}");
        }
    }

    /// `x >= 0`, `sum x = 1`, and some tau with `v - x = tau` on the support and `v <= tau` off it.
    #[test]
    fn simplex_projection_satisfies_kkt(v in simplex_point()) {
        let mut x = v.clone();
        Simplex.prox(1.0, &mut x);
        prop_assert!(x.iter().all(|&x| x >= 0.0));
        prop_assert!((x.iter().sum::<f64>() - 1.0).abs() <= 1e-13);
        prop_assert_eq!(Simplex.value(&x), 0.0);
        let top = v.iter().copied().fold(-INF, f64::max);
        let (at, largest) = x.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).unwrap();
        let tau = (v[at] - top) - largest;
        for (v, x) in v.iter().zip(&x) {
            let left = (v - top) - x;
            if *x > 0.0 {
                prop_assert!((left - tau).abs() <= 1e-14, "{left} {tau}");
            } else {
                prop_assert!(left <= tau + 1e-14, "{left} {tau}");
            }
        }
    }

    /// What is on the simplex stays where it is.
    #[test]
    fn simplex_projection_is_idempotent(v in simplex_point()) {
        let mut x = v;
        Simplex.prox(1.0, &mut x);
        let mut again = x.clone();
        Simplex.prox(1.0, &mut again);
        for (x, again) in x.iter().zip(&again) {
            prop_assert!((x - again).abs() <= 1e-14);
        }
    }
}

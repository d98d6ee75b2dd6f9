//! The laws of merits whose curvature has no bound: cross-entropy of a proportion and deviance of a
//! count.

use super::drawn::magnitude;
use innermean::merit::{Bernoulli, Logistic, Merit, Poisson, ScalarMerit};
use proptest::prelude::*;

/// A proportion, often exactly 0 or 1, and a point of (0, 1), often near an end.
fn proportion() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 1 => Just(1.0), 4 => 0.001..0.999f64, 1 => 1e-9..1e-3f64]
}

fn average() -> impl Strategy<Value = f64> {
    prop_oneof![2 => 0.01..0.99f64, 1 => (-9.0..-2.0f64).prop_map(|e| 10f64.powf(e)), 1 => (-9.0..-2.0f64).prop_map(|e| 1.0 - 10f64.powf(e))]
}

fn bernoulli(q: f64) -> Bernoulli {
    Bernoulli::new(vec![q]).expect("a proportion")
}

/// The laws that tie phi, phi', phi* and the prox at one point u, one dual w and one step alpha.
fn laws(
    phi: &impl ScalarMerit,
    u: f64,
    other: f64,
    w: f64,
    alpha: f64,
) -> Result<(), TestCaseError> {
    // Fenchel-Young, with equality at the slope.
    let slope = phi.slope(0, u);
    let slack = phi.phi(0, u) + phi.phi_star(0, slope) - u * slope;
    let size = phi.phi(0, u).abs() + phi.phi_star(0, slope).abs() + (u * slope).abs();
    prop_assert!(slack.abs() <= 1e-7 * size, "tight {slack} of {size}");
    let elsewhere = phi.phi(0, other) + phi.phi_star(0, slope) - other * slope;
    prop_assert!(elsewhere >= -1e-9 * (size + phi.phi(0, other).abs()), "inequality {elsewhere}");
    // Convexity: the tangent lies below.
    let tangent = phi.phi(0, u) + slope * (other - u);
    prop_assert!(
        phi.phi(0, other) >= tangent - 1e-9 * (tangent.abs() + (slope * (other - u)).abs()),
        "tangent"
    );
    // The prox: v + alpha x = w with v = phi'(x), Moreau's identity.
    let v = phi.prox_phi_star(0, alpha, w);
    let x = (w - v) / alpha;
    prop_assert!(v.is_finite() && phi.phi_star(0, v).is_finite(), "prox {v}");
    let left = phi.phi(0, x) + phi.phi_star(0, v) - x * v;
    // Rounding of v moves x by 1e-16 |w| / alpha, and phi by that times its slope.
    let rounding =
        1e-13 * (1.0 + w.abs() + v.abs()) / alpha * (1.0 + v.abs()) + 1e-9 * (x * v).abs() + 1e-9;
    prop_assert!(
        !left.is_finite() || left <= rounding.max(1e-9),
        "prox at w {w} alpha {alpha}: {left} v {v} x {x}"
    );
    // The dual step stands still at the slope.
    let moved = slope + alpha * u;
    let back = phi.prox_phi_star(0, alpha, moved);
    prop_assert!(
        (back - slope).abs() <= 1e-11 * (slope.abs() + moved.abs() + alpha),
        "{back} {slope}"
    );
    // And is no longer than the step before it (firmly non-expansive).
    let near = phi.prox_phi_star(0, alpha, w + 0.1);
    prop_assert!(
        near >= v - 1e-12 * (1.0 + w.abs())
            && near - v <= 0.1 * (1.0 + 1e-9) + 1e-12 * (1.0 + w.abs())
    );
    Ok(())
}

/// The slope and the curvature at u, against differences with a step h.
fn differences(phi: &impl ScalarMerit, u: f64, h: f64) -> Result<(), TestCaseError> {
    let slope = (phi.phi(0, u + h) - phi.phi(0, u - h)) / (2.0 * h);
    prop_assert!(
        (phi.slope(0, u) - slope).abs()
            <= 1e-6 * (1.0 + slope.abs() + phi.phi(0, u).abs() / h * 1e-9),
        "{} {slope}",
        phi.slope(0, u)
    );
    let curvature = (phi.slope(0, u + h) - phi.slope(0, u - h)) / (2.0 * h);
    let said = phi.curvature_at(0, u).expect("it differs from place to place");
    prop_assert!((said - curvature).abs() <= 1e-5 * (1.0 + curvature.abs()), "{said} {curvature}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn bernoulli_keeps_the_laws(q in proportion(), u in average(), other in average(), w in -50.0..50.0f64, alpha in magnitude(-3.0..3.0)) {
        laws(&bernoulli(q), u, other, w, alpha)?;
    }

    #[test]
    fn poisson_keeps_the_laws(c in prop_oneof![1 => Just(0.0), 4 => magnitude(-1.0..4.0)], n in magnitude(0.0..4.0), u in magnitude(-3.0..3.0), other in magnitude(-3.0..3.0), w in -50.0..50.0f64, alpha in magnitude(-3.0..3.0)) {
        laws(&Poisson::new(vec![c], vec![n], 1.0 / n).expect("counts"), u, other, w, alpha)?;
    }

    #[test]
    fn slopes_and_curvatures_are_differences(q in proportion(), u in 0.01..0.99f64, c in 0.0..30.0f64) {
        let h = 1e-6 * u * (1.0 - u);
        differences(&bernoulli(q), u, h)?;
        differences(&Poisson::new(vec![c], vec![3.0], 0.5).expect("a count"), u, h)?;
    }
}

#[test]
fn known_values() {
    let half = bernoulli(0.5);
    assert!((half.value(0, &[0.5]) - 2f64.ln()).abs() < 1e-15);
    assert_eq!(half.slope(0, 0.5), 0.0);
    // phi* at 0 is minus the least value, the entropy.
    assert!((half.conjugate(0, &[0.0]) + 2f64.ln()).abs() < 1e-15);
    assert!((bernoulli(0.2).floor() - 0.500_402_423_538_188_1).abs() < 1e-12);
    for q in [0.0, 1.0] {
        // A proportion of 0 or 1 that is predicted exactly costs nothing, and the other end costs
        // everything.
        assert_eq!(bernoulli(q).phi(0, q), 0.0);
        assert_eq!(bernoulli(q).phi(0, 1.0 - q), f64::INFINITY);
        assert_eq!(bernoulli(q).floor(), 0.0);
    }
    assert!(half.phi(0, f64::NAN).is_nan() && half.prox_phi_star(0, 1.0, f64::NAN).is_nan());
    assert!(bernoulli(0.0).phi(0, f64::NAN).is_nan() && bernoulli(1.0).slope(0, f64::NAN).is_nan());
    assert!(!half.has_kinks() && half.gamma() == 0.0);
    let count = Poisson::new(vec![6.0, 0.0], vec![2.0, 3.0], 1.0).expect("counts");
    // Least, and 0, where the mean is the count.
    assert!(count.phi(0, 3.0).abs() < 1e-15 && count.slope(0, 3.0).abs() < 1e-15);
    assert_eq!((count.phi(1, 2.0), count.prox_phi_star(1, 0.3, -7.0)), (6.0, 3.0));
    assert!(count.phi(1, f64::NAN).is_nan() && count.prox_phi_star(1, 1.0, f64::NAN).is_nan());
}

#[test]
fn bad_labels_are_refused() {
    let message = |result: Result<Bernoulli, innermean::InvalidSetting>| {
        result.expect_err("refused").to_string()
    };
    assert_eq!(
        message(Bernoulli::new(vec![0.3, 1.2])),
        "proportions[1] = 1.2, expected a number in [0, 1]"
    );
    assert!(message(Bernoulli::new(vec![f64::NAN])).starts_with("proportions[0] = NaN"));
    let message = |counts: Vec<f64>, sizes: Vec<f64>| {
        Poisson::new(counts, sizes, 1.0).expect_err("refused").to_string()
    };
    assert!(message(vec![-1.0], vec![1.0]).starts_with("counts[0] = -1.0"));
    assert!(message(vec![1.0], vec![0.0]).starts_with("exposures[0] = 0.0"));
    assert!(message(vec![1.0], vec![]).contains("one for each of 1 counts"));
}

/// `(1 - v) log(1 - v) + v = v^2/2 + v^3/6 + ... + v^k / (k (k - 1)) + ...`
fn of_the_rest(v: f64) -> f64 {
    (2..12).rev().map(|k| v.powi(k) / f64::from(k * (k - 1))).sum()
}

/// A gap is as small as the conjugates of rare classes and of confident predictions are exact.
#[test]
fn conjugates_of_small_duals_keep_their_digits() {
    let units = |k: f64| k * f64::EPSILON;
    let logistic = Logistic::new(vec![-1.0]).expect("a label");
    for digits in 2..16 {
        let v = 0.77 * 10f64.powi(-digits);
        let exact = v * v.ln() - v + of_the_rest(v);
        assert!((logistic.phi_star(0, v) - exact).abs() <= units(4.0) * exact.abs(), "{v:e}");

        // phi*(phi'(u)) = u phi'(u) - phi(u), for rare shares q and averages u near them.
        let merit = bernoulli(1.3 * v);
        let (q, u) = (1.3 * v, v);
        let w = (u - q) / (u * (1.0 - u));
        let no = (1.0 - q) * (-u).ln_1p();
        let star = w * u + q * u.ln() + no;
        let size = (w * u).abs() + (q * u.ln()).abs();
        assert!((merit.phi_star(0, w) - star).abs() <= units(8.0) * size, "share {q:e}");

        // Without a share: t - log(1 + t) with t = w - 1.
        let t = (1.0 + v) - 1.0;
        let series: f64 = (2..12).rev().map(|k| -(-t).powi(k) / f64::from(k)).sum();
        let star = bernoulli(0.0).phi_star(0, 1.0 + v);
        assert!((star + series).abs() <= units(4.0) * t, "{t:e}: {star:e}, {series:e}");
    }
}

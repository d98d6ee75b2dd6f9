//! The laws of `merit_laws.rs` for the merit that has a weight for each coordinate of each term.

use super::drawn::{alpha, magnitude, signed, weight_of};
use crate::support::dense::dot;
use innermean::{Merit, NegativeLog};
use proptest::prelude::*;

/// Two terms of three coordinates, some of them without weight; with a floor or without.
fn merit() -> impl Strategy<Value = NegativeLog> {
    let weight = prop_oneof![1 => Just(0.0), 4 => magnitude(-3.0..2.0)];
    let floor = prop_oneof![Just(0.0), magnitude(-3.0..0.0)];
    (prop::collection::vec(weight, 5), floor).prop_map(|(mut weights, floor)| {
        weights.push(0.7);
        let phi = NegativeLog::new(3, weights).unwrap();
        if floor > 0.0 { phi.with_floor(floor).unwrap() } else { phi }
    })
}

/// Averages on both sides of the floors.
fn averages() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(magnitude(-5.0..1.0), 3)
}

fn numbers() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(signed(-3.0..3.0), 3)
}

fn gradient(phi: &NegativeLog, i: usize, u: &[f64]) -> Vec<f64> {
    let mut out = vec![f64::NAN; u.len()];
    phi.gradient(i, u, &mut out);
    out
}

fn prox(phi: &NegativeLog, i: usize, alpha: f64, w: &[f64]) -> Vec<f64> {
    let mut w = w.to_vec();
    phi.prox_conjugate(i, alpha, &mut w);
    w
}

/// The slope as a textbook writes it.
fn slope(q: f64, floor: f64, u: f64) -> f64 {
    if u >= floor && u > 0.0 { -q / u } else { -q / floor }
}

/// `prox_{phi/alpha}(z)` of one coordinate, by bisection on `phi'(u)/alpha + u - z`, which grows
/// with u.
fn prox_of_phi(q: f64, floor: f64, alpha: f64, z: f64) -> f64 {
    // phi falls, so that the prox lies to the right of z; at that distance the slope is too small
    // to reach it.
    let (mut lo, mut hi) = (if floor > 0.0 { z } else { z.max(0.0) }, z.max(0.0) + 1.0 + q / alpha);
    for _ in 0..4000 {
        let mid = 0.5 * (lo + hi);
        if mid <= lo || mid >= hi {
            break;
        }
        if slope(q, floor, mid) / alpha + mid - z > 0.0 {
            hi = mid;
        } else {
            lo = mid;
        }
    }
    0.5 * (lo + hi)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn value_is_the_cross_entropy_above_the_floor(phi in merit(), i in 0usize..2, u in averages()) {
        let u: Vec<f64> = u.iter().map(|u| u.max(phi.floor())).collect();
        let q = &phi.weights()[3 * i..3 * i + 3];
        let expected: f64 = q.iter().zip(&u).map(|(q, u)| -q * u.ln()).sum();
        let rounding: f64 = q.iter().zip(&u).map(|(q, u)| q * u.ln().abs()).sum();
        prop_assert!((phi.value(i, &u) - expected).abs() <= 1e-13 * rounding);
    }

    #[test]
    fn fenchel_young_and_it_is_tight_at_the_gradient(phi in merit(), i in 0usize..2, u in averages(), v in averages(), w in numbers()) {
        for (w, tight) in [(gradient(&phi, i, &u), true), (gradient(&phi, i, &v), false), (w, false)] {
            let (value, conjugate) = (phi.value(i, &u), phi.conjugate(i, &w));
            let slack = value + conjugate - dot(&u, &w);
            let total: f64 = phi.weights().iter().sum();
            let rounding = 1e-12 * (value.abs() + weight_of(&u, &w) + 10.0 * total);
            prop_assert!(slack >= -rounding, "slack {slack}");
            prop_assert!(!tight || slack <= rounding, "slack {slack}");
        }
    }

    /// Against a search that knows no formula of the crate.
    #[test]
    fn moreau(phi in merit(), i in 0usize..2, alpha in alpha(), w in numbers()) {
        for (c, p) in prox(&phi, i, alpha, &w).into_iter().enumerate() {
            let q = phi.weights()[3 * i + c];
            let z = w[c] / alpha;
            let expected = if q == 0.0 { 0.0 } else { w[c] - alpha * prox_of_phi(q, phi.floor(), alpha, z) };
            prop_assert!((p - expected).abs() <= 1e-11 * (1.0 + w[c].abs() + p.abs()), "{p} {expected}");
        }
    }

    #[test]
    fn prox_beats_its_neighbours(phi in merit(), i in 0usize..2, alpha in alpha(), w in numbers(), v in numbers(), step in magnitude(-6.0..0.0)) {
        let objective = |v: &[f64]| {
            let far: f64 = v.iter().zip(&w).map(|(v, w)| (v - w).powi(2)).sum();
            (phi.conjugate(i, v) + far / (2.0 * alpha), far / alpha)
        };
        let p = prox(&phi, i, alpha, &w);
        let (best, rounding) = objective(&p);
        prop_assert!(best.is_finite());
        let moved: Vec<f64> = p.iter().zip(&v).map(|(p, v)| p + step * v).collect();
        prop_assert!(best <= objective(&moved).0 + 1e-11 * (best.abs() + rounding + 1.0));
    }

    #[test]
    fn the_gradient_is_a_fixed_point_of_the_dual_step(phi in merit(), i in 0usize..2, alpha in alpha(), u in averages()) {
        let w = gradient(&phi, i, &u);
        let moved: Vec<f64> = w.iter().zip(&u).map(|(w, u)| w + alpha * u).collect();
        for ((p, w), m) in prox(&phi, i, alpha, &moved).iter().zip(&w).zip(&moved) {
            prop_assert!((p - w).abs() <= 1e-12 * (w.abs() + m.abs()), "{p} {w}");
        }
    }

    #[test]
    fn gradient_matches_central_differences(phi in merit(), i in 0usize..2, u in averages()) {
        let slopes = gradient(&phi, i, &u);
        for c in 0..3 {
            let step = 1e-5 * u[c];
            if (u[c] - phi.floor()).abs() <= 2.0 * step {
                continue;
            }
            let at = |x: f64| { let mut moved = u.clone(); moved[c] = x; phi.value(i, &moved) };
            let difference = (at(u[c] + step) - at(u[c] - step)) / (2.0 * step);
            let noise = 1e-14 * phi.weights().iter().map(|q| 20.0 * q).sum::<f64>() / step;
            prop_assert!((difference - slopes[c]).abs() <= 1e-6 * slopes[c].abs() + noise);
        }
    }

    /// `|phi'(u) - phi'(v)| <= |u - v| / gamma` and `|phi(u) - phi(v)| <= B_w |u - v|`.
    #[test]
    fn gamma_and_b_w_bound_what_they_say(phi in merit(), i in 0usize..2, u in averages(), v in averages()) {
        let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        let far = distance(&u, &v);
        prop_assert!(phi.gamma() * distance(&gradient(&phi, i, &u), &gradient(&phi, i, &v)) <= far * (1.0 + 1e-12));
        let change = (phi.value(i, &u) - phi.value(i, &v)).abs();
        let rounding = 1e-12 * phi.weights().iter().sum::<f64>();
        prop_assert!(change <= phi.lipschitz(3) * far * (1.0 + 1e-12) + rounding);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// `phi(u) = phi_1(u/t)` with `phi_1` that of units of 1, so `phi' = phi_1'/t`, `phi*(w) =
    /// phi_1*(t w)`, and `prox_{alpha phi*}(w) = prox_{alpha t^2 phi_1*}(t w) / t`.
    #[test]
    fn units_are_a_change_of_variables(phi in merit(), t in prop::collection::vec(magnitude(-2.0..2.0), 6), i in 0usize..2, alpha in alpha(), u in averages()) {
        let scaled = phi.clone().with_units(t.clone()).unwrap();
        for c in 0..3 {
            let (t, q) = (t[3 * i + c], phi.weights()[3 * i + c]);
            let one = NegativeLog::new(1, vec![q.max(1e-3)]).unwrap();
            let one = if phi.floor() > 0.0 { one.with_floor(phi.floor()).unwrap() } else { one };
            let other = one.clone().with_units(vec![t]).unwrap();
            // phi and phi* are sums of terms of the size of q, which may cancel.
            let size = 1e-3 + q;
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-11 * (size + a.abs() + b.abs());
            prop_assert!(close(other.value(0, &[u[c]]), one.value(0, &[u[c] / t])));
            let slope = gradient(&other, 0, &[u[c]])[0];
            prop_assert!(close(slope, gradient(&one, 0, &[u[c] / t])[0] / t));
            prop_assert!(close(other.conjugate(0, &[slope]), one.conjugate(0, &[t * slope * (1.0 - 1e-14)])));
            let (p, expected) = (prox(&other, 0, alpha, &[u[c] - 1.0]), prox(&one, 0, alpha * t * t, &[t * (u[c] - 1.0)]));
            prop_assert!(close(p[0], expected[0] / t), "{p:?} {expected:?} {t}");
        }
        prop_assert!(phi.gamma() == 0.0 || scaled.gamma() > 0.0);
        let bound = scaled.lipschitz(3);
        prop_assert!(gradient(&scaled, i, &u).iter().all(|s| s.abs() <= bound * (1.0 + 1e-12)));
    }
}

#[test]
fn constants_are_those_at_the_floor_and_no_better() {
    let exact = NegativeLog::new(2, vec![3.0, 4.0, 0.0, 2.0]).unwrap();
    assert_eq!((exact.gamma(), exact.lipschitz(2)), (0.0, f64::INFINITY));
    let floored = exact.clone().with_floor(0.1).unwrap();
    assert!((floored.gamma() - 0.01 / 4.0).abs() < 1e-18);
    assert!((floored.lipschitz(2) - 50.0).abs() < 1e-12);
    // Reached: the curvature of q = 4 just above the floor, and the slope of both below it.
    let [low, high] = [[1.0, 0.1], [1.0, 0.1 + 1e-7]].map(|u| gradient(&floored, 0, &u)[1]);
    assert!(((high - low) / 1e-7 * floored.gamma() - 1.0).abs() < 1e-4);
    let below = gradient(&floored, 0, &[0.01, -5.0]);
    assert!((below[0].hypot(below[1]) - floored.lipschitz(2)).abs() < 1e-12);
    // phi'' where it is, and at the floor below it.
    assert_eq!(
        (floored.curvature(0, &[1.0, 0.5]), exact.curvature(1, &[9.0, 4.0])),
        (Some(16.0), Some(0.125))
    );
    assert!((floored.curvature(0, &[1.0, -3.0]).unwrap() * floored.gamma() - 1.0).abs() < 1e-12);
    // In units of 2 and 1/2 the curvatures at the floor are 3/4 and 16 over e^2.
    let units = NegativeLog::new(2, vec![3.0, 4.0]).unwrap().with_units(vec![2.0, 0.5]).unwrap();
    let units = units.with_floor(0.1).unwrap();
    assert!((units.gamma() - 0.01 / 16.0).abs() < 1e-17);
    assert!((units.curvature(0, &[0.0, 0.0]).unwrap() * units.gamma() - 1.0).abs() < 1e-12);
    assert!(floored.is_exact_at(&[0.1, 0.2, 0.0, 0.3]), "an average without weight does not count");
    assert!(!floored.is_exact_at(&[0.1, 0.2, 0.0, 0.05]));
}

#[test]
fn without_a_floor_the_domain_is_open() {
    let phi = NegativeLog::new(1, vec![2.0]).unwrap();
    let inf = f64::INFINITY;
    assert_eq!((phi.value(0, &[0.0]), phi.value(0, &[-0.5]).is_finite()), (inf, false));
    assert_eq!((phi.conjugate(0, &[0.0]), phi.conjugate(0, &[0.1])), (inf, inf));
    // -q - q log(-w/q) at w = -2, and the root of v^2 - v - 2 = 0.
    assert_eq!((phi.conjugate(0, &[-2.0]), prox(&phi, 0, 1.0, &[1.0])), (-2.0, vec![-1.0]));
    // Far to the right the root is tiny and still negative.
    assert!((prox(&phi, 0, 1.0, &[1e9])[0] + 2e-9).abs() < 1e-24);
    let floored = phi.with_floor(0.5).unwrap();
    assert_eq!(
        (floored.conjugate(0, &[-4.1]), prox(&floored, 0, 1.0, &[-100.0])),
        (inf, vec![-4.0])
    );
    assert!((floored.value(0, &[-0.5]) - 2.0 * (2f64.ln() + 2.0)).abs() < 1e-15);
}

#[test]
fn a_nan_is_never_answered_with_a_number() {
    for floor in [None, Some(0.1)] {
        for q in [0.0, 1.0] {
            let phi = NegativeLog::new(2, vec![1.0, q]).unwrap();
            let phi = floor.map_or(phi.clone(), |floor| phi.with_floor(floor).unwrap());
            let u = [1.0, f64::NAN];
            assert!(phi.value(0, &u).is_nan() && gradient(&phi, 0, &u)[1].is_nan(), "{phi:?}");
            assert!(prox(&phi, 0, 1.0, &u)[1].is_nan(), "{phi:?}");
            assert!(!phi.conjugate(0, &[-1.0, f64::NAN]).is_finite(), "{phi:?}");
        }
    }
}

#[test]
fn bad_weights_and_floors_are_refused_and_quoted() {
    for (ell, weights, message) in [
        (2, vec![1.0; 3], "weights = 3 numbers in rows of 2, expected at least one whole row"),
        (0, vec![1.0], "weights = 1 numbers in rows of 0, expected at least one whole row"),
        (1, vec![], "weights = 0 numbers in rows of 1, expected at least one whole row"),
        (1, vec![1.0, -0.5], "weights[1] = -0.5, expected a finite number, 0 or above"),
        (1, vec![f64::NAN], "weights[0] = NaN, expected a finite number, 0 or above"),
        (2, vec![0.0; 4], "weights = all 0, expected at least one above 0"),
    ] {
        assert_eq!(NegativeLog::new(ell, weights).unwrap_err().to_string(), message);
    }
    let phi = NegativeLog::new(1, vec![1.0]).unwrap();
    let error = phi.clone().with_floor(0.0).unwrap_err();
    assert_eq!(error.to_string(), "floor = 0.0, expected a finite number above 0");
    let error = phi.clone().with_units(vec![1.0, 2.0]).unwrap_err();
    assert_eq!(error.to_string(), "units = 2 numbers, expected 1, one for each weight");
    let error = phi.with_units(vec![-2.0]).unwrap_err();
    assert_eq!(error.to_string(), "units[0] = -2.0, expected a finite number above 0");
}

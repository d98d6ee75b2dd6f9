//! The laws of `merit_laws.rs` for losses of a margin, logistic and hinge, and for weighted merits.

use super::drawn::{alpha, magnitude};
use super::merit_laws::{gradient, number, points, prox};
use innermean::merit::{
    Absolute, Huber, Logistic, Merit, ScalarMerit, SmoothedHinge, Square, SquaredHinge, Weighted,
};
use proptest::prelude::*;

/// `prox_{phi_i/alpha}(z)` of the logistic loss by bisection: its slope lies between -1 and 1.
fn prox_of_logistic(y: f64, alpha: f64, z: f64) -> f64 {
    let slope = |u: f64| -y / (1.0 + (y * u).exp());
    let (mut lo, mut hi) = (z - 1.0 / alpha, z + 1.0 / alpha);
    for _ in 0..2000 {
        let mid = 0.5 * (lo + hi);
        if mid <= lo || mid >= hi {
            break;
        }
        if slope(mid) / alpha + mid - z > 0.0 {
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
    fn laws_of_the_logistic_loss(i in 0usize..2, alpha in alpha(), u in number(), v in number()) {
        let phi = Logistic::new(vec![1.0, -1.0]).unwrap();
        let y = phi.labels()[i];
        let at = |u: f64| phi.phi(i, u);
        prop_assert!((at(u) - (-y * u).exp().ln_1p()).abs() <= 1e-12 * (1.0 + u.abs()) || -y * u > 700.0);
        // Fenchel-Young, tight at the gradient.
        let (w, elsewhere) = (phi.slope(i, u), phi.slope(i, v));
        prop_assert!((at(u) + phi.phi_star(i, w) - u * w).abs() <= 1e-12 * (1.0 + u.abs()));
        prop_assert!(at(u) + phi.phi_star(i, elsewhere) - u * elsewhere >= -1e-12 * (1.0 + u.abs()));
        prop_assert!(phi.phi_star(i, y * u.abs()) == f64::INFINITY || u == 0.0);
        // Moreau, against a search that knows no formula of the crate.
        let expected = v - alpha * prox_of_logistic(y, alpha, v / alpha);
        let prox = phi.prox_phi_star(i, alpha, v);
        prop_assert!((prox - expected).abs() <= 1e-12 * (1.0 + v.abs()), "{prox} {expected}");
        prop_assert!(phi.phi_star(i, prox).is_finite());
        // The gradient is a fixed point of the dual step, also where it is tiny.
        let moved = phi.prox_phi_star(i, alpha, w + alpha * u);
        prop_assert!((moved - w).abs() <= 1e-14 * (w + alpha * u).abs() + 1e-13 * w.abs(), "{moved} {w}");
        // Slopes against differences; curvature at most 1/gamma = 1/4, and that at 0.
        let step = 1e-5;
        let difference = (at(u + step) - at(u - step)) / (2.0 * step);
        prop_assert!((difference - w).abs() <= 1e-9 + 1e-10 * u.abs());
        prop_assert!((w - elsewhere).abs() <= 0.25 * (u - v).abs() * (1.0 + 1e-12));
    }
}

/// The hinge losses as functions of the margin `m = y u`, branches and all: value and slope.
fn hinge(width: Option<f64>, m: f64) -> (f64, f64) {
    match width {
        _ if m >= 1.0 => (0.0, 0.0),
        None => ((1.0 - m).powi(2), -2.0 * (1.0 - m)),
        Some(h) if m >= 1.0 - h => ((1.0 - m).powi(2) / (2.0 * h), -(1.0 - m) / h),
        Some(h) => (1.0 - m - h / 2.0, -1.0),
    }
}

/// `argmin over u of phi(u)/alpha + (u - z)^2 / 2` by bisection, for a phi of the label y that
/// falls with the margin, by at most `steepest`.
fn prox_of_hinge(y: f64, width: Option<f64>, alpha: f64, z: f64, steepest: f64) -> f64 {
    let (mut lo, mut hi) = (z - steepest / alpha, z + steepest / alpha);
    for _ in 0..2000 {
        let mid = 0.5 * (lo + hi);
        if mid <= lo || mid >= hi {
            break;
        }
        if y * hinge(width, y * mid).1 / alpha + mid - z > 0.0 {
            hi = mid;
        } else {
            lo = mid;
        }
    }
    0.5 * (lo + hi)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn laws_of_the_hinge_losses(
        i in 0usize..2, smooth in any::<bool>(), h in magnitude(-2.0..0.5), alpha in alpha(), u in number(), v in number(),
    ) {
        fn check(phi: &impl ScalarMerit, y: f64, i: usize, width: Option<f64>, alpha: f64, u: f64, v: f64) {
            let at = |u: f64| phi.phi(i, u);
            let (value, slope) = hinge(width, y * u);
            assert!((at(u) - value).abs() <= 1e-12 * (1.0 + value));
            let (w, elsewhere) = (phi.slope(i, u), phi.slope(i, v));
            assert!((w - y * slope).abs() <= 1e-12 * (1.0 + w.abs()));
            // Fenchel-Young, tight at the gradient.
            let size = 1.0 + at(u) + (u * w).abs() + w.abs() + w * w;
            assert!((at(u) + phi.phi_star(i, w) - u * w).abs() <= 1e-12 * size);
            let size = 1.0 + at(u) + (u * elsewhere).abs() + elsewhere.abs() + elsewhere * elsewhere;
            assert!(at(u) + phi.phi_star(i, elsewhere) - u * elsewhere >= -1e-12 * size);
            assert!(phi.phi_star(i, y * u.abs()) == f64::INFINITY || u == 0.0);
            // Moreau, against a search that knows no formula of the crate.
            let z = v / alpha;
            let steepest = if smooth_bound(width) { 1.0 } else { 2.0 * (1.0 + z.abs()) };
            let expected = v - alpha * prox_of_hinge(y, width, alpha, z, steepest);
            let prox = phi.prox_phi_star(i, alpha, v);
            assert!((prox - expected).abs() <= 1e-12 * (1.0 + alpha + v.abs()), "{prox} {expected}");
            assert!(phi.phi_star(i, prox).is_finite());
            // The gradient is a fixed point of the dual step.
            let moved = phi.prox_phi_star(i, alpha, w + alpha * u);
            assert!((moved - w).abs() <= 1e-12 * (1.0 + w.abs() + alpha * (1.0 + u.abs())), "{moved} {w}");
            // Curvature at most 1/gamma, and that just short of the margin.
            let gamma = phi.gamma();
            assert!(gamma * (w - elsewhere).abs() <= (u - v).abs() * (1.0 + 1e-12) + 1e-15);
            let (a, b) = (y * (1.0 - 1e-3), y * (1.0 - 2e-3));
            assert!((gamma * (phi.slope(i, a) - phi.slope(i, b)).abs() / 1e-3 - 1.0).abs() < 1e-9);
        }
        fn smooth_bound(width: Option<f64>) -> bool {
            width.is_some()
        }
        let labels = vec![1.0, -1.0];
        let y = labels[i];
        if smooth {
            let phi = SmoothedHinge::new(labels, h).unwrap();
            check(&phi, y, i, Some(h), alpha, u, v);
            assert_eq!((phi.gamma(), phi.lipschitz(4)), (1.0 / (1.0 / h), 2.0));
        } else {
            let phi = SquaredHinge::new(labels).unwrap();
            check(&phi, y, i, None, alpha, u, v);
            assert_eq!((phi.gamma(), phi.lipschitz(4)), (0.5, f64::INFINITY));
        }
    }

    /// A weight is a factor: of a merit whose factor is a setting, it is that setting.
    #[test]
    fn a_weighted_merit_is_the_merit_times_its_weight(
        c in magnitude(-2.0..2.0), h in magnitude(-2.0..1.0), weight in magnitude(-2.0..2.0), alpha in alpha(), [u] in points(),
    ) {
        fn compare(weighted: &impl Merit, plain: &impl Merit, alpha: f64, u: &[f64]) {
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (a.abs() + b.abs()) || a == b;
            assert!(close(weighted.value(1, u), plain.value(1, u)));
            assert!(close(weighted.conjugate(1, u), plain.conjugate(1, u)));
            let slopes = |phi: &dyn Merit| {
                let (mut slope, mut w) = (vec![0.0; u.len()], u.to_vec());
                phi.gradient(1, u, &mut slope);
                phi.prox_conjugate(1, alpha, &mut w);
                slope.into_iter().chain(w).collect::<Vec<_>>()
            };
            assert!(slopes(weighted).iter().zip(slopes(plain)).all(|(a, b)| close(*a, b)));
            assert!(close(weighted.gamma(), plain.gamma()) && close(weighted.lipschitz(3), plain.lipschitz(3)));
        }
        let weights = vec![0.5 * weight, weight];
        compare(&Weighted::new(Square::new(c).unwrap(), weights.clone()).unwrap(), &Square::new(c * weight).unwrap(), alpha, &u);
        compare(&Weighted::new(Huber::new(c, h).unwrap(), weights.clone()).unwrap(), &Huber::new(c * weight, h).unwrap(), alpha, &u);
        compare(&Weighted::new(Absolute::new(c).unwrap(), weights).unwrap(), &Absolute::new(c * weight).unwrap(), alpha, &u);
    }
}

#[test]
fn hinge_losses_and_weights_refuse_what_makes_no_sense() {
    assert_eq!(
        SquaredHinge::new(vec![1.0, 0.5]).unwrap_err().to_string(),
        "labels[1] = 0.5, expected -1 or 1"
    );
    assert_eq!(SmoothedHinge::new(vec![2.0], 1.0).unwrap_err().name(), "labels[0]");
    assert_eq!(
        SmoothedHinge::new(vec![1.0], 0.0).unwrap_err().to_string(),
        "width = 0.0, expected a finite number above 0"
    );
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = Weighted::new(Square::new(1.0).unwrap(), vec![1.0, bad]).unwrap_err();
        assert_eq!(error.name(), "weights[1]");
    }
    let hinge = SmoothedHinge::new(vec![1.0, -1.0], 0.5).unwrap();
    let bytes = postcard::to_stdvec(&hinge).unwrap();
    assert_eq!(postcard::from_bytes::<SmoothedHinge>(&bytes).unwrap(), hinge);
    let bytes = postcard::to_stdvec(&(vec![1.0, -1.0], -0.5)).unwrap();
    assert!(postcard::from_bytes::<SmoothedHinge>(&bytes).is_err());
    let squared = SquaredHinge::new(vec![1.0]).unwrap();
    let merits: [&dyn Merit; 3] =
        [&hinge, &squared, &Weighted::new(squared.clone(), vec![2.0]).unwrap()];
    for phi in merits {
        let (mut slope, mut w) = ([0.0], [f64::NAN]);
        phi.gradient(0, &[f64::NAN], &mut slope);
        phi.prox_conjugate(0, 1.0, &mut w);
        assert!(slope[0].is_nan() && w[0].is_nan() && phi.value(0, &[f64::NAN]).is_nan());
        assert!(!phi.conjugate(0, &[f64::NAN]).is_finite());
    }
}

#[test]
fn the_logistic_loss_knows_its_constants_and_refuses_other_labels() {
    let phi = Logistic::new(vec![1.0, -1.0]).unwrap();
    assert_eq!((phi.gamma(), phi.lipschitz(4)), (4.0, 2.0));
    assert!(((phi.slope(0, 1e-6) - phi.slope(0, -1e-6)) / 2e-6 - 0.25).abs() < 1e-9);
    assert_eq!((phi.conjugate(0, &[-1.0]), phi.conjugate(0, &[0.0])), (0.0, 0.0));
    assert_eq!(
        (phi.conjugate(1, &[-0.1]), phi.conjugate(0, &[-1.1])),
        (f64::INFINITY, f64::INFINITY)
    );
    for (bad, quoted) in [(0.0, "0.0"), (2.0, "2.0"), (f64::NAN, "NaN")] {
        let error = Logistic::new(vec![1.0, bad]).unwrap_err();
        assert_eq!(error.to_string(), format!("labels[1] = {quoted}, expected -1 or 1"));
        let bytes = postcard::to_stdvec(&vec![1.0, bad]).unwrap();
        assert!(postcard::from_bytes::<Logistic>(&bytes).is_err());
    }
    let bytes = postcard::to_stdvec(&phi).unwrap();
    assert_eq!(postcard::from_bytes::<Logistic>(&bytes).unwrap(), phi);
    let u = [1.0, f64::NAN];
    assert!(
        phi.value(0, &u).is_nan()
            && gradient(&phi, &u)[1].is_nan()
            && prox(&phi, 1.0, &u)[1].is_nan()
    );
    assert!(!phi.conjugate(0, &[f64::NAN]).is_finite());
}

//! phi and g by values and slopes: what is found numerically is what formulas say.

use innermean::elementary::Elementary;
use innermean::merit::{Curve, Merit, Numerical, ScalarMerit};
use innermean::regularizer::{self, Coordinate, Regularizer};
use innermean::{Absolute, Exponential, Huber, Logistic, NegativeLog, Square};
use proptest::prelude::*;

/// A built-in phi by its value and slope alone.
struct Of<S>(S);

impl<S: ScalarMerit> Curve for Of<S> {
    fn count(&self) -> Option<usize> {
        self.0.count()
    }

    fn value(&self, i: usize, t: f64) -> f64 {
        self.0.phi(i, t)
    }

    fn slope(&self, i: usize, t: f64) -> f64 {
        self.0.slope(i, t)
    }
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        1 => Just(0.0),
        9 => (-3.0..3.0, any::<bool>())
            .prop_map(|(e, sign)| if sign { 10f64.powf(e) } else { -10f64.powf(e) }),
    ]
}

fn magnitude() -> impl Strategy<Value = f64> {
    (-2.0..2.0).prop_map(|e: f64| 10f64.powf(e))
}

/// Prox, conjugate at slopes and elsewhere, against the formulas.
fn compare<S: ScalarMerit + Copy>(known: S, found: &Numerical<Of<S>>, alpha: f64, u: f64, w: f64) {
    same(&known, found, alpha, u, w);
}

fn same(known: &dyn Merit, found: &dyn Merit, alpha: f64, u: f64, w: f64) {
    let prox = |phi: &dyn Merit| {
        let mut w = [w];
        phi.prox_conjugate(0, alpha, &mut w);
        w[0]
    };
    let (expected, got) = (prox(known), prox(found));
    let size = 1.0 + w.abs() + (w - expected).abs();
    assert!((got - expected).abs() <= 1e-13 * size, "prox at {w}: {got} {expected}");
    let mut slope = [0.0];
    known.gradient(0, &[u], &mut slope);
    let (expected, got) = (known.conjugate(0, &slope), found.conjugate(0, &slope));
    let size = 1.0 + (u * slope[0]).abs() + known.value(0, &[u]).abs();
    assert!((got - expected).abs() <= 1e-12 * size, "phi* at a slope: {got} {expected}");
    // Never below: a gap would be too small.
    let (expected, got) = (known.conjugate(0, &[w]), found.conjugate(0, &[w]));
    if got == f64::INFINITY {
        // Outside the domain, or at an end of it, where the supremum is that of u without bound.
        let beside = [w - 1e-9, w, w + 1e-9].map(|w| known.conjugate(0, &[w]));
        assert!(beside.contains(&got), "phi* at {w}: {beside:?}");
        return;
    }
    assert!(got >= expected - 1e-15 * (1.0 + expected.abs()), "phi* at {w}: {got} {expected}");
    assert!(got <= expected + 1e-11 * (1.0 + expected.abs() + w * w), "{w}: {got} {expected}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn conjugates_and_proxes_are_those_of_the_formulas(
        c in magnitude(), h in magnitude(), alpha in magnitude(), u in number(), w in number(),
    ) {
        let (square, huber) = (Square::new(c).unwrap(), Huber::new(c, h).unwrap());
        let absolute = Absolute::new(c).unwrap();
        compare(square, &Numerical::new(Of(square)), alpha, u, w);
        compare(huber, &Numerical::new(Of(huber)), alpha, u, w);
        compare(absolute, &Numerical::new(Of(absolute)).with_kinks(), alpha, u, w);
        let logistic = || Logistic::new(vec![1.0]).unwrap();
        same(&logistic(), &Numerical::new(Of(logistic())), alpha, u, w);
        let exponential = Exponential::new(1.0, 0.01).unwrap();
        compare(exponential, &Numerical::new(Of(exponential)), alpha, u, w);
    }

    /// A phi that ends: its logarithm is infinite there.
    #[test]
    fn a_phi_with_an_end(c in magnitude(), alpha in magnitude(), u in magnitude(), w in number()) {
        struct Log(f64);
        impl Curve for Log {
            fn value(&self, _: usize, u: f64) -> f64 {
                -self.0 * u.natural_log()
            }
            fn slope(&self, _: usize, u: f64) -> f64 {
                -self.0 / u
            }
        }
        let found = Numerical::new(Log(c)).between(0.0, f64::INFINITY).unwrap();
        let known = NegativeLog::new(1, vec![c]).unwrap();
        prop_assert_eq!(found.value(0, &[-u]), f64::INFINITY);
        let mut slope = [0.0];
        known.gradient(0, &[u], &mut slope);
        let (expected, got) = (known.conjugate(0, &slope), found.conjugate(0, &slope));
        prop_assert!((got - expected).abs() <= 1e-13 * (1.0 + c + expected.abs()), "{got} {expected}");
        let prox = |phi: &dyn Merit| {
            let mut w = [w];
            phi.prox_conjugate(0, alpha, &mut w);
            w[0]
        };
        let (expected, got) = (prox(&known), prox(&found));
        let size = 1.0 + w.abs() + (w - expected).abs();
        prop_assert!((got - expected).abs() <= 1e-12 * size, "{got} {expected}");
    }

    /// A ridge as a curve beside every part of a coordinate, against the same as a coordinate.
    #[test]
    fn coordinates_join_a_curve(
        ridge in magnitude(), tilt in number(), l1 in magnitude(), lo in number(), width in magnitude(),
        alpha in magnitude(), v in number(), kind in 0..4,
    ) {
        let part = match kind {
            0 => Coordinate::FREE,
            1 => Coordinate { tilt, l1, ..Coordinate::FREE },
            2 => Coordinate { lo, hi: lo + width, ..Coordinate::FREE },
            _ => Coordinate { tilt, l1, l2: ridge, lo, hi: lo + width },
        };
        let curve = Of(Square::new(0.5 * ridge).unwrap());
        let found = regularizer::Numerical::new(curve, vec![part]).unwrap();
        let known = Coordinate { l2: part.l2 + ridge, ..part };
        let mut x = [v];
        found.prox(alpha, &mut x);
        let mut expected = [v];
        regularizer::Separable::new(vec![known]).unwrap().prox(alpha, &mut expected);
        let size = 1.0 + v.abs() + alpha * (tilt.abs() + l1);
        prop_assert!((x[0] - expected[0]).abs() <= 1e-13 * size, "{x:?} {expected:?}");
        prop_assert!(expected[0] != 0.0 || x[0] == 0.0, "zeros stay zeros");
        let (star, expected) = (found.conjugate(&[v]), known.conjugate(v));
        let size = 1.0 + expected.abs() + (v - tilt) * (v - tilt) / ridge;
        prop_assert!(star >= expected - 1e-15 * size, "{star} {expected}");
        prop_assert!(star <= expected + 1e-12 * size, "{star} {expected}");
    }
}

#[test]
fn what_has_no_minimum_has_no_conjugate() {
    let huber = Numerical::new(Of(Huber::new(1.0, 1.0).unwrap()));
    assert_eq!(huber.conjugate(0, &[1.5]), f64::INFINITY);
    assert_eq!(huber.conjugate(0, &[-1.5]), f64::INFINITY);
    assert!(huber.conjugate(0, &[f64::NAN]).is_nan());
    let mut w = [f64::NAN];
    huber.prox_conjugate(0, 1.0, &mut w);
    assert!(w[0].is_nan());
}

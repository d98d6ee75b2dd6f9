//! Merits in numbers, settings that are refused, and merits of one's own.

use super::merit_laws::{gradient, prox};
use innermean::merit::{Absolute, AnyMerit, DownsideSquare, Huber, Merit, ScalarMerit, Square};

/// phi = u^2 has phi* = w^2/4, whose prox divides by 1 + alpha/2. The prox of phi itself would
/// divide by 1 + 2 alpha.
#[test]
fn the_dual_prox_of_the_square_divides_by_one_plus_half_alpha() {
    let phi = Square::new(1.0).unwrap();
    assert_eq!(prox(&phi, 2.0, &[3.0]), [1.5]);
    assert_eq!(prox(&phi, 1.0, &[3.0]), [2.0]);
}

#[test]
fn constants_of_each_merit() {
    let [square, downside] =
        [AnyMerit::from(Square::new(2.0).unwrap()), DownsideSquare::new(2.0).unwrap().into()];
    let [absolute, huber] =
        [AnyMerit::from(Absolute::new(2.0).unwrap()), Huber::new(2.0, 0.5).unwrap().into()];
    assert_eq!([square, downside, absolute, huber].map(|phi| phi.gamma()), [0.25, 0.25, 0.0, 0.25]);
    let inf = f64::INFINITY;
    assert_eq!(
        [square, downside, absolute, huber].map(|phi| phi.lipschitz(9)),
        [inf, inf, 6.0, 6.0]
    );
}

#[test]
fn the_conjugate_is_infinite_outside_its_domain() {
    let inf = f64::INFINITY;
    assert_eq!(DownsideSquare::new(1.0).unwrap().conjugate(0, &[-1.0, 1e-300]), inf);
    assert_eq!(DownsideSquare::new(1.0).unwrap().conjugate(0, &[-2.0, 0.0]), 1.0);
    assert_eq!(Absolute::new(2.0).unwrap().conjugate(0, &[2.0, -2.0]), 0.0);
    assert_eq!(Absolute::new(2.0).unwrap().conjugate(0, &[0.0, -2.1]), inf);
    assert_eq!(Huber::new(2.0, 0.5).unwrap().conjugate(0, &[2.0]), 0.5);
    assert_eq!(Huber::new(2.0, 0.5).unwrap().conjugate(0, &[2.1]), inf);
}

/// A run that diverged must not look like one that reached the optimum.
#[test]
fn a_nan_is_never_answered_with_a_number() {
    let merits = [
        AnyMerit::from(Square::new(1.0).unwrap()),
        DownsideSquare::new(1.0).unwrap().into(),
        Absolute::new(1.0).unwrap().into(),
        Huber::new(1.0, 1.0).unwrap().into(),
    ];
    for phi in merits {
        let u = [1.0, f64::NAN];
        assert!(phi.value(0, &u).is_nan(), "{phi:?}");
        assert!(gradient(&phi, &u)[1].is_nan(), "{phi:?}");
        assert!(prox(&phi, 1.0, &u)[1].is_nan(), "{phi:?}");
        assert!(!phi.conjugate(0, &[-1.0, f64::NAN]).is_finite(), "{phi:?}");
    }
}

/// The scalar functions may depend on `i`, and a merit may be behind `dyn`.
#[test]
fn a_merit_of_ones_own() {
    struct Target([f64; 2]);
    impl ScalarMerit for Target {
        fn phi(&self, i: usize, u: f64) -> f64 {
            0.5 * (u - self.0[i]).powi(2)
        }
        fn slope(&self, i: usize, u: f64) -> f64 {
            u - self.0[i]
        }
        fn phi_star(&self, i: usize, w: f64) -> f64 {
            0.5 * w * w + self.0[i] * w
        }
        fn prox_phi_star(&self, i: usize, alpha: f64, w: f64) -> f64 {
            (w - alpha * self.0[i]) / (1.0 + alpha)
        }
        fn max_curvature(&self) -> f64 {
            1.0
        }
        fn max_slope(&self) -> f64 {
            f64::INFINITY
        }
    }
    let phi: &dyn Merit = &Target([3.0, 1.0]);
    let (mut slope, mut w) = ([0.0; 2], [2.0, 4.0]);
    phi.gradient(1, &[2.0, 0.0], &mut slope);
    phi.prox_conjugate(1, 1.0, &mut w);
    assert_eq!((phi.value(1, &[2.0, 0.0]), slope), (1.0, [1.0, -1.0]));
    assert_eq!((phi.value(0, &[2.0, 0.0]), phi.conjugate(0, &[1.0, 1.0])), (5.0, 7.0));
    assert_eq!(w, [0.5, 1.5]);
}

/// A phi that is no sum over coordinates implements `Merit` itself, also around another merit: the
/// lift from `ScalarMerit` is not in the way. That this compiles is the test.
#[test]
fn a_merit_that_does_not_split() {
    fn scale(by: f64, x: &mut [f64]) {
        for x in x {
            *x *= by;
        }
    }
    struct Doubled<P>(P);
    impl<P: Merit> Merit for Doubled<P> {
        fn value(&self, i: usize, u: &[f64]) -> f64 {
            2.0 * self.0.value(i, u)
        }
        fn gradient(&self, i: usize, u: &[f64], out: &mut [f64]) {
            self.0.gradient(i, u, out);
            scale(2.0, out);
        }
        fn conjugate(&self, i: usize, w: &[f64]) -> f64 {
            let half: Vec<f64> = w.iter().map(|w| 0.5 * w).collect();
            2.0 * self.0.conjugate(i, &half)
        }
        fn prox_conjugate(&self, i: usize, alpha: f64, w: &mut [f64]) {
            scale(0.5, w);
            self.0.prox_conjugate(i, 0.5 * alpha, w);
            scale(2.0, w);
        }
        fn gamma(&self) -> f64 {
            0.5 * self.0.gamma()
        }
        fn lipschitz(&self, ell: usize) -> f64 {
            2.0 * self.0.lipschitz(ell)
        }
    }
    let (doubled, square) = (Doubled(Square::new(1.0).unwrap()), Square::new(2.0).unwrap());
    assert_eq!(doubled.conjugate(0, &[8.0]), square.conjugate(0, &[8.0]));
    assert_eq!(prox(&doubled, 4.0, &[8.0]), prox(&square, 4.0, &[8.0]));
    // Of one number the slope of the prox is a difference; of several nothing is known.
    let mut slope = [0.0];
    assert!(doubled.prox_slopes(0..1, 4.0, &[8.0], &mut slope));
    assert!((slope[0] - prox(&square, 4.0, &[8.0])[0] / 8.0).abs() < 1e-6);
    assert!(!doubled.prox_slopes(0..1, 4.0, &[8.0, 1.0], &mut [0.0; 2]));
}

#[test]
fn invalid_settings_are_refused_and_quoted() {
    for (bad, quoted) in [
        (f64::NAN, "NaN"),
        (-1.5, "-1.5"),
        (0.0, "0.0"),
        (f64::INFINITY, "inf"),
        (-1e-300, "-1e-300"),
    ] {
        let weights = [
            Square::new(bad).unwrap_err(),
            DownsideSquare::new(bad).unwrap_err(),
            Absolute::new(bad).unwrap_err(),
            Huber::new(bad, 1.0).unwrap_err(),
        ];
        for error in weights {
            assert_eq!(
                error.to_string(),
                format!("weight = {quoted}, expected a finite number above 0")
            );
        }
        let error = Huber::new(1.0, bad).unwrap_err();
        assert_eq!((error.name(), error.value()), ("width", quoted));
        // Reading is no way around the check.
        let bytes = postcard::to_stdvec(&bad).unwrap();
        assert!(postcard::from_bytes::<Square>(&bytes).is_err());
        assert!(postcard::from_bytes::<DownsideSquare>(&bytes).is_err());
        assert!(postcard::from_bytes::<Absolute>(&bytes).is_err());
        assert!(postcard::from_bytes::<Huber>(&postcard::to_stdvec(&(1.0, bad)).unwrap()).is_err());
    }
}

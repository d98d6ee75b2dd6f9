//! Regularisers in numbers, and settings that are refused.

use super::regularizer_laws::INF;
use innermean::regularizer::{
    AnyRegularizer, BoxConstraint, Budget, ElasticNet, FreeTail, L1, Regularizer, Ridge, Ridged,
    Simplex, Tilted, Unregularized,
};

/// The threshold is the step times lambda; lambda alone would leave [1.5, 0, 0].
#[test]
fn the_l1_prox_thresholds_by_alpha_lambda() {
    let mut theta = [2.0, 0.3, -0.1];
    L1::new(0.5).unwrap().prox(0.5, &mut theta);
    assert_eq!(theta, [1.75, 0.3 - 0.25, 0.0]);
}

#[test]
fn ridge_and_elastic_net_in_numbers() {
    let ridge = Ridge::from_weight(4.0).unwrap();
    let mut theta = [3.0, -6.0];
    ridge.prox(0.5, &mut theta);
    assert_eq!(theta.map(f64::round), [1.0, -2.0]);
    assert_eq!(
        (ridge.value(&[1.0, -2.0]), ridge.conjugate(&[4.0, -8.0]), ridge.mu()),
        (10.0, 10.0, 4.0)
    );

    let net = ElasticNet::from_weights(1.0, 1.0).unwrap();
    let mut theta = [5.0, -0.5];
    net.prox(1.0, &mut theta);
    assert_eq!(theta, [2.0, 0.0]);
    assert_eq!((net.value(&[2.0, 0.0]), net.conjugate(&[3.0, 0.5]), net.mu()), (4.0, 2.0, 1.0));
    assert_eq!((net.g().lambda(), net.lambda()), (1.0, 1.0));
}

/// Strong convexity adds up through the combinators, and for the ridge it is exact: the law of the
/// midpoint is tight.
#[test]
fn mu_adds_up_and_is_tight_for_the_ridge() {
    let g = Ridged::new(Ridged::new(L1::new(1.0).unwrap(), 0.25).unwrap(), 0.5).unwrap();
    assert_eq!(Tilted::new(g, vec![1.0]).unwrap().mu(), 0.75);
    let ridge = Ridge::from_weight(3.0).unwrap();
    let (ends, middle) = (0.5 * (ridge.value(&[1.0]) + ridge.value(&[5.0])), ridge.value(&[3.0]));
    assert_eq!(ends - middle, ridge.mu() / 8.0 * 16.0);
    for g in [Unregularized.into(), L1::new(1.0).unwrap().into(), AnyRegularizer::from(Simplex)] {
        assert_eq!(g.mu(), 0.0);
    }
}

#[test]
fn constraints_are_infinite_outside() {
    let g = BoxConstraint::new(-1.0, 2.0).unwrap().with_l1(3.0).unwrap();
    assert_eq!(
        (g.value(&[-1.0, 2.0]), g.value(&[0.0, 2.1]), g.value(&[-1.1, 0.0])),
        (9.0, INF, INF)
    );
    assert_eq!((Simplex.value(&[0.25, 0.75]), Simplex.value(&[0.25, 0.25])), (0.0, INF));
    assert_eq!((Simplex.value(&[-0.25, 1.25]), Simplex.value(&[1.0 + 1e-10, 0.0])), (INF, 0.0));
    assert_eq!(Simplex.conjugate(&[-3.0, -1.0, -2.0]), -1.0);
    assert_eq!(
        (Unregularized.conjugate(&[0.0, -0.0]), Unregularized.conjugate(&[0.0, 1e-300])),
        (0.0, INF)
    );
    let free = FreeTail::new(Simplex, 2);
    assert_eq!((free.value(&[0.25, 0.75, 9.0]), free.value(&[0.25, 0.25, 0.5])), (0.0, INF));
    assert_eq!((free.conjugate(&[1.0, 2.0, 0.0]), free.conjugate(&[1.0, 2.0, 1e-300])), (2.0, 2.0));
    assert_eq!(
        (free.conjugate(&[1.0, 2.0, 1e-11]), free.conjugate(&[0.0, 0.0, 1e-100])),
        (INF, INF)
    );
    assert_eq!(FreeTail::new(Ridge::from_weight(1.0).unwrap(), 2).mu(), 0.0);
    assert_eq!(
        (L1::new(1.0).unwrap().conjugate(&[1.0, -1.0]), L1::new(1.0).unwrap().conjugate(&[-1.1])),
        (0.0, INF)
    );
}

/// Without bounds the projection shifts all alike; between 0 and infinity it is that onto the
/// simplex.
#[test]
fn a_budget_is_spent() {
    let free = Budget::new(3, BoxConstraint::new(-INF, INF).unwrap()).unwrap();
    let mut theta = [5.0, -1.0, 2.0];
    free.prox(1.0, &mut theta);
    for (theta, expected) in theta.iter().zip([5.0 - 5.0 / 3.0, -1.0 - 5.0 / 3.0, 2.0 - 5.0 / 3.0])
    {
        assert!((theta - expected).abs() < 1e-14);
    }
    assert_eq!((free.conjugate(&[2.0; 3]), free.conjugate(&[2.0, 2.0, 3.0])), (2.0, INF));
    // At most 0.4 each: the best two are full, the third takes the rest.
    let capped = Budget::new(4, BoxConstraint::new(0.0, 0.4).unwrap()).unwrap();
    assert!(
        (capped.conjugate(&[3.0, 1.0, 2.0, -5.0]) - (0.4 * 3.0 + 0.4 * 2.0 + 0.2)).abs() < 1e-14
    );
    assert_eq!(
        (capped.value(&[0.25; 4]), capped.value(&[0.5, 0.5, 0.0, 0.0]), capped.value(&[0.4; 4])),
        (0.0, INF, INF)
    );
    let message =
        |d, lo, hi| Budget::new(d, BoxConstraint::new(lo, hi).unwrap()).unwrap_err().to_string();
    assert_eq!(
        message(4, 0.0, 0.1),
        "hi = 0.1, expected at least 0.25, so that 4 numbers can sum to 1"
    );
    assert_eq!(
        message(4, 0.5, 1.0),
        "lo = 0.5, expected at most 0.25, so that 4 numbers can sum to 1"
    );
}

#[test]
fn the_conjugate_of_a_half_line() {
    let g = BoxConstraint::non_negative();
    assert_eq!((g.conjugate(&[-1.0, 0.0]), g.conjugate(&[1e-300])), (0.0, INF));
    // x >= 2, lambda = 1: sup (v - 1) x is 2 (v - 1) up to v = 1 and infinite beyond.
    let g = BoxConstraint::new(2.0, INF).unwrap().with_l1(1.0).unwrap();
    assert_eq!((g.conjugate(&[-1.0]), g.conjugate(&[1.0]), g.conjugate(&[1.1])), (-4.0, 0.0, INF));
    // x <= 3, lambda = 1: infinite below v = -1, 0 up to v = 1, 3 (v - 1) beyond.
    let g = BoxConstraint::new(-INF, 3.0).unwrap().with_l1(1.0).unwrap();
    assert_eq!((g.conjugate(&[-1.1]), g.conjugate(&[-1.0]), g.conjugate(&[0.5])), (INF, 0.0, 0.0));
    assert_eq!(g.conjugate(&[2.0]), 3.0);
}

/// A run that diverged must not look like one that reached the optimum.
#[test]
fn a_nan_is_never_answered_with_a_number() {
    let bounded = BoxConstraint::new(0.0, 1.0).unwrap();
    let budget = Budget::new(3, bounded).unwrap();
    for g in [
        Unregularized.into(),
        L1::new(1.0).unwrap().into(),
        bounded.into(),
        budget.into(),
        AnyRegularizer::from(Simplex),
    ] {
        for v in [[0.5, f64::NAN, 0.5], [f64::NAN; 3], [f64::NAN, 0.5, 0.5]] {
            let mut theta = v;
            g.prox(1.0, &mut theta);
            assert!(theta.iter().any(|x| x.is_nan()), "{g:?}");
            assert!(!g.conjugate(&v).is_finite(), "{g:?}");
            assert!(!g.value(&v).is_finite() || g == AnyRegularizer::from(Unregularized), "{g:?}");
        }
    }
    let mut theta = [INF, 0.0];
    Simplex.prox(1.0, &mut theta);
    assert!(theta[0].is_nan());
    let mut theta = [f64::NEG_INFINITY, 0.0];
    Simplex.prox(1.0, &mut theta);
    assert_eq!(theta, [0.0, 1.0]);
}

#[test]
#[should_panic(expected = "tilt and theta differ in length")]
fn a_tilt_of_the_wrong_length_is_no_silent_truncation() {
    Tilted::new(Unregularized, vec![1.0]).unwrap().step(1.0, &[0.0; 2], &mut [0.0; 2]);
}

#[test]
fn invalid_settings_are_refused_and_quoted() {
    for (bad, quoted) in [(f64::NAN, "NaN"), (-1.5, "-1.5"), (INF, "inf")] {
        let errors = [
            L1::new(bad).unwrap_err(),
            Ridge::from_weight(bad).unwrap_err(),
            BoxConstraint::non_negative().with_l1(bad).unwrap_err(),
        ];
        for error in errors {
            assert_eq!(
                error.to_string(),
                format!("lambda = {quoted}, expected a finite number, 0 or above")
            );
        }
        let error = ElasticNet::from_weights(1.0, bad).unwrap_err();
        assert_eq!((error.name(), error.value()), ("l2", quoted));
        assert_eq!(ElasticNet::from_weights(bad, 1.0).unwrap_err().name(), "l1");
        let bytes = postcard::to_stdvec(&bad).unwrap();
        assert!(postcard::from_bytes::<L1>(&bytes).is_err());
        assert!(postcard::from_bytes::<Ridge>(&bytes).is_err());
    }
    let message = |lo, hi| BoxConstraint::new(lo, hi).unwrap_err().to_string();
    assert_eq!(message(2.0, 1.0), "lo = 2.0, expected at most hi = 1.0");
    assert_eq!(message(f64::NAN, 1.0), "lo = NaN, expected a number or -inf");
    assert_eq!(message(0.0, f64::NAN), "hi = NaN, expected a number or inf");
    assert_eq!(message(INF, INF), "lo = inf, expected a number or -inf");
    assert_eq!(message(-INF, -INF), "hi = -inf, expected a number or inf");
    let error = Tilted::new(Unregularized, vec![1.0, f64::NAN]).unwrap_err();
    assert_eq!(error.to_string(), "tilt[1] = NaN, expected a finite number");
    let read = |fields: [f64; 3]| {
        postcard::from_bytes::<BoxConstraint>(
            &postcard::to_stdvec(&(fields[0], fields[1], fields[2])).unwrap(),
        )
    };
    assert!(read([0.0, 1.0, 0.5]).is_ok());
    assert!(read([2.0, 1.0, 0.5]).is_err() && read([0.0, 1.0, -0.5]).is_err());
    let bytes = postcard::to_stdvec(&vec![f64::NAN]).unwrap();
    assert!(postcard::from_bytes::<Tilted<Unregularized>>(&bytes).is_err());
}

//! Many steps at once on one coordinate equal as many steps one by one, for every g that is a sum
//! over coordinates.

use super::drawn::{magnitude, signed};
use innermean::regularizer::{
    AnyRegularizer, BoxConstraint, Coordinate, ElasticNet, FreeTail, L1, Regularizer, Ridge,
    Ridged, Simplex, Tilted, Unregularized,
};
use proptest::prelude::*;

const INF: f64 = f64::INFINITY;

fn number() -> impl Strategy<Value = f64> {
    signed(-2.0..2.0)
}

fn weight() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 4 => magnitude(-4.0..1.0)]
}

fn coordinate() -> impl Strategy<Value = Coordinate> {
    let tilt = prop_oneof![2 => Just(0.0), 1 => number()];
    let bounds = prop_oneof![
        2 => Just((-INF, INF)),
        1 => (number(), magnitude(-1.0..2.0)).prop_map(|(lo, width)| (lo, lo + width)),
        1 => Just((0.0, INF)),
        1 => number().prop_map(|hi| (-INF, hi)),
    ];
    (tilt, weight(), weight(), bounds).prop_map(|(tilt, l1, l2, (lo, hi))| Coordinate {
        tilt,
        l1,
        l2,
        lo,
        hi,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    /// The rounding of k steps is that of numbers as large as the largest on the way: where it
    /// starts, and how far it goes.
    #[test]
    fn many_steps_at_once_equal_as_many_steps(
        g in coordinate(), x in number(), direction in number(), alpha in magnitude(-4.0..1.0), k in 0u64..2000,
    ) {
        let start = g.step(alpha, 0.0, x);
        for x in [x, start] {
            let (mut expected, mut largest) = (x, x.abs());
            for _ in 0..k {
                expected = g.step(alpha, direction, expected);
                largest = largest.max(expected.abs());
            }
            let got = g.repeated_step(k, alpha, direction, x);
            // Where the direction and the tilt nearly cancel, or an l1 norm and both, it is their
            // size that rounding is of.
            let way = alpha * (direction.abs() + g.tilt.abs() + g.l1) * (k as f64).min(1.0 / (alpha * g.l2));
            let rounding = 1e-12 * (largest + way) + 1e-300;
            prop_assert!((got - expected).abs() <= rounding, "{got} {expected} after {k}");
        }
    }

    /// Zeros are exact: an l1 norm that holds a coordinate at zero does so whether or not steps are
    /// left for later.
    #[test]
    fn what_is_held_at_zero_is_zero(
        x in number(), direction in -1.0..1.0f64, l2 in weight(), alpha in magnitude(-3.0..1.0), k in 100_000u64..1_000_000,
    ) {
        let g = Coordinate { l1: 1.2, l2, ..Coordinate::FREE };
        prop_assume!(k as f64 * alpha * 0.2 > x.abs() + 1.0);
        prop_assert_eq!(g.repeated_step(k, alpha, direction, x), 0.0);
    }

    /// `coordinate` is g: its step is g's step, and the values of the parts add up.
    #[test]
    fn coordinates_are_parts_of_g(
        lambda in magnitude(-2.0..1.0), ridge in weight(), alpha in magnitude(-3.0..2.0),
        lo in number(), theta in prop::collection::vec(number(), 5), direction in prop::collection::vec(number(), 5),
        tilt in prop::collection::vec(number(), 5),
    ) {
        let boxed = BoxConstraint::new(lo, lo + 3.0).unwrap();
        let any: [AnyRegularizer; 4] = [
            Unregularized.into(), L1::new(lambda).unwrap().into(), boxed.into(), boxed.with_l1(lambda).unwrap().into(),
        ];
        let mut all: Vec<Box<dyn Regularizer>> = Vec::new();
        for g in any {
            let ridged = Ridged::new(g, ridge).unwrap();
            all.push(Box::new(g));
            all.push(Box::new(ridged));
            all.push(Box::new(Tilted::new(ridged, tilt.clone()).unwrap()));
            all.push(Box::new(Ridged::new(Tilted::new(g, tilt.clone()).unwrap(), ridge).unwrap()));
            all.push(Box::new(FreeTail::new(ridged, 3)));
            all.push(Box::new(FreeTail::new(g, 0)));
        }
        for (number, g) in all.iter().enumerate() {
            let mut stepped = theta.clone();
            g.step(alpha, &direction, &mut stepped);
            let mut sum = 0.0;
            for l in 0..5 {
                let part = g.coordinate(l).expect("a sum over coordinates");
                let alone = part.step(alpha, direction[l], theta[l]);
                let size = theta[l].abs() + alpha * (direction[l].abs() + tilt[l].abs() + lambda);
                prop_assert!((alone - stepped[l]).abs() <= 1e-15 * size, "{number}: {alone} {}", stepped[l]);
                let x = stepped[l];
                sum += part.tilt * x + part.l1 * x.abs() + 0.5 * part.l2 * x * x;
                prop_assert!((part.lo..=part.hi).contains(&x));
            }
            let size: f64 = stepped.iter().zip(&tilt).map(|(x, t)| (x * t).abs() + lambda * x.abs() + ridge * x * x).sum();
            prop_assert!((g.value(&stepped) - sum).abs() <= 1e-13 * size, "{number}");
        }
    }
}

#[test]
fn what_is_no_sum_over_coordinates_says_so() {
    assert_eq!(Simplex.coordinate(0), None);
    assert_eq!(Ridged::new(Simplex, 1.0).unwrap().coordinate(1), None);
    let free = FreeTail::new(Simplex, 2);
    assert_eq!((free.coordinate(0), free.coordinate(7)), (None, None));
    let g: &dyn Regularizer = &Ridge::from_weight(2.0).unwrap();
    assert_eq!(g.coordinate(3), Some(Coordinate { l2: 2.0, ..Coordinate::FREE }));
    let net: Box<dyn Regularizer> = Box::new(ElasticNet::from_weights(1.0, 2.0).unwrap());
    assert_eq!(net.coordinate(3), Some(Coordinate { l1: 1.0, l2: 2.0, ..Coordinate::FREE }));
}

/// Down along one line, through zero, and down along the other: the three stretches in numbers.
#[test]
fn the_three_stretches() {
    let g = Coordinate { l1: 1.0, ..Coordinate::FREE };
    // Direction 2: 3 a step from above, 1 a step from below. 10, 7, 4, 1, 0, -1, -2, ...
    for (k, expected) in [(5, -1.0), (6, -2.0), (10, -6.0), (1_000_000, -999_996.0)] {
        assert_eq!(g.repeated_step(k, 1.0, 2.0, 10.0), expected, "{k}");
    }
    // Bounds stop it: at -2, and it stays.
    let bounded = Coordinate { lo: -2.0, ..g };
    assert_eq!(
        (bounded.repeated_step(6, 1.0, 2.0, 10.0), bounded.repeated_step(99, 1.0, 2.0, 10.0)),
        (-2.0, -2.0)
    );
    // With a ridge the limit is where the slopes balance: x + 2 - 1 = 0.
    let ridged = Coordinate { l2: 1.0, ..g };
    assert!((ridged.repeated_step(1000, 1.0, 2.0, 10.0) + 1.0).abs() < 1e-15);
    assert_eq!(g.repeated_step(0, 1.0, 2.0, 10.0), 10.0);
}

/// A run that diverged must end, and must not look like one that reached the optimum.
#[test]
fn what_is_not_finite_stays_so_and_ends() {
    for l1 in [0.0, 1.0] {
        for l2 in [0.0, 1.0] {
            let g = Coordinate { l1, l2, ..Coordinate::FREE };
            for k in [1, 100, 1_000_000_000] {
                assert!(g.repeated_step(k, 0.1, f64::NAN, 1.0).is_nan());
                assert!(g.repeated_step(k, 0.1, 1.0, f64::NAN).is_nan());
                assert!(!g.repeated_step(k, 0.1, INF, 1.0).is_finite());
                let _ = g.repeated_step(k, 0.1, -INF, INF);
                let _ = g.repeated_step(k, 0.1, 1.0, INF);
            }
        }
    }
}

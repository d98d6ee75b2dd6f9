//! What every regulariser must satisfy, whatever its formulas: the laws that tie g, g*, its prox
//! and its step.

use super::drawn::{magnitude, signed, weight_of};
use super::simplex::simplex_point;
use crate::support::dense::{distance_squared, dot};
use innermean::regularizer::{
    AnyRegularizer, BoxConstraint, Budget, Coordinate, FreeTail, L1, LogBarrier, Regularizer,
    Ridge, Ridged, Separable, Simplex, Tilted, Unregularized,
};
use proptest::prelude::*;

pub(super) const INF: f64 = f64::INFINITY;

pub(super) fn number() -> impl Strategy<Value = f64> {
    signed(-2.0..2.0)
}

pub(super) fn alpha() -> impl Strategy<Value = f64> {
    magnitude(-3.0..3.0)
}

/// A regulariser as the laws want it.
struct Case {
    name: String,
    g: Box<dyn Regularizer>,
    /// The per-coordinate interval that is the domain of g*, around the tilt; narrowed by a hair,
    /// for the domain's edge has no slack.
    domain: (f64, f64),
    tilt: Vec<f64>,
    /// This many coordinates at the end are free: g* is finite only if they equal the tilt.
    free: usize,
}

impl Case {
    /// The point of the domain of g* nearest to s.
    fn nearest_in_domain(&self, s: &[f64]) -> Vec<f64> {
        let penalised = self.tilt.len() - self.free;
        let nearest = |(l, (s, t)): (usize, (&f64, &f64))| {
            let (lo, hi) = if l < penalised { self.domain } else { (0.0, 0.0) };
            t + (s - t).clamp(lo, hi)
        };
        s.iter().zip(&self.tilt).enumerate().map(nearest).collect()
    }

    fn prox(&self, alpha: f64, v: &[f64]) -> Vec<f64> {
        let mut x = v.to_vec();
        self.g.prox(alpha, &mut x);
        x
    }
}

/// Every regulariser of the crate, alone and inside each combinator.
fn cases(lambda: f64, ridge: f64, bounds: (f64, f64), tilt: &[f64]) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add =
        |name: String, g: Box<dyn Regularizer>, domain, tilt: Option<&[f64]>, d: usize| {
            let mut whole = vec![0.0; d];
            let tilt = tilt.unwrap_or(&[]);
            whole[..tilt.len()].copy_from_slice(tilt);
            let free = if name.contains("free tail") { d / 2 } else { 0 };
            cases.push(Case { name, g, domain, tilt: whole, free });
        };
    let d = tilt.len();
    let edge = lambda * (1.0 - 1e-9);
    let everywhere = (-INF, INF);
    let finite = BoxConstraint::new(bounds.0, bounds.1).unwrap();
    let above = BoxConstraint::new(bounds.0, INF).unwrap();
    let below = BoxConstraint::new(-INF, bounds.1).unwrap();
    let free = BoxConstraint::new(-INF, INF).unwrap();
    // Around 1/d, so that the sum can be 1.
    let share = 1.0 / d as f64;
    let around = BoxConstraint::new(share - bounds.0.abs(), share + bounds.1.abs()).unwrap();
    let budget = Budget::new(d, around).unwrap();
    let budget_with_l1 = Budget::new(d, around.with_l1(lambda).unwrap()).unwrap();
    let bases: Vec<(&str, AnyRegularizer, (f64, f64))> = vec![
        ("unregularized", Unregularized.into(), (0.0, 0.0)),
        ("l1", L1::new(lambda).unwrap().into(), (-edge, edge)),
        ("box", finite.into(), everywhere),
        ("box with l1", finite.with_l1(lambda).unwrap().into(), everywhere),
        ("lower bound", above.into(), (-INF, 0.0)),
        ("lower bound with l1", above.with_l1(lambda).unwrap().into(), (-INF, edge)),
        ("upper bound", below.into(), (0.0, INF)),
        ("upper bound with l1", below.with_l1(lambda).unwrap().into(), (-edge, INF)),
        ("non-negative", BoxConstraint::non_negative().into(), (-INF, 0.0)),
        ("no bounds with l1", free.with_l1(lambda).unwrap().into(), (-edge, edge)),
        ("simplex", Simplex.into(), everywhere),
        ("budget", budget.into(), everywhere),
        ("budget with l1", budget_with_l1.into(), everywhere),
    ];
    // The domain of the conjugate is open.
    let below_zero = (-INF, -1e-9);
    let weights: Vec<f64> = (0..d).map(|l| lambda * (1.0 + l as f64)).collect();
    let logarithms = LogBarrier::new(weights).unwrap();
    let tilted = Tilted::new(logarithms.clone(), tilt.to_vec()).unwrap();
    let ridged = Ridged::new(logarithms.clone(), 0.0).unwrap();
    add("logarithms".into(), Box::new(logarithms), below_zero, None, d);
    add("logarithms, ridged by 0".into(), Box::new(ridged), below_zero, None, d);
    add("logarithms, tilted".into(), Box::new(tilted), below_zero, Some(tilt), d);
    for (name, g, domain) in bases {
        let tilted = Tilted::new(g, tilt.to_vec()).unwrap();
        let ridged = Ridged::new(g, ridge).unwrap();
        add(name.into(), Box::new(g), domain, None, d);
        add(format!("{name}, tilted"), Box::new(tilted.clone()), domain, Some(tilt), d);
        add(format!("{name}, ridged"), Box::new(ridged), everywhere, None, d);
        add(
            format!("{name}, ridged by 0"),
            Box::new(Ridged::new(g, 0.0).unwrap()),
            domain,
            None,
            d,
        );
        let both = Ridged::new(tilted, ridge).unwrap();
        add(format!("{name}, tilted, ridged"), Box::new(both), everywhere, None, d);
        let both = Tilted::new(ridged, tilt.to_vec()).unwrap();
        add(format!("{name}, ridged, tilted"), Box::new(both), everywhere, Some(tilt), d);
        if name.starts_with("budget") {
            // It is made for d coordinates, and a head has fewer.
            continue;
        }
        let head = &tilt[..d - d / 2];
        add(format!("{name}, free tail"), Box::new(FreeTail::new(g, head.len())), domain, None, d);
        let both = FreeTail::new(Ridged::new(g, ridge).unwrap(), head.len());
        add(format!("{name}, ridged, free tail"), Box::new(both), everywhere, None, d);
        let both = FreeTail::new(Tilted::new(g, head.to_vec()).unwrap(), head.len());
        add(format!("{name}, tilted, free tail"), Box::new(both), domain, Some(head), d);
        let both = Tilted::new(FreeTail::new(g, head.len()), tilt.to_vec()).unwrap();
        add(format!("{name}, free tail, tilted"), Box::new(both), domain, Some(tilt), d);
        if let Some(parts) = (0..d).map(|l| ridged.coordinate(l)).collect() {
            add(
                format!("{name}, ridged, by parts"),
                Box::new(Separable::new(parts).unwrap()),
                everywhere,
                None,
                d,
            );
        }
        let tilted = Tilted::new(g, tilt.to_vec()).unwrap();
        if let Some(parts) = (0..d).map(|l| tilted.coordinate(l)).collect() {
            add(
                format!("{name}, tilted, by parts"),
                Box::new(Separable::new(parts).unwrap()),
                domain,
                Some(tilt),
                d,
            );
        }
    }
    cases
}

/// The cases in dimension `d` of 1 to 6 and `N` points for them.
fn world<const N: usize>() -> impl Strategy<Value = (Vec<Case>, [Vec<f64>; N])> {
    let interval = (number(), prop_oneof![1 => Just(0.0), 5 => magnitude(-1.0..1.0)]);
    (1usize..=6, magnitude(-2.0..1.0), magnitude(-2.0..1.0), interval)
        .prop_flat_map(|(d, lambda, ridge, (lo, width))| {
            let vector = move || prop::collection::vec(number(), d);
            let tilt = vector();
            (Just((lambda, ridge, (lo, lo + width))), tilt, std::array::from_fn(move |_| vector()))
        })
        .prop_map(|((lambda, ridge, bounds), tilt, points)| {
            (cases(lambda, ridge, bounds, &tilt), points)
        })
}

impl std::fmt::Debug for Case {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.name)
    }
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// The prox point x is feasible, and `g(y) + |y - v|^2/(2 alpha)`, which is (mu +
    /// 1/alpha)-strongly convex, rises from it at least so fast: the prox is optimal and mu is no
    /// more than g has.
    #[test]
    fn prox_is_optimal((cases, [v, other, direction]) in world(), alpha in alpha(), size in magnitude(-4.0..0.0)) {
        for case in &cases {
            let objective = |y: &[f64]| case.g.value(y) + distance_squared(y, &v) / (2.0 * alpha);
            let x = case.prox(alpha, &v);
            let best = objective(&x);
            prop_assert!(best.is_finite(), "{case:?}");
            let near: Vec<f64> = x.iter().zip(&direction).map(|(x, d)| x + size * d).collect();
            // The prox of anything is feasible; a tiny alpha moves the point no further than it
            // must.
            for y in [case.prox(1.0, &other), case.prox(1e-9, &near), near] {
                let rise = 0.5 * (case.g.mu() + 1.0 / alpha) * distance_squared(&x, &y);
                let rounding = best.abs() + rise + distance_squared(&x, &v) / alpha
                    + norm(&case.tilt) * (norm(&x) + norm(&y));
                // The simplex's slack lets y off the constraint by 1e-9 at a price of about that
                // times the slope.
                let slack = if case.name.starts_with("simplex") {
                    1e-9 * (norm(&v) + norm(&x)) / alpha
                } else {
                    0.0
                };
                prop_assert!(objective(&y) >= best + rise - 1e-10 * rounding - 10.0 * slack, "{case:?} {y:?}");
            }
        }
    }

    /// `s = (v - x)/alpha` is a subgradient of g at the prox point x, where Fenchel-Young is an
    /// equality.
    #[test]
    fn prox_points_give_conjugate_pairs((cases, [v]) in world(), alpha in alpha()) {
        for case in &cases {
            let x = case.prox(alpha, &v);
            let exact: Vec<f64> = v.iter().zip(&x).map(|(v, x)| (v - x) / alpha).collect();
            let s = case.nearest_in_domain(&exact);
            let rounding = 1e-8 * (norm(&s) + norm(&case.tilt)) + 1e-13 * norm(&v) / alpha;
            prop_assert!(distance_squared(&s, &exact).sqrt() <= rounding, "{case:?} {exact:?} {s:?}");
            let slack = case.g.value(&x) + case.g.conjugate(&s) - dot(&x, &s);
            let allowed = 10.0 * rounding * (norm(&x) + norm(&v) + 1.0);
            prop_assert!(slack.abs() <= allowed, "{case:?} slack {slack} allowed {allowed}");
        }
    }

    #[test]
    fn fenchel_young((cases, [v, other]) in world()) {
        for case in &cases {
            let y = case.prox(1.0, &other);
            for s in [v.clone(), case.nearest_in_domain(&v)] {
                let slack = case.g.value(&y) + case.g.conjugate(&s) - dot(&y, &s);
                let rounding = case.g.value(&y).abs() + weight_of(&y, &s) + norm(&case.tilt) * norm(&y) + norm(&s);
                prop_assert!(slack >= -1e-10 * rounding, "{case:?} slack {slack}");
            }
        }
    }

    #[test]
    fn value_is_strongly_convex((cases, [v, w]) in world()) {
        for case in &cases {
            let (x, y) = (case.prox(1.0, &v), case.prox(1.0, &w));
            let middle: Vec<f64> = x.iter().zip(&y).map(|(x, y)| 0.5 * (x + y)).collect();
            let ends = 0.5 * (case.g.value(&x) + case.g.value(&y));
            let bend = case.g.mu() / 8.0 * distance_squared(&x, &y);
            let rounding = ends.abs() + bend + norm(&case.tilt) * (norm(&x) + norm(&y)) + norm(&x) + norm(&y);
            prop_assert!(case.g.value(&middle) <= ends - bend + 1e-12 * rounding, "{case:?}");
        }
    }

    /// The fused step of a tilt adds in another order; all others keep even the bits.
    #[test]
    fn step_is_a_move_and_a_prox((cases, [theta, direction]) in world(), alpha in alpha()) {
        for case in &cases {
            let moved: Vec<f64> = theta.iter().zip(&direction).map(|(x, v)| x - alpha * v).collect();
            let expected = case.prox(alpha, &moved);
            let mut stepped = theta.clone();
            case.g.step(alpha, &direction, &mut stepped);
            // Up to rounding: some steps fuse the product with the sum.
            let size = norm(&theta) + alpha * (norm(&direction) + 1e3);
            prop_assert!(distance_squared(&stepped, &expected).sqrt() <= 1e-13 * size, "{case:?}");
        }
    }

    #[test]
    fn a_ridge_of_zero_changes_no_bit(
        (_, [v, direction]) in world(), alpha in alpha(), lambda in magnitude(-2.0..1.0),
    ) {
        let g = L1::new(lambda).unwrap();
        let ridged = Ridged::new(g, 0.0).unwrap();
        let (mut a, mut b) = (v.clone(), v.clone());
        g.prox(alpha, &mut a);
        ridged.prox(alpha, &mut b);
        prop_assert_eq!(bits(&a), bits(&b));
        g.step(alpha, &direction, &mut a);
        ridged.step(alpha, &direction, &mut b);
        prop_assert_eq!(bits(&a), bits(&b));
        prop_assert_eq!(g.value(&v), ridged.value(&v));
        prop_assert_eq!(g.conjugate(&v), ridged.conjugate(&v));
    }

    /// The conjugate of a box in one dimension against a search over a grid with the kink on it.
    #[test]
    fn conjugate_of_a_box_is_the_supremum(
        lo in number(), width in magnitude(-1.0..1.0), lambda in prop_oneof![Just(0.0), magnitude(-2.0..1.0)], v in number(),
    ) {
        let hi = lo + width;
        let g = BoxConstraint::new(lo, hi).unwrap().with_l1(lambda).unwrap();
        let grid = (0..=1000).map(|k| lo + width * f64::from(k) / 1000.0).chain([0.0, hi]);
        let sup = grid.filter(|x| (lo..=hi).contains(x)).map(|x| v * x - lambda * x.abs()).fold(-INF, f64::max);
        prop_assert!((g.conjugate(&[v]) - sup).abs() <= 1e-12 * (v.abs() + lambda) * (lo.abs() + width));
    }

    #[test]
    fn any_regularizer_answers_bit_for_bit_like_what_it_holds(
        (_, [v, direction]) in world(), alpha in alpha(), lambda in magnitude(-2.0..1.0), lo in number(),
    ) {
        fn compare<G: Regularizer + Copy>(held: G, alpha: f64, v: &[f64], direction: &[f64])
        where
            AnyRegularizer: From<G>,
        {
            let any = AnyRegularizer::from(held);
            let (mut a, mut b) = (v.to_vec(), v.to_vec());
            any.prox(alpha, &mut a);
            held.prox(alpha, &mut b);
            assert_eq!(bits(&a), bits(&b));
            for x in [v, &a] {
                assert_eq!(any.value(x).to_bits(), held.value(x).to_bits());
                assert_eq!(any.conjugate(x).to_bits(), held.conjugate(x).to_bits());
            }
            any.step(alpha, direction, &mut a);
            held.step(alpha, direction, &mut b);
            assert_eq!(bits(&a), bits(&b));
            assert_eq!(any.mu().to_bits(), held.mu().to_bits());
        }
        compare(Unregularized, alpha, &v, &direction);
        compare(L1::new(lambda).unwrap(), alpha, &v, &direction);
        compare(BoxConstraint::new(lo, lo + 1.0).unwrap().with_l1(lambda).unwrap(), alpha, &v, &direction);
        compare(Simplex, alpha, &v, &direction);
        compare(Budget::new(v.len(), BoxConstraint::new(-INF, 2.0).unwrap()).unwrap(), alpha, &v, &direction);
    }

    #[test]
    fn a_budget_from_zero_upwards_is_the_simplex(v in simplex_point()) {
        let budget = Budget::new(v.len(), BoxConstraint::non_negative()).unwrap();
        let (mut a, mut b) = (v.clone(), v.clone());
        budget.prox(1.0, &mut a);
        Simplex.prox(1.0, &mut b);
        let size = v.iter().fold(1.0, |size: f64, v| size.max(v.abs()));
        for (a, b) in a.iter().zip(&b) {
            prop_assert!((a - b).abs() <= 1e-14 * size * v.len() as f64, "{a} and {b}");
        }
        prop_assert_eq!(budget.value(&a), 0.0);
        let (c, s) = (budget.conjugate(&v), Simplex.conjugate(&v));
        prop_assert!((c - s).abs() <= 1e-14 * size * v.len() as f64, "{} and {}", c, s);
    }

    #[test]
    fn a_regularizer_survives_being_written_and_read(
        lambda in magnitude(-2.0..1.0), lo in number(), tilt in prop::collection::vec(number(), 0..4),
    ) {
        let bounded = BoxConstraint::new(lo, INF).unwrap().with_l1(lambda).unwrap();
        let budget = Budget::new(3, BoxConstraint::new(-1.0, INF).unwrap()).unwrap();
        for g in [Unregularized.into(), L1::new(lambda).unwrap().into(), bounded.into(), Simplex.into(), budget.into()] {
            let g: Ridged<Tilted<AnyRegularizer>> = Ridged::new(Tilted::new(g, tilt.clone()).unwrap(), lambda).unwrap();
            let bytes = postcard::to_stdvec(&g).unwrap();
            prop_assert_eq!(postcard::from_bytes::<Ridged<Tilted<AnyRegularizer>>>(&bytes).unwrap(), g);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// A change of units changes no value and no prox, but for the units.
    #[test]
    fn a_rescaled_g_is_g_in_other_units(
        lambda in magnitude(-2.0..1.0), ridge in magnitude(-2.0..1.0), lo in number(), size in magnitude(-3.0..3.0),
        v in prop::collection::vec(number(), 4),
    ) {
        let boxed = BoxConstraint::new(lo, lo + 2.0).unwrap().with_l1(lambda).unwrap();
        let g = FreeTail::new(Ridged::new(boxed, ridge).unwrap(), 3);
        let sizes = [1.0, size, 2.0 * size, 3.0];
        let h = Separable::rescaled(&g, &sizes).unwrap().expect("a sum over coordinates");
        let theta = Case { name: String::new(), g: Box::new(g), domain: (0.0, 0.0), tilt: vec![0.0; 4], free: 1 }.prox(1.0, &v);
        // A hair inside the bounds, which rounding in other units may move.
        let inside = |x: f64| x.clamp(lo + 1e-9, lo + 2.0 - 1e-9);
        let theta: Vec<f64> = theta.iter().enumerate().map(|(l, &x)| if l < 3 { inside(x) } else { x }).collect();
        let z: Vec<f64> = theta.iter().zip(&sizes).map(|(x, c)| x * c).collect();
        prop_assert!((g.value(&theta) - h.value(&z)).abs() <= 1e-12 * (1.0 + g.value(&theta).abs()));
        // h*(v) = g*(c v)
        let scaled: Vec<f64> = v.iter().zip(&sizes).map(|(v, c)| v * c).collect();
        let (a, b) = (g.conjugate(&scaled), h.conjugate(&v));
        prop_assert!(a == b || (a - b).abs() <= 1e-10 * (1.0 + a.abs() + weight_of(&v, &z)), "{a} {b}");
    }
}

#[test]
fn parts_that_make_no_sense_are_refused() {
    let free = Coordinate::FREE;
    for bad in [
        Coordinate { l1: -1.0, ..free },
        Coordinate { l2: f64::NAN, ..free },
        Coordinate { tilt: INF, ..free },
        Coordinate { lo: 2.0, hi: 1.0, ..free },
    ] {
        let error = Separable::new(vec![free, bad]).unwrap_err();
        assert_eq!(error.name(), "parts[1]");
    }
    assert_eq!(Separable::rescaled(&Simplex, &[1.0]).unwrap(), None);
    assert!(Separable::rescaled(&Ridge::from_weight(1.0).unwrap(), &[0.0]).is_err());
    let ridge =
        Separable::rescaled(&Ridge::from_weight(1.0).unwrap(), &[2.0, 2.0]).unwrap().unwrap();
    assert_eq!((ridge.mu(), ridge.quadratic(2)), (0.25, Some((0.25, vec![0.0; 2]))));
}

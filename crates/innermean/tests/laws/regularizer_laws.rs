//! What every regulariser must satisfy, whatever its formulas: the laws that tie g, g*, its prox
//! and its step.

use innermean::regularizer::{
    AnyRegularizer, BoxConstraint, Budget, Coordinate, ElasticNet, FreeTail, L1, LogBarrier,
    Regularizer, Ridge, Ridged, Separable, Simplex, Tilted, Unregularized,
};
use proptest::prelude::*;

const INF: f64 = f64::INFINITY;

/// `10^e` for e uniform between the bounds.
fn magnitude(e: std::ops::Range<f64>) -> impl Strategy<Value = f64> {
    e.prop_map(|e| 10f64.powf(e))
}

/// A number of either sign and any size that matters, zero among them.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        1 => Just(0.0),
        9 => (magnitude(-2.0..2.0), any::<bool>()).prop_map(|(x, sign)| if sign { x } else { -x }),
    ]
}

fn alpha() -> impl Strategy<Value = f64> {
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

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn weight_of(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a * b).abs()).sum()
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
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
            let objective = |y: &[f64]| case.g.value(y) + squared_distance(y, &v) / (2.0 * alpha);
            let x = case.prox(alpha, &v);
            let best = objective(&x);
            prop_assert!(best.is_finite(), "{case:?}");
            let near: Vec<f64> = x.iter().zip(&direction).map(|(x, d)| x + size * d).collect();
            // The prox of anything is feasible; a tiny alpha moves the point no further than it
            // must.
            for y in [case.prox(1.0, &other), case.prox(1e-9, &near), near] {
                let rise = 0.5 * (case.g.mu() + 1.0 / alpha) * squared_distance(&x, &y);
                let rounding = best.abs() + rise + squared_distance(&x, &v) / alpha
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
            prop_assert!(squared_distance(&s, &exact).sqrt() <= rounding, "{case:?} {exact:?} {s:?}");
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
            let bend = case.g.mu() / 8.0 * squared_distance(&x, &y);
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
            prop_assert!(squared_distance(&stepped, &expected).sqrt() <= 1e-13 * size, "{case:?}");
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

/// A point for the simplex: entries of all sizes, of like sizes, or drawn from few values so that
/// ties abound.
fn simplex_point() -> impl Strategy<Value = Vec<f64>> {
    (magnitude(-9.0..12.0), number()).prop_flat_map(|(scale, shift)| {
        let any_size =
            (magnitude(-9.0..12.0), any::<bool>()).prop_map(|(x, sign)| if sign { x } else { -x });
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

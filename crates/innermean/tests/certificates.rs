//! A certificate is a bound: never below the true gap, and next to nothing at the solution.

mod far_columns;
mod free_coordinates;
mod small_numbers;

use crate::support::toy::{Affine, SoftplusUnits, softplus_of_softplus};
use innermean::draws::Stream;
use innermean::evaluate::{Evaluator, Known};
use innermean::merit::Merit;
use innermean::regularizer::Coordinate;
use innermean::{
    Absolute, AnyMethod, Bernoulli, BoxConstraint, Budget, Choice, Collapsed, DownsideSquare,
    Driver, ElasticNet, FreeTail, Huber, Inner, L1, Logistic, Measure, Passes, Poisson, Problem,
    Reason, Regularizer, Ridge, Separable, Simplex, SmoothedHinge, Square, SquaredHinge, Stop,
    Tilted, Unregularized, Weighted, optimum,
};

type Phi = Box<dyn Merit>;
type G = Box<dyn Regularizer>;
type Random = Problem<Box<dyn Inner>, Phi, G>;

/// Numbers uniform in (-1, 1).
fn symmetric(stream: &mut Stream) -> f64 {
    2.0 * stream.unit() - 1.0
}

/// Merits for n terms, by name.
fn merits(n: usize, stream: &mut Stream) -> Vec<(&'static str, Phi)> {
    let labels: Vec<f64> = (0..n).map(|_| if stream.unit() < 0.5 { -1.0 } else { 1.0 }).collect();
    let weights: Vec<f64> = (0..n).map(|_| 0.5 + stream.unit()).collect();
    vec![
        ("square", Box::new(Square::new(0.7).unwrap())),
        ("weighted square", Box::new(Weighted::new(Square::new(0.7).unwrap(), weights).unwrap())),
        ("downside", Box::new(DownsideSquare::new(1.3).unwrap())),
        ("huber", Box::new(Huber::new(1.0, 0.4).unwrap())),
        ("logistic", Box::new(Logistic::new(labels.clone()).unwrap())),
        ("squared hinge", Box::new(SquaredHinge::new(labels.clone()).unwrap())),
        ("smoothed hinge", Box::new(SmoothedHinge::new(labels, 0.5).unwrap())),
    ]
}

/// Regularisers on `R^d`, by name; the last coordinate is the intercept of those that have one.
fn regularizers(d: usize, stream: &mut Stream) -> Vec<(&'static str, G)> {
    let ridge = || Ridge::from_weight(0.05).unwrap();
    let l1 = || L1::new(0.08).unwrap();
    let bounded = || BoxConstraint::new(-0.3, 0.2).unwrap();
    let mut tilt = |size: f64| -> Vec<f64> { (0..d).map(|_| size * symmetric(stream)).collect() };
    let part = |l: usize| Coordinate {
        l2: if l.is_multiple_of(2) { 0.1 } else { 0.0 },
        l1: if l.is_multiple_of(2) { 0.0 } else { 0.05 },
        ..Coordinate::FREE
    };
    vec![
        ("none", Box::new(Unregularized)),
        ("ridge", Box::new(ridge())),
        ("l1", Box::new(l1())),
        ("elastic net", Box::new(ElasticNet::from_weights(0.05, 0.02).unwrap())),
        ("box", Box::new(bounded())),
        ("non-negative", Box::new(BoxConstraint::non_negative())),
        ("simplex", Box::new(Simplex)),
        ("budget", Box::new(Budget::new(d, BoxConstraint::new(-0.1, 0.8).unwrap()).unwrap())),
        (
            "hyperplane",
            Box::new(
                Budget::new(d, BoxConstraint::new(f64::NEG_INFINITY, f64::INFINITY).unwrap())
                    .unwrap(),
            ),
        ),
        ("tilted ridge", Box::new(Tilted::new(ridge(), tilt(0.3)).unwrap())),
        ("tilted simplex", Box::new(Tilted::new(Simplex, tilt(0.3)).unwrap())),
        ("tilted box", Box::new(Tilted::new(bounded(), tilt(0.3)).unwrap())),
        ("tilted", Box::new(Tilted::new(Unregularized, tilt(0.01)).unwrap())),
        ("tilted l1", Box::new(Tilted::new(L1::new(0.01).unwrap(), tilt(0.02)).unwrap())),
        ("separable", Box::new(Separable::new((0..d).map(part).collect()).unwrap())),
        ("ridge with an intercept", Box::new(FreeTail::new(ridge(), d - 1))),
        ("l1 with an intercept", Box::new(FreeTail::new(l1(), d - 1))),
        ("box with an intercept", Box::new(FreeTail::new(bounded(), d - 1))),
        ("elastic net with an intercept", {
            Box::new(FreeTail::new(ElasticNet::from_weights(0.05, 0.02).unwrap(), d - 1))
        }),
    ]
}

/// Where a gap is promised for affine f: everywhere, or at the solution alone, by a Newton step.
#[derive(Clone, Copy, PartialEq)]
enum Promise {
    Everywhere,
    Solution,
}

fn promise(phi: &str, g: &str) -> Promise {
    let thin = matches!(g, "none" | "non-negative" | "hyperplane" | "tilted" | "tilted l1");
    if thin && !phi.ends_with("square") { Promise::Solution } else { Promise::Everywhere }
}

/// A point near `centre` that g allows.
fn near(problem: &Random, centre: &[f64], spread: f64, stream: &mut Stream) -> Vec<f64> {
    let moved: Vec<f64> = centre.iter().map(|t| t + spread * symmetric(stream)).collect();
    problem.erased().allowed(&moved)
}

/// The certificate of one point by itself.
fn gap(problem: &Random, theta: &[f64]) -> Option<(f64, f64)> {
    let mut evaluator = Evaluator::new(problem);
    // At the origin, where runs begin, a bound that costs much is left for the second time.
    evaluator.evaluate(theta, Known::default());
    let certificate = evaluator.evaluate(theta, Known::default()).certificate;
    assert_eq!(certificate.gap.is_some(), certificate.reason.is_none());
    Some((certificate.gap?, certificate.relative?))
}

/// Checks points at all distances from the solution. `P_best >= P*` makes this a test of the bound
/// whatever the solver missed.
fn check(name: &str, problem: &Random, promise: Promise, stream: &mut Stream) {
    let d = problem.inner.d();
    let best = optimum(problem, &problem.erased().allowed(&vec![0.1; d])).expect("smooth phi");
    assert!(best.objective.is_finite(), "{name}: bounded below");
    for spread in [3.0, 0.3, 0.03, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8] {
        let theta = near(problem, &best.theta, spread, stream);
        let objective = problem.objective(&theta);
        if !objective.is_finite() {
            continue;
        }
        // Of two objectives the last digits are rounded.
        let true_gap = objective
            - best.objective
            - 16.0 * f64::EPSILON * (objective.abs() + best.objective.abs());
        match gap(problem, &theta) {
            Some((gap, _)) => {
                assert!(
                    gap >= true_gap,
                    "{name}, {spread:e} away: {gap:e} claimed, {true_gap:e} true"
                );
            }
            None => assert!(promise == Promise::Solution, "{name}, {spread:e} away: no gap"),
        }
    }
    let (gap, relative) = gap(problem, &best.theta).expect("promised");
    assert!(relative < 1e-9, "{name}: {gap:e}, {relative:e} at the solution, {}", best.source);
}

#[test]
fn a_gap_is_never_below_the_true_one_and_vanishes_at_the_solution() {
    let mut checked = 0;
    for seed in 0..4 {
        let mut stream = Stream::new(seed, 5);
        let d = 2 + seed as usize;
        let n = 40;
        let names: Vec<&str> = merits(n, &mut stream).iter().map(|(name, _)| *name).collect();
        for (k, phi) in names.iter().enumerate() {
            for (m, (g, regularizer)) in regularizers(d, &mut stream).into_iter().enumerate() {
                let inner =
                    Affine::random(d, 1, n, |i| 1 + i % 3, 1000 * seed + 20 * k as u64 + m as u64);
                // A last column of ones is an intercept.
                let inner: Box<dyn Inner> = if g.contains("intercept") {
                    Box::new(with_intercept(&inner))
                } else {
                    Box::new(inner)
                };
                let (_, merit) = merits(n, &mut stream).swap_remove(k);
                let problem = Problem { inner, merit, regularizer };
                check(&format!("{phi}, {g}, seed {seed}"), &problem, promise(phi, g), &mut stream);
                checked += 1;
            }
        }
    }
    println!("{checked} problems");
    assert!(checked > 400);
}

/// The same rows with a last coordinate of ones, as averages.
fn with_intercept(f: &Affine) -> Collapsed {
    let (d, n) = (f.d(), f.n_x());
    let mut rows = vec![0.0; n * d];
    f.mean_jacobians(&vec![0.0; d], &mut rows).unwrap();
    for row in rows.chunks_exact_mut(d) {
        row[d - 1] = 1.0;
    }
    let mut offsets = vec![0.0; n];
    f.means(&vec![0.0; d], &mut offsets).unwrap();
    Collapsed::from_rows(d, rows, offsets)
}

#[test]
fn logarithms_have_gaps_where_g_bounds_theta() {
    for seed in 0..10 {
        let mut stream = Stream::new(seed, 6);
        let (n, d) = (30, 4);
        let rows: Vec<f64> = (0..n * d).map(|_| 0.05 + 0.9 * stream.unit()).collect();
        let inner =
            || -> Box<dyn Inner> { Box::new(Collapsed::from_rows(d, rows.clone(), vec![0.0; n])) };
        let counts: Vec<f64> = (0..n).map(|_| (4.0 * stream.unit()).floor()).collect();
        let shares: Vec<f64> = (0..n).map(|_| stream.unit()).collect();
        let between = BoxConstraint::new(0.01, 2.0).unwrap();
        let problems: Vec<(&str, Phi, G)> = vec![
            (
                "poisson in a box",
                Box::new(Poisson::new(counts.clone(), vec![1.0; n], 1.0).unwrap()),
                Box::new(between),
            ),
            (
                "poisson on a simplex",
                Box::new(Poisson::new(counts, vec![1.0; n], 0.5).unwrap()),
                Box::new(Simplex),
            ),
            (
                "bernoulli on a simplex",
                Box::new(Bernoulli::new(shares).unwrap()),
                Box::new(Simplex),
            ),
        ];
        for (name, merit, regularizer) in problems {
            let problem = Problem { inner: inner(), merit, regularizer };
            check(&format!("{name}, seed {seed}"), &problem, Promise::Everywhere, &mut stream);
        }
    }
}

#[test]
fn a_convex_composition_has_a_fenchel_gap_if_it_says_so() {
    for seed in 0..20 {
        let lambda = [1.0, 0.1, 0.01][seed as usize % 3];
        let units = SoftplusUnits::random(3, 20, |i| 1 + i % 4, seed);
        let (problem, saddle) = softplus_of_softplus(units, lambda);
        let optimum = problem.objective(&saddle.theta);
        let mut stream = Stream::new(seed, 7);
        for spread in [10.0, 1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-6, 0.0] {
            let theta: Vec<f64> =
                saddle.theta.iter().map(|t| t + spread * symmetric(&mut stream)).collect();
            let certificate =
                Evaluator::new(&problem).evaluate(&theta, Known::default()).certificate;
            assert_eq!(certificate.measure, Measure::FenchelGap);
            let (gap, true_gap) = (certificate.gap.unwrap(), problem.objective(&theta) - optimum);
            assert!(gap >= true_gap, "{gap:e} claimed, {true_gap:e} true");
            if spread == 0.0 {
                assert!(certificate.relative.unwrap() < 1e-12);
            }
        }
        // Nobody says so, nobody bounds theta: the reason is given.
        let silent = Problem {
            inner: Silent(&problem.inner),
            merit: crate::support::toy::Softplus,
            regularizer: Simplex,
        };
        let certificate =
            Evaluator::new(&silent).evaluate(&[1.0, 0.0, 0.0], Known::default()).certificate;
        assert_eq!(
            (certificate.measure, certificate.reason),
            (Measure::Stationarity, Some(Reason::NotConvex))
        );
        let endless = Problem {
            inner: &problem.inner,
            merit: crate::support::toy::Softplus,
            regularizer: Unregularized,
        };
        let certificate =
            Evaluator::new(&endless).evaluate(&[1.0, 0.0, 0.0], Known::default()).certificate;
        // Nothing but what phi itself is never below.
        assert_eq!(certificate.measure, Measure::FenchelGap);
        let there = endless.objective(&saddle.theta);
        assert!(certificate.gap.unwrap() >= endless.objective(&[1.0, 0.0, 0.0]) - there);
    }
}

/// An f that says nothing about itself.
struct Silent<'f>(&'f SoftplusUnits);

impl Inner for Silent<'_> {
    fn d(&self) -> usize {
        self.0.d()
    }

    fn n_x(&self) -> usize {
        self.0.n_x()
    }

    fn n_y(&self, i: usize) -> usize {
        self.0.n_y(i)
    }

    fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
        self.0.value(theta, i, j, out);
    }

    fn add_jac_t(&self, theta: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        self.0.add_jac_t(theta, i, j, w, c, out);
    }
}

/// Along runs the bound is that of the best point so far, and it falls to the tolerance.
#[test]
fn runs_end_at_their_tolerance_and_never_claim_too_much() {
    let mut stream = Stream::new(3, 8);
    let d = 4;
    let kinked = |g: &str| {
        matches!(g, "ridge" | "elastic net" | "box" | "simplex" | "budget" | "tilted ridge")
    };
    for name in ["svrpda1", "lbfgs", "spdc", "apg"] {
        for (g, regularizer) in regularizers(d, &mut stream) {
            for phi in ["logistic", "huber", "square", "absolute"] {
                let f = Affine::random(d, 1, 40, |i| 1 + i % 3, 11);
                let inner: Box<dyn Inner> = if g.contains("intercept") {
                    Box::new(with_intercept(&f))
                } else {
                    Box::new(f)
                };
                let merit: Phi = match merits(40, &mut stream)
                    .into_iter()
                    .find(|(name, _)| *name == phi)
                {
                    Some((_, merit)) => merit,
                    None if kinked(g) && name == "svrpda1" => Box::new(Absolute::new(1.0).unwrap()),
                    None => continue,
                };
                let problem = Problem { inner, merit, regularizer: &regularizer };
                let start = problem.erased().allowed(&vec![0.3; d]);
                let Ok(method) = AnyMethod::named(name, &Choice::seeded(1), &problem, &start)
                else {
                    continue;
                };
                let name = format!("{phi}, {g}, {name}");
                let best = optimum(&problem, &start).expect("affine f").objective;
                let tolerance = if phi == "absolute" { 1e-3 } else { 1e-7 };
                let stop =
                    Stop { tolerance: Some(tolerance), max_outer: Some(3000), ..Stop::default() };
                let solution =
                    method.run(&Driver { stop, ..Driver::default() }, &problem, &start, &mut ());
                assert!(
                    solution.status.is_solved(),
                    "{name}: {} {:?}",
                    solution.status,
                    solution.certificate
                );
                assert!(solution.certificate.gap.is_some(), "{name}: {:?}", solution.certificate);
                // Rounding and, where phi has a kink, what the reference missed.
                let slack = if phi == "absolute" { 1e-9 } else { 1e-15 };
                let mut least = f64::INFINITY;
                for record in &solution.trace {
                    least = least.min(record.objective);
                    let gap = record.gap.unwrap_or(f64::INFINITY);
                    assert!(
                        gap >= least - best - slack,
                        "{name}: {gap:e} claimed, {:e} true",
                        least - best
                    );
                }
                assert!(
                    solution.objective - least <= 1e-13 * (1.0 + least.abs()),
                    "{name}: not the best point"
                );
                // But for the last digits of the objective, which are found at the end.
                let (gap, last) =
                    (solution.certificate.gap.unwrap(), solution.trace.last().unwrap().gap);
                let off = (gap - last.unwrap()).abs();
                assert!(
                    off <= 1e-13 * (1.0 + solution.objective.abs()),
                    "{name}: {gap:e} {last:?}"
                );
            }
        }
    }
}

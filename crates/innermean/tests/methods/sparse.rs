//! Sparse rows and steps that lag change the cost of a run and never its answer.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::sparse::{Sparse, SparseData};
use innermean::curvature;
use innermean::methods::saga::Saga;
use innermean::methods::spdc::Spdc;
use innermean::methods::svrg::Svrg;
use innermean::regularizer::Coordinate;
use innermean::{
    AnyRegularizer, BoxConstraint, Choice, Collapsed, Driver, FreeTail, Fused, Huber, Inner, L1,
    Listed, Method, Objective, Oracle, Problem, Reference, Regularizer, Ridged, Square, StepRule,
    Stop, Svrpda1, Svrpda2, Tilted, Unregularized, optimum,
};

/// The objective along the run, and theta at its end.
fn run<'p, M: Listed + Method>(
    problem: impl Into<Objective<'p>>,
    choice: &Choice,
    every: Option<u64>,
) -> (Vec<(u64, f64)>, Vec<f64>) {
    let problem = problem.into();
    let start = vec![0.1; problem.inner.d()];
    let method = M::choose(choice, problem, &start).unwrap();
    let driver = Driver {
        stop: Stop { max_outer: Some(8), tolerance: None, ..Stop::default() },
        evaluate_every: every.and_then(NonZeroU64::new),
        ..Driver::default()
    };
    let solution = driver.run(problem, &method, &start, &mut ());
    (solution.trace.iter().map(|r| (r.inner, r.objective)).collect(), solution.theta)
}

fn assert_same(
    got: &(Vec<(u64, f64)>, Vec<f64>),
    expected: &(Vec<(u64, f64)>, Vec<f64>),
    what: &str,
) {
    assert_eq!(got.0.len(), expected.0.len(), "{what}");
    for ((at, got), (when, expected)) in got.0.iter().zip(&expected.0) {
        assert_eq!(at, when);
        assert!(
            (got - expected).abs() <= 1e-9 * expected.abs(),
            "{what}: {got} {expected} after {at}"
        );
    }
    let largest = expected.1.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    for (l, (got, expected)) in got.1.iter().zip(&expected.1).enumerate() {
        assert!((got - expected).abs() <= 1e-9 * largest, "{what}, {l}: {got} {expected}");
    }
}

/// Every g that is a sum over coordinates, small enough not to hold all of theta at zero.
fn regularizers(d: usize) -> Vec<(&'static str, Box<dyn Regularizer>)> {
    let l1 = L1::new(2e-3).unwrap();
    let bounded = BoxConstraint::new(-0.2, 0.3).unwrap();
    let tilt = (0..d).map(|l| 1e-3 * (l % 5) as f64).collect();
    let ridged = |g: AnyRegularizer| Ridged::new(g, 1e-2).unwrap();
    vec![
        ("none", Box::new(Unregularized)),
        ("ridge", Box::new(ridged(Unregularized.into()))),
        ("l1", Box::new(l1)),
        ("elastic net", Box::new(ridged(l1.into()))),
        ("box", Box::new(bounded)),
        ("box, l1, ridge", Box::new(ridged(bounded.with_l1(2e-3).unwrap().into()))),
        ("elastic net, free tail", Box::new(FreeTail::new(ridged(l1.into()), d - 1))),
        ("tilted ridge", Box::new(Tilted::new(ridged(Unregularized.into()), tilt).unwrap())),
    ]
}

/// One method on sparse and on dense rows of the same numbers, for every g.
fn sparse_equals_dense<M>(name: &str, choice: &Choice, every: Option<u64>)
where
    M: Listed,
    for<'g> M: Method,
{
    let d = 900;
    for intercept in [false, true] {
        let data = SparseData::random(150, d, 4, intercept, 7);
        for (g, regularizer) in &regularizers(d) {
            let merit = Huber::new(1.0, 0.5).unwrap();
            let regularizer: &dyn Regularizer = &**regularizer;
            let [sparse, dense] =
                [data.sparse(), data.dense()].map(|inner| Problem { inner, merit, regularizer });
            assert!(Oracle::new(&sparse).lags() && !Oracle::new(&dense).lags());
            let what = format!("{name}, {g}, intercept {intercept}");
            assert_same(&run::<M>(&sparse, choice, every), &run::<M>(&dense, choice, every), &what);
        }
    }
}

/// Steps that do not follow from what rounding leaves of a gradient.
fn scaled(seed: u64) -> Choice {
    Choice { rule: Some(StepRule::Scaled), ..Choice::seeded(seed) }
}

#[test]
fn svrpda1_lags_to_the_same_answer() {
    let plain = scaled(3);
    sparse_equals_dense::<Svrpda1>("svrpda1", &plain, None);
    sparse_equals_dense::<Svrpda1>("svrpda1, looked at", &plain, Some(97));
    let random = Choice { reference: Some(Reference::Random), warmup_epochs: Some(2), ..plain };
    sparse_equals_dense::<Svrpda1>("svrpda1, random reference, warm-up", &random, Some(97));
    let average = Choice { reference: Some(Reference::Average), ..plain };
    sparse_equals_dense::<Svrpda1>("svrpda1, averages", &average, None);
}

#[test]
fn svrpda2_lags_to_the_same_answer() {
    sparse_equals_dense::<Svrpda2>("svrpda2", &scaled(3), Some(97));
}

#[test]
fn saga_lags_to_the_same_answer() {
    let shorter = Choice { inner_iterations: Some(70), ..Choice::seeded(3) };
    sparse_equals_dense::<Saga>("saga", &shorter, Some(41));
}

#[test]
fn svrg_lags_to_the_same_answer() {
    sparse_equals_dense::<Svrg>("svrg", &Choice::seeded(3), Some(97));
}

#[test]
fn spdc_lags_to_the_same_answer() {
    sparse_equals_dense::<Spdc>("spdc", &Choice::seeded(3), Some(41));
    sparse_equals_dense::<Spdc>(
        "spdc, batches",
        &Choice { batch: Some(5), ..Choice::seeded(3) },
        Some(17),
    );
}

/// A single loop never takes a second snapshot: what lags must survive from one outer iteration to
/// the next.
#[test]
fn a_single_loop_lags_to_the_same_answer() {
    let data = SparseData::random(150, 900, 4, false, 7);
    let (merit, regularizer) =
        (Square::new(0.5).unwrap(), Ridged::new(L1::new(1e-3).unwrap(), 0.1).unwrap());
    let [sparse, dense] =
        [data.sparse(), data.dense()].map(|inner| Problem { inner, merit, regularizer });
    let choice = Choice { rule: Some(StepRule::Theorem3), ..Choice::seeded(3) };
    assert_same(
        &run::<Svrpda1>(&sparse, &choice, None),
        &run::<Svrpda1>(&dense, &choice, None),
        "",
    );
}

/// Averages of several samples, ell = 2: the sparse averages that SVRPDA-I keeps, and those of the
/// collapsed rows.
#[test]
fn averages_at_supports_equal_whole_ones() {
    let (told, plain) = (Sparse::new(700, 60, true), Sparse::new(700, 60, false));
    let theta: Vec<f64> = (0..700).map(|l| f64::from(l % 7) / 7.0).collect();
    let (sparse, dense) = (Collapsed::new(&told, &theta), Collapsed::new(&plain, &theta));
    assert!(sparse.support(0).is_some() && dense.support(0).is_none());
    assert!(sparse.numbers() < 1000 && dense.numbers() == 60 * 2 * 700);
    let rows = |f: &dyn Inner| {
        let mut out = vec![0.0; 60 * 2 * 700];
        f.mean_jacobians(&theta, &mut out);
        out
    };
    assert_eq!(rows(&sparse), rows(&dense));
    let (merit, regularizer) =
        (Square::new(1.0).unwrap(), Ridged::new(L1::new(1e-3).unwrap(), 1e-2).unwrap());
    let [told, plain] = [told, plain].map(|inner| Problem { inner, merit, regularizer });
    for problem in [&told, &plain] {
        let start = problem.erased().allowed(&theta);
        let constants = [
            curvature::of_draws(problem, &start),
            curvature::of_mean(problem, &start),
            curvature::of_terms(problem, &start),
        ];
        let others = [
            curvature::of_draws(&plain, &start),
            curvature::of_mean(&plain, &start),
            curvature::of_terms(&plain, &start),
        ];
        for (a, b) in constants.iter().zip(others) {
            assert!((a - b).abs() <= 1e-12 * b, "{constants:?} {others:?}");
        }
    }
    let choice = scaled(5);
    assert_same(
        &run::<Svrpda1>(&told, &choice, Some(97)),
        &run::<Svrpda1>(&plain, &choice, Some(97)),
        "svrpda1",
    );
    assert_same(
        &run::<Svrpda2>(&told, &choice, Some(97)),
        &run::<Svrpda2>(&plain, &choice, Some(97)),
        "svrpda2",
    );
}

#[test]
fn sparse_rows_have_the_same_optimum() {
    let data = SparseData::random(150, 60, 4, true, 7);
    let (merit, regularizer) =
        (Square::new(0.5).unwrap(), Ridged::new(Unregularized, 0.1).unwrap());
    let [sparse, dense] =
        [data.sparse(), data.dense()].map(|inner| Problem { inner, merit, regularizer });
    let start = vec![0.0; 60];
    let (a, b) = (optimum(&sparse, &start).unwrap(), optimum(&dense, &start).unwrap());
    assert_eq!(a.source, optimum::Source::Direct);
    assert!(a.theta.iter().zip(&b.theta).all(|(a, b)| (a - b).abs() < 1e-12));
}

/// A user's look must not change a run, and nor must the clock.
#[test]
fn looking_changes_no_bit() {
    let data = SparseData::random(150, 900, 4, true, 7);
    let regularizer = FreeTail::new(Ridged::new(L1::new(2e-3).unwrap(), 1e-2).unwrap(), 899);
    let problem = Problem { inner: data.sparse(), merit: Square::new(0.5).unwrap(), regularizer };
    let choice = Choice::seeded(3);
    let last = |trace: Vec<(u64, f64)>| trace.last().copied();
    let svrpda1 = |every| last(run::<Svrpda1>(&problem, &choice, every).0);
    assert_eq!(svrpda1(None), svrpda1(Some(13)));
    let spdc = |every| last(run::<Spdc>(&problem, &choice, every).0);
    assert_eq!(spdc(None), spdc(Some(13)));
}

/// g with a count of the coordinates of theta that it is asked about: each step looks at theta
/// through it alone.
struct Counted<G> {
    g: G,
    coordinates: AtomicUsize,
}

impl<G> Counted<G> {
    fn count(&self, coordinates: usize) {
        self.coordinates.fetch_add(coordinates, Ordering::Relaxed);
    }
}

impl<G: Regularizer> Regularizer for Counted<G> {
    fn value(&self, theta: &[f64]) -> f64 {
        self.count(theta.len());
        self.g.value(theta)
    }

    fn prox(&self, alpha: f64, theta: &mut [f64]) {
        self.count(theta.len());
        self.g.prox(alpha, theta);
    }

    fn conjugate(&self, v: &[f64]) -> f64 {
        self.count(v.len());
        self.g.conjugate(v)
    }

    fn mu(&self) -> f64 {
        self.g.mu()
    }

    fn coordinate(&self, l: usize) -> Option<Coordinate> {
        self.count(1);
        self.g.coordinate(l)
    }
}

/// The coordinates that 1000 steps of a method look at, on rows of eight numbers.
fn coordinates_of_steps<M>(d: usize) -> usize
where
    M: Listed + Method,
{
    let data = SparseData::random(2000, d, 8, false, 7);
    let g = Ridged::new(L1::new(1e-4).unwrap(), 1e-3).unwrap();
    let regularizer = Counted { g, coordinates: AtomicUsize::new(0) };
    let problem = Problem { inner: data.sparse(), merit: Square::new(0.5).unwrap(), regularizer };
    let start = vec![0.0; d];
    let choice = Choice { inner_iterations: Some(usize::MAX), ..Choice::seeded(1) };
    let method = M::choose(&choice, &problem, &start).unwrap();
    let mut oracle = Oracle::new(&problem);
    assert!(oracle.lags());
    let mut state = method.init(&mut oracle, &start);
    method.outer(&mut oracle, &mut state);
    let before = problem.regularizer.coordinates.load(Ordering::Relaxed);
    (0..1000).for_each(|_| method.inner(&mut oracle, &mut state));
    problem.regularizer.coordinates.load(Ordering::Relaxed) - before
}

/// With as many nonzeros in a row, a hundred times as many columns do not change the work of a
/// step: what lags misses more steps, which costs no more.
#[test]
fn the_work_of_a_step_does_not_grow_with_d() {
    fn check<M: Listed + Method>(name: &str) {
        for d in [1000, 100_000] {
            // Eight numbers a step are brought up to date, unless they are, and may be stepped on.
            let coordinates = coordinates_of_steps::<M>(d);
            assert!((5000..=16_000).contains(&coordinates), "{name}, d = {d}: {coordinates}");
        }
    }
    check::<Svrpda1>("svrpda1");
    check::<Svrpda2>("svrpda2");
    check::<Saga>("saga");
}

//! The prox-linear method with its model solved to the end: calls that do not grow with the
//! condition number, and right answers for every kind of phi and g.

use std::ops::Range;

use innermean::draws::Stream;
use innermean::evaluate::{Evaluator, Known};
use innermean::merit::Bernoulli;
use innermean::methods::prox_linear::ProxLinear;
use innermean::oracle::gradient_calls;
use innermean::problems::bags::{Bags, Groups, Link};
use innermean::{
    Absolute, AnyMethod, BoxConstraint, Choice, Driver, ElasticNet, L1, Listed, Measure, Merit,
    Method, Objective, Oracle, Problem, Regularizer, Ridge, Ridged, Simplex, Solution, Square,
    Status, Stop,
};

use crate::support::toy::SoftplusUnits;

/// Standard normal by twelve uniform numbers, near enough.
fn normal(draws: &mut Stream) -> f64 {
    (0..12).map(|_| draws.unit()).sum::<f64>() - 6.0
}

/// Groups of rows whose covariance has eigenvalues from 1 to `1/kappa`, in directions that are no
/// axes, and what a model of the rows says of each group on average.
fn groups(
    (count, rows, d): (usize, usize, usize),
    kappa: f64,
    seed: u64,
) -> (Groups, Vec<f64>, Vec<f64>) {
    let mut draws = Stream::new(seed, 0);
    let v: Vec<f64> = (0..d).map(|_| normal(&mut draws)).collect();
    let size: f64 = v.iter().map(|v| v * v).sum();
    let beta: Vec<f64> = (0..d).map(|_| 1.5 / (d as f64).sqrt() * normal(&mut draws)).collect();
    let (mut table, mut means) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let centre: Vec<f64> = (0..d).map(|_| 0.7 * normal(&mut draws)).collect();
        let mut mean = 0.0;
        for _ in 0..rows {
            let mut row: Vec<f64> = centre.iter().map(|c| c + normal(&mut draws)).collect();
            let score: f64 = row.iter().zip(&beta).map(|(x, b)| x * b).sum();
            mean += 1.0 / (1.0 + (-score).exp()) / rows as f64;
            let root = |k: usize| kappa.powf(-0.5 * k as f64 / (d.max(2) - 1) as f64);
            row.iter_mut().enumerate().for_each(|(k, x)| *x *= root(k));
            // A reflection.
            let along = 2.0 * row.iter().zip(&v).map(|(x, v)| x * v).sum::<f64>() / size;
            row.iter_mut().zip(&v).for_each(|(x, v)| *x -= along * v);
            table.extend(row);
        }
        means.push(mean);
    }
    let starts = (0..=count).map(|i| i * rows).collect();
    (Groups::new(d, table, starts, false).expect("whole groups"), means, beta)
}

fn run<'p>(name: &str, problem: impl Into<Objective<'p>>, most: u64) -> Solution {
    let problem = problem.into();
    let start = vec![0.0; problem.inner.d()];
    let method = AnyMethod::named(name, &Choice::seeded(1), problem, &start).expect(name);
    let stop = Stop { tolerance: None, max_outer: Some(most), ..Stop::default() };
    method.run(&Driver { stop, ..Driver::default() }, problem, &start, &mut ())
}

/// Passes (2 N calls) to a gap of 1e-6, every query of phi counted, nothing tuned.
#[test]
fn calls_do_not_grow_with_the_condition_number() {
    let mut passes = Vec::new();
    for kappa in [2e2, 2e4, 2e6] {
        let (all, mut labels, _) = groups((50, 40, 20), kappa, 1);
        let mut draws = Stream::new(2, 0);
        for q in &mut labels {
            *q = (*q + 0.02 * normal(&mut draws)).clamp(0.02, 0.98);
        }
        let problem = Problem {
            inner: Bags::new(all, Link::Logistic),
            merit: Bernoulli::new(labels).expect("proportions"),
            regularizer: Ridge::from_weight(0.01 / kappa).expect("a weight"),
        };
        let least = run("newton", &problem, 60).objective;
        let solution = run("prox-linear", &problem, 20);
        let least = least.min(solution.objective);
        let there = solution.trace.iter().find(|record| record.objective - least <= 1e-6);
        let pass = gradient_calls(&problem.inner);
        let took = there.expect("it arrives").calls.total() as f64 / (2 * pass.f) as f64;
        println!("kappa {kappa:e}: {took:.1} passes");
        passes.push(took);
    }
    assert!(passes.iter().all(|took| *took <= 6.0), "{passes:?}");
    assert!(passes[2] <= passes[0] + 1.5, "{passes:?}");
}

/// Labels of 0 and 1, at the ends of the logarithms.
#[test]
fn labels_of_0_and_1_do_not_stall_it() {
    let (all, mut labels, _) = groups((120, 20, 10), 1e2, 3);
    for (i, q) in labels.iter_mut().enumerate() {
        *q = (*q * 5.0).round() / 5.0;
        *q = if i % 30 == 0 {
            1.0
        } else if i % 30 == 1 {
            0.0
        } else {
            *q
        };
    }
    assert!(labels.iter().filter(|q| **q == 0.0 || **q == 1.0).count() >= 4);
    let problem = Problem {
        inner: Bags::new(all, Link::Logistic),
        merit: Bernoulli::new(labels).expect("proportions"),
        regularizer: Ridge::from_weight(1e-3).expect("a weight"),
    };
    let least = run("newton", &problem, 100).objective;
    let solution = run("prox-linear", &problem, 30);
    let gap = solution.objective - least;
    assert!(gap <= 1e-9 * least.abs(), "gap {gap:e}");
}

/// A phi with kinks and an f that is not affine: where the model can be fitted exactly, P falls to
/// 0; in one coordinate, to the least of all points of a fine grid.
#[test]
fn kinks_with_a_curved_f() {
    let absolute = Absolute::new(1.0).expect("a weight");
    for (size, seed) in [((40, 15, 6), 1), ((60, 30, 12), 2)] {
        let (all, labels, _) = groups(size, 10.0, seed);
        let inner = Bags::with_targets(all, Link::Logistic, labels).expect("targets");
        let free = Ridge::from_weight(0.0).expect("a weight");
        let problem = Problem { inner, merit: absolute, regularizer: free };
        let solution = run("prox-linear", &problem, 25);
        assert!(solution.objective < 1e-12, "{:e}", solution.objective);
    }
    for (seed, weight) in [(3, 0.0), (4, 0.05), (5, 0.5)] {
        let (all, mut labels, _) = groups((30, 10, 1), 1.0, seed);
        let mut draws = Stream::new(seed, 9);
        for q in &mut labels {
            *q += 0.2 * normal(&mut draws);
        }
        let inner = Bags::with_targets(all, Link::Logistic, labels).expect("targets");
        let g = ElasticNet::from_weights(0.1 * weight, weight).expect("weights");
        let problem = Problem { inner, merit: absolute, regularizer: g };
        let solution = run("prox-linear", &problem, 40);
        let grid = (-40_000..=40_000).map(|k| problem.objective(&[f64::from(k) * 2e-4]));
        let least = grid.fold(f64::INFINITY, f64::min);
        let gap = solution.objective - least;
        assert!(gap <= 1e-9, "seed {seed}: {} and {least}", solution.objective);
    }
}

/// Of such a problem stationarity is measured, by what the model would gain, and a run ends when it is
/// small enough; away from the optimum it is not.
#[test]
fn kinks_with_a_curved_f_have_a_stationarity() {
    let (all, mut labels, _) = groups((30, 10, 1), 1.0, 4);
    let mut draws = Stream::new(4, 9);
    for q in &mut labels {
        *q += 0.2 * normal(&mut draws);
    }
    let inner = Bags::with_targets(all, Link::Logistic, labels).expect("targets");
    let merit = Absolute::new(1.0).expect("a weight");
    let problem =
        Problem { inner, merit, regularizer: Ridge::from_weight(0.05).expect("a weight") };
    let stop = Stop { tolerance: Some(1e-6), max_outer: Some(100), ..Stop::default() };
    let driver = Driver { stop, ..Driver::default() };
    for name in ["prox-linear", "auto"] {
        let solution = if name == "auto" {
            innermean::auto::solve(&driver, &problem, &[0.0], &mut (), 1)
                .expect("it suits")
                .solution
        } else {
            let method = AnyMethod::named(name, &Choice::seeded(1), &problem, &[0.0]);
            method.expect("it suits").run(&driver, &problem, &[0.0], &mut ())
        };
        assert_eq!(solution.status, Status::Solved, "{name}");
        assert_eq!(solution.certificate.measure, Measure::Stationarity, "{name}");
        assert_eq!(solution.certificate.gap, None, "no gap is claimed");
        let best = solution.theta[0];
        let grid = (-1000..=1000).map(|k| problem.objective(&[best + f64::from(k) * 1e-4]));
        let least = grid.fold(f64::INFINITY, f64::min);
        assert!(solution.objective <= least + 1e-8, "{name}: {} and {least}", solution.objective);
        for off in [1e-3, 1e-2, 0.1] {
            let mut evaluator = Evaluator::new(&problem);
            // Asked where the objective has stopped to fall.
            let first = evaluator.evaluate(&[best + off], Known::default());
            assert_eq!(first.certificate.relative, None);
            let again = evaluator.evaluate(&[best + off], Known::default()).certificate;
            assert!(again.relative.is_some_and(|left| left > 1e-4), "{off}: {again:?}");
        }
    }
}

fn agree<G: Regularizer>(name: &str, inner: &Bags, labels: &[f64], g: G) {
    let merit = Bernoulli::new(labels.to_vec()).expect("proportions");
    let problem = Problem { inner, merit, regularizer: g };
    let own = run("prox-linear", &problem, 40).objective;
    let other = run("lbfgs", &problem, 3000).objective;
    assert!((own - other).abs() <= 1e-8 * other.abs(), "{name}: {own} and {other}");
}

/// For every kind of g, and with fewer averages than coordinates, it ends where L-BFGS does.
#[test]
fn every_kind_of_g() {
    let ridge = |weight: f64| Ridge::from_weight(weight).expect("a weight");
    let (all, labels, _) = groups((40, 20, 8), 10.0, 5);
    let inner = Bags::new(all, Link::Logistic);
    agree("a ridge", &inner, &labels, ridge(1e-2));
    agree("an l1 norm", &inner, &labels, L1::new(1e-2).expect("a weight"));
    let boxed = BoxConstraint::new(-0.2, 0.2).expect("bounds");
    agree("a box", &inner, &labels, Ridged::new(boxed, 1e-2).expect("a weight"));
    agree("a simplex", &inner, &labels, Ridged::new(Simplex, 1e-2).expect("a weight"));
    agree("no more than a prox", &inner, &labels, Unknown(ridge(1e-1)));
    let (all, labels, _) = groups((12, 20, 150), 10.0, 6);
    agree("few averages", &Bags::new(all, Link::Logistic), &labels, ridge(1e-2));
}

/// A g of which nothing but its prox is known.
struct Unknown(Ridge);

impl Regularizer for Unknown {
    fn value(&self, theta: &[f64]) -> f64 {
        self.0.value(theta)
    }

    fn prox(&self, alpha: f64, theta: &mut [f64]) {
        self.0.prox(alpha, theta);
    }

    fn conjugate(&self, v: &[f64]) -> f64 {
        self.0.conjugate(v)
    }

    fn mu(&self) -> f64 {
        self.0.mu()
    }
}

/// A square that keeps its second derivatives to itself.
struct Silent(Square);

impl Merit for Silent {
    fn value(&self, i: usize, u: &[f64]) -> f64 {
        self.0.value(i, u)
    }

    fn gradient(&self, i: usize, u: &[f64], out: &mut [f64]) {
        self.0.gradient(i, u, out);
    }

    fn conjugate(&self, i: usize, w: &[f64]) -> f64 {
        self.0.conjugate(i, w)
    }

    fn prox_conjugate(&self, i: usize, alpha: f64, w: &mut [f64]) {
        self.0.prox_conjugate(i, alpha, w);
    }

    fn hessian_diagonal(&self, _: Range<usize>, _: &[f64], _: &mut [f64]) -> bool {
        false
    }

    fn gamma(&self) -> f64 {
        self.0.gamma()
    }

    fn lipschitz(&self, ell: usize) -> f64 {
        self.0.lipschitz(ell)
    }
}

#[test]
fn a_phi_that_says_nothing_of_its_curvature() {
    let square = Square::new(1.0).expect("a weight");
    let inner = SoftplusUnits::random(4, 20, |_| 6, 1);
    let g = Ridge::from_weight(0.1).expect("a weight");
    let known = Problem { inner: &inner, merit: square, regularizer: g };
    let silent = Problem { inner: &inner, merit: Silent(square), regularizer: g };
    let (known, silent) = (run("prox-linear", &known, 20), run("prox-linear", &silent, 20));
    assert!((known.objective - silent.objective).abs() < 1e-12 * known.objective);
    // Two points for one.
    assert!(silent.calls.merit > known.calls.merit);
}

/// With growing samples and corrected models it ends at the same point; a stage counts what it looks
/// at, a correction an eighth of the samples at two points.
#[test]
fn fewer_samples_and_fresh_ones() {
    let (all, labels, _) = groups((30, 320, 6), 1e2, 7);
    let problem = Problem {
        inner: Bags::new(all, Link::Logistic),
        merit: Bernoulli::new(labels).expect("proportions"),
        regularizer: Ridge::from_weight(1e-3).expect("a weight"),
    };
    let start = [0.0; 6];
    let run = |growing: usize, correction: usize, outer: u64| {
        let choice =
            Choice { growing: Some(growing), correction: Some(correction), ..Choice::seeded(4) };
        let method = AnyMethod::named("prox-linear", &choice, &problem, &start).expect("it suits");
        let stop = Stop { tolerance: None, max_outer: Some(outer), ..Stop::default() };
        method.run(&Driver { stop, ..Driver::default() }, &problem, &start, &mut ())
    };
    let plain = run(0, 0, 12);
    for (growing, correction) in [(1, 0), (2, 0), (50, 0), (0, 1), (2, 2)] {
        let solution = run(growing, correction, 16);
        let gap = (solution.objective - plain.objective).abs();
        assert!(gap <= 1e-12 * plain.objective, "{growing}, {correction}: {gap:e}");
    }
    // 20 of 320 samples are cut to one of each of 16 places; then 80, then all.
    let n = 30 * 320;
    for (outer, each) in [(1, 16), (2, 2 * 16), (4, 2 * 16 + 2 * 80), (5, 2 * 16 + 2 * 80 + 320)] {
        let calls = run(2, 0, outer).calls;
        assert_eq!((calls.f, calls.jacobian), (30 * each, 30 * each), "{outer}");
    }
    let calls = run(0, 1, 3).calls;
    assert_eq!((calls.f, calls.jacobian), (3 * n + 6 * n / 8, 3 * n + 6 * n / 8));
}

/// Which samples are looked at depends on the outer iteration and the seed alone.
#[test]
fn stages_and_corrections_go_on_from_a_file_bit_for_bit() {
    let (all, labels, _) = groups((30, 320, 6), 1e2, 8);
    let problem = Problem {
        inner: Bags::new(all, Link::Logistic),
        merit: Bernoulli::new(labels).expect("proportions"),
        regularizer: Ridge::from_weight(1e-3).expect("a weight"),
    };
    let start = [0.0; 6];
    for (growing, correction) in [(0, 0), (2, 0), (0, 2), (2, 1)] {
        let choice =
            Choice { growing: Some(growing), correction: Some(correction), ..Choice::seeded(5) };
        let method = ProxLinear::choose(&choice, &problem, &start).expect("it suits");
        let run = |cut: Option<usize>| {
            let mut oracle = Oracle::new(&problem);
            let mut state = method.init(&mut oracle, &start);
            for outer in 0..8 {
                method.outer(&mut oracle, &mut state);
                if cut == Some(outer) {
                    let bytes = postcard::to_stdvec(&state).expect("a state serialises");
                    state = postcard::from_bytes(&bytes).expect("and comes back");
                }
                method.inner(&mut oracle, &mut state);
            }
            (method.theta(&state).to_vec(), oracle.calls)
        };
        let whole = run(None);
        assert!(whole.0.iter().all(|theta| theta.is_finite() && *theta != 0.0));
        for cut in [0, 1, 3, 5, 7] {
            assert_eq!(run(Some(cut)), whole, "{growing}, {correction}, cut at {cut}");
        }
    }
}

/// Averages of four rows leave the domain of a logarithm in nearly every step of their linear
/// model: looks at it must not cost more than the snapshots that would tell more.
#[test]
fn looks_at_averages_of_few_samples_cost_less_than_snapshots() {
    let (all, labels, _) = groups((1000, 4, 6), 1e2, 9);
    let problem = Problem {
        inner: Bags::new(all, Link::Logistic),
        merit: Bernoulli::new(labels).expect("proportions"),
        regularizer: Ridge::from_weight(1e-3).expect("a weight"),
    };
    let method = AnyMethod::named("prox-linear", &Choice::seeded(1), &problem, &[0.0; 6]);
    let stop = Stop { tolerance: Some(1e-8), max_outer: Some(30), ..Stop::default() };
    let driver = Driver { stop, ..Driver::default() };
    let solution = method.expect("it suits").run(&driver, &problem, &[0.0; 6], &mut ());
    let calls = solution.calls;
    assert!(calls.f <= 16 * 4000, "{calls:?}");
    assert!(calls.merit <= calls.f, "{calls:?}");
}

//! Losses with kinks by the method of multipliers: proven to ten digits in a few outer iterations,
//! and where Clarabel ends.

use innermean::draws::Stream;
use innermean::{
    Absolute, AnyMethod, BoxConstraint, Budget, Choice, Collapsed, Driver, FreeTail, L1, Merit,
    Objective, Problem, Regularizer, Ridge, ScalarMerit, Simplex, Solution, Status, Stop, Tilted,
    Weighted, auto,
};

use crate::support::conic::Program;
use crate::support::market::{Limits, Market, Risk, Task};
use crate::support::sparse::SparseData;
use crate::support::toy::Affine;

fn driver(tolerance: f64) -> Driver<'static> {
    let stop = Stop { tolerance: Some(tolerance), max_outer: Some(100), ..Stop::default() };
    Driver { stop, ..Driver::default() }
}

/// `max(q u, (q - 1) u)`
struct Pinball(f64);

impl ScalarMerit for Pinball {
    fn phi(&self, _: usize, u: f64) -> f64 {
        if u > 0.0 { self.0 * u } else { (self.0 - 1.0) * u }
    }
    fn slope(&self, _: usize, u: f64) -> f64 {
        if u > 0.0 { self.0 } else { self.0 - 1.0 }
    }
    fn phi_star(&self, _: usize, w: f64) -> f64 {
        if (self.0 - 1.0..=self.0).contains(&w) { 0.0 } else { f64::INFINITY }
    }
    fn prox_phi_star(&self, _: usize, _: f64, w: f64) -> f64 {
        w.clamp(self.0 - 1.0, self.0)
    }
    fn max_curvature(&self) -> f64 {
        f64::INFINITY
    }
    fn max_slope(&self) -> f64 {
        self.0.max(1.0 - self.0)
    }
}

/// `max(0, 1 - y_i u)`
struct Hinge(Vec<f64>);

impl ScalarMerit for Hinge {
    fn phi(&self, i: usize, u: f64) -> f64 {
        (1.0 - self.0[i] * u).max(0.0)
    }
    fn slope(&self, i: usize, u: f64) -> f64 {
        if self.0[i] * u < 1.0 { -self.0[i] } else { 0.0 }
    }
    fn phi_star(&self, i: usize, w: f64) -> f64 {
        let v = self.0[i] * w;
        if (-1.0..=0.0).contains(&v) { v } else { f64::INFINITY }
    }
    fn prox_phi_star(&self, i: usize, alpha: f64, w: f64) -> f64 {
        self.0[i] * (self.0[i] * w - alpha).clamp(-1.0, 0.0)
    }
    fn max_curvature(&self) -> f64 {
        f64::INFINITY
    }
    fn max_slope(&self) -> f64 {
        1.0
    }
}

/// `max(0, |u| - epsilon)`
struct Insensitive(f64);

impl ScalarMerit for Insensitive {
    fn phi(&self, _: usize, u: f64) -> f64 {
        (u.abs() - self.0).max(0.0)
    }
    fn slope(&self, _: usize, u: f64) -> f64 {
        if u.abs() > self.0 { u.signum() } else { 0.0 }
    }
    fn phi_star(&self, _: usize, w: f64) -> f64 {
        if w.abs() <= 1.0 { self.0 * w.abs() } else { f64::INFINITY }
    }
    fn prox_phi_star(&self, _: usize, alpha: f64, w: f64) -> f64 {
        let t = alpha * self.0;
        (w - w.clamp(-t, t)).clamp(-1.0, 1.0)
    }
    fn max_curvature(&self) -> f64 {
        f64::INFINITY
    }
    fn max_slope(&self) -> f64 {
        1.0
    }
}

fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let mut draws = Stream::new(seed, 0);
    (0..n).map(|_| 2.0 * draws.unit() - 1.0).collect()
}

/// Rows, and a response that they explain in part.
fn regression(n: usize, d: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let (rows, truth, noise) = (numbers(n * d, seed), numbers(d, seed + 1), numbers(n, seed + 2));
    let score = |row: &[f64]| row.iter().zip(&truth).map(|(a, t)| a * t).sum::<f64>();
    let response = rows.chunks_exact(d).zip(noise).map(|(row, e)| score(row) + 2.0 * e).collect();
    (rows, response)
}

fn run<'p>(name: &str, problem: impl Into<Objective<'p>>, tolerance: f64) -> Solution {
    let problem = problem.into();
    let start = vec![0.0; problem.inner.d()];
    let method = AnyMethod::named("multipliers", &Choice::default(), problem, &start).unwrap();
    let solution = method.run(&driver(tolerance), problem, &start, &mut ());
    assert_eq!(
        solution.status,
        Status::Solved,
        "{name}: {:?} after {}",
        solution.certificate,
        solution.outer
    );
    assert!(solution.outer <= 30, "{name}: {} outer iterations", solution.outer);
    solution
}

#[test]
fn portfolios_have_the_answers_of_an_interior_point_solver() {
    let market = Market::generated(500, 9, 3);
    let absolute = Risk::Absolute(1.0);
    for task in [
        Task::new(absolute, Limits::LongOnly),
        Task { l2: 0.1, ..Task::new(absolute, Limits::LongOnly) },
        Task::new(Risk::Absolute(0.05), Limits::Between(-0.5, 1.0)),
        // Nothing is worth its risk.
        Task::new(absolute, Limits::Between(-0.1, 0.2)),
        Task { l1: 0.02, ..Task::new(Risk::Absolute(0.1), Limits::Between(-0.5, 1.0)) },
        Task { l2: 0.05, ..Task::new(Risk::Absolute(0.04), Limits::Free) },
        Task { l1: 0.05, ..Task::new(absolute, Limits::Invested(-0.3, 0.4)) },
    ] {
        let (problem, theta) = (market.problem(&task), market.by_interior_point(&task));
        let outcome = auto::solve(&driver(1e-10), &problem, &[0.0; 9], &mut (), 0).unwrap();
        assert_eq!(outcome.method.info().name, "multipliers", "{task:?}");
        let found = outcome.solution;
        assert!(found.status.is_solved(), "{task:?}: {} {:?}", found.status, found.certificate);
        assert!(
            found.outer <= 30 && task.excess(&found.theta) <= 1e-12,
            "{task:?}: {}",
            found.outer
        );
        let (ours, theirs) =
            (market.objective(&task, &found.theta), market.objective(&task, &theta));
        assert!((ours - theirs).abs() <= 1e-8, "{task:?}: {ours} {theirs}");
        // The certificate is not below the truth.
        let least = found.objective - found.certificate.gap.unwrap();
        assert!(least <= theirs + 1e-12, "{task:?}: {least} {theirs}");
    }
}

#[test]
fn every_kind_of_kink_and_of_g() {
    let (n, d) = (300, 6);
    let (rows, response) = regression(n, d, 1);
    let labels: Vec<f64> = response.iter().map(|y| y.signum()).collect();
    let offsets: Vec<f64> = response.iter().map(|y| -y).collect();
    let weights: Vec<f64> = (0..n).map(|i| 0.2 + (i % 7) as f64).collect();
    let merits: Vec<(&str, Box<dyn Merit>)> = vec![
        ("absolute", Box::new(Absolute::new(0.7).unwrap())),
        ("pinball", Box::new(Pinball(0.3))),
        ("hinge", Box::new(Hinge(labels))),
        ("insensitive", Box::new(Insensitive(0.4))),
        ("weighted", Box::new(Weighted::new(Pinball(0.8), weights).unwrap())),
    ];
    let bounds = BoxConstraint::new(-0.3, 0.5).unwrap();
    let regularizers: Vec<(&str, Box<dyn Regularizer>)> = vec![
        ("ridge", Box::new(Ridge::from_weight(0.01).unwrap())),
        ("box", Box::new(bounds)),
        ("simplex", Box::new(Simplex)),
        ("budget and l1", Box::new(Budget::new(d, bounds.with_l1(0.02).unwrap()).unwrap())),
        ("l1", Box::new(L1::new(0.02).unwrap())),
        ("intercept", Box::new(FreeTail::new(Ridge::from_weight(0.01).unwrap(), d - 1))),
    ];
    for (phi, merit) in &merits {
        for (g, regularizer) in &regularizers {
            let offsets = if *phi == "hinge" { vec![0.0; n] } else { offsets.clone() };
            let inner = Collapsed::from_rows(d, rows.clone(), offsets);
            let problem = Objective { inner: &inner, merit: &**merit, regularizer };
            let found = run(&format!("{phi}, {g}"), problem, 1e-9);
            assert!(found.certificate.gap.is_some(), "{phi}, {g}: {:?}", found.certificate);
        }
    }
}

#[test]
fn several_coordinates_sparse_rows_and_small_sizes() {
    let absolute = Absolute::new(1.0).unwrap();
    let ridge = Ridge::from_weight(0.05).unwrap();
    // ell = 2, groups of unequal size, averaged on the way.
    let inner = Affine::random(5, 2, 40, |i| 1 + i % 4, 3);
    run("ell = 2", &Problem { inner, merit: absolute, regularizer: ridge }, 1e-9);
    let data = SparseData::random(200, 9, 3, false, 4);
    let [dense, sparse] = [data.dense(), data.sparse()]
        .map(|inner| run("sparse", &Problem { inner, merit: absolute, regularizer: ridge }, 1e-10));
    assert!((dense.objective - sparse.objective).abs() <= 1e-9);
    // One coordinate: a median, shrunk. Of 0, 1, 5 with a ridge of 0.05 the slope vanishes at 1.
    let inner = Collapsed::from_rows(1, vec![1.0; 3], vec![0.0, -1.0, -5.0]);
    let median = run("median", &Problem { inner, merit: absolute, regularizer: ridge }, 1e-10);
    assert!((median.theta[0] - 1.0).abs() < 1e-9, "{:?}", median.theta);
    // One term, and fewer terms than columns.
    for n in [1, 3] {
        let (rows, response) = regression(n, 8, 5);
        let inner = Collapsed::from_rows(8, rows, response);
        run("wide", &Problem { inner, merit: absolute, regularizer: ridge }, 1e-9);
    }
    // A response that is explained to the last.
    let rows = numbers(100 * 4, 9);
    let offsets = rows.chunks_exact(4).map(|row| row[0] - 2.0 * row[3]).collect();
    let inner = Collapsed::from_rows(4, rows, offsets);
    let regularizer = BoxConstraint::new(-3.0, 3.0).unwrap();
    let exact = run("exact", &Problem { inner, merit: absolute, regularizer }, 1e-10);
    let apart = exact.theta.iter().zip([-1.0, 0.0, 0.0, 2.0]).map(|(a, b)| (a - b).abs());
    assert!(apart.fold(0.0, f64::max) < 1e-8, "{:?}", exact.theta);
}

/// Units change nothing but units: rows a million times as large, and a loss a million times as
/// small.
#[test]
fn units_do_not_matter() {
    let (n, d) = (400, 5);
    let (rows, response) = regression(n, d, 7);
    let labels: Vec<f64> = response.iter().map(|y| y.signum()).collect();
    let plain = Problem {
        inner: Collapsed::from_rows(d, rows.clone(), vec![0.0; n]),
        merit: Hinge(labels.clone()),
        regularizer: Ridge::from_weight(0.01).unwrap(),
    };
    let scaled = Problem {
        inner: Collapsed::from_rows(
            d,
            rows.iter().map(|x| 1e6 * x).collect::<Vec<f64>>(),
            vec![0.0; n],
        ),
        merit: Weighted::new(Hinge(labels), vec![1e-6; n]).unwrap(),
        regularizer: Ridge::from_weight(0.01 * 1e12 * 1e-6).unwrap(),
    };
    let (plain, scaled) = (run("plain", &plain, 1e-9), run("scaled", &scaled, 1e-9));
    assert!((scaled.objective - 1e-6 * plain.objective).abs() <= 1e-8 * 1e-6);
}

#[test]
fn a_smooth_phi_is_refused() {
    let (problem, _) = crate::support::regression::Data::random(20, 3, 1.0, 1).ridge(0.1);
    let refused =
        AnyMethod::named("multipliers", &Choice::default(), &problem, &[0.0; 3]).unwrap_err();
    assert!(refused.to_string().contains("a phi with kinks"), "{refused}");
}

/// `max(u, 0) / (1 - alpha)`
struct Excess(f64);

impl ScalarMerit for Excess {
    fn phi(&self, _: usize, u: f64) -> f64 {
        u.max(0.0) / (1.0 - self.0)
    }
    fn slope(&self, _: usize, u: f64) -> f64 {
        if u > 0.0 { 1.0 / (1.0 - self.0) } else { 0.0 }
    }
    fn phi_star(&self, _: usize, w: f64) -> f64 {
        if (0.0..=1.0 / (1.0 - self.0)).contains(&w) { 0.0 } else { f64::INFINITY }
    }
    fn prox_phi_star(&self, _: usize, _: f64, w: f64) -> f64 {
        w.clamp(0.0, 1.0 / (1.0 - self.0))
    }
    fn max_curvature(&self) -> f64 {
        f64::INFINITY
    }
    fn max_slope(&self) -> f64 {
        1.0 / (1.0 - self.0)
    }
}

/// Conditional value at risk by Rockafellar and Uryasev, with x on the simplex and t free, which the
/// budget leaves out:
///
/// ```text
/// min over x, t of  t + mean_i max(-<r_i, x> - t, 0) / (1 - alpha)
/// ```
#[test]
fn conditional_value_at_risk_ends_where_clarabel_does() {
    let (n, d) = (654, 20);
    let returns = innermean_data::generate_factor_model(n, d, 1).values;
    for alpha in [0.9, 0.95, 0.99] {
        let rows: Vec<f64> =
            returns.chunks_exact(d).flat_map(|row| row.iter().map(|r| -r).chain([-1.0])).collect();
        let mut tilt = vec![0.0; d];
        tilt.push(1.0);
        let problem = Problem {
            inner: Collapsed::from_rows(d + 1, rows, vec![0.0; n]),
            merit: Excess(alpha),
            regularizer: Tilted::new(FreeTail::new(Simplex, d), tilt).unwrap(),
        };
        assert_eq!(auto::choose(&problem)[0].method, "multipliers");
        let found = run(&format!("CVaR {alpha}"), &problem, 1e-9);
        let mut program = Program::default();
        let x: Vec<usize> = (0..d).map(|_| program.variable(0.0, 0.0)).collect();
        let t = program.variable(0.0, 1.0);
        program.equal(x.iter().map(|&v| (v, 1.0)).collect(), 1.0);
        for &v in &x {
            program.at_most(vec![(v, -1.0)], 0.0);
        }
        for row in returns.chunks_exact(d) {
            let excess = program.variable(0.0, 1.0 / ((1.0 - alpha) * n as f64));
            program.at_most(vec![(excess, -1.0)], 0.0);
            let loss = x.iter().zip(row).map(|(&v, r)| (v, -r));
            program.at_most(loss.chain([(t, -1.0), (excess, -1.0)]).collect(), 0.0);
        }
        let least = problem.objective(&program.solve()[..=d]);
        let apart = (found.objective - least).abs();
        assert!(apart <= 1e-8 * least.abs(), "{alpha}: {} against {least}", found.objective);
    }
}

/// More coordinates than quadratic programs are solved in, of which the l1 norm keeps most at 0:
/// matrices are those of the others, and the end is where Clarabel's is.
#[test]
fn of_many_columns_those_that_move_have_a_matrix() {
    let (n, d, l1) = (900, 2200, 1.5e-3);
    let data = SparseData::random(n, d, 12, false, 5);
    let merit = Absolute::new(1.0).unwrap();
    let regularizer = L1::new(l1).unwrap();
    let problem = Problem { inner: data.sparse(), merit, regularizer };
    assert_eq!(auto::choose(&problem)[0].method, "multipliers");
    let found = run("l1", &problem, 1e-8);
    let moved = found.theta.iter().filter(|x| **x != 0.0).count();
    assert!(moved > 20 && moved < d / 2, "{moved} of {d} moved");
    let mut program = Program::default();
    let mut sides = |cost: f64| {
        let sides = [program.variable(0.0, cost), program.variable(0.0, cost)];
        for v in sides {
            program.at_most(vec![(v, -1.0)], 0.0);
        }
        sides
    };
    let x: Vec<[usize; 2]> = (0..d).map(|_| sides(l1)).collect();
    let errors: Vec<[usize; 2]> = (0..n).map(|_| sides(1.0 / n as f64)).collect();
    for (i, [over, under]) in errors.into_iter().enumerate() {
        let row = data.starts[i]..data.starts[i + 1];
        let terms = row.flat_map(|k| {
            let ([up, down], value) = (x[data.columns[k] as usize], data.values[k]);
            [(up, value), (down, -value)]
        });
        let terms = terms.chain([(over, -1.0), (under, 1.0)]).collect();
        program.equal(terms, data.targets[i]);
    }
    let ends = program.solve();
    let theta: Vec<f64> = x.iter().map(|&[up, down]| ends[up] - ends[down]).collect();
    let least = problem.objective(&theta);
    let apart = (found.objective - least).abs();
    assert!(apart <= 1e-7 * least.abs(), "{} against {least}", found.objective);
}

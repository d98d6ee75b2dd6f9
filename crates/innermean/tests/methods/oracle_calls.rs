//! The table of `docs/oracle-calls.md`, to the exact count.

use crate::support::toy::{Affine, SoftplusUnits};
use innermean::steps::Steps;
use innermean::{
    Calls, Facts, Inner, Method, Objective, Oracle, Portfolio, Problem, Ridge, Sample, Settings,
    Square, Svrpda1, Svrpda2,
};
use innermean_data::generate_factor_model;

/// A sample of every kind: `f = theta_0 a_i + theta_0 b_j`, or without the first term.
struct Pairs {
    n_x: usize,
    n_y: usize,
    facts: Facts,
}

impl Inner for Pairs {
    fn d(&self) -> usize {
        1
    }

    fn n_x(&self) -> usize {
        self.n_x
    }

    fn n_y(&self, _: usize) -> usize {
        self.n_y
    }

    fn facts(&self) -> Facts {
        self.facts
    }

    fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
        out[0] = theta[0]
            * if self.facts.sample == Sample::Shared { j as f64 } else { i as f64 + j as f64 };
    }

    fn add_jac_t(&self, _: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        let slope =
            if self.facts.sample == Sample::Shared { j as f64 } else { i as f64 + j as f64 };
        out[0] += c * w[0] * slope;
    }
}

fn settings(inner_iterations: usize, warmup_epochs: usize, single_loop: bool) -> Settings {
    Settings {
        warmup_epochs,
        single_loop,
        ..Settings::paper(Steps { alpha_theta: 1e-3, alpha_w: 1.0, inner_iterations }, 1)
    }
}

/// The calls of each of three outer iterations: (snapshot, inner steps).
fn calls<'p, M: Method>(problem: impl Into<Objective<'p>>, method: &M) -> Vec<(Calls, Calls)> {
    let problem = problem.into();
    let mut oracle = Oracle::new(problem);
    let mut state = method.init(&mut oracle, &vec![0.1; problem.inner.d()]);
    assert_eq!(oracle.calls, Calls::default(), "the start is free");
    (0..3)
        .map(|_| {
            let before = oracle.calls;
            method.outer(&mut oracle, &mut state);
            let between = oracle.calls;
            for _ in 0..method.inner_iterations(&state) {
                method.inner(&mut oracle, &mut state);
            }
            (between - before, oracle.calls - between)
        })
        .collect()
}

fn counted(f: usize, jacobian: usize, merit: usize) -> Calls {
    Calls { f: f as u64, jacobian: jacobian as u64, merit: merit as u64 }
}

fn with_square<F: Inner>(inner: F) -> Problem<F, Square, Ridge> {
    Problem {
        inner,
        merit: Square::new(1.0).expect("a weight"),
        regularizer: Ridge::from_weight(1.0).expect("a weight"),
    }
}

#[test]
fn affine_f_with_samples_of_its_own() {
    let problem = with_square(Affine::random(4, 2, 5, |i| 1 + i, 1));
    let pairs = 1 + 2 + 3 + 4 + 5;
    let m = 7;
    let first = counted(pairs, pairs, 5);
    let later = counted(pairs, pairs, 0);
    let one = calls(&problem, &Svrpda1(settings(m, 0, false)));
    assert_eq!(
        one,
        [
            (first, counted(2 * m, 0, 0)),
            (later, counted(2 * m, 0, 0)),
            (later, counted(2 * m, 0, 0))
        ]
    );
    let two = calls(&problem, &Svrpda2(settings(m, 0, false)));
    assert_eq!(
        two,
        [
            (first, counted(2 * m, m, 0)),
            (later, counted(2 * m, m, 0)),
            (later, counted(2 * m, m, 0))
        ]
    );
}

#[test]
fn f_that_is_not_affine() {
    let problem = with_square(SoftplusUnits::random(3, 4, |_| 6, 1));
    let m = 9;
    let (first, later) = (counted(24, 24, 4), counted(24, 24, 0));
    let one = calls(&problem, &Svrpda1(settings(m, 0, false)));
    assert_eq!(one[0], (first, counted(2 * m, 2 * m, 0)));
    assert_eq!(one[1], (later, counted(2 * m, 2 * m, 0)));
    let two = calls(&problem, &Svrpda2(settings(m, 0, false)));
    assert_eq!(two[0], (first, counted(2 * m, 3 * m, 0)));
    assert_eq!(two[2], (later, counted(2 * m, 3 * m, 0)));
}

#[test]
fn snapshots_of_shared_and_separable_samples() {
    let snapshot = |affine, sample| {
        let facts = if affine { Facts::affine() } else { Facts::default() };
        let problem = with_square(Pairs { n_x: 5, n_y: 8, facts: facts.with_sample(sample) });
        calls(&problem, &Svrpda2(settings(1, 0, false)))[1].0
    };
    for affine in [false, true] {
        assert_eq!(snapshot(affine, Sample::Own), counted(40, 40, 0));
        assert_eq!(snapshot(affine, Sample::Shared), counted(8, 8, 0));
    }
    assert_eq!(snapshot(false, Sample::Separable), counted(13, 13, 0));
    assert_eq!(snapshot(true, Sample::Separable), counted(13, 5, 0));
}

#[test]
fn the_portfolio_as_the_authors_count_it() {
    let n = 50;
    let problem = Portfolio::new(3, generate_factor_model(n, 3, 1).values)
        .and_then(|f| f.problem(Square::new(1.0)?, innermean::Unregularized))
        .expect("a portfolio");
    for (steps, per_outer) in [
        (calls(&problem, &Svrpda1(settings(n, 1, false))), 3 * n + 2 * n),
        (calls(&problem, &Svrpda2(settings(n, 1, false))), 3 * n + 3 * n),
    ] {
        // A warm-up epoch: no snapshot, one value and one product in each step, and duals that
        // start at zero.
        assert_eq!(steps[0], (Calls::default(), counted(n, n, 0)));
        for (snapshot, inner) in &steps[1..] {
            assert_eq!(*snapshot, counted(2 * n, n, 0));
            assert_eq!((*snapshot + *inner).total(), per_outer as u64);
        }
    }
}

#[test]
fn a_single_loop_takes_one_snapshot_and_one_value_a_step() {
    let problem = with_square(Affine::random(3, 1, 6, |_| 1, 1));
    let steps = calls(&problem, &Svrpda1(settings(6, 0, true)));
    assert_eq!(steps[0], (counted(6, 6, 6), counted(6, 0, 0)));
    assert_eq!(steps[1], (Calls::default(), counted(6, 0, 0)));
    assert_eq!(steps[2], (Calls::default(), counted(6, 0, 0)));
}

/// Automatic steps renew the duals at each snapshot, for `n_X` calls of phi; what they look at
/// besides comes from the same queries.
#[test]
fn automatic_steps_cost_the_duals_of_each_snapshot() {
    let automatic = Settings { automatic: true, ..settings(1, 0, false) };
    let affine = with_square(Affine::random(4, 2, 5, |i| 2 + i, 1));
    let pairs = 2 + 3 + 4 + 5 + 6;
    let curved = with_square(SoftplusUnits::random(3, 4, |_| 6, 1));
    for (what, (snapshot, inner)) in
        calls(&affine, &Svrpda1(automatic.clone())).into_iter().enumerate()
    {
        assert_eq!(snapshot, counted(pairs, pairs, 5), "{what}");
        assert_eq!(inner, counted(inner.f as usize, 0, 0), "{what}");
    }
    for (what, (snapshot, inner)) in calls(&curved, &Svrpda2(automatic)).into_iter().enumerate() {
        assert_eq!(snapshot, counted(24, 24, 4), "{what}");
        let m = inner.f as usize / 2;
        assert_eq!(inner, counted(2 * m, 3 * m, 0), "{what}");
    }
}

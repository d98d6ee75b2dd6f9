//! The methods that step along gradients of the composition: their estimators against the gradient
//! itself, and their answers against closed forms, an interior-point solver and the paper's
//! figures.

use crate::support::dense::{Symmetric, distance_squared, dot};
use crate::support::market::{Limits, Market, Risk, Task};
use crate::support::toy::{Affine, SoftplusUnits, least_squares, softplus_of_softplus};
use innermean::draws::Stream;
use innermean::methods::{ascvrg::Ascvrg, c_saga::CSaga, comp_svrg1::CompSvrg1};
use innermean::methods::{comp_svrg2::CompSvrg2, vrsc_pg::VrscPg};
use innermean::shared::{Picked, shared_form};
use innermean::{
    AnyMethod, BoxedProblem, Choice, Driver, Facts, Inner, Method, Objective, Oracle, Problem,
    Solution, Square, Status, Stop, Unregularized,
};
use std::num::NonZeroU64;

const LINEAR: [&str; 5] = ["comp-svrg1", "comp-svrg2", "vrsc-pg", "ascvrg", "c-saga"];

pub(super) fn run(
    problem: &BoxedProblem,
    name: &str,
    choice: &Choice,
    start: &[f64],
    stop: Stop,
) -> Solution {
    let method = AnyMethod::named(name, choice, problem, start).expect("a method for this problem");
    method.run(&Driver { stop, ..Driver::default() }, problem, start, &mut ())
}

/// `theta` after `steps` steps from `start`, before the driver would take an average.
fn after<'p, M: Method>(
    problem: impl Into<Objective<'p>>,
    method: &M,
    start: &[f64],
    steps: usize,
) -> Vec<f64> {
    let problem = problem.into();
    let mut oracle = Oracle::new(problem);
    let mut state = method.init(&mut oracle, start);
    method.outer(&mut oracle, &mut state);
    for _ in 0..steps {
        method.inner(&mut oracle, &mut state);
    }
    method.theta(&state).to_vec()
}

const ALPHA: f64 = 0.05;

fn gradient_step(problem: &BoxedProblem, theta: &[f64]) -> Vec<f64> {
    let mut gradient = vec![0.0; theta.len()];
    problem.gradient(theta, &mut gradient);
    let mut next = theta.to_vec();
    problem.regularizer.step(ALPHA, &gradient, &mut next);
    next
}

/// `theta` after `steps` steps of each method with a given seed.
fn each_after(
    problem: &BoxedProblem,
    start: &[f64],
    seed: u64,
    steps: usize,
) -> Vec<(&'static str, Vec<f64>)> {
    let (alpha_theta, inner_iterations, batch, jacobian_batch) = (ALPHA, 50, 2, 2);
    let one = CompSvrg1 { alpha_theta, inner_iterations, batch, guarded: false, seed };
    let two =
        CompSvrg2 { alpha_theta, inner_iterations, batch, jacobian_batch, guarded: false, seed };
    let vrsc = VrscPg {
        alpha_theta,
        inner_iterations,
        batch,
        jacobian_batch,
        outer_batch: 3,
        guarded: false,
        seed,
    };
    let form = shared_form(&problem.inner).expect("equally many samples");
    let merit = Picked::new(form, &problem.merit, problem.inner.ell());
    let shared =
        Objective { inner: merit.form(), merit: &merit, regularizer: &problem.regularizer };
    let c_saga = |outer_batch| CSaga { alpha_theta, batch, outer_batch, guarded: false, seed };
    vec![
        ("comp-svrg1", after(problem, &one, start, steps)),
        ("comp-svrg2", after(problem, &two, start, steps)),
        ("vrsc-pg", after(problem, &vrsc, start, steps)),
        ("c-saga", after(shared, &c_saga(None), start, steps)),
        ("c-saga with drawn terms", after(shared, &c_saga(Some(2)), start, steps)),
    ]
}

/// Jacobians as matrices have the products with unit vectors as rows, also those of the stacked
/// form, which has shorter ways to them.
#[test]
fn jacobians_are_made_of_products() {
    let problems: [Box<dyn Inner>; 2] = [
        Box::new(Affine::random(4, 2, 3, |_| 5, 1)),
        Box::new(SoftplusUnits::random(4, 3, |_| 5, 1)),
    ];
    for f in &problems {
        let form = shared_form(f).expect("equally many samples");
        let (d, theta) = (4, [0.3, -0.2, 0.5, 0.1]);
        let ell = form.ell();
        let mut one = vec![f64::NAN; ell * d];
        let mut mean = vec![0.0; ell * d];
        for j in 0..5 {
            (&*form as &dyn Inner).jacobian(&theta, 0, j, &mut vec![f64::NAN; ell], &mut one);
            for (c, row) in one.chunks_exact(d).enumerate() {
                let (mut unit, mut product) = (vec![0.0; ell], vec![0.0; d]);
                unit[c] = 1.0;
                form.add_jac_t(&theta, 0, j, &unit, 1.0, &mut product);
                assert_eq!(row, product);
            }
            mean.iter_mut().zip(&one).for_each(|(mean, one)| *mean += one / 5.0);
        }
        // The first alone, and all of them.
        for terms in [1, form.n_x()] {
            let mut jacobians = vec![f64::NAN; terms * ell * d];
            (&*form as &dyn Inner).mean_jacobians(&theta, &mut jacobians);
            for jacobian in jacobians.chunks_exact(ell * d) {
                assert!(distance_squared(jacobian, &mean) < 1e-28);
            }
        }
    }
}

/// At the reference point, or with tables just filled, nothing is left to chance.
#[test]
fn the_first_step_is_a_gradient_step() {
    let start = [0.3, -0.2, 0.5, 0.1];
    for problem in [
        least_squares(Affine::random(4, 2, 7, |_| 5, 1), 1.0, 0.1).0.boxed(),
        softplus_of_softplus(SoftplusUnits::random(4, 7, |_| 5, 1), 0.1).0.boxed(),
    ] {
        let expected = gradient_step(&problem, &start);
        for (name, theta) in each_after(&problem, &start, 1, 1) {
            assert!(
                distance_squared(&theta, &expected) < 1e-28,
                "{name}: {theta:?}, not {expected:?}"
            );
        }
        // ASCVRG's first step is eta sqrt(N / 2N).
        let eta = ALPHA * 2.0_f64.sqrt();
        let method = Ascvrg {
            alpha_theta: eta,
            inner_iterations: 50,
            batch: 2,
            jacobian_batch: 2,
            guarded: false,
            seed: 1,
        };
        let theta = after(&problem, &method, &start, 1);
        assert!(distance_squared(&theta, &expected) < 1e-28, "{theta:?}, not {expected:?}");
    }
}

/// For affine f and a square the estimators have no bias: over many seeds the second step is a
/// gradient step on the average.
#[test]
fn the_second_step_is_a_gradient_step_on_the_average() {
    let start = [0.3, -0.2, 0.5, 0.1];
    // Without g, whose prox is linear here but scales the direction.
    let (problem, _) = least_squares(Affine::random(4, 1, 7, |_| 5, 1), 1.0, 0.1);
    let Problem { inner, merit, .. } = problem;
    let problem = Problem { inner, merit, regularizer: Unregularized }.boxed();
    let expected = gradient_step(&problem, &gradient_step(&problem, &start));
    let seeds = 1000;
    let mut sums = vec![[[0.0; 2]; 4]; 5];
    let mut names = Vec::new();
    for seed in 0..seeds {
        for (m, (name, theta)) in each_after(&problem, &start, seed, 2).into_iter().enumerate() {
            if seed == 0 {
                names.push(name);
            }
            for (sum, (theta, expected)) in sums[m].iter_mut().zip(theta.iter().zip(&expected)) {
                let off = theta - expected;
                sum[0] += off / seeds as f64;
                sum[1] += off * off / seeds as f64;
            }
        }
    }
    for (name, sums) in names.iter().zip(&sums) {
        for [mean, square] in sums {
            let deviation = (square / seeds as f64).sqrt();
            assert!(square.sqrt() > 1e-6, "{name}: there is noise");
            assert!(mean.abs() < 5.0 * deviation, "{name}: {mean} with a deviation of {deviation}");
        }
    }
}

/// `f_theta(x_i, y_ij) = <y_ij, theta> - b_i` for groups of rows that scatter widely around a
/// centre of their own.
fn scattered_groups() -> (BoxedProblem, Vec<f64>) {
    struct Groups(Vec<Vec<Vec<f64>>>, Vec<f64>);
    impl Inner for Groups {
        fn d(&self) -> usize {
            5
        }
        fn n_x(&self) -> usize {
            self.0.len()
        }
        fn n_y(&self, i: usize) -> usize {
            self.0[i].len()
        }
        fn facts(&self) -> Facts {
            Facts::affine()
        }
        fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
            out[0] = dot(&self.0[i][j], theta) - self.1[i];
        }
        fn add_jac_t(&self, _: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
            out.iter_mut().zip(&self.0[i][j]).for_each(|(out, y)| *out += c * w[0] * y);
        }
    }
    let mut draws = Stream::new(5, 0);
    let mut symmetric = || 2.0 * draws.unit() - 1.0;
    let (n_x, n_y, noise) = (60_usize, 20_usize, 4.0);
    let (mut rows, mut b) = (Vec::new(), Vec::new());
    let (mut matrix, mut right) = (Symmetric::scaled_identity(5, 0.0), vec![0.0; 5]);
    for i in 0..n_x {
        let centre: Vec<f64> = (0..5).map(|_| symmetric()).collect();
        let group: Vec<Vec<f64>> =
            (0..n_y).map(|_| centre.iter().map(|c| c + noise * symmetric()).collect()).collect();
        let mean: Vec<f64> =
            (0..5).map(|l| group.iter().map(|row| row[l]).sum::<f64>() / n_y as f64).collect();
        b.push(symmetric());
        matrix.add_outer(2.0 / n_x as f64, &mean);
        right.iter_mut().zip(&mean).for_each(|(right, y)| *right += 2.0 / n_x as f64 * b[i] * y);
        rows.push(group);
    }
    let theta = matrix.solve(&right);
    let merit = Square::new(1.0).unwrap();
    (Problem { inner: Groups(rows, b), merit, regularizer: Unregularized }.boxed(), theta)
}

#[test]
fn default_settings_reach_closed_forms_linearly() {
    let (ell_2, saddle_2) = least_squares(Affine::random(6, 2, 40, |_| 8, 3), 1.0, 0.02);
    let (softplus, saddle) = softplus_of_softplus(SoftplusUnits::random(5, 30, |_| 12, 2), 0.02);
    let (groups, theta) = scattered_groups();
    let problems = [
        ("least squares", ell_2.boxed(), saddle_2.theta),
        ("softplus of softplus", softplus.boxed(), saddle.theta),
        ("scattered groups", groups, theta),
    ];
    for (what, problem, theta) in &problems {
        let start = vec![1.0; theta.len()];
        let optimum = problem.objective(theta);
        let from = problem.objective(&start) - optimum;
        for name in LINEAR {
            let calls = [1e-5, 1e-10].map(|gap| {
                let target_objective = Some(optimum + gap * from);
                let stop = Stop {
                    target_objective,
                    tolerance: None,
                    max_calls: Some(20_000_000),
                    max_outer: None,
                    ..Stop::default()
                };
                let solution = run(problem, name, &Choice::seeded(2), &start, stop);
                let reached = (solution.objective - optimum) / from;
                assert_eq!(
                    solution.status,
                    Status::TargetReached,
                    "{what} by {name}: {reached:.1e}"
                );
                solution.calls.total()
            });
            println!("{what} by {name}: {calls:?} calls");
            // The second five decades cost about what the first five did.
            assert!(calls[1] < 5 * calls[0], "{what} by {name}: {calls:?} calls");
        }
    }
}

/// With the prox of g in each step, the optimum under constraints and penalties is that of an
/// interior-point solver.
#[test]
fn constraints_and_penalties_agree_with_an_interior_point_solver() {
    let market = Market::generated(300, 5, 1);
    let tasks = [
        ("long-only variance", Task::new(Risk::Variance(1.0), Limits::LongOnly)),
        ("long-only semivariance", Task::new(Risk::Semivariance(2.0), Limits::LongOnly)),
        ("l1 variance", Task { l1: 0.01, ..Task::new(Risk::Variance(1.0), Limits::Free) }),
        ("box", Task::new(Risk::Variance(1.0), Limits::Between(-0.02, 0.02))),
    ];
    for (what, task) in &tasks {
        let optimum = market.objective(task, &market.by_interior_point(task));
        let problem = market.problem(task).boxed();
        for name in LINEAR {
            let stop = Stop { tolerance: Some(1e-8), ..Stop::default() };
            let solution = run(&problem, name, &Choice::seeded(1), &[0.2; 5], stop);
            let off = market.objective(task, &solution.theta) - optimum;
            assert_eq!(solution.status, Status::Solved, "{what} by {name}: off by {off:.1e}");
            assert!(
                task.excess(&solution.theta) < 1e-9 && off.abs() < 3e-8,
                "{what} by {name}: {off:.1e}"
            );
        }
    }
}

/// Calls until the objective is within 1e-6 of the optimum, from the start and with the settings of
/// the paper's figures.
fn calls_as_in_the_figures(
    market: &Market,
    problem: &BoxedProblem,
    name: &str,
    choice: &Choice,
) -> f64 {
    let mut uniform = Stream::new(choice.seed, 1000);
    let start: Vec<f64> = (0..market.d).map(|_| uniform.unit()).collect();
    let optimum = -0.5 * dot(&market.mean(), &market.closed_form(1.0, 0.0));
    let stop = Stop { tolerance: None, target_objective: Some(optimum + 1e-6), ..Stop::default() };
    let choice = Choice { inner_iterations: Some(market.n()), ..*choice };
    let driver = Driver {
        stop,
        evaluate_every: NonZeroU64::new(market.n() as u64 / 4),
        ..Driver::default()
    };
    let method = AnyMethod::named(name, &choice, problem, &start).unwrap();
    let solution = method.run(&driver, problem, &start, &mut ());
    assert_eq!(solution.status, Status::TargetReached, "{} by {name}", market.name);
    solution.calls.total() as f64
}

/// Over all 18 portfolios the geometric means are 3.8 and 1.9, in the figures about 3.6 and 2.0;
/// here are five of them.
#[test]
fn comp_svrg_needs_so_many_times_the_calls_of_svrpda_as_in_the_figures() {
    let markets = Market::real();
    if markets.is_empty() {
        return println!(
            "skipped: the 18 real portfolios are not in shared/data/portfolio beside the repository"
        );
    }
    let mut ratios = [1.0_f64; 2];
    for market in markets.iter().step_by(4) {
        let problem =
            market.portfolio().problem(Square::new(1.0).unwrap(), Unregularized).unwrap().boxed();
        let plain = Choice::seeded(0);
        let with = |alpha_theta| Choice { alpha_theta: Some(alpha_theta), ..plain };
        let paper = Choice { alpha_w: Some(100.0), warmup_epochs: Some(1), ..with(3e-4) };
        let base = calls_as_in_the_figures(market, &problem, "svrpda1", &paper);
        let one = Choice { batch: Some(6), ..with(3e-4) };
        let two = Choice { batch: Some(3), jacobian_batch: Some(3), ..with(4e-4) };
        let times = [("comp-svrg1", one), ("comp-svrg2", two)]
            .map(|(name, choice)| calls_as_in_the_figures(market, &problem, name, &choice) / base);
        println!("{}: {:.2} and {:.2} times the calls", market.name, times[0], times[1]);
        for (ratio, times) in ratios.iter_mut().zip(times) {
            *ratio *= times.powf(1.0 / 5.0);
        }
    }
    println!("geometric means {:.2} and {:.2}", ratios[0], ratios[1]);
    assert!((3.0..4.5).contains(&ratios[0]) && (1.5..2.4).contains(&ratios[1]), "{ratios:?}");
}

/// The gap, averaged over seeds, falls over two decades of steps at least like the power that
/// theory has for a strongly convex P.
#[test]
fn sublinear_methods_fall_as_their_theory_says() {
    let (least_squares, at_least_squares) =
        least_squares(Affine::random(4, 1, 25, |_| 10, 3), 1.0, 0.1);
    let (softplus, at_softplus) =
        softplus_of_softplus(SoftplusUnits::random(3, 20, |_| 10, 2), 0.2);
    let market = Market::generated(300, 5, 1);
    let task = Task { l2: 0.5, ..Task::new(Risk::Variance(1.0), Limits::Free) };
    let problems = [
        ("least squares", least_squares.boxed(), at_least_squares.theta),
        ("softplus of softplus", softplus.boxed(), at_softplus.theta),
        ("portfolio", market.problem(&task).boxed(), market.closed_form(1.0, 0.5)),
    ];
    for (what, problem, theta) in &problems {
        let start = vec![1.0; theta.len()];
        let optimum = problem.objective(theta);
        let pass = problem.inner.n_x() as u64;
        for (name, power) in [("scgd", 0.5), ("asc-pg", 4.0 / 9.0)] {
            let seeds = 4;
            let mut gaps = [0.0; 2];
            for seed in 0..seeds {
                let stop = Stop { tolerance: None, max_outer: Some(1000), ..Stop::default() };
                let trace = run(problem, name, &Choice::seeded(seed), &start, stop).trace;
                // After 10 and 1000 passes, each with the gaps around it.
                for (gap, end) in gaps.iter_mut().zip([10_usize, 1000]) {
                    let around = &trace[end * 4 / 5..=end];
                    let mean = around.iter().map(|r| r.objective - optimum).sum::<f64>()
                        / around.len() as f64;
                    *gap += mean / seeds as f64;
                }
                assert_eq!(trace[1].inner, pass);
            }
            let start_gap = problem.objective(&start) - optimum;
            println!("{what} by {name}: {start_gap:.1e}, {:.1e}, {:.1e}", gaps[0], gaps[1]);
            assert!(gaps[0] < 0.1 * start_gap, "{what} by {name}: {gaps:?} of {start_gap}");
            assert!(gaps[1] < 1.5 * gaps[0] * 100.0_f64.powf(-power), "{what} by {name}: {gaps:?}");
        }
    }
}

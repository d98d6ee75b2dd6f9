//! The normal equations against closed forms, whatever structure leads to them; what is chosen for
//! whom; and how a choice that fails is made good.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use crate::support::chain::Chain;
use crate::support::dense::{Symmetric, dot};
use crate::support::market::{Limits, Market, Risk, Task};
use crate::support::process;
use crate::support::regression::Data;
use crate::support::sparse::SparseData;
use crate::support::toy::{self, Affine};
use innermean::auto::{self, Candidate, GaveUp};
use innermean::draws::Stream;
use innermean::methods::direct::Direct;
use innermean::methods::gradient_descent::GradientDescent;
use innermean::problems::linear::{logistic_regression, ridge_regression};
use innermean::{
    Absolute, AnyMethod, Bags, Choice, Collapsed, Driver, Facts, FreeTail, Groups, Inner, Link,
    Listed, Logistic, Merit, Objective, Observer, Outcome, Portfolio, Problem, QuadraticForm,
    Record, Ridge, Solution, Square, Status, Stop, Unregularized, Weighted,
};

/// f with its averages out of sight.
struct Hidden<F>(F);

impl<F: Inner> Inner for Hidden<F> {
    fn d(&self) -> usize {
        self.0.d()
    }

    fn ell(&self) -> usize {
        self.0.ell()
    }

    fn n_x(&self) -> usize {
        self.0.n_x()
    }

    fn n_y(&self, i: usize) -> usize {
        self.0.n_y(i)
    }

    fn facts(&self) -> Facts {
        Facts::affine()
    }

    fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
        self.0.value(theta, i, j, out);
    }

    fn add_jac_t(&self, theta: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        self.0.add_jac_t(theta, i, j, w, c, out);
    }
}

fn driver(tolerance: f64) -> Driver<'static> {
    Driver { stop: Stop { tolerance: Some(tolerance), ..Stop::default() }, ..Driver::default() }
}

/// By the normal equations, from a start of no merit.
fn direct<'p>(problem: impl Into<Objective<'p>>) -> Solution {
    let problem = problem.into();
    let start: Vec<f64> = (0..problem.inner.d()).map(|l| (l as f64).cos()).collect();
    let method = Direct::choose(&Choice::default(), problem, &start).unwrap();
    let solution = driver(1e-9).run(problem, &method, &start, &mut ());
    assert!(
        solution.status.is_solved() && solution.outer <= 3,
        "{} {}",
        solution.status,
        solution.outer
    );
    solution
}

fn assert_close(theta: &[f64], exact: &[f64], relative: f64) {
    let size = dot(exact, exact).sqrt();
    let apart = crate::support::dense::distance_squared(theta, exact).sqrt();
    assert!(apart <= relative * size, "{apart:e} apart, of {size:e}");
}

#[test]
fn the_normal_equations_give_the_closed_form() {
    // The rows' own deviations, centred on the way.
    let market = Market::generated(300, 6, 1);
    let task = Task { l2: 0.1, ..Task::new(Risk::Variance(2.0), Limits::Free) };
    assert_close(&direct(&market.problem(&task)).theta, &market.closed_form(2.0, 0.1), 1e-9);
    // Averages at hand.
    let mdp = innermean_data::generate_mdp(&innermean_data::MdpOptions {
        states: 40,
        d: 4,
        ..Default::default()
    });
    assert_close(&direct(&process::problem(&mdp)).theta, &process::normal_equations(&mdp), 1e-8);
    // Averages that have to be made, ell above 1, groups of unequal size.
    let (problem, saddle) =
        toy::least_squares(Affine::random(5, 2, 20, |i| 1 + i % 4, 3), 0.7, 0.2);
    assert_close(&direct(&problem).theta, &saddle.theta, 1e-9);
    // More columns than rows, and many of unlike scale.
    for (n, d, spread) in [(200, 10, 1e4), (12, 40, 1.0), (30, 31, 1.0)] {
        let (problem, exact) = Data::random(n, d, spread, 5).ridge(0.01);
        assert_close(&direct(&problem).theta, &exact, 1e-6);
    }
    // One quadratic form.
    let chain = Chain::random(4, 60, 0.5, 1.0, 2);
    let problem = chain.mspbe().problem(0.3).unwrap();
    assert_close(&direct(&problem).theta, &chain.minimiser(0.3), 1e-8);
}

/// `sum_i weight_i (<a_i, theta> - b_i)^2 / n` with an intercept that is not penalised, dense and
/// sparse.
#[test]
fn weights_intercepts_and_sparse_rows_are_solved_as_well() {
    let data = SparseData::random(80, 9, 3, true, 4);
    let (n, d) = (80, data.d);
    let weights: Vec<f64> = (0..n).map(|i| 0.5 + f64::from(i % 5)).collect();
    let mut matrix = Symmetric::scaled_identity(d, 0.0);
    (0..d - 1).for_each(|l| matrix.add_entry(l, l, 0.3));
    let mut right = vec![0.0; d];
    for (i, weight) in weights.iter().enumerate() {
        let own = data.starts[i]..data.starts[i + 1];
        let mut row = vec![0.0; d];
        own.for_each(|k| row[data.columns[k] as usize] = data.values[k]);
        matrix.add_outer(2.0 * weight / f64::from(n), &row);
        right
            .iter_mut()
            .zip(&row)
            .for_each(|(r, a)| *r += 2.0 * weight / f64::from(n) * a * data.targets[i]);
    }
    let exact = matrix.solve(&right);
    for inner in [data.dense(), data.sparse()] {
        let merit = Weighted::new(Square::new(1.0).unwrap(), weights.clone()).unwrap();
        let regularizer = FreeTail::new(Ridge::from_weight(0.3).unwrap(), d - 1);
        assert_close(&direct(&Problem { inner, merit, regularizer }).theta, &exact, 1e-9);
    }
}

/// Whether averages are at hand, have to be made, or are no averages at all changes nothing but the
/// counts.
#[test]
fn structure_never_changes_the_answer() {
    let market = Market::generated(60, 5, 2);
    let task = Task::new(Risk::Variance(1.0), Limits::Free);
    let given = market.problem(&task);
    let hidden = Problem {
        inner: Hidden(market.portfolio()),
        merit: given.merit,
        regularizer: given.regularizer.clone(),
    };
    let collapsed = Problem {
        inner: Collapsed::new(&given.inner, &[0.0; 5]),
        merit: given.merit,
        regularizer: given.regularizer.clone(),
    };
    let expected = direct(&given);
    for solution in [direct(&hidden), direct(&collapsed)] {
        assert_close(&solution.theta, &expected.theta, 1e-10);
    }
    // Every pair once for its value and once for its product; the steps then ask phi alone.
    let found = direct(&hidden);
    assert_eq!((found.calls.f, found.calls.jacobian), (3600, 3600));
    assert_eq!(found.calls.merit, 60 * (found.outer + 1));
    // n f' for the matrix, and 3 n for each gradient, of which the start has one.
    assert_eq!(expected.calls.total(), 60 + 3 * 60 * (expected.outer + 1));
}

/// Twice the same column: of all minimisers the one nearest to the start.
#[test]
fn flat_directions_stay_where_they_are() {
    let base = Data::random(50, 3, 1.0, 7);
    let (_, exact) = base.ridge(0.0);
    let rows: Vec<f64> =
        base.rows.iter().flat_map(|row| [row[0], row[1], row[2], row[0], 0.0]).collect();
    let problem = ridge_regression(5, rows, &base.response, 0.0).unwrap();
    let found = direct(&problem);
    // (1, cos 3) moved along (1, 1) until the sum is that of the single column; what nothing looks
    // at has not moved.
    let move_by = 0.5 * (exact[0] - 1.0 - 3_f64.cos());
    let expected = [1.0 + move_by, exact[1], exact[2], 3_f64.cos() + move_by, 4_f64.cos()];
    assert_close(&found.theta, &expected, 1e-6);
    // Fewer rows than columns, and no ridge: the rows are met exactly.
    let wide = Data::random(8, 20, 1.0, 3);
    let problem = ridge_regression(20, wide.rows.concat(), &wide.response, 0.0).unwrap();
    let outcome = auto::solve(&driver(1e-9), &problem, &[0.0; 20], &mut (), 0).unwrap();
    assert_eq!((outcome.solution.status, outcome.method.info().name), (Status::Solved, "direct"));
    assert!(outcome.solution.objective < 1e-12, "{}", outcome.solution.objective);
}

fn first<'p>(problem: impl Into<Objective<'p>>) -> &'static str {
    let problem = problem.into();
    let candidates = auto::choose(problem);
    assert!(candidates.iter().all(|c| !c.reason.is_empty() && !c.reason.ends_with('.')));
    candidates[0].method
}

#[test]
fn the_structure_decides() {
    let market = Market::generated(50, 4, 1);
    let task = |risk, limits| market.problem(&Task::new(risk, limits));
    assert_eq!(first(&task(Risk::Variance(1.0), Limits::Free)), "direct");
    assert_eq!(first(&task(Risk::Variance(1.0), Limits::LongOnly)), "direct");
    assert_ne!(first(&task(Risk::Semivariance(1.0), Limits::Free)), "direct");
    assert_eq!(first(&task(Risk::Absolute(1.0), Limits::LongOnly)), "multipliers");
    let data = Data::random(40, 3, 1.0, 1);
    assert_eq!(first(&data.ridge(0.1).0), "direct");
    assert_eq!(first(&data.logistic_problem(0.1)), "newton");
    // Fewer linear predictors than many coordinates, unless a proof costs as much as a Newton step.
    assert_eq!(first(&Data::random(60, 1000, 1.0, 1).logistic_problem(0.1)), "lbfgs");
    assert_eq!(first(&Data::random(120, 200, 1.0, 1).logistic_problem(0.1)), "newton");
    assert_eq!(first(&Data::random(20, 30, 1.0, 1).logistic_problem(0.1)), "newton");
    // Few terms with many samples each, and many with few.
    let softplus = |n_x: usize, n_y: usize| {
        toy::softplus_of_softplus(toy::SoftplusUnits::random(2, n_x, |_| n_y, 1), 0.1).0
    };
    assert_eq!(first(&softplus(3, 20_000)), "newton");
    assert_eq!(first(&softplus(300, 3)), "newton");
    let chain = Chain::random(4, 60, 0.5, 1.0, 2);
    assert_eq!(first(&chain.mspbe().problem(0.3).unwrap()), "direct");
}

/// Keeps what it is told.
#[derive(Default)]
struct Told(Vec<Record>);

impl Observer for Told {
    fn record(&mut self, record: &Record, _: &[f64]) -> ControlFlow<()> {
        self.0.push(*record);
        ControlFlow::Continue(())
    }
}

/// What is chosen, after a method whose steps lead nowhere.
fn after_a_crawl(problem: &Problem<Collapsed, Logistic, Ridge>) -> auto::Plan {
    let mut plan = auto::first(problem, &[0.0; 4], 0).unwrap();
    plan.rest.insert(0, plan.candidate.clone());
    plan.candidate = Candidate { method: "gd", reason: "a test of patience".to_owned() };
    plan.method = AnyMethod::GradientDescent(GradientDescent { alpha_theta: 1e-12 });
    plan
}

#[test]
fn what_stalls_is_made_good_by_the_next_in_one_run() {
    let (problem, exact) = Data::random(60, 4, 1.0, 2).logistic(0.1);
    let mut told = Told::default();
    let plan = after_a_crawl(&problem);
    let outcome = plan.run(&driver(1e-10), &problem, &[0.0; 4], &mut told);
    let Outcome { solution, method, fallbacks, .. } = outcome;
    assert_eq!(solution.status, Status::Solved);
    assert_close(&solution.theta, &exact, 1e-4);
    assert_eq!(fallbacks.len(), 1);
    assert_eq!((fallbacks[0].candidate.method, fallbacks[0].gave_up), ("gd", GaveUp::Stalled));
    assert_ne!(method.info().name, "gd");
    // One trace: nothing is counted twice, and nothing falls back.
    assert_eq!(told.0, solution.trace);
    for pair in solution.trace.windows(2) {
        assert!(
            pair[1].outer >= pair[0].outer
                && pair[1].inner > pair[0].inner
                && pair[1].rows > pair[0].rows
        );
        assert!(
            pair[1].calls.total() > pair[0].calls.total() && pair[1].seconds >= pair[0].seconds
        );
    }
    let last = solution.trace.last().unwrap();
    assert_eq!((last.outer, last.calls), (solution.outer, solution.calls));
    // The limits are those of the whole run.
    let stop = Stop { max_outer: Some(last.outer - 1), tolerance: Some(1e-10), ..Stop::default() };
    let short = Driver { stop, ..Driver::default() };
    let cut = after_a_crawl(&problem).run(&short, &problem, &[0.0; 4], &mut ()).solution;
    assert_eq!((cut.status, cut.outer), (Status::MaxOuter, last.outer - 1));
}

#[test]
fn what_has_no_minimum_diverges_and_an_interrupt_is_heard() {
    // Three days of five assets: some portfolio has return and no risk.
    let portfolio = Portfolio::new(5, Market::generated(3, 5, 1).rows.concat()).unwrap();
    let problem = portfolio.problem(Square::new(1.0).unwrap(), Unregularized).unwrap();
    let outcome = auto::solve(&driver(1e-6), &problem, &[0.0; 5], &mut (), 0).unwrap();
    assert_eq!(outcome.solution.status, Status::Unbounded);
    // Along the direction, P falls as fast as at first for ever.
    let direction = outcome.solution.endless.clone().expect("a direction");
    let at = |t: f64| problem.objective(&direction.iter().map(|p| t * p).collect::<Vec<_>>());
    assert!(
        at(1.0) < 0.0 && (at(1e6) / at(1.0) / 1e6 - 1.0).abs() < 1e-6,
        "{} {}",
        at(1.0),
        at(1e6)
    );
    assert!(outcome.solution.theta.iter().all(|t| t.is_finite()));
    let flag = AtomicBool::new(true);
    let interrupted = Driver { interrupt: Some(&flag), ..driver(1e-300) };
    let (problem, _) = Data::random(60, 4, 1.0, 2).logistic(0.1);
    let outcome = auto::solve(&interrupted, &problem, &[0.0; 4], &mut (), 0).unwrap();
    assert_eq!(outcome.solution.status, Status::Interrupted);
}

/// Nothing gets below rounding: the run ends, and says so.
#[test]
fn rounding_ends_a_run() {
    let (problem, exact) = Data::random(60, 4, 1.0, 2).ridge(0.1);
    let outcome = auto::solve(&driver(1e-300), &problem, &[0.0; 4], &mut (), 0).unwrap();
    assert!(matches!(outcome.solution.status, Status::Stalled | Status::Solved));
    assert!(outcome.solution.outer < 100 && outcome.fallbacks.is_empty());
    assert_close(&outcome.solution.theta, &exact, 1e-12);
}

#[test]
fn the_shortest_way_is_a_line() {
    let rows = vec![1.0, 2.0, 0.5, -1.0, 3.0, 0.25];
    let problem = logistic_regression(2, rows.clone(), vec![1.0, -1.0, 1.0], 0.1).unwrap();
    let solution = innermean::solve(&problem, &[0.0; 2]).unwrap();
    assert!(solution.status.is_solved());
    let kinked = Problem {
        inner: Collapsed::from_rows(2, rows, vec![-1.0, 2.0, 0.5]),
        merit: Absolute::new(1.0).unwrap(),
        regularizer: Ridge::from_weight(1.0).unwrap(),
    };
    assert!(innermean::solve(&kinked, &[0.5; 2]).unwrap().status.is_solved());
    let form = QuadraticForm::new(vec![2.0]).unwrap();
    let one = Problem {
        inner: Collapsed::from_rows(1, vec![2.0], vec![-6.0]),
        merit: form,
        regularizer: Unregularized,
    };
    assert_eq!(innermean::solve(&one, &[0.0]).unwrap().theta, [3.0]);
}

/// Curved averages: for kinks the prox-linear method, as nothing else is fast there; without them
/// where there are many coordinates and many samples.
#[test]
fn curved_averages_are_linearised() {
    let first = |(groups, rows, d): (usize, usize, usize), kinks: bool| {
        let mut draws = Stream::new(1, 0);
        let table: Vec<f64> = (0..groups * rows * d).map(|_| draws.unit() - 0.5).collect();
        let starts = (0..=groups).map(|i| i * rows).collect();
        let all = Groups::new(d, table, starts, false).unwrap();
        let inner = Bags::with_targets(all, Link::Logistic, vec![0.4; groups]).unwrap();
        let merit: Box<dyn Merit> = if kinks {
            Box::new(Absolute::new(1.0).unwrap())
        } else {
            Box::new(Square::new(1.0).unwrap())
        };
        let regularizer = Ridge::from_weight(1e-6).unwrap();
        let problem = Problem { inner, merit, regularizer };
        let chosen = auto::choose(&problem)[0].method;
        if groups * rows * d < 10_000 {
            // And it goes down.
            let stop = Stop { max_outer: Some(30), ..Stop::default() };
            let driver = Driver { stop, ..Driver::default() };
            let found = auto::solve(&driver, &problem, &vec![0.0; d], &mut (), 1).unwrap().solution;
            assert!(found.objective < problem.objective(&vec![0.0; d]));
        }
        chosen
    };
    assert_eq!(first((5, 4, 3), true), "prox-linear");
    assert_eq!(first((5, 4, 300), true), "prox-linear");
    assert_eq!(first((5, 40, 300), false), "prox-linear");
    assert_ne!(first((5, 4, 300), false), "prox-linear");
    assert_ne!(first((5, 40, 30), false), "prox-linear");
}

//! SPDC on the averaged rows of an affine f.

use crate::support::checks::{calls, counted, resumes};
use crate::support::dense::distance_squared;
use crate::support::market::{Limits, Market, Risk, Task};
use crate::support::toy::{Affine, Softplus, SoftplusUnits, least_squares};
use innermean::draws::Stream;
use innermean::methods::spdc::Spdc;
use innermean::{
    AnyMethod, Calls, Choice, ChoiceError, Collapsed, Driver, Inner, Listed, Measure, Merit,
    Method, Oracle, Passes, Problem, Reference, Ridge, Square, Stop, Unregularized,
};

type Rows<P> = Problem<Collapsed, P, Ridge>;

fn rows<P: Merit>(f: &Affine, merit: P, lambda: f64) -> Rows<P> {
    let inner = Collapsed::new(f, &vec![0.0; f.d()]);
    Problem { inner, merit, regularizer: Ridge::from_weight(lambda).unwrap() }
}

fn square() -> Square {
    Square::new(1.0).unwrap()
}

/// Passes over the rows to each gap, from a start that is uniform in [0, 1).
fn passes(market: &Market, seed: u64, gaps: [f64; 3]) -> [u64; 3] {
    let problem = market.portfolio().problem(square(), Unregularized).unwrap();
    let optimum = problem.objective(&market.closed_form(1.0, 0.0));
    let mut uniform = Stream::new(seed, 1000);
    let start: Vec<f64> = (0..market.d).map(|_| uniform.unit()).collect();
    let method = AnyMethod::named("spdc", &Choice::seeded(seed), &problem, &start).unwrap();
    let stop = Stop { max_outer: Some(40), tolerance: None, ..Stop::default() };
    let solution = method.run(&Driver { stop, ..Driver::default() }, &problem, &start, &mut ());
    gaps.map(|gap| {
        let reached = solution.trace.iter().find(|record| record.objective - optimum <= gap);
        reached.map_or(u64::MAX, |record| record.outer)
    })
}

/// Portfolios without a ridge: g is not strongly convex, P is.
#[test]
fn portfolios_take_few_passes() {
    let generated = Market::generated(7240, 25, 1);
    for market in Market::real().iter().chain([&generated]) {
        let reached = passes(market, 1, [1e-4, 1e-6, 1e-9]);
        assert!(
            reached[0] <= 12 && reached[1] <= 17 && reached[2] <= 28,
            "{}: {reached:?}",
            market.name
        );
    }
}

/// Averaging the rows costs a snapshot, and each pass n values and n products.
#[test]
fn the_run_counts_the_averaging() {
    let market = Market::generated(300, 5, 1);
    let problem = market.portfolio().problem(square(), Unregularized).unwrap();
    let given = Choice { alpha_theta: Some(1e-3), ..Choice::seeded(1) };
    let method = AnyMethod::named("spdc", &given, &problem, &[0.0; 5]).unwrap();
    let stop = Stop { max_outer: Some(4), tolerance: None, ..Stop::default() };
    let solution = method.run(&Driver { stop, ..Driver::default() }, &problem, &[0.0; 5], &mut ());
    let averaging = counted(600, 300, 0);
    assert_eq!(solution.calls, averaging + counted(4 * 300, 4 * 300, 0));
}

/// Kinks: averages, with duals that close the gap; long-only and within a box.
#[test]
fn absolute_deviation_is_certified() {
    let market = Market::generated(400, 6, 2);
    for limits in [Limits::LongOnly, Limits::Between(-1.0, 1.0)] {
        for task in [
            Task::new(Risk::Absolute(1.0), limits),
            Task { l1: 0.01, ..Task::new(Risk::Huber(1.0, 0.5), limits) },
        ] {
            let problem = market.problem(&task);
            let method = AnyMethod::named("spdc", &Choice::seeded(1), &problem, &[0.0; 6]).unwrap();
            let stop = Stop { max_outer: Some(600), tolerance: Some(1e-6), ..Stop::default() };
            let solution =
                method.run(&Driver { stop, ..Driver::default() }, &problem, &[0.0; 6], &mut ());
            assert!(solution.status.is_solved(), "{task:?}: {}", solution.status);
            assert_eq!(solution.certificate.measure, Measure::DualityGap);
            let expected = market.objective(&task, &market.by_interior_point(&task));
            assert!(solution.objective - expected < 1e-5 * expected.abs().max(0.01), "{task:?}");
            assert!(task.excess(&solution.theta) < 1e-12);
        }
    }
}

/// Theta and every dual, where values have two coordinates.
#[test]
fn theta_and_duals_reach_the_saddle_point() {
    let f = Affine::random(4, 2, 30, |i| 1 + i % 3, 5);
    let (_, saddle) = least_squares(f.clone(), 1.0, 0.3);
    let problem = rows(&f, square(), 0.3);
    let method = Spdc::choose(&Choice::seeded(1), &problem, &[0.0; 4]).unwrap();
    let mut oracle = Oracle::new(&problem);
    let mut state = method.init(&mut oracle, &[0.0; 4]);
    for _ in 0..150 * 30 {
        method.inner(&mut oracle, &mut state);
    }
    let theta = method.theta(&state);
    assert!(distance_squared(theta, &saddle.theta).sqrt() < 1e-12);
    let w = method.duals(&state).unwrap();
    assert!(distance_squared(w, &saddle.w).sqrt() < 1e-11);
}

/// `mu = 0.2` and a batch of rows: the theorem's factor `1 - 1/(n/m + R sqrt((n/m)/(mu gamma)))`
/// for each step or better, down to rounding.
#[test]
fn the_rate_is_the_theorems_or_better() {
    for (batch, seed) in [(1, 1), (1, 2), (5, 1), (20, 1)] {
        let f = Affine::random(6, 1, 100, |_| 4, 3);
        let (_, saddle) = least_squares(f.clone(), 1.0, 0.2);
        let problem = rows(&f, square(), 0.2);
        let choice = Choice { batch: Some(batch), ..Choice::seeded(seed) };
        let method = Spdc::choose(&choice, &problem, &[1.0; 6]).unwrap();
        let n = 100.0 / batch as f64;
        let r = problem.inner.bounds().mean_jacobian.unwrap();
        let factor = 1.0 - 1.0 / (n + r * (n / (0.2 * 0.5)).sqrt());
        let outer = 60;
        let stop = Stop { max_outer: Some(outer), tolerance: None, ..Stop::default() };
        let solution =
            Driver { stop, ..Driver::default() }.run(problem.erased(), &method, &[1.0; 6], &mut ());
        let optimum = problem.objective(&saddle.theta);
        let gap = |objective: f64| (objective - optimum).max(1e-15);
        let first = gap(solution.trace[0].objective);
        for record in &solution.trace {
            // A constant for what the duals lack at the start.
            let bound = 30.0 * first * factor.powf(record.inner as f64) + 1e-13;
            assert!(
                gap(record.objective) < bound,
                "batch {batch}, pass {}: {:e}",
                record.outer,
                gap(record.objective)
            );
        }
        assert!(gap(solution.objective) < 1e-10 * first, "batch {batch}");
    }
}

#[test]
fn ridge_and_logistic_regression_reach_rounding() {
    for lambda in [1e-2, 1.0] {
        let f = Affine::random(8, 1, 400, |_| 2, 4);
        let (_, saddle) = least_squares(f.clone(), 1.0, lambda);
        let ridge = rows(&f, square(), lambda);
        let method = Spdc::choose(&Choice::seeded(1), &ridge, &[0.0; 8]).unwrap();
        let stop = Stop { max_outer: Some(150), tolerance: Some(1e-20), ..Stop::default() };
        let driver = Driver { stop, ..Driver::default() };
        let solution = driver.run(ridge.erased(), &method, &[0.0; 8], &mut ());
        assert!(solution.status.is_solved(), "{}", solution.status);
        assert!(distance_squared(&solution.theta, &saddle.theta).sqrt() < 1e-8);
        let logistic = rows(&f, Softplus, lambda);
        let method = Spdc::choose(&Choice::seeded(1), &logistic, &[0.0; 8]).unwrap();
        let solution = driver.run(logistic.erased(), &method, &[0.0; 8], &mut ());
        assert!(solution.status.is_solved(), "{}: {:?}", solution.status, solution.certificate);
    }
}

#[test]
fn a_step_asks_for_as_many_values_and_products_as_it_moves_duals() {
    let problem = rows(&Affine::random(3, 2, 12, |_| 2, 1), square(), 0.1);
    for batch in [1, 5] {
        let choice = Choice { batch: Some(batch), ..Choice::seeded(1) };
        let method = Spdc::choose(&choice, &problem, &[0.0; 3]).unwrap();
        let steps = 12_usize.div_ceil(batch);
        let pass = (Calls::default(), counted(steps * batch, steps * batch, 0));
        assert_eq!(calls(&problem, &method), (Calls::default(), vec![pass; 3]));
    }
}

#[test]
fn a_state_that_went_through_a_file_continues_bit_for_bit() {
    let problem = rows(&Affine::random(3, 2, 12, |_| 2, 1), square(), 0.1);
    let choice = Choice { batch: Some(3), ..Choice::seeded(1) };
    let method = Spdc::choose(&choice, &problem, &[0.0; 3]).unwrap();
    resumes("spdc", &problem, &method);
    resumes("spdc, averages", &problem, &Spdc { reference: Reference::Average, ..method });
}

#[test]
fn what_does_not_suit_is_refused() {
    let ridge = Ridge::from_weight(1.0).unwrap();
    let problem = Problem {
        inner: SoftplusUnits::random(3, 4, |_| 2, 1),
        merit: Softplus,
        regularizer: ridge,
    };
    let error = Spdc::choose(&Choice::default(), &problem, &[0.0; 3]).unwrap_err();
    assert!(matches!(error, ChoiceError::Unsuited { .. }), "{error}");
    let problem = rows(&Affine::random(3, 1, 12, |_| 2, 1), square(), 0.1);
    for (choice, quoted) in [
        (Choice { batch: Some(0), ..Choice::default() }, "batch = 0"),
        (
            Choice { batch: Some(13), ..Choice::default() },
            "batch = 13, expected a whole number from 1 to n_X = 12",
        ),
        (Choice { alpha_w: Some(0.0), ..Choice::default() }, "alpha_w = 0.0"),
        (Choice { extrapolation: Some(-1.0), ..Choice::default() }, "extrapolation = -1.0"),
    ] {
        let error = Spdc::choose(&choice, &problem, &[0.0; 3]).unwrap_err().to_string();
        assert!(error.starts_with(quoted), "{error}");
    }
}

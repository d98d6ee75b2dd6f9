//! What is said of points where nothing can be proven: groups with a link that bends, and
//! sequences.

use innermean::draws::Stream;
use innermean::evaluate::{Evaluator, Known};
use innermean::{
    AnyMethod, Bags, Bernoulli, Choice, Driver, FreeTail, Groups, LanguageModel, Link, Poisson,
    Problem, Ridge, Sequences, Solution, Square, Stop, Unregularized,
};

/// One feature and no intercept, a row for each group.
fn rows(features: Vec<f64>) -> Groups {
    let starts = (0..=features.len()).collect();
    Groups::new(1, features, starts, false).expect("groups")
}

fn normal(stream: &mut Stream) -> f64 {
    (-2.0 * (1.0 - stream.unit()).ln()).sqrt() * (std::f64::consts::TAU * stream.unit()).cos()
}

#[test]
fn what_blew_up_before_says_nothing_of_a_later_point() {
    // u = e^(theta x): phi'' = c / u^2 overflows at theta = -380, where the loss is some 400.
    let inner = Bags::new(rows(vec![1.0, 1.2]), Link::Exp);
    let merit = Poisson::new(vec![3.0, 2.0], vec![1.0; 2], 1.0).expect("counts");
    let problem = Problem { inner, merit, regularizer: Unregularized };
    let mut evaluator = Evaluator::new(&problem).aiming_at(1e-6);
    for theta in [-380.0, -380.0, 0.1, 0.2] {
        let found = evaluator.evaluate(&[theta], Known::default());
        assert!(found.objective.is_finite());
        let left = found.certificate.relative.expect("a measure");
        assert!(left > 0.1, "theta = {theta} is not stationary to {left}");
    }
}

#[test]
fn a_point_with_a_slope_is_never_stationary_however_long_a_run_stays_there() {
    for unit in [1e-9, 1.0, 1e9] {
        let features = [1.0, -0.5, 2.0, 0.3].map(|x| x * unit).to_vec();
        let merit = Bernoulli::new(vec![0.9, 0.4, 0.7, 0.8]).expect("proportions");
        let inner = Bags::new(rows(features), Link::Logistic);
        let problem = Problem { inner, merit, regularizer: Unregularized };
        let mut evaluator = Evaluator::new(&problem).aiming_at(1e-6);
        for _ in 0..70 {
            let found = evaluator.evaluate(&[0.0], Known::default());
            let left = found.certificate.relative.expect("a measure");
            assert!(left > 1e-2, "in units of {unit:e}, 0 is not stationary to {left}");
        }
    }
}

#[test]
fn a_coordinate_that_hardly_bends_does_not_hide_the_slope_of_another() {
    // Along the first coordinate u = 2e-15 is asked to be 0: its slope is u, its bend u^2, and a
    // step promises half of the objective where there are 2e-15 to gain. The other has a slope.
    let groups = Groups::new(2, vec![1.0, 0.0, 0.0, 1.0], vec![0, 1, 2], false).expect("groups");
    let merit = Bernoulli::new(vec![0.0, 0.9]).expect("proportions");
    let problem =
        Problem { inner: Bags::new(groups, Link::Logistic), merit, regularizer: Unregularized };
    let mut evaluator = Evaluator::new(&problem).aiming_at(1e-6);
    for _ in 0..70 {
        let found = evaluator.evaluate(&[-34.0, 0.0], Known::default());
        let left = found.certificate.relative.expect("a measure");
        assert!(left > 1e-2, "not stationary to {left}");
    }
}

/// What is left at `(0, score)` of two rows with a ridge and a free intercept, whose mean
/// probability is asked to be that, by squares, after a look at `(0, first)`.
fn left_of_square(proportion: f64, unit: f64, first: f64, score: f64) -> f64 {
    let groups = Groups::new(1, vec![unit, 2.0 * unit], vec![0, 2], true).expect("groups");
    let inner = Bags::with_targets(groups, Link::Logistic, vec![proportion]).expect("a target");
    let merit = Square::new(1.0).expect("a weight");
    let ridge = Ridge::from_weight(1e-3 * unit * unit).expect("a weight");
    let problem = Problem { inner, merit, regularizer: FreeTail::new(ridge, 1) };
    let mut evaluator = Evaluator::new(&problem).aiming_at(1e-6);
    evaluator.evaluate(&[0.0, first], Known::default());
    let found = evaluator.evaluate(&[0.0, score], Known::default());
    found.certificate.relative.expect("a measure")
}

#[test]
fn a_slope_that_has_underflowed_is_not_that_of_a_stationary_point() {
    // At a score of -800 the probability is 0 to the last digit, and so are slope and bend.
    for unit in [1e-6, 1.0, 1e6] {
        for first in [0.3, -300.0, -800.0] {
            let left = left_of_square(0.6, unit, first, -800.0);
            assert!(left > 0.1, "in units of {unit:e}, after {first}: stationary to {left}");
            // Where 0 is asked for, nothing is left.
            let left = left_of_square(0.0, unit, first, -800.0);
            assert!(left <= 1e-6, "in units of {unit:e}, after {first}: {left} is left of 0");
        }
    }
}

fn run<M: innermean::Merit>(
    problem: &Problem<Bags, M, Unregularized>,
    start: &[f64],
    max_outer: u64,
) -> Solution {
    let problem = problem.erased();
    let method = AnyMethod::named("gd", &Choice::seeded(0), problem, start).expect("it suits");
    let stop = Stop { max_outer: Some(max_outer), ..Stop::default() };
    method.run(&Driver { stop, ..Driver::default() }, problem, start, &mut ())
}

#[test]
fn the_objective_is_that_of_theta_where_probabilities_are_nearly_1() {
    for score in [20.0, 30.0, 36.0] {
        let inner = Bags::new(rows(vec![1.0]), Link::Logistic);
        let merit = Bernoulli::new(vec![0.25]).expect("proportions");
        let problem = Problem { inner, merit, regularizer: Unregularized };
        let found = run(&problem, &[score], 0);
        assert_eq!(found.theta, [score]);
        // -q log(1 / (1 + e^-t)) - (1 - q) log(1 / (1 + e^t)) = log(1 + e^-t) + (1 - q) t
        let wanted = (-score).exp().ln_1p() + 0.75 * score;
        assert!(
            (found.objective - wanted).abs() <= 1e-15 * wanted,
            "{} is not {wanted}",
            found.objective
        );
    }
}

/// Random sequences of 3 features in two or three classes, with a small ridge: averages far from
/// what phi asks for.
fn sequences(number: u64) -> Solution {
    let mut stream = Stream::new(7, number);
    let (steps, width, classes) = (20, 3, 2 + (number % 2) as usize);
    let features: Vec<f64> = (0..steps * width).map(|_| normal(&mut stream)).collect();
    let ngrams: Vec<u32> =
        (0..classes * classes).flat_map(|k| [k / classes, k % classes]).map(|c| c as u32).collect();
    let mut shares: Vec<f64> = (0..classes * classes).map(|_| 0.05 + stream.unit()).collect();
    let total: f64 = shares.iter().sum();
    for p in &mut shares {
        *p /= total;
    }
    let language = LanguageModel::new(classes, 2, &ngrams, &shares).expect("a model");
    let sequences = Sequences::new(width, features.clone(), &[9, 11], language).expect("sequences");
    let problem =
        sequences.problem(Ridge::from_weight(1e-4).expect("a weight")).expect("a problem");
    let start = vec![0.0; classes * (width + 1)];
    let problem = problem.erased();
    let method = AnyMethod::named("newton", &Choice::seeded(0), problem, &start).expect("it suits");
    let stop = Stop { max_outer: Some(150), tolerance: Some(1e-6), ..Stop::default() };
    method.run(&Driver { stop, ..Driver::default() }, problem, &start, &mut ())
}

#[test]
fn newton_ends_where_gauss_newton_is_slow() {
    let unsolved: Vec<u64> = (0..24).filter(|&k| !sequences(k).status.is_solved()).collect();
    assert!(unsolved.is_empty(), "150 steps do not solve {unsolved:?}");
}

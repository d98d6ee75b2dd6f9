//! Newton's method in twice the precision, on problems whose answers are known and which double
//! precision cannot tell.

use innermean::problems::linear::predictors;
use innermean::regularizer::{Coordinate, Separable};
use innermean::{
    Absolute, AnyMethod, BoxConstraint, Budget, Choice, Driver, Huber, L1, Merit, Mspbe, Objective,
    Portfolio, Problem, Regularizer, Solution, Status, Stop, Unregularized, auto,
};

use crate::support::market::Market;

fn driver() -> Driver<'static> {
    Driver { stop: Stop { tolerance: Some(1e-6), ..Stop::default() }, ..Driver::default() }
}

fn precise<'p>(problem: impl Into<Objective<'p>>) -> Solution {
    let problem = problem.into();
    let start = vec![0.0; problem.inner.d()];
    let method = AnyMethod::named("precise", &Choice::default(), problem, &start).unwrap();
    method.run(&driver(), problem, &start, &mut ())
}

/// Rows `(1e9 + k, 1)` whose targets are a line, but for some.
const ROWS: usize = 21;

fn row(k: usize) -> [f64; 2] {
    [1e9 + k as f64, 1.0]
}

/// `3 k - 7 = 3 (1e9 + k) - (3e9 + 7)`, moved by 4 in every seventh row.
fn target(k: usize) -> f64 {
    3.0 * k as f64 - 7.0 + if k % 7 == 3 { 4.0 } else { 0.0 }
}

fn line<P: Merit, G: Regularizer>(merit: P, g: G) -> Problem<innermean::Collapsed, P, G> {
    let rows: Vec<f64> = (0..ROWS).flat_map(row).collect();
    let inner = predictors(2, rows, (0..ROWS).map(|k| -target(k)).collect()).unwrap();
    Problem { inner, merit, regularizer: g }
}

/// Least absolute deviations pass by three targets of 21 that are 4 off: whatever the columns'
/// mean, 12/21.
#[test]
fn least_absolute_deviations_of_a_column_far_from_zero() {
    let solution = precise(&line(Absolute::new(1.0).unwrap(), Unregularized));
    assert_eq!(solution.status, Status::Solved);
    assert!((solution.objective - 12.0 / 21.0).abs() < 1e-6, "{}", solution.objective);
    assert!(solution.certificate.gap.unwrap() < 1e-6);
    // The answer is rounded so that predictions stay.
    for k in (0..ROWS).filter(|k| k % 7 != 3) {
        let [x, one] = row(k);
        let prediction = solution.theta[0] * x + solution.theta[1] * one;
        assert!((prediction - target(k)).abs() < 2e-6, "{k}: {prediction}");
    }
}

/// With the slope held at 2 the best constant is the median of `y_k - 2 x_k`, which is rank 10 of
/// 21: a bound of g that is met exactly.
#[test]
fn bounds_and_kinks_are_met_exactly() {
    let part = Coordinate { hi: 2.0, ..Coordinate::FREE };
    let g = Separable::new(vec![part, Coordinate::FREE]).unwrap();
    let problem = line(Absolute::new(1.0).unwrap(), g);
    let solution = precise(&problem);
    assert_eq!((solution.status, solution.theta[0]), (Status::Solved, 2.0));
    let mut left: Vec<f64> = (0..ROWS).map(|k| target(k) - 2.0 * k as f64).collect();
    left.sort_by(f64::total_cmp);
    let best: f64 = left.iter().map(|y| (y - left[10]).abs()).sum::<f64>() / ROWS as f64;
    assert!((solution.objective - best).abs() < 1e-6 * best, "{} {best}", solution.objective);
    // A weight on the slope that outweighs all that it explains makes it 0.
    let kink = Coordinate { l1: 1e11, ..Coordinate::FREE };
    let problem =
        line(Huber::new(1.0, 0.5).unwrap(), Separable::new(vec![kink, Coordinate::FREE]).unwrap());
    let solution = precise(&problem);
    assert_eq!((solution.status, solution.theta[0]), (Status::Solved, 0.0));
}

/// Five assets, three days: some portfolio that costs nothing has return and no risk. The direction
/// adds up to 0, and P falls along it for ever, l1 included.
#[test]
fn a_budget_without_a_minimum_has_a_direction() {
    let rows: Vec<f64> = Market::generated(3, 5, 1).rows.concat();
    let portfolio = Portfolio::new(5, rows).unwrap();
    let budget =
        Budget::new(5, BoxConstraint::new(f64::NEG_INFINITY, f64::INFINITY).unwrap()).unwrap();
    let problem = portfolio.problem(Huber::new(1.0, 0.5).unwrap(), budget).unwrap();
    let outcome = auto::solve(&driver(), &problem, &[0.2; 5], &mut (), 0).unwrap();
    assert_eq!(outcome.solution.status, Status::Unbounded);
    falls_for_ever(&problem, &outcome.solution);
}

/// The same without a budget, where a small l1 does not stop it and a large one does.
#[test]
fn a_norm_that_is_too_small_does_not_make_a_minimum() {
    let rows: Vec<f64> = Market::generated(3, 5, 1).rows.concat();
    let with = |lambda: f64| {
        let portfolio = Portfolio::new(5, rows.clone()).unwrap();
        let problem =
            portfolio.problem(Huber::new(1.0, 0.5).unwrap(), L1::new(lambda).unwrap()).unwrap();
        let solution = precise(&problem);
        (problem, solution)
    };
    let (problem, solution) = with(1e-6);
    assert_eq!(solution.status, Status::Unbounded);
    falls_for_ever(&problem, &solution);
    assert_eq!(with(10.0).1.status, Status::Solved);
}

fn falls_for_ever<'p>(problem: impl Into<Objective<'p>>, solution: &Solution) {
    let problem = problem.into();
    let direction = solution.endless.as_ref().expect("a direction");
    let size: f64 = direction.iter().map(|p| p.abs()).sum();
    let start = problem.allowed(&vec![0.0; direction.len()]);
    let at = |t: f64| {
        let theta: Vec<f64> = start.iter().zip(direction).map(|(x, p)| x + t / size * p).collect();
        let averages: Vec<f64> = {
            let mut averages = vec![0.0; problem.inner.n_x()];
            problem.inner.means(&theta, &mut averages);
            averages
        };
        // Not the objective of a theta whose sum is rounded: what a budget adds to it is 0 or
        // infinite.
        problem.loss(&averages) + finite(problem.regularizer.value(&theta))
    };
    let (near, far) = (at(1e5) - at(0.0), at(1e8) - at(0.0));
    assert!(near < 0.0 && (far / near / 1e3 - 1.0).abs() < 1e-2, "{near} {far}");
    if problem.regularizer.coordinate(0).is_none() {
        assert!(direction.iter().sum::<f64>().abs() < 1e-12 * size);
    }
}

fn finite(g: f64) -> f64 {
    if g.is_finite() { g } else { 0.0 }
}

/// The projected Bellman error of a chain that tells its states apart is 0 at the values
/// themselves, in whatever units the features are.
#[test]
fn a_projected_error_in_mixed_units_is_proven() {
    let units = [1e-9, 1.0, 1e9];
    let feature = |s: usize| {
        let mut row = [0.0; 3];
        row[s] = units[s];
        row[(s + 1) % 3] = 0.25 * units[(s + 1) % 3];
        row
    };
    let moves = [(0, 1, 1.0), (1, 2, -2.0), (2, 0, 0.5), (0, 1, 1.0), (2, 0, 0.5), (1, 2, -2.0)];
    let now = moves.iter().flat_map(|(from, _, _)| feature(*from)).collect();
    let next: Vec<f64> = moves.iter().flat_map(|(_, to, _)| feature(*to)).collect();
    let rewards = moves.iter().map(|(_, _, reward)| *reward).collect();
    let problem = Mspbe::new(3, now, &next, rewards, 0.5).unwrap().problem(0.0).unwrap();
    let solution = auto::solve(&driver(), &problem, &[0.0; 3], &mut (), 0).unwrap().solution;
    assert_eq!(solution.status, Status::Solved);
    assert!(
        solution.objective < 1e-9 && solution.certificate.gap.unwrap() < 1e-6,
        "{}",
        solution.objective
    );
    // V_0 = 1 + V_1 / 2, V_1 = -2 + V_2 / 2, V_2 = 1/2 + V_0 / 2
    let values = [1.0 / 7.0, -12.0 / 7.0, 4.0 / 7.0];
    for (s, value) in values.iter().enumerate() {
        let found: f64 = feature(s).iter().zip(&solution.theta).map(|(x, theta)| x * theta).sum();
        assert!((found - value).abs() < 1e-4, "{s}: {found} {value}");
    }
}

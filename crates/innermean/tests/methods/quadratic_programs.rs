//! Squares with a g that has kinks, bounds or a budget: `direct` ends where the conditions of
//! Karush, Kuhn and Tucker hold, whatever g is made of, and where Clarabel ends.

use innermean::draws::Stream;
use innermean::regularizer::{Coordinate, Parts, Separable};
use innermean::{
    AnyMethod, BoxConstraint, Budget, Choice, Collapsed, Driver, L1, Measure, Merit, Objective,
    Problem, Regularizer, Ridged, Simplex, Solution, Square, Status, Stop, Tilted, Weighted, auto,
};

use crate::support::market::{Limits, Market, Risk, Task};

fn driver(tolerance: f64) -> Driver<'static> {
    Driver { stop: Stop { tolerance: Some(tolerance), ..Stop::default() }, ..Driver::default() }
}

fn run(method: &str, problem: Objective<'_>) -> Solution {
    let start: Vec<f64> = (0..problem.inner.d()).map(|l| (3.0 * l as f64).cos()).collect();
    let method = AnyMethod::named(method, &Choice::default(), problem, &start).unwrap();
    method.run(&driver(1e-10), problem, &start, &mut ())
}

/// By how much the conditions are missed: with `v = F'(theta)` there must be a lambda, 0 without a
/// budget, in all `v_l + dg_l(theta_l)`.
fn missed(problem: Objective<'_>, theta: &[f64]) -> f64 {
    let Parts { parts, budget, .. } = Parts::of(problem.regularizer, theta.len()).unwrap();
    let mut v = vec![0.0; theta.len()];
    problem.gradient(theta, &mut v);
    let (mut most, mut least) = (f64::NEG_INFINITY, f64::INFINITY);
    for ((part, x), v) in parts.iter().zip(theta).zip(&v) {
        let slope = v + part.tilt + part.l2 * x;
        let kink = |side: f64| part.l1 * if *x == 0.0 { side } else { x.signum() };
        assert!(part.lo <= *x && *x <= part.hi, "{x} in {part:?}");
        most = most.max(if *x == part.lo { f64::NEG_INFINITY } else { slope + kink(-1.0) });
        least = least.min(if *x == part.hi { f64::INFINITY } else { slope + kink(1.0) });
    }
    if budget {
        let sum: f64 = theta.iter().sum();
        (most - least).max((sum - 1.0).abs())
    } else {
        most.max(-least)
    }
}

/// Parts of all kinds, each bounded below whatever the data: by bounds, a square or a norm.
fn part(draws: &mut Stream) -> Coordinate {
    let mut signed = |size: f64| size * (2.0 * draws.unit() - 1.0);
    let (tilt, a, b) = (signed(0.3), signed(1.0), signed(1.0));
    let free = Coordinate { tilt, ..Coordinate::FREE };
    match draws.index(7) {
        0 => Coordinate { l2: 0.1, ..free },
        1 => Coordinate { l1: 0.4, ..free },
        2 => Coordinate { l1: 0.1, l2: 0.2, lo: a - 0.1, ..free },
        3 => Coordinate { lo: a.min(b), hi: a.max(b), ..free },
        4 => Coordinate { lo: 0.0, hi: 1.0 + a, l1: 0.4, ..free },
        // Nothing to choose.
        5 => Coordinate { lo: a, hi: a, ..free },
        _ => Coordinate { hi: a, l2: 0.01, ..free },
    }
}

#[test]
fn random_programs_are_solved_where_the_conditions_hold() {
    let mut draws = Stream::new(5, 0);
    let mut numbers = |n: usize| -> Vec<f64> { (0..n).map(|_| 2.0 * draws.unit() - 1.0).collect() };
    let mut kinds = Stream::new(6, 0);
    for round in 0..240 {
        let d = [1, 2, 3, 7, 12, 30][round % 6];
        // Now and then fewer rows than columns.
        let n = [1, d, 2 * d + 3, 50][kinds.index(4)];
        let mut rows = numbers(n * d);
        if round % 5 == 0 {
            // Columns of unlike size.
            rows.chunks_exact_mut(d).for_each(|row| row[d - 1] *= 1e-3);
        }
        let offsets: Vec<f64> = numbers(n).iter().map(|b| 2.0 * b).collect();
        let square = Square::new(0.5).unwrap();
        let weighted =
            Weighted::new(square, (0..n).map(|i| 0.5 + (i % 3) as f64).collect()).unwrap();
        let merit: &dyn Merit = if round % 2 == 0 { &square } else { &weighted };
        let bounds = BoxConstraint::new(-0.4, 1.2).unwrap();
        let g: Box<dyn Regularizer> = match round % 8 {
            0..4 => Box::new(Separable::new((0..d).map(|_| part(&mut kinds)).collect()).unwrap()),
            4 => Box::new(Simplex),
            5 => Box::new(Budget::new(d, bounds).unwrap()),
            6 => Box::new(Budget::new(d, bounds.with_l1(0.2).unwrap()).unwrap()),
            _ => Box::new(Tilted::new(Ridged::new(Simplex, 0.3).unwrap(), numbers(d)).unwrap()),
        };
        let inner = Collapsed::from_rows(d, rows, offsets);
        let problem = Objective { inner: &inner, merit, regularizer: &*g };
        let direct = run("direct", problem);
        let name = format!("round {round}, {n} x {d}");
        assert_eq!(
            direct.status,
            Status::Solved,
            "{name}: {:?} after {}",
            direct.certificate,
            direct.outer
        );
        assert!(direct.outer <= 4, "{name}: {} steps", direct.outer);
        assert!(direct.certificate.gap.is_some(), "{name}: {:?}", direct.certificate);
        let missed = missed(problem, &direct.theta);
        assert!(missed <= 1e-7, "{name}: {missed:e}");
        let newton = run("newton", problem);
        let apart = direct.objective - newton.objective;
        assert!(apart <= 1e-9 * (1.0 + newton.objective.abs()), "{name}: {apart:e} above newton");
    }
}

#[test]
fn portfolios_have_the_answers_of_an_interior_point_solver() {
    let market = Market::generated(400, 9, 3);
    let square = Risk::Variance(1.5);
    for task in [
        Task::new(square, Limits::LongOnly),
        Task { l2: 0.2, ..Task::new(square, Limits::LongOnly) },
        Task::new(square, Limits::Between(-0.1, 0.2)),
        Task { l1: 0.02, ..Task::new(square, Limits::Between(-0.1, 0.2)) },
        Task { l1: 0.02, ..Task::new(square, Limits::Free) },
        Task { l1: 0.05, ..Task::new(square, Limits::Invested(-0.3, 0.4)) },
        Task::new(square, Limits::Invested(f64::NEG_INFINITY, 0.3)),
    ] {
        let (problem, theta) = (market.problem(&task), market.by_interior_point(&task));
        let outcome = auto::solve(&driver(1e-10), &problem, &[0.0; 9], &mut (), 0).unwrap();
        let found = outcome.solution;
        assert_eq!(outcome.method.info().name, "direct", "{task:?}");
        assert!(
            found.status.is_solved() && found.outer <= 2,
            "{task:?}: {} {}",
            found.status,
            found.outer
        );
        assert!(task.excess(&found.theta) <= 1e-12, "{task:?}");
        let (ours, theirs) =
            (market.objective(&task, &found.theta), market.objective(&task, &theta));
        assert!(ours <= theirs + 1e-9 && theirs - ours <= 1e-5, "{task:?}: {ours} {theirs}");
        // The certificate is not below the truth.
        let least = found.objective - found.certificate.gap.unwrap();
        assert!(least <= theirs + 1e-12, "{task:?}: {least} {theirs}");
    }
}

/// Of many assets that have much in common few are held: the face is found in one step, and duals
/// prove the answer where theta is bounded, without a factor of all columns.
#[test]
fn many_assets_with_few_that_are_held() {
    let d = 160;
    let market = Market::generated(400, d, 5);
    let square = Risk::Variance(1.5);
    for (task, is_bounded) in [
        (Task::new(square, Limits::LongOnly), true),
        (Task { l2: 0.2, ..Task::new(square, Limits::LongOnly) }, true),
        (Task { l1: 0.05, ..Task::new(square, Limits::Invested(-0.1, 0.2)) }, true),
        (Task::new(square, Limits::Invested(f64::NEG_INFINITY, 0.3)), false),
    ] {
        let problem = market.problem(&task);
        let outcome = auto::solve(&driver(1e-9), &problem, &vec![0.0; d], &mut (), 0).unwrap();
        let found = outcome.solution;
        assert_eq!(outcome.method.info().name, "direct", "{task:?}");
        let steps = if is_bounded { 1 } else { 2 };
        assert!(found.status.is_solved() && found.outer <= steps, "{task:?}: {}", found.outer);
        if is_bounded {
            assert_eq!(found.certificate.measure, Measure::DualityGap, "{task:?}");
        }
        assert!(missed((&problem).into(), &found.theta) <= 1e-10, "{task:?}");
        let gap = found.certificate.gap.unwrap();
        assert!(gap <= 1e-11 * (1.0 + found.objective.abs()), "{task:?}: {gap:e}");
        let theta = market.by_interior_point(&task);
        let (ours, theirs) =
            (market.objective(&task, &found.theta), market.objective(&task, &theta));
        assert!(ours <= theirs + 1e-9 && theirs - ours <= 1e-5, "{task:?}: {ours} {theirs}");
        assert!(found.objective - gap <= theirs + 1e-12, "{task:?}");
    }
}

/// `theta_2 >= 0` alone holds a slope that nothing else does.
#[test]
fn a_program_without_a_minimum_is_not_solved() {
    let rows = vec![1.0, 0.0, 2.0, 0.0, -1.0, 0.0];
    let part = Coordinate { lo: 0.0, ..Coordinate::FREE };
    let solve = |tilt: f64| {
        let g = Separable::new(vec![part, Coordinate { tilt, ..part }]).unwrap();
        let inner = Collapsed::from_rows(2, rows.clone(), vec![-1.0, -2.0, 1.0]);
        let problem = Problem { inner, merit: Square::new(1.0).unwrap(), regularizer: g };
        auto::solve(&driver(1e-9), &problem, &[0.0; 2], &mut (), 0).unwrap()
    };
    let bounded = solve(0.5).solution;
    assert!(bounded.status.is_solved(), "{:?}", bounded.certificate);
    assert_eq!(bounded.theta[1], 0.0);
    assert!((bounded.theta[0] - 1.0).abs() < 1e-8, "{:?}", bounded.theta);
    let endless = solve(-0.5).solution;
    assert!(!endless.status.is_solved(), "{} at {:?}", endless.status, endless.theta);
}

/// More columns than rows and an l1 norm: as many columns as there are rows at most are used.
#[test]
fn lasso_with_more_columns_than_rows() {
    let (n, d) = (30, 120);
    let mut draws = Stream::new(11, 0);
    let rows: Vec<f64> = (0..n * d).map(|_| 2.0 * draws.unit() - 1.0).collect();
    let offsets: Vec<f64> = rows.chunks_exact(d).map(|row| row[5] - 2.0 * row[50]).collect();
    let square = Square::new(0.5).unwrap();
    let g = L1::new(0.05).unwrap();
    let inner = Collapsed::from_rows(d, rows, offsets);
    let problem = Objective { inner: &inner, merit: &square, regularizer: &g };
    let found = run("direct", problem);
    assert!(found.status.is_solved(), "{:?}", found.certificate);
    assert!(found.theta.iter().filter(|t| **t != 0.0).count() <= n);
    assert!(missed(problem, &found.theta) < 1e-8);
}

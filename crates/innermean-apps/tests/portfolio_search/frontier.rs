//! Frontiers: every point is the answer of an ordinary task, ordered, dense and concave.

use innermean_apps::portfolio::{Aim, Frontier, Risk};

use super::*;

fn task(rows: &[f64], d: usize, risk: Risk, aim: Aim, constraint: &str) -> PortfolioTask {
    let mut settings = PortfolioSettings::default();
    (settings.risk, settings.aim) = (risk, aim);
    settings.constraint = constraint.parse().expect("a constraint");
    PortfolioTask::new(assets(d), rows.to_vec(), &settings).expect("settings")
}

fn assert_frontier(name: &str, frontier: &Frontier, rows: &[f64], d: usize, constraint: &str) {
    let measure = frontier.risk_measure;
    let in_units: Vec<f64> =
        frontier.points.iter().map(|point| measure.in_units(point.risk)).collect();
    for (pair, risks) in frontier.points.windows(2).zip(in_units.windows(2)) {
        assert!(risks[0] < risks[1], "{name}: {risks:?}");
        assert!(pair[0].expected_return < pair[1].expected_return, "{name}");
        assert!(pair[0].risk_aversion >= pair[1].risk_aversion * (1.0 - 1e-7), "{name}");
    }
    let slopes: Vec<f64> = (1..in_units.len())
        .map(|k| {
            let [a, b] = [&frontier.points[k - 1], &frontier.points[k]];
            (b.expected_return - a.expected_return) / (in_units[k] - in_units[k - 1])
        })
        .collect();
    assert!(slopes.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-6)), "{name}: {slopes:?}");
    for (k, point) in frontier.points.iter().enumerate() {
        let mut alone = PortfolioSettings::default();
        (alone.risk, alone.risk_aversion) = (measure, point.risk_aversion);
        alone.constraint = constraint.parse().expect("a constraint");
        let task = PortfolioTask::new(assets(d), rows.to_vec(), &alone).expect("settings");
        let best = crate::fit(&task, 1e-11).solution;
        let own = task.problem().objective(&point.theta);
        let gap = point.gap.expect("a proof");
        let size = 1e-9 * (best.objective.abs() + point.risk_aversion * point.risk);
        assert!((own - best.objective).abs() <= size, "{name}, {k}: {own} {}", best.objective);
        // What is proven holds, and is worth something.
        let lower = best.objective - best.certificate.gap.expect("a proof");
        assert!(own - gap <= best.objective + 1e-15 * own.abs(), "{name}, {k}: {gap:e}");
        assert!(own - lower >= 0.0 || own - lower > -gap, "{name}, {k}");
        assert!(gap <= 100.0 * size.max(1e-12), "{name}, {k}: {gap:e} {size:e}");
    }
}

#[test]
fn points_are_answers_from_the_least_risk_to_the_largest_return() {
    let mut draws = Stream::new(41, 0);
    for (d, n) in [(3, 8), (6, 80), (12, 200)] {
        let rows = market(&mut draws, n, d);
        let (mean, _) = centred(&rows, d);
        for risk in [Risk::Variance, Risk::Semivariance, Risk::Absolute, Risk::Huber] {
            for aim in [Aim::Utility, Aim::MinRisk] {
                let name = format!("{n} x {d}, {risk}, {aim}");
                let mut task = task(&rows, d, risk, aim, "long-only");
                let before = task.problem().objective(&vec![1.0 / d as f64; d]);
                let frontier =
                    task.frontier(20, &Solver::default(), None).expect("weights are bounded");
                assert_eq!(task.problem().objective(&vec![1.0 / d as f64; d]), before, "{name}");
                assert_eq!((frontier.points.len(), frontier.is_open), (20, false), "{name}");
                if aim == Aim::MinRisk {
                    let least = crate::fit(&task, 1e-10).solution.objective;
                    let first = frontier.points[0].risk;
                    assert!((first - least).abs() <= 1e-7 * least, "{name}: {first} {least}");
                    continue;
                }
                assert_frontier(&name, &frontier, &rows, d, "long-only");
                let most = mean.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let last = frontier.points[19].expected_return;
                assert!((last - most).abs() <= 1e-9, "{name}: {last} {most}");
                // No neighbours are far apart.
                let first = frontier.points[0].expected_return;
                for pair in frontier.points.windows(2) {
                    let step = pair[1].expected_return - pair[0].expected_return;
                    assert!(step <= 0.25 * (last - first), "{name}: {step} of {}", last - first);
                }
            }
        }
    }
}

#[test]
fn weights_between_bounds_on_both_sides_reach_and_leave_them() {
    let mut draws = Stream::new(43, 0);
    let constraint = "sum-to-one=-0.1,0.3";
    for (d, n) in [(7, 40), (15, 300)] {
        let rows = market(&mut draws, n, d);
        let mut task = task(&rows, d, Risk::Variance, Aim::Utility, constraint);
        let frontier = task.frontier(30, &Solver::default(), None).expect("weights are bounded");
        let name = format!("{n} x {d}");
        assert_frontier(&name, &frontier, &rows, d, constraint);
        for end in [-0.1, 0.3] {
            let resting = |k: usize| frontier.points[k].theta.iter().filter(|x| **x == end).count();
            assert!(resting(0) < resting(frontier.points.len() - 1), "{name}: {end}");
        }
    }
}

#[test]
fn weights_without_bounds_have_a_frontier_that_goes_on() {
    let mut draws = Stream::new(42, 0);
    let rows = market(&mut draws, 60, 5);
    let mut open = task(&rows, 5, Risk::Variance, Aim::Utility, "sum-to-one");
    let frontier = open.frontier(15, &Solver::default(), None).expect("a least risk");
    assert!(frontier.is_open && frontier.points.len() == 15);
    let ends = [0, 14].map(|k| frontier.points[k].risk.sqrt());
    assert!(ends[1] >= 3.0 * ends[0] && ends[1] <= 12.0 * ends[0], "{ends:?}");
    assert_frontier("open", &frontier, &rows, 5, "sum-to-one");
    let mut free = task(&rows, 5, Risk::Variance, Aim::Utility, "none");
    let error = free.frontier(5, &Solver::default(), None).expect_err("no least risk");
    assert!(error.to_string().starts_with("`frontier`: nothing bounds the weights"), "{error}");
}

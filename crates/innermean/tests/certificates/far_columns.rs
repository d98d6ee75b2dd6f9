//! Columns that lie far from 0 and hardly move: their means have most of their digits.

use super::symmetric;
use innermean::draws::Stream;
use innermean::{Driver, LogBarrier, Portfolio, Problem, Square, Status, auto};

/// Budgets of risk on returns of `1e9` and some 64ths: `theta_l (Sigma theta)_l = b_l / 2` at the
/// minimum of `theta' Sigma theta - sum_l b_l log theta_l`.
#[test]
fn budgets_of_risk_are_met_far_from_zero() {
    let (n, d, mut stream) = (30, 3, Stream::new(12, 1));
    let steps: Vec<f64> = (0..n * d).map(|_| (64.0 * symmetric(&mut stream)).round()).collect();
    let rows: Vec<f64> = steps.iter().map(|k| 1e9 + k / 64.0).collect();
    let budgets = vec![0.2, 0.3, 0.5];
    let problem = Problem {
        inner: Portfolio::new(d, rows).expect("returns"),
        merit: Square::new(1.0).expect("a weight"),
        regularizer: LogBarrier::new(budgets.clone()).expect("budgets"),
    };
    let found = auto::solve(&Driver::default(), &problem, &[1.0; 3], &mut (), 0).expect("a method");
    let solution = found.solution;
    assert_eq!(solution.status, Status::Solved, "{:?}", solution.certificate);
    let mean = |l: usize| steps.iter().skip(l).step_by(d).sum::<f64>() / n as f64;
    let means: Vec<f64> = (0..d).map(mean).collect();
    let deviation = |i: usize, l: usize| (steps[i * d + l] - means[l]) / 64.0 * solution.theta[l];
    let portfolio = |i: usize| (0..d).map(|l| deviation(i, l)).sum::<f64>();
    for (l, budget) in budgets.iter().enumerate() {
        let risk = (0..n).map(|i| deviation(i, l) * portfolio(i)).sum::<f64>() / n as f64;
        assert!((risk - 0.5 * budget).abs() < 1e-3 * budget, "{risk} of {budget}");
    }
}

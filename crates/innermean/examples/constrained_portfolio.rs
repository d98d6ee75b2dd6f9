//! A long-only portfolio and its certificate: `-return + variance` over weights that are not
//! negative and sum to 1.

use innermean::{Portfolio, Simplex, Square};

/// Daily returns of three assets, in percent.
const RETURNS: [[f64; 3]; 6] = [
    [1.0, 0.2, -0.4],
    [-0.6, 0.1, 0.3],
    [0.5, -0.1, 0.1],
    [0.9, 0.3, -0.7],
    [-0.8, 0.0, 0.6],
    [0.4, 0.2, -0.3],
];

/// The same objective from its definition.
fn objective(weights: &[f64]) -> f64 {
    let returns = RETURNS.map(|row| row.iter().zip(weights).map(|(x, w)| x * w).sum::<f64>());
    let mean = returns.iter().sum::<f64>() / returns.len() as f64;
    let variance = returns.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / returns.len() as f64;
    variance - mean
}

pub(crate) fn main() {
    let portfolio = Portfolio::new(3, RETURNS.as_flattened().to_vec()).expect("whole rows");
    let square = Square::new(1.0).expect("a weight above 0");
    let problem = portfolio.problem(square, Simplex).expect("lengths fit");
    let solution = innermean::solve(&problem, &[1.0 / 3.0; 3]).expect("numbers of ordinary size");
    let certificate = &solution.certificate;
    let gap = certificate.gap.expect("a convex problem on a bounded set");
    println!(
        "weights {:.4?}, objective {:.6}, {}: at most {gap:.1e} above the optimum ({})",
        solution.theta,
        solution.objective,
        solution.status.title(),
        certificate.measure.title()
    );

    assert!(solution.status.is_solved() && certificate.measure.is_gap());
    assert!((solution.objective - objective(&solution.theta)).abs() < 1e-12);
    assert!((solution.theta.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    // No other portfolio in steps of a percent is better by more than the gap.
    for i in 0..=100 {
        for j in 0..=100 - i {
            let [a, b] = [i, j].map(|percent| f64::from(percent) / 100.0);
            assert!(objective(&[a, b, 1.0 - a - b]) >= solution.objective - gap - 1e-15);
        }
    }
}

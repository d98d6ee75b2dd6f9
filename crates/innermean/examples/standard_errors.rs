//! Standard errors of a regression that are valid where the errors differ in size: the sandwich
//! formula beside its closed form for a line.

use innermean::inference::{Dependence, Sandwich};
use innermean::problems::linear::ridge_regression;

const X: [f64; 8] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
const Y: [f64; 8] = [1.1, 2.8, 5.3, 6.7, 9.6, 10.2, 13.9, 14.1];

/// Slope and its standard error: `sum (x - mean)^2 e^2 / (sum (x - mean)^2)^2`, times `n / (n - 2)`.
fn closed_form() -> [f64; 2] {
    let n = X.len() as f64;
    let [x, y] = [X, Y].map(|numbers| numbers.iter().sum::<f64>() / n);
    let spread: f64 = X.iter().map(|a| (a - x).powi(2)).sum();
    let slope = X.iter().zip(Y).map(|(a, b)| (a - x) * (b - y)).sum::<f64>() / spread;
    let error = |(a, b): (&f64, f64)| ((a - x) * (b - y - slope * (a - x))).powi(2);
    let meat: f64 = X.iter().zip(Y).map(error).sum();
    [slope, (meat * n / (n - 2.0)).sqrt() / spread]
}

pub(crate) fn main() {
    // A column of ones is the intercept.
    let rows: Vec<f64> = X.iter().flat_map(|x| [*x, 1.0]).collect();
    let problem = ridge_regression(2, rows, &Y, 0.0).expect("whole rows");
    let theta = innermean::solve(&problem, &[0.0; 2]).expect("numbers of ordinary size").theta;
    let sandwich = Sandwich::new(Dependence::Independent);
    let covariance = sandwich.of_terms(&problem, &theta).expect("a smooth loss");
    let error = covariance.standard_errors()[0];
    let [low, high] = covariance.intervals(&theta, 0.95)[0];
    println!("slope {:.4} +- {error:.4}, 95% interval {low:.4} to {high:.4}", theta[0]);

    let [slope, by_hand] = closed_form();
    assert!((theta[0] - slope).abs() < 1e-9 && (error - by_hand).abs() < 1e-9);
    assert!(low < slope && slope < high);
}

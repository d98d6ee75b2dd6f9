//! Fits to the labels of single rows by Newton's method: what a fit to groups is measured against.

use super::dense::{Symmetric, dot};

/// Logistic regression with an intercept (the last coordinate) by Newton's method.
pub(crate) fn logistic_regression(width: usize, rows: &[f64], labels: &[f64]) -> Vec<f64> {
    let d = width + 1;
    let mut theta = vec![0.0; d];
    for _ in 0..30 {
        let (mut gradient, mut hessian) = (vec![0.0; d], Symmetric::scaled_identity(d, 0.0));
        for (row, label) in rows.chunks_exact(width).zip(labels) {
            let y: Vec<f64> = row.iter().copied().chain([1.0]).collect();
            let p = 1.0 / (1.0 + (-dot(&y, &theta)).exp());
            gradient.iter_mut().zip(&y).for_each(|(g, y)| *g += (p - label) * y);
            hessian.add_outer(p * (1.0 - p), &y);
        }
        let step = hessian.solve(&gradient);
        let size: f64 = step.iter().map(|s| s * s).sum();
        theta.iter_mut().zip(&step).for_each(|(t, s)| *t -= s);
        if size < 1e-20 {
            break;
        }
    }
    theta
}

/// The correlation of two lists of numbers.
pub(crate) fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let (ma, mb) = (mean(a), mean(b));
    let sum =
        |f: &dyn Fn(f64, f64) -> f64| a.iter().zip(b).map(|(a, b)| f(a - ma, b - mb)).sum::<f64>();
    sum(&|a, b| a * b) / (sum(&|a, _| a * a) * sum(&|_, b| b * b)).sqrt()
}

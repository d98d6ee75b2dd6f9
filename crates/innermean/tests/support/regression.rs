//! Random ridge and logistic regressions, with their minimisers from the formulas.

use innermean::draws::Stream;
use innermean::problems::linear::{logistic_regression, ridge_regression};
use innermean::{Collapsed, Logistic, Problem, Ridge, Square};

use super::dense::{Symmetric, dot};

/// Rows, and a noisy linear response to each.
#[derive(Debug, Clone)]
pub(crate) struct Data {
    pub(crate) d: usize,
    pub(crate) rows: Vec<Vec<f64>>,
    pub(crate) response: Vec<f64>,
}

impl Data {
    /// Column l is uniform of scale `spread^(l/(d-1))`: columns of unlike scale make the problem
    /// ill-conditioned.
    pub(crate) fn random(n: usize, d: usize, spread: f64, seed: u64) -> Self {
        let mut stream = Stream::new(seed, 79);
        let mut symmetric = || 2.0 * stream.unit() - 1.0;
        let truth: Vec<f64> = (0..d).map(|_| 3.0 * symmetric()).collect();
        let scale = |l: usize| spread.powf(l as f64 / (d - 1) as f64);
        let rows: Vec<Vec<f64>> =
            (0..n).map(|_| (0..d).map(|l| scale(l) * symmetric()).collect()).collect();
        let response = rows.iter().map(|row| dot(row, &truth) + 0.5 * symmetric()).collect();
        Data { d, rows, response }
    }

    fn labels(&self) -> Vec<f64> {
        self.response.iter().map(|r| r.signum()).collect()
    }

    /// `(1/n) sum_i (<a_i, theta> - response_i)^2 + (lambda/2) |theta|^2`, and its minimiser by the
    /// normal equations.
    pub(crate) fn ridge(&self, lambda: f64) -> (Problem<Collapsed, Square, Ridge>, Vec<f64>) {
        let n = self.rows.len() as f64;
        let mut matrix = Symmetric::scaled_identity(self.d, lambda);
        let mut right = vec![0.0; self.d];
        for (row, b) in self.rows.iter().zip(&self.response) {
            matrix.add_outer(2.0 / n, row);
            right.iter_mut().zip(row).for_each(|(right, a)| *right += 2.0 / n * a * b);
        }
        let problem = ridge_regression(self.d, self.rows.concat(), &self.response, lambda).unwrap();
        (problem, matrix.solve(&right))
    }

    /// `(1/n) sum_i log(1 + exp(-y_i <a_i, theta>)) + (lambda/2) |theta|^2` with the response's
    /// signs as labels.
    pub(crate) fn logistic_problem(&self, lambda: f64) -> Problem<Collapsed, Logistic, Ridge> {
        logistic_regression(self.d, self.rows.concat(), self.labels(), lambda).unwrap()
    }

    /// The same, and its minimiser by Newton's method.
    pub(crate) fn logistic(&self, lambda: f64) -> (Problem<Collapsed, Logistic, Ridge>, Vec<f64>) {
        let n = self.rows.len() as f64;
        let labels = self.labels();
        let mut theta = vec![0.0; self.d];
        let mut last = f64::INFINITY;
        loop {
            let mut hessian = Symmetric::scaled_identity(self.d, lambda);
            let mut gradient: Vec<f64> = theta.iter().map(|t| lambda * t).collect();
            for (row, y) in self.rows.iter().zip(&labels) {
                let p = 1.0 / (1.0 + (y * dot(row, &theta)).exp());
                hessian.add_outer(p * (1.0 - p) / n, row);
                gradient.iter_mut().zip(row).for_each(|(g, a)| *g -= y * p * a / n);
            }
            let norm = dot(&gradient, &gradient).sqrt();
            if norm >= 0.5 * last && norm < 1e-12 {
                break;
            }
            assert!(norm < 2.0 * last, "Newton's method descends on these data");
            last = norm;
            theta.iter_mut().zip(hessian.solve(&gradient)).for_each(|(t, step)| *t -= step);
        }
        (self.logistic_problem(lambda), theta)
    }
}

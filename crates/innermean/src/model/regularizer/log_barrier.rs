//! `-sum_l b_l log theta_l`

use serde::{Deserialize, Serialize};

use super::Regularizer;
use crate::linalg::elementary::Elementary;
use crate::model::setting::{self, InvalidSetting};

/// Logarithms that keep every coordinate above 0, with a budget of risk `b_l` for each: where F is
/// half of `theta' Sigma theta`, `theta_l (Sigma theta)_l = b_l` at the minimum, so that asset l
/// contributes the part `b_l / sum_k b_k` of the variance (Spinu, "An Algorithm for Computing Risk
/// Parity Weights", 2013).
///
/// ```text
/// g(theta)          = -sum_l b_l log theta_l  on theta > 0,  inf otherwise
/// g*(v)             = sum_l -b_l - b_l log(-v_l / b_l)  on v < 0,  inf otherwise
/// prox_{alpha g}(v) = ( v_l + sqrt(v_l^2 + 4 alpha b_l) ) / 2, coordinate by coordinate
/// mu                = 0
/// ```
///
/// All of these panic if theta and the budgets differ in number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogBarrier {
    weights: Vec<f64>,
}

impl LogBarrier {
    /// Budgets `b_l`, one for each coordinate.
    ///
    /// # Errors
    /// Unless all are finite and above 0.
    pub fn new(weights: Vec<f64>) -> Result<Self, InvalidSetting> {
        for (l, &weight) in weights.iter().enumerate() {
            setting::positive(&format!("weights[{l}]"), weight)?;
        }
        Ok(LogBarrier { weights })
    }

    /// `b_l`
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn weights_of(&self, d: usize) -> &[f64] {
        assert_eq!(self.weights.len(), d, "budgets and theta differ in length");
        &self.weights
    }
}

impl Regularizer for LogBarrier {
    fn d(&self) -> Option<usize> {
        Some(self.weights.len())
    }

    fn value(&self, theta: &[f64]) -> f64 {
        let term = |(b, x): (&f64, &f64)| match *x {
            x if x > 0.0 => -b * x.natural_log(),
            // A NaN stays one.
            x => f64::INFINITY + 0.0 * x,
        };
        self.weights_of(theta.len()).iter().zip(theta).map(term).sum()
    }

    fn prox(&self, alpha: f64, theta: &mut [f64]) {
        for (b, x) in self.weights_of(theta.len()).iter().zip(theta) {
            let reach = (*x * *x + 4.0 * alpha * b).sqrt();
            // Of the two ways to write the root the one in which nothing cancels.
            *x = if *x < 0.0 { 2.0 * alpha * b / (reach - *x) } else { 0.5 * (*x + reach) };
        }
    }

    fn conjugate(&self, v: &[f64]) -> f64 {
        let term = |(b, v): (&f64, &f64)| match *v {
            v if v < 0.0 => -b - b * (-v / b).natural_log(),
            v => f64::INFINITY + 0.0 * v,
        };
        self.weights_of(v.len()).iter().zip(v).map(term).sum()
    }

    fn mu(&self) -> f64 {
        0.0
    }

    fn barrier(&self, l: usize) -> Option<(f64, f64)> {
        Some((self.weights[l], 0.0))
    }
}

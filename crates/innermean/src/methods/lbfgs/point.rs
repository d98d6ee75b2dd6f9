//! A point of L-BFGS with all that is known there.

use serde::{Deserialize, Serialize};

use crate::linalg::vector::{dot, norm_squared, update_with_both};
use crate::oracle::Oracle;

/// A point with its prox-gradient step.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Point {
    pub(super) x: Vec<f64>,
    /// `F(x)`; infinite where it is not known yet
    pub(super) loss: f64,
    /// `F'(x)`
    pub(super) gradient: Vec<f64>,
    /// `prox_{gamma g}(x - gamma F'(x))`
    pub(super) x_bar: Vec<f64>,
    /// `r = (x - x_bar) / gamma`
    pub(super) residual: Vec<f64>,
    /// The forward-backward envelope `F(x) + <F'(x), x_bar - x> + |x_bar - x|^2 / (2 gamma) +
    /// g(x_bar)`
    pub(super) envelope: f64,
    /// `g(x_bar)`
    g: f64,
}

impl Point {
    /// Nothing is known there yet.
    pub(super) fn new(x: &[f64]) -> Self {
        let zeros = vec![0.0; x.len()];
        Point {
            x: x.to_vec(),
            loss: f64::INFINITY,
            gradient: zeros.clone(),
            x_bar: x.to_vec(),
            residual: zeros,
            envelope: f64::INFINITY,
            g: 0.0,
        }
    }

    /// The prox-gradient step, from `F(x)` and `F'(x)`.
    pub(super) fn forward_backward(&mut self, oracle: &Oracle<'_>, gamma: f64) {
        self.x_bar.copy_from_slice(&self.x);
        oracle.g().step(gamma, &self.gradient, &mut self.x_bar);
        update_with_both(&mut self.residual, &self.x, &self.x_bar, |_, x, x_bar| {
            (x - x_bar) / gamma
        });
        self.g = oracle.g().value(&self.x_bar);
        // x_bar - x = -gamma r
        let (slope, square) = (dot(&self.gradient, &self.residual), norm_squared(&self.residual));
        self.envelope = self.loss + gamma * (0.5 * square - slope) + self.g;
    }

    /// The size of what the envelope is made of.
    pub(super) fn magnitude(&self) -> f64 {
        self.loss.abs() + self.g.abs()
    }
}

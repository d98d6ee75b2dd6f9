//! `g = 0`

use serde::{Deserialize, Serialize};

use super::{Coordinate, Regularizer};
use crate::linalg::vector;

/// No regulariser.
///
/// ```text
/// g(theta)          = 0
/// g*(v)             = 0  if v = 0,  inf otherwise
/// prox_{alpha g}(v) = v
/// mu                = 0
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Unregularized;

impl Regularizer for Unregularized {
    fn value(&self, _: &[f64]) -> f64 {
        0.0
    }

    fn prox(&self, _: f64, _: &mut [f64]) {}

    fn step_along_sum(&self, alpha: f64, c: f64, x: &[f64], u: &mut [f64], theta: &mut [f64]) {
        vector::axpy_axpy(c, x, u, -alpha, theta);
    }

    fn conjugate(&self, v: &[f64]) -> f64 {
        if v.iter().all(|&v| v == 0.0) { 0.0 } else { f64::INFINITY }
    }

    fn mu(&self) -> f64 {
        0.0
    }

    fn coordinate(&self, _: usize) -> Option<Coordinate> {
        Some(Coordinate::FREE)
    }

    fn quadratic(&self, d: usize) -> Option<(f64, Vec<f64>)> {
        Some((0.0, vec![0.0; d]))
    }
}

//! `g + (lambda/2) |theta|^2`

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Constraints, Coordinate, L1, Regularizer, Unregularized};
use crate::linalg::vector;
use crate::model::setting::{self, InvalidSetting};

/// A regulariser g with a ridge added, which makes it strongly convex.
///
/// ```text
/// h(theta)          = g(theta) + (lambda/2) |theta|^2
/// h*(v)             = <v, x> - h(x)  with  x = prox_{g/lambda}(v/lambda);  g*(v) if lambda = 0
/// prox_{alpha h}(v) = prox_{alpha s g}(s v)  with  s = 1 / (1 + alpha lambda)
/// mu                = mu of g + lambda
/// ```
///
/// The conjugate follows from `argmax_x <v, x> - g(x) - (lambda/2) |x|^2 = argmin_x g(x) +
/// (lambda/2) |x - v/lambda|^2`. With `lambda = 0` it does what g does and costs no more.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ridged<G> {
    g: G,
    #[serde(deserialize_with = "setting::read_non_negative")]
    lambda: f64,
}

/// `(lambda/2) |theta|^2`
pub type Ridge = Ridged<Unregularized>;

/// `l1 |theta|_1 + (l2/2) |theta|^2`
pub type ElasticNet = Ridged<L1>;

impl<G> Ridged<G> {
    /// `g + (lambda/2) |theta|^2`.
    ///
    /// # Errors
    /// Unless `lambda` is finite and 0 or above.
    pub fn new(g: G, lambda: f64) -> Result<Self, InvalidSetting> {
        Ok(Self { g, lambda: setting::non_negative("lambda", lambda)? })
    }

    /// The regulariser without the ridge.
    #[inline(always)]
    pub fn g(&self) -> &G {
        &self.g
    }

    /// The weight of the ridge.
    #[inline(always)]
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// `1 / (1 + alpha lambda)`
    #[inline(always)]
    fn shrinkage(&self, alpha: f64) -> f64 {
        1.0 / (1.0 + alpha * self.lambda)
    }
}

impl Ridge {
    /// `(lambda/2) |theta|^2`.
    ///
    /// # Errors
    /// Unless `lambda` is finite and 0 or above.
    pub fn from_weight(lambda: f64) -> Result<Self, InvalidSetting> {
        Self::new(Unregularized, lambda)
    }
}

impl ElasticNet {
    /// `l1 |theta|_1 + (l2/2) |theta|^2`.
    ///
    /// # Errors
    /// Unless `l1` and `l2` are finite and 0 or above.
    pub fn from_weights(l1: f64, l2: f64) -> Result<Self, InvalidSetting> {
        // The checks of `new` would call both of them lambda.
        Self::new(L1::new(setting::non_negative("l1", l1)?)?, setting::non_negative("l2", l2)?)
    }
}

impl<G: Regularizer> Regularizer for Ridged<G> {
    fn d(&self) -> Option<usize> {
        self.g.d()
    }

    fn fits(&self, d: usize) -> bool {
        self.g.fits(d)
    }

    fn value(&self, theta: &[f64]) -> f64 {
        if self.lambda == 0.0 {
            return self.g.value(theta);
        }
        self.g.value(theta) + 0.5 * self.lambda * vector::norm_squared(theta)
    }

    #[inline(always)]
    fn prox(&self, alpha: f64, theta: &mut [f64]) {
        if self.lambda == 0.0 {
            return self.g.prox(alpha, theta);
        }
        let s = self.shrinkage(alpha);
        vector::update(theta, |x| s * x);
        self.g.prox(alpha * s, theta);
    }

    /// The scaling rides along in the loop that moves theta.
    #[inline(always)]
    fn step(&self, alpha: f64, direction: &[f64], theta: &mut [f64]) {
        if self.lambda == 0.0 {
            return self.g.step(alpha, direction, theta);
        }
        let s = self.shrinkage(alpha);
        vector::update_with(theta, direction, |x, v| s * (x - alpha * v));
        self.g.prox(alpha * s, theta);
    }

    #[inline(always)]
    fn step_along_sum(&self, alpha: f64, c: f64, x: &[f64], u: &mut [f64], theta: &mut [f64]) {
        if self.lambda == 0.0 {
            return self.g.step_along_sum(alpha, c, x, u, theta);
        }
        vector::axpy(c, x, u);
        self.step(alpha, u, theta);
    }

    fn conjugate(&self, v: &[f64]) -> f64 {
        if self.lambda == 0.0 {
            return self.g.conjugate(v);
        }
        let mut x: Vec<f64> = v.iter().map(|v| v / self.lambda).collect();
        self.g.prox(1.0 / self.lambda, &mut x);
        vector::dot(v, &x) - self.value(&x)
    }

    #[inline(always)]
    fn mu(&self) -> f64 {
        self.g.mu() + self.lambda
    }

    #[inline(always)]
    fn coordinate(&self, l: usize) -> Option<Coordinate> {
        let part = self.g.coordinate(l)?;
        Some(Coordinate { l2: part.l2 + self.lambda, ..part })
    }

    fn constrained_coordinate(&self, l: usize) -> Option<Coordinate> {
        let part = self.g.constrained_coordinate(l)?;
        Some(Coordinate { l2: part.l2 + self.lambda, ..part })
    }

    fn constraints(&self) -> Option<&Arc<Constraints>> {
        self.g.constraints()
    }

    fn budgeted(&self, d: usize) -> usize {
        self.g.budgeted(d)
    }

    fn quadratic(&self, d: usize) -> Option<(f64, Vec<f64>)> {
        let (lambda, tilt) = self.g.quadratic(d)?;
        Some((lambda + self.lambda, tilt))
    }

    fn free_coordinates(&self, d: usize) -> Vec<(usize, f64)> {
        if self.lambda == 0.0 { self.g.free_coordinates(d) } else { Vec::new() }
    }
}

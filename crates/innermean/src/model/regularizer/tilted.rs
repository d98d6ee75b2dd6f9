//! `g + <tilt, theta>`

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Constraints, Coordinate, Regularizer};
use crate::linalg::vector;
use crate::model::setting::{self, InvalidSetting};

/// A regulariser g with a linear term added, such as the expected return of a portfolio with its
/// sign turned.
///
/// ```text
/// h(theta)          = g(theta) + <tilt, theta>
/// h*(v)             = g*(v - tilt)
/// prox_{alpha h}(v) = prox_{alpha g}(v - alpha tilt)
/// mu                = mu of g
/// ```
///
/// All of these panic if theta and tilt differ in length.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tilted<G> {
    g: G,
    #[serde(deserialize_with = "setting::read_all_finite")]
    tilt: Vec<f64>,
}

impl<G> Tilted<G> {
    /// `g + <tilt, theta>`.
    ///
    /// # Errors
    /// Unless every entry of `tilt` is finite.
    pub fn new(g: G, tilt: Vec<f64>) -> Result<Self, InvalidSetting> {
        Ok(Self { g, tilt: setting::all_finite("tilt", tilt)? })
    }

    /// The regulariser without the linear term.
    #[inline(always)]
    pub fn g(&self) -> &G {
        &self.g
    }

    /// The linear term.
    #[inline(always)]
    pub fn tilt(&self) -> &[f64] {
        &self.tilt
    }

    /// The tilt, known to have `d` entries: a zip of unequal lengths would stop short without a
    /// word.
    #[inline(always)]
    fn tilt_of(&self, d: usize) -> &[f64] {
        assert_eq!(self.tilt.len(), d, "tilt and theta differ in length");
        &self.tilt
    }
}

impl<G: Regularizer> Regularizer for Tilted<G> {
    fn d(&self) -> Option<usize> {
        Some(self.tilt.len())
    }

    fn fits(&self, d: usize) -> bool {
        self.tilt.len() == d && self.g.fits(d)
    }

    fn value(&self, theta: &[f64]) -> f64 {
        self.g.value(theta) + vector::dot(self.tilt_of(theta.len()), theta)
    }

    #[inline(always)]
    fn prox(&self, alpha: f64, theta: &mut [f64]) {
        vector::axpy(-alpha, self.tilt_of(theta.len()), theta);
        self.g.prox(alpha, theta);
    }

    #[inline(always)]
    fn step(&self, alpha: f64, direction: &[f64], theta: &mut [f64]) {
        let tilt = self.tilt_of(theta.len());
        // The direction, which comes last, is waited for by one operation only.
        vector::update_with_both(theta, direction, tilt, |x, v, t| {
            v.mul_add(-alpha, t.mul_add(-alpha, x))
        });
        self.g.prox(alpha, theta);
    }

    #[inline(always)]
    fn step_along_sum(&self, alpha: f64, c: f64, x: &[f64], u: &mut [f64], theta: &mut [f64]) {
        let tilt = self.tilt_of(theta.len());
        vector::update_two(u, theta, [x, tilt], |u, theta, [x, t]| {
            let u = x.mul_add(c, u);
            (u, u.mul_add(-alpha, t.mul_add(-alpha, theta)))
        });
        self.g.prox(alpha, theta);
    }

    fn conjugate(&self, v: &[f64]) -> f64 {
        let shifted: Vec<f64> = v.iter().zip(self.tilt_of(v.len())).map(|(v, t)| v - t).collect();
        self.g.conjugate(&shifted)
    }

    #[inline(always)]
    fn mu(&self) -> f64 {
        self.g.mu()
    }

    #[inline(always)]
    fn coordinate(&self, l: usize) -> Option<Coordinate> {
        let part = self.g.coordinate(l)?;
        Some(Coordinate { tilt: part.tilt + self.tilt[l], ..part })
    }

    fn constrained_coordinate(&self, l: usize) -> Option<Coordinate> {
        let part = self.g.constrained_coordinate(l)?;
        Some(Coordinate { tilt: part.tilt + self.tilt[l], ..part })
    }

    fn constraints(&self) -> Option<&Arc<Constraints>> {
        self.g.constraints()
    }

    fn budgeted(&self, d: usize) -> usize {
        self.g.budgeted(d)
    }

    fn quadratic(&self, d: usize) -> Option<(f64, Vec<f64>)> {
        let (lambda, mut tilt) = self.g.quadratic(d)?;
        vector::axpy(1.0, self.tilt_of(d), &mut tilt);
        Some((lambda, tilt))
    }

    fn barrier(&self, l: usize) -> Option<(f64, f64)> {
        let (weight, tilt) = self.g.barrier(l)?;
        Some((weight, tilt + self.tilt[l]))
    }

    fn free_coordinates(&self, d: usize) -> Vec<(usize, f64)> {
        let mut free = self.g.free_coordinates(d);
        for (l, slope) in &mut free {
            *slope += self.tilt[*l];
        }
        free
    }
}

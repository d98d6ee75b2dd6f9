//! g of the first coordinates; the others are free

use serde::{Deserialize, Serialize};

use super::{Coordinate, Regularizer};
use crate::linalg::vector;

/// A regulariser g of the first m coordinates, `theta = (head, tail)`: an intercept, or whatever
/// else is at the end of theta, is neither penalised nor constrained.
///
/// ```text
/// h(theta)          = g(head)
/// h*(v)             = g*(head of v)  if the tail of v is 0,  inf otherwise
/// prox_{alpha h}(v) = ( prox_{alpha g}(head of v), tail of v )
/// mu                = 0
/// ```
///
/// The conjugate takes a tail for zero that rounding may have left, `|tail of v| <= 1e-12 |v|`.
/// Bounds from below do without it: they balance the duals against the one coordinate that is free
/// (see [`crate::certificate`]), and compare what is left with its own terms, not with v. Default steps do not need mu: they are made for mu = 0 as well.
/// The steps of the theorems are not, and are refused.
///
/// All of these panic if theta has fewer than m coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FreeTail<G> {
    g: G,
    penalised: usize,
}

/// Of `|v|^2`: what rounding may leave of a tail that is zero.
const ROUNDING: f64 = 1e-24;

impl<G> FreeTail<G> {
    /// g of the first `penalised` coordinates. With an intercept at the end of theta, that is all
    /// but one.
    pub fn new(g: G, penalised: usize) -> Self {
        Self { g, penalised }
    }

    /// The regulariser of the first coordinates.
    #[inline(always)]
    pub fn g(&self) -> &G {
        &self.g
    }

    /// How many coordinates it looks at.
    #[inline(always)]
    pub fn penalised(&self) -> usize {
        self.penalised
    }
}

impl<G: Regularizer> Regularizer for FreeTail<G> {
    fn fits(&self, d: usize) -> bool {
        self.penalised <= d && self.g.fits(self.penalised)
    }

    fn value(&self, theta: &[f64]) -> f64 {
        self.g.value(&theta[..self.penalised])
    }

    #[inline(always)]
    fn prox(&self, alpha: f64, theta: &mut [f64]) {
        self.g.prox(alpha, &mut theta[..self.penalised]);
    }

    #[inline(always)]
    fn step(&self, alpha: f64, direction: &[f64], theta: &mut [f64]) {
        let (head, tail) = theta.split_at_mut(self.penalised);
        self.g.step(alpha, &direction[..self.penalised], head);
        vector::axpy(-alpha, &direction[self.penalised..], tail);
    }

    fn conjugate(&self, v: &[f64]) -> f64 {
        let (head, tail) = v.split_at(self.penalised);
        let left = vector::norm_squared(tail);
        // Not `left > ...`, which a NaN would pass.
        if left <= ROUNDING * (vector::norm_squared(head) + left) {
            self.g.conjugate(head)
        } else {
            f64::INFINITY
        }
    }

    #[inline(always)]
    fn mu(&self) -> f64 {
        0.0
    }

    #[inline(always)]
    fn coordinate(&self, l: usize) -> Option<Coordinate> {
        if l < self.penalised {
            return self.g.coordinate(l);
        }
        // For every l or for none: as it is with the head, if there is one.
        if self.penalised > 0 {
            self.g.coordinate(0)?;
        }
        Some(Coordinate::FREE)
    }

    /// None where the head has constraints beyond a budget, which are made for its length:
    /// [`Polyhedral`](super::Polyhedral) takes free coordinates itself.
    fn constrained_coordinate(&self, l: usize) -> Option<Coordinate> {
        if self.g.constraints().is_some() {
            return None;
        }
        if l < self.penalised {
            return self.g.constrained_coordinate(l);
        }
        if self.penalised > 0 {
            self.g.constrained_coordinate(0)?;
            return Some(Coordinate::FREE);
        }
        None
    }

    fn budgeted(&self, d: usize) -> usize {
        self.g.budgeted(self.penalised.min(d))
    }

    fn free_coordinates(&self, d: usize) -> Vec<(usize, f64)> {
        let mut free = self.g.free_coordinates(self.penalised);
        free.extend((self.penalised..d).map(|l| (l, 0.0)));
        free
    }
}

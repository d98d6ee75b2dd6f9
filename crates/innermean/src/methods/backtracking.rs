//! A step length that proves itself at no extra call.
//!
//! A step `alpha` is short enough between two points at which F and F' are known if
//! `F(y) <= F(x) + <F'(x), y - x> + |y - x|^2 / (2 alpha)`. Methods that take a gradient at every point they visit can test the
//! last step when the next gradient is there: a step that was too long costs the gradient at its end, one that was not costs
//! nothing.

use serde::{Deserialize, Serialize};

use crate::vector::{axpy_of_difference, distance_squared, dot};

/// By how much of |F| the two sides may differ: rounding of a sum of many terms.
pub(super) const SLACK: f64 = 1e-12;

/// The step and the last point at which it was found short enough.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Backtracking {
    pub(super) alpha: f64,
    /// x
    point: Vec<f64>,
    /// `F'(x)`
    gradient: Vec<f64>,
    /// `F(x)`; infinite while there is no point yet
    loss: f64,
    /// y - x
    change: Vec<f64>,
}

impl Backtracking {
    pub(super) fn new(d: usize, alpha: f64) -> Self {
        let zeros = vec![0.0; d];
        Backtracking {
            alpha,
            point: zeros.clone(),
            gradient: zeros.clone(),
            loss: f64::INFINITY,
            change: zeros,
        }
    }

    /// x, if there is one.
    pub(super) fn point(&self) -> Option<&[f64]> {
        self.in_use().then_some(&self.point)
    }

    /// Whether steps are tested.
    pub(super) fn in_use(&self) -> bool {
        self.loss < f64::INFINITY
    }

    /// Forgets the point: F has become another.
    pub(super) fn forget(&mut self) {
        self.loss = f64::INFINITY;
    }

    /// Whether the step from x to y was short enough. If so, y becomes the point; if not, alpha is halved and y, F' and F are those at
    /// x again.
    pub(super) fn accepts(&mut self, y: &mut [f64], gradient: &mut [f64], loss: &mut f64) -> bool {
        if !self.in_use()
            || is_below_parabola(
                (&self.point, self.loss, &self.gradient),
                (y, *loss),
                self.alpha,
                &mut self.change,
            )
        {
            self.point.copy_from_slice(y);
            self.gradient.copy_from_slice(gradient);
            self.loss = *loss;
            return true;
        }
        self.alpha *= 0.5;
        y.copy_from_slice(&self.point);
        gradient.copy_from_slice(&self.gradient);
        *loss = self.loss;
        false
    }
}

/// `F(y) <= F(x) + <F'(x), y - x> + |y - x|^2 / (2 alpha)`, up to rounding; `work` has the length of x. Not so where F(y) is not a
/// number.
pub(super) fn is_below_parabola(
    (x, loss_x, gradient): (&[f64], f64, &[f64]),
    (y, loss_y): (&[f64], f64),
    alpha: f64,
    work: &mut [f64],
) -> bool {
    work.fill(0.0);
    axpy_of_difference(1.0, y, x, work);
    let above = dot(gradient, work) + distance_squared(y, x) / (2.0 * alpha);
    loss_y <= loss_x + above + SLACK * loss_x.abs()
}

//! A step length that proves itself at no extra call.
//!
//! A step `alpha` is short enough between two points at which F and F' are known if `F(y) <= F(x) +
//! <F'(x), y - x> + |y - x|^2 / (2 alpha)`. Methods that take a gradient at every point they visit
//! can test the last step when the next gradient is there: a step that was too long costs the
//! gradient at its end, one that was not costs nothing.

use serde::{Deserialize, Serialize};

use crate::linalg::vector::{dot, norm_squared, update_with_both};

/// By how much of |F| the two sides may differ: rounding of a sum of many terms.
pub(super) const SLACK: f64 = 1e-12;

/// By which a step grows that was short enough: F may be flatter elsewhere. It is refused once in
/// 14 times, no more.
const GROWTH: f64 = 1.05;
/// How far above rounding the test must be to say anything about longer steps.
const ABOVE_ROUNDING: f64 = 1e4;

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

    /// Whether steps are tested.
    pub(super) fn in_use(&self) -> bool {
        self.loss < f64::INFINITY
    }

    /// Whether the step from x to y was short enough. If so, y becomes the point, and alpha a
    /// little longer; if not, alpha is halved and y, F' and F are those at x again.
    pub(super) fn accepts(&mut self, y: &mut [f64], gradient: &mut [f64], loss: &mut f64) -> bool {
        let x = (&*self.point, self.loss, &*self.gradient);
        if self.in_use() && !is_below_parabola(x, (y, *loss), self.alpha, &mut self.change) {
            self.alpha *= 0.5;
            y.copy_from_slice(&self.point);
            gradient.copy_from_slice(&self.gradient);
            *loss = self.loss;
            return false;
        }
        let rise = norm_squared(&self.change) / (2.0 * self.alpha);
        if self.in_use() && rise > ABOVE_ROUNDING * SLACK * self.loss.abs() {
            self.alpha *= GROWTH;
        }
        self.point.copy_from_slice(y);
        self.gradient.copy_from_slice(gradient);
        self.loss = *loss;
        true
    }
}

/// `F(y) <= F(x) + <F'(x), y - x> + |y - x|^2 / (2 alpha)`, up to rounding; `change` becomes y - x.
/// Not so where F(y) is not a number.
pub(super) fn is_below_parabola(
    (x, loss_x, gradient): (&[f64], f64, &[f64]),
    (y, loss_y): (&[f64], f64),
    alpha: f64,
    change: &mut [f64],
) -> bool {
    update_with_both(change, y, x, |_, y, x| y - x);
    let rise = dot(gradient, change) + norm_squared(change) / (2.0 * alpha);
    loss_y <= loss_x + rise + SLACK * loss_x.abs()
}

//! Momentum with restarts: FISTA of Beck and Teboulle, "A Fast Iterative Shrinkage-Thresholding
//! Algorithm for Linear Inverse Problems", SIAM J. Imaging Sciences 2009, with the gradient scheme
//! of O'Donoghue and Candes, "Adaptive Restart for Accelerated Gradient Schemes", Found. Comput.
//! Math. 2015, Section 3.2: momentum that points uphill is dropped.

use serde::{Deserialize, Serialize};

use crate::linalg::vector::{dot_of_differences, update_with_both};

/// Theta with its momentum.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Momentum {
    /// `x_k`
    pub(super) theta: Vec<f64>,
    /// The point ahead of `x_k` at which the gradient is taken next
    pub(super) y: Vec<f64>,
    /// `x_{k-1}`
    pub(super) last: Vec<f64>,
    /// `t_k`
    t: f64,
    /// `t_{k-1}`
    last_t: f64,
}

impl Momentum {
    /// At rest.
    pub(super) fn new(theta: &[f64]) -> Self {
        Momentum {
            theta: theta.to_vec(),
            y: theta.to_vec(),
            last: theta.to_vec(),
            t: 1.0,
            last_t: 1.0,
        }
    }

    /// Takes back the last step, up to y, which the caller sets.
    pub(super) fn step_back(&mut self) {
        self.theta.copy_from_slice(&self.last);
        self.t = self.last_t;
    }

    /// One step, where `descend` takes y to `prox_{alpha g}(y - alpha F'(y))`; a plain one comes to
    /// rest at once.
    #[inline(always)]
    pub(super) fn step(&mut self, accelerated: bool, descend: impl FnOnce(&mut [f64])) {
        // x_k = prox_{alpha g}(y_k - alpha F'(y_k))
        self.last_t = self.t;
        self.last.copy_from_slice(&self.theta);
        self.theta.copy_from_slice(&self.y);
        descend(&mut self.theta);
        if !accelerated {
            return self.y.copy_from_slice(&self.theta);
        }
        // <y_k - x_k, x_k - x_{k-1}> > 0: t_k = 1
        let uphill = dot_of_differences(&self.y, &self.theta, &self.theta, &self.last) > 0.0;
        // Differs: momentum is dropped at once, not after one more step with it.
        let t = if uphill { 1.0 } else { self.t };
        // t_{k+1} = (1 + sqrt(1 + 4 t_k^2)) / 2
        self.t = 0.5 * (1.0 + (1.0 + 4.0 * t * t).sqrt());
        // y_{k+1} = x_k + ((t_k - 1) / t_{k+1}) (x_k - x_{k-1})
        let beta = (t - 1.0) / self.t;
        update_with_both(&mut self.y, &self.theta, &self.last, |_, x, last| x + beta * (x - last));
    }
}

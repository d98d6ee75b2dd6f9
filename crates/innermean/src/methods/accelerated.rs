//! Accelerated proximal gradient: FISTA of Beck and Teboulle, "A Fast Iterative
//! Shrinkage-Thresholding Algorithm for Linear Inverse Problems", SIAM J. Imaging Sciences 2009,
//! with the gradient scheme of O'Donoghue and Candes, "Adaptive Restart for Accelerated Gradient
//! Schemes", Found. Comput. Math. 2015, Section 3.2: momentum that points uphill is dropped.
//!
//! Asks of the problem: a smooth phi and a prox of g. Where P is strongly convex the rate is
//! linear, about `1 - sqrt(mu/L)` for each step, without knowing mu. Per step: one whole gradient.
//! Storage: `2 n_X ell` for averages and duals.
//!
//! Differs: where f is not affine, a step is judged by the loss at the next point where the
//! gradient is taken, which is at hand, and not by that at the iterate, which FISTA would ask for.

use serde::{Deserialize, Serialize};

use super::backtracking::Backtracking;
use super::{Ask, Family, Form, Listed, Method, MethodInfo, Rate};
use crate::linalg::vector::{dot_of_differences, update_with_both};
use crate::model::problem::Objective;
use crate::model::setting::positive;
use crate::oracle::Oracle;
use crate::tuning::choice::{Choice, ChoiceError, Knob};
use crate::tuning::curvature;

/// The table's row.
pub const INFO: MethodInfo = MethodInfo {
    name: "apg",
    title: "Accelerated gradient",
    family: Family::Batch,
    summary: "proximal steps along the whole gradient with momentum and restarts",
    reference: "Beck and Teboulle 2009 (FISTA); O'Donoghue and Candes 2015",
    storage: "n_X ell",
    rate: Rate::Linear,
    form: Form::Given,
    asks: &[Ask::SmoothMerit],
    settings: &[Knob::AlphaTheta],
};

/// Accelerated gradient with its step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Accelerated {
    /// The step; where f is not affine the first one, which grows slowly and is halved whenever it
    /// proves too long.
    pub alpha_theta: f64,
}

/// Theta with its momentum.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Momentum {
    /// `x_k`
    pub(super) theta: Vec<f64>,
    /// The point ahead of `x_k` at which the gradient is taken next
    pub(super) y: Vec<f64>,
    /// `x_{k-1}`
    last: Vec<f64>,
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

    /// At rest at theta.
    pub(super) fn rest_at(&mut self, theta: &[f64]) {
        self.theta.copy_from_slice(theta);
        self.rest();
    }

    /// At rest where it is.
    pub(super) fn rest(&mut self) {
        self.y.copy_from_slice(&self.theta);
        self.last.copy_from_slice(&self.theta);
        self.t = 1.0;
    }

    /// Takes back the last step, up to y, which the caller sets.
    pub(super) fn step_back(&mut self) {
        self.theta.copy_from_slice(&self.last);
        self.t = self.last_t;
    }

    /// One step, where `descend` takes y to `prox_{alpha g}(y - alpha F'(y))`.
    #[inline(always)]
    pub(super) fn step(&mut self, descend: impl FnOnce(&mut [f64])) {
        // x_k = prox_{alpha g}(y_k - alpha F'(y_k))
        self.last_t = self.t;
        self.last.copy_from_slice(&self.theta);
        self.theta.copy_from_slice(&self.y);
        descend(&mut self.theta);
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

/// Theta with its momentum, and the batch quantities at y.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    momentum: Momentum,
    f_bar: Vec<f64>,
    w: Vec<f64>,
    gradient: Vec<f64>,
    loss: f64,
    step: Backtracking,
}

impl Listed for Accelerated {
    const INFO: MethodInfo = INFO;

    /// `alpha = 1/L`.
    fn settings(
        choice: &Choice,
        problem: Objective<'_>,
        theta: &[f64],
    ) -> Result<Self, ChoiceError> {
        let alpha_theta = choice.alpha_theta.unwrap_or_else(|| curvature::step(problem, theta));
        Ok(Accelerated { alpha_theta: positive("alpha_theta", alpha_theta)? })
    }
}

impl Method for Accelerated {
    type State = State;

    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> State {
        let size = oracle.n_x() * oracle.ell();
        State {
            momentum: Momentum::new(theta),
            f_bar: vec![0.0; size],
            w: vec![0.0; size],
            gradient: vec![0.0; oracle.d()],
            loss: 0.0,
            step: Backtracking::new(oracle.d(), self.alpha_theta),
        }
    }

    fn outer(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        s.loss = oracle.gradient(&s.momentum.y, &mut s.f_bar, &mut s.w, &mut s.gradient);
    }

    fn inner_iterations(&self, _: &State) -> usize {
        1
    }

    fn inner(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        // What the curvature of f adds to L is not known: if the last step was too long, back to
        // where it began.
        if !oracle.facts().affine
            && !s.step.accepts(&mut s.momentum.y, &mut s.gradient, &mut s.loss)
        {
            s.momentum.step_back();
        }
        let State { momentum, gradient, step, .. } = s;
        momentum.step(|y| oracle.g().step(step.alpha, gradient, y));
    }

    /// Where f is not affine, the last point whose step has proved short enough.
    fn theta<'s>(&self, s: &'s State) -> &'s [f64] {
        if s.step.in_use() { &s.momentum.last } else { &s.momentum.theta }
    }
}

//! Proximal gradient descent, `theta <- prox_{alpha g}(theta - alpha F'(theta))`, plain and
//! accelerated by momentum with restarts (`momentum.rs`).
//!
//! Asks of the problem: a smooth phi and a prox of g. Linear rate where P is strongly convex: with
//! `alpha = 1/L` a step leaves `1 - mu/L` of the gap, with momentum about `1 - sqrt(mu/L)`, without
//! knowing mu. Per step: one whole gradient. Storage: `2 n_X ell` for averages and duals.
//!
//! Differs: where f is not affine, a step is judged by the loss at the next point where the
//! gradient is taken, which is at hand, and not by that at the iterate, which FISTA would ask for.

use serde::{Deserialize, Serialize};

use super::backtracking::Backtracking;
use super::momentum::Momentum;
use super::{Ask, Chosen, Family, Form, Listed, Method, MethodInfo, Rate};
use crate::model::problem::Objective;
use crate::oracle::Oracle;
use crate::tuning::choice::{Choice, Knob};
use crate::tuning::curvature;

/// Proximal gradient steps, with or without momentum.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProximalGradient<const MOMENTUM: bool> {
    /// The step; where f is not affine the first one, which grows slowly and is halved whenever it
    /// proves too long.
    pub alpha_theta: f64,
}

/// Without momentum.
pub type GradientDescent = ProximalGradient<false>;
/// With momentum and restarts.
pub type Accelerated = ProximalGradient<true>;

/// Theta with its momentum, and the batch quantities at y, which is theta without momentum.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    momentum: Momentum,
    f_bar: Vec<f64>,
    w: Vec<f64>,
    gradient: Vec<f64>,
    loss: f64,
    step: Backtracking,
}

const PLAIN: MethodInfo = MethodInfo {
    name: "gd",
    title: "Gradient descent",
    family: Family::Batch,
    summary: "proximal steps along the whole gradient",
    reference: "Cauchy 1847; with a prox, Beck and Teboulle 2009 (ISTA)",
    storage: "n_X ell",
    rate: Rate::Linear,
    form: Form::Given,
    asks: &[Ask::SmoothMerit],
    settings: &[Knob::AlphaTheta],
};

const ACCELERATED: MethodInfo = MethodInfo {
    name: "apg",
    title: "Accelerated gradient",
    summary: "proximal steps along the whole gradient with momentum and restarts",
    reference: "Beck and Teboulle 2009 (FISTA); O'Donoghue and Candes 2015",
    ..PLAIN
};

impl<const MOMENTUM: bool> Listed for ProximalGradient<MOMENTUM> {
    const INFO: MethodInfo = if MOMENTUM { ACCELERATED } else { PLAIN };

    /// `alpha = 1/L`.
    fn settings(choice: &Choice, problem: Objective<'_>, theta: &[f64]) -> Chosen<Self> {
        let alpha_theta = choice.alpha_theta(|| curvature::step(problem, theta))?;
        Ok(ProximalGradient { alpha_theta })
    }
}

impl<const MOMENTUM: bool> Method for ProximalGradient<MOMENTUM> {
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
        s.loss = oracle.pass().gradient(&s.momentum.y, &mut s.f_bar, &mut s.w, &mut s.gradient);
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
        momentum.step(MOMENTUM, |y| oracle.g().step(step.alpha, gradient, y));
    }

    /// Where f is not affine, the last point whose step has proved short enough.
    fn theta<'s>(&self, s: &'s State) -> &'s [f64] {
        if s.step.in_use() { &s.momentum.last } else { &s.momentum.theta }
    }
}

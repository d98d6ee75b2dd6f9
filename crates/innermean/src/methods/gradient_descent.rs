//! Proximal gradient descent: `theta <- prox_{alpha g}(theta - alpha F'(theta))`.
//!
//! Asks of the problem: a smooth phi and a prox of g. Linear rate where P is strongly convex, `(1 -
//! mu/L)` for each step with `alpha = 1/L`. Per step: one whole gradient. Storage: `2 n_X ell` for
//! averages and duals.

use serde::{Deserialize, Serialize};

use super::backtracking::Backtracking;
use super::{Ask, Family, Form, Listed, Method, MethodInfo, Rate};
use crate::model::problem::Objective;
use crate::model::setting::positive;
use crate::oracle::Oracle;
use crate::tuning::choice::{Choice, ChoiceError, Knob};
use crate::tuning::curvature;

/// The table's row.
pub const INFO: MethodInfo = MethodInfo {
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

/// Gradient descent with its step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GradientDescent {
    /// The step; where f is not affine the first one, which grows slowly and is halved whenever it
    /// proves too long.
    pub alpha_theta: f64,
}

/// Theta and the batch quantities at it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
    f_bar: Vec<f64>,
    w: Vec<f64>,
    gradient: Vec<f64>,
    loss: f64,
    step: Backtracking,
}

impl Listed for GradientDescent {
    const INFO: MethodInfo = INFO;

    /// `alpha = 1/L`.
    fn settings(
        choice: &Choice,
        problem: Objective<'_>,
        theta: &[f64],
    ) -> Result<Self, ChoiceError> {
        let alpha_theta = choice.alpha_theta.unwrap_or_else(|| curvature::step(problem, theta));
        Ok(GradientDescent { alpha_theta: positive("alpha_theta", alpha_theta)? })
    }
}

impl Method for GradientDescent {
    type State = State;

    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> State {
        let size = oracle.n_x() * oracle.ell();
        State {
            theta: theta.to_vec(),
            f_bar: vec![0.0; size],
            w: vec![0.0; size],
            gradient: vec![0.0; oracle.d()],
            loss: 0.0,
            step: Backtracking::new(oracle.d(), self.alpha_theta),
        }
    }

    fn outer(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        s.loss = oracle.gradient(&s.theta, &mut s.f_bar, &mut s.w, &mut s.gradient);
    }

    fn inner_iterations(&self, _: &State) -> usize {
        1
    }

    fn inner(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        if !oracle.facts().affine {
            // What the curvature of f adds to L is not known: if the last step was too long, back
            // to where it began.
            s.step.accepts(&mut s.theta, &mut s.gradient, &mut s.loss);
        }
        oracle.g().step(s.step.alpha, &s.gradient, &mut s.theta);
    }

    /// Where f is not affine, the last point to which the step has proved short enough.
    fn theta<'s>(&self, s: &'s State) -> &'s [f64] {
        s.step.point().unwrap_or(&s.theta)
    }
}

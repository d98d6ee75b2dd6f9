//! The linear model of the prox-linear method, and the judgement of its candidates.

use serde::{Deserialize, Serialize};

use crate::linalg::vector::distance_squared;
use crate::methods::backtracking::{Backtracking, SLACK};
use crate::methods::momentum::Momentum;
use crate::model::collapse::Collapsed;
use crate::oracle::Oracle;

/// A candidate is accepted if P falls by this part of what the model said.
const ENOUGH: f64 = 0.1;
/// Where P falls by this part of it, the model is good and eta grows.
const GOOD: f64 = 0.75;
/// By which eta grows; a refused one is divided by it.
const GROWTH: f64 = 4.0;

/// The linear model at `theta_t` and where the inner steps on it have come.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    /// `theta_t`
    pub(super) theta: Vec<f64>,
    /// `P(theta_t)`; infinite before the first linearisation
    pub(super) objective: f64,
    pub(super) eta: f64,
    /// `|theta_t - theta_{t-1}|^2`
    pub(super) length: f64,
    pub(super) model: Collapsed,
    pub(super) inner: Momentum,
    pub(super) step: Backtracking,
    /// The model's loss and its gradient at y
    pub(super) loss: f64,
    pub(super) gradient: Vec<f64>,
    /// `phi_i'` at the model's averages
    pub(super) w: Vec<f64>,
    pub(super) direction: Vec<f64>,
}

impl State {
    /// The model's loss and gradient at y, the point from which the next inner step starts.
    #[inline(always)]
    pub(super) fn look(&mut self, oracle: &mut Oracle<'_>) {
        self.loss = oracle.model(&self.model).sweep(&self.inner.y, &mut self.w, &mut self.gradient);
    }

    /// Linearises at the point where the inner steps are, which then rest. Returns P there, where
    /// the model is exact.
    pub(super) fn linearise(&mut self, oracle: &mut Oracle<'_>) -> f64 {
        oracle.pass().linearise(&self.inner.theta, &mut self.model);
        self.inner.rest();
        self.step.forget();
        self.look(oracle);
        self.loss + oracle.g().value(&self.inner.theta)
    }

    /// Whether P has fallen from `theta_t` to the candidate as the model said; eta learns from it.
    /// Where the fall is lost in rounding, it learns from the length of the step, which must become
    /// shorter.
    pub(super) fn judge(&mut self, predicted: f64, objective: f64) -> bool {
        let slack = SLACK * (self.objective.abs() + self.loss.abs());
        let (expected, fallen) = (self.objective - predicted, self.objective - objective);
        let length = distance_squared(&self.theta, &self.inner.theta);
        let enough =
            objective.is_finite() && fallen >= -slack && fallen >= ENOUGH * expected - slack;
        let lost = expected <= slack / SLACK.sqrt();
        if !enough || lost && length > self.length {
            self.eta /= GROWTH;
        } else if !lost && fallen >= GOOD * expected {
            self.eta *= GROWTH;
        }
        self.length = length;
        enough
    }
}

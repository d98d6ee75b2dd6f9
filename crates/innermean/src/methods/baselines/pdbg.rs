//! PDBG: batch primal-dual gradient steps for the projected Bellman error, Algorithm 1 of Du, Chen,
//! Li, Xiao and Zhou, "Stochastic Variance Reduction Methods for Policy Evaluation", ICML 2017.
//!
//! Asks of the problem: one outer term, a quadratic form as phi and an affine f (see `field.rs`).
//! Linear rate where A and C are regular. Per step: the whole field, `T` values of f and `T`
//! products with f'; products with C belong to `phi*` and are free. Storage: a few vectors of
//! length d.

use serde::{Deserialize, Serialize};

use super::field::{FieldSteps, Follows, SETTINGS, Saddle};
use crate::linalg::vector::Aligned;
use crate::methods::{Ask, Chosen, Family, Form, Listed, Method, MethodInfo, Rate};
use crate::model::problem::Objective;
use crate::oracle::Oracle;
use crate::tuning::choice::Choice;

/// PDBG with its steps.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pdbg(pub FieldSteps);

/// Theta and w.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    at: Saddle,
    work: Aligned,
}

impl Listed for Pdbg {
    const INFO: MethodInfo = MethodInfo {
        name: "pdbg",
        title: "PDBG",
        family: Family::PolicyEvaluation,
        summary: "primal-dual steps along the whole field",
        reference: "Du et al. 2017, Algorithm 1",
        storage: "d",
        rate: Rate::Linear,
        form: Form::Given,
        asks: &[Ask::QuadraticForm],
        settings: SETTINGS,
    };

    fn settings(choice: &Choice, problem: Objective<'_>, theta: &[f64]) -> Chosen<Self> {
        Ok(Pdbg(FieldSteps::choose(choice, problem, theta, Follows::All)?))
    }
}

impl Method for Pdbg {
    type State = State;

    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> State {
        State { at: Saddle::new(theta, oracle.ell()), work: Aligned::zeros(oracle.ell()) }
    }

    /// Differs: theta follows the new w, where the paper moves both at once. That makes steps
    /// stable that are larger by the condition number of C.
    #[inline(always)]
    fn inner(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        // w <- w + alpha_w (fbar(theta) - C w)
        s.at.mean_ascent(oracle, &mut s.work);
        s.at.ascend(self.0.alpha_w);
        // theta <- prox(theta - alpha_theta fbar' w)
        s.at.mean_descent(oracle);
        s.at.descend(oracle, self.0.alpha_theta);
    }

    fn theta<'s>(&self, s: &'s State) -> &'s [f64] {
        &s.at.theta
    }

    fn duals<'s>(&self, s: &'s State) -> Option<&'s [f64]> {
        Some(&s.at.w)
    }
}

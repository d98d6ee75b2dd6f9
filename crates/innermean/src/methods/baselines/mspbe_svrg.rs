//! SVRG for the projected Bellman error: Algorithm 2 of Du, Chen, Li, Xiao and Zhou, "Stochastic
//! Variance Reduction Methods for Policy Evaluation", ICML 2017.
//!
//! Asks of the problem: one outer term, a quadratic form as phi and an affine f (see `field.rs`).
//! Linear rate where A and C are regular. Per step: 2 values of f and 1 product with f' (which does
//! not depend on theta), time `O(d)`. A reference point costs `T` values and `T` products. Products
//! with C belong to `phi*` and are free. Storage: a few vectors of length d.

use serde::{Deserialize, Serialize};

use super::field::{FieldSteps, Follows, Saddle};
use crate::draws::Stream;
use crate::linalg::vector::{Aligned, axpy, update_with_both};
use crate::methods::{Ask, Chosen, Family, Form, Guarded, Listed, Method, MethodInfo, Rate};
use crate::model::problem::Objective;
use crate::oracle::Oracle;
use crate::tuning::choice::{Choice, Knob};

/// SVRG with its settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MspbeSvrg {
    /// The steps.
    #[serde(flatten)]
    pub steps: FieldSteps,
    /// The inner steps for each reference point.
    pub inner_iterations: usize,
    /// The seed of the draws.
    pub seed: u64,
}

/// Theta and w, the reference point and the field at it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    at: Saddle,
    reference: Saddle,
    /// `w - w_ref`
    delta: Aligned,
    work: Aligned,
    draws: Stream,
}

/// Steps over T for each reference point. Of 1, 2 and 5 about equal on random chains.
const EPOCH: usize = 2;

impl Listed for MspbeSvrg {
    const INFO: MethodInfo = MethodInfo {
        name: "mspbe-svrg",
        title: "SVRG for MSPBE",
        family: Family::PolicyEvaluation,
        summary: "the field of single samples, corrected at a reference point",
        reference: "Du et al. 2017, Algorithm 2",
        storage: "d",
        rate: Rate::Linear,
        form: Form::Given,
        asks: &[Ask::QuadraticForm],
        settings: &[Knob::AlphaTheta, Knob::AlphaW, Knob::InnerIterations],
    };

    fn settings(choice: &Choice, problem: Objective<'_>, theta: &[f64]) -> Chosen<Self> {
        let inner_iterations = choice.inner_iterations(EPOCH * problem.inner.n_y(0))?;
        let steps = FieldSteps::choose(choice, problem, theta, Follows::Single)?;
        Ok(MspbeSvrg { steps, inner_iterations, seed: choice.seed })
    }
}

impl Method for MspbeSvrg {
    type State = State;

    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> State {
        let ell = oracle.ell();
        State {
            at: Saddle::new(theta, ell),
            reference: Saddle::new(theta, ell),
            delta: Aligned::zeros(ell),
            work: Aligned::zeros(ell),
            draws: Stream::new(self.seed, 0),
        }
    }

    fn outer(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        s.reference.theta.copy_from_slice(&s.at.theta);
        s.reference.w.copy_from_slice(&s.at.w);
        s.reference.mean_ascent(oracle, &mut s.work);
        s.reference.mean_descent(oracle);
    }

    fn inner_iterations(&self, _: &State) -> usize {
        self.inner_iterations
    }

    /// Differs: theta follows the new w, as in `pdbg.rs`.
    #[inline(always)]
    fn inner(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        let t = s.draws.index(oracle.n_y(0));
        // f_t(theta) - f_t(theta_ref) - c_t c_t' (w - w_ref) + fbar(theta_ref) - C w_ref
        oracle.difference(&s.at.theta, &s.reference.theta, 0, t, &mut s.work, &mut s.at.ascent);
        update_with_both(&mut s.delta, &s.at.w, &s.reference.w, |_, w, w_ref| w - w_ref);
        oracle.form().add_sample_product(t, &s.delta, -1.0, &mut s.at.ascent);
        axpy(1.0, &s.reference.ascent, &mut s.at.ascent);
        s.at.ascend(self.steps.alpha_w);
        // f_t' (w - w_ref) + fbar' w_ref
        update_with_both(&mut s.delta, &s.at.w, &s.reference.w, |_, w, w_ref| w - w_ref);
        s.at.descent.copy_from_slice(&s.reference.descent);
        oracle.add_jac_t(&s.at.theta, 0, t, &s.delta, 1.0, &mut s.at.descent);
        s.at.descend(oracle, self.steps.alpha_theta);
    }

    fn guarded(&mut self) -> Option<Guarded<'_>> {
        self.steps.guarded(Some(&mut self.inner_iterations), &mut self.seed)
    }

    fn theta<'s>(&self, s: &'s State) -> &'s [f64] {
        &s.at.theta
    }

    fn duals<'s>(&self, s: &'s State) -> Option<&'s [f64]> {
        Some(&s.at.w)
    }
}

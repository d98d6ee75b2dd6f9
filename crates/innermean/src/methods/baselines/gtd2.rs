//! GTD2: Sutton, Maei, Precup, Bhatnagar, Silver, Szepesvari and Wiewiora, "Fast Gradient-Descent
//! Methods for Temporal-Difference Learning with Linear Function Approximation", ICML 2009; with
//! the prox of g as in Liu et al. 2015.
//!
//! Asks of the problem: one outer term, a quadratic form as phi and an affine f (see `field.rs`).
//! No variance reduction: with steps that fall like `k^-3/4` the gap falls like a power of k. Per
//! step: 1 value of f and 1 product with f', time `O(d)`; products with C belong to `phi*` and are
//! free. Storage: a few vectors of length d.

use serde::{Deserialize, Serialize};

use super::decay::Decay;
use super::field::{FieldSteps, Follows, SETTINGS, Saddle};
use crate::draws::Stream;
use crate::methods::{Ask, Chosen, Family, Form, Guarded, Listed, Method, MethodInfo, Noise, Rate};
use crate::model::problem::Objective;
use crate::oracle::Oracle;
use crate::tuning::choice::Choice;

/// GTD2 with its steps.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gtd2 {
    /// The first alpha.
    pub alpha_theta: f64,
    /// The first beta.
    pub alpha_w: f64,
    /// How the steps fall.
    #[serde(flatten)]
    pub decay: Decay,
    /// The steps of an outer iteration.
    pub inner_iterations: usize,
    /// Whether no step was given: then the safeguard watches over it.
    pub guarded: bool,
    /// The seed of the draws.
    pub seed: u64,
}

/// Theta and w.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    at: Saddle,
    k: u64,
    draws: Stream,
}

/// Passes over the samples until the steps have begun to fall. Found on random chains.
const PASSES: f64 = 4.0;
/// Between 1/2, below which noise does not average out, and 1, at which steps that are too small
/// stay so for ever.
const POWER: f64 = 0.75;

impl Listed for Gtd2 {
    const INFO: MethodInfo = MethodInfo {
        name: "gtd2",
        title: "GTD2",
        family: Family::PolicyEvaluation,
        summary: "plain steps along the field of single samples",
        reference: "Sutton et al. 2009",
        storage: "d",
        rate: Rate::Sublinear,
        form: Form::Given,
        asks: &[Ask::QuadraticForm],
        settings: SETTINGS,
    };

    fn settings(choice: &Choice, problem: Objective<'_>, theta: &[f64]) -> Chosen<Self> {
        let steps = FieldSteps::choose(choice, problem, theta, Follows::Single)?;
        let period = PASSES * problem.inner.n_y(0) as f64;
        Ok(Gtd2 {
            alpha_theta: steps.alpha_theta,
            alpha_w: steps.alpha_w,
            decay: Decay { period, power: POWER },
            inner_iterations: problem.inner.n_y(0),
            guarded: choice.leaves_steps(),
            seed: choice.seed,
        })
    }
}

impl Method for Gtd2 {
    type State = State;

    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> State {
        State { at: Saddle::new(theta, oracle.ell()), k: 0, draws: Stream::new(self.seed, 0) }
    }

    fn inner_iterations(&self, _: &State) -> usize {
        self.inner_iterations
    }

    #[inline(always)]
    fn inner(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        let t = s.draws.index(oracle.n_y(0));
        // Both along the field at the old point: a w that had seen sample t would bias the other
        // half.
        s.at.sample_ascent(oracle, t);
        s.at.sample_descent(oracle, t);
        let decay = self.decay.at(s.k);
        s.at.ascend(decay * self.alpha_w);
        s.at.descend(oracle, decay * self.alpha_theta);
        s.k += 1;
    }

    fn guarded(&mut self) -> Option<Guarded<'_>> {
        self.guarded.then_some(Guarded {
            alpha_theta: &mut self.alpha_theta,
            alpha_w: Some(&mut self.alpha_w),
            inner_iterations: None,
            seed: &mut self.seed,
        })
    }

    fn noise(&self) -> Noise {
        Noise::Stays
    }

    fn restart(&self, oracle: &mut Oracle<'_>, s: &mut State, theta: &[f64]) {
        // Steps fall on from where they were.
        *s = State { k: s.k, ..self.init(oracle, theta) };
    }

    fn theta<'s>(&self, s: &'s State) -> &'s [f64] {
        &s.at.theta
    }

    fn duals<'s>(&self, s: &'s State) -> Option<&'s [f64]> {
        Some(&s.at.w)
    }
}

//! SOX: Algorithm 1 of Wang and Yang, "Finite-Sum Coupled Compositional Stochastic Optimization:
//! Theory and Applications", ICML 2022. The box is in `averaged.rs`; here is its line for
//! `u_i`.
//!
//! Asks of the problem: a smooth phi (not its conjugate, and not that it be convex) and a prox of
//! g. No linear rate: steps must fall, and the gap falls like a power of the number of steps. Per
//! step, with B outer terms and b samples of each: `B b` values of f, `B b` products with f' and B
//! gradients of phi; once, `n_X b` values. Storage: `n_X ell` for the estimates.

use serde::Serialize;

use super::averaged::{Averaged, SETTINGS, State};
use crate::methods::{Ask, Chosen, Family, Form, Guarded, Listed, Method, MethodInfo, Noise, Rate};
use crate::model::problem::Objective;
use crate::oracle::Oracle;
use crate::tuning::choice::Choice;

/// SOX with its settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sox(pub Averaged);

/// The first step on theta times the curvature of a sampled term. On random least squares and
/// softplus problems and on generated markets, four times as much is stable and noisier by as much;
/// an eighth is slow on markets.
const PRIMAL: f64 = 0.125;

impl Listed for Sox {
    const INFO: MethodInfo = MethodInfo {
        name: "sox",
        title: "SOX",
        family: Family::Composition,
        summary: "running averages of values and of gradients, over mini-batches of terms",
        reference: "Wang and Yang 2022, Algorithm 1",
        storage: "n_X ell",
        rate: Rate::Sublinear,
        form: Form::Given,
        asks: &[Ask::SmoothMerit],
        settings: SETTINGS,
    };

    fn settings(choice: &Choice, problem: Objective<'_>, theta: &[f64]) -> Chosen<Self> {
        Ok(Sox(Averaged::choose(choice, problem, theta, |_| PRIMAL)?))
    }
}

impl Method for Sox {
    type State = State;

    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> State {
        self.0.init(oracle, theta)
    }

    fn inner_iterations(&self, _: &State) -> usize {
        self.0.inner_iterations
    }

    /// `u_i <- (1 - beta) u_i + beta fhat_i(theta)`
    #[inline(always)]
    fn inner(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        self.0.step(
            oracle,
            s,
            false,
            #[inline(always)]
            |beta, u, now, _| u + beta * (now - u),
        );
    }

    fn guarded(&mut self) -> Option<Guarded<'_>> {
        self.0.guarded()
    }

    fn noise(&self) -> Noise {
        Noise::Stays
    }

    fn restart(&self, oracle: &mut Oracle<'_>, s: &mut State, theta: &[f64]) {
        self.0.restart(oracle, s, theta);
    }

    fn theta<'s>(&self, s: &'s State) -> &'s [f64] {
        &s.at.theta
    }
}

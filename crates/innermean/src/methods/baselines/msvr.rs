//! MSVR: the first algorithm (v1) of Jiang, Li, Wang, Zhang and Yang, "Multi-block-Single-probe
//! Variance Reduced Estimator for Coupled Compositional Optimization", NIPS 2022. The box is in
//! `averaged.rs`; here is its line for `u_i`.
//!
//! Asks of the problem: a smooth phi (not its conjugate, and not that it be convex) and a prox of
//! g. No linear rate: steps must fall, and the gap falls like a power of the number of steps. Per
//! step, with B outer terms and b samples of each: `2 B b` values of f, `B b` products with f' and
//! B gradients of phi; once, `n_X b` values. Storage: `n_X ell` for the estimates.

use serde::Serialize;

use super::averaged::{Averaged, SETTINGS, State};
use super::estimates::Batches;
use crate::methods::{Ask, Chosen, Family, Form, Guarded, Listed, Method, MethodInfo, Noise, Rate};
use crate::model::problem::Objective;
use crate::model::setting::InvalidSetting;
use crate::oracle::Oracle;
use crate::tuning::choice::Choice;

/// MSVR with its settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Msvr(pub Averaged);

/// The first step on theta times the curvature of a sampled term and `n_X / B`: `u_i` is carried on
/// by the last move of theta as if that were the mean of the `n_X / B` moves since it was seen, so
/// that its error is as much larger. On random least squares and softplus problems and on generated
/// markets, from 1 to 4 is good, and 16 diverges on one of the markets.
const PRIMAL: f64 = 2.0;

impl Listed for Msvr {
    const INFO: MethodInfo = MethodInfo {
        name: "msvr",
        title: "MSVR",
        family: Family::Composition,
        summary: "running averages of values that follow theta's last move",
        reference: "Jiang et al. 2022, v1",
        storage: "n_X ell",
        rate: Rate::Sublinear,
        form: Form::Given,
        asks: &[Ask::SmoothMerit],
        settings: SETTINGS,
    };

    fn settings(choice: &Choice, problem: Objective<'_>, theta: &[f64]) -> Chosen<Self> {
        let n_x = problem.inner.n_x() as f64;
        let primal = |batches: Batches| PRIMAL * (batches.outer_batch as f64 / n_x).min(1.0);
        if choice.averaging == Some(1.0) {
            // What is carried on is divided by 1 - beta.
            return Err(
                InvalidSetting::new("averaging", "1.0", "a number above 0 and below 1").into()
            );
        }
        Ok(Msvr(Averaged::choose(choice, problem, theta, primal)?))
    }
}

impl Method for Msvr {
    type State = State;

    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> State {
        self.0.init(oracle, theta)
    }

    fn inner_iterations(&self, _: &State) -> usize {
        self.0.inner_iterations
    }

    /// `u_i <- (1 - beta) u_i + beta fhat_i(theta) + carry (fhat_i(theta) - fhat_i(theta_before))`
    /// with `carry = (n_X - B) / (B (1 - beta)) + 1 - beta`. For `B = n_X` that is the estimator of
    /// STORM.
    #[inline(always)]
    fn inner(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        let (n_x, drawn) = (oracle.n_x() as f64, self.0.batches.outer_batch as f64);
        let others = (n_x - drawn).max(0.0) / drawn;
        self.0.step(
            oracle,
            s,
            true,
            #[inline(always)]
            |beta, u, now, before| {
                let carry = others / (1.0 - beta) + 1.0 - beta;
                u + beta * (now - u) + carry * (now - before)
            },
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

//! The box of SOX and MSVR: an estimate `u_i` of each `fbar_i` that is a running average, and a
//! direction that is one of `(1/B) sum_{i in B} f'hat_i(theta) phi_i'(u_i)`. The one line in which
//! the two differ, the update of `u_i`, is in `sox.rs` and `msvr.rs`.

use serde::{Deserialize, Serialize};

use super::decay::Decay;
use super::estimates::{Batches, Estimates, sampled_curvature};
use crate::methods::Guarded;
use crate::model::problem::Objective;
use crate::oracle::Oracle;
use crate::tuning::choice::{Choice, ChoiceError, Knob};

/// What can be said about them.
pub(in crate::methods) const SETTINGS: &[Knob] =
    &[Knob::AlphaTheta, Knob::Averaging, Knob::Batch, Knob::OuterBatch];

/// The settings of SOX and MSVR.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Averaged {
    /// The first step on theta.
    pub alpha_theta: f64,
    /// The first weight of a new estimate of `fbar_i`, at most 1.
    pub averaging: f64,
    /// How the steps fall; the weights fall like their root, so that the estimates keep up with
    /// theta.
    #[serde(flatten)]
    pub decay: Decay,
    /// The weight of a new gradient in the direction.
    pub momentum: f64,
    /// The mini-batches.
    #[serde(flatten)]
    pub batches: Batches,
    /// The steps of an outer iteration.
    pub inner_iterations: usize,
    /// Whether no step was given: then the safeguard watches over it.
    pub guarded: bool,
    /// The seed of the draws.
    pub seed: u64,
}

/// Theta and the estimates.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    pub(in crate::methods) at: Estimates,
    /// `u_i`, an estimate of `fbar_i(theta)`
    u: Vec<f64>,
}

/// The first weight of a new estimate.
const AVERAGING: f64 = 0.5;
/// The weight of a new gradient.
const MOMENTUM: f64 = 0.1;
/// Passes until steps and weights have begun to fall.
const PASSES: f64 = 4.0;
/// Of the decay of the steps.
const POWER: f64 = 0.75;

impl Averaged {
    /// The first step on theta is `primal` over the curvature of a sampled term.
    pub(in crate::methods) fn choose(
        choice: &Choice,
        problem: Objective<'_>,
        theta: &[f64],
        primal: impl Fn(Batches) -> f64,
    ) -> Result<Self, ChoiceError> {
        let batches = Batches::choose(choice)?;
        let pass = batches.pass(problem.inner);
        let first = || primal(batches) / sampled_curvature(problem, &problem.allowed(theta));
        let period = PASSES * pass as f64;
        Ok(Averaged {
            alpha_theta: choice.alpha_theta(first)?,
            averaging: choice.averaging(AVERAGING)?,
            decay: Decay { period, power: POWER },
            momentum: MOMENTUM,
            batches,
            inner_iterations: pass,
            guarded: choice.leaves_steps(),
            seed: choice.seed,
        })
    }

    /// With other steps, unless they were given.
    pub(in crate::methods) fn guarded(&mut self) -> Option<Guarded<'_>> {
        self.guarded.then_some(Guarded::new(&mut self.alpha_theta, &mut self.seed))
    }

    /// Goes on from theta; steps fall on from where they were.
    pub(in crate::methods) fn restart(
        &self,
        oracle: &mut Oracle<'_>,
        s: &mut State,
        theta: &[f64],
    ) {
        let k = s.at.k;
        *s = self.init(oracle, theta);
        s.at.k = k;
    }

    /// Theta at the start, and `u_i = fhat_i(theta)` for all i.
    pub(in crate::methods) fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> State {
        let mut at = Estimates::new(theta, oracle.ell(), self.seed);
        let mut u = vec![0.0; oracle.n_x() * oracle.ell()];
        at.estimate_all(oracle, self.batches.batch, &mut u);
        State { at, u }
    }

    /// One step, in which `update(beta, u_i, fhat_i(theta), fhat_i(theta_before))` gives the new
    /// `u_i`, for each of its coordinates; the last is there if asked for by `both`.
    #[inline(always)]
    pub(in crate::methods) fn step(
        &self,
        oracle: &mut Oracle<'_>,
        s: &mut State,
        both: bool,
        update: impl Fn(f64, f64, f64, f64) -> f64,
    ) {
        let ell = oracle.ell();
        let decay = self.decay.at(s.at.k);
        let beta = decay.sqrt() * self.averaging;
        for k in 0..self.batches.outer_batch {
            if oracle.patience.ends_at(k) {
                break;
            }
            let i = s.at.draw_i(oracle.n_x());
            s.at.estimate(oracle, i, self.batches.batch, both);
            let u_i = &mut s.u[i * ell..(i + 1) * ell];
            for ((u, now), before) in u_i.iter_mut().zip(&s.at.f_hat).zip(&s.at.f_hat_before) {
                *u = update(beta, *u, *now, *before);
            }
            // G += (1/B) f'hat_i(theta) phi_i'(u_i)
            oracle.merit_gradient(i, u_i, &mut s.at.w);
            s.at.add_gradient(oracle, i, self.batches);
        }
        // v <- (1 - momentum) v + momentum G;  theta <- prox(theta - alpha v)
        s.at.descend(oracle, decay * self.alpha_theta, self.momentum);
    }
}

//! SPDG: stochastic primal-dual steps without variance reduction, for unsupervised learning in Liu,
//! Chen and Deng, "Unsupervised Sequence Classification using Sequential Output Statistics", NIPS
//! 2017.
//!
//! Asks of the problem: a prox for each `phi_i*` and for g. No linear rate: the noise of single
//! samples stays, so that steps must fall, and the gap falls like a power of the number of steps.
//! Per step: 1 value of f and 1 product with f', time `O(d ell)`. Storage: `n_X ell` for the duals.

use serde::{Deserialize, Serialize};

use super::decay::Decay;
use crate::draws::Stream;
use crate::linalg::vector::Aligned;
use crate::methods::{Chosen, Family, Form, Guarded, Listed, Method, MethodInfo, Noise, Rate};
use crate::model::inner::{jacobian_spread, mean_jacobian_norm, pieces};
use crate::model::problem::Objective;
use crate::oracle::Oracle;
use crate::tuning::choice::{Choice, Knob};
use crate::tuning::steps::scaled;

/// SPDG with its steps.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Spdg {
    /// The first step on theta.
    pub alpha_theta: f64,
    /// The first step on the duals.
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

/// Theta and the duals.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    theta: Aligned,
    w: Vec<f64>,
    delta_theta: Aligned,
    delta_w: Vec<f64>,
    k: u64,
    /// `i_k`, `j_k`, `i'_k`, `j'_k`
    draws: [Stream; 4],
}

impl Listed for Spdg {
    const INFO: MethodInfo = MethodInfo {
        name: "spdg",
        title: "SPDG",
        family: Family::PrimalDual,
        summary: "plain primal-dual steps along single samples",
        reference: "Liu, Chen and Deng 2017",
        storage: "n_X ell",
        rate: Rate::Sublinear,
        form: Form::Given,
        asks: &[],
        settings: &[Knob::AlphaTheta, Knob::AlphaW],
    };

    /// The first `alpha_w` is `DUAL` times that of the scaled rule for SVRPDA, and `alpha_theta
    /// alpha_w (R^2 + SPREAD times the spread of f')` is `COUPLING`, with R the largest
    /// `|fbar_i'|`.
    fn settings(choice: &Choice, problem: Objective<'_>, theta: &[f64]) -> Chosen<Self> {
        let pass = pieces(problem.inner);
        let steps = scaled(problem, theta);
        let here = problem.allowed(theta);
        let size_squared = mean_jacobian_norm(problem.inner, &here).powi(2)
            + SPREAD * jacobian_spread(problem.inner, &here);
        let alpha_w = DUAL * steps.alpha_w;
        Ok(Spdg {
            alpha_theta: choice.alpha_theta(|| COUPLING / (alpha_w * size_squared))?,
            alpha_w: choice.alpha_w(alpha_w)?,
            decay: Decay { period: PASSES * pass as f64, power: POWER },
            inner_iterations: pass,
            guarded: choice.leaves_steps(),
            seed: choice.seed,
        })
    }
}

/// `alpha_theta alpha_w (R^2 + 4 spread)` at the first step. Found, with what follows, on the
/// problems of the contract tests: twice as much is faster where samples scatter little and leaves
/// several times the noise where they scatter much.
const COUPLING: f64 = 0.25;
/// The weight of the spread of single samples beside `R^2`.
const SPREAD: f64 = 4.0;
/// The first `alpha_w` over that of the scaled rule.
const DUAL: f64 = 0.5;
/// Passes until steps have begun to fall.
const PASSES: f64 = 32.0;
/// Of the decay of both steps.
const POWER: f64 = 1.0;

impl Method for Spdg {
    type State = State;

    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> State {
        State {
            theta: theta.into(),
            w: vec![0.0; oracle.n_x() * oracle.ell()],
            delta_theta: Aligned::zeros(oracle.d()),
            delta_w: vec![0.0; oracle.ell()],
            k: 0,
            draws: [0, 1, 2, 3].map(|number| Stream::new(self.seed, number)),
        }
    }

    fn inner_iterations(&self, _: &State) -> usize {
        self.inner_iterations
    }

    #[inline(always)]
    fn inner(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        let (n_x, ell) = (oracle.n_x(), oracle.ell());
        let decay = self.decay.at(s.k);
        let (alpha_theta, alpha_w) = (decay * self.alpha_theta, decay * self.alpha_w);
        let [dual_i, dual_j, primal_i, primal_j] = &mut s.draws;
        // w_i <- prox_{alpha_w phi_i*}(w_i + alpha_w f_theta(x_i, y_ij))
        let i = dual_i.index(n_x);
        let j = dual_j.index(oracle.n_y(i));
        oracle.value(&s.theta, i, j, &mut s.delta_w);
        let w_i = &mut s.w[i * ell..(i + 1) * ell];
        for (w, delta) in w_i.iter_mut().zip(&s.delta_w) {
            *w += alpha_w * delta;
        }
        oracle.phi().prox_conjugate(i, alpha_w, w_i);
        // theta <- prox_{alpha_theta g}(theta - alpha_theta f'_theta(x_i', y_i'j') w_i')
        let i = primal_i.index(n_x);
        let j = primal_j.index(oracle.n_y(i));
        s.delta_theta.fill(0.0);
        oracle.add_jac_t(&s.theta, i, j, &s.w[i * ell..(i + 1) * ell], 1.0, &mut s.delta_theta);
        oracle.g().step(alpha_theta, &s.delta_theta, &mut s.theta);
        s.k += 1;
    }

    fn guarded(&mut self) -> Option<Guarded<'_>> {
        self.guarded.then_some(Guarded::new(&mut self.alpha_theta, &mut self.seed))
    }

    fn noise(&self) -> Noise {
        Noise::Stays
    }

    fn restart(&self, oracle: &mut Oracle<'_>, s: &mut State, theta: &[f64]) {
        // Steps fall on from where they were.
        *s = State { k: s.k, ..self.init(oracle, theta) };
    }

    fn theta<'s>(&self, s: &'s State) -> &'s [f64] {
        &s.theta
    }

    fn duals<'s>(&self, s: &'s State) -> Option<&'s [f64]> {
        Some(&s.w)
    }
}

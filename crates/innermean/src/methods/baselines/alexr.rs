//! ALEXR: a single-loop primal-dual block-coordinate method with extrapolation, Algorithm 1 of Wang
//! and Yang, "ALEXR: An Optimal Single-Loop Algorithm for Convex Finite-Sum Coupled Compositional
//! Stochastic Optimization", 2025.
//!
//! Asks of the problem: a prox for each `phi_i*` and of g; with the conjugate mirror, instead of
//! the first, a smooth phi. No linear rate: steps must fall, and the gap falls like a power of the
//! number of steps. Per step, with B outer terms and b samples of each: `2 B b` values of f (`B b`
//! without extrapolation), `B b` products with f' and, with the conjugate mirror, B gradients of
//! phi; with that mirror, once `n_X b` values. Storage: `n_X ell`, for duals or estimates.

use serde::{Deserialize, Serialize};

use super::decay::Decay;
use super::estimates::{Batches, Estimates};
use crate::methods::{Guarded, Method, Noise};
use crate::oracle::Oracle;
use crate::tuning::choice::Mirror;

mod settings;

/// ALEXR with its settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Alexr {
    /// The first step on theta.
    pub alpha_theta: f64,
    /// The first step on the duals; with the conjugate mirror, in the unit of `phi*` itself.
    pub alpha_w: f64,
    /// How the steps on theta fall; those on the duals fall like their root, so that the duals keep
    /// up.
    #[serde(flatten)]
    pub decay: Decay,
    /// How far a value looks ahead: the factor of its last change.
    pub extrapolation: f64,
    /// The distance of the dual step.
    pub mirror: Mirror,
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

/// Theta and, for each term, its dual or estimate.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    at: Estimates,
    /// With the Euclidean mirror
    w: Vec<f64>,
    /// With the conjugate mirror, the `u_i` with `w_i = phi_i'(u_i)`
    u: Vec<f64>,
}

impl Method for Alexr {
    type State = State;

    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> State {
        let mut at = Estimates::new(theta, oracle.ell(), self.seed);
        let zeros = vec![0.0; oracle.n_x() * oracle.ell()];
        match self.mirror {
            Mirror::Euclidean => State { at, w: zeros, u: Vec::new() },
            Mirror::Conjugate => {
                let mut u = zeros;
                at.estimate_all(oracle, self.batches.batch, &mut u);
                State { at, w: Vec::new(), u }
            }
        }
    }

    fn inner_iterations(&self, _: &State) -> usize {
        self.inner_iterations
    }

    #[inline(always)]
    fn inner(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        let ell = oracle.ell();
        let decay = self.decay.at(s.at.k);
        let alpha_w = decay.sqrt() * self.alpha_w;
        for k in 0..self.batches.outer_batch {
            if oracle.patience.ends_at(k) {
                break;
            }
            let i = s.at.draw_i(oracle.n_x());
            let own = i * ell..(i + 1) * ell;
            // ghat = fhat_i(theta) + q (fhat_i(theta) - fhat_i(theta_before))
            s.at.estimate(oracle, i, self.batches.batch, self.extrapolation > 0.0);
            for (now, before) in s.at.f_hat.iter_mut().zip(&s.at.f_hat_before) {
                *now += self.extrapolation * (*now - before);
            }
            match self.mirror {
                // w_i <- argmax <ghat, w> - phi_i*(w) - |w - w_i|^2 / (2 alpha_w) = prox_{alpha_w
                // phi_i*}(w_i + alpha_w ghat)
                Mirror::Euclidean => {
                    let w_i = &mut s.w[own];
                    for (w, g) in w_i.iter_mut().zip(&s.at.f_hat) {
                        *w += alpha_w * g;
                    }
                    oracle.phi().prox_conjugate(i, alpha_w, w_i);
                    s.at.w.copy_from_slice(w_i);
                }
                // u_i <- (u_i + alpha_w ghat) / (1 + alpha_w),  w_i = phi_i'(u_i)
                Mirror::Conjugate => {
                    let u_i = &mut s.u[own];
                    for (u, g) in u_i.iter_mut().zip(&s.at.f_hat) {
                        *u += alpha_w / (1.0 + alpha_w) * (g - *u);
                    }
                    oracle.merit_gradient(i, u_i, &mut s.at.w);
                }
            }
            // G += (1/B) f'hat_i(theta) w_i
            s.at.add_gradient(oracle, i, self.batches);
        }
        // theta <- prox_{alpha_theta g}(theta - alpha_theta G)
        s.at.descend(oracle, decay * self.alpha_theta, 1.0);
    }

    fn guarded(&mut self) -> Option<Guarded<'_>> {
        self.guarded.then_some(Guarded::new(&mut self.alpha_theta, &mut self.seed))
    }

    fn noise(&self) -> Noise {
        Noise::Stays
    }

    fn restart(&self, oracle: &mut Oracle<'_>, s: &mut State, theta: &[f64]) {
        // Steps fall on from where they were.
        let k = s.at.k;
        *s = self.init(oracle, theta);
        s.at.k = k;
    }

    fn theta<'s>(&self, s: &'s State) -> &'s [f64] {
        &s.at.theta
    }

    fn duals<'s>(&self, s: &'s State) -> Option<&'s [f64]> {
        (self.mirror == Mirror::Euclidean).then_some(&s.w)
    }
}

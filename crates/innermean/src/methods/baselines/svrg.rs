//! SVRG with exact inner averages: Prox-SVRG of Xiao and Zhang, "A Proximal Stochastic Gradient
//! Method with Progressive Variance Reduction", SIAM J. Optimization 2014, with
//! `phi_i(fbar_i(theta))` as one component.
//!
//! Asks of the problem: a smooth phi and a prox of g. An affine f is averaged first, so that a
//! component is a linear predictor and its gradient at the reference point, `fbar_i' w_i`, differs
//! from that at theta in the dual alone. Per step: 1 f, 1 f' and 1 phi with affine f, otherwise
//! `n_Yi` f, `2 n_Yi` f' and 1 phi; per outer iteration a whole gradient. Time O(d ell) for a step.
//! Storage: `2 n_X ell` for averages and duals at the reference point.

use serde::{Deserialize, Serialize};

use super::component::{AHEAD, Component, step};
use crate::draws::Stream;
use crate::linalg::vector::{Aligned, prefetch};
use crate::methods::lagged::Lagged;
use crate::methods::{Ask, Chosen, Family, Form, Guarded, Listed, Method, MethodInfo, Rate};
use crate::model::problem::Objective;
use crate::oracle::Oracle;
use crate::tuning::choice::{Choice, Knob};

/// `M / n_X`. On the paper's 18 portfolios 2 takes fewer calls than 1, 3 and 5 to gaps of 1e-6 and
/// 1e-9.
const EPOCH: usize = 2;

/// SVRG with its settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Svrg {
    /// The step.
    pub alpha_theta: f64,
    /// M, the inner steps of an outer iteration.
    pub inner_iterations: usize,
    /// Whether no step was given: then the safeguard watches over it.
    pub guarded: bool,
    /// The seed of all random draws.
    pub seed: u64,
}

/// Theta, the reference point and the batch quantities at it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    theta: Aligned,
    theta_ref: Aligned,
    f_bar: Vec<f64>,
    /// `w_i = phi_i'(fbar_i(theta_ref))`
    w: Vec<f64>,
    /// `F'(theta_ref)`
    gradient: Aligned,
    i: Stream,
    component: Component,
    delta: Aligned,
    lagged: Lagged,
}

impl Listed for Svrg {
    const INFO: MethodInfo = MethodInfo {
        name: "svrg",
        title: "SVRG",
        family: Family::Composition,
        summary: "steps along one component, corrected by the whole gradient at a reference point",
        reference: "Xiao and Zhang 2014 (Prox-SVRG)",
        storage: "n_X ell",
        rate: Rate::Linear,
        form: Form::Collapsed,
        asks: &[Ask::SmoothMerit],
        settings: &[Knob::AlphaTheta, Knob::InnerIterations],
    };

    fn settings(choice: &Choice, problem: Objective<'_>, theta: &[f64]) -> Chosen<Self> {
        Ok(Svrg {
            alpha_theta: choice.alpha_theta(|| step(problem, theta))?,
            inner_iterations: choice.inner_iterations(EPOCH * problem.inner.n_x())?,
            guarded: choice.leaves_steps(),
            seed: choice.seed,
        })
    }
}

impl Method for Svrg {
    type State = State;

    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> State {
        let (d, ell, n_x) = (oracle.d(), oracle.ell(), oracle.n_x());
        State {
            theta: theta.into(),
            theta_ref: theta.into(),
            f_bar: vec![0.0; n_x * ell],
            w: vec![0.0; n_x * ell],
            gradient: Aligned::zeros(d),
            i: Stream::new(self.seed, 0),
            component: Component::new(ell),
            delta: Aligned::zeros(d),
            lagged: Lagged::new(oracle, true),
        }
    }

    /// Differs: the reference point is the last inner iterate, not their average, as nearly
    /// everywhere in practice.
    fn outer(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        s.lagged.catch_up_all(oracle, self.alpha_theta, &s.gradient, &mut s.theta);
        s.theta_ref.copy_from_slice(&s.theta);
        oracle.pass().gradient(&s.theta_ref, &mut s.f_bar, &mut s.w, &mut s.gradient);
    }

    fn inner_iterations(&self, _: &State) -> usize {
        self.inner_iterations
    }

    #[inline(always)]
    fn inner(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        let State { theta, theta_ref, w, gradient, i, component, delta, lagged, .. } = s;
        let ell = oracle.ell();
        let ahead = i.ahead(AHEAD, oracle.n_x());
        oracle.prefetch(ahead, 0);
        prefetch(w, ahead * ell, ell);
        let i = i.index(oracle.n_x());
        let w_ref = &w[i * ell..(i + 1) * ell];
        if lagged.is_on() {
            // The same at the coordinates of term i; along the others the direction is
            // F'(theta_ref).
            let support = oracle.support(i).unwrap_or_default();
            lagged.catch_up(oracle, support, self.alpha_theta, gradient, theta);
            let change = component.dual_change(oracle, theta, i, w_ref);
            oracle.add_mean_jac_t(theta, i, change, 1.0, delta);
            for l in support.iter().map(|&l| l as usize) {
                delta[l] += gradient[l];
            }
            lagged.step_ahead(oracle, support, self.alpha_theta, delta, theta);
            return lagged.tick();
        }
        // delta = F_i'(theta) - F_i'(theta_ref) + F'(theta_ref)
        delta.copy_from_slice(gradient);
        if oracle.facts().affine {
            let change = component.dual_change(oracle, theta, i, w_ref);
            oracle.add_mean_jac_t(theta, i, change, 1.0, delta);
        } else {
            let w = component.dual(oracle, theta, i);
            oracle.add_mean_jac_t(theta, i, w, 1.0, delta);
            oracle.add_mean_jac_t(theta_ref, i, w_ref, -1.0, delta);
        }
        // theta <- prox_{alpha g}(theta - alpha delta)
        oracle.g().step(self.alpha_theta, delta, theta);
    }

    fn show(&self, oracle: &Oracle<'_>, s: &mut State) {
        s.lagged.show(oracle, self.alpha_theta, &s.gradient, &s.theta);
    }

    fn guarded(&mut self) -> Option<Guarded<'_>> {
        let guarded = Guarded::new(&mut self.alpha_theta, &mut self.seed);
        self.guarded.then_some(guarded.with_loop(&mut self.inner_iterations))
    }

    fn reference<'s>(&self, s: &'s State) -> Option<(&'s [f64], &'s [f64])> {
        Some((&s.theta_ref, &s.f_bar))
    }

    fn theta<'s>(&self, s: &'s State) -> &'s [f64] {
        s.lagged.shown(&s.theta)
    }
}

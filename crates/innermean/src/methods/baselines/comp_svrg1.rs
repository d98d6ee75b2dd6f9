//! Comp-SVRG-1: Algorithm 2 of Lian, Wang and Liu, "Finite-sum Composition Optimization via
//! Variance Reduced Gradient Descent", AISTATS 2017, with a prox. The estimator, and why it serves
//! problem (1) as well, is in `composition.rs`.
//!
//! Asks of the problem: a smooth phi and a prox of g. Linear rate where P is strongly convex. Per
//! step: `2 A f + 2 f' + 2 phi`, one f' less for affine f; time O(A d ell). A snapshot is a whole
//! gradient. Storage: `n_X ell` for the averages at the reference point, a few vectors of length d.
//! `phi_i'` at the reference point is asked for again in each step, as in the paper, and counts.

use serde::Serialize;

use super::composition::{Composition, Keeps, SHORTEST, STEP, smoothness};
use crate::methods::{Ask, Chosen, Family, Form, Guarded, Listed, Method, MethodInfo, Rate};
use crate::model::problem::Objective;
use crate::oracle::Oracle;
use crate::tuning::choice::{Choice, Knob};

/// Comp-SVRG-1 with its settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CompSvrg1 {
    /// The step.
    pub alpha_theta: f64,
    /// K, the steps for each reference point.
    pub inner_iterations: usize,
    /// A, the samples for an average.
    pub batch: usize,
    /// Whether no step was given: then the safeguard watches over it.
    pub guarded: bool,
    /// The seed of all random draws.
    pub seed: u64,
}

impl Listed for CompSvrg1 {
    const INFO: MethodInfo = MethodInfo {
        name: "comp-svrg1",
        title: "Comp-SVRG-1",
        family: Family::Composition,
        summary: "variance-reduced averages, the Jacobian from a single sample",
        reference: "Lian, Wang and Liu 2017, Algorithm 2",
        storage: "n_X ell",
        rate: Rate::Linear,
        form: Form::Given,
        asks: &[Ask::SmoothMerit],
        settings: &[Knob::AlphaTheta, Knob::InnerIterations, Knob::Batch],
    };

    /// `K = n_X` (50 at least) and `A = 6`, as in the paper's experiments; the step from the
    /// smoothness, for an f' from a single sample.
    fn settings(choice: &Choice, problem: Objective<'_>, theta: &[f64]) -> Chosen<Self> {
        Ok(CompSvrg1 {
            alpha_theta: choice.alpha_theta(|| STEP / smoothness(problem, theta, 1, 1))?,
            inner_iterations: choice.inner_iterations(problem.inner.n_x().max(SHORTEST))?,
            batch: choice.batch(6)?,
            guarded: choice.leaves_steps(),
            seed: choice.seed,
        })
    }
}

impl Method for CompSvrg1 {
    type State = Composition;

    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> Composition {
        Composition::new(oracle, theta, self.seed, Keeps { jacobians: false, average: false })
    }

    fn outer(&self, oracle: &mut Oracle<'_>, s: &mut Composition) {
        // theta_ref, the last iterate; fbar_i(theta_ref), h~
        s.snapshot(oracle, self.inner_iterations);
    }

    fn inner_iterations(&self, s: &Composition) -> usize {
        s.steps
    }

    #[inline(always)]
    fn inner(&self, oracle: &mut Oracle<'_>, s: &mut Composition) {
        s.begin_step();
        let i = s.draw_term(oracle);
        // fhat_i = fbar_i(theta_ref) + mean_A( f_theta - f_theta_ref )
        s.estimate_average(oracle, i, self.batch);
        // h = f'_theta(x_i, y_ij) phi_i'(fhat_i) - f'_theta_ref(x_i, y_ij)
        // phi_i'(fbar_i(theta_ref)) + h~
        s.add_by_sample(oracle, i, 1.0);
        // theta <- prox_{alpha g}(theta - alpha h)
        s.step(oracle, self.alpha_theta);
    }

    fn guarded(&mut self) -> Option<Guarded<'_>> {
        let guarded = Guarded::new(&mut self.alpha_theta, &mut self.seed);
        self.guarded.then_some(guarded.with_loop(&mut self.inner_iterations))
    }

    fn reference<'s>(&self, s: &'s Composition) -> Option<(&'s [f64], &'s [f64])> {
        Some(s.reference())
    }

    fn theta<'s>(&self, s: &'s Composition) -> &'s [f64] {
        &s.theta
    }
}

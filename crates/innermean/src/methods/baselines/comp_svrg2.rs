//! Comp-SVRG-2: Algorithm 3 of Lian, Wang and Liu, "Finite-sum Composition Optimization via
//! Variance Reduced Gradient Descent", AISTATS 2017, with a prox. The estimator, and why it serves
//! problem (1) as well, is in `composition.rs`.
//!
//! Asks of the problem: a smooth phi and a prox of g. Linear rate where P is strongly convex. Per
//! step: `2 A f + 2 B f' + 2 phi`, no f' for affine f; time O((A + B) d ell). A snapshot is a whole
//! gradient. Storage: `n_X d ell` for the mean Jacobians at the reference point (`d ell` if the
//! sample is shared), `n_X ell` for the averages. `phi_i'` at the reference point is asked for
//! again in each step, as in the paper, and counts.

use serde::Serialize;

use super::composition::{Composition, Keeps, SHORTEST, STEP, smoothness};
use crate::methods::{Ask, Chosen, Family, Form, Guarded, Listed, Method, MethodInfo, Rate};
use crate::model::problem::Objective;
use crate::oracle::Oracle;
use crate::tuning::choice::{Choice, Knob};

/// Comp-SVRG-2 with its settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CompSvrg2 {
    /// The step.
    pub alpha_theta: f64,
    /// K, the steps for each reference point.
    pub inner_iterations: usize,
    /// A, the samples for an average.
    pub batch: usize,
    /// B, the samples for a mean Jacobian; none are drawn for affine f.
    pub jacobian_batch: usize,
    /// Whether no step was given: then the safeguard watches over it.
    pub guarded: bool,
    /// The seed of all random draws.
    pub seed: u64,
}

impl Listed for CompSvrg2 {
    const INFO: MethodInfo = MethodInfo {
        name: "comp-svrg2",
        title: "Comp-SVRG-2",
        family: Family::Composition,
        summary: "variance-reduced averages and mean Jacobians",
        reference: "Lian, Wang and Liu 2017, Algorithm 3",
        storage: "n_X d ell",
        rate: Rate::Linear,
        form: Form::Given,
        asks: &[Ask::SmoothMerit],
        settings: &[Knob::AlphaTheta, Knob::InnerIterations, Knob::Batch, Knob::JacobianBatch],
    };

    /// `K = n_X` (50 at least) and `A = B = 3`, as in the paper's experiments; the step from the
    /// smoothness.
    fn settings(choice: &Choice, problem: Objective<'_>, theta: &[f64]) -> Chosen<Self> {
        let batch = choice.batch(3)?;
        Ok(CompSvrg2 {
            alpha_theta: choice.alpha_theta(|| STEP / smoothness(problem, theta, 1, batch))?,
            inner_iterations: choice.inner_iterations(problem.inner.n_x().max(SHORTEST))?,
            batch,
            jacobian_batch: choice.jacobian_batch(3)?,
            guarded: choice.leaves_steps(),
            seed: choice.seed,
        })
    }
}

impl Method for CompSvrg2 {
    type State = Composition;

    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> Composition {
        Composition::new(oracle, theta, self.seed, Keeps { jacobians: true, average: false })
    }

    fn outer(&self, oracle: &mut Oracle<'_>, s: &mut Composition) {
        // theta_ref, the last iterate; fbar_i(theta_ref), fbar_i'(theta_ref), h~
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
        // Jhat = fbar_i'(theta_ref) + mean_B( f'_theta - f'_theta_ref )
        // h = Jhat phi_i'(fhat_i) - fbar_i'(theta_ref) phi_i'(fbar_i(theta_ref)) + h~
        s.add_by_mean(oracle, i, self.jacobian_batch, 1.0);
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

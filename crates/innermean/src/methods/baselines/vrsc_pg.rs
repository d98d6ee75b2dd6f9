//! VRSC-PG: Huo, Gu, Liu and Huang, "Accelerated Method for Stochastic Composition Optimization
//! with Nonsmooth Regularization", AAAI 2018: the estimator of `composition.rs` with a prox,
//! batches, and loops of about `n^(1/3)` steps.
//!
//! Asks of the problem: a smooth phi and a prox of g. Linear rate where P is strongly convex. Per
//! step: `b (2 A f + 2 B f' + 2 phi)`, no f' for affine f; time O(b (A + B) d ell). A snapshot is a
//! whole gradient. Storage: `n_X d ell` for the mean Jacobians at the reference point (`d ell` if
//! the sample is shared), `n_X ell` for the averages.
//!
//! The step is `STEP / L` and the prox that of `alpha g`, as in the paper. The public code of a
//! later comparison divides the step by n once more and thresholds by lambda instead of `alpha
//! lambda`: its iterates barely move, and towards another point.
//!
//! Differs: the paper's batches of order `n^(2/3)` average over a sample that all terms share. In
//! problem (1) each term has its own average, so that the same number of samples is split into A
//! for each of b terms. A loop then costs about as much as its snapshot. The reference is the
//! average of a loop, and the next loop goes on from its last iterate.

use crate::linalg::elementary::Elementary;
use serde::Serialize;

use super::composition::{Composition, Keeps, STEP, smoothness};
use crate::methods::{Ask, Chosen, Family, Form, Guarded, Listed, Method, MethodInfo, Rate};
use crate::model::problem::Objective;
use crate::oracle::{Oracle, gradient_calls};
use crate::tuning::choice::{Choice, Knob};

/// VRSC-PG with its settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VrscPg {
    /// The step.
    pub alpha_theta: f64,
    /// m, the steps for each reference point.
    pub inner_iterations: usize,
    /// A, the samples for an average.
    pub batch: usize,
    /// B, the samples for a mean Jacobian; none are drawn for affine f.
    pub jacobian_batch: usize,
    /// b, the outer terms of a step.
    pub outer_batch: usize,
    /// Whether no step was given: then the safeguard watches over it.
    pub guarded: bool,
    /// The seed of all random draws.
    pub seed: u64,
}

impl Listed for VrscPg {
    const INFO: MethodInfo = MethodInfo {
        name: "vrsc-pg",
        title: "VRSC-PG",
        family: Family::Composition,
        summary: "variance-reduced averages and mean Jacobians in batches, short loops",
        reference: "Huo, Gu, Liu and Huang 2018",
        storage: "n_X d ell",
        rate: Rate::Linear,
        form: Form::Given,
        asks: &[Ask::SmoothMerit],
        settings: &[
            Knob::AlphaTheta,
            Knob::InnerIterations,
            Knob::Batch,
            Knob::JacobianBatch,
            Knob::OuterBatch,
        ],
    };

    /// `m = n^(1/3)` and `A b = n^(2/3)`, n being the number of outer terms or of pieces of f,
    /// whichever is larger.
    fn settings(choice: &Choice, problem: Objective<'_>, theta: &[f64]) -> Chosen<Self> {
        let pieces = gradient_calls(problem.inner).f;
        let n = problem.inner.n_x().max(pieces as usize) as f64;
        let batch = choice.batch(SAMPLES)?;
        let terms = choice.outer_batch((n.to_power(2.0 / 3.0) / batch as f64).ceil() as usize)?;
        Ok(VrscPg {
            alpha_theta: choice.alpha_theta(|| STEP / smoothness(problem, theta, terms, batch))?,
            inner_iterations: choice.inner_iterations(n.cube_root().ceil() as usize)?,
            batch,
            jacobian_batch: choice.jacobian_batch(SAMPLES)?,
            outer_batch: terms,
            guarded: choice.leaves_steps(),
            seed: choice.seed,
        })
    }
}

/// A and B.
const SAMPLES: usize = 5;

impl Method for VrscPg {
    type State = Composition;

    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> Composition {
        Composition::new(oracle, theta, self.seed, Keeps { jacobians: true, average: true })
    }

    fn outer(&self, oracle: &mut Oracle<'_>, s: &mut Composition) {
        // theta_ref, the average of the last loop's iterates; fbar_i(theta_ref),
        // fbar_i'(theta_ref), h~
        s.snapshot(oracle, self.inner_iterations);
    }

    fn inner_iterations(&self, s: &Composition) -> usize {
        s.steps
    }

    #[inline(always)]
    fn inner(&self, oracle: &mut Oracle<'_>, s: &mut Composition) {
        s.begin_step();
        for k in 0..self.outer_batch {
            if oracle.patience.ends_at(k) {
                break;
            }
            let i = s.draw_term(oracle);
            // fhat_i = fbar_i(theta_ref) + mean_A( f_theta - f_theta_ref )
            s.estimate_average(oracle, i, self.batch);
            // Jhat = fbar_i'(theta_ref) + mean_B( f'_theta - f'_theta_ref )
            // h = mean_b( Jhat phi_i'(fhat_i) - fbar_i'(theta_ref) phi_i'(fbar_i(theta_ref)) ) + h~
            s.add_by_mean(oracle, i, self.jacobian_batch, 1.0 / self.outer_batch as f64);
        }
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
        s.output()
    }
}

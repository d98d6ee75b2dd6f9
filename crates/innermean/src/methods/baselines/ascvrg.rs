//! ASCVRG: Lin, Fan, Wang and Jordan, "Improved Oracle Complexity for Stochastic Compositional
//! Variance Reduced Gradient", 2018: the estimator of `composition.rs` in loops that grow by half,
//! `k_s = k_0 (3/2)^s`.
//!
//! Asks of the problem: a smooth phi and a prox of g. Linear rate where P is strongly convex; the
//! paper proves `O(1/eps^3)` steps for any convex P. Per step: `2 A f + 2 B f' + 2 phi`, no f' for
//! affine f; time O((A + B) d ell). A snapshot is a whole gradient. Storage: `n_X d ell` for the
//! mean Jacobians at the reference point (`d ell` if the sample is shared), `n_X ell` for the
//! averages.
//!
//! Differs: loops stop growing at `4 n_X` steps (200 at least). A loop without end would have no
//! linear rate; on portfolios, where it matters, it needs 1.5 times the calls to a gap of 1e-8. And
//! N, the number of planned steps, which is not known beforehand, is that up to the end of the
//! current loop.
//!
//! The step is `STEP / L` and the prox that of `alpha g`, as in the paper. The authors' code
//! divides the step by n once more and thresholds by lambda instead of `alpha lambda`: its iterates
//! barely move, and towards another point.

use crate::linalg::elementary::Elementary;
use serde::Serialize;

use super::composition::{Composition, Keeps, SHORTEST, STEP, smoothness};
use crate::methods::{Ask, Chosen, Family, Form, Guarded, Listed, Method, MethodInfo, Rate};
use crate::model::problem::Objective;
use crate::oracle::Oracle;
use crate::tuning::choice::{Choice, Knob};

/// ASCVRG with its settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ascvrg {
    /// eta, the step at the end of a loop.
    pub alpha_theta: f64,
    /// The steps of the longest loop.
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

impl Listed for Ascvrg {
    const INFO: MethodInfo = MethodInfo {
        name: "ascvrg",
        title: "ASCVRG",
        family: Family::Composition,
        summary: "variance-reduced averages and mean Jacobians, growing loops",
        reference: "Lin, Fan, Wang and Jordan 2018",
        storage: "n_X d ell",
        rate: Rate::Linear,
        form: Form::Given,
        asks: &[Ask::SmoothMerit],
        settings: &[Knob::AlphaTheta, Knob::InnerIterations, Knob::Batch, Knob::JacobianBatch],
    };

    fn settings(choice: &Choice, problem: Objective<'_>, theta: &[f64]) -> Chosen<Self> {
        let batch = choice.batch(SAMPLES)?;
        let longest = LONGEST * problem.inner.n_x().max(SHORTEST);
        Ok(Ascvrg {
            alpha_theta: choice.alpha_theta(|| STEP / smoothness(problem, theta, 1, batch))?,
            inner_iterations: choice.inner_iterations(longest)?,
            batch,
            jacobian_batch: choice.jacobian_batch(SAMPLES)?,
            guarded: choice.leaves_steps(),
            seed: choice.seed,
        })
    }
}

/// A and B
const SAMPLES: usize = 5;
/// Steps of the longest loop for each outer term, of at least 50.
const LONGEST: usize = 4;
/// `k_0`
const FIRST: f64 = 5.0;
/// `k_{s+1} / k_s`
const GROWTH: f64 = 1.5;

impl Method for Ascvrg {
    type State = Composition;

    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> Composition {
        Composition::new(oracle, theta, self.seed, Keeps { jacobians: true, average: true })
    }

    fn outer(&self, oracle: &mut Oracle<'_>, s: &mut Composition) {
        // k_s = k_0 (3/2)^s
        let steps = (FIRST * GROWTH.to_power(s.outer as f64))
            .min(self.inner_iterations as f64)
            .ceil() as usize;
        // theta_ref, the average of the last loop's iterates; fbar_i(theta_ref),
        // fbar_i'(theta_ref), h~
        s.snapshot(oracle, steps);
    }

    fn inner_iterations(&self, s: &Composition) -> usize {
        s.steps
    }

    #[inline(always)]
    fn inner(&self, oracle: &mut Oracle<'_>, s: &mut Composition) {
        let planned = (s.before + s.steps) as f64;
        let count = (s.before + s.k) as f64;
        let alpha = self.alpha_theta * (planned / (2.0 * planned - count)).sqrt();
        s.begin_step();
        let i = s.draw_term(oracle);
        // fhat_i = fbar_i(theta_ref) + mean_A( f_theta - f_theta_ref )
        s.estimate_average(oracle, i, self.batch);
        // Jhat = fbar_i'(theta_ref) + mean_B( f'_theta - f'_theta_ref )
        // h = Jhat phi_i'(fhat_i) - fbar_i'(theta_ref) phi_i'(fbar_i(theta_ref)) + h~
        s.add_by_mean(oracle, i, self.jacobian_batch, 1.0);
        // theta <- prox_{alpha g}(theta - alpha h) with alpha = eta sqrt(N / (2 N - count))
        s.step(oracle, alpha);
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

//! SPDC: mini-batch stochastic primal-dual coordinates, Algorithm 2 of Zhang and Xiao, "Stochastic
//! Primal-Dual Coordinate Method for Regularized Empirical Risk Minimization", JMLR 2017 (Algorithm
//! 1 for a batch of one).
//!
//! Asks of the problem: an affine f, which is averaged once into rows `fbar_i = Abar_i theta +
//! bbar_i`, and a prox for each `phi_i*` and for g. Linear rate `1 - 1/(n/m + R sqrt((n/m)/(mu
//! gamma)))` when g is mu-strongly convex and phi `1/gamma`-smooth. Per step with a batch of m: m
//! values of f and m products with f', time `O(m d ell)`. Storage: `n_X ell` for the duals and a
//! few vectors of length d, beside the averaged rows. Where f tells which coordinates a term looks
//! at, these are few and g is a sum over coordinates, a step takes time in proportion to their
//! number.

use serde::Serialize;

use crate::draws::Stream;
use crate::linalg::vector::{Aligned, axpy, update_with_both};
use crate::methods::lagged::Lagged;
use crate::methods::reference::{NextReference, Reference};
use crate::methods::{Ask, Chosen, Family, Form, Guarded, Listed, Method, MethodInfo, Rate};
use crate::model::problem::Objective;
use crate::model::setting::InvalidSetting;
use crate::oracle::Oracle;
use crate::tuning::choice::{Choice, Knob};
use crate::tuning::steps::{Steps, accelerated, scaled_for_averages};

mod state;

pub use state::State;

/// SPDC with its settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Spdc {
    /// tau, the primal step.
    pub alpha_theta: f64,
    /// sigma, the dual step.
    pub alpha_w: f64,
    /// `theta-bar = theta + extrapolation (theta - theta_before)`
    pub extrapolation: f64,
    /// m, the duals that a step changes.
    pub batch: usize,
    /// The last iterate; averages where phi has kinks.
    pub reference: Reference,
    /// The steps of an outer iteration.
    pub inner_iterations: usize,
    /// Whether no step was given: then the safeguard watches over it.
    pub guarded: bool,
    /// The seed of the draws.
    pub seed: u64,
}

impl Listed for Spdc {
    const INFO: MethodInfo = MethodInfo {
        name: "spdc",
        title: "SPDC",
        family: Family::PrimalDual,
        summary: "accelerated dual coordinate steps on the averaged rows of an affine f",
        reference: "Zhang and Xiao 2017, Algorithms 1 and 2",
        storage: "n_X d ell for the rows, n_X ell",
        rate: Rate::Linear,
        form: Form::Collapsed,
        asks: &[Ask::AffineInner],
        settings: &[Knob::AlphaTheta, Knob::AlphaW, Knob::Extrapolation, Knob::Batch],
    };

    /// Steps by [`accelerated`]; where phi has kinks, by the scaled rule of SVRPDA and with its
    /// averages.
    fn settings(choice: &Choice, problem: Objective<'_>, theta: &[f64]) -> Chosen<Self> {
        let n = problem.inner.n_x();
        let batch = choice.batch.unwrap_or(1);
        if batch == 0 || batch > n {
            let expected = format!("a whole number from 1 to n_X = {n}");
            return Err(InvalidSetting::new("batch", batch.to_string(), expected).into());
        }
        let kink = problem.merit.has_kinks();
        let (steps, extrapolation) = if kink {
            let steps = scaled_for_averages(problem, theta, 0.0);
            (Steps { inner_iterations: steps.inner_iterations / batch, ..steps }, 1.0)
        } else {
            accelerated(problem, theta, batch)
        };
        Ok(Spdc {
            alpha_theta: choice.alpha_theta(|| steps.alpha_theta)?,
            alpha_w: choice.alpha_w(steps.alpha_w)?,
            extrapolation: choice.extrapolation(extrapolation)?,
            batch,
            reference: if kink { Reference::Average } else { Reference::Last },
            inner_iterations: steps.inner_iterations.max(1),
            // With kinks the averages rise and fall, and duals that start anew lose what they have
            // gained.
            guarded: choice.leaves_steps() && !kink,
            seed: choice.seed,
        })
    }
}

impl Method for Spdc {
    type State = State;

    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> State {
        let (d, ell, n_x) = (oracle.d(), oracle.ell(), oracle.n_x());
        let averaged = if self.reference == Reference::Average { d } else { 0 };
        State {
            theta: theta.into(),
            theta_before: theta.into(),
            theta_bar: theta.into(),
            w: vec![0.0; n_x * ell],
            u: Aligned::zeros(d),
            direction: Aligned::zeros(d),
            product: Aligned::zeros(d),
            u_mean: vec![0.0; averaged],
            next_reference: NextReference::new(self.reference, theta, n_x * ell),
            k: 0,
            lagged: Lagged::new(oracle, self.reference != Reference::Average),
            drawn: vec![0; self.batch],
            scratch: vec![0.0; 2 * ell],
            draws: Stream::new(self.seed, 0),
        }
    }

    fn outer(&self, _: &mut Oracle<'_>, s: &mut State) {
        if let Some(theta) = s.next_reference.theta() {
            for copy in [&mut s.theta, &mut s.theta_before, &mut s.theta_bar] {
                copy.copy_from_slice(theta);
            }
            s.u_mean.fill(0.0);
        }
        s.k = 0;
        s.next_reference.begin(self.inner_iterations, &mut s.draws);
    }

    fn inner_iterations(&self, _: &State) -> usize {
        self.inner_iterations
    }

    #[inline(always)]
    fn inner(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        if s.lagged.is_on() {
            return s.lagged_step(oracle, self);
        }
        s.direction.copy_from_slice(&s.u);
        for _ in 0..self.batch {
            s.dual_step(oracle, self);
        }
        // theta+ = prox_{tau g}(theta - tau (u + (1/m) sum_{k in K} Abar_k' dw_k))
        s.theta_before.copy_from_slice(&s.theta);
        oracle.g().step(self.alpha_theta, &s.direction, &mut s.theta);
        // theta-bar = theta+ + q (theta+ - theta)
        let q = self.extrapolation;
        update_with_both(&mut s.theta_bar, &s.theta, &s.theta_before, |_, new, old| {
            new + q * (new - old)
        });
        s.k += 1;
        s.next_reference.after_step(oracle, s.k, self.inner_iterations, &s.theta, &mut s.w);
        if !s.u_mean.is_empty() {
            axpy(1.0 / self.inner_iterations as f64, &s.u, &mut s.u_mean);
            if s.k == self.inner_iterations {
                // u is linear in the duals, which are averages from here on.
                s.u.copy_from_slice(&s.u_mean);
            }
        }
    }

    fn show(&self, oracle: &Oracle<'_>, s: &mut State) {
        s.lagged.show(oracle, self.alpha_theta, &s.u, &s.theta);
    }

    fn guarded(&mut self) -> Option<Guarded<'_>> {
        self.guarded.then_some(Guarded {
            alpha_theta: &mut self.alpha_theta,
            alpha_w: Some(&mut self.alpha_w),
            inner_iterations: None,
            seed: &mut self.seed,
        })
    }

    fn theta<'s>(&self, s: &'s State) -> &'s [f64] {
        let average = s.next_reference.theta().filter(|_| s.k == self.inner_iterations);
        average.unwrap_or_else(|| s.lagged.shown(&s.theta))
    }

    fn duals<'s>(&self, s: &'s State) -> Option<&'s [f64]> {
        Some(&s.w)
    }
}

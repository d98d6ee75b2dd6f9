//! ASC-PG: Wang, Liu and Fang, "Accelerating Stochastic Composition Optimization", NIPS 2016,
//! Algorithm 1.
//!
//! Asks of the problem: a smooth phi, a prox of g, and a sample that is shared by all terms; it
//! works on the shared form otherwise. Sublinear: looking ahead to z makes y follow theta to second
//! order, so that with `a_k ~ k^(-5/9)` and `b_k ~ k^(-4/9)` its error, and with it the gap where P
//! is strongly convex, falls like `k^(-4/9)`, at larger steps than SCGD's. Per step: 1 f + 1 f' + 1
//! phi of the shared form, and 1 f at the start; time O(d ell). Storage: y, in `R^ell`.

use crate::linalg::elementary::Elementary;
use serde::Serialize;

use super::composition::smoothness;
use super::tracking::Tracking;
use crate::linalg::vector::update_with;
use crate::methods::{Ask, Chosen, Family, Form, Guarded, Listed, Method, MethodInfo, Noise, Rate};
use crate::model::problem::Objective;
use crate::oracle::Oracle;
use crate::tuning::choice::{Choice, Knob};

/// ASC-PG with its settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AscPg {
    /// The step at the beginning.
    pub alpha_theta: f64,
    /// The weight of what is new in y, at the beginning.
    pub averaging: f64,
    /// Whether no step was given: then the safeguard watches over it.
    pub guarded: bool,
    /// The seed of all random draws.
    pub seed: u64,
}

/// The step at the beginning, times the smoothness. Of 0.3, 1, 3 and 10 the best on a generated
/// portfolio and Bellman residuals, and close to it on rows and softplus of softplus; 10 may
/// diverge.
const STEP: f64 = 1.0;
/// The weight at the beginning; 0.03 and 1 are about as good.
const WEIGHT: f64 = 0.3;

impl Listed for AscPg {
    const INFO: MethodInfo = MethodInfo {
        name: "asc-pg",
        title: "ASC-PG",
        family: Family::Composition,
        summary: "stochastic gradients through a running average that looks ahead",
        reference: "Wang, Liu and Fang 2016, Algorithm 1",
        storage: "ell",
        rate: Rate::Sublinear,
        form: Form::Shared,
        asks: &[Ask::SmoothMerit, Ask::SharedSample],
        settings: &[Knob::AlphaTheta, Knob::Averaging],
    };

    fn settings(choice: &Choice, problem: Objective<'_>, theta: &[f64]) -> Chosen<Self> {
        Ok(AscPg {
            alpha_theta: choice.alpha_theta(|| STEP / smoothness(problem, theta, 1, 1))?,
            averaging: choice.averaging(WEIGHT)?,
            guarded: choice.leaves_steps(),
            seed: choice.seed,
        })
    }
}

impl Method for AscPg {
    type State = Tracking;

    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> Tracking {
        Tracking::new(oracle, theta, self.seed)
    }

    fn outer(&self, oracle: &mut Oracle<'_>, s: &mut Tracking) {
        if s.at_start() {
            // Differs: y starts at its first sample instead of zero.
            let j = s.draw_other(oracle);
            s.follow(oracle, j, 1.0);
        }
    }

    fn inner_iterations(&self, s: &Tracking) -> usize {
        s.pass
    }

    #[inline(always)]
    fn inner(&self, oracle: &mut Oracle<'_>, s: &mut Tracking) {
        // Differs: both sequences stay near their first value for a pass, (1 + k/n)^p instead of
        // k^p, as in SCGD.
        let passes = s.passes();
        let a = self.alpha_theta * passes.to_power(-5.0 / 9.0);
        let b = self.averaging * passes.to_power(-4.0 / 9.0);
        let (i, j) = s.draw(oracle);
        // theta <- prox_{a_k g}(theta - a_k f'_theta(y_j) phi_i'(y))
        s.z.copy_from_slice(&s.theta);
        s.descend(oracle, i, j, a);
        // z = (1 - 1/b_k) theta_old + (1/b_k) theta
        update_with(&mut s.z, &s.theta, |old, new| old + (new - old) / b);
        // y <- (1 - b_k) y + b_k f_z(y_j)
        let j = s.draw_other(oracle);
        s.follow(oracle, j, b);
    }

    fn guarded(&mut self) -> Option<Guarded<'_>> {
        self.guarded.then_some(Guarded::new(&mut self.alpha_theta, &mut self.seed))
    }

    fn noise(&self) -> Noise {
        Noise::Stays
    }

    fn restart(&self, oracle: &mut Oracle<'_>, s: &mut Tracking, theta: &[f64]) {
        s.restart(oracle, theta);
    }

    fn theta<'s>(&self, s: &'s Tracking) -> &'s [f64] {
        &s.theta
    }
}

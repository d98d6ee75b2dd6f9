//! SCGD: Wang, Fang and Liu, "Stochastic Compositional Gradient Descent", Mathematical Programming
//! 2017, Algorithm 1.
//!
//! Asks of the problem: a smooth phi, a prox of g, and a sample that is shared by all terms; it
//! works on the shared form otherwise. Sublinear: with `a_k ~ k^(-3/4)` and `b_k ~ k^(-1/2)` the
//! error of y, and with it the gap, falls like `k^(-1/2)` where P is strongly convex, and that of
//! averaged iterates like `k^(-1/4)` where it is merely convex. Per step: 1 f + 1 f' + 1 phi of the
//! shared form; time O(d ell). Storage: y, in `R^ell`.

use crate::linalg::elementary::Elementary;
use serde::Serialize;

use super::composition::smoothness;
use super::tracking::Tracking;
use crate::methods::{Ask, Chosen, Family, Form, Guarded, Listed, Method, MethodInfo, Noise, Rate};
use crate::model::problem::Objective;
use crate::oracle::Oracle;
use crate::tuning::choice::{Choice, Knob};

/// SCGD with its settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scgd {
    /// The step at the beginning.
    pub alpha_theta: f64,
    /// The weight of what is new in y, at the beginning.
    pub averaging: f64,
    /// Whether no step was given: then the safeguard watches over it.
    pub guarded: bool,
    /// The seed of all random draws.
    pub seed: u64,
}

/// The step at the beginning, times the smoothness. Of 0.3, 1, 3 and 10 the best or close to it on
/// a generated portfolio and Bellman residuals; rows and softplus of softplus like 0.3.
const STEP: f64 = 3.0;
/// The weight at the beginning; between 0.03 and 0.3, where 1 is ten times worse.
const WEIGHT: f64 = 0.1;

impl Listed for Scgd {
    const INFO: MethodInfo = MethodInfo {
        name: "scgd",
        title: "SCGD",
        family: Family::Composition,
        summary: "stochastic gradients through a running average",
        reference: "Wang, Fang and Liu 2017, Algorithm 1",
        storage: "ell",
        rate: Rate::Sublinear,
        form: Form::Shared,
        asks: &[Ask::SmoothMerit, Ask::SharedSample],
        settings: &[Knob::AlphaTheta, Knob::Averaging],
    };

    fn settings(choice: &Choice, problem: Objective<'_>, theta: &[f64]) -> Chosen<Self> {
        Ok(Scgd {
            alpha_theta: choice.alpha_theta(|| STEP / smoothness(problem, theta, 1, 1))?,
            averaging: choice.averaging(WEIGHT)?,
            guarded: choice.leaves_steps(),
            seed: choice.seed,
        })
    }
}

impl Method for Scgd {
    type State = Tracking;

    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> Tracking {
        Tracking::new(oracle, theta, self.seed)
    }

    fn inner_iterations(&self, s: &Tracking) -> usize {
        s.pass
    }

    #[inline(always)]
    fn inner(&self, oracle: &mut Oracle<'_>, s: &mut Tracking) {
        // Differs: both sequences stay near their first value for a pass, (1 + k/n)^p instead of
        // k^p: an alpha large enough for later would be far too large at k = 1. y starts at its
        // first sample instead of zero.
        let passes = s.passes();
        let a = self.alpha_theta * passes.to_power(-0.75);
        let b = if s.at_start() { 1.0 } else { self.averaging / passes.sqrt() };
        let (i, j) = s.draw(oracle);
        // y <- (1 - b_k) y + b_k f_theta(y_j)
        s.z.copy_from_slice(&s.theta);
        s.follow(oracle, j, b);
        // theta <- prox_{a_k g}(theta - a_k f'_theta(y_j) phi_i'(y))
        s.descend(oracle, i, j, a);
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

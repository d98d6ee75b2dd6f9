//! SVRPDA-II: Algorithm 2 of Devraj and Chen, "Stochastic Variance Reduced Primal Dual Algorithms
//! for Empirical Composition Optimization", NIPS 2019: SVRPDA-I with the mean Jacobian replaced by
//! that of one more random sample. The box is in `svrpda.rs`; here is its row in the table.
//!
//! Asks of the problem: a prox for each `phi_i*` and for g. No proof of a rate; linear in practice.
//! Its U drifts from the batch gradient between snapshots, so it needs smaller steps or shorter
//! epochs than SVRPDA-I, or a leak (`svrpda/leak.rs`), which automatic steps take where they expect
//! fewer calls of it and which holds `n_X ell + d` numbers more. Per step: 2 values of f and 1 product with f', 2 more unless f is affine;
//! time O(d ell). In batches of B terms and b samples, B b times that. Storage: `2 n_X ell` for
//! duals and averages, a few vectors of length d. Where an affine f tells which coordinates a term
//! looks at, these are few and g is a sum over coordinates, a step takes time in proportion to
//! their number.

use serde::Serialize;

use super::svrpda::{SETTINGS_LEAKING, Settings, Variant, drifting_epoch};
use super::{Chosen, Family, Form, Listed, MethodInfo, Rate};
use crate::model::problem::Objective;
use crate::tuning::choice::{Choice, Leak};
use crate::tuning::steps::StepRule;

/// SVRPDA-II with its settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Svrpda2(pub Settings);

impl Listed for Svrpda2 {
    const INFO: MethodInfo = MethodInfo {
        name: "svrpda2",
        title: "SVRPDA-II",
        family: Family::PrimalDual,
        summary: "variance-reduced primal-dual steps in little memory",
        reference: "Devraj and Chen 2019, Algorithm 2",
        storage: "d + n_X ell",
        rate: Rate::Linear,
        form: Form::Given,
        asks: &[],
        settings: SETTINGS_LEAKING,
    };

    fn settings(choice: &Choice, problem: Objective<'_>, theta: &[f64]) -> Chosen<Self> {
        let mut settings = Settings::choose(choice, problem, theta)?;
        let scaled =
            matches!(choice.rule.unwrap_or_default(), StepRule::Automatic | StepRule::Scaled);
        let drifts = !settings.automatic && !matches!(settings.leak, Leak::Part(_));
        if choice.inner_iterations.is_none() && scaled && drifts {
            settings.inner_iterations =
                drifting_epoch(settings.inner_iterations, problem.inner.n_x());
        }
        Ok(Svrpda2(settings))
    }
}

impl Variant for Svrpda2 {
    const STORES_JACOBIANS: bool = false;

    fn settings(&self) -> &Settings {
        &self.0
    }

    fn settings_mut(&mut self) -> &mut Settings {
        &mut self.0
    }
}

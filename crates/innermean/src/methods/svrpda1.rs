//! SVRPDA-I: Algorithm 1 of Devraj and Chen, "Stochastic Variance Reduced Primal Dual Algorithms
//! for Empirical Composition Optimization", NIPS 2019. The box is in `svrpda.rs`; here is its row
//! in the table.
//!
//! Asks of the problem: a prox for each `phi_i*` and for g. Linear rate (Theorems 1 and 2) when g
//! is strongly convex, each phi smooth and `L(theta, w)` convex in theta. Per step: 2 values of f,
//! and 2 products with f' unless f is affine; time O(d ell). In batches of B terms and b samples, B
//! b times that. Storage: `n_X d ell` for the mean Jacobians, `2 n_X ell` for duals and averages, a
//! few vectors of length d. Where an affine f tells which coordinates a term looks at, mean
//! Jacobians are kept at these alone and, if they are few and g is a sum over coordinates, a step
//! takes time in proportion to their number.

use serde::Serialize;

use super::svrpda::{SETTINGS, Settings, Variant};
use super::{Chosen, Family, Form, Listed, MethodInfo, Rate};
use crate::model::problem::Objective;
use crate::tuning::choice::Choice;

/// SVRPDA-I with its settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Svrpda1(pub Settings);

impl Listed for Svrpda1 {
    const INFO: MethodInfo = MethodInfo {
        name: "svrpda1",
        title: "SVRPDA-I",
        family: Family::PrimalDual,
        summary: "variance-reduced primal-dual steps with stored mean Jacobians",
        reference: "Devraj and Chen 2019, Algorithm 1",
        storage: "n_X d ell",
        rate: Rate::Linear,
        form: Form::Given,
        asks: &[],
        settings: SETTINGS,
    };

    fn settings(choice: &Choice, problem: Objective<'_>, theta: &[f64]) -> Chosen<Self> {
        Ok(Svrpda1(Settings::choose(choice, problem, theta)?))
    }
}

impl Variant for Svrpda1 {
    const STORES_JACOBIANS: bool = true;

    fn settings(&self) -> &Settings {
        &self.0
    }

    fn settings_mut(&mut self) -> &mut Settings {
        &mut self.0
    }
}

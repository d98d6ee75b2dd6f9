//! SVRPDA-I: Algorithm 1 of Devraj and Chen, "Stochastic Variance Reduced Primal Dual Algorithms for Empirical
//! Composition Optimization", NIPS 2019. The box is in `primal_dual.rs`; here stands its line for U.
//!
//! Asks of the problem: a prox for each `phi_i*` and for g. Linear rate (Theorems 1 and 2) when g is strongly convex,
//! each phi smooth and `L(theta, w)` convex in theta.
//! Per step: 2 values of f, and 2 products with f' unless f is affine; time O(d ell). In batches of B terms and b samples, B b times that. Storage: `n_X d ell` for the
//! mean Jacobians, `2 n_X ell` for duals and averages, a few vectors of length d. Where an affine f tells which coordinates a term looks at, mean
//! Jacobians are kept at these alone and, if they are few and g is a sum over coordinates, a step takes time in proportion to their number.

use serde::Serialize;

use super::primal_dual::{Pace, PrimalDual, SETTINGS, Settings, UpdateU};
use super::{Family, Form, Listed, MethodInfo, Rate};
use crate::choice::{Choice, ChoiceError};
use crate::oracle::Oracle;
use crate::problem::Objective;
use crate::vector::{axpy, sparse_axpy};

/// The table's row.
pub const INFO: MethodInfo = MethodInfo {
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

/// SVRPDA-I with its settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Svrpda1(pub Settings);

impl Listed for Svrpda1 {
    const INFO: MethodInfo = INFO;

    fn settings(choice: &Choice, problem: Objective<'_>, theta: &[f64]) -> Result<Self, ChoiceError> {
        Ok(Svrpda1(Settings::choose(choice, problem, theta)?))
    }
}

impl UpdateU for Svrpda1 {
    const STORES_JACOBIANS: bool = true;

    fn settings(&self) -> &Settings {
        &self.0
    }

    fn with(settings: Settings) -> Self {
        Svrpda1(settings)
    }

    /// `U_k = U_{k-1} + (1/n_X) fbar'_{i_k}(theta_ref) (w_{i_k}^(k) - w_{i_k}^(k-1))`
    #[inline(always)]
    fn update_u(s: &mut PrimalDual, oracle: &mut Oracle<'_>, i: usize, _: usize, change: &[f64]) {
        let d = oracle.d();
        if s.jac_bar.is_empty() && oracle.support(i).is_some() {
            return Self::update_u_sparsely(s, oracle, i, change);
        }
        for (c, change_c) in change.iter().enumerate() {
            let row = i * change.len() + c;
            axpy(change_c * oracle.one_over_n_x(), &s.jac_bar[row * d..(row + 1) * d], &mut s.u);
        }
    }

    /// Of an affine f, `delta^theta_k = U_k`: both in one sweep.
    #[inline(always)]
    fn update_u_and_theta(
        s: &mut PrimalDual,
        oracle: &mut Oracle<'_>,
        pace: &Pace,
        i: usize,
        change: &[f64],
    ) {
        if !oracle.affine() || s.jac_bar.is_empty() || change.len() > 1 {
            Self::update_u(s, oracle, i, 1, change);
            return s.primal_step(oracle, pace);
        }
        let PrimalDual { jac_bar, u, theta, .. } = s;
        let (d, share) = (oracle.d(), change[0] * oracle.one_over_n_x());
        oracle.primal_step_along_sum(pace.alpha_theta, share, &jac_bar[i * d..(i + 1) * d], u, theta);
    }
}

impl Svrpda1 {
    /// The same with Jacobians that are not zero at the support of term i alone: those of f itself where they are no averages.
    #[inline(always)]
    fn update_u_sparsely(s: &mut PrimalDual, oracle: &Oracle<'_>, i: usize, change: &[f64]) {
        let share = oracle.one_over_n_x();
        let PrimalDual { sparse_jac_bar, theta_ref, u, .. } = s;
        let Some(jac_bar) = sparse_jac_bar else {
            return oracle.add_known_mean_jac_t(theta_ref, i, change, share, u);
        };
        for (c, change_c) in change.iter().enumerate() {
            sparse_axpy(change_c * share, jac_bar.columns(i), jac_bar.values(i, c), u);
        }
    }
}

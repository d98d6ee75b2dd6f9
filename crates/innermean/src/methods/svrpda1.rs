//! SVRPDA-I: Algorithm 1 of Devraj and Chen, "Stochastic Variance Reduced Primal Dual Algorithms for Empirical
//! Composition Optimization", NIPS 2019.
//!
//! Asks of the problem: a prox for each `phi_i*` and for g. Linear rate (Theorems 1 and 2) when g is strongly convex,
//! each phi smooth and `L(theta, w)` convex in theta.
//! Per step: 2 values of f, and 2 products with f' unless f is affine; time O(d ell). Storage: `n_X d ell` for the
//! mean Jacobians, `2 n_X ell` for duals and averages, a few vectors of length d.

use super::primal_dual::{PrimalDual, Settings, Stored};
use super::{Method, MethodInfo};
use crate::inner::Inner;
use crate::merit::Merit;
use crate::oracle::Oracle;
use crate::regularizer::Regularizer;
use crate::vector::axpy;

/// The table's row.
pub const INFO: MethodInfo = MethodInfo {
    name: "svrpda1",
    title: "SVRPDA-I",
    summary: "variance-reduced primal-dual steps with stored mean Jacobians",
    reference: "Devraj and Chen 2019, Algorithm 1",
    storage: "n_X d ell",
};

/// SVRPDA-I with its settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Svrpda1(pub Settings);

impl<F: Inner, P: Merit, G: Regularizer> Method<F, P, G> for Svrpda1 {
    type State = PrimalDual;

    fn init(&self, oracle: &mut Oracle<'_, F, P, G>, theta: &[f64]) -> PrimalDual {
        PrimalDual::new(oracle, &self.0, theta, Stored::MeanJacobians)
    }

    fn outer(&self, oracle: &mut Oracle<'_, F, P, G>, s: &mut PrimalDual) {
        s.begin_outer(oracle, &self.0);
    }

    fn inner_iterations(&self, _: &PrimalDual) -> usize {
        self.0.inner_iterations
    }

    #[inline(always)]
    fn inner(&self, oracle: &mut Oracle<'_, F, P, G>, s: &mut PrimalDual) {
        if s.warming_up(&self.0) {
            return s.plain_step(oracle, &self.0);
        }
        s.begin_step();
        // i_k, j_k; delta^w_k; w_i^(k)
        s.dual_step(
            oracle,
            &self.0,
            #[inline(always)]
            |s, oracle, i, change| {
                // U_k = U_{k-1} + (1/n_X) fbar'_{i_k}(theta_ref) (w_{i_k}^(k) - w_{i_k}^(k-1))
                let d = oracle.d();
                for (c, change_c) in change.iter().enumerate() {
                    let row = i * change.len() + c;
                    axpy(change_c * oracle.one_over_n_x(), &s.jac_bar[row * d..(row + 1) * d], &mut s.u);
                }
            },
        );
        // i'_k, j'_k; delta^theta_k; theta^(k)
        s.primal_step(oracle, &self.0);
        s.end_step(oracle, &self.0);
    }

    fn theta<'s>(&self, s: &'s PrimalDual) -> &'s [f64] {
        s.output(&self.0)
    }

    fn duals<'s>(&self, s: &'s PrimalDual) -> Option<&'s [f64]> {
        Some(&s.w)
    }
}

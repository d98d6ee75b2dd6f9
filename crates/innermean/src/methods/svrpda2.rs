//! SVRPDA-II: Algorithm 2 of Devraj and Chen, "Stochastic Variance Reduced Primal Dual Algorithms for Empirical
//! Composition Optimization", NIPS 2019: SVRPDA-I with the mean Jacobian replaced by that of one more random sample.
//!
//! Asks of the problem: a prox for each `phi_i*` and for g. No proof of a rate; linear in practice. Its U drifts from
//! the batch gradient between snapshots, so it needs smaller steps or shorter epochs than SVRPDA-I.
//! Per step: 2 values of f and 1 product with f', 2 more unless f is affine; time O(d ell). Storage: `2 n_X ell` for
//! duals and averages, a few vectors of length d.

use super::primal_dual::{PrimalDual, Settings, Stored};
use super::{Method, MethodInfo};
use crate::inner::Inner;
use crate::merit::Merit;
use crate::oracle::Oracle;
use crate::regularizer::Regularizer;

/// The table's row.
pub const INFO: MethodInfo = MethodInfo {
    name: "svrpda2",
    title: "SVRPDA-II",
    summary: "variance-reduced primal-dual steps in little memory",
    reference: "Devraj and Chen 2019, Algorithm 2",
    storage: "d + n_X ell",
};

/// SVRPDA-II with its settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Svrpda2(pub Settings);

impl<F: Inner, P: Merit, G: Regularizer> Method<F, P, G> for Svrpda2 {
    type State = PrimalDual;

    fn init(&self, oracle: &mut Oracle<'_, F, P, G>, theta: &[f64]) -> PrimalDual {
        PrimalDual::new(oracle, &self.0, theta, Stored::Nothing)
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
                // U_k = U_{k-1} + (1/n_X) f'_theta_ref(x_{i_k}, y_{i_k j''_k}) (w_{i_k}^(k) - w_{i_k}^(k-1))
                let j = s.draws.u_j.index(oracle.n_y(i));
                oracle.add_jac_t(&s.theta_ref, i, j, change, oracle.one_over_n_x(), &mut s.u);
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

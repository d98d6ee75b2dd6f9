//! The inner step of SVRPDA-I and II where most coordinates of theta are left for later; see
//! [`super::Lagged`].

use super::{Pace, PrimalDual, Variant};
use crate::oracle::Oracle;

impl PrimalDual {
    /// A step of either kind that looks at the coordinates of its term alone. Along the others the
    /// direction does not change: U, and zero while there is no U. They are brought up to date at
    /// the end of an outer iteration, and when Option II remembers the point.
    pub(super) fn lagged_step<V: Variant>(&mut self, oracle: &mut Oracle<'_>, pace: &Pace) {
        let alpha = pace.alpha_theta;
        let (i, j) = self.sample(oracle);
        let support = oracle.support(i).unwrap_or_default();
        self.lagged.catch_up(oracle, support, alpha, &self.u, &mut self.theta);
        if pace.warming_up {
            self.plain_dual_step(oracle, pace, i, j);
            let w_i = &self.w[i * oracle.ell()..(i + 1) * oracle.ell()];
            oracle.add_jac_t(&self.theta, i, j, w_i, 1.0, &mut self.delta_theta);
            self.lagged.step_ahead(oracle, support, alpha, &mut self.delta_theta, &mut self.theta);
        } else {
            if self.next_reference.remembers(self.k) {
                self.lagged.catch_up_all(oracle, alpha, &self.u, &mut self.theta);
                self.next_reference.before_step(self.k, &self.theta);
            }
            self.dual_step(oracle, pace, i, j);
            self.next_reference.dual_changed(self.k, i, &self.change);
            self.update_u::<V>(oracle, pace, i);
        }
        // The primal step, which is made on a coordinate when it is looked at.
        self.lagged.tick();
        self.k += 1;
        if self.k == pace.inner_iterations {
            self.lagged.catch_up_all(oracle, alpha, &self.u, &mut self.theta);
        }
    }
}

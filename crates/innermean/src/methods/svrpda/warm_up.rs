//! Steps before the first snapshot, which are not variance-reduced.

use super::{Pace, PrimalDual};
use crate::oracle::Oracle;

impl PrimalDual {
    /// Draws one pair, then `w_i <- prox(w_i + alpha_w f_theta(x_i, y_ij))` and `theta <-
    /// prox(theta - alpha_theta f'_theta(x_i, y_ij) w_i)`. With one sample for both, the noise in
    /// `w_i` pulls theta towards zero as a ridge would; two independent samples took 4 % more calls
    /// on the paper's portfolios.
    pub(super) fn plain_step(&mut self, oracle: &mut Oracle<'_>, pace: &Pace) {
        let (i, j) = self.sample(oracle);
        self.plain_dual_step(oracle, pace, i, j);
        self.delta_theta.fill(0.0);
        let ell = oracle.ell();
        let w_i = &self.w[i * ell..(i + 1) * ell];
        oracle.add_jac_t(&self.theta, i, j, w_i, 1.0, &mut self.delta_theta);
        oracle.g().step(pace.alpha_theta, &self.delta_theta, &mut self.theta);
        self.k += 1;
    }

    /// The dual half.
    pub(super) fn plain_dual_step(
        &mut self,
        oracle: &mut Oracle<'_>,
        pace: &Pace,
        i: usize,
        j: usize,
    ) {
        oracle.value(&self.theta, i, j, &mut self.delta_w);
        self.ascend(oracle, pace.alpha_w, i);
    }
}

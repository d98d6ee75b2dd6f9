//! What the state holds.

use super::PrimalDual;
use crate::model::collapse::SparseRows;

impl PrimalDual {
    /// How many numbers each item of the paper's Table 2 holds: the lengths of the vectors that are
    /// there.
    pub fn items(&self) -> [(&'static str, usize); 8] {
        let jacobians =
            self.sparse_jac_bar.as_ref().map_or(self.jac_bar.len(), SparseRows::numbers);
        [
            ("U", self.u.len()),
            ("f_bar", self.f_bar.len()),
            ("jac_bar", jacobians),
            ("theta", self.theta.len()),
            ("theta_ref", self.theta_ref.len()),
            ("w", self.w.len()),
            ("delta_theta", self.delta_theta.len()),
            // With the change of w_i, and what it is worked out in.
            ("delta_w", self.delta_w.len() + self.change.len() + self.work.len()),
        ]
    }
}

//! Snapshots that keep what they have found of every term.

use super::Oracle;
use crate::linalg::blocks::Blocks;
use crate::linalg::vector::add_weighted_rows;

impl Oracle<'_> {
    /// A snapshot that keeps the mean Jacobians of an f that is not affine: `f_bar_i =
    /// fbar_i(theta)` and `jacobians_i = fbar_i'(theta)` for all i, and `u = (1/n_X) sum_i
    /// fbar_i'(theta) w_i` from these. `w_i` is as it is or, if duals are to start,
    /// `phi_i'(fbar_i(theta))`, for `n_X` calls more.
    pub fn snapshot_with_jacobians(
        &mut self,
        theta: &[f64],
        starting: bool,
        w: &mut [f64],
        f_bar: &mut [f64],
        jacobians: &mut [f64],
        u: &mut [f64],
    ) {
        self.calls = self.calls + self.snapshot;
        self.rows += self.rows_of.all;
        self.problem.inner.means_and_jacobians(theta, f_bar, jacobians);
        if starting {
            self.calls.merit += self.n_x as u64;
            self.problem.duals(f_bar, w);
        }
        u.fill(0.0);
        let (d, ell) = (self.d, self.ell);
        Blocks::with_least(self.n_x, d * ell, d).add(
            self.one_over_n_x,
            u,
            #[inline(always)]
            |range, partial| {
                let (rows, own) =
                    (&jacobians[range.start * ell * d..], range.start * ell..range.end * ell);
                add_weighted_rows(rows, &w[own], partial);
            },
        );
    }
}

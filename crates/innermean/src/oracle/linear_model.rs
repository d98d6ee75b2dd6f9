//! Linear models of f, which store what f says: phi alone is asked.

use super::Oracle;
use crate::model::collapse::Collapsed;
use crate::model::inner::Fused;
use crate::model::shared::MOST_PICKED;

/// [`Oracle::model`]: a linear model of f in its place.
#[derive(Debug)]
pub struct LinearModel<'o, 'p> {
    pub(super) oracle: &'o mut Oracle<'p>,
    pub(super) model: &'o Collapsed,
}

impl LinearModel<'_, '_> {
    /// The loss at theta, and its gradient as `out`: `n_X` calls of phi, and none
    /// of f, which the model stores. On the way, `w_i = phi_i'` at the model's averages. It runs on
    /// this thread and allocates nothing if `ell` is at most [`MOST_PICKED`].
    #[inline(always)]
    pub fn sweep(&mut self, theta: &[f64], w: &mut [f64], out: &mut [f64]) -> f64 {
        self.oracle.calls.merit += self.oracle.n_x as u64;
        self.oracle.rows += self.oracle.n_x as u64;
        let merit = self.oracle.problem.merit;
        let mut loss = 0.0;
        let mut small = [0.0; MOST_PICKED];
        let mut large =
            if self.oracle.ell > MOST_PICKED { vec![0.0; self.oracle.ell] } else { Vec::new() };
        let u = if self.oracle.ell > MOST_PICKED {
            &mut large[..]
        } else {
            &mut small[..self.oracle.ell]
        };
        self.model.sweep(
            theta,
            w,
            out,
            #[inline(always)]
            |i, w_i| {
                u.copy_from_slice(w_i);
                loss += merit.value(i, u);
                merit.gradient(i, u, w_i);
            },
        );
        loss * self.oracle.one_over_n_x
    }

    /// [`super::Pass::gradient`] of the model, by two parallel passes over it: `n_X` calls of phi,
    /// and none of f.
    pub fn gradient(&mut self, theta: &[f64], f_bar: &mut [f64], w: &mut [f64], out: &mut [f64]) {
        self.oracle.calls.merit += self.oracle.n_x as u64;
        self.oracle.rows += 2 * self.oracle.n_x as u64;
        self.model.f().means(theta, f_bar);
        self.oracle.problem.duals(f_bar, w);
        out.fill(0.0);
        self.model.f().add_weighted_jac_t(theta, w, out);
    }

    /// The loss at theta: `n_X` calls of phi.
    pub fn loss(&mut self, theta: &[f64]) -> f64 {
        self.oracle.calls.merit += self.oracle.n_x as u64;
        self.oracle.rows += self.oracle.n_x as u64;
        let mut f_bar = vec![0.0; self.oracle.n_x * self.oracle.ell];
        self.model.f().means(theta, &mut f_bar);
        self.oracle.problem.loss(&f_bar)
    }
}

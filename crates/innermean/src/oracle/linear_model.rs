//! Linear models of f, which store what f says: phi alone is asked.

use super::Oracle;
use crate::model::collapse::Collapsed;
use crate::model::inner::Fused;

/// [`Oracle::model`]: a linear model of f in its place.
#[derive(Debug)]
pub struct LinearModel<'o, 'p> {
    pub(super) oracle: &'o mut Oracle<'p>,
    pub(super) model: &'o Collapsed,
}

impl LinearModel<'_, '_> {
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
}

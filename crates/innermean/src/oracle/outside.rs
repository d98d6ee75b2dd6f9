//! What is outside of the average: phi, of which every value and gradient is counted, and g,
//! which is free.

use std::sync::Arc;

use super::Oracle;
use crate::model::merit::{Merit, QuadraticForm};
use crate::model::regularizer::Regularizer;

impl<'p> Oracle<'p> {
    /// g, which is free.
    #[inline(always)]
    pub fn g(&self) -> &'p dyn Regularizer {
        self.problem.regularizer
    }

    /// phi, for what is free: its constants, `phi*` and its prox. Values and gradients are counted
    /// by [`Self::merit_gradient`].
    #[inline(always)]
    pub fn phi(&self) -> &'p dyn Merit {
        self.problem.merit
    }

    /// `out = phi_i'(u)`: one call.
    #[inline(always)]
    pub fn merit_gradient(&mut self, i: usize, u: &[f64], out: &mut [f64]) {
        self.calls.merit += 1;
        self.rows += self.rows_of.merit;
        self.problem.merit.gradient(i, u, out);
    }

    /// `phi_i(u)`, and `out = phi_i'(u)`: one call.
    pub(crate) fn merit_slope(&mut self, i: usize, u: &[f64], out: &mut [f64]) -> f64 {
        self.merit_gradient(i, u, out);
        self.problem.merit.value(i, u)
    }

    /// `out += c phi_i'(u)`, with scratch of the length of u: one call.
    #[inline(always)]
    pub fn add_merit_gradient(
        &mut self,
        i: usize,
        u: &[f64],
        c: f64,
        work: &mut [f64],
        out: &mut [f64],
    ) {
        self.calls.merit += 1;
        self.rows += self.rows_of.merit;
        self.problem.merit.add_gradient(i, u, c, work, out);
    }

    /// phi as a quadratic form.
    ///
    /// # Panics
    /// If it is none.
    #[inline(always)]
    pub fn form(&self) -> &'p QuadraticForm {
        self.problem.merit.quadratic_form().expect("the method has been chosen for this problem")
    }

    /// lambda and tilt of a g that is `(lambda/2) |theta|^2 + <tilt, theta>`, to be held while the
    /// oracle counts: free.
    pub(crate) fn quadratic_g(&self) -> Option<(f64, Arc<[f64]>)> {
        self.quadratic_g.clone()
    }

    /// `theta_l` after this many primal steps in a constant direction: free.
    ///
    /// # Panics
    /// If g is no sum over coordinates.
    #[inline(always)]
    pub fn repeated_step(
        &self,
        l: usize,
        steps: u64,
        alpha: f64,
        direction: f64,
        theta: f64,
    ) -> f64 {
        let part = self.problem.regularizer.coordinate(l).expect("lags() has been asked");
        part.repeated_step(steps, alpha, direction, theta)
    }
}

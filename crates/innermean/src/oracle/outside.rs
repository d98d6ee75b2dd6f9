//! What stands outside of the average: phi, of which every value and gradient is counted, and g,
//! which is free.

use std::sync::Arc;

use super::Oracle;
use crate::model::merit::QuadraticForm;

impl<'p> Oracle<'p> {
    /// `out = phi_i'(u)`: one call.
    #[inline(always)]
    pub fn merit_gradient(&mut self, i: usize, u: &[f64], out: &mut [f64]) {
        self.calls.merit += 1;
        self.rows += self.rows_of.merit;
        self.problem.merit.gradient(i, u, out);
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

    /// `g(theta)`: free.
    pub fn regularizer_value(&self, theta: &[f64]) -> f64 {
        self.problem.regularizer.value(theta)
    }

    /// `w <- prox_{alpha phi_i*}(w)`: free.
    #[inline(always)]
    pub fn prox_conjugate(&self, i: usize, alpha: f64, w: &mut [f64]) {
        self.problem.merit.prox_conjugate(i, alpha, w);
    }

    /// `out += c C w = c (phi*)'(w)` for a phi that is a quadratic form: free, as all that is asked
    /// of `phi*`.
    ///
    /// # Panics
    /// If phi is none.
    #[inline(always)]
    pub fn add_form_product(&self, w: &[f64], c: f64, out: &mut [f64]) {
        self.form().add_product(w, c, out);
    }

    /// `out += c c_t c_t' w`, sample t of [`Self::add_form_product`]: free.
    ///
    /// # Panics
    /// If phi is no quadratic form.
    #[inline(always)]
    pub fn add_form_sample(&self, t: usize, w: &[f64], c: f64, out: &mut [f64]) {
        self.form().add_sample_product(t, w, c, out);
    }

    /// See [`Merit::gamma`]: free.
    pub(crate) fn merit_gamma(&self) -> f64 {
        self.problem.merit.gamma()
    }

    /// See [`Merit::lipschitz`]: free.
    pub(crate) fn merit_lipschitz(&self) -> f64 {
        self.problem.merit.lipschitz(1)
    }

    /// c if `phi_i(u) = c |u|^2` for all i: free.
    pub fn square_weight(&self) -> Option<f64> {
        self.problem.merit.square_weight()
    }

    /// `c_i` if `phi_i(u) = c_i |u|^2`: free.
    pub fn square_weight_of(&self, i: usize) -> Option<f64> {
        self.problem.merit.square_weight_of(i)
    }

    /// phi as a quadratic form, if it is one: free.
    pub fn quadratic_form(&self) -> Option<&'p QuadraticForm> {
        self.problem.merit.quadratic_form()
    }

    #[inline(always)]
    fn form(&self) -> &QuadraticForm {
        self.problem.merit.quadratic_form().expect("the method has been chosen for this problem")
    }

    /// `theta <- prox_{alpha g}(theta - alpha direction)`: free.
    #[inline(always)]
    pub fn primal_step(&self, alpha: f64, direction: &[f64], theta: &mut [f64]) {
        self.problem.regularizer.step(alpha, direction, theta);
    }

    /// `u += c x`, then the primal step along u: free.
    #[inline(always)]
    pub fn primal_step_along_sum(
        &self,
        alpha: f64,
        c: f64,
        x: &[f64],
        u: &mut [f64],
        theta: &mut [f64],
    ) {
        self.problem.regularizer.step_along_sum(alpha, c, x, u, theta);
    }

    /// lambda and tilt of a g that is `(lambda/2) |theta|^2 + <tilt, theta>`, to be held while the
    /// oracle counts: free.
    pub(crate) fn quadratic_g(&self) -> Option<(f64, Arc<[f64]>)> {
        self.quadratic_g.clone()
    }

    /// `theta_l` after so many primal steps in a constant direction: free.
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

    /// Moves theta to the point next to it that g allows: free.
    pub fn allow(&self, theta: &mut [f64]) {
        self.problem.allow(theta);
    }
}

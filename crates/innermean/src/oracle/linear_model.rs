//! Linear models of f, which store what f says: phi alone is asked.

use super::Oracle;
use crate::linalg::precise::{Form, Rows};
use crate::linalg::vector::norm_squared;
use crate::model::collapse::Collapsed;
use crate::model::inner::Fused;
use crate::model::shared::MOST_PICKED;

impl Oracle<'_> {
    /// The linear model at another point, in place: a snapshot's calls.
    pub fn linearise(&mut self, theta: &[f64], model: &mut Collapsed) {
        self.calls = self.calls + self.snapshot;
        self.rows += 2 * self.rows_of.all;
        model.linearise(self.problem.inner, theta);
    }

    /// The rows of an affine f in twice the precision, those of a quadratic form as rows of
    /// squares: a snapshot's calls.
    pub(crate) fn precise_rows(&mut self) -> Rows {
        self.calls = self.calls + self.snapshot;
        self.rows += 2 * self.rows_of.all;
        let rows = Rows::new(self.problem.inner);
        match self.phi().quadratic_form() {
            None => rows,
            Some(form) => rows.whitened(&Form::new(self.problem.inner, form)),
        }
    }

    /// `F` from averages, and with them `w_i = phi_i'` and, as `seconds`, the diagonal of
    /// `phi_i''`: `n_X` calls of phi.
    pub(crate) fn merits(&mut self, f_bar: &[f64], w: &mut [f64], seconds: &mut [f64]) -> f64 {
        self.calls.merit += self.n_x as u64;
        if self.phi().quadratic_form().is_some() {
            // Squares, as precise_rows() made them.
            w.copy_from_slice(f_bar);
            seconds.fill(1.0);
            return 0.5 * norm_squared(f_bar);
        }
        self.problem.duals(f_bar, w);
        self.problem.merit.seconds(0..self.n_x, f_bar, seconds);
        self.problem.loss(f_bar)
    }

    /// The loss of a linear model at theta, and its gradient as `out`: `n_X` calls of phi, and none
    /// of f, which the model stores. On the way, `w_i = phi_i'` at the model's averages. It runs on
    /// this thread and allocates nothing if `ell` is at most [`MOST_PICKED`].
    #[inline(always)]
    pub fn model_gradient(
        &mut self,
        model: &Collapsed,
        theta: &[f64],
        w: &mut [f64],
        out: &mut [f64],
    ) -> f64 {
        self.calls.merit += self.n_x as u64;
        self.rows += self.n_x as u64;
        let merit = self.problem.merit;
        let mut loss = 0.0;
        let mut small = [0.0; MOST_PICKED];
        let mut large = if self.ell > MOST_PICKED { vec![0.0; self.ell] } else { Vec::new() };
        let u = if self.ell > MOST_PICKED { &mut large[..] } else { &mut small[..self.ell] };
        model.sweep(
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
        loss * self.one_over_n_x
    }

    /// [`Self::gradient`] of a linear model, by two parallel passes over it: `n_X` calls of phi,
    /// and none of f.
    pub fn gradient_of_model(
        &mut self,
        model: &Collapsed,
        theta: &[f64],
        f_bar: &mut [f64],
        w: &mut [f64],
        out: &mut [f64],
    ) {
        self.calls.merit += self.n_x as u64;
        self.rows += 2 * self.n_x as u64;
        model.f().means(theta, f_bar);
        self.problem.duals(f_bar, w);
        out.fill(0.0);
        model.f().add_weighted_jac_t(theta, w, out);
    }

    /// The loss of a linear model at theta: `n_X` calls of phi.
    pub fn model_loss(&mut self, model: &Collapsed, theta: &[f64]) -> f64 {
        self.calls.merit += self.n_x as u64;
        self.rows += self.n_x as u64;
        let mut f_bar = vec![0.0; self.n_x * self.ell];
        model.f().means(theta, &mut f_bar);
        self.problem.loss(&f_bar)
    }
}

//! The portfolio with a shared inner sample: the paper's identification (5), `ell = d + 1`.
//!
//! ```text
//! F_theta(y_j) = ( theta, -<y_j, theta> ),  B_i u = <x_i, u_0..d> + u_d
//! ```
//!
//! so that `B_i F_theta(y_j) = <x_i - y_j, theta>`. A query of F is one call.

use super::Portfolio;
use crate::linalg::vector::{axpy, dot, norm_squared};
use crate::model::inner::{Facts, Fused, Inner, Passes, Rows, Sample};
use crate::model::shared::SharedForm;

#[derive(Debug)]
pub(super) struct SharedPortfolio<'p>(pub(super) &'p Portfolio);

impl Inner for SharedPortfolio<'_> {
    fn d(&self) -> usize {
        self.0.d
    }

    fn ell(&self) -> usize {
        self.0.d + 1
    }

    fn n_x(&self) -> usize {
        self.0.n
    }

    fn n_y(&self, _: usize) -> usize {
        self.0.n
    }

    fn facts(&self) -> Facts {
        let rows = Rows { pair: 1, all: self.0.n as u64, merit: 1 };
        Facts::affine().with_sample(Sample::Shared).with_rows(rows)
    }

    fn value(&self, theta: &[f64], _: usize, j: usize, out: &mut [f64]) {
        out[..theta.len()].copy_from_slice(theta);
        out[theta.len()] = -self.0.with_row(j, |row| dot(row, theta));
    }

    fn add_jac_t(&self, theta: &[f64], _: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        axpy(c, &w[..theta.len()], out);
        self.0.with_row(j, |row| axpy(-c * w[theta.len()], row, out));
    }

    fn passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }
}

impl Fused for SharedPortfolio<'_> {
    fn f(&self) -> &dyn Inner {
        self
    }

    fn mean(&self, theta: &[f64], _: usize, _: &mut [f64], out: &mut [f64]) {
        out[..theta.len()].copy_from_slice(theta);
        out[theta.len()] = -dot(&self.0.mean, theta);
    }

    fn add_mean_jac_t(&self, theta: &[f64], _: usize, w: &[f64], c: f64, out: &mut [f64]) {
        axpy(c, &w[..theta.len()], out);
        axpy(-c * w[theta.len()], &self.0.mean, out);
    }
}

impl Passes for SharedPortfolio<'_> {}

impl SharedForm for SharedPortfolio<'_> {
    fn pick(&self, i: usize, u: &[f64], out: &mut [f64]) {
        out[0] = self.0.with_row(i, |row| dot(row, &u[..self.0.d])) + u[self.0.d];
    }

    fn add_pick_t(&self, i: usize, w: &[f64], c: f64, out: &mut [f64]) {
        self.0.with_row(i, |row| axpy(c * w[0], row, &mut out[..self.0.d]));
        out[self.0.d] += c * w[0];
    }

    fn pick_scale(&self, i: usize) -> f64 {
        self.0.with_row(i, norm_squared) + 1.0
    }
}

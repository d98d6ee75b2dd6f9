//! The Bellman error with a shared inner sample: the identification of the paper's appendix on
//! MDPs, `ell = 2 S`.
//!
//! ```text
//! F_theta(y_j) = ( <Psi_i, theta>, S P_ij (r_ij + discount <Psi_j, theta>) for all i ),  B_i u = u_2i - u_2i+1
//! ```
//!
//! so that `B_i F_theta(y_j) = f_theta(x_i, y_ij)`. A query of F is `2 S` calls.

use super::Bellman;
use crate::linalg::vector::{axpy, dot};
use crate::model::inner::{Facts, Fused, Inner, Passes, Rows, Sample};
use crate::model::shared::SharedForm;

#[derive(Debug)]
pub(super) struct SharedBellman<'p>(pub(super) &'p Bellman);

impl Inner for SharedBellman<'_> {
    fn d(&self) -> usize {
        self.0.d
    }

    fn ell(&self) -> usize {
        2 * self.0.states
    }

    fn n_x(&self) -> usize {
        self.0.states
    }

    fn n_y(&self, _: usize) -> usize {
        self.0.states
    }

    fn facts(&self) -> Facts {
        let states = self.0.states as u64;
        let facts = Facts { calls_per_query: 2 * states, ..Facts::affine() };
        let rows = Rows { pair: states, all: states, merit: 0 };
        facts.with_sample(Sample::Shared).with_rows(rows)
    }

    fn value(&self, theta: &[f64], _: usize, j: usize, out: &mut [f64]) {
        let next = self.0.discount * dot(self.0.psi(j), theta);
        for (i, pair) in out.chunks_exact_mut(2).enumerate() {
            pair[0] = dot(self.0.psi(i), theta);
            pair[1] = self.0.odds(i, j) * (self.0.reward(i, j) + next);
        }
    }

    /// `sum_i w_2i Psi_i + (sum_i w_2i+1 S P_ij) discount Psi_j`
    fn add_jac_t(&self, _: &[f64], _: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        let mut next = 0.0;
        for (i, w) in w.chunks_exact(2).enumerate() {
            axpy(c * w[0], self.0.psi(i), out);
            next += w[1] * self.0.odds(i, j);
        }
        axpy(c * next * self.0.discount, self.0.psi(j), out);
    }

    fn passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }
}

impl Fused for SharedBellman<'_> {
    fn f(&self) -> &dyn Inner {
        self
    }

    /// `( <Psi_i, theta>, <Psi_i, theta> - fbar_i )`
    fn mean(&self, theta: &[f64], _: usize, work: &mut [f64], out: &mut [f64]) {
        for (i, pair) in out.chunks_exact_mut(2).enumerate() {
            self.0.mean(theta, i, work, &mut pair[1..]);
            pair[0] = dot(self.0.psi(i), theta);
            pair[1] = pair[0] - pair[1];
        }
    }

    fn add_mean_jac_t(&self, theta: &[f64], _: usize, w: &[f64], c: f64, out: &mut [f64]) {
        for (i, w) in w.chunks_exact(2).enumerate() {
            axpy(c * (w[0] + w[1]), self.0.psi(i), out);
            self.0.add_mean_jac_t(theta, i, &w[1..], -c, out);
        }
    }
}

impl Passes for SharedBellman<'_> {}

impl SharedForm for SharedBellman<'_> {
    fn pick(&self, i: usize, u: &[f64], out: &mut [f64]) {
        out[0] = u[2 * i] - u[2 * i + 1];
    }

    fn add_pick_t(&self, i: usize, w: &[f64], c: f64, out: &mut [f64]) {
        out[2 * i] += c * w[0];
        out[2 * i + 1] -= c * w[0];
    }

    fn pick_scale(&self, _: usize) -> f64 {
        2.0
    }
}

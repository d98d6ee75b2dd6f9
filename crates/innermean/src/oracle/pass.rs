//! Passes over the whole data: snapshots, gradients, second derivatives, linear models of f.

use super::{Calls, Oracle, Patience, snapshot_calls};
use crate::certificate::hessian;
use crate::linalg::blocks::Blocks;
use crate::linalg::precise::{Form, Rows};
use crate::linalg::vector::{add_weighted_rows, axpy, norm_squared};
use crate::model::collapse::Collapsed;
use crate::model::inner::Inner;
use crate::model::sample::PartOf;

/// [`Oracle::pass`]: what takes a pass over the data, or is made of one.
#[derive(Debug)]
pub struct Pass<'o, 'p>(pub(super) &'o mut Oracle<'p>);

impl Pass<'_, '_> {
    /// `f_bar_i = fbar_i(theta)` for all i and `u = (1/n_X) sum_i fbar_i'(theta) w_i`: a snapshot's
    /// calls.
    pub fn snapshot(&mut self, theta: &[f64], w: &[f64], f_bar: &mut [f64], u: &mut [f64]) {
        self.0.calls = self.0.calls + self.0.snapshot;
        self.0.rows += self.0.rows_of.all;
        self.0.problem.inner.snapshot(theta, w, f_bar, u);
    }

    /// The snapshot from which duals start: `w_i = phi_i'(fbar_i(theta))` comes out as well, for
    /// `n_X` calls more.
    pub fn snapshot_with_duals(
        &mut self,
        theta: &[f64],
        w: &mut [f64],
        f_bar: &mut [f64],
        u: &mut [f64],
    ) {
        self.0.calls = self.0.calls + self.0.snapshot;
        self.0.calls.merit += self.0.n_x as u64;
        self.0.rows += 2 * self.0.rows_of.all;
        self.0.problem.inner.means(theta, f_bar);
        self.0.problem.duals(f_bar, w);
        u.fill(0.0);
        self.0.problem.inner.add_weighted_jac_t(theta, w, u);
    }

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
        self.0.calls = self.0.calls + self.0.snapshot;
        self.0.rows += self.0.rows_of.all;
        self.0.problem.inner.means_and_jacobians(theta, f_bar, jacobians);
        if starting {
            self.0.calls.merit += self.0.n_x as u64;
            self.0.problem.duals(f_bar, w);
        }
        u.fill(0.0);
        let (d, ell) = (self.0.d, self.0.ell);
        Blocks::with_least(self.0.n_x, d * ell, d).add(
            self.0.one_over_n_x,
            u,
            #[inline(always)]
            |range, partial| {
                let (rows, own) =
                    (&jacobians[range.start * ell * d..], range.start * ell..range.end * ell);
                add_weighted_rows(rows, &w[own], partial);
            },
        );
    }

    /// `out = fbar_i'(theta)` for all i (or, of a shared sample, for the first), from the same
    /// queries as the snapshot at theta: free.
    pub fn mean_jacobians(&mut self, theta: &[f64], out: &mut [f64]) {
        self.0.problem.inner.mean_jacobians(theta, out);
    }

    /// `out = fbar'(theta)` of a shared sample, as ell rows of length d: `n_Y` calls.
    pub fn shared_jacobian(&mut self, theta: &[f64], out: &mut [f64]) {
        self.0.calls.jacobian += self.0.snapshot.jacobian;
        self.0.rows += self.0.rows_of.all;
        self.0.problem.inner.mean_jacobians(theta, out);
    }

    /// `out = F'(theta)`, and `F(theta)` as what is returned: the calls of a gradient. On the way,
    /// `f_bar_i = fbar_i(theta)` and `w_i = phi_i'(f_bar_i)`.
    pub fn gradient(
        &mut self,
        theta: &[f64],
        f_bar: &mut [f64],
        w: &mut [f64],
        out: &mut [f64],
    ) -> f64 {
        self.0.calls = self.0.calls + self.0.gradient;
        self.0.rows += 2 * self.0.rows_of.all;
        self.0.problem.loss_and_gradient(theta, f_bar, w, out)
    }

    /// `P(theta)`, and the size of its two parts: [`Self::look_cost`] calls.
    pub(crate) fn look(&mut self, theta: &[f64]) -> (f64, f64) {
        self.0.calls.merit += self.0.gradient.merit;
        let mut f_bar = vec![0.0; self.0.n_x * self.0.ell];
        self.means(theta, &mut f_bar);
        self.0.problem.objective_at(theta, &f_bar)
    }

    /// A gradient's calls of f and phi.
    pub(crate) fn look_cost(&self) -> u64 {
        self.0.gradient.f + self.0.gradient.merit
    }

    /// `f_bar_i = fbar_i(theta)` for all i: a gradient's calls of f.
    pub fn means(&mut self, theta: &[f64], f_bar: &mut [f64]) {
        self.0.calls.f += self.0.gradient.f;
        self.0.rows += self.0.rows_of.all;
        self.0.problem.inner.means(theta, f_bar);
    }

    /// The linear model of all `fbar_i` at theta: a snapshot's calls.
    pub fn collapsed(&mut self, theta: &[f64]) -> Collapsed {
        self.0.calls = self.0.calls + self.0.snapshot;
        self.0.rows += 2 * self.0.rows_of.all;
        // Away from the origin, rounding would leave offsets where there are none.
        let origin = vec![0.0; theta.len()];
        Collapsed::new(self.0.problem.inner, if self.0.facts.affine { &origin } else { theta })
    }

    /// `sum_r weight(r) a_r a_r'` over the rows of all mean Jacobians, where f finds it without a
    /// copy of them: a snapshot's calls of f'. Good for nothing where the time is up.
    pub fn gram(&mut self, weight: &(dyn Fn(usize) -> f64 + Sync)) -> Option<Vec<f64>> {
        let f = self.0.problem.inner;
        // What asks for each weight whether time is up takes a tenth of a small matrix's time.
        let gram = if Patience::would_look(f.d(), f.n_x() * f.ell()) {
            self.0.patience.within(f.d(), weight, |weight| f.gram(weight))?
        } else {
            f.gram(weight)?
        };
        self.0.calls.jacobian += self.0.snapshot.jacobian;
        self.0.rows += self.0.rows_of.all;
        Some(gram)
    }

    /// `out += (1/n_X) sum_i fbar_i'(theta) w_i`: a gradient's calls of f'.
    pub fn add_weighted_jac_t(&mut self, theta: &[f64], w: &[f64], out: &mut [f64]) {
        self.0.calls.jacobian += self.0.gradient.jacobian;
        self.0.rows += self.0.rows_of.all;
        self.0.problem.inner.add_weighted_jac_t(theta, w, out);
    }

    /// `fbar_i'(theta)` as the rows of a model whose offsets stay, and `f_bar_i = fbar_i(theta)`,
    /// for all i, from at most this many samples of each if not from all: a snapshot's calls of
    /// these.
    pub(crate) fn rows_and_means(
        &mut self,
        theta: &[f64],
        most: Option<usize>,
        model: &mut Collapsed,
        f_bar: &mut [f64],
    ) {
        let f = self.0.problem.inner;
        if let Some(most) = most {
            let terms: Vec<usize> = (0..self.0.n_x).collect();
            let part: &dyn Inner = &PartOf::new(f, &terms, most);
            self.0.calls = self.0.calls + snapshot_calls(part);
            self.0.rows += part.rows().all;
            return model.take_rows_and_means(part, theta, f_bar);
        }
        self.0.calls = self.0.calls + self.0.snapshot;
        self.0.rows += self.0.rows_of.all;
        model.take_rows_and_means(f, theta, f_bar);
    }

    /// The mean of f and of its Jacobian over a stretch of the samples of each term, which begins
    /// somewhere, has a length and goes on at the first after the last: ell numbers and ell rows of
    /// length d, one after the other. As many calls of f and of f' as there are samples.
    pub(crate) fn stretches(&mut self, theta: &[f64], stretches: &[(usize, usize)]) -> Vec<f64> {
        let samples: usize = stretches.iter().map(|(_, len)| len).sum();
        let queries = self.0.weight * samples as u64;
        self.0.calls.f += queries;
        self.0.calls.jacobian += queries;
        self.0.rows += self.0.rows_of.pair * samples as u64;
        let (f, ell, d) = (self.0.problem.inner, self.0.ell, self.0.d);
        let size = ell * (1 + d);
        let mut out = vec![0.0; self.0.n_x * size];
        let cost = size * samples.div_ceil(self.0.n_x.max(1));
        Blocks::new(self.0.n_x, cost).fill(size, &mut out, |terms, out| {
            let (mut work, mut one) = (vec![0.0; ell], vec![0.0; size]);
            for (i, out) in terms.zip(out.chunks_exact_mut(size)) {
                let ((first, len), n_y) = (stretches[i], f.n_y(i));
                let wrapped = (first + len).saturating_sub(n_y);
                for js in [first..(first + len).min(n_y), 0..wrapped] {
                    if js.is_empty() {
                        continue;
                    }
                    let share = js.len() as f64 / len as f64;
                    let (mean, rows) = one.split_at_mut(ell);
                    f.block_mean_and_jacobian(theta, i, js, &mut work, mean, rows);
                    axpy(share, &one, out);
                }
            }
        });
        out
    }

    /// The rows of an affine f in twice the precision, those of a quadratic form as rows of
    /// squares: a snapshot's calls.
    pub(crate) fn precise_rows(&mut self) -> Rows {
        self.0.calls = self.0.calls + self.0.snapshot;
        self.0.rows += 2 * self.0.rows_of.all;
        let rows = Rows::new(self.0.problem.inner);
        match self.0.phi().quadratic_form() {
            None => rows,
            Some(form) => rows.whitened(&Form::new(self.0.problem.inner, form)),
        }
    }

    /// `F` from averages, and with them `w_i = phi_i'` and, as `curvatures`, the diagonal of
    /// `phi_i''`: `n_X` calls of phi.
    pub(crate) fn merits(&mut self, f_bar: &[f64], w: &mut [f64], curvatures: &mut [f64]) -> f64 {
        self.0.calls.merit += self.0.n_x as u64;
        if self.0.phi().quadratic_form().is_some() {
            // Squares, as precise_rows() made them.
            w.copy_from_slice(f_bar);
            curvatures.fill(1.0);
            return 0.5 * norm_squared(f_bar);
        }
        self.0.problem.duals(f_bar, w);
        curvatures.copy_from_slice(&hessian::merit_diagonals(self.0.problem, f_bar));
        self.0.problem.loss(f_bar)
    }

    /// The diagonals of `phi_i''` from averages whose `phi_i'` has been asked for: free.
    pub(crate) fn merit_diagonals(&self, f_bar: &[f64]) -> Vec<f64> {
        hessian::merit_diagonals(self.0.problem, f_bar)
    }

    /// `F''` at theta, whose averages are at hand, from this many terms; see [`hessian::dense`]:
    /// their part of a snapshot's calls of f', and a call of phi for each.
    pub(crate) fn hessian(
        &mut self,
        theta: &[f64],
        f_bar: &[f64],
        terms: usize,
        seed: u64,
    ) -> Vec<f64> {
        let terms = terms.min(self.0.n_x);
        let part = |all: u64| (u128::from(all) * terms as u128 / self.0.n_x.max(1) as u128) as u64;
        self.0.calls.jacobian += part(self.0.snapshot.jacobian);
        self.0.calls.merit += terms as u64;
        self.0.rows += part(self.0.rows_of.all);
        hessian::dense(self.0.problem, theta, f_bar, (terms, seed), &self.0.patience)
    }

    /// Counts some columns of the mean Jacobians of an affine f: a snapshot's calls of f'.
    pub(crate) fn count_columns(&mut self) {
        self.0.calls.jacobian += self.0.snapshot.jacobian;
        self.0.rows += self.0.rows_of.all;
    }

    /// The diagonal of `F''` at theta, whose averages are at hand: a gradient's calls of f' and
    /// phi.
    pub(crate) fn hessian_diagonal(&mut self, theta: &[f64], f_bar: &[f64]) -> Vec<f64> {
        self.0.calls = self.0.calls + Calls { f: 0, ..self.0.gradient };
        self.0.rows += self.0.rows_of.all;
        hessian::diagonal(self.0.problem, theta, f_bar)
    }
}

//! What automatic steps look at around a reference point. All of it comes from the queries of the
//! snapshot there and of phi at its averages, or from g: free.

use crate::linalg::vector::{axpy, dot, sparse_dot};
use crate::model::inner::Jacobians;
use crate::model::problem::Objective;
use crate::model::regularizer::Parts;
use crate::tuning::steps::{Steps, scaled_for_batches};

/// Terms, and samples of each, at which [`Objective::scatter_along`] looks.
const PROBES: usize = 48;

impl Objective<'_> {
    /// g along its coordinates, if it is a sum over them.
    pub(crate) fn parts(&self) -> Option<Parts> {
        Parts::with_constraints(self.regularizer, self.inner.d())
    }

    /// `P(theta_ref)` from its averages, and the size of its two parts.
    pub(crate) fn objective_at(&self, theta_ref: &[f64], f_bar: &[f64]) -> (f64, f64) {
        let (loss, g) = (self.loss(f_bar), self.regularizer.value(theta_ref));
        (loss + g, loss.abs() + g.abs())
    }

    /// The steps of the rule `scaled` for a run from theta.
    pub(crate) fn scaled_steps(&self, theta: &[f64], batch: usize, outer_batch: usize) -> Steps {
        scaled_for_batches(*self, theta, batch, outer_batch)
    }

    /// `out = ` the diagonal of `phi_i''(f_bar_i)` for all i, or a bound on its eigenvalues.
    pub(crate) fn curvatures(&self, f_bar: &[f64], out: &mut [f64]) {
        let merit = self.merit;
        let bound = 1.0 / merit.gamma();
        if merit.hessian_diagonal(0..self.inner.n_x(), f_bar, out) {
            // Where no phi bends, as smoothed hinges at the origin, they will further on.
            if bound.is_finite() && out.iter().all(|c| *c <= 0.0) {
                out.fill(bound);
            }
            return;
        }
        for (i, (out, u)) in out
            .chunks_exact_mut(self.inner.ell())
            .zip(f_bar.chunks_exact(self.inner.ell()))
            .enumerate()
        {
            out.fill(merit.curvature(i, u).unwrap_or(bound));
        }
    }

    /// Adds to `gradient = F'(theta)` what g has to say: its gradient where it is quadratic, and
    /// otherwise what makes the prox-gradient mapping with step alpha of it. Returns how strongly
    /// convex g is.
    pub(crate) fn add_slope(&self, theta: &[f64], alpha: f64, gradient: &mut [f64]) -> f64 {
        let g = self.regularizer;
        if let Some((lambda, tilt)) = g.quadratic(self.inner.d()) {
            axpy(lambda, theta, gradient);
            axpy(1.0, &tilt, gradient);
            return lambda;
        }
        let mapping = self.mapping(theta, gradient, alpha);
        gradient.copy_from_slice(&mapping);
        g.mu()
    }

    /// `fbar_i'(theta)` of some terms, one after the other: ell rows of all coordinates or of the
    /// term's support.
    pub(crate) fn jacobians_of(
        &self,
        theta: &[f64],
        terms: impl Iterator<Item = usize>,
    ) -> Vec<f64> {
        let mut jacobians = Jacobians::new(self.inner, theta);
        terms.flat_map(|i| jacobians.mean(i).to_vec()).collect()
    }

    /// `mean_i sum_c c_i,c mean_j <f'_ij,c - fbar_i,c', x>^2`, measured on at most 48 terms and as
    /// many samples of each.
    pub(crate) fn scatter_along(&self, theta: &[f64], x: &[f64], c: &[f64]) -> f64 {
        let f = self.inner;
        let terms = self.inner.n_x().min(PROBES);
        let mut jacobians = Jacobians::new(f, theta);
        let mut along = |i: usize, j: Option<usize>| -> Vec<f64> {
            let rows = match j {
                Some(j) => jacobians.pair(i, j),
                None => jacobians.mean(i),
            };
            match f.support(i) {
                Some(support) => rows
                    .chunks_exact(support.len().max(1))
                    .map(|row| sparse_dot(support, row, x))
                    .collect(),
                None => rows.chunks_exact(x.len()).map(|row| dot(row, x)).collect(),
            }
        };
        let mut sum = 0.0;
        for k in 0..terms {
            let i = k * self.inner.n_x() / terms;
            let samples = f.n_y(i).min(PROBES);
            if f.n_y(i) == 1 {
                continue;
            }
            let mean = along(i, None);
            let c = &c[i * self.inner.ell()..(i + 1) * self.inner.ell()];
            for m in 0..samples {
                let single = along(i, Some(m * f.n_y(i) / samples));
                let squares =
                    single.iter().zip(&mean).zip(c).map(|((s, m), c)| c * (s - m) * (s - m));
                sum += squares.sum::<f64>() / samples as f64;
            }
        }
        sum / terms as f64
    }
}

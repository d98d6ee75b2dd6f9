//! What automatic steps look at around a reference point. All of it comes from the queries of the
//! snapshot there and of phi at its averages, or from g: free.

use super::Oracle;
use crate::linalg::vector::{axpy, dot, sparse_dot};
use crate::model::inner::Jacobians;
use crate::tuning::steps::{Steps, scaled_for_batches};

/// Terms, and samples of each, at which [`Oracle::scatter_along`] looks.
const PROBES: usize = 48;

impl Oracle<'_> {
    /// `P(theta_ref)` from its averages, and the size of its two parts.
    pub(crate) fn objective_at(&self, theta_ref: &[f64], f_bar: &[f64]) -> (f64, f64) {
        let (loss, g) = (self.problem.loss(f_bar), self.problem.regularizer.value(theta_ref));
        (loss + g, loss.abs() + g.abs())
    }

    /// `P(theta)`, and the size of its two parts: a gradient's calls of f and phi.
    pub(crate) fn look(&mut self, theta: &[f64]) -> (f64, f64) {
        let mut f_bar = vec![0.0; self.n_x * self.ell];
        self.loss(theta, &mut f_bar);
        self.objective_at(theta, &f_bar)
    }

    /// Counts a call of phi for each term, for a look at averages at which it has not been asked.
    pub(crate) fn ask_all_merits(&mut self) {
        self.calls.merit += self.n_x as u64;
    }

    /// What a whole gradient costs.
    pub(crate) fn gradient_cost(&self) -> u64 {
        self.gradient.total()
    }

    /// What [`Self::look`] costs.
    pub(crate) fn look_cost(&self) -> u64 {
        self.gradient.f + self.gradient.merit
    }

    /// The steps of the rule `scaled` for a run from theta.
    pub(crate) fn scaled_steps(&self, theta: &[f64], batch: usize, outer_batch: usize) -> Steps {
        scaled_for_batches(self.problem, theta, batch, outer_batch)
    }

    /// `out = ` the diagonal of `phi_i''(f_bar_i)` for all i, or a bound on its eigenvalues.
    pub(crate) fn curvatures(&self, f_bar: &[f64], out: &mut [f64]) {
        let merit = self.problem.merit;
        let bound = 1.0 / merit.gamma();
        if merit.seconds(0..self.n_x, f_bar, out) {
            // Where no phi bends, as smoothed hinges at the origin, they will further on.
            if bound.is_finite() && out.iter().all(|c| *c <= 0.0) {
                out.fill(bound);
            }
            return;
        }
        for (i, (out, u)) in
            out.chunks_exact_mut(self.ell).zip(f_bar.chunks_exact(self.ell)).enumerate()
        {
            out.fill(merit.curvature(i, u).unwrap_or(bound));
        }
    }

    /// Adds to `gradient = F'(theta)` what g has to say: its gradient where it is quadratic, and
    /// otherwise what makes the prox-gradient mapping with step alpha of it. Returns how strongly
    /// convex g is.
    pub(crate) fn add_slope(&self, theta: &[f64], alpha: f64, gradient: &mut [f64]) -> f64 {
        let g = self.problem.regularizer;
        if let Some((lambda, tilt)) = g.quadratic(self.d) {
            axpy(lambda, theta, gradient);
            axpy(1.0, &tilt, gradient);
            return lambda;
        }
        let mapping = self.problem.mapping(theta, gradient, alpha);
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
        let mut jacobians = Jacobians::new(self.problem.inner, theta);
        terms.flat_map(|i| jacobians.mean(i).to_vec()).collect()
    }

    /// `mean_i sum_c c_i,c mean_j <f'_ij,c - fbar_i,c', x>^2`, measured on at most 48 terms and as
    /// many samples of each.
    pub(crate) fn scatter_along(&self, theta: &[f64], x: &[f64], c: &[f64]) -> f64 {
        let f = self.problem.inner;
        let terms = self.n_x.min(PROBES);
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
            let i = k * self.n_x / terms;
            let samples = f.n_y(i).min(PROBES);
            if f.n_y(i) == 1 {
                continue;
            }
            let mean = along(i, None);
            let c = &c[i * self.ell..(i + 1) * self.ell];
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

//! Linear instrumental variables by the generalised method of moments (Hansen, 1982).
//!
//! Row j has regressors `x_j` in `R^d`, some of them correlated with the error, instruments `z_j` in
//! `R^ell`, `ell >= d`, that are not, and an outcome `y_j`. Regressors that are exogenous, the
//! constant among them, are instruments too. At the true theta the moments `z_j (y_j - <x_j, theta>)`
//! have mean zero:
//!
//! ```text
//! min over theta of  u' C^-1 u / 2  with  u = (1/n) sum_j z_j (y_j - <x_j, theta>)
//! f_theta(y_j) = z_j (y_j - <x_j, theta>),  n_X = 1,  n_Y = n
//! ```
//!
//! With `C = (1/n) sum_j z_j z_j'` this is two-stage least squares, efficient where errors have one
//! variance. With the covariance of the moments at a first estimate for C it is efficient in any
//! case, the second step; `n u' C^-1 u` is then Hansen's J, chi-squared with `ell - d` degrees of
//! freedom if all instruments are valid. [`Moments::fit`] does it in closed form; as an f with the
//! [`QuadraticForm`] of [`MomentsFit::form`] for phi, it takes penalties, constraints and methods
//! like any other.
//!
//! A weight `v_j` of a row multiplies its regressors, instruments and outcome by `sqrt(v_j)`.

use crate::linalg::blocks::Blocks;
use crate::linalg::vector::{axpy, dot, norm_squared, prefetch};
use crate::model::inner::{Bounds, Facts, Fused, Inner, Passes, ProjectedRows, Sample};
#[cfg(doc)]
use crate::model::merit::QuadraticForm;
use crate::model::setting::{InvalidSetting, all_finite};

mod first_stage;
mod fit;
mod splines;

pub use first_stage::FirstStage;
pub use fit::{JTest, MomentErrors, MomentsFit, Weighting};
pub use splines::BSpline;

/// The f of linear moments. A value and a product cost `O(d + ell)`; averages come from
/// `A = (1/n) sum_j z_j x_j'` and `b = (1/n) sum_j z_j y_j`, which are kept.
#[derive(Debug, Clone)]
pub struct Moments {
    d: usize,
    ell: usize,
    regressors: Vec<f64>,
    instruments: Vec<f64>,
    outcomes: Vec<f64>,
    /// ell rows of length d
    a: Vec<f64>,
    b: Vec<f64>,
    /// `max_j |z_j| |x_j|`
    reach: f64,
}

impl Moments {
    /// Takes regressors as rows of length `d` and instruments as rows of length `ell`, one of each
    /// for every outcome.
    ///
    /// # Errors
    /// Unless there is a whole row for each outcome, all numbers are finite, and there are at least
    /// as many instruments as regressors.
    pub fn new(
        d: usize,
        regressors: Vec<f64>,
        ell: usize,
        instruments: Vec<f64>,
        outcomes: Vec<f64>,
    ) -> Result<Self, InvalidSetting> {
        let n = outcomes.len();
        if ell < d {
            return Err(InvalidSetting::new(
                "instruments",
                format!("{ell} columns"),
                format!("at least as many as the {d} regressors"),
            ));
        }
        for (name, rows, width) in
            [("regressors", &regressors, d), ("instruments", &instruments, ell)]
        {
            if width == 0 || n == 0 || rows.len() != n * width {
                return Err(InvalidSetting::new(
                    name,
                    format!("{} numbers in rows of {width}", rows.len()),
                    format!("a row for each of the {n} outcomes"),
                ));
            }
        }
        let regressors = all_finite("regressors", regressors)?;
        let instruments = all_finite("instruments", instruments)?;
        let outcomes = all_finite("outcomes", outcomes)?;
        let mut a = vec![0.0; ell * (d + 1)];
        Blocks::with_least(n, 1, (n * a.len()) >> 22).add(
            1.0 / n as f64,
            &mut a,
            |rows, partial| {
                let (a, b) = partial.split_at_mut(ell * d);
                for j in rows {
                    let z = &instruments[j * ell..(j + 1) * ell];
                    axpy(outcomes[j], z, b);
                    for (row, z) in a.chunks_exact_mut(d).zip(z) {
                        axpy(*z, &regressors[j * d..(j + 1) * d], row);
                    }
                }
            },
        );
        let b = a.split_off(ell * d);
        let rows = instruments.chunks_exact(ell).zip(regressors.chunks_exact(d));
        let reach =
            rows.map(|(z, x)| (norm_squared(z) * norm_squared(x)).sqrt()).fold(0.0, f64::max);
        Ok(Moments { d, ell, regressors, instruments, outcomes, a, b, reach })
    }

    /// `y_j - <x_j, theta>`
    pub fn residual(&self, theta: &[f64], j: usize) -> f64 {
        self.outcomes[j] - dot(self.regressor(j), theta)
    }

    fn regressor(&self, j: usize) -> &[f64] {
        &self.regressors[j * self.d..(j + 1) * self.d]
    }

    fn instrument(&self, j: usize) -> &[f64] {
        &self.instruments[j * self.ell..(j + 1) * self.ell]
    }
}

impl Inner for Moments {
    fn d(&self) -> usize {
        self.d
    }

    fn ell(&self) -> usize {
        self.ell
    }

    fn n_x(&self) -> usize {
        1
    }

    fn n_y(&self, _: usize) -> usize {
        self.outcomes.len()
    }

    fn facts(&self) -> Facts {
        Facts::affine().with_sample(Sample::Shared)
    }

    fn value(&self, theta: &[f64], _: usize, j: usize, out: &mut [f64]) {
        out.fill(0.0);
        axpy(self.residual(theta, j), self.instrument(j), out);
    }

    /// `-x_j <z_j, w>`
    fn add_jac_t(&self, _: &[f64], _: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        axpy(-c * dot(self.instrument(j), w), self.regressor(j), out);
    }

    fn passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }
}

impl Fused for Moments {
    fn f(&self) -> &dyn Inner {
        self
    }

    fn prefetch(&self, _: usize, j: usize) {
        prefetch(&self.instruments, j * self.ell, self.ell);
        prefetch(&self.regressors, j * self.d, self.d);
    }

    /// `b - A theta`
    fn mean(&self, theta: &[f64], _: usize, _: &mut [f64], out: &mut [f64]) {
        for ((out, row), b) in out.iter_mut().zip(self.a.chunks_exact(self.d)).zip(&self.b) {
            *out = b - dot(row, theta);
        }
    }

    fn projected_rows(&self) -> Option<ProjectedRows<'_>> {
        Some(ProjectedRows {
            left: Some(&self.instruments),
            features: &self.regressors,
            next_features: &self.regressors,
            rewards: &self.outcomes,
            weights: None,
            discount: 0.0,
            traces: None,
        })
    }

    /// `-A' w`
    fn add_mean_jac_t(&self, _: &[f64], _: usize, w: &[f64], c: f64, out: &mut [f64]) {
        for (row, w) in self.a.chunks_exact(self.d).zip(w) {
            axpy(-c * w, row, out);
        }
    }
}

impl Passes for Moments {
    fn bounds(&self) -> Bounds {
        let mean = norm_squared(&self.a).sqrt();
        Bounds { b_f: Some(self.reach), b_theta: Some(0.0), mean_jacobian: Some(mean) }
    }
}

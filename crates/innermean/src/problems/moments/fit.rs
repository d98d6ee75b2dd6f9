//! Estimates in closed form, their covariance, and the test of overidentifying restrictions.

use std::collections::BTreeMap;

use super::Moments;
use crate::inference::distributions::chi_squared_tail;
use crate::inference::{Bread, Clusters, Correction, Covariance, Dependence, InferenceError};
use crate::linalg::gram;
use crate::linalg::vector::{axpy, dot};
use crate::model::inner::Inner;
use crate::model::merit::{Merit, QuadraticForm};

/// Iterations of [`Weighting::Iterated`], at most.
const MOST_STEPS: usize = 200;
/// Iterations end when theta moves by no more than this share of itself.
const SMALL_MOVE: f64 = 1e-12;

/// What is assumed of the errors when the covariance of the moments is estimated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MomentErrors {
    /// One variance: `s^2 (1/n) sum_j z_j z_j'`.
    Unadjusted,
    /// Any variances, and dependence of that kind: `(1/n) sum over pairs of m_j m_k'` with the
    /// moments `m_j`.
    Robust(Dependence),
}

/// How moments are weighted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Weighting {
    /// By `((1/n) sum_j z_j z_j')^-1`: two-stage least squares.
    TwoStageLeastSquares,
    /// By the inverse of their covariance at the two-stage least squares estimate.
    TwoStep(MomentErrors),
    /// By the inverse of their covariance at the estimate itself.
    Iterated(MomentErrors),
}

/// An estimate by the method of moments.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MomentsFit {
    /// The coefficients of the regressors.
    pub theta: Vec<f64>,
    /// phi: `u' C^-1 u / 2`
    pub form: QuadraticForm,
    /// How often theta was estimated.
    pub steps: usize,
    /// The test of the restrictions, where there are more instruments than regressors: Sargan's
    /// after two-stage least squares, Hansen's otherwise.
    pub j: Option<JTest>,
}

/// The test of overidentifying restrictions.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct JTest {
    /// `n u' C^-1 u`
    pub statistic: f64,
    /// Instruments less regressors.
    pub degrees_of_freedom: usize,
    /// The probability of a larger statistic if all instruments are valid.
    pub p_value: f64,
}

impl Moments {
    /// Estimates theta.
    ///
    /// # Errors
    /// If instruments or moments are linearly dependent, or do not identify the coefficients.
    ///
    /// # Panics
    /// Unless there is a cluster for each row, where there are clusters.
    pub fn fit(&self, weighting: &Weighting) -> Result<MomentsFit, InferenceError> {
        let n = self.outcomes.len();
        let mut form =
            QuadraticForm::new(self.instrument_products())?.rounded_of(&self.instruments);
        let mut theta = self.minimiser(&form)?.1;
        let (errors, most) = match weighting {
            Weighting::TwoStageLeastSquares => (&MomentErrors::Unadjusted, 1),
            Weighting::TwoStep(errors) => (errors, 2),
            Weighting::Iterated(errors) => (errors, MOST_STEPS),
        };
        let mut steps = 1;
        while steps < most {
            form = QuadraticForm::new(self.moment_covariance(&theta, errors, true))?;
            let next = self.minimiser(&form)?.1;
            let still = |(a, b): (&f64, &f64)| (a - b).abs() <= SMALL_MOVE * (a.abs() + b.abs());
            let done = theta.iter().zip(&next).all(still);
            theta = next;
            steps += 1;
            if done {
                break;
            }
        }
        let mut statistic = 2.0 * n as f64 * form.value(0, &self.mean_moment(&theta));
        if steps == 1 {
            statistic /= self.residual_variance(&theta, false);
        }
        let degrees = self.ell - self.d;
        let j = (degrees > 0).then(|| JTest {
            statistic,
            degrees_of_freedom: degrees,
            p_value: chi_squared_tail(degrees as f64, statistic),
        });
        Ok(MomentsFit { theta, form, steps, j })
    }

    /// The covariance of an estimate, `(A' W A)^-1 A' W S W A (A' W A)^-1 / n` with
    /// `A = (1/n) sum_j z_j x_j'`, `W = C^-1` and the covariance S of the moments at the estimate.
    /// W is taken as given.
    ///
    /// # Errors
    /// If the coefficients are not identified, or there are too few rows or clusters.
    ///
    /// # Panics
    /// Unless there is a cluster for each row, where there are clusters.
    pub fn covariance(
        &self,
        fit: &MomentsFit,
        errors: &MomentErrors,
        correction: Correction,
    ) -> Result<Covariance, InferenceError> {
        let (n, d, ell) = (self.outcomes.len(), self.d, self.ell);
        let independent = Dependence::Independent;
        let dependence = match errors {
            MomentErrors::Unadjusted => &independent,
            MomentErrors::Robust(dependence) => dependence,
        };
        let factor = dependence.factor(n, d, correction)?;
        let (bread, _) = self.minimiser(&fit.form)?;
        let covariance = self.moment_covariance(&fit.theta, errors, fit.steps > 1);
        // B = C^-1 A, column by column, then B' S B.
        let columns: Vec<Vec<f64>> = (0..d)
            .map(|l| {
                let mut column: Vec<f64> = (0..ell).map(|c| self.a[c * d + l]).collect();
                fit.form.factor().solve(&mut column);
                column
            })
            .collect();
        let product = |column: &Vec<f64>| -> Vec<f64> {
            covariance.chunks_exact(ell).map(|row| dot(row, column)).collect()
        };
        let products: Vec<Vec<f64>> = columns.iter().map(product).collect();
        let middle = products.iter().flat_map(|a| columns.iter().map(|b| dot(a, b))).collect();
        let matrix = bread.around(middle, factor / n as f64, &|| Ok(()))?;
        Ok(Covariance::new(d, matrix, dependence.degrees_of_freedom(n, d)))
    }

    /// A refit for [`bootstrap`](crate::inference::bootstrap()): theta from the drawn rows. Where
    /// moments are weighted by clusters, a cluster that is drawn twice counts as two.
    pub fn refit<'p>(
        &'p self,
        weighting: &'p Weighting,
    ) -> impl Fn(&[usize]) -> Option<Vec<f64>> + Sync + 'p {
        move |drawn| {
            let regressors = drawn.iter().flat_map(|&j| self.regressor(j)).copied().collect();
            let instruments = drawn.iter().flat_map(|&j| self.instrument(j)).copied().collect();
            let outcomes = drawn.iter().map(|&j| self.outcomes[j]).collect();
            let part = Moments::new(self.d, regressors, self.ell, instruments, outcomes).ok()?;
            let drawn_errors = |errors: &MomentErrors| match errors {
                MomentErrors::Robust(Dependence::Clustered(clusters)) => {
                    MomentErrors::Robust(Dependence::Clustered(drawn_clusters(clusters, drawn)))
                }
                errors => errors.clone(),
            };
            let weighting = match weighting {
                Weighting::TwoStageLeastSquares => Weighting::TwoStageLeastSquares,
                Weighting::TwoStep(errors) => Weighting::TwoStep(drawn_errors(errors)),
                Weighting::Iterated(errors) => Weighting::Iterated(drawn_errors(errors)),
            };
            part.fit(&weighting).ok().map(|fit| fit.theta)
        }
    }

    /// `(1/n) sum_j z_j z_j'`
    pub(super) fn instrument_products(&self) -> Vec<f64> {
        let share = 1.0 / self.outcomes.len() as f64;
        gram::of_rows(self.ell, &self.instruments, &|_| share)
    }

    /// `A' C^-1 A`, factored, and the theta that minimises the form.
    fn minimiser(&self, form: &QuadraticForm) -> Result<(Bread, Vec<f64>), InferenceError> {
        let (d, ell) = (self.d, self.ell);
        // The columns of L^-1 A for `C = L L'`.
        let columns: Vec<Vec<f64>> = (0..d)
            .map(|l| {
                let mut column: Vec<f64> = (0..ell).map(|c| self.a[c * d + l]).collect();
                form.factor().solve_lower(&mut column);
                column
            })
            .collect();
        let hessian = columns.iter().flat_map(|a| columns.iter().map(|b| dot(a, b))).collect();
        let bread = Bread::new(hessian, d)?;
        let mut theta = vec![0.0; d];
        // The second round refines what rounding left of the first.
        for _ in 0..2 {
            let mut residual = self.mean_moment(&theta);
            form.factor().solve_lower(&mut residual);
            let mut step: Vec<f64> = columns.iter().map(|column| dot(column, &residual)).collect();
            bread.solve(&mut step);
            axpy(1.0, &step, &mut theta);
        }
        Ok((bread, theta))
    }

    /// `b - A theta`
    fn mean_moment(&self, theta: &[f64]) -> Vec<f64> {
        let mut mean = vec![0.0; self.ell];
        (self as &dyn Inner).mean(theta, 0, &mut [], &mut mean);
        mean
    }

    /// The mean of squared residuals, about their mean if they are centred.
    fn residual_variance(&self, theta: &[f64], centred: bool) -> f64 {
        let n = self.outcomes.len();
        let residuals = || (0..n).map(|j| self.residual(theta, j));
        let mean = if centred { residuals().sum::<f64>() / n as f64 } else { 0.0 };
        residuals().map(|residual| (residual - mean).powi(2)).sum::<f64>() / n as f64
    }

    /// S, the covariance of the moments at theta.
    fn moment_covariance(&self, theta: &[f64], errors: &MomentErrors, centred: bool) -> Vec<f64> {
        let n = self.outcomes.len();
        let mut matrix = match errors {
            MomentErrors::Unadjusted => {
                let variance = self.residual_variance(theta, centred);
                let mut matrix = self.instrument_products();
                for entry in &mut matrix {
                    *entry *= variance;
                }
                return matrix;
            }
            MomentErrors::Robust(dependence) => {
                dependence.assert_covers(n);
                let add = |j: usize, out: &mut [f64]| {
                    axpy(self.residual(theta, j), self.instrument(j), out);
                };
                let found = dependence.sum_of_products(n, self.ell, &add, &|| Ok(()));
                found.expect("nothing stops it")
            }
        };
        for entry in &mut matrix {
            *entry /= n as f64;
        }
        matrix
    }
}

/// The clusters of drawn rows: copy k of a row belongs to copy k of its cluster.
fn drawn_clusters(clusters: &Clusters, drawn: &[usize]) -> Clusters {
    let mut copies = vec![0_u32; clusters.of().len()];
    let mut numbers = BTreeMap::new();
    let number = |&j: &usize| {
        copies[j] += 1;
        let next = numbers.len() as u32;
        *numbers.entry((clusters.of()[j], copies[j])).or_insert(next)
    };
    Clusters::new(drawn.iter().map(number).collect()).expect("consecutive numbers")
}

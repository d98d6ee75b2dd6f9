//! The Hessian at an estimate, and whether it is one.

use rayon::prelude::*;

use super::InferenceError;
use crate::certificate::hessian;
use crate::linalg::cholesky::Cholesky;
use crate::linalg::vector::{axpy, dot};
use crate::model::problem::Objective;
use crate::model::regularizer::Parts;
use crate::oracle::Patience;

/// A step of a difference of gradients, relative to that which changes the objective by its own
/// size. The error of the five-point formula is about its fourth power.
const DIFFERENCE: f64 = 1e-3;
/// Rows that a thread solves for at once.
const ROWS: usize = 16;
/// A pivot of H, scaled to a unit diagonal, up to which coefficients count as unidentified.
const SINGULAR: f64 = 1e-12;
/// The share of its standard error by which a coefficient may miss the minimum: 95 % intervals that
/// are off by so much cover in 94.9 %.
const MOST_MISS: f64 = 0.1;
/// Slopes below this share of the scores that cancel in them are rounding.
const ROUNDING: f64 = 1e-10;
/// A Newton step to a minimum leaves less than this share of the slope along it.
const SLOPE_LEFT: f64 = 0.1;
/// Of its diagonal, the curvature along a shift that the penalty does not see.
const FLAT_CURVATURE: f64 = 1e-8;

/// Whether there is time to go on: an error where there is none.
pub(crate) type GoOn<'a> = dyn Fn() -> Result<(), InferenceError> + Sync + 'a;

/// [`InferenceError::OutOfTime`] once `go_on` says no.
pub(crate) fn or_out_of_time(
    go_on: &(dyn Fn() -> bool + Sync),
) -> impl Fn() -> Result<(), InferenceError> + Sync {
    || if go_on() { Ok(()) } else { Err(InferenceError::OutOfTime) }
}

/// g at theta, without bounds that are not active.
pub(crate) fn smooth_penalty(
    problem: Objective<'_>,
    theta: &[f64],
) -> Result<Parts, InferenceError> {
    let mut g =
        Parts::of(problem.regularizer, theta.len()).ok_or(InferenceError::UnknownPenalty)?;
    if g.budget {
        return Err(InferenceError::Budget);
    }
    for (l, (part, x)) in g.parts.iter_mut().zip(theta).enumerate() {
        if part.l1 != 0.0 {
            return Err(InferenceError::PenaltyKink);
        }
        if *x <= part.lo || *x >= part.hi {
            return Err(InferenceError::ActiveConstraint(l));
        }
        (part.lo, part.hi) = (f64::NEG_INFINITY, f64::INFINITY);
    }
    Ok(g)
}

/// `F''(theta)`, d rows of length d: from phi'' and the Jacobians where f is affine, elsewhere by
/// differences of gradients, which have the second derivatives of f as well. Whether to go on is
/// asked before each coordinate of these.
pub(crate) fn loss_hessian(
    problem: Objective<'_>,
    theta: &[f64],
    f_bar: &[f64],
    go_on: &GoOn<'_>,
) -> Result<Vec<f64>, InferenceError> {
    let (f, ell) = (problem.inner, problem.inner.ell());
    let known = problem.merit.quadratic_form().is_some()
        || hessian::ties_classes(problem)
        || problem.merit.hessian_diagonal(0..1, &f_bar[..ell], &mut vec![0.0; ell]);
    if f.facts().affine && known {
        let all = (f.n_x(), 0);
        return Ok(hessian::dense(problem, theta, f_bar, all, &Patience::default()));
    }
    by_differences(problem, theta, f_bar, go_on)
}

/// `(8 (F'(x + h) - F'(x - h)) - (F'(x + 2h) - F'(x - 2h))) / (12 h)` along every coordinate.
fn by_differences(
    problem: Objective<'_>,
    theta: &[f64],
    f_bar: &[f64],
    go_on: &GoOn<'_>,
) -> Result<Vec<f64>, InferenceError> {
    let d = theta.len();
    let size = problem.loss(f_bar).abs().max(f64::MIN_POSITIVE);
    let curvatures = hessian::diagonal(problem, theta, f_bar);
    let (mut means, mut w) = (f_bar.to_vec(), vec![0.0; f_bar.len()]);
    let mut matrix = vec![0.0; d * d];
    let (mut x, mut slope) = (theta.to_vec(), vec![0.0; d]);
    for (l, row) in matrix.chunks_exact_mut(d).enumerate() {
        go_on()?;
        let reach = (size / curvatures[l]).sqrt();
        let h = DIFFERENCE * if reach.is_finite() { reach } else { theta[l].abs().max(1.0) };
        for (steps, weight) in [(1.0, 8.0), (-1.0, -8.0), (2.0, -1.0), (-2.0, 1.0)] {
            x[l] = theta[l] + steps * h;
            problem.loss_and_gradient(&x, &mut means, &mut w, &mut slope);
            axpy(weight / (12.0 * h), &slope, row);
        }
        x[l] = theta[l];
    }
    for r in 0..d {
        for c in 0..r {
            let mean = 0.5 * (matrix[r * d + c] + matrix[c * d + r]);
            (matrix[r * d + c], matrix[c * d + r]) = (mean, mean);
        }
    }
    Ok(matrix)
}

/// `H += g''`, and what lies above the diagonal filled from below it.
pub(crate) fn add_penalty(g: &Parts, hessian: &mut [f64]) {
    let d = g.parts.len();
    for (r, part) in g.parts.iter().enumerate() {
        hessian[r * d + r] += part.l2;
        for c in 0..r {
            hessian[c * d + r] = hessian[r * d + c];
        }
    }
}

/// Makes H regular along shifts of coordinates that change neither F nor g, so that its inverse is
/// the pseudo-inverse on all that is orthogonal to them; how many there are.
pub(crate) fn add_shifts(shifts: &[Vec<usize>], hessian: &mut [f64], d: usize) -> usize {
    let mut free = 0;
    for shift in shifts {
        let share = 1.0 / shift.len().max(1) as f64;
        let mut along = 0.0;
        let mut diagonal = 0.0;
        for &r in shift {
            diagonal += share * hessian[r * d + r];
            along += share * shift.iter().map(|&c| hessian[r * d + c]).sum::<f64>();
        }
        if along > FLAT_CURVATURE * diagonal {
            continue;
        }
        free += 1;
        for &r in shift {
            for &c in shift {
                hessian[r * d + c] += share * diagonal;
            }
        }
    }
    free
}

/// The Cholesky factor of H in units in which its diagonal is 1.
pub(crate) struct Bread {
    factor: Cholesky,
    roots: Vec<f64>,
}

impl Bread {
    pub(crate) fn new(mut hessian: Vec<f64>, d: usize) -> Result<Self, InferenceError> {
        let roots: Vec<f64> = hessian.iter().step_by(d + 1).map(|entry| entry.sqrt()).collect();
        if !roots.iter().all(|root| *root > 0.0 && root.is_finite()) {
            return Err(InferenceError::Unidentified);
        }
        for (r, row) in hessian.chunks_exact_mut(d).enumerate() {
            for (entry, root) in row.iter_mut().zip(&roots) {
                *entry /= root * roots[r];
            }
        }
        let factor = Cholesky::new(&hessian, d).map_err(|_| InferenceError::Unidentified)?;
        let pivots = factor.factor().iter().step_by(d + 1);
        if pivots.fold(f64::INFINITY, |least, pivot| least.min(pivot * pivot)) <= SINGULAR {
            return Err(InferenceError::Unidentified);
        }
        Ok(Bread { factor, roots })
    }

    /// `x <- H^-1 x`
    pub(crate) fn solve(&self, x: &mut [f64]) {
        self.divide(x);
        self.factor.solve(x);
        self.divide(x);
    }

    fn divide(&self, x: &mut [f64]) {
        x.iter_mut().zip(&self.roots).for_each(|(x, root)| *x /= root);
    }

    /// `factor H^-1 M H^-1` for a symmetric M.
    pub(crate) fn around(
        &self,
        mut matrix: Vec<f64>,
        factor: f64,
        go_on: &GoOn<'_>,
    ) -> Result<Vec<f64>, InferenceError> {
        let d = self.roots.len();
        for _ in 0..2 {
            matrix.par_chunks_exact_mut(d).with_min_len(ROWS).try_for_each(|row| {
                go_on()?;
                self.solve(row);
                Ok::<(), InferenceError>(())
            })?;
            // The rows are those of the transpose.
            for r in 0..d {
                for c in 0..r {
                    matrix.swap(r * d + c, c * d + r);
                }
            }
        }
        for r in 0..d {
            for c in 0..=r {
                let mean = 0.5 * factor * (matrix[r * d + c] + matrix[c * d + r]);
                (matrix[r * d + c], matrix[c * d + r]) = (mean, mean);
            }
        }
        Ok(matrix)
    }

    /// Whether the objective falls on along the Newton step as if there were no minimum, or theta
    /// is too far from it for the covariance that was found. `slope` is the gradient at theta and
    /// `cancelled(p)` the sum of the sizes of the scores along p.
    pub(crate) fn check_minimum(
        &self,
        problem: Objective<'_>,
        g: &Parts,
        theta: &[f64],
        slope: &[f64],
        covariance: &[f64],
        cancelled: &dyn Fn(&[f64]) -> f64,
    ) -> Result<(), InferenceError> {
        let d = theta.len();
        let mut step = slope.to_vec();
        self.solve(&mut step);
        for x in &mut step {
            *x = -*x;
        }
        let here = dot(slope, &step);
        if here.abs() > ROUNDING * cancelled(&step) {
            let mut there = theta.to_vec();
            axpy(1.0, &step, &mut there);
            let mut beyond = vec![0.0; d];
            problem.gradient(&there, &mut beyond);
            g.add_gradient(&there, &mut beyond);
            if dot(&beyond, &step) < SLOPE_LEFT * here {
                return Err(InferenceError::Separable);
            }
        }
        let errors = covariance.iter().step_by(d + 1).map(|variance| variance.sqrt());
        let misses = step.iter().zip(errors).map(|(x, error)| x.abs() / error);
        let miss = misses.filter(|miss| miss.is_finite()).fold(0.0, f64::max);
        if miss > MOST_MISS { Err(InferenceError::NotSolved(miss)) } else { Ok(()) }
    }
}

//! The sandwich: `H^-1 (sum_c s_c s_c') H^-1`.

use super::{Clusters, Correction, Covariance, Unsure};
use crate::certificate::hessian;
use crate::linalg::cholesky::Cholesky;
use crate::linalg::gram;
use crate::linalg::vector::axpy;
use crate::model::problem::Objective;
use crate::model::regularizer::Parts;

/// Half a difference of gradients, relative to the length at which the objective would change by
/// its size: the cube root of rounding.
const DIFFERENCE: f64 = 6e-6;
/// A pivot of H, scaled to a unit diagonal, up to which coordinates are not determined.
const SINGULAR: f64 = 1e-12;
/// Of its standard error: how far a coordinate may be from the minimum.
const FAR: f64 = 0.01;

/// The covariance of a theta-hat that minimises `(1/n) sum_i phi_i(fbar_i(theta)) + g(theta)`, whose
/// terms, or clusters of them, are independent.
///
/// # Errors
/// Where there is none: kinks of phi or g, a constraint that binds, coordinates that the data do not
/// determine, fewer clusters than coordinates, or a theta that is no minimum.
///
/// # Panics
/// Unless theta has as many coordinates as the problem, and clusters are those of its terms.
pub fn of_terms<'p>(
    problem: impl Into<Objective<'p>>,
    theta: &[f64],
    clusters: &Clusters,
    correction: Correction,
) -> Result<Covariance, Unsure> {
    let problem = problem.into();
    let f = problem.inner;
    let (n_x, ell, d) = (f.n_x(), f.ell(), f.d());
    assert_eq!(theta.len(), d, "a theta of {d} coordinates");
    assert_eq!(clusters.of().len(), n_x, "a cluster for each of {n_x} terms");
    let g = smooth_at(problem, theta)?;
    if problem.merit.has_kinks() {
        return Err(Unsure::Kinks);
    }
    let correction = clusters.correction(d, correction)?;
    let (mut f_bar, mut w) = (vec![0.0; n_x * ell], vec![0.0; n_x * ell]);
    let mut slope = vec![0.0; d];
    problem.loss_and_gradient(theta, &mut f_bar, &mut w, &mut slope);
    let mut hessian = if f.structure().affine {
        let mut seconds = vec![0.0; ell];
        if n_x > 0 && !problem.merit.seconds(0..1, &f_bar[..ell], &mut seconds) {
            return Err(Unsure::Kinks);
        }
        hessian::dense(problem, theta, &f_bar, n_x, 0)
    } else {
        by_differences(problem, theta, &f_bar)
    };
    add_curvature(&g, &mut hessian);
    let bread = Bread::new(hessian, d)?;

    let mut scores = vec![0.0; clusters.count() * d];
    for (i, &c) in clusters.of().iter().enumerate() {
        let own = &mut scores[c as usize * d..(c as usize + 1) * d];
        f.add_mean_jac_t(theta, i, &w[i * ell..(i + 1) * ell], 1.0 / n_x as f64, own);
    }
    g.add_gradient(theta, &mut slope);
    finish(&bread, scores, &slope, clusters.count(), correction)
}

/// The covariance of a theta-hat that minimises `phi(fbar(theta)) + g(theta)`, a quadratic form of
/// the mean of moments whose samples, or clusters of them, are independent:
/// `H^-1 J' W S W J H^-1 / n` with the Jacobian J of the mean, W the matrix of the form, taken as
/// given, and the covariance S of the moments.
///
/// # Errors
/// As [`of_terms`], and where there are several terms, or phi is no quadratic form.
///
/// # Panics
/// Unless theta has as many coordinates as the problem, and clusters are those of its samples.
pub fn of_samples<'p>(
    problem: impl Into<Objective<'p>>,
    theta: &[f64],
    clusters: &Clusters,
    correction: Correction,
) -> Result<Covariance, Unsure> {
    let problem = problem.into();
    let f = problem.inner;
    let (ell, d) = (f.ell(), f.d());
    assert_eq!(theta.len(), d, "a theta of {d} coordinates");
    if f.n_x() != 1 || problem.merit.quadratic_form().is_none() || !f.structure().affine {
        return Err(Unsure::Form(
            "the formula is for a quadratic form of one mean of affine moments",
        ));
    }
    assert_eq!(clusters.of().len(), f.n_y(0), "a cluster for each of {} samples", f.n_y(0));
    let g = smooth_at(problem, theta)?;
    let correction = clusters.correction(d, correction)?;
    let (mut f_bar, mut w, mut slope) = (vec![0.0; ell], vec![0.0; ell], vec![0.0; d]);
    problem.loss_and_gradient(theta, &mut f_bar, &mut w, &mut slope);
    let mut hessian = hessian::dense(problem, theta, &f_bar, 1, 0);
    add_curvature(&g, &mut hessian);
    let bread = Bread::new(hessian, d)?;

    // s_c = J' W sum over the cluster of (m_j - mean) / n
    let n = f.n_y(0) as f64;
    let mut sums = vec![0.0; clusters.count() * ell];
    let mut moment = vec![0.0; ell];
    for (j, &c) in clusters.of().iter().enumerate() {
        f.value(theta, 0, j, &mut moment);
        let own = &mut sums[c as usize * ell..(c as usize + 1) * ell];
        axpy(1.0 / n, &moment, own);
        axpy(-1.0 / n, &f_bar, own);
    }
    let mut scores = vec![0.0; clusters.count() * d];
    for (sum, score) in sums.chunks_exact(ell).zip(scores.chunks_exact_mut(d)) {
        problem.merit.gradient(0, sum, &mut w);
        f.add_mean_jac_t(theta, 0, &w, 1.0, score);
    }
    g.add_gradient(theta, &mut slope);
    finish(&bread, scores, &slope, clusters.count(), correction)
}

/// g, if it is smooth at theta.
fn smooth_at(problem: Objective<'_>, theta: &[f64]) -> Result<Parts, Unsure> {
    let mut g = Parts::of(problem.regularizer, theta.len()).ok_or(Unsure::Unknown)?;
    if g.budget {
        return Err(Unsure::Binds(0));
    }
    for (l, (part, x)) in g.parts.iter_mut().zip(theta).enumerate() {
        if part.l1 != 0.0 {
            return Err(Unsure::Corner);
        }
        if *x <= part.lo || *x >= part.hi {
            return Err(Unsure::Binds(l));
        }
        (part.lo, part.hi) = (f64::NEG_INFINITY, f64::INFINITY);
    }
    Ok(g)
}

/// `H += g''`, above the diagonal filled from below it.
fn add_curvature(g: &Parts, hessian: &mut [f64]) {
    let d = g.parts.len();
    for (r, part) in g.parts.iter().enumerate() {
        hessian[r * d + r] += part.l2;
        for c in 0..r {
            hessian[c * d + r] = hessian[r * d + c];
        }
    }
}

/// `F''` where f bends, by central differences of F' along the coordinates.
fn by_differences(problem: Objective<'_>, theta: &[f64], f_bar: &[f64]) -> Vec<f64> {
    let d = theta.len();
    let size = problem.loss(f_bar).abs().max(f64::MIN_POSITIVE);
    let bends = hessian::diagonal(problem, theta, f_bar);
    let (mut means, mut w) = (f_bar.to_vec(), vec![0.0; f_bar.len()]);
    let mut matrix = vec![0.0; d * d];
    let (mut x, mut behind) = (theta.to_vec(), vec![0.0; d]);
    for (l, row) in matrix.chunks_exact_mut(d).enumerate() {
        let reach = (size / bends[l]).sqrt();
        let h = DIFFERENCE * if reach.is_finite() { reach } else { theta[l].abs().max(1.0) };
        x[l] = theta[l] + h;
        problem.loss_and_gradient(&x, &mut means, &mut w, row);
        x[l] = theta[l] - h;
        problem.loss_and_gradient(&x, &mut means, &mut w, &mut behind);
        x[l] = theta[l];
        for (ahead, behind) in row.iter_mut().zip(&behind) {
            *ahead = (*ahead - behind) / (2.0 * h);
        }
    }
    for r in 0..d {
        for c in 0..r {
            let mean = 0.5 * (matrix[r * d + c] + matrix[c * d + r]);
            (matrix[r * d + c], matrix[c * d + r]) = (mean, mean);
        }
    }
    matrix
}

/// The Cholesky factor of H in units in which its diagonal is 1.
struct Bread {
    factor: Cholesky,
    roots: Vec<f64>,
}

impl Bread {
    fn new(mut hessian: Vec<f64>, d: usize) -> Result<Self, Unsure> {
        let roots: Vec<f64> = hessian.iter().step_by(d + 1).map(|entry| entry.sqrt()).collect();
        if !roots.iter().all(|root| *root > 0.0 && root.is_finite()) {
            return Err(Unsure::Singular);
        }
        for (r, row) in hessian.chunks_exact_mut(d).enumerate() {
            for (entry, root) in row.iter_mut().zip(&roots) {
                *entry /= root * roots[r];
            }
        }
        let factor = Cholesky::new(&hessian, d).map_err(|_| Unsure::Singular)?;
        let pivots = factor.factor().iter().step_by(d + 1);
        if pivots.fold(f64::INFINITY, |least, pivot| least.min(pivot * pivot)) <= SINGULAR {
            return Err(Unsure::Singular);
        }
        Ok(Bread { factor, roots })
    }

    /// `x := H^-1 x`
    fn solve(&self, x: &mut [f64]) {
        self.divide(x);
        self.factor.solve(x);
        self.divide(x);
    }

    fn divide(&self, x: &mut [f64]) {
        x.iter_mut().zip(&self.roots).for_each(|(x, root)| *x /= root);
    }
}

/// From the scores of the units, and the gradient of the objective, which should be 0.
fn finish(
    bread: &Bread,
    mut scores: Vec<f64>,
    slope: &[f64],
    units: usize,
    correction: f64,
) -> Result<Covariance, Unsure> {
    let d = slope.len();
    // A penalty moves the mean of the scores away from 0; what counts is how they spread.
    let mut mean = vec![0.0; d];
    for score in scores.chunks_exact(d) {
        axpy(1.0 / units as f64, score, &mut mean);
    }
    for score in scores.chunks_exact_mut(d) {
        axpy(-1.0, &mean, score);
        bread.solve(score);
    }
    let mut matrix = gram::of_rows(d, &scores, |_| correction);
    for r in 0..d {
        for c in 0..r {
            matrix[c * d + r] = matrix[r * d + c];
        }
    }
    let mut left = slope.to_vec();
    bread.solve(&mut left);
    let far = left.iter().zip(matrix.iter().step_by(d + 1)).map(|(x, v)| x.abs() / v.sqrt());
    let far = far.filter(|far| far.is_finite()).fold(0.0, f64::max);
    if far > FAR {
        return Err(Unsure::NotSolved(far));
    }
    Ok(Covariance { d, matrix, units })
}

//! How curved `F(theta) = (1/n_X) sum_i phi_i(fbar_i(theta))` is: what the default steps of
//! gradient methods are made of.

use std::ops::Range;

use crate::draws::Stream;
use crate::linalg::long::zeros;
use crate::linalg::vector::{
    add_weighted_rows, axpy, dot, norm_squared, row_dots, sparse_axpy, sparse_dot, update,
    update_with_both,
};
use crate::model::inner::{Inner, Jacobians, blocks, jacobian_scatter, mean_jacobian_norm};
use crate::model::problem::Objective;

/// Enough for a few percent; the largest eigenvalue of real data is well separated.
const ITERATIONS: usize = 20;
/// Of an f that is not affine the eigenvalue is wanted no more precisely than that: steps prove
/// themselves.
const EIGENVALUE_TOLERANCE: f64 = 0.05;
/// For what the iterations leave out.
const UNCONVERGED: f64 = 1.05;
/// Of the draws for the first vector, far from those that the methods number from 0.
const STREAM: u64 = 2000;

/// An estimate of the Lipschitz constant of `F'` near theta, `1/gamma` times [`of_jacobians`].
/// Infinite where phi has a kink, zero where f is constant. What the curvature of f itself adds is
/// left out.
pub fn of_mean<'p>(problem: impl Into<Objective<'p>>, theta: &[f64]) -> f64 {
    let problem = problem.into();
    if let Some(summed) = problem.inner.summed() {
        return summed.smoothness(theta).unwrap_or(f64::NAN);
    }
    let jacobians = of_jacobians(problem.inner, theta);
    if jacobians == 0.0 { 0.0 } else { jacobians / problem.gamma_at(theta) }
}

/// An estimate of the largest eigenvalue of `(1/n_X) sum_i fbar_i' fbar_i'^T` at theta, by power
/// iterations and with a margin for what they leave out.
pub fn of_jacobians(f: &dyn Inner, theta: &[f64]) -> f64 {
    let d = f.d();
    let mut draws = Stream::new(1, STREAM);
    let mut v: Vec<f64> = (0..d).map(|_| draws.unit() - 0.5).collect();
    if !f.facts().affine
        && let Some(jacobians) = f.some_mean_jacobians(theta)
    {
        return UNCONVERGED * of_rows(&jacobians, f.ell(), v);
    }
    let ell = f.ell();
    let mut at_theta = zeros(f.n_x() * ell);
    let (mut ahead, mut along) = (at_theta.clone(), at_theta.clone());
    f.means(theta, &mut at_theta);
    // fbar_i'^T v by a difference, exact for affine f.
    let affine = f.facts().affine;
    let size = 1.0 + norm_squared(theta).sqrt();
    let step = if affine { size } else { 1e-5 * size };
    let differences = |terms: Range<usize>, ahead: &[f64], along: &mut [f64]| {
        let here = &at_theta[terms.start * ell..terms.end * ell];
        update_with_both(along, ahead, here, |_, ahead, here| (ahead - here) / step);
        0.0
    };
    let mut eigenvalue = 0.0;
    let mut product = vec![0.0; d];
    for _ in 0..ITERATIONS {
        let norm = norm_squared(&v).sqrt();
        if norm == 0.0 {
            return 0.0;
        }
        let mut moved = theta.to_vec();
        axpy(step / norm, &v, &mut moved);
        if affine {
            // Its Jacobians are the same there: both products in one pass.
            f.gradient(&moved, &differences, &mut ahead, &mut along, &mut product);
        } else {
            f.means(&moved, &mut ahead);
            differences(0..f.n_x(), &ahead, &mut along);
            product.fill(0.0);
            f.add_weighted_jac_t(theta, &along, &mut product);
        }
        let before = std::mem::replace(&mut eigenvalue, norm_squared(&product).sqrt());
        if !affine && (eigenvalue - before).abs() <= EIGENVALUE_TOLERANCE * eigenvalue {
            // Elsewhere it is another one anyway.
            break;
        }
        std::mem::swap(&mut v, &mut product);
    }
    UNCONVERGED * eigenvalue
}

/// The largest eigenvalue of the mean of `J J^T` over Jacobians of ell rows each, roughly.
fn of_rows(jacobians: &[f64], ell: usize, mut v: Vec<f64>) -> f64 {
    let d = v.len();
    let rows = jacobians.len() / d;
    let (mut dots, mut eigenvalue) = (vec![0.0; rows], 0.0);
    for _ in 0..ITERATIONS {
        let norm = norm_squared(&v).sqrt();
        if norm == 0.0 {
            return 0.0;
        }
        row_dots(jacobians, d, &v, &mut dots);
        let share = ell as f64 / (rows as f64 * norm);
        update(&mut dots, |dot| dot * share);
        v.fill(0.0);
        add_weighted_rows(jacobians, &dots, &mut v);
        let before = std::mem::replace(&mut eigenvalue, norm_squared(&v).sqrt());
        if (eigenvalue - before).abs() <= EIGENVALUE_TOLERANCE * eigenvalue {
            break;
        }
    }
    eigenvalue
}

/// `1/L` with L from [`of_mean`]: the step of a gradient method; 1 where f is constant.
pub fn step<'p>(problem: impl Into<Objective<'p>>, theta: &[f64]) -> f64 {
    let problem = problem.into();
    let curvature = of_mean(problem, theta);
    if curvature > 0.0 { 1.0 / curvature } else { 1.0 }
}

/// An estimate of the largest Lipschitz constant among the gradients of the single
/// `phi_i(fbar_i(theta))`, `max_i |fbar_i'|^2 / gamma`.
pub fn of_terms<'p>(problem: impl Into<Objective<'p>>, theta: &[f64]) -> f64 {
    let problem = problem.into();
    mean_jacobian_norm(problem.inner, theta).powi(2) / problem.gamma_at(theta)
}

/// Directions in which [`of_draws`] looks.
const DIRECTIONS: usize = 8;

/// What steps along single random terms must heed: with `L_i = |fbar_i'|^2 / gamma`, the largest
/// over directions v of `sum_i L_i |fbar_i'^T v|^2 / sum_i |fbar_i'^T v|^2`, the mean of the `L_i`
/// weighted by what term i has to say about v. It equals [`of_terms`] where all terms are of one
/// size or the largest is alone in its direction, and is far below it where the large ones are few
/// and like the others: by a factor of 7 to 11 on the paper's portfolios. Estimated by looking
/// along the largest terms.
pub fn of_draws<'p>(problem: impl Into<Objective<'p>>, theta: &[f64]) -> f64 {
    let problem = problem.into();
    let f = problem.inner;
    let (d, n_x) = (f.d(), f.n_x());
    let mut sizes = vec![0.0; n_x];
    blocks(f).fill(
        1,
        &mut sizes,
        #[inline(always)]
        |range, sizes| {
            let mut jacobians = Jacobians::new(f, theta);
            for (i, size) in range.zip(sizes) {
                *size = norm_squared(jacobians.mean(i));
            }
        },
    );
    let mut largest: Vec<usize> = (0..n_x).collect();
    largest.sort_by(|a, b| sizes[*b].total_cmp(&sizes[*a]));
    largest.truncate(DIRECTIONS);
    let mut directions = vec![0.0; largest.len() * d];
    let mut jacobians = Jacobians::new(f, theta);
    for (i, v) in largest.into_iter().zip(directions.chunks_exact_mut(d)) {
        // Its longest row.
        let mut most = 0.0;
        for row in rows(jacobians.mean(i), f, i) {
            if norm_squared(row) > most {
                most = norm_squared(row);
                scatter(f, i, row, v);
            }
        }
    }
    // For each v, sum_i |fbar_i'^T v|^2 and the same weighted by size.
    let mut sums = vec![0.0; 2 * DIRECTIONS];
    blocks(f).add(
        1.0,
        &mut sums,
        #[inline(always)]
        |range, sums| {
            let mut jacobians = Jacobians::new(f, theta);
            for i in range {
                let jacobian = jacobians.mean(i);
                for (v, sums) in directions.chunks_exact(d).zip(sums.chunks_exact_mut(2)) {
                    let along: f64 =
                        rows(jacobian, f, i).map(|row| along(f, i, row, v).powi(2)).sum();
                    sums[0] += along;
                    sums[1] += sizes[i] * along;
                }
            }
        },
    );
    let along = sums.chunks_exact(2).filter(|sums| sums[0] > 0.0).map(|sums| sums[1] / sums[0]);
    along.fold(0.0, f64::max) / problem.gamma_at(theta)
}

/// The rows of a Jacobian of term i, which hold the coordinates that it looks at.
fn rows<'j>(jacobian: &'j [f64], f: &dyn Inner, i: usize) -> impl Iterator<Item = &'j [f64]> {
    jacobian.chunks(f.support(i).map_or(f.d(), <[u32]>::len).max(1))
}

/// `<row, v>`
#[inline(always)]
fn along(f: &dyn Inner, i: usize, row: &[f64], v: &[f64]) -> f64 {
    match f.support(i) {
        Some(support) => sparse_dot(support, row, v),
        None => dot(row, v),
    }
}

/// `v = row`, zeros elsewhere.
fn scatter(f: &dyn Inner, i: usize, row: &[f64], v: &mut [f64]) {
    match f.support(i) {
        Some(support) => {
            v.fill(0.0);
            sparse_axpy(1.0, support, row, v);
        }
        None => v.copy_from_slice(row),
    }
}

/// The sizes of a problem near a point, from which steps of primal-dual methods are made: with `c_i
/// = |phi_i''(fbar_i)|` and `L_i = c_i |fbar_i'|^2`,
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sizes {
    /// `max_i c_i`
    pub duals: f64,
    /// `max_i L_i`
    pub largest: f64,
    /// `mean_i L_i`, the trace of the Hessian of F as far as it comes from phi
    pub typical: f64,
    /// `mean_i c_i mean_j |f'_ij - fbar_i'|^2`: what single samples add to it, measured on at most
    /// 64 terms and as many samples of each
    pub scatter: f64,
}

impl Sizes {
    /// At theta: one pass for the averages, one for their Jacobians.
    pub fn at<'p>(problem: impl Into<Objective<'p>>, theta: &[f64]) -> Self {
        let problem = problem.into();
        let f = problem.inner;
        let (n_x, ell) = (f.n_x(), f.ell());
        let mut f_bar = vec![0.0; n_x * ell];
        f.means(theta, &mut f_bar);
        let one_over_gamma = 1.0 / problem.merit.gamma();
        let curvature = |i: usize| {
            let own = problem.merit.curvature(i, &f_bar[i * ell..(i + 1) * ell]);
            own.unwrap_or(one_over_gamma)
        };
        let mut sizes = vec![0.0; n_x];
        blocks(f).fill(
            1,
            &mut sizes,
            #[inline(always)]
            |range, sizes| {
                let mut jacobians = Jacobians::new(f, theta);
                for (i, size) in range.zip(sizes) {
                    *size = curvature(i) * norm_squared(jacobians.mean(i));
                }
            },
        );
        Sizes {
            duals: (0..n_x).map(curvature).fold(0.0, f64::max),
            largest: sizes.iter().copied().fold(0.0, f64::max),
            typical: sizes.iter().sum::<f64>() / n_x as f64,
            scatter: jacobian_scatter(f, theta, curvature),
        }
    }
}

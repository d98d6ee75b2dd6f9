//! How curved `F(theta) = (1/n_X) sum_i phi_i(fbar_i(theta))` is: what the default steps of gradient methods are made of.

use crate::draws::Stream;
use crate::inner::{Inner, mean_jacobian_norm};
use crate::merit::Merit;
use crate::problem::Problem;
use crate::regularizer::Regularizer;
use crate::vector::{axpy, norm_squared};

/// Enough for a few percent; the largest eigenvalue of real data stands alone.
const ITERATIONS: usize = 20;
/// For what the iterations leave out.
const MARGIN: f64 = 1.05;
/// Of the draws for the first vector, far from those that the methods number from 0.
const STREAM: u64 = 2000;

/// An estimate of the Lipschitz constant of `F'` near theta, `1/gamma` times [`of_jacobians`]. Infinite where phi has a kink, zero
/// where f is constant. What the curvature of f itself adds is left out.
pub fn of_mean<F: Inner, P: Merit, G: Regularizer>(problem: &Problem<F, P, G>, theta: &[f64]) -> f64 {
    let jacobians = of_jacobians(&problem.inner, theta);
    if jacobians == 0.0 { 0.0 } else { jacobians / problem.merit.gamma() }
}

/// An estimate of the largest eigenvalue of `(1/n_X) sum_i fbar_i' fbar_i'^T` at theta, from above, by power iterations.
pub fn of_jacobians<F: Inner + ?Sized>(f: &F, theta: &[f64]) -> f64 {
    let d = f.d();
    let mut draws = Stream::new(1, STREAM);
    let mut v: Vec<f64> = (0..d).map(|_| draws.unit() - 0.5).collect();
    let mut at_theta = vec![0.0; f.n_x() * f.ell()];
    let mut ahead = at_theta.clone();
    f.means(theta, &mut at_theta);
    // fbar_i'^T v by a difference, exact for affine f.
    let size = 1.0 + norm_squared(theta).sqrt();
    let step = if f.structure().affine { size } else { 1e-5 * size };
    let mut eigenvalue = 0.0;
    let mut product = vec![0.0; d];
    for _ in 0..ITERATIONS {
        let norm = norm_squared(&v).sqrt();
        if norm == 0.0 {
            return 0.0;
        }
        let mut moved = theta.to_vec();
        axpy(step / norm, &v, &mut moved);
        f.means(&moved, &mut ahead);
        for (ahead, here) in ahead.iter_mut().zip(&at_theta) {
            *ahead = (*ahead - here) / step;
        }
        product.fill(0.0);
        f.add_weighted_jac_t(theta, &ahead, &mut product);
        eigenvalue = norm_squared(&product).sqrt();
        std::mem::swap(&mut v, &mut product);
    }
    MARGIN * eigenvalue
}

/// `1/L` with L from [`of_mean`]: the step of a gradient method; 1 where f is constant.
pub fn step<F: Inner, P: Merit, G: Regularizer>(problem: &Problem<F, P, G>, theta: &[f64]) -> f64 {
    let curvature = of_mean(problem, theta);
    if curvature > 0.0 { 1.0 / curvature } else { 1.0 }
}

/// An estimate of the largest Lipschitz constant among the gradients of the single `phi_i(fbar_i(theta))`,
/// `max_i |fbar_i'|^2 / gamma`.
pub fn of_terms<F: Inner, P: Merit, G: Regularizer>(problem: &Problem<F, P, G>, theta: &[f64]) -> f64 {
    mean_jacobian_norm(&problem.inner, theta).powi(2) / problem.merit.gamma()
}

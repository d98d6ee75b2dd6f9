//! The normal equations of `(c/n) sum_r (<a_r, theta> + b_r)^2 + (lambda/2) |theta|^2 + <tilt, theta>`, by Cholesky's factor.

use crate::cholesky::Cholesky;
use crate::collapse::Collapsed;
use crate::gram;
use crate::inner::Inner;
use crate::merit::Merit;
use crate::problem::Problem;
use crate::regularizer::Regularizer;
use crate::vector::axpy;

/// Beyond, the Gram matrix costs more than a long run.
const MOST_COLUMNS: usize = 2000;
/// Newton steps with the true gradient, which take off what rounding left.
const REFINEMENTS: usize = 2;

/// The minimiser; None if phi or g is not quadratic, or P has no curvature in some direction.
pub(super) fn solve<P: Merit, G: Regularizer>(problem: &Problem<Collapsed, P, G>) -> Option<Vec<f64>> {
    let f = &problem.inner;
    let d = f.d();
    let c = problem.merit.square_weight()?;
    let (lambda, tilt) = problem.regularizer.quadratic(d)?;
    if d > MOST_COLUMNS {
        return None;
    }
    let mut hessian = gram::weighted(f, |_| 2.0 * c / f.n_x() as f64);
    gram::add_ridge(lambda, d, &mut hessian);
    let factor = Cholesky::new(&hessian, d).ok()?;
    let mut theta = vec![0.0; d];
    let mut gradient = vec![0.0; d];
    for _ in 0..=REFINEMENTS {
        // theta <- theta - P''^-1 P'(theta); at zero, the normal equations themselves.
        problem.gradient(&theta, &mut gradient);
        axpy(lambda, &theta, &mut gradient);
        axpy(1.0, &tilt, &mut gradient);
        factor.solve(&mut gradient);
        axpy(-1.0, &gradient, &mut theta);
    }
    theta.iter().all(|t| t.is_finite()).then_some(theta)
}

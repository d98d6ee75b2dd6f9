//! The normal equations of `(c/n) sum_r (<a_r, theta> + b_r)^2 + (lambda/2) |theta|^2 + <tilt, theta>`, by Cholesky's factor.

use crate::blocks::Blocks;
use crate::cholesky::Cholesky;
use crate::collapse::{Collapsed, Row};
use crate::inner::Inner;
use crate::merit::Merit;
use crate::problem::Problem;
use crate::regularizer::Regularizer;
use crate::vector::{axpy, sparse_axpy};

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
    let factor = Cholesky::new(&hessian(f, 2.0 * c / f.n_x() as f64, lambda), d).ok()?;
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

/// `scale sum_r a_r a_r' + lambda I`; threads share the rows of the result.
fn hessian(f: &Collapsed, scale: f64, lambda: f64) -> Vec<f64> {
    let d = f.d();
    let mut matrix = vec![0.0; d * d];
    Blocks::new(d, f.numbers()).fill(
        d,
        &mut matrix,
        #[inline(always)]
        |range, rows| {
            for r in 0..f.n_x() * f.ell() {
                match f.row(r / f.ell(), r % f.ell()) {
                    Row::Dense(a) => {
                        for (l, row) in range.clone().zip(rows.chunks_exact_mut(d)) {
                            axpy(scale * a[l], a, row);
                        }
                    }
                    Row::Sparse(columns, a) => {
                        for (l, a_l) in columns.iter().map(|l| *l as usize).zip(a) {
                            if range.contains(&l) {
                                let row = &mut rows[(l - range.start) * d..(l - range.start + 1) * d];
                                sparse_axpy(scale * a_l, columns, a, row);
                            }
                        }
                    }
                }
            }
            for (l, row) in range.zip(rows.chunks_exact_mut(d)) {
                row[l] += lambda;
            }
        },
    );
    matrix
}

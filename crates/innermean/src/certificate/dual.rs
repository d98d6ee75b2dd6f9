//! Bounds from below by dual variables.
//!
//! ```text
//! D(w) = (1/n) sum_i [ <bbar_i, w_i> - phi_i*(w_i) ] - g*(-u),  u = (1/n) sum_i Abar_i w_i,  for affine f
//! P(theta) - D(w) = (1/n) sum_i [ phi_i(fbar_i) + phi_i*(w_i) - <fbar_i, w_i> ] + [ g(theta) + <theta, u> + g*(-u) ]
//! ```
//!
//! By Fenchel and Young no term of the first sum is below 0, and all are 0 for `w_i =
//! phi_i'(fbar_i)`; nor is the second bracket (`bracket.rs`). Added up like this nothing is lost to
//! the cancellation of P with D. Duals outside the domain of `phi_i*` make the first sum infinite.

use crate::linalg::blocks::{Blocks, MERIT};
use crate::linalg::vector::dot;
use crate::model::problem::Objective;
use crate::model::regularizer::Regularizer;

/// A point, as far as bounds ask for it.
#[derive(Clone, Copy)]
pub(crate) struct Point<'t> {
    pub(crate) theta: &'t [f64],
    /// `F(theta)`
    pub(crate) loss: f64,
    /// `g(theta)`
    pub(crate) g: f64,
    /// `fbar_i(theta)`, flat
    pub(crate) f_bar: &'t [f64],
}

/// `(1/n) sum_i [ phi_i(fbar_i) + phi_i*(w_i) - <fbar_i, w_i> ]` for many terms, and the size of
/// what is added.
pub(crate) fn mismatch(problem: Objective<'_>, point: Point<'_>, w: &[f64]) -> (f64, f64) {
    let Objective { inner: f, merit, .. } = problem;
    let (n_x, ell) = (f.n_x(), f.ell());
    let mut sums = [0.0; 4];
    Blocks::new(n_x, 4 * ell).add(1.0 / n_x as f64, &mut sums, |range, sums| {
        let own = range.start * ell..range.end * ell;
        let (f_bar, w) = (&point.f_bar[own.clone()], &w[own]);
        let [star, size] = merit.conjugates(range, w);
        let (product, of_product) = f_bar.iter().zip(w).fold((0.0, 0.0), |(sum, size), (f, w)| {
            let product = f * w;
            (sum + product, size + product.abs())
        });
        sums.iter_mut().zip([star, size, product, of_product]).for_each(|(sum, x)| *sum += x);
    });
    let first = point.loss + sums[0] - sums[2];
    // Not f64::max, which would drop a NaN.
    let first = if first < 0.0 { 0.0 } else { first };
    // No term of the sum is below 0, so that |phi| is at most its term and the sizes of the others.
    (first, first + 2.0 * (sums[1] + sums[3]))
}

/// The same, term by term: of all duals whose coordinates are within `margin(r)` of those in w, the
/// most that it can be.
pub(crate) fn mismatch_within(
    problem: Objective<'_>,
    f_bar: &[f64],
    w: &[f64],
    margin: &(dyn Fn(usize) -> f64 + Sync),
) -> (f64, f64) {
    let Objective { inner: f, merit, .. } = problem;
    let (n_x, ell) = (f.n_x(), f.ell());
    let mut sums = [0.0; 2];
    Blocks::new(n_x, 4 * ell).add(1.0 / n_x as f64, &mut sums, |range, sums| {
        let mut moved = vec![0.0; ell];
        for i in range {
            let own = i * ell..(i + 1) * ell;
            let (f_bar, w) = (&f_bar[own.clone()], &w[own.clone()]);
            let phi = merit.value(i, f_bar);
            let mut size = phi.abs();
            let mut term = |w: &[f64]| {
                let (star, product) = (merit.conjugate(i, w), dot(f_bar, w));
                size = size.max(phi.abs() + star.abs() + product.abs());
                let term = phi + star - product;
                // Not f64::max, which would drop a NaN.
                if term < 0.0 { 0.0 } else { term }
            };
            let mut at = |sign: f64| {
                for (k, moved) in moved.iter_mut().enumerate() {
                    *moved = w[k] + sign * margin(own.start + k);
                }
                term(&moved)
            };
            // A convex function is largest at an end; where there are several coordinates, each has
            // an end of its own, and no term is below 0.
            let (less, more) = if own.clone().any(|r| margin(r) > 0.0) {
                (at(-1.0), at(1.0))
            } else {
                (0.0, at(0.0))
            };
            sums[0] += if ell > 1 {
                less + more
            } else if less > more {
                less
            } else {
                more
            };
            sums[1] += size;
        }
    });
    (sums[0], sums[1])
}

/// `D(0) = (1/n) sum_i min phi_i + min g`, below P whatever f is; `-inf` where there is no such
/// minimum.
pub(crate) fn at_zero(problem: Objective<'_>) -> f64 {
    let Objective { inner: f, merit, regularizer: g } = problem;
    let (n_x, ell) = (f.n_x(), f.ell());
    let mut sum = [0.0];
    Blocks::new(n_x, MERIT * ell).add(1.0 / n_x as f64, &mut sum, |terms, sum| {
        let duals = vec![0.0; terms.len() * ell];
        sum[0] += merit.conjugates(terms, &duals)[0];
    });
    let bound = -sum[0] + lowest(g, f.d());
    if bound.is_finite() { bound } else { f64::NEG_INFINITY }
}

/// `min g`; `-inf` where g is a straight line along some coordinate and not level there. At 0
/// nothing is rounded, so that a slope that is small beside those of other coordinates, which a
/// conjugate may take for what rounding left of none
/// ([`FreeTail`](crate::model::regularizer::FreeTail)), is a slope.
pub(crate) fn lowest(g: &dyn Regularizer, d: usize) -> f64 {
    if g.free_coordinates(d).iter().any(|(_, slope)| *slope != 0.0) {
        return f64::NEG_INFINITY;
    }
    -g.conjugate(&vec![0.0; d])
}

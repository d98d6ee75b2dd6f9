//! Bounds from below by dual variables.
//!
//! ```text
//! D(w) = (1/n) sum_i [ <bbar_i, w_i> - phi_i*(w_i) ] - g*(-u),  u = (1/n) sum_i Abar_i w_i,  for affine f
//! P(theta) - D(w) = (1/n) sum_i [ phi_i(fbar_i) + phi_i*(w_i) - <fbar_i, w_i> ] + [ g(theta) + <theta, u> + g*(-u) ]
//! ```
//!
//! By Fenchel and Young no term of the first sum is below 0, and all are 0 for `w_i = phi_i'(fbar_i)`; nor is the second bracket.
//! Added up like this nothing is lost to the cancellation of P with D.

use super::Bound;
use crate::blocks::Blocks;
use crate::inner::Inner;
use crate::merit::Merit;
use crate::problem::Problem;
use crate::regularizer::Regularizer;
use crate::vector::{dot, update};

/// A point, as far as bounds ask for it.
#[derive(Clone, Copy)]
pub(crate) struct Point<'t> {
    pub(crate) theta: &'t [f64],
    /// `F(theta)`
    pub(crate) loss: f64,
    /// `g(theta)`
    pub(crate) g: f64,
}

/// Duals as they are bounded with.
pub(crate) struct Duals<'w> {
    /// `w_i`; left scaled.
    pub(crate) w: &'w mut [f64],
    /// Whether `w_i = phi_i'(fbar_i)`, so that the first sum is 0.
    pub(crate) matched: bool,
    /// `-u`; where g is a straight line, its slope.
    pub(crate) v: &'w mut [f64],
    /// Whether the duals may be shrunk where `g*` is infinite.
    pub(crate) may_shrink: bool,
}

/// `P(theta) - D(s w)` with `s = 1` or, where `g*(-u)` is infinite, the largest s below at which `g*(-s u)` is not.
pub(crate) fn gap<F: Inner, P: Merit, G: Regularizer>(
    problem: &Problem<F, P, G>,
    point: Point<'_>,
    f_bar: &[f64],
    duals: Duals<'_>,
) -> Bound {
    let Duals { w, mut matched, v, may_shrink } = duals;
    let mut conjugate = problem.regularizer.conjugate(v);
    if !conjugate.is_finite() {
        let Some(s) = may_shrink.then(|| largest_scale(&problem.regularizer, v)).flatten() else {
            return Bound::NONE;
        };
        update(v, |v| s * v);
        update(w, |w| s * w);
        conjugate = problem.regularizer.conjugate(v);
        matched = false;
    }
    let (first, size) = if matched { (0.0, 0.0) } else { mismatch(problem, f_bar, w) };
    let bilinear = dot(point.theta, v);
    let products: f64 = point.theta.iter().zip(&*v).map(|(theta, v)| (theta * v).abs()).sum();
    let size = size + point.loss.abs() + point.g.abs() + products + conjugate.abs();
    Bound::new(first + (point.g - bilinear + conjugate).max(0.0), size)
}

/// `(1/n) sum_i [ phi_i(fbar_i) + phi_i*(w_i) - <fbar_i, w_i> ]`, and the size of its terms.
pub(crate) fn mismatch<F: Inner, P: Merit, G: Regularizer>(
    problem: &Problem<F, P, G>,
    f_bar: &[f64],
    w: &[f64],
) -> (f64, f64) {
    let Problem { inner: f, merit, .. } = problem;
    let (n_x, ell) = (f.n_x(), f.ell());
    let mut sums = [0.0; 2];
    Blocks::new(n_x, 4 * ell).add(
        1.0 / n_x as f64,
        &mut sums,
        #[inline(always)]
        |range, sums| {
            for i in range {
                let own = i * ell..(i + 1) * ell;
                let (f_bar, w) = (&f_bar[own.clone()], &w[own]);
                let (phi, star, product) = (merit.value(i, f_bar), merit.conjugate(i, w), dot(f_bar, w));
                // Not f64::max, which would drop a NaN.
                let term = phi + star - product;
                sums[0] += if term < 0.0 { 0.0 } else { term };
                sums[1] += phi.abs() + star.abs() + product.abs();
            }
        },
    );
    (sums[0], sums[1])
}

/// `D(0) = (1/n) sum_i min phi_i + min g`, below P whatever f is; `-inf` where there is no such minimum.
pub(crate) fn at_zero<F: Inner, P: Merit, G: Regularizer>(problem: &Problem<F, P, G>) -> f64 {
    let Problem { inner: f, merit, regularizer: g } = problem;
    let zero = vec![0.0; f.ell().max(f.d())];
    let sum = Blocks::new(f.n_x(), f.ell()).sum(
        #[inline(always)]
        |i| merit.conjugate(i, &zero[..f.ell()]),
    );
    let bound = -sum / f.n_x() as f64 - g.conjugate(&zero[..f.d()]);
    if bound.is_finite() { bound } else { f64::NEG_INFINITY }
}

/// The largest s in (0, 1) for which `g*(s v)` is finite, if it is at 0: the domain of `g*` is convex, so that halving finds it.
fn largest_scale<G: Regularizer>(g: &G, v: &[f64]) -> Option<f64> {
    let mut scaled = vec![0.0; v.len()];
    let mut finite = |s: f64| {
        scaled.copy_from_slice(v);
        update(&mut scaled, |v| s * v);
        g.conjugate(&scaled).is_finite()
    };
    if !finite(0.0) {
        return None;
    }
    let (mut inside, mut outside) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (inside + outside);
        if finite(middle) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    (inside > 0.0).then_some(inside)
}

/// Down to rounding.
const HALVINGS: usize = 53;

/// Whether `g*` can be expected to be finite. Where duals may be shrunk it is enough that it is finite around the origin, otherwise it must be
/// finite everywhere. `free` are the coordinates along which g is a straight line, which are met otherwise.
pub(crate) fn is_usable<G: Regularizer>(g: &G, d: usize, free: &[(usize, f64)], may_shrink: bool) -> bool {
    let may_shrink = may_shrink && free.iter().all(|(_, slope)| *slope == 0.0);
    (0..2).all(|flip| {
        // Far out, with signs without a pattern, so that no symmetry hides an edge.
        let sign = |l: usize| if (l.wrapping_mul(2_654_435_761) >> 7) & 1 == flip { 1.0 } else { -1.0 };
        let mut v: Vec<f64> = (0..d).map(|l| FAR * sign(l)).collect();
        for (l, slope) in free {
            v[*l] = *slope;
        }
        g.conjugate(&v).is_finite() || (may_shrink && largest_scale(g, &v).is_some())
    })
}

/// Beyond the edge of any domain.
const FAR: f64 = 1e12;

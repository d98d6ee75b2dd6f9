//! Bounds from below by the Hessian of a quadratic F.
//!
//! Let g hold `(1/2) theta' D theta` with a diagonal D, `g0 = g - (1/2) theta' D theta` convex, `H = F'' + D` and `u = F'(theta)`. One proximal step
//! `theta+ = prox_{alpha g}(theta - alpha u)` gives a subgradient `v = (theta - theta+) / alpha - u - D theta+` of g0 at `theta+`, so that for all z
//!
//! ```text
//! P(z) >= F(theta) + <u, z - theta> + (1/2) |z - theta|_H^2 + <D theta, z - theta> + (1/2) theta' D theta  [F and the squares, exactly]
//!         + g0(theta+) + <v, z - theta+>                                                                  [g0]
//! ```
//!
//! whose minimum over z is known:
//!
//! ```text
//! P(theta) - P* <= (1/2) s' H^-1 s + g0(theta) - g0(theta+) - <v, theta - theta+>,  s = u + D theta + v
//! ```
//!
//! Where g0 is linear, `s = P'(theta)`, the rest vanishes and the bound is exact; s is then taken from the gradient, which no difference of
//! points rounds to zero.

use super::dual::Point;
use super::{Bound, ROUNDING};
use crate::cholesky::Cholesky;
use crate::collapse::Collapsed;
use crate::gram;
use crate::inner::Inner;
use crate::merit::Merit;
use crate::methods::direct::quadratic::whitened;
use crate::problem::Problem;
use crate::regularizer::{Parts, Regularizer};
use crate::vector::{dot, norm_squared};

/// Beyond so many coordinates a matrix is not made: Cholesky's factor costs `d^3 / 3`.
const MOST_COLUMNS: usize = 2000;
/// Nor beyond so many products, a second or two.
const MOST_PRODUCTS: f64 = 1e10;
/// Nor of so many numbers, which are copied.
const MOST_NUMBERS: f64 = 4e7;

/// The squares in g and, if that is all, its linear term.
#[derive(Debug)]
pub(crate) struct Squares {
    /// D
    pub(crate) diagonal: Vec<f64>,
    /// The linear term, if there is nothing else in g.
    tilt: Option<Vec<f64>>,
}

impl Squares {
    pub(crate) fn of<G: Regularizer>(g: &G, d: usize) -> Self {
        match Parts::of(g, d) {
            Some(g) => Squares {
                diagonal: g.l2().collect(),
                tilt: g.are_smooth().then(|| g.parts.iter().map(|part| part.tilt).collect()),
            },
            None => Squares { diagonal: vec![g.mu(); d], tilt: None },
        }
    }

    /// Whether g is quadratic.
    pub(crate) fn are_all(&self) -> bool {
        self.tilt.is_some()
    }

    /// `P'(theta)` where g is quadratic, with `u = F'(theta)`.
    pub(crate) fn gradient(&self, theta: &[f64], u: &[f64]) -> Option<Vec<f64>> {
        let tilt = self.tilt.as_ref()?;
        let term = |l: usize| u[l] + self.diagonal[l] * theta[l] + tilt[l];
        Some((0..theta.len()).map(term).collect())
    }

    /// `sum_l r_l^2 / (2 D_l)` with `r = P'(theta)`, where g is quadratic and every `D_l` above 0: what `g(theta) + <u, theta> + g*(-u)` comes to, without
    /// its cancellation. `error` is what rounding may have done to a coordinate of u.
    pub(crate) fn strong_gap(&self, theta: &[f64], u: &[f64], error: f64) -> Bound {
        let (Some(r), Some(tilt)) = (self.gradient(theta, u), &self.tilt) else { return Bound::NONE };
        let (mut gap, mut rounding) = (0.0, 0.0);
        for l in 0..theta.len() {
            let l2 = self.diagonal[l];
            let error = error + ROUNDING * (tilt[l].abs() + (l2 * theta[l]).abs());
            gap += (r[l].abs() + error).powi(2) / (2.0 * l2);
            rounding += error * error / (2.0 * l2);
        }
        if gap.is_finite() { Bound { gap, rounding } } else { Bound::NONE }
    }

    /// `g0(theta)`, the value of g at theta being at hand.
    fn left(&self, theta: &[f64], g: f64) -> f64 {
        g - 0.5 * self.diagonal.iter().zip(theta).map(|(l2, t)| l2 * t * t).sum::<f64>()
    }
}

/// `H = F'' + D = L L'`
#[derive(Debug)]
pub(crate) struct Hessian {
    pub(crate) factor: Cholesky,
    /// [`step`]
    pub(crate) alpha: f64,
}

/// Whether F is quadratic and its Hessian not too dear.
pub(crate) fn is_at_hand<F: Inner, P: Merit, G: Regularizer>(problem: &Problem<F, P, G>) -> bool {
    let (f, merit) = (&problem.inner, &problem.merit);
    let form = merit.quadratic_form().is_some_and(|form| f.n_x() == 1 && form.ell() == f.ell());
    let quadratic = form || (f.n_x() > 0 && merit.square_weight_of(0).is_some());
    quadratic && is_affordable(f)
}

/// Whether f is affine and a Gram matrix of its averages not too dear.
pub(crate) fn is_affordable<F: Inner>(f: &F) -> bool {
    let (rows, d) = ((f.n_x() * f.ell()) as f64, f.d());
    let products = rows * (d * d) as f64;
    f.structure().affine && d <= MOST_COLUMNS && products <= MOST_PRODUCTS && rows * d as f64 <= MOST_NUMBERS
}

impl Hessian {
    /// None if H is not positive definite.
    pub(crate) fn new<F: Inner, P: Merit, G: Regularizer>(
        problem: &Problem<F, P, G>,
        squares: &Squares,
    ) -> Option<Self> {
        let d = problem.inner.d();
        let (f, n_x) = (&problem.inner, problem.inner.n_x() as f64);
        let averages = || Collapsed::new(f, &vec![0.0; d]);
        let matrix = if let Some(form) = problem.merit.quadratic_form() {
            gram::weighted(&whitened(&averages(), form), |_| 1.0)
        } else {
            let weight = |r: usize| 2.0 / n_x * problem.merit.square_weight_of(r / f.ell()).unwrap_or(0.0);
            f.gram(&weight).unwrap_or_else(|| gram::weighted(&averages(), weight))
        };
        Self::of(matrix, squares)
    }

    /// From `F''`; None if H is not positive definite.
    pub(crate) fn of(mut matrix: Vec<f64>, squares: &Squares) -> Option<Self> {
        let d = squares.diagonal.len();
        for (entry, l2) in matrix.iter_mut().step_by(d + 1).zip(&squares.diagonal) {
            *entry += l2;
        }
        let factor = Cholesky::new(&matrix, d).ok()?;
        let alpha = step(&factor);
        Some(Hessian { factor, alpha })
    }
}

/// A step for the prox, from `H = L L'`: its inverse is at least the largest eigenvalue of H, and at most d times that.
pub(crate) fn step(factor: &Cholesky) -> f64 {
    1.0 / norm_squared(factor.factor())
}

/// A bound on `P(theta) - P*` by the factor of H, with `u = F'(theta)`.
pub(crate) fn gap<G: Regularizer>(
    factor: &Cholesky,
    g: &G,
    squares: &Squares,
    point: Point<'_>,
    u: &[f64],
) -> Bound {
    if squares.are_all() {
        return exact_gap(factor, squares, point, u);
    }
    let Tangent { mut s, rest, size } = Tangent::new(g, squares, step(factor), point, u);
    factor.solve_lower(&mut s);
    Bound::new(0.5 * norm_squared(&s) * caution(factor) + rest, size + point.loss.abs())
}

/// s and what g0 adds to the bound.
pub(crate) struct Tangent {
    /// `u + D theta + v`
    pub(crate) s: Vec<f64>,
    /// `g0(theta) - g0(theta+) - <v, theta - theta+>`
    pub(crate) rest: f64,
    /// The size of what was subtracted for it.
    pub(crate) size: f64,
}

impl Tangent {
    pub(crate) fn new<G: Regularizer>(
        g: &G,
        squares: &Squares,
        alpha: f64,
        point: Point<'_>,
        u: &[f64],
    ) -> Self {
        let Point { theta, g: value, .. } = point;
        if let Some(s) = squares.gradient(theta, u) {
            return Tangent { s, rest: 0.0, size: value.abs() };
        }
        let mut next = theta.to_vec();
        g.step(alpha, u, &mut next);
        let next_value = g.value(&next);
        let (mut s, mut product, mut size) = (vec![0.0; theta.len()], 0.0, value.abs() + next_value.abs());
        for l in 0..theta.len() {
            let moved = theta[l] - next[l];
            // v + u + D theta+
            let mapping = moved / alpha;
            let v = mapping - u[l] - squares.diagonal[l] * next[l];
            s[l] = mapping + squares.diagonal[l] * moved;
            product += v * moved;
            size += (v * theta[l]).abs() + (v * next[l]).abs() + squares.diagonal[l] * theta[l] * theta[l];
        }
        let rest = squares.left(theta, value) - squares.left(&next, next_value) - product;
        // Not f64::max, which would drop a NaN.
        Tangent { s, rest: if rest < 0.0 { 0.0 } else { rest }, size }
    }
}

/// `(1/2) r' P''^-1 r` with `r = P'(theta)`, for quadratic P with `P'' = L L'`: exact.
///
/// The sum that r is may be rounded by `eps` of its terms. With `phi = c u^2` and rows `a_i`, those of coordinate l add up, by Cauchy
/// and Schwarz, to no more than `sqrt(H_ll) ( sqrt(2 F) + sum_k sqrt(H_kk) |theta_k| )`: the second part is what `fbar_i` itself was rounded from.
fn exact_gap(factor: &Cholesky, squares: &Squares, point: Point<'_>, u: &[f64]) -> Bound {
    let Point { theta, loss, .. } = point;
    let (Some(mut r), Some(tilt)) = (squares.gradient(theta, u), &squares.tilt) else { return Bound::NONE };
    let d = theta.len();
    let sizes: Vec<f64> = factor.factor().chunks_exact(d).map(|row| norm_squared(row).sqrt()).collect();
    let total = (2.0 * loss.abs()).sqrt() + sizes.iter().zip(theta).map(|(h, t)| h * t.abs()).sum::<f64>();
    let error: Vec<f64> = (0..d).map(|l| ROUNDING * (sizes[l] * total + tilt[l].abs())).collect();
    factor.solve_lower(&mut r);
    // What an error does depends on its direction: a few are tried.
    let tried = [1_usize, 2_654_435_761, 40_503].map(|stride| {
        let mut tried = error.clone();
        for (l, entry) in tried.iter_mut().enumerate() {
            if (l.wrapping_mul(stride) >> 3) & 1 == 1 {
                *entry = -*entry;
            }
        }
        factor.solve_lower(&mut tried);
        norm_squared(&tried).sqrt()
    });
    let (length, error) = (norm_squared(&r).sqrt(), tried.into_iter().fold(0.0, f64::max));
    let gap = 0.5 * (length + error) * (length + error) * caution(factor);
    if gap.is_nan() { Bound::NONE } else { Bound { gap, rounding: 0.5 * error * error } }
}

/// How much larger `s' H^-1 s` may be than what Cholesky's factor says, for the matrix was rounded: a pivot that kept few of its digits is
/// known to as few.
pub(crate) fn caution(factor: &Cholesky) -> f64 {
    let d = factor.d();
    let kept = (0..d).map(|l| {
        let row = &factor.factor()[l * d..=l * d + l];
        row[l] * row[l] / dot(row, row)
    });
    1.0 + ROUNDING * d as f64 / kept.fold(1.0, f64::min)
}

//! Bounds from below where F is quadratic, by a Hessian that is certain to be positive definite.
//!
//! Let g hold `(1/2) theta' D theta` with a diagonal D, `g0 = g - (1/2) theta' D theta` convex, `H
//! = F'' + D` and `u = F'(theta)`. For any point `y` that g allows and a subgradient v of g0 there,
//! for all z
//!
//! ```text
//! P(z) >= F(theta) + <u, z - theta> + (1/2) |z - theta|_H^2 + <D theta, z - theta> + (1/2) theta' D theta  [F and the squares, exactly]
//!         + g0(y) + <v, z - y>                                                                            [g0]
//! ```
//!
//! whose minimum over z is known:
//!
//! ```text
//! P(theta) - P* <= (1/2) s' H^-1 s + g0(theta) - g0(y) - <v, theta - y>,  s = u + D theta + v
//! ```
//!
//! Where g0 is linear the rest vanishes and the bound is exact. Otherwise y is the prox step by the
//! diagonal of H, and v the subgradient that makes s least. Rounding of u is part of s;
//! [`Definite`] takes care of that of H.

use super::Bound;
use super::definite::Definite;
use super::dual::Point;
use super::ground::Ground;
use super::sizes::UNIT;
use crate::linalg::gram;
use crate::linalg::scalar::clamp;
use crate::methods::direct::quadratic::whitened;
use crate::model::collapse::Collapsed;
use crate::model::inner::Inner;
use crate::model::problem::Objective;
use crate::model::regularizer::{Coordinate, Parts};

/// Beyond this many coordinates a matrix is not made: Cholesky's factor costs `d^3 / 3`.
pub(crate) const MOST_COLUMNS: usize = 2000;
/// Nor beyond this many products, a second or two.
const MOST_PRODUCTS: f64 = 1e10;
/// Nor of this many numbers, which are copied.
const MOST_NUMBERS: f64 = 4e7;

/// Whether F is quadratic and its Hessian not too dear.
pub(crate) fn is_at_hand(problem: Objective<'_>) -> bool {
    let (f, merit) = (problem.inner, problem.merit);
    let form = merit.quadratic_form().is_some_and(|form| f.n_x() == 1 && form.ell() == f.ell());
    let quadratic = form || (f.n_x() > 0 && merit.square_weight_of(0).is_some());
    quadratic && is_affordable(f)
}

/// Whether f is affine and a Gram matrix of its averages not too dear.
pub(crate) fn is_affordable(f: &dyn Inner) -> bool {
    let (rows, d) = ((f.n_x() * f.ell()) as f64, f.d());
    let products = rows * (d * d) as f64;
    f.facts().affine
        && d <= MOST_COLUMNS
        && products <= MOST_PRODUCTS
        && rows * d as f64 <= MOST_NUMBERS
}

/// `F''` and the squares of g, if that is certain to be positive definite: from `F''` if it is
/// known, as [`Passes::gram`](crate::Passes::gram) or the Gram matrix of the averages made it.
pub(crate) fn hessian(ground: &Ground<'_>, known: Option<&[f64]>) -> Option<Definite> {
    let Objective { inner: f, merit, .. } = ground.problem;
    let (d, n_x) = (f.d(), f.n_x() as f64);
    if let Some(definite) = common_hessian(ground) {
        return Some(definite);
    }
    let averages = || Collapsed::new(f, &vec![0.0; d]);
    let weight = |r: usize| 2.0 / n_x * merit.square_weight_of(r / f.ell()).unwrap_or(0.0);
    let mut error = 0.0;
    let mut matrix = if let Some(form) = merit.quadratic_form() {
        // What whitens the rows is as good as C is conditioned.
        let ell = form.ell() as f64;
        let least = Definite::new(form.matrix().to_vec(), form.ell(), UNIT * ell)?.lambda();
        error = (UNIT * ell * ell + ground.sizes().of_entry * ell) / least;
        let made = || gram::weighted(&whitened(&averages(), form), &|_| 1.0);
        known.map_or_else(made, <[f64]>::to_vec)
    } else {
        let made = || f.gram(&weight).unwrap_or_else(|| gram::weighted(&averages(), &weight));
        known.map_or_else(made, <[f64]>::to_vec)
    };
    let all: Vec<usize> = (0..d).collect();
    if let Some(variances) = variances(ground.problem, &matrix) {
        ground.know_variances(&variances);
    }
    // A quadratic phi bends by no more than 1 / gamma.
    let most = if merit.quadratic_form().is_some() { 0.0 } else { 1.0 / merit.gamma() };
    let error = error + ground.gram_error(most, &all, &matrix);
    let g = ground.parts.as_ref()?;
    matrix.iter_mut().step_by(d + 1).zip(g.l2()).for_each(|(entry, l2)| *entry += l2);
    Definite::new(matrix, d, error)
}

/// The variances of the columns, where every phi is the same square and `F''` is known.
pub(crate) fn variances(problem: Objective<'_>, matrix: &[f64]) -> Option<Vec<f64>> {
    let c = problem.merit.square_weight()?;
    let diagonal = matrix.iter().step_by(problem.inner.d() + 1);
    Some(diagonal.map(|entry| entry / (2.0 * c)).collect())
}

/// [`hessian`] from a Gram matrix that many problems share, where g has no squares.
fn common_hessian(ground: &Ground<'_>) -> Option<Definite> {
    let Objective { inner: f, merit, .. } = ground.problem;
    let (d, n_x) = (f.d(), f.n_x() as f64);
    let (common, weight) = (f.common_gram()?, merit.square_weight()?);
    if f.ell() != 1 || ground.parts.as_ref()?.l2().any(|l2| l2 != 0.0) {
        return None;
    }
    let matrix = common.matrix();
    let variances: Vec<f64> = matrix.iter().step_by(d + 1).map(|entry| entry / n_x).collect();
    ground.know_variances(&variances);
    let all: Vec<usize> = (0..d).collect();
    let error = ground.gram_error(n_x, &all, matrix);
    common.definite(2.0 * weight / n_x, error)
}

/// A bound on `P(theta) - P*` with `u = F'(theta)` known up to `error`, of which a part is usual.
pub(crate) fn gap(
    hessian: &Definite,
    problem: Objective<'_>,
    g: &Parts,
    point: Point<'_>,
    u: &[f64],
    (error, usual): (&[f64], f64),
) -> Bound {
    let theta = point.theta;
    let rounded = |l: usize, part: &Coordinate| {
        error[l]
            + 4.0 * UNIT * (u[l].abs() + part.tilt.abs() + part.l1 + (part.l2 * theta[l]).abs())
    };
    let mut errors: Vec<f64> =
        g.parts.iter().enumerate().map(|(l, part)| rounded(l, part)).collect();
    if g.are_smooth() {
        let mut s = u.to_vec();
        g.add_gradient(theta, &mut s);
        return of_norm(hessian.norm(&s, &errors), usual, 0.0, 0.0);
    }
    let Tangent { s, rest, size, tau } = Tangent::new(hessian, problem, g, theta, u);
    for error in &mut errors {
        *error += 2.0 * UNIT * tau.abs();
    }
    // A theta that is a little off its budget, as rounding leaves it, pays the multiplier for that.
    let off = if g.budget {
        (theta.iter().sum::<f64>() - 1.0).abs() + UNIT * size_of(theta)
    } else {
        0.0
    };
    of_norm(hessian.norm(&s, &errors), usual, rest, 4.0 * UNIT * size + tau.abs() * off)
}

fn size_of(theta: &[f64]) -> f64 {
    theta.iter().map(|x| x.abs()).sum()
}

/// Half a square, of which an error is part, and the rest.
fn of_norm((norm, error): (f64, f64), usual: f64, rest: f64, rounding: f64) -> Bound {
    let (with, without) = (0.5 * norm * norm, 0.5 * (norm - error) * (norm - error));
    let usual = usual * error;
    Bound::new(without + rest, with - without + rounding, 0.5 * usual * usual + rounding, None)
}

/// s and what g0 adds to the bound.
struct Tangent {
    /// `u + D theta + v`, with the multiplier of a budget
    s: Vec<f64>,
    /// `g0(theta) - g0(y) - <v, theta - y>`
    rest: f64,
    /// The size of what was subtracted for it.
    size: f64,
    tau: f64,
}

impl Tangent {
    fn new(
        hessian: &Definite,
        problem: Objective<'_>,
        g: &Parts,
        theta: &[f64],
        u: &[f64],
    ) -> Self {
        let bends: Vec<f64> = hessian.roots.iter().map(|root| root * root).collect();
        let mut y = theta.to_vec();
        if g.budget {
            let step = 1.0 / bends.iter().sum::<f64>();
            problem.regularizer.step(step, u, &mut y);
        } else {
            for (l, part) in g.parts.iter().enumerate() {
                y[l] = part.step(1.0 / (bends[l] - part.l2).max(f64::MIN_POSITIVE), u[l], theta[l]);
            }
        }
        // Subgradients of g0 at y, and the one that is wanted.
        let ranges: Vec<(f64, f64)> =
            g.parts.iter().zip(&y).map(|(part, y)| subgradients(part, *y)).collect();
        let wanted = |l: usize| -(u[l] + g.parts[l].l2 * theta[l]);
        let tau = if g.budget { common(&ranges, wanted, &bends) } else { 0.0 };
        let (mut s, mut rest, mut size) = (vec![0.0; theta.len()], 0.0, 0.0);
        for (l, (part, (least, most))) in g.parts.iter().zip(&ranges).enumerate() {
            let v = clamp(wanted(l) - tau, *least, *most);
            s[l] = v + tau - wanted(l);
            let moved = theta[l] - y[l];
            let slope = v - part.tilt;
            rest += part.l1 * (theta[l].abs() - y[l].abs()) - slope * moved;
            size += (part.l1 + slope.abs()) * (theta[l].abs() + y[l].abs()) + (tau * moved).abs();
        }
        // Not f64::max, which would drop a NaN.
        Tangent { s, rest: if rest < 0.0 { 0.0 } else { rest }, size, tau }
    }
}

/// The subgradients of `tilt y + l1 |y|` between the bounds.
fn subgradients(part: &Coordinate, y: f64) -> (f64, f64) {
    let (left, right) = match y {
        y if y > 0.0 => (part.l1, part.l1),
        y if y < 0.0 => (-part.l1, -part.l1),
        _ => (-part.l1, part.l1),
    };
    let least = if y <= part.lo { f64::NEG_INFINITY } else { part.tilt + left };
    let most = if y >= part.hi { f64::INFINITY } else { part.tilt + right };
    (least, most)
}

/// The multiplier of a budget that makes the slopes least, `min over tau of sum_l r_l(tau)^2 /
/// bend_l` where `r_l` is how far `wanted_l - tau` is from the subgradients of coordinate l: Newton's
/// steps on a function of pieces that are parabolas. Where all can be met, the smallest such tau:
/// at a vertex no coordinate has one subgradient alone.
fn common(ranges: &[(f64, f64)], wanted: impl Fn(usize) -> f64, bends: &[f64]) -> f64 {
    let ends = |l: usize| (wanted(l) - ranges[l].1, wanted(l) - ranges[l].0);
    let all = (0..ranges.len()).map(ends);
    let (low, high) = all.fold((f64::NEG_INFINITY, f64::INFINITY), |(low, high), (a, b)| {
        (if a > low { a } else { low }, if b < high { b } else { high })
    });
    if low < high {
        return clamp(0.0, low, high);
    }
    // Next to the coordinates that have one subgradient alone, if there are some.
    let is_single = |l: &usize| ranges[*l].0 == ranges[*l].1;
    let single: Vec<usize> = (0..ranges.len()).filter(is_single).collect();
    let mean = |terms: &mut dyn Iterator<Item = (usize, f64)>| {
        let (mut sum, mut weight) = (0.0, 0.0);
        for (l, end) in terms {
            sum += end / bends[l];
            weight += 1.0 / bends[l];
        }
        sum / weight
    };
    let mut tau = if single.is_empty() {
        f64::midpoint(low, high)
    } else {
        mean(&mut single.iter().map(|&l| (l, ends(l).0)))
    };
    for _ in 0..MOST_PIECES {
        let missed = |l: usize| match ends(l) {
            (low, _) if tau < low => Some((l, low)),
            (low, high) if tau > high || low == high => Some((l, high)),
            _ => None,
        };
        let next = mean(&mut (0..ranges.len()).filter_map(missed));
        if next == tau || !next.is_finite() {
            break;
        }
        tau = next;
    }
    tau
}

/// Pieces that are tried; a few are usual, and any tau is one.
const MOST_PIECES: usize = 30;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Stream;

    /// The sum of squares that the multiplier makes least.
    fn sum(ranges: &[(f64, f64)], wanted: &[f64], bends: &[f64], tau: f64) -> f64 {
        let term = |l: usize| {
            let v = wanted[l] - tau;
            (clamp(v, ranges[l].0, ranges[l].1) - v).powi(2) / bends[l]
        };
        (0..wanted.len()).map(term).sum()
    }

    #[test]
    fn no_other_multiplier_of_a_budget_is_better() {
        let mut draws = Stream::new(6, 1);
        let mut vertices = 0;
        for _ in 0..500 {
            let inf = f64::INFINITY;
            let mut ranges = Vec::new();
            for _ in 0..6 {
                let v = draws.unit() - 0.5;
                ranges.push(match draws.unit() {
                    x if x < 0.4 => (-inf, v),
                    x if x < 0.8 => (v, inf),
                    _ => (v, v),
                });
            }
            let wanted: Vec<f64> = (0..6).map(|_| 4.0 * draws.unit() - 2.0).collect();
            let bends: Vec<f64> = (0..6).map(|_| 0.1 + draws.unit()).collect();
            let tau = common(&ranges, |l| wanted[l], &bends);
            let found = sum(&ranges, &wanted, &bends, tau);
            vertices += usize::from(found == 0.0);
            for k in -3000..=3000 {
                let other = sum(&ranges, &wanted, &bends, f64::from(k) / 1000.0);
                assert!(found <= other + 1e-12, "{ranges:?} {wanted:?}: {tau} {found} {other}");
            }
        }
        assert!(vertices >= 10, "{vertices}");
    }
}

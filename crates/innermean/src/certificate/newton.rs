//! Duals moved by a Newton step to where g can meet them.
//!
//! The duals `w_i = phi_i'(fbar_i)` of a point that is merely close to optimal prove nothing where
//! `g*` is finite on a thin set only. On the coordinates that g leaves free to move at theta, let s
//! be what is left of `P'`. With weights W, `H = (1/n) A' W A + D` on these coordinates and `delta
//! = H^-1 s`, the duals `w - W A delta` leave nothing there, and with `W = phi''` they cost about
//! half the Newton decrement. What they prove is found out afterwards, from the beginning.

use super::bracket;
use super::dual::Point;
use super::ground::Ground;
use super::prover::Evidence;
use crate::linalg::cholesky::Cholesky;
use crate::linalg::gram;
use crate::model::regularizer::{Coordinate, Parts};

/// Of its diagonal: the ridge of a matrix that is not positive definite in double precision.
const RIDGE: f64 = 1e-13;
/// The step of a prox that is as good as a projection.
pub(super) const VANISHING: f64 = 1e-300;

/// What is left of the slope along a coordinate that is free to move at x, for `v = u + tilt +
/// tau`; None where it rests at a bound or a kink.
pub(super) fn left(part: &Coordinate, x: f64, v: f64) -> Option<f64> {
    let rests = x <= part.lo || x >= part.hi || part.l1 > 0.0 && x == 0.0;
    (!rests).then(|| v + part.l1 * if part.l1 > 0.0 { x.signum() } else { 0.0 } + part.l2 * x)
}

/// The duals after the step, which need not be in the domain of `phi*`, and the sum of weighted
/// Jacobians that belongs to them.
pub(super) fn moved(
    ground: &Ground<'_>,
    g: &Parts,
    evidence: &Evidence<'_>,
    weights: &[f64],
    matrix: &[f64],
) -> Option<(Vec<f64>, Vec<f64>)> {
    let Evidence { point, w, u, .. } = evidence;
    let (d, f) = (u.len(), ground.problem.inner);
    let tau = ground.multiplier(g, *point, w, u);
    let beyond = bracket::excess(g, u, &vec![0.0; d], tau);
    let (mut free, mut s) = (Vec::new(), Vec::new());
    for (l, part) in g.parts.iter().enumerate() {
        let v = u[l] + part.tilt + tau;
        if bracket::cost(part, point.theta[l], v) <= evidence.bearable() {
            continue;
        }
        let at_rest = (beyond[l] > 0.0).then(|| v.signum() * beyond[l]);
        if let Some(slope) = left(part, point.theta[l], v).or(at_rest) {
            free.push(l);
            s.push(slope);
        }
    }
    let m = free.len();
    if m == 0 {
        return None;
    }
    let mut block = Vec::with_capacity(m * m);
    for (k, &r) in free.iter().enumerate() {
        block.extend(free.iter().map(|&c| matrix[r.max(c) * d + r.min(c)]));
        block[k * m + k] += g.parts[r].l2;
    }
    if g.budget {
        let weight = gram::size_across(m, &block);
        for entry in &mut block {
            *entry += weight;
        }
    }
    let factor = Cholesky::new(&block, m).or_else(|_| {
        block.iter_mut().step_by(m + 1).for_each(|entry| *entry *= 1.0 + RIDGE * m as f64);
        Cholesky::new(&block, m)
    });
    factor.ok()?.solve(&mut s);
    let mut there = point.theta.to_vec();
    free.iter().zip(&s).for_each(|(&l, delta)| there[l] -= delta);
    // A delta, as the difference of averages.
    let mut next = vec![0.0; w.len()];
    f.means(&there, &mut next);
    for (r, next) in next.iter_mut().enumerate() {
        *next = w[r] - weights[r] * (point.f_bar[r] - *next);
    }
    let mut sum = vec![0.0; d];
    f.add_weighted_jac_t(point.theta, &next, &mut sum);
    Some((next, sum))
}

/// Moves duals to where they are in the domain of `phi*`, and returns the sum that belongs to them.
pub(super) fn projected(ground: &Ground<'_>, point: Point<'_>, w: &mut [f64]) -> Vec<f64> {
    let f = ground.problem.inner;
    ground.problem.merit.prox_conjugates(0..f.n_x(), VANISHING, w);
    let mut sum = vec![0.0; f.d()];
    f.add_weighted_jac_t(point.theta, w, &mut sum);
    sum
}

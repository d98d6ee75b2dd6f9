//! The proof by duals in twice the precision, for small problems whose columns double precision cannot tell apart.
//!
//! Averages, sums of weighted Jacobians and the matrix of the Newton step of the duals (`newton.rs`) are found in double-double arithmetic; phi, its derivatives and
//! conjugate in double precision, where rounding costs no more than itself. What is left of the slopes after the step is about `1e-30` of their size,
//! so that the bound holds among all theta up to `1e12` times the answer and more: no matrix has to be proven to be anything.

use super::Bound;
use super::bracket::{self, Bracket, Slopes};
use super::dual::{Point, mismatch_within};
use super::newton::left;
use super::prover::{Evidence, Ground};
use super::repair;
use super::sizes::{UNIT, mean_square};
use crate::gram;
use crate::merit::Merit;
use crate::precise::{Double, Factor, Rows};
use crate::problem::ErasedProblem;
use crate::regularizer::{Coordinate, Parts};

/// Steps, after each of which duals that left the domain of `phi*` stay where they were.
const MOST_STEPS: usize = 5;

/// `P(theta)`
pub(super) fn objective(problem: &ErasedProblem<'_>, g: &Parts, theta: &[f64]) -> f64 {
    let rows = Rows::new(&problem.inner);
    let exact: Vec<Double> = theta.iter().map(|x| Double::from(*x)).collect();
    let f_bar: Vec<f64> = rows.means(&exact).iter().map(|f| f.value()).collect();
    value(problem, g, &rows, &f_bar, theta)
}

/// `P(theta)` from the averages there.
fn value(problem: &ErasedProblem<'_>, g: &Parts, rows: &Rows, f_bar: &[f64], theta: &[f64]) -> f64 {
    let mut sum = Double::from(problem.loss(f_bar));
    for (l, (part, x)) in g.parts.iter().zip(theta).enumerate() {
        let tilt = Double::from(part.tilt) + rows.tilt_correction(l, part.tilt);
        sum += tilt * Double::from(*x) + Double::product(part.l1, x.abs());
        sum += Double::product(0.5 * part.l2, *x) * Double::from(*x);
    }
    sum.value()
}

/// A bound on `P(theta) - P*` among all theta up to so many times the answer, and `P(theta)` as it is then.
pub(super) fn gap(
    ground: &Ground<'_>,
    g: &Parts,
    evidence: &Evidence<'_>,
    times: f64,
) -> Option<(Bound, f64)> {
    let problem = &ground.problem;
    let Point { theta, .. } = evidence.point;
    let (rows, ell) = (Rows::new(&problem.inner), problem.inner.ell());
    let exact: Vec<Double> = theta.iter().map(|x| Double::from(*x)).collect();
    let f_bar: Vec<f64> = rows.means(&exact).iter().map(|f| f.value()).collect();
    let mut w = evidence.w.to_vec();
    if evidence.matched {
        problem.duals(&f_bar, &mut w);
    }
    let mut weights = repair::weights(ground, &f_bar, &w)?;
    let tilt = |l: usize| Double::from(g.parts[l].tilt) + rows.tilt_correction(l, g.parts[l].tilt);
    let mut moved: Vec<Double> = w.iter().map(|w| Double::from(*w)).collect();
    let slopes = |w: &[Double], tau: Double| -> Vec<Double> {
        rows.weighted(w).iter().enumerate().map(|(l, u)| *u + tilt(l) + tau).collect()
    };
    let rounded: Vec<f64> = slopes(&moved, Double::ZERO)
        .iter()
        .zip(&g.parts)
        .map(|(v, part)| (*v - Double::from(part.tilt)).value())
        .collect();
    let radius = |times: f64| ground.radius(evidence.point, &w, &rounded, times);
    let mut tau = Double::from(bracket::multiplier(g, &rounded, &radius(2.0)));
    // Steps after the first take off what rounding left, and what one coordinate did to another; those that have been moved stay at their edge.
    let mut held = vec![false; theta.len()];
    for _ in 0..MOST_STEPS {
        let v = slopes(&moved, tau);
        let Some(change) =
            newton_step(&rows, g, theta, &v, &weights, &mut tau, (&mut held, evidence.bearable()))
        else {
            break;
        };
        for (i, own) in moved.chunks_exact_mut(ell).enumerate() {
            let terms = i * ell..(i + 1) * ell;
            let next: Vec<Double> = own.iter().zip(&change[terms.clone()]).map(|(w, c)| *w - *c).collect();
            if is_inside(problem, i, &next) {
                own.copy_from_slice(&next);
            } else {
                weights[terms].fill(0.0);
            }
        }
    }
    let v = slopes(&moved, tau);
    let radius = radius(times);
    if radius.contains(&0.0) {
        return None;
    }
    let proof = Proof { w: &moved, v: &v, tau, radius: &radius, times };
    let bound = by_duals(ground, g, evidence.point, &f_bar, &proof);
    Some((bound, value(problem, g, &rows, &f_bar, theta)))
}

/// `W A delta` with `delta = H^-1 s`; the multiplier of a budget moves along.
fn newton_step(
    rows: &Rows,
    g: &Parts,
    theta: &[f64],
    v: &[Double],
    weights: &[f64],
    tau: &mut Double,
    (held, bearable): (&mut [bool], f64),
) -> Option<Vec<Double>> {
    let d = theta.len();
    let whole = rows.gram(weights);
    let (mut free, mut s) = (Vec::new(), Vec::new());
    for (l, part) in g.parts.iter().enumerate() {
        held[l] |= bracket::cost(part, theta[l], v[l].hi) > bearable;
        if !held[l] {
            continue;
        }
        let free_to_move = left(part, theta[l], v[l].hi).is_some();
        let (least, most) = bracket::finite(part);
        let beyond = v[l].hi < least || v[l].hi > most;
        if free_to_move {
            let kink = if part.l1 > 0.0 { part.l1 * theta[l].signum() } else { 0.0 };
            free.push(l);
            s.push(v[l] + Double::from(kink) + Double::product(part.l2, theta[l]));
        } else if beyond {
            free.push(l);
            s.push(v[l] - Double::from(if v[l].hi < least { least } else { most }));
        }
    }
    let m = free.len();
    if m == 0 {
        return None;
    }
    let mut block = vec![Double::ZERO; m * m];
    for (r, &row) in free.iter().enumerate() {
        for (c, &column) in free.iter().enumerate().take(r + 1) {
            block[r * m + c] = whole[row.max(column) * d + row.min(column)];
        }
        block[r * m + r] += Double::from(g.parts[row].l2);
    }
    let diagonal: Vec<f64> = block.iter().map(|entry| entry.hi).collect();
    let weight = if g.budget { gram::size_across(m, &diagonal) } else { 0.0 };
    for entry in &mut block {
        *entry += Double::from(weight);
    }
    Factor::new(&block, m).solve(&mut s);
    if g.budget {
        let sum = s.iter().fold(Double::ZERO, |sum, s| sum + *s);
        *tau -= Double::from(weight) * sum;
    }
    let along = |r: usize| {
        let row = rows.row(r);
        let sum = free.iter().zip(&s).fold(Double::ZERO, |sum, (&l, delta)| sum + row[l] * *delta);
        sum * Double::from(weights[r])
    };
    Some((0..rows.len()).map(along).collect())
}

/// Whether the duals of a term are inside of the domain of `phi_i*`, whatever is rounded off them.
fn is_inside(problem: &ErasedProblem<'_>, i: usize, w: &[Double]) -> bool {
    let finite = |round: fn(f64) -> f64| {
        let rounded: Vec<f64> = w.iter().map(|w| if w.lo == 0.0 { w.hi } else { round(w.hi) }).collect();
        problem.merit.conjugate(i, &rounded).is_finite()
    };
    finite(f64::next_up) && finite(f64::next_down)
}

/// Duals, their slopes `v_l = u_l + tilt_l + tau`, and how far theta may go.
struct Proof<'a> {
    w: &'a [Double],
    v: &'a [Double],
    tau: Double,
    radius: &'a [f64],
    times: f64,
}

/// What the duals prove.
fn by_duals(ground: &Ground<'_>, g: &Parts, point: Point<'_>, f_bar: &[f64], proof: &Proof<'_>) -> Bound {
    let Proof { w, v, tau, radius, times } = proof;
    let theta = point.theta;
    let rounded: Vec<f64> = w.iter().map(|w| w.value()).collect();
    // Slopes for bracket(), which adds the tilt and tau: so that their sum is v to the last of its digits, both are taken off here.
    let free_of_tilt = Parts {
        parts: g.parts.iter().map(|part| Coordinate { tilt: 0.0, ..*part }).collect(),
        budget: false,
    };
    // Sums of so many terms in double-double arithmetic.
    let sizes = ground.sizes();
    let omega = mean_square(&rounded, ground.n_x());
    let roundings = PRECISE_UNIT * (rounded.len() as f64 + 16.0);
    let error: Vec<f64> = sizes.columns.iter().map(|size| roundings * size * (omega + 1.0)).collect();
    // Beyond the edge of where g* is finite, by less than double precision can tell, theta may go as far as it is let.
    let (mut u, mut beyond) = (vec![0.0; v.len()], 0.0);
    for (l, part) in g.parts.iter().enumerate() {
        let (least, most) = bracket::finite(part);
        let edge = if v[l].hi < least + error[l] { least } else { most };
        let excess = if edge.is_finite() { (v[l] - Double::from(edge)).value() } else { f64::INFINITY };
        let outside = if edge == least { -excess } else { excess };
        u[l] = v[l].value();
        if edge.is_finite() && outside > -error[l] {
            u[l] = edge;
            beyond += (outside.max(0.0) + error[l]) * (radius[l] + theta[l].abs());
        }
    }
    let slopes = Slopes { u: &u, error: &error, usual: 1.0, tau: 0.0, repaired: None, radius: Some(radius) };
    let Bracket { exact, rounding, floor } = bracket::bracket(&free_of_tilt, theta, slopes);
    let (first, size) = mismatch_within(&ground.problem, f_bar, &rounded, &|_| 0.0);
    let mut lost =
        (8.0 * UNIT + UNIT * rounded.len() as f64) * size + UNIT * (theta.len() as f64 + 3.0) * point.g.abs();
    if g.budget {
        let off = (theta.iter().fold(Double::from(-1.0), |sum, x| sum + Double::from(*x))).value().abs();
        lost += tau.hi.abs() * off;
    }
    Bound::new(first + exact + beyond, rounding + lost, floor + lost, Some(*times))
}

/// Of double-double arithmetic, with a margin.
const PRECISE_UNIT: f64 = 1e-30;

//! The proof by duals in twice the precision, for small problems whose columns double precision
//! cannot tell apart.
//!
//! Averages, sums of weighted Jacobians and the matrix of the Newton step of the duals
//! (`newton.rs`) are found in double-double arithmetic; phi, its derivatives and conjugate in
//! double precision, where rounding costs no more than itself. What is left of the slopes after the
//! step is about `1e-30` of their size, so that the bound holds among all theta up to `1e12` times
//! the answer and more: no matrix has to be proven to be anything.

use super::Bound;
use super::bracket::{self, Bracket, Slopes};
use super::dual::{Point, mismatch_within};
use super::ground::Ground;
use super::newton::left;
use super::prover::Evidence;
use super::repair;
use super::sizes::{UNIT, mean_square};
use crate::linalg::elementary::Elementary;
use crate::linalg::gram;
use crate::linalg::precise::{self, Double, Factor, Form, Rows};
use crate::model::merit::QuadraticForm;
use crate::model::problem::Objective;
use crate::model::regularizer::{Coordinate, Parts};
use crate::oracle::Patience;

/// Steps, after each of which duals that left the domain of `phi*` stay where they were.
const MOST_STEPS: usize = 5;

/// `P(theta)`
pub(super) fn objective(problem: Objective<'_>, g: &Parts, theta: &[f64]) -> f64 {
    let rows = Rows::new(problem.inner);
    let exact: Vec<Double> = theta.iter().map(|x| Double::from(*x)).collect();
    let means = rows.means(&exact);
    let loss = match problem.merit.quadratic_form() {
        Some(form) => Form::new(problem.inner, form).value(&means),
        None => Double::from(problem.loss(&means.iter().map(|f| f.value()).collect::<Vec<f64>>())),
    };
    with_regularizer(loss, g, &rows, theta)
}

/// The last digit of a mean, at the answer and at the optimum.
const TILT_ROUNDING: f64 = 4.0 * UNIT;

/// `P(theta)` from `F(theta)`.
fn with_regularizer(loss: Double, g: &Parts, rows: &Rows, theta: &[f64]) -> f64 {
    let mut sum = loss;
    for (l, (part, x)) in g.parts.iter().zip(theta).enumerate() {
        let tilt = Double::from(part.tilt) + rows.tilt_correction(l, part.tilt);
        sum += tilt * Double::from(*x) + Double::product(part.l1, x.abs());
        sum += Double::product(0.5 * part.l2, *x) * Double::from(*x);
    }
    sum.value()
}

/// A bound on `P(theta) - P*` among all theta, or all up to some multiple of the answer, the largest
/// of these at which it is good enough, and `P(theta)` as it is then; none where time is up.
pub(super) fn gap(
    ground: &Ground<'_>,
    g: &Parts,
    evidence: &Evidence<'_>,
    (reaches, patience): (&[f64], &Patience<'_>),
) -> Option<(Bound, f64)> {
    let problem = ground.problem;
    if patience.ends() {
        return None;
    }
    if let Some(form) = problem.merit.quadratic_form() {
        return gap_of_form(ground, g, evidence, (reaches[0], form), patience);
    }
    let Point { theta, .. } = evidence.point;
    let (rows, ell) = (Rows::new(problem.inner), problem.inner.ell());
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
    // Steps after the first take off what rounding left, and what one coordinate did to another;
    // those that have been moved stay at their edge.
    let mut held = vec![false; theta.len()];
    for _ in 0..MOST_STEPS {
        if patience.ends() {
            return None;
        }
        let v = slopes(&moved, tau);
        let Some(held) = hold(g, theta, &v, (&mut held, evidence.bearable())) else { break };
        let delta = newton_step(&rows.gram(&weights), g, theta.len(), held, &mut tau);
        let along = rows.linear(&delta);
        let change: Vec<Double> = along
            .iter()
            .zip(&weights)
            .map(|(along, weight)| *along * Double::from(*weight))
            .collect();
        for (i, own) in moved.chunks_exact_mut(ell).enumerate() {
            let terms = i * ell..(i + 1) * ell;
            let next: Vec<Double> =
                own.iter().zip(&change[terms.clone()]).map(|(w, c)| *w - *c).collect();
            if is_inside(problem, i, &next) {
                own.copy_from_slice(&next);
            } else {
                weights[terms].fill(0.0);
            }
        }
    }
    let v = slopes(&moved, tau);
    let within = |times: f64| {
        let radius = radius(times);
        let proof = Proof { w: &moved, v: &v, tau, radius: &radius, times };
        (!radius.contains(&0.0)).then(|| by_duals(ground, g, evidence.point, &f_bar, &proof))
    };
    // What is left of slopes counts as far as theta may go: where columns agree to the last digit,
    // the farthest may be too far.
    let farthest = within(*reaches.first()?)?;
    let is_enough = |bound: &Bound| bound.gap <= evidence.bearable_gap();
    let nearer = || reaches[1..].iter().filter_map(|times| within(*times)).find(is_enough);
    let bound = if is_enough(&farthest) { farthest } else { nearer().unwrap_or(farthest) };
    Some((bound, with_regularizer(Double::from(problem.loss(&f_bar)), g, &rows, theta)))
}

/// A bound on `P(theta) - P*` where g is a sum of logarithms, and `P(theta)`: columns far from 0
/// that hardly move leave double precision few digits of their slopes.
///
/// The duals are `phi_i'(fbar_i)` but for their last digit, whose square is all that phi adds; and
/// `g*(v)` grows with every coordinate of v.
pub(super) fn gap_of_logarithms(ground: &Ground<'_>, point: Point<'_>) -> (Bound, f64) {
    let (problem, sizes) = (ground.problem, ground.sizes());
    let rows = Rows::new(problem.inner);
    let exact: Vec<Double> = point.theta.iter().map(|x| Double::from(*x)).collect();
    let f_bar: Vec<f64> = rows.means(&exact).iter().map(|f| f.value()).collect();
    let mut w = vec![0.0; f_bar.len()];
    problem.duals(&f_bar, &mut w);
    let omega = mean_square(&w, ground.n_x());
    let roundings = PRECISE_UNIT * (w.len() as f64 + 16.0);
    let wide: Vec<Double> = w.iter().map(|w| Double::from(*w)).collect();
    let u = rows.weighted(&wide).into_iter().zip(&sizes.columns);
    let most: Vec<f64> =
        u.map(|(u, size)| -u.value() + UNIT * u.value().abs() + roundings * size * omega).collect();
    let conjugate = problem.regularizer.conjugate(&most);
    let products = point.theta.iter().zip(&most).map(|(x, v)| x * v);
    let (sum, mut size) = products.fold((0.0, 0.0), |(sum, size), x| (sum + x, size + x.abs()));
    for (l, x) in point.theta.iter().enumerate() {
        let (b, _) = problem.regularizer.barrier(l).unwrap_or_default();
        size += 2.0 * b * (1.0 + x.natural_log().abs());
    }
    let second = point.g - sum + conjugate;
    let lost = 8.0 * UNIT * (size + point.g.abs() + conjugate.abs());
    let objective = problem.loss(&f_bar) + point.g;
    let lost = lost + UNIT * (w.len() as f64 + 8.0) * (objective.abs() + point.g.abs());
    (Bound::new(if second < 0.0 { 0.0 } else { second }, lost, lost, None), objective)
}

/// The coordinates that a step moves, and how far their slopes are from where they should be.
struct Held {
    coordinates: Vec<usize>,
    off: Vec<Double>,
}

/// Coordinates that add more to the gap than is bearable, now or before; none if there are none to
/// move.
fn hold(
    g: &Parts,
    theta: &[f64],
    v: &[Double],
    (held, bearable): (&mut [bool], f64),
) -> Option<Held> {
    let (mut coordinates, mut off) = (Vec::new(), Vec::new());
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
            coordinates.push(l);
            off.push(v[l] + Double::from(kink) + Double::product(part.l2, theta[l]));
        } else if beyond {
            coordinates.push(l);
            off.push(v[l] - Double::from(if v[l].hi < least { least } else { most }));
        }
    }
    (!coordinates.is_empty()).then_some(Held { coordinates, off })
}

/// `delta = H^-1 s`, for `F''` as `whole`; the multiplier of a budget moves along.
fn newton_step(whole: &[Double], g: &Parts, d: usize, held: Held, tau: &mut Double) -> Vec<Double> {
    let Held { coordinates: free, off: mut s } = held;
    let m = free.len();
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
    let mut delta = vec![Double::ZERO; d];
    free.iter().zip(&s).for_each(|(&l, s)| delta[l] = *s);
    delta
}

/// Whether the duals of a term are inside of the domain of `phi_i*`, whatever is rounded off them.
fn is_inside(problem: Objective<'_>, i: usize, w: &[Double]) -> bool {
    let finite = |round: fn(f64) -> f64| {
        let rounded: Vec<f64> =
            w.iter().map(|w| if w.lo == 0.0 { w.hi } else { round(w.hi) }).collect();
        problem.merit.conjugate(i, &rounded).is_finite()
    };
    finite(f64::next_up) && finite(f64::next_down)
}

/// The proof for a quadratic form of one average, whose duals are moved along `C^-1 A`.
fn gap_of_form(
    ground: &Ground<'_>,
    g: &Parts,
    evidence: &Evidence<'_>,
    (times, form): (f64, &QuadraticForm),
    patience: &Patience<'_>,
) -> Option<(Bound, f64)> {
    let problem = ground.problem;
    let theta = evidence.point.theta;
    let (rows, form) = (Rows::new(problem.inner), Form::new(problem.inner, form));
    if !form.is_definite() {
        return None;
    }
    let (d, ell) = (theta.len(), rows.len());
    let exact: Vec<Double> = theta.iter().map(|x| Double::from(*x)).collect();
    let means = rows.means(&exact);
    let mut w = form.solve(&means);
    // C^-1 A, column by column, and A' C^-1 A.
    let column = |l: usize| (0..ell).map(|r| rows.row(r)[l]).collect::<Vec<Double>>();
    let solve = |l: usize| (!patience.ends()).then(|| form.solve(&column(l)));
    let solved: Vec<Vec<Double>> = (0..d).map(solve).collect::<Option<_>>()?;
    let mut whole = vec![Double::ZERO; d * d];
    for r in 0..d {
        let own = column(r);
        for c in 0..=r {
            whole[r * d + c] =
                own.iter().zip(&solved[c]).fold(Double::ZERO, |sum, (a, x)| sum + *a * *x);
        }
    }
    let slopes = |w: &[Double], tau: Double| -> Vec<Double> {
        rows.weighted(w)
            .iter()
            .zip(&g.parts)
            .map(|(u, part)| *u + Double::from(part.tilt) + tau)
            .collect()
    };
    let rounded: Vec<f64> = w.iter().map(|w| w.value()).collect();
    let u: Vec<f64> = rows.weighted(&w).iter().map(|u| u.value()).collect();
    let radius = |times: f64| ground.radius(evidence.point, &rounded, &u, times);
    let mut tau = Double::from(bracket::multiplier(g, &u, &radius(2.0)));
    let mut held = vec![false; d];
    for _ in 0..MOST_STEPS {
        if patience.ends() {
            return None;
        }
        let v = slopes(&w, tau);
        let Some(held) = hold(g, theta, &v, (&mut held, evidence.bearable())) else { break };
        let delta = newton_step(&whole, g, d, held, &mut tau);
        for (solved, delta) in solved.iter().zip(&delta) {
            w.iter_mut().zip(solved).for_each(|(w, x)| *w -= *x * *delta);
        }
    }
    let v = slopes(&w, tau);
    let radius = radius(times);
    if radius.contains(&0.0) {
        return None;
    }
    let (sizes, sums) = match problem.inner.projected_rows() {
        Some(given) => (precise::sizes_of_products(&given), precise::roundings(&given)),
        None => (ground.sizes().entries()?.to_vec(), problem.inner.n_y(0)),
    };
    let unit = PRECISE_UNIT * (sums + ell + 16) as f64;
    let (mut error, mut reach) = (vec![0.0; d], Vec::with_capacity(ell));
    for (row, w) in sizes.chunks_exact(d + 1).zip(&w) {
        error.iter_mut().zip(row).for_each(|(error, size)| *error += unit * size * w.hi.abs());
        reach.push(row[d] + row.iter().zip(theta).map(|(size, x)| size * x.abs()).sum::<f64>());
    }
    let proof = Proof { w: &w, v: &v, tau, radius: &radius, times };
    let first = form.mismatch(&means, &reach, &w, unit);
    let objective = with_regularizer(form.value(&means), g, &rows, theta);
    let bound = by_slopes(g, evidence.point, &proof, &error, (first, 8.0 * UNIT * objective.abs()));
    Some((bound, objective))
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
fn by_duals(
    ground: &Ground<'_>,
    g: &Parts,
    point: Point<'_>,
    f_bar: &[f64],
    proof: &Proof<'_>,
) -> Bound {
    let rounded: Vec<f64> = proof.w.iter().map(|w| w.value()).collect();
    // Sums of this many terms in double-double arithmetic.
    let sizes = ground.sizes();
    let omega = mean_square(&rounded, ground.n_x());
    let roundings = PRECISE_UNIT * (rounded.len() as f64 + 16.0);
    let error: Vec<f64> =
        sizes.columns.iter().map(|size| roundings * size * (omega + 1.0)).collect();
    let (first, size) = mismatch_within(ground.problem, f_bar, &rounded, &|_| 0.0);
    let lost = (8.0 * UNIT + UNIT * rounded.len() as f64) * size + lost_of_tilts(ground, g, point);
    by_slopes(g, point, proof, &error, (first, lost))
}

/// What tilts that are rounded means add to the objective; those of centred rows are known to all
/// digits.
fn lost_of_tilts(ground: &Ground<'_>, g: &Parts, point: Point<'_>) -> f64 {
    if ground.problem.inner.centred_rows().is_some() {
        return 0.0;
    }
    let products = g.parts.iter().zip(point.theta).map(|(part, x)| (part.tilt * x).abs());
    TILT_ROUNDING * products.sum::<f64>()
}

/// What slopes prove that are known up to an error, with what phi adds and what may be lost of it.
fn by_slopes(
    g: &Parts,
    point: Point<'_>,
    proof: &Proof<'_>,
    error: &[f64],
    (first, lost): (f64, f64),
) -> Bound {
    let Proof { v, tau, radius, times, .. } = proof;
    let theta = point.theta;
    // Slopes for bracket(), which adds the tilt and tau: so that their sum is v to the last of its
    // digits, both are taken off here.
    let free_of_tilt =
        Parts::separate(g.parts.iter().map(|part| Coordinate { tilt: 0.0, ..*part }).collect());
    // Beyond the edge of where g* is finite, by less than double precision can tell, theta may go
    // as far as it is let; certainly inside, anywhere.
    let (mut u, mut beyond, mut limited) = (vec![0.0; v.len()], 0.0, false);
    let mut radius = radius.to_vec();
    for (l, part) in g.parts.iter().enumerate() {
        let (least, most) = bracket::finite(part);
        u[l] = v[l].value();
        if least + error[l] < v[l].hi && v[l].hi < most - error[l] {
            radius[l] = f64::INFINITY;
            continue;
        }
        limited = true;
        let edge = if v[l].hi < least + error[l] { least } else { most };
        let excess =
            if edge.is_finite() { (v[l] - Double::from(edge)).value() } else { f64::INFINITY };
        let outside = if edge == least { -excess } else { excess };
        if edge.is_finite() && outside > -error[l] {
            u[l] = edge;
            beyond += (outside.max(0.0) + error[l]) * (radius[l] + theta[l].abs());
        }
    }
    let slopes = Slopes {
        u: &u,
        error,
        rounding: error,
        usual: 1.0,
        tau: 0.0,
        repaired: None,
        radius: Some(&radius),
    };
    let Bracket { exact, rounding, floor } = bracket::bracket(&free_of_tilt, theta, slopes);
    let mut lost = lost + UNIT * (theta.len() as f64 + 3.0) * point.g.abs();
    if g.budget {
        let off =
            (theta.iter().fold(Double::from(-1.0), |sum, x| sum + Double::from(*x))).value().abs();
        lost += tau.hi.abs() * off;
    }
    // Where no slope is at such an edge, theta may go anywhere.
    Bound::new(first + exact + beyond, rounding + lost, floor + lost, limited.then_some(*times))
}

/// Of double-double arithmetic, with a margin.
const PRECISE_UNIT: f64 = 1e-30;

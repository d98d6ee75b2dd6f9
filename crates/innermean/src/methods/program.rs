//! A quadratic program with g, of d variables: the step of Newton's method, and the whole of a
//! quadratic problem.
//!
//! ```text
//! min over x of  <v0, x - x0> + (1/2) (x - x0)' B (x - x0) + g(x)
//! ```
//!
//! g is a sum over coordinates, a line with a kink at 0 and a parabola between bounds, and there
//! may be a budget `sum_l x_l = 1` of all coordinates or of the first. Steps along single
//! coordinates, or pairs of them within a budget (`program/pairs.rs`), find out which rest at a
//! bound or at the kink; a Newton step on the others, which is exact, is cut off there where they
//! would pass one, as a whole or a part of it, or ends where the first of them would. Both only ever
//! descend, and the second ends the search. Where there are other linear constraints or norms, an
//! interior-point method takes its place (`linalg/interior.rs`).

use crate::linalg::cholesky::Cholesky;
use crate::linalg::gram;
use crate::linalg::interior::Curvature;
use crate::linalg::scalar::clamp;
use crate::linalg::vector::{axpy, dot, update};
use crate::methods::working_set::rests;
use crate::model::regularizer::{Constraints, Coordinate, Parts, polyhedral};

mod pairs;

/// Rounds of both kinds of steps; a handful is usual.
const MOST_ROUNDS: usize = 200;
/// Sweeps of a round over single coordinates.
const SWEEPS: usize = 4;
/// Coordinates for each sweep that may be added: so many cost about as much as a factor.
const COORDINATES_PER_SWEEP: usize = 8;
/// Projections of a point that misses a constraint by more than rounding; one is usual.
const MOST_PROJECTIONS: usize = 4;
/// Of the size of theta: a change that counts.
const MOVED: f64 = 1e-13;
/// A sum that is off the budget by more is not there by rounding.
const OFF_BUDGET: f64 = 1e-12;

/// The program with its current point.
struct Program<'a> {
    matrix: &'a [f64],
    g: &'a Parts,
    d: usize,
    x: &'a mut [f64],
    /// `v0 + B (x - x0)`
    v: Vec<f64>,
}

/// Moves x, which comes in as `x0`, to the minimiser; false if the search did not end. `step(alpha,
/// v, x)` is the prox step `prox_{alpha g}(x - alpha v)`, asked for where there is a budget.
pub(crate) fn solve(
    matrix: &[f64],
    gradient: &[f64],
    g: &Parts,
    step: impl Fn(f64, &[f64], &mut [f64]),
    x: &mut [f64],
) -> bool {
    let d = x.len();
    if let Some(constraints) = &g.constraints {
        return within(matrix, gradient, &g.parts, constraints, x);
    }
    let mut program = Program { matrix, g, d, x, v: gradient.to_vec() };
    if g.budget {
        program.enter(&step);
    }
    let mut settled = false;
    for _ in 0..MOST_ROUNDS {
        let before = program.faces();
        let swept = program.sweeps();
        let moved = g.budget && program.pair_steps() || swept;
        if settled && (!moved || program.faces() == before) {
            return true;
        }
        settled = program.newton_steps(&step);
    }
    false
}

/// The same with constraints on x as a whole, as a program of `p = x - x0`: where B is large, as
/// around duals, `B x0` would hide the slopes.
fn within(
    matrix: &[f64],
    gradient: &[f64],
    parts: &[Coordinate],
    constraints: &Constraints,
    x: &mut [f64],
) -> bool {
    let d = x.len();
    let mut bent = matrix.to_vec();
    bent.iter_mut().step_by(d + 1).zip(parts).for_each(|(entry, part)| *entry += part.l2);
    let slopes = gradient.iter().zip(parts).zip(&*x).map(|((v, part), x)| v + part.l2 * x);
    let slopes: Vec<f64> = slopes.collect();
    let curvature = Curvature::Dense(&bent);
    let program = polyhedral::program(parts, constraints, curvature, &slopes).around(x);
    let answer = program.solve(&vec![0.0; d]);
    if !answer.converged {
        return false;
    }
    let mut next = x.to_vec();
    for (l, (next, p)) in next.iter_mut().zip(&answer.x).enumerate() {
        *next = match *p {
            p if p <= program.lo[l] => parts[l].lo,
            p if p >= program.hi[l] => parts[l].hi,
            p => clamp(*next + p, parts[l].lo, parts[l].hi),
        };
    }
    // Exactly there: bounds and kinks are met by comparison, and `x0 + p` is rounded.
    let ends = at_ends(&next, parts, constraints);
    if constraints.value(&ends).is_finite() {
        next = ends;
    }
    // Where B is nearly singular, rounding may end the steps before all constraints are met.
    for _ in 0..MOST_PROJECTIONS {
        if constraints.value(&next).is_finite() {
            x.copy_from_slice(&next);
            return true;
        }
        polyhedral::project(parts, constraints, &mut next);
    }
    false
}

/// x with every coordinate that is next to a bound or a kink there.
fn at_ends(x: &[f64], parts: &[Coordinate], constraints: &Constraints) -> Vec<f64> {
    let size = x.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let mut out = x.to_vec();
    let mut snap = |l: usize, end: f64| {
        if (out[l] - end).abs() <= 4.0 * f64::EPSILON * size {
            out[l] = clamp(end, parts[l].lo, parts[l].hi);
        }
    };
    for (l, part) in parts.iter().enumerate() {
        let kink = if part.l1 > 0.0 { 0.0 } else { part.lo };
        for end in [part.lo, part.hi, kink] {
            snap(l, end);
        }
    }
    for norm in &constraints.norms {
        for (l, (center, weight)) in norm.center.iter().zip(&norm.weights).enumerate() {
            if *weight > 0.0 {
                snap(l, *center);
            }
        }
    }
    out
}

impl Program<'_> {
    fn row(&self, l: usize) -> &[f64] {
        &self.matrix[l * self.d..(l + 1) * self.d]
    }

    /// `x_l += change`, and v with it.
    fn change(&mut self, l: usize, change: f64) {
        self.x[l] += change;
        axpy(change, &self.matrix[l * self.d..(l + 1) * self.d], &mut self.v);
    }

    /// Moves x to where g is finite, if it is not there.
    fn enter(&mut self, step: &impl Fn(f64, &[f64], &mut [f64])) {
        let sum: f64 = self.x[..self.g.budgeted()].iter().sum();
        let is_within = |(part, x): (&Coordinate, &f64)| (part.lo..=part.hi).contains(x);
        if (sum - 1.0).abs() <= OFF_BUDGET && self.g.parts.iter().zip(&*self.x).all(is_within) {
            return;
        }
        let mut next = self.x.to_vec();
        step(f64::MIN_POSITIVE, &vec![0.0; self.d], &mut next);
        for (l, next) in next.into_iter().enumerate() {
            self.change(l, next - self.x[l]);
            self.x[l] = next;
        }
    }

    /// Which coordinates rest: -1 at the lower bound, 1 at the upper one, 0 at the kink; None for
    /// those that are free.
    fn faces(&self) -> Vec<Option<i8>> {
        let face = |(part, x): (&Coordinate, &f64)| match *x {
            x if x <= part.lo => Some(-1),
            x if x >= part.hi => Some(1),
            0.0 if part.l1 > 0.0 => Some(0),
            _ => None,
        };
        self.g.parts.iter().zip(&*self.x).map(face).collect()
    }

    /// Sweeps over the coordinates that are not part of a budget, each to the minimum along it: `x_l
    /// <- prox_{g_l / B_ll}(x_l - v_l / B_ll)`; more than a round's while coordinates come to rest or
    /// leave, as long as that costs less than the factor of a Newton step that would be made for
    /// others. Whether anything moved.
    fn sweeps(&mut self) -> bool {
        let (mut moved, mut quiet) = (false, 0);
        for _ in 0..SWEEPS.max(self.d / COORDINATES_PER_SWEEP) {
            let (mut largest, mut turns) = (0.0_f64, false);
            for l in self.g.budgeted()..self.d {
                let (part, bend, x) = (&self.g.parts[l], self.row(l)[l], self.x[l]);
                let next = if bend > 0.0 { part.step(1.0 / bend, self.v[l], x) } else { x };
                if next != x {
                    turns |= rests(part, x) != rests(part, next);
                    // Exactly there: a bound is met by comparison.
                    self.change(l, next - x);
                    self.x[l] = next;
                    largest = largest.max((next - x).abs() / (1.0 + x.abs()));
                }
            }
            moved |= largest > MOVED;
            quiet = if turns { 0 } else { quiet + 1 };
            if largest <= MOVED || quiet >= SWEEPS {
                break;
            }
        }
        moved
    }

    /// Newton steps on the coordinates that are free, until one reaches the minimum on its face;
    /// false if none does.
    fn newton_steps(&mut self, step: &impl Fn(f64, &[f64], &mut [f64])) -> bool {
        for _ in 0..=self.d {
            let faces = self.faces();
            let mut free: Vec<usize> = (0..self.d).filter(|&l| faces[l].is_none()).collect();
            let budgeted = self.g.budgeted();
            if free.partition_point(|&l| l < budgeted) == 1 {
                // The others of the budget determine it.
                free.remove(0);
            }
            if free.is_empty() {
                return true;
            }
            let Some((direction, gain)) = self.newton_direction(&free) else { return false };
            let (tau, first) = self.first_end(&free, &direction);
            if let Some((l, at)) = first {
                // What the part of the step up to the first end gains.
                let least = (tau - 0.5 * tau * tau) * gain;
                let parts = std::iter::successors(Some(1.0), |part| Some(0.5 * part));
                let mut longer = parts.take_while(|part| *part > tau);
                if longer.any(|part| self.cut_off(&free, &direction, part, least, step)) {
                    continue;
                }
                for (k, &l) in free.iter().enumerate() {
                    self.change(l, tau * direction[k]);
                }
                let rest = at - self.x[l];
                self.change(l, rest);
                self.x[l] = at;
            } else {
                for (k, &l) in free.iter().enumerate() {
                    self.change(l, direction[k]);
                }
                return true;
            }
        }
        false
    }

    /// How far along the direction it is to the first bound or kink, at most 1, and which
    /// coordinate meets it where.
    fn first_end(&self, free: &[usize], direction: &[f64]) -> (f64, Option<(usize, f64)>) {
        let (mut tau, mut first) = (1.0, None);
        for (&l, p) in free.iter().zip(direction) {
            let (x, part) = (self.x[l], &self.g.parts[l]);
            let toward = |end: f64| if (end - x) * p > 0.0 { (end - x) / p } else { f64::INFINITY };
            let kink = if part.l1 > 0.0 { toward(0.0) } else { f64::INFINITY };
            let (end, at) = [(toward(part.lo), part.lo), (toward(part.hi), part.hi), (kink, 0.0)]
                .into_iter()
                .fold(
                    (f64::INFINITY, 0.0),
                    |least, other| if other.0 < least.0 { other } else { least },
                );
            if end < tau {
                (tau, first) = (end, Some((l, at)));
            }
        }
        (tau, first)
    }

    /// Makes a part of the step with every coordinate cut off where it would pass a bound or the
    /// kink, if that gains as much as the part of it that needs no cutting: many ends are met at
    /// once.
    fn cut_off(
        &mut self,
        free: &[usize],
        direction: &[f64],
        part: f64,
        least: f64,
        step: &impl Fn(f64, &[f64], &mut [f64]),
    ) -> bool {
        let mut next = self.x.to_vec();
        for (&l, p) in free.iter().zip(direction) {
            let (x, p, part) = (self.x[l], part * p, &self.g.parts[l]);
            let moved = if part.l1 > 0.0 && (x + p) * x < 0.0 { 0.0 } else { x + p };
            next[l] = if self.g.budget { moved } else { clamp(moved, part.lo, part.hi) };
        }
        if self.g.budget {
            // Projected.
            step(f64::MIN_POSITIVE, &vec![0.0; self.d], &mut next);
        }
        let mut product = vec![0.0; self.d];
        let (mut gain, mut change) = (0.0, next.clone());
        for (l, change) in change.iter_mut().enumerate() {
            let (x, part) = (self.x[l], &self.g.parts[l]);
            *change -= x;
            if *change != 0.0 {
                axpy(*change, self.row(l), &mut product);
                gain += part.value(x) - part.value(next[l]);
            }
        }
        gain -= dot(&self.v, &change) + 0.5 * dot(&change, &product);
        // Not where it is no number.
        let helps = gain >= least && gain > 0.0;
        if helps {
            self.x.copy_from_slice(&next);
            axpy(1.0, &product, &mut self.v);
        }
        helps
    }

    /// `p = -(B + l2)^-1 (v + g')` on the free coordinates, within the budget where there is one,
    /// and `-<p, v + g'>`, twice what it gains. None where B is not positive definite there.
    fn newton_direction(&self, free: &[usize]) -> Option<(Vec<f64>, f64)> {
        let m = free.len();
        let mut matrix = Vec::with_capacity(m * m);
        for (k, &l) in free.iter().enumerate() {
            let row = self.row(l);
            matrix.extend(free.iter().map(|&c| row[c]));
            matrix[k * m + k] += self.g.parts[l].l2;
        }
        let inside = free.partition_point(|&l| l < self.g.budgeted());
        if inside > 0 {
            // Within the budget `c (sum_l p_l)^2 / 2` adds nothing, and B may be singular along it.
            let c = gram::size_across(m, &matrix);
            let rows = matrix.chunks_exact_mut(m).take(inside);
            rows.for_each(|row| update(&mut row[..inside], |entry| entry + c));
        }
        let factor = Cholesky::new(&matrix, m).ok()?;
        let slope = |l: usize| {
            let (x, part) = (self.x[l], &self.g.parts[l]);
            let kink = if part.l1 > 0.0 { part.l1 * x.signum() } else { 0.0 };
            -(self.v[l] + part.tilt + kink + part.l2 * x)
        };
        let slopes: Vec<f64> = free.iter().map(|&l| slope(l)).collect();
        let mut direction = slopes.clone();
        factor.solve(&mut direction);
        if inside > 0 {
            let mut ones = vec![0.0; m];
            ones[..inside].fill(1.0);
            factor.solve(&mut ones);
            let sum = |x: &[f64]| x[..inside].iter().sum::<f64>();
            let multiplier = sum(&direction) / sum(&ones);
            axpy(-multiplier, &ones, &mut direction);
            let left = sum(&direction) / inside as f64;
            update(&mut direction[..inside], |p| p - left);
        }
        let gain = dot(&direction, &slopes);
        Some((direction, gain))
    }
}

//! The steps of the interior-point method, measured by the scales of the program.

use super::system::{Direction, System};
use super::{Answer, Band, Kink, Program, face};
use crate::linalg::vector::{axpy, dot};

/// Steps, at most; twenty are usual.
const MOST_STEPS: usize = 120;
/// How small the complementarity and the residuals are to become, where the terms of the objective
/// and x have size 1.
const ACCURACY: f64 = 1e-13;
/// The accuracy at which an answer is one, where rounding stops the steps before.
const ACCEPTABLE: f64 = 1e-8;
/// The part of the way to the boundary that a step takes.
const PART_TO_BOUNDARY: f64 = 0.995;
/// Of the predictor's length, a corrected step that is shorter than it should be.
const SHORT_OF_PREDICTOR: f64 = 0.5;
/// Steps without progress after which the next ones are careful.
const STEPS_WITHOUT_PROGRESS: i32 = 3;
/// How many times as large as all else bounds may be and still count for the size of x.
const WIDE_BOUND: f64 = 1e4;

/// An inequality `c(x, t) >= 0`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Side {
    /// `x_l - lo_l`
    Lower(usize),
    /// `hi_l - x_l`
    Upper(usize),
    /// `<a_k, x> - lo_k`
    RowLower(usize),
    /// `hi_k - <a_k, x>`
    RowUpper(usize),
    /// `t_k - (x_l - center)`
    Above(usize),
    /// `t_k + (x_l - center)`
    Below(usize),
    /// `limit_j - sum weight t`
    Limit(usize),
}

/// Where the steps are.
#[derive(Clone)]
pub(super) struct Point {
    pub(super) x: Vec<f64>,
    pub(super) t: Vec<f64>,
    /// Multipliers of the equations.
    pub(super) y: Vec<f64>,
    pub(super) slack: Vec<f64>,
    pub(super) dual: Vec<f64>,
}

/// A program with the scales that its steps are measured by.
pub(super) struct Scaled<'a> {
    pub(super) program: &'a Program<'a>,
    pub(super) sides: Vec<Side>,
    /// The rows that are equations.
    pub(super) equations: Vec<usize>,
    /// The length of each row.
    pub(super) lengths: Vec<f64>,
    /// The size of x.
    pub(super) size: f64,
    /// The size of the objective's slopes.
    pub(super) steepness: f64,
}

impl<'a> Scaled<'a> {
    pub(super) fn new(program: &'a Program<'a>) -> Self {
        let mut sides = Vec::new();
        for l in 0..program.linear.len() {
            sides.extend(program.lo[l].is_finite().then_some(Side::Lower(l)));
            sides.extend(program.hi[l].is_finite().then_some(Side::Upper(l)));
        }
        let mut equations = Vec::new();
        for (k, row) in program.rows.iter().enumerate() {
            if row.lo == row.hi {
                equations.push(k);
                continue;
            }
            sides.extend(row.lo.is_finite().then_some(Side::RowLower(k)));
            sides.extend(row.hi.is_finite().then_some(Side::RowUpper(k)));
        }
        for k in 0..program.kinks.len() {
            sides.extend([Side::Above(k), Side::Below(k)]);
        }
        sides.extend((0..program.limits.len()).map(Side::Limit));
        let length = |row: &Band<'_>| dot(row.coefficients, row.coefficients).sqrt();
        let lengths = program.rows.iter().map(length).map(|x| if x > 0.0 { x } else { 1.0 });
        Scaled { lengths: lengths.collect(), program, sides, equations, size: 1.0, steepness: 1.0 }
    }

    pub(super) fn solve(mut self, start: &[f64]) -> Answer {
        self.measure(start);
        let mut point = self.first(start);
        let (mut best, mut least, mut idle) = (None, f64::INFINITY, 0);
        let (mut is_careful, mut before) = (false, f64::INFINITY);
        for _ in 0..MOST_STEPS {
            let off = self.distance(&point);
            // Beyond what double precision can tell, steps lead away again. Careful ones may come
            // back from far.
            let gains = off < 0.7 * least || is_careful && off < 0.7 * before;
            idle = if gains { 0 } else { idle + 1 };
            before = off;
            if off < least {
                (best, least) = (Some(point.clone()), off);
            }
            let patience = if least <= ACCEPTABLE { 8 } else { 15 };
            if least <= ACCURACY || idle > patience || off.is_nan() {
                break;
            }
            let Some(system) = System::new(&self, &point) else { break };
            is_careful = idle >= STEPS_WITHOUT_PROGRESS && least > ACCEPTABLE;
            self.advance(&system, &mut point, is_careful);
        }
        let point = best.unwrap_or(point);
        let converged = least <= ACCEPTABLE;
        let x = if converged { face::polished(&self, &point) } else { None };
        self.answer(&point, x, converged)
    }

    /// The scales at a first point.
    fn measure(&mut self, start: &[f64]) {
        let program = self.program;
        let largest = |x: &mut dyn Iterator<Item = f64>| {
            x.map(f64::abs).filter(|x| x.is_finite()).fold(0.0, f64::max)
        };
        let of_rows = |(row, length): (&Band<'_>, &f64)| {
            [row.lo, row.hi].map(|end| if end.is_finite() { end.abs() / length } else { 0.0 })
        };
        let asked = largest(&mut program.rows.iter().zip(&self.lengths).flat_map(of_rows));
        let alone: Vec<Option<f64>> = (0..start.len()).map(|l| self.alone(l)).collect();
        let bounds = program.lo.iter().zip(&program.hi).zip(&alone);
        let held = bounds.filter(|(_, alone)| alone.is_none());
        let ends = largest(&mut held.map(|((lo, hi), _)| lo.abs().min(hi.abs())));
        let mut kinks = program.kinks.iter().map(|kink| kink.center);
        let size = largest(&mut start.iter().copied()).max(asked);
        let size =
            size.max(largest(&mut kinks)).max(largest(&mut self.least_reaches().into_iter()));
        let size = size.max(largest(&mut alone.into_iter().flatten()));
        // Bounds far out, or where a parabola has its minimum anyway, tell nothing about where it is,
        // and would hide its digits.
        let size = if size > 0.0 { size.max(ends.min(WIDE_BOUND * size)) } else { ends };
        self.size = if size > 0.0 { size } else { 1.0 };
        let bends = (0..start.len()).map(|l| program.bend(l) * self.size);
        let costs = program.kinks.iter().map(|kink| kink.cost);
        let steepness = largest(&mut program.linear.iter().copied().chain(bends).chain(costs));
        self.steepness = if steepness > 0.0 { steepness } else { 1.0 };
    }

    /// Where the minimum along a coordinate lies that nothing but bounds and kinks holds.
    fn alone(&self, l: usize) -> Option<f64> {
        let program = self.program;
        let held = program.rows.iter().any(|row| row.coefficients[l] != 0.0)
            || program.kinks.iter().any(|kink| kink.coordinate == l && kink.group.is_some());
        let bend = program.bend(l);
        if held || bend <= 0.0 {
            return None;
        }
        Some((-program.linear[l] / bend).clamp(program.lo[l], program.hi[l]))
    }

    /// For every group, how far the limit lets the coordinate go that it holds most.
    fn least_reaches(&self) -> Vec<f64> {
        let mut weights = vec![0.0_f64; self.program.limits.len()];
        for (group, weight) in self.program.kinks.iter().filter_map(|kink| kink.group) {
            weights[group] = weights[group].max(weight);
        }
        self.program.limits.iter().zip(weights).map(|(limit, weight)| limit / weight).collect()
    }

    /// Inside the bounds, with slacks and multipliers of ordinary size.
    fn first(&self, start: &[f64]) -> Point {
        let program = self.program;
        let inside = |(l, x): (usize, &f64)| {
            let (lo, hi) = (program.lo[l], program.hi[l]);
            let margin = if lo.is_finite() && hi.is_finite() {
                0.1 * (hi - lo).min(self.size)
            } else {
                0.1 * self.size
            };
            x.max(lo + margin).min(hi - margin)
        };
        let x: Vec<f64> = start.iter().enumerate().map(inside).collect();
        let off = |kink: &Kink| (x[kink.coordinate] - kink.center).abs() + 0.1 * self.size;
        let t = program.kinks.iter().map(off).collect();
        let mut point = Point {
            x,
            t,
            y: vec![0.0; self.equations.len()],
            slack: Vec::new(),
            dual: vec![self.steepness; self.sides.len()],
        };
        let slack = |side: &Side| self.value(*side, &point.x, &point.t).max(0.1 * self.size);
        point.slack = self.sides.iter().map(slack).collect();
        point
    }

    /// `c(x, t)`
    pub(super) fn value(&self, side: Side, x: &[f64], t: &[f64]) -> f64 {
        let program = self.program;
        match side {
            Side::Lower(l) => x[l] - program.lo[l],
            Side::Upper(l) => program.hi[l] - x[l],
            Side::RowLower(k) => {
                let row = &program.rows[k];
                (dot(row.coefficients, x) - row.lo) / self.lengths[k]
            }
            Side::RowUpper(k) => {
                let row = &program.rows[k];
                (row.hi - dot(row.coefficients, x)) / self.lengths[k]
            }
            Side::Above(k) => t[k] - (x[program.kinks[k].coordinate] - program.kinks[k].center),
            Side::Below(k) => t[k] + (x[program.kinks[k].coordinate] - program.kinks[k].center),
            Side::Limit(j) => program.limits[j] - program.spent(j, t),
        }
    }

    /// `<c', (dx, dt)>`
    pub(super) fn slope(&self, side: Side, x: &[f64], t: &[f64]) -> f64 {
        let program = self.program;
        match side {
            Side::Lower(l) => x[l],
            Side::Upper(l) => -x[l],
            Side::RowLower(k) => dot(program.rows[k].coefficients, x) / self.lengths[k],
            Side::RowUpper(k) => -dot(program.rows[k].coefficients, x) / self.lengths[k],
            Side::Above(k) => t[k] - x[program.kinks[k].coordinate],
            Side::Below(k) => t[k] + x[program.kinks[k].coordinate],
            Side::Limit(j) => -program.spent(j, t),
        }
    }

    /// `(x, t) += c c_i'`
    pub(super) fn add_gradient(&self, side: Side, c: f64, x: &mut [f64], t: &mut [f64]) {
        let program = self.program;
        match side {
            Side::Lower(l) => x[l] += c,
            Side::Upper(l) => x[l] -= c,
            Side::RowLower(k) => axpy(c / self.lengths[k], program.rows[k].coefficients, x),
            Side::RowUpper(k) => axpy(-c / self.lengths[k], program.rows[k].coefficients, x),
            Side::Above(k) => {
                t[k] += c;
                x[program.kinks[k].coordinate] -= c;
            }
            Side::Below(k) => {
                t[k] += c;
                x[program.kinks[k].coordinate] += c;
            }
            Side::Limit(j) => {
                for (kink, t) in program.kinks.iter().zip(t) {
                    if let Some((_, weight)) = kink.group.filter(|group| group.0 == j) {
                        *t -= c * weight;
                    }
                }
            }
        }
    }

    /// The gradient of the Lagrangian in x and t.
    pub(super) fn lagrangian(&self, point: &Point) -> (Vec<f64>, Vec<f64>) {
        let program = self.program;
        let mut x = program.times(&point.x);
        axpy(1.0, &program.linear, &mut x);
        let mut t: Vec<f64> = program.kinks.iter().map(|kink| kink.cost).collect();
        for (&k, y) in self.equations.iter().zip(&point.y) {
            axpy(-y / self.lengths[k], program.rows[k].coefficients, &mut x);
        }
        for (side, z) in self.sides.iter().zip(&point.dual) {
            self.add_gradient(*side, -z, &mut x, &mut t);
        }
        (x, t)
    }

    /// `E x - e`, each row of length 1.
    pub(super) fn equation_residuals(&self, x: &[f64]) -> Vec<f64> {
        let residual = |&k: &usize| {
            let row = &self.program.rows[k];
            (dot(row.coefficients, x) - row.lo) / self.lengths[k]
        };
        self.equations.iter().map(residual).collect()
    }

    /// `c_i - s_i`
    pub(super) fn slack_residuals(&self, point: &Point) -> Vec<f64> {
        let residual = |(side, s): (&Side, &f64)| self.value(*side, &point.x, &point.t) - s;
        self.sides.iter().zip(&point.slack).map(residual).collect()
    }

    /// How far the point is from optimal, where x and the slopes have size 1.
    fn distance(&self, point: &Point) -> f64 {
        let worst = |x: &[f64]| {
            // Not f64::max, which would drop a NaN.
            x.iter()
                .fold(0.0, |most: f64, x| if x.abs() > most || x.is_nan() { x.abs() } else { most })
        };
        let (of_x, of_t) = self.lagrangian(point);
        let most_dual = worst(&point.dual).max(self.steepness);
        let dual = worst(&of_x).max(worst(&of_t)) / most_dual;
        let primal =
            worst(&self.equation_residuals(&point.x)).max(worst(&self.slack_residuals(point)));
        let together = dot(&point.slack, &point.dual) / self.sides.len().max(1) as f64;
        let reach = worst(&point.x).max(self.size);
        let off = dual.max(primal / reach) + together / (self.steepness * reach);
        if of_x.iter().chain(&of_t).any(|x| x.is_nan()) { f64::NAN } else { off }
    }

    /// A predictor, and the corrected step. Corrections may lead from one bound to another and
    /// back for ever; a careful step has none, and goes halfway toward the central path.
    fn advance(&self, system: &System<'_, '_>, point: &mut Point, is_careful: bool) {
        let products: Vec<f64> = point.slack.iter().zip(&point.dual).map(|(s, z)| -s * z).collect();
        let n = products.len().max(1) as f64;
        let mu = -products.iter().sum::<f64>() / n;
        let predictor = system.direction(self, point, &products);
        let predicted = step_length(point, &predictor, 1.0);
        let after: f64 = (0..products.len())
            .map(|i| {
                (point.slack[i] + predicted * predictor.slack[i])
                    * (point.dual[i] + predicted * predictor.dual[i])
            })
            .sum();
        let sigma = if mu > 0.0 { (after / n / mu).clamp(0.0, 1.0).powi(3) } else { 0.0 };
        let correct = |i: usize| {
            if is_careful {
                products[i] + 0.5 * mu
            } else {
                products[i] + sigma * mu - predictor.slack[i] * predictor.dual[i]
            }
        };
        let corrected: Vec<f64> = (0..products.len()).map(correct).collect();
        let mut step = system.direction(self, point, &corrected);
        let mut length = step_length(point, &step, PART_TO_BOUNDARY);
        if length < SHORT_OF_PREDICTOR * predicted && !is_careful {
            // The correction is one for a whole step, and may lead anywhere but ahead.
            let plain: Vec<f64> = products.iter().map(|product| product + sigma * mu).collect();
            let other = system.direction(self, point, &plain);
            let reach = step_length(point, &other, PART_TO_BOUNDARY);
            if reach > length {
                (step, length) = (other, reach);
            }
        }
        axpy(length, &step.x, &mut point.x);
        axpy(length, &step.t, &mut point.t);
        axpy(length, &step.y, &mut point.y);
        axpy(length, &step.slack, &mut point.slack);
        axpy(length, &step.dual, &mut point.dual);
    }

    /// The multipliers as a user of the program has them.
    fn answer(&self, point: &Point, x: Option<Vec<f64>>, converged: bool) -> Answer {
        let program = self.program;
        let mut rows = vec![0.0; program.rows.len()];
        let mut kinks = vec![0.0; program.kinks.len()];
        for (&k, y) in self.equations.iter().zip(&point.y) {
            rows[k] = -y / self.lengths[k];
        }
        for (side, z) in self.sides.iter().zip(&point.dual) {
            match *side {
                Side::RowLower(k) => rows[k] -= z / self.lengths[k],
                Side::RowUpper(k) => rows[k] += z / self.lengths[k],
                Side::Above(k) => kinks[k] += z,
                Side::Below(k) => kinks[k] -= z,
                Side::Lower(_) | Side::Upper(_) | Side::Limit(_) => {}
            }
        }
        let x = x.unwrap_or_else(|| {
            let ends = program.lo.iter().zip(&program.hi);
            point.x.iter().zip(ends).map(|(x, (lo, hi))| x.max(*lo).min(*hi)).collect()
        });
        Answer { x, rows, kinks, converged }
    }
}

/// How much of a step keeps slacks and multipliers above 0.
fn step_length(point: &Point, step: &Direction, boldness: f64) -> f64 {
    let ratio = |(x, dx): (&f64, &f64)| if *dx < 0.0 { -boldness * x / dx } else { f64::INFINITY };
    let slacks = point.slack.iter().zip(&step.slack).map(ratio);
    let duals = point.dual.iter().zip(&step.dual).map(ratio);
    slacks.chain(duals).fold(1.0, f64::min)
}

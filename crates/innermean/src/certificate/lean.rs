//! Constraints on theta as a whole, charged for instead of met.
//!
//! With rows `lo <= A z <= hi` and norms `N_j`, any multipliers y and `s_j` make a function below
//! g: for every z that meets the constraints,
//!
//! ```text
//! g(z) >= h(z) + <t, z> - support(y, s),   t = A' y + sum_j s_j
//! ```
//!
//! where h is what is left of g, a sum over coordinates. So every bound of the problem with `h +
//! <t, .>` in the place of g is one of ours, but for what the multipliers charge at theta,
//!
//! ```text
//! support(y, s) - <t, theta> + sum_j price_j N_j(theta) >= 0.
//! ```
//!
//! Nothing is asked of the multipliers. Good ones make the slopes of h zero where it has but one:
//! they are found by least squares over the constraints that are active at theta, or as those of
//! the linear program `min over z of <u, z> + g(z)`.

use super::bracket;
use super::sizes::UNIT;
use crate::linalg::cholesky::Cholesky;
use crate::linalg::interior::Curvature;
use crate::linalg::scalar::clamp;
use crate::linalg::vector::dot;
use crate::model::regularizer::polyhedral;
use crate::model::regularizer::{Constraints, Coordinate, Multipliers, Parts};
use std::sync::Arc;

/// How far from its end a constraint counts as active, relative to its terms.
const ACTIVE: f64 = 1e-7;
/// Multipliers by least squares are good enough if they charge no more than this part of what the
/// slopes do to the answer.
const GOOD: f64 = 1e-12;
/// What those of a start that is no answer charge at least, in the same terms.
const FAR: f64 = 1e-4;
/// A ridge for constraints that depend on each other, of the diagonal.
const RIDGE: f64 = 1e-13;

/// The function below g, and how far it is known.
#[derive(Debug)]
pub(crate) struct Lean {
    constraints: Arc<Constraints>,
    /// h, with the bounds that the constraints imply.
    plain: Vec<Coordinate>,
    /// `h + <t, .>`
    leaning: Parts,
    /// What each `t_l` is known up to.
    pub(crate) error: Vec<f64>,
    /// Whether a point has been looked at: the first is where a run begins.
    has_begun: bool,
}

impl Lean {
    /// None if there are no such constraints. At first nothing is charged.
    pub(crate) fn new(g: &Parts) -> Option<Self> {
        let constraints = g.constraints.clone()?;
        let plain = implied_bounds(g.parts.clone(), &constraints);
        let (leaning, error) = (Parts::separate(plain.clone()), vec![0.0; plain.len()]);
        Some(Lean { constraints, plain, leaning, error, has_begun: false })
    }

    /// `h + <t, .>`
    pub(crate) fn parts(&self) -> &Parts {
        &self.leaning
    }

    /// Takes multipliers for a point and the slopes of F there; what they charge, below 0 where the
    /// point misses a constraint by rounding, and what of that may be rounding.
    pub(crate) fn toward(&mut self, theta: &[f64], u: &[f64]) -> (f64, f64) {
        let size: f64 = theta
            .iter()
            .zip(u)
            .zip(&self.plain)
            .map(|((x, u), part)| (x * (u + part.tilt)).abs())
            .sum();
        let mut best = self.by_least_squares(theta, u);
        let least = self.cost(&best, theta, u);
        // A program is dear, and proves nothing of a start that is far from optimal.
        let is_start = !std::mem::replace(&mut self.has_begun, true);
        let enough = if is_start && least > FAR * size { f64::INFINITY } else { GOOD * size };
        // Nor where it is no number.
        if least.is_nan() || least > enough {
            let other = self.by_program(theta, u);
            if self.cost(&other, theta, u) < least || least.is_nan() {
                best = other;
            }
        }
        self.take(&best, theta)
    }

    /// What the multipliers charge and the slopes of h add, where h has bounds.
    fn cost(&self, multipliers: &Multipliers, theta: &[f64], u: &[f64]) -> f64 {
        let (tilt, _) = self.constraints.tilt(multipliers, theta.len());
        let of_slope = |(l, part): (usize, &Coordinate)| {
            let v = u[l] + part.tilt + tilt[l];
            let cost = bracket::cost(part, theta[l], v);
            // Along a coordinate without an end only the slope itself can be compared.
            if cost.is_finite() { cost } else { v.abs() * (1.0 + theta[l].abs()) }
        };
        let slopes: f64 = self.plain.iter().enumerate().map(of_slope).sum();
        self.charged(multipliers, theta).0 + slopes
    }

    /// `support - <t, theta> + sum_j price_j N_j(theta)` and the size of its terms.
    fn charged(&self, multipliers: &Multipliers, theta: &[f64]) -> (f64, f64) {
        let (support, of_support) = self.constraints.support(multipliers);
        let (tilt, of_tilt) = self.constraints.tilt(multipliers, theta.len());
        let prices: f64 =
            self.constraints.norms.iter().map(|norm| norm.price * norm.at(theta)).sum();
        let size: f64 = of_tilt.iter().zip(theta).map(|(t, x)| (t * x).abs()).sum();
        let charged = support - dot(&tilt, theta) + prices;
        (charged, of_support + size + prices)
    }

    fn take(&mut self, multipliers: &Multipliers, theta: &[f64]) -> (f64, f64) {
        let (tilt, size) = self.constraints.tilt(multipliers, theta.len());
        let terms = (self.constraints.rows.len() + self.constraints.norms.len() + 4) as f64;
        self.error = size.iter().map(|size| terms * UNIT * size).collect();
        self.leaning.parts.clone_from(&self.plain);
        for (part, t) in self.leaning.parts.iter_mut().zip(&tilt) {
            part.tilt += t;
        }
        let (charged, size) = self.charged(multipliers, theta);
        let rounding = (theta.len() as f64 + terms) * UNIT * size;
        (charged, rounding)
    }

    /// Those of `min over z of <u, z> + g(z)`.
    fn by_program(&self, theta: &[f64], u: &[f64]) -> Multipliers {
        let bends: Vec<f64> = self.plain.iter().map(|part| part.l2).collect();
        let program =
            polyhedral::program(&self.plain, &self.constraints, Curvature::Diagonal(&bends), u);
        polyhedral::multipliers(&self.plain, &self.constraints, &program.solve(theta))
    }

    /// Those that make the slopes least where h and the norms have one subgradient alone.
    fn by_least_squares(&self, theta: &[f64], u: &[f64]) -> Multipliers {
        let d = theta.len();
        let Constraints { rows, norms } = &*self.constraints;
        let largest = theta.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let near = |x: f64, end: f64| (x - end).abs() <= 1e-3 * ACTIVE * largest.max(end.abs());
        let at_center = |l: usize| {
            norms.iter().any(|norm| norm.weights[l] > 0.0 && near(theta[l], norm.center[l]))
        };
        let moves = |l: usize| {
            let (part, x) = (&self.plain[l], theta[l]);
            let rests = near(x, part.lo) || near(x, part.hi) || part.l1 > 0.0 && x == 0.0;
            !rests && !at_center(l)
        };
        let free: Vec<usize> = (0..d).filter(|&l| moves(l)).collect();
        let side = |l: usize, center: f64| (theta[l] - center).signum();
        // What the slopes are without multipliers, the prices of norms included.
        let slope = |l: usize| {
            let part = &self.plain[l];
            let of_norms: f64 = norms
                .iter()
                .map(|norm| norm.price * norm.weights[l] * side(l, norm.center[l]))
                .sum();
            let kink = if part.l1 > 0.0 { part.l1 * theta[l].signum() } else { 0.0 };
            u[l] + part.tilt + kink + part.l2 * theta[l] + of_norms
        };
        let target: Vec<f64> = free.iter().map(|&l| -slope(l)).collect();
        // Each active constraint: which it is, its column, and the sign that its multiplier may
        // have.
        let mut columns: Vec<(usize, Vec<f64>, f64)> = Vec::new();
        for (k, row) in rows.iter().enumerate() {
            let (at, slack) = (row.at(theta), ACTIVE * row.size(theta));
            let (low, high) = (at - row.lo <= slack, row.hi - at <= slack);
            if low || high {
                let sign = f64::from(i8::from(high) - i8::from(low));
                columns.push((k, free.iter().map(|&l| row.coefficients[l]).collect(), sign));
            }
        }
        for (j, norm) in norms.iter().enumerate() {
            if norm.limit.is_finite() && norm.limit - norm.at(theta) <= ACTIVE * norm.limit {
                let column = |&l: &usize| norm.weights[l] * side(l, norm.center[l]);
                columns.push((rows.len() + j, free.iter().map(column).collect(), 1.0));
            }
        }
        let found = fit(columns, &target);
        let mut multipliers =
            Multipliers { rows: vec![0.0; rows.len()], norms: vec![vec![0.0; d]; norms.len()] };
        let mut prices: Vec<f64> = norms.iter().map(|norm| norm.price).collect();
        for (k, y) in found {
            if k < rows.len() {
                multipliers.rows[k] = y;
            } else {
                prices[k - rows.len()] += y;
            }
        }
        self.slopes_of_norms(theta, u, &prices, &mut multipliers);
        multipliers
    }

    /// The slopes of norms with given prices: one alone away from the centre, and there what
    /// balances the others.
    fn slopes_of_norms(
        &self,
        theta: &[f64],
        u: &[f64],
        prices: &[f64],
        multipliers: &mut Multipliers,
    ) {
        let norms = &self.constraints.norms;
        let (mut tilt, _) = self.constraints.tilt(multipliers, theta.len());
        for l in 0..theta.len() {
            for (j, norm) in norms.iter().enumerate() {
                let most = prices[j] * norm.weights[l];
                let off = theta[l] - norm.center[l];
                let s = if off == 0.0 {
                    let part = &self.plain[l];
                    clamp(-(u[l] + part.tilt + part.l2 * theta[l] + tilt[l]), -most, most)
                } else {
                    most * off.signum()
                };
                tilt[l] += s;
                multipliers.norms[j][l] = s;
            }
        }
    }
}

/// `argmin over y of |sum_k y_k column_k - target|^2` with the signs asked for, by leaving out what
/// has the wrong one.
fn fit(mut columns: Vec<(usize, Vec<f64>, f64)>, target: &[f64]) -> Vec<(usize, f64)> {
    loop {
        let m = columns.len();
        if m == 0 {
            return Vec::new();
        }
        let mut matrix: Vec<f64> = columns
            .iter()
            .flat_map(|(_, a, _)| columns.iter().map(move |(_, b, _)| dot(a, b)))
            .collect();
        let largest = matrix.iter().step_by(m + 1).fold(0.0, |most: f64, x| most.max(*x));
        let ridge = RIDGE * largest.max(f64::MIN_POSITIVE);
        matrix.iter_mut().step_by(m + 1).for_each(|entry| *entry += ridge);
        let mut y: Vec<f64> = columns.iter().map(|(_, a, _)| dot(a, target)).collect();
        let Ok(factor) = Cholesky::new(&matrix, m) else { return Vec::new() };
        factor.solve(&mut y);
        let wrong = (0..m).filter(|&k| y[k] * columns[k].2 < 0.0);
        let worst = wrong.max_by(|&a, &b| y[a].abs().total_cmp(&y[b].abs()));
        match worst {
            Some(k) => {
                columns.remove(k);
            }
            None => return columns.iter().zip(y).map(|((k, ..), y)| (*k, y)).collect(),
        }
    }
}

/// The bounds of coordinates with those that rows make of the others': weights of 0 or more that
/// add up to 1 are at most 1.
fn implied_bounds(mut parts: Vec<Coordinate>, constraints: &Constraints) -> Vec<Coordinate> {
    // A little wider, for rounding.
    let slack = |bound: f64| 1e-12 * (1.0 + bound.abs());
    for row in &constraints.rows {
        let ends: Vec<(f64, f64)> = parts.iter().map(|part| (part.lo, part.hi)).collect();
        for (part, (low, high)) in parts.iter_mut().zip(row.band().implied_ends(&ends)) {
            if low.is_finite() {
                part.lo = part.lo.max(low - slack(low));
            }
            if high.is_finite() {
                part.hi = part.hi.min(high + slack(high));
            }
        }
    }
    for norm in constraints.norms.iter().filter(|norm| norm.limit.is_finite()) {
        for (l, part) in parts.iter_mut().enumerate().filter(|(l, _)| norm.weights[*l] > 0.0) {
            let (center, reach) = (norm.center[l], norm.limit / norm.weights[l]);
            part.lo = part.lo.max(center - reach - slack(center.abs() + reach));
            part.hi = part.hi.min(center + reach + slack(center.abs() + reach));
        }
    }
    parts
}

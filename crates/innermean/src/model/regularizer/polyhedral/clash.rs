//! Constraints that no theta meets together: which they are, and the least change that helps.
//!
//! By elastic programs, in which what is asked for may be missed at a cost (Chinneck, "Feasibility
//! and Infeasibility in Optimization", 2008); their multipliers are those of Farkas' lemma. Rows
//! first, each scaled to length 1:
//!
//! ```text
//! min over theta, r of  sum_k cost_k |r_k|  with  lo <= A theta + r <= hi  and the bounds of theta
//! ```
//!
//! An equation, such as a budget, costs a thousand times as much as another row, so that it is
//! missed last. Where it is, bounds are to blame: they are missed instead, those at 0, which say
//! that a weight has a sign, at a thousand times the cost of others,
//!
//! ```text
//! max(x - hi, 0) = |x - hi| / 2 + (x - hi) / 2
//! ```
//!
//! Where no row needs to be missed, each limit of a norm in turn: the least that its norm can be.

use super::{Answer, Constraints, Coordinate, Curvature, Kink, Polyhedral, program};
use crate::linalg::vector::{axpy, dot};
use crate::model::regularizer::{LinearConstraint, Regularizer, WeightedNorm};

/// Of what is missed last, in terms of the others.
const COST_OF_LAST: f64 = 1e3;
/// Projections onto all rows before an elastic program is solved.
const SWEEPS: usize = 40;
/// A multiplier that is more than rounding, where costs are 1.
const SEEN: f64 = 1e-6;

/// Constraints that no theta meets together.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Clash {
    /// Linear ones, given the bounds of the coordinates.
    Rows {
        /// Which rows take part: those with a multiplier in Farkas' lemma.
        involved: Vec<usize>,
        /// The least relaxation that helps: by how much `<a_k, theta>` must be allowed to lie above
        /// its upper end or, if below 0, below its lower one.
        relaxed: Vec<(usize, f64)>,
        /// The same of coordinates and their bounds; some where equations would be missed
        /// otherwise.
        bounds: Vec<(usize, f64)>,
    },
    /// A limit of a norm, given everything before it.
    Norm {
        /// Which norm.
        index: usize,
        /// The least that it can be.
        needed: f64,
        /// Which rows take part.
        involved: Vec<usize>,
    },
}

impl Polyhedral {
    /// Constraints that no theta meets together, if there are some, and the least change that
    /// helps. Limits of norms are looked at where the rows can be met.
    pub fn clash(&self) -> Option<Clash> {
        if self.has_near_point() || self.value(self.nearest_to_origin()).is_finite() {
            return None;
        }
        let plain: Vec<Coordinate> = self
            .parts
            .iter()
            .map(|part| Coordinate { lo: part.lo, hi: part.hi, ..Coordinate::FREE })
            .collect();
        let rows = &self.constraints.rows;
        let missed = Elastic::new(rows, plain.len()).missed(&plain);
        missed.or_else(|| norm_out_of_reach(&plain, &self.constraints))
    }

    /// Whether a point that meets everything is found at once: projections onto one row after the
    /// other, within the bounds, from equal parts of 1 and from the centres of norms.
    fn has_near_point(&self) -> bool {
        let Constraints { rows, norms } = &*self.constraints;
        let d = self.parts.len();
        let even = vec![1.0 / d.max(1) as f64; d];
        let mut starts = std::iter::once(&even).chain(norms.iter().map(|norm| &norm.center));
        starts.any(|start| {
            let mut x = start.clone();
            (0..SWEEPS).any(|_| {
                for row in rows {
                    let at = dot(&row.coefficients, &x);
                    let square = dot(&row.coefficients, &row.coefficients);
                    if square > 0.0 && !(row.lo..=row.hi).contains(&at) {
                        let missed = if at < row.lo { row.lo - at } else { row.hi - at };
                        axpy(missed / square, &row.coefficients, &mut x);
                    }
                }
                for (x, part) in x.iter_mut().zip(&self.parts) {
                    *x = x.max(part.lo).min(part.hi);
                }
                self.constraints.value(&x).is_finite()
            })
        })
    }
}

/// Rows with how far each is missed behind theta.
struct Elastic<'a> {
    rows: &'a [LinearConstraint],
    lengths: Vec<f64>,
    /// `<a_k, theta> + r_k`, scaled
    wide: Constraints,
    d: usize,
}

impl<'a> Elastic<'a> {
    fn new(rows: &'a [LinearConstraint], d: usize) -> Self {
        let length = |row: &LinearConstraint| {
            let square: f64 = row.coefficients.iter().map(|a| a * a).sum();
            if square > 0.0 { square.sqrt() } else { 1.0 }
        };
        let lengths: Vec<f64> = rows.iter().map(length).collect();
        let wide = rows.iter().zip(&lengths).enumerate().map(|(k, (row, length))| {
            let mut coefficients: Vec<f64> = row.coefficients.iter().map(|a| a / length).collect();
            coefficients.resize(d + rows.len(), 0.0);
            coefficients[d + k] = 1.0;
            LinearConstraint { coefficients, lo: row.lo / length, hi: row.hi / length }
        });
        let wide = Constraints { rows: wide.collect(), norms: Vec::new() };
        Elastic { rows, lengths, wide, d }
    }

    fn missed(&self, plain: &[Coordinate]) -> Option<Clash> {
        if self.rows.is_empty() {
            return None;
        }
        let answer = self.least(plain, &[]);
        let relaxed = self.relaxed(&answer);
        if relaxed.is_empty() {
            return None;
        }
        let involved = involved(&answer);
        let is_equation = |(k, _): &(usize, f64)| self.rows[*k].lo == self.rows[*k].hi;
        if relaxed.iter().any(is_equation) {
            let other = self.least(&vec![Coordinate::FREE; self.d], plain);
            let of_rows = self.relaxed(&other);
            let bounds = outside(plain, &other.x);
            // Equations may contradict each other whatever the bounds.
            if other.converged && !bounds.is_empty() && !of_rows.iter().any(is_equation) {
                return Some(Clash::Rows { involved, relaxed: of_rows, bounds });
            }
        }
        Some(Clash::Rows { involved, relaxed, bounds: Vec::new() })
    }

    /// The least that rows and these bounds are missed by.
    fn least(&self, parts: &[Coordinate], bounds: &[Coordinate]) -> Answer {
        let mut parts = parts.to_vec();
        let cost = |row: &LinearConstraint| if row.lo == row.hi { COST_OF_LAST } else { 1.0 };
        let missed = |row| Coordinate { l1: cost(row), ..Coordinate::FREE };
        parts.extend(self.rows.iter().map(missed));
        let zeros = vec![0.0; parts.len()];
        let mut program = program(&parts, &self.wide, Curvature::Diagonal(&zeros), &zeros);
        for (coordinate, part) in bounds.iter().enumerate() {
            for (center, side) in [(part.lo, -0.5), (part.hi, 0.5)] {
                if center.is_finite() {
                    let cost = if center == 0.0 { COST_OF_LAST } else { 1.0 };
                    program.linear[coordinate] += side * cost;
                    let cost = 0.5 * cost;
                    program.kinks.push(Kink { coordinate, center, cost, group: None });
                }
            }
        }
        program.solve(&zeros)
    }

    /// By how much rows are missed, in their own units.
    fn relaxed(&self, answer: &Answer) -> Vec<(usize, f64)> {
        let (theta, missed) = answer.x.split_at(self.d);
        let of_row = |(k, r): (usize, &f64)| {
            let (row, length) = (&self.rows[k], self.lengths[k]);
            // `A theta + r` is between the ends: r is what A theta lacks.
            let by = -r * length;
            (by.abs() > Constraints::SLACK * row.size(theta).max(length)).then_some((k, by))
        };
        missed.iter().enumerate().filter_map(of_row).collect()
    }
}

/// Rows with a multiplier.
fn involved(answer: &Answer) -> Vec<usize> {
    let rows = answer.rows.iter().enumerate();
    rows.filter(|(_, y)| y.abs() > SEEN).map(|(k, _)| k).collect()
}

/// How far coordinates lie above their upper bounds or, if below 0, below their lower ones.
fn outside(parts: &[Coordinate], theta: &[f64]) -> Vec<(usize, f64)> {
    let size = theta.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let off = |(part, x): (&Coordinate, &f64)| (x - part.hi).max(0.0) - (part.lo - x).max(0.0);
    let all = parts.iter().zip(theta).map(off).enumerate();
    all.filter(|(_, by)| by.abs() > Constraints::SLACK * size).collect()
}

/// The first limit that its norm cannot meet beside the rows and the limits before it.
fn norm_out_of_reach(plain: &[Coordinate], constraints: &Constraints) -> Option<Clash> {
    let zeros = vec![0.0; plain.len()];
    let mut so_far = Constraints { rows: constraints.rows.clone(), norms: Vec::new() };
    for (index, norm) in constraints.norms.iter().enumerate() {
        if norm.limit.is_infinite() {
            continue;
        }
        let mut asked = so_far.clone();
        asked.norms.push(WeightedNorm { limit: f64::INFINITY, price: 1.0, ..norm.clone() });
        let answer = program(plain, &asked, Curvature::Diagonal(&zeros), &zeros).solve(&zeros);
        let needed = norm.at(&answer.x);
        if answer.converged && needed > norm.limit + Constraints::SLACK * needed {
            return Some(Clash::Norm { index, needed, involved: involved(&answer) });
        }
        so_far.norms.push(WeightedNorm { price: 0.0, ..norm.clone() });
    }
    None
}

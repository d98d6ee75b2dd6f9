//! A sum over coordinates with linear constraints and norms of theta as a whole

use std::sync::{Arc, OnceLock};

use super::{Constraints, Coordinate, LinearConstraint, Multipliers, Regularizer, Separable};
use crate::linalg::interior::{Answer, Curvature, Kink, Program};
use crate::model::setting::InvalidSetting;

mod clash;

pub use clash::Clash;

/// Bounds and norms of the coordinates, [`Constraints`] on theta as a whole. With h the
/// [`Separable`] part and, for the rows `lo <= A theta <= hi` and norms `N_j` of the constraints,
///
/// ```text
/// g(theta)          = h(theta) + sum_j price_j N_j(theta)  if lo <= A theta <= hi and N_j(theta) <= limit_j,  inf otherwise
/// g*(v)             = min over y, s of  support(y, s) + h*(v - A' y - sum_j s_j)
/// prox_{alpha g}(v) = argmin over x of  g(x) + |x - v|^2 / (2 alpha), a quadratic program
/// mu                = min_l l2_l
/// ```
///
/// where `support` is what the multipliers y and s charge. Prox and conjugate are computed by an
/// interior-point method: for second-order methods, which ask for them rarely. `value` forgives
/// [`Constraints::SLACK`], relative to the terms of a constraint.
///
/// Weights of 0 or more with sum 1, of which the first two are at most 0.6 together:
///
/// ```
/// use innermean::regularizer::Coordinate;
/// use innermean::{Constraints, LinearConstraint, Polyhedral, Regularizer};
///
/// let sum = LinearConstraint { coefficients: vec![1.0; 3], lo: 1.0, hi: 1.0 };
/// let two = vec![1.0, 1.0, 0.0];
/// let most = LinearConstraint { coefficients: two, lo: f64::NEG_INFINITY, hi: 0.6 };
/// let constraints = Constraints { rows: vec![sum, most], norms: Vec::new() };
/// let parts = vec![Coordinate { lo: 0.0, ..Coordinate::FREE }; 3];
/// let g = Polyhedral::new(parts, constraints)?;
/// assert_eq!(g.value(&[0.3, 0.3, 0.4]), 0.0);
/// assert_eq!(g.value(&[0.5, 0.3, 0.2]), f64::INFINITY);
/// # Ok::<(), innermean::InvalidSetting>(())
/// ```
#[derive(Debug, Clone)]
pub struct Polyhedral {
    parts: Vec<Coordinate>,
    constraints: Arc<Constraints>,
    /// The point next to the origin that meets everything, once somebody asks: every run does, more
    /// than once.
    origin: Arc<OnceLock<Vec<f64>>>,
}

impl PartialEq for Polyhedral {
    fn eq(&self, other: &Self) -> bool {
        (&self.parts, &self.constraints) == (&other.parts, &other.constraints)
    }
}

/// Steps and points up to this are none: what is left of g in a prox step of that length is far
/// below the rounding of any answer.
const VANISHING: f64 = 1e-280;

impl Polyhedral {
    /// One part for each coordinate, and what is asked of all of them.
    ///
    /// # Errors
    /// If a number is out of its range ([`Separable::new`], [`Constraints::check`]).
    pub fn new(parts: Vec<Coordinate>, constraints: Constraints) -> Result<Self, InvalidSetting> {
        constraints.check(parts.len())?;
        Separable::new(parts.clone())?;
        let (constraints, origin) = (Arc::new(constraints), Arc::default());
        Ok(Polyhedral { parts, constraints, origin })
    }

    /// The parts.
    pub fn parts(&self) -> &[Coordinate] {
        &self.parts
    }

    /// The point next to the origin that meets everything, if there is one.
    fn nearest_to_origin(&self) -> &[f64] {
        self.origin.get_or_init(|| {
            let mut origin = vec![0.0; self.parts.len()];
            self.step(f64::MIN_POSITIVE, &mut origin);
            origin
        })
    }

    /// The prox by its program.
    fn step(&self, alpha: f64, theta: &mut [f64]) {
        // All of it times alpha, which may be as small as numbers get: a projection.
        let bends: Vec<f64> = self.parts.iter().map(|part| 1.0 + alpha * part.l2).collect();
        let q: Vec<f64> = theta.iter().map(|v| -v).collect();
        let mut program = program(&self.parts, &self.constraints, Curvature::Diagonal(&bends), &q);
        for (linear, (q, part)) in program.linear.iter_mut().zip(q.iter().zip(&self.parts)) {
            *linear = q + alpha * part.tilt;
        }
        program.kinks.iter_mut().for_each(|kink| kink.cost *= alpha);
        let answer = program.solve(theta);
        theta.copy_from_slice(&answer.x);
    }
}

/// The program `min over x of (1/2) x' B x + <q, x> + g(x)`; the squares of g are part of B.
pub(crate) fn program<'a>(
    parts: &[Coordinate],
    constraints: &'a Constraints,
    curvature: Curvature<'a>,
    q: &[f64],
) -> Program<'a> {
    let of_l1 = |(coordinate, part): (usize, &Coordinate)| {
        (part.l1 > 0.0).then_some(Kink { coordinate, center: 0.0, cost: part.l1, group: None })
    };
    let mut kinks: Vec<Kink> = parts.iter().enumerate().filter_map(of_l1).collect();
    let mut limits = Vec::new();
    for norm in &constraints.norms {
        let group = norm.limit.is_finite().then_some(limits.len());
        limits.extend(group.map(|_| norm.limit));
        for (coordinate, (weight, center)) in norm.weights.iter().zip(&norm.center).enumerate() {
            if *weight > 0.0 && (group.is_some() || norm.price > 0.0) {
                kinks.push(Kink {
                    coordinate,
                    center: *center,
                    cost: norm.price * weight,
                    group: group.map(|group| (group, *weight)),
                });
            }
        }
    }
    Program {
        curvature,
        linear: q.iter().zip(parts).map(|(q, part)| q + part.tilt).collect(),
        lo: parts.iter().map(|part| part.lo).collect(),
        hi: parts.iter().map(|part| part.hi).collect(),
        rows: constraints.rows.iter().map(LinearConstraint::band).collect(),
        kinks,
        limits,
    }
}

/// Moves x to the nearest point that meets bounds and constraints.
pub(crate) fn project(parts: &[Coordinate], constraints: &Constraints, x: &mut [f64]) {
    let (bends, zeros) = (vec![1.0; x.len()], vec![0.0; x.len()]);
    let mut program = program(parts, constraints, Curvature::Diagonal(&bends), &zeros);
    program.linear.fill(0.0);
    program.kinks.iter_mut().for_each(|kink| kink.cost = 0.0);
    let answer = program.around(x).solve(&zeros);
    for (l, x) in x.iter_mut().enumerate() {
        *x = (*x + answer.x[l]).max(parts[l].lo).min(parts[l].hi);
    }
}

/// The multipliers of an answer to [`program`].
pub(crate) fn multipliers(
    parts: &[Coordinate],
    constraints: &Constraints,
    answer: &Answer,
) -> Multipliers {
    // In the order in which the program lists kinks.
    let mut kinks = answer.kinks.iter().skip(parts.iter().filter(|part| part.l1 > 0.0).count());
    let mut of_norm = |norm: &super::WeightedNorm| {
        let counts = norm.limit.is_finite() || norm.price > 0.0;
        let slope = |weight: &f64| {
            if *weight > 0.0 && counts { kinks.next().copied().unwrap_or(0.0) } else { 0.0 }
        };
        let mut slopes: Vec<f64> = norm.weights.iter().map(slope).collect();
        if !norm.limit.is_finite() {
            // Beyond the price by rounding alone.
            for (s, weight) in slopes.iter_mut().zip(&norm.weights) {
                *s = s.clamp(-norm.price * weight, norm.price * weight);
            }
        }
        slopes
    };
    let norms = constraints.norms.iter().map(&mut of_norm).collect();
    let sign = |(y, row): (&f64, &LinearConstraint)| {
        // A multiplier of an end that is not there is rounding.
        let (least, most) = (
            if row.lo.is_finite() { f64::NEG_INFINITY } else { 0.0 },
            if row.hi.is_finite() { f64::INFINITY } else { 0.0 },
        );
        y.clamp(least, most)
    };
    let rows = answer.rows.iter().zip(&constraints.rows).map(sign).collect();
    Multipliers { rows, norms }
}

impl Regularizer for Polyhedral {
    fn d(&self) -> Option<usize> {
        Some(self.parts.len())
    }

    fn value(&self, theta: &[f64]) -> f64 {
        assert_eq!(self.parts.len(), theta.len(), "parts and theta differ in length");
        let sum: f64 = self.parts.iter().zip(theta).map(|(part, &x)| part.value(x)).sum();
        sum + self.constraints.value(theta)
    }

    fn prox(&self, alpha: f64, theta: &mut [f64]) {
        assert_eq!(self.parts.len(), theta.len(), "parts and theta differ in length");
        let is_origin = alpha <= VANISHING && theta.iter().all(|v| v.abs() <= VANISHING);
        if is_origin {
            theta.copy_from_slice(self.nearest_to_origin());
        } else {
            self.step(alpha, theta);
        }
    }

    /// By the multipliers that the interior-point method finds: never below the conjugate.
    fn conjugate(&self, v: &[f64]) -> f64 {
        let d = self.parts.len();
        assert_eq!(d, v.len(), "parts and v differ in length");
        let bends: Vec<f64> = self.parts.iter().map(|part| part.l2).collect();
        let q: Vec<f64> = v.iter().map(|v| -v).collect();
        let curvature = Curvature::Diagonal(&bends);
        let program = program(&self.parts, &self.constraints, curvature, &q);
        let answer = program.solve(&vec![0.0; d]);
        let multipliers = multipliers(&self.parts, &self.constraints, &answer);
        let (tilt, _) = self.constraints.tilt(&multipliers, d);
        let (support, _) = self.constraints.support(&multipliers);
        let along = v.iter().zip(&tilt).map(|(v, t)| v - t);
        support + self.parts.iter().zip(along).map(|(part, v)| part.conjugate(v)).sum::<f64>()
    }

    fn mu(&self) -> f64 {
        let least = self.parts.iter().map(|part| part.l2).fold(f64::INFINITY, f64::min);
        if least.is_finite() { least } else { 0.0 }
    }

    fn constrained_coordinate(&self, l: usize) -> Option<Coordinate> {
        Some(self.parts[l])
    }

    fn constraints(&self) -> Option<&Arc<Constraints>> {
        Some(&self.constraints)
    }

    /// Those without a bound, a norm or a place in a constraint.
    fn free_coordinates(&self, _: usize) -> Vec<(usize, f64)> {
        let Constraints { rows, norms } = &*self.constraints;
        let is_free = |l: usize| {
            self.parts[l].is_free()
                && rows.iter().all(|row| row.coefficients[l] == 0.0)
                && norms.iter().all(|norm| norm.weights[l] == 0.0)
        };
        let free = (0..self.parts.len()).filter(|&l| is_free(l));
        free.map(|l| (l, self.parts[l].tilt)).collect()
    }
}

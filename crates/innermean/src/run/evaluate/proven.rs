//! A point and what is proven of it; which of two is better, and what a bound from below that
//! another point has brought says about it.

use serde::{Deserialize, Serialize};

use crate::certificate::{Bound, Measure};

/// The part of a gap that another one must be below to be worth more, though less of the first is
/// there for anything but rounding.
const WORTH_MORE_ROUNDING: f64 = 0.1;

/// A point and what is proven of it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Proven {
    pub(super) objective: f64,
    pub(super) magnitude: f64,
    /// What the objective may be rounded by.
    pub(super) rounding: f64,
    /// Of `P - P*`.
    pub(super) bound: Bound,
    pub(super) measure: Measure,
}

impl Proven {
    pub(super) const UNKNOWN: Proven = Proven {
        objective: f64::INFINITY,
        magnitude: 0.0,
        rounding: 0.0,
        bound: Bound::NONE,
        measure: Measure::None,
    };

    /// Whether its objective is the smaller one; where they differ by rounding, whether its bound
    /// is.
    pub(super) fn is_better_than(&self, other: &Proven) -> bool {
        let tie = self.rounding + other.rounding;
        let difference = self.objective - other.objective;
        // Not a number where both are infinite.
        if difference < -tie || difference > tie {
            return difference < 0.0;
        }
        let (new, old) = (self.bound.gap, other.bound.gap);
        new < old || new == old && difference < 0.0
    }

    /// Takes a bound from below of P into account that another point has brought, and what proved
    /// it.
    pub(super) fn tighten(&mut self, below: f64, measure: Measure) {
        let rounding = self.rounding + f64::EPSILON * self.magnitude;
        let excess = (self.objective - below).max(0.0);
        let gap = excess + rounding;
        // The rounding of another point is no reason to take what is rounding here for more.
        let is_clearer = excess <= self.bound.excess || gap < WORTH_MORE_ROUNDING * self.bound.gap;
        if gap < self.bound.gap && is_clearer {
            let floor = f64::EPSILON * self.magnitude;
            (self.bound, self.measure) = (Bound::new(excess, rounding, floor, None), measure);
        }
    }
}

/// `objective - gap`, rounded downwards.
pub(super) fn lower(objective: f64, gap: f64) -> f64 {
    objective - gap - f64::EPSILON * (objective.abs() + gap)
}

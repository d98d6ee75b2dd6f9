//! What a choice rests on, looked up as it is needed: a small problem is solved in less time than
//! all of it takes.

use super::cost::{self, Trial};
use crate::methods::{self, newton};
use crate::model::inner::{Inner, mean_support, pieces};
use crate::model::problem::Objective;

/// Structure and sizes of a problem.
pub(super) struct Facts<'p>(pub(super) Objective<'p>);

/// The share of the free memory that stored mean Jacobians may take,
const MEMORY_SHARE: f64 = 0.25;
/// and bytes that every machine has.
const LITTLE_MEMORY: f64 = 64e6;

/// The passes of a Newton step up to which L-BFGS is hardly ever faster; see
/// `experiments/results/auto.md`.
const CHEAP: f64 = 13.0;

impl Facts<'_> {
    pub(super) fn affine(&self) -> bool {
        self.0.inner.facts().affine
    }

    /// Many small calls of f take long.
    pub(super) fn calls_are_dear(&self) -> bool {
        self.0.inner.facts().calls_are_dear
    }

    /// phi has no kink.
    pub(super) fn smooth(&self) -> bool {
        !self.0.merit.has_kinks()
    }

    /// g is no more than a ridge and a linear term.
    pub(super) fn quadratic_regularizer(&self) -> bool {
        (0..self.d()).all(|l| self.0.regularizer.coordinate(l).is_some_and(|part| part.is_smooth()))
    }

    pub(super) fn d(&self) -> usize {
        self.0.inner.d()
    }

    pub(super) fn n_x(&self) -> usize {
        self.0.inner.n_x()
    }

    /// Numbers of all averages, `n_X ell`.
    pub(super) fn averages(&self) -> usize {
        self.n_x() * self.0.inner.ell()
    }

    /// A term looks at few coordinates, and says which.
    pub(super) fn sparse(&self) -> bool {
        self.n_x() > 0 && self.0.inner.support(0).is_some()
    }

    /// Samples for each outer term that a pass over the data looks at, on average.
    pub(super) fn samples(&self) -> usize {
        pieces(&self.0.inner) / self.n_x().max(1)
    }

    /// Whether there are so few coordinates that Newton's method has a matrix.
    pub(super) fn moderate(&self) -> bool {
        let f = &self.0.inner;
        newton::is_moderate(self.d(), pieces(f) * f.ell(), mean_support(f))
    }

    /// Passes that a step of Newton's method costs, where they are so many that L-BFGS is tried
    /// first.
    pub(super) fn costly_newton(&self) -> Option<f64> {
        let is_settled = self.affine() || !self.smooth() || self.calls_are_dear();
        if is_settled || !self.moderate() {
            return None;
        }
        self.suited("newton").and(self.suited("lbfgs"))?;
        let passes = cost::newton_step(self.0.inner);
        (passes > CHEAP).then_some(passes)
    }

    /// What L-BFGS is held to if Newton's method comes after it.
    pub(super) fn trial(&self, tolerance: Option<f64>) -> Option<Trial> {
        self.costly_newton().map(|_| Trial::new(self.0.inner, tolerance))
    }

    /// Whether all mean Jacobians fit into a part of the memory that is free, where the system
    /// tells how much that is.
    pub(super) fn jacobians_fit(&self) -> bool {
        let f = &self.0.inner;
        let sparse = self.sparse();
        let support = |i| f.support(i).map_or(self.d(), <[u32]>::len);
        let numbers = f.ell()
            * if sparse {
                (0..self.n_x()).map(support).sum::<usize>()
            } else {
                self.n_x() * self.d()
            };
        let bytes = 8.0 * numbers as f64;
        bytes <= LITTLE_MEMORY || free_memory().is_none_or(|free| bytes <= MEMORY_SHARE * free)
    }

    /// The method of that name, if it is there and suits.
    pub(super) fn suited(&self, name: &str) -> Option<&'static str> {
        let row = methods::info(name).ok()?;
        row.missing(self.0).is_none().then_some(row.name)
    }
}

/// Bytes that new work may take without swapping, where the system tells.
fn free_memory() -> Option<f64> {
    let table = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = table.lines().find(|line| line.starts_with("MemAvailable:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(1024.0 * kilobytes)
}

//! What is counted, and what whole passes count as.

use std::ops::{Add, Sub};

use serde::{Deserialize, Serialize};

use crate::model::inner::{Inner, Sample};

/// Oracle calls made so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    /// Queries of f.
    pub f: u64,
    /// Queries of f', as products `f' w`.
    pub jacobian: u64,
    /// Queries of phi or its gradient.
    pub merit: u64,
}

impl Calls {
    /// All of them: the unit of the paper's figures.
    #[inline]
    pub fn total(&self) -> u64 {
        self.f + self.jacobian + self.merit
    }
}

impl Add for Calls {
    type Output = Calls;
    fn add(self, other: Calls) -> Calls {
        Calls {
            f: self.f + other.f,
            jacobian: self.jacobian + other.jacobian,
            merit: self.merit + other.merit,
        }
    }
}

impl Sub for Calls {
    type Output = Calls;
    fn sub(self, other: Calls) -> Calls {
        Calls {
            f: self.f - other.f,
            jacobian: self.jacobian - other.jacobian,
            merit: self.merit - other.merit,
        }
    }
}

/// What both batch quantities of a snapshot cost: every distinct piece of f once for its value and
/// once for its Jacobian. In a separable affine f the mean of `b'(y_j)` is a constant of the
/// problem and is not asked for again.
pub fn snapshot_calls(f: &dyn Inner) -> Calls {
    let structure = f.facts();
    let n_x = f.n_x() as u64;
    let n_y = |i| f.n_y(i) as u64;
    let (values, jacobians) = match structure.sample {
        Sample::Own => {
            let pairs = f.pairs() as u64;
            (pairs, pairs)
        }
        Sample::Shared => (n_y(0), n_y(0)),
        Sample::Separable if structure.affine => (n_x + n_y(0), n_x),
        Sample::Separable => (n_x + n_y(0), n_x + n_y(0)),
    };
    let weight = f.facts().calls_per_query;
    Calls { f: weight * values, jacobian: weight * jacobians, merit: 0 }
}

/// What a whole gradient `F'(theta)` costs: every piece of f once for its value and once for its
/// Jacobian, and every phi once. Of a separable f, `a(x_i)` belongs to the i-th phi, as in the
/// paper's identification (5): with it, the portfolio's costs `3 n`.
pub fn gradient_calls(f: &dyn Inner) -> Calls {
    let pieces = match f.facts().sample {
        Sample::Own => f.pairs(),
        Sample::Shared | Sample::Separable => f.n_y(0),
    };
    let pieces = f.facts().calls_per_query * pieces as u64;
    Calls { f: pieces, jacobian: pieces, merit: f.n_x() as u64 }
}

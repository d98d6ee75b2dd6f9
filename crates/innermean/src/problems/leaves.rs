//! Data in leaves, on any number of machines: F as a sum of what their holders add up.
//!
//! Rows are cut into *leaves* of at most [`LEAF`] rows. A [`Shard`] holds some of them, and a pass
//! asks it for sums over each: the loss, the gradient, second derivatives. It is a pure function of
//! theta, so that a pass that was lost is asked for again. [`fold`] adds leaves up by a binary tree
//! over their numbers: the bits do not depend on who held which. A group of rows that lies in
//! several leaves is *open* in each of them: they send the sums of its rows, and the fold closes it
//! in the same round.
//!
//! [`Folded`] is the f of a problem whose only term is all of F. What methods and certificates ask
//! of it are passes.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::methods::newton;
use crate::model::inner::Lost;

mod fold;
mod folded;
mod held;
mod leaf;
mod loss;
mod partial;

pub use fold::{fold, merge};
pub use folded::{Folded, Whole, survey};
pub use held::{Held, Retried};
pub use leaf::{Leaf, Run};
pub use loss::Loss;
pub use partial::{Open, Partial};

/// The most rows of a leaf.
pub const LEAF: usize = 1 << 15;

/// What a pass adds up; [`Partial::sums`] holds the numbers in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Want {
    /// Terms, rows, the squares of offsets, and those of each column: asked for once.
    Survey,
    /// `sum_i phi_i`, `sum_i w_i^2` and `sum_i fbar_i' w_i` with `w_i = phi_i'(fbar_i)`.
    Gradient,
    /// `sum_i fbar_i' phi_i'' fbar_i'^T`, row by row up to the diagonal.
    Hessian,
}

impl Want {
    /// How many numbers that is.
    pub fn len(self, d: usize) -> usize {
        match self {
            Want::Survey => 3 + d,
            Want::Gradient => 2 + d,
            Want::Hessian => d * (d + 1) / 2,
        }
    }
}

impl fmt::Display for Want {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Want::Survey => "survey",
            Want::Gradient => "gradient",
            Want::Hessian => "hessian",
        })
    }
}

/// What all leaves have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    /// The length of theta.
    pub d: usize,
    /// How many leaves there are, numbered from 0.
    pub leaves: u64,
    /// What is done to averages.
    pub loss: Loss,
    /// Whether averages are affine in theta.
    pub affine: bool,
    /// Whether F is convex, as it is where they are.
    pub convex: bool,
    /// Whether second derivatives can be asked for.
    pub knows_seconds: bool,
}

impl Shape {
    /// Whether there is a matrix of second derivatives, and d is not too large for one.
    fn has_hessian(&self) -> bool {
        self.knows_seconds && self.d <= newton::MOST
    }
}

/// Somebody who holds leaves.
pub trait Shard: Send + Sync {
    /// What every leaf comes to, in any order; neighbours may have been added up by [`merge`].
    ///
    /// # Errors
    /// If a leaf cannot be read, whatever was tried.
    fn pass(&self, theta: &[f64], want: Want) -> Result<Vec<Partial>, Lost>;
}

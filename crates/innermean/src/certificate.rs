//! Proofs of how good a point is: upper bounds on `P(theta) - P*`.
//!
//! Every bound comes from a function below P whose minimum is known.
//!
//! - *Duality gap.* For affine f and any duals w, `P(z) >= D(w)` for all z; see
//!   `certificate/dual.rs`. With `w_i = phi_i'(fbar_i(theta))` the gap `P(theta) - D(w)` is
//!   `g(theta) + <F', theta> + g*(-F')`.
//! - *Fenchel gap.* The same number bounds any P whose `F = P - g` is convex, for then `F(z) >=
//!   F(theta) + <F'(theta), z - theta>`.
//! - *Quadratic.* Where F itself is quadratic, half of `|z - theta|^2` in the norm of its Hessian
//!   is added on the right, and the bound is exact where g is quadratic too; see
//!   `certificate/quadratic.rs`.
//!
//! `certificate/prover.rs` finds the best of them. It believes no method: whatever a bound is made
//! of is found there, with what rounding may have done to it (`certificate/sizes.rs`), and a matrix
//! is used only if it is certain to be positive definite (`certificate/definite.rs`). Safe bounds
//! of this kind go back to Neumaier and Shcherbina, "Safe Bounds in Linear and Mixed-Integer
//! Programming", 2004, and Jansson's work on semidefinite programs.

use std::fmt;

use serde::{Deserialize, Serialize};

pub(crate) mod balance;
pub(crate) mod bent;
pub(crate) mod bracket;
pub(crate) mod class_balance;
mod class_repair;
pub(crate) mod definite;
pub(crate) mod dual;
pub(crate) mod ground;
pub(crate) mod hessian;
pub(crate) mod lean;
pub(crate) mod linearised;
mod newton;
mod precise_proof;
mod promise;
pub(crate) mod prover;
mod quadratic;
mod repair;
pub(crate) mod sizes;
pub(crate) mod stationarity;

/// A bound on `P(theta) - P*`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bound {
    pub(crate) gap: f64,
    /// How much of it is not there for rounding alone.
    pub(crate) excess: f64,
    /// What of that is no more than rounding usually is: less would say nothing.
    pub(crate) floor: f64,
    /// If it holds for no more: among all theta up to this many times the answer.
    pub(crate) within: Option<f64>,
}

impl Bound {
    pub(crate) const NONE: Bound =
        Bound { gap: f64::INFINITY, excess: f64::INFINITY, floor: 0.0, within: None };

    /// An excess, and what rounding adds to it.
    pub(crate) fn new(excess: f64, rounding: f64, floor: f64, within: Option<f64>) -> Self {
        let gap = excess + rounding;
        if gap.is_nan() { Bound::NONE } else { Bound { gap, excess, floor, within } }
    }

    /// Whether little is left of it but rounding.
    pub(crate) fn is_rounding(self) -> bool {
        self.gap < f64::INFINITY && self.excess <= 3.0 * self.floor
    }
}

/// Which number says how far a point is from optimal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Measure {
    /// A proof for affine f: the duality gap `P(theta) - D(w)`.
    DualityGap,
    /// A proof for convex P: `g(theta) + <F', theta> + g*(-F')`, `F = P - g`.
    FenchelGap,
    /// A proof for quadratic F: the minimum of P's quadratic model, which is exact where g is
    /// quadratic too.
    Quadratic,
    /// No proof: the square root of what a Newton step from here would gain.
    Stationarity,
    /// Nothing is known; where no tolerance is set, nothing is asked.
    #[default]
    None,
}

impl Measure {
    /// Whether it bounds `P(theta) - P*`.
    pub fn is_gap(self) -> bool {
        matches!(self, Measure::DualityGap | Measure::FenchelGap | Measure::Quadratic)
    }

    /// In a few words.
    pub fn title(self) -> &'static str {
        match self {
            Measure::DualityGap => "duality gap",
            Measure::FenchelGap => "Fenchel gap",
            Measure::Quadratic => "quadratic bound",
            Measure::Stationarity => "stationarity",
            Measure::None => "no measure",
        }
    }
}

/// Why there is no bound on `P(theta) - P*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// Nothing says that P is convex.
    NotConvex,
    /// g leaves directions in which theta may go without end, and nothing that says much is known
    /// of them.
    Unbounded,
    /// The duals at hand prove nothing yet.
    NotYet,
    /// There is a gap, and a limit on time ended a proof of a smaller one.
    OutOfTime,
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Reason::NotConvex => "f is not affine, and nothing says that the objective is convex",
            Reason::Unbounded => "nothing bounds or penalises theta in some direction",
            Reason::NotYet => "the dual variables are not feasible yet",
            Reason::OutOfTime => "there was no time for a better proof",
        })
    }
}

/// How good a point is, as far as it can be proven.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Certificate {
    /// What the numbers are.
    pub measure: Measure,
    /// `P(theta) - P*` is at most this, where the measure is a gap and one is known.
    pub gap: Option<f64>,
    /// What tolerances are compared with: the gap over the objective's scale, which is the larger
    /// of `|F| + |g|` at the point and at the origin (or the point that g allows next to it); or
    /// the square root of what a Newton step would gain, over the same. It does not change when
    /// columns or the objective are multiplied by constants.
    pub relative: Option<f64>,
    /// If the bound holds for no more: it is one among all theta with `S_l |theta_l|` up to this
    /// many times the largest of the answer, where `S_l` is the root mean square of column l. None:
    /// among all theta.
    pub within: Option<f64>,
    /// Whether double precision can prove no better: what is left is rounding. Then a problem
    /// counts as solved whatever the tolerance.
    pub is_rounding: bool,
    /// Why there is no gap, or no smaller one.
    pub reason: Option<Reason>,
}

impl Certificate {
    /// Nothing is known.
    pub const NONE: Certificate = Certificate {
        measure: Measure::None,
        gap: None,
        relative: None,
        within: None,
        is_rounding: false,
        reason: None,
    };

    /// What a bound that does not hold for all theta holds for, in a few words.
    pub fn hypothesis(&self) -> Option<String> {
        self.within.map(|times| format!("among all theta up to {times:e} times as large"))
    }
}

//! Proofs of how good a point is: upper bounds on `P(theta) - P*`.
//!
//! Every bound comes from a function below P whose minimum is known.
//!
//! - *Duality gap.* For affine f and any duals w, `P(z) >= D(w)` for all z; see `certificate/dual.rs`. With `w_i = phi_i'(fbar_i(theta))` the gap
//!   `P(theta) - D(w)` is `g(theta) + <F', theta> + g*(-F')`.
//! - *Fenchel gap.* The same number bounds any P whose `F = P - g` is convex, for then `F(z) >= F(theta) + <F'(theta), z - theta>`.
//! - *Quadratic.* Where F itself is quadratic, half of `|z - theta|^2` in the norm of its Hessian is added on the right, and the bound is
//!   exact where g is quadratic too; see `certificate/quadratic.rs`.
//!
//! Where `g*` is infinite at hand, duals are moved to where it is not: balanced against an intercept (`certificate/balance.rs`), shrunk
//! (`certificate/dual.rs`), or moved by a Newton step (`certificate/newton.rs`). None of it claims more than double precision can: `ROUNDING` times the size of what was subtracted is added.

use std::fmt;

use serde::{Deserialize, Serialize};

pub(crate) mod balance;
pub(crate) mod dual;
pub(crate) mod newton;
pub(crate) mod quadratic;

/// What rounding may do to a sum, of the size of its terms.
pub(crate) const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// A bound on `P(theta) - P*`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bound {
    pub(crate) gap: f64,
    /// How much of it is there for rounding alone.
    pub(crate) rounding: f64,
}

impl Bound {
    pub(crate) const NONE: Bound = Bound { gap: f64::INFINITY, rounding: 0.0 };

    /// What was found, and the size of what was subtracted on the way.
    pub(crate) fn new(gap: f64, size: f64) -> Self {
        let rounding = ROUNDING * size;
        let gap = gap + rounding;
        if gap.is_nan() { Bound::NONE } else { Bound { gap, rounding } }
    }

    /// Whether little is left of it but rounding.
    pub(crate) fn is_rounding(self) -> bool {
        self.gap < f64::INFINITY && self.gap <= 4.0 * self.rounding
    }
}

/// Which number says how far a point is from optimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// A proof for affine f: the duality gap `P(theta) - D(w)`.
    DualityGap,
    /// A proof for convex P: `g(theta) + <F', theta> + g*(-F')`, `F = P - g`.
    FenchelGap,
    /// A proof for quadratic F: the minimum of P's quadratic model, which is exact where g is quadratic too.
    Quadratic,
    /// No proof: the norm of the prox-gradient mapping.
    Stationarity,
    /// Nothing is known; where no tolerance is set, nothing is asked.
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
pub enum Reason {
    /// Nothing says that P is convex.
    NotConvex,
    /// g leaves directions in which theta may go without end, and what F says about them is not known.
    Unbounded,
    /// The same, and F has no curvature in some of them.
    Singular,
    /// The duals at hand prove nothing yet.
    NotYet,
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Reason::NotConvex => "f is not affine, and nothing says that the objective is convex",
            Reason::Unbounded => "nothing bounds or penalises theta in some direction",
            Reason::Singular => {
                "nothing bounds or penalises theta in a direction in which the data do not tell points apart"
            }
            Reason::NotYet => "the dual variables are not feasible yet",
        })
    }
}

/// How good a point is, as far as it can be proven.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// What the numbers are.
    pub measure: Measure,
    /// `P(theta) - P*` is at most this, where the measure is a gap and one is known.
    pub gap: Option<f64>,
    /// What tolerances are compared with: the gap over the objective's scale, which is the larger of `|F| + |g|` at the point and at the origin
    /// (or `|min g|`, if that is larger still); the stationarity over that at the origin.
    pub relative: Option<f64>,
    /// Whether double precision can prove no better: what is left is rounding. Then a problem counts as solved whatever the tolerance.
    pub is_rounding: bool,
    /// Why there is no gap.
    pub reason: Option<Reason>,
}

impl Certificate {
    /// Nothing is known.
    pub const NONE: Certificate =
        Certificate { measure: Measure::None, gap: None, relative: None, is_rounding: false, reason: None };
}

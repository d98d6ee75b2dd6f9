//! What is made of the score of a row.

use serde::{Deserialize, Serialize};

use crate::linalg::exponential::{exp, sigmoid};
use crate::linalg::vector::update;

/// What is made of a score `t = <y, theta> + intercept`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Link {
    /// t
    Identity,
    /// `1 / (1 + e^-t)`
    Logistic,
    /// `e^t`
    Exp,
}

impl Link {
    /// The value at a score.
    #[inline(always)]
    pub fn value(self, t: f64) -> f64 {
        match self {
            Link::Identity => t,
            Link::Logistic => sigmoid(t),
            Link::Exp => exp(t),
        }
    }

    /// The slope where the value is `v`: 1, `v (1 - v)` or v.
    #[inline(always)]
    pub(super) fn slope(self, v: f64) -> f64 {
        match self {
            Link::Identity => 1.0,
            Link::Logistic => v * (1.0 - v),
            Link::Exp => v,
        }
    }

    /// [`Link::value`] of many scores, in place.
    #[inline(always)]
    pub(super) fn values(self, scores: &mut [f64]) {
        match self {
            Link::Identity => {}
            Link::Logistic => update(scores, sigmoid),
            Link::Exp => update(scores, exp),
        }
    }

    /// c times [`Link::slope`] of many values, in place.
    #[inline(always)]
    pub(super) fn slopes(self, c: f64, values: &mut [f64]) {
        match self {
            Link::Identity => values.fill(c),
            Link::Logistic => update(values, |v| c * v * (1.0 - v)),
            Link::Exp => update(values, |v| c * v),
        }
    }
}

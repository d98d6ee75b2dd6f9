//! What describes the states.

use crate::linalg::vector::{norm_squared, row_dots};

/// `Psi_s` for every state s.
#[derive(Debug, Clone, PartialEq)]
pub enum StateFeatures {
    /// Unit vectors: theta holds a number for each state, its value, and nothing is stored.
    OneHot {
        /// The number of states, which is d.
        states: usize,
    },
    /// Rows of d numbers.
    Rows {
        /// The length of a row.
        d: usize,
        /// The rows, one for each state.
        rows: Vec<f64>,
    },
}

impl StateFeatures {
    /// The length of theta.
    #[inline(always)]
    pub fn d(&self) -> usize {
        match self {
            StateFeatures::OneHot { states } => *states,
            StateFeatures::Rows { d, .. } => *d,
        }
    }

    /// The number of states.
    pub fn states(&self) -> usize {
        match self {
            StateFeatures::OneHot { states } => *states,
            StateFeatures::Rows { d, rows } => rows.len() / d,
        }
    }

    /// `<Psi_s, theta>` for every state.
    pub fn values(&self, theta: &[f64]) -> Vec<f64> {
        match self {
            StateFeatures::OneHot { .. } => theta.to_vec(),
            StateFeatures::Rows { d, rows } => {
                let mut values = vec![0.0; rows.len() / d];
                row_dots(rows, *d, theta, &mut values);
                values
            }
        }
    }

    /// `out += c Psi_s`
    pub(crate) fn add(&self, s: usize, c: f64, out: &mut [f64]) {
        match self {
            StateFeatures::OneHot { .. } => out[s] += c,
            StateFeatures::Rows { d, rows } => {
                crate::linalg::vector::axpy(c, &rows[s * d..(s + 1) * d], out);
            }
        }
    }

    /// `|Psi_s|`; none if all are 1.
    pub(super) fn lengths(&self) -> Option<Vec<f64>> {
        match self {
            StateFeatures::OneHot { .. } => None,
            StateFeatures::Rows { d, rows } => {
                Some(rows.chunks_exact(*d).map(|psi| norm_squared(psi).sqrt()).collect())
            }
        }
    }
}

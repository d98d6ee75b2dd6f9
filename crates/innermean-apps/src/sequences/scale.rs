//! Features brought to mean 0 and deviation 1.

use innermean::problems::scaling::Standard;
use serde::{Deserialize, Serialize};

use super::SequencesError;

/// What was taken off each feature, and what it was divided by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    /// What was taken off.
    pub feature_means: Vec<f64>,
    /// 1 for a feature that is always the same.
    pub feature_deviations: Vec<f64>,
    /// Features that say nothing.
    #[serde(skip)]
    pub constant: Vec<String>,
}

impl Scale {
    /// Brings other rows to it, in place.
    pub(crate) fn apply(&self, rows: &mut [f64]) {
        let Scale { feature_means: means, feature_deviations: deviations, .. } = self;
        for row in rows.chunks_exact_mut(means.len()) {
            for (x, (mean, deviation)) in row.iter_mut().zip(means.iter().zip(deviations)) {
                *x = (*x - mean) / deviation;
            }
        }
    }

    /// Finds it, and brings the rows to it.
    pub(super) fn of(names: &[String], rows: &mut [f64]) -> Result<Self, SequencesError> {
        match Standard::of_rows(rows, names.len()) {
            Ok(Standard { means, deviations, constant }) => Ok(Scale {
                feature_means: means,
                feature_deviations: deviations,
                constant: constant.into_iter().map(|k| names[k].clone()).collect(),
            }),
            Err(k) => Err(SequencesError::TooLarge(names[k].clone())),
        }
    }
}

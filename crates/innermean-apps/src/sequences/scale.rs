//! Features brought to mean 0 and deviation 1.

use innermean::problems::scaling::Standard;
use serde::{Deserialize, Serialize};

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

    /// What [`Standard`] says of the columns of these names.
    pub(super) fn of(names: &[String], standard: &Standard) -> Self {
        Scale {
            feature_means: standard.means.clone(),
            feature_deviations: standard.deviations.clone(),
            constant: standard.constant.iter().map(|&k| names[k].clone()).collect(),
        }
    }
}

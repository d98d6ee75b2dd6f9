//! Features brought to mean 0 and deviation 1.

use anyhow::{Result, bail};
use innermean::problems::scaling::Standard;
use serde::Serialize;

/// What was taken off each feature, and what it was divided by.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Scale {
    pub(super) feature_means: Vec<f64>,
    /// 1 for a feature that is always the same
    pub(super) feature_deviations: Vec<f64>,
    /// Features that say nothing
    #[serde(skip)]
    pub(super) constant: Vec<String>,
}

impl Scale {
    /// Finds it, and brings the rows to it.
    pub(super) fn of(names: &[String], rows: &mut [f64]) -> Result<Self> {
        match Standard::of_rows(rows, names.len()) {
            Ok(Standard { means, deviations, constant }) => Ok(Scale {
                feature_means: means,
                feature_deviations: deviations,
                constant: constant.into_iter().map(|k| names[k].clone()).collect(),
            }),
            Err(k) => {
                bail!(
                    "feature {}: its numbers are too large to be squared; expected smaller ones",
                    names[k]
                )
            }
        }
    }
}

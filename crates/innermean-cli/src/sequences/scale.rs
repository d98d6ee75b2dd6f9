//! Features brought to mean 0 and deviation 1: random starts and the ridge mean the same for each then.

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
    pub(super) fn of(names: &[String], rows: &mut [f64]) -> Self {
        let d = names.len();
        let n = (rows.len() / d) as f64;
        let mut scale =
            Scale { feature_means: vec![0.0; d], feature_deviations: vec![0.0; d], constant: Vec::new() };
        for row in rows.chunks_exact(d) {
            scale.feature_means.iter_mut().zip(row).for_each(|(mean, x)| *mean += x / n);
        }
        for row in rows.chunks_exact(d) {
            for ((square, x), mean) in scale.feature_deviations.iter_mut().zip(row).zip(&scale.feature_means)
            {
                *square += (x - mean) * (x - mean) / n;
            }
        }
        for (k, deviation) in scale.feature_deviations.iter_mut().enumerate() {
            *deviation = deviation.sqrt();
            // What rounding leaves of a constant is no deviation.
            if *deviation <= 1e-12 * scale.feature_means[k].abs() || *deviation == 0.0 {
                *deviation = 1.0;
                scale.constant.push(names[k].clone());
            }
        }
        for row in rows.chunks_exact_mut(d) {
            for (k, x) in row.iter_mut().enumerate() {
                *x = (*x - scale.feature_means[k]) / scale.feature_deviations[k];
            }
        }
        scale
    }
}

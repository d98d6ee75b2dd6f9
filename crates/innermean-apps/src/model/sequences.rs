//! Classifiers of steps, kept.

use innermean::Solution;
use innermean::problems::sequences::probabilities;
use innermean_data::OutColumn;
use serde::{Deserialize, Serialize};

use super::columns::{NewRows, in_order};
use super::{ModelError, ModelKind, check_rows};
use crate::error::Error;
use crate::run::Task;
use crate::sequences::{Scale, SequencesTask, predicted_columns};

/// What gives the steps of sequences their classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SequencesModel {
    /// The names of the features.
    pub features: Vec<String>,
    /// The classes.
    pub classes: Vec<String>,
    /// For each class, a coefficient for each feature less its mean and over its deviation.
    pub coefficients: Vec<Vec<f64>>,
    /// One for each class.
    pub intercepts: Vec<f64>,
    /// The means and deviations of the features.
    #[serde(flatten)]
    pub scale: Scale,
    /// Columns of the fitted file that are no features.
    pub other_columns: Vec<String>,
    /// The weight of `|theta|^2 / 2`.
    pub l2: f64,
    /// The length of the n-grams that it was fitted to.
    pub order: usize,
}

impl From<SequencesModel> for ModelKind {
    fn from(model: SequencesModel) -> Self {
        ModelKind::Sequences(model)
    }
}

impl SequencesModel {
    /// What a run has found for a task.
    pub fn of(task: &SequencesTask, solution: &Solution) -> Self {
        let features = task.steps().feature_names.clone();
        debug_assert_eq!(solution.theta.len(), task.coordinates().len());
        let of_classes = solution.theta.chunks_exact(features.len() + 1);
        SequencesModel {
            classes: task.language().names.clone(),
            coefficients: of_classes.clone().map(|row| row[..features.len()].to_vec()).collect(),
            intercepts: of_classes.map(|row| row[features.len()]).collect(),
            scale: task.scale().clone(),
            other_columns: Vec::new(),
            l2: task.settings().l2,
            order: task.language().model.order(),
            features,
        }
    }

    pub(super) fn check(&self) -> Result<(), &'static str> {
        check_rows(&self.features, &self.coefficients, &self.intercepts)?;
        if self.classes.len() != self.coefficients.len() || self.intercepts.is_empty() {
            return Err("its classes do not go with its coefficients");
        }
        let Scale { feature_means, feature_deviations, .. } = &self.scale;
        let d = self.features.len();
        if feature_means.len() != d
            || feature_deviations.len() != d
            || !feature_means.iter().all(|mean| mean.is_finite())
            || !feature_deviations.iter().all(|size| size.is_finite() && *size > 0.0)
        {
            return Err("its means and deviations do not go with its features");
        }
        Ok(())
    }

    /// The probabilities of all classes for every row.
    ///
    /// # Errors
    /// If a feature is missing among the columns.
    pub fn probabilities(&self, rows: &NewRows<'_>) -> Result<Vec<f64>, Error> {
        let NewRows::Dense { names, values } = *rows else {
            return Err(ModelError::NoSparseRows("sequences").into());
        };
        let rows = self.coefficients.iter().zip(&self.intercepts);
        let theta: Vec<f64> =
            rows.flat_map(|(row, intercept)| row.iter().chain([intercept])).copied().collect();
        let mut found = Vec::new();
        in_order(&self.features, names, values, |part| {
            self.scale.apply(part);
            found.extend(probabilities(self.features.len(), part, &theta));
        })?;
        Ok(found)
    }

    pub(super) fn predict(&self, rows: &NewRows<'_>) -> Result<Vec<(String, OutColumn)>, Error> {
        Ok(predicted_columns(&self.classes, &self.probabilities(rows)?))
    }
}

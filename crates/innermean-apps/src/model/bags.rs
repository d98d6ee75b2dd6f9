//! Models of rows in groups, kept.

use innermean::Solution;
use innermean::problems::scaling::Scaling;
use innermean_data::OutColumn;
use serde::{Deserialize, Serialize};

use super::columns::{NewRows, in_order};
use super::{ModelError, ModelKind, check_rows, flat, rows_and_intercepts};
use crate::bags::{BagLink, BagLoss, BagTask, predicted_columns, row_predictions};
use crate::error::Error;
use crate::penalty::Penalty;

/// What predicts a row from its features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BagModel {
    /// The names of the features.
    pub features: Vec<String>,
    /// A row with a coefficient for each feature, in the units of the data; one for each class of
    /// several.
    pub coefficients: Vec<Vec<f64>>,
    /// One for each row of coefficients; none if there is no intercept.
    pub intercepts: Vec<f64>,
    /// What a row's score becomes.
    pub link: BagLink,
    /// The loss of a group's average.
    pub loss: BagLoss,
    /// The name of the label, or the classes.
    pub labels: Vec<String>,
    /// Columns of the fitted file that are no features.
    pub other_columns: Vec<String>,
    /// Norms of the coefficients.
    pub penalty: Penalty,
    /// The units in which scores are found, if columns were brought to one scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scaling: Option<Scaling>,
}

impl From<BagModel> for ModelKind {
    fn from(model: BagModel) -> Self {
        ModelKind::Bags(model)
    }
}

impl BagModel {
    /// What a run has found for a task.
    pub fn of(task: &BagTask, solution: &Solution) -> Self {
        let (data, settings) = (task.data(), task.settings());
        let classes = data.label_names().len();
        let (coefficients, intercepts) =
            rows_and_intercepts(&solution.theta, data.feature_names().len(), classes);
        BagModel {
            features: data.feature_names().to_vec(),
            coefficients,
            intercepts,
            link: settings.link,
            loss: task.loss(),
            labels: data.label_names().to_vec(),
            other_columns: Vec::new(),
            penalty: settings.penalty,
            scaling: task.scaling().is_on().then(|| task.scaling().clone()),
        }
    }

    pub(super) fn check(&self) -> Result<(), &'static str> {
        check_rows(&self.features, &self.coefficients, &self.intercepts)?;
        let several = self.link == BagLink::Softmax;
        if self.labels.len() != self.coefficients.len() || several != (self.labels.len() > 1) {
            return Err("its labels do not go with its link and coefficients");
        }
        let classes = self.labels.len();
        if self.scaling.as_ref().is_some_and(|units| !units.is_for(self.features.len(), classes)) {
            return Err("its scaling does not go with its features");
        }
        Ok(())
    }

    pub(super) fn predict(&self, rows: &NewRows<'_>) -> Result<Vec<(String, OutColumn)>, Error> {
        let NewRows::Dense { names, values } = *rows else {
            return Err(ModelError::NoSparseRows("bags").into());
        };
        let predictions = self.of_columns(names, values)?;
        Ok(predicted_columns(self.link, &self.labels, &predictions))
    }

    /// One number or one for each class, for rows with the features in the order of the model.
    pub(crate) fn predictions(&self, rows: &[f64]) -> Result<Vec<f64>, Error> {
        self.of_columns(&self.features, rows)
    }

    fn of_columns(&self, names: &[String], values: &[f64]) -> Result<Vec<f64>, Error> {
        let theta = flat(&self.coefficients, &self.intercepts);
        let theta = match &self.scaling {
            Some(scaling) => scaling.scaled(&theta),
            None => theta,
        };
        let (d, intercept) = (self.features.len(), !self.intercepts.is_empty());
        let mut predictions = Vec::with_capacity(values.len() / names.len().max(1));
        let mut refused = None;
        in_order(&self.features, names, values, |part| {
            self.scaling.iter().for_each(|scaling| scaling.apply(part));
            let rows = part.to_vec();
            match row_predictions(self.link, self.labels.len(), d, intercept, rows, &theta) {
                Ok(found) => predictions.extend(found),
                Err(error) => refused = Some(error),
            }
        })?;
        refused.map_or(Ok(predictions), |error| Err(error.into()))
    }
}

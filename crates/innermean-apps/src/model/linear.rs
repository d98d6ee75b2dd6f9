//! Linear models kept.

use innermean::Solution;
use innermean::collapse::Row;
use innermean::problems::scaling::Scaling;
use innermean_data::{OutColumn, SparseTable};
use serde::{Deserialize, Serialize};

use super::columns::{NewRows, in_order, sparse_places};
use super::{ModelKind, check_rows, flat, rows_and_intercepts};
use crate::error::Error;
use crate::linear::{LinearSettings, LinearTask, predicted_columns};

/// What predicts a number or a class from features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinearModel {
    /// The names of the features.
    pub features: Vec<String>,
    /// A row with a coefficient for each feature, in the units of the data.
    pub coefficients: Vec<Vec<f64>>,
    /// One for each row of coefficients; none if there is no intercept.
    pub intercepts: Vec<f64>,
    /// The classes; of two, scores above 0 speak for the second. None where numbers are predicted.
    pub classes: Vec<String>,
    /// The column that is predicted, where it has a name.
    pub target: Option<String>,
    /// Columns of the fitted file that are no features.
    pub other_columns: Vec<String>,
    /// Loss, widths and penalties.
    pub settings: LinearSettings,
    /// h of the loss, given or found.
    pub width: Option<f64>,
    /// The units in which scores are found, if columns were brought to one scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scaling: Option<Scaling>,
    /// Whether it was fitted to sparse rows.
    pub sparse: bool,
}

impl From<LinearModel> for ModelKind {
    fn from(model: LinearModel) -> Self {
        ModelKind::Linear(model)
    }
}

impl LinearModel {
    /// What a run has found for a task.
    pub fn of(task: &LinearTask, solution: &Solution) -> Self {
        let data = task.data();
        let (coefficients, intercepts) =
            rows_and_intercepts(&solution.theta, data.names().len(), 1);
        let classes = data.target().classes();
        LinearModel {
            features: data.names().to_vec(),
            coefficients,
            intercepts,
            classes: classes
                .map_or(Vec::new(), |two| vec![two.negative.clone(), two.positive.clone()]),
            target: None,
            other_columns: Vec::new(),
            settings: *task.settings(),
            width: task.width(),
            scaling: task.scaling().is_on().then(|| task.scaling().clone()),
            sparse: task.is_sparse(),
        }
    }

    pub(super) fn check(&self) -> Result<(), &'static str> {
        check_rows(&self.features, &self.coefficients, &self.intercepts)?;
        let numbers = self.coefficients.len() == 1 && self.classes.is_empty();
        let two = self.coefficients.len() == 1 && self.classes.len() == 2;
        if !(numbers || two) || numbers == self.settings.loss.is_of_classes() {
            return Err("its classes do not go with its loss and coefficients");
        }
        if self.scaling.as_ref().is_some_and(|scaling| !scaling.is_for(self.features.len(), 1)) {
            return Err("its scaling does not go with its features");
        }
        Ok(())
    }

    /// Coefficients and intercept in the units in which scores are found.
    fn theta(&self) -> Vec<f64> {
        let theta = flat(&self.coefficients, &self.intercepts);
        self.scaling.as_ref().map_or_else(|| theta.clone(), |scaling| scaling.scaled(&theta))
    }

    /// The score of every row.
    ///
    /// # Errors
    /// If a feature is missing among the columns.
    pub fn scores(&self, rows: &NewRows<'_>) -> Result<Vec<f64>, Error> {
        match *rows {
            NewRows::Dense { names, values } => {
                let mut scores = Vec::with_capacity(values.len() / names.len().max(1));
                let (theta, d) = (self.theta(), self.features.len());
                let mut row_with_one = Vec::with_capacity(d + 1);
                in_order(&self.features, names, values, |part| {
                    self.scaling.iter().for_each(|scaling| scaling.apply(part));
                    for row in part.chunks_exact(d) {
                        row_with_one.clear();
                        row_with_one.extend_from_slice(row);
                        row_with_one.resize(theta.len(), 1.0);
                        scores.push(Row::Dense(&row_with_one).dot(&theta));
                    }
                })?;
                Ok(scores)
            }
            NewRows::Sparse(table) if self.sparse => Ok(self.sparse_scores(table)),
            NewRows::Sparse(table) => {
                let places = sparse_places(&self.features, table);
                let d = self.features.len();
                let mut row = vec![0.0; d];
                let mut scores = Vec::with_capacity(table.rows());
                for i in 0..table.rows() {
                    row.fill(0.0);
                    let (columns, values) = table.row(i);
                    for (&column, &value) in columns.iter().zip(values) {
                        if let Some(l) = places[column as usize] {
                            row[l as usize] = value;
                        }
                    }
                    let rows = NewRows::Dense { names: &self.features, values: &row };
                    scores.extend(self.scores(&rows)?);
                }
                Ok(scores)
            }
        }
    }

    /// As a sparse fit adds them up: entries in the order of the features, then the intercept.
    fn sparse_scores(&self, table: &SparseTable) -> Vec<f64> {
        let places = sparse_places(&self.features, table);
        let (theta, d) = (self.theta(), self.features.len());
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        let score = |i: usize| {
            columns.clear();
            values.clear();
            let (of_row, numbers) = table.row(i);
            for (&column, &value) in of_row.iter().zip(numbers) {
                if let Some(l) = places[column as usize] {
                    columns.push(l);
                    values.push(value);
                }
            }
            if theta.len() > d {
                columns.push(d as u32);
                values.push(1.0);
            }
            Row::Sparse(&columns, &values).dot(&theta)
        };
        (0..table.rows()).map(score).collect()
    }

    pub(super) fn predict(&self, rows: &NewRows<'_>) -> Result<Vec<(String, OutColumn)>, Error> {
        Ok(predicted_columns(&self.classes, self.settings.loss, &self.scores(rows)?))
    }
}

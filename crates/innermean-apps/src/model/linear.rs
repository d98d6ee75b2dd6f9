//! Linear models kept.

use innermean::Solution;
use innermean::collapse::Row;
use innermean::problems::scaling::Scaling;
use innermean_data::OutColumn;
use serde::{Deserialize, Serialize};

use super::columns::{NewRows, in_order, sparse_places};
use super::{ModelKind, check_rows, flat, rows_and_intercepts};
use crate::error::Error;
use crate::linear::{LinearSettings, LinearTask, Loss, Probabilities, Rows, predicted_columns};

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
            rows_and_intercepts(&solution.theta, data.names().len(), data.target().width());
        LinearModel {
            features: data.names().to_vec(),
            coefficients,
            intercepts,
            classes: data.target().class_names(),
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
        let several = self.classes.len() > 2
            && self.classes.len() == self.coefficients.len()
            && self.settings.loss == Loss::Logistic;
        if !(numbers || two || several) || numbers == self.settings.loss.is_of_classes() {
            return Err("its classes do not go with its loss and coefficients");
        }
        let (d, rows) = (self.features.len(), self.coefficients.len());
        if self.scaling.as_ref().is_some_and(|scaling| !scaling.is_for(d, rows)) {
            return Err("its scaling does not go with its features");
        }
        Ok(())
    }

    /// The score of every row; of several classes, their probabilities.
    ///
    /// # Errors
    /// If a feature is missing among the columns.
    pub fn scores(&self, rows: &NewRows<'_>) -> Result<Vec<f64>, Error> {
        let d = self.features.len();
        match *rows {
            NewRows::Dense { names, values } => {
                let mut scores = Vec::with_capacity(values.len() / names.len().max(1));
                let mut scorer = Scorer::new(self);
                in_order(&self.features, names, values, |part| {
                    self.scaling.iter().for_each(|scaling| scaling.apply(part));
                    for row in part.chunks_exact(d) {
                        scorer.dense(row, &mut scores);
                    }
                })?;
                Ok(scores)
            }
            NewRows::Sparse(table) => {
                let places = sparse_places(&self.features, table);
                let entries = |i: usize| {
                    let (columns, values) = table.row(i);
                    let known = columns.iter().zip(values);
                    known.filter_map(|(&j, &x)| places[j as usize].map(|l| (l, x)))
                };
                Ok(self.sparse_scores((0..table.rows()).map(entries)))
            }
        }
    }

    /// The score of every row, with the features in the order of the model.
    pub(crate) fn scores_of(&self, rows: &Rows) -> Vec<f64> {
        match rows {
            Rows::Dense(values) => {
                let (d, mut scores) = (self.features.len(), Vec::new());
                values.visit(d, 0..values.len() / d, |_, values| {
                    let rows = NewRows::Dense { names: &self.features, values };
                    let own = self.scores(&rows).expect("the names are those of the model");
                    scores.extend(own);
                });
                scores
            }
            Rows::Wide(values) => {
                let d = self.features.len();
                let all: Vec<usize> = (0..values.len() / (d + 1)).collect();
                self.scores_of(&rows.select(&all, d))
            }
            Rows::Sparse { indptr, indices, values } => {
                let entries = |row: &[usize]| {
                    let own = row[0]..row[1];
                    indices[own.clone()].iter().copied().zip(values[own].iter().copied())
                };
                self.sparse_scores(indptr.windows(2).map(entries))
            }
        }
    }

    /// The scores of rows by their entries, in the order of the features.
    fn sparse_scores<I: Iterator<Item = (u32, f64)>>(
        &self,
        rows: impl Iterator<Item = I>,
    ) -> Vec<f64> {
        let mut scorer = Scorer::new(self);
        let mut dense = vec![0.0; if self.sparse { 0 } else { self.features.len() }];
        let mut scores = Vec::new();
        for entries in rows {
            if self.sparse {
                scorer.sparse(entries, &mut scores);
                continue;
            }
            dense.fill(0.0);
            entries.for_each(|(l, x)| dense[l as usize] = x);
            self.scaling.iter().for_each(|scaling| scaling.apply(&mut dense));
            scorer.dense(&dense, &mut scores);
        }
        scores
    }

    pub(super) fn predict(&self, rows: &NewRows<'_>) -> Result<Vec<(String, OutColumn)>, Error> {
        Ok(predicted_columns(&self.classes, self.settings.loss, &self.scores(rows)?))
    }
}

/// Adds up scores as a fit does: the intercept is the coefficient of a one after the features.
struct Scorer {
    theta: Vec<f64>,
    d: usize,
    /// Of several classes, their probabilities.
    classes: Option<Probabilities>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Scorer {
    fn new(model: &LinearModel) -> Self {
        let theta = flat(&model.coefficients, &model.intercepts);
        let theta = match &model.scaling {
            Some(scaling) => scaling.scaled(&theta),
            None => theta,
        };
        let (d, rows) = (model.features.len(), model.coefficients.len());
        let classes = (rows > 1).then(|| Probabilities::new(&theta, d, rows));
        Scorer { theta, d, classes, columns: Vec::new(), values: Vec::new() }
    }

    /// How many numbers a row has with the 1 at its end.
    fn width(&self) -> usize {
        self.classes.as_ref().map_or(self.theta.len(), Probabilities::width)
    }

    fn dense(&mut self, row: &[f64], out: &mut Vec<f64>) {
        self.values.clear();
        self.values.extend_from_slice(row);
        self.values.resize(self.width(), 1.0);
        self.add(Row::Dense(&self.values), out);
    }

    fn add(&self, row: Row<'_>, out: &mut Vec<f64>) {
        match &self.classes {
            Some(probabilities) => probabilities.add(row, out),
            None => out.push(row.dot(&self.theta)),
        }
    }

    fn sparse(&mut self, entries: impl Iterator<Item = (u32, f64)>, out: &mut Vec<f64>) {
        self.columns.clear();
        self.values.clear();
        for (column, value) in entries {
            self.columns.push(column);
            self.values.push(value);
        }
        if self.width() > self.d {
            self.columns.push(self.d as u32);
            self.values.push(1.0);
        }
        self.add(Row::Sparse(&self.columns, &self.values), out);
    }
}

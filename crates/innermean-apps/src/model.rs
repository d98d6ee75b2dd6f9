//! Fitted models as files: what a fit has found, kept to be applied to other rows.
//!
//! A [`Model`] is JSON with the names of its features, so that columns are matched by name, and
//! with the certificate of the fit that it comes from. Its predictions are bit for bit those of
//! that fit for the same rows.
//!
//! ```
//! use innermean_apps::linear::{LinearData, LinearSettings, LinearTask, Rows, Target};
//! use innermean_apps::model::{LinearModel, Model, NewRows};
//! use innermean_apps::run::{Solver, Task, Watch};
//! use innermean_data::OutColumn;
//!
//! let names = vec!["x".to_owned(), "z".to_owned()];
//! let rows = Rows::dense(vec![0.0, 1.0, 1.0, 0.0, 2.0, 2.0, 3.0, 1.0]);
//! let data = LinearData::new(names, rows, Target::Numbers(vec![2.0, 3.0, 7.0, 8.0]))?;
//! let task = LinearTask::new(data, &LinearSettings::default())?;
//! let fit = task.fit(&Solver::default(), Watch::by(&mut ()))?;
//! let model = Model::new(LinearModel::of(&task, &fit.solution), &fit.solution, fit.method)?;
//!
//! let again = Model::parse(&model.to_json())?;
//! // The columns of other rows may come in any order.
//! let names = ["z".to_owned(), "x".to_owned()];
//! let columns = again.predict(&NewRows::Dense { names: &names, values: &[1.0, 3.0] })?;
//! assert_eq!(columns[0], ("prediction".to_owned(), OutColumn::Numbers(vec![fit.answer.scores[3]])));
//! # Ok::<(), innermean_apps::Error>(())
//! ```

use std::collections::HashMap;

use innermean::{Certificate, Solution, Status};
use innermean_data::{Keys, OutColumn, visible};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Place};
use crate::wording::numbers::some_of;

mod bags;
mod columns;
mod linear;
mod policy;
mod sequences;

pub use bags::BagModel;
pub use columns::{NewRows, match_columns};
pub use linear::LinearModel;
pub use policy::PolicyModel;
pub use sequences::SequencesModel;

/// What the first field of every model says.
pub const FORMAT: &str = "innermean-model";
/// The version of the format that is written; files of others are refused.
pub const VERSION: u64 = 1;

/// A fitted model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Model {
    format: String,
    version: u64,
    /// The version of the program that wrote it.
    innermean: String,
    /// What is predicted, and how.
    #[serde(flatten)]
    pub kind: ModelKind,
    /// The run that it comes from.
    pub fit: FitRecord,
}

/// The models of the applications.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelKind {
    /// Of [`crate::linear`].
    Linear(LinearModel),
    /// Of [`crate::bags`].
    Bags(BagModel),
    /// Of [`crate::sequences`].
    Sequences(SequencesModel),
    /// Of [`crate::policy`].
    Policy(PolicyModel),
}

/// The run that a model comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FitRecord {
    /// How it ended.
    pub status: Status,
    /// The objective at the coefficients.
    pub objective: f64,
    /// How far from optimal they are, as far as it is proven.
    pub certificate: Certificate,
    /// The method that it ended with.
    pub method: String,
}

/// Why a model, or the rows that it is applied to, are refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Some other file.
    #[error("is no model of innermean ({0}); expected a file that `model=FILE` wrote")]
    NotAModel(String),
    /// A version that is not known here.
    #[error(
        "is a model of version {0}, which this innermean does not know; expected version \
         {VERSION}, or a newer innermean"
    )]
    OtherVersion(u64),
    /// A kind that is not known here.
    #[error("is a model of the kind '{0}'; expected linear, bags, sequences or policy")]
    OtherKind(String),
    /// A model that has been changed or cut off.
    #[error("is a damaged model: {0}; expected it as `model=FILE` wrote it")]
    Damaged(String),
    /// A fit that is not one.
    #[error(
        "the coefficients are not finite, so that there is no model to keep; expected a fit that \
         does not diverge (`l2` keeps coefficients small)"
    )]
    NotFinite,
    /// A feature that the rows do not have.
    #[error("there is no column '{name}', which the model needs; the columns are {}", some_of(.columns))]
    MissingColumn {
        /// The feature.
        name: String,
        /// The columns that are there.
        columns: Vec<String>,
    },
    /// Columns that the model does not know.
    #[error(
        "the model does not know the column{} {}; expected its features ({}) alone, or \
         `ignore_extra`",
        if .extra.len() == 1 { "" } else { "s" }, some_of(.extra), some_of(.features)
    )]
    ExtraColumns {
        /// Which.
        extra: Vec<String>,
        /// What it knows.
        features: Vec<String>,
    },
    /// A state of which nothing is known.
    #[error("state '{state}' is none of the {known} states of the model; expected one of them{}",
        if *.features { ", or its features" } else { "" }
    )]
    UnknownState {
        /// The row that names it.
        row: usize,
        /// Its name.
        state: String,
        /// How many are known.
        known: usize,
        /// Whether the model can value features.
        features: bool,
    },
    /// Rows where states are needed.
    #[error("the model has a value for each state and no features; expected a column of states")]
    NeedsStates,
    /// A question that the model does not answer.
    #[error("a model of the kind {0} has no states; expected rows with its features")]
    NoStates(&'static str),
    /// Sparse rows for a model of dense ones.
    #[error("a model of the kind {0} takes no sparse rows; expected a table")]
    NoSparseRows(&'static str),
}

impl ModelError {
    pub(crate) fn place(&self) -> Option<Place> {
        match self {
            ModelError::UnknownState { row, .. } => Some(Place::Row(*row)),
            ModelError::NotFinite => None,
            _ => Some(Place::Data),
        }
    }
}

impl Model {
    /// A model that comes from a run.
    ///
    /// # Errors
    /// If the coefficients are not finite.
    pub fn new(
        kind: impl Into<ModelKind>,
        solution: &Solution,
        method: &str,
    ) -> Result<Self, Error> {
        if !solution.theta.iter().all(|x| x.is_finite()) || !solution.objective.is_finite() {
            return Err(ModelError::NotFinite.into());
        }
        Ok(Model {
            format: FORMAT.to_owned(),
            version: VERSION,
            innermean: env!("CARGO_PKG_VERSION").to_owned(),
            kind: kind.into(),
            fit: FitRecord {
                status: solution.status,
                objective: solution.objective,
                certificate: solution.certificate,
                method: method.to_owned(),
            },
        })
    }

    /// The model in a text.
    ///
    /// # Errors
    /// If it is none, or one of another version or kind, or is not as it was written.
    pub fn parse(text: &str) -> Result<Self, Error> {
        #[derive(Deserialize)]
        struct Head {
            format: String,
            version: u64,
            kind: String,
        }
        let head: Head = serde_json::from_str(text)
            .map_err(|error| ModelError::NotAModel(one_line(&error.to_string())))?;
        if head.format != FORMAT {
            let found = format!("its format is '{}'", one_line(&head.format));
            return Err(ModelError::NotAModel(found).into());
        }
        if head.version != VERSION {
            return Err(ModelError::OtherVersion(head.version).into());
        }
        if !["linear", "bags", "sequences", "policy"].contains(&head.kind.as_str()) {
            return Err(ModelError::OtherKind(one_line(&head.kind)).into());
        }
        let model: Model = serde_json::from_str(text)
            .map_err(|error| ModelError::Damaged(one_line(&error.to_string())))?;
        let checked = match &model.kind {
            ModelKind::Linear(model) => model.check(),
            ModelKind::Bags(model) => model.check(),
            ModelKind::Sequences(model) => model.check(),
            ModelKind::Policy(model) => model.check(),
        };
        checked.map_err(|what| ModelError::Damaged(what.to_owned()))?;
        Ok(model)
    }

    /// The text of a file, which [`parse`](Self::parse) reads back to the last bit.
    pub fn to_json(&self) -> String {
        // Names and numbers, so that this does not fail.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// The name of its kind.
    pub fn kind_name(&self) -> &'static str {
        match self.kind {
            ModelKind::Linear(_) => "linear",
            ModelKind::Bags(_) => "bags",
            ModelKind::Sequences(_) => "sequences",
            ModelKind::Policy(_) => "policy",
        }
    }

    /// The columns that it needs, in the order of its coefficients; none for a policy whose states
    /// have values of their own.
    pub fn features(&self) -> &[String] {
        match &self.kind {
            ModelKind::Linear(model) => &model.features,
            ModelKind::Bags(model) => &model.features,
            ModelKind::Sequences(model) => &model.features,
            ModelKind::Policy(model) => &model.features,
        }
    }

    /// Columns of the file that it was fitted to that are not features: others may have them too.
    pub fn other_columns(&self) -> &[String] {
        match &self.kind {
            ModelKind::Linear(model) => &model.other_columns,
            ModelKind::Bags(model) => &model.other_columns,
            ModelKind::Sequences(model) => &model.other_columns,
            ModelKind::Policy(model) => &model.other_columns,
        }
    }

    /// What it predicts for rows of features, as columns with names.
    ///
    /// # Errors
    /// If a feature is missing among the columns, or rows are of another sort.
    pub fn predict(&self, rows: &NewRows<'_>) -> Result<Vec<(String, OutColumn)>, Error> {
        match &self.kind {
            ModelKind::Linear(model) => model.predict(rows),
            ModelKind::Bags(model) => model.predict(rows),
            ModelKind::Sequences(model) => model.predict(rows),
            ModelKind::Policy(model) => model.predict(rows),
        }
    }

    /// The values of states by name, of a policy.
    ///
    /// # Errors
    /// If it is no policy, or does not know a state.
    pub fn values(&self, states: &Keys) -> Result<Vec<(String, OutColumn)>, Error> {
        match &self.kind {
            ModelKind::Policy(model) => model.values_of(states),
            _ => Err(ModelError::NoStates(self.kind_name()).into()),
        }
    }
}

/// Where each of `names` stands among `known`.
fn match_exactly(known: &[String], names: &[String]) -> Vec<Option<usize>> {
    let places: HashMap<&str, usize> =
        known.iter().enumerate().map(|(k, name)| (name.as_str(), k)).collect();
    names.iter().map(|name| places.get(name.as_str()).copied()).collect()
}

/// What a file says, on one line and not too long.
fn one_line(text: &str) -> String {
    const MOST: usize = 200;
    let text = visible(text);
    let mut shown: String = text.chars().take(MOST).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    shown
}

/// Whether there is a coefficient for each feature in every row, an intercept for each row or none,
/// and all are finite.
fn check_rows(
    features: &[String],
    coefficients: &[Vec<f64>],
    intercepts: &[f64],
) -> Result<(), &'static str> {
    if features.is_empty() || coefficients.is_empty() {
        return Err("it has no features or no coefficients");
    }
    if coefficients.iter().any(|row| row.len() != features.len()) {
        return Err("it has not as many coefficients as features");
    }
    if !intercepts.is_empty() && intercepts.len() != coefficients.len() {
        return Err("it has not as many intercepts as rows of coefficients");
    }
    if !coefficients.iter().flatten().chain(intercepts).all(|x| x.is_finite()) {
        return Err("a coefficient is not finite");
    }
    Ok(())
}

/// The coefficients of all classes, then their intercepts, as theta has them.
fn flat(coefficients: &[Vec<f64>], intercepts: &[f64]) -> Vec<f64> {
    coefficients.iter().flatten().chain(intercepts).copied().collect()
}

/// The reverse: rows of `width` coefficients, and intercepts after them all if there are some.
fn rows_and_intercepts(theta: &[f64], width: usize, classes: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
    let (head, tail) = theta.split_at(width * classes);
    (head.chunks_exact(width).map(<[f64]>::to_vec).collect(), tail.to_vec())
}

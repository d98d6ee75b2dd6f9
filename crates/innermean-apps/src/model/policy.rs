//! Values of states, kept.

use innermean::{Solution, StateFeatures};
use innermean_data::{Keys, OutColumn};
use serde::{Deserialize, Serialize};

use super::columns::{NewRows, in_order};
use super::{ModelError, ModelKind};
use crate::error::Error;
use crate::policy::{PolicySettings, PolicyTask};
use crate::run::Task;

/// What states are worth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PolicyModel {
    /// The names of the features of states; none where every state has a value of its own.
    pub features: Vec<String>,
    /// A coefficient for each feature.
    pub coefficients: Vec<f64>,
    /// The states that were seen.
    pub states: Vec<String>,
    /// Their values, zero where an episode ends.
    pub values: Vec<f64>,
    /// The weight of what comes a step later.
    pub discount: f64,
    /// Objective, ends of episodes and penalties.
    pub settings: PolicySettings,
    /// Columns of the fitted file that are no features.
    pub other_columns: Vec<String>,
}

impl From<PolicyModel> for ModelKind {
    fn from(model: PolicyModel) -> Self {
        ModelKind::Policy(model)
    }
}

impl PolicyModel {
    /// What a run has found for a task.
    pub fn of(task: &PolicyTask, solution: &Solution) -> Self {
        let (features, coefficients) = if task.is_one_hot() {
            (Vec::new(), Vec::new())
        } else {
            (task.coordinates().to_vec(), solution.theta.clone())
        };
        PolicyModel {
            features,
            coefficients,
            states: task.states().to_vec(),
            values: task.values(&solution.theta),
            discount: task.discount(),
            settings: task.settings().clone(),
            other_columns: Vec::new(),
        }
    }

    pub(super) fn check(&self) -> Result<(), &'static str> {
        if self.coefficients.len() != self.features.len() {
            return Err("it has not as many coefficients as features");
        }
        if self.values.len() != self.states.len() {
            return Err("it has not as many values as states");
        }
        if !self.coefficients.iter().chain(&self.values).all(|x| x.is_finite()) {
            return Err("a number is not finite");
        }
        Ok(())
    }

    /// The values of rows of features.
    pub(super) fn predict(&self, rows: &NewRows<'_>) -> Result<Vec<(String, OutColumn)>, Error> {
        let NewRows::Dense { names, values } = *rows else {
            return Err(ModelError::NoSparseRows("policy").into());
        };
        if self.features.is_empty() {
            return Err(ModelError::NeedsStates.into());
        }
        let mut found = Vec::with_capacity(values.len() / names.len().max(1));
        in_order(&self.features, names, values, |part| {
            let part = StateFeatures::Rows { d: self.features.len(), rows: part.to_vec() };
            found.extend(part.values(&self.coefficients));
        })?;
        Ok(vec![("value".to_owned(), OutColumn::Numbers(found))])
    }

    /// The values of states by name.
    pub(super) fn values_of(&self, states: &Keys) -> Result<Vec<(String, OutColumn)>, Error> {
        let places = super::match_exactly(&self.states, &states.names);
        if let Some(row) = states.codes.iter().position(|&code| places[code as usize].is_none()) {
            return Err(ModelError::UnknownState {
                row,
                state: states.text(row).to_owned(),
                known: self.states.len(),
                features: !self.features.is_empty(),
            }
            .into());
        }
        let value =
            |&code: &u32| places[code as usize].map_or(f64::NAN, |place| self.values[place]);
        let values = states.codes.iter().map(value).collect();
        Ok(vec![("value".to_owned(), OutColumn::Numbers(values))])
    }
}

//! What theta says about the states.

use serde::Serialize;

use super::{ClosedForm, InitialValue};

/// What theta says about the states, or about the rows of a log whose states have no names.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PolicyAnswer {
    /// The names of all states; none where the rows of a log are described by their own features.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<String>,
    /// Their values, zero where an episode ends; without names, the values of the states that the
    /// rows leave.
    pub values: Vec<f64>,
    /// `V(s) - E[r + discount V(next)]`; none for a state that no transition leaves.
    pub residuals: Vec<Option<f64>>,
    /// For each state, the transitions that leave it, where they were seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visits: Option<Vec<u64>>,
    /// Over the states that are left.
    pub mean_squared_residual: f64,
    /// What the initial states are worth, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<InitialValue>,
    /// How many episodes a log has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub episodes: Option<usize>,
    /// The answer that linear algebra gives, to hold this one against.
    pub closed_form: ClosedForm,
}

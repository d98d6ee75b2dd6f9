//! Policy evaluation.

use innermean_apps::Error;
use innermean_apps::policy::{
    LogColumns, Marks, PolicyFeatures, PolicySettings, PolicyTask, Process,
};
use innermean_apps::run::Solver;
use innermean_data::{FeatureRows, Keys};
use numpy::{PyReadonlyArray1, PyReadonlyArrayDyn};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::fitted::{Finished, finish, fit};
use crate::arrays::vector;
use crate::errors::settings;
use crate::watch::Onlookers;

/// The states of transitions as Python has them.
#[derive(FromPyObject)]
enum States<'py> {
    /// A row of features for each.
    #[pyo3(transparent)]
    Rows(PyReadonlyArrayDyn<'py, f64>),
    /// Names, and which of them each is.
    #[pyo3(transparent)]
    Named((Vec<String>, PyReadonlyArray1<'py, u32>)),
}

/// The same on the way to the other thread.
enum Given {
    Rows(Vec<f64>),
    Named(Keys),
}

impl States<'_> {
    fn given(&self) -> Given {
        match self {
            States::Rows(rows) => Given::Rows(rows.as_array().iter().copied().collect()),
            States::Named((names, codes)) => {
                let mut keys = Keys::default();
                (keys.names, keys.codes) = (names.clone(), codes.as_array().to_vec());
                Given::Named(keys)
            }
        }
    }
}

/// What states are worth: from transitions between states by name, or by their features `names`.
/// Marks, episodes and ratios are what a log says of its steps, where it does.
#[pyfunction]
#[pyo3(signature = (states, next_states, rewards, names, task, solver, *, weights=None, terminated=None, truncated=None, episodes=None, ratios=None, callback=None))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn fit_policy<'py>(
    py: Python<'py>,
    states: &Bound<'py, PyAny>,
    next_states: &Bound<'py, PyAny>,
    rewards: PyReadonlyArray1<'py, f64>,
    names: Vec<String>,
    task: &str,
    solver: &str,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    terminated: Option<PyReadonlyArray1<'py, f64>>,
    truncated: Option<PyReadonlyArray1<'py, f64>>,
    episodes: Option<PyReadonlyArray1<'py, u32>>,
    ratios: Option<PyReadonlyArray1<'py, f64>>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let onlookers = Onlookers::of(callback);
    let (task, solver): (PolicySettings, Solver) = (settings(task)?, settings(solver)?);
    let given = states.extract::<States<'_>>()?.given();
    let next = next_states.extract::<States<'_>>()?.given();
    let (rewards, weights) = (vector(&rewards), weights.as_ref().map(|w| vector(w)));
    let marks = [("terminated", &terminated), ("truncated", &truncated)]
        .map(|(name, values)| values.as_ref().map(|values| (name, vector(values))));
    let episode = episodes.as_ref().map(|episodes| episodes.as_array().to_vec());
    let ratios = ratios.as_ref().map(|ratios| vector(ratios));
    let features = match given {
        Given::Rows(_) => PolicyFeatures::Own,
        Given::Named(_) => PolicyFeatures::OneHot,
    };
    finish(py, move |caller| {
        let mut process = match (given, next) {
            (Given::Named(from), Given::Named(next)) => {
                Process::of_transitions(from, &next, rewards, weights)
            }
            (Given::Rows(rows), Given::Rows(next)) => {
                Process::of_rows(FeatureRows { names, rows }, &next, rewards, weights)?
            }
            _ => unreachable!("both have names, or none"),
        };
        let mark = |given: Option<(&str, Vec<f64>)>| -> Result<Option<Marks>, Error> {
            given.map(|(name, values)| Marks::new(name.to_owned(), &values)).transpose()
        };
        let [done, truncated] = marks;
        process.seen = true;
        process.log =
            LogColumns { done: mark(done)?, truncated: mark(truncated)?, episode, ratios };
        let task = PolicyTask::new(process, features, &task)?;
        let found = fit(&task, &solver, caller, &onlookers)?;
        let values = found.answer.values.clone();
        Ok(Finished::of(found, None, vec![("values", values)]))
    })
}

//! What an application has found, as Python takes it.

use innermean::Solution;
use innermean_apps::Error;
use innermean_apps::run::{Fit, Solver, Task, Watch};
use innermean_apps::wording::Note;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;

use crate::arrays::array;
use crate::caller::{Caller, beside};
use crate::errors::{json, refused, spelled};
use crate::solution::{About, fields};
use crate::watch::{Onlookers, Watching};

/// A fit that has left the library.
pub(super) struct Finished {
    solution: Solution,
    about: About,
    /// What is no array.
    answer: serde_json::Result<serde_json::Value>,
    /// What makes it doubtful.
    warnings: Vec<String>,
    arrays: Vec<(&'static str, Vec<f64>)>,
}

/// Fits a task, on the thread of a run.
pub(super) fn fit<T: Task>(
    task: &T,
    solver: &Solver,
    caller: &Caller<'_>,
    onlookers: &Onlookers,
) -> Result<Fit<T::Answer>, Error> {
    let mut observer = Watching::new(onlookers, caller);
    task.fit(solver, Watch { observer: &mut observer, interrupt: Some(caller.interrupt) })
}

impl Finished {
    /// A fit with the arrays that belong to its answer, and what makes it doubtful.
    pub(super) fn of<A: Serialize>(
        fit: Fit<A>,
        doubt: Option<&Note>,
        arrays: Vec<(&'static str, Vec<f64>)>,
    ) -> Self {
        let is_warning = |note: &&Note| note.is_warning();
        let doubts = fit.notes.iter().filter(is_warning).chain(doubt);
        let warnings = doubts.map(|note| spelled(&note.to_string())).collect();
        let (answer, solution, about) = About::fit(fit);
        Finished { solution, about, answer: serde_json::to_value(&answer), warnings, arrays }
    }
}

/// Does the work of a fit beside the interpreter, and hands it over.
pub(super) fn finish(
    py: Python<'_>,
    work: impl FnOnce(&Caller<'_>) -> Result<Finished, Error> + Send,
) -> PyResult<Bound<'_, PyDict>> {
    let (found, error) = beside(py, work)?;
    let found = match (found, error) {
        (Ok(found), None) => found,
        (Ok(Finished { solution, about, .. }), error) => {
            let fitted = PyDict::new(py);
            fitted.set_item("result", fields(py, solution, &about, error)?)?;
            return Ok(fitted);
        }
        (Err(_), Some(error)) => return Err(error),
        (Err(refusal), None) => return Err(refused(&refusal)),
    };
    let answer = found.answer.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    let fitted = PyDict::new(py);
    fitted.set_item("result", fields(py, found.solution, &found.about, None)?)?;
    fitted.set_item("answer", json(py, &answer)?)?;
    fitted.set_item("warnings", found.warnings)?;
    for (name, values) in found.arrays {
        fitted.set_item(name, array(py, values))?;
    }
    Ok(fitted)
}

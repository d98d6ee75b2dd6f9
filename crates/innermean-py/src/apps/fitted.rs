//! What an application has found, as Python takes it.

use std::sync::atomic::Ordering;
use std::time::Instant;

use innermean::Solution;
use innermean::inference::Clusters;
use innermean_apps::Error;
use innermean_apps::run::inference::{Estimator, Inference, InferenceSettings};
use innermean_apps::run::{Fit, Solver, Task, Watch};
use innermean_apps::wording::Note;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;

use crate::arrays::array;
use crate::caller::{Caller, beside};
use crate::errors::{json, refused, settings, spelled};
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
    /// How sure it is, where that was asked for.
    inference: Option<Inference>,
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

/// Settings of standard errors as JSON, and the cluster of each row.
pub(super) type Errors<'py> = (String, Option<PyReadonlyArray1<'py, u32>>);

/// Standard errors, as they are asked for.
pub(super) struct Wanted {
    settings: InferenceSettings,
    clusters: Option<Clusters>,
}

impl Wanted {
    pub(super) fn new(given: Option<Errors<'_>>) -> PyResult<Option<Self>> {
        let Some((said, clusters)) = given else { return Ok(None) };
        let clusters = clusters.map(|codes| Clusters::new(codes.as_array().to_vec())).transpose();
        let clusters = clusters.map_err(|error| refused(&error))?;
        Ok(Some(Wanted { settings: settings(&said)?, clusters }))
    }

    /// [`fit`], and how sure it is. What the problem does not allow for is refused before.
    pub(super) fn fit<T: Estimator>(
        wanted: Option<&Self>,
        task: &T,
        solver: &Solver,
        caller: &Caller<'_>,
        onlookers: &Onlookers,
    ) -> Result<(Fit<T::Answer>, Option<Inference>), Error> {
        let begun = Instant::now();
        if let Some(Wanted { settings, clusters }) = wanted {
            settings.check(clusters.is_some())?;
            settings.check_problem(task.problem(), clusters.as_ref())?;
        }
        let found = fit(task, solver, caller, onlookers)?;
        let time_left = || {
            let left = |most: f64| most - begun.elapsed().as_secs_f64();
            let is_over = caller.interrupt.load(Ordering::Relaxed);
            if is_over { Some(0.0) } else { solver.stop.max_seconds.map(left) }
        };
        let inference = wanted.map(|Wanted { settings, clusters }| {
            let seed = solver.choice.seed;
            settings.infer(task, &found.solution, clusters.as_ref(), seed, &time_left)
        });
        Ok((found, inference))
    }
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
        let answer = serde_json::to_value(&answer);
        Finished { solution, about, answer, warnings, arrays, inference: None }
    }

    /// The same with a note, first.
    pub(super) fn noted(self, note: &str) -> Self {
        Finished { about: self.about.noted(note), ..self }
    }

    /// The same with standard errors, where there are some.
    pub(super) fn sure(self, inference: Option<Inference>) -> Self {
        Finished { inference, ..self }
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
    if let Some(inference) = found.inference {
        fitted.set_item("inference", json(py, &inference)?)?;
    }
    for (name, values) in found.arrays {
        fitted.set_item(name, array(py, values))?;
    }
    Ok(fitted)
}

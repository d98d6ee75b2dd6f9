//! What an application has found, as Python takes it.

use innermean::{Certificate, Solution, Status};
use innermean_apps::Error;
use innermean_apps::model::Model;
use innermean_apps::run::{Chosen, Fit, MethodSettings, Solver, Task, Watch};
use innermean_apps::wording::Note;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;

use crate::arrays::array;
use crate::caller::{Caller, beside};
use crate::errors::{refused, spelled};

/// A fit that has left the library: nothing of it belongs to Rust any more.
pub(super) struct Finished {
    solution: Solution,
    /// What is no array, as JSON.
    document: String,
    arrays: Vec<(&'static str, Vec<f64>)>,
    /// As the command line reads it.
    model: Option<String>,
}

/// All but the arrays.
#[derive(Serialize)]
struct Document<'a, A> {
    status: Status,
    title: &'static str,
    is_solved: bool,
    advice: String,
    method: &'a str,
    #[serde(flatten)]
    chosen: Option<&'a Chosen>,
    settings: &'a MethodSettings,
    objective: f64,
    certificate: Certificate,
    /// Why there is no gap, in words.
    reason: Option<String>,
    outer: u64,
    inner: u64,
    calls: u64,
    seconds: f64,
    coordinates: &'a [String],
    notes: Vec<String>,
    warnings: Vec<String>,
    answer: &'a A,
}

/// Fits a task, on the thread of a run.
pub(super) fn fit<T: Task>(
    task: &T,
    solver: &Solver,
    caller: &Caller<'_>,
) -> Result<Fit<T::Answer>, Error> {
    task.fit(solver, Watch { observer: &mut (), interrupt: Some(caller.interrupt) })
}

impl Finished {
    /// A fit with the arrays that belong to its answer, and what makes it doubtful.
    pub(super) fn of<T: Task>(
        task: &T,
        fit: Fit<T::Answer>,
        doubt: Option<&Note>,
        arrays: Vec<(&'static str, Vec<f64>)>,
    ) -> Result<Self, Error>
    where
        T::Answer: Serialize,
    {
        let solution = &fit.solution;
        let worded = |note: &Note| spelled(&note.to_string());
        let is_doubt = |note: &&Note| note.is_warning();
        let advice = format!("{} ({})", fit.advice.sentence, fit.advice.parameters);
        let document = Document {
            status: solution.status,
            title: solution.status.title(),
            is_solved: solution.status.is_solved(),
            advice: spelled(&advice),
            method: fit.method,
            chosen: fit.chosen.as_ref(),
            settings: &fit.settings,
            objective: solution.objective,
            certificate: solution.certificate,
            reason: solution.certificate.reason.map(|reason| reason.to_string()),
            outer: solution.outer,
            inner: solution.inner,
            calls: solution.calls.total(),
            seconds: solution.seconds,
            coordinates: task.coordinates(),
            notes: fit.notes.iter().filter(|note| !is_doubt(note)).map(worded).collect(),
            warnings: fit.notes.iter().filter(is_doubt).chain(doubt).map(worded).collect(),
            answer: &fit.answer,
        };
        let document = serde_json::to_string(&document)
            .unwrap_or_else(|error| unreachable!("names and numbers: {error}"));
        Ok(Finished { solution: fit.solution, document, arrays, model: None })
    }

    /// The same with a model, unless the fit is none.
    pub(super) fn keeping(mut self, model: Option<Model>) -> Self {
        self.model = model.map(|model| model.to_json());
        self
    }
}

/// Does the work of a fit beside the interpreter, and hands it over.
pub(super) fn finish<'py>(
    py: Python<'py>,
    work: impl FnOnce(&Caller<'_>) -> Result<Finished, Error> + Send,
) -> PyResult<Bound<'py, PyDict>> {
    let (found, error) = beside(py, work)?;
    if let Some(error) = error {
        return Err(error);
    }
    let Finished { solution, document, arrays, model } = found.map_err(|error| refused(&error))?;
    let fitted = PyDict::new(py);
    fitted.set_item("theta", array(py, solution.theta))?;
    fitted.set_item("document", document)?;
    fitted.set_item("model", model)?;
    for (name, values) in arrays {
        fitted.set_item(name, array(py, values))?;
    }
    Ok(fitted)
}

//! What a run returns, as plain values from which `innermean.Result` is made.

use innermean::auto::Attempt;
use innermean::{Calls, Certificate, Record, Solution, Status};
use innermean_apps::run::{Advice, Chosen, Fit, MethodSettings, Plan};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::arrays::array;
use crate::errors::{json, spelled};

/// What is said about a run beside its [`Solution`].
pub(crate) struct About {
    method: &'static str,
    settings: MethodSettings,
    chosen: Option<Chosen>,
    advice: Advice,
    notes: Vec<String>,
}

impl About {
    /// A run by a plan that ended so.
    pub(crate) fn plan(plan: Plan, status: Status) -> Self {
        About {
            method: plan.info.name,
            // Whoever makes a problem of parts has a g.
            advice: plan.advice(status, "g"),
            settings: plan.settings,
            chosen: plan.chosen,
            notes: Vec::new(),
        }
    }

    /// The same with a note of this face, first.
    pub(crate) fn noted(mut self, note: &str) -> Self {
        self.notes.insert(0, note.to_owned());
        self
    }

    /// A run of one method among several.
    pub(crate) fn run(method: &'static str, settings: MethodSettings, status: Status) -> Self {
        let advice = Advice { sentence: status.advice(), parameters: String::new() };
        About { method, settings, chosen: None, advice, notes: Vec::new() }
    }

    /// The run behind a fit, the fit's answer and solution aside.
    pub(crate) fn fit<A>(fit: Fit<A>) -> (A, Solution, Self) {
        let Fit { answer, solution, method, settings, chosen, advice, notes } = fit;
        let notes = notes.iter().map(|note| spelled(&note.to_string())).collect();
        (answer, solution, About { method, settings, chosen, advice, notes })
    }
}

/// The fields of `innermean.Result`. `error` is what Python ended the run with, if it did.
pub(crate) fn fields<'py>(
    py: Python<'py>,
    solution: Solution,
    about: &About,
    error: Option<PyErr>,
) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    let message = message(&solution, &about.advice);
    fields.set_item("objective", solution.objective)?;
    fields.set_item("certificate", certificate(py, &solution.certificate)?)?;
    fields.set_item("status", name(&solution.status))?;
    fields.set_item("success", solution.status.is_solved())?;
    fields.set_item("message", message)?;
    fields.set_item("calls", solution.calls.total())?;
    fields.set_item("calls_by_kind", calls(py, &solution.calls)?)?;
    fields.set_item("rows", solution.rows)?;
    fields.set_item("outer", solution.outer)?;
    fields.set_item("inner", solution.inner)?;
    fields.set_item("seconds", solution.seconds)?;
    fields.set_item("trace", trace(py, &solution.trace)?)?;
    fields.set_item("theta", array(py, solution.theta))?;
    fields.set_item("duals", solution.duals.map(|duals| array(py, duals)))?;
    fields.set_item("endless", solution.endless.map(|direction| array(py, direction)))?;
    fields.set_item("method", about.method)?;
    fields.set_item("settings", json(py, &about.settings)?)?;
    let chosen = about.chosen.as_ref();
    fields.set_item("reason", chosen.map(|chosen| chosen.reason.as_str()))?;
    let fallbacks = chosen.map_or(&[][..], |chosen| &chosen.fallbacks);
    fields.set_item("fallbacks", PyList::new(py, fallbacks.iter().map(fallback))?)?;
    fields.set_item("notes", &about.notes)?;
    fields.set_item("error", error)?;
    Ok(fields)
}

/// What became of a method that was left for the next.
fn fallback(attempt: &Attempt) -> String {
    let Attempt { candidate, gave_up, .. } = attempt;
    format!("{} ({}) {}", candidate.method, candidate.reason, gave_up.words())
}

/// How the run ended, in a sentence or two.
fn message(solution: &Solution, advice: &Advice) -> String {
    let title = solution.status.title();
    if let Some(failure) = &solution.failure {
        return format!("{title}: {}", spelled(failure));
    }
    match advice.parameters.as_str() {
        "" => format!("{title}. {}", advice.sentence),
        parameters => format!("{title}. {} See {}.", advice.sentence, spelled(parameters)),
    }
}

/// The name of a status or measure, as in the output of programs.
fn name(of: &impl serde::Serialize) -> String {
    match serde_json::to_value(of) {
        Ok(serde_json::Value::String(name)) => name,
        // Both are enums without data.
        _ => String::new(),
    }
}

fn certificate<'py>(py: Python<'py>, of: &Certificate) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("measure", name(&of.measure))?;
    fields.set_item("gap", of.gap)?;
    fields.set_item("relative", of.relative)?;
    fields.set_item("within", of.within)?;
    fields.set_item("is_rounding", of.is_rounding)?;
    fields.set_item("reason", of.reason.map(|reason| reason.to_string()))?;
    Ok(fields)
}

fn calls<'py>(py: Python<'py>, of: &Calls) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("f", of.f)?;
    fields.set_item("jacobian", of.jacobian)?;
    fields.set_item("phi", of.merit)?;
    Ok(fields)
}

/// A trace as columns.
fn trace<'py>(py: Python<'py>, records: &[Record]) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    let counts = |of: fn(&Record) -> u64| {
        PyArray1::from_iter(py, records.iter().map(|record| of(record).cast_signed()))
    };
    let numbers = |of: fn(&Record) -> f64| PyArray1::from_iter(py, records.iter().map(of));
    columns.set_item("outer", counts(|record| record.outer))?;
    columns.set_item("inner", counts(|record| record.inner))?;
    columns.set_item("calls", counts(|record| record.calls.total()))?;
    columns.set_item("rows", counts(|record| record.rows))?;
    columns.set_item("seconds", numbers(|record| record.seconds))?;
    columns.set_item("objective", numbers(|record| record.objective))?;
    columns.set_item("optimality", numbers(|record| record.optimality.unwrap_or(f64::NAN)))?;
    columns.set_item("gap", numbers(|record| record.gap.unwrap_or(f64::NAN)))?;
    Ok(columns)
}

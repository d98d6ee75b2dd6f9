//! Sequences without labels.

use std::time::Instant;

use innermean::problems::sequences::search::Search;
use innermean_apps::Error;
use innermean_apps::run::{Plan, Solver, Task};
use innermean_apps::sequences::{
    FIRST_STEP, Gaps, Language, SequencesSettings, SequencesTask, Steps,
};
use innermean_data::Keys;
use numpy::{PyReadonlyArray1, PyReadonlyArrayDyn};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::fitted::{Finished, finish, fit};
use crate::arrays::numbers;
use crate::caller::Caller;
use crate::errors::settings;
use crate::watch::Onlookers;

/// How often each n-gram occurs: the tokens, of each n-gram their places among them, its length,
/// frequencies, and whether these are counts.
type Spoken<'py> = (Vec<String>, PyReadonlyArray1<'py, u32>, usize, Vec<f64>, bool);

/// A classifier of steps: `sequences` has the sequence of each row, counted from 0.
#[pyfunction]
#[pyo3(signature = (rows, names, sequences, language, task, starts, solver, *, callback=None))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn fit_sequences<'py>(
    py: Python<'py>,
    rows: PyReadonlyArrayDyn<'py, f64>,
    names: Vec<String>,
    sequences: PyReadonlyArray1<'py, u32>,
    language: Spoken<'py>,
    task: &str,
    starts: usize,
    solver: &str,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (task, solver): (SequencesSettings, Solver) = (settings(task)?, settings(solver)?);
    let rows = numbers("X", &rows)?;
    let (tokens, ngrams, order, frequencies, are_counts) = language;
    let ngrams = ngrams.as_array().to_vec();
    let codes = sequences.as_array().to_vec();
    let count = codes.iter().max().map_or(0, |last| last + 1);
    let mut keys = Keys::default();
    (keys.codes, keys.names) = (codes, (0..count).map(|number| number.to_string()).collect());
    let onlookers = Onlookers::of(callback);
    finish(py, move |caller| {
        let language = Language::new(&tokens, &ngrams, order, &frequencies, are_counts)?;
        let steps = Steps::new(names, rows, Some(&keys), None, None, Gaps::Break)?;
        let mut task = SequencesTask::new(steps, language, &task)?;
        let solver = searched(&mut task, starts, solver, caller)?;
        let mut found = fit(&task, &solver, caller, &onlookers)?;
        let probabilities = std::mem::take(&mut found.answer.probabilities);
        Ok(Finished::of(found, None, vec![("probabilities", probabilities)]))
    })
}

/// Searches for a start where none is given, as the command line does; how to go on from it, in
/// what is left of the time.
fn searched(
    task: &mut SequencesTask,
    starts: usize,
    mut solver: Solver,
    caller: &Caller<'_>,
) -> Result<Solver, Error> {
    if solver.start.is_some() {
        return Ok(solver);
    }
    if solver.method == "lbfgs" && solver.choice.alpha_theta.is_none() {
        solver.choice.alpha_theta = Some(FIRST_STEP);
    }
    // Whatever is wrong with the settings is said before the search.
    Plan::new(&solver, task.problem(), &vec![0.0; task.coordinates().len()])?;
    let clock = Instant::now();
    let (seed, max_seconds) = (solver.choice.seed, solver.stop.max_seconds);
    task.search(&Search { starts, seed, max_seconds, interrupt: Some(caller.interrupt) })?;
    let left = |most: f64| (most - clock.elapsed().as_secs_f64()).max(f64::MIN_POSITIVE);
    solver.stop.max_seconds = max_seconds.map(left);
    Ok(solver)
}

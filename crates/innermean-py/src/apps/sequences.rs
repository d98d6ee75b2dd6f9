//! Sequences without labels.

use innermean::problems::sequences::search::Search;
use innermean_apps::model::{Model, SequencesModel};
use innermean_apps::run::{Solver, Start};
use innermean_apps::sequences::{
    FIRST_STEP, Gaps, Language, SequencesSettings, SequencesTask, Steps,
};
use innermean_data::Keys;
use numpy::{PyReadonlyArray1, PyReadonlyArrayDyn};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::fitted::{Finished, finish, fit, settings};
use crate::arrays::vector;

/// A classifier of steps from n-grams: `ngrams` has `order` numbers of `classes` for each of the
/// `frequencies`, `sequence` the number of the sequence of each row.
#[pyfunction]
#[pyo3(signature = (rows, names, sequence, classes, ngrams, order, frequencies, are_counts, task, solver, *, starts=24))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn fit_sequences<'py>(
    py: Python<'py>,
    rows: PyReadonlyArrayDyn<'py, f64>,
    names: Vec<String>,
    sequence: PyReadonlyArray1<'py, u32>,
    classes: Vec<String>,
    ngrams: PyReadonlyArray1<'py, u32>,
    order: usize,
    frequencies: PyReadonlyArray1<'py, f64>,
    are_counts: bool,
    task: &str,
    solver: &str,
    starts: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let (task, mut solver): (SequencesSettings, Solver) = (settings(task)?, settings(solver)?);
    let rows: Vec<f64> = rows.as_array().iter().copied().collect();
    let (ngrams, frequencies) = (ngrams.as_array().to_vec(), vector(&frequencies));
    let mut keys = Keys::default();
    keys.codes = sequence.as_array().to_vec();
    let count = keys.codes.iter().max().map_or(0, |last| last + 1);
    keys.names = (0..count).map(|k| k.to_string()).collect();
    finish(py, move |caller| {
        let language = Language::new(&classes, &ngrams, order, &frequencies, are_counts)?;
        let steps = Steps::new(names, &rows, Some(&keys), None, None, Gaps::default())?;
        drop(rows);
        let mut task = SequencesTask::new(steps, language, &task)?;
        if matches!(solver.start, None | Some(Start::Auto)) {
            let (seed, max_seconds) = (solver.choice.seed, solver.stop.max_seconds);
            let interrupt = Some(caller.interrupt);
            task.search(&Search { starts, seed, max_seconds, interrupt })?;
            if solver.method == "lbfgs" {
                solver.choice.alpha_theta.get_or_insert(FIRST_STEP);
            }
        }
        let mut found = fit(&task, &solver, caller)?;
        let model = SequencesModel::of(&task, &found.solution);
        let model = Model::new(model, &found.solution, found.method).ok();
        let probabilities = std::mem::take(&mut found.answer.probabilities);
        let arrays = vec![("probabilities", probabilities)];
        Ok(Finished::of(&task, found, None, arrays)?.keeping(model))
    })
}

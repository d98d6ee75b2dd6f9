//! Groups with labels.

use innermean_apps::bags::{BagData, BagSettings, BagTask, GroupLabels, LabelWeights};
use innermean_apps::run::Solver;
use innermean_data::Keys;
use numpy::{PyReadonlyArray1, PyReadonlyArrayDyn};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::fitted::{Errors, Finished, Wanted, finish};
use crate::arrays::{numbers, vector};
use crate::errors::settings;
use crate::watch::Onlookers;

/// A model of single rows from labels of their groups: `groups` has the group of each row, counted
/// from 0 in the order of their appearance, `labels` a row of `label_names` for each group.
#[pyfunction]
#[pyo3(signature = (rows, names, groups, group_names, labels, label_names, task, solver, *, weights=None, by_size=false, errors=None, callback=None))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn fit_bags<'py>(
    py: Python<'py>,
    rows: PyReadonlyArrayDyn<'py, f64>,
    names: Vec<String>,
    groups: PyReadonlyArray1<'py, u32>,
    group_names: Vec<String>,
    labels: PyReadonlyArray1<'py, f64>,
    label_names: Vec<String>,
    task: &str,
    solver: &str,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    by_size: bool,
    errors: Option<Errors<'py>>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (onlookers, wanted) = (Onlookers::of(callback), Wanted::new(errors)?);
    let (task, solver): (BagSettings, Solver) = (settings(task)?, settings(solver)?);
    let rows = numbers("X", &rows)?;
    let labels = GroupLabels {
        names: label_names,
        groups: group_names.clone(),
        values: vector(&labels),
        weights: if by_size { LabelWeights::Size } else { LabelWeights::Equal },
    };
    let mut keys = Keys::default();
    (keys.codes, keys.names) = (groups.as_array().to_vec(), group_names);
    let weights = weights.as_ref().map(|weights| vector(weights));
    finish(py, move |caller| {
        let mut data = BagData::new(names, &keys, labels, task.link)?;
        if let Some(weights) = weights {
            data = data.weighted(weights)?;
        }
        let task = BagTask::new(data, rows, &task)?;
        let (mut found, inference) =
            Wanted::fit(wanted.as_ref(), &task, &solver, caller, &onlookers)?;
        let arrays = vec![
            ("predictions", std::mem::take(&mut found.answer.predictions)),
            ("fitted", std::mem::take(&mut found.answer.fitted)),
        ];
        let doubt = found.answer.warning.take();
        Ok(Finished::of(found, doubt.as_ref(), arrays).sure(inference))
    })
}

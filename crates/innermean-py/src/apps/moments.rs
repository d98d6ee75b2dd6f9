//! Instrumental variables.

use innermean::inference::Clusters;
use innermean_apps::moments::{Column, MomentsData, MomentsSettings, MomentsTask};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use super::fitted::settings;
use crate::arrays::vector;
use crate::caller::aside;
use crate::errors::refused;

type Columns<'py> = Vec<(String, PyReadonlyArray1<'py, f64>)>;

/// Coefficients of regressors with their standard errors, as JSON.
#[pyfunction]
#[pyo3(signature = (outcome, endogenous, exogenous, instruments, task, *, clusters=None, seed=0))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn fit_moments<'py>(
    py: Python<'py>,
    outcome: PyReadonlyArray1<'py, f64>,
    endogenous: Columns<'py>,
    exogenous: Columns<'py>,
    instruments: Columns<'py>,
    task: &str,
    clusters: Option<PyReadonlyArray1<'py, u32>>,
    seed: u64,
) -> PyResult<String> {
    let task: MomentsSettings = settings(task)?;
    let columns = |given: Columns<'py>| -> Vec<Column> {
        given.into_iter().map(|(name, values)| Column::new(name, vector(&values))).collect()
    };
    let clusters = clusters
        .map(|clusters| Clusters::new(clusters.as_array().to_vec()))
        .transpose()
        .map_err(|error| refused(&error))?;
    let data = MomentsData {
        outcome: vector(&outcome),
        endogenous: columns(endogenous),
        exogenous: columns(exogenous),
        instruments: columns(instruments),
        clusters,
    };
    let answer = aside(py, || MomentsTask::new(&data, &task)?.fit(seed, &|| None))?;
    let answer = answer.map_err(|error| refused(&error))?;
    Ok(serde_json::to_string(&answer)
        .unwrap_or_else(|error| unreachable!("names and numbers: {error}")))
}

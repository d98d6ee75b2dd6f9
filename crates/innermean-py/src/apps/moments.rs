//! Instrumental variables.

use std::time::Instant;

use innermean::inference::Clusters;
use innermean_apps::moments::{Column, MomentsData, MomentsSettings, MomentsTask};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{array, vector};
use crate::caller::beside;
use crate::errors::{json, refused, settings};

/// Columns with their names.
type Named<'py> = (Vec<String>, PyReadonlyArray2<'py, f64>);

fn columns((names, values): &Named<'_>) -> Vec<Column> {
    let values = values.as_array();
    let columns = values.columns();
    names.iter().zip(columns).map(|(name, x)| Column::new(name, x.to_vec())).collect()
}

/// Coefficients of regressors, of which the first may be correlated with the error, by instruments
/// that are not.
#[pyfunction]
#[pyo3(signature = (outcome, endogenous, exogenous, instruments, task, seed, *, clusters=None, max_seconds=None))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn fit_moments<'py>(
    py: Python<'py>,
    outcome: PyReadonlyArray1<'py, f64>,
    endogenous: Named<'py>,
    exogenous: Named<'py>,
    instruments: Named<'py>,
    task: &str,
    seed: u64,
    clusters: Option<PyReadonlyArray1<'py, u32>>,
    max_seconds: Option<f64>,
) -> PyResult<Bound<'py, PyDict>> {
    let task: MomentsSettings = settings(task)?;
    let clusters = clusters.map(|codes| Clusters::new(codes.as_array().to_vec())).transpose();
    let data = MomentsData {
        outcome: vector(&outcome),
        endogenous: columns(&endogenous),
        exogenous: columns(&exogenous),
        instruments: columns(&instruments),
        clusters: clusters.map_err(|error| refused(&error))?,
    };
    let begun = Instant::now();
    let (found, error) = beside(py, |caller| {
        let left = || {
            let is_over = caller.interrupt.load(std::sync::atomic::Ordering::Relaxed);
            let left = |most: f64| most - begun.elapsed().as_secs_f64();
            if is_over { Some(0.0) } else { max_seconds.map(left) }
        };
        MomentsTask::new(&data, &task)?.fit(seed, &left)
    })?;
    if let Some(error) = error {
        return Err(error);
    }
    let answer = found.map_err(|error: innermean_apps::Error| refused(&error))?;
    let told = PyDict::new(py);
    told.set_item("theta", array(py, answer.inference.estimates.clone()))?;
    let weak: Vec<&String> = answer
        .first_stage
        .iter()
        .filter(|stage| stage.is_weak())
        .map(|stage| &stage.regressor)
        .collect();
    told.set_item("weak", weak)?;
    let answer = serde_json::to_value(&answer)
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    told.set_item("answer", json(py, &answer)?)?;
    Ok(told)
}

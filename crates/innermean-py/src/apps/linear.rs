//! Linear models.

use innermean_apps::linear::{
    ClassWeights, Classes, LinearData, LinearSettings, LinearTask, Rows, Target,
};
use innermean_apps::run::Solver;
use numpy::{PyReadonlyArray1, PyReadonlyArrayDyn};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::fitted::{Finished, finish, fit};
use crate::arrays::{numbers, vector};
use crate::errors::settings;
use crate::watch::Onlookers;

/// Rows of features as Python has them.
#[derive(FromPyObject)]
pub(crate) enum Features<'py> {
    /// C-contiguous.
    #[pyo3(transparent)]
    Dense(PyReadonlyArrayDyn<'py, f64>),
    /// Where rows begin, columns, values.
    #[pyo3(transparent)]
    Sparse((PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, f64>)),
}

impl Features<'_> {
    fn rows(&self) -> PyResult<Rows> {
        Ok(match self {
            Features::Dense(rows) => Rows::Dense(numbers("X", rows)?),
            Features::Sparse((starts, columns, values)) => Rows::Sparse {
                indptr: starts.as_array().iter().map(|start| *start as usize).collect(),
                indices: columns.as_array().to_vec(),
                values: vector(values),
            },
        })
    }
}

/// Coefficients of the features `names`. `classes` are those that the numbers of `target` count
/// from 0 on; none where it is predicted itself.
#[pyfunction]
#[pyo3(signature = (rows, names, target, classes, task, solver, *, weights=None, class_weights=None, balanced=false, callback=None))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn fit_linear<'py>(
    py: Python<'py>,
    rows: &Bound<'py, PyAny>,
    names: Vec<String>,
    target: PyReadonlyArray1<'py, f64>,
    classes: Vec<String>,
    task: &str,
    solver: &str,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    class_weights: Option<Vec<(String, f64)>>,
    balanced: bool,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let onlookers = Onlookers::of(callback);
    let (task, solver): (LinearSettings, Solver) = (settings(task)?, settings(solver)?);
    let rows = rows.extract::<Features<'_>>()?.rows()?;
    let class_weights = match class_weights {
        None if balanced => Some(ClassWeights::Balanced),
        given => given.map(ClassWeights::ByName),
    };
    let values = vector(&target);
    let target = match &classes[..] {
        [] => Target::Numbers(values),
        [negative, positive] => {
            let classes = Classes { negative: negative.clone(), positive: positive.clone() };
            Target::Classes(classes, values.iter().map(|class| 2.0 * class - 1.0).collect())
        }
        _ => Target::Several(classes, values),
    };
    let weights = weights.as_ref().map(|weights| vector(weights));
    finish(py, move |caller| {
        let mut data = LinearData::new(names, rows, target)?;
        if let Some(weights) = weights {
            data = data.weighted(weights)?;
        }
        if let Some(weights) = class_weights {
            data = data.with_class_weights(weights)?;
        }
        let task = LinearTask::new(data, &task)?;
        let mut found = fit(&task, &solver, caller, &onlookers)?;
        let scores = std::mem::take(&mut found.answer.scores);
        let doubt = found.answer.warning.take();
        Ok(Finished::of(found, doubt.as_ref(), vec![("scores", scores)]))
    })
}

//! Linear models.

use innermean_apps::Error;
use innermean_apps::condensed::{Collector, PIECE};
use innermean_apps::linear::{
    ClassWeights, Classes, LinearData, LinearSettings, LinearTask, Loss, Rows, Target,
};
use innermean_apps::run::{AUTO, Solver};
use numpy::{PyReadonlyArray1, PyReadonlyArrayDyn};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::fitted::{Errors, Finished, Wanted, finish, fit};
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
            Features::Dense(rows) => Rows::Dense(numbers("X", rows)?.into()),
            Features::Sparse((starts, columns, values)) => Rows::Sparse {
                indptr: starts.as_array().iter().map(|start| *start as usize).collect(),
                indices: columns.as_array().to_vec(),
                values: vector(values),
            },
        })
    }
}

/// Dense rows of so many numbers and a square loss are fitted by their means and covariances, for
/// which they are read where they are: the problem of rows takes a copy, with a 1 behind each for
/// the intercept and in units of its own.
const MANY: usize = 1 << 24;

/// What is said of a fit by [`MANY`].
const READ_ONCE: &str = "The rows were read once, and their means and covariances alone kept.";

/// The task of dense rows by their moments, where that is called for.
fn of_moments(
    names: &[String],
    rows: &Rows,
    (target, weights): (&Target, Option<&[f64]>),
    task: &LinearSettings,
    solver: &Solver,
) -> Result<Option<LinearTask>, Error> {
    let (Rows::Dense(rows), Target::Numbers(targets)) = (rows, target) else { return Ok(None) };
    let d = names.len();
    let counts = |i: &usize| weights.is_none_or(|weights| weights[*i] > 0.0);
    let all = 0..targets.len();
    if rows.len() < MANY || task.loss != Loss::Square || solver.method != AUTO {
        return Ok(None);
    }
    let mut collector = Collector::default();
    let fitted: Vec<usize> = all.filter(counts).collect();
    if fitted.is_empty() || weights.is_some_and(|weights| weights.iter().any(|w| *w < 0.0)) {
        // The task of the rows says what is wrong.
        return Ok(None);
    }
    for piece in fitted.chunks(PIECE) {
        let mut numbers = Vec::with_capacity(piece.len() * (d + 1));
        for &i in piece {
            rows.with(d, i..i + 1, |row| numbers.extend_from_slice(row));
            numbers.push(targets[i]);
        }
        let weights = weights.map(|weights| piece.iter().map(|&i| weights[i]).collect());
        collector.push(d + 1, numbers, weights);
    }
    LinearTask::of_moments(names.to_vec(), &collector.finish(), task).map(Some)
}

/// Coefficients of the features `names`. `classes` are those that the numbers of `target` count
/// from 0 on; none where it is predicted itself.
#[pyfunction]
#[pyo3(signature = (rows, names, target, classes, task, solver, *, weights=None, class_weights=None, balanced=false, errors=None, callback=None))]
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
    errors: Option<Errors<'py>>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (onlookers, wanted) = (Onlookers::of(callback), Wanted::new(errors)?);
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
        let given = (&target, weights.as_deref());
        let by_moments = match wanted {
            None => of_moments(&names, &rows, given, &task, &solver)?,
            Some(_) => None,
        };
        if let Some(task) = by_moments {
            let found = fit(&task, &solver, caller, &onlookers)?;
            return Ok(Finished::of(found, None, Vec::new()).noted(READ_ONCE));
        }
        let mut data = LinearData::new(names, rows, target)?;
        if let Some(weights) = weights {
            data = data.weighted(weights)?;
        }
        if let Some(weights) = class_weights {
            data = data.with_class_weights(weights)?;
        }
        let task = LinearTask::new(data, &task)?;
        let (mut found, inference) =
            Wanted::fit(wanted.as_ref(), &task, &solver, caller, &onlookers)?;
        let scores = std::mem::take(&mut found.answer.scores);
        let doubt = found.answer.warning.take();
        Ok(Finished::of(found, doubt.as_ref(), vec![("scores", scores)]).sure(inference))
    })
}

//! Leaves of rows: those that a worker holds, and all of them as a run on the head sees them.

#![expect(clippy::needless_pass_by_value, reason = "arguments of calls from Python")]

use innermean::leaves::{Folded, Held, Leaf, Loss, Partial, Run, Shape, Shard, Want, survey};
use innermean::problems::bags::Link;
use innermean::{InvalidSetting, Lost};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArrayDyn};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;

use crate::arrays::{array, numbers};
use crate::caller::{Caller, aside, beside};
use crate::errors::{refused, settings};

type Array<'py> = PyReadonlyArrayDyn<'py, f64>;
type Vector<'py> = PyReadonlyArray1<'py, f64>;

/// The leaves that a worker holds.
#[pyclass(frozen, module = "innermean._innermean")]
pub(crate) struct Leaves(Held);

/// A leaf, or why it is none.
fn made(number: u64, leaf: Result<Leaf, InvalidSetting>) -> PyResult<Leaf> {
    leaf.map_err(|error| PyValueError::new_err(format!("leaf {number}: {error}")))
}

#[pymethods]
impl Leaves {
    /// Leaves of rows of length d, each with its number and the labels of its rows.
    #[staticmethod]
    fn linear(
        py: Python<'_>,
        leaves: Vec<(u64, Array<'_>, Vector<'_>)>,
        d: usize,
        loss: &str,
    ) -> PyResult<Self> {
        let loss: Loss = settings(loss)?;
        let mut held = Vec::new();
        for (number, rows, labels) in leaves {
            let (rows, labels) = (numbers("rows", &rows)?, labels.as_slice()?.to_vec());
            let leaf = aside(py, || Leaf::linear(number, d, rows, &labels, loss))?;
            held.push(made(number, leaf)?);
        }
        Ok(Leaves(Held(held)))
    }

    /// Leaves of rows of groups: each with its number, its rows, and for every group in it four
    /// numbers: that of the group, its rows, its label, and whether it has rows elsewhere.
    #[staticmethod]
    fn groups(
        py: Python<'_>,
        leaves: Vec<(u64, Array<'_>, Vector<'_>)>,
        shape: (usize, bool),
        link: &str,
        loss: &str,
    ) -> PyResult<Self> {
        let (link, loss): (Link, Loss) = (settings(link)?, settings(loss)?);
        let mut held = Vec::new();
        for (number, rows, runs) in leaves {
            let rows = numbers("rows", &rows)?;
            let run = |run: &[f64]| Run {
                group: run[0] as u64,
                rows: run[1] as u64,
                label: run[2],
                is_open: run[3] != 0.0,
            };
            let runs: Vec<Run> = runs.as_slice()?.chunks_exact(4).map(run).collect();
            let leaf = aside(py, || Leaf::groups(number, shape, &rows, &runs, (link, loss)))?;
            held.push(made(number, leaf)?);
        }
        Ok(Leaves(Held(held)))
    }

    /// What a pass comes to, as numbers that travel.
    fn pass_<'py>(
        &self,
        py: Python<'py>,
        theta: Vector<'py>,
        want: &str,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (theta, want) = (theta.as_slice()?.to_vec(), named(want)?);
        let found = aside(py, || {
            let partials = self.0.pass(&theta, want)?;
            Ok(partials.iter().flat_map(Partial::to_numbers).collect())
        })?;
        found.map(|found| array(py, found)).map_err(|lost: Lost| refused(&lost))
    }
}

fn named(want: &str) -> PyResult<Want> {
    settings(&format!("{want:?}"))
}

/// All leaves, wherever they are, behind an object of Python that has a pass made.
pub(crate) struct Far {
    object: Py<PyAny>,
    pub(crate) shape: Shape,
    survey: Vec<f64>,
}

impl Far {
    /// Asks for the survey.
    pub(crate) fn new(py: Python<'_>, object: Py<PyAny>, shape: &str) -> PyResult<Self> {
        let shape: Shape = settings(shape)?;
        let mut far = Far { object, shape, survey: Vec::new() };
        let (found, error) =
            beside(py, |caller| survey(&Asking { far: &far, caller }, &far.shape))?;
        match (found, error) {
            (_, Some(error)) => Err(error),
            (Err(lost), None) => Err(PyRuntimeError::new_err(lost.to_string())),
            (Ok(found), None) => {
                far.survey = found;
                Ok(far)
            }
        }
    }

    pub(crate) fn terms(&self) -> usize {
        self.survey[0] as usize
    }
}

/// They as a run sees them.
pub(crate) struct Asking<'a, 'c> {
    pub(crate) far: &'a Far,
    pub(crate) caller: &'a Caller<'c>,
}

impl Asking<'_, '_> {
    /// F of all of them.
    pub(crate) fn folded(&self) -> Folded<'_> {
        Folded::surveyed(self, self.far.shape.clone(), &self.far.survey)
    }

    /// What the object answers: partial sums as numbers, or which leaf is lost, and why.
    fn answer(&self, py: Python<'_>, theta: &[f64], want: Want) -> PyResult<Answer> {
        let theta = PyArray1::from_slice(py, theta);
        let name = intern!(py, "pass_");
        let found = self.far.object.bind(py).call_method1(name, (theta, want.to_string()))?;
        if let Ok((part, why)) = found.extract::<(String, String)>() {
            return Ok(Err(Lost::new(part, why)));
        }
        let mut partials = Vec::new();
        for piece in found.try_iter()? {
            let piece: Vector<'_> = piece?.extract()?;
            let read = Partial::from_numbers(self.far.shape.d, piece.as_slice()?);
            partials.extend(read.map_err(|error| refused(&error))?);
        }
        Ok(Ok(partials))
    }
}

type Answer = Result<Vec<Partial>, Lost>;

impl Shard for Asking<'_, '_> {
    fn pass(&self, theta: &[f64], want: Want) -> Answer {
        let told = self.caller.ask(|py| self.answer(py, theta, want));
        told.unwrap_or_else(|| {
            Err(Lost::new("the leaves", "a pass raised an error, or was interrupted"))
        })
    }
}

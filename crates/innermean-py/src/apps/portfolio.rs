//! Portfolios.

use innermean_apps::portfolio::{Benchmark, Limits, PortfolioSettings, PortfolioTask, Scenarios};
use innermean_apps::run::Solver;
use numpy::{PyReadonlyArray1, PyReadonlyArrayDyn};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::fitted::{Finished, finish, fit};
use crate::arrays::{numbers, vector};
use crate::errors::settings;
use crate::watch::Onlookers;

/// Weights for the assets `names`, from a row of returns for each period.
#[pyfunction]
#[pyo3(signature = (returns, names, task, limits, solver, *, weights=None, half_life=None, benchmark=None, callback=None))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn fit_portfolio<'py>(
    py: Python<'py>,
    returns: PyReadonlyArrayDyn<'py, f64>,
    names: Vec<String>,
    task: &str,
    limits: &str,
    solver: &str,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    half_life: Option<f64>,
    benchmark: Option<PyReadonlyArray1<'py, f64>>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let onlookers = Onlookers::of(callback);
    let (task, limits): (PortfolioSettings, Limits) = (settings(task)?, settings(limits)?);
    let solver: Solver = settings(solver)?;
    let mut scenarios = Scenarios::new(names, numbers("X", &returns)?);
    scenarios.weights = weights.as_ref().map(|weights| vector(weights));
    scenarios.half_life = half_life;
    scenarios.benchmark = benchmark
        .as_ref()
        .map(|returns| Benchmark { name: "benchmark".to_owned(), returns: vector(returns) });
    finish(py, move |caller| {
        let mut task = PortfolioTask::of(scenarios, &task, limits)?;
        task.search(&solver, Some(caller.interrupt))?;
        let found = fit(&task, &solver, caller, &onlookers)?;
        Ok(Finished::of(found, None, Vec::new()))
    })
}

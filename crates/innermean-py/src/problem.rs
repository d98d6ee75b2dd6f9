//! f, phi and g together: what is minimised.

#![expect(clippy::needless_pass_by_value, reason = "arguments of calls from Python")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use innermean::collapse::SparseRows;
use innermean::leaves::Whole;
use innermean::problems::bags::{Bags, Groups, Link};
use innermean::problems::linear::sparse_predictors;
use innermean::{
    Begin, CheckOptions, Checkpoint, Collapsed, Inner, METHODS, Merit, Objective, Portfolio,
    Problem as Parts, Regularizer, Status, check_problem,
};
use innermean_apps::compare::{CompareSettings, Lineup};
use innermean_apps::run::{Plan, Solver};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArrayDyn};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::arrays::{array, numbers};
use crate::caller::{Caller, aside, beside};
use crate::errors::{json, refused, settings};
use crate::leaves::{Asking, Far};
use crate::own::batched::{Asked, Batched};
use crate::own::curve::Curve;
use crate::own::kernel::{self, Kernel, Rows};
use crate::parts::{self, Said};
use crate::piece::Piece;
use crate::solution::{About, fields};
use crate::watch::{Onlookers, Watching};

/// f, as the core holds it.
#[pyclass(frozen, module = "innermean._innermean")]
pub(crate) struct F(Held);

#[derive(Clone)]
enum Held {
    /// Asks nothing of Python.
    Native(Arc<dyn Inner>),
    /// Written in Python.
    Python(Arc<Batched>),
    /// In leaves, on other machines.
    Far(Arc<Far>),
}

type Array<'py> = PyReadonlyArrayDyn<'py, f64>;
type Vector<'py> = PyReadonlyArray1<'py, f64>;
type Indices<'py> = PyReadonlyArray1<'py, i64>;

fn starts_of(starts: &Indices<'_>) -> PyResult<Vec<usize>> {
    Ok(starts.as_slice()?.iter().map(|&start| start as usize).collect())
}

#[pymethods]
impl F {
    /// `f_theta(x_i, x_j) = <x_i - x_j, theta>` for rows of returns.
    #[staticmethod]
    fn portfolio(py: Python<'_>, returns: Array<'_>, d: usize) -> PyResult<Self> {
        let returns = numbers("returns", &returns)?;
        let made = aside(py, || Portfolio::new(d, returns))?;
        Ok(F(Held::Native(Arc::new(made.map_err(|error| refused(&error))?))))
    }

    /// `f_theta(x_i) = <x_i, theta> + offset_i`
    #[staticmethod]
    fn linear(rows: Array<'_>, d: usize, offsets: Vector<'_>) -> PyResult<Self> {
        let rows = numbers("X", &rows)?;
        Ok(F(Held::Native(Arc::new(Collapsed::from_rows(d, rows, offsets.as_slice()?.to_vec())))))
    }

    /// The same with rows in compressed form.
    #[staticmethod]
    fn sparse(
        d: usize,
        starts: Indices<'_>,
        columns: Indices<'_>,
        values: Vector<'_>,
        offsets: Vector<'_>,
    ) -> PyResult<Self> {
        let columns = columns.as_slice()?.iter().map(|&column| column as u32).collect();
        let rows = SparseRows::new(d, starts_of(&starts)?, columns, values.as_slice()?.to_vec());
        let offsets = offsets.as_slice()?.to_vec();
        let made = rows
            .and_then(|rows| sparse_predictors(rows, offsets))
            .map_err(|error| refused(&error))?;
        Ok(F(Held::Native(Arc::new(made))))
    }

    /// `f_theta(x_i, y_ij) = link(<y_ij, theta> + intercept) - target_i`, rows sorted by group.
    #[staticmethod]
    fn groups(
        py: Python<'_>,
        rows: Array<'_>,
        width: usize,
        starts: Indices<'_>,
        link: &str,
        intercept: bool,
        targets: Option<Vector<'_>>,
    ) -> PyResult<Self> {
        let rows = numbers("X", &rows)?;
        let link: Link = settings(&format!("{link:?}"))?;
        let starts = starts_of(&starts)?;
        let targets = targets.map(|targets| targets.as_slice().map(<[f64]>::to_vec)).transpose()?;
        let made = aside(py, || {
            let groups = Groups::new(width, rows, starts, intercept)?;
            match targets {
                None => Ok(Bags::new(groups, link)),
                Some(targets) => Bags::with_targets(groups, link, targets),
            }
        })?;
        Ok(F(Held::Native(Arc::new(
            made.map_err(|error: innermean::InvalidSetting| refused(&error))?,
        ))))
    }

    /// C functions by address; rows of y sorted by term.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "what a kernel is made of")]
    fn kernel(
        sum: usize,
        product: usize,
        d: usize,
        ell: usize,
        starts: Indices<'_>,
        x: Array<'_>,
        y: Array<'_>,
        widths: (usize, usize),
        facts: (bool, bool, bool),
    ) -> PyResult<Self> {
        let starts = starts_of(&starts)?;
        let (affine, convex, knows_values) = facts;
        let x = Rows { numbers: numbers("x", &x)?, width: widths.0 };
        let y = Rows { numbers: numbers("y", &y)?, width: widths.1 };
        let terms = starts.len().saturating_sub(1);
        let rows = starts.last().copied().unwrap_or(0);
        if x.numbers.len() != terms * x.width || y.numbers.len() != rows * y.width {
            return Err(PyValueError::new_err("x, y: expected a row for each term and sample"));
        }
        if terms == 0 || starts[0] != 0 || !starts.is_sorted_by(|a, b| a < b) {
            return Err(PyValueError::new_err("groups: expected at least one row for each"));
        }
        let about = kernel::About { sum, product, d, ell, affine, convex, knows_values };
        Ok(F(Held::Native(Kernel::new(&about, starts, x, y))))
    }

    /// An object of Python that answers for rows; see `innermean.own.rows`.
    #[staticmethod]
    fn batched(
        object: Py<PyAny>,
        d: usize,
        ell: usize,
        starts: Indices<'_>,
        affine: bool,
        convex: bool,
    ) -> PyResult<Self> {
        let starts = starts_of(&starts)?;
        Ok(F(Held::Python(Arc::new(Batched { object, d, ell, starts, affine, convex }))))
    }

    /// F of rows in leaves, of which an object has passes made; see `innermean.ray`.
    #[staticmethod]
    fn leaves(py: Python<'_>, object: Py<PyAny>, shape: &str) -> PyResult<Self> {
        Ok(F(Held::Far(Arc::new(Far::new(py, object, shape)?))))
    }

    /// The phi that goes with leaves; the one that they add up, where they know it themselves.
    #[pyo3(signature = (phi=None))]
    fn whole(&self, phi: Option<&Phi>) -> PyResult<Phi> {
        let Held::Far(f) = &self.0 else {
            return Err(PyValueError::new_err("f: expected rows in leaves"));
        };
        let whole = Whole::of(&f.shape);
        let Some(Phi(merit)) = phi else { return Ok(Phi(Arc::new(whole))) };
        if let Some(given) = merit.terms().filter(|given| *given != f.terms()) {
            let sentence =
                format!("phi: expected one for each of {} terms, got {given}", f.terms());
            return Err(PyValueError::new_err(sentence));
        }
        Ok(Phi(Arc::new(whole.behind(&**merit))))
    }

    /// The length of theta.
    #[getter]
    fn d(&self) -> usize {
        match &self.0 {
            Held::Native(f) => f.d(),
            Held::Python(f) => f.d,
            Held::Far(f) => f.shape.d,
        }
    }

    /// The numbers that f returns.
    #[getter]
    fn ell(&self) -> usize {
        match &self.0 {
            Held::Native(f) => f.ell(),
            Held::Python(f) => f.ell,
            Held::Far(_) => 1,
        }
    }

    /// The number of terms.
    #[getter]
    fn terms(&self) -> usize {
        match &self.0 {
            Held::Native(f) => f.n_x(),
            Held::Python(f) => f.starts.len() - 1,
            Held::Far(f) => f.terms(),
        }
    }
}

/// phi, as the core holds it.
#[pyclass(frozen, module = "innermean._innermean")]
pub(crate) struct Phi(Arc<dyn Merit>);

#[pymethods]
impl Phi {
    #[new]
    fn new(kind: &str, numbers: Vec<f64>, vectors: Vec<Vector<'_>>) -> PyResult<Self> {
        let vectors: Result<Vec<Vec<f64>>, _> =
            vectors.iter().map(|vector| vector.as_slice().map(<[f64]>::to_vec)).collect();
        Ok(Phi(parts::merit(kind, &numbers, vectors?)?))
    }

    /// By value and slope; see `innermean.own.curve`.
    #[staticmethod]
    fn own(
        curve: &Curve,
        max_curvature: Option<f64>,
        max_slope: Option<f64>,
        kinks: bool,
        domain: (f64, f64),
    ) -> PyResult<Self> {
        Ok(Phi(curve.merit(max_curvature, max_slope, kinks, domain)?))
    }

    /// With a weight for each term.
    fn weighted(&self, weights: Vector<'_>) -> PyResult<Self> {
        Ok(Phi(parts::weighted(self.0.clone(), weights.as_slice()?.to_vec())?))
    }
}

/// What is minimised.
#[pyclass(frozen, module = "innermean._innermean")]
pub(crate) struct Problem {
    f: Held,
    merit: Arc<dyn Merit>,
    g: Arc<dyn Regularizer>,
}

impl Problem {
    /// Runs `work` on the problem, beside the interpreter.
    fn on<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(Objective<'_>, &Caller<'_>) -> T + Send,
    ) -> PyResult<(T, Option<PyErr>)> {
        let (merit, regularizer) = (&*self.merit, &*self.g);
        beside(py, |caller| match &self.f {
            Held::Native(f) => work(Objective { inner: &**f, merit, regularizer }, caller),
            Held::Python(f) => {
                work(Objective { inner: &Asked { f, caller }, merit, regularizer }, caller)
            }
            Held::Far(f) => {
                let asking = Asking { far: f, caller };
                work(Objective { inner: &asking.folded(), merit, regularizer }, caller)
            }
        })
    }

    /// [`Self::on`] where an error of Python is one of the call.
    fn ask<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(Objective<'_>) -> T + Send,
    ) -> PyResult<T> {
        let (found, error) = self.on(py, |problem, _| work(problem))?;
        error.map_or(Ok(found), Err)
    }
}

#[pymethods]
impl Problem {
    /// g is what Python says about it, as JSON, and a function by value and slope if there is one.
    #[new]
    fn new(py: Python<'_>, f: &F, phi: &Phi, g: &str, own: Option<&Curve>) -> PyResult<Self> {
        let said: Said = settings(g)?;
        let g = said.regularizer(f.d(), own)?;
        let made = Problem { f: f.0.clone(), merit: phi.0.clone(), g };
        made.ask(py, |of| Parts::new(of.inner, of.merit, of.regularizer).map(drop))?
            .map_err(|error| refused(&error))?;
        Ok(made)
    }

    /// One run, or a piece of one: the fields of a result, and the checkpoint if it is asked for.
    #[pyo3(signature = (
        solver, start, callback, progress, keep=false, checkpoint=None, seconds=None, outer=None,
        save=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "what a piece of a run depends on")]
    fn solve<'py>(
        &self,
        py: Python<'py>,
        solver: &str,
        start: Option<Vector<'py>>,
        callback: Option<Py<PyAny>>,
        progress: Option<Py<PyAny>>,
        keep: bool,
        checkpoint: Option<&[u8]>,
        seconds: Option<f64>,
        outer: Option<u64>,
        save: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let solver: Solver = settings(solver)?;
        let start = start.map(|start| start.as_slice().map(<[f64]>::to_vec)).transpose()?;
        let checkpoint =
            checkpoint.map(Checkpoint::from_bytes).transpose().map_err(|error| refused(&error))?;
        let onlookers = Onlookers { callback, progress };
        let (found, error) = self.on(py, |problem, caller| {
            let start = match &checkpoint {
                Some(checkpoint) => checkpoint.start().to_vec(),
                None => start.unwrap_or_else(|| vec![0.0; problem.inner.d()]),
            };
            if start.len() != problem.inner.d() {
                let d = problem.inner.d();
                return Err(format!("start: expected {d} numbers, got {}", start.len()));
            }
            let mut plan =
                Plan::new(&solver, problem, &start).map_err(|error| error.to_string())?;
            let driver = plan.driver(Some(caller.interrupt));
            let begin = std::mem::take(&mut plan.start);
            let begin = checkpoint.as_ref().map_or(Begin::At(&begin), Begin::Resume);
            let mut piece = Piece {
                watching: Watching::new(&onlookers, caller),
                until: seconds.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds)),
                outer,
                first: checkpoint.is_none().then_some(0),
                keeps: keep,
                kept: None,
                save: save.as_ref(),
                saved: 0,
                seen: 0,
            };
            let solution = plan
                .run_from(&driver, problem, begin, &mut piece)
                .map_err(|error| error.to_string())?;
            Ok((solution, plan, piece.kept))
        })?;
        match (found, error) {
            (Ok((mut solution, plan, kept)), error) => {
                // A signal that comes while f is asked looks like a failure of f.
                let interrupted = |error: &PyErr| error.is_instance_of::<PyKeyboardInterrupt>(py);
                if error.as_ref().is_some_and(interrupted) {
                    (solution.status, solution.failure) = (Status::Interrupted, None);
                }
                let about = About::plan(plan, solution.status);
                let told = fields(py, solution, &about, error)?;
                if keep {
                    let bytes = kept.map(|kept| PyBytes::new(py, &kept.to_bytes()));
                    told.set_item("checkpoint", bytes)?;
                }
                Ok(told)
            }
            // What went wrong in Python is why it could not begin.
            (Err(_), Some(error)) => Err(error),
            (Err(sentence), None) => Err(refused(&sentence)),
        }
    }

    /// The objective at theta.
    fn objective(&self, py: Python<'_>, theta: Vector<'_>) -> PyResult<f64> {
        let theta = theta.as_slice()?.to_vec();
        self.ask(py, |problem| problem.objective(&theta))
    }

    /// The gradient of the loss at theta, g left out.
    fn gradient<'py>(
        &self,
        py: Python<'py>,
        theta: Vector<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let theta = theta.as_slice()?.to_vec();
        let found = self.ask(py, |problem| {
            let mut out = vec![0.0; theta.len()];
            problem.gradient(&theta, &mut out);
            out
        })?;
        Ok(array(py, found))
    }

    /// The averages of f at theta, flat.
    fn means<'py>(
        &self,
        py: Python<'py>,
        theta: Vector<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let theta = theta.as_slice()?.to_vec();
        let found = self.ask(py, |problem| {
            let mut out = vec![0.0; problem.inner.n_x() * problem.inner.ell()];
            problem.inner.means(&theta, &mut out);
            out
        })?;
        Ok(array(py, found))
    }

    /// What is wrong with f, phi and g, and notes.
    fn check(
        &self,
        py: Python<'_>,
        scale: f64,
        centre: Option<Vec<f64>>,
        seed: u64,
    ) -> PyResult<(Vec<String>, Vec<String>, usize)> {
        let options = CheckOptions { scale, centre, seed, ..CheckOptions::default() };
        let report = self.ask(py, |problem| check_problem(problem, &options))?;
        let findings = report.findings.iter().map(ToString::to_string).collect();
        Ok((findings, report.notes, report.comparisons))
    }

    /// Every method, with what it asks for that the problem is not, if something is.
    fn suited(&self, py: Python<'_>) -> PyResult<Vec<(&'static str, Option<String>)>> {
        self.ask(py, |problem| METHODS.iter().map(|row| (row.name, row.missing(problem))).collect())
    }

    /// Several methods from one start: for each its name, settings and runs; and the optimum.
    fn compare<'py>(
        &self,
        py: Python<'py>,
        said: &str,
        start: Vector<'py>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let said: CompareSettings = settings(said)?;
        let start = start.as_slice()?.to_vec();
        let (found, error) = self.on(py, |problem, caller| {
            let lineup = Lineup::new(said, problem, &start, &|_| None)?;
            let contest = lineup.contest()?;
            Ok((contest.at_start, contest.run(caller.interrupt, &mut ())?))
        })?;
        if let Some(error) = error {
            return Err(error);
        }
        let (at_start, outcome) = found.map_err(|error: innermean_apps::Error| refused(&error))?;
        let told = PyDict::new(py);
        told.set_item("optimum", outcome.optimum)?;
        told.set_item("start", at_start)?;
        let entries = PyList::empty(py);
        for entry in outcome.entries {
            let one = PyDict::new(py);
            one.set_item("method", entry.entrant.info.name)?;
            one.set_item("settings", json(py, &entry.settings)?)?;
            let runs = PyList::empty(py);
            for run in entry.runs {
                let about = About::run(entry.entrant.info.name, entry.settings.clone(), run.status);
                runs.append(fields(py, run, &about, None)?)?;
            }
            one.set_item("runs", runs)?;
            entries.append(one)?;
        }
        told.set_item("entries", entries)?;
        Ok(told)
    }
}

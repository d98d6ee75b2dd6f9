//! Whoever looks on while a run goes on: a callback of the user, and the line or display that
//! shows progress.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use innermean::{Observer, Record};
use pyo3::prelude::*;

use crate::arrays::array;
use crate::caller::Caller;

/// How often progress is shown.
const SHOWN: Duration = Duration::from_millis(100);

/// What a callback is told, after each evaluation.
#[pyclass(frozen, get_all, name = "Record", module = "innermean._innermean")]
pub(crate) struct Told {
    /// Outer iterations finished.
    outer: u64,
    /// Inner steps made.
    inner: u64,
    /// Oracle calls made.
    calls: u64,
    /// Rows of data read.
    rows: u64,
    /// Seconds of the method's own time.
    seconds: f64,
    /// The objective at the point.
    objective: f64,
    /// What the tolerance is compared with.
    optimality: Option<f64>,
    /// The proven distance of the best objective so far from the optimum.
    gap: Option<f64>,
    /// The point; None between evaluations.
    theta: Option<Py<PyAny>>,
}

#[pymethods]
impl Told {
    fn __repr__(&self) -> String {
        format!(
            "Record(outer={}, calls={}, seconds={:.3}, objective={:?})",
            self.outer, self.calls, self.seconds, self.objective
        )
    }
}

impl Told {
    fn new(py: Python<'_>, record: &Record, theta: Option<&[f64]>) -> Self {
        Told {
            outer: record.outer,
            inner: record.inner,
            calls: record.calls.total(),
            rows: record.rows,
            seconds: record.seconds,
            objective: record.objective,
            optimality: record.optimality,
            gap: record.gap,
            theta: theta.map(|theta| array(py, theta.to_vec()).into_any().unbind()),
        }
    }
}

/// The callables of Python that look on.
#[derive(Default)]
pub(crate) struct Onlookers {
    /// Told of every evaluation; True ends the run.
    pub(crate) callback: Option<Py<PyAny>>,
    /// Told several times a second.
    pub(crate) progress: Option<Py<PyAny>>,
}

impl Onlookers {
    /// A callback, if there is one.
    pub(crate) fn of(callback: Option<Py<PyAny>>) -> Self {
        Onlookers { callback, progress: None }
    }
}

/// They as the observer of one run.
pub(crate) struct Watching<'a, 'c> {
    onlookers: &'a Onlookers,
    caller: &'a Caller<'c>,
    shown: Option<Instant>,
}

impl<'a, 'c> Watching<'a, 'c> {
    pub(crate) fn new(onlookers: &'a Onlookers, caller: &'a Caller<'c>) -> Self {
        Watching { onlookers, caller, shown: None }
    }

    /// Has a piece of Python run.
    pub(crate) fn ask<R: Send>(
        &self,
        piece: impl FnOnce(Python<'_>) -> PyResult<R> + Send,
    ) -> Option<R> {
        self.caller.ask(piece)
    }

    /// Whether the state of the run is worth nothing.
    pub(crate) fn is_spoiled(&self) -> bool {
        self.caller.spoiled.load(Ordering::Relaxed)
    }

    fn show(&mut self, record: &Record) -> ControlFlow<()> {
        let Some(progress) = &self.onlookers.progress else { return ControlFlow::Continue(()) };
        if self.shown.is_some_and(|shown| shown.elapsed() < SHOWN) {
            return ControlFlow::Continue(());
        }
        self.shown = Some(Instant::now());
        let told = self.caller.ask(|py| {
            progress.call1(py, (Told::new(py, record, None),))?;
            Ok(())
        });
        or_break(told.is_some())
    }
}

fn or_break(goes_on: bool) -> ControlFlow<()> {
    if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

impl Observer for Watching<'_, '_> {
    fn record(&mut self, record: &Record, theta: &[f64]) -> ControlFlow<()> {
        if let Some(callback) = &self.onlookers.callback {
            let ends = self
                .caller
                .ask(|py| callback.call1(py, (Told::new(py, record, Some(theta)),))?.is_truthy(py));
            or_break(ends == Some(false))?;
        }
        self.show(record)
    }

    fn tick(&mut self, record: &Record) -> ControlFlow<()> {
        self.show(record)
    }
}

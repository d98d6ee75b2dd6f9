//! An f written in Python, in batches of rows: every call is run by the thread that called the run.
//!
//! The object behind it (`innermean.own.rows.Rows`) has the rows sorted by term and answers for
//! stretches of them and for all terms at once.

use std::ops::Range;
use std::sync::atomic::Ordering;

use innermean::inner::{Facts, Fused, Inner, Lost, Passes};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;

use crate::caller::Caller;

/// Sizes and facts, and the object that answers.
pub(crate) struct Batched {
    pub(crate) object: Py<PyAny>,
    pub(crate) d: usize,
    pub(crate) ell: usize,
    /// Term i has the rows `starts[i]..starts[i + 1]`.
    pub(crate) starts: Vec<usize>,
    pub(crate) affine: bool,
    pub(crate) convex: bool,
}

/// One as a run sees it.
pub(crate) struct Asked<'a, 'c> {
    pub(crate) f: &'a Batched,
    pub(crate) caller: &'a Caller<'c>,
}

/// Takes the numbers that Python answered with.
fn take(found: &Bound<'_, PyAny>, out: &mut [f64]) -> PyResult<()> {
    let found: PyReadonlyArray1<'_, f64> = found.extract()?;
    let found = found.as_slice()?;
    if found.len() != out.len() {
        let sentence = format!("f: expected {} numbers, got {}", out.len(), found.len());
        return Err(PyValueError::new_err(sentence));
    }
    out.copy_from_slice(found);
    Ok(())
}

impl Asked<'_, '_> {
    /// [`Caller::ask`] that remembers that f went without an answer.
    fn ask<R: Send>(&self, piece: impl FnOnce(Python<'_>) -> PyResult<R> + Send) -> Option<R> {
        let told = self.caller.ask(piece);
        if told.is_none() {
            self.caller.spoiled.store(true, Ordering::Relaxed);
        }
        told
    }

    fn rows(&self, i: usize, js: &Range<usize>) -> (usize, usize) {
        let first = self.f.starts[i];
        (first + js.start, first + js.end)
    }

    /// The mean of f over some rows.
    fn block(&self, theta: &[f64], (first, end): (usize, usize), out: &mut [f64]) {
        let told = self.ask(|py| {
            let theta = PyArray1::from_slice(py, theta);
            let name = intern!(py, "block_mean");
            take(self.f.object.bind(py).call_method1(name, (theta, first, end))?.as_any(), out)
        });
        if told.is_none() {
            out.fill(f64::NAN);
        }
    }

    /// `out += c` times the mean of `f' w` over some rows.
    fn product(
        &self,
        theta: &[f64],
        (first, end): (usize, usize),
        w: &[f64],
        c: f64,
        out: &mut [f64],
    ) {
        let mut found = vec![0.0; out.len()];
        let told = self.ask(|py| {
            let (theta, w) = (PyArray1::from_slice(py, theta), PyArray1::from_slice(py, w));
            let name = intern!(py, "block_vjp");
            let object = self.f.object.bind(py);
            take(object.call_method1(name, (theta, first, end, w))?.as_any(), &mut found)
        });
        if told.is_none() {
            found.fill(f64::NAN);
        }
        out.iter_mut().zip(&found).for_each(|(out, found)| *out += c * found);
    }
}

/// A pass; one that fails ends the run.
fn pass<T>(told: Option<T>) -> Result<T, Lost> {
    told.ok_or_else(|| Lost::new("f, written in Python", "it raised an error, or was interrupted"))
}

impl Inner for Asked<'_, '_> {
    fn d(&self) -> usize {
        self.f.d
    }

    fn ell(&self) -> usize {
        self.f.ell
    }

    fn n_x(&self) -> usize {
        self.f.starts.len() - 1
    }

    fn n_y(&self, i: usize) -> usize {
        self.f.starts[i + 1] - self.f.starts[i]
    }

    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        (facts.affine, facts.convex, facts.calls_are_dear) = (self.f.affine, self.f.convex, true);
        facts
    }

    fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
        self.block(theta, self.rows(i, &(j..j + 1)), out);
    }

    fn add_jac_t(&self, theta: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        self.product(theta, self.rows(i, &(j..j + 1)), w, c, out);
    }

    fn passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }
}

impl Fused for Asked<'_, '_> {
    fn f(&self) -> &dyn Inner {
        self
    }

    fn block_mean(
        &self,
        theta: &[f64],
        i: usize,
        js: Range<usize>,
        _: &mut [f64],
        out: &mut [f64],
    ) {
        self.block(theta, self.rows(i, &js), out);
    }

    fn add_block_jac_t(
        &self,
        theta: &[f64],
        i: usize,
        js: Range<usize>,
        w: &[f64],
        c: f64,
        out: &mut [f64],
    ) {
        self.product(theta, self.rows(i, &js), w, c, out);
    }

    fn mean(&self, theta: &[f64], i: usize, _: &mut [f64], out: &mut [f64]) {
        self.block(theta, self.rows(i, &(0..self.n_y(i))), out);
    }

    fn add_mean_jac_t(&self, theta: &[f64], i: usize, w: &[f64], c: f64, out: &mut [f64]) {
        self.product(theta, self.rows(i, &(0..self.n_y(i))), w, c, out);
    }
}

impl Passes for Asked<'_, '_> {
    fn means(&self, theta: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        let told = self.ask(|py| {
            let theta = PyArray1::from_slice(py, theta);
            let found = self.f.object.bind(py).call_method1(intern!(py, "means"), (theta,))?;
            take(&found, out)
        });
        pass(told)
    }

    fn means_of(
        &self,
        theta: &[f64],
        terms: &[usize],
        most: usize,
        f_bar: &mut [f64],
        jacobians: &mut [f64],
    ) -> Result<(), Lost> {
        // The stretches that stand for a term, as rows: (term, first, end).
        let mut stretches = Vec::new();
        for (k, &i) in terms.iter().enumerate() {
            let mut add = |js: Range<usize>| {
                let (first, end) = self.rows(i, &js);
                stretches.extend([k, first, end].map(|number| number.cast_signed() as i64));
            };
            match innermean::inner::stretches(self.n_y(i), most) {
                Some(some) => some.for_each(&mut add),
                None => add(0..self.n_y(i)),
            }
        }
        let told = self.ask(|py| {
            let theta = PyArray1::from_slice(py, theta);
            let stretches = PyArray1::from_slice(py, &stretches);
            let asks = !jacobians.is_empty();
            let name = intern!(py, "means_of");
            let found = self.f.object.bind(py).call_method1(name, (theta, stretches, asks))?;
            take(&found.get_item(0)?, f_bar)?;
            if asks { take(&found.get_item(1)?, jacobians) } else { Ok(()) }
        });
        pass(told)
    }

    fn mean_jacobians(&self, theta: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        let told = self.ask(|py| {
            let theta = PyArray1::from_slice(py, theta);
            let found = self.f.object.bind(py).call_method1(intern!(py, "jacobians"), (theta,))?;
            take(&found, out)
        });
        pass(told)
    }

    fn add_weighted_jac_t(&self, theta: &[f64], w: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        let mut sum = vec![0.0; out.len()];
        let told = self.ask(|py| {
            let (theta, w) = (PyArray1::from_slice(py, theta), PyArray1::from_slice(py, w));
            let found = self.f.object.bind(py).call_method1(intern!(py, "weighted"), (theta, w))?;
            take(&found, &mut sum)
        });
        pass(told)?;
        out.iter_mut().zip(&sum).for_each(|(out, sum)| *out += sum);
        Ok(())
    }
}

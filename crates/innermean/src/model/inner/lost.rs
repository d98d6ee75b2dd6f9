//! Passes that fail, and the record of the first that did.

use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::{
    Bounds, CentredRows, Columns, CommonGram, Duals, Facts, Fused, Inner, PairRows, Passes,
    ProjectedRows, Summed, TransitionRow,
};
use crate::model::class_scores::ClassScores;
use crate::model::collapse::Collapsed;
use crate::model::problem::Objective;
use crate::model::shared::SharedForm;
use crate::run::checkpoint::Hash;

/// Why a pass over the data failed: which part of the data was lost, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    part: String,
    why: String,
}

impl Lost {
    /// `part` as in "rows 0 to 999 of returns.npy", `why` as in "the file has been truncated".
    pub fn new(part: impl Into<String>, why: impl Into<String>) -> Self {
        Lost { part: part.into(), why: why.into() }
    }

    /// Which part of the data.
    pub fn part(&self) -> &str {
        &self.part
    }

    /// Why it could not be read.
    pub fn why(&self) -> &str {
        &self.why
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "A pass over the data failed at {}: {}.", self.part, self.why)
    }
}

impl Error for Lost {}

/// The first pass that failed in a run.
type Cell = Arc<OnceLock<Lost>>;

/// An f whose passes do not fail: the first failure is recorded, and from then on all passes give
/// zeros and ask f for nothing. So methods and certificates need not look at every pass; a run
/// looks at `lost` after each piece of its work and before it believes any of
/// it.
pub(crate) struct Recording<'p> {
    f: Held<'p>,
    lost: Cell,
}

/// The f that is asked: a problem's own, or its shared form.
enum Held<'p> {
    Own(&'p dyn Inner),
    Form(Arc<dyn SharedForm + 'p>),
}

impl<'p> Recording<'p> {
    /// f with a record; the one it has, if it has one.
    pub(crate) fn of(f: &'p dyn Inner) -> Self {
        match f.passes().and_then(Passes::recording) {
            Some(recording) => {
                Recording { f: Held::Own(recording.asked()), lost: recording.lost.clone() }
            }
            None => Recording { f: Held::Own(f), lost: Cell::default() },
        }
    }

    /// Another form of this f, with the same record.
    pub(crate) fn beside<'q>(&self, form: &Arc<dyn SharedForm + 'q>) -> Recording<'q> {
        Recording { f: Held::Form(form.clone()), lost: self.lost.clone() }
    }

    fn asked(&self) -> &dyn Inner {
        match &self.f {
            Held::Own(f) => *f,
            Held::Form(form) => &**form,
        }
    }

    /// The result of a pass, or none where it failed.
    fn kept<R>(&self, pass: impl FnOnce(&dyn Passes) -> Result<R, Lost>) -> Option<R> {
        if self.lost.get().is_some() {
            return None;
        }
        match self.asked().whole(pass) {
            Ok(result) => Some(result),
            Err(lost) => {
                // The first one stays.
                let _ = self.lost.set(lost);
                None
            }
        }
    }

    /// A pass that fills `out`.
    fn fill(
        &self,
        out: &mut [f64],
        pass: impl FnOnce(&dyn Passes, &mut [f64]) -> Result<(), Lost>,
    ) {
        if self.kept(|passes| pass(passes, out)).is_none() {
            out.fill(0.0);
        }
    }
}

fn cell_of(f: &dyn Inner) -> Option<Cell> {
    f.passes()?.recording().map(|recording| recording.lost.clone())
}

/// Runs `work` on a problem whose failed passes are recorded; see [`Recording`]. Within such work
/// the record is that of the whole.
pub(crate) fn recorded<R>(problem: Objective<'_>, work: impl FnOnce(Objective<'_>) -> R) -> R {
    work(Objective { inner: &Recording::of(problem.inner), ..problem })
}

impl dyn Inner + '_ {
    /// f without its record: queries of single pairs do not fail.
    pub(crate) fn queried(&self) -> &dyn Inner {
        let recording = self.passes().and_then(|passes| passes.recording());
        recording.map_or(self, Recording::asked)
    }

    /// The first pass that failed, of an f whose failures are recorded.
    pub(crate) fn lost(&self) -> Option<Lost> {
        cell_of(self)?.get().cloned()
    }
}

impl Inner for Recording<'_> {
    fn d(&self) -> usize {
        self.asked().d()
    }

    fn ell(&self) -> usize {
        self.asked().ell()
    }

    fn n_x(&self) -> usize {
        self.asked().n_x()
    }

    fn n_y(&self, i: usize) -> usize {
        self.asked().n_y(i)
    }

    fn facts(&self) -> Facts {
        self.asked().facts()
    }

    fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
        self.asked().value(theta, i, j, out);
    }

    fn add_jac_t(&self, theta: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        self.asked().add_jac_t(theta, i, j, w, c, out);
    }

    fn passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }
}

super::fused::pass_on_fused!();

impl Passes for Recording<'_> {
    fn recording(&self) -> Option<&Recording<'_>> {
        Some(self)
    }

    fn bounds(&self) -> Bounds {
        self.asked().bounds()
    }

    fn mean_jacobian_size(&self, theta: &[f64]) -> Result<Option<f64>, Lost> {
        Ok(self.kept(|f| f.mean_jacobian_size(theta)).flatten())
    }

    fn some_mean_jacobians(&self, theta: &[f64]) -> Result<Option<Vec<f64>>, Lost> {
        Ok(self.kept(|f| f.some_mean_jacobians(theta)).flatten())
    }

    fn gram(&self, weight: &(dyn Fn(usize) -> f64 + Sync)) -> Result<Option<Vec<f64>>, Lost> {
        let d = self.d();
        Ok(self.kept(|f| f.gram(weight)).unwrap_or_else(|| Some(vec![0.0; d * d])))
    }

    fn common_gram(&self) -> Option<&CommonGram> {
        self.asked().common_gram()
    }

    fn summed(&self) -> Option<&dyn Summed> {
        self.asked().summed().map(|_| self as &dyn Summed)
    }

    fn hash_data(&self, hash: &mut Hash) -> Result<bool, Lost> {
        Ok(self.kept(|f| f.hash_data(hash)).unwrap_or(true))
    }

    fn means(&self, theta: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        self.fill(out, |f, out| f.means(theta, out));
        Ok(())
    }

    fn mean_jacobians(&self, theta: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        self.fill(out, |f, out| f.mean_jacobians(theta, out));
        Ok(())
    }

    fn means_and_jacobians(
        &self,
        theta: &[f64],
        f_bar: &mut [f64],
        jacobians: &mut [f64],
    ) -> Result<(), Lost> {
        if self.kept(|f| f.means_and_jacobians(theta, f_bar, jacobians)).is_none() {
            f_bar.fill(0.0);
            jacobians.fill(0.0);
        }
        Ok(())
    }

    fn means_of(
        &self,
        theta: &[f64],
        terms: &[usize],
        most: usize,
        f_bar: &mut [f64],
        jacobians: &mut [f64],
    ) -> Result<(), Lost> {
        if self.kept(|f| f.means_of(theta, terms, most, f_bar, jacobians)).is_none() {
            f_bar.fill(0.0);
            jacobians.fill(0.0);
        }
        Ok(())
    }

    fn add_weighted_jac_t(&self, theta: &[f64], w: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        self.fill(out, |f, out| f.add_weighted_jac_t(theta, w, out));
        Ok(())
    }

    fn snapshot(
        &self,
        theta: &[f64],
        w: &[f64],
        f_bar: &mut [f64],
        u: &mut [f64],
    ) -> Result<(), Lost> {
        if self.kept(|f| f.snapshot(theta, w, f_bar, u)).is_none() {
            f_bar.fill(0.0);
            u.fill(0.0);
        }
        Ok(())
    }

    fn gradient(
        &self,
        theta: &[f64],
        duals: &Duals<'_>,
        f_bar: &mut [f64],
        w: &mut [f64],
        out: &mut [f64],
    ) -> Result<f64, Lost> {
        Ok(self.kept(|f| f.gradient(theta, duals, f_bar, w, out)).unwrap_or_else(|| {
            f_bar.fill(0.0);
            w.fill(0.0);
            out.fill(0.0);
            0.0
        }))
    }
}

impl Recording<'_> {
    /// What f says of itself, which is all of F, or 0 after a failure.
    fn of_all<R: Default>(&self, ask: impl FnOnce(&dyn Summed) -> Result<R, Lost>) -> R {
        self.kept(|f| f.summed().map_or(Ok(R::default()), ask)).unwrap_or_default()
    }
}

/// Asked for only where f is such.
impl Summed for Recording<'_> {
    fn has_hessian(&self) -> bool {
        self.asked().summed().is_some_and(Summed::has_hessian)
    }

    fn hessian(&self, theta: &[f64]) -> Result<Vec<f64>, Lost> {
        let mut matrix = self.of_all(|f| f.hessian(theta));
        matrix.resize(theta.len() * theta.len(), 0.0);
        Ok(matrix)
    }

    fn smoothness(&self, theta: &[f64]) -> Result<f64, Lost> {
        Ok(self.of_all(|f| f.smoothness(theta)))
    }

    fn slopes(&self, theta: &[f64]) -> Result<f64, Lost> {
        Ok(self.of_all(|f| f.slopes(theta)))
    }

    fn columns(&self) -> Option<Columns<'_>> {
        self.asked().summed()?.columns()
    }
}

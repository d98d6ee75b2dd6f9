//! Runs a method on a problem until a rule says stop: [`Run`] piece by piece, [`Driver`] at once.
//!
//! Inner steps run in chunks of a few milliseconds. Between chunks the driver looks at the limits
//! and at the user's interrupt, and there a checkpoint may be made; between outer iterations it
//! evaluates the objective, tells the observers and judges progress. `seconds` are the method's
//! own: that clock is stopped while the driver does so. The limit on time is one on all of it.

use std::num::NonZeroU64;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use crate::certificate::{Certificate, Measure};
use crate::methods::Method;
use crate::methods::erased::ErasedMethod;
use crate::model::inner::Lost;
use crate::model::problem::Objective;
use crate::model::setting::InvalidSetting;
use crate::oracle::Calls;
use crate::run::checkpoint::{Checkpoint, CheckpointError};
use crate::run::status::Status;

pub mod checkpoint;
mod course;
mod engine;
#[doc(hidden)]
pub mod evaluate;
mod judge;
mod prepared;
mod scale;
pub mod status;
mod trace;

pub use self::course::{Limits, Run};
pub use self::prepared::Prepared;

/// When to stop; whatever comes first. `None` never stops.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stop {
    /// Outer iterations, warm-up epochs included.
    pub max_outer: Option<u64>,
    /// Oracle calls; looked at between steps, so that a snapshot that has begun is finished.
    pub max_calls: Option<u64>,
    /// Seconds from the beginning of the run, evaluations included; looked at between chunks of
    /// steps, between evaluations, and within steps that take long.
    pub max_seconds: Option<f64>,
    /// An objective value that is good enough.
    pub target_objective: Option<f64>,
    /// [`Certificate::relative`] at which the problem counts as solved: the proven gap relative to
    /// the objective's scale or, where none can be proven, the relative stationarity. Without a
    /// tolerance, nothing is measured but the objective.
    pub tolerance: Option<f64>,
}

impl Default for Stop {
    fn default() -> Self {
        Stop {
            max_outer: Some(10_000),
            max_calls: None,
            max_seconds: None,
            target_objective: None,
            tolerance: Some(1e-6),
        }
    }
}

/// One line of a trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Record {
    /// Outer iterations finished.
    pub outer: u64,
    /// Inner steps made.
    pub inner: u64,
    /// Oracle calls made.
    pub calls: Calls,
    /// Rows of data read.
    pub rows: u64,
    /// Seconds of the method's own time.
    pub seconds: f64,
    /// `P(theta)`
    pub objective: f64,
    /// [`Certificate::relative`]: what the tolerance is compared with.
    pub optimality: Option<f64>,
    /// [`Certificate::gap`]: the best objective so far is proven to be within this of the optimum.
    pub gap: Option<f64>,
    /// [`Certificate::measure`]: what `optimality` is.
    pub measure: Measure,
}

/// Is told how a run goes, and may end it: where it breaks, the run ends with [`Status::Stopped`].
pub trait Observer {
    /// After each evaluation, with the point that was evaluated.
    fn record(&mut self, record: &Record, theta: &[f64]) -> ControlFlow<()> {
        let _ = (record, theta);
        ControlFlow::Continue(())
    }

    /// Between pieces of work, such as chunks of inner steps, several times a second; `record`
    /// holds the last evaluation and current counts.
    fn tick(&mut self, record: &Record) -> ControlFlow<()> {
        let _ = record;
        ControlFlow::Continue(())
    }

    /// Asked after each [`Self::tick`], and where the run ends, unless it has diverged: whether to
    /// make a checkpoint here.
    fn asks_for_checkpoint(&mut self, ending: bool) -> bool {
        let _ = ending;
        false
    }

    /// The checkpoint that was asked for.
    fn checkpoint(&mut self, checkpoint: Checkpoint) {
        let _ = checkpoint;
    }
}

/// For runs that are not observed.
impl Observer for () {}

/// What a run returns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Solution {
    /// The solution or, where the run was not brought to an end, the best point that was evaluated.
    pub theta: Vec<f64>,
    /// `P(theta)`
    pub objective: f64,
    /// How far theta is from optimal.
    pub certificate: Certificate,
    /// The dual variables `w_i`, flat, of a method that keeps some, as it had them at the end.
    pub duals: Option<Vec<f64>>,
    /// The direction in which the objective falls without end, where there is no minimum.
    pub endless: Option<Vec<f64>>,
    /// Why the run ended.
    pub status: Status,
    /// What failed, in a sentence, where the status is [`Status::Failed`].
    pub failure: Option<String>,
    /// Oracle calls made.
    pub calls: Calls,
    /// Rows of data read.
    pub rows: u64,
    /// Outer iterations finished.
    pub outer: u64,
    /// Inner steps made.
    pub inner: u64,
    /// Seconds of the method's own time.
    pub seconds: f64,
    /// The evaluations, the start first; of more than [`Driver::most_records`] a part.
    pub trace: Vec<Record>,
}

/// Of the objective: a difference that its printed digits show.
const PRINTED: f64 = 1e-12;

impl Solution {
    /// A run that did not begin.
    pub(crate) fn failed(start: &[f64], why: String) -> Self {
        Solution {
            theta: start.to_vec(),
            objective: f64::NAN,
            certificate: Certificate::NONE,
            duals: None,
            endless: None,
            status: Status::Failed,
            failure: Some(why),
            calls: Calls::default(),
            rows: 0,
            outer: 0,
            inner: 0,
            seconds: 0.0,
            trace: Vec::new(),
        }
    }

    /// Takes another objective for that of theta, which was rounded: a gap grows along, and what is
    /// no longer within the tolerance is not solved.
    pub fn move_objective(&mut self, objective: f64, tolerance: f64) {
        let more = objective - self.objective;
        if more.abs() <= PRINTED * objective.abs() {
            return;
        }
        self.objective = objective;
        let certificate = &mut self.certificate;
        let scale = match (certificate.gap, certificate.relative) {
            (Some(gap), Some(relative)) if relative > 0.0 => gap / relative,
            _ => objective.abs(),
        };
        // Not f64::max, which would drop a NaN.
        let more = if more < 0.0 { 0.0 } else { more };
        certificate.gap = certificate.gap.map(|gap| gap + more);
        certificate.relative = certificate.relative.map(|relative| relative + more / scale);
        let stays = more <= tolerance * scale;
        if self.status == Status::Solved && !stays {
            self.status = Status::Stalled;
        }
    }
}

/// How to run: when to stop, how often to look, who may interrupt.
#[derive(Debug, Clone)]
pub struct Driver<'a> {
    /// When to stop.
    pub stop: Stop,
    /// Evaluate also within an outer iteration, after this many inner steps each.
    pub evaluate_every: Option<NonZeroU64>,
    /// Set by a signal handler: the run ends at the next chunk and returns the best point so far.
    pub interrupt: Option<&'a AtomicBool>,
    /// Records that [`Solution::trace`] holds, and the best and the last beside them: of more
    /// evaluations every second one is left out, then every other, so that memory does not grow
    /// with time. Observers are told of all.
    pub most_records: usize,
}

impl Default for Driver<'_> {
    fn default() -> Self {
        Driver { stop: Stop::default(), evaluate_every: None, interrupt: None, most_records: 4096 }
    }
}

/// Where a run begins.
#[derive(Debug, Clone, Copy)]
pub enum Begin<'a> {
    /// At a point, or that next to it that g allows.
    At(&'a [f64]),
    /// Where another run was left.
    Resume(&'a Checkpoint),
}

impl<'a> Begin<'a> {
    /// Where the run began, be it this one or the one before it.
    pub(crate) fn start(self) -> &'a [f64] {
        match self {
            Begin::At(theta) => theta,
            Begin::Resume(checkpoint) => checkpoint.start(),
        }
    }
}

/// Why a run could not begin.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// Lengths do not fit: of the start, of phi or of g.
    #[error(transparent)]
    Problem(#[from] InvalidSetting),
    /// A checkpoint is not of such a run.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The data that a checkpoint belongs to cannot be read.
    #[error(transparent)]
    Lost(Lost),
}

/// The answer of a run to its end; that of one which could not begin has [`Status::Failed`].
///
/// # Errors
/// If a checkpoint is not of such a run.
pub(crate) fn finished(
    run: Result<Run<'_>, RunError>,
    begin: Begin<'_>,
    observer: &mut dyn Observer,
) -> Result<Solution, CheckpointError> {
    match run {
        Ok(run) => Ok(run.finish(observer)),
        Err(RunError::Checkpoint(error)) => Err(error),
        Err(error) => Ok(Solution::failed(begin.start(), error.to_string())),
    }
}

/// What came of a run that began at a point.
pub(crate) fn begun<T>(found: Result<T, CheckpointError>) -> T {
    found.unwrap_or_else(|_| unreachable!("only checkpoints are refused"))
}

impl Driver<'_> {
    /// Minimises `problem` by `method` from `theta` (or the point next to it that g allows). A
    /// start of the wrong length ends it at once, with [`Status::Failed`].
    pub fn run<'p, M: Method>(
        &self,
        problem: impl Into<Objective<'p>>,
        method: &M,
        theta: &[f64],
        observer: &mut dyn Observer,
    ) -> Solution {
        begun(self.run_from(problem.into(), method, Begin::At(theta), observer))
    }

    /// Goes on from a checkpoint of [`Self::run`] with the same problem, method and
    /// `evaluate_every`; the limits may be others. They are those of both runs together: oracle
    /// calls, iterations and seconds count from the beginning of the first.
    ///
    /// # Errors
    /// If problem, method or settings are not those of the checkpoint.
    pub fn resume<'p, M: Method>(
        &self,
        problem: impl Into<Objective<'p>>,
        method: &M,
        checkpoint: &Checkpoint,
        observer: &mut dyn Observer,
    ) -> Result<Solution, CheckpointError> {
        self.run_from(problem.into(), method, Begin::Resume(checkpoint), observer)
    }

    fn run_from(
        &self,
        problem: Objective<'_>,
        method: &dyn ErasedMethod,
        begin: Begin<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Solution, CheckpointError> {
        let prepared = Prepared::new(problem);
        finished(Run::start_erased(&prepared, method, begin, self, observer), begin, observer)
    }
}

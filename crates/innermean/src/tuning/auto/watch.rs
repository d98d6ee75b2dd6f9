//! One attempt among several: its counts go on from those before it, and it is ended where it makes
//! no more progress.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::GaveUp;
use super::cost::{Done, Fall, Trial};
use super::facts::Facts;
use super::memory::Attempting;
use crate::linalg::elementary::Elementary;
use crate::methods::MethodInfo;
use crate::model::inner::Inner;
use crate::model::problem::Objective;
use crate::run::checkpoint::Checkpoint;
use crate::run::status::Status;
use crate::run::{Driver, Observer, Record, Solution, Stop};

/// Outer iterations in which the measure must fall by a tenth, these or half of all, whichever are
/// more.
const ITERATIONS_WITHOUT_PROGRESS: u64 = 100;
/// The same for L-BFGS, whose steps cost little: in a long valley the measure comes back to what it
/// was after hundreds of them.
const ITERATIONS_OF_LBFGS: u64 = 300;
/// The same for Newton's method, which takes off a digit or so with each, and for the normal
/// equations, which are done after a few.
const ITERATIONS_OF_NEWTON: u64 = 30;
const ITERATIONS_OF_DIRECT: u64 = 8;

/// Outer iterations that Newton's method and the normal equations have where steps in twice the
/// precision come after them: they crawl where columns are too much alike, and along what has no
/// end.
const CRAWLING: u64 = 200;
const CRAWLING_AT_ONCE: u64 = 50;

/// The part of all that an attempt has gained that counts as progress.
const PROGRESS_OF_GAIN: f64 = 1e-2;
/// And of the objective.
const PROGRESS_OF_OBJECTIVE: f64 = 1e-4;

/// What the last measure counts for in the average of late, whose logarithm is taken: in a valley it
/// is small for a moment and large again.
const WEIGHT_OF_LAST: f64 = 0.2;

/// Relative to the first measure, the level below which no other method would get further either.
const ROUNDING: f64 = 1e-9;

/// What a watch has seen.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Progress {
    /// The first measure, of all attempts.
    first: Option<f64>,
    /// The logarithms of the first of this attempt, and of the average of late.
    fall: Option<(f64, f64)>,
    /// The last measure that was a tenth below the one before it, and when.
    mark: (f64, u64),
    /// The first objective of this attempt, and the last that had gained a little of what was
    /// gained in all.
    objectives: Option<(f64, f64)>,
    /// The last objective, and how often in this attempt it was the one before.
    last: f64,
    refused: u64,
}

impl Progress {
    /// Of an attempt that begins after others.
    pub(super) fn after(first: Option<f64>) -> Self {
        Progress {
            first,
            fall: None,
            mark: (f64::INFINITY, 0),
            objectives: None,
            last: f64::INFINITY,
            refused: 0,
        }
    }

    /// The first measure of all.
    pub(super) fn first(&self) -> Option<f64> {
        self.first
    }

    /// How far the measure has fallen in this attempt.
    pub(super) fn fall(&self) -> Option<Fall> {
        self.fall.map(|(first, now)| Fall { first, now })
    }

    /// Takes in what a record says; whether that is a measure.
    fn note(&mut self, record: &Record) -> Option<f64> {
        self.refused += u64::from(record.objective == self.last);
        self.last = record.objective;
        let now = record.optimality?;
        if now.is_finite() {
            let log = now.max(f64::MIN_POSITIVE).natural_log();
            let (first, average) = self.fall.unwrap_or((log, log));
            self.fall = Some((first, average + WEIGHT_OF_LAST * (log - average)));
        }
        Some(now)
    }
}

/// Passes on what a run tells, and ends it.
pub(super) struct Watch<'a> {
    observer: &'a mut dyn Observer,
    driver: &'a Driver<'a>,
    /// What a checkpoint says of the attempts.
    attempting: &'a Attempting,
    patience: u64,
    /// Outer iterations after which the next is tried in any case.
    most: u64,
    /// f, and what the method is held to before the next one is tried.
    inner: &'a dyn Inner,
    trial: Option<Trial>,
    pub(super) progress: Progress,
    stalled: bool,
    slow: bool,
}

impl<'a> Watch<'a> {
    pub(super) fn new(
        driver: &'a Driver<'a>,
        attempting: &'a Attempting,
        info: &MethodInfo,
        problem: Objective<'a>,
        observer: &'a mut dyn Observer,
    ) -> Self {
        let patience = match info.name {
            "direct" => ITERATIONS_OF_DIRECT,
            "newton" | "multipliers" => ITERATIONS_OF_NEWTON,
            "lbfgs" => ITERATIONS_OF_LBFGS,
            _ => ITERATIONS_WITHOUT_PROGRESS,
        };
        let most = match info.name {
            "newton" if attempting.is_followed_by("precise") => CRAWLING,
            "direct" if attempting.is_followed_by("precise") => CRAWLING_AT_ONCE,
            _ => u64::MAX,
        };
        let follows = |name: &str| attempting.is_followed_by(name);
        let (price, tolerance) = (|| Facts(problem).price(), driver.stop.tolerance);
        let trial = match (info.name, attempting.rate) {
            ("lbfgs", _) if follows("newton") => {
                price().map(|price| Trial::Lbfgs { price, tolerance })
            }
            ("newton", Some(rate)) if follows("lbfgs") => {
                price().map(|price| Trial::After { price, rate })
            }
            ("newton", None) if follows("lbfgs") => {
                price().map(|price| Trial::Newton { price, tolerance })
            }
            _ => None,
        };
        Watch {
            observer,
            driver,
            attempting,
            patience,
            most,
            inner: problem.inner,
            trial,
            progress: attempting.progress,
            stalled: false,
            slow: false,
        }
    }

    /// Within the remaining limits.
    pub(super) fn limits(&self) -> Driver<'a> {
        let stop = left(&self.driver.stop, self.attempting);
        Driver { stop, ..self.driver.clone() }
    }

    /// Why the next method's turn has come, if it has.
    pub(super) fn gave_up(&self, status: Status) -> Option<GaveUp> {
        match status {
            Status::Diverged => Some(GaveUp::Diverged),
            Status::Stopped if self.stalled => Some(GaveUp::Stalled),
            Status::Stopped if self.slow => Some(GaveUp::Slow),
            _ => None,
        }
    }

    /// Whether so little of the first measure is left that it is rounding.
    pub(super) fn is_rounding(&self) -> bool {
        self.progress.first.is_some_and(|first| self.progress.mark.0 <= ROUNDING * first)
    }

    fn flow(&self) -> ControlFlow<()> {
        if self.stalled || self.slow { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// The record of the whole run.
    fn whole(&self, record: &Record) -> Record {
        self.attempting.so_far.as_ref().map_or(*record, |before| after(before, record))
    }
}

impl Observer for Watch<'_> {
    fn record(&mut self, record: &Record, theta: &[f64]) -> ControlFlow<()> {
        // Where an attempt begins has been told by the one before it.
        if self.attempting.so_far.is_none() || record.inner > 0 {
            self.observer.record(&self.whole(record), theta)?;
        }
        self.stalled |= record.outer >= self.most;
        if let Some(now) = self.progress.note(record) {
            let Progress { first, mark, objectives, .. } = &mut self.progress;
            if !now.is_finite() {
                // Nothing is proven yet, which says nothing about progress.
                mark.1 = record.outer;
                return self.flow();
            }
            first.get_or_insert(now);
            let (at_first, marked) = objectives.get_or_insert((record.objective, record.objective));
            // Far from the optimum a measure may say little while the objective falls.
            let least = (PROGRESS_OF_GAIN * (*at_first - record.objective).abs())
                .max(PROGRESS_OF_OBJECTIVE * record.objective.abs());
            let gained = *marked - record.objective > least;
            if gained {
                *marked = record.objective;
                mark.1 = record.outer;
            }
            if now < 0.9 * mark.0 {
                *mark = (now, record.outer);
            } else if record.outer - mark.1 >= self.patience.max(record.outer / 2) {
                self.stalled = true;
            }
        }
        let (fall, refused) = (self.progress.fall(), self.progress.refused);
        let done = Done { outer: record.outer, calls: record.calls, refused };
        self.slow |= self.trial.is_some_and(|trial| trial.has_failed(self.inner, done, fall));
        self.flow()
    }

    fn tick(&mut self, record: &Record) -> ControlFlow<()> {
        self.observer.tick(&self.whole(record))
    }

    fn asks_for_checkpoint(&mut self, ending: bool) -> bool {
        !self.stalled && !self.slow && self.observer.asks_for_checkpoint(ending)
    }

    fn checkpoint(&mut self, checkpoint: Checkpoint) {
        self.observer.checkpoint(self.attempting.around(self.progress, &checkpoint));
    }
}

/// What of the limits is left.
fn left(stop: &Stop, used: &Attempting) -> Stop {
    let (outer, calls) =
        used.so_far.as_ref().map_or((0, 0), |so_far| (so_far.outer, so_far.calls.total()));
    Stop {
        max_outer: stop.max_outer.map(|most| most.saturating_sub(outer)),
        max_calls: stop.max_calls.map(|most| most.saturating_sub(calls)),
        max_seconds: stop.max_seconds.map(|most| (most - used.wall).max(0.0)),
        ..stop.clone()
    }
}

/// A record that goes on from where another run ended.
fn after(before: &Solution, record: &Record) -> Record {
    Record {
        outer: before.outer + record.outer,
        inner: before.inner + record.inner,
        calls: before.calls + record.calls,
        rows: before.rows + record.rows,
        seconds: before.seconds + record.seconds,
        ..*record
    }
}

/// Two runs as one; the second has the better point, unless it began elsewhere and diverged.
pub(super) fn joined(before: Solution, next: Solution) -> Solution {
    let mut trace = before.trace.clone();
    trace.extend(
        next.trace.iter().filter(|record| record.inner > 0).map(|record| after(&before, record)),
    );
    let (outer, inner, seconds) =
        (before.outer + next.outer, before.inner + next.inner, before.seconds + next.seconds);
    let (calls, rows) = (before.calls + next.calls, before.rows + next.rows);
    let best = if next.status.is_solved() || next.objective <= before.objective {
        next
    } else {
        let Solution { endless, status, failure, .. } = next;
        Solution { endless, status, failure, ..before }
    };
    Solution { calls, rows, outer, inner, seconds, trace, ..best }
}

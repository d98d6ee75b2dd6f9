//! One attempt among several: its counts go on from those before it, and it is ended where it makes no more progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::GaveUp;
use crate::methods::MethodInfo;
use crate::run::{Driver, Observer, Record, Solution, Stop};
use crate::status::Status;

/// Outer iterations in which the measure must fall by a tenth, these or half of all, whichever are more.
const PATIENCE: u64 = 100;
/// The same for Newton's method, which takes off a digit or so with each, and for the normal equations, which are done after a few.
const LITTLE_PATIENCE: u64 = 30;
const NO_PATIENCE: u64 = 8;

/// What is left of the first measure where nobody else would get further either.
const ROUNDING: f64 = 1e-9;

/// Passes on what a run tells, and ends it.
pub(super) struct Watch<'a> {
    observer: &'a mut dyn Observer,
    driver: &'a Driver<'a>,
    /// What was used up before.
    before: Option<&'a Solution>,
    patience: u64,
    /// The first measure.
    first: Option<f64>,
    /// The last measure that was a tenth below the one before it, and when.
    mark: (f64, u64),
    stalled: bool,
    /// Ends the run.
    end: Arc<AtomicBool>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(
        driver: &'a Driver<'a>,
        before: Option<&'a Solution>,
        info: &MethodInfo,
        observer: &'a mut dyn Observer,
    ) -> Self {
        let patience = match info.name {
            "direct" => NO_PATIENCE,
            "newton" | "multipliers" => LITTLE_PATIENCE,
            _ => PATIENCE,
        };
        Watch {
            observer,
            driver,
            before,
            patience,
            first: before.and_then(|before| {
                before.trace.iter().filter_map(|record| record.optimality).find(|o| o.is_finite())
            }),
            mark: (f64::INFINITY, 0),
            stalled: false,
            end: Arc::default(),
        }
    }

    /// Runs within what is left of the limits.
    pub(super) fn run(&mut self, run: impl FnOnce(&Driver<'_>, &mut dyn Observer) -> Solution) -> Solution {
        let end = Arc::clone(&self.end);
        let stop =
            self.before.map_or_else(|| self.driver.stop.clone(), |before| left(&self.driver.stop, before));
        let driver = Driver { stop, interrupt: Some(&end), ..self.driver.clone() };
        run(&driver, self)
    }

    /// Why the next method's turn has come, if it has.
    pub(super) fn gave_up(&self, status: Status) -> Option<GaveUp> {
        match status {
            Status::Diverged => Some(GaveUp::Diverged),
            Status::Interrupted if self.stalled => Some(GaveUp::Stalled),
            _ => None,
        }
    }

    /// Whether so little of the first measure is left that it is rounding.
    pub(super) fn is_rounding(&self) -> bool {
        self.first.is_some_and(|first| self.mark.0 <= ROUNDING * first)
    }

    /// The record of the whole run.
    fn whole(&self, record: &Record) -> Record {
        self.before.map_or(*record, |before| after(before, record))
    }
}

impl Observer for Watch<'_> {
    fn record(&mut self, record: &Record, theta: &[f64]) {
        // Where an attempt begins has been told by the one before it.
        if self.before.is_none() || record.inner > 0 {
            self.observer.record(&self.whole(record), theta);
        }
        if let Some(now) = record.optimality {
            if !now.is_finite() {
                // Nothing is proven yet, which says nothing about progress.
                self.mark.1 = record.outer;
                return;
            }
            self.first.get_or_insert(now);
            if now < 0.9 * self.mark.0 {
                self.mark = (now, record.outer);
            } else if record.outer - self.mark.1 >= self.patience.max(record.outer / 2) {
                self.stalled = true;
                self.end.store(true, Ordering::Relaxed);
            }
        }
    }

    fn tick(&mut self, record: &Record) {
        self.observer.tick(&self.whole(record));
        if self.driver.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            self.stalled = false;
            self.end.store(true, Ordering::Relaxed);
        }
    }
}

/// What of the limits is left.
fn left(stop: &Stop, used: &Solution) -> Stop {
    Stop {
        max_outer: stop.max_outer.map(|most| most.saturating_sub(used.outer)),
        max_calls: stop.max_calls.map(|most| most.saturating_sub(used.calls.total())),
        max_seconds: stop.max_seconds.map(|most| (most - used.seconds).max(0.0)),
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
    trace.extend(next.trace.iter().filter(|record| record.inner > 0).map(|record| after(&before, record)));
    let (outer, inner, seconds) =
        (before.outer + next.outer, before.inner + next.inner, before.seconds + next.seconds);
    let (calls, rows) = (before.calls + next.calls, before.rows + next.rows);
    let best = if next.status.is_solved() || next.objective <= before.objective {
        next
    } else {
        Solution { status: next.status, ..before }
    };
    Solution { calls, rows, outer, inner, seconds, trace, ..best }
}

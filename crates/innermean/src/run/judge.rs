//! Evaluates, records, and says when to stop.

use serde::{Deserialize, Serialize};

use super::engine::Counts;
use super::trace::Thinned;
use super::{Observer, Record, Solution, Stop};
use crate::certificate::{Certificate, Measure};
use crate::model::problem::Objective;
use crate::oracle::{Calls, Patience};
use crate::run::evaluate::{self, Evaluation, Evaluator, Known};
use crate::run::status::{Divergence, Status};

/// The judge of one run, with what it has seen.
pub(super) struct Judge<'p> {
    evaluator: Evaluator<'p>,
    stop: Stop,
    divergence: Divergence,
    /// Whether the method recovers by itself from a blow-up.
    recovers: bool,
    trace: Thinned,
    /// How many records are kept.
    most: usize,
    last: Judged,
    best: Judged,
    /// An evaluation that was left for want of time is as if it had not been, so that a run that
    /// goes on makes it whole: what the evaluator remembered before it.
    left: Option<evaluate::Memory>,
    /// Whether one that is cut short is better than none.
    ending: bool,
}

/// What goes into a checkpoint.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Memory {
    evaluator: evaluate::Memory,
    divergence: Divergence,
    trace: Thinned,
    last: Judged,
    best: Judged,
}

/// A point and what was found.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Judged {
    theta: Vec<f64>,
    record: Record,
    certificate: Certificate,
}

impl Judged {
    fn nothing(d: usize) -> Self {
        let record = Record {
            outer: 0,
            inner: 0,
            calls: Calls::default(),
            rows: 0,
            seconds: 0.0,
            objective: f64::INFINITY,
            optimality: None,
            gap: None,
            measure: Measure::None,
        };
        Judged { theta: vec![0.0; d], record, certificate: Certificate::NONE }
    }

    fn take(&mut self, theta: &[f64], record: Record, certificate: Certificate) {
        self.theta.copy_from_slice(theta);
        (self.record, self.certificate) = (record, certificate);
    }
}

impl<'p> Judge<'p> {
    pub(super) fn new(problem: Objective<'p>, stop: &Stop, most: usize, recovers: bool) -> Self {
        let d = problem.inner.d();
        Judge {
            evaluator: match stop.tolerance {
                Some(tolerance) => Evaluator::new(problem).aiming_at(tolerance),
                None => Evaluator::without_measure(problem),
            },
            stop: stop.clone(),
            divergence: Divergence::default(),
            recovers,
            trace: Thinned::default(),
            most,
            last: Judged::nothing(d),
            best: Judged::nothing(d),
            left: None,
            ending: false,
        }
    }

    /// How long proofs may take.
    pub(super) fn until(mut self, patience: Patience<'p>) -> Self {
        self.evaluator.until(patience);
        self
    }

    /// From now on objectives alone are looked at.
    pub(super) fn prove_nothing(&mut self) {
        self.evaluator.prove_nothing();
    }

    /// From now on an evaluation that is cut short counts: the run ends, and goes on from an
    /// earlier point if it does.
    pub(super) fn take_what_comes(&mut self) {
        self.ending = true;
    }

    /// Whether the last evaluation was left.
    pub(super) fn has_left(&self) -> bool {
        self.left.is_some()
    }

    /// Evaluates a point, unless it has just been evaluated, tells the observer, and judges.
    pub(super) fn evaluate(
        &mut self,
        now: Counts,
        theta: &[f64],
        known: Known<'_>,
        observer: &mut dyn Observer,
    ) -> Option<Status> {
        if self.trace.last().is_some_and(|last| last.inner == now.inner) {
            return None;
        }
        let before = (!self.ending && self.trace.last().is_some()).then(|| self.evaluator.memory());
        let Evaluation { objective, magnitude, certificate, is_best } =
            self.evaluator.evaluate(theta, known);
        if before.is_some() && self.evaluator.was_cut() {
            self.left = before;
            return None;
        }
        if self.evaluator.lost().is_some() {
            // Nothing that was found is worth anything.
            if self.trace.last().is_none() {
                self.best.theta.copy_from_slice(theta);
            }
            return Some(Status::Failed);
        }
        let Certificate { measure, gap, relative: optimality, .. } = certificate;
        let Counts { outer, inner, calls, rows, seconds } = now;
        let record =
            Record { outer, inner, calls, rows, seconds, objective, optimality, gap, measure };
        if !objective.is_finite() || !theta.iter().all(|t| t.is_finite()) {
            let at_limit = self.stop.max_outer.is_some_and(|most| outer >= most);
            return match (self.trace.last().is_none(), self.recovers) {
                (true, _) => Some(Status::StartNotFinite),
                (false, true) => at_limit.then_some(Status::MaxOuter),
                (false, false) => Some(Status::Diverged),
            };
        }
        // Points within an outer iteration say nothing about divergence: they lie as close as the
        // user likes.
        let ended = self.trace.last().is_none_or(|last| last.outer < outer);
        self.trace.push(record, self.most);
        self.last.take(theta, record, certificate);
        let falling = objective < self.best.record.objective;
        if is_best {
            self.best.take(theta, record, certificate);
        }
        let stopped = observer.record(&record, theta).is_break();
        self.reached()
            .or_else(|| {
                let diverged = ended
                    && self.divergence.seen(objective, magnitude)
                    && (!self.recovers || falling);
                diverged.then_some(Status::Diverged).or_else(|| self.at_last_outer())
            })
            .or(stopped.then_some(Status::Stopped))
    }

    /// Whether the last point is good enough.
    fn reached(&self) -> Option<Status> {
        let Stop { target_objective, tolerance, .. } = self.stop;
        let Judged {
            record: Record { objective, optimality, measure, inner, .. },
            certificate,
            ..
        } = self.last;
        // What is not proven is not believed of the start: a point may be stationary by symmetry.
        let is_believed = measure.is_gap() || inner > 0;
        let is_reached = optimality.is_some_and(|o| tolerance.is_some_and(|t| o <= t));
        if is_believed && (certificate.is_rounding || is_reached) {
            Some(Status::Solved)
        } else if target_objective.is_some_and(|t| objective <= t) {
            Some(Status::TargetReached)
        } else {
            None
        }
    }

    fn at_last_outer(&self) -> Option<Status> {
        let last = self.last.record.outer;
        self.stop.max_outer.is_some_and(|most| last >= most).then_some(Status::MaxOuter)
    }

    /// What is to be said of the last point where a run goes on with other limits.
    pub(super) fn again(&self) -> Option<Status> {
        self.reached().or_else(|| self.at_last_outer())
    }

    /// Whether the objective has been proven to stay above some number everywhere.
    pub(super) fn has_bound_from_below(&self) -> bool {
        self.evaluator.has_bound_from_below()
    }

    /// The last evaluation, with these counts.
    pub(super) fn record(&self, now: &Counts) -> Record {
        let Counts { outer, inner, calls, rows, seconds } = *now;
        Record { outer, inner, calls, rows, seconds, ..self.last.record }
    }

    /// The point of the last evaluation.
    pub(super) fn last_theta(&self) -> &[f64] {
        &self.last.theta
    }

    /// Counts at the last evaluation.
    pub(super) fn last_counts(&self) -> Counts {
        let Record { outer, inner, calls, rows, seconds, .. } = self.last.record;
        Counts { outer, inner, calls, rows, seconds }
    }

    /// All that the next evaluations depend on.
    pub(super) fn memory(&self) -> Memory {
        Memory {
            evaluator: self.left.clone().unwrap_or_else(|| self.evaluator.memory()),
            divergence: self.divergence.clone(),
            trace: self.trace.clone(),
            last: self.last.clone(),
            best: self.best.clone(),
        }
    }

    /// Goes on from there; false if it is not of a problem with as many coordinates.
    pub(super) fn remember(&mut self, memory: Memory) -> bool {
        let Memory { evaluator, divergence, trace, last, best } = memory;
        let d = self.last.theta.len();
        let fits =
            last.theta.len() == d && best.theta.len() == d && self.evaluator.remember(evaluator);
        (self.divergence, self.trace, self.last, self.best) = (divergence, trace, last, best);
        fits
    }

    pub(super) fn solution(mut self, status: Status, now: &Counts) -> Solution {
        // A gap is that of the best point so far. Stationarity belongs to the point where it was
        // measured.
        let is_gap = self.last.certificate.measure.is_gap();
        let certificate = is_gap.then_some(self.last.certificate);
        let judged = if status.is_solved() && !is_gap { self.last } else { self.best };
        let certificate = certificate.unwrap_or(judged.certificate);
        let (mut objective, mut settled) = (judged.record.objective, certificate);
        if self.evaluator.lost().is_none() {
            let found = self.evaluator.settle(&judged.theta, objective, certificate);
            if self.evaluator.lost().is_none() {
                (objective, settled) = found;
            }
        }
        let failure = self.evaluator.lost().map(|lost| lost.to_string());
        // Digits that double precision does not have may show that more is left than it seemed.
        let is_off = self.evaluator.is_beyond(settled) && !self.evaluator.is_beyond(certificate);
        let status = if status.is_solved() && is_off { Status::Stalled } else { status };
        let status = if failure.is_some() { Status::Failed } else { status };
        Solution {
            theta: judged.theta,
            objective,
            certificate: settled,
            duals: None,
            endless: None,
            status,
            failure,
            calls: now.calls,
            rows: now.rows,
            outer: now.outer,
            inner: now.inner,
            seconds: now.seconds,
            trace: self.trace.into_records(),
        }
    }
}

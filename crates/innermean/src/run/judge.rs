//! Evaluates, records, and says when to stop.

use super::engine::Counts;
use super::{Observer, Record, Solution, Stop};
use crate::certificate::{Certificate, Measure};
use crate::evaluate::{Evaluation, Evaluator, Known};
use crate::inner::Inner;
use crate::merit::Merit;
use crate::oracle::Calls;
use crate::problem::Problem;
use crate::regularizer::Regularizer;
use crate::status::{Divergence, Status};

/// The judge of one run, with what it has seen.
pub(super) struct Judge<'p, 'o> {
    evaluator: Evaluator<'p>,
    stop: &'o Stop,
    observer: &'o mut dyn Observer,
    divergence: Divergence,
    /// Whether the method recovers by itself from a blow-up.
    recovers: bool,
    trace: Vec<Record>,
    last: Judged,
    best: Judged,
}

/// A point and what was found.
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

impl<'p, 'o> Judge<'p, 'o> {
    pub(super) fn new<F: Inner, P: Merit, G: Regularizer>(
        problem: &'p Problem<F, P, G>,
        stop: &'o Stop,
        recovers: bool,
        observer: &'o mut dyn Observer,
    ) -> Self {
        let d = problem.inner.d();
        Judge {
            evaluator: match stop.tolerance {
                Some(tolerance) => Evaluator::new(problem).aiming_at(tolerance),
                None => Evaluator::without_measure(problem),
            },
            stop,
            observer,
            divergence: Divergence::default(),
            recovers,
            trace: Vec::new(),
            last: Judged::nothing(d),
            best: Judged::nothing(d),
        }
    }

    /// Evaluates a point, unless it has just been evaluated, tells the observer, and judges.
    pub(super) fn evaluate(&mut self, now: Counts, theta: &[f64], known: Known<'_>) -> Option<Status> {
        if self.trace.last().is_some_and(|last| last.inner == now.inner) {
            return None;
        }
        let Evaluation { objective, magnitude, certificate, is_best } = self.evaluator.evaluate(theta, known);
        let Certificate { measure, gap, relative: optimality, .. } = certificate;
        let Counts { outer, inner, calls, rows, seconds } = now;
        let record = Record { outer, inner, calls, rows, seconds, objective, optimality, gap, measure };
        if !objective.is_finite() || !theta.iter().all(|t| t.is_finite()) {
            let at_limit = self.stop.max_outer.is_some_and(|most| outer >= most);
            return match (self.trace.is_empty(), self.recovers) {
                (true, _) => Some(Status::StartNotFinite),
                (false, true) => at_limit.then_some(Status::MaxOuter),
                (false, false) => Some(Status::Diverged),
            };
        }
        // Points within an outer iteration say nothing about divergence: they lie as close as the user likes.
        let ended = self.trace.last().is_none_or(|last| last.outer < outer);
        self.trace.push(record);
        self.last.take(theta, record, certificate);
        let falling = objective < self.best.record.objective;
        if is_best {
            self.best.take(theta, record, certificate);
        }
        self.observer.record(&record, theta);
        let Stop { max_outer, target_objective, tolerance, .. } = *self.stop;
        // What is not proven is not believed of the start: a point may be stationary by symmetry.
        let is_believed = measure.is_gap() || inner > 0;
        let is_reached = optimality.is_some_and(|o| tolerance.is_some_and(|t| o <= t));
        if is_believed && (certificate.is_rounding || is_reached) {
            Some(Status::Solved)
        } else if target_objective.is_some_and(|t| objective <= t) {
            Some(Status::TargetReached)
        } else if ended && self.divergence.seen(objective, magnitude) && (!self.recovers || falling) {
            Some(Status::Diverged)
        } else if max_outer.is_some_and(|most| outer >= most) {
            Some(Status::MaxOuter)
        } else {
            None
        }
    }

    /// Looks at the limits and, cheaply, at theta.
    pub(super) fn limits(&mut self, now: &Counts, theta: &[f64]) -> Option<Status> {
        let Counts { outer, inner, calls, rows, seconds } = *now;
        self.observer.tick(&Record { outer, inner, calls, rows, seconds, ..self.last.record });
        if !self.recovers && !theta.iter().all(|t| t.is_finite()) {
            Some(Status::Diverged)
        } else if self.stop.max_calls.is_some_and(|most| calls.total() >= most) {
            Some(Status::MaxCalls)
        } else if self.stop.max_seconds.is_some_and(|most| seconds >= most) {
            Some(Status::MaxSeconds)
        } else {
            None
        }
    }

    pub(super) fn solution(mut self, status: Status, now: &Counts) -> Solution {
        // A gap is that of the best point so far. Stationarity belongs to the point where it was measured.
        let is_gap = self.last.certificate.measure.is_gap();
        let certificate = is_gap.then_some(self.last.certificate);
        let judged = if status.is_solved() && !is_gap { self.last } else { self.best };
        let certificate = certificate.unwrap_or(judged.certificate);
        let (objective, certificate) =
            self.evaluator.settle(&judged.theta, judged.record.objective, certificate);
        Solution {
            theta: judged.theta,
            objective,
            certificate,
            endless: None,
            status,
            calls: now.calls,
            rows: now.rows,
            outer: now.outer,
            inner: now.inner,
            seconds: now.seconds,
            trace: self.trace,
        }
    }
}

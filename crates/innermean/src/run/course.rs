//! One run: the method at work, the judge, and the edges between pieces of work, at which a run may
//! end, and go on in another program.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::engine::{self, Engine, Phase};
use super::judge::{self, Judge};
use super::{Begin, Driver, Observer, Prepared, Record, RunError, Solution};
use crate::methods::Method;
use crate::methods::erased::{AtWork, ErasedMethod};
use crate::model::problem::Objective;
use crate::run::checkpoint::shape::Shape;
use crate::run::checkpoint::{Checkpoint, Header, to_bytes};
use crate::run::evaluate::Known;
use crate::run::status::Status;

mod begin;

use begin::{Wall, header};

/// What goes into a checkpoint behind the state of the method.
#[derive(Serialize, Deserialize)]
struct Memory {
    engine: engine::Memory,
    judge: judge::Memory,
}

impl Memory {
    /// Of this and of a method's state together.
    fn shape(&self, work: &dyn AtWork) -> Option<Shape> {
        Some(Shape::Parts(vec![work.shape()?, Shape::of(self)?]))
    }
}

/// How far [`Run::advance`] goes at most before it returns; by default to the end of the run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Limits {
    /// Outer iterations to finish.
    pub outer: Option<u64>,
    /// Inner steps to make.
    pub inner: Option<u64>,
    /// Wall time to spend; looked at between chunks of steps.
    pub time: Option<Duration>,
}

/// A run in the making: advance it in pieces of any size, look at it between them, put it aside as
/// a [`Checkpoint`]. The pieces do not change a bit of what comes out.
///
/// ```
/// use innermean::run::{Begin, Driver, Limits, Prepared, Run};
/// use innermean::{Choice, Listed, Portfolio, Square, Svrpda1, Unregularized};
///
/// let portfolio = Portfolio::new(2, vec![1.0, 0.2, -0.6, 0.1, 0.5, -0.1])?;
/// let problem = portfolio.problem(Square::new(1.0)?, Unregularized)?;
/// let start = [0.0, 0.0];
/// let method = Svrpda1::choose(&Choice::default(), &problem, &start)?;
/// let prepared = Prepared::new(&problem);
/// let mut run = Run::start(&prepared, &method, Begin::At(&start), &Driver::default(), &mut ())?;
/// let one_outer_iteration = Limits { outer: Some(1), ..Limits::default() };
/// while run.advance(&one_outer_iteration, &mut ()).is_none() {
///     println!("{}", run.record().objective);
/// }
/// assert!(run.solution(&mut ()).status.is_solved());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Run<'r> {
    driver: Driver<'r>,
    problem: Objective<'r>,
    method: &'r dyn ErasedMethod,
    start: Vec<f64>,
    engine: Engine<'r>,
    judge: Judge<'r>,
    wall: Wall,
    deadline: Option<Instant>,
    /// What was said of the last point.
    verdict: Option<Status>,
    /// Why the run has ended, if it has.
    ended: Option<Ended>,
    /// [`Problem::fingerprint`](crate::Problem::fingerprint), once it is asked for.
    fingerprint: Option<u128>,
}

/// The end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ended {
    status: Status,
    /// Whether it came after a step, at a point that has not been looked at.
    is_unseen: bool,
}

impl<'r> Run<'r> {
    /// A run of `method` on a problem that has been prepared for it, up to the evaluation of the
    /// start. A method from the table starts by [`AnyMethod::start`](crate::AnyMethod::start).
    ///
    /// # Errors
    /// If the start has not as many coordinates as the problem, or a checkpoint is not of such a
    /// run.
    pub fn start<M: Method>(
        prepared: &'r Prepared<'_>,
        method: &'r M,
        begin: Begin<'_>,
        driver: &Driver<'r>,
        observer: &mut dyn Observer,
    ) -> Result<Self, RunError> {
        Self::start_erased(prepared, method, begin, driver, observer)
    }

    /// [`Self::start`] for a method of any type.
    pub(crate) fn start_erased(
        prepared: &'r Prepared<'_>,
        method: &'r dyn ErasedMethod,
        begin: Begin<'_>,
        driver: &Driver<'r>,
        observer: &mut dyn Observer,
    ) -> Result<Self, RunError> {
        let problem = prepared.problem();
        if let Begin::At(start) = begin {
            problem.check_start(start)?;
        }
        Self::start_on(prepared, method, begin, driver, observer).map_err(|refused| {
            // A checkpoint is refused where the data that it belongs to cannot be read.
            problem.inner.lost().map_or(refused.into(), RunError::Lost)
        })
    }

    /// Goes on until the run ends, and says why; or until a limit of this call, and returns None.
    /// Of a run that has ended it says again why.
    pub fn advance(&mut self, limits: &Limits, observer: &mut dyn Observer) -> Option<Status> {
        let begun = Instant::now();
        let first = self.engine.counts();
        while self.ended.is_none() {
            let now = self.engine.counts();
            let steps = limits.inner.map(|most| most.saturating_sub(now.inner - first.inner));
            let is_over = steps == Some(0)
                || limits.outer.is_some_and(|most| now.outer - first.outer >= most)
                || limits.time.is_some_and(|most| begun.elapsed() >= most);
            if is_over && self.verdict.is_none() && self.is_evaluated() {
                return None;
            }
            self.ended = self.end_here(observer);
            if self.ended.is_some() {
                break;
            }
            if observer.asks_for_checkpoint(false) {
                self.make_checkpoint().into_iter().for_each(|made| observer.checkpoint(made));
            }
            self.ended = self.piece(steps.unwrap_or(u64::MAX), observer);
        }
        self.ended.map(|ended| ended.status)
    }

    /// Whether nothing is left to be said of the steps that have been made.
    fn is_evaluated(&self) -> bool {
        match self.engine.phase() {
            Phase::Between => true,
            Phase::Within => self.engine.left() > 0,
            Phase::ToEvaluate => false,
        }
    }

    /// Whether the run ends before the next piece of work.
    fn end_here(&mut self, observer: &mut dyn Observer) -> Option<Ended> {
        if let Some(status) = self.verdict {
            return Some(Ended { status, is_unseen: false });
        }
        let status = self.time_is_up().or_else(|| {
            let flow = observer.tick(&self.record());
            flow.is_break().then_some(Status::Stopped)
        })?;
        Some(Ended { status, is_unseen: true })
    }

    /// One piece of work, with at most this many steps; what ends the run in the midst of an outer
    /// iteration, if something does.
    fn piece(&mut self, most: u64, observer: &mut dyn Observer) -> Option<Ended> {
        match self.engine.phase() {
            Phase::Between => self.engine.begin_outer(),
            Phase::ToEvaluate => {
                self.engine.set_to_evaluate(false);
                self.evaluate(observer);
                if self.judge.has_left() {
                    self.engine.set_to_evaluate(true);
                }
            }
            Phase::Within if self.engine.left() == 0 => {
                self.engine.end_outer();
                self.evaluate(observer);
                if self.judge.has_left() {
                    self.engine.reopen_outer();
                }
            }
            Phase::Within => {
                return self.steps(most).map(|status| Ended { status, is_unseen: true });
            }
        }
        None
    }

    /// A chunk of inner steps.
    fn steps(&mut self, most: u64) -> Option<Status> {
        let Driver { stop, evaluate_every, .. } = &self.driver;
        let engine = &mut self.engine;
        let inner = engine.counts().inner;
        let due = evaluate_every.map_or(u64::MAX, |every| every.get() - inner % every);
        engine.chunk(due.min(most), stop.max_calls);
        if engine.is_cut() {
            return None;
        }
        if self.problem.inner.lost().is_some() {
            return Some(Status::Failed);
        }
        let now = engine.counts();
        let due = evaluate_every.is_some_and(|every| now.inner.is_multiple_of(every.get()));
        engine.set_to_evaluate(due && engine.left() > 0);
        if !engine.recovers() && !engine.work().theta().iter().all(|t| t.is_finite()) {
            return Some(Status::Diverged);
        }
        engine.has_used_up(stop.max_calls).then_some(Status::MaxCalls)
    }

    fn evaluate(&mut self, observer: &mut dyn Observer) {
        self.engine.show();
        self.look(observer);
    }

    fn look(&mut self, observer: &mut dyn Observer) {
        let Run { engine, judge, .. } = self;
        let work = engine.work();
        // What a method that was cut short knows is good for nothing, and there is no time to prove
        // anything either.
        let known = if engine.is_cut() {
            judge.prove_nothing();
            Known::default()
        } else {
            work.known()
        };
        self.verdict = judge.evaluate(engine.counts(), work.theta(), known, observer);
    }

    /// The time, or the user.
    fn time_is_up(&self) -> Option<Status> {
        if self.problem.inner.lost().is_some() {
            return Some(Status::Failed);
        }
        if self.driver.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Some(Status::Interrupted);
        }
        let over = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        // Work that an interrupt has cut cannot go on, even if the flag has been taken back since.
        let is_cut = self.engine.is_cut() || self.judge.has_left();
        let cut = is_cut.then_some(Status::Interrupted);
        over.then_some(Status::MaxSeconds).or(cut)
    }

    /// Counts as of now, with what the last evaluation has found.
    pub fn record(&self) -> Record {
        self.judge.record(&self.engine.counts())
    }

    /// The point that the last evaluation has looked at.
    pub fn theta(&self) -> &[f64] {
        self.judge.last_theta()
    }

    /// All that it takes to go on from here in another program, by [`Begin::Resume`]. None where
    /// there is nothing to go on from: the run has diverged, or was cut short within a step.
    pub fn checkpoint(&mut self) -> Option<Checkpoint> {
        let begun = self.verdict != Some(Status::StartNotFinite);
        if begun && !self.is_lost() { self.make_checkpoint() } else { None }
    }

    /// Whether the state is good for nothing.
    fn is_lost(&self) -> bool {
        let ended = self.ended.map(|ended| ended.status);
        let unusable = |status| matches!(status, Status::Diverged | Status::Failed);
        self.verdict.is_some_and(unusable)
            || ended.is_some_and(unusable)
            || self.problem.inner.lost().is_some()
            || self.engine.is_cut()
    }

    /// The answer; of a run that has not ended, with [`Status::Stopped`]. The observer is told of
    /// the last point, and asked whether to make a checkpoint before.
    pub fn solution(mut self, observer: &mut dyn Observer) -> Solution {
        let Ended { mut status, is_unseen } =
            self.ended.unwrap_or(Ended { status: Status::Stopped, is_unseen: true });
        let lost = self.is_lost();
        if !lost && status != Status::StartNotFinite && observer.asks_for_checkpoint(true) {
            self.make_checkpoint().into_iter().for_each(|made| observer.checkpoint(made));
        }
        if is_unseen && !lost {
            self.engine.end_outer();
            self.judge.take_what_comes();
            self.evaluate(observer);
            // A point that is good enough is good enough, even if a limit was reached on the way.
            let settles = |verdict: &Status| verdict.is_solved() || *verdict == Status::Failed;
            status = self.verdict.filter(settles).unwrap_or(status);
        }
        let lost = lost || status == Status::Failed;
        // Of a blow-up, when it is seen depends on the time, and so do the calls since the last
        // point.
        let now = if lost { self.judge.last_counts() } else { self.engine.counts() };
        let work = self.engine.work();
        // What a proof bounds from below does not fall without end, whatever a method has seen.
        let falls = status == Status::Diverged && !self.judge.has_bound_from_below();
        let endless = work.endless().filter(|_| falls);
        let status = if endless.is_some() { Status::Unbounded } else { status };
        let duals = work.known().duals.filter(|_| !lost);
        Solution {
            endless: endless.map(<[f64]>::to_vec),
            duals: duals.map(<[f64]>::to_vec),
            ..self.judge.solution(status, &now)
        }
    }

    /// All of it.
    pub(crate) fn finish(mut self, observer: &mut dyn Observer) -> Solution {
        self.advance(&Limits::default(), observer);
        self.solution(observer)
    }

    fn memory(&self) -> Memory {
        Memory { engine: self.engine.memory(), judge: self.judge.memory() }
    }

    fn make_checkpoint(&mut self) -> Option<Checkpoint> {
        let problem = *self.fingerprint.get_or_insert_with(|| self.problem.fingerprint());
        if self.problem.inner.lost().is_some() {
            return None;
        }
        let mut body = self.engine.work().state();
        body.extend(to_bytes(&self.memory()));
        let wall = self.wall.elapsed().as_secs_f64();
        let header = Header { wall, ..header(&self.driver, self.method, problem, &self.start) };
        Some(Checkpoint::of_parts(header, body))
    }
}

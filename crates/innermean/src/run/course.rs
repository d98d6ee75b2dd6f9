//! One run: the method at work, the judge, and the edges between pieces of work, at which a run may
//! end, and go on in another program.

use std::any::type_name;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::engine::{self, Engine, Phase};
use super::judge::{self, Judge};
use super::{Begin, Driver, Observer, Solution, Spent};
use crate::methods::Method;
use crate::model::problem::Objective;
use crate::oracle::Patience;
use crate::run::checkpoint::shape::Shape;
use crate::run::checkpoint::{Checkpoint, CheckpointError, FOREIGN, Hash, Header};
use crate::run::status::Status;

/// What goes into a checkpoint.
#[derive(Serialize, Deserialize)]
struct Memory<S> {
    engine: engine::Memory<S>,
    judge: judge::Memory,
}

/// The time that a run takes, all of it.
#[derive(Debug, Clone, Copy)]
struct Wall {
    begun: Instant,
    /// By the programs before this one.
    before: Duration,
}

impl Wall {
    fn elapsed(self) -> Duration {
        self.before.saturating_add(self.begun.elapsed())
    }

    /// When so many seconds are over; never, if that is too far away to be said.
    fn after(self, seconds: f64) -> Option<Instant> {
        let all = Duration::try_from_secs_f64(seconds).ok()?;
        self.begun.checked_add(all.saturating_sub(self.before))
    }
}

/// A run between two pieces of its work.
pub(super) struct Course<'r, M: Method> {
    driver: &'r Driver<'r>,
    problem: Objective<'r>,
    method: &'r M,
    start: Vec<f64>,
    engine: Engine<'r, M>,
    judge: Judge<'r, 'r>,
    wall: Wall,
    deadline: Option<Instant>,
    /// What was said of the last point.
    verdict: Option<Status>,
    /// [`Problem::fingerprint`], once it is asked for.
    fingerprint: Option<u128>,
}

impl<'r, M: Method> Course<'r, M> {
    /// Up to the first edge.
    pub(super) fn begin(
        driver: &'r Driver<'r>,
        problem: Objective<'r>,
        form: Objective<'r>,
        spent: Spent,
        method: &'r M,
        begin: Begin<'_>,
        observer: &'r mut dyn Observer,
    ) -> Result<Self, CheckpointError> {
        let now = Instant::now();
        let mut wall =
            Wall { begun: now.checked_sub(spent.time).unwrap_or(now), before: Duration::ZERO };
        let start = begin.start().to_vec();
        let (memory, fingerprint) = match begin {
            Begin::At(_) => (None, None),
            Begin::Resume(checkpoint) => {
                let here = header(driver, method, problem.fingerprint(), &start);
                checkpoint.check(&here)?;
                checkpoint.check_start(problem.inner.d())?;
                wall.before =
                    Duration::try_from_secs_f64(checkpoint.header.wall).map_err(|_| FOREIGN)?;
                (Some(checkpoint.memory::<Memory<M::State>>()?), Some(here.problem))
            }
        };
        let deadline = driver.stop.max_seconds.and_then(|most| wall.after(most));
        let patience = Patience::new(deadline, driver.interrupt);
        let (stop, most) = (&driver.stop, driver.most_records);
        let (engine, judge, verdict) = match memory {
            None => {
                let engine = Engine::start(form, spent, patience, method, &problem.allowed(&start));
                let mut judge = Judge::new(problem, stop, most, engine.recovers(), observer);
                let verdict = judge.evaluate(engine.counts(), engine.theta(), engine.known());
                (engine, judge, verdict)
            }
            Some(memory) => {
                // How a run begins tells what can be made of one.
                let first = Engine::start(
                    form,
                    spent,
                    Patience::default(),
                    method,
                    &problem.allowed(&start),
                );
                let mut judge = Judge::new(problem, stop, most, first.recovers(), observer);
                let begins = Shape::of(&Memory { engine: first.memory(), judge: judge.memory() });
                let fits = begins
                    .zip(Shape::of(&memory))
                    .is_some_and(|(begins, here)| begins.admits(&here, start.len()));
                if !fits {
                    return Err(FOREIGN);
                }
                drop(first);
                let engine =
                    Engine::resume(form, patience, method, memory.engine).ok_or(FOREIGN)?;
                if !judge.remember(memory.judge) {
                    return Err(FOREIGN);
                }
                let verdict = judge.again();
                (engine, judge, verdict)
            }
        };
        Ok(Course {
            driver,
            problem,
            method,
            start,
            engine,
            judge,
            wall,
            deadline,
            verdict,
            fingerprint,
        })
    }

    /// To the end.
    pub(super) fn run(mut self) -> Solution {
        if self.verdict.is_none() && self.engine.had_used_up(self.driver.stop.max_calls) {
            return self.leave(Status::MaxCalls);
        }
        loop {
            if let Some(status) = self.verdict {
                return self.end(status);
            }
            if let Some(status) = self.time_is_up() {
                return self.leave(status);
            }
            if self.judge.observer().asks_for_checkpoint(false) {
                self.make_checkpoint();
            }
            if let Some(status) = self.advance() {
                return self.leave(status);
            }
        }
    }

    /// One piece of work; what ends the run in the midst of an outer iteration, if something does.
    fn advance(&mut self) -> Option<Status> {
        match self.engine.phase() {
            Phase::Between => self.engine.begin_outer(),
            Phase::ToEvaluate => {
                self.engine.set_to_evaluate(false);
                self.evaluate();
            }
            Phase::Within if self.engine.left() == 0 => {
                self.engine.end_outer();
                self.evaluate();
            }
            Phase::Within => return self.steps(),
        }
        None
    }

    /// A chunk of inner steps.
    fn steps(&mut self) -> Option<Status> {
        let Driver { stop, evaluate_every, .. } = self.driver;
        let engine = &mut self.engine;
        let inner = engine.counts().inner;
        engine.chunk(
            evaluate_every.map_or(u64::MAX, |every| every.get() - inner % every),
            stop.max_calls,
        );
        if engine.is_cut() {
            return None;
        }
        if self.problem.inner.lost().is_some() {
            return Some(Status::Failed);
        }
        let now = engine.counts();
        let due = evaluate_every.is_some_and(|every| now.inner.is_multiple_of(every.get()));
        engine.set_to_evaluate(due && engine.left() > 0);
        self.judge.tick(&now);
        if !engine.recovers() && !engine.theta().iter().all(|t| t.is_finite()) {
            return Some(Status::Diverged);
        }
        engine.has_used_up(stop.max_calls).then_some(Status::MaxCalls)
    }

    fn evaluate(&mut self) {
        self.engine.show();
        let Course { engine, judge, .. } = self;
        self.verdict = judge.evaluate(engine.counts(), engine.theta(), engine.known());
    }

    /// The time, the user, or whoever looks on.
    fn time_is_up(&mut self) -> Option<Status> {
        if self.problem.inner.lost().is_some() {
            return Some(Status::Failed);
        }
        let interrupted = self.driver.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed));
        if interrupted || self.judge.observer().is_content() {
            return Some(Status::Interrupted);
        }
        let over = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        // Work that an interrupt has cut cannot go on, even if the flag has been taken back since.
        let cut = self.engine.is_cut().then_some(Status::Interrupted);
        over.then_some(Status::MaxSeconds).or(cut)
    }

    /// Ends the run in the midst of an outer iteration, after a look at the point where that is.
    fn leave(mut self, status: Status) -> Solution {
        if self.engine.is_cut() || matches!(status, Status::Diverged | Status::Failed) {
            // There is no point to look at.
            return self.end(status);
        }
        if self.judge.observer().asks_for_checkpoint(true) {
            self.make_checkpoint();
        }
        self.engine.end_outer();
        self.evaluate();
        // A point that is good enough is good enough, even if a limit was reached on the way to it.
        let over = |verdict: &Status| verdict.is_solved() || *verdict == Status::Failed;
        let status = self.verdict.filter(over).unwrap_or(status);
        self.judge.solution(status, &self.engine.counts())
    }

    /// Ends the run after an evaluation.
    fn end(mut self, status: Status) -> Solution {
        // One who asks for more digits may go on from here.
        let whole = status == Status::MaxOuter || status.is_solved();
        if whole && self.judge.observer().asks_for_checkpoint(true) {
            self.make_checkpoint();
        }
        // Of a blow-up, when it is seen depends on the time, and so do the calls since the last
        // point.
        let lost = matches!(status, Status::Diverged | Status::Failed) || self.engine.is_cut();
        let now = if lost { self.judge.last_counts() } else { self.engine.counts() };
        match self.engine.endless().filter(|_| status == Status::Diverged) {
            Some(direction) => {
                let endless = Some(direction.to_vec());
                Solution { endless, ..self.judge.solution(Status::Unbounded, &now) }
            }
            None => self.judge.solution(status, &now),
        }
    }

    fn make_checkpoint(&mut self) {
        let problem = *self.fingerprint.get_or_insert_with(|| self.problem.fingerprint());
        if self.problem.inner.lost().is_some() {
            return;
        }
        let memory = Memory { engine: self.engine.memory(), judge: self.judge.memory() };
        let wall = self.wall.elapsed().as_secs_f64();
        let header = Header { wall, ..header(self.driver, self.method, problem, &self.start) };
        self.judge.observer().checkpoint(Checkpoint::new(header, &memory));
    }
}

/// Of the checkpoints of such a run.
fn header<M: Method>(driver: &Driver<'_>, method: &M, problem: u128, start: &[f64]) -> Header {
    let mut settings = Hash::default();
    // Numbers are shown with all their digits.
    settings.bytes(format!("{method:?}").as_bytes());
    settings.numbers(start);
    settings.word(driver.evaluate_every.map_or(0, std::num::NonZero::get));
    settings.word(u64::from(driver.stop.tolerance.is_some()));
    settings.word(driver.most_records as u64);
    let method = type_name::<M>().rsplit("::").next().unwrap_or_default().to_owned();
    Header { method, settings: settings.finish(), problem, start: start.to_vec(), wall: 0.0 }
}

//! How a run begins: at a point, or where another one ended.

use std::time::{Duration, Instant};

use super::{Ended, Memory, Run};
use crate::methods::erased::ErasedMethod;
use crate::model::problem::Objective;
use crate::oracle::Patience;
use crate::run::checkpoint::{Checkpoint, CheckpointError, FOREIGN, Hash, Header, UNREADABLE};
use crate::run::engine::Engine;
use crate::run::judge::Judge;
use crate::run::status::Status;
use crate::run::{Begin, Driver, Observer, Prepared};

/// The time that a run takes, all of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wall {
    begun: Instant,
    /// By the programs before this one.
    before: Duration,
}

impl Wall {
    pub(super) fn elapsed(self) -> Duration {
        self.before.saturating_add(self.begun.elapsed())
    }

    /// When this many seconds are over; never, if that is too far away to be said.
    pub(super) fn after(self, seconds: f64) -> Option<Instant> {
        let all = Duration::try_from_secs_f64(seconds).ok()?;
        self.begun.checked_add(all.saturating_sub(self.before))
    }
}

impl<'r> Run<'r> {
    pub(super) fn start_on(
        prepared: &'r Prepared<'_>,
        method: &'r dyn ErasedMethod,
        begin: Begin<'_>,
        driver: &Driver<'r>,
        observer: &mut dyn Observer,
    ) -> Result<Self, CheckpointError> {
        let (problem, form, spent) = (prepared.problem(), prepared.form(), prepared.spent());
        let now = Instant::now();
        let mut wall =
            Wall { begun: now.checked_sub(spent.time).unwrap_or(now), before: Duration::ZERO };
        let start = begin.start().to_vec();
        let mut fingerprint = None;
        if let Begin::Resume(checkpoint) = begin {
            let here = header(driver, method, problem.fingerprint(), &start);
            checkpoint.check(&here)?;
            checkpoint.check_start(problem.inner.d())?;
            wall.before =
                Duration::try_from_secs_f64(checkpoint.header.wall).map_err(|_| FOREIGN)?;
            fingerprint = Some(here.problem);
        }
        let deadline = driver.stop.max_seconds.and_then(|most| wall.after(most));
        let patience = Patience::new(deadline, driver.interrupt);
        let allowed = problem.allowed(&start);
        // How a run begins tells also what can be made of a checkpoint of one.
        let first = match begin {
            Begin::At(_) => patience.clone(),
            Begin::Resume(_) => Patience::default(),
        };
        let engine = Engine::start(form, spent, first, method, &allowed);
        let judge = Judge::new(problem, &driver.stop, driver.most_records, engine.recovers())
            .until(patience.clone());
        let driver = driver.clone();
        let mut run = Run {
            driver,
            problem,
            method,
            start,
            engine,
            judge,
            wall,
            deadline,
            verdict: None,
            ended: None,
            fingerprint,
        };
        match begin {
            Begin::At(_) => run.look(observer),
            Begin::Resume(checkpoint) => run.remember(form, patience, checkpoint)?,
        }
        Ok(run)
    }

    /// Goes on from a checkpoint of such a run.
    fn remember(
        &mut self,
        form: Objective<'r>,
        patience: Patience<'r>,
        checkpoint: &Checkpoint,
    ) -> Result<(), CheckpointError> {
        let (work, rest) = self.method.resume(&checkpoint.body).ok_or(UNREADABLE)?;
        let memory: Memory = match postcard::take_from_bytes(rest) {
            Ok((memory, [])) => memory,
            _ => return Err(UNREADABLE),
        };
        let begins = self.memory().shape(self.engine.work());
        let fits = begins
            .zip(memory.shape(&*work))
            .is_some_and(|(begins, here)| begins.admits(&here, self.start.len()));
        if !fits {
            return Err(FOREIGN);
        }
        self.engine = Engine::resume(form, patience, work, memory.engine).ok_or(FOREIGN)?;
        if !self.judge.remember(memory.judge) {
            return Err(FOREIGN);
        }
        self.verdict = self.judge.again();
        if self.verdict.is_none() && self.engine.had_used_up(self.driver.stop.max_calls) {
            self.ended = Some(Ended { status: Status::MaxCalls, is_unseen: true });
        }
        Ok(())
    }
}

/// Of the checkpoints of such a run.
pub(super) fn header(
    driver: &Driver<'_>,
    method: &dyn ErasedMethod,
    problem: u128,
    start: &[f64],
) -> Header {
    let mut settings = Hash::default();
    // Numbers are shown with all their digits.
    settings.bytes(format!("{method:?}").as_bytes());
    settings.numbers(start);
    settings.word(driver.evaluate_every.map_or(0, std::num::NonZero::get));
    settings.word(u64::from(driver.stop.tolerance.is_some()));
    settings.word(driver.most_records as u64);
    let method = method.name().to_owned();
    Header { method, settings: settings.finish(), problem, start: start.to_vec(), wall: 0.0 }
}

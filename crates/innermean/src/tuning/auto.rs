//! Which method for which problem, and why: what a user who chooses nothing gets.
//!
//! [`choose`] looks at the structure of f, at the sizes, at phi and at g, and lists a method and
//! those to fall back on. [`solve`] runs the first, and hands over to the next, which begins at the
//! best point so far, where a run diverges or makes no more progress. The whole is one run with one
//! trace.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use self::facts::Facts;
use self::memory::Attempting;
use self::watch::{Progress, Watch};
use crate::methods::{self, AnyMethod};
use crate::model::inner::recorded;
use crate::model::problem::Objective;
use crate::run::checkpoint::CheckpointError;
use crate::run::status::Status;
use crate::run::{Begin, Driver, Observer, Solution, begun};
use crate::tuning::choice::{Choice, ChoiceError};

mod cost;
mod facts;
mod memory;
mod rules;
mod watch;

/// A method by name, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    /// Its name in [`METHODS`](crate::methods::METHODS).
    pub method: &'static str,
    /// What of the problem speaks for it, in a line without a full stop.
    pub reason: String,
}

/// What became of a candidate.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Attempt {
    /// The method and why it was tried.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// Why the next one was tried.
    pub gave_up: GaveUp,
}

/// Why a candidate was left for the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GaveUp {
    /// It made no more progress.
    Stalled,
    /// Its iterates blew up.
    Diverged,
    /// Its rule found no steps for this problem.
    NoSettings,
    /// The next one was likely to need less work.
    Slow,
}

impl GaveUp {
    /// In words, as in "direct ... and".
    pub fn words(self) -> &'static str {
        match self {
            GaveUp::Stalled => "made no more progress",
            GaveUp::Diverged => "diverged",
            GaveUp::NoSettings => "found no steps",
            GaveUp::Slow => "was slow",
        }
    }
}

/// What [`solve`] returns.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Outcome {
    /// The answer, with the counts, the time and the trace of all attempts.
    pub solution: Solution,
    /// The method that the run ended with, and its settings.
    pub method: AnyMethod,
    /// Why that method.
    pub reason: String,
    /// Those that were tried before it.
    pub fallbacks: Vec<Attempt>,
}

/// The methods for `problem`, the best first; there is at least one.
pub fn choose<'p>(problem: impl Into<Objective<'p>>) -> Vec<Candidate> {
    rules::candidates(&Facts(problem.into()))
}

/// The first of [`choose`] that can be had, with its settings for a start at `theta`, and those
/// left to fall back on.
///
/// # Errors
/// If none can be had: the numbers of the problem are out of all proportion.
pub fn first<'p>(
    problem: impl Into<Objective<'p>>,
    theta: &[f64],
    seed: u64,
) -> Result<Plan, ChoiceError> {
    let problem = problem.into();
    problem.check_start(theta)?;
    Plan::next(problem, theta, seed, rules::candidates(&Facts(problem)), Vec::new())
}

/// A method that has been chosen, and those after it.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The method with its settings.
    pub method: AnyMethod,
    /// Its name, and why it was chosen.
    pub candidate: Candidate,
    /// Those to fall back on.
    pub rest: Vec<Candidate>,
    /// Those that could not be had, or were left.
    fallbacks: Vec<Attempt>,
    seed: u64,
}

impl Plan {
    fn next(
        problem: Objective<'_>,
        theta: &[f64],
        seed: u64,
        candidates: Vec<Candidate>,
        mut fallbacks: Vec<Attempt>,
    ) -> Result<Self, ChoiceError> {
        let mut candidates = candidates.into_iter();
        let mut refused = None;
        while let Some(candidate) = candidates.next() {
            match AnyMethod::named(candidate.method, &Choice::seeded(seed), problem, theta) {
                Ok(method) => {
                    let rest = candidates.collect();
                    return Ok(Plan { method, candidate, rest, fallbacks, seed });
                }
                Err(error @ ChoiceError::Lost(_)) => return Err(error),
                Err(error) => {
                    refused = Some(error);
                    fallbacks.push(Attempt { candidate, gave_up: GaveUp::NoSettings });
                }
            }
        }
        Err(refused
            .unwrap_or_else(|| methods::info("").expect_err("no method has this name").into()))
    }

    /// Runs the method, and those after it where need be.
    pub fn run<'p>(
        self,
        driver: &Driver<'_>,
        problem: impl Into<Objective<'p>>,
        theta: &[f64],
        observer: &mut dyn Observer,
    ) -> Outcome {
        begun(self.run_from(driver, problem, Begin::At(theta), observer))
    }

    /// [`Self::run`], or goes on with a run of which there is a checkpoint: with the method whose
    /// turn it was.
    ///
    /// # Errors
    /// If the checkpoint is not one of such a run.
    pub fn run_from<'p>(
        self,
        driver: &Driver<'_>,
        problem: impl Into<Objective<'p>>,
        begin: Begin<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CheckpointError> {
        recorded(problem.into(), |problem| self.run_all(driver, problem, begin, observer))
    }

    fn run_all(
        mut self,
        driver: &Driver<'_>,
        problem: Objective<'_>,
        begin: Begin<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CheckpointError> {
        let (mut attempting, mut resumed) = match begin {
            Begin::At(theta) => (Attempting::first(&self, theta), None),
            Begin::Resume(checkpoint) => {
                let (attempting, run) = Attempting::within(checkpoint)?;
                self = self.resumed(&attempting, problem)?;
                (attempting, Some(run))
            }
        };
        loop {
            let clock = Instant::now();
            let mut watch = Watch::new(driver, &attempting, self.method.info(), problem, observer);
            let begin = resumed.as_ref().map_or(Begin::At(&attempting.from), Begin::Resume);
            let found = self.method.run_from(&watch.limits(), problem, begin, &mut watch)?;
            let wall = resumed.take().map_or(0.0, |run| run.wall()) + clock.elapsed().as_secs_f64();
            let (gave_up, is_rounding) = (watch.gave_up(found.status), watch.is_rounding());
            let (first, fall) = (watch.progress.first(), watch.progress.fall());
            let passes = found.outer as f64;
            let mut found = match attempting.so_far.take() {
                Some(before) => watch::joined(before, found),
                None => found,
            };
            let Some(gave_up) = gave_up else { return Ok(self.outcome(found)) };
            found.status =
                if gave_up == GaveUp::Diverged { Status::Diverged } else { Status::Stalled };
            // A quadratic along which the normal equations run away has no minimum for any method,
            // unless twice the precision finds one.
            let is_last_word = self.rest.iter().all(|candidate| candidate.method != "precise");
            let has_none = gave_up == GaveUp::Diverged
                && matches!(self.candidate.method, "direct" | "precise")
                && is_last_word;
            if has_none || gave_up == GaveUp::Stalled && is_rounding {
                return Ok(self.outcome(found));
            }
            // What has diverged leads nowhere.
            let start = if gave_up == GaveUp::Diverged { &attempting.theta } else { &found.theta };
            let mut fallbacks = self.fallbacks.clone();
            fallbacks.push(Attempt { candidate: self.candidate.clone(), gave_up });
            match Self::next(problem, start, self.seed, self.rest.clone(), fallbacks) {
                Ok(plan) => self = plan,
                Err(_) => return Ok(self.outcome(found)),
            }
            attempting.rate =
                (gave_up == GaveUp::Slow).then(|| fall.map_or(0.0, |fall| fall.rate(passes)));
            attempting.from = start.clone();
            attempting.take(&self);
            attempting.handed_over += 1;
            attempting.wall += wall;
            attempting.progress = Progress::after(first);
            attempting.so_far = Some(found);
        }
    }

    /// The plan as it was when a run was left.
    fn resumed(
        self,
        attempting: &Attempting,
        problem: Objective<'_>,
    ) -> Result<Self, CheckpointError> {
        attempting.check_sizes(problem.inner.d())?;
        let first = self.candidate.method;
        let mut plan = attempting.plan(self)?;
        if attempting.handed_over > 0 || plan.candidate.method != first {
            let choice = Choice::seeded(plan.seed);
            plan.method =
                AnyMethod::named(plan.candidate.method, &choice, problem, &attempting.from)
                    .map_err(|_| CheckpointError::Problem)?;
        }
        Ok(plan)
    }

    fn outcome(self, solution: Solution) -> Outcome {
        Outcome {
            solution,
            method: self.method,
            reason: self.candidate.reason,
            fallbacks: self.fallbacks,
        }
    }
}

/// Minimises `problem` from `theta` by what [`choose`] says.
///
/// # Errors
/// If no method can be had: the numbers of the problem are out of all proportion.
pub fn solve<'p>(
    driver: &Driver<'_>,
    problem: impl Into<Objective<'p>>,
    theta: &[f64],
    observer: &mut dyn Observer,
    seed: u64,
) -> Result<Outcome, ChoiceError> {
    recorded(problem.into(), |problem| {
        Ok(first(problem, theta, seed)?.run(driver, problem, theta, observer))
    })
}

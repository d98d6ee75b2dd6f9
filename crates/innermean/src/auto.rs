//! Which method for which problem, and why: what a user who chooses nothing gets.
//!
//! [`choose`] looks at the structure of f, at the sizes, at phi and at g, and lists a method and those to fall back on. [`solve`] runs the first,
//! and hands over to the next, which begins at the best point so far, where a run diverges or makes no more progress. The whole is one run with one trace.

use serde::Serialize;

use self::facts::Facts;
use self::watch::Watch;
use crate::choice::{Choice, ChoiceError};
use crate::inner::Inner;
use crate::merit::Merit;
use crate::methods::{self, AnyMethod};
use crate::problem::{ErasedProblem, Problem};
use crate::regularizer::Regularizer;
use crate::run::{Driver, Observer, Solution};
use crate::status::Status;

mod facts;
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
pub struct Attempt {
    /// The method and why it was tried.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// Why the next one was tried.
    pub gave_up: GaveUp,
}

/// Why a candidate was left for the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GaveUp {
    /// It made no more progress.
    Stalled,
    /// Its iterates blew up.
    Diverged,
    /// Its rule found no steps for this problem.
    NoSettings,
}

impl GaveUp {
    /// In words, as in "direct ... and".
    pub fn words(self) -> &'static str {
        match self {
            GaveUp::Stalled => "made no more progress",
            GaveUp::Diverged => "diverged",
            GaveUp::NoSettings => "found no steps",
        }
    }
}

/// What [`solve`] returns.
#[derive(Debug, Clone)]
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
pub fn choose<F: Inner, P: Merit, G: Regularizer>(problem: &Problem<F, P, G>) -> Vec<Candidate> {
    rules::candidates(&Facts(&problem.erased()))
}

/// The first of [`choose`] that can be had, with its settings for a start at `theta`, and those left to fall back on.
///
/// # Errors
/// If none can be had: the numbers of the problem are out of all proportion.
pub fn first<F: Inner, P: Merit, G: Regularizer>(
    problem: &Problem<F, P, G>,
    theta: &[f64],
    seed: u64,
) -> Result<Plan, ChoiceError> {
    let problem = &problem.erased();
    Plan::next(problem, theta, seed, rules::candidates(&Facts(problem)), Vec::new())
}

/// [`AnyMethod::run`] or [`AnyMethod::run_inlined`].
pub type Runner<F, P, G> =
    fn(&AnyMethod, &Driver<'_>, &Problem<F, P, G>, &[f64], &mut dyn Observer) -> Solution;

/// A [`Runner`] on a problem that it knows.
type Once<'r> = dyn FnMut(&AnyMethod, &Driver<'_>, &[f64], &mut dyn Observer) -> Solution + 'r;

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
        problem: &ErasedProblem<'_>,
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
                Err(error) => {
                    refused = Some(error);
                    fallbacks.push(Attempt { candidate, gave_up: GaveUp::NoSettings });
                }
            }
        }
        Err(refused.unwrap_or_else(|| methods::info("").expect_err("no method has this name").into()))
    }

    /// Runs the method, and those after it where need be.
    pub fn run<F: Inner, P: Merit, G: Regularizer>(
        self,
        driver: &Driver<'_>,
        problem: &Problem<F, P, G>,
        theta: &[f64],
        observer: &mut dyn Observer,
        run: Runner<F, P, G>,
    ) -> Outcome {
        let erased = &problem.erased();
        let mut once =
            |method: &AnyMethod, driver: &Driver<'_>, theta: &[f64], observer: &mut dyn Observer| {
                run(method, driver, problem, theta, observer)
            };
        self.run_erased(driver, erased, theta, observer, &mut once)
    }

    fn run_erased(
        mut self,
        driver: &Driver<'_>,
        problem: &ErasedProblem<'_>,
        theta: &[f64],
        observer: &mut dyn Observer,
        run: &mut Once<'_>,
    ) -> Outcome {
        let mut so_far: Option<Solution> = None;
        let mut from = theta.to_vec();
        loop {
            let mut watch = Watch::new(driver, so_far.as_ref(), self.method.info(), observer);
            let found = watch.run(|driver, watch| run(&self.method, driver, &from, watch));
            let (gave_up, is_rounding) = (watch.gave_up(found.status), watch.is_rounding());
            let mut found = match so_far.take() {
                Some(before) => watch::joined(before, found),
                None => found,
            };
            let Some(gave_up) = gave_up else { return self.outcome(found) };
            found.status = if gave_up == GaveUp::Diverged { Status::Diverged } else { Status::Stalled };
            // A quadratic along which the normal equations run away has no minimum for anybody, unless twice the precision finds one.
            let is_last_word = self.rest.iter().all(|candidate| candidate.method != "precise");
            let has_none = gave_up == GaveUp::Diverged
                && matches!(self.candidate.method, "direct" | "precise")
                && is_last_word;
            if has_none || gave_up == GaveUp::Stalled && is_rounding {
                return self.outcome(found);
            }
            // What has diverged leads nowhere.
            let start = if gave_up == GaveUp::Diverged { theta } else { &found.theta };
            let mut fallbacks = self.fallbacks.clone();
            fallbacks.push(Attempt { candidate: self.candidate.clone(), gave_up });
            match Self::next(problem, start, self.seed, self.rest.clone(), fallbacks) {
                Ok(plan) => self = plan,
                Err(_) => return self.outcome(found),
            }
            from = start.to_vec();
            so_far = Some(found);
        }
    }

    fn outcome(self, solution: Solution) -> Outcome {
        Outcome { solution, method: self.method, reason: self.candidate.reason, fallbacks: self.fallbacks }
    }
}

/// Minimises `problem` from `theta` by what [`choose`] says.
///
/// # Errors
/// If no method can be had: the numbers of the problem are out of all proportion.
pub fn solve<F: Inner, P: Merit, G: Regularizer>(
    driver: &Driver<'_>,
    problem: &Problem<F, P, G>,
    theta: &[f64],
    observer: &mut dyn Observer,
    seed: u64,
) -> Result<Outcome, ChoiceError> {
    Ok(first(problem, theta, seed)?.run(driver, problem, theta, observer, AnyMethod::run))
}

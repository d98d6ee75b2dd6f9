//! A run with everything decided: method, settings, limits, threads, files.

use std::num::NonZeroU64;

use anyhow::{Context, Result};
use innermean::{Driver, Objective, Solution, Status, Stop};
use innermean_apps::run::{self as apps, Advice, Solver};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::flags::input::fits_into_memory;
use crate::flags::solver::SolverFlags;
use crate::flags::spelling::spelled;
use crate::output::progress::Progress;
use crate::run::checkpoint::clerk::Keeping;
use crate::run::checkpoint::refusal;
use crate::run::{deadline, interrupt};

/// Everything that a run needs beside the problem. Whatever can be wrong with the input is found
/// while this is made.
pub(crate) struct Plan {
    /// Method, settings, limits and start.
    pub(crate) run: apps::Plan,
    /// The parameters that keep theta from diverging, for advice.
    pub(crate) bounds: &'static str,
    /// What is kept of the run, and which one it goes on from.
    pub(crate) keeping: Keeping,
    pool: ThreadPool,
}

impl Plan {
    /// Decides what the flags leave open.
    pub(crate) fn new(
        flags: &SolverFlags,
        evaluate_every: Option<NonZeroU64>,
        problem: Objective<'_>,
        start: &[f64],
    ) -> Result<Self> {
        let pool = ThreadPoolBuilder::new()
            .num_threads(flags.threads)
            .build()
            .with_context(|| format!("--threads {}: cannot be started", flags.threads))?;
        let mut solver = Solver::default();
        solver.method.clone_from(&flags.method);
        solver.choice = flags.choice();
        solver.stop = (&flags.stop).into();
        solver.evaluate_every = evaluate_every;
        let pairs = solver.choice.memory.unwrap_or(0);
        fits_into_memory(&format!("--memory {pairs}"), &[2, pairs, start.len()])?;
        let run = pool
            .install(|| apps::Plan::new(&solver, problem, start))
            .map_err(|error| flags.start.refusal(error))?;
        Ok(Plan { run, bounds: "`l2`", keeping: Keeping::default(), pool })
    }

    /// The threads of the run.
    pub(crate) fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// The threads themselves, for work beside the run.
    pub(crate) fn pool(&self) -> &ThreadPool {
        &self.pool
    }

    /// Runs, with a progress bar if it takes long, until a rule or the user says stop. Where the
    /// problem decides, method and settings are afterwards those that the run ended with.
    pub(crate) fn run(&mut self, problem: Objective<'_>) -> Result<Solution> {
        let Plan { run, keeping, pool, .. } = self;
        let driver = run.driver(Some(interrupt::listen()?));
        let max_seconds = deadline::left(run.stop.max_seconds);
        let driver = Driver { stop: Stop { max_seconds, ..driver.stop }, ..driver };
        let (start, stop) = (run.start.clone(), run.stop.clone());
        let mut clerk = keeping.clerk(Progress::new(&stop));
        let begin = keeping.begin(&start);
        let found = pool.install(|| run.run_from(&driver, problem, begin, &mut clerk));
        let failed = clerk.finish();
        let solution = match (found, &keeping.resumed) {
            (Ok(found), _) => found,
            (Err(error), Some(resumed)) => return Err(refusal(&resumed.path, &error)),
            (Err(error), None) => return Err(error.into()),
        };
        keeping.failed = failed;
        Ok(solution)
    }

    /// What to make of a status: the library's sentence speaks of settings, the second one of
    /// flags.
    pub(crate) fn advice(&self, status: Status) -> String {
        let Advice { sentence, parameters } = self.run.advice(status, self.bounds);
        let flags = match status {
            Status::Interrupted | Status::Stopped => {
                "--start FILE, a file that holds what --json prints".to_owned()
            }
            _ => spelled(parameters),
        };
        let resume = match (&self.keeping.checkpoint, status) {
            (
                Some(checkpoint),
                Status::MaxOuter
                | Status::MaxCalls
                | Status::MaxSeconds
                | Status::Interrupted
                | Status::Stopped,
            ) => format!("--resume {}, ", checkpoint.file.given().display()),
            _ => String::new(),
        };
        format!("{sentence} Flags: {resume}{flags}.")
    }
}

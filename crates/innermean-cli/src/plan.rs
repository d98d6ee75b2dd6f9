//! A run with everything decided: method, settings, limits, threads.

use std::num::NonZeroU64;

use anyhow::{Context, Result, anyhow};
use innermean::methods::MethodInfo;
use innermean::{
    AnyMethod, Driver, Inner, METHODS, Merit, Problem, Regularizer, Settings, Solution, StepError, Stop,
};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::interrupt;
use crate::progress::Progress;
use crate::solver_flags::{SolverFlags, Steps};

/// Everything that a run needs beside the problem. Whatever can be wrong with the input is found while this is made.
pub(crate) struct Plan {
    /// The method's row in the library's table.
    pub(crate) info: &'static MethodInfo,
    /// The rule that found the settings.
    pub(crate) steps: Steps,
    /// The method's settings, found by rule or given.
    pub(crate) settings: Settings,
    /// When to stop.
    pub(crate) stop: Stop,
    /// Where to begin: a point that g allows.
    pub(crate) start: Vec<f64>,
    /// Evaluations within an outer iteration.
    pub(crate) evaluate_every: Option<NonZeroU64>,
    method: AnyMethod,
    pool: ThreadPool,
}

impl Plan {
    /// Decides what the flags leave open.
    pub(crate) fn new<F: Inner, P: Merit, G: Regularizer>(
        flags: &SolverFlags,
        evaluate_every: Option<NonZeroU64>,
        problem: &Problem<F, P, G>,
        start: &[f64],
    ) -> Result<Self> {
        let info = METHODS
            .iter()
            .find(|row| row.name == flags.method)
            .ok_or_else(|| anyhow!("there is no method {}", flags.method))?;
        let pool = ThreadPoolBuilder::new()
            .num_threads(flags.threads)
            .build()
            .with_context(|| format!("--threads {}: cannot be started", flags.threads))?;
        let start = problem.allowed(start);
        let objective = pool.install(|| problem.objective(&start));
        if !objective.is_finite() {
            return Err(anyhow!(
                "--start {}: the objective there is {objective}; expected numbers of a smaller size",
                flags.start
            ));
        }
        let settings = pool
            .install(|| flags.step_choice().settings(problem, &start, flags.seed))
            .map_err(|error| no_settings(&error, flags.steps))?;
        let method = AnyMethod::named(info.name, settings.clone())?;
        let stop = (&flags.stop).into();
        Ok(Plan { info, steps: flags.steps, settings, stop, start, evaluate_every, method, pool })
    }

    /// The threads of the run.
    pub(crate) fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Runs, with a progress bar if it takes long, until a rule or the user says stop.
    pub(crate) fn run<F: Inner, P: Merit, G: Regularizer>(
        &self,
        problem: &Problem<F, P, G>,
    ) -> Result<Solution> {
        let driver = Driver {
            stop: self.stop.clone(),
            evaluate_every: self.evaluate_every,
            interrupt: Some(interrupt::listen()?),
        };
        let mut progress = Progress::new(&self.stop);
        let solution = self.pool.install(|| self.method.run(&driver, problem, &self.start, &mut progress));
        progress.clear();
        Ok(solution)
    }
}

/// The library's reason, with the flags that would help.
fn no_settings(error: &StepError, rule: Steps) -> anyhow::Error {
    match error {
        StepError::Unmet(_) => {
            let ridge = if rule == Steps::Theorem3 { "" } else { "--l2 WEIGHT adds a ridge, " };
            anyhow!("--steps {}: {error} ({ridge}--steps scaled asks nothing of the problem)", rule.name())
        }
        // Given values have been checked where they were read, so that this one was found by the rule.
        StepError::Invalid(_) => anyhow!(
            "the rule for the steps gives {error}; scale the data to numbers of ordinary size, or give the steps by \
             --alpha-theta and --alpha-w"
        ),
    }
}

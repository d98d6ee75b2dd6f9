//! A run with everything decided: method, settings, limits, threads.

use std::num::NonZeroU64;

use anyhow::{Context, Result, anyhow};
use innermean::methods::MethodInfo;
use innermean::{
    AnyMethod, ChoiceError, Driver, Inner, Merit, Observer, Problem, Regularizer, Solution, StepRule, Stop,
};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::interrupt;
use crate::progress::Progress;
use crate::settings::{Settings, flag, steps_name};
use crate::solver_flags::SolverFlags;

/// [`AnyMethod::run`] or [`AnyMethod::run_inlined`].
pub(crate) type Runner<F, P, G> =
    fn(&AnyMethod, &Driver<'_>, &Problem<F, P, G>, &[f64], &mut dyn Observer) -> Solution;

/// Everything that a run needs beside the problem. Whatever can be wrong with the input is found while this is made.
pub(crate) struct Plan {
    /// The method's row in the library's table.
    pub(crate) info: &'static MethodInfo,
    /// The method's settings, found by rule or given.
    pub(crate) settings: Settings,
    /// The seed of its draws.
    pub(crate) seed: u64,
    /// When to stop.
    pub(crate) stop: Stop,
    /// Where to begin: a point that g allows.
    pub(crate) start: Vec<f64>,
    /// Evaluations within an outer iteration.
    pub(crate) evaluate_every: Option<NonZeroU64>,
    /// The flags that keep theta from running away, for advice.
    pub(crate) holds: &'static str,
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
        let choice = flags.choice();
        let method = pool
            .install(|| AnyMethod::named(&flags.method, &choice, problem, &start))
            .map_err(|error| refused(&error, choice.rule))?;
        let settings = Settings::of(&method, choice.rule)?;
        let (info, seed, stop) = (method.info(), flags.seed, (&flags.stop).into());
        Ok(Plan { info, settings, seed, stop, start, evaluate_every, holds: "--l2", method, pool })
    }

    /// The threads of the run.
    pub(crate) fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// The threads themselves, for work beside the run.
    pub(crate) fn pool(&self) -> &ThreadPool {
        &self.pool
    }

    /// Runs, with a progress bar if it takes long, until a rule or the user says stop.
    pub(crate) fn run<F: Inner, P: Merit, G: Regularizer>(
        &self,
        problem: &Problem<F, P, G>,
    ) -> Result<Solution> {
        self.run_by(problem, AnyMethod::run)
    }

    /// [`Plan::run`] by [`AnyMethod::run`] or by [`AnyMethod::run_inlined`], which compiles every method for the problem's types:
    /// faster steps, and half a minute more to build.
    pub(crate) fn run_by<F: Inner, P: Merit, G: Regularizer>(
        &self,
        problem: &Problem<F, P, G>,
        runner: Runner<F, P, G>,
    ) -> Result<Solution> {
        let driver = Driver {
            stop: self.stop.clone(),
            evaluate_every: self.evaluate_every,
            interrupt: Some(interrupt::listen()?),
        };
        let mut progress = Progress::new(&self.stop);
        let solution =
            self.pool.install(|| runner(&self.method, &driver, problem, &self.start, &mut progress));
        progress.clear();
        Ok(solution)
    }
}

/// The library's reason, with the flags that would help.
fn refused(error: &ChoiceError, rule: Option<StepRule>) -> anyhow::Error {
    match error {
        ChoiceError::Unmet(_) => {
            let ridge = if rule == Some(StepRule::Theorem3) { "" } else { "--l2 WEIGHT adds a ridge, " };
            let name = rule.map_or("scaled", steps_name);
            anyhow!("--steps {name}: {error} ({ridge}--steps scaled asks nothing of the problem)")
        }
        // Given values have been checked where they were read, so that this one was found by the rule.
        ChoiceError::Invalid(_) => anyhow!(
            "the rule for the steps gives {error}; scale the data to numbers of ordinary size, or give the steps by \
             --alpha-theta and --alpha-w"
        ),
        ChoiceError::Unused { setting, method, has } => anyhow!(
            "--{} does nothing with --method {method}; it has {}",
            flag(setting),
            has.split(", ").map(|name| format!("--{}", flag(name))).collect::<Vec<_>>().join(", "),
        ),
        ChoiceError::Unsuited { .. } => anyhow!("--method {error}"),
    }
}

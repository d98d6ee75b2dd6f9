//! A run with everything decided: method, settings, limits, threads.

use std::num::NonZeroU64;

use anyhow::{Context, Result, anyhow};
use innermean::auto::{self, Attempt};
use innermean::methods::MethodInfo;
use innermean::{
    AnyMethod, Choice, ChoiceError, Driver, Objective, Outcome, Solution, StepRule, Stop,
};
use rayon::{ThreadPool, ThreadPoolBuilder};
use serde::Serialize;

use crate::flags::input::fits_into_memory;
use crate::flags::solver::{AUTO, SolverFlags};
use crate::output::progress::Progress;
use crate::run::checkpoint::clerk::Keeping;
use crate::run::checkpoint::refusal;
use crate::run::settings::{Settings, flag, steps_name};
use crate::run::{deadline, interrupt};

/// Everything that a run needs beside the problem. Whatever can be wrong with the input is found
/// while this is made.
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
    /// Why this method, where nobody asked for it.
    pub(crate) chosen: Option<Chosen>,
    /// What is kept of the run, and which one it goes on from.
    pub(crate) keeping: Keeping,
    by: By,
    pool: ThreadPool,
}

/// What was decided about the method.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Chosen {
    /// What speaks for it.
    pub(crate) reason: String,
    /// The methods that were tried before it.
    pub(crate) fallbacks: Vec<Attempt>,
}

/// Who runs.
enum By {
    /// A method that was asked for.
    Method(AnyMethod),
    /// What the problem decides.
    Auto(auto::Plan),
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
        let begin = problem.allowed(start);
        let objective = pool.install(|| problem.objective(&begin));
        if !objective.is_finite() {
            return Err(flags.start.refusal(objective, begin != start));
        }
        let start = begin;
        let choice = flags.choice();
        let pairs = choice.memory.unwrap_or(0);
        fits_into_memory(&format!("--memory {pairs}"), &[2, pairs, start.len()])?;
        let by = if flags.method == AUTO {
            if let Some(knob) = choice.given().first() {
                return Err(anyhow!(
                    "--{} does nothing with --method auto, which finds its own settings; expected --method NAME with it, such as --method svrpda1",
                    flag(knob.name())
                ));
            }
            if let Some(size) =
                problem.inner.bounds().mean_jacobian.filter(|size| !(size * size).is_finite())
            {
                return Err(anyhow!(
                    "the data hold numbers of size {size:e}, whose squares are not finite; scale the data to numbers of ordinary size"
                ));
            }
            pool.install(|| auto::first(problem, &start, flags.seed)).map(By::Auto)
        } else {
            pool.install(|| AnyMethod::named(&flags.method, &choice, problem, &start))
                .map(By::Method)
        };
        let by = by.map_err(|error| refused(&error, &choice))?;
        let (method, chosen) = match &by {
            By::Method(method) => (method, None),
            By::Auto(plan) => {
                let reason = plan.candidate.reason.clone();
                (&plan.method, Some(Chosen { reason, fallbacks: Vec::new() }))
            }
        };
        let (info, settings) = (method.info(), Settings::of(method, choice.rule)?);
        let (seed, stop) = (flags.seed, (&flags.stop).into());
        let (holds, keeping) = ("--l2", Keeping::default());
        Ok(Plan {
            info,
            settings,
            seed,
            stop,
            start,
            evaluate_every,
            holds,
            chosen,
            keeping,
            by,
            pool,
        })
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
        let interrupt = interrupt::listen()?;
        let max_seconds = deadline::left(self.stop.max_seconds);
        let driver = Driver {
            stop: Stop { max_seconds, ..self.stop.clone() },
            evaluate_every: self.evaluate_every,
            interrupt: Some(interrupt),
            ..Driver::default()
        };
        let Plan { pool, start, by, keeping, stop, .. } = &*self;
        let mut clerk = keeping.clerk(Progress::new(stop));
        let begin = keeping.begin(start);
        let found = match by {
            By::Method(method) => pool
                .install(|| method.run_from(&driver, problem, begin, &mut clerk))
                .map(|found| (found, None)),
            By::Auto(plan) => {
                let run = || plan.clone().run_from(&driver, problem, begin, &mut clerk);
                pool.install(run).map(|Outcome { solution, method, reason, fallbacks }| {
                    (solution, Some((method, Chosen { reason, fallbacks })))
                })
            }
        };
        let failed = clerk.finish();
        let (solution, chosen) = match (found, &keeping.resumed) {
            (Ok(found), _) => found,
            (Err(error), Some(resumed)) => return Err(refusal(&resumed.path, &error)),
            (Err(error), None) => return Err(error.into()),
        };
        self.keeping.failed = failed;
        if let Some((method, chosen)) = chosen {
            (self.info, self.settings) = (method.info(), Settings::of(&method, None)?);
            self.chosen = Some(chosen);
        }
        Ok(solution)
    }
}

/// The library's reason, with the flags that would help.
fn refused(error: &ChoiceError, choice: &Choice) -> anyhow::Error {
    let rule = choice.rule;
    match error {
        ChoiceError::Invalid(setting)
            if choice.given().iter().any(|knob| knob.name() == setting.name()) =>
        {
            anyhow!(
                "--{} {}: expected {}",
                flag(setting.name()),
                setting.value(),
                setting.expected()
            )
        }
        ChoiceError::Unmet(_) => {
            let ridge =
                if rule == Some(StepRule::Theorem3) { "" } else { "--l2 WEIGHT adds a ridge, " };
            let name = rule.map_or("scaled", steps_name);
            anyhow!("--steps {name}: {error} ({ridge}--steps scaled asks nothing of the problem)")
        }
        // One that nobody has given was found by the rule.
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
        _ => anyhow!("{error}"),
    }
}

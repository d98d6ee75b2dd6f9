//! Method, settings and limits of a run.

use std::num::NonZeroU64;
use std::sync::atomic::AtomicBool;

use innermean::auto::{self, Attempt};
use innermean::{
    AnyMethod, Begin, CheckpointError, Choice, ChoiceError, Driver, MethodInfo, Objective,
    Observer, Outcome, Solution, StepRule, Stop,
};
use serde::{Deserialize, Serialize};

use super::{Advice, MethodSettings, Start, rule_name};
use crate::error::Error;

/// The name of no method: the problem decides.
pub const AUTO: &str = "auto";

/// How to solve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Solver {
    /// A name from [`innermean::METHODS`], or [`AUTO`].
    pub method: String,
    /// The method's settings, as far as they are given, and the seed.
    pub choice: Choice,
    /// Where to begin; by default where the application says, otherwise at zero.
    pub start: Option<Start>,
    /// When to stop.
    pub stop: Stop,
    /// Evaluate after this many inner steps as well, and not only after each outer iteration.
    pub evaluate_every: Option<NonZeroU64>,
}

impl Default for Solver {
    fn default() -> Self {
        Solver {
            method: AUTO.to_owned(),
            choice: Choice::default(),
            start: None,
            stop: Stop::default(),
            evaluate_every: None,
        }
    }
}

/// Why a method was taken, and which were tried before it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chosen {
    /// What speaks for it.
    pub reason: String,
    /// The methods that were tried before it.
    pub fallbacks: Vec<Attempt>,
}

/// Everything that a run needs beside the problem. Whatever can be wrong with the settings is found
/// while this is made.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The method's row in the library's table.
    pub info: &'static MethodInfo,
    /// The method's settings, found by rule or given.
    pub settings: MethodSettings,
    /// The seed of its draws.
    pub seed: u64,
    /// When to stop.
    pub stop: Stop,
    /// Where to begin: a point that g allows, in the units of the problem.
    pub start: Vec<f64>,
    /// Evaluations within an outer iteration.
    pub evaluate_every: Option<NonZeroU64>,
    /// Why this method, where it was left to the problem.
    pub chosen: Option<Chosen>,
    by: By,
}

/// Who runs.
#[derive(Debug, Clone)]
enum By {
    /// A method that was asked for.
    Method(Box<AnyMethod>),
    /// What the problem decides.
    Auto(Box<auto::Plan>),
}

impl Plan {
    /// Decides what `solver` leaves open, for a run of `problem` from `start`.
    ///
    /// # Errors
    /// If the objective is not finite at the start, or the method or its settings do not suit the
    /// problem.
    pub fn new(solver: &Solver, problem: Objective<'_>, start: &[f64]) -> Result<Self, Error> {
        let begin = problem.allowed(start);
        let objective = problem.objective(&begin);
        if !objective.is_finite() {
            let moved = begin != start;
            return Err(RunError::StartNotFinite { objective, moved }.into());
        }
        let choice = solver.choice;
        let by = if solver.method == AUTO {
            if let Some(knob) = choice.given().first() {
                return Err(RunError::IdleWithAuto(knob.name()).into());
            }
            if let Some(size) =
                problem.inner.bounds().mean_jacobian.filter(|size| !(size * size).is_finite())
            {
                return Err(RunError::HugeData(size).into());
            }
            auto::first(problem, &begin, choice.seed).map(|plan| By::Auto(Box::new(plan)))
        } else {
            AnyMethod::named(&solver.method, &choice, problem, &begin)
                .map(|method| By::Method(Box::new(method)))
        };
        let by = by.map_err(|error| RunError::of(error, &choice))?;
        let (method, chosen) = match &by {
            By::Method(method) => (&**method, None),
            By::Auto(plan) => {
                let reason = plan.candidate.reason.clone();
                (&plan.method, Some(Chosen { reason, fallbacks: Vec::new() }))
            }
        };
        Ok(Plan {
            info: method.info(),
            settings: MethodSettings::of(method, choice.rule),
            seed: choice.seed,
            stop: solver.stop.clone(),
            start: begin,
            evaluate_every: solver.evaluate_every,
            chosen,
            by,
        })
    }

    /// A driver with the limits of this plan; the flag, if there is one, ends the run when it is
    /// set.
    pub fn driver<'a>(&self, interrupt: Option<&'a AtomicBool>) -> Driver<'a> {
        Driver {
            stop: self.stop.clone(),
            evaluate_every: self.evaluate_every,
            interrupt,
            ..Driver::default()
        }
    }

    /// Runs until a rule, the interrupt or the observer says stop. Where the problem decides,
    /// method and settings are afterwards those that the run ended with.
    ///
    /// # Errors
    /// If a checkpoint to resume from belongs to another run.
    pub fn run_from(
        &mut self,
        driver: &Driver<'_>,
        problem: Objective<'_>,
        begin: Begin<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Solution, CheckpointError> {
        match &self.by {
            By::Method(method) => method.run_from(driver, problem, begin, observer),
            By::Auto(plan) => {
                let Outcome { solution, method, reason, fallbacks, .. } =
                    (**plan).clone().run_from(driver, problem, begin, observer)?;
                (self.info, self.settings) = (method.info(), MethodSettings::of(&method, None));
                self.chosen = Some(Chosen { reason, fallbacks });
                Ok(solution)
            }
        }
    }

    /// What to do about the end of a run; `bounds` are the parameters that keep theta from
    /// diverging.
    pub fn advice(&self, status: innermean::Status, bounds: &str) -> Advice {
        Advice::of(status, self, bounds)
    }
}

/// Why a run cannot begin.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The application knows no good start.
    #[error("`start=auto`: this problem knows no start; expected zeros, uniform or a point")]
    NoStart,
    /// The objective is not finite at the start.
    #[error(
        "`start`: the objective {} is {objective}; expected {} of a smaller size",
        if *.moved { "at the point next to it that `constraint` allows" } else { "there" },
        if *.moved { "bounds" } else { "numbers" }
    )]
    StartNotFinite {
        /// Its value there.
        objective: f64,
        /// Whether the start is the projection of the one that was given.
        moved: bool,
    },
    /// A setting was given, and no method.
    #[error(
        "`{0}` does nothing with `method=auto`, which finds its own settings; expected \
         `method=NAME` with it, such as `method=svrpda1`"
    )]
    IdleWithAuto(&'static str),
    /// Squares of the data are not finite.
    #[error(
        "the data hold numbers of size {0:e}, whose squares are not finite; scale the data to \
         numbers of ordinary size"
    )]
    HugeData(f64),
    /// A setting that was given is out of its range.
    #[error("`{name}={value}`: expected {expected}")]
    Setting {
        /// Its name.
        name: String,
        /// What was given.
        value: String,
        /// What would have been accepted.
        expected: String,
    },
    /// The assumptions of a theorem are not met.
    #[error(
        "`rule={rule}`: {reason} ({}`rule=scaled` asks nothing of the problem)",
        if *.ridge { "`l2=WEIGHT` adds a ridge, " } else { "" }
    )]
    Unmet {
        /// The rule for the steps.
        rule: &'static str,
        /// Which assumption.
        reason: String,
        /// Whether a ridge would help.
        ridge: bool,
    },
    /// The rule for the steps gives no usable number.
    #[error(
        "the rule for the steps gives {0}; scale the data to numbers of ordinary size, or give the \
         steps by `alpha_theta` and `alpha_w`"
    )]
    Rule(String),
    /// A setting that the method does not have.
    #[error("`{setting}` does nothing with `method={method}`; it has {has}")]
    Unused {
        /// What was given.
        setting: &'static str,
        /// The method.
        method: &'static str,
        /// What could have been given.
        has: String,
    },
    /// The method does not suit the problem.
    #[error("`method={method}` does not suit this problem: {missing}; these methods do: {suited}")]
    Unsuited {
        /// The method.
        method: &'static str,
        /// What it asks for.
        missing: String,
        /// Methods that suit.
        suited: String,
    },
    /// The data could not be read to the end.
    #[error("{0}")]
    Lost(String),
}

impl RunError {
    /// The library's reason, with the parameters that would help.
    pub(crate) fn of(error: ChoiceError, choice: &Choice) -> Self {
        match error {
            ChoiceError::Invalid(setting)
                if choice.given().iter().any(|knob| knob.name() == setting.name()) =>
            {
                RunError::Setting {
                    name: setting.name().to_owned(),
                    value: setting.value().to_owned(),
                    expected: setting.expected().to_owned(),
                }
            }
            ChoiceError::Unmet(_) => RunError::Unmet {
                rule: choice.rule.map_or("scaled", rule_name),
                reason: error.to_string(),
                ridge: choice.rule != Some(StepRule::Theorem3),
            },
            // What was not given was found by the rule.
            ChoiceError::Invalid(_) => RunError::Rule(error.to_string()),
            ChoiceError::Unused { setting, method, has } => {
                let has: Vec<String> = has.split(", ").map(|name| format!("`{name}`")).collect();
                RunError::Unused { setting, method, has: has.join(", ") }
            }
            ChoiceError::Unsuited { method, missing, suited } => {
                RunError::Unsuited { method, missing, suited }
            }
            other => RunError::Lost(other.to_string()),
        }
    }
}

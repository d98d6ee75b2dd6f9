//! Policy evaluation: the value of every state, from transitions that were seen or are known by
//! their probabilities.
//!
//! ```
//! use innermean_apps::policy::{PolicyFeatures, PolicySettings, PolicyTask, Process};
//! use innermean_apps::run::{Solver, Task, Watch};
//! use innermean_data::Keys;
//!
//! let keys = |names: [&str; 2]| Keys {
//!     names: names.map(str::to_owned).to_vec(),
//!     codes: vec![0, 1],
//!     ..Keys::default()
//! };
//! // a leads to b with reward 0, and b to the end of the episode with reward 1.
//! let log = Process::of_transitions(keys(["a", "b"]), &keys(["b", ""]), vec![0.0, 1.0], None);
//! let mut settings = PolicySettings::default();
//! settings.discount = Some(0.5);
//! let task = PolicyTask::new(log, PolicyFeatures::OneHot, &settings)?;
//! let fit = task.fit(&Solver::default(), Watch::by(&mut ()))?;
//! assert_eq!(fit.answer.states, ["a", "b"]);
//! assert!((fit.answer.values[0] - 0.5).abs() < 1e-6 && (fit.answer.values[1] - 1.0).abs() < 1e-6);
//! # Ok::<(), innermean_apps::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::penalty::{Bounds, Constraint, Penalty};
use crate::wording::named;

mod answer;
mod closed_form;
mod condensed;
mod ends;
mod episodes;
mod error;
mod features;
mod inference;
mod initial;
mod model;
mod process;
mod task;

pub use answer::PolicyAnswer;
pub use closed_form::ClosedForm;
pub use condensed::{LogCollector, LogMoments, LogRows};
pub use ends::{AutoReset, LogColumns, Marks};
pub use episodes::Episodes;
pub use error::PolicyError;
pub use features::PolicyFeatures;
pub use initial::{InitialStates, InitialValue};
pub use process::{Process, ProcessMoves};
pub use task::PolicyTask;

named! {
    /// What policy evaluation minimises.
    pub enum PolicyObjective, default Bellman {
        /// The mean squared Bellman error: every state that is left counts once
        Bellman = "bellman",
        /// The mean squared projected Bellman error (MSPBE): every transition counts by its weight
        Projected = "projected",
    }
}

named! {
    /// What to make of a state that is entered and never left.
    pub enum NeverLeft, default Error {
        /// Refuse it: whether an episode ends there cannot be told
        Error = "error",
        /// It ends an episode, with value 0
        Terminal = "terminal",
        /// It has the value that its features give it, as where a log was cut off
        Bootstrap = "bootstrap",
    }
}

impl PolicyObjective {
    /// In words.
    pub fn title(self) -> &'static str {
        match self {
            PolicyObjective::Bellman => "mean squared Bellman error",
            PolicyObjective::Projected => "mean squared projected Bellman error",
        }
    }
}

/// What is evaluated, beside transitions and features.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct PolicySettings {
    /// The weight of what comes a step later, from 0 to 1; by default that of the process, or 0.9.
    pub discount: Option<f64>,
    /// What is minimised; by default the Bellman error, and the projected one where most
    /// transitions of a log leave a state that is seen once, or with traces.
    pub objective: Option<PolicyObjective>,
    /// The lambda of LSTD(lambda), from 0 to 1: eligibility traces along the episodes of a log.
    pub lambda: f64,
    /// Whether a coordinate of its own is added to the features, which is 1 in every state.
    pub intercept: bool,
    /// What rows behind the end of an episode are.
    pub auto_reset: AutoReset,
    /// States that end an episode, with value 0.
    pub terminal: Vec<String>,
    /// What to make of states that are entered and never left.
    pub never_left: NeverLeft,
    /// What theta may be.
    pub constraint: Constraint,
    /// Norms of theta.
    #[serde(flatten)]
    pub penalty: Penalty,
}

impl PolicySettings {
    /// Constraint and norms.
    pub fn bounds(&self) -> Bounds {
        Bounds { constraint: self.constraint, penalty: self.penalty }
    }

    /// What can be found out without data.
    ///
    /// # Errors
    /// If the discount or lambda is not from 0 to 1, or lambda is above 0 with the Bellman error.
    pub fn check(&self) -> Result<(), Error> {
        if let Some(discount) = self.discount.filter(|discount| !(0.0..=1.0).contains(discount)) {
            return Err(PolicyError::Discount(discount).into());
        }
        if !(0.0..=1.0).contains(&self.lambda) {
            return Err(PolicyError::Lambda(self.lambda).into());
        }
        if self.lambda > 0.0 && self.objective == Some(PolicyObjective::Bellman) {
            return Err(Error::Idle {
                parameter: "lambda",
                value: self.lambda.to_string(),
                chosen: "objective=bellman".to_owned(),
                needed: "objective=projected".to_owned(),
            });
        }
        Ok(())
    }

    /// The objective in words.
    pub fn formula(&self) -> String {
        let objective = self.objective.unwrap_or_default();
        let half = if objective == PolicyObjective::Projected { " / 2" } else { "" };
        let traces = if self.lambda > 0.0 {
            format!(" with traces of lambda {}", self.lambda)
        } else {
            String::new()
        };
        let mut terms = vec![objective.title().to_owned() + &traces + half];
        terms.extend(self.penalty.terms("theta"));
        terms.join(" + ")
    }
}

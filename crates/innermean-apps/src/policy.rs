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

use crate::error::{Error, Place};
use crate::penalty::{Bounds, Constraint, Penalty};
use crate::wording::named;
use crate::wording::numbers::some_of;

mod closed_form;
mod features;
mod process;
mod task;

pub use closed_form::ClosedForm;
pub use features::PolicyFeatures;
pub use process::{Process, ProcessMoves};
pub use task::{PolicyAnswer, PolicyTask};

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
    /// What is minimised.
    pub objective: PolicyObjective,
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
    /// If the discount is not from 0 to 1.
    pub fn check(&self) -> Result<(), Error> {
        match self.discount {
            Some(discount) if !(0.0..=1.0).contains(&discount) => {
                Err(PolicyError::Discount(discount).into())
            }
            _ => Ok(()),
        }
    }

    /// The objective in words.
    pub fn formula(&self) -> String {
        let half = if self.objective == PolicyObjective::Projected { " / 2" } else { "" };
        let mut terms = vec![self.objective.title().to_owned() + half];
        terms.extend(self.penalty.terms("theta"));
        terms.join(" + ")
    }
}

/// Why a process, its features or the settings are refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// The discount is not from 0 to 1.
    #[error("`discount={0}`: expected a number from 0 to 1")]
    Discount(f64),
    /// A terminal state that no transition knows.
    #[error("`terminal={name}`: there is no such state; expected one of {}", some_of(.states))]
    NoSuchState {
        /// Its name.
        name: String,
        /// All states.
        states: Vec<String>,
    },
    /// A terminal state is left.
    #[error(
        "a transition leaves state '{state}', which `terminal` says ends an episode; expected none, or one to itself with reward 0"
    )]
    LeavesTerminal {
        /// Which transition, from 0.
        transition: usize,
        /// The state.
        state: String,
    },
    /// No transition is left.
    #[error("`terminal={}`: no transition is left; expected other states too", .0.join(","))]
    AllTerminal(Vec<String>),
    /// A state is entered and never left.
    #[error(
        "state '{state}' is entered and never left{}; expected `terminal={state}` if an episode ends there, `never_left=terminal` for all such states, or `never_left=bootstrap` to take the value that features give them",
        and_others(*.others)
    )]
    NeverLeft {
        /// The first transition that enters it, from 0.
        transition: usize,
        /// The state.
        state: String,
        /// How many others are never left.
        others: usize,
    },
    /// Nothing says what the value of a state that is never left is.
    #[error(
        "`never_left=bootstrap`: with one-hot features nothing says what the value of such a state is; expected `features=FILE`, or `never_left=terminal`"
    )]
    NothingToBootstrap,
    /// A state without features.
    #[error(
        "there are no features of state '{state}'; expected those of every state, or `terminal={state}` if an episode ends there"
    )]
    NotDescribed {
        /// The state.
        state: String,
        /// The first transition that speaks of it, from 0, of a process that has a list of them.
        transition: Option<usize>,
    },
    /// A state with two rows of features.
    #[error("state '{state}' again; expected one row of features for each state")]
    DescribedTwice {
        /// The state.
        state: String,
        /// Its first row.
        first: usize,
        /// Its second.
        second: usize,
    },
    /// Features of a state that a matrix of probabilities does not have.
    #[error(
        "there are rows for states that the model does not have; expected one for each of its states"
    )]
    NotOfTheModel,
    /// The projected error would take too much memory.
    #[error(
        "`objective=projected` keeps {d} x {d} numbers and two rows of {d} for each of {transitions} transitions; expected fewer features or transitions, or `objective=bellman`"
    )]
    TooLarge {
        /// How many features.
        d: usize,
        /// How many transitions.
        transitions: usize,
    },
    /// The projection is not defined.
    #[error(
        "`objective=projected`: the {d} features of the states in {transitions} transitions are linearly dependent; expected fewer features, or transitions through more states"
    )]
    DependentFeatures {
        /// How many features.
        d: usize,
        /// How many transitions.
        transitions: usize,
    },
    /// The value of a state need not be finite.
    #[error(
        "`discount={discount}`: from state '{state}' no end can be reached, so that its value need not be finite; expected a discount below 1, or `terminal=NAME` for the states that end an episode"
    )]
    Endless {
        /// The discount.
        discount: f64,
        /// The state.
        state: String,
    },
    /// The transitions of a state count nothing.
    #[error("the weights of the transitions from state '{0}' are all zero; expected one above 0")]
    NoWeight(String),
    /// A state of which nothing is known.
    #[error(
        "no transition leaves state '{0}', so that nothing says what its value is; expected `terminal={0}`, or features that describe it"
    )]
    Unknown(String),
}

fn and_others(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => " (and so is one other state)".to_owned(),
        more => format!(" (and so are {more} other states)"),
    }
}

impl PolicyError {
    pub(crate) fn place(&self) -> Option<Place> {
        match *self {
            PolicyError::LeavesTerminal { transition, .. }
            | PolicyError::NeverLeft { transition, .. } => Some(Place::Transition(transition)),
            _ => None,
        }
    }
}

//! Why a policy cannot be evaluated.

use crate::error::Place;
use crate::wording::numbers::some_of;

/// Why a process, its features or the settings are refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// The discount is not from 0 to 1.
    #[error("`discount={0}`: expected a number from 0 to 1")]
    Discount(f64),
    /// Lambda is not from 0 to 1.
    #[error("`lambda={0}`: expected a number from 0 to 1")]
    Lambda(f64),
    /// Traces or episodes of what has no order in time.
    #[error(
        "{0} needs the transitions of a log in the order of time, and a model has none; expected a \
         log"
    )]
    NoOrder(&'static str),
    /// Standard errors of values that follow from known probabilities.
    #[error(
        "`{0}`: the process is known by its probabilities, so that nothing is estimated; expected a log of transitions"
    )]
    NothingEstimated(&'static str),
    /// Standard errors of values of their own for states that were left once.
    #[error(
        "`{parameter}`: {states} of {of} states were left only once, which says nothing about the variance of what follows; expected more transitions, or features that states share"
    )]
    LeftOnce {
        /// What was asked for.
        parameter: &'static str,
        /// How many.
        states: usize,
        /// Of all that were left.
        of: usize,
    },
    /// Errors that allow for dependence within episodes, of one episode.
    #[error(
        "`{parameter}`: the log is one episode, and episodes are what is independent; expected several, in the rows or by `episode_column=NAME`{}",
        if *.traces { ", or `lambda=0`" } else { ", or `standard_errors=robust`" }
    )]
    OneEpisode {
        /// What was asked for.
        parameter: &'static str,
        /// Whether traces tie the steps of an episode together.
        traces: bool,
    },
    /// Independent transitions that traces tie together.
    #[error(
        "`standard_errors=robust` takes transitions as independent, and traces tie those of an episode together; expected `standard_errors=clustered`, or `lambda=0`"
    )]
    TiedByTraces,
    /// An intercept where every state has a value of its own.
    #[error(
        "an intercept does nothing with one-hot features, which give every state a value of its \
         own; expected other features"
    )]
    OneHotIntercept,
    /// Features of transitions that were never given.
    #[error("the transitions have no features of their own; expected features of the states")]
    NoOwnFeatures,
    /// A mark of the log that is not 0 or 1.
    #[error("column '{column}' has {value}; expected 0 or 1, or false or true")]
    Mark {
        /// Which transition, from 0.
        transition: usize,
        /// The column.
        column: String,
        /// What stands there.
        value: f64,
    },
    /// A step that was cut off, of which it is not known where it led.
    #[error(
        "the step is truncated, and no next state says where; expected the state in which it was \
         cut off, or a step that is terminal"
    )]
    NothingAfterCut {
        /// Which transition, from 0.
        transition: usize,
    },
    /// A row of an automatic reset with a reward.
    #[error(
        "`auto_reset=next-step`: the row behind the end of an episode has a reward of {reward}, \
         and a reset has none; expected `auto_reset=none`"
    )]
    ResetReward {
        /// Which transition, from 0.
        transition: usize,
        /// Its reward.
        reward: f64,
    },
    /// Nothing says where episodes end.
    #[error(
        "`auto_reset=next-step` does nothing where no column says where episodes end; expected \
         `done_column=NAME`"
    )]
    NoMarks,
    /// Rows of several episodes beside each other, in a log that is not kept.
    #[error(
        "episode '{name}' comes again after another: rows that are read once and not kept come in \
         the order of time; expected them sorted by episode, or `episode_column=none`"
    )]
    Mixed {
        /// Which transition, from 0.
        transition: usize,
        /// The episode.
        name: String,
    },
    /// Rows that look like resets, in a log that is not kept.
    #[error(
        "the {0} rows behind the end of an episode all look like resets, and whether they are \
         cannot be told from rows that are read once and not kept; expected \
         `auto_reset=next-step`, or `auto_reset=none`"
    )]
    PerhapsResets(usize),
    /// Something that a log that is not kept cannot answer.
    #[error("`{0}` needs the transitions themselves, and only their moments were kept")]
    NotKept(&'static str),
    /// All rows are those of resets.
    #[error(
        "`auto_reset=next-step`: no transition is left; expected rows that do not follow an end"
    )]
    AllReset,
    /// Names of states where states have none.
    #[error(
        "`{parameter}={value}`: states that are described by columns of the log have no names; \
         expected {expected}"
    )]
    NoNames {
        /// The parameter.
        parameter: &'static str,
        /// What it was given.
        value: String,
        /// What to give instead.
        expected: &'static str,
    },
    /// An initial state that is not known.
    #[error("`initial_states={name}`: there is no such state; expected one of {}", some_of(.states))]
    NoSuchInitial {
        /// Its name.
        name: String,
        /// All states.
        states: Vec<String>,
    },
    /// No initial state at all.
    #[error("`initial_states`: there are none; expected at least one")]
    NoInitial,
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
        "a transition leaves state '{state}', which `terminal` says ends an episode; expected \
         none, or one to itself with reward 0"
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
        "state '{state}' is entered and never left{}; expected `terminal={state}` if an episode \
         ends there, `never_left=terminal` for all such states, or `never_left=bootstrap` to take \
         the value that features give them",
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
        "`never_left=bootstrap`: with one-hot features nothing says what the value of such a state \
         is; expected `features=FILE`, or `never_left=terminal`"
    )]
    NothingToBootstrap,
    /// A state without features.
    #[error(
        "there are no features of state '{state}'; expected those of every state, or \
         `terminal={state}` if an episode ends there"
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
        "there are rows for states that the model does not have; expected one for each of its \
         states"
    )]
    NotOfTheModel,
    /// The projected error would take too much memory.
    #[error(
        "`objective=projected` keeps {d} x {d} numbers and two rows of {d} for each of \
         {transitions} transitions; expected fewer features or transitions, or `objective=bellman`"
    )]
    TooLarge {
        /// How many features.
        d: usize,
        /// How many transitions.
        transitions: usize,
    },
    /// The projection is not defined.
    #[error(
        "`objective=projected`: the {d} features of the states in {transitions} transitions are \
         linearly dependent; expected fewer features, transitions through more states, or \
         `objective=bellman`"
    )]
    DependentFeatures {
        /// How many features.
        d: usize,
        /// How many transitions.
        transitions: usize,
    },
    /// The value of a state need not be finite.
    #[error(
        "`discount={discount}`: from state '{state}' no end can be reached, so that its value need \
         not be finite; expected a discount below 1, or `terminal=NAME` for the states that end an \
         episode"
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
        "no transition leaves state '{0}', so that nothing says what its value is; expected \
         `terminal={0}`, or features that describe it"
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
            | PolicyError::Mark { transition, .. }
            | PolicyError::NothingAfterCut { transition }
            | PolicyError::Mixed { transition, .. }
            | PolicyError::ResetReward { transition, .. }
            | PolicyError::NeverLeft { transition, .. } => Some(Place::Transition(transition)),
            _ => None,
        }
    }
}

//! Why something is refused.

use innermean::InvalidSetting;
use innermean::inference::InferenceError;

use crate::penalty::Constraint;

/// Why an application refuses its data or settings. Sentences name parameters in backquotes;
/// [`spell`](crate::wording::spell) writes them as a face does.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The library refuses a number or a shape.
    #[error(transparent)]
    Setting(#[from] InvalidSetting),
    /// No theta meets the constraint.
    #[error("`constraint={0}`: {1}")]
    Constraint(Constraint, InvalidSetting),
    /// A parameter that belongs to another choice.
    #[error("`{parameter}={value}` does nothing with `{chosen}`; expected `{needed}`")]
    Idle {
        /// The parameter.
        parameter: &'static str,
        /// What it was given.
        value: String,
        /// The choice that was made, as in `risk=variance`.
        chosen: String,
        /// The choice that has the parameter.
        needed: String,
    },
    /// A parameter that belongs to another choice, of which no value is worth quoting.
    #[error("`{parameter}` does nothing without `{needed}`")]
    IdleWithout {
        /// The parameter.
        parameter: &'static str,
        /// The choice that has the parameter.
        needed: String,
    },
    /// Two arrays that do not belong together.
    #[error("{what}: {found}; expected {expected}")]
    Shape {
        /// Which array.
        what: &'static str,
        /// Its length.
        found: usize,
        /// What it should be.
        expected: usize,
    },
    /// A risk that has no minimum.
    #[error(
        "`risk={0}` needs a bound on the weights, because twice the weights have twice the \
         risk and twice the return: add `constraint=long-only`, `constraint=box=LO,HI` or \
         `l2=WEIGHT`"
    )]
    UnboundedRisk(crate::portfolio::Risk),
    /// Returns that are no fractions.
    #[error(
        "`risk=kelly` takes the logarithm of 1 + return, and these are no fractions but, by their \
         size, percent: {asset} has {least} in period {period}, and {typical:.3} is typical; add \
         `percent`, or divide the returns by 100"
    )]
    NoFractions {
        /// The least return.
        least: f64,
        /// Its period, from 1.
        period: usize,
        /// Its asset.
        asset: String,
        /// The mean absolute deviation.
        typical: f64,
    },
    /// Standard errors or the bootstrap make no sense for this problem.
    #[error("`{parameter}`: {reason}")]
    Inference {
        /// What was asked for.
        parameter: &'static str,
        /// Why not.
        reason: InferenceError,
    },
    /// Of a run.
    #[error(transparent)]
    Run(#[from] crate::run::RunError),
    /// Of limits on a portfolio.
    #[error(transparent)]
    Limits(#[from] crate::portfolio::LimitsError),
    /// Of the periods of a portfolio.
    #[error(transparent)]
    Scenarios(#[from] crate::portfolio::ScenariosError),
    /// Of the moments of a portfolio.
    #[error(transparent)]
    PortfolioMoments(#[from] crate::portfolio::MomentsError),
    /// Of objectives that are searched for, and of walks.
    #[error(transparent)]
    Search(#[from] crate::portfolio::SearchError),
    /// Of linear models.
    #[error(transparent)]
    Linear(#[from] crate::linear::LinearError),
    /// Of groups with labels.
    #[error(transparent)]
    Bags(#[from] crate::bags::BagsError),
    /// Of instrumental variables.
    #[error(transparent)]
    Moments(#[from] crate::moments::MomentsError),
    /// Of policies.
    #[error(transparent)]
    Policy(#[from] crate::policy::PolicyError),
    /// Of sequences.
    #[error(transparent)]
    Sequences(#[from] crate::sequences::SequencesError),
    /// Of cross-validation.
    #[error(transparent)]
    Validation(#[from] crate::validation::ValidationError),
    /// Of models that are kept.
    #[error(transparent)]
    Model(#[from] crate::model::ModelError),
    /// Of comparisons.
    #[error(transparent)]
    Compare(#[from] crate::compare::CompareError),
}

impl Error {
    /// Which of the data it is about, for a face that knows where they come from.
    pub fn place(&self) -> Option<Place> {
        match self {
            Error::Linear(error) => error.place(),
            Error::Bags(error) => error.place(),
            Error::Policy(error) => error.place(),
            Error::Sequences(error) => error.place(),
            Error::Model(error) => error.place(),
            _ => None,
        }
    }
}

/// A part of the data. A face with a file says where that is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A row of the data, from 0.
    Row(usize),
    /// The labels of a group, from 0.
    Group(usize),
    /// A transition, from 0.
    Transition(usize),
    /// The column of targets, or the data as a whole.
    Data,
}

/// `found` if it is `expected`.
pub(crate) fn same_length(what: &'static str, found: usize, expected: usize) -> Result<(), Error> {
    if found == expected { Ok(()) } else { Err(Error::Shape { what, found, expected }) }
}

//! Why rows, targets or weights are refused.

use super::Loss;
use super::classes::not_two;
use crate::error::Place;

/// Why rows, targets or weights are refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LinearError {
    /// The targets are not two classes; up to six of those that were found.
    #[error("{}", not_two(.0))]
    NotTwoClasses(Vec<String>),
    /// More classes than are told apart.
    #[error(
        "there are more than {most} classes, such as '{example}'; expected at most {most}, or \
         `loss=square` or huber for numbers"
    )]
    TooManyClasses {
        /// How many there may be.
        most: usize,
        /// One of them.
        example: String,
    },
    /// The loss and the targets do not belong together.
    #[error("`loss={0}`: the targets are {1}; expected {2}")]
    OtherTarget(Loss, &'static str, &'static str),
    /// A loss that moments do not determine.
    #[error(
        "`loss={0}` needs the rows themselves, and their moments do not tell them: expected \
         `loss=square`"
    )]
    OfMoments(Loss),
    /// No feature.
    #[error("there are no features; expected a column of numbers besides the target")]
    NoFeatures,
    /// A weight is negative.
    #[error("the weight is {weight}; expected 0 or above")]
    NegativeWeight {
        /// In which row.
        row: usize,
        /// What it is.
        weight: f64,
    },
    /// No row has a target.
    #[error("no row has a target; expected some that have")]
    NoTargets,
    /// Weights of classes where there are none.
    #[error(
        "`class_weights` is for classes, and the targets are numbers; expected `loss=logistic` or \
         another loss of classes"
    )]
    ClassWeightsOfNumbers,
    /// A class that has no weight, or a weight that has no class.
    #[error(
        "`class_weights`: {0}; expected balanced, or a weight above 0 for each of {1}, as in \
         no=1,yes=3"
    )]
    ClassWeights(String, String),
    /// No row counts.
    #[error("all weights are 0; expected some above")]
    NoWeights,
    /// The rows that count are of one class.
    #[error("all rows with a weight above 0 are of one class; expected two classes")]
    OneClassCounts,
    /// Weights overflow or vanish beside their mean.
    #[error("weights are too far apart; expected numbers of ordinary size")]
    UnevenWeights,
    /// Sparse rows that are all empty.
    #[error("no row has an entry; expected rows such as `1 3:0.5 7:-1`")]
    NoEntries,
}

impl LinearError {
    pub(crate) fn place(&self) -> Option<Place> {
        match self {
            LinearError::NegativeWeight { row, .. } => Some(Place::Row(*row)),
            LinearError::OtherTarget(..)
            | LinearError::ClassWeightsOfNumbers
            | LinearError::ClassWeights(..) => None,
            _ => Some(Place::Data),
        }
    }
}

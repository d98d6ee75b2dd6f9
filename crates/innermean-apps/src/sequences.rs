//! Sequences: a classifier of their steps from a language model, without labels.
//!
//! ```
//! use innermean::problems::sequences::search::Search;
//! use innermean_apps::run::{Solver, Task, Watch};
//! use innermean_apps::sequences::{Language, SequencesSettings, SequencesTask, Steps};
//! use innermean_data::{LanguageOptions, generate_language};
//!
//! let options = LanguageOptions { classes: 3, steps: 2000, ..LanguageOptions::default() };
//! let spoken = generate_language(&options);
//! let language = Language::generated(&spoken, 2)?;
//! let steps = Steps::generated(spoken);
//! let mut task = SequencesTask::new(steps, language, &SequencesSettings::default())?;
//! task.search(&Search { starts: 8, ..Search::default() })?;
//! let fit = task.fit(&Solver::default(), Watch::by(&mut ()))?;
//! let scores = fit.answer.scores.expect("the generator knows the labels");
//! assert!(scores.accuracy > 0.8);
//! # Ok::<(), innermean_apps::Error>(())
//! ```

use innermean::InvalidSetting;

use crate::error::Place;
use crate::wording::numbers::significant;

mod language;
mod scale;
mod scores;
mod steps;
mod task;

pub use language::Language;
pub use scale::Scale;
pub use scores::{Scores, SearchSummary, predicted_columns};
pub use steps::{Gaps, Steps};
pub use task::{
    FIRST_STEP, NEAR, SequencesAnswer, SequencesProblem, SequencesSettings, SequencesTask,
};

/// Why steps or a language are refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SequencesError {
    /// A frequency is negative.
    #[error("{value} is below 0; expected {}", if *.counts { "a count" } else { "a probability" })]
    Negative {
        /// Of which n-gram, from 0.
        row: usize,
        /// What it is.
        value: f64,
        /// Whether frequencies are counts.
        counts: bool,
    },
    /// No n-gram occurs.
    #[error("all counts are 0; expected at least one above 0")]
    NoCounts,
    /// Probabilities that do not sum to 1.
    #[error(
        "the probabilities sum to {}; expected 1 (if they are counts, call the column count)",
        significant(*.0, 6)
    )]
    Sum(f64),
    /// An n-gram that was given before.
    #[error("the n-gram '{ngram}' is in row {} already; expected each once", .first + 1)]
    NgramTwice {
        /// The n-gram.
        ngram: String,
        /// Where it was, from 0.
        first: usize,
        /// Where it is again.
        row: usize,
    },
    /// The library refuses the n-grams.
    #[error("is no language model: {0}")]
    NoModel(InvalidSetting),
    /// One class is none to tell apart.
    #[error("has one class alone, {0}; expected at least two")]
    OneClass(String),
    /// A step that was given before.
    #[error("{what} is in row {} already; expected each step of a sequence once", .first + 1)]
    StepTwice {
        /// The step, and of which sequence.
        what: String,
        /// Where it was, from 0.
        first: usize,
        /// Where it is again.
        row: usize,
    },
    /// No sequence holds an n-gram.
    #[error(
        "no sequence has {order} steps in a row, as the n-grams have; expected longer ones{}",
        if *.broken { " (`gaps=ignore` does not break them at gaps)" } else { "" }
    )]
    TooShort {
        /// The length of an n-gram.
        order: usize,
        /// Whether sequences are broken at gaps.
        broken: bool,
    },
    /// A feature whose squares are not finite.
    #[error("feature {0}: its numbers are too large to be squared; expected smaller ones")]
    TooLarge(String),
}

impl SequencesError {
    pub(crate) fn place(&self) -> Option<Place> {
        match *self {
            SequencesError::Negative { row, .. }
            | SequencesError::NgramTwice { row, .. }
            | SequencesError::StepTwice { row, .. } => Some(Place::Row(row)),
            SequencesError::TooLarge(_) => None,
            _ => Some(Place::Data),
        }
    }
}

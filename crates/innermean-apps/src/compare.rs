//! Comparison: several methods on one problem, from one start, by one count.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use innermean_apps::compare::{CompareSettings, Lineup};
//! use innermean_apps::portfolio::{PortfolioSettings, PortfolioTask};
//! use innermean_apps::run::Task;
//! use innermean_data::generate_factor_model;
//!
//! let market = generate_factor_model(200, 4, 1);
//! let task = PortfolioTask::new(market.names, market.values, &PortfolioSettings::default())?;
//! let mut settings = CompareSettings::default();
//! settings.methods = "lbfgs,newton".to_owned();
//! settings.until = 1e-6;
//! let paper = |method: &str| task.paper_choice(method);
//! let contest = Lineup::new(settings, task.problem(), &[0.0; 4], &paper)?.contest()?;
//! let outcome = contest.run(&AtomicBool::new(false), &mut ())?;
//! for entry in &outcome.entries {
//!     assert!(contest.reached(&entry.runs[0], outcome.optimum, 1e-6).is_some());
//! }
//! # Ok::<(), innermean_apps::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::wording::named;

mod contest;
mod tune;

pub use contest::{Contest, Entrant, Entry, Lineup, Outcome, Spectator};

named! {
    /// Where settings come from.
    pub enum SettingsFrom, default Paper {
        /// The paper's where it gives some for this problem, otherwise the method's own
        Paper = "paper",
        /// The method's own rule or defaults
        Default = "default",
        /// Found by a search over a grid of steps
        Tuned = "tuned",
    }
}

named! {
    /// How a gap is measured.
    pub enum GapKind, default Absolute {
        /// P(theta) - P*
        Absolute = "absolute",
        /// (P(theta) - P*) / (P(start) - P*)
        Relative = "relative",
    }
}

/// Who takes part, and for how long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct CompareSettings {
    /// Names of methods with commas between them, [`AUTO`](crate::run::AUTO) for the one that the
    /// problem would choose, or `all`: every method that suits the problem.
    pub methods: String,
    /// Where settings come from; [`SettingsFrom::Tuned`] is said by `tune`.
    pub settings: SettingsFrom,
    /// Search a small grid of steps for each method first.
    pub tune: bool,
    /// Runs of each method, with seeds from `seed` upwards.
    pub repeat: u64,
    /// How gaps are measured.
    pub gap: GapKind,
    /// The first seed.
    pub seed: u64,
    /// The gap at which a run ends.
    pub until: f64,
    /// The oracle calls after which a run ends.
    pub max_calls: u64,
    /// The seconds after which a run ends.
    pub max_seconds: f64,
}

impl Default for CompareSettings {
    fn default() -> Self {
        CompareSettings {
            methods: "all".to_owned(),
            settings: SettingsFrom::default(),
            tune: false,
            repeat: 1,
            gap: GapKind::default(),
            seed: 0,
            until: 1e-10,
            max_calls: 1_000_000_000,
            max_seconds: 2.0,
        }
    }
}

/// Why methods cannot be compared.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// An empty name.
    #[error("`methods={0}`: a name is missing; expected names with one comma between them, or all")]
    EmptyName(String),
    /// `all` among names.
    #[error("`methods={0}`: all takes every method that suits; expected it alone, or names")]
    AllAmongNames(String),
    /// There is no such method.
    #[error("`methods={name}`: there is no such method; expected auto, {known}, or all")]
    NoSuchMethod {
        /// What was given.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// A method that does not suit the problem.
    #[error("`methods={method}` {reason}")]
    Unsuited {
        /// The method.
        method: String,
        /// Why, and which do.
        reason: String,
    },
    /// A method named twice.
    #[error("`methods={names}`: {name} is named twice; expected every name once")]
    Twice {
        /// All names.
        names: String,
        /// The one.
        name: String,
    },
    /// A method cannot be had with its settings.
    #[error("{method}: {reason}")]
    Settings {
        /// The method.
        method: &'static str,
        /// Why.
        reason: String,
    },
    /// No method finds the optimum.
    #[error("there is no optimum to compare with: phi has a kink and f is not affine")]
    NoOptimum,
    /// A long run has found no optimum.
    #[error(
        "no optimum was found to compare with ({0}): the objective may have no minimum; give a \
         `constraint`, or `l2`"
    )]
    OptimumNotFound(String),
    /// The number of repetitions is zero.
    #[error("no run was made; expected at least one of each method")]
    NoRun,
}

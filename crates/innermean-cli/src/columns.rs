//! The flags that say what the columns of a table are, shared by every command that reads one.
//!
//! A column is named by its header, else by the only header that differs in case alone, else by its number from 1. A command has a flag for each
//! role, such as `--group COLUMN`, with a default name, and these.

use clap::{Args, ValueEnum};
use innermean_data::{FeatureColumns, Missing};
use serde::Serialize;

/// Which columns are the features of a row.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct FeatureFlags {
    /// The columns of numbers that describe a row, with commas between them [default: all that have no other role]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    columns: Vec<String>,

    /// Columns that are not to describe a row, with commas between them
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', conflicts_with = "columns")]
    except: Vec<String>,

    #[command(flatten)]
    missing: MissingFlags,
}

/// What is done about gaps.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct MissingFlags {
    /// What to do about missing values in the file
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = MissingChoice::Error)]
    pub(crate) missing: MissingChoice,
}

/// [`Missing`] as a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MissingChoice {
    /// Refuse the file
    Error,
    /// Leave out every row that has one
    DropRows,
    /// Leave out every column that has one: an asset, a feature
    #[value(alias = "drop-assets")]
    DropColumns,
}

impl From<MissingChoice> for Missing {
    fn from(choice: MissingChoice) -> Self {
        match choice {
            MissingChoice::Error => Missing::Error,
            MissingChoice::DropRows => Missing::DropRows,
            MissingChoice::DropColumns => Missing::DropColumns,
        }
    }
}

impl FeatureFlags {
    /// The features for the reader; `except` are columns that have no role here and are no features either.
    pub(crate) fn features(&self, except: &[&str]) -> FeatureColumns {
        if self.columns.is_empty() {
            let except = self.except.iter().cloned().chain(except.iter().map(ToString::to_string)).collect();
            FeatureColumns::Others { except }
        } else {
            FeatureColumns::Named(self.columns.clone())
        }
    }

    /// A flag that was given, for what has no columns.
    pub(crate) fn given(&self) -> Option<&'static str> {
        [
            ("--columns", !self.columns.is_empty()),
            ("--except", !self.except.is_empty()),
            ("--missing", self.missing() != MissingChoice::Error),
        ]
        .into_iter()
        .find_map(|(flag, given)| given.then_some(flag))
    }

    /// What to do about missing values.
    pub(crate) fn missing(&self) -> MissingChoice {
        self.missing.missing
    }
}

//! The flags that say what the columns of a table are, shared by every command that reads one.
//!
//! A column is named by its header, else by the only header that differs in case alone, else by its
//! number from 1. A command has a flag for each role, such as `--group COLUMN`, with a default
//! name, and these.

use std::collections::HashSet;
use std::path::Path;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use innermean::RowData;
use innermean_data::{Ask, Columns, FeatureColumns, Frame, MappedFrame, Missing, ReadError};
use serde::Serialize;

use crate::flags::input::{limits, rows_where_they_are};

/// Which columns are the features of a row.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct FeatureFlags {
    /// The columns of numbers that describe a row, with commas between them [default: all that have
    /// no other role]
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
    /// The features for the reader; `except` are columns that have no role here and are no features
    /// either.
    pub(crate) fn features(&self, except: &[&str]) -> FeatureColumns {
        if self.columns.is_empty() {
            let except =
                self.except.iter().cloned().chain(except.iter().map(ToString::to_string)).collect();
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

    /// Reads a table, and its features where they are in the file if that is one of rows. Columns
    /// called like one of `labels` are never features: they hold what is to be found out. Where one
    /// would have been a feature, a note says that it is left out; where --columns asks for it, it
    /// is refused.
    pub(crate) fn read_rows(
        &self,
        file: &Path,
        columns: Columns,
        labels: &[String],
    ) -> Result<(Frame, RowData)> {
        let mut read = |columns: &Columns| {
            let missing = self.missing().into();
            let mapped = limits().map_frame(file, columns, missing)?;
            if let Some(MappedFrame { mut frame, features, ones: false, .. }) = mapped {
                let width = frame.feature_names.len();
                let rows = rows_where_they_are(features, width, &mut frame.notes);
                return Ok((frame, rows));
            }
            let mut frame = limits().read_frame(file, columns, missing)?;
            let features = std::mem::take(&mut frame.features);
            Ok((frame, features.into()))
        };
        let ((mut frame, features), others) = self.read_by(columns, labels, &mut read)?;
        self.leave_out(&mut frame, others, labels)?;
        Ok((frame, features))
    }

    /// Reads with columns of these names apart, and says how many there are before them.
    fn read_by<T>(
        &self,
        mut columns: Columns,
        labels: &[String],
        read: &mut dyn FnMut(&Columns) -> Result<T, ReadError>,
    ) -> Result<(T, usize)> {
        let others = columns.keys.len();
        let is_excepted =
            |name: &String| self.except.iter().any(|except| except.eq_ignore_ascii_case(name));
        // A text may be anything. A name of digits would be taken for the number of a column.
        let aside =
            labels.iter().filter(|name| name.parse::<usize>().is_err() && !is_excepted(name));
        columns.keys.extend(aside.map(|name| Ask::optional(name).or_blank()));
        loop {
            match read(&columns) {
                Err(ReadError::ColumnTwice { file, name }) => {
                    // It has a role already.
                    let same = |ask: &Ask| ask.name.eq_ignore_ascii_case(&name);
                    let Some(k) = columns.keys[others..].iter().position(same) else {
                        return Err(ReadError::ColumnTwice { file, name }.into());
                    };
                    columns.keys.remove(others + k);
                }
                read => return Ok((read?, others)),
            }
        }
    }

    /// Takes the columns apart that are called as labels are.
    fn leave_out(&self, frame: &mut Frame, others: usize, labels: &[String]) -> Result<()> {
        let is_label = |name: &&String| labels.iter().any(|label| label.eq_ignore_ascii_case(name));
        if let Some(name) = frame.feature_names.iter().find(is_label) {
            bail!(
                "{}: column '{name}' is called as labels are, which are never features; expected \
                 others by --columns, or --except {name}",
                frame.source
            );
        }
        let left_out: Vec<String> =
            frame.keys.drain(others..).flatten().map(|keys| format!("'{}'", keys.name)).collect();
        if !left_out.is_empty() && self.columns.is_empty() {
            frame.notes.push(format!(
                "Called as labels are, and so no features: {}.",
                left_out.join(", ")
            ));
        }
        Ok(())
    }
}

/// The columns of a file that are no features, which a model remembers: rows that it is applied to
/// may have them as well.
pub(crate) fn other_columns(frame: &Frame) -> Vec<String> {
    let features: HashSet<&String> = frame.feature_names.iter().collect();
    frame.columns.iter().filter(|name| !features.contains(name)).cloned().collect()
}

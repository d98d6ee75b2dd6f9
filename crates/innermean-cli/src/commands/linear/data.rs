//! Rows and targets, from whatever file they come.

use std::ffi::OsStr;
use std::path::Path;

use anyhow::{Result, bail};
use innermean_apps::linear::{LinearData, Loss, Rows, Target};
use innermean_apps::{Error, Place};
use innermean_data::{Ask, Columns, Dropped, Frame, Keys, MappedFrame, Missing, SparseTable};

use super::{ColumnFlags, Format, LinearArgs};
use crate::flags::columns::other_columns;
use crate::flags::input::{fits_into_memory, limits, rows_where_they_are};
use crate::flags::spelling::refused_at;
use crate::output::human::grouped;

/// What was read.
pub(super) struct Read {
    pub(super) data: LinearData,
    pub(super) origin: Origin,
    /// The fold of each row, where a column says so.
    pub(super) folds: Option<Keys>,
    /// The clusters of the rows, where there is a column of them.
    pub(super) clusters: Option<Keys>,
}

/// Where data come from, and what became of them on the way.
pub(super) struct Origin {
    pub(super) source: String,
    /// What the reader decided, in whole sentences.
    pub(super) notes: Vec<String>,
    pub(super) dropped: Dropped,
    /// Columns of the file that are no features.
    pub(super) other_columns: Vec<String>,
}

/// Numbers of 8 bytes that a column takes without an entry: its name, theta, gradients, what
/// methods remember.
pub(super) const OF_A_COLUMN: usize = 20;

impl Read {
    /// Reads a table or sparse rows.
    pub(super) fn file(file: &Path, args: &LinearArgs, loss: Loss) -> Result<Self> {
        let flags = &args.columns;
        let folds = &args.validation.fold_column;
        if file == Path::new("-") {
            bail!(
                "-: standard input is not read; expected the path of a file, or no FILE for \
                 generated rows"
            );
        }
        match format_of(file, flags.format)? {
            Format::Table => Self::of_frame(file, args, loss),
            Format::Libsvm => {
                let role = [
                    ("--target", &flags.target),
                    ("--weight", &flags.weight),
                    ("--fold-column", folds),
                    ("--cluster", &flags.cluster),
                ];
                let role =
                    role.into_iter().find_map(|(flag, given)| given.is_some().then_some(flag));
                if let Some(flag) = role.or(flags.features.given()) {
                    bail!(
                        "{flag}: {} holds sparse rows, whose columns have no names; expected the \
                         flag with a table",
                        file.display()
                    );
                }
                Self::sparse(limits().read_libsvm(file)?, loss)
            }
        }
    }

    fn of_frame(file: &Path, args: &LinearArgs, loss: Loss) -> Result<Self> {
        let flags: &ColumnFlags = &args.columns;
        let Some(target) = &flags.target else {
            bail!(
                "{}: --target COLUMN is missing; expected the column to be predicted, by name or \
                 number",
                file.display()
            );
        };
        // A row without a target is predicted.
        let asked = Ask::required(target.as_str()).or_blank();
        let (mut keys, mut numbers) =
            if loss.is_of_classes() { (vec![asked], vec![]) } else { (vec![], vec![asked]) };
        numbers.extend(flags.weight.as_deref().map(Ask::required));
        keys.extend(args.validation.fold_column.as_deref().map(Ask::required));
        keys.extend(flags.cluster.as_deref().map(Ask::required));
        let columns = Columns { keys, numbers, features: flags.features.features(&[]) };
        let (mut frame, rows) = rows_of(file, &columns, flags.features.missing().into())?;
        let clusters = flags.cluster.as_ref().and_then(|_| frame.keys.pop()).flatten();
        let mut numbers = std::mem::take(&mut frame.numbers).into_iter().flatten();
        let mut keys = std::mem::take(&mut frame.keys).into_iter().flatten();
        let classes = if loss.is_of_classes() { keys.next() } else { None };
        let target = match classes {
            Some(keys) => Target::of_texts(&keys, loss).map_err(|error| {
                refused_at(format!("{}, column {}", frame.source, keys.name), &error.into())
            })?,
            None => Target::Numbers(numbers.next().unwrap_or_default()),
        };
        let (weights, folds) = (numbers.next(), keys.next());
        let other_columns = other_columns(&frame);
        let names = std::mem::take(&mut frame.feature_names);
        let data = LinearData::new(names, rows, target)
            .and_then(|data| match weights {
                Some(weights) => data.weighted(weights),
                None => data.separated(),
            })
            .map_err(|error| refused_in(&frame, error))?;
        let Frame { source, notes, dropped, .. } = frame;
        let origin = Origin { source, notes, dropped, other_columns };
        Ok(Read { data, origin, folds, clusters })
    }

    /// Sparse rows.
    pub(super) fn sparse(mut table: SparseTable, loss: Loss) -> Result<Self> {
        let (source, notes) = (table.source.clone(), std::mem::take(&mut table.notes));
        let room = |d: usize| {
            let size = format!("{source}: {} columns", grouped(d as u64));
            fits_into_memory(&size, &[d, OF_A_COLUMN])
        };
        let data = LinearData::of_sparse(table, loss, room).map_err(|error| {
            match error.downcast::<Error>() {
                Ok(refused) => refused_at(&source, &refused),
                Err(error) => error,
            }
        })?;
        let (dropped, other_columns) = (Dropped::default(), Vec::new());
        let origin = Origin { source, notes, dropped, other_columns };
        Ok(Read { data, origin, folds: None, clusters: None })
    }
}

/// The columns of a table, and its features: where they are in the file if that is one of rows.
fn rows_of(file: &Path, columns: &Columns, missing: Missing) -> Result<(Frame, Rows)> {
    let Some(MappedFrame { mut frame, features, ones, .. }) =
        limits().map_frame(file, columns, missing)?
    else {
        let mut frame = limits().read_frame(file, columns, missing)?;
        let rows = Rows::dense(std::mem::take(&mut frame.features));
        return Ok((frame, rows));
    };
    let width = frame.feature_names.len() + usize::from(ones);
    let rows = rows_where_they_are(features, width, &mut frame.notes);
    Ok((frame, if ones { Rows::Wide(rows) } else { Rows::Dense(rows) }))
}

/// A refusal with its place in the file.
fn refused_in(frame: &Frame, error: Error) -> anyhow::Error {
    match error.place() {
        Some(Place::Row(row)) => refused_at(frame.place(row), &error),
        Some(_) => refused_at(&frame.source, &error),
        None => error.into(),
    }
}

impl Origin {
    /// What was left out because of missing values, in sentences.
    pub(super) fn dropped_notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.dropped.rows > 0 {
            notes.push(format!(
                "Rows left out because of missing values: {}.",
                grouped(self.dropped.rows as u64)
            ));
        }
        if !self.dropped.columns.is_empty() {
            notes.push(format!(
                "Features left out because of missing values: {}.",
                self.dropped.columns.join(", ")
            ));
        }
        notes
    }
}

/// What the file is: as said, or by its name, or by a look at it.
pub(crate) fn format_of(file: &Path, given: Option<Format>) -> Result<Format> {
    if let Some(format) = given {
        return Ok(format);
    }
    let name = file.to_string_lossy().to_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    Ok(match Path::new(name).extension().and_then(OsStr::to_str) {
        Some("svm" | "libsvm") => Format::Libsvm,
        Some("txt") if limits().looks_like_libsvm(file)? => Format::Libsvm,
        _ => Format::Table,
    })
}

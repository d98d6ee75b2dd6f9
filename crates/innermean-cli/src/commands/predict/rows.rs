//! The rows that a model is applied to.

use std::collections::HashSet;
use std::path::Path;

use anyhow::{Result, bail};
use innermean_apps::Error;
use innermean_apps::model::{Model, ModelError, ModelKind, NewRows};
use innermean_data::{
    Ask, Columns, FeatureColumns, Frame, Keys, OutColumn, ReadError, SparseTable,
};

use super::ColumnFlags;
use crate::commands::linear::{Format, format_of};
use crate::flags::input::limits;
use crate::flags::spelling::refused_at;
use crate::output::human::grouped;

/// Rows as they were read.
pub(super) struct Read {
    pub(super) source: String,
    pub(super) notes: Vec<String>,
    pub(super) ids: Option<Keys>,
    pub(super) groups: Option<Keys>,
    /// What each row counts in the mean of its group.
    pub(super) weights: Option<Vec<f64>>,
    rows: Rows,
}

enum Rows {
    Table(Box<Frame>),
    /// A table whose column of states is all that is needed.
    States(Box<Frame>, Keys),
    Sparse(Box<SparseTable>),
}

impl Read {
    /// Reads what the model needs of a file.
    pub(super) fn file(file: &Path, model: &Model, flags: &ColumnFlags) -> Result<Self> {
        if file == Path::new("-") {
            bail!("-: standard input is not read; expected the path of a file");
        }
        match format_of(file, flags.format)? {
            Format::Table => Self::table(file, model, flags),
            Format::Libsvm => {
                let given = [
                    ("--id-column", &flags.id_column),
                    ("--group", &flags.group),
                    ("--weight", &flags.weight),
                ];
                if let Some((flag, Some(column))) =
                    given.into_iter().find(|(_, given)| given.is_some())
                {
                    bail!("{flag} {column}: sparse rows have no such column; leave it out");
                }
                Self::sparse(file, model, flags.ignore_extra)
            }
        }
    }

    fn table(file: &Path, model: &Model, flags: &ColumnFlags) -> Result<Self> {
        let ColumnFlags { id_column, group, weight, .. } = flags;
        // One column may be both.
        let id_is_group = id_column.is_some() && id_column == group;
        let mut keys: Vec<Ask> = Vec::new();
        keys.extend(group.iter().map(Ask::required));
        keys.extend(id_column.iter().filter(|_| !id_is_group).map(Ask::required));
        let numbers: Vec<Ask> = weight.iter().map(Ask::required).collect();
        let by_rows = Columns {
            keys: keys.clone(),
            numbers: numbers.clone(),
            features: FeatureColumns::Named(model.features().to_vec()),
        };
        keys.push(Ask::required(&flags.state_column));
        let by_states = Columns { keys, numbers, ..Columns::default() };
        let policy = matches!(model.kind, ModelKind::Policy(_));
        let read = |columns: &Columns| limits().read_frame(file, columns, flags.missing.into());
        let (mut frame, states) = if policy && model.features().is_empty() {
            (read(&by_states)?, true)
        } else {
            match read(&by_rows) {
                // Known states need no features.
                Err(ReadError::UnknownColumn { .. }) if policy => match read(&by_states) {
                    Ok(frame) => (frame, true),
                    Err(_) => (read(&by_rows)?, false),
                },
                read => (read?, false),
            }
        };
        let mut found = std::mem::take(&mut frame.keys).into_iter();
        let groups = group.as_ref().and_then(|_| found.next().flatten());
        let ids = match id_column {
            Some(_) if id_is_group => groups.clone(),
            Some(_) => found.next().flatten(),
            None => None,
        };
        let weights = frame.numbers.pop().flatten();
        if let Some(weights) = &weights
            && let Some(row) = weights.iter().position(|weight| weight.is_nan() || *weight < 0.0)
        {
            bail!(
                "{}: the weight is {}; expected a number, 0 or above",
                frame.place(row),
                weights[row]
            );
        }
        let named = [&ids, &groups].into_iter().flatten().map(|keys| keys.name.as_str());
        let named = named.chain(weight.as_deref());
        let mut known: HashSet<String> = named.map(str::to_lowercase).collect();
        let mut notes = std::mem::take(&mut frame.notes);
        if frame.dropped.rows > 0 {
            let rows = grouped(frame.dropped.rows as u64);
            notes.push(format!("Rows left out because of missing values: {rows}."));
        }
        let rows = match found.next().flatten() {
            Some(keys) if states => {
                known.insert(keys.name.to_lowercase());
                known.extend(model.features().iter().map(|name| name.to_lowercase()));
                Rows::States(Box::new(frame), keys)
            }
            _ => {
                known.extend(frame.feature_names.iter().map(|name| name.to_lowercase()));
                Rows::Table(Box::new(frame))
            }
        };
        let (Rows::Table(frame) | Rows::States(frame, _)) = &rows else { unreachable!("a table") };
        known.extend(model.other_columns().iter().map(|name| name.to_lowercase()));
        let is_extra = |name: &&String| !known.contains(&name.to_lowercase());
        // A table of states may have anything else in it: what the model was fitted to is a log.
        let extra: Vec<String> = frame.columns.iter().filter(is_extra).cloned().collect();
        let (source, ignore) = (frame.source.clone(), flags.ignore_extra || states);
        refuse_extra(&source, model, extra, ignore, &mut notes)?;
        Ok(Read { source, notes, ids, groups, weights, rows })
    }

    fn sparse(file: &Path, model: &Model, ignore: bool) -> Result<Self> {
        let mut table = limits().read_libsvm(file)?;
        let known: HashSet<&str> = model.features().iter().map(String::as_str).collect();
        let mut extra: Vec<u32> = Vec::new();
        let mut looked_at = vec![false; table.d];
        for &column in &table.indices {
            if !std::mem::replace(&mut looked_at[column as usize], true) {
                let name = format!("x{}", column + table.first_index);
                if !known.contains(name.as_str()) {
                    extra.push(column + table.first_index);
                }
            }
        }
        extra.sort_unstable();
        let extra = extra.into_iter().map(|index| format!("x{index}")).collect();
        let mut notes = std::mem::take(&mut table.notes);
        refuse_extra(&table.source, model, extra, ignore, &mut notes)?;
        let source = table.source.clone();
        let rows = Rows::Sparse(Box::new(table));
        Ok(Read { source, notes, ids: None, groups: None, weights: None, rows })
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        match &self.rows {
            Rows::Table(frame) | Rows::States(frame, _) => frame.rows,
            Rows::Sparse(table) => table.rows(),
        }
    }

    /// The place of a row in its file, for messages.
    pub(super) fn place(&self, row: usize) -> String {
        match &self.rows {
            Rows::Table(frame) | Rows::States(frame, _) => frame.place(row),
            Rows::Sparse(_) => format!("{}, row {}", self.source, row + 1),
        }
    }

    /// In what rows are counted, and the number of each.
    pub(super) fn places(&self) -> (&'static str, Vec<u64>) {
        match &self.rows {
            Rows::Table(frame) | Rows::States(frame, _) if frame.rows > 0 => {
                (frame.line(0).0, (0..frame.rows).map(|row| frame.line(row).1 as u64).collect())
            }
            _ => ("row", (1..=self.len() as u64).collect()),
        }
    }

    /// The states that are valued, if they are looked up by name.
    pub(super) fn states(&self) -> Option<&Keys> {
        if let Rows::States(_, keys) = &self.rows { Some(keys) } else { None }
    }

    /// What the model says about them.
    pub(super) fn predict(&self, model: &Model) -> Result<Vec<(String, OutColumn)>, Error> {
        match &self.rows {
            Rows::Table(frame) => {
                let (names, values) = (&frame.feature_names[..], &frame.features[..]);
                model.predict(&NewRows::Dense { names, values })
            }
            Rows::States(_, keys) => model.values(keys),
            Rows::Sparse(table) => model.predict(&NewRows::Sparse(table)),
        }
    }
}

/// Unknown columns are refused, or left out with a note.
fn refuse_extra(
    source: &str,
    model: &Model,
    extra: Vec<String>,
    ignore: bool,
    notes: &mut Vec<String>,
) -> Result<()> {
    if extra.is_empty() {
        return Ok(());
    }
    if !ignore {
        let features = model.features().to_vec();
        return Err(refused_at(source, &ModelError::ExtraColumns { extra, features }.into()));
    }
    notes.push(format!("Columns left out that the model does not know: {}.", extra.join(", ")));
    Ok(())
}

//! The labels of groups: from a table of their own, or from the rows.

use std::path::Path;

use anyhow::{Result, bail};
use innermean_apps::bags::{GroupLabels, LabelWeights};
use innermean_apps::{Error, Place};
use innermean_data::{Ask, Columns, FeatureColumns, Frame, Keys, Missing};

use super::columns::ColumnFlags;
use crate::flags::input::limits;
use crate::flags::spelling::refused_at;

/// Labels as they were read.
pub(super) struct Labels {
    pub(super) labels: GroupLabels,
    /// The place of each in its file, for messages.
    places: Vec<String>,
}

impl Labels {
    /// The names that were given: `c2` in a table that begins with its first row is no name, and
    /// is another column in every such table.
    pub(super) fn names_given(&self) -> Vec<String> {
        let no_header = self
            .places
            .first()
            .is_some_and(|place| place.ends_with("line 1") || place.ends_with("row 1"));
        let counted = |name: &str| {
            name.strip_prefix('c').is_some_and(|number| number.parse::<usize>().is_ok())
        };
        let names = self.labels.names.iter();
        names.filter(|name| !(no_header && counted(name))).cloned().collect()
    }

    /// A refusal with its place in a file.
    pub(super) fn refused(&self, rows: &Frame, error: Error) -> anyhow::Error {
        match error.place() {
            Some(Place::Row(row)) => refused_at(rows.place(row), &error),
            Some(Place::Group(group)) => refused_at(&self.places[group], &error),
            Some(_) => {
                let place = self.places.first().map_or("", String::as_str);
                refused_at(place.split(", line").next().unwrap_or(place), &error)
            }
            None => error.into(),
        }
    }
}

impl ColumnFlags {
    /// The column with what a label counts, if there is one.
    pub(super) fn weight_column(&self) -> Option<&String> {
        self.label_weight.as_ref().or(self.label_variance.as_ref())
    }

    /// What labels count, where a column says so.
    fn label_weights(&self, column: Option<Vec<f64>>) -> LabelWeights {
        match column {
            Some(column) if self.label_variance.is_some() => LabelWeights::Variances(column),
            Some(column) => LabelWeights::Given(column),
            None if self.by_size => LabelWeights::Size,
            None => LabelWeights::Equal,
        }
    }

    /// The table of labels.
    pub(super) fn read_labels(&self, path: &Path, label_columns: &[String]) -> Result<Labels> {
        let features = if label_columns.is_empty() {
            FeatureColumns::Others { except: Vec::new() }
        } else {
            FeatureColumns::Named(label_columns.to_vec())
        };
        let columns = Columns {
            keys: vec![Ask::required(self.group[0].clone())],
            numbers: self.weight_column().into_iter().map(Ask::required).collect(),
            features,
        };
        let mut frame = limits().read_frame(path, &columns, Missing::Error)?;
        let Some(Some(keys)) = frame.keys.first() else {
            bail!("{}: no column of groups", frame.source)
        };
        let mut first = vec![None; keys.names.len()];
        for (row, &code) in keys.codes.iter().enumerate() {
            if let Some(before) = first[code as usize].replace(row) {
                bail!(
                    "{}: group '{}' has a label already, on {}; expected one line for each group",
                    frame.place(row),
                    keys.text(row),
                    line_of(&frame, before)
                );
            }
        }
        let places = (0..frame.rows).map(|row| frame.place(row)).collect();
        let groups = keys.names.clone();
        let weights = self.label_weights(frame.numbers.pop().flatten());
        let labels =
            GroupLabels { groups, names: frame.feature_names, values: frame.features, weights };
        Ok(Labels { labels, places })
    }

    /// Labels that are in every row, the same in all rows of a group, and their weights.
    pub(super) fn labels_in_rows(
        &self,
        frame: &Frame,
        groups: &Keys,
        names: &[String],
    ) -> Result<Labels> {
        let mut all = names.to_vec();
        all.extend(self.weight_column().cloned());
        let (mut values, places) = same_in_groups(frame, groups, &all)?;
        let weights = self.weight_column().map(|_| {
            let weights = values.iter().skip(names.len()).step_by(all.len()).copied().collect();
            values = values
                .chunks_exact(all.len())
                .flat_map(|own| &own[..names.len()])
                .copied()
                .collect();
            weights
        });
        let weights = self.label_weights(weights);
        let (names, groups) = (names.to_vec(), groups.names.clone());
        Ok(Labels { labels: GroupLabels { names, groups, values, weights }, places })
    }
}

/// The numbers of the first columns, which must be the same in all rows of a group: those of each
/// group, and where they stand.
fn same_in_groups(
    frame: &Frame,
    groups: &Keys,
    names: &[String],
) -> Result<(Vec<f64>, Vec<String>)> {
    let columns: Vec<&Vec<f64>> = frame.numbers.iter().take(names.len()).flatten().collect();
    let mut first: Vec<Option<usize>> = vec![None; groups.names.len()];
    let mut values = vec![0.0; names.len() * groups.names.len()];
    for (row, &group) in groups.codes.iter().enumerate() {
        let group = group as usize;
        let own = &mut values[group * names.len()..(group + 1) * names.len()];
        match first[group] {
            None => {
                first[group] = Some(row);
                own.iter_mut().zip(&columns).for_each(|(own, column)| *own = column[row]);
            }
            Some(before) => {
                if let Some(c) = (0..names.len()).find(|&c| columns[c][row] != own[c]) {
                    bail!(
                        "{}: group '{}' has the {} {} here and {} on {}; expected one label for all rows of a group (a label of single \
                         rows is given by --row-label)",
                        frame.place(row),
                        groups.names[group],
                        names[c],
                        columns[c][row],
                        own[c],
                        line_of(frame, before)
                    );
                }
            }
        }
    }
    let places =
        first.iter().map(|row| row.map_or(String::new(), |row| frame.place(row))).collect();
    Ok((values, places))
}

/// `line 17` of `file, line 17`.
fn line_of(frame: &Frame, row: usize) -> String {
    let (unit, number) = frame.line(row);
    format!("{unit} {number}")
}

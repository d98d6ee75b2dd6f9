//! Rows and the labels of their groups, from one table or two, or generated.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use innermean_apps::bags::{BagData, BagLink, GroupLabels};
use innermean_apps::{Error, Place};
use innermean_data::{
    Ask, Columns, FeatureColumns, Frame, GroupOptions, Keys, Missing, RowLabels, generate_groups,
};

use super::GeneratorFlags;
use crate::flags::columns::{FeatureFlags, other_columns};
use crate::flags::input::{fits_into_memory, limits};
use crate::flags::spelling::refused_at;
use crate::output::human::grouped;

/// What the columns are.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct ColumnFlags {
    /// The column with the group of each row, in ROWS and in the table of labels
    #[arg(long, value_name = "COLUMN", default_value = "group")]
    group: String,

    /// A table with one line for each group: the group and its label (or its class proportions, a
    /// column for each class)
    #[arg(long, value_name = "FILE", requires = "file")]
    labels: Option<PathBuf>,

    /// The column with the group's label, or several with commas between them for --link softmax:
    /// of the table of labels [default: all of its columns but the group's] or, without one, of
    /// ROWS, where it must be the same in all rows of a group [default: label]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', requires = "file")]
    label: Vec<String>,

    /// A column of ROWS with the true label of each row: 0 or 1, a class, a number. It is used for
    /// scores alone, never for the fit
    #[arg(long, value_name = "COLUMN", requires = "file")]
    row_label: Option<String>,

    #[command(flatten)]
    features: FeatureFlags,
}

/// What was read.
pub(crate) struct Read {
    pub(crate) data: BagData,
    /// The features of all rows.
    pub(crate) features: Vec<f64>,
    pub(crate) origin: Origin,
    /// The fold of each row, where a column says so.
    pub(crate) folds: Option<Keys>,
}

/// Where rows come from.
pub(crate) struct Origin {
    pub(crate) source: String,
    /// What the reader decided, in whole sentences.
    pub(crate) notes: Vec<String>,
    /// The file that the rows come from, for where they stand in it.
    frame: Option<Frame>,
    /// Columns of the file that are no features.
    pub(crate) other_columns: Vec<String>,
}

impl Origin {
    /// In what so many rows are counted, `line` or `row`, and the number of each.
    pub(crate) fn places(&self, rows: usize) -> (&'static str, Vec<u64>) {
        match &self.frame {
            None => ("row", (1..=rows as u64).collect()),
            Some(frame) => {
                (frame.line(0).0, (0..rows).map(|row| frame.line(row).1 as u64).collect())
            }
        }
    }
}

/// Labels as they were read.
struct Labels {
    labels: GroupLabels,
    /// Where each stands, for messages.
    places: Vec<String>,
}

impl Labels {
    /// The names that somebody gave: `c2` in a table that begins with its first row is no name, and
    /// is another column in every such table.
    fn names_given(&self) -> Vec<String> {
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
    fn refused(&self, rows: &Frame, error: Error) -> anyhow::Error {
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
    /// The table of labels.
    pub(crate) fn labels(&self) -> Option<&Path> {
        self.labels.as_deref()
    }

    /// Without a file there is nothing that these could name.
    pub(crate) fn refuse_without_file(&self) -> Result<()> {
        if self.group != "group" {
            bail!(
                "--group {}: there are no columns without ROWS; expected the path of a table before it",
                self.group
            );
        }
        if let Some(flag) = self.features.given() {
            bail!(
                "{flag}: there are no columns without ROWS; expected the path of a table before it"
            );
        }
        Ok(())
    }

    /// Reads the rows and the labels.
    pub(crate) fn read(&self, file: &Path, link: BagLink, folds: Option<&str>) -> Result<Read> {
        if file == Path::new("-") {
            bail!(
                "-: standard input is not read; expected the path of a file, or no ROWS for generated groups"
            );
        }
        let in_rows = self.labels.is_none();
        let label_columns = if self.label.is_empty() && in_rows {
            vec!["label".to_owned()]
        } else {
            self.label.clone()
        };
        if label_columns.len() > 1 && link != BagLink::Softmax {
            bail!(
                "--label {}: a group has one label with --link {}; expected one column, or --link softmax",
                label_columns.join(","),
                link
            );
        }
        let ask = |name: &String| Ask::required(name.clone());
        let mut columns = Columns {
            keys: vec![Ask::required(self.group.clone())],
            numbers: if in_rows { label_columns.iter().map(ask).collect() } else { Vec::new() },
            features: self.features.features(&[]),
        };
        // Texts whatever they are: a row without one is not scored.
        columns.keys.extend(self.row_label.as_ref().map(|name| ask(name).or_blank()));
        columns.keys.extend(folds.map(Ask::required));
        let of_groups =
            self.labels.as_ref().map(|path| self.read_labels(path, &label_columns)).transpose()?;
        // What stands in the table of labels may stand in the rows too.
        let aside = of_groups.as_ref().map_or(Vec::new(), Labels::names_given);
        let mut frame = self.features.read(file, columns, &aside)?;
        if frame.feature_names.is_empty() {
            bail!(
                "{}: no column is left for the features; expected at least one beside {}",
                frame.source,
                self.group
            );
        }
        let groups = frame.keys[0].take().unwrap_or_default();
        let labels = match of_groups {
            Some(labels) => labels,
            None => labels_in_rows(&frame, &groups, &label_columns)?,
        };
        let other_columns = other_columns(&frame);
        let names = std::mem::take(&mut frame.feature_names);
        let folds = folds.and_then(|_| frame.keys.pop().flatten());
        let row_labels = frame.keys.get(1).and_then(Option::as_ref);
        let data = BagData::new(names, &groups, labels.labels.clone(), link)
            .and_then(|data| match row_labels {
                None => Ok(data),
                Some(keys) => data.with_row_texts(keys, link),
            })
            .map_err(|error| labels.refused(&frame, error))?;
        let mut source = frame.source.clone();
        if let Some(path) = &self.labels {
            source = format!("{source}, labels of groups from {}", path.display());
        }
        let mut notes = std::mem::take(&mut frame.notes);
        if frame.dropped.rows > 0 {
            notes.push(format!(
                "Rows left out because of missing values: {}.",
                grouped(frame.dropped.rows as u64)
            ));
        }
        if !frame.dropped.columns.is_empty() {
            let columns = frame.dropped.columns.join(", ");
            notes.push(format!("Features left out because of missing values: {columns}."));
        }
        let features = std::mem::take(&mut frame.features);
        let origin = Origin { source, notes, frame: Some(frame), other_columns };
        Ok(Read { data, features, origin, folds })
    }

    /// The table of labels.
    fn read_labels(&self, path: &Path, label_columns: &[String]) -> Result<Labels> {
        let features = if label_columns.is_empty() {
            FeatureColumns::Others { except: Vec::new() }
        } else {
            FeatureColumns::Named(label_columns.to_vec())
        };
        let columns = Columns {
            keys: vec![Ask::required(self.group.clone())],
            numbers: Vec::new(),
            features,
        };
        let frame = limits().read_frame(path, &columns, Missing::Error)?;
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
        let labels = GroupLabels {
            groups: keys.names.clone(),
            names: frame.feature_names,
            values: frame.features,
        };
        Ok(Labels { labels, places })
    }
}

/// `line 17` of `file, line 17`.
fn line_of(frame: &Frame, row: usize) -> String {
    let (unit, number) = frame.line(row);
    format!("{unit} {number}")
}

/// Labels that stand in every row, the same in all rows of a group.
fn labels_in_rows(frame: &Frame, groups: &Keys, names: &[String]) -> Result<Labels> {
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
    let labels = GroupLabels { names: names.to_vec(), groups: groups.names.clone(), values };
    Ok(Labels { labels, places })
}

impl GeneratorFlags {
    /// Draws groups; their rows' labels are known too.
    pub(crate) fn data(&self, link: BagLink) -> Result<Read> {
        if let Some(classes) = self.classes
            && link != BagLink::Softmax
        {
            bail!("--classes {classes} does nothing with --link {link}; expected --link softmax");
        }
        let classes = self.classes.unwrap_or(3);
        let labels = match link {
            BagLink::Logistic => RowLabels::Binary,
            BagLink::Softmax => RowLabels::Classes(classes),
            BagLink::Identity => RowLabels::Real,
            BagLink::Exp => RowLabels::Counts,
        };
        let options = GroupOptions {
            groups: self.groups.unwrap_or(2000),
            rows: self.rows.unwrap_or((20, 80)),
            features: self.features.unwrap_or(30),
            labels,
            seed: self.data_seed.unwrap_or(1),
        };
        let (lo, hi) = options.rows;
        let GroupOptions { groups, features, .. } = options;
        let sizes = format!("--groups {groups}, --rows {lo}..{hi}, --features {features}");
        fits_into_memory(&sizes, &[groups, hi, features])?;
        let drawn = generate_groups(&options);
        let mut keys = Keys { codes: drawn.groups, ..Keys::default() };
        keys.names = (1..=options.groups).map(|i| format!("g{i}")).collect();
        let labels = GroupLabels {
            names: match labels {
                RowLabels::Classes(classes) => (1..=classes).map(|c| format!("class{c}")).collect(),
                _ => vec!["label".to_owned()],
            },
            groups: keys.names.clone(),
            values: drawn.group_labels,
        };
        let names = (1..=options.features).map(|l| format!("x{l}")).collect();
        let data = BagData::new(names, &keys, labels, link)?.with_row_labels(drawn.row_labels)?;
        let source = format!(
            "generated: {} groups of {lo} to {hi} rows, {} features, seed {}",
            grouped(options.groups as u64),
            options.features,
            options.seed
        );
        let (notes, other_columns) = (Vec::new(), Vec::new());
        let origin = Origin { source, notes, frame: None, other_columns };
        Ok(Read { data, features: drawn.rows, origin, folds: None })
    }
}

//! Rows and the labels of their groups, from one table or two.

use std::path::Path;

use anyhow::{Result, bail};
use innermean::RowData;
use innermean_apps::Error;
use innermean_apps::bags::{BagData, BagLink, Memberships};
use innermean_data::{Ask, Columns, Frame, Keys};

use super::columns::ColumnFlags;
use super::labels::Labels;
use crate::flags::columns::other_columns;
use crate::output::human::grouped;

/// What was read.
pub(crate) struct Read {
    pub(crate) data: BagData,
    /// The features of all rows.
    pub(crate) features: RowData,
    pub(crate) origin: Origin,
    /// The fold of each row, where a column says so.
    pub(crate) folds: Option<Keys>,
}

/// Where rows come from.
pub(crate) struct Origin {
    pub(crate) source: String,
    /// What the reader decided, in whole sentences.
    pub(crate) notes: Vec<String>,
    /// The file that the rows come from, for where they are in it.
    pub(super) frame: Option<Frame>,
    /// Columns of the file that are no features.
    pub(crate) other_columns: Vec<String>,
}

impl Origin {
    /// The unit in which rows are counted, `line` or `row`, and the number of each.
    pub(crate) fn places(&self, rows: usize) -> (&'static str, Vec<u64>) {
        match &self.frame {
            None => ("row", (1..=rows as u64).collect()),
            Some(frame) => {
                (frame.line(0).0, (0..rows).map(|row| frame.line(row).1 as u64).collect())
            }
        }
    }
}

/// Where the columns of texts stand among those that were read.
struct Texts {
    groups: Vec<Keys>,
    row_label: Option<Keys>,
    single_label: Option<Keys>,
    average_by: Vec<Keys>,
    folds: Option<Keys>,
}

impl ColumnFlags {
    /// Reads the rows and the labels.
    pub(crate) fn read(&self, file: &Path, link: BagLink, folds: Option<&str>) -> Result<Read> {
        let label_columns = self.label_columns(file, link)?;
        let of_groups =
            self.labels.as_ref().map(|path| self.read_labels(path, &label_columns)).transpose()?;
        // What is in the table of labels may be in the rows too.
        let mut aside = of_groups.as_ref().map_or(Vec::new(), Labels::names_given);
        aside.extend(of_groups.as_ref().and_then(|_| self.weight_column().cloned()));
        let columns = self.columns(of_groups.is_none().then_some(&label_columns), folds);
        let (mut frame, features) = self.features.read_rows(file, columns, &aside)?;
        if frame.feature_names.is_empty() {
            bail!(
                "{}: no column is left for the features; expected at least one beside {}",
                frame.source,
                self.group.join(", ")
            );
        }
        let weights = self.weight.as_ref().and_then(|_| frame.numbers.pop().flatten());
        let texts = self.texts(&mut frame, folds);
        let labels = match of_groups {
            Some(labels) => labels,
            None => self.labels_in_rows(&frame, &texts.groups[0], &label_columns)?,
        };
        let other_columns = other_columns(&frame);
        let names = std::mem::take(&mut frame.feature_names);
        let data = self
            .data(names, &texts, &labels, weights, link, &frame)
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
        let origin = Origin { source, notes, frame: Some(frame), other_columns };
        Ok(Read { data, features, origin, folds: texts.folds })
    }

    /// The columns of labels, if the flags go together.
    fn label_columns(&self, file: &Path, link: BagLink) -> Result<Vec<String>> {
        if file == Path::new("-") {
            bail!(
                "-: standard input is not read; expected the path of a file, or no ROWS for generated groups"
            );
        }
        if self.group_separator.as_ref().is_some_and(String::is_empty) {
            bail!("--group-separator '': is empty; expected what separates groups, such as ';'");
        }
        let in_rows = self.labels.is_none();
        if in_rows && self.may_overlap() {
            bail!(
                "--group {}: a row of several groups cannot have the label of each in one column; expected a table of labels by --labels",
                self.group.join(",")
            );
        }
        if in_rows && self.single_label.is_some() {
            bail!(
                "--single-label: the labels of groups are in the rows too; expected a table of labels by --labels"
            );
        }
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
        Ok(label_columns)
    }

    /// What is asked of the rows; `labels` are the columns of labels that they have.
    fn columns(&self, labels: Option<&Vec<String>>, folds: Option<&str>) -> Columns {
        let ask = |name: &String| Ask::required(name.clone());
        // Texts whatever they are: a row without one is of no group, is not scored.
        let blank = |name: &String| ask(name).or_blank();
        let of_group = |name: &String| {
            if self.may_overlap() || self.single_label.is_some() { blank(name) } else { ask(name) }
        };
        let mut keys: Vec<Ask> = self.group.iter().map(of_group).collect();
        keys.extend(self.row_label.as_ref().map(blank));
        keys.extend(self.single_label.as_ref().filter(|_| !self.is_scored_too()).map(blank));
        // A column may be averaged by whatever else it is.
        keys.extend(self.average_by.iter().filter(|name| !self.is_group(name)).map(blank));
        keys.extend(folds.map(Ask::required));
        let labels =
            labels.into_iter().flat_map(|labels| labels.iter().chain(self.weight_column()));
        let numbers = labels.chain(&self.weight).map(ask).collect();
        Columns { keys, numbers, features: self.features.features(&[]) }
    }

    fn is_group(&self, name: &String) -> bool {
        self.group.contains(name)
    }

    /// Whether --row-label and --single-label name the same column.
    fn is_scored_too(&self) -> bool {
        self.single_label.is_some() && self.single_label == self.row_label
    }

    /// The columns of texts, out of the frame.
    fn texts(&self, frame: &mut Frame, folds: Option<&str>) -> Texts {
        let mut keys = std::mem::take(&mut frame.keys).into_iter().map(Option::unwrap_or_default);
        let groups: Vec<Keys> = keys.by_ref().take(self.group.len()).collect();
        let row_label = self.row_label.as_ref().and_then(|_| keys.next());
        let single_label = match &self.single_label {
            Some(_) if self.is_scored_too() => row_label.clone(),
            single => single.as_ref().and_then(|_| keys.next()),
        };
        let of_group = |name| self.group.iter().position(|group| group == name);
        let average_by = self.average_by.iter().filter_map(|name| match of_group(name) {
            Some(k) => Some(groups[k].clone()),
            None => keys.next(),
        });
        let average_by = average_by.collect();
        Texts {
            row_label,
            single_label,
            average_by,
            folds: folds.and_then(|_| keys.next()),
            groups,
        }
    }

    /// Rows, groups and labels brought together.
    fn data(
        &self,
        names: Vec<String>,
        texts: &Texts,
        labels: &Labels,
        weights: Option<Vec<f64>>,
        link: BagLink,
        frame: &Frame,
    ) -> Result<BagData, Error> {
        let given = labels.labels.clone();
        let mut data = if self.may_overlap() || self.single_label.is_some() {
            let separator = self.group_separator.as_deref();
            let (groups, members) = Memberships::of_columns(&texts.groups, separator);
            BagData::of_members(names, &groups, members, given, link)?
        } else {
            BagData::new(names, &texts.groups[0], given, link)?
        };
        if let Some(weights) = weights {
            data = data.weighted(weights)?;
        }
        if let Some(keys) = &texts.single_label {
            let name = |row: usize| {
                let (unit, number) = frame.line(row);
                format!("{unit} {number}")
            };
            data = data.with_single_texts(keys, self.single_weight, link, name)?;
        }
        if let Some(keys) = &texts.row_label {
            data = data.with_row_texts(keys, link)?;
        }
        texts.average_by.iter().cloned().try_fold(data, BagData::averaged_by)
    }
}

//! Rows and the labels of their groups, from one table or two, or generated.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use innermean_data::{
    Ask, Columns, FeatureColumns, Frame, GroupOptions, Keys, Missing, RowLabels, generate_groups,
};

use super::{GeneratorFlags, LinkChoice};
use crate::flags::columns::{FeatureFlags, place_in_file};
use crate::flags::input::{fits_into_memory, limits};
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

/// Groups with their labels, and which rows are whose.
#[derive(Debug)]
pub(crate) struct Data {
    pub(crate) source: String,
    pub(crate) notes: Vec<String>,
    pub(crate) feature_names: Vec<String>,
    /// The names of the labels: one, or one for each class.
    pub(crate) label_names: Vec<String>,
    /// All groups of the rows, those without a label last.
    pub(crate) group_names: Vec<String>,
    /// How many of them have a label.
    pub(crate) labelled: usize,
    /// The group of each row.
    pub(crate) groups: Vec<u32>,
    /// Labels of the labelled groups, one for each name.
    pub(crate) labels: Vec<f64>,
    /// The true label of each row, for scores; a class by its place among the names.
    pub(crate) row_labels: Option<Vec<f64>>,
    /// The file that the rows come from, for where they stand in it.
    frame: Option<Frame>,
}

impl Data {
    /// In what the rows are counted, `line` or `row`, and the number of each.
    pub(crate) fn places(&self) -> (&'static str, Vec<u64>) {
        let rows = 0..self.groups.len();
        match &self.frame {
            None => ("row", rows.map(|row| row as u64 + 1).collect()),
            Some(frame) => (
                place_in_file(frame, 0).0,
                rows.map(|row| place_in_file(frame, row).1 as u64).collect(),
            ),
        }
    }
}

/// [`Data`] with the features of all rows.
pub(crate) struct Bagged {
    pub(crate) data: Data,
    pub(crate) features: Vec<f64>,
}

impl std::ops::Deref for Bagged {
    type Target = Data;
    fn deref(&self) -> &Data {
        &self.data
    }
}

/// Labels as they were read: a row of `width` numbers for each named group.
struct Labels {
    names: Vec<String>,
    groups: Vec<String>,
    values: Vec<f64>,
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
        self.names.iter().filter(|name| !(no_header && counted(name))).cloned().collect()
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
    pub(crate) fn read(&self, file: &Path, link: LinkChoice) -> Result<Bagged> {
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
        if label_columns.len() > 1 && link != LinkChoice::Softmax {
            bail!(
                "--label {}: a group has one label with --link {}; expected one column, or --link softmax",
                label_columns.join(","),
                link.name()
            );
        }
        let classes = link == LinkChoice::Softmax;
        let ask = |name: &String| Ask::required(name.clone());
        let mut columns = Columns {
            keys: vec![Ask::required(self.group.clone())],
            numbers: if in_rows { label_columns.iter().map(ask).collect() } else { Vec::new() },
            features: self.features.features(&[]),
        };
        // Texts whatever they are: a row without one is not scored.
        columns.keys.extend(self.row_label.as_ref().map(|name| ask(name).or_blank()));
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
        check_labels(&labels, link)?;
        let row_labels = match frame.keys.get(1).and_then(Option::as_ref) {
            None => None,
            Some(keys) if classes => Some(class_codes(keys, &labels, &frame)?),
            Some(keys) => Some(row_numbers(keys, link == LinkChoice::Logistic, &frame)?),
        };
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
        let mut data = matched(&groups, labels, notes)?;
        (data.source, data.row_labels) = (source, row_labels);
        data.feature_names = std::mem::take(&mut frame.feature_names);
        data.frame = Some(frame);
        Ok(Bagged { data, features })
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
        Ok(Labels {
            groups: keys.names.clone(),
            places: (0..frame.rows).map(|row| frame.place(row)).collect(),
            names: frame.feature_names,
            values: frame.features,
        })
    }
}

/// `line 17` of `file, line 17`.
fn line_of(frame: &Frame, row: usize) -> String {
    let (unit, number) = place_in_file(frame, row);
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
    Ok(Labels { names: names.to_vec(), groups: groups.names.clone(), values, places })
}

/// By how much the proportions of the classes may miss 1.
const SUM: f64 = 1e-6;

/// Refuses what no label can be.
fn check_labels(labels: &Labels, link: LinkChoice) -> Result<()> {
    let width = labels.names.len();
    let source =
        || labels.places.first().map_or("", |place| place.split(", line").next().unwrap_or(""));
    match link {
        LinkChoice::Softmax if width < 2 => bail!(
            "{}: {width} column of labels; expected a proportion for each of two or more classes, or --link logistic for one",
            source()
        ),
        LinkChoice::Softmax => {}
        _ if width != 1 => bail!(
            "{}: {width} columns beside the group's ({}); expected one, or its name by --label",
            source(),
            labels.names.join(", ")
        ),
        _ => {}
    }
    for (k, &value) in labels.values.iter().enumerate() {
        let (group, name) = (k / width, &labels.names[k % width]);
        let (place, group) = (&labels.places[group], &labels.groups[group]);
        let proportion = matches!(link, LinkChoice::Logistic | LinkChoice::Softmax);
        if proportion && !(0.0..=1.0).contains(&value) {
            let percent = labels.values.iter().all(|v| (0.0..=100.0).contains(v));
            let advice = if percent { " (percentages are to be divided by 100)" } else { "" };
            bail!(
                "{place}: group '{group}' has the {name} {value}; expected a proportion from 0 to 1{advice}"
            );
        }
        if link == LinkChoice::Exp && value < 0.0 {
            bail!("{place}: group '{group}' has the {name} {value}; expected a count, 0 or above");
        }
    }
    if link == LinkChoice::Softmax {
        for (row, (place, group)) in
            labels.values.chunks_exact(width).zip(labels.places.iter().zip(&labels.groups))
        {
            let total: f64 = row.iter().sum();
            if (total - 1.0).abs() > SUM {
                bail!("{place}: the proportions of group '{group}' sum to {total}; expected 1");
            }
        }
    }
    Ok(())
}

/// Each row's class by its place among the labels' names, NaN where there is none.
fn class_codes(keys: &Keys, labels: &Labels, frame: &Frame) -> Result<Vec<f64>> {
    let mut codes = Vec::new();
    for (code, name) in keys.names.iter().enumerate() {
        if name.is_empty() {
            codes.push(f64::NAN);
            continue;
        }
        let Some(class) = labels.names.iter().position(|label| label == name) else {
            let row = keys.codes.iter().position(|&c| c as usize == code).unwrap_or(0);
            bail!(
                "{}: the {} '{name}' is none of the classes; expected one of {}",
                frame.place(row),
                keys.name,
                labels.names.join(", ")
            );
        };
        codes.push(class as f64);
    }
    Ok(keys.codes.iter().map(|&code| codes[code as usize]).collect())
}

/// The labels of rows as numbers, NaN where there is none.
fn row_numbers(keys: &Keys, binary: bool, frame: &Frame) -> Result<Vec<f64>> {
    let number = |text: &String| match text.parse::<f64>() {
        _ if text.is_empty() => Some(f64::NAN),
        Ok(y) if y.is_finite() && (!binary || y == 0.0 || y == 1.0) => Some(y),
        _ => None,
    };
    let numbers: Vec<Option<f64>> = keys.names.iter().map(number).collect();
    if let Some(row) = keys.codes.iter().position(|&code| numbers[code as usize].is_none()) {
        let expected = if binary { "0 or 1" } else { "a number" };
        bail!(
            "{}: the {} is '{}'; expected {expected}",
            frame.place(row),
            keys.name,
            keys.text(row)
        );
    }
    Ok(keys.codes.iter().map(|&code| numbers[code as usize].unwrap_or(f64::NAN)).collect())
}

/// Brings rows and labels together; what is on one side alone is left out of the fit, and said so.
fn matched(groups: &Keys, labels: Labels, mut notes: Vec<String>) -> Result<Data> {
    let width = labels.names.len();
    let place: HashMap<&str, usize> =
        labels.groups.iter().enumerate().map(|(k, name)| (name.as_str(), k)).collect();
    let (mut renumbered, mut group_names, mut values) =
        (vec![u32::MAX; groups.names.len()], Vec::new(), Vec::new());
    for (code, name) in groups.names.iter().enumerate() {
        if let Some(&k) = place.get(name.as_str()) {
            renumbered[code] = group_names.len() as u32;
            group_names.push(name.clone());
            values.extend_from_slice(&labels.values[k * width..(k + 1) * width]);
        }
    }
    let labelled = group_names.len();
    if labelled == 0 {
        bail!(
            "none of the {} groups of the rows, such as '{}', is among those with a label, such as '{}'; expected the same names in both",
            grouped(groups.names.len() as u64),
            groups.names[0],
            labels.groups[0]
        );
    }
    for (code, name) in groups.names.iter().enumerate() {
        if renumbered[code] == u32::MAX {
            renumbered[code] = group_names.len() as u32;
            group_names.push(name.clone());
        }
    }
    let codes: Vec<u32> = groups.codes.iter().map(|&code| renumbered[code as usize]).collect();
    let without = group_names.len() - labelled;
    if without > 0 {
        let rows = codes.iter().filter(|&&code| code as usize >= labelled).count();
        notes.push(format!(
            "Groups without a label: {}, such as '{}'. Their {} rows take no part in the fit; --predictions has them too.",
            grouped(without as u64),
            group_names[labelled],
            grouped(rows as u64)
        ));
    }
    let known: std::collections::HashSet<&str> = groups.names.iter().map(String::as_str).collect();
    let empty: Vec<&String> =
        labels.groups.iter().filter(|name| !known.contains(name.as_str())).collect();
    if let Some(name) = empty.first() {
        notes.push(format!(
            "Labels of groups without rows left out: {}, such as '{name}'.",
            grouped(empty.len() as u64)
        ));
    }
    Ok(Data {
        source: String::new(),
        notes,
        feature_names: Vec::new(),
        label_names: labels.names,
        group_names,
        labelled,
        groups: codes,
        labels: values,
        row_labels: None,
        frame: None,
    })
}

impl GeneratorFlags {
    /// Draws groups; their rows' labels are known too.
    pub(crate) fn data(&self, link: LinkChoice) -> Result<Bagged> {
        if let Some(classes) = self.classes
            && link != LinkChoice::Softmax
        {
            bail!(
                "--classes {classes} does nothing with --link {}; expected --link softmax",
                link.name()
            );
        }
        let classes = self.classes.unwrap_or(3);
        let labels = match link {
            LinkChoice::Logistic => RowLabels::Binary,
            LinkChoice::Softmax => RowLabels::Classes(classes),
            LinkChoice::Identity => RowLabels::Real,
            LinkChoice::Exp => RowLabels::Counts,
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
        let data = Data {
            source: format!(
                "generated: {} groups of {lo} to {hi} rows, {} features, seed {}",
                grouped(options.groups as u64),
                options.features,
                options.seed
            ),
            notes: Vec::new(),
            feature_names: (1..=options.features).map(|l| format!("x{l}")).collect(),
            label_names: match labels {
                RowLabels::Classes(classes) => (1..=classes).map(|c| format!("class{c}")).collect(),
                _ => vec!["label".to_owned()],
            },
            group_names: (1..=options.groups).map(|i| format!("g{i}")).collect(),
            labelled: options.groups,
            groups: drawn.groups,
            labels: drawn.group_labels,
            row_labels: Some(drawn.row_labels),
            frame: None,
        };
        Ok(Bagged { data, features: drawn.rows })
    }
}

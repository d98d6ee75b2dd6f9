//! Groups with their labels, and which rows belong to which.

use std::collections::{HashMap, HashSet};

use innermean_data::Keys;

use super::{BagLink, BagLoss};
use crate::error::{Error, Place, same_length};
use crate::validation::{Folds, ValidationError};
use crate::wording::Note;
use crate::wording::numbers::grouped;

/// Groups with their labels, and which rows belong to which. The features of the rows are apart.
#[derive(Debug, Clone)]
pub struct BagData {
    pub(super) feature_names: Vec<String>,
    /// One, or one for each class.
    pub(super) label_names: Vec<String>,
    /// Those without a label last.
    pub(super) group_names: Vec<String>,
    pub(super) labelled: usize,
    /// The group of each row.
    pub(super) groups: Vec<u32>,
    /// Of the labelled groups, one for each name.
    pub(super) labels: Vec<f64>,
    pub(super) row_labels: Option<Vec<f64>>,
    notes: Vec<Note>,
}

/// The labels of groups: a row of numbers, one for each name, for each group.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupLabels {
    /// The names of the labels: one, or one for each class.
    pub names: Vec<String>,
    /// The groups, in any order.
    pub groups: Vec<String>,
    /// Their labels.
    pub values: Vec<f64>,
}

/// Why groups or labels are refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BagsError {
    /// A loss that does not go with the link.
    #[error("`loss={loss}`: does not go with `link={link}`; expected {expected}")]
    OtherLoss {
        /// The loss.
        loss: BagLoss,
        /// The link.
        link: BagLink,
        /// Losses that do.
        expected: String,
    },
    /// One class alone.
    #[error(
        "{0} column of labels; expected a proportion for each of two or more classes, or `link=logistic` for one"
    )]
    OneClass(usize),
    /// Several labels for a link that takes one.
    #[error("{} columns beside the group's ({}); expected one, or its name by `label`", .0.len(), .0.join(", "))]
    SeveralLabels(Vec<String>),
    /// A label that is not a proportion.
    #[error(
        "group '{group}' has the {name} {value}; expected a proportion from 0 to 1{}",
        if *.percent { " (percentages are to be divided by 100)" } else { "" }
    )]
    NotAProportion {
        /// The place of the group among the labels.
        at: usize,
        /// Its name.
        group: String,
        /// The name of the label.
        name: String,
        /// What it is.
        value: f64,
        /// Whether all labels could be percentages.
        percent: bool,
    },
    /// A negative count.
    #[error("group '{group}' has the {name} {value}; expected a count, 0 or above")]
    NotACount {
        /// The place of the group among the labels.
        at: usize,
        /// Its name.
        group: String,
        /// The name of the label.
        name: String,
        /// What it is.
        value: f64,
    },
    /// Proportions that do not sum to 1.
    #[error("the proportions of group '{group}' sum to {total}; expected 1")]
    Sum {
        /// The place of the group among the labels.
        at: usize,
        /// Its name.
        group: String,
        /// The sum.
        total: f64,
    },
    /// No group has both rows and a label.
    #[error(
        "none of the {} groups of the rows, such as '{of_rows}', is among those with a label, such as '{of_labels}'; expected the same names in both",
        grouped(*.groups as u64)
    )]
    NothingInCommon {
        /// How many groups the rows have.
        groups: usize,
        /// One of them.
        of_rows: String,
        /// One of those with a label.
        of_labels: String,
    },
    /// The label of a row is not a class.
    #[error("the {column} '{value}' is none of the classes; expected one of {}", .classes.join(", "))]
    NotAClass {
        /// The row.
        row: usize,
        /// The column of labels.
        column: String,
        /// The label.
        value: String,
        /// The classes.
        classes: Vec<String>,
    },
    /// The label of a row is not a number that it could be.
    #[error("the {column} is '{value}'; expected {expected}")]
    NotARowLabel {
        /// The row.
        row: usize,
        /// The column of labels.
        column: String,
        /// The label.
        value: String,
        /// What it could be.
        expected: &'static str,
    },
}

impl BagsError {
    pub(crate) fn place(&self) -> Option<Place> {
        match *self {
            BagsError::OneClass(_) | BagsError::SeveralLabels(_) => Some(Place::Data),
            BagsError::NotAProportion { at, .. }
            | BagsError::NotACount { at, .. }
            | BagsError::Sum { at, .. } => Some(Place::Group(at)),
            BagsError::NotAClass { row, .. } | BagsError::NotARowLabel { row, .. } => {
                Some(Place::Row(row))
            }
            BagsError::OtherLoss { .. } | BagsError::NothingInCommon { .. } => None,
        }
    }
}

/// By how much the proportions of the classes may miss 1.
const SUM: f64 = 1e-6;

impl GroupLabels {
    /// Whether these can be the labels of a link.
    ///
    /// # Errors
    /// If there are too many or too few of a group, or a value is out of its range.
    pub fn check(&self, link: BagLink) -> Result<(), Error> {
        let width = self.names.len();
        same_length("labels of groups", self.values.len(), width * self.groups.len())?;
        match link {
            BagLink::Softmax if width < 2 => return Err(BagsError::OneClass(width).into()),
            BagLink::Softmax => {}
            _ if width != 1 => return Err(BagsError::SeveralLabels(self.names.clone()).into()),
            _ => {}
        }
        for (k, &value) in self.values.iter().enumerate() {
            let (at, name) = (k / width, self.names[k % width].clone());
            let group = || self.groups[at].clone();
            if link.is_of_proportions() && !(0.0..=1.0).contains(&value) {
                let percent = self.values.iter().all(|v| (0.0..=100.0).contains(v));
                let group = group();
                return Err(BagsError::NotAProportion { at, group, name, value, percent }.into());
            }
            if link == BagLink::Exp && value < 0.0 {
                return Err(BagsError::NotACount { at, group: group(), name, value }.into());
            }
        }
        if link == BagLink::Softmax {
            for (at, (row, group)) in self.values.chunks_exact(width).zip(&self.groups).enumerate()
            {
                let total: f64 = row.iter().sum();
                if (total - 1.0).abs() > SUM {
                    return Err(BagsError::Sum { at, group: group.clone(), total }.into());
                }
            }
        }
        Ok(())
    }
}

impl BagData {
    /// Brings the groups of rows and the labels of groups together; what is on one side alone is
    /// left out of the fit, and said so in [`notes`](Self::notes).
    ///
    /// # Errors
    /// If the labels cannot be those of the link, or no group has both rows and a label.
    pub fn new(
        feature_names: Vec<String>,
        groups: &Keys,
        labels: GroupLabels,
        link: BagLink,
    ) -> Result<Self, Error> {
        labels.check(link)?;
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
            let first = |names: &[String]| names.first().cloned().unwrap_or_default();
            return Err(BagsError::NothingInCommon {
                groups: groups.names.len(),
                of_rows: first(&groups.names),
                of_labels: first(&labels.groups),
            }
            .into());
        }
        for (code, name) in groups.names.iter().enumerate() {
            if renumbered[code] == u32::MAX {
                renumbered[code] = group_names.len() as u32;
                group_names.push(name.clone());
            }
        }
        let codes: Vec<u32> = groups.codes.iter().map(|&code| renumbered[code as usize]).collect();
        let mut notes = Vec::new();
        if group_names.len() > labelled {
            notes.push(Note::Unlabelled {
                groups: group_names.len() - labelled,
                example: group_names[labelled].clone(),
                rows: codes.iter().filter(|&&code| code as usize >= labelled).count(),
            });
        }
        let known: HashSet<&str> = groups.names.iter().map(String::as_str).collect();
        let empty: Vec<&String> =
            labels.groups.iter().filter(|name| !known.contains(name.as_str())).collect();
        if let Some(name) = empty.first() {
            notes.push(Note::WithoutRows { groups: empty.len(), example: (*name).clone() });
        }
        Ok(BagData {
            feature_names,
            label_names: labels.names,
            group_names,
            labelled,
            groups: codes,
            labels: values,
            row_labels: None,
            notes,
        })
    }

    /// The same with the true labels of rows, which score the fit and take no part in it: a class by
    /// its place among the names of labels, NaN for a row without one.
    ///
    /// # Errors
    /// If there are not as many as rows.
    pub fn with_row_labels(mut self, labels: Vec<f64>) -> Result<Self, Error> {
        same_length("labels of rows", labels.len(), self.groups.len())?;
        self.row_labels = Some(labels);
        Ok(self)
    }

    /// The same with the true labels of rows as texts; an empty one is none.
    ///
    /// # Errors
    /// If a text is not what a label of the link can be.
    pub fn with_row_texts(self, keys: &Keys, link: BagLink) -> Result<Self, Error> {
        let labels = if link == BagLink::Softmax {
            class_codes(keys, &self.label_names)?
        } else {
            row_numbers(keys, link == BagLink::Logistic)?
        };
        self.with_row_labels(labels)
    }

    /// The names of the features.
    pub fn feature_names(&self) -> &[String] {
        &self.feature_names
    }

    /// The names of the labels: one, or one for each class.
    pub fn label_names(&self) -> &[String] {
        &self.label_names
    }

    /// All groups of the rows, those without a label last.
    pub fn group_names(&self) -> &[String] {
        &self.group_names
    }

    /// The group of each row.
    pub fn groups(&self) -> &[u32] {
        &self.groups
    }

    /// So many folds of the labelled groups, drawn by the seed.
    ///
    /// # Errors
    /// If there are fewer groups than folds.
    pub fn folds(&self, folds: usize, seed: u64) -> Result<Folds, Error> {
        Folds::draw(&vec![0; self.labelled], folds, seed)
    }

    /// The folds of the labelled groups, by a text for each row.
    ///
    /// # Errors
    /// If rows of a group are in two folds, or there is one fold alone.
    pub fn folds_of(&self, keys: &Keys) -> Result<Folds, Error> {
        same_length("folds of rows", keys.codes.len(), self.groups.len())?;
        let mut folds: Vec<Option<u32>> = vec![None; self.group_names.len()];
        for (&group, &fold) in self.groups.iter().zip(&keys.codes) {
            let known = folds[group as usize].get_or_insert(fold);
            if *known != fold {
                let name = self.group_names[group as usize].clone();
                return Err(ValidationError::Divided(name).into());
            }
        }
        let labelled: Vec<u32> = folds[..self.labelled].iter().flatten().copied().collect();
        Folds::of_codes(&labelled)
    }

    /// How many groups have a label.
    pub fn labelled(&self) -> usize {
        self.labelled
    }

    /// The labels of these groups, one for each name.
    pub fn labels(&self) -> &[f64] {
        &self.labels
    }

    /// Some of the labelled groups, with their rows of these features.
    pub(crate) fn subset(&self, features: &[f64], groups: &[usize]) -> (Self, Vec<f64>) {
        let (width, ell) = (self.feature_names.len(), self.label_names.len());
        let mut renumbered = vec![u32::MAX; self.group_names.len()];
        groups.iter().enumerate().for_each(|(new, &old)| renumbered[old] = new as u32);
        let (mut codes, mut rows) = (Vec::new(), Vec::new());
        for (row, &code) in self.groups.iter().enumerate() {
            if renumbered[code as usize] != u32::MAX {
                codes.push(renumbered[code as usize]);
                rows.extend_from_slice(&features[row * width..(row + 1) * width]);
            }
        }
        let labels = groups.iter().flat_map(|&i| &self.labels[i * ell..(i + 1) * ell]).copied();
        let subset = BagData {
            feature_names: self.feature_names.clone(),
            label_names: self.label_names.clone(),
            group_names: groups.iter().map(|&i| self.group_names[i].clone()).collect(),
            labelled: groups.len(),
            groups: codes,
            labels: labels.collect(),
            row_labels: None,
            notes: Vec::new(),
        };
        (subset, rows)
    }

    /// Whether the true labels of rows are known.
    pub fn has_row_labels(&self) -> bool {
        self.row_labels.is_some()
    }

    /// What was left out.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }
}

/// Each row's class by its place among the classes, NaN where there is none.
fn class_codes(keys: &Keys, classes: &[String]) -> Result<Vec<f64>, BagsError> {
    let mut codes = Vec::new();
    for (code, name) in keys.names.iter().enumerate() {
        if name.is_empty() {
            codes.push(f64::NAN);
            continue;
        }
        let Some(class) = classes.iter().position(|label| label == name) else {
            return Err(BagsError::NotAClass {
                row: keys.codes.iter().position(|&c| c as usize == code).unwrap_or(0),
                column: keys.name.clone(),
                value: name.clone(),
                classes: classes.to_vec(),
            });
        };
        codes.push(class as f64);
    }
    Ok(keys.codes.iter().map(|&code| codes[code as usize]).collect())
}

/// The labels of rows as numbers, NaN where there is none.
fn row_numbers(keys: &Keys, binary: bool) -> Result<Vec<f64>, BagsError> {
    let number = |text: &String| match text.parse::<f64>() {
        _ if text.is_empty() => Some(f64::NAN),
        Ok(y) if y.is_finite() && (!binary || y == 0.0 || y == 1.0) => Some(y),
        _ => None,
    };
    let numbers: Vec<Option<f64>> = keys.names.iter().map(number).collect();
    if let Some(row) = keys.codes.iter().position(|&code| numbers[code as usize].is_none()) {
        return Err(BagsError::NotARowLabel {
            row,
            column: keys.name.clone(),
            value: keys.text(row).to_owned(),
            expected: if binary { "0 or 1" } else { "a number" },
        });
    }
    Ok(keys.codes.iter().map(|&code| numbers[code as usize].unwrap_or(f64::NAN)).collect())
}

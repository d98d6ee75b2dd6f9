//! Groups with their labels, and which rows belong to which.

use std::collections::{HashMap, HashSet};

use innermean_data::Keys;

use super::texts::{class_codes, row_numbers};
use super::{BagLink, BagsError, GroupLabels, LabelWeights, Memberships};
use crate::error::{Error, same_length};
use crate::validation::{Folds, ValidationError};
use crate::wording::Note;

/// Groups with their labels, and which rows belong to which. The features of the rows are apart.
#[derive(Debug, Clone)]
pub struct BagData {
    pub(super) feature_names: Vec<String>,
    /// One, or one for each class.
    pub(super) label_names: Vec<String>,
    /// Those that are fitted first, then those whose label is held out, then those without one.
    pub(super) group_names: Vec<String>,
    /// How many are fitted.
    pub(super) labelled: usize,
    /// How many of these, the last, are single rows with a label of their own.
    pub(super) singles: usize,
    /// How many have a label that is held out.
    pub(super) held_out: usize,
    /// The groups of each row.
    pub(super) members: Memberships,
    /// Of the groups that are fitted or held out, one for each name.
    labels: Vec<f64>,
    /// Of the groups that are fitted, where they differ.
    pub(super) weights: Option<Vec<f64>>,
    /// Whether groups count by their size.
    pub(super) by_size: bool,
    /// Of the rows, where they differ.
    pub(super) row_weights: Option<Vec<f64>>,
    pub(super) row_labels: Option<Vec<f64>>,
    /// Columns by whose texts predictions are averaged.
    pub(super) averaged_by: Vec<Keys>,
    notes: Vec<Note>,
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
        let members = Memberships::of_keys(groups);
        Self::of_members(feature_names, &groups.names, members, labels, link)
    }

    /// The same with rows that belong to any number of groups, of these names.
    ///
    /// # Errors
    /// As [`BagData::new`].
    pub fn of_members(
        feature_names: Vec<String>,
        names: &[String],
        members: Memberships,
        labels: GroupLabels,
        link: BagLink,
    ) -> Result<Self, Error> {
        labels.check(link)?;
        let width = labels.names.len();
        let place: HashMap<&str, usize> =
            labels.groups.iter().enumerate().map(|(k, name)| (name.as_str(), k)).collect();
        let label_of = |name: &String| place.get(name.as_str()).copied();
        let weight_of = |name: &String| label_of(name).and_then(|k| labels.weight(k));
        // Fitted, held out, without a label.
        let kind = |name: &String| match (label_of(name), weight_of(name)) {
            (None, _) => 2,
            (Some(_), Some(0.0)) => 1,
            _ => 0,
        };
        let mut renumbered = vec![u32::MAX; names.len()];
        let (mut group_names, mut values, mut counts) = (Vec::new(), Vec::new(), [0; 3]);
        for (wanted, count) in counts.iter_mut().enumerate() {
            for (code, name) in names.iter().enumerate().filter(|(_, name)| kind(name) == wanted) {
                renumbered[code] = group_names.len() as u32;
                group_names.push(name.clone());
                let own = label_of(name).map_or(0..0, |k| k * width..(k + 1) * width);
                values.extend_from_slice(&labels.values[own]);
                *count += 1;
            }
        }
        let [labelled, held_out, unlabelled] = counts;
        if labelled == 0 {
            let first = |names: &[String]| names.first().cloned().unwrap_or_default();
            return Err(BagsError::NothingInCommon {
                groups: names.len(),
                of_rows: first(names),
                of_labels: first(&labels.groups),
            }
            .into());
        }
        let weights: Option<Vec<f64>> = group_names[..labelled].iter().map(weight_of).collect();
        let members = members.renumbered(|code| renumbered[code as usize]);
        let mut notes = Vec::new();
        if unlabelled > 0 {
            let first = labelled + held_out;
            let is_none = |row: &&usize| {
                let own = members.of(**row);
                !own.is_empty() && own.iter().all(|&code| code as usize >= first)
            };
            let rows = (0..members.rows()).collect::<Vec<_>>().iter().filter(is_none).count();
            let example = group_names[first].clone();
            notes.push(Note::Unlabelled { groups: unlabelled, example, rows });
        }
        if held_out > 0 {
            let example = group_names[labelled].clone();
            notes.push(Note::HeldOutGroups { groups: held_out, example });
        }
        let known: HashSet<&str> = names.iter().map(String::as_str).collect();
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
            singles: 0,
            held_out,
            members,
            labels: values,
            weights,
            by_size: labels.weights == LabelWeights::Size,
            row_weights: None,
            row_labels: None,
            averaged_by: Vec::new(),
            notes,
        })
    }

    /// The same with a weight for each row: the average of a group becomes the weighted one, of
    /// which only the ratios within a group matter. A row of weight 0 takes no part in the fit; its
    /// label, if it is known, is scored apart.
    ///
    /// # Errors
    /// If a weight is negative or not finite, or all rows of a group with a label have none.
    pub fn weighted(mut self, weights: Vec<f64>) -> Result<Self, Error> {
        same_length("weights of rows", weights.len(), self.members.rows())?;
        if let Some(row) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
            return Err(BagsError::RowWeight { row, weight: weights[row] }.into());
        }
        let mut totals = vec![0.0; self.group_names.len()];
        for (row, weight) in weights.iter().enumerate() {
            self.members.of(row).iter().for_each(|&group| totals[group as usize] += weight);
        }
        if let Some(i) = totals[..self.labelled].iter().position(|total| *total == 0.0) {
            return Err(BagsError::WeightlessGroup(self.group_names[i].clone()).into());
        }
        let none = weights.iter().filter(|weight| **weight == 0.0).count();
        if none > 0 {
            self.notes.push(Note::NoWeight(none));
        }
        self.row_weights = Some(weights);
        Ok(self)
    }

    /// The same with labels of single rows that are fitted: a row that has one (not NaN; a class by
    /// its place among the names of labels) becomes a group of its own, beside the groups that it
    /// belongs to, which counts `weight` times as much as one of them. Rows of weight 0 are left
    /// out, so that weights are given first; `name` says what the group of a row is called.
    ///
    /// # Errors
    /// If there are not as many as rows, or one cannot be a label of the link.
    pub fn with_single_labels(
        mut self,
        column: &str,
        labels: &[f64],
        weight: f64,
        link: BagLink,
        name: impl Fn(usize) -> String,
    ) -> Result<Self, Error> {
        same_length("labels of rows", labels.len(), self.members.rows())?;
        let is_one = |row: &usize| !labels[*row].is_nan() && self.row_weight(*row) > 0.0;
        let rows: Vec<usize> = (0..labels.len()).filter(is_one).collect();
        let expected = match link {
            BagLink::Logistic => "a proportion from 0 to 1",
            BagLink::Exp => "a count, 0 or above",
            _ => "a number",
        };
        for &row in &rows {
            let value = labels[row];
            let fits = match link {
                BagLink::Logistic => (0.0..=1.0).contains(&value),
                BagLink::Exp => value >= 0.0 && value.is_finite(),
                _ => value.is_finite(),
            };
            if !fits {
                let column = column.to_owned();
                return Err(BagsError::SingleLabel { row, column, value, expected }.into());
            }
        }
        let (ell, first) = (self.label_names.len(), self.labelled);
        self.group_names.splice(first..first, rows.iter().map(|&row| name(row)));
        let values = rows.iter().flat_map(|&row| {
            let class = labels[row];
            (0..ell).map(move |c| if ell == 1 { class } else { f64::from(c as f64 == class) })
        });
        let values: Vec<f64> = values.collect();
        self.labels.splice(first * ell..first * ell, values);
        self.members = self.members.with_singles(&rows, first);
        if weight != 1.0 || self.weights.is_some() {
            let weights = self.weights.get_or_insert_with(|| vec![1.0; first]);
            let mean = weights.iter().sum::<f64>() / first as f64;
            weights.extend(rows.iter().map(|_| weight * mean));
        }
        (self.singles, self.labelled) = (rows.len(), first + rows.len());
        Ok(self)
    }

    /// The same with the true labels of rows, which score the fit and take no part in it: a class by
    /// its place among the names of labels, NaN for a row without one.
    ///
    /// # Errors
    /// If there are not as many as rows.
    pub fn with_row_labels(mut self, labels: Vec<f64>) -> Result<Self, Error> {
        same_length("labels of rows", labels.len(), self.members.rows())?;
        self.row_labels = Some(labels);
        Ok(self)
    }

    /// The same with the true labels of rows as texts; an empty one is none.
    ///
    /// # Errors
    /// If a text is not what a label of the link can be.
    pub fn with_row_texts(self, keys: &Keys, link: BagLink) -> Result<Self, Error> {
        let labels = self.labels_of(keys, link, link == BagLink::Logistic)?;
        self.with_row_labels(labels)
    }

    /// [`Self::with_single_labels`] of texts; an empty one is none.
    ///
    /// # Errors
    /// If a text is not what a label of the link can be.
    pub fn with_single_texts(
        self,
        keys: &Keys,
        weight: f64,
        link: BagLink,
        name: impl Fn(usize) -> String,
    ) -> Result<Self, Error> {
        let labels = self.labels_of(keys, link, false)?;
        self.with_single_labels(&keys.name, &labels, weight, link, name)
    }

    /// Labels of rows from texts.
    fn labels_of(&self, keys: &Keys, link: BagLink, binary: bool) -> Result<Vec<f64>, Error> {
        Ok(if link == BagLink::Softmax {
            class_codes(keys, &self.label_names)?
        } else {
            row_numbers(keys, binary)?
        })
    }

    /// The same with the predictions averaged by the texts of a column.
    ///
    /// # Errors
    /// If there are not as many as rows.
    pub fn averaged_by(mut self, column: Keys) -> Result<Self, Error> {
        same_length("rows to average over", column.codes.len(), self.members.rows())?;
        self.averaged_by.push(column);
        Ok(self)
    }

    /// The names of the features.
    pub fn feature_names(&self) -> &[String] {
        &self.feature_names
    }

    /// The names of the labels: one, or one for each class.
    pub fn label_names(&self) -> &[String] {
        &self.label_names
    }

    /// All groups of the rows: those that are fitted, then those whose label is held out, then those
    /// without one.
    pub fn group_names(&self) -> &[String] {
        &self.group_names
    }

    /// The groups of each row.
    pub fn members(&self) -> &Memberships {
        &self.members
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
        same_length("folds of rows", keys.codes.len(), self.members.rows())?;
        let mut folds: Vec<Option<u32>> = vec![None; self.group_names.len()];
        for (row, &fold) in keys.codes.iter().enumerate() {
            for &group in self.members.of(row) {
                let known = folds[group as usize].get_or_insert(fold);
                if *known != fold {
                    let name = self.group_names[group as usize].clone();
                    return Err(ValidationError::Divided(name).into());
                }
            }
        }
        let labelled: Vec<u32> = folds[..self.labelled].iter().flatten().copied().collect();
        Folds::of_codes(&labelled)
    }

    /// How many groups are fitted, single rows with a label of their own among them.
    pub fn labelled(&self) -> usize {
        self.labelled
    }

    /// How many of these are single rows.
    pub fn singles(&self) -> usize {
        self.singles
    }

    /// The labels of the groups that are fitted, one for each name.
    pub fn labels(&self) -> &[f64] {
        &self.labels[..self.labelled * self.label_names.len()]
    }

    /// The labels that are held out, one for each name.
    pub(super) fn held_out_labels(&self) -> &[f64] {
        &self.labels[self.labelled * self.label_names.len()..]
    }

    /// The weight of a row.
    pub(crate) fn row_weight(&self, row: usize) -> f64 {
        self.row_weights.as_ref().map_or(1.0, |weights| weights[row])
    }

    /// The weights of the groups that are fitted, with mean 1; none if all count the same.
    pub(crate) fn group_weights(&self, totals: &[f64]) -> Option<Vec<f64>> {
        let mut weights = match &self.weights {
            Some(weights) => weights.clone(),
            None if self.by_size => totals.to_vec(),
            None => return None,
        };
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        for weight in &mut weights {
            *weight /= mean;
        }
        Some(weights)
    }

    /// Whether a row takes part in the fit.
    pub(super) fn is_fitted(&self, row: usize) -> bool {
        let labelled = |&group: &u32| (group as usize) < self.labelled;
        self.row_weight(row) > 0.0 && self.members.of(row).iter().any(labelled)
    }

    /// Whether a row is a group of its own.
    pub(super) fn is_single(&self, row: usize) -> bool {
        let singles = self.labelled - self.singles..self.labelled;
        self.members.of(row).iter().any(|&group| singles.contains(&(group as usize)))
    }

    /// Refuses what takes groups as independent where rows belong to several that are fitted.
    ///
    /// # Errors
    /// If there are such rows.
    pub fn refuse_overlap(&self, parameter: &'static str) -> Result<(), Error> {
        let fitted = |row: usize| {
            let own = self.members.of(row).iter().map(|&group| group as usize);
            own.filter(|group| *group < self.labelled).collect::<Vec<_>>()
        };
        let shared: Vec<usize> = (0..self.members.rows())
            .filter(|&row| self.row_weight(row) > 0.0 && fitted(row).len() > 1)
            .collect();
        let Some(&row) = shared.first() else { return Ok(()) };
        let own = fitted(row);
        let [first, second] = [0, 1].map(|k| self.group_names[own[k]].clone());
        Err(BagsError::Overlapping { parameter, rows: shared.len(), first, second }.into())
    }

    /// Some of the fitted groups, with their rows of these features.
    pub(crate) fn subset(&self, features: &[f64], groups: &[usize]) -> (Self, Vec<f64>) {
        let (width, ell) = (self.feature_names.len(), self.label_names.len());
        let mut renumbered = vec![None; self.group_names.len()];
        groups.iter().enumerate().for_each(|(new, &old)| renumbered[old] = Some(new as u32));
        let (members, kept) = self.members.subset(|group| renumbered[group as usize]);
        let rows = kept.iter().flat_map(|&row| &features[row * width..(row + 1) * width]);
        let labels = groups.iter().flat_map(|&i| &self.labels[i * ell..(i + 1) * ell]).copied();
        let of_groups = |all: &Vec<f64>| groups.iter().map(|&i| all[i]).collect();
        let subset = BagData {
            feature_names: self.feature_names.clone(),
            label_names: self.label_names.clone(),
            group_names: groups.iter().map(|&i| self.group_names[i].clone()).collect(),
            labelled: groups.len(),
            singles: groups.iter().filter(|i| **i >= self.labelled - self.singles).count(),
            held_out: 0,
            members,
            labels: labels.collect(),
            weights: self.weights.as_ref().map(of_groups),
            by_size: self.by_size,
            row_weights: self
                .row_weights
                .as_ref()
                .map(|all| kept.iter().map(|&row| all[row]).collect()),
            row_labels: None,
            averaged_by: Vec::new(),
            notes: Vec::new(),
        };
        (subset, rows.copied().collect())
    }

    /// Whether the true labels of rows are known.
    pub fn has_row_labels(&self) -> bool {
        self.row_labels.is_some()
    }

    /// Whether predictions are averaged by a column, or labels held out: rows are needed for that.
    pub fn needs_predictions(&self) -> bool {
        self.has_row_labels() || !self.averaged_by.is_empty() || self.held_out > 0
    }

    /// What was left out.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }
}

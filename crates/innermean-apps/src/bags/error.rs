//! Why groups, labels or weights are refused.

use super::{BagLink, BagLoss};
use crate::error::Place;
use crate::wording::numbers::grouped;

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
    /// A weight or a variance of a label that is none.
    #[error("group '{group}' has the {name} {value}; expected {expected}")]
    LabelWeight {
        /// The place of the group among the labels.
        at: usize,
        /// Its name.
        group: String,
        /// `weight` or `variance`.
        name: &'static str,
        /// What it is.
        value: f64,
        /// What it could be.
        expected: &'static str,
    },
    /// The labels of all groups have the weight 0.
    #[error("the labels of all groups have the weight 0; expected one above 0")]
    NoLabelWeight,
    /// A weight of a row that is none.
    #[error("the weight is {weight}; expected a number, 0 or above")]
    RowWeight {
        /// The row.
        row: usize,
        /// Its weight.
        weight: f64,
    },
    /// A group with a label, of whose rows none has a weight.
    #[error(
        "all rows of group '{0}', which has a label, have the weight 0; expected one above 0, or no label"
    )]
    WeightlessGroup(String),
    /// The label of a single row that is fitted is out of its range.
    #[error("the {column} is {value}; expected {expected}")]
    SingleLabel {
        /// The row.
        row: usize,
        /// The column of labels.
        column: String,
        /// The label.
        value: f64,
        /// What it could be.
        expected: &'static str,
    },
    /// Counts weigh their groups by size themselves.
    #[error(
        "`by_size` changes nothing with `link=exp`, where every row counts the same already; leave it out"
    )]
    SizedCounts,
    /// Standard errors of groups that are not independent.
    #[error(
        "`{parameter}`: {rows} rows belong to several groups with a label, such as '{first}' and '{second}', so that groups are not independent observations; expected groups that do not overlap"
    )]
    Overlapping {
        /// What was asked for.
        parameter: &'static str,
        /// How many rows.
        rows: usize,
        /// A group.
        first: String,
        /// Another, with a row in common.
        second: String,
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
            | BagsError::LabelWeight { at, .. }
            | BagsError::Sum { at, .. } => Some(Place::Group(at)),
            BagsError::NotAClass { row, .. }
            | BagsError::NotARowLabel { row, .. }
            | BagsError::SingleLabel { row, .. }
            | BagsError::RowWeight { row, .. } => Some(Place::Row(row)),
            BagsError::OtherLoss { .. }
            | BagsError::NoLabelWeight
            | BagsError::WeightlessGroup(_)
            | BagsError::SizedCounts
            | BagsError::Overlapping { .. }
            | BagsError::NothingInCommon { .. } => None,
        }
    }
}

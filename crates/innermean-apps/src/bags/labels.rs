//! The labels of groups, and how much each counts.

use super::{BagLink, BagsError};
use crate::error::{Error, same_length};

/// The labels of groups: a row of numbers, one for each name, for each group.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GroupLabels {
    /// The names of the labels: one, or one for each class.
    pub names: Vec<String>,
    /// The groups, in any order.
    pub groups: Vec<String>,
    /// Their labels.
    pub values: Vec<f64>,
    /// How much each counts.
    pub weights: LabelWeights,
}

/// How much the label of a group counts. Of weights only the ratios matter: they are brought to a
/// mean of 1, so that a penalty means the same.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum LabelWeights {
    /// All the same.
    #[default]
    Equal,
    /// As many as the group has rows, or as their weights sum to.
    Size,
    /// One for each group; a label of weight 0 is held out: it takes no part, and is scored apart.
    Given(Vec<f64>),
    /// One over the variance of the label.
    Variances(Vec<f64>),
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
        self.check_weights(link)
    }

    fn check_weights(&self, link: BagLink) -> Result<(), Error> {
        let (numbers, name, expected): (&[f64], _, _) = match &self.weights {
            LabelWeights::Size if link == BagLink::Exp => return Err(BagsError::SizedCounts.into()),
            LabelWeights::Equal | LabelWeights::Size => return Ok(()),
            LabelWeights::Given(weights) => (weights, "weight", "a finite number, 0 or above"),
            LabelWeights::Variances(variances) => {
                (variances, "variance", "a finite number above 0")
            }
        };
        same_length("weights of labels", numbers.len(), self.groups.len())?;
        let least = if name == "variance" { f64::MIN_POSITIVE } else { 0.0 };
        match numbers.iter().position(|x| !(x.is_finite() && *x >= least)) {
            Some(at) => {
                let (group, value) = (self.groups[at].clone(), numbers[at]);
                Err(BagsError::LabelWeight { at, group, name, value, expected }.into())
            }
            None if numbers.iter().all(|x| *x == 0.0) => Err(BagsError::NoLabelWeight.into()),
            None => Ok(()),
        }
    }

    /// The weight of label `at`, none if all count the same or by the size of their group.
    pub(super) fn weight(&self, at: usize) -> Option<f64> {
        match &self.weights {
            LabelWeights::Equal | LabelWeights::Size => None,
            LabelWeights::Given(weights) => Some(weights[at]),
            LabelWeights::Variances(variances) => Some(1.0 / variances[at]),
        }
    }
}

//! The labels of two classes, -1 and 1.

use serde::{Deserialize, Serialize};

use crate::model::setting::InvalidSetting;

/// One label, -1 or 1, for each outer term.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<f64>", into = "Vec<f64>")]
pub(super) struct Labels(Vec<f64>);

impl Labels {
    /// # Errors
    /// If a label is anything else.
    pub(super) fn new(labels: Vec<f64>) -> Result<Self, InvalidSetting> {
        match labels.iter().position(|y| y.abs() != 1.0) {
            None => Ok(Self(labels)),
            Some(i) => Err(InvalidSetting::new(
                format!("labels[{i}]"),
                format!("{:?}", labels[i]),
                "-1 or 1",
            )),
        }
    }

    /// `y_i`
    #[inline(always)]
    pub(super) fn of(&self, i: usize) -> f64 {
        self.0[i]
    }

    pub(super) fn all(&self) -> &[f64] {
        &self.0
    }
}

impl TryFrom<Vec<f64>> for Labels {
    type Error = InvalidSetting;

    fn try_from(labels: Vec<f64>) -> Result<Self, InvalidSetting> {
        Self::new(labels)
    }
}

impl From<Labels> for Vec<f64> {
    fn from(labels: Labels) -> Self {
        labels.0
    }
}

//! What is done to averages, by name: with the labels of a leaf it is a phi.

use serde::{Deserialize, Serialize};

use crate::model::merit::{
    Bernoulli, Huber, Logistic, Merit, Poisson, SmoothedHinge, Square, SquaredHinge,
};
use crate::model::setting::InvalidSetting;

/// A smooth phi without the labels of its terms.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// `u^2 / 2` of the residual, the score less the label.
    Square,
    /// Huber's function of the same, with this width and slope.
    Huber(f64),
    /// Of labels -1 and 1.
    Logistic,
    /// Of labels -1 and 1.
    SquaredHinge,
    /// Of labels -1 and 1, with this width.
    SmoothedHinge(f64),
    /// Of a proportion between 0 and 1.
    Bernoulli,
    /// Of the count of all rows of a group together, 0 or more.
    Poisson,
    /// Of leaves that know themselves what they add up.
    Own,
}

impl Loss {
    /// Whether the label is taken off the average, and is not one of phi.
    pub fn takes_off(self) -> bool {
        matches!(self, Loss::Square | Loss::Huber(_))
    }

    /// As a phi of terms with these labels and as many rows.
    ///
    /// # Errors
    /// If a label or the width is none for this loss.
    pub fn merit(self, labels: &[f64], rows: &[u64]) -> Result<Box<dyn Merit>, InvalidSetting> {
        if let Some(bad) = labels.iter().position(|label| !label.is_finite()) {
            let given = labels[bad].to_string();
            return Err(InvalidSetting::new(format!("labels[{bad}]"), given, "a finite number"));
        }
        let labels = || labels.to_vec();
        Ok(match self {
            Loss::Square => Box::new(Square::new(0.5)?),
            Loss::Huber(width) => Box::new(Huber::new(width, width)?),
            Loss::Logistic => Box::new(Logistic::new(labels())?),
            Loss::SquaredHinge => Box::new(SquaredHinge::new(labels())?),
            Loss::SmoothedHinge(width) => Box::new(SmoothedHinge::new(labels(), width)?),
            Loss::Bernoulli => Box::new(Bernoulli::new(labels())?),
            Loss::Poisson => {
                let exposures = rows.iter().map(|rows| *rows as f64).collect();
                Box::new(Poisson::new(labels(), exposures, 1.0)?)
            }
            Loss::Own => {
                let expected = "leaves without open groups";
                return Err(InvalidSetting::new("loss", "one of the leaves' own", expected));
            }
        })
    }

    /// gamma and the Lipschitz constant of every phi.
    pub(super) fn constants(self) -> (f64, f64) {
        let merit = [1.0, 0.5].iter().find_map(|label| self.merit(&[*label], &[1]).ok());
        merit.map_or((0.0, f64::INFINITY), |merit| (merit.gamma(), merit.lipschitz(1)))
    }
}

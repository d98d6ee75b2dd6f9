//! The losses, as flags and as merits.

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use innermean::{Huber, InvalidSetting, Logistic, Merit, SmoothedHinge, Square, SquaredHinge};
use serde::Serialize;

use super::data::{Data, Target};
use crate::flags::number;

/// Which loss, and how wide its parabola is.
#[derive(Debug, Clone, Args)]
pub(crate) struct LossFlags {
    /// The loss of a row: square and huber for a target that is a number, the others for two
    /// classes
    #[arg(long, value_name = "LOSS", value_enum, default_value_t = Loss::Square)]
    pub(super) loss: Loss,

    /// h of the Huber loss, up to which it is a square [default: the median distance of targets
    /// from their median]
    #[arg(long, value_name = "H", value_parser = number::positive, allow_hyphen_values = true)]
    huber_width: Option<f64>,

    /// h of the smoothed hinge loss, the width of its parabola [default: 1]
    #[arg(long, value_name = "H", value_parser = number::positive, allow_hyphen_values = true)]
    hinge_width: Option<f64>,
}

/// The loss of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Loss {
    /// Half the square of the error
    Square,
    /// The same near zero, linear beyond: single targets that are far off have little say
    Huber,
    /// Of two classes, with probabilities
    Logistic,
    /// Of two classes: the square of what the margin falls short of 1
    SquaredHinge,
    /// Of two classes: what the margin falls short of 1, with its kink rounded off
    SmoothedHinge,
}

/// The default width of the smoothed hinge.
const HINGE_WIDTH: f64 = 1.0;

impl LossFlags {
    /// The loss, after a look at flags that would do nothing.
    pub(super) fn checked(&self) -> Result<Loss> {
        for (flag, given, loss, name) in [
            ("--huber-width", self.huber_width, Loss::Huber, "huber"),
            ("--hinge-width", self.hinge_width, Loss::SmoothedHinge, "smoothed-hinge"),
        ] {
            if given.is_some() && self.loss != loss {
                bail!("{flag} does nothing without --loss {name}");
            }
        }
        Ok(self.loss)
    }

    /// h, for a loss that has one.
    pub(super) fn width(&self, data: &Data) -> Option<f64> {
        match (self.loss, &data.target) {
            (Loss::Huber, Target::Numbers(targets)) => {
                Some(self.huber_width.unwrap_or_else(|| median_distance(targets)))
            }
            (Loss::SmoothedHinge, _) => Some(self.hinge_width.unwrap_or(HINGE_WIDTH)),
            _ => None,
        }
    }

    /// Whether h was found and not given, so that it is worth a word.
    pub(super) fn width_is_found(&self) -> bool {
        self.loss == Loss::Huber && self.huber_width.is_none()
    }
}

impl Loss {
    /// Whether the target is one of two classes.
    pub(super) fn is_of_classes(self) -> bool {
        !matches!(self, Loss::Square | Loss::Huber)
    }

    /// The mean of it in words.
    pub(super) fn title(self) -> &'static str {
        match self {
            Loss::Square => "mean squared error / 2",
            Loss::Huber => "mean Huber loss",
            Loss::Logistic => "mean logistic loss",
            Loss::SquaredHinge => "mean squared hinge loss",
            Loss::SmoothedHinge => "mean smoothed hinge loss",
        }
    }

    /// As the library has it; labels are those of the classes, and empty for numbers.
    pub(super) fn merit(
        self,
        width: Option<f64>,
        labels: Vec<f64>,
    ) -> Result<Box<dyn Merit>, InvalidSetting> {
        let width = width.unwrap_or(1.0);
        Ok(match self {
            Loss::Square => Box::new(Square::new(0.5)?),
            // Slope h beyond h makes the parabola u^2 / 2.
            Loss::Huber => Box::new(Huber::new(width, width)?),
            Loss::Logistic => Box::new(Logistic::new(labels)?),
            Loss::SquaredHinge => Box::new(SquaredHinge::new(labels)?),
            Loss::SmoothedHinge => Box::new(SmoothedHinge::new(labels, width)?),
        })
    }
}

/// The median of `|t - median|`; where half of the targets or more are the same number, the mean; 1
/// if all are.
fn median_distance(targets: &[f64]) -> f64 {
    let center = median(targets.to_vec());
    let distances: Vec<f64> = targets.iter().map(|t| (t - center).abs()).collect();
    let mean = distances.iter().sum::<f64>() / distances.len() as f64;
    [median(distances), mean]
        .into_iter()
        .find(|width| *width > 0.0 && width.is_finite())
        .unwrap_or(1.0)
}

/// The middle one, or the mean of the two in the middle.
fn median(mut values: Vec<f64>) -> f64 {
    let middle = values.len() / 2;
    let even = values.len().is_multiple_of(2);
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Not the half of a sum, which may overflow.
    if even { 0.5 * lower + 0.5 * *upper } else { *upper }
}

#[cfg(test)]
mod tests {
    use super::median_distance;

    #[test]
    fn the_width_is_a_typical_distance_and_never_zero() {
        assert_eq!(median_distance(&[1.0, 2.0, 3.0, 100.0, -50.0]), 1.0);
        assert_eq!(median_distance(&[5.0, 5.0, 5.0, 9.0]), 1.0);
        assert_eq!(median_distance(&[0.0, 1.0, 3.0, 10.0]), 1.5);
        assert_eq!(median_distance(&[5.0, 5.0]), 1.0);
        assert_eq!(median_distance(&[7.0]), 1.0);
    }
}

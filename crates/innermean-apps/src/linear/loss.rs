//! The losses by name, as merits.

use innermean::{Huber, InvalidSetting, Logistic, Merit, SmoothedHinge, Square, SquaredHinge};

use crate::wording::named;

named! {
    /// The loss of a row.
    pub enum Loss, default Square {
        /// Half the square of the error
        Square = "square",
        /// The same near zero, linear beyond: single targets that are far off have little say
        Huber = "huber",
        /// Of two classes, or several, with probabilities
        Logistic = "logistic",
        /// Of two classes: the square of what the margin falls short of 1
        SquaredHinge = "squared-hinge",
        /// Of two classes: what the margin falls short of 1, with its kink rounded off
        SmoothedHinge = "smoothed-hinge",
    }
}

/// The default width of the smoothed hinge.
pub(super) const HINGE_WIDTH: f64 = 1.0;

impl Loss {
    /// Whether the target is one of two classes.
    pub fn is_of_classes(self) -> bool {
        !matches!(self, Loss::Square | Loss::Huber)
    }

    /// The mean of it in words.
    pub fn title(self) -> &'static str {
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
pub(super) fn median_distance(targets: &[f64]) -> f64 {
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

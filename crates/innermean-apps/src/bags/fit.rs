//! How well a model fits: its groups and, where their labels are known, its rows.

use innermean::elementary::Elementary;
use innermean_data::OutColumn;
use serde::Serialize;

use super::{BagLink, BagLoss};

/// How near the average predictions of the groups come to their labels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupFit {
    /// Of averages from labels; of counts, of expected counts from counts.
    pub mean_absolute_error: f64,
    /// Of averages against proportions.
    pub log_loss: Option<f64>,
    /// What the log loss is at least, whatever the model: the mean entropy of the labels.
    pub log_loss_floor: Option<f64>,
    /// Of square losses, the share of the variance of the labels that is explained.
    pub r_squared: Option<f64>,
}

/// A group that is fitted badly.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorstGroup {
    /// Its name.
    pub group: String,
    /// How many rows it has.
    pub rows: usize,
    /// The label, of several classes the one that is missed most.
    pub label: f64,
    /// What the model says.
    pub fitted: f64,
    /// The class that is missed most, of several.
    pub class: Option<String>,
}

/// How well single rows are predicted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RowScores {
    /// Rows with a label of their own.
    pub rows: usize,
    /// Of the class that is most probable.
    pub accuracy: Option<f64>,
    /// The probability that a positive row is predicted higher than a negative one; none if there
    /// are no rows of both kinds.
    pub auc: Option<f64>,
    /// Of labels that are numbers.
    pub mean_absolute_error: Option<f64>,
}

/// `-q log u` with 0 log 0 = 0.
fn cross(q: f64, u: f64) -> f64 {
    if q == 0.0 { 0.0 } else { -q * u.natural_log() }
}

/// Labels and fitted averages of all groups; `sizes` are the groups' rows.
pub(super) fn of_groups(
    link: BagLink,
    loss: BagLoss,
    labels: &[f64],
    fitted: &[f64],
    sizes: &[f64],
) -> GroupFit {
    let groups = sizes.len() as f64;
    let ell = labels.len() / sizes.len();
    let error = |k: usize| {
        let size = if link == BagLink::Exp { sizes[k / ell] } else { 1.0 };
        (size * fitted[k] - labels[k]).abs()
    };
    let entropy = |u: &dyn Fn(usize) -> f64| {
        let term = |k: usize| {
            let rest = if ell == 1 { cross(1.0 - labels[k], 1.0 - u(k)) } else { 0.0 };
            cross(labels[k], u(k)) + rest
        };
        (0..labels.len()).map(term).sum::<f64>() / groups
    };
    let probabilities = matches!(link, BagLink::Logistic | BagLink::Softmax);
    let mean = labels.iter().sum::<f64>() / labels.len() as f64;
    let total: f64 = labels.iter().map(|label| (label - mean).powi(2)).sum();
    let left: f64 = labels.iter().zip(fitted).map(|(label, fitted)| (label - fitted).powi(2)).sum();
    GroupFit {
        mean_absolute_error: (0..labels.len()).map(error).sum::<f64>() / labels.len() as f64,
        log_loss: probabilities.then(|| entropy(&|k| fitted[k])),
        log_loss_floor: probabilities.then(|| entropy(&|k| labels[k])),
        r_squared: (loss == BagLoss::Square && total > 0.0).then(|| 1.0 - left / total),
    }
}

/// Whether every row is certain to lie strictly on its group's side: all labels are 0 or 1, and the
/// average of each class that should be 1 so near to it that no row of the group can be at 1/2 or
/// below. Then larger coefficients lower a loss of probabilities, for ever.
pub(super) fn separated(link: BagLink, labels: &[f64], fitted: &[f64], sizes: &[f64]) -> bool {
    let ell = labels.len() / sizes.len();
    let sided = |k: usize| {
        // Of m rows, one that misses by 1/2 makes their average miss by 1/(2m).
        let near = 0.5 / sizes[k / ell];
        (labels[k] == 1.0 && 1.0 - fitted[k] < near) || (labels[k] == 0.0 && fitted[k] < near)
    };
    matches!(link, BagLink::Logistic | BagLink::Softmax) && (0..labels.len()).all(sided)
}

/// The places of the groups that are missed most, the worst first, with the class where it is
/// missed most.
pub(super) fn worst(
    labels: &[f64],
    fitted: &[f64],
    sizes: &[f64],
    counts: bool,
    most: usize,
) -> Vec<(usize, usize)> {
    let ell = labels.len() / sizes.len();
    let miss = |i: usize, c: usize| {
        let size = if counts { sizes[i] } else { 1.0 };
        (size * fitted[i * ell + c] - labels[i * ell + c]).abs()
    };
    let mut all: Vec<(usize, usize)> = (0..sizes.len())
        .map(|i| (i, (0..ell).max_by(|&a, &b| miss(i, a).total_cmp(&miss(i, b))).unwrap_or(0)))
        .collect();
    all.sort_by(|a, b| miss(b.0, b.1).total_cmp(&miss(a.0, a.1)));
    all.truncate(most);
    all
}

/// Scores of predictions against the true labels of the rows.
pub(super) fn of_rows(link: BagLink, labels: &[f64], predictions: &[f64]) -> RowScores {
    let ell = predictions.len() / labels.len();
    let scored = labels.iter().zip(predictions.chunks_exact(ell)).filter(|(y, _)| !y.is_nan());
    let (labels, predictions): (Vec<f64>, Vec<&[f64]>) = scored.unzip();
    let (labels, predictions) = (&labels[..], &predictions.concat()[..]);
    let rows = labels.len();
    if rows == 0 {
        return RowScores { rows, accuracy: None, auc: None, mean_absolute_error: None };
    }
    let share = |right: usize| right as f64 / rows as f64;
    let (mut accuracy, mut auc, mut error) = (None, None, None);
    match link {
        BagLink::Logistic => {
            let right = labels
                .iter()
                .zip(predictions)
                .filter(|(y, p)| (**p >= 0.5) == (**y == 1.0))
                .count();
            accuracy = Some(share(right));
            auc = area_under_curve(labels, predictions);
        }
        BagLink::Softmax => {
            let right = labels
                .iter()
                .zip(predictions.chunks_exact(ell))
                .filter(|(y, p)| most_probable(p) == **y as usize);
            accuracy = Some(share(right.count()));
        }
        BagLink::Identity | BagLink::Exp => {
            let sum: f64 = labels.iter().zip(predictions).map(|(y, p)| (y - p).abs()).sum();
            error = Some(sum / rows as f64);
        }
    }
    RowScores { rows, accuracy, auc, mean_absolute_error: error }
}

/// The class of the largest probability.
pub fn most_probable(p: &[f64]) -> usize {
    (0..p.len()).max_by(|&a, &b| p[a].total_cmp(&p[b])).unwrap_or(0)
}

/// What is predicted for rows: one number for each, or the most probable class and the
/// probabilities of all.
pub fn predicted_columns(
    link: BagLink,
    labels: &[String],
    predictions: &[f64],
) -> Vec<(String, OutColumn)> {
    let name = match link {
        BagLink::Logistic | BagLink::Softmax => "probability",
        BagLink::Identity => "prediction",
        BagLink::Exp => "expected_count",
    };
    let ell = labels.len();
    if ell == 1 {
        return vec![(name.to_owned(), OutColumn::Numbers(predictions.to_vec()))];
    }
    let class = |p: &[f64]| labels[most_probable(p)].clone();
    let classes = predictions.chunks_exact(ell).map(class).collect();
    let mut columns = vec![("class".to_owned(), OutColumn::Texts(classes))];
    for (c, label) in labels.iter().enumerate() {
        let own = predictions.iter().skip(c).step_by(ell).copied().collect();
        columns.push((format!("{name} of {label}"), OutColumn::Numbers(own)));
    }
    columns
}

/// The area under the ROC curve by ranks (Mann and Whitney), ties counting half.
fn area_under_curve(labels: &[f64], scores: &[f64]) -> Option<f64> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    let positive = labels.iter().filter(|y| **y == 1.0).count() as f64;
    let negative = labels.len() as f64 - positive;
    if positive == 0.0 || negative == 0.0 {
        return None;
    }
    let (mut ranks, mut first) = (0.0, 0);
    while first < order.len() {
        let mut end = first;
        while end < order.len() && scores[order[end]] == scores[order[first]] {
            end += 1;
        }
        // Ranks from 1; ties share their mean.
        let rank = (first + 1 + end) as f64 / 2.0;
        ranks += rank * order[first..end].iter().filter(|&&r| labels[r] == 1.0).count() as f64;
        first = end;
    }
    Some((ranks - positive * (positive + 1.0) / 2.0) / (positive * negative))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_area_counts_pairs() {
        assert_eq!(area_under_curve(&[0.0, 1.0, 0.0, 1.0], &[0.1, 0.9, 0.2, 0.8]), Some(1.0));
        assert_eq!(area_under_curve(&[0.0, 1.0, 0.0, 1.0], &[0.1, 0.15, 0.2, 0.8]), Some(0.75));
        assert_eq!(area_under_curve(&[0.0, 1.0], &[0.5, 0.5]), Some(0.5));
        assert_eq!(area_under_curve(&[1.0, 1.0], &[0.1, 0.2]), None);
    }

    #[test]
    fn groups_are_separated_if_no_row_can_lie_on_the_other_side() {
        let of = |labels: &[f64], fitted: &[f64]| {
            separated(BagLink::Logistic, labels, fitted, &vec![2.0; labels.len()])
        };
        assert!(of(&[1.0, 0.0], &[0.76, 0.24]));
        // Rows of 1 and 0.5 have the average 0.75.
        assert!(!of(&[1.0, 0.0], &[0.75, 0.24]));
        assert!(!of(&[0.9, 0.0], &[0.99, 0.01]));
        let (labels, fitted) = ([0.0, 1.0, 0.0, 0.0, 0.0, 1.0], [0.1, 0.8, 0.1, 0.0, 0.1, 0.9]);
        assert!(separated(BagLink::Softmax, &labels, &fitted, &[2.0, 1.0]));
        assert!(!separated(BagLink::Softmax, &labels, &fitted, &[3.0, 1.0]));
        assert!(!separated(BagLink::Exp, &[1.0, 0.0], &[1.0, 0.0], &[1.0, 1.0]));
    }

    #[test]
    fn fits_by_hand() {
        let fit = of_groups(
            BagLink::Logistic,
            BagLoss::CrossEntropy,
            &[0.0, 0.5],
            &[0.5, 0.5],
            &[3.0, 1.0],
        );
        assert!((fit.mean_absolute_error - 0.25).abs() < 1e-15);
        assert!((fit.log_loss.expect("one") - 2f64.ln()).abs() < 1e-15);
        assert!((fit.log_loss_floor.expect("one") - 0.5 * 2f64.ln()).abs() < 1e-15);
        let fit = of_groups(BagLink::Exp, BagLoss::Poisson, &[6.0, 2.0], &[1.0, 1.0], &[3.0, 1.0]);
        assert!((fit.mean_absolute_error - 2.0).abs() < 1e-15);
        assert_eq!(worst(&[6.0, 2.0], &[1.0, 1.0], &[3.0, 1.0], true, 1), [(0, 0)]);
        assert_eq!(most_probable(&[0.2, 0.5, 0.3]), 1);
    }
}

//! How well a model fits: its groups and, where their labels are known, its rows.
//!
//! Groups count by the weights of their labels and rows by their own, as they do in the fit.

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

/// Labels and fitted averages of groups: `totals` are the groups' rows or the sums of their
/// weights, `weights` what the labels count, empty if all count the same.
pub(super) fn of_groups(
    link: BagLink,
    loss: BagLoss,
    labels: &[f64],
    fitted: &[f64],
    totals: &[f64],
    weights: &[f64],
) -> GroupFit {
    let ell = labels.len() / totals.len();
    let weight = |k: usize| if weights.is_empty() { 1.0 } else { weights[k / ell] };
    let all = (0..labels.len()).map(weight).sum::<f64>();
    let mean_of = |term: &dyn Fn(usize) -> f64| {
        (0..labels.len()).map(|k| weight(k) * term(k)).sum::<f64>() / all
    };
    let error = |k: usize| {
        let size = if link == BagLink::Exp { totals[k / ell] } else { 1.0 };
        (size * fitted[k] - labels[k]).abs()
    };
    let entropy = |u: &dyn Fn(usize) -> f64| {
        let term = |k: usize| {
            let rest = if ell == 1 { cross(1.0 - labels[k], 1.0 - u(k)) } else { 0.0 };
            cross(labels[k], u(k)) + rest
        };
        ell as f64 * mean_of(&term)
    };
    let probabilities = matches!(link, BagLink::Logistic | BagLink::Softmax);
    let mean = mean_of(&|k| labels[k]);
    let total = mean_of(&|k| (labels[k] - mean).powi(2));
    let left = mean_of(&|k| (labels[k] - fitted[k]).powi(2));
    GroupFit {
        mean_absolute_error: mean_of(&error),
        log_loss: probabilities.then(|| entropy(&|k| fitted[k])),
        log_loss_floor: probabilities.then(|| entropy(&|k| labels[k])),
        r_squared: (loss == BagLoss::Square && total > 0.0).then(|| 1.0 - left / total),
    }
}

/// Whether every row is certain to lie strictly on its group's side: all labels are 0 or 1, and the
/// average of each class that should be 1 so near to it that no row of the group can be at 1/2 or
/// below. `least` is the smallest share of a row in each group. Then larger coefficients lower a
/// loss of probabilities, for ever.
pub(super) fn separated(link: BagLink, labels: &[f64], fitted: &[f64], least: &[f64]) -> bool {
    let ell = labels.len() / least.len();
    let sided = |k: usize| {
        // A row of the share s that misses by 1/2 makes the average miss by s/2.
        let near = 0.5 * least[k / ell];
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

/// Scores of the predictions of some rows against their true labels; NaN is none.
pub(super) fn of_rows(
    link: BagLink,
    rows: &[usize],
    labels: &[f64],
    predictions: &[f64],
    weight: impl Fn(usize) -> f64,
) -> RowScores {
    let ell = predictions.len() / labels.len();
    let rows: Vec<usize> = rows.iter().copied().filter(|&row| !labels[row].is_nan()).collect();
    let of = |row: usize| &predictions[row * ell..(row + 1) * ell];
    let all: f64 = rows.iter().map(|&row| weight(row)).sum();
    let count = rows.len();
    if rows.is_empty() || all == 0.0 {
        return RowScores { rows: count, accuracy: None, auc: None, mean_absolute_error: None };
    }
    let mean = |term: &dyn Fn(usize) -> f64| {
        rows.iter().map(|&row| weight(row) * term(row)).sum::<f64>() / all
    };
    let (mut accuracy, mut auc, mut error) = (None, None, None);
    match link {
        BagLink::Logistic => {
            accuracy = Some(mean(&|row| f64::from((of(row)[0] >= 0.5) == (labels[row] == 1.0))));
            auc = area_under_curve(rows.iter().map(|&row| (of(row)[0], labels[row], weight(row))));
        }
        BagLink::Softmax => {
            accuracy = Some(mean(&|row| f64::from(most_probable(of(row)) == labels[row] as usize)));
        }
        BagLink::Identity | BagLink::Exp => {
            error = Some(mean(&|row| (labels[row] - of(row)[0]).abs()));
        }
    }
    RowScores { rows: count, accuracy, auc, mean_absolute_error: error }
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

/// The area under the ROC curve of `(score, label, weight)`: the share of pairs of a positive and a
/// negative row in which the positive one has the higher score (Mann and Whitney), ties counting
/// half.
fn area_under_curve(rows: impl Iterator<Item = (f64, f64, f64)>) -> Option<f64> {
    let mut rows: Vec<(f64, f64, f64)> = rows.collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let weight = |rows: &[(f64, f64, f64)], positive: bool| -> f64 {
        rows.iter().filter(|row| (row.1 == 1.0) == positive).map(|row| row.2).sum()
    };
    let pairs = weight(&rows, true) * weight(&rows, false);
    let (mut won, mut below) = (0.0, 0.0);
    for ties in rows.chunk_by(|a, b| a.0 == b.0) {
        let (positive, negative) = (weight(ties, true), weight(ties, false));
        won += positive * (below + 0.5 * negative);
        below += negative;
    }
    (pairs > 0.0).then(|| won / pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_area_counts_pairs() {
        let area = |labels: &[f64], scores: &[f64]| {
            area_under_curve(scores.iter().zip(labels).map(|(&score, &label)| (score, label, 1.0)))
        };
        assert_eq!(area(&[0.0, 1.0, 0.0, 1.0], &[0.1, 0.9, 0.2, 0.8]), Some(1.0));
        assert_eq!(area(&[0.0, 1.0, 0.0, 1.0], &[0.1, 0.15, 0.2, 0.8]), Some(0.75));
        assert_eq!(area(&[0.0, 1.0], &[0.5, 0.5]), Some(0.5));
        assert_eq!(area(&[1.0, 1.0], &[0.1, 0.2]), None);
        // A row of weight 2 is two rows.
        let weighted = [(0.1, 1.0, 2.0), (0.2, 0.0, 3.0), (0.3, 1.0, 1.0)];
        assert_eq!(area_under_curve(weighted.into_iter()), Some(1.0 / 3.0));
    }

    #[test]
    fn groups_are_separated_if_no_row_can_lie_on_the_other_side() {
        let of = |labels: &[f64], fitted: &[f64]| {
            separated(BagLink::Logistic, labels, fitted, &vec![0.5; labels.len()])
        };
        assert!(of(&[1.0, 0.0], &[0.76, 0.24]));
        // Rows of 1 and 0.5 have the average 0.75.
        assert!(!of(&[1.0, 0.0], &[0.75, 0.24]));
        assert!(!of(&[0.9, 0.0], &[0.99, 0.01]));
        let (labels, fitted) = ([0.0, 1.0, 0.0, 0.0, 0.0, 1.0], [0.1, 0.8, 0.1, 0.0, 0.1, 0.9]);
        assert!(separated(BagLink::Softmax, &labels, &fitted, &[0.5, 1.0]));
        assert!(!separated(BagLink::Softmax, &labels, &fitted, &[1.0 / 3.0, 1.0]));
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
            &[],
        );
        assert!((fit.mean_absolute_error - 0.25).abs() < 1e-15);
        assert!((fit.log_loss.expect("one") - 2f64.ln()).abs() < 1e-15);
        assert!((fit.log_loss_floor.expect("one") - 0.5 * 2f64.ln()).abs() < 1e-15);
        let (labels, fitted) = ([6.0, 2.0], [1.0, 1.0]);
        let of = |weights: &[f64]| {
            of_groups(BagLink::Exp, BagLoss::Poisson, &labels, &fitted, &[3.0, 1.0], weights)
        };
        let fit = of(&[]);
        assert!((of(&[3.0, 1.0]).mean_absolute_error - 2.5).abs() < 1e-15);
        assert!((fit.mean_absolute_error - 2.0).abs() < 1e-15);
        assert_eq!(worst(&[6.0, 2.0], &[1.0, 1.0], &[3.0, 1.0], true, 1), [(0, 0)]);
        assert_eq!(most_probable(&[0.2, 0.5, 0.3]), 1);
    }
}

//! How well an answer fits the rows that it comes from.

use innermean::elementary::Elementary;
use innermean_data::OutColumn;
use serde::Serialize;

use super::{Loss, Target};
use crate::bags::most_probable;

/// In numbers, of which a kind of target has its own.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum LinearFit {
    /// Of targets that are numbers.
    Numbers {
        /// The share of the variance that is explained. None if the target is constant.
        r_squared: Option<f64>,
        /// The root of the mean squared error.
        root_mean_square_error: f64,
        /// The mean of absolute errors; NaN where rows were read once and not kept.
        mean_absolute_error: f64,
    },
    /// Of classes.
    Classes {
        /// The share of rows whose class is right.
        accuracy: f64,
        /// The share of the larger class.
        baseline: f64,
        /// The mean logistic loss, where scores are log odds.
        log_loss: Option<f64>,
    },
}

impl LinearFit {
    /// Of rows that were not kept: by the mean of squared errors and the variance of the target.
    pub(super) fn of_moments(square: f64, spread: f64) -> Self {
        LinearFit::Numbers {
            r_squared: (spread > 0.0).then(|| 1.0 - square / spread),
            root_mean_square_error: square.sqrt(),
            mean_absolute_error: f64::NAN,
        }
    }

    /// Of these scores, or of probabilities of several classes; weights have mean 1.
    pub fn new(target: &Target, scores: &[f64], weights: Option<&[f64]>, loss: Loss) -> Self {
        let rows = target.numbers().len();
        let n = rows as f64;
        let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
        let mean =
            |term: &dyn Fn(usize) -> f64| (0..rows).map(|i| weight(i) * term(i)).sum::<f64>() / n;
        match target {
            Target::Numbers(targets) => {
                let center = mean(&|i| targets[i]);
                let spread = mean(&|i| (targets[i] - center).powi(2));
                let square = mean(&|i| (scores[i] - targets[i]).powi(2));
                let constant = targets.iter().all(|t| *t == targets[0]);
                LinearFit::Numbers {
                    r_squared: (!constant && spread > 0.0).then(|| 1.0 - square / spread),
                    root_mean_square_error: square.sqrt(),
                    mean_absolute_error: mean(&|i| (scores[i] - targets[i]).abs()),
                }
            }
            Target::Classes(_, labels) => {
                let positive = mean(&|i| f64::from(u8::from(labels[i] > 0.0)));
                LinearFit::Classes {
                    accuracy: mean(&|i| {
                        f64::from(u8::from((scores[i] > 0.0) == (labels[i] > 0.0)))
                    }),
                    baseline: positive.max(1.0 - positive),
                    log_loss: (loss == Loss::Logistic).then(|| {
                        mean(&|i| {
                            let t = -labels[i] * scores[i];
                            t.max(0.0) + (-t.abs()).exponential().natural_log_1p()
                        })
                    }),
                }
            }
            Target::Several(names, labels) => {
                let k = names.len();
                let own = |i: usize| &scores[i * k..(i + 1) * k];
                let mut shares = vec![0.0; k];
                (0..rows).for_each(|i| shares[labels[i] as usize] += weight(i) / n);
                LinearFit::Classes {
                    accuracy: mean(&|i| {
                        f64::from(u8::from(most_probable(own(i)) == labels[i] as usize))
                    }),
                    baseline: shares.into_iter().fold(0.0, f64::max),
                    log_loss: Some(mean(&|i| -own(i)[labels[i] as usize].natural_log())),
                }
            }
        }
    }
}

/// What scores predict: numbers, or classes with their scores and, where scores are log odds, the
/// probability of the second class; of several classes `scores` are their probabilities.
pub fn predicted_columns(
    classes: &[String],
    loss: Loss,
    scores: &[f64],
) -> Vec<(String, OutColumn)> {
    let named = |name: &str, column| (name.to_owned(), column);
    if classes.len() > 2 {
        let rows = scores.chunks_exact(classes.len());
        let class = |p: &[f64]| classes[most_probable(p)].clone();
        let predicted = OutColumn::Texts(rows.clone().map(class).collect());
        let own = |(c, name): (usize, &String)| {
            let column = rows.clone().map(|p| p[c]).collect();
            (format!("probability of {name}"), OutColumn::Numbers(column))
        };
        let probabilities = classes.iter().enumerate().map(own);
        return std::iter::once(named("prediction", predicted)).chain(probabilities).collect();
    }
    let [negative, positive] = classes else {
        return vec![named("prediction", OutColumn::Numbers(scores.to_vec()))];
    };
    let class = |score: &f64| if *score > 0.0 { positive.clone() } else { negative.clone() };
    let mut columns = vec![
        named("prediction", OutColumn::Texts(scores.iter().map(class).collect())),
        named("score", OutColumn::Numbers(scores.to_vec())),
    ];
    if loss == Loss::Logistic {
        let probabilities = scores.iter().map(|score| probability(*score)).collect();
        columns.push(named("probability", OutColumn::Numbers(probabilities)));
    }
    columns
}

/// The probability of the positive class.
pub fn probability(score: f64) -> f64 {
    let e = (-score.abs()).exponential();
    (if score < 0.0 { e } else { 1.0 }) / (1.0 + e)
}

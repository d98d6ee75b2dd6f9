//! Groups of rows with one label each, without a file.
//!
//! The rows of group i scatter around a centre of their own, so that groups differ in their labels:
//!
//! ```text
//! y_ij = m_i + e_ij,  m_i ~ N(0, 0.49 I),  e_ij ~ N(0, I)
//! t_ij = <y_ij, beta> + intercept
//! ```
//!
//! and the label of row j is drawn from the model at the score `t_ij`: 1 with the logistic
//! probability, a class with softmax probabilities (a beta for each class), a Poisson count with
//! mean `e^t`, or t with noise. The group's label is the mean of those of its rows or, of counts,
//! their sum. The same seed gives the same bits on every machine: only + - * / are used, also for
//! exponentials.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::generated::factor_model::normal;

/// What kind of labels rows have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowLabels {
    /// 0 or 1
    Binary,
    /// 0 to C - 1
    Classes(usize),
    /// Any number
    Real,
    /// 0, 1, 2, ...
    Counts,
}

/// What to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupOptions {
    /// The number of groups.
    pub groups: usize,
    /// The smallest and the largest number of rows in a group; sizes in between are equally likely.
    pub rows: (usize, usize),
    /// The number of features.
    pub features: usize,
    /// What kind of labels rows have.
    pub labels: RowLabels,
    /// Same seed, same bits.
    pub seed: u64,
}

/// Rows in groups, with the labels of both.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupedRows {
    /// The number of features of a row.
    pub features: usize,
    /// Rows, group after group.
    pub rows: Vec<f64>,
    /// The group of each row.
    pub groups: Vec<u32>,
    /// The label of each row, which a fit to groups does not see.
    pub row_labels: Vec<f64>,
    /// The label of each group: the mean of its rows' labels, the sum for counts, or the
    /// proportions of C classes.
    pub group_labels: Vec<f64>,
    /// beta, of C classes one after the other.
    pub coefficients: Vec<f64>,
    /// The intercept, one for each class.
    pub intercepts: Vec<f64>,
}

/// How far the centres of groups lie apart, beside 1 for the rows of a group.
const BETWEEN: f64 = 0.7;
/// `|beta|`, and of counts, whose means should not explode.
const STRENGTH: f64 = 1.5;
const STRENGTH_OF_COUNTS: f64 = 0.5;

/// Draws groups of rows.
pub fn generate_groups(options: &GroupOptions) -> GroupedRows {
    let GroupOptions { groups, rows: (least, most), features: d, labels, seed } = *options;
    let stream = |number: u64| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(number);
        rng
    };
    let [mut sizes, mut centres, mut within, mut model, mut draws] = [0, 1, 2, 3, 4].map(stream);
    let scores = if let RowLabels::Classes(classes) = labels { classes } else { 1 };
    let strength = if labels == RowLabels::Counts { STRENGTH_OF_COUNTS } else { STRENGTH };
    let mut coefficients: Vec<f64> = (0..scores * d).map(|_| normal(&mut model)).collect();
    for beta in coefficients.chunks_exact_mut(d) {
        let length = beta.iter().map(|b| b * b).sum::<f64>().sqrt();
        for b in beta {
            *b *= strength / length;
        }
    }
    let intercepts: Vec<f64> = (0..scores).map(|c| 0.5 - 0.5 * (c % 3) as f64).collect();
    let mut out = GroupedRows {
        features: d,
        rows: Vec::new(),
        groups: Vec::new(),
        row_labels: Vec::new(),
        group_labels: Vec::new(),
        coefficients,
        intercepts,
    };
    let mut t = vec![0.0; scores];
    for group in 0..groups {
        let size = least + (sizes.next_u64() % (most - least + 1) as u64) as usize;
        let centre: Vec<f64> = (0..d).map(|_| BETWEEN * normal(&mut centres)).collect();
        let mut total = vec![0.0; scores];
        for _ in 0..size {
            let first = out.rows.len();
            out.rows.extend(centre.iter().map(|m| m + normal(&mut within)));
            let row = &out.rows[first..];
            for (c, t) in t.iter_mut().enumerate() {
                let beta = &out.coefficients[c * d..(c + 1) * d];
                *t = row.iter().zip(beta).map(|(y, b)| y * b).sum::<f64>() + out.intercepts[c];
            }
            let label = draw(labels, &t, &mut draws);
            match labels {
                RowLabels::Classes(_) => total[label as usize] += 1.0,
                _ => total[0] += label,
            }
            out.groups.push(group as u32);
            out.row_labels.push(label);
        }
        let share = if labels == RowLabels::Counts { 1.0 } else { size as f64 };
        out.group_labels.extend(total.iter().map(|sum| sum / share));
    }
    out
}

/// One label at the scores t.
fn draw(labels: RowLabels, t: &[f64], rng: &mut ChaCha8Rng) -> f64 {
    match labels {
        RowLabels::Real => t[0] + normal(rng),
        RowLabels::Binary => f64::from(u8::from(unit(rng) * (1.0 + exp(-t[0])) < 1.0)),
        RowLabels::Classes(_) => {
            let weights: Vec<f64> = t.iter().map(|t| exp(*t)).collect();
            let mut left = unit(rng) * weights.iter().sum::<f64>();
            let class = weights.iter().position(|w| {
                left -= w;
                left < 0.0
            });
            class.unwrap_or(t.len() - 1) as f64
        }
        RowLabels::Counts => {
            // Events until uniforms multiply to less than e^-mean (Knuth).
            let least = exp(-exp(t[0]).min(500.0));
            let (mut product, mut count) = (unit(rng), 0.0);
            while product > least {
                product *= unit(rng);
                count += 1.0;
            }
            count
        }
    }
}

/// Uniform on [0, 1).
fn unit(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// `e^x` from + - * / alone: `(1 + x/2^10 + ...)^(2^10)`.
fn exp(x: f64) -> f64 {
    let r = x / 1024.0;
    let mut power = 1.0
        + r * (1.0
            + r / 2.0 * (1.0 + r / 3.0 * (1.0 + r / 4.0 * (1.0 + r / 5.0 * (1.0 + r / 6.0)))));
    for _ in 0..10 {
        power *= power;
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(labels: RowLabels) -> GroupOptions {
        GroupOptions { groups: 300, rows: (1, 30), features: 4, labels, seed: 3 }
    }

    #[test]
    fn the_exponential_is_one() {
        for x in [-30.0, -3.3, -0.1, 0.0, 0.7, 5.0, 20.0] {
            assert!((exp(x) / f64::exp(x) - 1.0).abs() < 1e-11, "{x}");
        }
    }

    #[test]
    fn labels_of_groups_are_those_of_their_rows() {
        for labels in [RowLabels::Binary, RowLabels::Classes(3), RowLabels::Real, RowLabels::Counts]
        {
            let drawn = generate_groups(&options(labels));
            assert_eq!(drawn, generate_groups(&options(labels)));
            let width = drawn.group_labels.len() / 300;
            for group in [0, 17, 299] {
                let own: Vec<f64> = (0..drawn.groups.len())
                    .filter(|&r| drawn.groups[r] == group)
                    .map(|r| drawn.row_labels[r])
                    .collect();
                assert!((1..=30).contains(&own.len()));
                let sum: f64 = own.iter().sum();
                let expected = match labels {
                    RowLabels::Counts => sum,
                    RowLabels::Classes(_) => {
                        own.iter().filter(|&&c| c == 0.0).count() as f64 / own.len() as f64
                    }
                    _ => sum / own.len() as f64,
                };
                assert!((drawn.group_labels[group as usize * width] - expected).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn labels_follow_the_model() {
        let drawn = generate_groups(&GroupOptions { groups: 2000, ..options(RowLabels::Binary) });
        let (mut expected, mut positive) = (0.0, 0.0);
        for (row, label) in drawn.rows.chunks_exact(4).zip(&drawn.row_labels) {
            let t: f64 = row.iter().zip(&drawn.coefficients).map(|(y, b)| y * b).sum::<f64>()
                + drawn.intercepts[0];
            expected += 1.0 / (1.0 + f64::exp(-t));
            positive += label;
        }
        let n = drawn.row_labels.len() as f64;
        assert!(((expected - positive) / n).abs() < 4.0 * (0.25 / n).sqrt());
    }
}

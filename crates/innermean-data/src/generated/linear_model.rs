//! Rows with a target without a file: dense rows whose features have something in common, and
//! sparse rows of few entries.
//!
//! Three features in ten have a say in the target, beside an intercept and noise; a class is
//! whether that sum is above zero. The same seed gives the same bits on every machine (see
//! `factor_model`).

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::formats::libsvm::SparseTable;
use crate::generated::factor_model::normal;

/// What to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinearModel {
    /// n
    pub rows: usize,
    /// d
    pub features: usize,
    /// Whether targets are classes, -1 and 1.
    pub classes: bool,
    /// Of all draws.
    pub seed: u64,
}

/// Dense rows with a target each.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetedRows {
    /// Row after row.
    pub features: Vec<f64>,
    /// One for each row.
    pub targets: Vec<f64>,
    /// Where it comes from.
    pub source: String,
}

/// What the target has besides.
const INTERCEPT: f64 = 0.5;
/// The deviation of the noise.
const NOISE: f64 = 0.7;
/// What the features of a row have in common, and what is their own: correlations of 0.36.
const COMMON: f64 = 0.6;
const OWN: f64 = 0.8;

impl LinearModel {
    /// Dense rows.
    pub fn dense(&self) -> TargetedRows {
        let LinearModel { rows, features: d, seed, .. } = *self;
        let truth = self.coefficients(1.0);
        let (mut draws, mut noise) = (self.stream(1), self.stream(2));
        let mut features = Vec::with_capacity(rows * d);
        let mut targets = Vec::with_capacity(rows);
        for i in 0..rows {
            let common = COMMON * normal(&mut draws);
            features.extend((0..d).map(|_| common + OWN * normal(&mut draws)));
            let score: f64 = features[i * d..].iter().zip(&truth).map(|(x, c)| x * c).sum();
            targets.push(self.target(score, &mut noise));
        }
        let source = format!("generated: linear model, {rows} rows, {d} features, seed {seed}");
        TargetedRows { features, targets, source }
    }

    /// Sparse rows of at most `nonzeros` entries: columns drawn twice are there once.
    pub fn sparse(&self, nonzeros: usize) -> SparseTable {
        let LinearModel { rows, features: d, seed, .. } = *self;
        let truth = self.coefficients(3.0);
        let (mut draws, mut noise) = (self.stream(1), self.stream(2));
        let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut targets = Vec::with_capacity(rows);
        let mut own = Vec::with_capacity(nonzeros);
        for _ in 0..rows {
            own.clear();
            // By the square of a uniform number, so that some columns are much more frequent than
            // others.
            own.extend((0..nonzeros).map(|_| {
                let unit = (draws.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
                (unit * unit * d as f64) as u32
            }));
            own.sort_unstable();
            own.dedup();
            let mut score = 0.0;
            for &l in &own {
                let value = 1.0 + 0.5 * normal(&mut draws);
                score += value * truth[l as usize];
                values.push(value);
            }
            indices.extend_from_slice(&own);
            indptr.push(indices.len());
            targets.push(self.target(score, &mut noise));
        }
        let source = format!(
            "generated: sparse linear model, {rows} rows, {d} features, {nonzeros} entries in a \
             row, seed {seed}"
        );
        SparseTable::new(source, targets, indptr, indices, values, d)
    }

    fn stream(&self, number: u64) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(number);
        rng
    }

    /// Three in ten are not zero, the first among them; `size` is their deviation.
    fn coefficients(&self, size: f64) -> Vec<f64> {
        let mut draws = self.stream(0);
        let mut coefficient = |l: usize| {
            let value = size * normal(&mut draws);
            if matches!(l % 10, 0 | 3 | 7) { value } else { 0.0 }
        };
        (0..self.features).map(&mut coefficient).collect()
    }

    fn target(&self, score: f64, noise: &mut ChaCha8Rng) -> f64 {
        let target = INTERCEPT + score + NOISE * normal(noise);
        match (self.classes, target > 0.0) {
            (false, _) => target,
            (true, true) => 1.0,
            (true, false) => -1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers_and_another_other_ones() {
        let model = LinearModel { rows: 50, features: 12, classes: false, seed: 3 };
        assert_eq!(model.dense(), model.dense());
        assert_eq!(model.sparse(4), model.sparse(4));
        let other = LinearModel { seed: 4, ..model };
        assert_ne!(model.dense().targets, other.dense().targets);
        assert_ne!(model.sparse(4).values, other.sparse(4).values);
        let rows = model.dense();
        assert_eq!((rows.features.len(), rows.targets.len()), (600, 50));
        let sparse = model.sparse(4);
        assert_eq!((sparse.rows(), sparse.d), (50, 12));
        assert!(
            (0..50)
                .all(|i| sparse.row(i).0.is_sorted_by(|a, b| a < b) && !sparse.row(i).0.is_empty())
        );
    }

    #[test]
    fn classes_are_the_signs_of_the_same_targets() {
        let model = LinearModel { rows: 200, features: 5, classes: false, seed: 3 };
        let classes = LinearModel { classes: true, ..model };
        let (targets, labels) = (model.dense().targets, classes.dense().targets);
        assert!(targets.iter().zip(&labels).all(|(t, y)| t.signum() == *y));
        assert!(labels.contains(&1.0) && labels.contains(&-1.0));
    }
}

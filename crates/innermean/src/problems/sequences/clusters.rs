//! Starts from clusters: the steps parted by their features alone, and the parts named by how they
//! follow each other.
//!
//! Clusters are those of Lloyd's k-means from seeds drawn as in k-means++ (Arthur and Vassilvitskii
//! 2007). Where classes gather around means of their own, the parts are the classes but for their
//! names, which `relabel` finds from the bigrams of the language; and the start is all but the
//! solution. Where they do not, it is a start like any other.

use super::Sequences;
use super::relabel::{best_names, renamed};
use crate::draws::Stream;
use crate::linalg::elementary::Elementary;
use crate::linalg::vector::{axpy, distance_squared};

/// Passes over the steps; the last ones move few.
const PASSES: usize = 20;
/// Climbs to the best names.
const CLIMBS: usize = 30;

impl Sequences {
    /// A start from clusters of the steps, which `draws` decide. Once time `is_over`, what has been
    /// found so far must do.
    pub(super) fn start_from_clusters(
        &self,
        draws: &mut Stream,
        is_over: &dyn Fn() -> bool,
    ) -> Vec<f64> {
        let (classes, features) = (self.language.classes(), self.width - 1);
        let mut means = self.seeds(draws);
        let mut part_of = vec![0; self.steps()];
        let mut counts = vec![0.0; classes];
        let mut spread = 0.0;
        for pass in 0..PASSES {
            if pass > 0 && is_over() {
                break;
            }
            let mut sums = vec![0.0; classes * features];
            counts.fill(0.0);
            spread = 0.0;
            self.rows.each_row(self.width, |t, row| {
                let x = &row[..features];
                let near = |c: usize| distance_squared(x, &means[c * features..(c + 1) * features]);
                let (mut best, mut least) = (0, f64::INFINITY);
                for c in 0..classes {
                    let far = near(c);
                    if far < least {
                        (best, least) = (c, far);
                    }
                }
                part_of[t] = best;
                spread += least;
                counts[best] += 1.0;
                axpy(1.0, x, &mut sums[best * features..(best + 1) * features]);
            });
            for (c, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0.0) {
                let own = c * features..(c + 1) * features;
                for (mean, sum) in means[own.clone()].iter_mut().zip(&sums[own]) {
                    *mean = sum / count;
                }
            }
        }
        let mut bigrams = vec![0.0; classes * classes];
        for &t in &self.windows {
            bigrams[part_of[t] * classes + part_of[t + 1]] += 1.0 / self.windows.len() as f64;
        }
        // Equal normal distributions around the means: log P(c | x) = <m_c, x>/s^2 - |m_c|^2/(2
        // s^2) + log(share of c) + const.
        let variance = (spread / (self.steps() * features) as f64).max(1e-6);
        let mut theta = Vec::with_capacity(classes * self.width);
        for (mean, count) in means.chunks_exact(features).zip(&counts) {
            theta.extend(mean.iter().map(|m| m / variance));
            let square: f64 = mean.iter().map(|m| m * m).sum();
            theta.push(
                ((count + 1.0) / self.steps() as f64).natural_log() - square / (2.0 * variance),
            );
        }
        renamed(&theta, &best_names(&self.language.bigrams(), &bigrams, draws, CLIMBS, is_over))
    }

    /// The first means: steps drawn one after the other, those far from all before with a higher
    /// chance.
    fn seeds(&self, draws: &mut Stream) -> Vec<f64> {
        let (classes, features) = (self.language.classes(), self.width - 1);
        let mut far = vec![1.0; self.steps()];
        let mut means = Vec::with_capacity(classes * features);
        for c in 0..classes {
            let mut left = draws.unit() * far.iter().sum::<f64>();
            let drawn = far.iter().position(|far| {
                left -= far;
                left < 0.0
            });
            let drawn = drawn.unwrap_or(self.steps() - 1);
            let mean = self.with_rows(drawn..drawn + 1, |row| row[..features].to_vec());
            self.rows.each_row(self.width, |t, row| {
                let square = distance_squared(&row[..features], &mean);
                far[t] = if c == 0 || square < far[t] { square } else { far[t] };
            });
            means.extend(mean);
        }
        means
    }
}

//! The bootstrap (Efron, 1979): units drawn again with replacement, and the problem solved for each
//! draw.

use rayon::prelude::*;

use super::{Clusters, Covariance};
use crate::auto;
use crate::draws::Stream;
use crate::model::problem::Objective;
use crate::model::sample::{PartOf, TermsOf};
use crate::run::{Driver, Stop};

/// Numbers the streams of draws away from those of the methods.
const STREAM: u64 = 1 << 40;

/// Answers for data drawn again.
#[derive(Debug, Clone, PartialEq)]
pub struct Replicates {
    /// Those that were found.
    pub thetas: Vec<Vec<f64>>,
    /// How many draws had no answer.
    pub failed: usize,
}

impl Replicates {
    /// Their covariance, about their mean.
    pub fn covariance(&self) -> Option<Covariance> {
        let count = self.thetas.len();
        let d = self.thetas.first()?.len();
        if count < 2 {
            return None;
        }
        let mean: Vec<f64> = (0..d)
            .map(|l| self.thetas.iter().map(|theta| theta[l]).sum::<f64>() / count as f64)
            .collect();
        let mut matrix = vec![0.0; d * d];
        for theta in &self.thetas {
            for r in 0..d {
                for c in 0..d {
                    matrix[r * d + c] += (theta[r] - mean[r]) * (theta[c] - mean[c]);
                }
            }
        }
        matrix.iter_mut().for_each(|entry| *entry /= (count - 1) as f64);
        Some(Covariance::new(d, matrix, count))
    }

    /// Between the quantiles of coordinate l that leave out `1 - level`, half on each side.
    pub fn interval(&self, l: usize, level: f64) -> Option<[f64; 2]> {
        let mut values: Vec<f64> = self.thetas.iter().map(|theta| theta[l]).collect();
        values.sort_by(f64::total_cmp);
        let last = values.len().checked_sub(1)? as f64;
        let quantile = |p: f64| {
            let at = p * last;
            let (below, part) = (at.floor() as usize, at.fract());
            let above = (below + 1).min(values.len() - 1);
            (1.0 - part) * values[below] + part * values[above]
        };
        Some([quantile(0.5 - 0.5 * level), quantile(0.5 + 0.5 * level)])
    }
}

/// Draws the clusters `replicates` times with replacement and asks `refit` for the answer of each
/// draw, in parallel. It is given the members of the clusters that were drawn, one after the other,
/// and has none for data that do not determine one. The same seed gives the same replicates on any
/// number of threads.
pub fn bootstrap(
    clusters: &Clusters,
    replicates: usize,
    seed: u64,
    refit: impl Fn(&[usize]) -> Option<Vec<f64>> + Sync,
) -> Replicates {
    let mut members = vec![Vec::new(); clusters.count()];
    for (k, &c) in clusters.of().iter().enumerate() {
        members[c as usize].push(k);
    }
    let draw = |replicate: usize| {
        let mut draws = Stream::new(seed, STREAM + replicate as u64);
        let drawn: Vec<usize> = (0..members.len())
            .flat_map(|_| members[draws.index(members.len())].iter().copied())
            .collect();
        refit(&drawn)
    };
    let answers: Vec<Option<Vec<f64>>> = (0..replicates).into_par_iter().map(draw).collect();
    let thetas: Vec<Vec<f64>> = answers.into_iter().flatten().collect();
    Replicates { failed: replicates - thetas.len(), thetas }
}

/// A refit for [`bootstrap`]: the problem of the drawn terms alone, solved from theta on. None
/// unless it is solved within the limits.
pub fn resampled_terms<'p>(
    problem: impl Into<Objective<'p>>,
    theta: &'p [f64],
    stop: Stop,
) -> impl Fn(&[usize]) -> Option<Vec<f64>> + Sync + 'p {
    let whole = problem.into();
    move |drawn| {
        let inner = PartOf::new(whole.inner, drawn, usize::MAX);
        let merit = TermsOf { whole: whole.merit, terms: drawn };
        let problem = Objective { inner: &inner, merit: &merit, ..whole };
        let driver = Driver { stop: stop.clone(), ..Driver::default() };
        let solution = auto::solve(&driver, problem, theta, &mut (), 0).ok()?.solution;
        solution.status.is_solved().then_some(solution.theta)
    }
}

//! The bootstrap (Efron, 1979): units drawn with replacement, and the estimate computed anew for
//! each draw.

use rayon::prelude::*;

use super::distributions::normal_quantile;
use super::{Clusters, Covariance};
use crate::auto;
use crate::draws::Stream;
use crate::model::problem::Objective;
use crate::model::sample::{PartOf, TermsOf};
use crate::run::{Driver, Stop};

/// The first of the streams of draws, away from those of the methods.
const STREAM: u64 = 1 << 40;

/// What is drawn with replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resampling {
    /// As many clusters as there are; single observations with [`Clusters::singletons`].
    Clusters(Clusters),
    /// Blocks of consecutive observations of one time series (Künsch, 1989), as many as make up
    /// its length, the last one cut short.
    MovingBlocks {
        /// Observations.
        n: usize,
        /// Those of a block.
        length: usize,
    },
    /// The same of a series closed to a circle (Politis and Romano, 1992), so that all observations
    /// are drawn equally often.
    CircularBlocks {
        /// Observations.
        n: usize,
        /// Those of a block.
        length: usize,
    },
}

impl Resampling {
    /// The observations of each cluster; none for blocks.
    fn members(&self) -> Vec<Vec<usize>> {
        let Resampling::Clusters(clusters) = self else { return Vec::new() };
        let mut members = vec![Vec::new(); clusters.count()];
        for (k, &c) in clusters.of().iter().enumerate() {
            members[c as usize].push(k);
        }
        members
    }

    fn draw(&self, members: &[Vec<usize>], draws: &mut Stream) -> Vec<usize> {
        let blocks = |n: usize, length: usize, starts: usize, draws: &mut Stream| {
            let mut drawn = Vec::with_capacity(n + length);
            while drawn.len() < n {
                let start = draws.index(starts);
                drawn.extend((start..start + length).map(|t| t % n));
            }
            drawn.truncate(n);
            drawn
        };
        match *self {
            Resampling::Clusters(_) => (0..members.len())
                .flat_map(|_| members[draws.index(members.len())].iter().copied())
                .collect(),
            Resampling::MovingBlocks { n, length } => blocks(n, length, n + 1 - length, draws),
            Resampling::CircularBlocks { n, length } => blocks(n, length, n, draws),
        }
    }
}

/// Estimates from data drawn anew.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Replicates {
    /// One for each draw that identified it.
    pub thetas: Vec<Vec<f64>>,
    /// The number of draws that did not, or whose problem was not solved.
    pub failed: usize,
    /// The number of draws that were asked for and not made (see [`bootstrap_while`]).
    pub unmade: usize,
}

impl Replicates {
    /// Their covariance about their mean; none of fewer than two.
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
        for entry in &mut matrix {
            *entry /= (count - 1) as f64;
        }
        Some(Covariance::new(d, matrix, f64::INFINITY))
    }

    /// The standard deviation of each coordinate: the roots of the covariance's diagonal, without
    /// the rest of it. None of fewer than two.
    pub fn standard_errors(&self) -> Option<Vec<f64>> {
        let count = self.thetas.len();
        let d = self.thetas.first().filter(|_| count >= 2)?.len();
        let of = |l: usize| {
            let mean = self.thetas.iter().map(|theta| theta[l]).sum::<f64>() / count as f64;
            let squares = self.thetas.iter().map(|theta| (theta[l] - mean).powi(2));
            (squares.sum::<f64>() / (count - 1) as f64).sqrt()
        };
        Some((0..d).map(of).collect())
    }

    /// The percentile interval of coordinate l: between the quantiles that leave out `1 - level`,
    /// half on each side.
    pub fn percentile_interval(&self, l: usize, level: f64) -> Option<[f64; 2]> {
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

    /// The normal interval of coordinate l about its estimate from the data themselves, with the
    /// standard deviation of the replicates.
    pub fn normal_interval(&self, l: usize, estimate: f64, level: f64) -> Option<[f64; 2]> {
        let z = normal_quantile(0.5 + 0.5 * level);
        let count = self.thetas.len();
        if count < 2 {
            return None;
        }
        let mean = self.thetas.iter().map(|theta| theta[l]).sum::<f64>() / count as f64;
        let squares = self.thetas.iter().map(|theta| (theta[l] - mean).powi(2));
        let error = (squares.sum::<f64>() / (count - 1) as f64).sqrt();
        Some([estimate - z * error, estimate + z * error])
    }

    /// A linear function of every replicate, such as [`Scaling::unscale`] or the value of a state.
    ///
    /// [`Scaling::unscale`]: crate::problems::scaling::Scaling::unscale
    #[must_use]
    pub fn map(&self, map: impl Fn(&[f64]) -> Vec<f64>) -> Replicates {
        let thetas = self.thetas.iter().map(|theta| map(theta)).collect();
        Replicates { thetas, ..*self }
    }
}

/// Draws data `replicates` times and asks `refit` for the estimate of each draw, in parallel: it is
/// given the numbers of the observations that were drawn, and returns none where they do not
/// identify an estimate. The same seed gives the same replicates on any number of threads.
///
/// Refits: [`refit_terms`], [`policy::refit_projected`](super::policy::refit_projected),
/// [`policy::refit_bellman`](super::policy::refit_bellman),
/// [`Moments::refit`](crate::Moments::refit).
///
/// # Panics
/// If the length of blocks is 0, or more than the number of observations.
pub fn bootstrap(
    resampling: &Resampling,
    replicates: usize,
    seed: u64,
    refit: impl Fn(&[usize]) -> Option<Vec<f64>> + Sync,
) -> Replicates {
    bootstrap_while(&|| true, resampling, replicates, seed, refit)
}

/// The same as long as `go_on` says so, which is asked before each draw. Draws after it said no are
/// not made ([`Replicates::unmade`]).
///
/// # Panics
/// As [`bootstrap`].
pub fn bootstrap_while(
    go_on: &(dyn Fn() -> bool + Sync),
    resampling: &Resampling,
    replicates: usize,
    seed: u64,
    refit: impl Fn(&[usize]) -> Option<Vec<f64>> + Sync,
) -> Replicates {
    if let Resampling::MovingBlocks { n, length } | Resampling::CircularBlocks { n, length } =
        resampling
    {
        assert!((1..=*n).contains(length), "blocks of {length} of {n} observations");
    }
    let members = resampling.members();
    let made: Vec<Option<Vec<f64>>> = (0..replicates)
        .into_par_iter()
        .filter(|_| go_on())
        .map(|replicate| {
            let mut draws = Stream::new(seed, STREAM + replicate as u64);
            refit(&resampling.draw(&members, &mut draws))
        })
        .collect();
    let unmade = replicates - made.len();
    let thetas: Vec<Vec<f64>> = made.into_iter().flatten().collect();
    Replicates { failed: replicates - unmade - thetas.len(), unmade, thetas }
}

/// A refit for [`bootstrap`]: the problem of the drawn terms, solved from theta. None unless it is
/// solved within the limits.
pub fn refit_terms<'p>(
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

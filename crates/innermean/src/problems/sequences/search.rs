//! The search for a start: the cost has many local minima, and a descent ends in the one it begins
//! near.
//!
//! Half of the starts are random weights, the other half come from clusters of the steps (see
//! `clusters`). Each descends for a short while by L-BFGS on a part of the steps; the few that have
//! come lowest go on for a while with all steps, and the lowest of them is where a solver begins.
//! The objective alone decides: there are no labels here.
//!
//! Starts are independent of each other and drawn from streams of their own, so that the same seed
//! gives the same start on any number of threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Sequences;
use crate::draws::Stream;
use crate::methods::{AnyMethod, Listed, lbfgs::Lbfgs};
use crate::model::inner::Inner;
use crate::model::merit::NegativeLog;
use crate::model::problem::Problem;
use crate::model::regularizer::Regularizer;
use crate::model::setting::InvalidSetting;
use crate::run::{Driver, Stop};
use crate::tuning::choice::Choice;

/// The deviation of a random weight.
const SCALE: f64 = 0.3;
/// Steps of the part on which starts are compared, at least.
const PART: usize = 4000;
/// And for each n-gram: the divergence of T windows from their own language is about `n_X / (2 T)`
/// by chance, which must be small beside the differences of local minima.
const PART_PER_NGRAM: usize = 10;
/// Outer iterations of a start on the part, and of the best on all steps.
const ITERATIONS_ON_PART: u64 = 40;
/// How many go on with all steps.
const STARTS_ON_ALL: usize = 3;
/// The first step of the descents: too long at some starts, where it is halved, and never far too
/// short.
const ALPHA: f64 = 0.5;
/// Of the draws of the first start, far from those that methods number from 0.
const STREAM: u64 = 3000;

/// How to search.
#[derive(Debug, Clone, Default)]
pub struct Search<'a> {
    /// How many starts are tried.
    pub starts: usize,
    /// Of the random draws.
    pub seed: u64,
    /// Seconds after which no more is tried than is needed to have a start at all.
    pub max_seconds: Option<f64>,
    /// Set by a signal handler, likewise.
    pub interrupt: Option<&'a AtomicBool>,
}

/// Where a start came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Origin {
    /// Clusters of the steps, named by the language.
    Clusters,
    /// Random weights.
    Random,
}

/// What became of a start.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Tried {
    /// Where it came from.
    pub origin: Origin,
    /// The objective that a short descent reached on the part of the steps; none if time was up
    /// before.
    pub on_part: Option<f64>,
    /// The objective on all steps, of the few that went on.
    pub on_all: Option<f64>,
}

/// What a search has found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Found {
    /// The best start.
    pub theta: Vec<f64>,
    /// Its objective.
    pub objective: f64,
    /// All starts, in the order of their numbers.
    pub tried: Vec<Tried>,
    /// Steps of the part on which they were compared.
    pub part: usize,
    /// What it took.
    pub seconds: f64,
    /// Whether it was cut short.
    pub cut_short: bool,
}

impl Search<'_> {
    /// Searches for a start of `problem`.
    ///
    /// # Errors
    /// If there are no starts to try.
    pub fn run<G: Regularizer>(
        &self,
        problem: &Problem<Sequences, NegativeLog, G>,
    ) -> Result<Found, InvalidSetting> {
        if self.starts == 0 {
            return Err(InvalidSetting::new("starts", "0", "a whole number above 0"));
        }
        let clock = Instant::now();
        let f = &problem.inner;
        let part = f.sample(PART.max(PART_PER_NGRAM * f.n_x())).problem(&problem.regularizer)?;
        let mut tried: Vec<(Tried, Vec<f64>)> = (0..self.starts)
            .into_par_iter()
            .map(|number| {
                let origin = if number % 2 == 0 { Origin::Clusters } else { Origin::Random };
                // Whatever the time, one start is made: it is better than none.
                if number > 0 && self.is_over(clock) {
                    return (Tried { origin, on_part: None, on_all: None }, Vec::new());
                }
                let mut draws = Stream::new(self.seed, STREAM + number as u64);
                let start = match origin {
                    Origin::Clusters => {
                        part.inner.start_from_clusters(&mut draws, &|| self.is_over(clock))
                    }
                    Origin::Random => random_weights(part.inner.d(), &mut draws),
                };
                let (theta, objective) = self.descend(&part, &start, clock);
                (Tried { origin, on_part: Some(objective), on_all: None }, theta)
            })
            .collect();
        let mut best: Vec<usize> =
            (0..tried.len()).filter(|&k| tried[k].0.on_part.is_some()).collect();
        let reached = |k: &usize| tried[*k].0.on_part.unwrap_or(f64::INFINITY);
        best.sort_by(|a, b| reached(a).total_cmp(&reached(b)));
        best.truncate(STARTS_ON_ALL);
        let went_on: Vec<(Vec<f64>, f64)> =
            best.par_iter().map(|&k| self.descend(problem, &tried[k].1, clock)).collect();
        for (&k, (_, objective)) in best.iter().zip(&went_on) {
            tried[k].0.on_all = Some(*objective);
        }
        let lowest =
            went_on.into_iter().reduce(|best, next| if next.1 < best.1 { next } else { best });
        // The first start is always tried.
        let (theta, objective) = lowest.unwrap_or_default();
        Ok(Found {
            theta,
            objective,
            tried: tried.into_iter().map(|(tried, _)| tried).collect(),
            part: part.inner.steps(),
            seconds: clock.elapsed().as_secs_f64(),
            cut_short: self.is_over(clock),
        })
    }

    fn left(&self, clock: Instant) -> Option<f64> {
        let seconds = self
            .max_seconds
            .map(|most| Duration::try_from_secs_f64(most).unwrap_or(Duration::MAX))?;
        Some(seconds.saturating_sub(clock.elapsed()).as_secs_f64())
    }

    fn is_over(&self, clock: Instant) -> bool {
        self.left(clock).is_some_and(|left| left == 0.0)
            || self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// A short descent: the best point on it and its objective.
    fn descend<G: Regularizer>(
        &self,
        problem: &Problem<Sequences, NegativeLog, G>,
        theta: &[f64],
        clock: Instant,
    ) -> (Vec<f64>, f64) {
        let stop = Stop {
            max_outer: Some(ITERATIONS_ON_PART),
            max_seconds: self.left(clock),
            tolerance: None,
            ..Stop::default()
        };
        let driver = Driver { stop, interrupt: self.interrupt, ..Driver::default() };
        let choice = Choice { alpha_theta: Some(ALPHA), ..Choice::default() };
        let method = Lbfgs::choose(&choice, problem, theta).expect("the settings make sense");
        let solution = AnyMethod::Lbfgs(method).run(&driver, problem, theta, &mut ());
        // A point that is not finite is no point.
        let objective =
            if solution.objective.is_nan() { f64::INFINITY } else { solution.objective };
        (solution.theta, objective)
    }
}

/// Independent, symmetric, of deviation [`SCALE`]: the sum of twelve uniform numbers has variance
/// one.
pub(super) fn random_weights(d: usize, draws: &mut Stream) -> Vec<f64> {
    (0..d).map(|_| SCALE * ((0..12).map(|_| draws.unit()).sum::<f64>() - 6.0)).collect()
}

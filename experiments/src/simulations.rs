//! Models with a known truth, from which data sets are drawn to see how often intervals cover it.

use innermean::draws::Stream;
use innermean::inference::{Covariance, Replicates};
use innermean::{Driver, Objective, Stop, auto};

mod bags;
mod linear;
mod moments;
mod policy;

/// The level of the intervals.
pub const LEVEL: f64 = 0.95;
/// Replicates of a bootstrap.
const REPLICATES: usize = 200;

/// A model, an estimator of it, and the interval.
pub struct Simulation {
    /// The application.
    pub command: &'static str,
    /// What is estimated, from how much data.
    pub estimator: &'static str,
    /// How the interval is made.
    pub interval: &'static str,
    /// Draws a data set and estimates; none where there is no interval.
    pub run: fn(&mut Stream) -> Option<Vec<Interval>>,
}

/// The interval of one coefficient.
pub struct Interval {
    truth: f64,
    ends: [f64; 2],
}

impl Interval {
    /// Whether the truth lies in it.
    pub fn covers(&self) -> bool {
        (self.ends[0]..=self.ends[1]).contains(&self.truth)
    }
}

/// In the order of the table.
pub const SIMULATIONS: &[Simulation] = &[
    linear::HETEROSKEDASTIC,
    linear::CLUSTERED,
    linear::WEIGHTED,
    linear::LOGISTIC,
    linear::BOOTSTRAP,
    bags::PROPORTIONS,
    bags::CLASSES,
    bags::BOOTSTRAP,
    policy::TRAJECTORY,
    policy::MISSPECIFIED,
    policy::EPISODES,
    policy::BELLMAN,
    policy::START_VALUE,
    policy::BLOCKS,
    moments::TWO_STAGES,
    moments::TWO_STEPS,
    moments::CLUSTERED,
];

/// Intervals by Student's t.
fn by_errors(truth: &[f64], estimate: &[f64], covariance: &Covariance) -> Vec<Interval> {
    let ends = covariance.intervals(estimate, LEVEL);
    truth.iter().zip(ends).map(|(&truth, ends)| Interval { truth, ends }).collect()
}

/// Percentile intervals.
fn by_percentiles(truth: &[f64], replicates: &Replicates) -> Option<Vec<Interval>> {
    let interval = |(l, &truth): (usize, &f64)| {
        Some(Interval { truth, ends: replicates.percentile_interval(l, LEVEL)? })
    };
    truth.iter().enumerate().map(interval).collect()
}

/// Normal intervals with the standard deviations of the replicates.
fn by_deviations(
    truth: &[f64],
    estimate: &[f64],
    replicates: &Replicates,
) -> Option<Vec<Interval>> {
    let interval = |(l, &truth): (usize, &f64)| {
        let ends = replicates.normal_interval(l, estimate[l], LEVEL)?;
        Some(Interval { truth, ends })
    };
    truth.iter().enumerate().map(interval).collect()
}

fn solved<'p>(problem: impl Into<Objective<'p>>) -> Option<Vec<f64>> {
    let problem = problem.into();
    let stop = Stop { tolerance: Some(1e-8), ..Stop::default() };
    let driver = Driver { stop, ..Driver::default() };
    let start = vec![0.0; problem.inner.d()];
    let solution = auto::solve(&driver, problem, &start, &mut (), 0).ok()?.solution;
    solution.status.is_solved().then_some(solution.theta)
}

/// A standard normal number, by Box and Muller's formula.
fn normal(draws: &mut Stream) -> f64 {
    let (u, v) = (1.0 - draws.unit(), draws.unit());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// 1 with that probability, else 0.
fn flip(draws: &mut Stream, probability: f64) -> f64 {
    f64::from(u8::from(draws.unit() < probability))
}

fn sigmoid(t: f64) -> f64 {
    1.0 / (1.0 + (-t).exp())
}

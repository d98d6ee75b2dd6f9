//! Runs at several weights of risk, each from where the nearest one ended.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use innermean::{Certificate, Inner, Portfolio, Solution, Status};

use super::super::risk::mean_absolute_deviation;
use super::super::{PortfolioTask, Risk};
use super::path::Path;
use crate::error::Error;
use crate::run::{Solver, Start, Task, Watch};

/// What a run of a search asks for: more than is printed.
const TOLERANCE: f64 = 1e-10;
/// Outer iterations of the method of multipliers, of which one or two dozens are usual.
const MOST_OUTER: u64 = 100;
/// How far beyond a face of weights that are not bounded a proof on a condensed market goes.
const FAR: f64 = 1e3;

/// The end of a run at one weight of risk.
#[derive(Debug, Clone)]
pub(in super::super) struct Probe {
    /// C
    pub(in super::super) weight: f64,
    pub(in super::super) theta: Vec<f64>,
    /// The expected return less costs and norms.
    pub(in super::super) net: f64,
    pub(in super::super) risk: f64,
    /// Proven to be below the objective everywhere.
    pub(in super::super) lower: f64,
    pub(in super::super) certificate: Certificate,
    pub(in super::super) status: Status,
}

impl Probe {
    /// Proven to be below the objective everywhere, if it is.
    pub(in super::super) fn lower_everywhere(&self) -> f64 {
        if self.certificate.within.is_none() { self.lower } else { f64::NEG_INFINITY }
    }
}

/// What a market of few periods may differ from the one whose place it takes.
struct Condensed {
    /// The periods of that one.
    n: usize,
    /// The standard deviation of every asset.
    columns: Vec<f64>,
    /// `max_l |m_l|` over the smallest of them.
    along: f64,
}

impl Condensed {
    fn new(n: usize, portfolio: &Portfolio) -> Self {
        let (d, mean) = (portfolio.d(), portfolio.mean_returns());
        let mut columns = vec![0.0; d];
        portfolio.returns().each_row(d, |_, row| {
            for ((sum, x), m) in columns.iter_mut().zip(row).zip(mean) {
                *sum += (x - m) * (x - m) / (2 * d) as f64;
            }
        });
        for square in &mut columns {
            *square = square.sqrt();
        }
        let shifts: f64 = mean.iter().fold(0.0, |most, m: &f64| most.max(m.abs()));
        let smallest = columns.iter().copied().fold(f64::INFINITY, f64::min);
        let along = if smallest > 0.0 { shifts / smallest } else { 0.0 };
        Condensed { n, columns, along }
    }
}

/// A task that is run at one weight of risk after the other.
pub(in super::super) struct Prober<'t> {
    pub(in super::super) task: &'t mut PortfolioTask,
    /// Where the task is that of a condensed market.
    condensed: Option<Condensed>,
    /// Where points between others are found and proven without a run.
    path: Option<Path>,
    solver: Solver,
    interrupt: Option<&'t AtomicBool>,
    begun: Instant,
    /// For all runs together.
    max_seconds: Option<f64>,
    /// All runs, by falling weight.
    pub(in super::super) probes: Vec<Probe>,
}

impl<'t> Prober<'t> {
    /// `condensed` is the number of periods of the market whose place the task's takes.
    pub(in super::super) fn new(
        task: &'t mut PortfolioTask,
        condensed: Option<usize>,
        solver: &Solver,
        interrupt: Option<&'t AtomicBool>,
    ) -> Self {
        let condensed = condensed.map(|n| Condensed::new(n, &task.portfolio));
        let path = condensed.as_ref().and_then(|_| Path::new(task));
        let mut own = Solver::default();
        let tolerance = solver.stop.tolerance.unwrap_or(TOLERANCE);
        own.stop.tolerance = Some(tolerance.min(TOLERANCE));
        own.choice.seed = solver.choice.seed;
        Prober {
            task,
            condensed,
            path,
            solver: own,
            interrupt,
            begun: Instant::now(),
            max_seconds: solver.stop.max_seconds,
            probes: Vec::new(),
        }
    }

    /// Whether an end was asked for, or time is up.
    pub(in super::super) fn is_interrupted(&self) -> bool {
        self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed))
            || self.left().is_some_and(|left| left <= f64::MIN_POSITIVE)
    }

    /// Why an end came before an answer.
    pub(in super::super) fn why_ended(&self) -> Status {
        let is_asked = self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed));
        if is_asked { Status::Interrupted } else { Status::MaxSeconds }
    }

    /// The seconds that are left, of which a run needs some to report where it begins.
    fn left(&self) -> Option<f64> {
        let used = self.begun.elapsed().as_secs_f64();
        self.max_seconds.map(|most| (most - used).max(f64::MIN_POSITIVE))
    }

    /// A weight at which return and risk are of the same size.
    pub(in super::super) fn usual_weight(&self) -> f64 {
        let portfolio = self.task.portfolio();
        let largest = portfolio.mean_returns().iter().fold(0.0, |most: f64, m| most.max(m.abs()));
        let unit = mean_absolute_deviation(portfolio);
        let unit = if unit > 0.0 { unit } else { 1.0 };
        let risk = if self.task.settings().risk.is_square() { unit * unit } else { unit };
        if largest > 0.0 { largest / risk } else { 1.0 }
    }

    /// Runs at a weight, from the end of the run at the nearest one, or from between its
    /// neighbours: where they rest on the same face that is the answer.
    pub(in super::super) fn at(&mut self, weight: f64) -> Result<&Probe, Error> {
        let place = self.probes.partition_point(|probe| probe.weight > weight);
        let start = match (place.checked_sub(1).map(|k| &self.probes[k]), self.probes.get(place)) {
            (Some(above), Some(below)) if self.task.settings().risk == Risk::Variance => {
                let reach = 1.0 / below.weight - 1.0 / above.weight;
                let share = ((1.0 / weight - 1.0 / above.weight) / reach).clamp(0.0, 1.0);
                let mix = |(a, b): (&f64, &f64)| a + share * (b - a);
                Some(above.theta.iter().zip(&below.theta).map(mix).collect())
            }
            (Some(one), None) | (None, Some(one)) => Some(one.theta.clone()),
            (Some(above), Some(below)) => {
                let is_nearer = weight * weight > above.weight * below.weight;
                Some(if is_nearer { above.theta.clone() } else { below.theta.clone() })
            }
            (None, None) => None,
        };
        let is_between = place > 0 && place < self.probes.len();
        if let (Some(path), Some(near), true) = (&self.path, &start, is_between) {
            let tolerance = self.solver.stop.tolerance.unwrap_or(TOLERANCE);
            let between = [&self.probes[place - 1], &self.probes[place]];
            if let Some(mut probe) = path.at(weight, near, between, self.task, tolerance) {
                self.allow_for_condensing(&probe.theta, weight, &mut probe.certificate);
                probe.lower = weight * probe.risk
                    - probe.net
                    - probe.certificate.gap.unwrap_or(f64::INFINITY);
                self.probes.insert(place, probe);
                return Ok(&self.probes[place]);
            }
        }
        self.task.weigh(weight)?;
        let start = if self.on_one_face(place) {
            // The answer, but for rounding: all that is left is to prove it.
            start
        } else {
            self.task.leap(start, self.left(), self.interrupt)
        };
        let solution = self.run(start)?;
        let (theta, objective, status) = (solution.theta, solution.objective, solution.status);
        let risk = self.task.risk_of(&theta)?;
        let mut certificate = solution.certificate;
        self.allow_for_condensing(&theta, weight, &mut certificate);
        let lower = objective - certificate.gap.unwrap_or(f64::INFINITY);
        let net = weight * risk - objective;
        self.probes.insert(place, Probe { weight, theta, net, risk, lower, certificate, status });
        Ok(&self.probes[place])
    }

    /// A run from there. Where the risk has kinks it is one of the method of multipliers, which
    /// gains nothing from a start: its duals begin at 0. What others would find out after it is not
    /// worth their time: what it has proven is true, and the search goes on with that.
    fn run(&self, start: Option<Vec<f64>>) -> Result<Solution, Error> {
        let mut solver = self.solver.clone();
        solver.stop.max_seconds = self.left();
        solver.start = start.map(Start::Given);
        let run = |solver: &Solver| {
            let watch = Watch { observer: &mut (), interrupt: self.interrupt };
            self.task.run(solver, watch).map(|ran| ran.solution)
        };
        if self.task.settings().risk.is_homogeneous() {
            let mut alone = solver.clone();
            "multipliers".clone_into(&mut alone.method);
            (alone.stop.max_outer, alone.start) = (Some(MOST_OUTER), None);
            // It does not suit a very large problem.
            if let Ok(solution) = run(&alone) {
                return Ok(solution);
            }
        }
        run(&solver)
    }

    /// Whether the neighbours of a place hold the same assets, and others at the same weights.
    fn on_one_face(&self, place: usize) -> bool {
        let (Some(above), Some(below)) =
            (place.checked_sub(1).map(|k| &self.probes[k]), self.probes.get(place))
        else {
            return false;
        };
        let rests = |x: f64, other: f64| x == 0.0 || x == other;
        let pairs = above.theta.iter().zip(&below.theta);
        let alike = |(a, b): (&f64, &f64)| rests(*a, *b) == rests(*b, *a);
        self.task.settings().risk == Risk::Variance && pairs.into_iter().all(alike)
    }

    /// Adds what the market of few periods may differ from the one that it stands for: every
    /// covariance by the rounding of n products of deviations and of a factor of d columns, every
    /// mean by that of a few operations. Where the weights are not bounded the proof goes no
    /// further than some way beyond the answer.
    fn allow_for_condensing(&self, theta: &[f64], weight: f64, certificate: &mut Certificate) {
        let (Some(market), Some(gap)) = (&self.condensed, certificate.gap) else { return };
        let Condensed { n, columns, along } = market;
        let d = theta.len();
        let unit = f64::EPSILON / 2.0;
        let mut far = self.task.reach(columns);
        if !far.is_finite() {
            let own: f64 = columns.iter().zip(theta).map(|(s, x)| s * x.abs()).sum();
            far = FAR * own;
            certificate.within = Some(certificate.within.map_or(FAR, |within| within.min(FAR)));
        }
        let products = (n + 4 * d + 16) as f64 * unit;
        let means = 8.0 * unit * far * (along + (d as f64).sqrt());
        // Once at the answer, once at whatever is best.
        certificate.gap = Some(gap + 2.0 * (weight * products * far * far + means));
    }
}

/// Looks for a zero of a function that is monotone between two places above 0, given with the
/// values there, whose signs differ: regula falsi with the correction called Illinois (Dowell and
/// Jarratt, 1971), by ratios while the places are far apart. Ends where the value is at most
/// `enough` in size, or no number is left between the places.
pub(in super::super) fn find_zero(
    ends: [(f64, f64); 2],
    enough: f64,
    mut value: impl FnMut(f64) -> Result<f64, Error>,
) -> Result<(), Error> {
    const MOST: usize = 100;
    const APART: f64 = 16.0;
    let [mut low, mut high] = ends;
    let mut last = 0.0;
    for k in 0..MOST {
        let middle = if high.0 > APART * low.0 {
            (low.0 * high.0).sqrt()
        } else if k % 6 == 5 {
            f64::midpoint(low.0, high.0)
        } else {
            low.0 - low.1 * (high.0 - low.0) / (high.1 - low.1)
        };
        let middle =
            if middle > low.0 && middle < high.0 { middle } else { f64::midpoint(low.0, high.0) };
        if middle <= low.0 || middle >= high.0 || high.0 - low.0 <= 4.0 * f64::EPSILON * high.0 {
            break;
        }
        let found = value(middle)?;
        if found.abs() <= enough || found.is_nan() {
            break;
        }
        // The end that stays twice counts half.
        if (found > 0.0) == (low.1 > 0.0) {
            low = (middle, found);
            high.1 *= if last > 0.0 { 0.5 } else { 1.0 };
            last = 1.0;
        } else {
            high = (middle, found);
            low.1 *= if last < 0.0 { 0.5 } else { 1.0 };
            last = -1.0;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_of_straight_bent_and_steep_functions_are_found() {
        for (name, f) in [
            ("line", (|x| 3.0 - x) as fn(f64) -> f64),
            ("bend", |x| if x < 2.0 { 30.0 - 14.5 * x } else { 3.0 - x }),
            ("steep", |x| 27.0 - x * x * x),
        ] {
            let mut asked = Vec::new();
            let ends = [(1e-6, f(1e-6)), (1e9, f(1e9))];
            find_zero(ends, 1e-12, |x| {
                asked.push(x);
                Ok(f(x))
            })
            .expect("no error");
            let last = asked.last().expect("some");
            assert!((last - 3.0).abs() < 1e-9, "{name}: {last}");
            assert!(asked.len() <= 40, "{name}: {}", asked.len());
        }
    }
}

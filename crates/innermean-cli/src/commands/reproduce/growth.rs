//! Table 1, measured: how oracle calls grow with the number of terms, of samples and with the
//! condition number, beside the bounds that the paper lists.

use innermean::elementary::Elementary;
use std::sync::atomic::AtomicBool;

use anyhow::{Result, anyhow};
use innermean::Objective;
use innermean::{
    Choice, Constants, Moves, Mspbe, Problem, Ridge, Square, StateFeatures, StepRule, optimum,
};
use innermean_data::{Features, MdpOptions, generate_mdp};
use serde::{Deserialize, Serialize};

pub(super) use self::entries::Entry;
use self::entries::{GENERAL, PREDICTORS, SHARED, SINGLE, Steps};
use super::arena::{Arena, Course};
use super::family::{Shape, Size, Targets, Units};
use super::piece::Piece;
use super::store::Store;

mod entries;

/// Relative to the start's gap; where a method has not come to that in this many calls, it is left
/// out of the fit.
const TO_DECADE: i32 = 6;
const MOST_CALLS: [u64; 2] = [3_000_000_000, 100_000_000];
const D: usize = 8;
/// Coordinates are scaled down to `10^-2`, so that the ridge decides the smallest curvature.
const SPREAD: f64 = 2.0;

/// A row of Table 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    /// Problem (1): every term has a sample of its own.
    General,
    /// Problem (2): all terms share one sample.
    Shared,
    /// Problem (2) with one term: the projected Bellman error.
    Single,
    /// `n_Y = 1`: linear predictors, as in the paper's comparison with SPDC.
    Predictors,
}

/// What is varied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Axis {
    Terms,
    Samples,
    Condition,
}

/// A problem's sizes and condition number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Point {
    pub(super) n_x: usize,
    pub(super) n_y: usize,
    pub(super) kappa: f64,
}

/// What was measured at a point.
#[derive(Serialize, Deserialize)]
pub(super) struct Measured {
    pub(super) point: Point,
    /// For each entry of the case, one for each seed.
    pub(super) courses: Vec<Vec<Course>>,
}

impl Axis {
    pub(super) const ALL: [Axis; 3] = [Axis::Terms, Axis::Samples, Axis::Condition];

    pub(super) fn title(self) -> &'static str {
        match self {
            Axis::Terms => "n_X",
            Axis::Samples => "n_Y",
            Axis::Condition => "κ",
        }
    }

    /// The point moved to another place on it.
    pub(super) fn at(self, point: &Point, x: f64) -> Point {
        match self {
            Axis::Terms => Point { n_x: x as usize, ..*point },
            Axis::Samples => Point { n_y: x as usize, ..*point },
            Axis::Condition => Point { kappa: x, ..*point },
        }
    }

    /// Where a point is on it.
    pub(super) fn of(self, point: &Point) -> f64 {
        match self {
            Axis::Terms => point.n_x as f64,
            Axis::Samples => point.n_y as f64,
            Axis::Condition => point.kappa,
        }
    }
}

impl Case {
    pub(super) const ALL: [Case; 4] = [Case::General, Case::Shared, Case::Single, Case::Predictors];

    pub(super) fn name(self) -> &'static str {
        match self {
            Case::General => "general",
            Case::Shared => "shared",
            Case::Single => "single",
            Case::Predictors => "predictors",
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Case::General => "The general problem: every term has a sample of its own",
            Case::Shared => "All terms share one inner sample",
            Case::Single => "One outer term: the projected Bellman error",
            Case::Predictors => "One sample for each term: linear predictors",
        }
    }

    /// Inside of a sentence.
    pub(super) fn short(self) -> &'static str {
        match self {
            Case::General => "the general problem",
            Case::Shared => "one inner sample shared by all terms",
            Case::Single => "one outer term",
            Case::Predictors => "one sample for each term",
        }
    }

    pub(super) fn entries(self) -> &'static [Entry] {
        match self {
            Case::General => GENERAL,
            Case::Shared => SHARED,
            Case::Single => SINGLE,
            Case::Predictors => PREDICTORS,
        }
    }

    /// The points of an axis, of which the others stay where they are; none if the case does not
    /// have it.
    pub(super) fn points(self, axis: Axis, quick: bool) -> Vec<Point> {
        let base = match self {
            Case::General => Point { n_x: 64, n_y: 64, kappa: 64.0 },
            Case::Shared => Point { n_x: 64, n_y: 256, kappa: 64.0 },
            Case::Single => Point { n_x: 1, n_y: 1024, kappa: 256.0 },
            Case::Predictors => Point { n_x: 1024, n_y: 1, kappa: 1024.0 },
        };
        let factors: &[f64] = match axis {
            Axis::Terms if self == Case::Single => return Vec::new(),
            Axis::Samples if self == Case::Predictors => return Vec::new(),
            _ if quick => &[0.25, 1.0, 4.0],
            Axis::Condition if self == Case::Single => &[0.25, 0.5, 1.0, 2.0, 4.0, 8.0],
            Axis::Terms => &[0.25, 0.5, 1.0, 2.0, 4.0, 8.0],
            Axis::Samples => &[1.0 / 16.0, 0.25, 1.0, 4.0, 16.0, 64.0],
            Axis::Condition => &[1.0 / 16.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0],
        };
        factors.iter().map(|factor| axis.at(&base, axis.of(&base) * factor)).collect()
    }

    fn id(self, axis: Axis, k: usize) -> String {
        let axis = match axis {
            Axis::Terms => "terms",
            Axis::Samples => "samples",
            Axis::Condition => "condition",
        };
        format!("table1-{}-{axis}-{}", self.name(), k + 1)
    }

    /// What was measured along an axis.
    pub(super) fn measured(self, axis: Axis, quick: bool, store: &Store) -> Result<Vec<Measured>> {
        (0..self.points(axis, quick).len()).map(|k| store.get(&self.id(axis, k), 0)).collect()
    }
}

/// One for each point of each axis of each case.
pub(super) fn pieces(quick: bool, interrupt: &AtomicBool) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    for case in Case::ALL {
        for axis in Axis::ALL {
            for (k, point) in case.points(axis, quick).into_iter().enumerate() {
                let tuned =
                    case.entries().iter().filter(|entry| entry.steps == Steps::Tuned).count();
                let seconds = if quick { 0.1 } else { 0.5 } * (1.0 + tuned as f64);
                let work = move || measure(case, point, quick, interrupt);
                pieces.push(Piece::new(case.id(axis, k), 0, seconds, work));
            }
        }
    }
    pieces
}

fn measure(
    case: Case,
    point: Point,
    quick: bool,
    interrupt: &AtomicBool,
) -> Result<Option<Measured>> {
    let Point { n_x, n_y, kappa } = point;
    match case {
        Case::General | Case::Predictors => {
            let size = Size { d: D, ell: 1, n_x, n_y, shared: false };
            // B_f = 1 and gamma = 1, so that kappa = 1/mu.
            let problem = Problem {
                inner: Units::random(size, Shape::Line, SPREAD, 1),
                merit: Square::new(0.5)?,
                regularizer: Ridge::from_weight(1.0 / kappa)?,
            };
            run(case, point, problem.erased(), quick, interrupt)
        }
        Case::Shared => {
            let size = Size { d: D, ell: 2, n_x, n_y, shared: true };
            let problem = Problem {
                inner: Units::random(size, Shape::Line, SPREAD, 1),
                merit: Targets::random(n_x, 1),
                regularizer: Ridge::from_weight(1.0 / kappa)?,
            };
            run(case, point, problem.erased(), quick, interrupt)
        }
        Case::Single => {
            let options = MdpOptions {
                states: 20,
                d: 4,
                features: Features::Gaussian,
                ..MdpOptions::default()
            };
            let mdp = generate_mdp(&options);
            let log = mdp.log(n_y, 1);
            let moves =
                Moves { from: log.from, next: log.next, rewards: log.rewards, weights: None };
            let features = StateFeatures::Rows { d: mdp.d, rows: mdp.features };
            let f = Mspbe::of_moves(&features, &moves, mdp.discount)?;
            // kappa = B_f^2 / (gamma rho): the first rho finds the constants.
            let Constants { b_f, gamma, .. } = f.clone().problem(1.0)?.constants();
            let b_f = b_f.ok_or_else(|| anyhow!("B_f is not known"))?;
            let problem = f.problem(b_f * b_f / (gamma * kappa))?;
            run(case, point, problem.erased(), quick, interrupt)
        }
    }
}

fn run(
    case: Case,
    point: Point,
    problem: Objective<'_>,
    quick: bool,
    interrupt: &AtomicBool,
) -> Result<Option<Measured>> {
    let start = vec![1.0; problem.inner.d()];
    let optimum =
        optimum(problem, &start).ok_or_else(|| anyhow!("the problem has no optimum"))?.objective;
    let arena = Arena {
        problem,
        scale: problem.objective(&start) - optimum,
        start,
        optimum,
        until: 10_f64.powi(-TO_DECADE),
        max_calls: MOST_CALLS[usize::from(quick)],
        every: ((point.n_x * point.n_y.max(point.kappa as usize)) as u64 / 16).max(25),
        interrupt,
    };
    let mut courses = Vec::new();
    for Entry { method, steps, .. } in case.entries() {
        let mut runs = Vec::new();
        for seed in 0..if quick || *steps == Steps::Tuned { 1 } else { 3 } {
            let choice = Choice::seeded(seed);
            let course = match steps {
                Steps::Rule(StepRule::Automatic) => arena.run(method, &choice)?,
                Steps::Rule(rule) => arena.run(method, &Choice { rule: Some(*rule), ..choice })?,
                Steps::Tuned => arena.tuned(method, choice, "its own")?,
            };
            let Some(course) = course else { return Ok(None) };
            // The last gap alone: these curves are not drawn.
            runs.push(Course { calls: Vec::new(), gaps: vec![course.last()], ..course });
        }
        courses.push(runs);
    }
    Ok(Some(Measured { point, courses }))
}

impl Measured {
    /// The median over seeds of the calls to the gap, for the k-th entry; none if it was not
    /// reached.
    pub(super) fn calls(&self, k: usize) -> Option<f64> {
        let mut calls: Vec<u64> =
            self.courses[k].iter().map(|course| course.to(TO_DECADE)).collect::<Option<_>>()?;
        calls.sort_unstable();
        calls.get(calls.len() / 2).map(|calls| *calls as f64)
    }
}

/// The slope of `log y` against `log x` by least squares; none for fewer than three points.
pub(super) fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    if points.len() < 3 {
        return None;
    }
    let n = points.len() as f64;
    let mean = |part: fn(&(f64, f64)) -> f64| {
        points.iter().map(|p| part(p).natural_log()).sum::<f64>() / n
    };
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let (mut xx, mut xy) = (0.0, 0.0);
    for point in points {
        let (dx, dy) = (point.0.natural_log() - x, point.1.natural_log() - y);
        xx += dx * dx;
        xy += dx * dy;
    }
    Some(xy / xx)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_has_its_exponent() {
        let points: Vec<(f64, f64)> =
            [1.0, 4.0, 10.0, 64.0].iter().map(|x: &f64| (*x, 3.0 * x.powf(1.5))).collect();
        assert!((exponent(&points).expect("four points") - 1.5).abs() < 1e-12);
        assert_eq!(exponent(&points[..2]), None);
    }
}

//! Methods without settings on one problem, and what each took.

use innermean::oracle::gradient_calls;
use innermean::{AnyMethod, Choice, Driver, Objective, Record, Solution, Stop, auto};
use serde::Serialize;

/// Passes that a method may take.
pub const MOST: f64 = 300.0;
/// The gaps that are asked for.
pub const GAPS: [f64; 2] = [1e-6, 1e-9];

/// What a method took.
#[derive(Debug, Clone, Serialize)]
pub struct Took {
    /// The method, with what was said about it
    pub method: String,
    /// Passes (2 N calls each) to each gap, every query of phi counted; none if not in time.
    pub passes: [Option<f64>; 2],
    /// The same, interpolated between evaluations
    pub between: [Option<f64>; 2],
    /// Seconds likewise
    pub seconds: [Option<f64>; 2],
    /// The gap at the end
    pub last: f64,
}

/// A method by name with its settings.
pub type Entry<'a> = (&'a str, &'a str, Choice);

/// The calls of a pass: every f and every f' once.
pub fn pass(problem: Objective<'_>) -> f64 {
    let calls = gradient_calls(problem.inner);
    (calls.f + calls.jacobian) as f64
}

/// What a user gets who names no method.
pub const AUTO: &str = "auto";

/// A run, to a target or to the end of the passes or seconds.
pub fn run(
    problem: Objective<'_>,
    start: &[f64],
    name: &str,
    choice: &Choice,
    target: Option<f64>,
    (passes, seconds): (f64, f64),
) -> Option<Solution> {
    let stop = Stop {
        max_outer: None,
        max_calls: Some((passes * pass(problem)) as u64),
        max_seconds: Some(seconds),
        target_objective: target,
        tolerance: None,
    };
    let driver = Driver { stop, ..Driver::default() };
    if name == AUTO {
        let found = auto::solve(&driver, problem, start, &mut (), choice.seed);
        return Some(found.ok()?.solution);
    }
    let method = AnyMethod::named(name, choice, problem, start).ok()?;
    Some(method.run(&driver, problem, start, &mut ()))
}

/// Seconds of a method on a problem after which it is not run once more.
pub const ENOUGH: f64 = 0.1;

/// Seconds after which a run is given up.
pub const PATIENCE: f64 = 5.0;

/// All entries that suit, each with at most so many passes and seconds, and the lowest objective
/// that any of them found.
pub fn contest(
    problem: Objective<'_>,
    start: &[f64],
    entries: &[Entry<'_>],
    rounds: usize,
    limits: (f64, f64),
) -> (f64, Vec<Took>) {
    let mut least = f64::INFINITY;
    for name in REFERENCES {
        let found = run(problem, start, name, &Choice::seeded(1), None, (100.0, PATIENCE));
        least = least.min(found.map_or(f64::INFINITY, |found| found.objective));
    }
    let target = least + 0.5 * GAPS[1];
    let mut all: Vec<(&str, Vec<Solution>)> = Vec::new();
    for round in 0..rounds {
        for (k, (word, name, choice)) in entries.iter().enumerate() {
            // A method that did not arrive in time will not, and long runs need no second one.
            let has_enough = |runs: &[Solution]| {
                let spent: f64 = runs.iter().map(|run| run.seconds).sum();
                runs[0].objective > target || spent > ENOUGH
            };
            if round > 0 && all.iter().any(|own| own.0 == *word && has_enough(&own.1)) {
                continue;
            }
            let Some(solution) = run(problem, start, name, choice, Some(target), limits) else {
                continue;
            };
            least = least.min(solution.objective);
            if round == 0 {
                all.push((word, vec![solution]));
            } else if let Some(own) = all.iter_mut().find(|own| own.0 == entries[k].0) {
                own.1.push(solution);
            }
        }
    }
    let pass = pass(problem);
    let took = |(word, runs): &(&str, Vec<Solution>)| {
        let first = &runs[0];
        let within = |gap: f64| move |record: &&Record| record.objective - least <= gap;
        let seconds = |gap: f64| {
            let times =
                runs.iter().filter_map(|run| Some(run.trace.iter().find(within(gap))?.seconds));
            times.fold(None, |best: Option<f64>, time| {
                Some(best.map_or(time, |best| best.min(time)))
            })
        };
        Took {
            method: (*word).to_owned(),
            passes: GAPS.map(|gap| {
                let record = first.trace.iter().find(within(gap))?;
                Some(record.calls.total() as f64 / pass)
            }),
            between: GAPS.map(|gap| between(&first.trace, least, gap).map(|calls| calls / pass)),
            seconds: GAPS.map(seconds),
            last: first.objective - least,
        }
    };
    let table = all.iter().map(took).collect();
    (least, table)
}

/// Those that say where the optimum is.
const REFERENCES: [&str; 2] = ["newton", "prox-linear"];

/// Calls at which the logarithm of the gap, a straight line between evaluations, passes `gap`.
fn between(trace: &[Record], least: f64, gap: f64) -> Option<f64> {
    let k = trace.iter().position(|record| record.objective - least <= gap)?;
    let after = &trace[k];
    let Some(before) = k.checked_sub(1).map(|k| &trace[k]) else {
        return Some(after.calls.total() as f64);
    };
    let (high, low) = (before.objective - least, (after.objective - least).max(1e-3 * gap));
    let share = (high / gap).ln() / (high / low).ln();
    let (from, to) = (before.calls.total() as f64, after.calls.total() as f64);
    Some(from + share.clamp(0.0, 1.0) * (to - from))
}

/// `exp(mean log)`; none of nothing.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().map(|value| value.ln()).sum();
    (!values.is_empty()).then(|| (sum / values.len() as f64).exp())
}

/// b of `passes = a kappa^b`, by least squares on logarithms.
pub fn exponent(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let mean = logs.iter().fold((0.0, 0.0), |sum, (x, y)| (sum.0 + x / n, sum.1 + y / n));
    let (mut xy, mut xx) = (0.0, 0.0);
    for (x, y) in &logs {
        xy += (x - mean.0) * (y - mean.1);
        xx += (x - mean.0) * (x - mean.0);
    }
    xy / xx
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_have_their_exponents() {
        let points: Vec<(f64, f64)> = [1e2, 1e3, 1e4].map(|x: f64| (x, 3.0 * x.sqrt())).to_vec();
        assert!((exponent(&points) - 0.5).abs() < 1e-12);
        assert!((geometric_mean(&[1.0, 4.0]).expect("two") - 2.0).abs() < 1e-12);
    }
}

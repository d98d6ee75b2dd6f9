//! A search over a small logarithmic grid of steps.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use innermean::{Choice, Inner, Knob, Merit, Regularizer, Solution, StepRule};

use super::Origin;
use super::contest::{Contest, Entrant, Limits};
use super::progress::Line;
use crate::settings::Settings;

/// Steps are tried at these multiples of the entrant's own, about half a decade apart.
const ALONE: [f64; 7] = [1.0, 3.0, 0.3, 10.0, 0.1, 30.0, 0.03];
const TOGETHER: [f64; 5] = [1.0, 3.0, 0.3, 10.0, 0.1];
/// The gap that a setting is judged by: who needs the fewest calls to it.
const JUDGED_AT: f64 = 1e-6;
/// A trial has this part of a run's seconds.
const SHARE: f64 = 0.2;

/// How good a trial was; smaller is better.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Score {
    /// Whether the judged gap was not reached.
    missed: bool,
    /// Calls to it or, if it was missed, the last gap.
    cost: f64,
}

/// The entrant with the best steps of the grid, and a sentence about them. Trials use the first seed.
pub(super) fn best<F: Inner, P: Merit, G: Regularizer>(
    contest: &Contest<'_, F, P, G>,
    entrant: Entrant,
    interrupt: &AtomicBool,
    line: &mut Line,
) -> Result<(Entrant, Option<String>)> {
    let mut entrant = entrant;
    if entrant.info.settings.contains(&Knob::Rule) && entrant.choice.rule.is_none() {
        // Automatic steps leave nothing to tune: these are tried around the scaled ones.
        entrant.choice.rule = Some(StepRule::Scaled);
    }
    let own = Settings::of(&contest.method(&entrant, &entrant.choice)?, entrant.choice.rule)?;
    let has = |knob, name| entrant.info.settings.contains(&knob).then(|| own.number(name)).flatten();
    let Some(alpha_theta) = has(Knob::AlphaTheta, "alpha_theta") else {
        return Ok((entrant, Some("it has no steps to tune".to_owned())));
    };
    let alpha_w = has(Knob::AlphaW, "alpha_w");
    let grid: Vec<(f64, f64)> = match alpha_w {
        None => ALONE.iter().map(|&factor| (factor, 1.0)).collect(),
        Some(_) => TOGETHER.iter().flat_map(|&a| TOGETHER.map(|b| (a, b))).collect(),
    };
    let mut best: Option<(Score, Choice, (f64, f64))> = None;
    let mut most_calls = contest.flags.max_calls;
    for &(a, b) in &grid {
        let choice = Choice {
            alpha_theta: Some(a * alpha_theta),
            alpha_w: alpha_w.map(|alpha_w| b * alpha_w),
            ..entrant.choice
        };
        let method = contest.method(&entrant, &choice)?;
        let limits = Limits {
            until: contest.flags.until.max(JUDGED_AT),
            max_calls: most_calls,
            max_seconds: SHARE * contest.flags.max_seconds,
        };
        let run = contest.once(&method, limits, interrupt, line);
        let score = score(contest, &run);
        if best.is_none_or(|(so_far, ..)| score < so_far) {
            best = Some((score, choice, (a, b)));
            if !score.missed {
                // A setting that needs more calls than this need not be run to its end.
                most_calls = most_calls.min((1.2 * score.cost) as u64);
            }
        }
        if interrupt.load(Ordering::Relaxed) {
            break;
        }
    }
    let Some((score, choice, factors)) = best else { return Ok((entrant, None)) };
    if interrupt.load(Ordering::Relaxed) {
        return Ok((entrant, Some("the search was interrupted".to_owned())));
    }
    let base = if entrant.origin == Origin::Paper { "the paper's" } else { "its own" };
    let text = sentence(&grid, alpha_w.is_some(), factors, score, base);
    Ok((Entrant { choice, origin: Origin::Tuned, ..entrant }, Some(text)))
}

fn score<F: Inner, P: Merit, G: Regularizer>(contest: &Contest<'_, F, P, G>, run: &Solution) -> Score {
    let optimum = contest.optimum.objective;
    match contest.reached(run, optimum, JUDGED_AT) {
        Some(record) => Score { missed: false, cost: record.calls.total() as f64 },
        None => Score { missed: true, cost: contest.gap(run.objective, optimum) },
    }
}

fn sentence(grid: &[(f64, f64)], two: bool, (a, b): (f64, f64), score: Score, base: &str) -> String {
    let times = |factor: f64| format!("{factor} times");
    let steps = if two {
        format!("alpha_theta {} and alpha_w {} {base}", times(a), times(b))
    } else {
        format!("alpha_theta {} {base}", times(a))
    };
    let judged = if score.missed {
        format!("by the last gap; none reached {JUDGED_AT:e}")
    } else {
        format!("by calls to {JUDGED_AT:e}")
    };
    let most = grid.iter().fold(1.0_f64, |most, (a, _)| most.max(*a));
    let on_edge = [a, b].into_iter().any(|factor| factor >= most || factor <= 1.01 / most);
    let edge = if on_edge { ", at the edge of the grid" } else { "" };
    format!("{steps}, best of {} {judged}{edge}", grid.len())
}

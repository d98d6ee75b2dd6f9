//! A search over a small logarithmic grid of steps, for comparisons that are fair: judged by the
//! calls to a gap.

use innermean::{Choice, Knob, MethodInfo, StepRule};

use super::MethodSettings;
use crate::wording::numbers::significant;

/// Steps are tried at these multiples of a method's own, about half a decade apart.
const ALONE: [f64; 7] = [1.0, 3.0, 0.3, 10.0, 0.1, 30.0, 0.03];
const TOGETHER: [f64; 5] = [1.0, 3.0, 0.3, 10.0, 0.1];
/// The gap that a setting is judged by: who needs the fewest calls to it.
pub const JUDGED_AT: f64 = 1e-6;
/// Where the best lies at the edge of the grid, it is widened up to this many times, by this
/// factor.
const WIDENED: usize = 6;
const WIDER: f64 = 3.0;
/// A setting that needs this many times the calls of the best so far need not be run to its end.
const PATIENCE: f64 = 1.2;

/// How good a trial was; smaller is better.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Score {
    /// Whether the judged gap was not reached.
    pub missed: bool,
    /// Calls to it or, if it was missed, the last gap.
    pub cost: f64,
}

/// The steps around which a method is tuned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OwnSteps {
    alpha_theta: f64,
    alpha_w: Option<f64>,
}

/// The best of a grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// What was said about the method, with the best steps.
    pub choice: Choice,
    score: Score,
    /// Of the method's own steps.
    factors: (f64, f64),
    own: OwnSteps,
    /// How many settings were tried, and whether this one lies at the edge of them still.
    tried: usize,
    at_edge: bool,
}

/// The choice that a search begins with: automatic steps leave nothing to tune, so that scaled ones
/// stand in for them.
pub fn tunable(info: &MethodInfo, choice: Choice) -> Choice {
    let rule = info.settings.contains(&Knob::Rule).then(|| choice.rule.unwrap_or(StepRule::Scaled));
    Choice { rule, ..choice }
}

impl OwnSteps {
    /// Those of a method with these settings; none if it has no step on theta.
    pub fn of(info: &MethodInfo, settings: &MethodSettings) -> Option<Self> {
        let has =
            |knob, name| info.settings.contains(&knob).then(|| settings.number(name)).flatten();
        Some(OwnSteps {
            alpha_theta: has(Knob::AlphaTheta, "alpha_theta")?,
            alpha_w: has(Knob::AlphaW, "alpha_w"),
        })
    }

    fn grid(&self) -> Vec<(f64, f64)> {
        match self.alpha_w {
            None => ALONE.iter().map(|&factor| (factor, 1.0)).collect(),
            Some(_) => TOGETHER.iter().flat_map(|&a| TOGETHER.map(|b| (a, b))).collect(),
        }
    }

    /// Tries all, and more where the best lies at the edge; `trial(choice, most_calls)` says how
    /// good one is, or nothing if the search is to end. None if it ended so.
    ///
    /// # Errors
    /// Those of a trial.
    pub fn search<E>(
        self,
        base: Choice,
        most_calls: u64,
        mut trial: impl FnMut(&Choice, u64) -> Result<Option<Score>, E>,
    ) -> Result<Option<Found>, E> {
        let mut most_calls = most_calls;
        let mut best: Option<Found> = None;
        let mut waiting = self.grid();
        let mut tried: Vec<(f64, f64)> = Vec::new();
        let mut widened = 0;
        while !waiting.is_empty() {
            for factors in std::mem::take(&mut waiting) {
                let choice = Choice {
                    alpha_theta: Some(factors.0 * self.alpha_theta),
                    alpha_w: self.alpha_w.map(|alpha_w| factors.1 * alpha_w),
                    ..base
                };
                let Some(score) = trial(&choice, most_calls)? else { return Ok(None) };
                tried.push(factors);
                if best.is_none_or(|best| score < best.score) {
                    best =
                        Some(Found { choice, score, factors, own: self, tried: 0, at_edge: false });
                    if !score.missed {
                        most_calls = most_calls.min((PATIENCE * score.cost) as u64);
                    }
                }
            }
            let Some(best) = &mut best else { break };
            best.tried = tried.len();
            let beyond = beyond(best.factors, &tried, self.alpha_w.is_some());
            best.at_edge = !beyond.is_empty();
            if widened < WIDENED {
                widened += 1;
                waiting = beyond;
            }
        }
        Ok(best)
    }
}

/// What lies beyond the edges that a point is at, among those that were tried.
fn beyond((a, b): (f64, f64), tried: &[(f64, f64)], two: bool) -> Vec<(f64, f64)> {
    let ends = |part: fn(&(f64, f64)) -> f64| {
        tried
            .iter()
            .map(part)
            .fold((f64::MAX, 0.0_f64), |(least, most), x| (least.min(x), most.max(x)))
    };
    let next = |x: f64, (least, most): (f64, f64)| {
        let up = (x >= most).then_some(x * WIDER);
        up.into_iter().chain((x <= least).then_some(x / WIDER))
    };
    let mut points: Vec<(f64, f64)> = next(a, ends(|p| p.0)).map(|a| (a, b)).collect();
    if two {
        points.extend(next(b, ends(|p| p.1)).map(|b| (a, b)));
    }
    points
}

impl Found {
    /// What was chosen, as multiples of `base` steps, such as "the paper's".
    pub fn sentence(&self, base: &str) -> String {
        let (a, b) = self.factors;
        let times = |factor: f64| format!("{} times", significant(factor, 2));
        let steps = if self.own.alpha_w.is_some() {
            format!("alpha_theta {} and alpha_w {} {base}", times(a), times(b))
        } else {
            format!("alpha_theta {} {base}", times(a))
        };
        let judged = if self.score.missed {
            format!("by the last gap; none reached {JUDGED_AT:e}")
        } else {
            format!("by calls to {JUDGED_AT:e}")
        };
        let edge = if self.at_edge { ", at the edge of what was tried" } else { "" };
        format!("{steps}, best of {} {judged}{edge}", self.tried)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cost that is least where the steps are this many times the method's own.
    fn found(least: (f64, f64), alpha_w: Option<f64>) -> Found {
        let own = OwnSteps { alpha_theta: 0.5, alpha_w };
        let cost = |choice: &Choice| {
            let away = |step: Option<f64>, least: f64| {
                step.map_or(0.0, |step| (step / least).ln().powi(2))
            };
            1000.0
                + 100.0
                    * (away(choice.alpha_theta, 0.5 * least.0)
                        + away(choice.alpha_w, 2.0 * least.1))
        };
        let trial = |choice: &Choice, _| {
            Ok::<_, std::convert::Infallible>(Some(Score { missed: false, cost: cost(choice) }))
        };
        own.search(Choice::default(), 1_000_000, trial)
            .expect("no error")
            .expect("it was not stopped")
    }

    #[test]
    fn a_best_setting_inside_is_found_without_more_trials() {
        let alone = found((3.0, 1.0), None);
        assert_eq!((alone.choice.alpha_theta, alone.tried, alone.at_edge), (Some(1.5), 7, false));
        let both = found((0.3, 3.0), Some(2.0));
        assert_eq!((both.choice.alpha_w, both.tried), (Some(6.0), 25));
        assert_eq!(
            both.sentence("its own"),
            "alpha_theta 0.30 times and alpha_w 3.0 times its own, best of 25 by calls to 1e-6"
        );
    }

    #[test]
    fn the_grid_is_widened_where_the_best_is_at_its_edge() {
        let alone = found((270.0, 1.0), None);
        assert_eq!(
            (alone.choice.alpha_theta, alone.tried, alone.at_edge),
            (Some(135.0), 10, false)
        );
        let both = found((0.01, 1.0), Some(2.0));
        assert!(
            (0.003..0.006).contains(&both.choice.alpha_theta.expect("a step")) && !both.at_edge,
            "{both:?}"
        );
        assert!(
            found((1e9, 1.0), None).sentence("its own").ends_with("at the edge of what was tried")
        );
    }
}

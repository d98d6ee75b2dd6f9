//! One problem on which methods are run, by calls alone: nothing here depends on the clock or on
//! the number of threads.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, anyhow};
use innermean::Objective;
use innermean::{AnyMethod, Choice, Driver, Solution, Status, Stop, auto, methods};
use serde::{Deserialize, Serialize};

use crate::plot::thin;
use innermean_apps::run::MethodSettings;
use innermean_apps::run::tuning::{self, JUDGED_AT, OwnSteps, Score};

/// Records kept of a run: more than any of the paper's has, so that its numbers come from all of
/// them.
const MOST_RECORDS: usize = 1 << 18;

/// Of a curve that is kept, strips of the axis: at most 8 points each.
const STRIPS: usize = 16;
/// The decades of the gap of which the calls are kept: k for 1e-k.
pub(super) const DECADES: std::ops::RangeInclusive<i32> = 1..=12;

/// A problem, its start and its optimum.
pub(super) struct Arena<'a> {
    pub(super) problem: Objective<'a>,
    pub(super) start: Vec<f64>,
    pub(super) optimum: f64,
    /// What a gap of 1 means.
    pub(super) scale: f64,
    /// Where runs end.
    pub(super) until: f64,
    pub(super) max_calls: u64,
    /// Inner steps between evaluations.
    pub(super) every: u64,
    /// Set when the user wants to stop.
    pub(super) interrupt: &'a AtomicBool,
}

/// The course of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Course {
    /// The name of the method, or what it is called in a figure.
    pub(super) name: String,
    /// Its settings in words.
    pub(super) settings: String,
    /// Oracle calls, and the gap after this many; enough of them to draw the curve.
    pub(super) calls: Vec<u64>,
    pub(super) gaps: Vec<f64>,
    /// The calls after which the gap is first at most 1e-k, for each k of [`DECADES`].
    pub(super) reached: Vec<Option<u64>>,
    /// How the run ended, in words.
    pub(super) ended: String,
}

impl Course {
    /// The calls to a gap of 1e-k.
    pub(super) fn to(&self, k: i32) -> Option<u64> {
        *self.reached.get(usize::try_from(k - DECADES.start()).ok()?)?
    }

    /// The last gap.
    pub(super) fn last(&self) -> f64 {
        self.gaps.last().copied().unwrap_or(f64::NAN)
    }

    /// The same by another name.
    pub(super) fn named(self, name: &str) -> Self {
        Course { name: name.to_owned(), ..self }
    }

    /// The same with calls that came before.
    pub(super) fn after(mut self, calls: u64) -> Self {
        self.calls.iter_mut().for_each(|own| *own += calls);
        self.reached.iter_mut().flatten().for_each(|own| *own += calls);
        self
    }
}

impl Arena<'_> {
    /// A run with these settings; none if the user wants to stop.
    pub(super) fn run(&self, name: &str, choice: &Choice) -> Result<Option<Course>> {
        let method = self.method(name, choice)?;
        let Some(solution) = self.once(&method, self.until, self.max_calls) else {
            return Ok(None);
        };
        let settings = MethodSettings::of(&method, choice.rule);
        let rule = if choice.alpha_theta.is_some() { None } else { settings.rule() };
        let words: Vec<String> = rule
            .map(str::to_owned)
            .into_iter()
            .chain([settings.line()])
            .filter(|text| !text.is_empty())
            .collect();
        Ok(Some(self.course(name, words.join(", "), &solution)))
    }

    /// The run of the first seed, with medians over this many seeds of the calls to each gap.
    pub(super) fn run_seeds(
        &self,
        name: &str,
        choice: &Choice,
        seeds: u64,
    ) -> Result<Option<Course>> {
        let mut runs = Vec::new();
        for seed in 0..seeds {
            let Some(course) = self.run(name, &Choice { seed, ..*choice })? else {
                return Ok(None);
            };
            runs.push(course);
        }
        let middle = |k: i32| {
            let mut calls: Vec<u64> =
                runs.iter().map(|run| run.to(k).unwrap_or(u64::MAX)).collect();
            calls.sort_unstable();
            calls.get(calls.len() / 2).copied().filter(|calls| *calls < u64::MAX)
        };
        let reached = DECADES.map(middle).collect();
        Ok(runs.into_iter().next().map(|first| Course { reached, ..first }))
    }

    /// A run with the best steps of a grid around those of `choice`; `base` says whose they are.
    pub(super) fn tuned(&self, name: &str, choice: Choice, base: &str) -> Result<Option<Course>> {
        let info = methods::info(name)?;
        let choice = tuning::tunable(info, choice);
        let own = MethodSettings::of(&self.method(name, &choice)?, choice.rule);
        let Some(own) = OwnSteps::of(info, &own) else { return self.run(name, &choice) };
        let found = own.search(choice, self.max_calls, |choice, max_calls| {
            let method = self.method(name, choice)?;
            let run = self.once(&method, self.until.max(JUDGED_AT), max_calls);
            anyhow::Ok(run.map(|run| self.score(&run)))
        })?;
        let Some(found) = found else { return Ok(None) };
        let course = self.run(name, &found.choice)?;
        Ok(course.map(|course| Course {
            settings: format!("{} ({})", course.settings, found.sentence(base)),
            ..course
        }))
    }

    /// What a user gets who chooses nothing: the method that the problem chooses, under the name
    /// auto.
    pub(super) fn automatic(&self) -> Result<Option<Course>> {
        let chosen = auto::choose(self.problem);
        let first = chosen.first().ok_or_else(|| anyhow!("no method suits the problem"))?;
        let course = self.run(first.method, &Choice::default())?;
        Ok(course.map(|course| Course {
            name: "auto".to_owned(),
            settings: format!(
                "chose {}{}{}",
                first.method,
                if course.settings.is_empty() { "" } else { ", " },
                course.settings
            ),
            ..course
        }))
    }

    fn method(&self, name: &str, choice: &Choice) -> Result<AnyMethod> {
        AnyMethod::named(name, choice, self.problem, &self.start)
            .map_err(|error| anyhow!("{name}: {error}"))
    }

    fn once(&self, method: &AnyMethod, until: f64, max_calls: u64) -> Option<Solution> {
        let stop = Stop {
            max_outer: None,
            max_calls: Some(max_calls),
            max_seconds: None,
            target_objective: Some(self.optimum + until * self.scale),
            tolerance: None,
        };
        let driver = Driver {
            stop,
            evaluate_every: NonZeroU64::new(self.every),
            interrupt: Some(self.interrupt),
            most_records: MOST_RECORDS,
        };
        let solution = method.run(&driver, self.problem, &self.start, &mut ());
        (!self.interrupt.load(Ordering::Relaxed)).then_some(solution)
    }

    fn gap(&self, objective: f64) -> f64 {
        if objective.is_finite() {
            (objective - self.optimum).max(0.0) / self.scale
        } else {
            f64::MAX
        }
    }

    fn score(&self, run: &Solution) -> Score {
        match run.trace.iter().find(|record| self.gap(record.objective) <= JUDGED_AT) {
            Some(record) => Score { missed: false, cost: record.calls.total() as f64 },
            None => Score { missed: true, cost: self.gap(run.objective) },
        }
    }

    fn course(&self, name: &str, settings: String, run: &Solution) -> Course {
        let calls: Vec<f64> = run.trace.iter().map(|record| record.calls.total() as f64).collect();
        let gaps: Vec<f64> = run.trace.iter().map(|record| self.gap(record.objective)).collect();
        let kept = thin::thinned(&calls, &gaps, STRIPS);
        let first = |gap: f64| gaps.iter().position(|own| *own <= gap).map(|k| calls[k] as u64);
        Course {
            name: name.to_owned(),
            settings,
            calls: kept.iter().map(|k| calls[*k] as u64).collect(),
            gaps: kept.iter().map(|k| four_digits(gaps[*k])).collect(),
            reached: DECADES.map(|k| first(10_f64.powi(-k))).collect(),
            ended: ended(run.status).to_owned(),
        }
    }
}

fn ended(status: Status) -> &'static str {
    match status {
        Status::TargetReached => "reached",
        other => other.title(),
    }
}

/// As many as a curve shows.
fn four_digits(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

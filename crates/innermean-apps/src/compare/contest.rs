//! The runs of a comparison.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};

use innermean::auto;
use innermean::optimum::{self, Optimum};
use innermean::{
    AnyMethod, Choice, Driver, METHODS, MethodInfo, Objective, Observer, Record, Solution, Status,
    Stop, methods,
};

use super::{CompareError, CompareSettings, GapKind, SettingsFrom, tune};
use crate::error::Error;
use crate::run::{AUTO, MethodSettings, RunError};

/// Records kept of a run: the first below a gap is what is compared.
const MOST_RECORDS: usize = 1 << 14;
/// Evaluations for each pass of single-index steps,
const LOOKS: u64 = 4;
/// but no more often than this many steps apart.
const STEPS_BETWEEN: u64 = 25;
/// Of its first residual; a long run that has left more of it has found no optimum.
const NO_OPTIMUM: f64 = 1e-2;
/// Gaps below this part of the objective are rounding.
const ROUNDING: f64 = 1e-14;

/// Who looks on while methods run.
pub trait Spectator: Observer {
    /// A run of this method begins; gaps are measured from `optimum`.
    fn begin(&mut self, method: &'static str, optimum: f64) {
        let _ = (method, optimum);
    }

    /// A run has ended with this gap.
    fn end(&mut self, run: &Solution, gap: f64) {
        let _ = (run, gap);
    }
}

impl Spectator for () {}

/// Who takes part, and from where; the optimum is not known yet.
pub struct Lineup<'a> {
    settings: CompareSettings,
    problem: Objective<'a>,
    start: Vec<f64>,
    at_start: f64,
    /// Those that take part, with what is said about their settings.
    pub entrants: Vec<Entrant>,
    /// Those of the table that do not suit, with the reason.
    pub unsuited: Vec<(&'static str, String)>,
}

/// Everything decided but the runs.
pub struct Contest<'a> {
    /// Who takes part, and for how long.
    pub settings: CompareSettings,
    /// What is minimised.
    pub problem: Objective<'a>,
    /// Where all begin.
    pub start: Vec<f64>,
    /// The objective there.
    pub at_start: f64,
    /// The optimum that gaps are measured from, unless a run ends below it.
    pub optimum: Optimum,
    /// Those that take part, with what is said about their settings.
    pub entrants: Vec<Entrant>,
    /// Those of the table that do not suit, with the reason.
    pub unsuited: Vec<(&'static str, String)>,
}

/// A method with what is said about its settings.
#[derive(Debug, Clone, Copy)]
pub struct Entrant {
    /// The method's row in the table.
    pub info: &'static MethodInfo,
    /// What is said about its settings.
    pub choice: Choice,
    /// Who said so.
    pub origin: SettingsFrom,
}

/// When a run ends.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// The gap, of the kind that was asked for.
    pub(super) until: f64,
    pub(super) max_calls: u64,
    pub(super) max_seconds: f64,
}

/// What a method did.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The method.
    pub entrant: Entrant,
    /// Its settings, found by rule or given.
    pub settings: MethodSettings,
    /// Why its settings are what they are, where they have been searched for.
    pub tuning: Option<String>,
    /// One for each seed.
    pub runs: Vec<Solution>,
}

/// All runs.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// One for each method that ran.
    pub entries: Vec<Entry>,
    /// The optimum that gaps are measured from: that of the contest, or what a run has found below
    /// it.
    pub optimum: f64,
    /// Gaps below this cannot be told apart: by as much a run has ended below the optimum of the
    /// contest.
    pub resolution: f64,
    /// Whether all runs came to an end.
    pub status: Status,
    /// Those that an interrupt left out.
    pub not_run: Vec<&'static str>,
}

impl<'a> Lineup<'a> {
    /// Whatever can be wrong with the settings is found here. `paper` gives the paper's settings of
    /// a method, if there are some for this problem.
    ///
    /// # Errors
    /// If a name is not known or does not suit, or settings cannot be had.
    pub fn new(
        settings: CompareSettings,
        problem: Objective<'a>,
        start: &[f64],
        paper: &dyn Fn(&str) -> Option<Choice>,
    ) -> Result<Self, Error> {
        let (given, start) = (start, problem.allowed(start));
        let at_start = problem.objective(&start);
        if !at_start.is_finite() {
            let (objective, moved) = (at_start, start != given);
            return Err(RunError::StartNotFinite { objective, moved }.into());
        }
        let (rows, unsuited) = participants(&settings.methods, problem)?;
        let entrants: Vec<Entrant> = rows
            .into_iter()
            .map(|info| {
                let paper = paper(info.name).filter(|_| settings.settings == SettingsFrom::Paper);
                let origin =
                    if paper.is_some() { SettingsFrom::Paper } else { SettingsFrom::Default };
                let choice = Choice { seed: settings.seed, ..paper.unwrap_or_default() };
                Entrant { info, choice, origin }
            })
            .collect();
        for entrant in &entrants {
            method(entrant.info.name, &entrant.choice, problem, &start)?;
        }
        Ok(Lineup { settings, problem, start, at_start, entrants, unsuited })
    }

    /// Finds the optimum.
    ///
    /// # Errors
    /// If there is none to compare with.
    pub fn contest(self) -> Result<Contest<'a>, Error> {
        let Lineup { settings, problem, start, at_start, entrants, unsuited } = self;
        let optimum = optimum::optimum(problem, &start).ok_or(CompareError::NoOptimum)?;
        if !optimum.objective.is_finite()
            || optimum.source.residual().is_some_and(|left| left > NO_OPTIMUM)
        {
            return Err(CompareError::OptimumNotFound(optimum.source.to_string()).into());
        }
        Ok(Contest { settings, problem, start, at_start, optimum, entrants, unsuited })
    }
}

impl Contest<'_> {
    /// Runs all, one after the other. A method that fails does not stop the others; `interrupt`
    /// does.
    ///
    /// # Errors
    /// If a method cannot be had with the settings of a trial.
    pub fn run(
        &self,
        interrupt: &AtomicBool,
        spectator: &mut dyn Spectator,
    ) -> Result<Outcome, Error> {
        let mut entries = Vec::new();
        for entrant in &self.entrants {
            if !interrupt.load(Ordering::Relaxed) {
                entries.push(self.entry(*entrant, interrupt, spectator)?);
            }
        }
        let best = entries.iter().flat_map(|entry| &entry.runs).map(|run| run.objective);
        let optimum = best.fold(self.optimum.objective, f64::min);
        let below = (self.optimum.objective - optimum) / self.scale(optimum);
        let resolution = if below > ROUNDING * optimum.abs() { below } else { 0.0 };
        let not_run =
            self.entrants[entries.len()..].iter().map(|entrant| entrant.info.name).collect();
        let status = if interrupt.load(Ordering::Relaxed) {
            Status::Interrupted
        } else {
            Status::TargetReached
        };
        Ok(Outcome { entries, optimum, resolution, status, not_run })
    }

    fn entry(
        &self,
        entrant: Entrant,
        interrupt: &AtomicBool,
        spectator: &mut dyn Spectator,
    ) -> Result<Entry, Error> {
        let (entrant, tuning) = if self.settings.tune {
            tune::best(self, entrant, interrupt, spectator)?
        } else {
            (entrant, None)
        };
        let mut runs = Vec::new();
        let mut settings = None;
        for k in 0..self.settings.repeat {
            let choice = Choice { seed: entrant.choice.seed.wrapping_add(k), ..entrant.choice };
            let method = self.method(&entrant, &choice)?;
            let CompareSettings { until, max_calls, max_seconds, .. } = self.settings;
            let limits = Limits { until, max_calls, max_seconds };
            let run = self.once(&method, limits, interrupt, spectator);
            spectator.end(&run, self.gap(run.objective, self.optimum.objective));
            settings.get_or_insert_with(|| MethodSettings::of(&method, choice.rule));
            runs.push(run);
            if interrupt.load(Ordering::Relaxed) {
                break;
            }
        }
        let settings = settings.ok_or(CompareError::NoRun)?;
        Ok(Entry { entrant, settings, tuning, runs })
    }

    /// The method with these settings, for this problem.
    pub(super) fn method(&self, entrant: &Entrant, choice: &Choice) -> Result<AnyMethod, Error> {
        method(entrant.info.name, choice, self.problem, &self.start)
    }

    /// One run, ended by the gap or a limit.
    pub(super) fn once(
        &self,
        method: &AnyMethod,
        limits: Limits,
        interrupt: &AtomicBool,
        spectator: &mut dyn Spectator,
    ) -> Solution {
        let Limits { until, max_calls, max_seconds } = limits;
        let above = until * self.scale(self.optimum.objective);
        let stop = Stop {
            max_outer: None,
            max_calls: Some(max_calls),
            max_seconds: Some(max_seconds),
            target_objective: Some(self.optimum.objective + above),
            tolerance: None,
        };
        let evaluate_every =
            NonZeroU64::new((self.problem.inner.n_x() as u64 / LOOKS).max(STEPS_BETWEEN));
        let most_records = MOST_RECORDS;
        let driver = Driver { stop, evaluate_every, interrupt: Some(interrupt), most_records };
        spectator.begin(method.info().name, self.optimum.objective);
        method.run(&driver, self.problem, &self.start, spectator)
    }

    /// What a gap of 1 means.
    fn scale(&self, optimum: f64) -> f64 {
        match self.settings.gap {
            GapKind::Absolute => 1.0,
            GapKind::Relative => (self.at_start - optimum).max(f64::MIN_POSITIVE),
        }
    }

    /// `P - P*`, or that relative to the start.
    pub fn gap(&self, objective: f64, optimum: f64) -> f64 {
        (objective - optimum).max(0.0) / self.scale(optimum)
    }

    /// The first record of a run with a gap of at most `gap`.
    pub fn reached<'r>(&self, run: &'r Solution, optimum: f64, gap: f64) -> Option<&'r Record> {
        run.trace.iter().find(|record| self.gap(record.objective, optimum) <= gap)
    }

    /// The decades of the gap down to where runs end: k for 1e-k.
    pub fn decades(&self) -> std::ops::RangeInclusive<i32> {
        let last = (-self.settings.until.log10() - 1e-9).ceil();
        1..=(last as i32).clamp(1, 15)
    }
}

fn method(
    name: &'static str,
    choice: &Choice,
    problem: Objective<'_>,
    start: &[f64],
) -> Result<AnyMethod, Error> {
    AnyMethod::named(name, choice, problem, start)
        .map_err(|error| CompareError::Settings { method: name, reason: error.to_string() }.into())
}

/// The methods of a comparison, and those that do not suit, with the reason.
type Participants = (Vec<&'static MethodInfo>, Vec<(&'static str, String)>);

/// The methods named, or all that suit.
fn participants(names: &str, problem: Objective<'_>) -> Result<Participants, CompareError> {
    let (mut rows, mut unsuited): (Vec<&MethodInfo>, _) = (Vec::new(), Vec::new());
    if names.trim() == "all" {
        for row in METHODS {
            match row.missing(problem) {
                None => rows.push(row),
                Some(missing) => unsuited.push((row.name, missing)),
            }
        }
        unsuited.sort_by(|a, b| a.1.cmp(&b.1));
        return Ok((rows, unsuited));
    }
    for name in names.split(',').map(str::trim) {
        if name.is_empty() {
            return Err(CompareError::EmptyName(names.to_owned()));
        }
        if name == "all" {
            return Err(CompareError::AllAmongNames(names.to_owned()));
        }
        // The first choice; what it would fall back on takes part by its own name.
        let auto = if name == AUTO { auto::choose(problem).into_iter().next() } else { None };
        let row = methods::info(auto.map_or(name, |chosen| chosen.method)).map_err(|error| {
            let (name, known) = (name.to_owned(), error.expected().to_owned());
            CompareError::NoSuchMethod { name, known }
        })?;
        row.suits(problem).map_err(|error| {
            let text = error.to_string();
            let (method, reason) = text.split_once(' ').unwrap_or((name, &text));
            CompareError::Unsuited { method: method.to_owned(), reason: reason.to_owned() }
        })?;
        if rows.contains(&row) {
            let (names, name) = (names.to_owned(), name.to_owned());
            return Err(CompareError::Twice { names, name });
        }
        rows.push(row);
    }
    Ok((rows, unsuited))
}

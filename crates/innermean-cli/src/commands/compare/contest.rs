//! The runs of a comparison.

use std::fs;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, anyhow, bail};
use innermean::auto;
use innermean::optimum::{self, Optimum};
use innermean::{
    AnyMethod, Choice, Driver, METHODS, MethodInfo, Objective, Record, Solution, Status, Stop,
    methods,
};
use innermean_data::visible;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::progress::Line;
use super::{CompareFlags, GapKind, Origin, tune};
use crate::flags::solver::AUTO;
use crate::output::human::{grouped, paragraph, rounded_count};
use crate::output::trace::TraceFile;
use crate::report::OutputFiles;
use crate::run::application::all_different;
use crate::run::interrupt;
use crate::run::settings::Settings;

/// Records kept of a run: the first below a gap is what is compared.
const MOST_RECORDS: usize = 1 << 14;
/// Evaluations for each pass of single-index steps,
const LOOKS: u64 = 4;
/// but no more often than every so many steps.
const STEPS_BETWEEN: u64 = 25;
/// Of its first residual; a long run that has left more of it has found no optimum.
const NO_OPTIMUM: f64 = 1e-2;
/// Gaps below this part of the objective are rounding.
const ROUNDING: f64 = 1e-14;

/// A problem as a comparison names it.
pub(super) struct Named<'a> {
    /// Of the command line.
    pub(super) problem: &'static str,
    /// In words.
    pub(super) title: String,
    /// As a formula in words.
    pub(super) objective: String,
    pub(super) source: String,
    /// One name for each coordinate of theta.
    pub(super) coordinates: &'a [String],
    /// Files that must not be overwritten.
    pub(super) inputs: Vec<&'a Path>,
    /// The paper's settings of a method, if it gives some.
    pub(super) paper: &'a (dyn Fn(&str) -> Option<Choice> + Sync),
}

/// Everything decided but the runs.
pub(super) struct Contest<'a> {
    pub(super) flags: &'a CompareFlags,
    pub(super) named: &'a Named<'a>,
    pub(super) problem: Objective<'a>,
    pub(super) start: Vec<f64>,
    pub(super) at_start: f64,
    pub(super) optimum: Optimum,
    /// Those that take part, with what is said about their settings.
    pub(super) entrants: Vec<Entrant>,
    /// Those of the table that do not suit, with the reason.
    pub(super) unsuited: Vec<(&'static str, String)>,
    traces: Vec<Vec<TraceFile>>,
    pub(super) pictures: OutputFiles,
    pool: ThreadPool,
}

/// A method with what is said about its settings.
#[derive(Clone, Copy)]
pub(super) struct Entrant {
    pub(super) info: &'static MethodInfo,
    pub(super) choice: Choice,
    pub(super) origin: Origin,
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
pub(super) struct Entry {
    pub(super) entrant: Entrant,
    pub(super) settings: Settings,
    /// Why its settings are what they are, where they have been searched for.
    pub(super) tuning: Option<String>,
    /// One for each seed.
    pub(super) runs: Vec<Solution>,
}

/// All runs.
pub(super) struct Outcome<'a> {
    pub(super) entries: Vec<Entry>,
    /// The optimum that gaps are measured from: that of the contest, or what a run has found below
    /// it.
    pub(super) optimum: f64,
    /// Gaps below this cannot be told apart: by as much a run has ended below the optimum of the
    /// contest.
    pub(super) resolution: f64,
    pub(super) status: Status,
    /// Those that an interrupt left out.
    pub(super) not_run: Vec<&'static str>,
    traces: &'a [Vec<TraceFile>],
}

impl<'a> Contest<'a> {
    /// Whatever can be wrong with the input is found here.
    pub(super) fn prepare(
        flags: &'a CompareFlags,
        problem: Objective<'a>,
        named: &'a Named<'a>,
    ) -> Result<Self> {
        let pool = ThreadPoolBuilder::new()
            .num_threads(flags.threads)
            .build()
            .with_context(|| format!("--threads {}: cannot be started", flags.threads))?;
        let given = flags.start.point(named.coordinates, flags.seed, None)?;
        let start = problem.allowed(&given);
        let at_start = pool.install(|| problem.objective(&start));
        if !at_start.is_finite() {
            return Err(flags.start.refusal(at_start, start != given));
        }
        let (rows, unsuited) = participants(&flags.methods, problem)?;
        let entrants: Vec<Entrant> = rows
            .into_iter()
            .map(|info| {
                let paper = (named.paper)(info.name).filter(|_| flags.settings == Origin::Paper);
                let origin = if paper.is_some() { Origin::Paper } else { Origin::Default };
                let choice = Choice { seed: flags.seed, ..paper.unwrap_or_default() };
                Entrant { info, choice, origin }
            })
            .collect();
        for entrant in &entrants {
            // Settings that cannot be had are found out before the first run.
            pool.install(|| AnyMethod::named(entrant.info.name, &entrant.choice, problem, &start))
                .map_err(|error| anyhow!("{}: {error}", entrant.info.name))?;
        }
        all_different(flags.pictures.paths())?;
        let pictures = flags.pictures.check(&flags.inputs(named))?;
        let traces = trace_files(flags, named, &entrants)?;
        let optimum = pool.install(|| optimum::optimum(problem, &start)).ok_or_else(|| {
            anyhow!("there is no optimum to compare with: phi has a kink and f is not affine")
        })?;
        if !optimum.objective.is_finite()
            || optimum.source.residual().is_some_and(|left| left > NO_OPTIMUM)
        {
            bail!(
                "no optimum was found to compare with ({}): the objective may have no minimum; give a --constraint, or --l2",
                optimum.source
            );
        }
        Ok(Contest {
            flags,
            named,
            problem,
            start,
            at_start,
            optimum,
            entrants,
            unsuited,
            traces,
            pictures,
            pool,
        })
    }

    /// What is known before the runs.
    pub(super) fn head(&self) -> String {
        let mut text = format!(
            "Comparison on a {}\n{}\n",
            visible(&self.named.title),
            visible(&self.named.source)
        );
        text.push_str(&paragraph(
            "objective:",
            &format!("{}, start {}", self.named.objective, self.flags.start),
        ));
        let Optimum { objective, source, .. } = &self.optimum;
        text.push_str(&paragraph("optimum:", &format!("{objective:.12}, by {source}.")));
        for group in self.unsuited.chunk_by(|a, b| a.1 == b.1) {
            let names: Vec<&str> = group.iter().map(|(name, _)| *name).collect();
            let each = if names.len() > 1 { " each" } else { "" };
            let reason = group[0].1.replacen("it needs", &format!("which{each} needs"), 1);
            text.push_str(&paragraph("left out:", &format!("{}, {reason}.", names.join(", "))));
        }
        text + "\n"
    }

    /// Runs all, one after the other. A method that fails does not stop the others; Ctrl-C does.
    pub(super) fn run(&self) -> Result<Outcome<'_>> {
        let interrupt = interrupt::listen()?;
        let mut line = Line::new();
        let mut entries = Vec::new();
        for entrant in &self.entrants {
            if !interrupt.load(Ordering::Relaxed) {
                entries.push(self.entry(*entrant, interrupt, &mut line)?);
            }
        }
        line.clear();
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
        Ok(Outcome { entries, optimum, resolution, status, not_run, traces: &self.traces })
    }

    fn entry(&self, entrant: Entrant, interrupt: &AtomicBool, line: &mut Line) -> Result<Entry> {
        let (entrant, tuning) = if self.flags.tune {
            tune::best(self, entrant, interrupt, line)?
        } else {
            (entrant, None)
        };
        let mut runs = Vec::new();
        let mut settings = None;
        for k in 0..self.flags.repeat {
            let choice = Choice { seed: entrant.choice.seed.wrapping_add(k), ..entrant.choice };
            let method = self.method(&entrant, &choice)?;
            let CompareFlags { until, max_calls, max_seconds, .. } = *self.flags;
            let run = self.once(&method, Limits { until, max_calls, max_seconds }, interrupt, line);
            let gap = self.gap(run.objective, self.optimum.objective);
            line.end(&format!(
                "gap {gap:.1e} after {} calls, {:.2} s, {}",
                rounded_count(run.calls.total()),
                run.seconds,
                run.status.title()
            ));
            settings = Some(settings.map_or_else(|| Settings::of(&method, choice.rule), Ok)?);
            runs.push(run);
            if interrupt.load(Ordering::Relaxed) {
                break;
            }
        }
        let settings = settings.ok_or_else(|| anyhow!("no run was made"))?;
        Ok(Entry { entrant, settings, tuning, runs })
    }

    /// The method with these settings, for this problem.
    pub(super) fn method(&self, entrant: &Entrant, choice: &Choice) -> Result<AnyMethod> {
        let name = entrant.info.name;
        self.pool
            .install(|| AnyMethod::named(name, choice, self.problem, &self.start))
            .map_err(|error| anyhow!("{name}: {error}"))
    }

    /// One run, ended by the gap or a limit.
    pub(super) fn once(
        &self,
        method: &AnyMethod,
        limits: Limits,
        interrupt: &AtomicBool,
        line: &mut Line,
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
        line.begin(method.info().name, self.optimum.objective);
        self.pool.install(|| method.run(&driver, self.problem, &self.start, line))
    }

    /// What a gap of 1 means.
    fn scale(&self, optimum: f64) -> f64 {
        match self.flags.gap {
            GapKind::Absolute => 1.0,
            GapKind::Relative => (self.at_start - optimum).max(f64::MIN_POSITIVE),
        }
    }

    /// `P - P*`, or that relative to the start.
    pub(super) fn gap(&self, objective: f64, optimum: f64) -> f64 {
        (objective - optimum).max(0.0) / self.scale(optimum)
    }

    /// The first record of a run with a gap of at most `gap`.
    pub(super) fn reached<'r>(
        &self,
        run: &'r Solution,
        optimum: f64,
        gap: f64,
    ) -> Option<&'r Record> {
        run.trace.iter().find(|record| self.gap(record.objective, optimum) <= gap)
    }

    /// The decades of the gap down to where runs end: k for 1e-k.
    pub(super) fn decades(&self) -> std::ops::RangeInclusive<i32> {
        let last = (-self.flags.until.log10() - 1e-9).ceil();
        1..=(last as i32).clamp(1, 15)
    }

    /// Threads of the runs.
    pub(super) fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }
}

impl Outcome<'_> {
    /// One file for each run.
    pub(super) fn write_traces(&self, rows: u64) -> Result<()> {
        for (entry, files) in self.entries.iter().zip(self.traces) {
            for (run, file) in entry.runs.iter().zip(files) {
                file.write(&run.trace, rows, Some(self.optimum))?;
            }
        }
        Ok(())
    }
}

/// The methods of a comparison, and those that do not suit, with the reason.
type Participants = (Vec<&'static MethodInfo>, Vec<(&'static str, String)>);

/// The methods named, or all that suit.
fn participants(names: &str, problem: Objective<'_>) -> Result<Participants> {
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
            bail!(
                "--methods '{names}': a name is missing; expected names with one comma between them, or all"
            );
        }
        if name == "all" {
            bail!(
                "--methods {names}: all takes every method that suits; expected it alone, or names"
            );
        }
        // The first choice; what it would fall back on takes part by its own name.
        let auto = if name == AUTO { auto::choose(problem).into_iter().next() } else { None };
        let row = methods::info(auto.map_or(name, |chosen| chosen.method)).map_err(|error| {
            anyhow!(
                "--methods {name}: there is no such method; expected auto, {}, or all",
                error.expected()
            )
        })?;
        row.suits(problem).map_err(|error| anyhow!("--methods {error}"))?;
        if rows.contains(&row) {
            bail!("--methods {names}: {name} is named twice; expected every name once");
        }
        rows.push(row);
    }
    Ok((rows, unsuited))
}

/// Where the traces go: looked at before the first run.
fn trace_files(
    flags: &CompareFlags,
    named: &Named<'_>,
    entrants: &[Entrant],
) -> Result<Vec<Vec<TraceFile>>> {
    let Some(folder) = &flags.trace_dir else { return Ok(Vec::new()) };
    fs::create_dir_all(folder).map_err(|error| {
        anyhow!(
            "--trace-dir {}: cannot be made ({}); expected the path of a folder",
            folder.display(),
            error.kind()
        )
    })?;
    let inputs = flags.inputs(named);
    entrants
        .iter()
        .map(|entrant| {
            (0..flags.repeat)
                .map(|k| {
                    let seed = flags.seed.wrapping_add(k);
                    let file = folder.join(format!("{}-seed{seed}.jsonl", entrant.info.name));
                    TraceFile::check("--trace-dir", &file, &inputs)
                })
                .collect()
        })
        .collect()
}

/// 2 seeds, 1 seed
pub(super) fn seeds(count: u64) -> String {
    if count == 1 { "1 seed".to_owned() } else { format!("{} seeds", grouped(count)) }
}

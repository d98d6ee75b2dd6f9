//! A comparison with its files and threads.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use innermean::optimum::Optimum;
use innermean::{Choice, Objective};
use innermean_apps::compare::{Contest, Entrant, Lineup, Outcome};
use innermean_data::visible;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::CompareFlags;
use super::progress::Line;
use crate::output::human::{grouped, paragraph};
use crate::output::trace::TraceFile;
use crate::report::OutputFiles;
use crate::run::interrupt;
use crate::run::request::all_different;

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
pub(super) struct Comparison<'a> {
    pub(super) flags: &'a CompareFlags,
    pub(super) named: &'a Named<'a>,
    pub(super) contest: Contest<'a>,
    traces: Vec<Vec<TraceFile>>,
    pub(super) pictures: OutputFiles,
    pool: ThreadPool,
}

impl<'a> Comparison<'a> {
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
        let start = flags.start.point(named.coordinates, flags.seed, None)?;
        let lineup = pool
            .install(|| Lineup::new(flags.into(), problem, &start, named.paper))
            .map_err(|error| flags.start.refusal(error))?;
        all_different(flags.pictures.paths())?;
        let pictures = flags.pictures.check(&flags.inputs(named))?;
        let traces = trace_files(flags, named, &lineup.entrants)?;
        let contest = pool.install(|| lineup.contest())?;
        Ok(Comparison { flags, named, contest, traces, pictures, pool })
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
        let Optimum { objective, source, .. } = &self.contest.optimum;
        text.push_str(&paragraph("optimum:", &format!("{objective:.12}, by {source}.")));
        for group in self.contest.unsuited.chunk_by(|a, b| a.1 == b.1) {
            let names: Vec<&str> = group.iter().map(|(name, _)| *name).collect();
            let each = if names.len() > 1 { " each" } else { "" };
            let reason = group[0].1.replacen("it needs", &format!("which{each} needs"), 1);
            text.push_str(&paragraph("left out:", &format!("{}, {reason}.", names.join(", "))));
        }
        text + "\n"
    }

    /// Runs all, one after the other. A method that fails does not stop the others; Ctrl-C does.
    pub(super) fn run(&self) -> Result<Outcome> {
        let interrupt = interrupt::listen()?;
        let mut line = Line::new();
        let outcome = self.pool.install(|| self.contest.run(interrupt, &mut line));
        line.clear();
        Ok(outcome?)
    }

    /// One file for each run.
    pub(super) fn write_traces(&self, outcome: &Outcome) -> Result<()> {
        let rows = self.contest.problem.inner.rows().all;
        for (entry, files) in outcome.entries.iter().zip(&self.traces) {
            for (run, file) in entry.runs.iter().zip(files) {
                file.write(&run.trace, rows, Some(outcome.optimum))?;
            }
        }
        Ok(())
    }

    /// Threads of the runs.
    pub(super) fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }
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

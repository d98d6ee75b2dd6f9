//! `innermean compare`: several methods on one problem, from one start, by one count.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, Subcommand};
use innermean::{Inner, Objective, Status};
use innermean_apps::compare::{CompareSettings, GapKind, SettingsFrom};
use innermean_apps::run::Task;

use self::comparison::{Comparison, Named};
use self::report::Report;
use crate::commands::portfolio::ProblemFlags;
use crate::flags::number;
use crate::flags::spelling::{by_name, only};
use crate::output::stdout;
use crate::report::PictureFlags;
use crate::run::start::Start;

mod comparison;
mod page;
mod policy;
mod progress;
mod report;

/// Compare methods on one problem: who needs how many calls for how small a gap
#[derive(Debug, Args)]
#[command(long_about = LONG_ABOUT, after_long_help = AFTER_HELP)]
pub(crate) struct CompareArgs {
    #[command(subcommand)]
    problem: ProblemChoice,
}

/// The problems to compare methods on.
#[derive(Debug, Subcommand)]
enum ProblemChoice {
    /// The portfolio of `innermean portfolio`
    Portfolio(PortfolioArgs),
    /// The policy of `innermean policy`
    Policy(policy::PolicyArgs),
}

#[derive(Debug, Args)]
struct PortfolioArgs {
    /// Returns, as for `innermean portfolio` [default: a generated market of 25 portfolios over
    /// 7240 days]
    file: Option<PathBuf>,

    #[command(flatten)]
    problem: ProblemFlags,

    #[command(flatten)]
    compare: CompareFlags,
}

/// Who takes part, and for how long.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Comparison")]
pub(crate) struct CompareFlags {
    /// Names from `innermean methods`, with commas between them, auto for the one that the problem
    /// would choose, or all: every method that suits the problem
    #[arg(long, value_name = "NAMES", default_value = "all")]
    methods: String,

    /// Where the settings come from
    #[arg(long, value_name = "WHICH", default_value = "paper")]
    #[arg(value_parser = only(&[SettingsFrom::Paper, SettingsFrom::Default]))]
    settings: SettingsFrom,

    /// Search a small logarithmic grid of steps for each method first, and say what was chosen
    #[arg(long)]
    tune: bool,

    /// Run with SEEDS seeds, from --seed upwards, and show medians and ranges
    #[arg(long, value_name = "SEEDS", default_value = "1", value_parser = seeds)]
    #[arg(allow_hyphen_values = true)]
    repeat: u64,

    /// Whether gaps are objective minus optimum, or that divided by its value at the start
    #[arg(long, value_name = "KIND", default_value = "absolute", value_parser = by_name::<GapKind>())]
    gap: GapKind,

    /// Where to begin: zeros, uniform (each coordinate uniform in [0, 1), by --seed) or a file with
    /// one number for each coordinate
    #[arg(long, value_name = "zeros|uniform|FILE", default_value = "uniform")]
    start: Start,

    /// The first seed of the random draws
    #[arg(long, value_name = "SEED", default_value = "0", value_parser = number::seed, allow_hyphen_values = true)]
    seed: u64,

    /// Threads for the passes over the data; 0 for as many as there are cores
    #[arg(long, value_name = "N", default_value = "0", value_parser = crate::flags::solver::threads)]
    #[arg(allow_hyphen_values = true)]
    threads: usize,

    /// End each run at this gap
    #[arg(long, value_name = "GAP", default_value = "1e-10", value_parser = number::positive)]
    #[arg(allow_hyphen_values = true)]
    until: f64,

    /// End each run after N oracle calls
    #[arg(long, value_name = "N", default_value = "1e9", value_parser = number::positive_count)]
    #[arg(allow_hyphen_values = true)]
    max_calls: u64,

    /// End each run after SECONDS seconds, evaluations included; with --tune the trials come on
    /// top, a fifth of that each
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = number::positive)]
    #[arg(allow_hyphen_values = true)]
    max_seconds: f64,

    /// Print one JSON object instead of the tables
    #[arg(long)]
    json: bool,

    /// Write the course of every run into this folder, one file a run, one JSON object a line
    #[arg(long, value_name = "DIR")]
    trace_dir: Option<PathBuf>,

    #[command(flatten)]
    pictures: PictureFlags,
}

const LONG_ABOUT: &str = "\
Compare methods on one problem: who needs how many calls for how small a gap.

All run from the same start with the same seed, and oracle calls, seconds and rows of data read are counted alike: the tables say what \
each method has used up when its gap first falls to 1e-1, 1e-2, and so on (in a narrow terminal, every other one). The gap is the objective minus the optimum; the output says where \
the optimum comes from. Objectives are evaluated with the clock stopped and are not counted.

A method takes the settings that the paper gives for the problem, if it gives some (for portfolios: mean and variance of returns in percent), and otherwise its own. A comparison is fair only where \
all are tuned: see --tune.";

const AFTER_HELP: &str = "\
Examples:
  innermean compare portfolio --methods svrpda1,svrpda2,comp-svrg1,gd,lbfgs
  innermean compare portfolio returns.csv --repeat 5 --json > comparison.json
  innermean compare policy --states 10 --features 5 --methods svrpda1,svrpda2,c-saga --tune

Exit codes: 0 when all runs came to an end, however it was; 1 interrupted; 2 bad usage, input or output.";

/// Builds the problem and compares.
pub(crate) fn run(args: &CompareArgs) -> Result<Status> {
    match &args.problem {
        ProblemChoice::Portfolio(PortfolioArgs { file, problem, compare }) => {
            compare.pictures.check(&file.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
            let market = problem.searched_market(file.as_deref())?;
            let (task, f) = (&market.task, market.task.portfolio());
            let coordinates = task.run_coordinates();
            let named = Named {
                problem: "portfolio",
                title: format!("portfolio of {} assets over {} periods", f.d(), f.n_x()),
                objective: task.settings().formula(),
                source: market.returns.source.clone(),
                coordinates: &coordinates,
                inputs: file.iter().map(PathBuf::as_path).collect(),
                paper: &|name| task.paper_choice(name),
            };
            compare.run(task.problem(), &named)
        }
        ProblemChoice::Policy(args) => policy::run(args),
    }
}

/// Runs of more seeds would take for ever, and all of them are kept.
const MOST_SEEDS: u64 = 1_000_000;

fn seeds(text: &str) -> Result<u64, String> {
    let expected = || format!("expected a whole number from 1 to {MOST_SEEDS}");
    number::positive_count(text).ok().filter(|seeds| *seeds <= MOST_SEEDS).ok_or_else(expected)
}

impl From<&CompareFlags> for CompareSettings {
    fn from(flags: &CompareFlags) -> Self {
        let mut settings = CompareSettings::default();
        settings.methods.clone_from(&flags.methods);
        settings.settings = flags.settings;
        settings.tune = flags.tune;
        settings.repeat = flags.repeat;
        settings.gap = flags.gap;
        settings.seed = flags.seed;
        settings.until = flags.until;
        settings.max_calls = flags.max_calls;
        settings.max_seconds = flags.max_seconds;
        settings
    }
}

impl CompareFlags {
    /// Runs all and reports.
    fn run(&self, problem: Objective<'_>, named: &Named<'_>) -> Result<Status> {
        let comparison = Comparison::prepare(self, problem, named)?;
        if !self.json {
            stdout::print(&comparison.head())?;
        }
        let outcome = comparison.run()?;
        let traced = comparison.write_traces(&outcome);
        let report = Report { comparison: &comparison, outcome: &outcome };
        let pictured = if comparison.pictures.is_empty() {
            Ok(())
        } else {
            comparison.pictures.write(&report.page())
        };
        stdout::print(&if self.json { report.json()? } else { report.text() })?;
        traced?;
        pictured?;
        Ok(outcome.status)
    }

    fn inputs<'a>(&'a self, named: &'a Named<'_>) -> Vec<&'a Path> {
        named.inputs.iter().copied().chain(self.start.file()).collect()
    }
}

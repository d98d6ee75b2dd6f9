//! What is asked beyond one portfolio: a search, a frontier, a walk out of sample.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use innermean_apps::portfolio::{Frontier, PortfolioTask, Unit, Walk, WalkSettings};
use innermean_apps::run::Solver;
use rayon::{ThreadPool, ThreadPoolBuilder};
use serde::Serialize;

use crate::flags::number;
use crate::flags::solver::SolverFlags;
use crate::flags::spelling::by_name;
use crate::output::progress;
use crate::run::{deadline, interrupt};

/// What is sought with the objectives that are searched for.
#[derive(Debug, Clone, Args)]
pub(crate) struct SoughtFlags {
    /// The largest risk of --objective max-return: a standard deviation for variance, a root for
    /// semivariance, and the risk itself otherwise
    #[arg(long, value_name = "RISK", value_parser = number::positive, allow_hyphen_values = true)]
    pub(super) max_risk: Option<f64>,

    /// What is earned for each period without risk, in the unit of the returns: for --objective
    /// max-sharpe, and for the Sharpe ratio of any answer
    #[arg(long, value_name = "RETURN", value_parser = number::finite, allow_hyphen_values = true)]
    pub(super) risk_free: Option<f64>,
}

/// What is looked at beside the answer.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Frontier and out of sample")]
pub(crate) struct StudyFlags {
    /// Also compute N portfolios from the least risk to the largest return, each with its
    /// certificate; --report draws them
    #[arg(long, value_name = "N", value_parser = number::positive_size)]
    pub(super) frontier: Option<usize>,

    /// Fit TRAIN periods, hold the weights over the next TEST ones, and so on to the end of the
    /// file: weights drift, trades cost what --cost says (which a fit spreads over the TEST
    /// periods), what is held at the end is what the next fit turns over. The answer is that of the
    /// last TRAIN periods. An asset takes part in the windows in which nothing of it is missing
    #[arg(long, value_name = "TRAIN,TEST", value_parser = windows)]
    #[arg(conflicts_with_all = ["weight", "benchmark", "covariance", "factors"])]
    pub(super) walk_forward: Option<(usize, usize)>,

    /// The unit of the returns, which --walk-forward needs to let weights drift and --report to
    /// add up returns
    #[arg(long, value_name = "UNIT", default_value = "auto", value_parser = by_name::<Unit>())]
    #[arg(requires = "compounded")]
    pub(super) unit: Unit,

    /// Periods of a year, such as 252 or 12: the answer is given by the year as well
    #[arg(long, value_name = "PERIODS", value_parser = number::positive)]
    pub(super) annualize: Option<f64>,
}

/// Where the weights go.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct WeightsFlags {
    /// Write the weights to a file, with the columns asset and weight and, with --current, current
    /// and trade: .csv, .tsv, these with .gz, .json or .parquet (if built in)
    #[arg(long, value_name = "FILE")]
    pub(super) weights: Option<PathBuf>,
}

fn windows(text: &str) -> Result<(usize, usize), String> {
    let number = |text: &str| number::positive_size(text).ok();
    text.split_once(',')
        .and_then(|(train, test)| Some((number(train)?, number(test)?)))
        .ok_or_else(|| "expected two whole numbers above 0, such as 1000,20".to_owned())
}

impl StudyFlags {
    /// A flag that is given and needs the returns of single periods.
    pub(super) fn needs_rows(&self) -> Option<&'static str> {
        let walk = self.walk_forward.is_some().then_some("--walk-forward");
        self.frontier.is_some().then_some("--frontier").or(walk)
    }

    /// The windows of a walk, where one was asked for.
    pub(super) fn walk(&self) -> Option<WalkSettings> {
        let (unit, half_life, are_logs) = (self.unit, None, false);
        self.walk_forward.map(|(train, test)| WalkSettings {
            train,
            test,
            unit,
            are_logs,
            half_life,
        })
    }
}

/// What came of it.
#[derive(Debug, Default, Serialize)]
pub(super) struct Study {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) frontier: Option<Frontier>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) walk_forward: Option<Walk>,
}

/// Threads and settings of runs before the answer's own.
pub(super) struct Desktop {
    pool: ThreadPool,
    solver: Solver,
}

impl Desktop {
    pub(super) fn new(flags: &SolverFlags) -> Result<Self> {
        let pool = ThreadPoolBuilder::new()
            .num_threads(flags.threads)
            .build()
            .with_context(|| format!("--threads {}: cannot be started", flags.threads))?;
        let mut solver = Solver::default();
        solver.choice.seed = flags.seed;
        solver.stop = (&flags.stop).into();
        solver.stop.target_objective = None;
        Ok(Desktop { pool, solver })
    }

    /// Runs `work` on the threads, where somebody may wait for it.
    pub(super) fn run<T: Send>(
        &self,
        what: &'static str,
        work: impl FnOnce(
            &Solver,
            Option<&std::sync::atomic::AtomicBool>,
        ) -> Result<T, innermean_apps::Error>
        + Send,
    ) -> Result<T> {
        let interrupt = Some(interrupt::listen()?);
        let mut solver = self.solver.clone();
        // Not before the data are there: until then the clock ends the program.
        solver.stop.max_seconds = deadline::left(solver.stop.max_seconds);
        let waiting = progress::spinner(what);
        let found = self.pool.install(|| work(&solver, interrupt));
        waiting.finish_and_clear();
        Ok(found?)
    }

    /// Finds the weight of risk and the frontier, where they were asked for.
    pub(super) fn study(
        &self,
        task: &mut PortfolioTask,
        points: Option<usize>,
    ) -> Result<Option<Frontier>> {
        if task.is_searched() {
            self.run("search", |solver, interrupt| task.search(solver, interrupt))?;
        }
        points
            .map(|points| {
                self.run("frontier", |solver, interrupt| task.frontier(points, solver, interrupt))
            })
            .transpose()
    }
}

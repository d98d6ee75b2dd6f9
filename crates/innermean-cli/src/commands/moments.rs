//! `innermean moments`: linear instrumental variables by the generalised method of moments.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use innermean::Status;
use innermean::inference::Clusters;
use innermean_apps::Error;
use innermean_apps::moments::{
    Column, FirstStage, MomentsAnswer, MomentsData, MomentsErrors, MomentsSettings, MomentsTask,
    Spline, Steps,
};
use innermean_data::{Ask, Columns, FeatureColumns, Frame};
use rayon::ThreadPoolBuilder;
use serde::Serialize;

use self::report::Words;
use crate::flags::columns::{MissingChoice, MissingFlags};
use crate::flags::inference::{draws, share, time_left};
use crate::flags::input::limits;
use crate::flags::number;
use crate::flags::solver::threads;
use crate::flags::spelling::{by_name, refused_at};
use crate::output::human::grouped;
use crate::output::stdout;
use crate::report::OutputFiles;
use crate::run::deadline;

mod report;

/// Estimate effects by instruments
#[derive(Debug, Args)]
#[command(long_about = LONG_ABOUT, after_long_help = AFTER_HELP)]
pub(crate) struct MomentsArgs {
    /// The rows: a table with a column for each variable
    file: PathBuf,

    #[command(flatten)]
    columns: ColumnFlags,

    #[command(flatten)]
    estimation: EstimationFlags,

    #[command(flatten)]
    inference: ErrorFlags,

    #[command(flatten)]
    output: OutputFlags,
}

/// What is written.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
struct OutputFlags {
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,

    /// Write a page about it to a file that any browser opens: estimates, tests, certificate, data,
    /// settings
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
}

/// What the columns of the file are.
#[derive(Debug, Args)]
#[command(next_help_heading = "Columns")]
struct ColumnFlags {
    /// The column to be explained, by name or number
    #[arg(long, value_name = "COLUMN")]
    outcome: String,

    /// Regressors that may be correlated with the error, with commas between them
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', required = true)]
    regressors: Vec<String>,

    /// Instruments: columns that are correlated with the regressors and not with the error
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', required = true)]
    instruments: Vec<String>,

    /// Regressors that are not correlated with the error, and so are instruments too
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    exogenous: Vec<String>,

    /// A column that names the cluster of each row: those of one cluster may depend on each other
    #[arg(long, value_name = "COLUMN")]
    cluster: Option<String>,

    /// Take a B-spline basis of a regressor or instrument in its place, with this many knots
    /// between its ends, at quantiles
    #[arg(long, value_name = "COLUMN=KNOTS", value_delimiter = ',', value_parser = spline)]
    spline: Vec<Spline>,

    /// The degree of splines
    #[arg(long, value_name = "N", default_value = "3", value_parser = number::positive_size)]
    spline_degree: usize,

    #[command(flatten)]
    missing: MissingFlags,
}

/// How to estimate.
#[derive(Debug, Args)]
#[command(next_help_heading = "Estimation")]
struct EstimationFlags {
    /// How often the coefficients are estimated
    #[arg(long, value_name = "STEPS", default_value = "2", value_parser = by_name::<Steps>())]
    steps: Steps,

    /// Leave the constant out of regressors and instruments
    #[arg(long)]
    no_intercept: bool,
}

/// How sure the estimates are.
#[derive(Debug, Args)]
#[command(next_help_heading = "How sure")]
struct ErrorFlags {
    /// What is assumed of the errors, for weights and standard errors [default: clustered with
    /// --cluster, otherwise robust]
    #[arg(long, value_name = "KIND", value_parser = by_name::<MomentsErrors>())]
    standard_errors: Option<MomentsErrors>,

    /// Leave out the correction for residuals that are smaller than errors, and take normal
    /// intervals: standard errors for many rows
    #[arg(long)]
    no_correction: bool,

    /// How often intervals are to hold the truth
    #[arg(long, value_name = "SHARE", default_value = "0.95", value_parser = share, allow_hyphen_values = true)]
    level: f64,

    /// Estimate again from this many draws of rows or clusters with replacement, such as 1000
    #[arg(long, value_name = "DRAWS", value_parser = draws, allow_hyphen_values = true)]
    bootstrap: Option<usize>,

    /// The seed of the draws: the same seed gives the same bits on any number of threads
    #[arg(long, value_name = "SEED", default_value = "0", value_parser = number::seed, allow_hyphen_values = true)]
    seed: u64,

    /// Stop drawing this many seconds after the command starts
    #[arg(long, value_name = "SECONDS", value_parser = number::positive, allow_hyphen_values = true)]
    max_seconds: Option<f64>,

    /// Threads for the bootstrap; 0 for as many as there are cores
    #[arg(long, value_name = "N", default_value = "0", value_parser = threads, allow_hyphen_values = true)]
    threads: usize,
}

const LONG_ABOUT: &str = "\
Estimate effects by instruments.

  min over theta of  u' C^-1 u / 2  with  u = (1/n) sum_j z_j (y_j - <x_j, theta>)

y_j is the outcome of row j, x_j its regressors, some of them correlated with the error, and z_j its instruments, which are not. Regressors that are \
exogenous, and the constant, are instruments too. With one step, C is the mean of z_j z_j', which is two-stage least squares; with two, C is the \
covariance of the moments z_j (y_j - <x_j, theta>) at the first estimate; iterated, at the estimate itself.

Where there are more instruments than regressors, the J test says whether they agree: a small p-value speaks against them. The first stage says how much \
the instruments tell about each regressor: with an F below 10 or so they are weak, and intervals are too narrow.";

const AFTER_HELP: &str = "\
Examples:
  innermean moments market.csv --outcome quantity --regressors price --instruments cost,tax --exogenous income
  innermean moments market.csv --outcome quantity --regressors price --instruments cost --spline price=1,cost=3
  innermean moments market.csv --outcome quantity --regressors price --instruments cost,tax --report page.html
  innermean moments panel.csv --outcome wage --regressors school --instruments distance,quarter --cluster state --steps 1

Exit codes: 0 estimated, 2 bad usage, input or output.";

/// `price=3`
fn spline(text: &str) -> Result<Spline, String> {
    let expected = || "expected a column and a number of knots, such as price=3".to_owned();
    let (column, knots) = text.rsplit_once('=').ok_or_else(expected)?;
    let knots = number::size(knots).ok().filter(|knots| *knots <= 1000).ok_or_else(expected)?;
    Ok(Spline { column: column.to_owned(), knots })
}

/// What `--json` prints.
#[derive(Serialize)]
struct Document<'a> {
    version: &'static str,
    problem: &'static str,
    theta: &'a [f64],
    #[serde(flatten)]
    answer: &'a MomentsAnswer,
    source: &'a str,
    notes: &'a [String],
    settings: Settings<'a>,
}

/// All that it takes to do it again.
#[derive(Serialize)]
struct Settings<'a> {
    outcome: &'a str,
    regressors: &'a [String],
    exogenous: &'a [String],
    cluster: Option<&'a str>,
    missing: MissingChoice,
    seed: u64,
    #[serde(flatten)]
    estimation: &'a MomentsSettings,
}

impl ColumnFlags {
    /// Refuses a column with two roles.
    fn check(&self) -> Result<()> {
        let outcome = [("--outcome", &self.outcome)];
        let lists = [
            ("--regressors", &self.regressors),
            ("--exogenous", &self.exogenous),
            ("--instruments", &self.instruments),
        ];
        let all = outcome.into_iter().chain(
            lists.into_iter().flat_map(|(flag, names)| names.iter().map(move |n| (flag, n))),
        );
        let mut seen: Vec<(&str, &String)> = Vec::new();
        for (flag, name) in all {
            if let Some((other, _)) = seen.iter().find(|(_, seen)| *seen == name) {
                let end = if *other == "--regressors" && flag == "--instruments" {
                    "one that is an instrument too in --exogenous"
                } else {
                    "it once"
                };
                bail!("{flag} {name}: the column is in {other} already; expected {end}");
            }
            seen.push((flag, name));
        }
        Ok(())
    }

    fn read(&self, file: &Path) -> Result<(MomentsData, Frame)> {
        if file == Path::new("-") {
            bail!("-: standard input is not read; expected the path of a file");
        }
        let Self { outcome, regressors, exogenous, instruments, .. } = self;
        let names = || [outcome].into_iter().chain(regressors).chain(exogenous).chain(instruments);
        let columns = Columns {
            keys: self.cluster.iter().map(Ask::required).collect(),
            numbers: names().map(Ask::required).collect(),
            features: FeatureColumns::None,
        };
        let mut frame = limits().read_frame(file, &columns, self.missing.missing.into())?;
        let numbers = std::mem::take(&mut frame.numbers);
        let mut read = names().cloned().zip(numbers.into_iter().map(Option::unwrap_or_default));
        let outcome = read.next().map(|(_, values)| values).unwrap_or_default();
        let mut take = |names: &[String]| -> Vec<Column> {
            read.by_ref().take(names.len()).map(|(name, x)| Column::new(name, x)).collect()
        };
        let (endogenous, exogenous, instruments) =
            (take(regressors), take(exogenous), take(instruments));
        let clusters = frame.keys.first_mut().and_then(Option::take);
        let clusters = clusters.map(|keys| Clusters::new(keys.codes)).transpose()?;
        Ok((MomentsData { outcome, endogenous, exogenous, instruments, clusters }, frame))
    }
}

/// Estimates and reports.
pub(crate) fn run(args: &MomentsArgs) -> Result<Status> {
    let MomentsArgs { file, columns, estimation, inference, output } = args;
    deadline::start(inference.max_seconds);
    columns.check()?;
    let pages = OutputFiles::check("--report", output.report.as_deref(), None, &[file])?;
    let mut settings = MomentsSettings::default();
    settings.steps = estimation.steps;
    settings.intercept = !estimation.no_intercept;
    settings.errors = inference.standard_errors;
    settings.small_sample = !inference.no_correction;
    settings.level = inference.level;
    settings.bootstrap = inference.bootstrap;
    settings.splines.clone_from(&columns.spline);
    settings.degree = columns.spline_degree;
    settings.check(columns.cluster.is_some())?;
    let (data, frame) = columns.read(file)?;
    let refused = |error: Error| match error {
        Error::Moments(_) => refused_at(&frame.source, &error),
        other => anyhow!(other),
    };
    let task = MomentsTask::new(&data, &settings).map_err(refused)?;
    let pool = ThreadPoolBuilder::new()
        .num_threads(inference.threads)
        .build()
        .with_context(|| format!("--threads {}: cannot be started", inference.threads))?;
    let left = time_left(inference.max_seconds)?;
    let answer = pool.install(|| task.fit(inference.seed, &left)).map_err(refused)?;
    let notes = notes(&frame, &answer);
    let document = Document {
        version: env!("CARGO_PKG_VERSION"),
        problem: "moments",
        theta: &answer.inference.estimates,
        answer: &answer,
        source: &frame.source,
        notes: &notes,
        settings: Settings {
            outcome: &columns.outcome,
            regressors: &columns.regressors,
            exogenous: &columns.exogenous,
            cluster: columns.cluster.as_deref(),
            missing: columns.missing.missing,
            seed: inference.seed,
            estimation: &settings,
        },
    };
    let words = Words { answer: &answer, settings: &settings, source: &frame.source };
    let text =
        if output.json { serde_json::to_string(&document)? + "\n" } else { words.text(&notes) };
    let pictured = if pages.is_empty() {
        Ok(())
    } else {
        let settings = serde_json::to_value(&document.settings)?;
        pages.write(&words.report(file, &notes, &settings))
    };
    stdout::print(&text)?;
    pictured?;
    Ok(if answer.inference.is_whole() { Status::Solved } else { Status::Stopped })
}

fn notes(frame: &Frame, answer: &MomentsAnswer) -> Vec<String> {
    let mut notes = frame.notes.clone();
    let weak = answer.first_stage.iter().filter(|stage| stage.is_weak());
    let weak: Vec<&str> = weak.map(|stage| stage.regressor.as_str()).collect();
    if !weak.is_empty() {
        notes.push(format!(
            "The instruments say little about {} (F below {} in the first stage): estimates lean \
             towards least squares, and intervals are too narrow.",
            weak.join(", "),
            FirstStage::WEAK
        ));
    }
    if frame.dropped.rows > 0 {
        let rows = grouped(frame.dropped.rows as u64);
        notes.push(format!("Rows left out because of missing values: {rows}."));
    }
    notes
}

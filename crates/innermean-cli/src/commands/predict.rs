//! `innermean predict`: a model that was kept, applied to other rows.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use clap::{Args, ValueEnum};
use innermean::Status;
use innermean_apps::Place;
use innermean_apps::model::{Model, ModelKind};
use innermean_data::{Missing, OutTable};

use self::report::Report;
use self::rows::Read;
use crate::commands::linear::Format;
use crate::flags::spelling::refused_at;
use crate::output::stdout;

mod report;
mod rows;

/// Apply a fitted model to other rows
#[derive(Debug, Args)]
#[command(long_about = LONG_ABOUT, after_long_help = AFTER_HELP)]
pub(crate) struct PredictArgs {
    /// A model: a file that --model of linear, bags or sequences wrote, or --save-model of policy
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// The rows: a table with the model's features among its columns, or sparse rows as LIBSVM has
    /// them
    #[arg(value_name = "ROWS")]
    rows: PathBuf,

    #[command(flatten)]
    columns: ColumnFlags,

    #[command(flatten)]
    output: OutputFlags,
}

/// What the columns of the rows are.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct ColumnFlags {
    /// A column of names that is written beside the predictions
    #[arg(long, value_name = "COLUMN")]
    id_column: Option<String>,

    /// Write the mean of the predictions for each text of this column, rather than those of single
    /// rows
    #[arg(long, value_name = "COLUMN")]
    group: Option<String>,

    /// A column with the weight of each row in the means of --group, such as a number of persons
    #[arg(long, value_name = "COLUMN", requires = "group")]
    weight: Option<String>,

    /// The column of states, for the values of states by name
    #[arg(long, value_name = "COLUMN", default_value = "state")]
    state_column: String,

    /// Leave out columns that the model does not know; otherwise they are refused, but for those
    /// that were no features in the file that it was fitted to
    #[arg(long)]
    ignore_extra: bool,

    /// What to do about rows with missing values
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = MissingRows::Error)]
    missing: MissingRows,

    /// What the file is [default: as for innermean linear]
    #[arg(long, value_name = "WHAT", value_enum)]
    format: Option<Format>,
}

/// [`Missing`] of rows that are to be predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MissingRows {
    /// Refuse the file
    Error,
    /// Leave out every row that has one
    DropRows,
}

impl From<MissingRows> for Missing {
    fn from(choice: MissingRows) -> Self {
        match choice {
            MissingRows::Error => Missing::Error,
            MissingRows::DropRows => Missing::DropRows,
        }
    }
}

/// What to print and what to write.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputFlags {
    /// Write the predictions to a file: .csv, .tsv, these with .gz, .json, .npy (numbers alone) or
    /// .parquet (if built in) [default: standard output, as CSV]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Write the probabilities of all classes of sequences, and not only that of the likeliest
    #[arg(long)]
    all_probabilities: bool,
}

/// A paragraph a line: clap breaks lines at the terminal's width.
const LONG_ABOUT: &str = "\
Apply a fitted model to other rows.

The model is a file that --model wrote (--save-model of policy). Its features are found among the columns of ROWS by their names, in any order; one that \
is missing is refused, and so is a column that neither the model nor the file that it was fitted to knows. What is predicted are bit for bit the numbers that the \
fit itself would have predicted:

  linear     prediction; of classes also score and, for the logistic loss, the probability of the second class
  bags       probability, prediction or expected_count of each row; of several classes, class and their probabilities
  sequences  predicted, the likeliest class of a step, and its probability
  policy     value, of features or of states by name (--state-column)";

const AFTER_HELP: &str = "\
Examples:
  innermean linear patients.csv --target outcome --loss logistic --except id --model outcome.json
  innermean predict outcome.json new-patients.csv --id-column id
  innermean predict share.json voters.csv --group precinct --output precincts.csv
  innermean predict values.json states.csv --state-column position --json

Exit codes: 0 done, 2 bad usage, input or output.";

/// Reads, predicts and writes.
pub(crate) fn run(args: &PredictArgs) -> Result<Status> {
    let PredictArgs { model: path, rows, columns, output } = args;
    let inputs = [path.as_path(), rows.as_path()];
    let check = |texts: Option<&str>| match &output.output {
        Some(file) => {
            OutTable::check(file, texts, &inputs).map_err(|error| anyhow!("--output {error}"))
        }
        None => Ok(()),
    };
    check(None)?;
    let model = read_model(path)?;
    if output.all_probabilities && !matches!(model.kind, ModelKind::Sequences(_)) {
        bail!(
            "--all-probabilities is for models of sequences; {} is one of {}",
            path.display(),
            model.kind_name()
        );
    }
    let read = Read::file(rows, &model, columns)?;
    let mut predicted = read.predict(&model).map_err(|error| match error.place() {
        Some(Place::Row(row)) => refused_at(read.place(row), &error),
        Some(_) => refused_at(&read.source, &error),
        None => error.into(),
    })?;
    if !output.all_probabilities && matches!(model.kind, ModelKind::Sequences(_)) {
        predicted.retain(|(name, _)| !name.starts_with("p("));
    }
    let report = Report::new(&model, path, &read, predicted);
    if let Some(file) = &output.output {
        report.table.write(file).map_err(|error| anyhow!("--output {error}"))?;
    }
    if output.json {
        stdout::print(&report.json()?)?;
    } else if let Some(file) = &output.output {
        stdout::print(&report.summary(file))?;
    } else {
        report.complain();
        let mut text = Vec::new();
        report.table.write_csv(&mut text)?;
        stdout::print(&String::from_utf8_lossy(&text))?;
    }
    Ok(Status::Solved)
}

/// The model in a file.
fn read_model(path: &Path) -> Result<Model> {
    let bytes = fs::read(path).map_err(|error| {
        anyhow!(
            "{}: cannot be read ({}); expected a model that --model wrote",
            path.display(),
            error.kind()
        )
    })?;
    // What is not text is no model either, and is told so.
    Model::parse(&String::from_utf8_lossy(&bytes))
        .map_err(|error| refused_at(path.display(), &error))
}

//! `innermean convert`: a table made into a file of rows, which is read where it is.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use innermean::Status;
use innermean_data::{Conversion, ConvertError, Converted, OutFile};
use serde_json::json;

use crate::flags::columns::FeatureFlags;
use crate::flags::input::limits;
use crate::output::human::{grouped, paragraph};
use crate::output::stdout;

/// Make a file of rows, for data larger than memory
#[derive(Debug, Args)]
#[command(long_about = LONG_ABOUT, after_long_help = AFTER_HELP)]
pub(crate) struct ConvertArgs {
    /// A table: text, packed or not, arrays of numpy, Parquet or MATLAB
    #[arg(value_name = "TABLE")]
    table: PathBuf,

    /// The file of rows, an array of numpy: its name ends in .npy
    #[arg(value_name = "ROWS.npy")]
    rows: PathBuf,

    #[command(flatten)]
    columns: ColumnFlags,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What the columns are.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Columns")]
struct ColumnFlags {
    /// Columns kept beside the features as numbers, with commas between them: targets, weights
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    numbers: Vec<String>,

    /// Columns kept beside the features as texts, with commas between them: classes, labels, folds
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    texts: Vec<String>,

    /// The column of groups, kept beside the features as texts: rows are sorted by it, groups in
    /// the order of their first rows
    #[arg(long, value_name = "COLUMN")]
    group: Option<String>,

    /// Put a 1 behind each row, as linear takes it for an intercept
    #[arg(long)]
    intercept: bool,

    #[command(flatten)]
    features: FeatureFlags,
}

const LONG_ABOUT: &str = "\
Make a file of rows, for data larger than memory.

Columns of features become an array of numpy, row after row; other columns, names and checksums follow. portfolio, linear, bags and sequences read such a file \
where it is: the system brings what is looked at into memory and gives it up again. Every other command reads it as it reads any table.

The table is read once, a few rows at a time. Memory holds the columns of --numbers, --texts and --group, and nothing of the features.";

const AFTER_HELP: &str = "\
Examples:
  innermean convert returns.csv returns.npy --except date
  innermean convert houses.csv houses.npy --numbers price --intercept
  innermean convert patients.csv patients.npy --texts outcome --except id,name --intercept
  innermean convert voters.csv voters.npy --group precinct
  innermean convert steps.csv steps.npy --group sequence --numbers step --texts label

Exit codes: 0 done, 2 bad usage, input or output.";

/// Reads and writes.
pub(crate) fn run(args: &ConvertArgs) -> Result<Status> {
    let ConvertArgs { table, rows, columns, json } = args;
    if table == Path::new("-") {
        bail!("-: standard input is not read; expected the path of a file");
    }
    if !rows.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npy")) {
        bail!(
            "{}: a file of rows is an array of numpy; expected a name that ends in .npy",
            rows.display()
        );
    }
    let out = OutFile::check(rows, &[table])?;
    let conversion = Conversion {
        features: columns.features.features(&[]),
        numbers: columns.numbers.clone(),
        texts: columns.texts.clone(),
        group: columns.group.clone(),
        ones: columns.intercept,
        missing: columns.features.missing().into(),
    };
    let made = limits().convert(table, &out, &conversion).map_err(|error| match error {
        ConvertError::Read(error) => anyhow::Error::from(error),
        error => error.into(),
    })?;
    if *json {
        stdout::print(&format!("{:#}\n", answer(args, &made)))?;
    } else {
        stdout::print(&words(args, &made))?;
    }
    Ok(Status::Solved)
}

fn answer(args: &ConvertArgs, made: &Converted) -> serde_json::Value {
    json!({
        "file": args.rows.display().to_string(),
        "source": args.table.display().to_string(),
        "rows": made.rows,
        "features": made.features,
        "beside": made.beside,
        "groups": made.groups,
        "intercept": args.columns.intercept,
        "bytes": made.bytes,
        "dropped_rows": made.dropped.rows,
        "notes": made.notes,
    })
}

fn words(args: &ConvertArgs, made: &Converted) -> String {
    let mut text = format!(
        "{}: {} rows of {} features",
        args.rows.display(),
        grouped(made.rows as u64),
        grouped(made.features.len() as u64)
    );
    if args.columns.intercept {
        text.push_str(" and a 1");
    }
    if let Some(groups) = made.groups {
        let _ = write!(text, " in {} groups", grouped(groups as u64));
    }
    if !made.beside.is_empty() {
        let _ = write!(text, ", beside them {}", made.beside.join(", "));
    }
    let _ = writeln!(text, "; {} bytes", grouped(made.bytes));
    let mut notes = made.notes.clone();
    if made.dropped.rows > 0 {
        let rows = grouped(made.dropped.rows as u64);
        notes.push(format!("Rows left out because of missing values: {rows}."));
    }
    for note in &notes {
        text.push_str(&paragraph("note:", note));
    }
    text
}

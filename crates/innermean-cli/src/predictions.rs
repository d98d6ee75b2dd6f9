//! Predictions written to a file, one row for each thing predicted.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;

use crate::output_file::OutputFile;

/// Where predictions go.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct PredictionFlags {
    /// Write what the answer predicts to a file: .csv or .tsv
    #[arg(long, value_name = "FILE")]
    pub(crate) predictions: Option<PathBuf>,
}

/// A table to be written, column by column.
#[derive(Debug, Clone, Default)]
pub(crate) struct OutTable {
    pub(crate) columns: Vec<(String, OutColumn)>,
}

/// A column to be written.
#[derive(Debug, Clone)]
pub(crate) enum OutColumn {
    Numbers(Vec<f64>),
    Texts(Vec<String>),
    Whole(Vec<u64>),
}

/// A file for predictions whose path and form have been checked.
#[derive(Debug)]
pub(crate) struct PredictionFile {
    file: OutputFile,
    delimiter: char,
}

impl PredictionFile {
    /// Looks whether `path` can be written; see [`OutputFile::check`].
    pub(crate) fn check(path: &Path, inputs: &[&Path]) -> Result<Self> {
        let delimiter = match path.extension().and_then(|extension| extension.to_str()) {
            Some("csv") => ',',
            Some("tsv") => '\t',
            _ => bail!("--predictions {}: expected a name that ends in .csv or .tsv", path.display()),
        };
        Ok(PredictionFile { file: OutputFile::check("--predictions", path, inputs)?, delimiter })
    }

    /// Writes all of it.
    pub(crate) fn write(&self, table: &OutTable) -> Result<()> {
        self.file.write(|out| write_lines(out, table, self.delimiter))
    }
}

fn write_lines(out: &mut dyn Write, table: &OutTable, delimiter: char) -> io::Result<()> {
    let rows = table.columns.first().map_or(0, |(_, column)| match column {
        OutColumn::Numbers(values) => values.len(),
        OutColumn::Texts(values) => values.len(),
        OutColumn::Whole(values) => values.len(),
    });
    let end = |c: usize| if c + 1 == table.columns.len() { '\n' } else { delimiter };
    for (c, (name, _)) in table.columns.iter().enumerate() {
        write!(out, "{}{}", quoted(name, delimiter), end(c))?;
    }
    for r in 0..rows {
        for (c, (_, column)) in table.columns.iter().enumerate() {
            match column {
                OutColumn::Numbers(values) => write!(out, "{}{}", values[r], end(c))?,
                OutColumn::Texts(values) => write!(out, "{}{}", quoted(&values[r], delimiter), end(c))?,
                OutColumn::Whole(values) => write!(out, "{}{}", values[r], end(c))?,
            }
        }
    }
    Ok(())
}

fn quoted(text: &str, delimiter: char) -> String {
    if text.contains([delimiter, '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

//! Predictions written to a file, one row for each thing predicted.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use clap::Args;

use innermean_data::WriteError;
pub(crate) use innermean_data::{OutColumn, OutTable};

/// Where predictions go.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct PredictionFlags {
    /// Write what the answer predicts to a file: .csv, .tsv, these with .gz, .json, .npy (numbers
    /// alone) or .parquet (if built in)
    #[arg(long, value_name = "FILE")]
    pub(crate) predictions: Option<PathBuf>,
}

/// A file for predictions whose path and form have been checked.
#[derive(Debug)]
pub(crate) struct PredictionFile<'a> {
    /// The flag that names it.
    flag: &'static str,
    path: &'a Path,
}

impl<'a> PredictionFile<'a> {
    /// Looks whether `path` can be written; `texts` is a column of texts that will be in it,
    /// `inputs` are the files that must survive.
    pub(crate) fn check(
        flag: &'static str,
        path: &'a Path,
        texts: Option<&str>,
        inputs: &[&Path],
    ) -> Result<Self> {
        OutTable::check(path, texts, inputs)
            .map(|()| PredictionFile { flag, path })
            .map_err(|error| refused(flag, &error))
    }

    /// Writes all of it.
    pub(crate) fn write(&self, table: &OutTable) -> Result<()> {
        table.write(self.path).map_err(|error| refused(self.flag, &error))
    }
}

fn refused(flag: &str, error: &WriteError) -> anyhow::Error {
    anyhow!("{flag} {error}")
}

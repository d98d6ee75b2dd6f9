//! Fitted models written to files.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use clap::Args;
use innermean::Solution;
use innermean_apps::model::{Model, ModelKind};
use innermean_data::OutFile;

use crate::flags::spelling::spelled;

/// Where a model goes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ModelFlags {
    /// Write the fitted model to a file, as JSON, for innermean predict to apply to other rows
    #[arg(long, visible_alias = "save-model", value_name = "FILE")]
    pub(crate) model: Option<PathBuf>,
}

/// A file for a model whose path has been checked.
#[derive(Debug)]
pub(crate) struct ModelFile {
    flag: &'static str,
    file: OutFile,
}

impl ModelFile {
    /// Looks whether `path` can be written; `inputs` are the files that must survive.
    pub(crate) fn check(flag: &'static str, path: &Path, inputs: &[&Path]) -> Result<Self> {
        let file = OutFile::check(path, inputs).map_err(|error| anyhow!("{flag} {error}"))?;
        Ok(ModelFile { flag, file })
    }

    /// Writes all of it.
    pub(crate) fn write(
        &self,
        kind: Option<ModelKind>,
        solution: &Solution,
        method: &str,
    ) -> Result<()> {
        let ModelFile { flag, file } = self;
        let Some(kind) = kind else { bail!("{flag}: this command has no model to keep") };
        let model = Model::new(kind, solution, method)
            .map_err(|error| anyhow!("{flag} {}: {}", file.given().display(), spelled(error)))?;
        file.write(|out| out.write_all(model.to_json().as_bytes()))
            .map_err(|error| anyhow!("{flag} {error}"))
    }
}

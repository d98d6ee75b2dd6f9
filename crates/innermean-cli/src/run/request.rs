//! What was asked of a run and its output, and which files that needs.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use innermean_data::OutFile;

use crate::flags::output::OutputFlags;
use crate::flags::solver::SolverFlags;
use crate::output::model::ModelFile;
use crate::output::predictions::{PredictionFile, PredictionFlags};
use crate::output::trace::TraceFile;
use crate::report::OutputFiles;
use crate::run::deadline;

/// What was asked of the run and its output.
pub(crate) struct Request<'a> {
    pub(crate) solver: &'a SolverFlags,
    pub(crate) output: &'a OutputFlags,
    /// The files that are read, which must not be overwritten.
    pub(crate) inputs: Vec<&'a Path>,
    /// Where predictions or weights go, and the flag that says so, for a command that has them.
    pub(crate) predictions: Option<(&'static str, &'a Path)>,
    /// Where the model goes, and the flag that says so, for a command that has one.
    pub(crate) model: Option<(&'static str, &'a Path)>,
}

impl<'a> Request<'a> {
    /// The first thing a command does: its clock starts, and what could not be written is found out
    /// before anything is read.
    pub(crate) fn new(
        solver: &'a SolverFlags,
        output: &'a OutputFlags,
        inputs: Vec<&'a Path>,
        predictions: impl Into<Option<&'a PredictionFlags>>,
    ) -> Result<Self> {
        deadline::start(solver.stop.max_seconds);
        let predictions = predictions.into().and_then(|flags| flags.predictions.as_deref());
        let predictions = predictions.map(|path| ("--predictions", path));
        let request = Request { solver, output, inputs, predictions, model: None };
        request.outputs(None)?;
        Ok(request)
    }

    /// The same for a command that keeps its model.
    pub(crate) fn keeping(self, flag: &'static str, model: Option<&'a PathBuf>) -> Result<Self> {
        let request = Request { model: model.map(|path| (flag, path.as_path())), ..self };
        request.outputs(None)?;
        Ok(request)
    }

    /// The same for a command that has a table of another name for predictions.
    pub(crate) fn tabling(self, flag: &'static str, table: Option<&'a PathBuf>) -> Result<Self> {
        let request = Request { predictions: table.map(|path| (flag, path.as_path())), ..self };
        request.outputs(None)?;
        Ok(request)
    }

    /// The files that are written, which are looked at before anything that takes time; `texts` is
    /// a column of texts in the predictions.
    pub(crate) fn outputs(&self, texts: Option<&str>) -> Result<Outputs<'a>> {
        let inputs: Vec<&Path> =
            self.inputs.iter().copied().chain(self.solver.start.file()).collect();
        let OutputFlags { trace, pictures, .. } = self.output;
        let trace = trace.as_deref().map(|path| ("--trace", path));
        let predictions = self.predictions;
        let checkpoint =
            self.solver.checkpoint.checkpoint.as_deref().map(|path| ("--checkpoint", path));
        let single = trace.into_iter().chain(predictions).chain(checkpoint).chain(self.model);
        all_different(single.chain(pictures.paths()))?;
        Ok(Outputs {
            trace: trace.map(|(flag, path)| TraceFile::check(flag, path, &inputs)).transpose()?,
            predictions: predictions
                .map(|(flag, path)| PredictionFile::check(flag, path, texts, &inputs))
                .transpose()?,
            model: self
                .model
                .map(|(flag, path)| ModelFile::check(flag, path, &inputs))
                .transpose()?,
            pictures: pictures.check(&inputs)?,
            checkpoint: checkpoint
                .map(|(flag, path)| {
                    OutFile::check(path, &inputs).map_err(|error| anyhow!("{flag} {error}"))
                })
                .transpose()?,
        })
    }
}

/// Files that can be written.
pub(crate) struct Outputs<'a> {
    pub(super) trace: Option<TraceFile>,
    pub(super) checkpoint: Option<OutFile>,
    pub(super) predictions: Option<PredictionFile<'a>>,
    pub(super) model: Option<ModelFile>,
    pub(super) pictures: OutputFiles,
}

/// Refuses to write two things to one file.
pub(crate) fn all_different<'p>(
    paths: impl Iterator<Item = (&'static str, &'p Path)>,
) -> Result<()> {
    let mut seen: Vec<(&str, PathBuf)> = Vec::new();
    for (flag, path) in paths {
        let target = target(path);
        if let Some((other, _)) = seen.iter().find(|(_, seen)| *seen == target) {
            bail!("{flag} {}: is the path of {other} too; expected another one", path.display());
        }
        seen.push((flag, target));
    }
    Ok(())
}

/// Where a path leads to, whether there is a file yet or not.
fn target(path: &Path) -> PathBuf {
    let new = || {
        let folder =
            path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        Some(fs::canonicalize(folder).ok()?.join(path.file_name()?))
    };
    fs::canonicalize(path).ok().or_else(new).unwrap_or_else(|| path.to_owned())
}

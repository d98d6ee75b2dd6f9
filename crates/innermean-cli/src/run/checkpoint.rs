//! Checkpoints on the command line: the flags, what a file says beside the library's part, and what
//! is refused.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use clap::Args;
use innermean::{Checkpoint, CheckpointError};
use innermean_data::visible;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::flags::number;
use crate::flags::output::OutputFlags;
use crate::flags::solver::SolverFlags;
use crate::flags::spelling::flag;

pub(crate) mod clerk;

/// Where checkpoints go, and which one a run goes on from.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Checkpoints")]
pub(crate) struct CheckpointFlags {
    /// Write down now and then where the run is, and where it ends, by itself or by a limit or
    /// Ctrl-C; --resume goes on from there
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,

    /// Write a checkpoint at most every SECONDS seconds
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = number::non_negative)]
    #[arg(allow_hyphen_values = true)]
    pub(crate) checkpoint_every: f64,

    /// Go on from a checkpoint of the same command, with the same data and settings: the run ends
    /// with the bits of one that was never stopped. Limits, the
    /// tolerance and threads may be others. If --checkpoint names the same file and there is none
    /// yet, the run begins
    #[arg(long, value_name = "FILE")]
    pub(crate) resume: Option<PathBuf>,
}

/// What the command line adds to a checkpoint.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Note {
    pub(crate) command: String,
    /// What may not change, by the names that users know.
    pub(crate) settings: Vec<(String, String)>,
    /// Bytes of the trace up to here, if one is written.
    pub(crate) trace: Option<u64>,
    /// What a command wants to have back.
    pub(crate) aside: Vec<u8>,
}

impl Note {
    /// Of this command with these flags; `problem` is how the problem was set up.
    pub(crate) fn new(
        command: &str,
        solver: &SolverFlags,
        output: &OutputFlags,
        problem: &impl Serialize,
        aside: Vec<u8>,
    ) -> Result<Self> {
        let mut settings = vec![
            ("--method".to_owned(), solver.method.clone()),
            ("--seed".to_owned(), solver.seed.to_string()),
            ("--start".to_owned(), solver.start.to_string()),
            (
                "--trace-every".to_owned(),
                output.trace_every.map_or("none".to_owned(), |n| n.to_string()),
            ),
        ];
        let mut add = |value: Value, name: &dyn Fn(&str) -> String| {
            let Value::Object(values) = value else { return };
            settings.extend(values.into_iter().map(|(key, value)| (name(&key), shown(&value))));
        };
        add(serde_json::to_value(solver.choice())?, &|key| format!("--{}", flag(key)));
        add(serde_json::to_value(problem)?, &|key| key.replace('_', " "));
        Ok(Note { command: command.to_owned(), settings, trace: None, aside })
    }
}

/// A setting in a sentence.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A checkpoint that was read.
#[derive(Debug)]
pub(crate) struct Resumed {
    pub(crate) path: PathBuf,
    pub(crate) checkpoint: Checkpoint,
    pub(crate) note: Note,
}

impl Resumed {
    /// The one that the flags name; None if the run begins.
    pub(crate) fn read(flags: &CheckpointFlags) -> Result<Option<Self>> {
        let Some(path) = &flags.resume else { return Ok(None) };
        let refused = |error: CheckpointError| refusal(path, &error);
        let bytes = match read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A loop that starts a run again and again has one line for all times.
                if flags.checkpoint.as_ref() == Some(path) {
                    return Ok(None);
                }
                bail!(
                    "--resume {}: no such file; expected one that --checkpoint has written",
                    path.display()
                );
            }
            Err(error) => bail!(
                "--resume {}: cannot be read ({}); expected a file that --checkpoint has written",
                path.display(),
                error.kind()
            ),
        };
        let checkpoint = Checkpoint::from_bytes(&bytes).map_err(refused)?;
        let note = postcard::from_bytes(checkpoint.note())
            .map_err(|_| refused(CheckpointError::Unknown))?;
        Ok(Some(Resumed { path: path.clone(), checkpoint, note }))
    }

    /// Looks whether it belongs to such a run.
    pub(crate) fn check(&self, here: &Note) -> Result<()> {
        let path = self.path.display();
        let Note { command, settings, .. } = &self.note;
        if *command != here.command {
            bail!(
                "--resume {path}: was written by innermean {}; expected one of {}",
                visible(command),
                here.command
            );
        }
        for (name, value) in &here.settings {
            let before = settings.iter().find(|(other, _)| other == name).map(|(_, value)| value);
            if before != Some(value) {
                // Anyone can write a file with a hash that is right.
                let (before, value) =
                    (visible(before.map_or("none", String::as_str)), visible(value));
                bail!(
                    "--resume {path}: was written with {name} {before}, and this run has {name} \
                     {value}; expected the same, for it changes the way a run takes"
                );
            }
        }
        Ok(())
    }
}

/// Why a checkpoint is refused.
pub(crate) fn refusal(path: &Path, error: &CheckpointError) -> anyhow::Error {
    anyhow!("--resume {}: {error}", path.display())
}

/// All of a file, if it begins as checkpoints do: another one may be larger than the memory.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    Read::by_ref(&mut file).take(Checkpoint::BEGINNING.len() as u64).read_to_end(&mut bytes)?;
    if bytes == Checkpoint::BEGINNING {
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

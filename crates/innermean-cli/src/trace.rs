//! The trace file: one JSON object for each evaluation.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Result, anyhow};
use innermean::Record;
use innermean_data::OutFile;
use serde::Serialize;

/// Where the trace goes.
#[derive(Debug)]
pub(crate) struct TraceFile {
    /// The flag that asked for it, for messages.
    flag: &'static str,
    file: OutFile,
}

/// One line; the sum of the calls is what the paper's figures count.
#[derive(Serialize)]
struct Line {
    outer: u64,
    inner: u64,
    calls: u64,
    rows: u64,
    seconds: f64,
    objective: f64,
    optimality: Option<f64>,
    /// What is above the optimum, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    gap: Option<f64>,
}

impl TraceFile {
    /// Looks whether `path` can be written; `inputs` are the files that must survive.
    pub(crate) fn check(flag: &'static str, path: &Path, inputs: &[&Path]) -> Result<Self> {
        Ok(TraceFile { flag, file: OutFile::check(path, inputs).map_err(|error| anyhow!("{flag} {error}"))? })
    }

    /// Writes the whole trace, with gaps if the optimum is known.
    pub(crate) fn write(&self, trace: &[Record], optimum: Option<f64>) -> Result<()> {
        self.file
            .write(|out| write_lines(out, trace, optimum))
            .map_err(|error| anyhow!("{} {error}", self.flag))
    }
}

fn write_lines(out: &mut impl Write, trace: &[Record], optimum: Option<f64>) -> io::Result<()> {
    for &Record { outer, inner, calls, rows, seconds, objective, optimality, .. } in trace {
        let gap = optimum.map(|optimum| (objective - optimum).max(0.0));
        let line = Line { outer, inner, calls: calls.total(), rows, seconds, objective, optimality, gap };
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

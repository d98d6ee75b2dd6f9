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
    /// Rows read over the rows that there are.
    epochs: f64,
    /// What is above the optimum, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    gap: Option<f64>,
    /// What the best objective so far is at most above the optimum, where that is proven.
    #[serde(skip_serializing_if = "Option::is_none")]
    proven_gap: Option<f64>,
}

impl TraceFile {
    /// Looks whether `path` can be written; `inputs` are the files that must survive.
    pub(crate) fn check(flag: &'static str, path: &Path, inputs: &[&Path]) -> Result<Self> {
        Ok(TraceFile { flag, file: OutFile::check(path, inputs).map_err(|error| anyhow!("{flag} {error}"))? })
    }

    /// Writes the whole trace, with gaps if the optimum is known; a pass over the data reads `all` rows.
    pub(crate) fn write(&self, trace: &[Record], all: u64, optimum: Option<f64>) -> Result<()> {
        self.file
            .write(|out| write_lines(out, trace, all, optimum))
            .map_err(|error| anyhow!("{} {error}", self.flag))
    }
}

fn write_lines(out: &mut impl Write, trace: &[Record], all: u64, optimum: Option<f64>) -> io::Result<()> {
    for &Record { outer, inner, calls, rows, seconds, objective, optimality, gap: proven_gap, .. } in trace {
        let gap = optimum.map(|optimum| (objective - optimum).max(0.0));
        let epochs = rows as f64 / all.max(1) as f64;
        let calls = calls.total();
        let line =
            Line { outer, inner, calls, rows, seconds, objective, optimality, epochs, gap, proven_gap };
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

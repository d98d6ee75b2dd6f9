//! The trace file: one JSON object for each evaluation, written as they come.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
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
        Ok(TraceFile {
            flag,
            file: OutFile::check(path, inputs).map_err(|error| anyhow!("{flag} {error}"))?,
        })
    }

    /// Writes the whole trace, with gaps if the optimum is known; a pass over the data reads `all`
    /// rows.
    pub(crate) fn write(&self, trace: &[Record], all: u64, optimum: Option<f64>) -> Result<()> {
        self.file
            .write(|out| trace.iter().try_for_each(|record| write_line(out, record, all, optimum)))
            .map_err(|error| anyhow!("{} {error}", self.flag))
    }

    /// Looks whether the file holds this many bytes of a trace.
    ///
    /// # Errors
    /// If there are fewer, or no line ends there.
    pub(crate) fn check_begun(&self, behind: Option<u64>) -> Result<()> {
        if let Some(length) = behind {
            let ends_line =
                self.file.byte_at(length.saturating_sub(1)).is_ok_and(|byte| byte == Some(b'\n'));
            if length > 0 && !ends_line && !self.file.is_special() {
                bail!(
                    "{} {}: is not the trace of the run that is gone on with, of which it should \
                     hold {length} bytes; expected that file, or another run without --resume",
                    self.flag,
                    self.file.given().display()
                );
            }
        }
        Ok(())
    }

    /// Writes a trace as it goes, behind this many bytes of one that has begun; nothing is touched
    /// before the first record.
    pub(crate) fn stream(&self, all: u64, behind: Option<u64>) -> TraceStream<'_> {
        TraceStream {
            to: self,
            all,
            length: behind.unwrap_or(0),
            open: None,
            flushed: Instant::now(),
        }
    }
}

/// A trace that is being written.
pub(crate) struct TraceStream<'a> {
    to: &'a TraceFile,
    all: u64,
    /// Bytes so far.
    length: u64,
    open: Option<BufWriter<File>>,
    /// When all of them had been given to the system.
    flushed: Instant,
}

/// Whoever looks on sees no line later than that after it was written, or when the next one is.
const FLUSH: Duration = Duration::from_secs(1);

impl TraceStream<'_> {
    /// One more line.
    pub(crate) fn push(&mut self, record: &Record) -> Result<()> {
        let mut line = Vec::new();
        write_line(&mut line, record, self.all, None)?;
        self.write(|out| out.write_all(&line))?;
        self.length += line.len() as u64;
        if self.flushed.elapsed() > FLUSH {
            self.flush()?;
        }
        Ok(())
    }

    /// Gives all lines to the system.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.flushed = Instant::now();
        self.write(Write::flush)
    }

    /// Gives all lines to the disk; the bytes so far.
    pub(crate) fn sync(&mut self) -> Result<u64> {
        let special = self.to.file.is_special();
        self.write(|out| {
            out.flush()?;
            if special { Ok(()) } else { out.get_ref().sync_data() }
        })?;
        Ok(self.length)
    }

    fn write(&mut self, work: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<()> {
        let refused = |error| anyhow!("{} {error}", self.to.flag);
        let file = &self.to.file;
        let out = match &mut self.open {
            Some(out) => out,
            open => open.insert(BufWriter::new(file.stream(self.length).map_err(refused)?)),
        };
        work(out).map_err(|error| refused(file.refused(&error)))
    }
}

fn write_line(
    out: &mut impl Write,
    record: &Record,
    all: u64,
    optimum: Option<f64>,
) -> io::Result<()> {
    let Record {
        outer, inner, calls, rows, seconds, objective, optimality, gap: proven_gap, ..
    } = *record;
    let gap = optimum.map(|optimum| (objective - optimum).max(0.0));
    let epochs = rows as f64 / all.max(1) as f64;
    let calls = calls.total();
    let line =
        Line { outer, inner, calls, rows, seconds, objective, optimality, epochs, gap, proven_gap };
    serde_json::to_writer(&mut *out, &line)?;
    out.write_all(b"\n")
}

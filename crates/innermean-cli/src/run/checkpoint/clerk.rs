//! The clerk of a run: shows how far it has come, writes its trace as it goes, and puts checkpoints
//! into their file.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use anyhow::{Error, Result, anyhow};
use innermean::{Begin, Checkpoint, Objective, Observer, Record};
use innermean_data::OutFile;

use super::{Note, Resumed, refusal};
use crate::output::progress::Progress;
use crate::output::trace::{TraceFile, TraceStream};

/// What is kept of a run, and which one it goes on from.
#[derive(Debug, Default)]
pub(crate) struct Keeping {
    /// Where the trace goes, and the rows of a pass over the data.
    pub(crate) trace: Option<(TraceFile, u64)>,
    pub(crate) checkpoint: Option<CheckpointFile>,
    pub(crate) resumed: Option<Resumed>,
    /// What the first thing was that could not be written. The run goes on: its answer is worth
    /// more.
    pub(crate) failed: Option<Error>,
}

/// Where checkpoints go.
#[derive(Debug)]
pub(crate) struct CheckpointFile {
    pub(crate) file: OutFile,
    pub(crate) every: Duration,
    pub(crate) note: Note,
}

impl Keeping {
    /// Where the run begins, if not at `start`.
    pub(crate) fn begin<'a>(&'a self, start: &'a [f64]) -> Begin<'a> {
        self.resumed.as_ref().map_or(Begin::At(start), |resumed| Begin::Resume(&resumed.checkpoint))
    }

    /// Bytes of the trace of the run that is gone on with.
    fn traced(&self) -> Option<u64> {
        self.resumed.as_ref().and_then(|resumed| resumed.note.trace)
    }

    /// Looks whether what is gone on with belongs to this problem, and is all there.
    ///
    /// # Errors
    /// If it does not, or the trace so far is another.
    pub(crate) fn check(&self, problem: Objective<'_>) -> Result<()> {
        let Some(Resumed { path, checkpoint, .. }) = &self.resumed else { return Ok(()) };
        checkpoint.check_problem(problem).map_err(|error| refusal(path, &error))?;
        self.trace.as_ref().map_or(Ok(()), |(file, _)| file.check_begun(self.traced()))
    }

    /// The clerk.
    pub(crate) fn clerk<'a>(&'a self, progress: Progress<'a>) -> Clerk<'a> {
        let trace = self.trace.as_ref().map(|(file, rows)| file.stream(*rows, self.traced()));
        let checkpoints = self.checkpoint.as_ref().map(|file| Checkpoints { file, last: None });
        Clerk { progress, trace, checkpoints, failed: None }
    }
}

/// Observes a run.
pub(crate) struct Clerk<'a> {
    progress: Progress<'a>,
    trace: Option<TraceStream<'a>>,
    checkpoints: Option<Checkpoints<'a>>,
    failed: Option<Error>,
}

struct Checkpoints<'a> {
    file: &'a CheckpointFile,
    /// When the last one had been written.
    last: Option<Instant>,
}

impl Clerk<'_> {
    /// Puts everything away; what could not be written, if something could not.
    pub(crate) fn finish(mut self) -> Option<Error> {
        self.progress.clear();
        let ended = self.trace.as_mut().map_or(Ok(()), TraceStream::flush);
        self.failed.or(ended.err())
    }
}

impl Observer for Clerk<'_> {
    fn record(&mut self, record: &Record, theta: &[f64]) -> ControlFlow<()> {
        self.progress.record(record, theta)?;
        if let Some(trace) = &mut self.trace
            && let Err(error) = trace.push(record)
        {
            self.trace = None;
            self.failed.get_or_insert(error);
        }
        ControlFlow::Continue(())
    }

    fn tick(&mut self, record: &Record) -> ControlFlow<()> {
        self.progress.tick(record)
    }

    fn asks_for_checkpoint(&mut self, ending: bool) -> bool {
        let due = |to: &Checkpoints<'_>| to.last.is_none_or(|last| last.elapsed() >= to.file.every);
        self.checkpoints.as_ref().is_some_and(|checkpoints| ending || due(checkpoints))
    }

    fn checkpoint(&mut self, checkpoint: Checkpoint) {
        let Some(checkpoints) = &mut self.checkpoints else { return };
        let CheckpointFile { file, note, .. } = checkpoints.file;
        // The trace first: a checkpoint never speaks of lines that are not there.
        let written = self.trace.as_mut().map(TraceStream::sync).transpose().and_then(|trace| {
            let note = postcard::to_stdvec(&Note { trace, ..note.clone() })?;
            let bytes = checkpoint.with_note(note).to_bytes();
            file.write(|out| std::io::Write::write_all(out, &bytes))
                .map_err(|error| anyhow!("--checkpoint {error}"))
        });
        match written {
            Ok(()) => checkpoints.last = Some(Instant::now()),
            Err(error) => {
                self.checkpoints = None;
                self.failed.get_or_insert(error);
            }
        }
    }
}

//! A piece of a run as its observer sees it: it ends in time, and checkpoints are kept.

use std::ops::ControlFlow;
use std::time::Instant;

use innermean::{Checkpoint, Observer, Record};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::watch::Watching;

/// Watches over a piece of a run, and takes the checkpoint at its end.
pub(crate) struct Piece<'a, 'c> {
    pub(crate) watching: Watching<'a, 'c>,
    pub(crate) until: Option<Instant>,
    /// Outer iterations of this piece,
    pub(crate) outer: Option<u64>,
    /// counted from here.
    pub(crate) first: Option<u64>,
    pub(crate) keeps: bool,
    pub(crate) kept: Option<Checkpoint>,
    /// Whom a checkpoint after every outer iteration is for, and how many there were at the last.
    pub(crate) save: Option<&'a Py<PyAny>>,
    pub(crate) saved: u64,
    pub(crate) seen: u64,
}

impl Piece<'_, '_> {
    fn is_over(&mut self, record: &Record) -> ControlFlow<()> {
        let late = self.until.is_some_and(|until| Instant::now() >= until);
        let first = *self.first.get_or_insert(record.outer);
        if late || self.outer.is_some_and(|outer| record.outer.saturating_sub(first) >= outer) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

impl Observer for Piece<'_, '_> {
    fn record(&mut self, record: &Record, theta: &[f64]) -> ControlFlow<()> {
        self.watching.record(record, theta)?;
        self.is_over(record)
    }

    fn tick(&mut self, record: &Record) -> ControlFlow<()> {
        self.seen = record.outer;
        self.watching.tick(record)?;
        self.is_over(record)
    }

    fn asks_for_checkpoint(&mut self, ending: bool) -> bool {
        ending && self.keeps || !ending && self.save.is_some() && self.seen > self.saved
    }

    fn checkpoint(&mut self, checkpoint: Checkpoint) {
        if self.watching.is_spoiled() {
            return;
        }
        if let Some(save) = self.save {
            self.saved = self.seen;
            let bytes = checkpoint.to_bytes();
            self.watching.ask(|py| save.call1(py, (PyBytes::new(py, &bytes),)).map(drop));
        }
        if self.keeps {
            self.kept = Some(checkpoint);
        }
    }
}

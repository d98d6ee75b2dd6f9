//! Observers that stop a run at an edge of their choice, and what is compared afterwards.

use std::ops::ControlFlow;

use innermean::draws::Stream;
use innermean::{Begin, Checkpoint, Observer, Record, Solution};

/// How a run is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// In order: what is left behind is the checkpoint that is made at the end.
    Ended,
    /// As if killed: it ends where nobody asks, some edges after the checkpoint.
    Killed,
}

/// Counts edges, stops at one, and keeps what it is told.
#[derive(Debug)]
pub(crate) struct Witness {
    way: Way,
    /// Edges until the checkpoint.
    edges: u64,
    /// Edges that a killed run goes on for.
    further: u64,
    pub(crate) seen: u64,
    pub(crate) kept: Option<Checkpoint>,
    pub(crate) records: Vec<Record>,
    is_content: bool,
}

impl Witness {
    pub(crate) fn stopping(way: Way, edges: u64, further: u64) -> Self {
        Witness { way, edges, further, seen: 0, kept: None, records: Vec::new(), is_content: false }
    }

    fn flow(&self) -> ControlFlow<()> {
        if self.is_content { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// One that stops nothing.
    pub(crate) fn patient() -> Self {
        Witness::stopping(Way::Ended, u64::MAX, 0)
    }
}

impl Observer for Witness {
    fn record(&mut self, record: &Record, _: &[f64]) -> ControlFlow<()> {
        self.records.push(*record);
        self.flow()
    }

    fn tick(&mut self, _: &Record) -> ControlFlow<()> {
        self.flow()
    }

    fn asks_for_checkpoint(&mut self, ending: bool) -> bool {
        if ending {
            return self.way == Way::Ended;
        }
        self.seen += 1;
        match self.way {
            Way::Ended => {
                self.is_content = self.seen >= self.edges;
                false
            }
            Way::Killed => {
                self.is_content = self.seen >= self.edges.saturating_add(self.further);
                self.seen == self.edges
            }
        }
    }

    fn checkpoint(&mut self, checkpoint: Checkpoint) {
        // Through a file.
        let bytes = checkpoint.to_bytes();
        self.kept = Some(Checkpoint::from_bytes(&bytes).expect("what was written can be read"));
    }
}

/// All of a solution but its seconds, to the bit.
pub(crate) fn bits(solution: &Solution) -> String {
    let untimed = |mut record: Record| {
        record.seconds = 0.0;
        format!("{record:?}")
    };
    let trace: Vec<String> = solution.trace.iter().copied().map(untimed).collect();
    let Solution { theta, objective, certificate, status, calls, rows, outer, inner, .. } =
        solution;
    format!(
        "{theta:?} {objective:?} {certificate:?} {status:?} {calls:?} {rows} {outer} {inner}\n{}",
        trace.join("\n")
    )
}

/// A run by `run`, stopped again and again at edges that are drawn below `most`, and gone on with
/// from what was left behind. Returns its end and how often it was stopped.
pub(crate) fn stopped(
    start: &[f64],
    most: usize,
    draws: &mut Stream,
    mut run: impl FnMut(Begin<'_>, &mut Witness) -> Solution,
) -> (Solution, u64) {
    let mut kept: Option<Checkpoint> = None;
    let mut stops = 0;
    loop {
        let way = if draws.index(2) == 0 { Way::Ended } else { Way::Killed };
        let mut witness =
            Witness::stopping(way, 1 + draws.index(most) as u64, 1 + draws.index(5) as u64);
        let begin = kept.as_ref().map_or(Begin::At(start), Begin::Resume);
        let solution = run(begin, &mut witness);
        if !witness.is_content {
            return (solution, stops);
        }
        stops += 1;
        // A run that is killed before its first checkpoint begins anew.
        kept = witness.kept.or(kept);
    }
}

//! The method at work: its state, its counters and its clock.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::prepared::Spent;
use crate::methods::Tempo;
use crate::methods::erased::{AtWork, ErasedMethod};
use crate::methods::safeguard::{Safeguard, Seen, Verdict};
use crate::model::problem::Objective;
use crate::oracle::{self, Calls, Oracle, Patience};

/// Chunks are sized to take about this long: short enough for an interrupt, long enough to cost
/// nothing.
const CHUNK: Duration = Duration::from_millis(4);

/// The steps of a first chunk, before it is known how long they take.
const FIRST_CHUNK: u64 = 16;

/// Where a run is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counts {
    pub(super) outer: u64,
    pub(super) inner: u64,
    pub(super) calls: Calls,
    pub(super) rows: u64,
    pub(super) seconds: f64,
}

/// How far an outer iteration is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Phase {
    /// None has begun.
    Between,
    /// Steps are made, or all have been made.
    Within,
    /// A point within the steps is to be evaluated.
    ToEvaluate,
}

/// What goes into a checkpoint, beside the state of the method.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Memory {
    guard: Option<Safeguard>,
    oracle: oracle::Memory,
    seconds: f64,
    outer: u64,
    inner: u64,
    left: u64,
    phase: Phase,
    horizon: Horizon,
}

/// When the calls are looked at next. It follows from the steps that have been made, and not from
/// the chunks that they were made in: these depend on the time.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Horizon {
    /// The limit that it was made for.
    max_calls: Option<u64>,
    /// Inner steps and calls where the outer iteration began.
    begun: (u64, u64),
    /// The inner step after which to look.
    at: u64,
    /// Whether the last look found the limit used up.
    reached: bool,
}

/// A method, its state, and what it has used up.
pub(super) struct Engine<'p> {
    work: Box<dyn AtWork + 'p>,
    /// Sets the tempo, where the method has steps that were not given.
    guard: Option<Safeguard>,
    oracle: Oracle<'p>,
    /// Runs only while the method does.
    clock: Duration,
    outer: u64,
    inner: u64,
    /// Inner steps left in this outer iteration.
    left: u64,
    phase: Phase,
    horizon: Horizon,
    /// Steps that take about [`CHUNK`].
    chunk: u64,
    /// Whether a step of this outer iteration has been made, so that it is known what one takes.
    probed: bool,
}

impl<'p> Engine<'p> {
    pub(super) fn start(
        problem: Objective<'p>,
        spent: Spent,
        patience: Patience<'p>,
        method: &'p dyn ErasedMethod,
        theta: &[f64],
    ) -> Self {
        let start = Instant::now();
        let mut oracle = Oracle::new(problem);
        oracle.patience = patience;
        (oracle.calls, oracle.rows) = (spent.calls, spent.rows);
        let mut work = method.start(&mut oracle, theta);
        let clock = spent.time + start.elapsed();
        let guarded = work.set_tempo(Tempo::RULE);
        Engine {
            guard: guarded.then(|| Safeguard::new(work.noise())),
            work,
            oracle,
            clock,
            outer: 0,
            inner: 0,
            left: 0,
            phase: Phase::Between,
            horizon: Horizon::default(),
            chunk: FIRST_CHUNK,
            probed: false,
        }
    }

    /// Goes on from where [`Self::memory`] was asked for; None if the memory is not of this method.
    pub(super) fn resume(
        problem: Objective<'p>,
        patience: Patience<'p>,
        mut work: Box<dyn AtWork + 'p>,
        memory: Memory,
    ) -> Option<Self> {
        let Memory { guard, oracle: counters, seconds, outer, inner, left, phase, horizon } =
            memory;
        let mut oracle = Oracle::new(problem);
        oracle.patience = patience;
        oracle.remember(counters);
        if let Some(guard) = &guard {
            let fits = guard.is_of(oracle.d(), oracle.calls.total());
            if !fits || !work.set_tempo(guard.tempo()) {
                return None;
            }
        }
        let begun = horizon.begun.0 <= inner && horizon.begun.1 <= oracle.calls.total();
        if !begun || left > work.inner_iterations() || !work.fits(&oracle) {
            return None;
        }
        Some(Engine {
            work,
            guard,
            oracle,
            clock: Duration::try_from_secs_f64(seconds).ok()?,
            outer,
            inner,
            left,
            phase,
            horizon,
            chunk: FIRST_CHUNK,
            probed: false,
        })
    }

    /// All that the run depends on from here on, beside the state of the method.
    pub(super) fn memory(&self) -> Memory {
        Memory {
            guard: self.guard.clone(),
            oracle: self.oracle.memory(),
            seconds: self.clock.as_secs_f64(),
            outer: self.outer,
            inner: self.inner,
            left: self.left,
            phase: self.phase,
            horizon: self.horizon,
        }
    }

    /// The method with its state.
    pub(super) fn work(&self) -> &dyn AtWork {
        &*self.work
    }

    /// Whether a run finds its way back after iterates have blown up.
    pub(super) fn recovers(&self) -> bool {
        self.guard.is_some() || self.work.recovers()
    }

    /// Whether work was left in its midst, so that the state is good for nothing.
    pub(super) fn is_cut(&self) -> bool {
        self.oracle.patience.is_over()
    }

    pub(super) fn begin_outer(&mut self) {
        let start = Instant::now();
        match self.guard.take() {
            Some(mut guard) => {
                self.guarded_outer(&mut guard);
                self.guard = Some(guard);
            }
            None => self.work.outer(&mut self.oracle),
        }
        self.clock += start.elapsed();
        self.left = self.work.inner_iterations();
        self.phase = Phase::Within;
        self.probed = false;
        self.horizon.begun = (self.inner, self.oracle.calls.total());
        self.horizon.at = self.inner + 1;
    }

    /// Starts an outer iteration, looks at the objective there if that is free or due, and does
    /// what the safeguard says.
    fn guarded_outer(&mut self, guard: &mut Safeguard) {
        let Engine { work, oracle, .. } = self;
        let mut seen = Seen::NOT_FINITE;
        if work.theta().iter().all(|t| t.is_finite()) {
            work.outer(oracle);
            if let Some((theta, f_bar)) = work.reference() {
                if !guard.is_welcome(oracle.calls.total(), oracle.gradient.total()) {
                    return;
                }
                let (objective, magnitude) = oracle.problem().objective_at(theta, f_bar);
                seen = Seen { objective, magnitude };
            } else if guard.is_due(oracle.calls.total(), oracle.pass().look_cost()) {
                work.show(oracle);
                let (objective, magnitude) = oracle.pass().look(work.theta());
                seen = Seen { objective, magnitude };
            } else {
                return;
            }
        }
        let before = guard.tempo();
        let here = work.reference().map_or_else(|| work.theta(), |(theta, _)| theta);
        let verdict = guard.judge(seen, here, oracle.calls.total());
        if guard.tempo() != before {
            work.set_tempo(guard.tempo());
        }
        if verdict == Verdict::GoBack {
            work.restart(oracle, guard.best());
            work.outer(oracle);
        }
    }

    /// Whether the calls have reached the limit. They are looked at where about as many steps have
    /// been made as there were calls left for, so that few steps begin with the limit used up.
    pub(super) fn has_used_up(&mut self, max_calls: Option<u64>) -> bool {
        let Some(most) = max_calls else { return false };
        let Horizon { begun, at, .. } = self.horizon;
        if self.horizon.max_calls != max_calls || at < self.inner {
            // Another limit than before.
            (self.horizon.max_calls, self.horizon.at) = (max_calls, self.inner);
        } else if self.inner < at {
            return false;
        }
        let used = self.oracle.calls.total();
        let steps = self.inner - begun.0;
        let per_step = (used - begun.1).checked_div(steps).unwrap_or(0).max(1);
        let more = if steps == 0 { 1 } else { most.saturating_sub(used).div_ceil(per_step) };
        self.horizon.at = self.inner + more.max(1);
        self.horizon.reached = used >= most && steps > 0;
        self.horizon.reached
    }

    /// Whether this limit on calls had been reached where the run was left.
    pub(super) fn had_used_up(&self, max_calls: Option<u64>) -> bool {
        max_calls.is_some() && self.horizon.reached && self.horizon.max_calls == max_calls
    }

    /// At most `most` steps, and none beyond the horizon. The first chunk of an outer iteration is
    /// a single step, which tells what a step takes.
    pub(super) fn chunk(&mut self, most: u64, max_calls: Option<u64>) {
        let mut steps = self.left.min(most).min(if self.probed { self.chunk } else { 1 });
        if max_calls.is_some() && self.horizon.max_calls == max_calls {
            steps = steps.min(self.horizon.at.saturating_sub(self.inner).max(1));
        }
        let start = Instant::now();
        self.work.inner_steps(&mut self.oracle, steps as usize);
        let took = start.elapsed();
        self.clock += took;
        self.probed = true;
        if took < CHUNK / 2 && steps == self.chunk {
            self.chunk *= 2;
        } else if took > CHUNK * 2 {
            self.chunk = (self.chunk / 2).max(1);
        }
        self.inner += steps;
        self.left -= steps;
    }

    /// Counts the outer iteration if it was brought to its end.
    pub(super) fn end_outer(&mut self) {
        if self.phase != Phase::Between && self.left == 0 {
            self.outer += 1;
            self.phase = Phase::Between;
        }
    }

    /// As before [`Self::end_outer`].
    pub(super) fn reopen_outer(&mut self) {
        self.outer -= 1;
        self.phase = Phase::Within;
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    /// A point within the steps is to be evaluated, or has been.
    pub(super) fn set_to_evaluate(&mut self, due: bool) {
        self.phase = if due { Phase::ToEvaluate } else { Phase::Within };
    }

    pub(super) fn left(&self) -> u64 {
        self.left
    }

    pub(super) fn counts(&self) -> Counts {
        let Engine { outer, inner, oracle, clock, .. } = self;
        Counts {
            outer: *outer,
            inner: *inner,
            calls: oracle.calls,
            rows: oracle.rows,
            seconds: clock.as_secs_f64(),
        }
    }

    /// Has the method bring up to date what its theta shows.
    pub(super) fn show(&mut self) {
        self.work.show(&self.oracle);
    }
}

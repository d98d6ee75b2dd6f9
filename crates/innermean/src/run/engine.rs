//! The method at work: its state, its counters and its clock.

use std::time::{Duration, Instant};

use super::Spent;
use crate::evaluate::Known;
use crate::inner::Inner;
use crate::merit::Merit;
use crate::methods::safeguard::{Safeguard, Seen, Verdict};
use crate::methods::{Method, Tempo};
use crate::oracle::{Calls, Oracle};
use crate::problem::Problem;
use crate::regularizer::Regularizer;
use crate::vector::dispatch;

/// Chunks are sized to take about this long: short enough for an interrupt, long enough to cost nothing.
const CHUNK: Duration = Duration::from_millis(4);

/// Where a run stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counts {
    pub(super) outer: u64,
    pub(super) inner: u64,
    pub(super) calls: Calls,
    pub(super) rows: u64,
    pub(super) seconds: f64,
}

/// A method, its state, and what it has used up.
pub(super) struct Engine<'p, F, P, G, M: Method<F, P, G>> {
    method: &'p M,
    /// The same at the tempo of its safeguard, if it has one.
    guarded: Option<(M, Safeguard)>,
    oracle: Oracle<'p, F, P, G>,
    state: M::State,
    /// Runs only while the method does.
    clock: Duration,
    outer: u64,
    inner: u64,
    /// Inner steps left in this outer iteration.
    left: u64,
    /// Steps that take about [`CHUNK`].
    chunk: u64,
    /// What a step of this outer iteration costs, once one has been made.
    calls_per_step: Option<u64>,
}

impl<'p, F, P, G, M> Engine<'p, F, P, G, M>
where
    F: Inner,
    P: Merit,
    G: Regularizer,
    M: Method<F, P, G>,
{
    pub(super) fn start(problem: &'p Problem<F, P, G>, spent: Spent, method: &'p M, theta: &[f64]) -> Self {
        let start = Instant::now();
        let mut oracle = Oracle::new(problem);
        (oracle.calls, oracle.rows) = (spent.calls, spent.rows);
        let state = method.init(&mut oracle, theta);
        let clock = spent.time + start.elapsed();
        #[cfg(test)]
        let state = resumed(state);
        Engine {
            method,
            guarded: method.at_tempo(Tempo::RULE).map(|paced| (paced, Safeguard::new(method.noise()))),
            oracle,
            state,
            clock,
            outer: 0,
            inner: 0,
            left: 0,
            chunk: 16,
            calls_per_step: None,
        }
    }

    /// Whether a run finds its way back after iterates have blown up.
    pub(super) fn recovers(&self) -> bool {
        self.guarded.is_some() || self.method.recovers()
    }

    fn method(&self) -> &M {
        self.guarded.as_ref().map_or(self.method, |(paced, _)| paced)
    }

    pub(super) fn begin_outer(&mut self) {
        let start = Instant::now();
        match self.guarded.take() {
            Some((paced, guard)) => self.guarded = Some(self.guarded_outer(paced, guard)),
            None => self.method.outer(&mut self.oracle, &mut self.state),
        }
        self.clock += start.elapsed();
        self.left = self.method().inner_iterations(&self.state) as u64;
        self.calls_per_step = None;
        #[cfg(test)]
        {
            self.state = resumed(self.state.clone());
            if let Some((paced, guard)) = &mut self.guarded {
                *guard = resumed(guard.clone());
                *paced = self.method.at_tempo(guard.tempo()).expect("it has a safeguard");
            }
        }
    }

    /// Starts an outer iteration, looks at the objective there if that is free or due, and does what the safeguard says.
    fn guarded_outer(&mut self, mut paced: M, mut guard: Safeguard) -> (M, Safeguard) {
        let Engine { method, oracle, state, .. } = self;
        let mut seen = Seen::NOTHING;
        if paced.theta(state).iter().all(|t| t.is_finite()) {
            paced.outer(oracle, state);
            if let Some((theta, f_bar)) = paced.reference(state) {
                if !guard.is_welcome(oracle.calls.total(), oracle.gradient_cost()) {
                    return (paced, guard);
                }
                let (objective, magnitude) = oracle.objective_at(theta, f_bar);
                seen = Seen { objective, magnitude };
            } else if guard.is_due(oracle.calls.total(), oracle.look_cost()) {
                paced.show(oracle, state);
                let (objective, magnitude) = oracle.look(paced.theta(state));
                seen = Seen { objective, magnitude };
            } else {
                return (paced, guard);
            }
        }
        let before = guard.tempo();
        let here = paced.reference(state).map_or_else(|| paced.theta(state), |(theta, _)| theta);
        let verdict = guard.judge(seen, here, oracle.calls.total());
        if guard.tempo() != before {
            paced = method.at_tempo(guard.tempo()).expect("it has a safeguard");
        }
        if verdict == Verdict::GoBack {
            paced.restart(oracle, state, guard.best());
            paced.outer(oracle, state);
        }
        (paced, guard)
    }

    /// At most `most` steps. The first chunk of an outer iteration is a single step, which tells what a step costs; after
    /// it, no step begins with `max_calls` used up.
    pub(super) fn chunk(&mut self, most: u64, max_calls: Option<u64>) {
        let mut steps = self.left.min(most).min(if self.calls_per_step.is_some() { self.chunk } else { 1 });
        let before = self.oracle.calls.total();
        if let (Some(max_calls), Some(per_step)) = (max_calls, self.calls_per_step) {
            steps = steps.min(max_calls.saturating_sub(before).div_ceil(per_step).max(1));
        }
        let Engine { method, guarded, oracle, state, .. } = self;
        let method = guarded.as_ref().map_or(*method, |(paced, _)| paced);
        let start = Instant::now();
        dispatch(
            #[inline(always)]
            || method.inner_steps(oracle, state, steps as usize),
        );
        let took = start.elapsed();
        self.clock += took;
        self.calls_per_step = Some(((self.oracle.calls.total() - before) / steps).max(1));
        if took < CHUNK / 2 && steps == self.chunk {
            self.chunk *= 2;
        } else if took > CHUNK * 2 {
            self.chunk = (self.chunk / 2).max(1);
        }
        self.inner += steps;
        self.left -= steps;
        #[cfg(test)]
        {
            self.state = resumed(self.state.clone());
        }
    }

    /// Counts the outer iteration if it was brought to its end.
    pub(super) fn end_outer(&mut self) {
        self.outer += u64::from(self.left == 0);
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

    /// Has the method bring up to date what [`Self::theta`] shows.
    pub(super) fn show(&mut self) {
        let Engine { method, guarded, oracle, state, .. } = self;
        guarded.as_ref().map_or(*method, |(paced, _)| paced).show(oracle, state);
    }

    pub(super) fn theta(&self) -> &[f64] {
        self.method().theta(&self.state)
    }

    pub(super) fn endless(&self) -> Option<&[f64]> {
        self.method().endless(&self.state)
    }

    pub(super) fn known(&self) -> Known<'_> {
        let (method, state) = (self.method(), &self.state);
        Known { duals: method.duals(state), gram: method.gram(state), gradient: method.gradient(state) }
    }
}

#[cfg(test)]
thread_local! {
    /// Whether this thread's runs write their state and read it back wherever they could be interrupted.
    pub(super) static RESUMING: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// The state, or what is left of it after a way through a file.
#[cfg(test)]
fn resumed<S: serde::Serialize + serde::de::DeserializeOwned>(state: S) -> S {
    if !RESUMING.get() {
        return state;
    }
    let bytes = postcard::to_stdvec(&state).expect("a state serialises");
    postcard::from_bytes(&bytes).expect("and comes back")
}

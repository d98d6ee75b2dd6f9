//! Decision processes under one policy, as the transitions that they allow; and logs of walks
//! through them.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::generated::random_mdp::unit;

/// What stands for the next state where an episode ends.
pub const END: u32 = u32::MAX;

/// A process with few transitions from each state.
#[derive(Debug, Clone, PartialEq)]
pub struct Process {
    /// The names of the states.
    pub states: Vec<String>,
    /// Which of them end an episode: their value is zero, and no transition leaves them.
    pub terminal: Vec<bool>,
    /// The states that transitions leave, ascending.
    pub from: Vec<u32>,
    /// The states that they enter, or [`END`].
    pub next: Vec<u32>,
    /// Their probabilities, which sum to 1 for each state that is left.
    pub probabilities: Vec<f64>,
    /// The rewards on the way.
    pub rewards: Vec<f64>,
    /// What describes the states; none for a value of its own for each.
    pub features: Option<FeatureRows>,
    /// The discount that goes with it.
    pub discount: f64,
    /// Where it comes from.
    pub source: String,
}

/// Numbers that describe states.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureRows {
    /// A name for each column.
    pub names: Vec<String>,
    /// A row for each state.
    pub rows: Vec<f64>,
}

/// Transitions that were seen, one after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Log {
    /// The states that they left.
    pub from: Vec<u32>,
    /// The states that they entered, or [`END`].
    pub next: Vec<u32>,
    /// The rewards on the way.
    pub rewards: Vec<f64>,
}

impl Process {
    /// Walks this many transitions. An episode begins in a state drawn alike from all that are
    /// left, and the next one when it ends.
    ///
    /// # Panics
    /// If nothing is ever left.
    pub fn log(&self, transitions: usize, seed: u64) -> Log {
        let mut draws = ChaCha8Rng::seed_from_u64(seed);
        draws.set_stream(3);
        // Where the transitions of each state stand.
        let mut starts = vec![0_usize; self.states.len() + 1];
        for &s in &self.from {
            starts[s as usize + 1] += 1;
        }
        for s in 0..self.states.len() {
            starts[s + 1] += starts[s];
        }
        let left: Vec<usize> =
            (0..self.states.len()).filter(|&s| starts[s] < starts[s + 1]).collect();
        assert!(!left.is_empty(), "a process has transitions");
        let mut log = Log::default();
        let mut state = END;
        for _ in 0..transitions {
            let over = state == END || self.terminal[state as usize];
            let from = if over { left[index(&mut draws, left.len())] } else { state as usize };
            let own = starts[from]..starts[from + 1];
            let mut rest = unit(&mut draws);
            // Rounding may leave something beyond the last one.
            let at = own
                .clone()
                .find(|&at| {
                    rest -= self.probabilities[at];
                    rest < 0.0
                })
                .unwrap_or(own.end - 1);
            log.from.push(from as u32);
            log.next.push(self.next[at]);
            log.rewards.push(self.rewards[at]);
            state = self.next[at];
        }
        log
    }
}

/// Alike among `0..n`.
pub(crate) fn index(draws: &mut ChaCha8Rng, n: usize) -> usize {
    ((unit(draws) * n as f64) as usize).min(n - 1)
}

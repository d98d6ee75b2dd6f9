//! Markov decision processes without a file: the paper's random ones, seen under one policy.
//!
//! Transition probabilities are uniform numbers, each row divided by its sum; rewards are uniform
//! in [0, 1); features are as asked for. The same seed gives the same bits on every machine (see
//! `factor_model`).

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::generated::factor_model::normal;
use crate::generated::process::{Log, Process, index};

/// What to draw. The default is the smaller of the paper's two: 10 states, 5 features, discount
/// 0.9.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MdpOptions {
    /// S
    pub states: usize,
    /// Numbers that describe a state.
    pub d: usize,
    /// Of what comes a step later, in [0, 1).
    pub discount: f64,
    /// How features are drawn.
    pub features: Features,
    /// What rewards depend on.
    pub rewards: Rewards,
    /// Of all draws.
    pub seed: u64,
}

/// How features are drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Features {
    /// Uniform in [0, 1): every state much like the mean state, and the problem ill-conditioned.
    #[default]
    Uniform,
    /// Nearly standard normal.
    Gaussian,
    /// Uniform in [-1, 1).
    MixedSign,
}

/// What rewards depend on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Rewards {
    /// On where a transition begins and ends: S x S numbers.
    #[default]
    PerTransition,
    /// On where it begins: S numbers.
    PerState,
}

impl Default for MdpOptions {
    fn default() -> Self {
        MdpOptions {
            states: 10,
            d: 5,
            discount: 0.9,
            features: Features::default(),
            rewards: Rewards::default(),
            seed: 1,
        }
    }
}

/// A Markov decision process under one policy, as arrays.
#[derive(Debug, Clone, PartialEq)]
pub struct Mdp {
    /// S
    pub states: usize,
    /// Numbers that describe a state.
    pub d: usize,
    /// Of what comes a step later.
    pub discount: f64,
    /// P, S rows of S: row i holds the probabilities of going from i to each j.
    pub transitions: Vec<f64>,
    /// r, S rows of S for each transition, or S numbers for each state.
    pub rewards: Vec<f64>,
    /// Psi, S rows of d.
    pub features: Vec<f64>,
    /// Where it comes from.
    pub source: String,
}

/// Draws a process. Transitions, rewards and features come from streams of their own: asking for
/// others of one leaves the rest as it is.
pub fn generate_mdp(options: &MdpOptions) -> Mdp {
    let MdpOptions { states, d, discount, rewards, seed, .. } = *options;
    let stream = |number: u64| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(number);
        rng
    };
    let mut draws = stream(0);
    let mut transitions: Vec<f64> = (0..states * states).map(|_| unit(&mut draws)).collect();
    for row in transitions.chunks_exact_mut(states.max(1)) {
        let sum: f64 = row.iter().sum();
        if sum > 0.0 {
            for p in row {
                *p /= sum;
            }
        } else {
            row.fill(1.0 / states as f64);
        }
    }
    let mut draws = stream(1);
    let count = if rewards == Rewards::PerState { states } else { states * states };
    let rewards = (0..count).map(|_| unit(&mut draws)).collect();
    let features = random_features(options);
    let source = format!("generated: random MDP, {states} states, {d} features, seed {seed}");
    Mdp { states, d, discount, transitions, rewards, features, source }
}

/// The features of such a process alone, rows of d.
pub fn random_features(options: &MdpOptions) -> Vec<f64> {
    let mut draws = ChaCha8Rng::seed_from_u64(options.seed);
    draws.set_stream(2);
    let mut feature = || match options.features {
        Features::Uniform => unit(&mut draws),
        Features::Gaussian => normal(&mut draws),
        Features::MixedSign => 2.0 * unit(&mut draws) - 1.0,
    };
    (0..options.states * options.d).map(|_| feature()).collect()
}

/// What was seen on a walk through a process: row t of the features, the reward, and the features
/// of the next state.
#[derive(Debug, Clone, PartialEq)]
pub struct Walk {
    /// `phi_t`, rows of d.
    pub features: Vec<f64>,
    /// `phi'_t`, rows of d.
    pub next_features: Vec<f64>,
    /// `r_t`
    pub rewards: Vec<f64>,
}

impl Mdp {
    /// Walks this many transitions, from state 0.
    pub fn log(&self, transitions: usize, seed: u64) -> Log {
        let mut draws = ChaCha8Rng::seed_from_u64(seed);
        draws.set_stream(3);
        let mut log = Log::default();
        let mut state = 0;
        for _ in 0..transitions {
            let row = &self.transitions[state * self.states..(state + 1) * self.states];
            let mut left = unit(&mut draws);
            // Rounding may leave something beyond the last state.
            let next = row
                .iter()
                .position(|p| {
                    left -= p;
                    left < 0.0
                })
                .unwrap_or(self.states - 1);
            let reward =
                if self.rewards.len() == self.states { state } else { state * self.states + next };
            log.from.push(state as u32);
            log.next.push(next as u32);
            log.rewards.push(self.rewards[reward]);
            state = next;
        }
        log
    }

    /// [`Self::log`] as rows of features.
    pub fn walk(&self, transitions: usize, seed: u64) -> Walk {
        let Log { from, next, rewards } = self.log(transitions, seed);
        let rows = |states: &[u32]| {
            let psi = |&s: &u32| &self.features[s as usize * self.d..(s as usize + 1) * self.d];
            states.iter().flat_map(psi).copied().collect()
        };
        Walk { features: rows(&from), next_features: rows(&next), rewards }
    }
}

/// A process with this many transitions from each state, to states drawn alike from all (some of
/// them may be the same); probabilities are uniform numbers divided by their sum, rewards uniform
/// in [0, 1).
pub fn generate_sparse_mdp(states: usize, successors: usize, discount: f64, seed: u64) -> Process {
    let stream = |number: u64| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(number);
        rng
    };
    let count = states * successors;
    let mut draws = stream(0);
    let mut probabilities: Vec<f64> = (0..count).map(|_| unit(&mut draws)).collect();
    for own in probabilities.chunks_exact_mut(successors.max(1)) {
        let sum: f64 = own.iter().sum();
        for p in own {
            *p = if sum > 0.0 { *p / sum } else { 1.0 / successors as f64 };
        }
    }
    let mut draws = stream(1);
    let rewards = (0..count).map(|_| unit(&mut draws)).collect();
    let mut draws = stream(4);
    let next = (0..count).map(|_| index(&mut draws, states) as u32).collect();
    Process {
        states: (0..states).map(|s| s.to_string()).collect(),
        terminal: vec![false; states],
        from: (0..count).map(|k| (k / successors) as u32).collect(),
        next,
        probabilities,
        rewards,
        features: None,
        discount,
        source: format!(
            "generated: random MDP, {states} states with {successors} successors each, seed {seed}"
        ),
    }
}

/// Uniform in [0, 1), a multiple of 2^-53.
pub(crate) fn unit(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

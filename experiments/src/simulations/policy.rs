//! Transitions: one trajectory of an autoregressive state, and episodes of a chain.

use innermean::draws::Stream;
use innermean::inference::policy::{bellman, refit_projected, start_value};
use innermean::inference::{Clusters, Covariance, Dependence, Resampling, Sandwich, bootstrap};
use innermean::problems::transitions::{END, Moves, StateFeatures, Transitions};
use innermean::{Mspbe, Problem, Square, Unregularized};

use super::{REPLICATES, Simulation, by_deviations, by_errors, normal, solved};

const DISCOUNT: f64 = 0.9;

/// `s' = 0.8 s + noise` with reward `1 + s + noise`: the value of s is
/// `1 / (1 - discount) + s / (1 - 0.8 discount)`.
pub(super) const TRAJECTORY: Simulation = Simulation {
    command: "policy",
    estimator: "projected error, one trajectory of 1000 steps",
    interval: "robust",
    run: |draws| {
        let (features, moves) = trajectory(draws, 1000, |s| 1.0 + s);
        let (theta, found) = projected(&features, &moves, Dependence::Independent)?;
        Some(by_errors(&trajectory_truth(), &theta, &found))
    },
};

/// The reward `s^2 + noise`, which no line explains: errors are correlated along the trajectory. The
/// line is level, at the variance of s over `1 - discount`.
pub(super) const MISSPECIFIED: Simulation = Simulation {
    command: "policy",
    estimator: "projected error, one trajectory of 3000 steps, features that do not fit",
    interval: "Newey-West, 50 lags",
    run: |draws| {
        let (features, moves) = trajectory(draws, 3000, |s| s * s);
        let (theta, found) = projected(&features, &moves, Dependence::Serial { lags: 50 })?;
        Some(by_errors(&[1.0 / 0.36 / (1.0 - DISCOUNT), 0.0], &theta, &found))
    },
};

pub(super) const BLOCKS: Simulation = Simulation {
    command: "policy",
    estimator: "projected error, one trajectory of 1000 steps",
    interval: "bootstrap of blocks of 20, normal",
    run: |draws| {
        let (features, moves) = trajectory(draws, 1000, |s| 1.0 + s);
        let theta = Mspbe::of_moves(&features, &moves, DISCOUNT).ok()?.lstd()?;
        let seed = draws.index(1 << 40) as u64;
        let blocks = Resampling::CircularBlocks { n: 1000, length: 20 };
        let refit = refit_projected(&features, &moves, DISCOUNT, 0.0);
        let replicates = bootstrap(&blocks, REPLICATES, seed, refit);
        by_deviations(&trajectory_truth(), &theta, &replicates)
    },
};

pub(super) const EPISODES: Simulation = Simulation {
    command: "policy",
    estimator: "projected error, 100 episodes of a chain",
    interval: "clustered by episode",
    run: |draws| {
        let Log { moves, episodes, .. } = log(draws, 100);
        let features = StateFeatures::OneHot { states: STATES };
        let (theta, found) = projected(&features, &moves, Dependence::Clustered(episodes))?;
        Some(by_errors(&chain_truth(&features)?, &theta, &found))
    },
};

/// A line through the values of the states, which does not fit.
pub(super) const BELLMAN: Simulation = Simulation {
    command: "policy",
    estimator: "Bellman error, 200 episodes of a chain, two features",
    interval: "clustered by episode",
    run: |draws| {
        let Log { moves, episodes, .. } = log(draws, 200);
        let rows = (0..STATES).flat_map(|s| [1.0, s as f64]).collect();
        let features = StateFeatures::Rows { d: 2, rows };
        let theta = bellman_minimiser(&features, &moves)?;
        let sandwich = Sandwich::new(Dependence::Clustered(episodes));
        let found = bellman(&features, &moves, DISCOUNT, &Unregularized, &theta, &sandwich).ok()?;
        Some(by_errors(&chain_truth(&features)?, &theta, &found))
    },
};

pub(super) const START_VALUE: Simulation = Simulation {
    command: "policy",
    estimator: "value of the start states of 100 episodes",
    interval: "clustered by episode, starts sampled",
    run: |draws| {
        let Log { moves, episodes, starts } = log(draws, 100);
        let features = StateFeatures::OneHot { states: STATES };
        let (theta, found) = projected(&features, &moves, Dependence::Clustered(episodes))?;
        let truth = chain_truth(&features)?.iter().sum::<f64>() / STATES as f64;
        let mean = start_value(&features, &starts, true, &theta, &found);
        let variance = mean.standard_error.powi(2);
        let found = Covariance::new(1, vec![variance], found.degrees_of_freedom());
        Some(by_errors(&[truth], &[mean.value], &found))
    },
};

fn trajectory_truth() -> [f64; 2] {
    [1.0 / (1.0 - DISCOUNT), 1.0 / (1.0 - 0.8 * DISCOUNT)]
}

/// States `1, s` of a trajectory in its stationary distribution.
fn trajectory(draws: &mut Stream, steps: usize, reward: fn(f64) -> f64) -> (StateFeatures, Moves) {
    let mut s = normal(draws) / 0.6;
    let (mut rows, mut rewards) = (vec![1.0, s], Vec::new());
    for _ in 0..steps {
        rewards.push(reward(s) + normal(draws));
        s = 0.8 * s + normal(draws);
        rows.extend([1.0, s]);
    }
    let steps = steps as u32;
    let moves =
        Moves { from: (0..steps).collect(), next: (1..=steps).collect(), rewards, weights: None };
    (StateFeatures::Rows { d: 2, rows }, moves)
}

fn projected(
    features: &StateFeatures,
    moves: &Moves,
    dependence: Dependence,
) -> Option<(Vec<f64>, Covariance)> {
    let problem = Mspbe::of_moves(features, moves, DISCOUNT).ok()?.problem(0.0).ok()?;
    let theta = problem.inner.lstd()?;
    let found = Sandwich::new(dependence).of_samples(&problem, &theta).ok()?;
    Some((theta, found))
}

/// A chain in which a step goes up with probability 0.55, down otherwise, and ends beyond either
/// side; above the last state there is a reward of 1.
const STATES: usize = 5;
const UP: f64 = 0.55;

struct Log {
    moves: Moves,
    episodes: Clusters,
    starts: Vec<u32>,
}

fn log(draws: &mut Stream, episodes: u32) -> Log {
    let (mut moves, mut of, mut starts) = (Moves::default(), Vec::new(), Vec::new());
    for episode in 0..episodes {
        let mut state = Some(draws.index(STATES));
        starts.extend(state.map(|state| state as u32));
        while let Some(here) = state {
            let up = draws.unit() < UP;
            state = if up { Some(here + 1) } else { here.checked_sub(1) };
            let top = state == Some(STATES);
            state = state.filter(|_| !top);
            moves.from.push(here as u32);
            moves.next.push(state.map_or(END, |state| state as u32));
            moves.rewards.push(f64::from(u8::from(top)) + normal(draws));
            of.push(episode);
        }
    }
    Log { moves, episodes: Clusters::new(of).expect("consecutive numbers"), starts }
}

fn bellman_minimiser(features: &StateFeatures, moves: &Moves) -> Option<Vec<f64>> {
    let inner = Transitions::new(features.clone(), moves.clone(), DISCOUNT).ok()?;
    solved(&Problem { inner, merit: Square::new(1.0).ok()?, regularizer: Unregularized })
}

/// The minimiser for the model itself, its transitions weighted by their probabilities.
fn chain_truth(features: &StateFeatures) -> Option<Vec<f64>> {
    let mut moves = Moves { weights: Some(Vec::new()), ..Moves::default() };
    for here in 0..STATES as u32 {
        for up in [true, false] {
            let next = if up { here.wrapping_add(1) } else { here.wrapping_sub(1) };
            let ends = next >= STATES as u32;
            moves.from.push(here);
            moves.next.push(if ends { END } else { next });
            moves.rewards.push(f64::from(u8::from(ends && up)));
            moves.weights.as_mut()?.push(if up { UP } else { 1.0 - UP });
        }
    }
    bellman_minimiser(features, &moves)
}

//! LSTD against linearmodels, the mean squared Bellman error against the bootstrap, start values.

use std::sync::atomic::{AtomicUsize, Ordering};

use innermean::draws::Stream;
use innermean::inference::policy::{
    bellman, refit_bellman, refit_drawn, refit_projected, start_value,
};
use innermean::inference::{
    Clusters, Covariance, Dependence, InferenceError, Resampling, Sandwich, bootstrap,
    bootstrap_while,
};
use innermean::problems::transitions::{END, Moves, StateFeatures, Transitions};
use innermean::{Mspbe, Problem, Ridge, Square, Stop, Unregularized};

use super::{EXACT, Peers, assert_close, on_one_thread, solved};

/// Features are instruments for the differences of features.
#[test]
fn lstd_is_that_of_linearmodels() {
    let peers = Peers::read();
    let with_ones = |name: &str| peers.numbers(&[name]).iter().flat_map(|x| [*x, 1.0]).collect();
    let (now, after): (Vec<f64>, Vec<f64>) = (with_ones("x"), with_ones("after"));
    let f = Mspbe::new(2, now, &after, peers.numbers(&["reward"]), 0.9).expect("transitions");
    let problem = f.problem(0.0).expect("features that span");
    let theta = problem.inner.lstd().expect("a solution");
    for suffix in ["robust", "clustered"] {
        let found = peers.sandwich(suffix).of_samples(&problem, &theta).expect("identified");
        peers.compare(&format!("lstd_{suffix}"), &theta, &found, EXACT);
    }
}

/// Episodes of a chain of 5 states with drift, and an end at either side.
fn log(seed: u64, episodes: u32) -> (Moves, Vec<u32>) {
    let mut draws = Stream::new(seed, 0);
    let (mut moves, mut of) = (Moves::default(), Vec::new());
    for episode in 0..episodes {
        let mut state = draws.index(5) as u32;
        while state < 5 {
            // Below 0 is beyond 5, too.
            let next = state.wrapping_add(if draws.unit() < 0.55 { 1 } else { u32::MAX });
            moves.from.push(state);
            moves.next.push(if next < 5 { next } else { END });
            moves.rewards.push(if next == 5 { 1.0 } else { draws.unit() - 0.5 });
            of.push(episode);
            state = next;
        }
    }
    (moves, of)
}

/// `1, s` and, so that it does not fit, nothing more.
fn line() -> StateFeatures {
    StateFeatures::Rows { d: 2, rows: (0..5).flat_map(|s| [1.0, f64::from(s)]).collect() }
}

/// By a ridge the moments do not vanish, and what C and the Jacobian contribute counts.
#[test]
fn projected_errors_agree_with_the_bootstrap() {
    let (moves, of) = log(2, 400);
    let episodes = Clusters::new(of).expect("consecutive numbers");
    for rho in [0.0, 0.05] {
        let f = Mspbe::of_moves(&line(), &moves, 0.95).expect("transitions");
        let problem = f.problem(rho).expect("features that span");
        let theta = problem.inner.minimiser(&problem.merit, rho).expect("a solution");
        let sandwich = Sandwich::new(Dependence::Clustered(episodes.clone()));
        let wanted = sandwich.of_samples(&problem, &theta).expect("identified").standard_errors();
        let features = line();
        let refit = refit_projected(&features, &moves, 0.95, rho);
        let by_episode = Resampling::Clusters(episodes.clone());
        let drawn = bootstrap(&by_episode, 600, 7, &refit);
        assert_eq!(drawn.failed, 0);
        let found = drawn.covariance().expect("replicates").standard_errors();
        // 600 replicates leave 3 % of a standard error.
        assert_close(&found, &wanted, 0.12);
    }
}

/// Rows that are drawn from the moments are those of the transitions that are drawn, by closed form
/// and by a run.
#[test]
fn drawn_rows_are_those_of_drawn_transitions() {
    let (moves, _) = log(2, 60);
    let features = line();
    let whole = Mspbe::of_moves(&features, &moves, 0.95).expect("transitions");
    let drawn: Vec<usize> = (0..moves.from.len()).map(|t| t * t % 97).collect();
    for rho in [0.0, 0.05] {
        let ridge = Ridge::from_weight(rho).expect("a weight");
        let wanted = refit_projected(&features, &moves, 0.95, rho)(&drawn).expect("identified");
        let stop = || Stop { tolerance: Some(1e-13), ..Stop::default() };
        let found = refit_drawn(&whole, Some(rho), &ridge, &[0.0; 2], stop())(&drawn);
        assert_close(&found.expect("identified"), &wanted, 1e-10);
        let found = refit_drawn(&whole, None, &ridge, &[0.0; 2], stop())(&drawn);
        assert_close(&found.expect("solved"), &wanted, 1e-5);
    }
}

/// Draws that are not made are counted, and those that are made are the same.
#[test]
fn a_bootstrap_ends_when_it_is_told_to() {
    let of = |drawn: &[usize]| Some(vec![drawn.iter().sum::<usize>() as f64]);
    let units = Resampling::Clusters(Clusters::singletons(20));
    let all = bootstrap(&units, 50, 3, of);
    let asked = AtomicUsize::new(0);
    let go_on = || asked.fetch_add(1, Ordering::Relaxed) < 30;
    let some = bootstrap_while(&go_on, &units, 50, 3, of);
    assert_eq!((some.thetas.len(), some.failed, some.unmade), (30, 0, 20));
    assert_eq!(asked.into_inner(), 50);
    assert!(some.thetas.iter().all(|theta| all.thetas.contains(theta)));
    let errors = all.standard_errors().expect("replicates");
    assert_close(&errors, &all.covariance().expect("replicates").standard_errors(), 1e-14);
}

#[test]
fn bellman_errors_agree_with_the_bootstrap() {
    let (moves, of) = log(3, 400);
    let episodes = Clusters::new(of).expect("consecutive numbers");
    let ridge = Ridge::from_weight(0.01).expect("a weight");
    for features in [line(), StateFeatures::OneHot { states: 5 }] {
        let inner = Transitions::new(features.clone(), moves.clone(), 0.95).expect("transitions");
        let merit = Square::new(1.0).expect("a weight");
        let theta = solved(&Problem { inner, merit, regularizer: ridge });
        let clustered = Sandwich::new(Dependence::Clustered(episodes.clone()));
        let wanted =
            bellman(&features, &moves, 0.95, &ridge, &theta, &clustered).expect("identified");
        // States are Markov: transitions are as good as independent.
        let alone = Sandwich::new(Dependence::Independent);
        let free = bellman(&features, &moves, 0.95, &ridge, &theta, &alone).expect("identified");
        assert_close(&free.standard_errors(), &wanted.standard_errors(), 0.15);
        let refit = refit_bellman(&features, &moves, 0.95, &ridge, &theta, Stop::default());
        let by_episode = Resampling::Clusters(episodes.clone());
        let drawn = bootstrap(&by_episode, 300, 7, &refit);
        assert_eq!(drawn.failed, 0);
        let found = drawn.covariance().expect("replicates").standard_errors();
        assert_close(&found, &wanted.standard_errors(), 0.2);
    }
}

/// Without features both errors have the same minimum, and nearly the same standard errors; a
/// weight of 2 is as good as a share of two thirds.
#[test]
fn one_value_for_each_state() {
    let (moves, _) = log(4, 300);
    let features = StateFeatures::OneHot { states: 5 };
    let f = Mspbe::of_moves(&features, &moves, 0.95).expect("transitions");
    let problem = f.problem(0.0).expect("features that span");
    let theta = problem.inner.lstd().expect("a solution");
    let alone = Sandwich::new(Dependence::Independent);
    let projected = alone.of_samples(&problem, &theta).expect("identified");
    let own = bellman(&features, &moves, 0.95, &Unregularized, &theta, &alone).expect("identified");
    assert_close(&own.standard_errors(), &projected.standard_errors(), 0.02);
    let even = Moves { weights: Some(vec![2.0; moves.from.len()]), ..moves.clone() };
    let same = bellman(&features, &even, 0.95, &Unregularized, &theta, &alone).expect("identified");
    assert_close(same.matrix(), own.matrix(), 1e-10);
}

#[test]
fn states_that_were_left_once_are_refused() {
    let moves = Moves {
        from: vec![0, 0, 1, 2, 2],
        next: vec![1, 2, END, END, 0],
        rewards: vec![1.0, 2.0, 0.5, 1.0, 0.0],
        weights: None,
    };
    let features = StateFeatures::OneHot { states: 3 };
    let sandwich = Sandwich::new(Dependence::Independent);
    let found = bellman(&features, &moves, 0.9, &Unregularized, &[0.0; 3], &sandwich);
    assert_eq!(found, Err(InferenceError::SingleTransitions { states: 1, of: 3 }));
}

#[test]
fn the_value_of_start_states_has_both_errors() {
    let features = StateFeatures::Rows { d: 2, rows: vec![1.0, 0.0, 1.0, 2.0] };
    let covariance = Covariance::new(2, vec![0.5, 0.1, 0.1, 0.3], 50.0);
    let theta = [1.0, 3.0];
    // Values 1 and 7; the mean row is (1, 1.5).
    let starts = [0, 1, 1, 1];
    let given = start_value(&features, &starts, false, &theta, &covariance);
    assert_close(&[given.value], &[5.5], 1e-14);
    let variance: f64 = 0.5 + 2.0 * 1.5 * 0.1 + 2.25 * 0.3;
    assert_close(&[given.standard_error], &[variance.sqrt()], 1e-14);
    let sampled = start_value(&features, &starts, true, &theta, &covariance);
    // (4.5^2 + 3 1.5^2) / 3 / 4
    assert_close(&[sampled.standard_error], &[(variance + 27.0 / 12.0).sqrt()], 1e-14);
}

/// Blocks of a trajectory keep its autocorrelation: the mean of an AR(1) series.
#[test]
fn blocks_keep_what_follows_each_other() {
    let mut draws = Stream::new(6, 0);
    let n = 4000;
    let mut series = vec![0.0];
    for _ in 1..n {
        let last = series[series.len() - 1];
        series.push(0.8 * last + draws.unit() - 0.5);
    }
    let mean = |drawn: &[usize]| {
        assert_eq!(drawn.len(), n);
        Some(vec![drawn.iter().map(|&t| series[t]).sum::<f64>() / n as f64])
    };
    // The long-run standard deviation of the mean: sigma / (1 - 0.8) / sqrt(n).
    let wanted = (1.0_f64 / 12.0).sqrt() / 0.2 / (n as f64).sqrt();
    let error = |resampling: &Resampling| {
        let drawn = bootstrap(resampling, 500, 1, mean);
        assert_eq!(drawn, on_one_thread(|| bootstrap(resampling, 500, 1, mean)));
        drawn.covariance().expect("replicates").standard_errors()[0]
    };
    for blocks in
        [Resampling::MovingBlocks { n, length: 60 }, Resampling::CircularBlocks { n, length: 60 }]
    {
        assert_close(&[error(&blocks)], &[wanted], 0.25);
    }
    let alone = error(&Resampling::Clusters(Clusters::singletons(n)));
    assert!(alone < 0.5 * wanted, "{alone} of single draws, {wanted} of all");
}

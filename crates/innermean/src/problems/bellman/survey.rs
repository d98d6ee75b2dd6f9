//! Passes over P: one for the averages, the sums of its rows and whether all of it are probabilities, and one, if it is asked for, for how far
//! single pairs reach.

use crate::blocks::Blocks;
use crate::vector::{LANES, add_three_weighted_rows, add_weighted_rows, norm_squared, weight_facts};

/// What a pass over P finds.
pub(super) struct Survey {
    /// `sum_j P_ij Psi_j`, S rows of d
    pub(super) expected: Vec<f64>,
    /// The first row that is no distribution, as far as a pass can tell.
    pub(super) suspect: Option<usize>,
}

/// How far the sum of a row of probabilities may lie from 1: rounding, also of numbers written in decimals.
pub(super) const ROW_SUM: f64 = 1e-9;

/// Rows of P that go together, in threes.
const ROWS: usize = 15;
/// Numbers of features that stay near while these rows pass, 16 kB.
const NEAR: usize = 2048;

/// What is found of a row beside its d sums: the sum of P and its least entry.
const FACTS: usize = 2;

/// `max_ij |Psi_i| + discount S P_ij |Psi_j|`
pub(super) fn reach(d: usize, features: &[f64], transitions: &[f64], discount: f64) -> f64 {
    let states = features.len() / d;
    let lengths: Vec<f64> = features.chunks_exact(d).map(|psi| norm_squared(psi).sqrt()).collect();
    Blocks::new(states, states).max(
        || (),
        #[inline(always)]
        |(), i| {
            let [.., most] = weight_facts(&transitions[i * states..(i + 1) * states], &lengths);
            lengths[i] + discount * states as f64 * most
        },
    )
}

pub(super) fn survey(d: usize, features: &[f64], transitions: &[f64]) -> Survey {
    let states = features.len() / d;
    let tile = (NEAR / d).max(LANES);
    let width = d + FACTS;
    let mut found = vec![0.0; states * width];
    Blocks::new(states, states * d).fill(
        width,
        &mut found,
        #[inline(always)]
        |range, found| {
            for (first, found) in range.step_by(ROWS).zip(found.chunks_mut(ROWS * width)) {
                several(d, features, transitions, first, tile, found);
            }
        },
    );
    let mut survey = Survey { expected: Vec::with_capacity(states * d), suspect: None };
    for (i, found) in found.chunks_exact(width).enumerate() {
        survey.expected.extend_from_slice(&found[..d]);
        let [sum, least] = [found[d], found[d + 1]];
        // Sums of what is no number are no number.
        let sound = (sum - 1.0).abs() <= ROW_SUM && least >= 0.0;
        if !sound && survey.suspect.is_none() {
            survey.suspect = Some(i);
        }
    }
    survey
}

/// The rows from `first` on, as many as `found` has room for: the weighted sums of all features in the first numbers of each, then the facts.
#[inline(always)]
fn several(d: usize, features: &[f64], transitions: &[f64], first: usize, tile: usize, found: &mut [f64]) {
    let (states, width) = (features.len() / d, d + FACTS);
    let count = found.len() / width;
    let mut sums = vec![0.0; count * d];
    let mut facts = [[0.0, f64::INFINITY]; ROWS];
    for begin in (0..states).step_by(tile) {
        let columns = begin..(begin + tile).min(states);
        let start = |r: usize| (first + r) * states + columns.start;
        let piece = |r: usize| &transitions[start(r)..start(r) + columns.len()];
        let near = &features[columns.start * d..columns.end * d];
        for (r, facts) in facts[..count].iter_mut().enumerate() {
            let [sum, least, _] = weight_facts(piece(r), piece(r));
            *facts = [facts[0] + sum, facts[1].min(least)];
        }
        for (three, sums) in sums.chunks_mut(3 * d).enumerate() {
            if sums.len() == 3 * d {
                add_three_weighted_rows(near, d, std::array::from_fn(|k| piece(3 * three + k)), sums);
            } else {
                for (k, sums) in sums.chunks_exact_mut(d).enumerate() {
                    add_weighted_rows(near, piece(3 * three + k), sums);
                }
            }
        }
    }
    for ((found, sums), facts) in found.chunks_exact_mut(width).zip(sums.chunks_exact(d)).zip(&facts) {
        found[..d].copy_from_slice(sums);
        found[d..].copy_from_slice(facts);
    }
}

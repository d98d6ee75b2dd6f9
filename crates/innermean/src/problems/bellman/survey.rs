//! Passes over P: one for the averages, the rewards among them, the sums of its rows and whether all
//! of it are probabilities, and one, if it is asked for, for how far single pairs reach.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::linalg::blocks::Blocks;
use crate::linalg::product::product_and_look;
use crate::linalg::vector::{LANES, dot, norm_squared};

/// What a pass over P finds.
pub(super) struct Survey {
    /// `sum_j P_ij Psi_j`, S rows of d
    pub(super) expected: Vec<f64>,
    /// `sum_j P_ij r_ij`
    pub(super) rewards: Vec<f64>,
    /// The first row that is no distribution.
    pub(super) suspect: Option<usize>,
}

/// How far the sum of a row of probabilities may lie from 1: rounding, also of numbers written in
/// decimals.
pub(super) const ROW_SUM: f64 = 1e-9;

/// `P (Psi, 1)`: the last column is that of the sums. Rewards are S rows of S, or one for each
/// state.
pub(super) fn survey(d: usize, features: &[f64], transitions: &[f64], rewards: &[f64]) -> Survey {
    let states = features.len() / d;
    let mut with_ones = Vec::with_capacity(states * (d + 1));
    for psi in features.chunks_exact(d) {
        with_ones.extend_from_slice(psi);
        with_ones.push(1.0);
    }
    let mut found = vec![0.0; states * (d + 1)];
    let negative = AtomicUsize::new(usize::MAX);
    let of_states = rewards.len() == states;
    let mut expected_rewards = if of_states { rewards.to_vec() } else { vec![0.0; states] };
    product_and_look(
        transitions,
        states,
        &with_ones,
        d + 1,
        (&mut found, if of_states { &mut [] } else { &mut expected_rewards }),
        #[inline(always)]
        |i, first, part| {
            if extreme(part, |least, p| if p < least { p } else { least }) < 0.0 {
                negative.fetch_min(i, Ordering::Relaxed);
            }
            if of_states { 0.0 } else { dot(part, &rewards[i * states + first..]) }
        },
    );
    let mut expected = Vec::with_capacity(states * d);
    let mut suspect = Some(negative.into_inner()).filter(|i| *i < states);
    for (i, found) in found.chunks_exact(d + 1).enumerate() {
        expected.extend_from_slice(&found[..d]);
        // Sums of what is no number are no number.
        let sound = (found[d] - 1.0).abs() <= ROW_SUM;
        if !sound && suspect.is_none_or(|first| i < first) {
            suspect = Some(i);
        }
    }
    Survey { expected, rewards: expected_rewards, suspect }
}

/// `max_ij |Psi_i| + discount S P_ij |Psi_j|`
pub(super) fn reach(d: usize, features: &[f64], transitions: &[f64], discount: f64) -> f64 {
    let states = features.len() / d;
    let lengths: Vec<f64> = features.chunks_exact(d).map(|psi| norm_squared(psi).sqrt()).collect();
    Blocks::new(states, states).max(
        || vec![0.0; states],
        #[inline(always)]
        |products, i| {
            let row = &transitions[i * states..(i + 1) * states];
            for ((product, p), length) in products.iter_mut().zip(row).zip(&lengths) {
                *product = p * length;
            }
            let most = extreme(products, |most, p| if p > most { p } else { most });
            lengths[i] + discount * states as f64 * most
        },
    )
}

/// The first number, or whichever of the others `better` likes more, in lanes.
#[inline(always)]
fn extreme(numbers: &[f64], better: impl Fn(f64, f64) -> f64) -> f64 {
    let Some(first) = numbers.first() else { return 0.0 };
    let (whole, rest) = numbers.as_chunks::<LANES>();
    let mut found = [*first; LANES];
    for numbers in whole {
        for (found, number) in found.iter_mut().zip(numbers) {
            *found = better(*found, *number);
        }
    }
    found.iter().chain(rest).fold(*first, |found, number| better(found, *number))
}

//! Bellman errors of models and of logs: f is affine.

use anyhow::Result;
use innermean::problems::transitions::END;
use innermean::{Bellman, Moves, Square, StateFeatures, Transitions};

use super::columns::{self, Conditioning, Dice};
use super::penalties::Wanted;
use super::{Case, Drawn, Truth};
use crate::torture::double_double::Dd;
use crate::torture::objective::{Affine, Loss, largest};

/// Transitions between states, with features.
pub(super) struct Process {
    pub(super) features: Vec<f64>,
    pub(super) d: usize,
    pub(super) states: usize,
    pub(super) discount: f64,
}

impl Process {
    pub(super) fn draw(dice: &mut Dice, conditioning: Conditioning) -> Self {
        let (states, d) = columns::size(dice, conditioning, (20, 8));
        let discount = dice.of(&[0.0, 0.5, 0.9, 0.99, 0.9999]);
        Process { features: columns::table(dice, conditioning, states, d), d, states, discount }
    }

    /// `Psi_s`, zero after the end.
    pub(super) fn feature(&self, state: u32, l: usize) -> Dd {
        if state == END { Dd::ZERO } else { Dd::from(self.features[state as usize * self.d + l]) }
    }
}

/// Norms more often than constraints.
pub(super) fn policy_penalty(dice: &mut Dice, d: usize) -> Wanted {
    if dice.chance(0.7) { Wanted::norms(dice) } else { Wanted::any(dice, d) }
}

/// `innermean policy --model`: all pairs of states.
pub(super) fn model(dice: &mut Dice, conditioning: Conditioning) -> Result<Drawn> {
    let process = Process::draw(dice, conditioning);
    let Process { d, states, discount, .. } = process;
    let mut transitions = Vec::with_capacity(states * states);
    for _ in 0..states {
        let row: Vec<f64> = (0..states)
            .map(|_| if dice.chance(0.4) { 0.0 } else { dice.unit() })
            .chain([1e-3])
            .collect();
        let total: f64 = row.iter().sum::<f64>();
        let first = row[0] + row[states];
        transitions.push(first / total);
        transitions.extend(row[1..states].iter().map(|p| p / total));
    }
    let rewards: Vec<f64> = (0..states * states).map(|_| dice.normal()).collect();
    let gamma = Dd::from(discount);
    let (mut rows, mut offsets) = (Vec::new(), Vec::new());
    for s in 0..states {
        let p = &transitions[s * states..(s + 1) * states];
        let after = |l: usize| -> Dd {
            p.iter().enumerate().map(|(t, p)| Dd::from(*p) * process.feature(t as u32, l)).sum()
        };
        rows.extend((0..d).map(|l| process.feature(s as u32, l) - gamma * after(l)));
        let reward = &rewards[s * states..(s + 1) * states];
        offsets.push(-(p.iter().zip(reward).map(|(p, r)| Dd::from(*p) * Dd::from(*r)).sum::<Dd>()));
    }
    let wanted = policy_penalty(dice, d);
    let truth = bellman(&process, rows, offsets, &wanted);
    let words = format!("{states} states, {d} features, discount {discount}, {wanted:?}");
    let inner = Bellman::new(d, process.features, transitions, rewards, discount)?;
    let case = Case::new(inner, Box::new(Square::new(1.0)?), Box::new(wanted.ridged(d)?));
    Ok(Drawn::new(words, case, Truth::Affine(truth), None))
}

fn bellman(process: &Process, rows: Vec<Dd>, offsets: Vec<Dd>, wanted: &Wanted) -> Affine {
    let d = process.d;
    let losses = vec![Loss::Square { c: Dd::ONE }; offsets.len()];
    Affine {
        d,
        rows,
        offsets,
        losses,
        penalty: wanted.penalty(d, d),
        uncentred: largest(&process.features, d),
        condition: 1.0,
    }
}

/// Moves from every state of which there are features.
pub(super) fn moves(dice: &mut Dice, states: usize) -> Moves {
    let weighted = dice.chance(0.5);
    let mut moves = Moves::default();
    let mut weights = Vec::new();
    for s in 0..states {
        for _ in 0..dice.between(1, 4) {
            moves.from.push(s as u32);
            moves.next.push(if dice.chance(0.1) { END } else { dice.below(states) as u32 });
            moves.rewards.push(dice.normal());
            weights.push(0.1 + dice.unit());
        }
    }
    moves.weights = weighted.then_some(weights);
    moves
}

/// `innermean policy LOG`
pub(super) fn log(dice: &mut Dice, conditioning: Conditioning) -> Result<Drawn> {
    let mut process = Process::draw(dice, conditioning);
    let one_hot = conditioning == Conditioning::Ordinary && dice.chance(0.5);
    if one_hot {
        let states = process.states.min(12);
        let unit = |k: usize| if k / states == k % states { 1.0 } else { 0.0 };
        let features = (0..states * states).map(unit).collect();
        process = Process { features, d: states, states, ..process };
    }
    let Process { d, states, discount, .. } = process;
    let moves = moves(dice, states);
    let gamma = Dd::from(discount);
    let (mut rows, mut offsets) = (vec![Dd::ZERO; states * d], vec![Dd::ZERO; states]);
    let weight = |t: usize| moves.weights.as_ref().map_or(Dd::ONE, |w| Dd::from(w[t]));
    let mut totals = vec![Dd::ZERO; states];
    for (t, &s) in moves.from.iter().enumerate() {
        totals[s as usize] += weight(t);
    }
    for s in 0..states {
        for l in 0..d {
            rows[s * d + l] = process.feature(s as u32, l);
        }
    }
    for (t, &s) in moves.from.iter().enumerate() {
        let p = weight(t) / totals[s as usize];
        for l in 0..d {
            rows[s as usize * d + l] -= p * gamma * process.feature(moves.next[t], l);
        }
        offsets[s as usize] -= p * Dd::from(moves.rewards[t]);
    }
    let wanted = policy_penalty(dice, d);
    let truth = bellman(&process, rows, offsets, &wanted);
    let words = format!(
        "{states} states, {d} features, one-hot {one_hot}, discount {discount}, {wanted:?}"
    );
    let features = if one_hot {
        StateFeatures::OneHot { states }
    } else {
        StateFeatures::Rows { d, rows: process.features }
    };
    let inner = Transitions::new(features, moves, discount)?;
    let case = Case::new(inner, Box::new(Square::new(1.0)?), Box::new(wanted.ridged(d)?));
    Ok(Drawn::new(words, case, Truth::Affine(truth), None))
}

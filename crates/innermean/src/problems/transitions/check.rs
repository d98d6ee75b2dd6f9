//! What transitions must be to make a problem.

use super::{END, Moves, StateFeatures};
use crate::model::setting::InvalidSetting;

impl Moves {
    /// # Errors
    /// Unless columns have one length, states are there, numbers are numbers.
    pub(crate) fn check(
        &self,
        features: &StateFeatures,
        discount: f64,
    ) -> Result<(), InvalidSetting> {
        check(features, self, discount)
    }
}

fn check(features: &StateFeatures, moves: &Moves, discount: f64) -> Result<(), InvalidSetting> {
    let refuse = |name: &str, value: String, expected: String| {
        Err(InvalidSetting::new(name, value, expected))
    };
    if let StateFeatures::Rows { d, rows } = features {
        if *d == 0 || rows.is_empty() || !rows.len().is_multiple_of(*d) {
            let value = format!("{} numbers in rows of {d}", rows.len());
            return refuse(
                "features",
                value,
                "at least one whole row of at least one number".into(),
            );
        }
        if let Some(bad) = rows.iter().position(|x| !x.is_finite()) {
            let value = format!("{} in row {}, column {}", rows[bad], bad / d, bad % d);
            return refuse("features", value, "finite numbers".into());
        }
    }
    let states = features.states();
    let t = moves.from.len();
    if t == 0 || states == 0 || states >= END as usize {
        let value = format!("{t} transitions between {states} states");
        return refuse(
            "transitions",
            value,
            format!("at least one of each, and fewer than {END} states"),
        );
    }
    let weights = moves.weights.as_ref().map_or(t, Vec::len);
    for (name, len) in
        [("next", moves.next.len()), ("rewards", moves.rewards.len()), ("weights", weights)]
    {
        if len != t {
            return refuse(
                name,
                format!("{len} entries"),
                format!("one for each of {t} transitions"),
            );
        }
    }
    for (name, column, end) in [("from", &moves.from, false), ("next", &moves.next, true)] {
        let unknown = |s: &u32| *s as usize >= states && !(end && *s == END);
        if let Some(bad) = column.iter().position(unknown) {
            let value = format!("state {} in transition {bad}", column[bad]);
            return refuse(name, value, format!("one of {states} states, counted from 0"));
        }
    }
    if let Some(bad) = moves.rewards.iter().position(|r| !r.is_finite()) {
        let value = format!("{} in transition {bad}", moves.rewards[bad]);
        return refuse("rewards", value, "finite numbers".into());
    }
    if let Some(weights) = &moves.weights
        && let Some(bad) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0))
    {
        let value = format!("{} in transition {bad}", weights[bad]);
        return refuse("weights", value, "finite numbers, 0 or above".into());
    }
    if !(0.0..=1.0).contains(&discount) {
        return refuse("discount", format!("{discount:?}"), "a number from 0 to 1".into());
    }
    Ok(())
}

/// A value of its own that no equation speaks of has no best value.
pub(super) fn every_state_is_left(
    features: &StateFeatures,
    left: &[u32],
) -> Result<(), InvalidSetting> {
    let StateFeatures::OneHot { states } = features else { return Ok(()) };
    match (0..*states as u32)
        .zip(left.iter().map(Some).chain([None]))
        .find(|(s, left)| Some(s) != *left)
    {
        None => Ok(()),
        Some((s, _)) => Err(InvalidSetting::new(
            "from",
            format!("no transition leaves state {s}"),
            "one from every state, as nothing else says what its value is",
        )),
    }
}

/// Without a discount, what is never over has no finite value: from every state that is left,
/// transitions of positive weight must lead to an end or to a state that none leaves.
pub(super) fn an_end_is_reached(
    states: usize,
    left: &[u32],
    starts: &[usize],
    next: &[u32],
    odds: &[f64],
) -> Result<(), InvalidSetting> {
    match without_end(states, left, starts, next, odds) {
        None => Ok(()),
        Some(s) => Err(InvalidSetting::new(
            "discount",
            format!("1 where no end can be reached from state {s}"),
            "a number below 1, or transitions that lead to an end from every state",
        )),
    }
}

/// The first state from which no end can be reached.
fn without_end(
    states: usize,
    left: &[u32],
    starts: &[usize],
    next: &[u32],
    odds: &[f64],
) -> Option<u32> {
    let possible = |at: usize| odds.is_empty() || odds[at] > 0.0;
    // The terms that lead into each state, as lists one after the other.
    let mut firsts = vec![0_usize; states + 1];
    for (at, &s) in next.iter().enumerate() {
        if s != END && possible(at) {
            firsts[s as usize + 1] += 1;
        }
    }
    for s in 0..states {
        firsts[s + 1] += firsts[s];
    }
    let mut place = firsts.clone();
    let mut into = vec![0_u32; firsts[states]];
    let mut ends = vec![true; states];
    let mut reached = Vec::new();
    for (i, &s) in left.iter().enumerate() {
        ends[s as usize] = false;
        for at in (starts[i]..starts[i + 1]).filter(|&at| possible(at)) {
            match next[at] {
                END => ends[s as usize] = true,
                to => {
                    into[place[to as usize]] = s;
                    place[to as usize] += 1;
                }
            }
        }
    }
    // From the ends backwards.
    reached.extend((0..states as u32).filter(|&s| ends[s as usize]));
    while let Some(s) = reached.pop() {
        for &before in &into[firsts[s as usize]..firsts[s as usize + 1]] {
            if !std::mem::replace(&mut ends[before as usize], true) {
                reached.push(before);
            }
        }
    }
    (0..states as u32).find(|&s| !ends[s as usize])
}

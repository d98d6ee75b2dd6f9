//! What describes the states: the features of each that does not end an episode.

use std::collections::HashMap;

use innermean::StateFeatures;
use innermean_data::FeatureRows;

use super::{NeverLeft, PolicyError, PolicySettings, Process, ProcessMoves};
use crate::error::{Error, same_length};

/// What describes a state.
#[derive(Debug, Clone, PartialEq)]
pub enum PolicyFeatures {
    /// Every state has a value of its own.
    OneHot,
    /// A row for each state of the process, in its order; those of terminal states are not looked
    /// at.
    Rows(FeatureRows),
    /// A row for each of these states, in any order. States that no transition knows have a value
    /// all the same.
    ByName {
        /// The states.
        states: Vec<String>,
        /// Their features.
        features: FeatureRows,
    },
    /// Those of the transitions themselves: see [`Process::of_rows`].
    Own,
}

/// States with their features.
pub(super) struct Described {
    /// All states: those of the transitions, then those that only have features; none if they have
    /// no names.
    pub(super) names: Vec<String>,
    /// Where each stands among those with features; none if its value is zero.
    pub(super) places: Vec<Option<u32>>,
    /// The names of the features.
    pub(super) coordinates: Vec<String>,
    pub(super) features: StateFeatures,
}

impl PolicyFeatures {
    /// Those of a process whose ends are known.
    pub(super) fn describe(
        self,
        process: &mut Process,
        settings: &PolicySettings,
    ) -> Result<Described, Error> {
        let described = match self {
            PolicyFeatures::OneHot if settings.intercept => {
                return Err(PolicyError::OneHotIntercept.into());
            }
            PolicyFeatures::OneHot if settings.never_left == NeverLeft::Bootstrap => {
                return Err(PolicyError::NothingToBootstrap.into());
            }
            PolicyFeatures::OneHot => one_hot(process),
            PolicyFeatures::Rows(rows) => {
                let numbers = rows.names.len() * process.names.len();
                same_length("numbers in the features", rows.rows.len(), numbers)?;
                of_rows(process, rows)
            }
            PolicyFeatures::ByName { states, features } => by_name(process, &states, features)?,
            PolicyFeatures::Own => own(process)?,
        };
        Ok(if settings.intercept { described.with_intercept() } else { described })
    }
}

impl Described {
    /// With a last coordinate that is 1 in every state.
    fn with_intercept(mut self) -> Self {
        if let StateFeatures::Rows { d, rows } = &self.features {
            let with_one = |row: &[f64]| row.iter().copied().chain([1.0]).collect::<Vec<f64>>();
            let rows = rows.chunks_exact(*d).flat_map(with_one).collect();
            self.features = StateFeatures::Rows { d: d + 1, rows };
            self.coordinates.push("intercept".to_owned());
        }
        self
    }
}

/// A row for each transition, then one for each state that is entered.
fn own(process: &mut Process) -> Result<Described, Error> {
    let Some(FeatureRows { names, rows }) = process.own.take() else {
        return Err(PolicyError::NoOwnFeatures.into());
    };
    let d = names.len();
    let transitions = rows.len().checked_div(2 * d).unwrap_or(0) as u32;
    Ok(Described {
        names: Vec::new(),
        places: (0..transitions).map(Some).collect(),
        coordinates: names,
        features: StateFeatures::Rows { d, rows },
    })
}

/// The first of the states that do not end an episode is 0, and so on.
fn places(process: &Process) -> Vec<Option<u32>> {
    let mut next = 0;
    let place = |terminal: &bool| {
        (!terminal).then(|| {
            next += 1;
            next - 1
        })
    };
    process.terminal.iter().map(place).collect()
}

fn one_hot(process: &mut Process) -> Described {
    let places = places(process);
    let names = std::mem::take(&mut process.names);
    let kept = places.iter().zip(&names).filter(|(place, _)| place.is_some());
    let coordinates: Vec<String> = kept.map(|(_, name)| name.clone()).collect();
    let features = StateFeatures::OneHot { states: coordinates.len() };
    Described { names, places, coordinates, features }
}

/// A row for each state, of which those that end an episode need none.
fn of_rows(process: &mut Process, features: FeatureRows) -> Described {
    let FeatureRows { names: coordinates, rows } = features;
    let places = places(process);
    let d = coordinates.len();
    let rows = if places.iter().all(Option::is_some) {
        rows
    } else {
        let kept = rows.chunks_exact(d).zip(&places).filter(|(_, place)| place.is_some());
        kept.flat_map(|(row, _)| row).copied().collect()
    };
    let names = std::mem::take(&mut process.names);
    Described { names, places, coordinates, features: StateFeatures::Rows { d, rows } }
}

fn by_name(
    process: &mut Process,
    states: &[String],
    features: FeatureRows,
) -> Result<Described, Error> {
    let d = features.names.len();
    same_length("numbers in the features", features.rows.len(), d * states.len())?;
    let row = |r: usize| &features.rows[r * d..(r + 1) * d];
    let mut rows: HashMap<&str, usize> = HashMap::new();
    for (second, name) in states.iter().enumerate() {
        if let Some(first) = rows.insert(name, second) {
            let state = name.clone();
            return Err(PolicyError::DescribedTwice { state, first, second }.into());
        }
    }
    for (s, name) in process.names.iter().enumerate() {
        if !process.terminal[s] && !rows.contains_key(name.as_str()) {
            let (state, transition) = (name.clone(), process.first_transition(s as u32));
            return Err(PolicyError::NotDescribed { state, transition }.into());
        }
    }
    let mut values = Vec::with_capacity(process.names.len() * d);
    let mut used = vec![false; states.len()];
    for (s, name) in process.names.iter().enumerate() {
        let found = rows.get(name.as_str()).copied();
        if let Some(found) = found {
            used[found] = true;
        }
        match found.filter(|_| !process.terminal[s]) {
            Some(found) => values.extend_from_slice(row(found)),
            None => values.extend(std::iter::repeat_n(0.0, d)),
        }
    }
    let further: Vec<usize> = (0..states.len()).filter(|&r| !used[r]).collect();
    if matches!(process.moves, ProcessMoves::Matrix { .. }) && !further.is_empty() {
        return Err(PolicyError::NotOfTheModel.into());
    }
    for r in further {
        process.names.push(states[r].clone());
        process.terminal.push(false);
        values.extend_from_slice(row(r));
    }
    Ok(of_rows(process, FeatureRows { names: features.names, rows: values }))
}

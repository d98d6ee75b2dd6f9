//! The states in which episodes begin, and what they are worth on average.

use std::collections::HashMap;

use innermean::StateFeatures;
use innermean_data::FeatureRows;
use serde::Serialize;

use super::{Episodes, PolicyError};
use crate::error::{Error, same_length};

/// The states whose mean value is asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum InitialStates {
    /// The first of every episode of the log.
    First,
    /// These, by name; each counts as often as it is named.
    Named(Vec<String>),
    /// A row of features for each, in the order of the coordinates, without the intercept.
    Rows(FeatureRows),
}

/// What the initial states are worth.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct InitialValue {
    /// How many states it is the mean of.
    pub states: usize,
    /// The mean of their values.
    pub value: f64,
}

/// The mean of the features of the initial states: their mean value is its product with theta.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Initial {
    pub(super) states: usize,
    pub(super) features: Vec<f64>,
    /// Where they are the first of every episode: a sample of those that there may be.
    pub(super) first: Option<Vec<u32>>,
}

/// What is known when initial states are looked for.
pub(super) struct Known<'a> {
    pub(super) names: &'a [String],
    pub(super) places: &'a [Option<u32>],
    pub(super) features: &'a StateFeatures,
    pub(super) intercept: bool,
    /// Episodes, and the states that their transitions leave.
    pub(super) log: Option<(&'a Episodes, &'a [u32])>,
}

impl InitialStates {
    pub(super) fn found(&self, known: &Known<'_>) -> Result<Initial, Error> {
        let d = known.features.d();
        let mut sum = vec![0.0; d];
        let mut add = |place: u32| match known.features {
            StateFeatures::OneHot { .. } => sum[place as usize] += 1.0,
            StateFeatures::Rows { rows, .. } => {
                let row = &rows[place as usize * d..(place as usize + 1) * d];
                sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
            }
        };
        let mut first = None;
        let states = match self {
            InitialStates::First => {
                let Some((episodes, from)) = known.log else {
                    return Err(PolicyError::NoOrder("`initial_states=first`").into());
                };
                let places: Vec<u32> = episodes.iter().map(|steps| from[steps[0]]).collect();
                for &place in &places {
                    add(place);
                }
                first = Some(places);
                episodes.count()
            }
            InitialStates::Named(names) => {
                if let Some(name) = names.first().filter(|_| known.names.is_empty()) {
                    return Err(PolicyError::NoNames {
                        parameter: "initial_states",
                        value: name.clone(),
                        expected: "`initial_states=first`, or a file with the columns of features",
                    }
                    .into());
                }
                let states: HashMap<&str, usize> =
                    known.names.iter().enumerate().map(|(s, name)| (name.as_str(), s)).collect();
                for name in names {
                    let Some(&s) = states.get(name.as_str()) else {
                        let (name, states) = (name.clone(), known.names.to_vec());
                        return Err(PolicyError::NoSuchInitial { name, states }.into());
                    };
                    // Terminal states are worth nothing.
                    if let Some(place) = known.places[s] {
                        add(place);
                    }
                }
                names.len()
            }
            InitialStates::Rows(given) => {
                let width = d - usize::from(known.intercept);
                same_length("columns of initial states", given.names.len(), width)?;
                let count = given.rows.len().checked_div(width).unwrap_or(0);
                same_length("numbers of initial states", given.rows.len(), count * width)?;
                for row in given.rows.chunks_exact(width.max(1)) {
                    sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
                }
                if known.intercept {
                    sum[width] = count as f64;
                }
                count
            }
        };
        if states == 0 {
            return Err(PolicyError::NoInitial.into());
        }
        for sum in &mut sum {
            *sum /= states as f64;
        }
        Ok(Initial { states, features: sum, first })
    }
}

impl Initial {
    pub(super) fn value(&self, theta: &[f64]) -> InitialValue {
        let value = self.features.iter().zip(theta).map(|(x, theta)| x * theta).sum();
        InitialValue { states: self.states, value }
    }
}

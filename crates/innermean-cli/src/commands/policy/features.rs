//! What describes the states: the features of each that does not end an episode.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Result, bail};
use innermean::StateFeatures;
use innermean_data::{Ask, Columns, FeatureRows, Frame};

use super::flags::{FeatureChoice, NeverLeft, PolicyFlags};
use super::known::{END, Known, KnownMoves};

use crate::flags::input::limits;

/// States with their features.
pub(super) struct Described {
    /// All states: those of the transitions, then those that only have features.
    pub(super) names: Vec<String>,
    /// Where each stands among those with features; none if its value is zero.
    pub(super) places: Vec<Option<u32>>,
    /// The names of the features.
    pub(super) coordinates: Vec<String>,
    pub(super) features: StateFeatures,
    pub(super) notes: Vec<String>,
}

/// Features as they were asked for, or as they belong to the process.
pub(super) fn describe(flags: &PolicyFlags, known: &mut Known) -> Result<Described> {
    match (&flags.features, known.features.take()) {
        (Some(FeatureChoice::File(path)), _) => from_file(flags, path, known),
        (Some(FeatureChoice::Random(d)), own) => {
            let own = own.filter(|own| own.names.len() == *d);
            let rows = own.unwrap_or_else(|| random(*d, known.names.len(), flags));
            Ok(of_rows(known, rows))
        }
        (None, Some(own)) => Ok(of_rows(known, own)),
        (None | Some(FeatureChoice::OneHot), _) if flags.never_left == NeverLeft::Bootstrap => {
            bail!(
                "--never-left bootstrap: with one-hot features nothing says what the value of such a state is; expected --features FILE, or --never-left terminal"
            )
        }
        (None | Some(FeatureChoice::OneHot), _) => Ok(one_hot(known)),
    }
}

/// The first of the states that do not end an episode is 0, and so on.
fn places(known: &Known) -> Vec<Option<u32>> {
    let mut next = 0;
    let place = |terminal: &bool| {
        (!terminal).then(|| {
            next += 1;
            next - 1
        })
    };
    known.terminal.iter().map(place).collect()
}

fn one_hot(known: &mut Known) -> Described {
    let places = places(known);
    let names = std::mem::take(&mut known.names);
    let kept = places.iter().zip(&names).filter(|(place, _)| place.is_some());
    let coordinates: Vec<String> = kept.map(|(_, name)| name.clone()).collect();
    let features = StateFeatures::OneHot { states: coordinates.len() };
    Described { names, places, coordinates, features, notes: Vec::new() }
}

/// A row for each state, of which those that end an episode need none.
fn of_rows(known: &mut Known, FeatureRows { names: coordinates, rows }: FeatureRows) -> Described {
    let places = places(known);
    let d = coordinates.len();
    let rows = if places.iter().all(Option::is_some) {
        rows
    } else {
        let kept = rows.chunks_exact(d).zip(&places).filter(|(_, place)| place.is_some());
        kept.flat_map(|(row, _)| row).copied().collect()
    };
    let names = std::mem::take(&mut known.names);
    Described {
        names,
        places,
        coordinates,
        features: StateFeatures::Rows { d, rows },
        notes: Vec::new(),
    }
}

fn random(d: usize, states: usize, flags: &PolicyFlags) -> FeatureRows {
    let options = innermean_data::MdpOptions {
        states,
        d,
        features: flags.generator.feature_kind.unwrap_or_default().into(),
        seed: flags.generator.data_seed,
        ..innermean_data::MdpOptions::default()
    };
    FeatureRows {
        names: (1..=d).map(|l| format!("feature {l}")).collect(),
        rows: innermean_data::random_features(&options),
    }
}

fn from_file(flags: &PolicyFlags, path: &Path, known: &mut Known) -> Result<Described> {
    if is_array(path) {
        if let Some(flag) = flags.columns.of_features().filter(|flag| *flag != "--missing") {
            bail!(
                "{flag}: {} is an array, whose columns have no names; expected the flag with a table",
                path.display()
            );
        }
        return from_matrix(path, known);
    }
    let key = flags.columns.feature_key.as_ref().unwrap_or(&flags.columns.state_column);
    let columns = Columns {
        keys: vec![Ask::required(key)],
        features: flags.columns.features.features(&[]),
        ..Columns::default()
    };
    let mut frame = limits().read_frame(path, &columns, flags.columns.features.missing().into())?;
    let d = frame.feature_names.len();
    if d == 0 {
        bail!("{}: has no column beside {key}; expected at least one of numbers", frame.source);
    }
    let keys = frame.keys.swap_remove(0).unwrap_or_default();
    refuse_duplicates(&frame, &keys.codes, &keys.names)?;
    // With each state once, codes count the rows.
    let rows: HashMap<&str, usize> =
        keys.names.iter().enumerate().map(|(r, name)| (name.as_str(), r)).collect();
    for (s, name) in known.names.iter().enumerate() {
        if !known.terminal[s] && !rows.contains_key(name.as_str()) {
            bail!(
                "{}: has no row for state '{name}' ({}); expected the features of every state, or --terminal {name} if an episode ends there",
                frame.source,
                first_place(known, s as u32)
            );
        }
    }
    let mut values = Vec::with_capacity(known.names.len() * d);
    let mut used = vec![false; keys.names.len()];
    for (s, name) in known.names.iter().enumerate() {
        let row = rows.get(name.as_str()).copied();
        if let Some(row) = row {
            used[row] = true;
        }
        match row.filter(|_| !known.terminal[s]) {
            Some(row) => values.extend_from_slice(frame.row(row)),
            None => values.extend(std::iter::repeat_n(0.0, d)),
        }
    }
    let mut notes = std::mem::take(&mut frame.notes);
    if !frame.dropped.columns.is_empty() {
        notes.push(format!(
            "Features left out because of missing values: {}.",
            frame.dropped.columns.join(", ")
        ));
    }
    if frame.dropped.rows > 0 {
        notes.push(format!(
            "Rows of features left out because of missing values: {}.",
            frame.dropped.rows
        ));
    }
    // States that no transition knows have a value all the same.
    for row in (0..keys.names.len()).filter(|&row| !used[row]) {
        known.names.push(keys.names[row].clone());
        known.terminal.push(false);
        values.extend_from_slice(frame.row(row));
    }
    if let KnownMoves::Matrix { .. } = known.moves
        && used.iter().any(|used| !used)
    {
        bail!(
            "{}: has rows for states that the model does not have; expected one for each of its states",
            frame.source
        );
    }
    known.source = format!("{}, {}", known.source, frame.source);
    let described = of_rows(known, FeatureRows { names: frame.feature_names, rows: values });
    Ok(Described { notes, ..described })
}

/// A row for each state in the order of the states, which are then numbers from 0 on.
fn from_matrix(path: &Path, known: &mut Known) -> Result<Described> {
    let matrix = limits().read_matrix(path)?;
    let row = |name: &String| name.parse::<usize>().ok().filter(|row| *row < matrix.rows);
    let d = matrix.columns;
    let mut values = Vec::with_capacity(known.names.len() * d);
    for (s, name) in known.names.iter().enumerate() {
        match row(name) {
            Some(row) => values.extend_from_slice(&matrix.values[row * d..(row + 1) * d]),
            None if known.terminal[s] => values.extend(std::iter::repeat_n(0.0, d)),
            None => bail!(
                "--features {}: has {} rows, and none for state '{name}'; expected states that are numbers of rows, from 0 on, or a table with a column of states",
                path.display(),
                matrix.rows
            ),
        }
    }
    known.source = format!("{}, {}", known.source, path.display());
    let names = (1..=matrix.columns).map(|l| format!("feature {l}")).collect();
    Ok(of_rows(known, FeatureRows { names, rows: values }))
}

fn is_array(path: &Path) -> bool {
    let array = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"));
    array || path.to_string_lossy().to_lowercase().contains(".npz")
}

fn refuse_duplicates(frame: &Frame, codes: &[u32], names: &[String]) -> Result<()> {
    let mut first = vec![usize::MAX; names.len()];
    for (row, &code) in codes.iter().enumerate() {
        let before = std::mem::replace(&mut first[code as usize], row);
        if before != usize::MAX {
            bail!(
                "{}: state '{}' again, which stands already in {}; expected one row for each state",
                frame.place(row),
                names[code as usize],
                frame.place(before)
            );
        }
    }
    Ok(())
}

/// Where a state is first spoken of.
fn first_place(known: &Known, s: u32) -> String {
    let KnownMoves::List(moves) = &known.moves else { return known.source.clone() };
    let at = |t: &usize| moves.from[*t] == s || (moves.next[*t] != END && moves.next[*t] == s);
    (0..moves.from.len()).find(at).map_or_else(|| known.source.clone(), |t| known.place(t))
}

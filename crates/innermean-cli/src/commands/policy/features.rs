//! What describes the states, read or generated.

use std::path::Path;

use anyhow::{Result, anyhow, bail};
use innermean_apps::Error;
use innermean_apps::policy::{PolicyError, PolicyFeatures};
use innermean_data::{Ask, Columns, FeatureRows, Frame};

use super::flags::{FeatureChoice, PolicyFlags};
use super::read::Known;

use crate::flags::input::limits;

/// Features, and the table that they come from.
pub(super) struct Described {
    pub(super) features: PolicyFeatures,
    pub(super) notes: Vec<String>,
    /// The file.
    source: Option<String>,
    table: Option<Frame>,
}

impl From<PolicyFeatures> for Described {
    fn from(features: PolicyFeatures) -> Self {
        Described { features, notes: Vec::new(), source: None, table: None }
    }
}

/// Whether states have no features but themselves.
pub(super) fn is_one_hot(flags: &PolicyFlags, known: &Known) -> bool {
    match flags.features {
        _ if known.own => false,
        None => known.features.is_none(),
        Some(FeatureChoice::OneHot) => true,
        _ => false,
    }
}

/// Features as they were asked for, or as they belong to the process, whose ends are known.
pub(super) fn features(flags: &PolicyFlags, known: &mut Known) -> Result<Described> {
    if known.own {
        return Ok(PolicyFeatures::Own.into());
    }
    Ok(match (&flags.features, known.features.take()) {
        (Some(FeatureChoice::File(path)), _) => return from_file(flags, path, known),
        (Some(FeatureChoice::Random(d)), own) => {
            let own = own.filter(|own| own.names.len() == *d);
            let states = known.process.names.len();
            PolicyFeatures::Rows(own.unwrap_or_else(|| random(*d, states, flags))).into()
        }
        (None, Some(own)) => PolicyFeatures::Rows(own).into(),
        (None | Some(FeatureChoice::OneHot), _) => PolicyFeatures::OneHot.into(),
    })
}

impl Described {
    /// A refusal with its place in the table.
    pub(super) fn refused(table: Option<&Frame>, known: &Known, error: Error) -> anyhow::Error {
        let (Error::Policy(refused), Some(frame)) = (&error, table) else {
            return known.refused(error);
        };
        match refused {
            PolicyError::NotDescribed { state, transition } => {
                let first = transition.map_or_else(|| known.source.clone(), |t| known.place(t));
                anyhow!(
                    "{}: has no row for state '{state}' ({first}); expected the features of every state, or --terminal {state} if an episode ends there",
                    frame.source
                )
            }
            PolicyError::DescribedTwice { state, first, second } => anyhow!(
                "{}: state '{state}' again, which is already in {}; expected one row for each state",
                frame.place(*second),
                frame.place(*first)
            ),
            PolicyError::NotOfTheModel => anyhow!(
                "{}: has rows for states that the model does not have; expected one for each of its states",
                frame.source
            ),
            _ => known.refused(error),
        }
    }

    /// The features themselves, the file and the table.
    pub(super) fn into_parts(self) -> (PolicyFeatures, Option<String>, Option<Frame>) {
        (self.features, self.source, self.table)
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

fn from_file(flags: &PolicyFlags, path: &Path, known: &Known) -> Result<Described> {
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
    if frame.feature_names.is_empty() {
        bail!("{}: has no column beside {key}; expected at least one of numbers", frame.source);
    }
    let keys = frame.keys.swap_remove(0).unwrap_or_default();
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
    let source = Some(frame.source.clone());
    let features = PolicyFeatures::ByName {
        states: keys.codes.iter().map(|&code| keys.names[code as usize].clone()).collect(),
        features: FeatureRows {
            names: std::mem::take(&mut frame.feature_names),
            rows: std::mem::take(&mut frame.features),
        },
    };
    Ok(Described { features, notes, source, table: Some(frame) })
}

/// A row for each state in the order of the states, which are then numbers from 0 on.
fn from_matrix(path: &Path, known: &Known) -> Result<Described> {
    let matrix = limits().read_matrix(path)?;
    let row = |name: &String| name.parse::<usize>().ok().filter(|row| *row < matrix.rows);
    let (d, process) = (matrix.columns, &known.process);
    let mut values = Vec::with_capacity(process.names.len() * d);
    for (name, terminal) in process.names.iter().zip(&process.terminal) {
        match row(name) {
            Some(row) => values.extend_from_slice(&matrix.values[row * d..(row + 1) * d]),
            None if *terminal => values.extend(std::iter::repeat_n(0.0, d)),
            None => bail!(
                "--features {}: has {} rows, and none for state '{name}'; expected states that are numbers of rows, from 0 on, or a table with a column of states",
                path.display(),
                matrix.rows
            ),
        }
    }
    let names = (1..=matrix.columns).map(|l| format!("feature {l}")).collect();
    let features = PolicyFeatures::Rows(FeatureRows { names, rows: values });
    Ok(Described { source: Some(path.display().to_string()), ..features.into() })
}

fn is_array(path: &Path) -> bool {
    let array = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"));
    array || path.to_string_lossy().to_lowercase().contains(".npz")
}

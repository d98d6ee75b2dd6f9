//! The states whose mean value is asked for.

use std::path::Path;

use anyhow::Result;
use innermean_apps::policy::InitialStates;
use innermean_data::{Ask, Columns, FeatureRows};

use super::flags::PolicyFlags;
use crate::flags::input::limits;

/// The initial states that the flags ask for; `own` are the columns of a log that are its features.
pub(super) fn initial_states(
    flags: &PolicyFlags,
    own: Option<&[String]>,
) -> Result<Option<InitialStates>> {
    let Some(text) = &flags.initial_states else { return Ok(None) };
    Ok(Some(match (flags.initial_file(), own) {
        _ if text == "first" => InitialStates::First,
        (Some(path), Some(names)) => InitialStates::Rows(rows(flags, path, names)?),
        (Some(path), None) => InitialStates::Named(names(flags, path)?),
        (None, _) => {
            InitialStates::Named(text.split(',').map(|name| name.trim().to_owned()).collect())
        }
    }))
}

/// A row of features for each.
fn rows(flags: &PolicyFlags, path: &Path, names: &[String]) -> Result<FeatureRows> {
    let numbers = names.iter().map(Ask::required).collect();
    let columns = Columns { numbers, ..Columns::default() };
    let frame = limits().read_frame(path, &columns, flags.columns.features.missing().into())?;
    let found: Vec<&Vec<f64>> = frame.numbers.iter().flatten().collect();
    let rows = (0..frame.rows).flat_map(|t| found.iter().map(move |column| column[t])).collect();
    Ok(FeatureRows { names: names.to_vec(), rows })
}

/// A name for each.
fn names(flags: &PolicyFlags, path: &Path) -> Result<Vec<String>> {
    let keys = vec![Ask::required(&flags.columns.state_column)];
    let columns = Columns { keys, ..Columns::default() };
    let mut frame = limits().read_frame(path, &columns, flags.columns.features.missing().into())?;
    let keys = frame.keys.swap_remove(0).unwrap_or_default();
    Ok((0..frame.rows).map(|row| keys.text(row).to_owned()).collect())
}

//! Columns by name, and rows in the order of a model's features.

use innermean_data::SparseTable;

use super::ModelError;

/// Rows that a model is applied to.
#[derive(Debug, Clone, Copy)]
pub enum NewRows<'a> {
    /// Row after row, with a name for each column; columns may come in any order, and those that
    /// the model does not need are left out.
    Dense {
        /// The names of the columns.
        names: &'a [String],
        /// The numbers, all finite.
        values: &'a [f64],
    },
    /// Sparse rows; the column that the file counts as number 3 is called `x3`.
    Sparse(&'a SparseTable),
}

/// Rows that are predicted together: they stay in cache, and nothing is copied as a whole.
const ROWS: usize = 256;

/// For each feature, its place among `columns`: by its exact name, else by the only one that
/// differs in case alone.
///
/// # Errors
/// If a feature is not among them.
pub fn match_columns(features: &[String], columns: &[String]) -> Result<Vec<usize>, ModelError> {
    use std::collections::HashMap;
    let exact: HashMap<&str, usize> =
        columns.iter().enumerate().map(|(k, name)| (name.as_str(), k)).collect();
    let find = |name: &String| {
        exact.get(name.as_str()).copied().or_else(|| {
            let folded = name.to_lowercase();
            let mut alike = (0..columns.len()).filter(|&k| columns[k].to_lowercase() == folded);
            alike.next().filter(|_| alike.next().is_none())
        })
    };
    features
        .iter()
        .map(|name| {
            find(name).ok_or_else(|| ModelError::MissingColumn {
                name: name.clone(),
                columns: columns.to_vec(),
            })
        })
        .collect()
}

/// `work` on a few rows at a time, with the features in the order of the model.
pub(super) fn in_order(
    features: &[String],
    names: &[String],
    values: &[f64],
    mut work: impl FnMut(&mut [f64]),
) -> Result<(), ModelError> {
    let places = match_columns(features, names)?;
    let as_it_is = names.len() == features.len() && places.iter().enumerate().all(|(k, &l)| k == l);
    let mut part = Vec::with_capacity(ROWS * features.len());
    for rows in values.chunks(ROWS * names.len().max(1)) {
        part.clear();
        if as_it_is {
            part.extend_from_slice(rows);
        } else {
            for row in rows.chunks_exact(names.len()) {
                part.extend(places.iter().map(|&l| row[l]));
            }
        }
        work(&mut part);
    }
    Ok(())
}

/// For each column of sparse rows, its place among the features `x1`, `x7`, ...; none where the
/// model does not have it.
pub(super) fn sparse_places(features: &[String], table: &SparseTable) -> Vec<Option<u32>> {
    let first = table.first_index as usize;
    let mut places = vec![None; table.d];
    for (l, name) in features.iter().enumerate() {
        let index = name.strip_prefix('x').and_then(|number| number.parse::<usize>().ok());
        if let Some(place) =
            index.and_then(|index| index.checked_sub(first)).and_then(|j| places.get_mut(j))
        {
            *place = Some(l as u32);
        }
    }
    places
}

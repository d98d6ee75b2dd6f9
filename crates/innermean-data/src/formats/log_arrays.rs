//! How the arrays of a log are named as columns: a vector keeps its name, a matrix `X` gives `X1`,
//! `X2`, ..., and what is observed after a step is in `next_observations`.

use crate::error::ReadError;
use crate::limits::Limits;

/// An array with a row for each step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LogArray {
    /// Its name, or its path in a part of the file.
    pub(crate) path: String,
    pub(crate) width: usize,
    /// Whether the rows are those after each step.
    pub(crate) after: bool,
}

/// The columns of arrays.
#[derive(Default)]
pub(crate) struct LogNames {
    pub(crate) names: Vec<String>,
    /// Each column as an array and a column of it; none for the number of the episode.
    pub(crate) columns: Vec<Option<(usize, usize)>>,
}

impl LogNames {
    /// Of all arrays, and of the numbers of episodes where the file has none of its own.
    pub(crate) fn of(
        arrays: &[LogArray],
        numbered: bool,
        limits: &Limits,
        file: &str,
    ) -> Result<Self, ReadError> {
        let mut found = Self::default();
        for (k, LogArray { path, width, after }) in arrays.iter().enumerate() {
            let name = if *after { format!("next_{path}") } else { path.clone() };
            if *width == 1 {
                found.names.push(name);
            } else {
                found.names.extend((1..=*width).map(|j| format!("{name}{j}")));
            }
            found.columns.extend((0..*width).map(|j| Some((k, j))));
        }
        if numbered && !found.names.iter().any(|name| name == "episode") {
            found.names.push("episode".to_owned());
            found.columns.push(None);
        }
        limits.check_columns(found.names.len(), file)?;
        Ok(found)
    }
}

/// The episode of each step, from their lengths.
pub(crate) fn episodes(lengths: impl Iterator<Item = usize>) -> Vec<f64> {
    lengths.enumerate().flat_map(|(k, steps)| std::iter::repeat_n(k as f64, steps)).collect()
}

//! The table of returns.

use crate::tables::missing::Dropped;

/// Returns of some assets over some periods, in the unit of the file (percent in Kenneth French's
/// files).
///
/// Every value is finite, and `values.len() == rows() * assets()`.
#[derive(Debug, Clone, PartialEq)]
pub struct Returns {
    /// One name per asset, all different.
    pub names: Vec<String>,
    /// One label per row as written in the file, if it has a date or index column.
    pub dates: Option<Vec<String>>,
    /// Row after row: the return of asset `j` in period `i` is `values[i * assets() + j]`.
    pub values: Vec<f64>,
    /// Where the returns come from, in words: the file's name, or the generator and its seed.
    pub source: String,
    /// What was left out because of missing values.
    pub dropped: Dropped,
    /// What the reader decided on its own and a careful user may want to know; whole sentences.
    pub notes: Vec<String>,
}

impl Returns {
    /// The number of periods.
    pub fn rows(&self) -> usize {
        self.values.len().checked_div(self.names.len()).unwrap_or(0)
    }

    /// The number of assets.
    pub fn assets(&self) -> usize {
        self.names.len()
    }

    /// The returns of all assets in period `i`.
    ///
    /// # Panics
    ///
    /// If `i` is not below `rows()`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.assets()..(i + 1) * self.assets()]
    }
}

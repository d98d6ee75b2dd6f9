//! A matrix of numbers.

use std::path::Path;

use crate::columns::{Columns, FeatureColumns};
use crate::error::ReadError;
use crate::frame::read_frame;
use crate::missing::Missing;

/// Numbers in rows and columns, all finite.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// The number of rows, at least one.
    pub rows: usize,
    /// The number of columns, at least one.
    pub columns: usize,
    /// Row after row: column `j` of row `i` is `values[i * columns + j]`.
    pub values: Vec<f64>,
}

/// Reads a matrix from an array of numpy (`.npy`, `.npz`, `file.npz:name`) or from a table of text, all columns of which hold
/// numbers; a header is optional. A vector is a matrix of one column.
///
/// # Errors
///
/// [`ReadError`]: anything else, and values that are missing or not finite.
pub fn read_matrix(path: &Path) -> Result<Matrix, ReadError> {
    let features = FeatureColumns::Others { except: Vec::new() };
    let frame = read_frame(path, &Columns { features, ..Columns::default() }, Missing::Error)?;
    Ok(Matrix { rows: frame.rows, columns: frame.feature_names.len(), values: frame.features })
}

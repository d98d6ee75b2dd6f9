//! A matrix of numbers.

use std::io::Write;
use std::path::Path;

use crate::error::ReadError;
use crate::formats::npy;
use crate::limits::Limits;
use crate::tables::columns::{Columns, FeatureColumns};
use crate::tables::missing::Missing;
use crate::write::file::{OutFile, WriteError};

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

/// Reads a matrix from an array of numpy (`.npy`, `.npz`, `file.npz:name`) or from a table of text,
/// all columns of which hold numbers; a header is optional. A vector is a matrix of one column.
///
/// # Errors
///
/// [`ReadError`]: anything else, and values that are missing or not finite.
pub fn read_matrix(path: &Path) -> Result<Matrix, ReadError> {
    Limits::default().read_matrix(path)
}

impl Limits {
    /// [`read_matrix`] within these limits.
    ///
    /// # Errors
    ///
    /// As [`read_matrix`].
    pub fn read_matrix(&self, path: &Path) -> Result<Matrix, ReadError> {
        let features = FeatureColumns::Others { except: Vec::new() };
        let frame =
            self.read_frame(path, &Columns { features, ..Columns::default() }, Missing::Error)?;
        Ok(Matrix { rows: frame.rows, columns: frame.feature_names.len(), values: frame.features })
    }
}

/// Writes rows of `columns` numbers as an array of numpy, which [`read_matrix`] gives back.
///
/// # Errors
///
/// [`WriteError`]: a path that cannot be written.
///
/// # Panics
///
/// Unless the rows are whole.
pub fn write_npy(path: &Path, columns: usize, values: &[f64]) -> Result<(), WriteError> {
    assert!(columns > 0 && values.len().is_multiple_of(columns), "whole rows");
    OutFile::check(path, &[])?.write(|out| {
        npy::write_header(out, npy::DOUBLE, &[values.len() / columns, columns])?;
        let mut bytes = Vec::with_capacity(8 * AT_ONCE);
        for piece in values.chunks(AT_ONCE) {
            bytes.clear();
            bytes.extend(piece.iter().flat_map(|value| value.to_le_bytes()));
            out.write_all(&bytes)?;
        }
        Ok(())
    })
}

/// Numbers that are turned into bytes at once.
const AT_ONCE: usize = 1 << 13;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("m.npy");
        let values: Vec<f64> = (0..3 * AT_ONCE).map(|k| 1.0 / (1.0 + k as f64)).collect();
        write_npy(&path, 3, &values).expect("written");
        assert_eq!(read_matrix(&path).expect("read"), Matrix { rows: AT_ONCE, columns: 3, values });
        assert!(write_npy(&folder.path().join("no/m.npy"), 1, &[1.0]).is_err());
    }
}

//! Rows of a file that are taken where they are.

use std::io;
use std::path::Path;

use super::checksum::LeafSums;
use super::{RowFile, damaged_leaf, description};
use crate::error::ReadError;
use crate::formats::row_file::mapped::FileNumbers;
use crate::limits::{Limits, SMALL};
use crate::source::{Source, unreadable};
use crate::tables::arrays::{ColumnSource, header_of, table_of};
use crate::tables::columns::{Chosen, Columns, Header};
use crate::tables::frame::{Frame, assemble, note_of_numbered};
use crate::tables::missing::{Dropped, Missing};
use crate::tables::row_lines::RowLines;
use crate::tables::table::Role;

/// Rows whose sums are found at a time.
const PIECE: usize = 4096;

/// The columns that were asked for, the features of which are read where they are.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MappedFrame {
    /// Without the features.
    pub frame: Frame,
    /// The features, row after row.
    pub features: FileNumbers,
    /// Whether behind those of each row there is a 1, which has no name.
    pub ones: bool,
    /// Whether the file names its columns.
    pub(crate) named: bool,
}

impl Limits {
    /// Reads columns as [`read_frame`](crate::read_frame) does, but takes the features where they
    /// are. `None` for any file but an array of doubles row after row, all columns of which are
    /// features: one that [`convert`](Self::convert) made, or of more than 16 MiB with no number
    /// that is missing.
    ///
    /// # Errors
    ///
    /// As [`read_frame`](crate::read_frame), and if the rows of a file that was converted are not
    /// what they were.
    pub fn map_frame(
        &self,
        path: &Path,
        columns: &Columns,
        missing: Missing,
    ) -> Result<Option<MappedFrame>, ReadError> {
        let source = Source::open(path, *self)?;
        match source.row_file()? {
            Ok(rows) => rows.map(path, columns, missing),
            Err(source) => plain(source, path, columns),
        }
    }

    /// The names of the columns of texts beside the rows of a file that was converted.
    pub(crate) fn texts_beside(&self, path: &Path) -> Result<Vec<String>, ReadError> {
        let Ok(rows) = Source::open(path, *self)?.row_file()? else { return Ok(Vec::new()) };
        let texts = rows.description.beside.into_iter().filter(|column| column.texts.is_some());
        Ok(texts.map(|column| column.name).collect())
    }
}

impl RowFile<'_> {
    fn map(
        mut self,
        path: &Path,
        columns: &Columns,
        missing: Missing,
    ) -> Result<Option<MappedFrame>, ReadError> {
        let all = self.description.features.len();
        let mut chosen = columns.choose(header_of(&self))?;
        if chosen.features != self.description.features {
            return Ok(None);
        }
        let count = self.description.rows * self.description.width();
        let Some(features) = map(path, description::HEADER as usize, count)? else {
            return Ok(None);
        };
        let (width, mut sums) = (self.description.width(), LeafSums::default());
        let read = features.try_pieces(PIECE, width, |_, numbers| {
            sums.add_numbers(numbers, width);
            Ok::<(), io::Error>(())
        });
        read.map_err(|source| unreadable(&self.file, source))?;
        sums.close();
        let known = &self.description.sums;
        if let Some(leaf) = sums.sums.iter().zip(known).position(|(a, b)| a != b) {
            return Err(damaged_leaf(&self.file, leaf, &self.description));
        }
        let names = std::mem::take(&mut chosen.features);
        chosen.roles[..all].fill(Role::Skip);
        let table = table_of(&mut self, &chosen)?;
        // Beside the features a value may be missing, and rows that are dropped leave others.
        if missing != Missing::Error && table.needed_gaps.count > 0 {
            return Ok(None);
        }
        let mut frame = assemble(table, chosen, Missing::Error, &self.file)?;
        (frame.feature_names, frame.by_row) = (names, true);
        frame.notes.extend(self.notes());
        let ones = self.description.ones;
        Ok(Some(MappedFrame { frame, features, ones, named: true }))
    }
}

/// An array as numpy writes it.
fn plain(
    source: Source<'_>,
    path: &Path,
    columns: &Columns,
) -> Result<Option<MappedFrame>, ReadError> {
    let (file, limits) = (source.file.clone(), source.limits);
    // Of an array column after column, or one that is damaged, its reader takes care.
    let Ok(Ok(array)) = source.array_in_pieces() else { return Ok(None) };
    let (rows, width) = (array.rows, array.columns.unwrap_or(1));
    let Some(start) = array.doubles_from().filter(|_| 8 * (rows * width) as u64 > SMALL) else {
        return Ok(None);
    };
    limits.check_columns(width, &file)?;
    let names: Vec<String> = (1..=width).map(|j| format!("c{j}")).collect();
    let header = Header { file: &file, names: &names, named: false, labels: None };
    let Chosen { features, keys, numbers, columns, mut notes, .. } = columns.choose(header)?;
    let alone = keys.iter().flatten().count() + numbers.iter().flatten().count() == 0;
    if !alone || features != names {
        return Ok(None);
    }
    let Some(numbers) = map(path, start, rows * width)? else { return Ok(None) };
    // What is missing or infinite, the reader of arrays deals with.
    if !numbers.are_finite().map_err(|source| unreadable(&file, source))? {
        return Ok(None);
    }
    notes.insert(0, note_of_numbered(&names));
    let frame = Frame {
        source: file,
        rows,
        keys: vec![None; keys.len()],
        numbers: Vec::new(),
        feature_names: features,
        features: Vec::new(),
        columns,
        dropped: Dropped::default(),
        notes,
        lines: RowLines::default(),
        by_row: true,
    };
    Ok(Some(MappedFrame { frame, features: numbers, ones: false, named: false }))
}

/// Numbers of a file; `None` where the machine has another order of bytes.
fn map(path: &Path, start: usize, count: usize) -> Result<Option<FileNumbers>, ReadError> {
    let file = || path.display().to_string();
    FileNumbers::new(path, start, count).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => ReadError::damaged(&file(), "it ends too early"),
        _ => unreadable(&file(), error),
    })
}

//! Files of rows, made once of a table, which are read where they are.
//!
//! ```text
//! an array of numpy, version 1: n rows of features, behind which a 1 may stand
//! the columns beside the rows, one after the other: n doubles, or n codes of 4 bytes of texts,
//!     filled up with zeros to a multiple of 8 bytes
//! a description in JSON: names, texts, a sum for every 2^15 rows and one for the other columns
//! its length and its sum, 8 bytes each, and "innermean rows 1"
//! ```
//!
//! All numbers are little-endian. numpy reads the array as it is and does not look at what follows.

use std::io::SeekFrom;

use self::checksum::{Checksum, LeafSums};
use self::description::Description;
use crate::error::{Place, ReadError};
use crate::limits::{Limits, make_room, out_of_memory};
use crate::memory::in_words;
use crate::source::{ReadSeek, unreadable};
use crate::tables::arrays::{ColumnSource, narrowed};
use crate::tables::keys::KeyColumn;
use crate::text::date::Dates;
use crate::write::table::push_number;

mod checksum;
mod convert;
pub(crate) mod description;
mod map;
mod mapped;

pub use convert::{Conversion, ConvertError, Converted};
pub use map::MappedFrame;
pub use mapped::{FileNumbers, Mapped};

/// Bytes that are read at a time.
const PIECE: usize = 1 << 20;

/// A file of rows as a table: the features, and then the columns beside them.
pub(crate) struct RowFile<'a> {
    file: String,
    input: Box<dyn ReadSeek + 'a>,
    pub(crate) description: Description,
    names: Vec<String>,
    limits: Limits,
    /// The rows that are looked at.
    first: usize,
    rows: usize,
    /// Their features.
    read: Option<Vec<f64>>,
    /// Of rows from the first on.
    sums: LeafSums,
}

impl<'a> RowFile<'a> {
    /// All rows.
    pub(crate) fn new(
        input: Box<dyn ReadSeek + 'a>,
        description: Description,
        limits: Limits,
        file: &str,
    ) -> Result<Self, ReadError> {
        let names: Vec<String> = description
            .features
            .iter()
            .chain(description.beside.iter().map(|column| &column.name))
            .cloned()
            .collect();
        limits.check_columns(names.len(), file)?;
        let (rows, file) = (description.rows, file.to_owned());
        let sums = LeafSums::default();
        Ok(Self { file, input, description, names, limits, first: 0, rows, read: None, sums })
    }

    /// Looks at the first rows alone, before any has been read.
    pub(crate) fn in_pieces(&mut self, most: usize) {
        (self.first, self.rows) = (0, most.min(self.description.rows));
    }

    /// Looks at the rows behind those before, at most so many.
    pub(crate) fn advance(&mut self, most: usize) {
        self.first += self.rows;
        self.rows = most.min(self.description.rows - self.first);
        self.read = None;
    }

    /// Whether the last row is among those that are looked at.
    pub(crate) fn is_at_end(&self) -> bool {
        self.first + self.rows == self.description.rows
    }

    /// Bytes from a place on.
    fn bytes(&mut self, start: u64, bytes: &mut [u8]) -> Result<(), ReadError> {
        let read = self.input.seek(SeekFrom::Start(start));
        let read = read.and_then(|_| self.input.read_exact(bytes));
        read.map_err(|source| unreadable(&self.file, source))
    }

    /// The features of the rows that are looked at, with the ones behind them.
    fn features(&mut self) -> Result<&[f64], ReadError> {
        if self.read.is_none() {
            let row = 8 * self.description.width();
            let (mut start, mut left) =
                (description::HEADER + (self.first * row) as u64, self.rows * row);
            let mut values = Vec::new();
            make_room(&mut values, left / 8, &self.file)?;
            let mut piece = vec![0; left.min((PIECE / row).max(1) * row)];
            while left > 0 {
                let bytes = &mut piece[..left.min((PIECE / row).max(1) * row)];
                self.bytes(start, bytes)?;
                self.sums.add(bytes, row);
                values.extend(bytes.as_chunks().0.iter().map(|x| f64::from_le_bytes(*x)));
                (start, left) = (start + bytes.len() as u64, left - bytes.len());
            }
            if self.is_at_end() {
                self.sums.close();
            }
            let known = &self.description.sums[..self.sums.sums.len()];
            if let Some(leaf) = known.iter().zip(&self.sums.sums).position(|(a, b)| a != b) {
                return Err(damaged_leaf(&self.file, leaf, &self.description));
            }
            self.read = Some(values);
        }
        Ok(self.read.as_deref().unwrap_or_default())
    }

    /// The codes of a column of texts.
    fn codes(&mut self, beside: usize) -> Result<Vec<u32>, ReadError> {
        let mut bytes = vec![0; 4 * self.rows];
        let start = self.description.start_of(beside) + 4 * self.first as u64;
        self.bytes(start, &mut bytes)?;
        let codes: Vec<u32> = bytes.as_chunks().0.iter().map(|x| u32::from_le_bytes(*x)).collect();
        let texts = self.description.beside[beside].texts.as_ref().map_or(0, Vec::len);
        if codes.iter().all(|&code| (code as usize) < texts) {
            Ok(codes)
        } else {
            Err(ReadError::damaged(&self.file, "its texts have other numbers"))
        }
    }

    /// Which column beside the rows a column is.
    fn beside(&self, column: usize) -> Option<usize> {
        column.checked_sub(self.description.features.len())
    }

    /// The texts of a column beside the rows, if it has some.
    fn texts(&self, column: usize) -> Option<&[String]> {
        self.description.beside[self.beside(column)?].texts.as_deref()
    }

    /// Refuses columns beside the rows that are not what they were.
    fn check_beside(&mut self) -> Result<(), ReadError> {
        let start = self.description.start_of(0);
        let end = self.description.start_of(self.description.beside.len());
        let (mut sum, mut piece) = (Checksum::default(), vec![0; PIECE]);
        let mut at = start;
        while at < end {
            let bytes = &mut piece[..PIECE.min((end - at) as usize)];
            self.bytes(at, bytes)?;
            sum.add(bytes);
            at += bytes.len() as u64;
        }
        if sum.value() == self.description.sum_beside {
            return Ok(());
        }
        Err(ReadError::damaged(&self.file, "the columns beside its rows are not what they were"))
    }

    /// A text that should have been a number.
    fn number(&self, text: &str, row: usize, column: usize) -> Result<f64, ReadError> {
        if text.is_empty() {
            return Ok(f64::NAN);
        }
        text.parse().map_err(|_| ReadError::NotANumber {
            place: Place {
                file: self.file.clone(),
                line: self.first + row + 1,
                column: column + 1,
                name: Some(self.names[column].clone()),
                by_row: true,
            },
            text: text.to_owned(),
        })
    }
}

/// Rows that are not what they were.
fn damaged_leaf(file: &str, leaf: usize, description: &Description) -> ReadError {
    let first = leaf * checksum::LEAF_ROWS;
    let last = description.rows.min(first + checksum::LEAF_ROWS);
    let reason = format!("rows {} to {last} are not what was written", first + 1);
    ReadError::damaged(file, &reason)
}

impl ColumnSource for RowFile<'_> {
    fn file(&self) -> &str {
        &self.file
    }

    fn names(&self) -> &[String] {
        &self.names
    }

    fn named(&self) -> bool {
        true
    }

    fn rows(&self) -> usize {
        self.rows
    }

    fn rows_before(&self) -> usize {
        self.first
    }

    fn check_size(&self, columns: usize) -> Result<(), ReadError> {
        let bytes = 8 * self.rows.saturating_mul(columns) as u64;
        let Some((needed, free)) = self.limits.lacking(bytes, 0) else { return Ok(()) };
        let reason = format!(
            "is a file of rows that are copied here, in about {} of memory, and {} are there for it",
            in_words(needed),
            in_words(free)
        );
        let advice = "take all of its features, allow a larger address space (`ulimit -v`) so that \
            it can be read where it is, or more memory by `--max-memory`";
        Err(ReadError::too_large(self.file.clone(), reason, advice))
    }

    fn numbers(&mut self, column: usize) -> Result<Vec<f64>, ReadError> {
        let Some(beside) = self.beside(column) else {
            let width = self.description.width();
            let features = self.features()?;
            return Ok(features.iter().skip(column).step_by(width).copied().collect());
        };
        if self.first == 0 {
            self.check_beside()?;
        }
        if self.texts(column).is_some() {
            let codes = self.codes(beside)?;
            let text = |code: u32| self.texts(column).unwrap_or_default()[code as usize].as_str();
            let number = |(row, &code): (usize, &u32)| self.number(text(code), row, column);
            return codes.iter().enumerate().map(number).collect();
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(8 * self.rows).map_err(|_| out_of_memory(&self.file))?;
        bytes.resize(8 * self.rows, 0);
        let start = self.description.start_of(beside) + 8 * self.first as u64;
        self.bytes(start, &mut bytes)?;
        Ok(bytes.as_chunks().0.iter().map(|x| f64::from_le_bytes(*x)).collect())
    }

    fn keys(&mut self, column: usize, keys: &mut KeyColumn) -> Result<(), ReadError> {
        let (Some(beside), Some(count)) = (self.beside(column), self.texts(column).map(<[_]>::len))
        else {
            let mut text = String::new();
            for value in self.numbers(column)? {
                if value.is_nan() {
                    keys.push_missing();
                } else {
                    text.clear();
                    push_number(&mut text, value);
                    keys.push(&text);
                }
            }
            return Ok(());
        };
        if self.first == 0 {
            self.check_beside()?;
        }
        let codes = self.codes(beside)?;
        let texts = self.texts(column).unwrap_or_default();
        // Numbered anew, in the order in which these rows have them.
        let mut known = vec![None; if count <= codes.len() { count } else { 0 }];
        for code in codes {
            let text = texts[code as usize].as_str();
            match known.get_mut(code as usize) {
                _ if text.is_empty() => keys.push_missing(),
                None => keys.push(text),
                Some(known) => {
                    let own = *known.get_or_insert_with(|| keys.code(text));
                    keys.push_code(own);
                }
            }
        }
        Ok(())
    }

    fn days(&mut self, column: usize) -> Result<Option<Vec<String>>, ReadError> {
        if self.texts(column).is_none_or(|texts| Dates::parse(texts).is_err()) {
            return Ok(None);
        }
        let codes = self.codes(column - self.description.features.len())?;
        let texts = self.texts(column).unwrap_or_default();
        Ok(Some(codes.iter().map(|&code| texts[code as usize].clone()).collect()))
    }

    fn notes(&self) -> Vec<String> {
        let Description { source, sorted_by, .. } = &self.description;
        let sorted =
            sorted_by.as_ref().map_or(String::new(), |name| format!(", sorted by '{name}'"));
        vec![format!("The rows are those of {source}{sorted}.")]
    }

    fn take(&mut self, columns: &[usize]) -> Result<Option<Vec<f64>>, ReadError> {
        if columns.iter().any(|&column| self.beside(column).is_some()) {
            return Ok(None);
        }
        self.features()?;
        let width = self.description.width();
        Ok(self.read.take().map(|values| narrowed(values, width, columns)))
    }
}

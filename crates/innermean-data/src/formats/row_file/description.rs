//! What stands behind the rows: names, columns beside them, sums.

use std::io::{self, SeekFrom};

use serde_json::{Value, json};

use super::checksum::{Checksum, LEAF_ROWS};
use crate::error::ReadError;
use crate::source::{ReadSeek, unreadable};

/// How the file ends.
const MAGIC: &[u8; 16] = b"innermean rows 1";
/// The length of the description and its sum, and the magic bytes.
const TAIL: u64 = 32;
/// The header of the array, its numbers beginning behind it.
pub(crate) const HEADER: u64 = 128;
/// A description has the names of all groups.
const LONGEST: u64 = 1 << 32;

/// What a file of rows holds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Description {
    pub(crate) rows: usize,
    pub(crate) features: Vec<String>,
    /// Behind the features of each row is a 1.
    pub(crate) ones: bool,
    /// The table that the rows come from.
    pub(crate) source: String,
    /// The column of texts by which rows are sorted.
    pub(crate) sorted_by: Option<String>,
    pub(crate) beside: Vec<Beside>,
    /// Of leaves of rows, and of all columns beside them.
    pub(crate) sums: Vec<u64>,
    pub(crate) sum_beside: u64,
}

/// A column that is no feature.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Beside {
    pub(crate) name: String,
    /// The different texts, if it is one of texts.
    pub(crate) texts: Option<Vec<String>>,
}

impl Description {
    /// Numbers in a row.
    pub(crate) fn width(&self) -> usize {
        self.features.len() + usize::from(self.ones)
    }

    /// Where the column beside the rows begins, from 0; of one more than there are, where the
    /// description does.
    pub(crate) fn start_of(&self, beside: usize) -> u64 {
        let rows = self.rows as u64;
        let bytes = |column: &Beside| match column.texts {
            None => 8 * rows,
            Some(_) => (4 * rows).next_multiple_of(8),
        };
        HEADER
            + 8 * rows * self.width() as u64
            + self.beside[..beside].iter().map(bytes).sum::<u64>()
    }

    /// The end of the file.
    pub(crate) fn tail(&self) -> Vec<u8> {
        let hex = |sum: &u64| format!("{sum:016x}");
        let beside = |column: &Beside| match &column.texts {
            None => json!({ "name": column.name }),
            Some(texts) => json!({ "name": column.name, "texts": texts }),
        };
        let text = json!({
            "rows": self.rows,
            "features": self.features,
            "ones": self.ones,
            "source": self.source,
            "sorted_by": self.sorted_by,
            "beside": self.beside.iter().map(beside).collect::<Vec<_>>(),
            "leaf_rows": LEAF_ROWS,
            "sums": self.sums.iter().map(hex).collect::<Vec<_>>(),
            "sum_beside": hex(&self.sum_beside),
        })
        .to_string();
        let mut bytes = text.into_bytes();
        let (length, sum) = (bytes.len() as u64, Checksum::of(&bytes));
        bytes.extend(length.to_le_bytes());
        bytes.extend(sum.to_le_bytes());
        bytes.extend(MAGIC);
        bytes
    }

    /// The description of a file of rows; `None` of any other file, which is left where it was.
    pub(crate) fn find(input: &mut dyn ReadSeek, file: &str) -> Result<Option<Self>, ReadError> {
        let Ok(here) = input.stream_position() else { return Ok(None) };
        let mut tail = [0; TAIL as usize];
        let is_there = input
            .seek(SeekFrom::End(-TAIL.cast_signed()))
            .and_then(|at| input.read_exact(&mut tail).map(|()| at));
        let at = match is_there {
            Ok(at) if tail.ends_with(MAGIC) => at,
            _ => {
                return match input.seek(SeekFrom::Start(here)) {
                    Ok(_) => Ok(None),
                    Err(source) => Err(unreadable(file, source)),
                };
            }
        };
        let damaged = || ReadError::damaged(file, "the description behind its rows does not fit");
        let word =
            |k: usize| tail[8 * k..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let (length, sum) = (word(0), word(1));
        if length > LONGEST.min(at) {
            return Err(damaged());
        }
        let mut text = vec![0; length as usize];
        let read = |input: &mut dyn ReadSeek, text: &mut [u8]| -> io::Result<()> {
            input.seek(SeekFrom::Start(at - length))?;
            input.read_exact(text)
        };
        read(input, &mut text).map_err(|source| unreadable(file, source))?;
        let parsed = || Self::parse(&serde_json::from_slice(&text).ok()?);
        let found = if Checksum::of(&text) == sum { parsed() } else { None };
        // Sizes are believed once they are those of the file.
        let fits = |found: &Self| {
            let numbers = (found.rows as u64).checked_mul(16 * found.width() as u64);
            numbers.is_some_and(|numbers| numbers / 2 <= at)
                && found.start_of(found.beside.len()) == at - length
                && found.sums.len() == found.rows.div_ceil(LEAF_ROWS)
        };
        found.filter(fits).map(Some).ok_or_else(damaged)
    }

    fn parse(value: &Value) -> Option<Self> {
        let texts = |value: &Value| -> Option<Vec<String>> {
            value.as_array()?.iter().map(|text| Some(text.as_str()?.to_owned())).collect()
        };
        let sum = |value: &Value| u64::from_str_radix(value.as_str()?, 16).ok();
        let column = |value: &Value| {
            let name = value["name"].as_str()?.to_owned();
            let own = match &value["texts"] {
                Value::Null => None,
                own => Some(texts(own)?),
            };
            Some(Beside { name, texts: own })
        };
        let found = Description {
            rows: usize::try_from(value["rows"].as_u64()?).ok()?,
            features: texts(&value["features"])?,
            ones: value["ones"].as_bool()?,
            source: value["source"].as_str()?.to_owned(),
            sorted_by: value["sorted_by"].as_str().map(str::to_owned),
            beside: value["beside"].as_array()?.iter().map(column).collect::<Option<_>>()?,
            sums: value["sums"].as_array()?.iter().map(sum).collect::<Option<_>>()?,
            sum_beside: sum(&value["sum_beside"])?,
        };
        let sound = found.rows > 0
            && !found.features.is_empty()
            && found.beside.len() < 1 << 20
            && found.features.len() < 1 << 40
            && value["leaf_rows"].as_u64() == Some(LEAF_ROWS as u64);
        sound.then_some(found)
    }
}

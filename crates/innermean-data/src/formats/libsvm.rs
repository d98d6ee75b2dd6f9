//! Sparse rows in the text format of LIBSVM: `label index:value index:value ...`, one row per line.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use crate::error::{Place, ReadError};
use crate::limits::{Budget, Limits, make_room};
use crate::source::Source;
use crate::tables::row_lines::RowLines;
use crate::text::Text;
use crate::text::line::Line;
use crate::text::number::plain_number;
use crate::write::file::{OutFile, WriteError};
use crate::write::table::push_number;

/// Rows with a label each, of which only the entries that are written are kept.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SparseTable {
    /// Where the table comes from, in words.
    pub source: String,
    /// One label per row.
    pub labels: Vec<f64>,
    /// The entries of row `i` are those from `indptr[i]` to `indptr[i + 1]`.
    pub indptr: Vec<usize>,
    /// The columns of the entries, from 0, rising within a row.
    pub indices: Vec<u32>,
    /// The values of the entries, all finite.
    pub values: Vec<f64>,
    /// The number of columns: one more than the largest index.
    pub d: usize,
    /// What the file calls the first column, 0 or 1: column `j` is the one of `j + first_index`
    /// there.
    pub first_index: u32,
    /// What the reader decided on its own and a careful user may want to know; whole sentences.
    pub notes: Vec<String>,
    lines: RowLines,
}

impl SparseTable {
    /// A table in memory, whose columns count from 1 in a file.
    ///
    /// # Panics
    ///
    /// If the parts do not fit together.
    pub fn new(
        source: impl Into<String>,
        labels: Vec<f64>,
        indptr: Vec<usize>,
        indices: Vec<u32>,
        values: Vec<f64>,
        d: usize,
    ) -> Self {
        assert_eq!(indptr.len(), labels.len() + 1, "one more place than rows");
        assert!(
            indptr.first() == Some(&0) && indptr.last() == Some(&values.len()),
            "places from 0 to the end"
        );
        assert!(indptr.is_sorted() && indices.len() == values.len(), "an index for each value");
        assert!(indices.iter().all(|&index| (index as usize) < d), "columns below d");
        let (notes, lines) = (Vec::new(), RowLines::default());
        Self {
            source: source.into(),
            labels,
            indptr,
            indices,
            values,
            d,
            first_index: 1,
            notes,
            lines,
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    /// The columns and values of row `i`.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let entries = self.indptr[i]..self.indptr[i + 1];
        (&self.indices[entries.clone()], &self.values[entries])
    }

    /// Leaves out the columns without an entry and numbers the others anew; the columns that they
    /// were, in order.
    pub fn leave_out_unused(&mut self) -> Vec<u32> {
        let mut used = self.indices.clone();
        used.sort_unstable();
        used.dedup();
        for index in &mut self.indices {
            *index = used.partition_point(|column| column < index) as u32;
        }
        self.d = used.len();
        used
    }

    /// Where row `row`, from 0, stands, for messages: `file, line 17`.
    pub fn place(&self, row: usize) -> String {
        format!("{}, line {}", self.source, self.lines.line(row))
    }

    /// Writes the table with indices from 1, replacing an older file once all is written.
    ///
    /// # Errors
    ///
    /// [`WriteError`] if the path cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), WriteError> {
        OutFile::check(path, &[])?.write(|out| self.write_to(out))
    }

    fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        let mut line = String::new();
        for (i, label) in self.labels.iter().enumerate() {
            line.clear();
            push_number(&mut line, *label);
            let (indices, values) = self.row(i);
            for (index, value) in indices.iter().zip(values) {
                let _ = write!(line, " {}:", u64::from(*index) + 1);
                push_number(&mut line, *value);
            }
            line.push('\n');
            out.write_all(line.as_bytes())?;
        }
        Ok(())
    }
}

/// Reads sparse rows: a label, then `index:value` apart by blanks, indices rising within a row.
///
/// Indices count from 1; if there is an index 0 in the file, they count from 0, and a note says so.
/// Blank lines are skipped, and `#` begins a remark. A query number `qid:7` is skipped, and a note
/// says so. The text may be packed by gzip.
///
/// # Errors
///
/// [`ReadError`], in one sentence with file, line and column (the column counts the label as 1).
pub fn read_libsvm(path: &Path) -> Result<SparseTable, ReadError> {
    Limits::default().read_libsvm(path)
}

impl Limits {
    /// [`read_libsvm`] within these limits.
    ///
    /// # Errors
    ///
    /// As [`read_libsvm`].
    pub fn read_libsvm(&self, path: &Path) -> Result<SparseTable, ReadError> {
        table_of(Source::open(path, *self)?)
    }

    /// [`looks_like_libsvm`] within these limits.
    ///
    /// # Errors
    ///
    /// As [`looks_like_libsvm`].
    pub fn looks_like_libsvm(&self, path: &Path) -> Result<bool, ReadError> {
        begins_as_libsvm(&mut Source::open(path, *self)?.text()?)
    }
}

/// [`read_libsvm`] from bytes; `name` stands for the file in messages.
///
/// # Errors
///
/// As [`read_libsvm`], but for those about opening a file.
pub fn parse_libsvm(bytes: &[u8], name: &str) -> Result<SparseTable, ReadError> {
    table_of(Source::of_bytes(bytes, name)?)
}

/// Whether a text file holds such rows: whether the second cell of its first row is an
/// `index:value` or a `qid:7`.
///
/// # Errors
///
/// [`ReadError`] if it cannot be read, or is no text.
pub fn looks_like_libsvm(path: &Path) -> Result<bool, ReadError> {
    Limits::default().looks_like_libsvm(path)
}

fn begins_as_libsvm(text: &mut Text<'_>) -> Result<bool, ReadError> {
    while let Some(line) = text.next_line()? {
        let bytes = line.text.as_bytes();
        let start = skip_blanks(bytes, 0);
        if is_end(bytes, start) {
            continue;
        }
        let second = skip_blanks(bytes, word_end(bytes, start));
        let entry = whole(bytes, second).is_some_and(|(_, end)| bytes.get(end) == Some(&b':'));
        return Ok(entry || bytes[second..].starts_with(b"qid:"));
    }
    Ok(false)
}

fn table_of(source: Source<'_>) -> Result<SparseTable, ReadError> {
    let file = source.file.clone();
    let mut text: Text<'_> = source.text()?;
    let mut reader = Reader {
        file: &file,
        table: SparseTable::default(),
        largest: None,
        zero: None,
        queries: 0,
    };
    reader.table.indptr.push(0);
    let (mut budget, mut pieces) = (Budget::default(), 0);
    while let Some(line) = text.next_line()? {
        reader.read_row(line)?;
        if text.pieces() != pieces {
            pieces = text.pieces();
            let SparseTable { labels, values, .. } = &reader.table;
            // A label and a place for each row, an index and a number for each entry.
            let held = 16 * labels.len() as u64 + 12 * values.len() as u64;
            budget.check(held, text.part(), text.limits(), &file)?;
        }
    }
    reader.finish()
}

struct Reader<'a> {
    file: &'a str,
    table: SparseTable,
    /// The largest index as written.
    largest: Option<u32>,
    /// The line of the first index 0.
    zero: Option<usize>,
    queries: usize,
}

impl Reader<'_> {
    fn read_row(&mut self, line: Line<'_>) -> Result<(), ReadError> {
        let bytes = line.text.as_bytes();
        let mut at = skip_blanks(bytes, 0);
        if is_end(bytes, at) {
            return Ok(());
        }
        let row = self.table.labels.len();
        let (label, after) = self.number(bytes, at, line, 1)?;
        // Entries have three characters, with the blank before them four.
        let most = bytes.len() / 4 + 1;
        make_room(&mut self.table.indices, most, self.file)?;
        make_room(&mut self.table.values, most, self.file)?;
        self.table.labels.push(label);
        at = skip_blanks(bytes, after);
        let mut before = None;
        let mut column = 1;
        while !is_end(bytes, at) {
            column += 1;
            let Some((index, colon)) =
                whole(bytes, at).filter(|&(_, end)| bytes.get(end) == Some(&b':'))
            else {
                if bytes[at..].starts_with(b"qid:") {
                    self.queries += 1;
                    at = skip_blanks(bytes, word_end(bytes, at));
                    continue;
                }
                return Err(self.refused(line, column, word(line.text, at)));
            };
            if before.is_some_and(|before| before >= index) {
                return Err(ReadError::UnsortedIndex {
                    place: self.place(line, column),
                    index,
                    before: before.unwrap_or(0),
                });
            }
            before = Some(index);
            if index == 0 && self.zero.is_none() {
                self.zero = Some(line.number);
            }
            self.largest = self.largest.max(Some(index));
            let (value, after) = self.number(bytes, colon + 1, line, column)?;
            self.table.indices.push(index);
            self.table.values.push(value);
            at = skip_blanks(bytes, after);
        }
        self.table.indptr.push(self.table.values.len());
        self.table.lines.push(row, line.number);
        Ok(())
    }

    /// A number that ends at a blank, with where it ends.
    #[inline]
    fn number(
        &self,
        bytes: &[u8],
        at: usize,
        line: Line<'_>,
        column: usize,
    ) -> Result<(f64, usize), ReadError> {
        if let Some((value, length)) = plain_number(&bytes[at..], b'.')
            && bytes.get(at + length).is_none_or(|&b| is_blank(b))
        {
            return Ok((value, at + length));
        }
        let end = word_end(bytes, at);
        let text = line.text.get(at..end).unwrap_or_default();
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok((value, end)),
            Ok(_) => {
                Err(ReadError::NotFinite { place: self.place(line, column), text: text.to_owned() })
            }
            Err(_) => Err(self.refused(line, column, word(line.text, at))),
        }
    }

    fn refused(&self, line: Line<'_>, column: usize, text: &str) -> ReadError {
        let (place, text) = (self.place(line, column), text.to_owned());
        if column == 1 {
            ReadError::NotALabel { place, text }
        } else {
            ReadError::NotAnEntry { place, text }
        }
    }

    fn place(&self, line: Line<'_>, column: usize) -> Place {
        Place { file: self.file.to_owned(), line: line.number, column, name: None, by_row: false }
    }

    fn finish(self) -> Result<SparseTable, ReadError> {
        let Self { file, mut table, largest, zero, queries } = self;
        if table.labels.is_empty() {
            let expected = "rows such as `1 3:0.5 7:-1`";
            return Err(ReadError::Empty { file: file.to_owned(), expected });
        }
        file.clone_into(&mut table.source);
        table.d = largest.map_or(0, |largest| largest as usize);
        if let Some(line) = zero {
            table
                .notes
                .push(format!("Indices count from 0, since there is an index 0 in line {line}."));
            table.d += 1;
        } else {
            table.first_index = 1;
            table.indices.iter_mut().for_each(|index| *index -= 1);
        }
        if queries > 0 {
            table.notes.push(format!("Skipped {queries} query numbers (qid)."));
        }
        Ok(table)
    }
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

fn skip_blanks(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && is_blank(bytes[at]) {
        at += 1;
    }
    at
}

/// The end of the line, or of what counts on it.
fn is_end(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_none_or(|&b| b == b'#')
}

fn word_end(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|&b| is_blank(b)).map_or(bytes.len(), |length| at + length)
}

/// The word around a place, for messages.
fn word(text: &str, at: usize) -> &str {
    let start =
        text.as_bytes()[..at].iter().rposition(|&b| is_blank(b)).map_or(0, |blank| blank + 1);
    text.get(start..word_end(text.as_bytes(), at)).unwrap_or(text)
}

/// A whole number below 2^32 - 1, with where it ends.
#[inline]
fn whole(bytes: &[u8], mut at: usize) -> Option<(u32, usize)> {
    let start = at;
    let mut number = 0_u64;
    while let Some(digit) = bytes.get(at).map(|b| b.wrapping_sub(b'0')).filter(|&digit| digit < 10)
    {
        number = (10 * number + u64::from(digit)).min(u64::from(u32::MAX));
        at += 1;
    }
    (at > start && number < u64::from(u32::MAX)).then_some((number as u32, at))
}

//! How large the parts of a file may be: a file that is damaged, or made for it, must not take the
//! machine's memory with it.

use std::cell::Cell;
use std::io::{self, Read};
use std::path::Path;
use std::rc::Rc;

use memchr::memchr_iter;

use crate::error::ReadError;
use crate::memory::{free_memory, in_words};
use crate::source::Source;
use crate::text::FirstRows;

/// What readers refuse, in a sentence that names the limit's flag. The defaults are beyond every
/// ordinary table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a line, and of a text that is read as a whole: 32 MiB.
    pub line: usize,
    /// Bytes of a text in a cell, and of a name: 64 KiB.
    pub cell: usize,
    /// Columns of a table: 200 000. Sparse rows have no such limit: columns that no row mentions
    /// cost nothing.
    pub columns: usize,
    /// How many times as large as the file what it unpacks to may be, beyond the first 16 MiB: 200.
    pub expansion: u64,
    /// Bytes that the numbers may take with a copy of them; `None` for what the machine has free,
    /// or 40 GiB where it does not tell.
    pub memory: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { line: 32 << 20, cell: 64 << 10, columns: 200_000, expansion: 200, memory: None }
    }
}

/// Bytes about which no limit asks.
pub(crate) const SMALL: u64 = 16 << 20;
/// What is read is in memory twice: as it was read, and as the problem keeps it.
const COPIES: u64 = 2;

/// Memory that is believed to be there where the system does not tell.
const UNTOLD: u64 = 40 << 30;

impl Limits {
    /// Refuses a line, or a text that is read as a whole, of this many bytes; `place` says which.
    #[inline]
    pub(crate) fn check_line(
        &self,
        bytes: usize,
        place: impl FnOnce() -> String,
    ) -> Result<(), ReadError> {
        if bytes <= self.line {
            return Ok(());
        }
        let reason = format!("is longer than {}", in_words(self.line as u64));
        let advice = "check its line ends, or allow longer lines by `--max-line`";
        Err(ReadError::too_large(place(), reason, advice))
    }

    /// Refuses a text of this many bytes in a cell; `place` says in which.
    #[inline]
    pub(crate) fn check_cell(
        &self,
        bytes: usize,
        place: impl FnOnce() -> String,
    ) -> Result<(), ReadError> {
        if bytes <= self.cell {
            return Ok(());
        }
        let reason = format!(
            "a text of {} is longer than {}",
            in_words(bytes as u64),
            in_words(self.cell as u64)
        );
        let advice = "check the quotes and delimiters, or allow longer ones by `--max-cell`";
        Err(ReadError::too_large(place(), reason, advice))
    }

    /// Refuses lines that some delimiter would cut into too many cells, before they are cut.
    pub(crate) fn check_cells(
        &self,
        samples: &[FirstRows<'_>],
        file: &str,
    ) -> Result<(), ReadError> {
        let lines = samples.iter().flat_map(|sample| &sample.rows);
        for line in lines.filter(|line| line.text.len() > self.columns) {
            let bytes = line.text.as_bytes();
            let blanks =
                bytes.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
            let cells = b",;\t|".iter().map(|&delimiter| memchr_iter(delimiter, bytes).count() + 1);
            let most = cells.max().unwrap_or(0).max(blanks);
            self.check_columns(most, &format!("{file}, line {}", line.number))?;
        }
        Ok(())
    }

    /// Refuses a table of too many columns.
    pub(crate) fn check_columns(&self, columns: usize, file: &str) -> Result<(), ReadError> {
        if columns <= self.columns {
            return Ok(());
        }
        let reason = format!("has {columns} columns, and a table has at most {}", self.columns);
        let advice =
            "rows come first, so it may have to be transposed; more are allowed by `--max-columns`";
        Err(ReadError::too_large(file.to_owned(), reason, advice))
    }

    /// Refuses what unpacks to too many bytes.
    pub(crate) fn check_expansion(
        &self,
        unpacked: u64,
        packed: u64,
        file: &str,
    ) -> Result<(), ReadError> {
        if unpacked <= SMALL.max(packed.saturating_mul(self.expansion)) {
            return Ok(());
        }
        let reason = format!("unpacks to more than {} times its size", self.expansion);
        let advice = "if it is to be trusted, unpack it, or allow more by `--max-expansion`";
        Err(ReadError::too_large(file.to_owned(), reason, advice))
    }

    /// Refuses this many numbers if they would not fit into memory.
    pub(crate) fn check_numbers(&self, numbers: usize, file: &str) -> Result<(), ReadError> {
        let bytes = (numbers as u64).saturating_mul(size_of::<f64>() as u64);
        self.lacking(bytes, 0).map_or(Ok(()), |(needed, free)| Err(no_room(file, needed, free)))
    }

    /// Whether the numbers of a file would not fit into memory, as far as its first bytes tell: what
    /// they would take, and what is there.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn lacking_for(&self, path: &Path) -> Result<Option<(u64, u64)>, ReadError> {
        let bytes = self.bytes_of(path)?;
        Ok(bytes.and_then(|bytes| self.lacking(bytes, 0)))
    }

    /// The bytes of the numbers of a file in memory, as far as its first bytes tell.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn bytes_of(&self, path: &Path) -> Result<Option<u64>, ReadError> {
        Source::open(path, *self)?.numbers_in_memory()
    }

    /// What this many bytes of numbers would take, and what is there, if that is less; `held` of
    /// them have been taken already. For whoever makes numbers rather than reads them, too.
    pub fn lacking(&self, bytes: u64, held: u64) -> Option<(u64, u64)> {
        if bytes <= self.unasked() {
            return None;
        }
        let needed = bytes.saturating_mul(COPIES);
        let told = || free_memory().map_or(UNTOLD, |free| free.saturating_add(held));
        let free = self.memory.unwrap_or_else(told);
        (needed > free).then_some((needed, free))
    }

    /// Bytes about which nobody asks, unless less is allowed.
    fn unasked(&self) -> u64 {
        self.memory.map_or(SMALL, |memory| SMALL.min(memory / COPIES))
    }
}

fn no_room(file: &str, needed: u64, free: u64) -> ReadError {
    let reason = format!(
        "would take about {} of memory, and {} are there for it",
        in_words(needed),
        in_words(free)
    );
    let advice = "read fewer columns or rows, make a file of rows of it by `innermean convert`, \
        or allow more by `--max-memory`";
    ReadError::too_large(file.to_owned(), reason, advice)
}

/// What the system refuses all the same.
pub(crate) fn out_of_memory(file: &str) -> ReadError {
    let reason = "does not fit into memory".to_owned();
    ReadError::too_large(file.to_owned(), reason, "read a part of its rows or columns")
}

/// Room for `more` numbers: doubled if the system allows it, else an eighth more.
#[inline]
pub(crate) fn make_room<T>(values: &mut Vec<T>, more: usize, file: &str) -> Result<(), ReadError> {
    if values.capacity() - values.len() >= more || values.try_reserve(more).is_ok() {
        return Ok(());
    }
    let eighth = more.max(values.len() / 8);
    values.try_reserve_exact(eighth).map_err(|_| out_of_memory(file))
}

/// Memory that grows while a text is read, compared with what is free: long before that is used up,
/// if the length of the file tells.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    /// What is held is looked at again from here on.
    next: u64,
}

impl Budget {
    /// `held` bytes have been taken for a part of the file, from 0 to 1; `None` if its length is
    /// not known.
    pub(crate) fn check(
        &mut self,
        held: u64,
        part: Option<f64>,
        limits: &Limits,
        file: &str,
    ) -> Result<(), ReadError> {
        /// An estimate may be so far off.
        const SLACK: f64 = 1.25;
        if held < self.next.max(limits.unasked()) {
            return Ok(());
        }
        self.next = held + held / 4;
        let whole = part.filter(|part| *part > 0.0).map_or(0.0, |part| held as f64 / part / SLACK);
        let lacking = limits.lacking(held.max(whole as u64), held);
        lacking.map_or(Ok(()), |(needed, free)| Err(no_room(file, needed, free)))
    }
}

/// Bytes that pass through are counted.
pub(crate) struct Counted<R> {
    input: R,
    count: Rc<Cell<u64>>,
}

impl<R> Counted<R> {
    pub(crate) fn new(input: R) -> (Self, Rc<Cell<u64>>) {
        let count = Rc::new(Cell::new(0));
        (Self { input, count: Rc::clone(&count) }, count)
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(out)?;
        self.count.set(self.count.get() + read as u64);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_refuses_by_what_is_to_come() {
        let limits = Limits { memory: Some(100 << 20), ..Limits::default() };
        let check = |held: u64, part| Budget::default().check(held << 20, part, &limits, "file");
        assert!(check(15, Some(1e-6)).is_ok(), "little is never asked about");
        assert!(check(20, Some(0.5)).is_ok() && check(45, None).is_ok());
        for (held, part) in [(20, Some(0.1)), (51, None)] {
            let error = check(held, part).unwrap_err().to_string();
            assert!(
                error.contains("and 100 MiB are there for it") && error.contains("--max-memory"),
                "{error}"
            );
        }
        let little = Limits { memory: Some(4 << 20), ..Limits::default() };
        let check = |held: u64| Budget::default().check(held << 20, None, &little, "file");
        assert!(check(1).is_ok() && check(3).is_err(), "what is asked for holds, however little");
    }

    #[test]
    fn room_is_made_or_refused() {
        let mut values = vec![1.0_f64];
        make_room(&mut values, 1000, "file").unwrap();
        assert!(values.capacity() >= 1001);
        let error = make_room(&mut values, isize::MAX as usize / 8, "file").unwrap_err();
        assert_eq!(
            error.to_string(),
            "file: does not fit into memory; read a part of its rows or columns"
        );
    }
}

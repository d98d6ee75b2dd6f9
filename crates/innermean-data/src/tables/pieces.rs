//! A table that is handed over while it is read, some rows at a time.

use std::path::Path;

use crate::error::{Place, ReadError};
use crate::formats::row_file::RowFile;
use crate::limits::Limits;
use crate::source::{Content, Source};
use crate::tables::arrays::{ColumnSource, MatrixColumns, header_of, table_of};
use crate::tables::columns::{Chosen, Columns};
use crate::tables::frame::{Frame, assemble, frame_of, frame_of_text};
use crate::tables::missing::{Dropped, Missing};
use crate::tables::row_lines::RowLines;
use crate::tables::table::Table;

/// Where rows go, and what became of those before.
pub(crate) struct InPieces<'p> {
    /// How many at a time.
    pub(crate) rows: usize,
    hand: &'p mut dyn FnMut(Frame) -> Result<(), ReadError>,
    handed: usize,
    dropped: usize,
    gaps: FirstGap,
}

/// The first missing value of all, and how many there are.
#[derive(Debug, Default)]
pub(crate) struct FirstGap {
    first: Option<(Place, Option<String>, &'static str)>,
    count: usize,
}

impl FirstGap {
    /// Whether reading goes on, to count the others: an error that is no missing value ends it.
    pub(crate) fn remember(&mut self, error: ReadError) -> Result<(), ReadError> {
        let ReadError::Missing { place, text, count, advice } = error else { return Err(error) };
        self.first.get_or_insert((place, text, advice));
        self.count += count;
        Ok(())
    }

    /// Nothing was missing.
    pub(crate) fn refuse(self) -> Result<(), ReadError> {
        let count = self.count;
        self.first.map_or(Ok(()), |(place, text, advice)| {
            Err(ReadError::Missing { place, text, count, advice })
        })
    }
}

impl Limits {
    /// Reads a file as [`read_frame`](crate::read_frame) does and hands its rows over, at most
    /// `rows` at a time in the order of the file: the memory it takes does not grow with a text or
    /// an array of numpy that stands row after row. Where gaps are dropped, a piece may have fewer.
    /// What is returned has the names and notes, the number of rows, and none of their values.
    ///
    /// # Errors
    ///
    /// As [`read_frame`](crate::read_frame), what `hand` says, and if columns are to be dropped,
    /// for which all rows would have to be known.
    pub fn read_frame_in_pieces<E: From<ReadError>>(
        &self,
        path: &Path,
        columns: &Columns,
        missing: Missing,
        rows: usize,
        hand: &mut dyn FnMut(Frame) -> Result<(), E>,
    ) -> Result<Frame, E> {
        let source = Source::open(path, *self)?;
        if missing == Missing::DropColumns {
            let advice = "use `--missing drop-rows`, or leave columns out by name";
            let reason = "is read a few rows at a time, which does not tell what columns to drop";
            return Err(ReadError::unsuitable(&source.file, reason, advice).into());
        }
        let mut refused = None;
        let mut hand = |frame: Frame| {
            hand(frame).map_err(|error| {
                refused = Some(error);
                ReadError::damaged("", "")
            })
        };
        let gaps = FirstGap::default();
        let mut by = InPieces { rows, hand: &mut hand, handed: 0, dropped: 0, gaps };
        let read = by.read(source, columns, missing, self);
        read.map_err(|error| refused.unwrap_or_else(|| error.into()))
    }
}

impl InPieces<'_> {
    fn read(
        &mut self,
        source: Source<'_>,
        columns: &Columns,
        missing: Missing,
        limits: &Limits,
    ) -> Result<Frame, ReadError> {
        let file = source.file.clone();
        let source = match source.row_file()? {
            Ok(rows) => return self.read_row_file(rows, columns, missing),
            Err(source) => source,
        };
        let mut pieces = match source.array_in_pieces()? {
            Ok(pieces) => pieces,
            Err(source) => return self.read_other(source, columns, missing),
        };
        let mut source = MatrixColumns::new(pieces.next(self.rows)?, &file, None, limits)?;
        let chosen = columns.choose(header_of(&source))?;
        loop {
            let table = table_of(&mut source, &chosen)?;
            if pieces.done == pieces.rows {
                let mut frame = self.end(table, chosen, missing, &file, true)?;
                frame.note_names(&source);
                return Ok(frame);
            }
            let of_piece = Chosen { notes: Vec::new(), ..chosen.clone() };
            self.take(table, of_piece, missing, &file, true)?;
            let before = pieces.done;
            source.next_rows(pieces.next(self.rows)?, before);
        }
    }

    /// Of a file of rows that was converted.
    fn read_row_file(
        &mut self,
        mut rows: RowFile<'_>,
        columns: &Columns,
        missing: Missing,
    ) -> Result<Frame, ReadError> {
        let file = rows.file().to_owned();
        rows.in_pieces(self.rows);
        let chosen = columns.choose(header_of(&rows))?;
        loop {
            let table = table_of(&mut rows, &chosen)?;
            if rows.is_at_end() {
                let mut frame = self.end(table, chosen, missing, &file, true)?;
                frame.notes.extend(rows.notes());
                return Ok(frame);
            }
            let of_piece = Chosen { notes: Vec::new(), ..chosen.clone() };
            self.take(table, of_piece, missing, &file, true)?;
            rows.advance(self.rows);
        }
    }

    /// Of text, or of columns that are there as a whole.
    fn read_other(
        &mut self,
        source: Source<'_>,
        columns: &Columns,
        missing: Missing,
    ) -> Result<Frame, ReadError> {
        if source.is_text() {
            return match source.content()? {
                Content::Text(mut text) => frame_of_text(&mut text, columns, missing, Some(self)),
                Content::Columns(_) => unreachable!("it is a text"),
            };
        }
        let whole = frame_of(source, columns, missing)?;
        let without = |frame: &Frame| Frame {
            keys: Vec::new(),
            numbers: Vec::new(),
            features: Vec::new(),
            ..frame.clone()
        };
        let rest = without(&whole);
        (self.hand)(whole)?;
        Ok(rest)
    }

    /// Hands a piece over.
    pub(crate) fn take(
        &mut self,
        table: Table,
        chosen: Chosen,
        missing: Missing,
        file: &str,
        by_row: bool,
    ) -> Result<(), ReadError> {
        let all = table.rows;
        match assemble(table, chosen, missing, file) {
            Ok(mut frame) => {
                frame.by_row = by_row;
                self.dropped += frame.dropped.rows;
                self.handed += frame.rows;
                if self.gaps.count == 0 && frame.rows > 0 { (self.hand)(frame) } else { Ok(()) }
            }
            Err(ReadError::AllMissing { .. }) => {
                self.dropped += all;
                Ok(())
            }
            Err(error) => self.gaps.remember(error),
        }
    }

    /// The last piece, and what is said of all.
    pub(crate) fn end(
        &mut self,
        table: Table,
        chosen: Chosen,
        missing: Missing,
        file: &str,
        by_row: bool,
    ) -> Result<Frame, ReadError> {
        let mut notes = chosen.notes.clone();
        notes.extend(table.notes.iter().cloned());
        let (feature_names, columns) = (chosen.features.clone(), chosen.columns.clone());
        let (all, last) = (table.rows, table.lines.last);
        let of_piece = Chosen { notes: Vec::new(), ..chosen };
        if all > 0 {
            self.take(Table { notes: Vec::new(), ..table }, of_piece, missing, file, by_row)?;
        }
        std::mem::take(&mut self.gaps).refuse()?;
        let file = file.to_owned();
        if self.handed == 0 && self.dropped > 0 {
            let advice = "fill the gaps in the file";
            let count = self.dropped;
            return Err(ReadError::AllMissing { file, count, what: "rows", advice });
        }
        if self.handed == 0 {
            return Err(ReadError::NoData { file, line: last, expected: "at least one row" });
        }
        Ok(Frame {
            source: file,
            rows: self.handed,
            keys: Vec::new(),
            numbers: Vec::new(),
            feature_names,
            features: Vec::new(),
            columns,
            dropped: Dropped { rows: self.dropped, columns: Vec::new() },
            notes,
            lines: RowLines::default(),
            by_row,
        })
    }
}

//! A table of any columns: keys, numbers and a matrix of features, chosen by name.

use std::path::Path;

use crate::error::ReadError;
use crate::limits::Limits;
use crate::source::{Content, Source};
use crate::tables::arrays::{ColumnSource, header_of, table_of};
use crate::tables::columns::{Chosen, Columns, Header, refuse_repeated};
use crate::tables::frame_layout::detect;
use crate::tables::keys::{KeyColumn, Keys};
use crate::tables::layout::SAMPLE;
use crate::tables::missing::{Dropped, Missing};
use crate::tables::pieces::InPieces;
use crate::tables::row_lines::RowLines;
use crate::tables::rows::{Pieces, read_table};
use crate::tables::table::{Role, Table};
use crate::text::Text;

/// The columns of a file that were asked for. No key is missing, and every number is finite.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Where the table comes from, in words: the file's name, or the generator and its seed.
    pub source: String,
    /// The number of rows, at least one.
    pub rows: usize,
    /// For each of [`Columns::keys`], the column, or `None` if it is optional and not there.
    pub keys: Vec<Option<Keys>>,
    /// For each of [`Columns::numbers`], the column, or `None` if it is optional and not there.
    pub numbers: Vec<Option<Vec<f64>>>,
    /// One name per feature, in the order of the file.
    pub feature_names: Vec<String>,
    /// Row after row: feature `k` of row `i` is `features[i * feature_names.len() + k]`.
    pub features: Vec<f64>,
    /// The names of all columns of the file, asked for or not.
    pub columns: Vec<String>,
    /// What was left out because of missing values.
    pub dropped: Dropped,
    /// What the reader decided on its own and a careful user may want to know; whole sentences.
    pub notes: Vec<String>,
    pub(crate) lines: RowLines,
    /// The file has no lines, only rows.
    pub(crate) by_row: bool,
}

impl Frame {
    /// Where row `row`, from 0, stands, for messages: `file, line 17`, or `file, row 17` where
    /// there are no lines.
    pub fn place(&self, row: usize) -> String {
        let (unit, number) = self.line(row);
        format!("{}, {unit} {number}", self.source)
    }

    /// The number of row `row` in the file, from 1, and what is counted: `line`, or `row` where
    /// there are no lines.
    pub fn line(&self, row: usize) -> (&'static str, usize) {
        (if self.by_row { "row" } else { "line" }, self.lines.line(row))
    }

    /// The features of row `row`.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn row(&self, row: usize) -> &[f64] {
        let d = self.feature_names.len();
        &self.features[row * d..(row + 1) * d]
    }
}

/// Reads the columns that `columns` names from a file.
///
/// - Cells are separated by commas, semicolons, tabs, pipes or blanks, and may be quoted; a quoted
///   cell may hold line ends. Blank lines and lines that begin with `#` are skipped. The text may
///   be packed by gzip.
/// - A header is optional. Without one, columns are called `c1`, `c2`, ...
/// - Numbers may have decimal commas if the comma does not delimit; `true` and `false` are 1 and 0.
/// - Missing numbers are empty cells, `NA`, `N/A`, `NaN`, `null`, `None`, `.` and `-`; missing keys
///   are empty cells and `NA`, `N/A`, `NaN`, `null` without quotes. `missing` says what to do with
///   them: only features can be dropped by the column.
/// - Arrays of numpy (`.npy`) have columns `c1`, `c2`, ...; of several in an `.npz` of equally many
///   rows, a vector is a column of its name, and a matrix `X` gives columns `X1`, `X2`, ...;
///   `file.npz:X` is one of them. NaN is a missing value.
/// - Columns that are not asked for are not looked at.
///
/// # Errors
///
/// [`ReadError`], in one sentence with file, line and column: a column that is not there, a row of
/// another length, text where a number should be, an infinity, missing values.
pub fn read_frame(path: &Path, columns: &Columns, missing: Missing) -> Result<Frame, ReadError> {
    Limits::default().read_frame(path, columns, missing)
}

impl Limits {
    /// [`read_frame`] within these limits.
    ///
    /// # Errors
    ///
    /// As [`read_frame`].
    pub fn read_frame(
        &self,
        path: &Path,
        columns: &Columns,
        missing: Missing,
    ) -> Result<Frame, ReadError> {
        frame_of(Source::open(path, *self)?, columns, missing)
    }

    /// The names of the columns of a file that holds arrays or typed columns; none of a text, whose
    /// header is found by the columns that are asked for.
    ///
    /// # Errors
    ///
    /// As [`read_frame`].
    pub fn column_names(&self, path: &Path) -> Result<Option<Vec<String>>, ReadError> {
        let source = Source::open(path, *self)?;
        if source.is_text() {
            return Ok(None);
        }
        match source.content()? {
            Content::Text(_) => Ok(None),
            Content::Columns(source) => Ok(Some(source.names().to_vec())),
        }
    }
}

/// [`read_frame`] from bytes; `name` stands for the file in messages and in [`Frame::source`].
///
/// # Errors
///
/// As [`read_frame`], but for those about opening a file.
pub fn parse_frame(
    bytes: &[u8],
    name: &str,
    columns: &Columns,
    missing: Missing,
) -> Result<Frame, ReadError> {
    frame_of(Source::of_bytes(bytes, name)?, columns, missing)
}

pub(crate) fn frame_of(
    source: Source<'_>,
    columns: &Columns,
    missing: Missing,
) -> Result<Frame, ReadError> {
    match source.content()? {
        Content::Text(mut text) => frame_of_text(&mut text, columns, missing, None),
        Content::Columns(mut source) => {
            refuse_repeated(source.names(), None, source.file())?;
            let chosen = columns.choose(header_of(&*source))?;
            let table = table_of(&mut *source, &chosen)?;
            let mut frame = assemble(table, chosen, missing, source.file())?;
            frame.by_row = true;
            frame.notes.extend(source.notes());
            frame.note_names(&*source);
            Ok(frame)
        }
    }
}

pub(crate) fn frame_of_text(
    text: &mut Text<'_>,
    columns: &Columns,
    missing: Missing,
    by: Option<&mut InPieces<'_>>,
) -> Result<Frame, ReadError> {
    let file = text.file().to_owned();
    let limits = *text.limits();
    let samples = text.first_rows(SAMPLE)?;
    limits.check_cells(&samples, &file)?;
    let mut found = detect(&samples, columns, &file)?;
    let header = Header {
        file: &file,
        names: &found.layout.names,
        named: found.layout.header.is_some(),
        labels: found.counts.then_some(0),
    };
    found.layout.check_names(&limits, &file)?;
    refuse_repeated(&found.layout.names, found.layout.header, &file)?;
    let mut chosen = columns.choose(header)?;
    let is_number = |j: usize| {
        let numbers = [Role::Value, Role::Other];
        chosen.roles.get(j).is_some_and(|role| {
            matches!(role, Role::Number(_) | Role::NumberOrNan(_)) || numbers.contains(role)
        })
    };
    found.find_decimal_mark(&samples, is_number);
    let mut layout = found.layout;
    let keys: Vec<&str> = chosen.keys.iter().flatten().map(|&j| layout.names[j].as_str()).collect();
    let numbers = chosen.numbers.iter().flatten().count();
    layout.notes.append(&mut chosen.notes);
    chosen.notes = std::mem::take(&mut layout.notes);
    if let Some(by) = by {
        let by_rows = by.rows;
        let of_piece = Chosen { notes: Vec::new(), ..chosen.clone() };
        let mut take = |table: Table| by.take(table, of_piece.clone(), missing, &file, false);
        let pieces = Pieces { rows: by_rows, take: &mut take };
        let last = read_table(text, &layout, &chosen.roles, &keys, numbers, Some(pieces))?;
        return by.end(last, chosen, missing, &file, false);
    }
    let table = read_table(text, &layout, &chosen.roles, &keys, numbers, None)?;
    if table.rows == 0 {
        let line = layout.header.unwrap_or(layout.first_row);
        return Err(ReadError::NoData { file, line, expected: "at least one row" });
    }
    assemble(table, chosen, missing, &file)
}

impl Frame {
    /// Says what columns without names are called.
    pub(crate) fn note_names(&mut self, source: &dyn ColumnSource) {
        if !source.named() {
            self.notes.insert(0, note_of_numbered(source.names()));
        }
    }
}

/// The table without what is missing.
pub(crate) fn assemble(
    mut table: Table,
    mut chosen: Chosen,
    missing: Missing,
    file: &str,
) -> Result<Frame, ReadError> {
    let numbers = chosen.numbers.iter().flatten();
    table.blank = numbers.map(|&j| matches!(chosen.roles[j], Role::NumberOrNan(_))).collect();
    let dropped = drop_missing(&mut table, &mut chosen.features, missing, file)?;
    // Vectors grow by doubling; the table may live as long as the program.
    table.values.shrink_to_fit();
    let mut notes = chosen.notes;
    notes.extend(table.notes);
    let mut key_columns = table.keys.into_iter().map(KeyColumn::finish);
    let mut number_columns = table.numbers.into_iter();
    Ok(Frame {
        source: file.to_owned(),
        rows: table.rows,
        keys: chosen.keys.iter().map(|there| there.and_then(|_| key_columns.next())).collect(),
        numbers: chosen
            .numbers
            .iter()
            .map(|there| there.and_then(|_| number_columns.next()))
            .collect(),
        feature_names: chosen.features,
        columns: chosen.columns,
        features: table.values,
        dropped,
        notes,
        lines: table.lines,
        by_row: false,
    })
}

/// What columns without names are called.
pub(crate) fn note_of_numbered(names: &[String]) -> String {
    format!("The columns have no names and are called {}.", numbered(names))
}

/// `c1 to c5`.
fn numbered(names: &[String]) -> String {
    match names {
        [one] => one.clone(),
        _ => format!("c1 to c{}", names.len()),
    }
}

fn drop_missing(
    table: &mut Table,
    features: &mut Vec<String>,
    missing: Missing,
    file: &str,
) -> Result<Dropped, ReadError> {
    let mut dropped = Dropped::default();
    let count = table.gaps.count + table.needed_gaps.count;
    if count == 0 {
        return Ok(dropped);
    }
    let file = || file.to_owned();
    match missing {
        Missing::Keep => {}
        Missing::Error => {
            // A column that is needed cannot be left out.
            let advice = if table.needed_gaps.count > 0 {
                "use `--missing drop-rows` to leave such rows out"
            } else {
                "use `--missing drop-rows` or `--missing drop-columns` to leave them out"
            };
            // The first of both kinds is the one further up.
            let first = [table.needed_gaps.first.take(), table.gaps.first.take()];
            let first =
                first.into_iter().flatten().min_by_key(|(place, _)| (place.line, place.column));
            if let Some((place, text)) = first {
                return Err(ReadError::Missing { place, text: Some(text), count, advice });
            }
        }
        Missing::DropRows => {
            let all = table.rows;
            dropped.rows = table.drop_rows();
            if table.rows == 0 {
                let advice = "try `--missing drop-columns`, or fill the gaps in the file";
                return Err(ReadError::AllMissing {
                    file: file(),
                    count: all,
                    what: "rows",
                    advice,
                });
            }
        }
        Missing::DropColumns => {
            if let Some((place, text)) = table.needed_gaps.first.take() {
                let count = table.needed_gaps.count;
                let advice = "its column is needed, so use `--missing drop-rows` or fill the gaps \
                    in the file";
                return Err(ReadError::Missing { place, text: Some(text), count, advice });
            }
            let all = features.len();
            dropped.columns = table.drop_columns(features);
            if features.is_empty() {
                let advice = "try `--missing drop-rows`, or fill the gaps in the file";
                return Err(ReadError::AllMissing {
                    file: file(),
                    count: all,
                    what: "features",
                    advice,
                });
            }
        }
    }
    Ok(dropped)
}

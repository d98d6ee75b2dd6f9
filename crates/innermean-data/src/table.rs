//! The rows of a table: from text straight into one vector of numbers.

use crate::cell::{Meaning, is_date, is_missing_code, meaning, plain_number};
use crate::error::{Place, ReadError};
use crate::layout::Layout;
use crate::line::{Cells, Line, Lines};

/// The rows as they stand in the file; a missing value is NaN.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) values: Vec<f64>,
    pub(crate) labels: Vec<String>,
    pub(crate) rows: usize,
    pub(crate) last_line: usize,
    /// The first missing value and the text it was written as.
    pub(crate) first_missing: Option<(Place, String)>,
    pub(crate) missing: usize,
    /// Whether all values carry a percent sign.
    pub(crate) percent: bool,
    pub(crate) notes: Vec<String>,
}

struct Reader<'a> {
    file: &'a str,
    layout: &'a Layout,
    table: Table,
    /// Whether the first value has a percent sign; all others must follow.
    percent: Option<bool>,
}

/// Reads all rows of the table that `layout` describes.
pub(crate) fn read_table(text: &str, layout: &Layout, file: &str) -> Result<Table, ReadError> {
    let table = Table {
        // A short number and its delimiter take about five bytes.
        values: Vec::with_capacity(text.len() / 6),
        labels: Vec::new(),
        rows: 0,
        last_line: layout.first_row,
        first_missing: None,
        missing: 0,
        percent: false,
        notes: Vec::new(),
    };
    let mut reader = Reader { file, layout, table, percent: None };
    let mut lines = Lines::of(without_empty_rows(text, layout));
    let mut after_blank = false;
    while let Some(line) = lines.next() {
        if line.number < layout.first_row || line.is_comment() {
            continue;
        }
        if line.is_blank() {
            after_blank = true;
            continue;
        }
        if reader.table.rows > 0 && reader.ends_before(line, after_blank) {
            reader.note_end(line, lines);
            break;
        }
        after_blank = false;
        reader.read_row(line)?;
    }
    reader.table.percent = reader.percent == Some(true);
    Ok(reader.table)
}

/// The text without lines of nothing but delimiters at its end, as spreadsheets write below a table.
fn without_empty_rows<'a>(text: &'a str, layout: &Layout) -> &'a str {
    let is_empty = |c: char| c.is_ascii_whitespace() || (c.is_ascii() && layout.delimiter.is_at(c as u8));
    let last = text.trim_end_matches(is_empty).len();
    // The last row itself may end in empty cells.
    text[last..].find(['\n', '\r']).map_or(text, |end| &text[..last + end])
}

fn is_copyright(line: Line<'_>) -> bool {
    line.text.trim_ascii_start().get(..9).is_some_and(|start| start.eq_ignore_ascii_case("copyright"))
}

impl Reader<'_> {
    /// Whether a line is a title, a header or a remark below the table: it begins with text, or with nothing, and few
    /// of its cells are numbers. Without a blank line before it, it may as well be a broken row; it is not if it claims
    /// copyright, or if there is prose in the file anyway and it has not as many cells as a row.
    fn ends_before(&self, line: Line<'_>, after_blank: bool) -> bool {
        if !after_blank && !self.layout.preamble && !is_copyright(line) {
            return false;
        }
        let cells = self.layout.delimiter.cells(line.text);
        if !after_blank && cells.len() == self.layout.fields {
            return false;
        }
        let is_number = |text: &str| meaning(text, self.layout.decimal).is_number() || is_date(text);
        let begins_with_text = cells.first().is_none_or(|cell| {
            cell.text.is_empty()
                || (meaning(&cell.text, self.layout.decimal) == Meaning::Text && !is_date(&cell.text))
        });
        let numbers = cells.iter().filter(|cell| is_number(&cell.text)).count();
        begins_with_text && 2 * numbers < cells.len().max(1)
    }

    fn note_end(&mut self, line: Line<'_>, rest: Lines<'_>) {
        let is_row = |l: Line<'_>| {
            let cells = self.layout.delimiter.cells(l.text);
            cells.len() > 1
                && cells.iter().all(|cell| meaning(&cell.text, self.layout.decimal) != Meaning::Text)
        };
        let further = rest.into_iter().any(|l| !l.is_blank() && !l.is_comment() && is_row(l));
        self.table.notes.push(if further {
            format!("Used the first table only; further tables from line {} on were ignored.", line.number)
        } else {
            format!("Ignored the text below the table, from line {} on.", line.number)
        });
    }

    fn read_row(&mut self, line: Line<'_>) -> Result<(), ReadError> {
        let layout = self.layout;
        let text = if layout.trailing { layout.delimiter.without_trailing(line.text) } else { line.text };
        let mut cells = Cells::of(text, layout.delimiter);
        let mut found = 0;
        if layout.index_column
            && let Some(cell) = cells.next()
        {
            if cell.unclosed {
                return Err(ReadError::UnclosedQuote {
                    place: self.place(line, 0),
                    text: cell.text.into_owned(),
                });
            }
            self.table.labels.push(cell.text.into_owned());
            found = 1;
        }
        while let Some(rest) = cells.rest() {
            if found == layout.fields {
                return Err(self.ragged(line, found + cells.count()));
            }
            let value = match self.plain(rest) {
                Some((value, length)) => {
                    cells.skip_cell(length);
                    value
                }
                None => match cells.next() {
                    Some(cell) if cell.unclosed => {
                        let text = cell.text.into_owned();
                        return Err(ReadError::UnclosedQuote { place: self.place(line, found), text });
                    }
                    // The number of cells is what to complain about first.
                    Some(cell) => match self.value(&cell.text, line, found) {
                        Ok(value) => value,
                        Err(error) => {
                            let all = found + 1 + cells.count();
                            return Err(if all == layout.fields { error } else { self.ragged(line, all) });
                        }
                    },
                    None => break,
                },
            };
            self.table.values.push(value);
            found += 1;
        }
        if found != layout.fields {
            return Err(self.ragged(line, found));
        }
        self.table.rows += 1;
        self.table.last_line = line.number;
        Ok(())
    }

    /// The common case: a plain number that fills the cell, with its length; no percent sign, no missing value.
    #[inline]
    fn plain(&self, rest: &[u8]) -> Option<(f64, usize)> {
        let delimiter = self.layout.delimiter;
        let start = rest.iter().take_while(|&&b| delimiter.is_padding(b)).count();
        let (value, length) = plain_number(&rest[start..], self.layout.decimal)?;
        let mut end = start + length;
        while end < rest.len() && !delimiter.is_at(rest[end]) && delimiter.is_padding(rest[end]) {
            end += 1;
        }
        let fills = end == rest.len() || delimiter.is_at(rest[end]);
        (fills && !is_missing_code(value) && self.percent == Some(false)).then_some((value, end))
    }

    /// Any cell, read at leisure.
    fn value(&mut self, text: &str, line: Line<'_>, column: usize) -> Result<f64, ReadError> {
        let (value, percent) = match meaning(text, self.layout.decimal) {
            Meaning::Number(value) => (value, false),
            Meaning::Percent(value) => (value, true),
            Meaning::Missing => {
                if self.table.missing == 0 {
                    self.table.first_missing = Some((self.place(line, column), text.to_owned()));
                }
                self.table.missing += 1;
                return Ok(f64::NAN);
            }
            Meaning::Infinite => {
                return Err(ReadError::NotFinite { place: self.place(line, column), text: text.to_owned() });
            }
            Meaning::Text => {
                return Err(ReadError::NotANumber { place: self.place(line, column), text: text.to_owned() });
            }
        };
        if percent == *self.percent.get_or_insert(percent) {
            Ok(value)
        } else {
            Err(ReadError::MixedPercent { place: self.place(line, column), text: text.to_owned() })
        }
    }

    /// The cell `column`, from 0.
    fn place(&self, line: Line<'_>, column: usize) -> Place {
        let asset = column.checked_sub(usize::from(self.layout.index_column));
        let name =
            asset.filter(|_| self.layout.header.is_some()).and_then(|j| self.layout.names.get(j)).cloned();
        Place { file: self.file.to_owned(), line: line.number, column: column + 1, name }
    }

    fn ragged(&self, line: Line<'_>, found: usize) -> ReadError {
        ReadError::Ragged {
            file: self.file.to_owned(),
            line: line.number,
            found,
            expected: self.layout.fields,
            reference: self.layout.reference,
        }
    }
}

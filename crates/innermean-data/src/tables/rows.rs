//! The rows of a table: from text straight into vectors of numbers and texts.

use crate::error::{Place, ReadError};
use crate::limits::{Budget, Limits, make_room};
use crate::tables::keys::KeyColumn;
use crate::tables::layout::Layout;
use crate::tables::row_lines::RowLines;
use crate::tables::table::{Role, Table};
use crate::text::Text;
use crate::text::cell::{
    Manner, Meaning, general_meaning, is_date, is_missing_code, is_missing_key, meaning,
};
use crate::text::line::{Cells, Delimiter, Line};
use crate::text::number::plain_number;

struct Reader<'a> {
    file: &'a str,
    layout: &'a Layout,
    roles: &'a [Role],
    table: Table,
    /// Whether the first value has a percent sign; all others must follow.
    percent: Option<bool>,
    /// A comment stands among or below the rows.
    comments: usize,
    /// Rows that were handed over.
    handed: usize,
    limits: Limits,
}

/// Rows that are handed over while others are read, so many at a time.
pub(crate) struct Pieces<'p> {
    pub(crate) rows: usize,
    pub(crate) take: &'p mut dyn FnMut(Table) -> Result<(), ReadError>,
}

/// Reads all rows of the table that `layout` describes. `roles` has one role for each column,
/// `keys` the names of the text columns, and there are `numbers` columns of numbers beside the
/// matrix. With `pieces`, what is returned are the rows behind the last whole piece, and the notes
/// of all.
pub(crate) fn read_table(
    text: &mut Text<'_>,
    layout: &Layout,
    roles: &[Role],
    keys: &[&str],
    numbers: usize,
    mut pieces: Option<Pieces<'_>>,
) -> Result<Table, ReadError> {
    let file = text.file().to_owned();
    let table = Table {
        keys: keys.iter().map(|name| KeyColumn::new(name)).collect(),
        numbers: vec![Vec::new(); numbers],
        lines: RowLines::starting_at(layout.first_row),
        ..Table::default()
    };
    let percent = (layout.manner == Manner::General).then_some(false);
    let limits = *text.limits();
    let mut reader =
        Reader { file: &file, layout, roles, table, percent, comments: 0, handed: 0, limits };
    let (mut budget, mut looked) = (Budget::default(), 0);
    let mut after_blank = false;
    // Rows of nothing but delimiters: with nothing below them they are what spreadsheets write
    // under a table.
    let mut empty_rows: Vec<(usize, String)> = Vec::new();
    let mut empty_bytes = 0;
    let mut below = None;
    loop {
        if text.pieces() != looked {
            looked = text.pieces();
            // What is handed over does not grow with the file.
            let part = if pieces.is_some() { None } else { text.part() };
            budget.check(reader.table.bytes() + empty_bytes, part, &limits, &file)?;
        }
        let Some(line) = text.next_row(layout.delimiter)? else { break };
        if line.number < layout.first_row {
            continue;
        }
        if line.is_comment() {
            reader.comments += 1;
            continue;
        }
        if line.is_blank() {
            after_blank = true;
            continue;
        }
        if reader.is_empty_row(line) {
            empty_rows.push((line.number, line.text.to_owned()));
            empty_bytes += (size_of::<(usize, String)>() + line.text.len()) as u64;
            continue;
        }
        for (number, text) in empty_rows.drain(..) {
            reader.read_row(Line { number, text: &text })?;
        }
        if reader.handed + reader.table.rows > 0 && reader.ends_before(line, after_blank) {
            below = Some(line.number);
            break;
        }
        after_blank = false;
        reader.read_row(line)?;
        if let Some(pieces) = &mut pieces
            && reader.table.rows >= pieces.rows
        {
            (pieces.take)(reader.hand_over(keys))?;
        }
    }
    // What came with the last piece has not been looked at.
    Budget::default().check(reader.table.bytes(), None, &limits, &file)?;
    if let Some(number) = below {
        let mut further = false;
        while let Some(line) = text.next_row(layout.delimiter)? {
            further =
                further || (!line.is_blank() && !line.is_comment() && reader.is_numbers(line));
        }
        reader.note_end(number, further);
    }
    if layout.manner == Manner::General && reader.comments > 0 {
        reader.table.notes.push(match reader.comments {
            1 => "Skipped 1 line below the header that begins with '#'.".to_owned(),
            count => format!("Skipped {count} lines below the header that begin with '#'."),
        });
    }
    reader.table.percent = reader.percent == Some(true);
    Ok(reader.table)
}

fn is_copyright(line: Line<'_>) -> bool {
    line.text
        .trim_ascii_start()
        .get(..9)
        .is_some_and(|start| start.eq_ignore_ascii_case("copyright"))
}

impl Reader<'_> {
    /// The rows so far; those to come have a table of their own.
    fn hand_over(&mut self, keys: &[&str]) -> Table {
        let next = Table {
            keys: keys.iter().map(|name| KeyColumn::new(name)).collect(),
            numbers: vec![Vec::new(); self.table.numbers.len()],
            lines: RowLines::starting_at(self.table.lines.last),
            ..Table::default()
        };
        self.handed += self.table.rows;
        std::mem::replace(&mut self.table, next)
    }

    /// Whether a line has several cells and all are empty.
    fn is_empty_row(&self, line: Line<'_>) -> bool {
        let is_empty = |b: &u8| b.is_ascii_whitespace() || self.layout.delimiter.is_at(*b);
        let bytes = line.text.as_bytes();
        bytes.first().is_some_and(is_empty) && bytes.iter().all(is_empty)
    }

    /// Whether a line is a title, a header or a remark below the table: it begins with text, or
    /// with nothing, and few of its cells are numbers. Without a blank line before it, it may as
    /// well be a broken row; it is not if it claims copyright, or if there is prose in the file
    /// anyway and it has not as many cells as a row.
    fn ends_before(&self, line: Line<'_>, after_blank: bool) -> bool {
        if self.layout.manner == Manner::General
            || (!after_blank && !self.layout.preamble && !is_copyright(line))
        {
            return false;
        }
        // Line by line, not as a list: it may have any number of cells.
        let cells = || Cells::of(line.text, self.layout.delimiter);
        let count = cells().count();
        if !after_blank && count == self.layout.fields {
            return false;
        }
        let is_number =
            |text: &str| meaning(text, self.layout.decimal).is_number() || is_date(text);
        let begins_with_text = cells().next().is_none_or(|cell| {
            cell.text.is_empty()
                || (meaning(&cell.text, self.layout.decimal) == Meaning::Text
                    && !is_date(&cell.text))
        });
        let numbers = cells().filter(|cell| is_number(&cell.text)).count();
        begins_with_text && 2 * numbers < count.max(1)
    }

    /// Whether a line below the table could be a row of another.
    fn is_numbers(&self, line: Line<'_>) -> bool {
        let mut cells = Cells::of(line.text, self.layout.delimiter);
        cells.clone().nth(1).is_some()
            && cells.all(|cell| meaning(&cell.text, self.layout.decimal) != Meaning::Text)
    }

    fn note_end(&mut self, line: usize, further: bool) {
        self.table.notes.push(if further {
            format!("Used the first table only; further tables from line {line} on were ignored.")
        } else {
            format!("Ignored the text below the table, from line {line} on.")
        });
    }

    fn read_row(&mut self, line: Line<'_>) -> Result<(), ReadError> {
        let layout = self.layout;
        make_room(&mut self.table.values, layout.fields, self.file)?;
        let text =
            if layout.trailing { layout.delimiter.without_trailing(line.text) } else { line.text };
        let mut cells = Cells::of(text, layout.delimiter);
        // A percent sign on the first value of all says what the others must have.
        let plain = self.percent == Some(false);
        let mut column = 0;
        while let Some(&role) = self.roles.get(column) {
            let is_matrix = matches!(role, Role::Value | Role::Other);
            if plain
                && is_matrix
                && let Delimiter::Byte(delimiter) = layout.delimiter
            {
                let read = self.read_plain_cells(&mut cells, delimiter, column);
                column += read;
                if read > 0 {
                    continue;
                }
            }
            let Some(rest) = cells.rest() else { return Err(self.ragged(line, column)) };
            if plain
                && (is_matrix || matches!(role, Role::Number(_) | Role::NumberOrNan(_)))
                && let Some((value, length)) = self.plain(rest)
            {
                cells.skip_cell(length);
                self.push(role, value);
                column += 1;
                continue;
            }
            if let Err(error) = self.read_cell(&mut cells, role, line, column) {
                // The number of cells is what to complain about first.
                let all = column + 1 + cells.count();
                let unclosed = matches!(error, ReadError::UnclosedQuote { .. });
                return Err(if all == layout.fields || unclosed {
                    error
                } else {
                    self.ragged(line, all)
                });
            }
            column += 1;
        }
        if cells.rest().is_some() {
            return Err(self.ragged(line, layout.fields + cells.count()));
        }
        self.table.lines.push(self.table.rows, line.number);
        self.table.rows += 1;
        Ok(())
    }

    /// The commonest case: columns of the matrix from `column` on whose cells hold nothing but a
    /// plain number; how many there are.
    #[inline(always)]
    fn read_plain_cells(&mut self, cells: &mut Cells<'_>, delimiter: u8, column: usize) -> usize {
        let Some(all) = cells.rest() else { return 0 };
        let decimal = self.layout.decimal;
        let codes = self.layout.manner == Manner::Returns;
        let values = &mut self.table.values;
        let (mut at, mut count) = (0, 0);
        for role in &self.roles[column..] {
            if !matches!(role, Role::Value | Role::Other) {
                break;
            }
            let Some(rest) = all.get(at..) else { break };
            let Some((value, end)) = plain_number(rest, decimal) else { break };
            if rest.get(end).is_some_and(|&b| b != delimiter) || (codes && is_missing_code(value)) {
                break;
            }
            values.push(value);
            at += end + 1;
            count += 1;
        }
        if count > 0 {
            cells.skip_cell(at - 1);
        }
        count
    }

    #[inline(always)]
    fn push(&mut self, role: Role, value: f64) {
        match role {
            Role::Number(k) | Role::NumberOrNan(k) => self.table.numbers[k].push(value),
            _ => self.table.values.push(value),
        }
    }

    /// The common case: a plain number that fills the cell, with its length; no percent sign, no
    /// missing value.
    #[inline(always)]
    fn plain(&self, rest: &[u8]) -> Option<(f64, usize)> {
        let delimiter = self.layout.delimiter;
        let (value, end) = match plain_number(rest, self.layout.decimal) {
            Some((value, end)) if rest.get(end).is_none_or(|&b| delimiter.is_at(b)) => (value, end),
            _ => self.padded(rest)?,
        };
        let is_code = self.layout.manner == Manner::Returns && is_missing_code(value);
        (!is_code).then_some((value, end))
    }

    /// Such a number with blanks around it.
    #[cold]
    fn padded(&self, rest: &[u8]) -> Option<(f64, usize)> {
        let delimiter = self.layout.delimiter;
        let blanks = |rest: &[u8]| rest.iter().take_while(|&&b| delimiter.is_padding(b)).count();
        let start = blanks(rest);
        let (value, length) = plain_number(&rest[start..], self.layout.decimal)?;
        let end = start + length;
        let end = end + blanks(&rest[end..]);
        rest.get(end).is_none_or(|&b| delimiter.is_at(b)).then_some((value, end))
    }

    /// Any cell, read at leisure.
    fn read_cell(
        &mut self,
        cells: &mut Cells<'_>,
        role: Role,
        line: Line<'_>,
        column: usize,
    ) -> Result<(), ReadError> {
        let Some(cell) = cells.next() else { return Err(self.ragged(line, column)) };
        if cell.unclosed {
            let text = cell.text.into_owned();
            return Err(ReadError::UnclosedQuote { place: self.place(line, column), text });
        }
        if role != Role::Skip {
            self.limits.check_cell(cell.text.len(), || self.place(line, column).to_string())?;
        }
        match role {
            Role::Skip => {}
            Role::Label => self.table.labels.push(cell.text.into_owned()),
            Role::Key(k)
                if cell.text.is_empty() || (!cell.quoted && is_missing_key(&cell.text)) =>
            {
                let place = self.place(line, column);
                self.table.needed_gaps.add(|| place, &cell.text);
                self.table.keys[k].push_missing();
            }
            Role::KeyOrBlank(k) if !cell.quoted && is_missing_key(&cell.text) => {
                self.table.keys[k].push("");
            }
            Role::Key(k) | Role::KeyOrBlank(k) => self.table.keys[k].push(&cell.text),
            Role::Number(_) | Role::NumberOrNan(_) | Role::Value | Role::Other => {
                let value = self.value(&cell.text, role, line, column)?;
                self.push(role, value);
            }
        }
        Ok(())
    }

    fn value(
        &mut self,
        text: &str,
        role: Role,
        line: Line<'_>,
        column: usize,
    ) -> Result<f64, ReadError> {
        let decimal = self.layout.decimal;
        let meaning = match self.layout.manner {
            Manner::Returns => meaning(text, decimal),
            Manner::General => general_meaning(text, decimal),
        };
        let (value, percent) = match meaning {
            Meaning::Number(value) => (value, false),
            Meaning::Percent(value) => (value, true),
            Meaning::Missing if matches!(role, Role::NumberOrNan(_)) => return Ok(f64::NAN),
            Meaning::Missing => {
                let place = self.place(line, column);
                let needed = matches!(role, Role::Number(_));
                let gaps = if needed { &mut self.table.needed_gaps } else { &mut self.table.gaps };
                gaps.add(|| place, text);
                return Ok(f64::NAN);
            }
            Meaning::Infinite => {
                return Err(ReadError::NotFinite {
                    place: self.place(line, column),
                    text: text.to_owned(),
                });
            }
            Meaning::Text => {
                let (place, text) = (self.place(line, column), text.to_owned());
                return Err(match role {
                    Role::Other if self.layout.manner == Manner::General => {
                        ReadError::TextAmongFeatures { place, text }
                    }
                    Role::Value if self.layout.manner == Manner::Returns => {
                        ReadError::TextAmongAssets { place, text }
                    }
                    _ => ReadError::NotANumber { place, text },
                });
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
        let name = self.layout.header.and_then(|_| self.layout.names.get(column)).cloned();
        Place {
            file: self.file.to_owned(),
            line: line.number,
            column: column + 1,
            name,
            by_row: false,
        }
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

//! What kind of table a file holds, judged from its first lines.
//!
//! Each delimiter is tried on the first lines; the one that gives most rows of numbers wins. The
//! line before the first such row is the header if its number of cells fits, and what comes before
//! the header is a preamble of prose, as in Kenneth French's files. A line that is nearly a row of
//! numbers is taken for a broken row, never for a header or prose: an error is better than a row
//! lost in silence.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::ReadError;
use crate::tables::index::{
    Index, are_ordered, are_written_dates, is_dated_header, is_index_name, is_numbered_header,
};
use crate::tables::options::ReadOptions;
use crate::tables::panel::transposed::is_transposed;
use crate::text::FirstRows;
use crate::text::cell::{Manner, Meaning, is_date, meaning};
use crate::text::line::{Cell, Delimiter, Line};

use self::ignored::ignored;
pub(crate) use self::names::numbered_assets;

mod ignored;
mod names;

/// What a table of returns must have.
pub(crate) const TWO_ROWS: &str = "at least two rows of numbers";

/// How many lines that are neither blank nor comments are looked at.
pub(crate) const SAMPLE: usize = 100;

/// How to read the rows of a table: of returns, or of any columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) manner: Manner,
    pub(crate) delimiter: Delimiter,
    /// The decimal mark, point or comma.
    pub(crate) decimal: u8,
    /// Cells per row, with the index column.
    pub(crate) fields: usize,
    /// The line that sets the number of cells.
    pub(crate) reference: usize,
    /// The column of dates or other labels, and what its first cells are.
    pub(crate) index: Option<(usize, Index)>,
    /// Further columns of dates and labels.
    pub(crate) skipped: Vec<usize>,
    /// Rows end with a delimiter that encloses no further cell.
    pub(crate) trailing: bool,
    /// One name per column.
    pub(crate) names: Vec<String>,
    /// The line the names come from.
    pub(crate) header: Option<usize>,
    /// The line of the first row, or of the last line if there is none.
    pub(crate) first_row: usize,
    /// Prose precedes the table.
    pub(crate) preamble: bool,
    pub(crate) notes: Vec<String>,
}

/// The first lines, cut into cells at one delimiter.
struct Sample<'a> {
    delimiter: Delimiter,
    lines: &'a [Line<'a>],
    cells: Vec<Vec<Cell<'a>>>,
    /// Which columns may hold anything, for they are wanted for no assets; none beyond the last.
    ignored: Vec<bool>,
}

/// Finds out how to read a table of returns from its first lines.
pub(crate) fn detect(
    samples: &[FirstRows<'_>],
    options: &ReadOptions,
    file: &str,
) -> Result<Layout, ReadError> {
    if samples.iter().all(|sample| sample.rows.is_empty()) {
        let expected = "a table with one row per period and one column per asset";
        return Err(ReadError::Empty { file: file.to_owned(), expected });
    }
    let samples: Vec<Sample<'_>> =
        samples.iter().map(|sample| Sample::cut(sample, options)).collect();
    let best = |strict: bool| {
        let scored = samples.iter().map(|sample| (sample.score(strict), sample));
        // `rev`: of several best, `max_by_key` takes the last, and the first delimiter is to win.
        scored.rev().max_by_key(|(score, _)| *score).filter(|((rows, _), _)| *rows > 0)
    };
    // Rows that begin with a label are looked for only if there is no other kind: `Version 2.0` is
    // prose.
    let found =
        best(true).map(|found| (found, true)).or_else(|| best(false).map(|found| (found, false)));
    match found {
        Some((((_, fields), sample), strict)) => sample.layout(fields, strict, file),
        None => samples
            .iter()
            .rev()
            .max_by_key(|sample| sample.cells[0].len())
            .unwrap_or(&samples[0])
            .layout_without_rows(file),
    }
}

impl<'a> Sample<'a> {
    fn cut(sample: &'a FirstRows<'a>, options: &ReadOptions) -> Self {
        let FirstRows { delimiter, rows: lines } = sample;
        let mut cells: Vec<Vec<Cell<'a>>> =
            lines.iter().map(|line| delimiter.cells(line.text)).collect();
        // Lines of nothing but delimiters at the end, as spreadsheets write them, are blank.
        while cells.len() > 1
            && cells.last().is_some_and(|row| row.iter().all(|cell| cell.text.is_empty()))
        {
            cells.pop();
        }
        let ignored = ignored(&cells, options);
        Self { delimiter: *delimiter, lines, cells, ignored }
    }

    fn is_ignored(&self, column: usize) -> bool {
        self.ignored.get(column).is_some_and(|ignored| *ignored)
    }

    /// Whether the first line names columns by numbers.
    fn is_header_of_numbers(&self, row: usize) -> bool {
        row == 0 && (is_numbered_header(&self.cells[0]) || is_dated_header(&self.cells[0]))
    }

    fn meaning(&self, cell: &Cell<'_>) -> Meaning {
        let first = meaning(&cell.text, b'.');
        if first == Meaning::Text && self.delimiter != Delimiter::Byte(b',') {
            meaning(&cell.text, b',')
        } else {
            first
        }
    }

    /// Whether a line is a row of numbers: a date, a number or (unless strict) any label first,
    /// then numbers or missing values.
    fn is_row(&self, row: usize, strict: bool) -> bool {
        let cells = &self.cells[row];
        let Some((first, others)) = cells.split_first() else { return false };
        if self.is_header_of_numbers(row) || (is_index_name(&first.text) && !first.text.is_empty())
        {
            return false;
        }
        // `1,2` is two columns and no decimal comma, or a row too short by one would turn them into
        // a single column.
        let comma = Delimiter::Byte(b',');
        if others.is_empty()
            && self.delimiter != comma
            && comma.cells(self.lines[row].text).len() > 1
        {
            return false;
        }
        let mut numbers = 0;
        for (_, cell) in (1..).zip(others).filter(|(j, _)| !self.is_ignored(*j)) {
            match self.meaning(cell) {
                // A column of dates need not be the first.
                Meaning::Text if !is_date(&cell.text) => return false,
                meaning => numbers += usize::from(meaning.is_number()),
            }
        }
        match self.meaning(first) {
            _ if self.is_ignored(0) => numbers > 0,
            _ if is_date(&first.text) => true,
            Meaning::Text => !strict && numbers > 0,
            Meaning::Missing => numbers > 0,
            _ => true,
        }
    }

    /// Whether a line that is no row was meant as one: a date comes first or half of its cells are
    /// numbers.
    fn is_broken_row(&self, row: usize) -> bool {
        let cells = &self.cells[row];
        let Some(first) = cells.first() else { return false };
        if self.is_header_of_numbers(row) || (is_index_name(&first.text) && !first.text.is_empty())
        {
            return false;
        }
        let numbers = cells.iter().filter(|cell| self.meaning(cell).is_number()).count();
        (is_date(&first.text) && cells.len() > 1) || (numbers > 0 && 2 * numbers >= cells.len())
    }

    /// Whether a line above the rows was meant as one. Names such as `Lo 30  Med 40  Hi 30`, cut at
    /// every blank, are half numbers and yet no broken row: more than one word among them, one of
    /// them first.
    fn is_broken_row_above(&self, row: usize) -> bool {
        let is_text = |cell: &Cell<'_>| self.meaning(cell) == Meaning::Text && !is_date(&cell.text);
        let cells = &self.cells[row];
        let names = self.delimiter == Delimiter::Blanks
            && cells.first().is_some_and(is_text)
            && cells.iter().filter(|cell| is_text(cell)).count() > 1;
        !names && self.is_broken_row(row)
    }

    /// How many rows of numbers there are of the commonest length, and that length.
    fn score(&self, strict: bool) -> (usize, usize) {
        let lengths: Vec<usize> = (0..self.cells.len())
            .filter(|&row| self.is_row(row, strict))
            .map(|row| self.cells[row].len())
            .collect();
        let count = |length: usize| lengths.iter().filter(|&&l| l == length).count();
        lengths.iter().map(|&length| (count(length), length)).max().unwrap_or((0, 0))
    }

    fn layout(&self, mut fields: usize, strict: bool, file: &str) -> Result<Layout, ReadError> {
        let rows = || (0..self.cells.len()).filter(|&row| self.is_row(row, strict));
        let typical = rows().find(|&row| self.cells[row].len() == fields).unwrap_or(0);
        let mut first = rows().next().unwrap_or(typical);
        // A short line of numbers may be in the prose; the table begins where its length is
        // reached, but for broken rows just above.
        if first < typical
            && (first..typical)
                .any(|row| !self.is_row(row, strict) && !self.is_broken_row_above(row))
        {
            first = typical;
        }
        while first > 0 && (self.is_row(first - 1, strict) || self.is_broken_row_above(first - 1)) {
            first -= 1;
        }
        let header = first.checked_sub(1);
        let is_in_table = |row: &usize| self.is_row(*row, strict) || self.is_broken_row(*row);
        let rows = first..first + (first..self.cells.len()).take_while(is_in_table).count();
        let trailing = self.is_trailing(rows.clone(), header, fields);
        if trailing {
            fields -= 1;
        }
        let mut layout = Layout {
            manner: Manner::Returns,
            delimiter: self.delimiter,
            decimal: self.decimal(&self.cells[rows.clone()]),
            fields,
            reference: self.lines[typical].number,
            index: None,
            skipped: Vec::new(),
            trailing,
            names: Vec::new(),
            header: None,
            first_row: self.lines[first].number,
            preamble: false,
            notes: Vec::new(),
        };
        let column = |j: usize| {
            let cells = self.cells[rows.clone()].iter().filter_map(move |row| row.get(j));
            cells.map(|cell| cell.text.as_ref())
        };
        let labels: Vec<&str> = column(0).collect();
        let names = match header {
            Some(line) => self.names(line, first, &labels, &mut layout, file)?,
            None => None,
        };
        let index_name = match &names {
            Some(names) if names.len() == fields => Some(names[0].as_ref()),
            _ => None,
        };
        // A header one cell shorter than the rows leaves the index column without a name.
        let shorter = names.as_ref().is_some_and(|names| names.len() + 1 == fields);
        let first_column = Index::of(index_name, &labels).or(shorter.then_some(Index::Numbers));
        layout.index = first_column.map(|index| (0, index));
        layout.set_names(names);
        let dates: Vec<usize> =
            (1..fields).filter(|&j| !self.is_ignored(j) && are_written_dates(column(j))).collect();
        layout.set_dates(&dates);
        if let Some((0, Index::Names)) = layout.index
            && !is_transposed(&layout.names[1..], Some(&["name".to_owned()]))
        {
            let label = labels[0];
            layout
                .notes
                .push(format!("The first column holds labels such as '{label}', not returns."));
        }
        if fields == usize::from(layout.index.is_some()) + layout.skipped.len() {
            return Err(ReadError::NoAssets { file: file.to_owned(), line: layout.first_row });
        }
        let prose = if layout.header.is_some() { first - 1 } else { first };
        if prose > 0 {
            layout.preamble = true;
            let lines = if prose == 1 { "1 line".to_owned() } else { format!("{prose} lines") };
            layout.notes.push(format!("Skipped {lines} of text before the table."));
        }
        Ok(layout)
    }

    /// No line is a row of numbers: reading the second line as one will say why not.
    fn layout_without_rows(&self, file: &str) -> Result<Layout, ReadError> {
        let first = usize::from(!self.is_broken_row(0));
        if self.cells.len() <= first {
            let (file, line) = (file.to_owned(), self.lines[0].number);
            return Err(ReadError::NoData { file, line, expected: TWO_ROWS });
        }
        let fields = self.cells[first].len();
        let names = (first == 1 && self.cells[0].len() == fields)
            .then(|| self.cells[0].iter().map(|cell| cell.text.clone()).collect::<Vec<_>>());
        let labels: Vec<&str> =
            self.cells[first..].iter().map(|row| row.first().map_or("", |c| &c.text)).collect();
        let index_name = names.as_ref().map(|names| names[0].as_ref());
        let mut layout = Layout {
            manner: Manner::Returns,
            delimiter: self.delimiter,
            decimal: b'.',
            fields,
            reference: self.lines[first].number,
            index: Index::of(index_name, &labels).filter(|_| fields > 1).map(|index| (0, index)),
            skipped: Vec::new(),
            trailing: false,
            header: names.is_some().then(|| self.lines[0].number),
            names: Vec::new(),
            first_row: self.lines[first].number,
            preamble: false,
            notes: Vec::new(),
        };
        layout.set_names(names);
        Ok(layout)
    }

    /// Whether all rows end in a delimiter while the header gives no name to a column behind it.
    fn is_trailing(&self, mut rows: Range<usize>, header: Option<usize>, fields: usize) -> bool {
        let ends = |row: usize| self.delimiter.is_trailing(self.lines[row].text);
        fields > 1
            && rows.all(|row| self.cells[row].len() != fields || ends(row))
            && header.is_none_or(|row| ends(row) || self.cells[row].len() != fields)
    }

    /// The comma if numbers are written with it and none with a point.
    fn decimal(&self, rows: &[Vec<Cell<'_>>]) -> u8 {
        let has = |mark: char| {
            rows.iter().flatten().any(|cell| {
                cell.text.contains(mark) && self.meaning(cell).is_number() && !is_date(&cell.text)
            })
        };
        if self.delimiter != Delimiter::Byte(b',') && has(',') && !has('.') { b',' } else { b'.' }
    }

    /// The header's cells: as many as the rows have, or one fewer if an index column without a name
    /// comes first.
    fn names(
        &self,
        header: usize,
        first: usize,
        labels: &[&str],
        layout: &mut Layout,
        file: &str,
    ) -> Result<Option<Vec<Cow<'a, str>>>, ReadError> {
        let fields = layout.fields;
        let text = self.lines[header].text;
        let number = self.lines[header].number;
        let text = if layout.trailing { self.delimiter.without_trailing(text) } else { text };
        let names: Vec<Cow<'a, str>> =
            self.delimiter.cells(text).into_iter().map(|cell| cell.text).collect();
        let fits = |names: &[Cow<'_, str>]| {
            names.len() == fields
                || (names.len() + 1 == fields
                    && !names.is_empty()
                    && !is_index_name(&names[0])
                    && are_ordered(labels))
        };
        if fits(&names) {
            if names[0] == "0" {
                layout
                    .notes
                    .push(format!("Line {number} was taken for a header of column numbers."));
            }
            layout.header = Some(number);
            layout.reference = if names.len() == fields { number } else { layout.reference };
            return Ok(Some(names));
        }
        if self.delimiter == Delimiter::Blanks {
            // Names with single blanks inside may are separated by wider gaps.
            let wide: Vec<Cow<'a, str>> = text
                .trim()
                .split("  ")
                .map(str::trim)
                .filter(|name| !name.is_empty())
                .map(Cow::Borrowed)
                .collect();
            if fits(&wide) {
                layout.header = Some(number);
                return Ok(Some(wide));
            }
            layout.notes.push(format!(
                "Line {number} does not name the {fields} columns one by one, so the assets are \
                 numbered."
            ));
        } else if names.len() > 1 && 2 * names.len() > fields {
            let row = (first..self.cells.len())
                .find(|&row| self.cells[row].len() != names.len())
                .unwrap_or(first);
            return Err(ReadError::Ragged {
                file: file.to_owned(),
                line: self.lines[row].number,
                found: self.cells[row].len(),
                expected: names.len(),
                reference: number,
            });
        }
        Ok(None)
    }
}

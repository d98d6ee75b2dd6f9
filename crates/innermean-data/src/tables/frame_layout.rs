//! What kind of table a file of any columns is, judged from its first lines.
//!
//! Such a table begins with its first line: there is no prose above it. The delimiter is the one
//! that cuts the lines into equally many cells and finds the names that are asked for. The first
//! line is a header if it has one of these names, if it has text above a column of numbers, or if
//! it is all text.

use crate::error::ReadError;
use crate::tables::columns::Columns;
use crate::tables::index::is_numbered_header;
use crate::tables::layout::Layout;
use crate::text::FirstRows;
use crate::text::cell::{Manner, Meaning, general_meaning};
use crate::text::line::{Cell, Delimiter, Line};

/// A frame's layout: [`Layout::names`] has one name for every column.
pub(crate) struct FrameLayout {
    pub(crate) layout: Layout,
    /// The first column has no name in the header and counts the rows.
    pub(crate) counts: bool,
}

/// The first lines, cut at one delimiter.
struct Sample<'a> {
    delimiter: Delimiter,
    lines: &'a [Line<'a>],
    cells: Vec<Vec<Cell<'a>>>,
    /// The commonest number of cells.
    fields: usize,
}

/// What the first line holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FirstLine {
    Names,
    /// Text like all the rest of the table, so that it might be a row as well.
    ProbablyNames,
    Row,
}

/// Finds out how to read a table from its first lines.
pub(crate) fn detect(
    samples: &[FirstRows<'_>],
    columns: &Columns,
    file: &str,
) -> Result<FrameLayout, ReadError> {
    if samples.iter().all(|sample| sample.rows.is_empty()) {
        let expected = "a table with one row per line";
        return Err(ReadError::Empty { file: file.to_owned(), expected });
    }
    let samples: Vec<Sample<'_>> = samples.iter().map(Sample::cut).collect();
    let several = samples.iter().filter(|sample| sample.fields > 1 && sample.is_likely());
    // `rev`: of several best, `max_by_key` takes the last, and the first delimiter is to win.
    let best = several.rev().max_by_key(|sample| sample.score(columns));
    best.unwrap_or(&samples[0]).layout(columns, file)
}

impl<'a> Sample<'a> {
    fn cut(sample: &'a FirstRows<'a>) -> Self {
        let FirstRows { delimiter, rows: lines } = sample;
        let cells: Vec<Vec<Cell<'a>>> =
            lines.iter().map(|line| delimiter.cells(line.text)).collect();
        let count = |length: usize| cells.iter().filter(|row| row.len() == length).count();
        let lengths = cells.iter().map(|row| (count(row.len()), row.len()));
        let fields = lengths.max().map_or(1, |(_, length)| length);
        Self { delimiter: *delimiter, lines, cells, fields }
    }

    fn regular(&self) -> usize {
        self.cells.iter().filter(|row| row.len() == self.fields).count()
    }

    /// At least half of the lines have as many cells; all of them if they are cut at blanks, which
    /// may be inside a text.
    fn is_likely(&self) -> bool {
        let all = self.cells.len();
        let least =
            if self.delimiter == Delimiter::Blanks { all.saturating_sub(1) } else { all / 2 };
        self.regular() >= least.max(1)
    }

    /// How many of the names it finds in the first line, how many lines have as many cells, and how
    /// many cells in a thousand are numbers or have no other delimiter inside.
    fn score(&self, columns: &Columns) -> (usize, usize, usize) {
        let other = |b: u8| b",;\t|".contains(&b) && !self.delimiter.is_at(b);
        let clean = |cell: &&Cell<'_>| {
            cell.quoted || !cell.text.bytes().any(other) || self.meaning(cell) != Meaning::Text
        };
        let cells = || self.cells.iter().flatten();
        let share = 1000 * cells().filter(clean).count() / cells().count().max(1);
        (self.names_found(columns), self.regular(), share)
    }

    fn names_found(&self, columns: &Columns) -> usize {
        let is_in_line = |name: &&str| {
            let name = name.to_lowercase();
            self.cells[0].iter().any(|cell| cell.text.to_lowercase() == name)
        };
        // A number names a column by its place, which any line of numbers would seem to do.
        let by_name = columns.names().filter(|name| general_meaning(name, b'.') == Meaning::Text);
        by_name.filter(is_in_line).count()
    }

    fn meaning(&self, cell: &Cell<'_>) -> Meaning {
        let first = general_meaning(&cell.text, b'.');
        if first == Meaning::Text && self.delimiter != Delimiter::Byte(b',') {
            general_meaning(&cell.text, b',')
        } else {
            first
        }
    }

    fn layout(&self, columns: &Columns, file: &str) -> Result<FrameLayout, ReadError> {
        let mut fields = self.fields;
        let header = self.header(columns);
        let has_header = header != FirstLine::Row;
        let first = usize::from(has_header);
        if self.cells.len() <= first {
            let (file, line) = (file.to_owned(), self.lines[0].number);
            return Err(ReadError::NoData { file, line, expected: "at least one row" });
        }
        let trailing = self.is_trailing(first);
        if trailing {
            fields -= 1;
        }
        let mut names: Vec<String> = Vec::new();
        if has_header {
            names.extend(self.cells[0].iter().map(|cell| cell.text.to_string()));
            if trailing && names.len() == fields + 1 {
                names.pop();
            }
            // A header one cell shorter than the rows leaves the first column without a name.
            let shorter = names.len() + 1 == fields;
            if shorter {
                names.insert(0, String::new());
            }
            if names.len() != fields {
                return Err(ReadError::Ragged {
                    file: file.to_owned(),
                    line: self.lines[first].number,
                    found: self.cells[first].len(),
                    expected: names.len(),
                    reference: self.lines[0].number,
                });
            }
        }
        let counts = has_header && is_unnamed(&names[0]) && self.counts_rows(first);
        let mut notes = Vec::new();
        if header == FirstLine::ProbablyNames {
            notes.push(format!(
                "Line {} is all text and was taken for the header.",
                self.lines[0].number
            ));
        }
        if !has_header {
            names = vec![String::new(); fields];
            notes.push(format!(
                "The first line is no header, so the columns are called {}.",
                if fields == 1 { "c1".to_owned() } else { format!("c1 to c{fields}") }
            ));
        }
        for (j, name) in names.iter_mut().enumerate().filter(|(_, name)| name.is_empty()) {
            *name = format!("c{}", j + 1);
        }
        let layout = Layout {
            manner: Manner::General,
            delimiter: self.delimiter,
            decimal: b'.',
            fields,
            reference: self.lines[0].number,
            index: None,
            skipped: Vec::new(),
            trailing,
            names,
            header: has_header.then(|| self.lines[0].number),
            first_row: self.lines[first].number,
            preamble: false,
            notes,
        };
        Ok(FrameLayout { layout, counts })
    }

    fn header(&self, columns: &Columns) -> FirstLine {
        let cells = &self.cells[0];
        if self.names_found(columns) > 0
            || is_numbered_header(cells)
            || cells.len() + 1 == self.fields
        {
            return FirstLine::Names;
        }
        let is_text = |cell: &Cell<'_>| self.meaning(cell) == Meaning::Text;
        let below = |j: usize| self.cells[1..].iter().filter_map(move |row| row.get(j));
        let heads_numbers = |(j, cell): (usize, &Cell<'_>)| {
            is_text(cell)
                && !below(j).any(is_text)
                && below(j).any(|cell| general_meaning(&cell.text, b'.') != Meaning::Missing)
        };
        if cells.iter().enumerate().any(heads_numbers) {
            return FirstLine::Names;
        }
        // Nothing but text everywhere: names are all different and do not come again below.
        let is_new = |(j, cell): (usize, &Cell<'_>)| {
            is_text(cell)
                && !below(j).any(|other| other.text == cell.text)
                && !cells[..j].iter().any(|other| other.text == cell.text)
        };
        let all_text = self.cells.len() > 1 && cells.iter().enumerate().all(is_new);
        if all_text { FirstLine::ProbablyNames } else { FirstLine::Row }
    }

    /// Whether all rows end in a delimiter behind which there is no name.
    fn is_trailing(&self, first: usize) -> bool {
        let ends = |row: usize| self.delimiter.is_trailing(self.lines[row].text);
        self.fields > 1
            && (first..self.cells.len())
                .all(|row| self.cells[row].len() != self.fields || ends(row))
            && (first == 0 || ends(0) || self.cells[0].len() != self.fields)
    }

    /// Whether the first cells are consecutive whole numbers from 0 or 1.
    fn counts_rows(&self, first: usize) -> bool {
        let numbers = self.cells[first..]
            .iter()
            .map(|row| row.first().and_then(|cell| cell.text.parse().ok()));
        let numbers: Vec<Option<usize>> = numbers.collect();
        let from = numbers.first().copied().flatten().filter(|from| *from < 2);
        from.is_some_and(|from| {
            numbers.iter().enumerate().all(|(k, number)| *number == Some(from + k))
        })
    }
}

/// An empty name, or what data frames write for one.
fn is_unnamed(name: &str) -> bool {
    name.is_empty() || name == "Unnamed: 0"
}

impl FrameLayout {
    /// The comma is the decimal mark if numbers in the columns that are read as such are written
    /// with it and none with a point.
    pub(crate) fn find_decimal_mark(
        &mut self,
        samples: &[FirstRows<'_>],
        is_number: impl Fn(usize) -> bool,
    ) {
        let layout = &mut self.layout;
        if layout.delimiter == Delimiter::Byte(b',') {
            return;
        }
        let (mut commas, mut points) = (false, false);
        let rows = samples.iter().filter(|sample| sample.delimiter == layout.delimiter);
        let rows = rows.flat_map(|sample| &sample.rows);
        for line in rows.filter(|line| line.number >= layout.first_row) {
            for (j, cell) in layout.delimiter.cells(line.text).iter().enumerate() {
                let spelled =
                    |mark: u8| matches!(general_meaning(&cell.text, mark), Meaning::Number(_));
                if is_number(j) {
                    commas |= cell.text.contains(',') && spelled(b',');
                    points |= cell.text.contains('.') && spelled(b'.');
                }
            }
        }
        if commas && !points {
            layout.decimal = b',';
        }
    }
}

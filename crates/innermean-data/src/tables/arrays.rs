//! Tables from files whose columns are numbers or texts already, so that nothing has to be parsed.

use std::fmt::Write as _;
use std::ops::Range;

use crate::error::{Place, ReadError};
use crate::formats::npy::{Array, zeros};
use crate::formats::npz::Archive;
use crate::limits::Limits;
use crate::tables::columns::{Chosen, Header};
use crate::tables::keys::KeyColumn;
use crate::tables::table::{Gaps, Role, Table};
use crate::write::table::push_number;

/// The columns of a file, read one by one when they are asked for.
pub(crate) trait ColumnSource {
    /// The name in messages.
    fn file(&self) -> &str;
    fn names(&self) -> &[String];
    /// Whether the file gives the names.
    fn named(&self) -> bool;
    fn rows(&self) -> usize;

    /// How many rows of the file stand before the first, where these are a part of it.
    fn rows_before(&self) -> usize {
        0
    }

    /// Refuses to read this many columns if that takes too much memory; for a file that does not
    /// say it earlier.
    fn check_size(&self, columns: usize) -> Result<(), ReadError> {
        let _ = columns;
        Ok(())
    }

    /// A column without a name of its own that only labels the rows.
    fn labels(&self) -> Option<usize> {
        None
    }

    /// What was decided about its rows.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// A column of numbers; NaN where one is missing.
    fn numbers(&mut self, column: usize) -> Result<Vec<f64>, ReadError>;

    /// A column of texts, appended to `keys`; whole numbers without a point.
    fn keys(&mut self, column: usize, keys: &mut KeyColumn) -> Result<(), ReadError> {
        let mut text = String::new();
        for value in self.numbers(column)? {
            if value.is_nan() {
                keys.push_missing();
                continue;
            }
            text.clear();
            push_number(&mut text, value);
            keys.push(&text);
        }
        Ok(())
    }

    /// The dates of a column of dates, times or texts that are all dates, as text; `None` of any
    /// other.
    fn days(&mut self, column: usize) -> Result<Option<Vec<String>>, ReadError> {
        let _ = column;
        Ok(None)
    }

    /// Some columns at once, in rising order, row after row, if that is how they are stored; all
    /// columns are gone then.
    fn take(&mut self, columns: &[usize]) -> Result<Option<Vec<f64>>, ReadError> {
        let _ = columns;
        Ok(None)
    }
}

/// The header of a source, for choosing columns.
pub(crate) fn header_of(source: &dyn ColumnSource) -> Header<'_> {
    Header {
        file: source.file(),
        names: source.names(),
        named: source.named(),
        labels: source.labels(),
    }
}

/// The columns of a source in their roles.
pub(crate) fn table_of(source: &mut dyn ColumnSource, chosen: &Chosen) -> Result<Table, ReadError> {
    let rows = source.rows();
    source.check_size(chosen.roles.iter().filter(|role| **role != Role::Skip).count())?;
    let names = source.names().to_vec();
    let mut table = Table { rows, ..Table::default() };
    if source.rows_before() > 0 {
        table.lines.push(0, source.rows_before() + 1);
    }
    let (mut gaps, mut needed) = (Gaps::default(), Gaps::default());
    for &column in chosen.numbers.iter().flatten() {
        let numbers = numbers(source, column)?;
        let blank = matches!(chosen.roles[column], Role::NumberOrNan(_));
        for (row, &value) in numbers.iter().enumerate().filter(|(_, x)| !(blank && x.is_nan())) {
            look_at(value, &mut needed, || place(source, row, column))?;
        }
        table.numbers.push(numbers);
    }
    for &column in chosen.keys.iter().flatten() {
        let mut keys = KeyColumn::new(&names[column]);
        source.keys(column, &mut keys)?;
        check_length(source, column, keys.len())?;
        if matches!(chosen.roles[column], Role::KeyOrBlank(_)) {
            keys.fill_missing("");
        }
        for row in (0..rows).filter(|&row| keys.is_missing(row)) {
            needed.add(|| place(source, row, column), "");
        }
        table.keys.push(keys);
    }
    // Last, since they may be taken from where they stand.
    let d = chosen.features.len();
    let features: Vec<usize> = (0..names.len())
        .filter(|&j| matches!(chosen.roles[j], Role::Value | Role::Other))
        .collect();
    let whole = if d > 0 { source.take(&features)? } else { Some(Vec::new()) };
    if let Some(values) = whole {
        for (row, numbers) in values.chunks_exact(d.max(1)).enumerate() {
            if numbers.iter().fold(true, |are_finite, x| are_finite & x.is_finite()) {
                continue;
            }
            for (&value, &column) in numbers.iter().zip(&features) {
                look_at(value, &mut gaps, || place(source, row, column))?;
            }
        }
        table.values = values;
    } else {
        for (k, column) in features.into_iter().enumerate() {
            let numbers = numbers(source, column).map_err(|error| match error {
                ReadError::NotANumber { place, text } if chosen.roles[column] == Role::Other => {
                    ReadError::TextAmongFeatures { place, text }
                }
                error => error,
            })?;
            // A column that has been read shows that there are as many rows as the file says.
            if k == 0 {
                table.values = zeros(rows.saturating_mul(d), source.file())?;
            }
            for (row, value) in numbers.into_iter().enumerate() {
                look_at(value, &mut gaps, || place(source, row, column))?;
                table.values[row * d + k] = value;
            }
        }
    }
    (table.gaps, table.needed_gaps) = (gaps, needed);
    Ok(table)
}

/// Some columns, in rising order, of rows of `width` numbers, moved together in their own memory.
pub(crate) fn narrowed(mut values: Vec<f64>, width: usize, columns: &[usize]) -> Vec<f64> {
    if columns.len() < width {
        let rows = values.len() / width;
        // Neighbours move together.
        let runs: Vec<Range<usize>> = columns
            .chunk_by(|column, next| column + 1 == *next)
            .map(|run| run[0]..run[0] + run.len())
            .collect();
        let mut end = 0;
        for row in 0..rows {
            for run in &runs {
                values.copy_within(row * width + run.start..row * width + run.end, end);
                end += run.len();
            }
        }
        values.truncate(rows * columns.len());
    }
    values
}

/// A column of numbers, as long as the others.
fn numbers(source: &mut dyn ColumnSource, column: usize) -> Result<Vec<f64>, ReadError> {
    let numbers = source.numbers(column)?;
    check_length(source, column, numbers.len())?;
    Ok(numbers)
}

/// Refuses a column that is not as long as the others.
fn check_length(source: &dyn ColumnSource, column: usize, length: usize) -> Result<(), ReadError> {
    if length == source.rows() {
        return Ok(());
    }
    let reason =
        format!("column '{}' has {length} rows of {}", source.names()[column], source.rows());
    Err(ReadError::damaged(source.file(), &reason))
}

/// Counts a missing number, and refuses an infinite one.
#[inline]
fn look_at(value: f64, gaps: &mut Gaps, place: impl FnOnce() -> Place) -> Result<(), ReadError> {
    if value.is_nan() {
        gaps.add(place, "NaN");
    } else if value.is_infinite() {
        return Err(ReadError::NotFinite { place: place(), text: value.to_string() });
    }
    Ok(())
}

fn place(source: &dyn ColumnSource, row: usize, column: usize) -> Place {
    let name = source.named().then(|| source.names()[column].clone());
    let line = source.rows_before() + row + 1;
    Place { file: source.file().to_owned(), line, column: column + 1, name, by_row: true }
}

/// One array.
pub(crate) struct MatrixColumns {
    file: String,
    names: Vec<String>,
    named: bool,
    array: Array,
    before: usize,
}

impl MatrixColumns {
    /// `name` is the array's own, which a vector gives to its column.
    pub(crate) fn new(
        array: Array,
        file: &str,
        name: Option<&str>,
        limits: &Limits,
    ) -> Result<Self, ReadError> {
        limits.check_columns(array.width(), file)?;
        let (names, named) = match (array.columns, name) {
            (None, Some(name)) => (vec![name.to_owned()], true),
            _ => ((1..=array.width()).map(|j| format!("c{j}")).collect(), false),
        };
        Ok(Self { file: file.to_owned(), names, named, array, before: 0 })
    }

    /// Rows of the same file behind `before` others, in place of those before.
    pub(crate) fn next_rows(&mut self, array: Array, before: usize) {
        (self.array, self.before) = (array, before);
    }
}

impl ColumnSource for MatrixColumns {
    fn file(&self) -> &str {
        &self.file
    }

    fn names(&self) -> &[String] {
        &self.names
    }

    fn named(&self) -> bool {
        self.named
    }

    fn rows(&self) -> usize {
        self.array.rows
    }

    fn rows_before(&self) -> usize {
        self.before
    }

    fn numbers(&mut self, column: usize) -> Result<Vec<f64>, ReadError> {
        Ok(self.array.column(column))
    }

    fn take(&mut self, columns: &[usize]) -> Result<Option<Vec<f64>>, ReadError> {
        let width = self.array.width();
        Ok(Some(narrowed(std::mem::take(&mut self.array.values), width, columns)))
    }
}

/// Several arrays of equally many rows: a vector is a column of its name, and a matrix `X` gives
/// columns `X1`, `X2`, ...
pub(crate) struct ArchiveColumns<'a> {
    archive: Archive<'a>,
    names: Vec<String>,
    /// Each column as an array and a column of it.
    columns: Vec<(usize, usize)>,
    rows: usize,
    /// The array that was read last: its columns are asked for one after the other.
    last: Option<(usize, Array)>,
}

impl<'a> ArchiveColumns<'a> {
    pub(crate) fn new(mut archive: Archive<'a>) -> Result<Self, ReadError> {
        let members = archive.names();
        let shapes =
            (0..members.len()).map(|k| archive.shape(k)).collect::<Result<Vec<_>, ReadError>>()?;
        let rows = shapes[0].0;
        if shapes.iter().any(|shape| shape.0 != rows) {
            let mut reason = "its arrays have different numbers of rows".to_owned();
            for (k, (name, (rows, _))) in members.iter().zip(&shapes).take(5).enumerate() {
                let _ = write!(reason, "{} {name}: {rows}", if k == 0 { ":" } else { "," });
            }
            let advice = format!("name one of them as {}:{}", archive.file(), members[0]);
            return Err(ReadError::unsuitable(archive.file(), &reason, &advice));
        }
        let mut width: usize = 0;
        for (k, shape) in shapes.iter().enumerate() {
            let columns = shape.1.unwrap_or(1);
            archive.limits().check_columns(columns, &archive.name_of(k).0)?;
            width = width.saturating_add(columns);
        }
        archive.limits().check_columns(width, archive.file())?;
        archive.limits().check_numbers(rows.saturating_mul(width), archive.file())?;
        // Nothing shows that there are as many rows as a matrix without columns says.
        if rows == 0 || width == 0 {
            return Err(ReadError::unsuitable(
                archive.file(),
                "has no numbers",
                "expected at least one row",
            ));
        }
        let (mut names, mut columns) = (Vec::new(), Vec::new());
        for (k, (name, (_, width))) in members.iter().zip(&shapes).enumerate() {
            match width {
                None => {
                    names.push(name.clone());
                    columns.push((k, 0));
                }
                Some(width) => {
                    names.extend((1..=*width).map(|j| format!("{name}{j}")));
                    columns.extend((0..*width).map(|j| (k, j)));
                }
            }
        }
        Ok(Self { archive, names, columns, rows, last: None })
    }
}

impl ColumnSource for ArchiveColumns<'_> {
    fn file(&self) -> &str {
        self.archive.file()
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

    fn numbers(&mut self, column: usize) -> Result<Vec<f64>, ReadError> {
        let (member, inside) = self.columns[column];
        let array = match self.last.take() {
            Some((last, array)) if last == member => array,
            _ => self.archive.read(member)?,
        };
        let numbers = array.column(inside);
        self.last = Some((member, array));
        Ok(numbers)
    }
}

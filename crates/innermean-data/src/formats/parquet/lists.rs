//! Columns whose cells are lists of one length, as arrays of observations are written: `X` becomes
//! the columns `X1`, `X2`, ..., one for each place in the list.

use parquet::basic::Repetition;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{ChunkReader, FileReader};
use parquet::schema::types::ColumnDescriptor;

use super::{BATCH, Done, ParquetColumns, Sense, Value, damaged};
use crate::error::ReadError;
use crate::limits::Limits;
use crate::tables::arrays::ColumnSource;

/// Longer lists are no descriptions of a state.
pub(super) const LONGEST: usize = 100_000;

/// Where a column stands in the file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Leaf {
    /// Among the columns of the file.
    pub(super) number: usize,
    /// The place in each of its lists, and their length, where it has lists.
    pub(super) item: Option<(usize, usize)>,
}

/// The columns of a file with their names. How many numbers there are is told by the file, and so
/// how long its lists are if they are all of one length.
pub(super) fn leaves(
    metadata: &ParquetMetaData,
    limits: &Limits,
    file: &str,
) -> Result<(Vec<String>, Vec<Leaf>), ReadError> {
    let (mut names, mut leaves) = (Vec::new(), Vec::new());
    for (number, column) in metadata.file_metadata().schema_descr().columns().iter().enumerate() {
        let parts = column.path().parts();
        let width = if is_list(column) { length(metadata, number) } else { None };
        let Some(width) = width else {
            names.push(parts.join("."));
            leaves.push(Leaf { number, item: None });
            continue;
        };
        limits.check_columns(names.len() + width, file)?;
        // `X.list.element`, or `X.array` in old files.
        let name = parts[..parts.len().saturating_sub(2).max(1)].join(".");
        names.extend((1..=width).map(|k| format!("{name}{k}")));
        leaves.extend((0..width).map(|k| Leaf { number, item: Some((k, width)) }));
    }
    Ok((names, leaves))
}

/// Whether its cells are lists of numbers.
fn is_list(column: &ColumnDescriptor) -> bool {
    column.max_rep_level() == 1 && has_numbers(column)
}

/// Whether there are numbers in its lists.
pub(super) fn has_numbers(column: &ColumnDescriptor) -> bool {
    column.max_rep_level() > 0
        && !matches!(Sense::of_item(column), Sense::Text | Sense::Time | Sense::Other)
}

/// The length of the lists of a column, by the numbers of values in its groups.
fn length(metadata: &ParquetMetaData, number: usize) -> Option<usize> {
    let mut length = None;
    for group in metadata.row_groups() {
        let rows = usize::try_from(group.num_rows()).ok().filter(|rows| *rows > 0)?;
        let values = usize::try_from(group.column(number).num_values()).ok()?;
        let own = (values % rows == 0 && values <= rows * LONGEST).then_some(values / rows)?;
        if *length.get_or_insert(own) != own {
            return None;
        }
    }
    length.filter(|length| *length > 0)
}

/// What the levels of a column of lists mean.
pub(super) struct Levels {
    /// From here on there is a number, or a gap in a list.
    item: i16,
    /// Here there is a number.
    full: i16,
}

impl Levels {
    pub(super) fn of(column: &ColumnDescriptor) -> Self {
        let full = column.max_def_level();
        let has_gaps = column.self_type().get_basic_info().repetition() == Repetition::OPTIONAL;
        Levels { item: full - i16::from(has_gaps), full }
    }
}

/// Where an item stands: its row, counted from the first of the group, and how many lists around it
/// go on from the item before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot {
    pub(super) row: usize,
    pub(super) repeated: i16,
}

/// What is done with an item; none is a gap.
type EachItem<'e> = dyn FnMut(Spot, Option<Value<'_>>) -> Done + 'e;

/// Hands the items of the lists of a row group to `each`; how many rows there are.
pub(super) fn items(
    reader: ColumnReader,
    levels: &Levels,
    file: &str,
    each: &mut EachItem<'_>,
) -> Result<usize, ReadError> {
    match reader {
        ColumnReader::BoolColumnReader(reader) => {
            drain(reader, levels, file, &mut |r, v| each(r, v.map(|v| Value::Bool(*v))))
        }
        ColumnReader::Int32ColumnReader(reader) => {
            drain(reader, levels, file, &mut |r, v| each(r, v.map(|v| Value::Int32(*v))))
        }
        ColumnReader::Int64ColumnReader(reader) => {
            drain(reader, levels, file, &mut |r, v| each(r, v.map(|v| Value::Int64(*v))))
        }
        ColumnReader::FloatColumnReader(reader) => drain(reader, levels, file, &mut |r, v| {
            each(r, v.map(|v| Value::Double(f64::from(*v))))
        }),
        ColumnReader::DoubleColumnReader(reader) => {
            drain(reader, levels, file, &mut |r, v| each(r, v.map(|v| Value::Double(*v))))
        }
        _ => Err(ReadError::damaged(file, "a list holds what its type does not tell")),
    }
}

fn drain<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    levels: &Levels,
    file: &str,
    each: &mut dyn FnMut(Spot, Option<&T::T>) -> Done,
) -> Result<usize, ReadError> {
    let (mut definition, mut repetition, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let mut rows = 0;
    loop {
        definition.clear();
        repetition.clear();
        values.clear();
        let levels_read = (Some(&mut definition), Some(&mut repetition));
        let read = reader.read_records(BATCH, levels_read.0, levels_read.1, &mut values);
        let (records, _, _) = read.map_err(|error| damaged(file, &error))?;
        if records == 0 {
            return Ok(rows);
        }
        let (mut next, mut row) = (values.iter(), rows);
        for (k, (&level, &repeated)) in definition.iter().zip(&repetition).enumerate() {
            if repeated == 0 && k > 0 {
                row += 1;
            }
            if level >= levels.item {
                let value = if level == levels.full { next.next() } else { None };
                each(Spot { row, repeated }, value)?;
            }
        }
        rows += records;
    }
}

impl<R: ChunkReader + 'static> ParquetColumns<R> {
    /// A place of all lists. All places are read at once and kept until another column is asked
    /// for.
    pub(super) fn items(&mut self, column: usize) -> Result<Vec<f64>, ReadError> {
        let Leaf { number, item: Some((place, width)) } = self.leaves[column] else {
            return Err(self.unsuitable(column));
        };
        if self.lists.as_ref().is_none_or(|(known, _)| *known != number) {
            self.lists = None;
            self.check_size(width)?;
            self.lists = Some((number, self.all_items(column, number, width)?));
        }
        let lists = self.lists.as_ref().map_or(&[][..], |(_, lists)| lists);
        Ok(lists.iter().skip(place).step_by(width).copied().collect())
    }

    /// The lists of all rows, one after the other.
    fn all_items(&self, column: usize, number: usize, width: usize) -> Result<Vec<f64>, ReadError> {
        let descriptor = self.descriptor(column);
        let (levels, sense) = (Levels::of(&descriptor), Sense::of_item(&descriptor));
        let mut lists: Vec<f64> = Vec::new();
        let mut first = 0;
        for group in 0..self.reader.num_row_groups() {
            let group = self.reader.get_row_group(group);
            let group = group.map_err(|error| damaged(&self.file, &error))?;
            let reader = group.get_column_reader(number);
            let reader = reader.map_err(|error| damaged(&self.file, &error))?;
            let rows = items(reader, &levels, &self.file, &mut |spot, value| {
                let before = (first + spot.row) * width;
                // All rows before are whole, and this one is not too long.
                if lists.len() < before || lists.len() >= before + width {
                    return Err(self.uneven(column, width));
                }
                let number = value.map_or(Some(f64::NAN), |value| value.number(sense));
                lists.push(number.ok_or_else(|| self.too_large(column))?);
                Ok(())
            })?;
            first += rows;
            if lists.len() != first * width {
                return Err(self.uneven(column, width));
            }
        }
        if first != self.rows {
            let reason =
                format!("column '{}' has {first} rows of {}", self.names[column], self.rows);
            return Err(ReadError::damaged(&self.file, &reason));
        }
        Ok(lists)
    }

    fn uneven(&self, column: usize, width: usize) -> ReadError {
        let name = &self.names[column];
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let reason = format!("the lists of column '{name}' are not all of {width} numbers");
        ReadError::unsuitable(&self.file, &reason, "leave the column out, or write a row for each")
    }
}

//! Tables in Parquet files: only the columns that are asked for are read.
//!
//! A column is stored in row groups. Numbers and texts of a group come without their gaps, and a
//! level for each row says whether it has a value.

use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parquet::basic::{
    Compression, ConvertedType, IntType, LogicalType, Repetition, Type as Physical,
};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnDescriptor, Type};

pub(crate) use self::episodes::open;
use self::lists::Leaf;
use crate::error::{Place, ReadError};
use crate::limits::Limits;
use crate::tables::arrays::ColumnSource;
use crate::tables::keys::KeyColumn;
use crate::write::table::{OutColumn, OutTable, push_number};

mod days;
mod episodes;
mod lists;

/// Rows read at a time.
const BATCH: usize = 1 << 13;
/// Rows written into one group.
const GROUP: usize = 1 << 20;
/// Whole numbers up to this size are doubles.
const EXACT: u64 = 1 << 53;

/// What is done with a row went well, or ends the reading.
type Done = Result<(), ReadError>;

/// The columns of a file.
struct ParquetColumns<R: ChunkReader + 'static> {
    file: String,
    names: Vec<String>,
    leaves: Vec<Leaf>,
    /// Lists that were read last, with the column of the file that they are from.
    lists: Option<(usize, Vec<f64>)>,
    rows: usize,
    reader: SerializedFileReader<R>,
    limits: Limits,
    /// Bytes of the file.
    length: u64,
}

/// What a column's numbers stand for.
#[derive(Clone, Copy, PartialEq)]
enum Sense {
    Plain,
    Unsigned,
    /// To be divided by this power of ten.
    Decimal(f64),
    Text,
    /// A date or a time.
    Time,
    /// A list, or bytes of no known meaning.
    Other,
}

impl Sense {
    fn of(column: &ColumnDescriptor) -> Self {
        if column.max_rep_level() > 0 { Self::Other } else { Self::of_item(column) }
    }

    /// The same of what is in the lists of a column.
    fn of_item(column: &ColumnDescriptor) -> Self {
        let (logical, converted) = (column.logical_type_ref(), column.converted_type());
        match column.physical_type() {
            Physical::BYTE_ARRAY => match (logical, converted) {
                (Some(LogicalType::Decimal { .. }), _) | (_, ConvertedType::DECIMAL) => Self::Other,
                _ => Self::Text,
            },
            Physical::INT96 => Self::Time,
            Physical::FIXED_LEN_BYTE_ARRAY => Self::Other,
            Physical::INT32 | Physical::INT64 => match (logical, converted) {
                (Some(LogicalType::Decimal { .. }), _) | (_, ConvertedType::DECIMAL) => {
                    Self::Decimal(10_f64.powi(column.type_scale()))
                }
                (
                    Some(
                        LogicalType::Date
                        | LogicalType::Time { .. }
                        | LogicalType::Timestamp { .. },
                    ),
                    _,
                )
                | (
                    None,
                    ConvertedType::DATE
                    | ConvertedType::TIME_MILLIS
                    | ConvertedType::TIME_MICROS
                    | ConvertedType::TIMESTAMP_MILLIS
                    | ConvertedType::TIMESTAMP_MICROS,
                ) => Self::Time,
                (Some(LogicalType::Integer(IntType { is_signed: false, .. })), _)
                | (_, ConvertedType::UINT_32 | ConvertedType::UINT_64) => Self::Unsigned,
                _ => Self::Plain,
            },
            _ => Self::Plain,
        }
    }
}

impl<R: ChunkReader + 'static> ParquetColumns<R> {
    fn open(input: R, limits: Limits, file: &str) -> Result<Self, ReadError> {
        let length = input.len();
        let reader = guarded(file, || {
            SerializedFileReader::new(input).map_err(|error| damaged(file, &error))
        })?;
        let metadata = reader.metadata().file_metadata();
        let rows = usize::try_from(metadata.num_rows()).unwrap_or(0);
        limits.check_columns(metadata.schema_descr().num_columns(), file)?;
        let (names, leaves) = lists::leaves(reader.metadata(), &limits, file)?;
        if rows == 0 || names.is_empty() {
            return Err(ReadError::unsuitable(file, "has no rows", "expected at least one row"));
        }
        limits.check_columns(names.len(), file)?;
        let file = file.to_owned();
        Ok(Self { file, names, leaves, lists: None, rows, reader, limits, length })
    }

    fn descriptor(&self, column: usize) -> Arc<ColumnDescriptor> {
        self.reader.metadata().file_metadata().schema_descr().column(self.leaves[column].number)
    }

    /// Hands every row of a column to `each`; `None` where it has no value.
    fn for_each(
        &self,
        column: usize,
        each: &mut dyn FnMut(usize, Option<Value<'_>>) -> Done,
    ) -> Result<(), ReadError> {
        guarded(&self.file, || self.each_row(column, each))
    }

    fn each_row(
        &self,
        column: usize,
        each: &mut dyn FnMut(usize, Option<Value<'_>>) -> Done,
    ) -> Result<(), ReadError> {
        let failed = |error: &ParquetError| damaged(&self.file, error);
        let levels = self.descriptor(column).max_def_level();
        let mut row = 0;
        for group in 0..self.reader.num_row_groups() {
            let group = self.reader.get_row_group(group).map_err(|error| failed(&error))?;
            let number = self.leaves[column].number;
            let reader = group.get_column_reader(number).map_err(|error| failed(&error))?;
            macro_rules! drain {
                ($reader:expr, $value:expr) => {
                    self.drain($reader, levels, &mut row, &mut |row, value| {
                        each(row, value.map($value))
                    })
                };
            }
            match reader {
                ColumnReader::BoolColumnReader(reader) => {
                    drain!(reader, |v: &bool| Value::Bool(*v))
                }
                ColumnReader::Int32ColumnReader(reader) => {
                    drain!(reader, |v: &i32| Value::Int32(*v))
                }
                ColumnReader::Int64ColumnReader(reader) => {
                    drain!(reader, |v: &i64| Value::Int64(*v))
                }
                ColumnReader::FloatColumnReader(reader) => {
                    drain!(reader, |v: &f32| Value::Double(f64::from(*v)))
                }
                ColumnReader::DoubleColumnReader(reader) => {
                    drain!(reader, |v: &f64| Value::Double(*v))
                }
                ColumnReader::ByteArrayColumnReader(reader) => {
                    drain!(reader, |v: &ByteArray| Value::Bytes(v.data()))
                }
                _ => Err(self.unsuitable(column)),
            }?;
        }
        if row == self.rows {
            return Ok(());
        }
        let reason = format!("column '{}' has {row} rows of {}", self.names[column], self.rows);
        Err(ReadError::damaged(&self.file, &reason))
    }

    /// One row group of a column.
    fn drain<T: DataType>(
        &self,
        mut reader: ColumnReaderImpl<T>,
        full: i16,
        row: &mut usize,
        each: &mut dyn FnMut(usize, Option<&T::T>) -> Done,
    ) -> Result<(), ReadError> {
        let (mut levels, mut values) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
        loop {
            levels.clear();
            values.clear();
            let read =
                reader.read_records(BATCH, (full > 0).then_some(&mut levels), None, &mut values);
            let (records, _, _) = read.map_err(|error| damaged(&self.file, &error))?;
            if records == 0 {
                return Ok(());
            }
            let mut next = values.iter();
            for k in 0..records {
                if *row == self.rows {
                    let reason = format!("it has more rows than the {} it tells of", self.rows);
                    return Err(ReadError::damaged(&self.file, &reason));
                }
                let there = levels.get(k).is_none_or(|&level| level == full);
                each(*row, if there { next.next() } else { None })?;
                *row += 1;
            }
        }
    }

    fn place(&self, row: usize, column: usize) -> Place {
        let name = Some(self.names[column].clone());
        Place { file: self.file.clone(), line: row + 1, column: column + 1, name, by_row: true }
    }

    fn too_large(&self, column: usize) -> ReadError {
        let reason = format!("column '{}' has whole numbers above 2^53", self.names[column]);
        let expected = "a double does not hold them, so leave the column out";
        ReadError::unsuitable(&self.file, &reason, expected)
    }

    fn unsuitable(&self, column: usize) -> ReadError {
        let what = match Sense::of(&self.descriptor(column)) {
            Sense::Time => "dates or times",
            Sense::Other => "lists or bytes",
            _ => "values of a type that is not read",
        };
        let reason = format!("column '{}' holds {what}", self.names[column]);
        ReadError::unsuitable(&self.file, &reason, "turn it into numbers, or leave the column out")
    }
}

/// A value as it is stored.
enum Value<'a> {
    Bool(bool),
    Int32(i32),
    Int64(i64),
    Double(f64),
    Bytes(&'a [u8]),
}

impl Value<'_> {
    /// As a number; `None` if it has no exact double.
    fn number(&self, sense: Sense) -> Option<f64> {
        let exact = |size: u64| size <= EXACT;
        Some(match (self, sense) {
            (Self::Bool(value), _) => f64::from(u8::from(*value)),
            (Self::Double(value), _) => *value,
            (Self::Int32(value), Sense::Decimal(unit)) => f64::from(*value) / unit,
            (Self::Int32(value), Sense::Unsigned) => f64::from(value.cast_unsigned()),
            (Self::Int32(value), _) => f64::from(*value),
            (Self::Int64(value), Sense::Unsigned) => {
                Some(value.cast_unsigned()).filter(|&value| exact(value))? as f64
            }
            (Self::Int64(value), _) => {
                let whole = Some(*value).filter(|value| exact(value.unsigned_abs()))? as f64;
                if let Sense::Decimal(unit) = sense { whole / unit } else { whole }
            }
            (Self::Bytes(_), _) => return None,
        })
    }
}

impl<R: ChunkReader + 'static> ColumnSource for ParquetColumns<R> {
    fn file(&self) -> &str {
        &self.file
    }

    fn names(&self) -> &[String] {
        &self.names
    }

    fn named(&self) -> bool {
        true
    }

    /// What data frames call an index that has no name.
    fn labels(&self) -> Option<usize> {
        self.names.iter().position(|name| name == "__index_level_0__")
    }

    fn rows(&self) -> usize {
        self.rows
    }

    /// Equal values in a row take hardly any room, and the number of rows is only what the file
    /// says.
    fn check_size(&self, columns: usize) -> Result<(), ReadError> {
        let numbers = self.rows.saturating_mul(columns);
        let bytes = (numbers as u64).saturating_mul(size_of::<f64>() as u64);
        self.limits.check_expansion(bytes, self.length, &self.file)?;
        self.limits.check_numbers(numbers, &self.file)
    }

    fn numbers(&mut self, column: usize) -> Result<Vec<f64>, ReadError> {
        if self.leaves[column].item.is_some() {
            let file = self.file.clone();
            return guarded(&file, || self.items(column));
        }
        let sense = Sense::of(&self.descriptor(column));
        if matches!(sense, Sense::Time | Sense::Other) {
            return Err(self.unsuitable(column));
        }
        // The number of rows is only what the file says, so that of many rows memory is taken as
        // they come.
        let mut numbers = Vec::with_capacity(self.rows.min(GROUP));
        self.for_each(column, &mut |row, value| {
            numbers.push(match value {
                None => f64::NAN,
                Some(Value::Bytes(bytes)) => {
                    let text = String::from_utf8_lossy(bytes).into_owned();
                    return Err(ReadError::NotANumber { place: self.place(row, column), text });
                }
                Some(value) => value.number(sense).ok_or_else(|| self.too_large(column))?,
            });
            Ok(())
        })?;
        numbers.shrink_to_fit();
        Ok(numbers)
    }

    fn keys(&mut self, column: usize, keys: &mut KeyColumn) -> Result<(), ReadError> {
        self.read_keys(column, keys)
    }

    fn days(&mut self, column: usize) -> Result<Option<Vec<String>>, ReadError> {
        self.dates(column)
    }
}

impl<R: ChunkReader + 'static> ParquetColumns<R> {
    fn read_keys(&self, column: usize, keys: &mut KeyColumn) -> Result<(), ReadError> {
        let sense = Sense::of(&self.descriptor(column));
        if matches!(sense, Sense::Other) {
            return Err(self.unsuitable(column));
        }
        let mut text = String::new();
        self.for_each(column, &mut |row, value| {
            text.clear();
            match value {
                None => {
                    keys.push_missing();
                    return Ok(());
                }
                Some(Value::Bytes(bytes)) => match std::str::from_utf8(bytes) {
                    Ok("") => keys.push_missing(),
                    Ok(bytes) => keys.push(bytes),
                    Err(_) => {
                        return Err(ReadError::NotUtf8 { file: self.file.clone(), line: row + 1 });
                    }
                },
                Some(Value::Bool(value)) => keys.push(if value { "true" } else { "false" }),
                Some(Value::Int64(value)) if sense == Sense::Unsigned => {
                    keys.push(&value.cast_unsigned().to_string());
                }
                Some(Value::Int64(value)) if !matches!(sense, Sense::Decimal(_)) => {
                    keys.push(&value.to_string());
                }
                Some(value) => match value.number(sense) {
                    Some(number) if number.is_nan() => keys.push_missing(),
                    Some(number) => {
                        push_number(&mut text, number);
                        keys.push(&text);
                    }
                    None => return Err(self.unsuitable(column)),
                },
            }
            Ok(())
        })
    }
}

/// What the crate below asserts of a file need not be so: where it panics, the file is damaged.
fn guarded<T>(file: &str, read: impl FnOnce() -> Result<T, ReadError>) -> Result<T, ReadError> {
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(ReadError::damaged(file, "its parts do not fit together")))
}

fn damaged(file: &str, error: &ParquetError) -> ReadError {
    ReadError::damaged(file, &error.to_string())
}

/// Writes a table, packed by snappy, as most programs do.
pub(crate) fn write(
    table: &OutTable,
    rows: usize,
    out: &mut (impl Write + Send),
) -> io::Result<()> {
    write_groups(table, rows, out).map_err(io::Error::other)
}

fn write_groups(
    table: &OutTable,
    rows: usize,
    out: &mut (impl Write + Send),
) -> Result<(), ParquetError> {
    let field = |(name, column): &(String, OutColumn)| {
        let (physical, logical) = match column {
            OutColumn::Numbers(_) => (Physical::DOUBLE, None),
            OutColumn::Texts(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            OutColumn::Whole(_) => (Physical::INT64, Some(LogicalType::integer(64, false))),
        };
        let built = Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(logical)
            .build();
        built.map(Arc::new)
    };
    let fields = table.columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
    let schema = Type::group_type_builder("table").with_fields(fields).build()?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
    for from in (0..rows).step_by(GROUP) {
        let part = from..rows.min(from + GROUP);
        let mut group = writer.next_row_group()?;
        for (_, column) in &table.columns {
            let Some(mut chunk) = group.next_column()? else { break };
            match column {
                OutColumn::Numbers(values) => {
                    chunk.typed::<DoubleType>().write_batch(&values[part.clone()], None, None)?;
                }
                OutColumn::Texts(texts) => {
                    let texts: Vec<ByteArray> = texts[part.clone()]
                        .iter()
                        .map(|text| ByteArray::from(text.as_str()))
                        .collect();
                    chunk.typed::<ByteArrayType>().write_batch(&texts, None, None)?;
                }
                OutColumn::Whole(values) => {
                    let values: Vec<i64> =
                        values[part.clone()].iter().map(|value| value.cast_signed()).collect();
                    chunk.typed::<Int64Type>().write_batch(&values, None, None)?;
                }
            }
            chunk.close()?;
        }
        group.close()?;
    }
    writer.close().map(drop)
}

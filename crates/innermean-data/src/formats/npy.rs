//! Arrays of numpy: the npy format, versions 1 to 3.
//!
//! A file is the magic bytes, a version, the length of a header, the header (a Python dictionary
//! with the type, the order and the shape), and the numbers. They are converted piece by piece into
//! one vector of doubles, row after row.

use std::io::{self, Read, Write};

use crate::error::ReadError;
use crate::limits::{Limits, make_room, out_of_memory};
use crate::source::unreadable;
use crate::wording::quoted;

pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";
/// Types that are written.
pub(crate) const DOUBLE: &str = "<f8";
pub(crate) const WHOLE: &str = "<u8";

/// No more doubles have an address.
const MOST_NUMBERS: usize = isize::MAX as usize / size_of::<f64>();
/// Bytes converted at a time.
const PIECE: usize = 1 << 16;
/// A header has a hundred bytes, and those of many fields, which are not read, some thousands.
const LONGEST_HEADER: u32 = 1 << 20;

/// An array of one or two dimensions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Array {
    pub(crate) rows: usize,
    /// `None` for a vector.
    pub(crate) columns: Option<usize>,
    /// Row after row.
    pub(crate) values: Vec<f64>,
}

impl Array {
    /// The length of a row.
    pub(crate) fn width(&self) -> usize {
        self.columns.unwrap_or(1)
    }

    /// One column of it.
    pub(crate) fn column(&self, column: usize) -> Vec<f64> {
        self.values.iter().skip(column).step_by(self.width()).copied().collect()
    }
}

/// What the header says.
#[derive(Debug, PartialEq, Eq)]
struct Header {
    kind: Kind,
    big_endian: bool,
    by_columns: bool,
    shape: Vec<usize>,
    /// Where the numbers begin, in bytes.
    start: usize,
}

/// The type of the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Float(usize),
    Signed(usize),
    Unsigned(usize),
    Bool,
}

impl Kind {
    fn of(letter: u8, size: &str) -> Option<Self> {
        match (letter, size) {
            (b'f', "4") => Some(Self::Float(4)),
            (b'f', "8") => Some(Self::Float(8)),
            (b'i' | b'u', "1" | "2" | "4" | "8") => {
                let bytes = size.parse().ok()?;
                Some(if letter == b'i' { Self::Signed(bytes) } else { Self::Unsigned(bytes) })
            }
            (b'b', "1") => Some(Self::Bool),
            _ => None,
        }
    }

    fn size(self) -> usize {
        match self {
            Self::Float(size) | Self::Signed(size) | Self::Unsigned(size) => size,
            Self::Bool => 1,
        }
    }

    /// Appends numbers from little-endian bytes; false if one has no exact double.
    fn convert(self, bytes: &[u8], out: &mut Vec<f64>) -> bool {
        /// Whole numbers up to this size are doubles.
        const EXACT: u64 = 1 << 53;
        macro_rules! extend {
            ($type:ty) => {
                out.extend(
                    bytes.as_chunks().0.iter().map(|b| f64::from(<$type>::from_le_bytes(*b))),
                )
            };
        }
        match self {
            Self::Float(8) => extend!(f64),
            Self::Float(_) => extend!(f32),
            Self::Signed(1) => extend!(i8),
            Self::Signed(2) => extend!(i16),
            Self::Signed(4) => extend!(i32),
            Self::Unsigned(1) => extend!(u8),
            Self::Unsigned(2) => extend!(u16),
            Self::Unsigned(4) => extend!(u32),
            Self::Bool => out.extend(bytes.iter().map(|&b| f64::from(u8::from(b != 0)))),
            Self::Signed(_) => {
                let values = bytes.as_chunks().0.iter().map(|b| i64::from_le_bytes(*b));
                let exact = values.clone().all(|value| value.unsigned_abs() <= EXACT);
                out.extend(values.map(|value| value as f64));
                return exact;
            }
            Self::Unsigned(_) => {
                let values = bytes.as_chunks().0.iter().map(|b| u64::from_le_bytes(*b));
                let exact = values.clone().all(|value| value <= EXACT);
                out.extend(values.map(|value| value as f64));
                return exact;
            }
        }
        true
    }
}

impl Header {
    /// Rows, columns and the bytes that these numbers take, of which there are at most `room`.
    fn extent(&self, room: u64, file: &str) -> Result<(usize, Option<usize>, usize), ReadError> {
        let (rows, columns) = match self.shape[..] {
            [rows] => (rows, None),
            [rows, columns] => (rows, Some(columns)),
            _ => {
                let reason = format!("has {} dimensions", self.shape.len());
                return Err(ReadError::unsuitable(file, &reason, "expected a matrix or a vector"));
            }
        };
        let count = rows.checked_mul(columns.unwrap_or(1)).filter(|&count| count <= MOST_NUMBERS);
        let Some(bytes) = count.and_then(|count| count.checked_mul(self.kind.size())) else {
            return Err(ReadError::damaged(file, "its shape is impossible"));
        };
        if bytes as u64 > room {
            let reason = format!("it ends too early: its header promises {bytes} bytes of numbers");
            return Err(ReadError::damaged(file, &reason));
        }
        Ok((rows, columns, bytes))
    }
}

/// Reads how many rows and columns an array has; `room` is as in [`read`].
pub(crate) fn read_shape(
    input: &mut dyn Read,
    room: u64,
    file: &str,
) -> Result<(usize, Option<usize>), ReadError> {
    let (rows, columns, _) = read_header(input, file)?.extent(room, file)?;
    Ok((rows, columns))
}

/// Reads an array, `file` being its name in messages. The input has at most `room` bytes, so that a
/// header that promises more is not believed.
pub(crate) fn read(
    input: &mut dyn Read,
    room: u64,
    limits: &Limits,
    file: &str,
) -> Result<Array, ReadError> {
    let header = read_header(input, file)?;
    let (rows, columns, mut left) = header.extent(room, file)?;
    let size = header.kind.size();
    if left == 0 {
        return Err(ReadError::unsuitable(file, "has no numbers", "expected at least one row"));
    }
    limits.check_numbers(left / size, file)?;
    let by_columns = header.is_by_columns();
    let mut matrix = if by_columns { zeros(left / size, file)? } else { Vec::new() };
    // Packed numbers may be fewer than their header promises: otherwise memory is taken as they
    // come.
    let mut values: Vec<f64> = Vec::new();
    let (mut done, mut piece) = (0, Vec::new());
    while left > 0 {
        piece.resize(PIECE.min(left), 0);
        header.read_numbers(input, &mut piece, &mut values, file)?;
        left -= piece.len();
        if by_columns {
            scatter(&values, done, rows, &mut matrix);
            done += values.len();
            values.clear();
        }
    }
    if by_columns {
        values = matrix;
    }
    values.shrink_to_fit();
    Ok(Array { rows, columns, values })
}

impl Header {
    /// Whether numbers that follow each other stand below each other.
    fn is_by_columns(&self) -> bool {
        self.by_columns && matches!(self.shape[..], [rows, columns] if rows > 1 && columns > 1)
    }

    /// Appends the numbers of the next bytes, which fill `bytes`.
    fn read_numbers(
        &self,
        input: &mut dyn Read,
        bytes: &mut [u8],
        values: &mut Vec<f64>,
        file: &str,
    ) -> Result<(), ReadError> {
        let size = self.kind.size();
        input.read_exact(bytes).map_err(|source| unreadable(file, source))?;
        if self.big_endian {
            bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
        }
        make_room(values, bytes.len() / size, file)?;
        if self.kind.convert(bytes, values) {
            return Ok(());
        }
        let advice = "save it as float64, or leave such columns out";
        Err(ReadError::unsuitable(
            file,
            "has whole numbers above 2^53, which a double does not hold",
            advice,
        ))
    }
}

/// An array that is read some rows at a time.
pub(crate) struct Pieces<'a> {
    input: Box<dyn Read + 'a>,
    header: Header,
    file: String,
    pub(crate) rows: usize,
    pub(crate) columns: Option<usize>,
    /// Rows that have been read.
    pub(crate) done: usize,
}

impl<'a> Pieces<'a> {
    /// As [`read`], of an array that stands row after row.
    pub(crate) fn new(
        mut input: Box<dyn Read + 'a>,
        room: u64,
        file: &str,
    ) -> Result<Self, ReadError> {
        let header = read_header(&mut input, file)?;
        let (rows, columns, bytes) = header.extent(room, file)?;
        if bytes == 0 {
            return Err(ReadError::unsuitable(file, "has no numbers", "expected at least one row"));
        }
        if header.is_by_columns() {
            let advice = "save it row after row, as by numpy.ascontiguousarray";
            return Err(ReadError::unsuitable(
                file,
                "stands column after column, and is read a few rows at a time",
                advice,
            ));
        }
        Ok(Self { input, header, file: file.to_owned(), rows, columns, done: 0 })
    }

    /// Where its numbers begin, in bytes, if they are doubles as this machine has them.
    pub(crate) fn doubles_from(&self) -> Option<usize> {
        let Header { kind, big_endian, start, .. } = &self.header;
        (*kind == Kind::Float(8) && !big_endian).then_some(*start)
    }

    /// The next rows, at most so many; no rows past the last.
    pub(crate) fn next(&mut self, most: usize) -> Result<Array, ReadError> {
        let rows = most.min(self.rows - self.done);
        let size = self.header.kind.size();
        let mut left = rows * self.columns.unwrap_or(1) * size;
        let mut values = Vec::with_capacity(left / size);
        let mut piece = Vec::new();
        while left > 0 {
            piece.resize(PIECE.min(left), 0);
            self.header.read_numbers(&mut self.input, &mut piece, &mut values, &self.file)?;
            left -= piece.len();
        }
        self.done += rows;
        Ok(Array { rows, columns: self.columns, values })
    }
}

/// Room for a matrix that cannot be filled in order.
pub(crate) fn zeros(count: usize, file: &str) -> Result<Vec<f64>, ReadError> {
    Vec::<f64>::new().try_reserve_exact(count).map_err(|_| out_of_memory(file))?;
    Ok(vec![0.0; count])
}

/// Puts numbers that stand column after column, the first of them being number `done`, where they
/// belong row after row.
pub(crate) fn scatter(by_columns: &[f64], done: usize, rows: usize, matrix: &mut [f64]) {
    let columns = matrix.len() / rows;
    let (mut row, mut column) = (done % rows, done / rows);
    for &value in by_columns {
        matrix[row * columns + column] = value;
        row += 1;
        if row == rows {
            (row, column) = (0, column + 1);
        }
    }
}

fn read_header(input: &mut dyn Read, file: &str) -> Result<Header, ReadError> {
    let mut start = [0; 8];
    input.read_exact(&mut start).map_err(|source| unreadable(file, source))?;
    if !start.starts_with(MAGIC) {
        return Err(ReadError::damaged(file, "it does not begin as an npy array"));
    }
    let wide = match start[6] {
        1 => false,
        2 | 3 => true,
        version => {
            return Err(ReadError::damaged(file, &format!("version {version} of npy is unknown")));
        }
    };
    let mut length = [0; 4];
    let bytes = if wide { &mut length[..] } else { &mut length[..2] };
    let bytes_of_length = bytes.len();
    input.read_exact(bytes).map_err(|source| unreadable(file, source))?;
    let length = u32::from_le_bytes(length);
    if length > LONGEST_HEADER {
        return Err(ReadError::damaged(file, &format!("its header has {length} bytes")));
    }
    let mut text = Vec::new();
    let read = input.take(u64::from(length)).read_to_end(&mut text);
    read.map_err(|source| unreadable(file, source))?;
    if text.len() < length as usize {
        return Err(ReadError::damaged(file, "it ends too early"));
    }
    let header = parse_header(&String::from_utf8_lossy(&text), file)?;
    Ok(Header { start: start.len() + bytes_of_length + text.len(), ..header })
}

/// `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.
fn parse_header(text: &str, file: &str) -> Result<Header, ReadError> {
    let value = |key: &str| {
        let quoted = [format!("'{key}'"), format!("\"{key}\"")];
        let at = quoted.iter().find_map(|quoted| text.find(quoted).map(|at| at + quoted.len()));
        let rest = at.and_then(|at| text[at..].trim_start().strip_prefix(':')).map(str::trim_start);
        rest.ok_or_else(|| ReadError::damaged(file, &format!("its header has no {key}")))
    };
    let shape = value("shape")?;
    let shape =
        shape.strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(inside, _)| inside);
    let lengths = shape.map(|inside| {
        let lengths = inside.split(',').map(|length| length.trim().trim_end_matches('L'));
        lengths
            .filter(|length| !length.is_empty())
            .map(str::parse)
            .collect::<Result<Vec<usize>, _>>()
    });
    let Some(Ok(shape)) = lengths else {
        return Err(ReadError::damaged(file, "its header has a strange shape"));
    };
    let by_columns = value("fortran_order")?.starts_with("True");
    let kind = value("descr")?;
    let kind = match kind.chars().next() {
        Some(quote @ ('\'' | '"')) => kind[1..].split(quote).next().unwrap_or_default(),
        _ => {
            return Err(ReadError::unsuitable(
                file,
                "has fields of several types",
                "save the columns as one array of numbers",
            ));
        }
    };
    let (order, rest) = match kind.as_bytes().first() {
        Some(order @ (b'<' | b'>' | b'|' | b'=')) => (*order, &kind[1..]),
        _ => (b'=', kind),
    };
    let found = rest.as_bytes().first().and_then(|&letter| Kind::of(letter, rest.get(1..)?));
    let Some(kind) = found else {
        let advice = "expected whole numbers, float32, float64 or bool";
        return Err(ReadError::unsuitable(
            file,
            &format!("holds values of type {}", quoted(kind)),
            advice,
        ));
    };
    Ok(Header { kind, big_endian: order == b'>', by_columns, shape, start: 0 })
}

/// Writes what comes before the numbers, which follow in the order of rows.
pub(crate) fn write_header(out: &mut impl Write, kind: &str, shape: &[usize]) -> io::Result<()> {
    write_padded_header(out, kind, shape, 0)
}

/// The same in so many bytes at least.
pub(crate) fn write_padded_header(
    out: &mut impl Write,
    kind: &str,
    shape: &[usize],
    least: usize,
) -> io::Result<()> {
    let shape: Vec<String> = shape.iter().map(usize::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let text = format!(
        "{{'descr': '{kind}', 'fortran_order': False, 'shape': ({}{comma}), }}",
        shape.join(", ")
    );
    // Magic, version and length take 10 bytes; the numbers begin at a multiple of 64, after a line
    // feed.
    let length = (10 + text.len() + 1).max(least).next_multiple_of(64) - 10;
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&(length as u16).to_le_bytes())?;
    writeln!(out, "{text:<width$}", width = length - 1)
}

//! A table made into a file of rows.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::checksum::{Checksum, LeafSums};
use super::description::{Beside, Description, HEADER};
use crate::error::ReadError;
use crate::formats::npy;
use crate::limits::Limits;
use crate::tables::columns::{Ask, Columns, FeatureColumns, Header};
use crate::tables::frame::Frame;
use crate::tables::keys::KeyColumn;
use crate::tables::missing::{Dropped, Missing};
use crate::write::file::{OutFile, WriteError};

/// Rows that are read at a time.
const PIECE: usize = 4096;

/// What a file of rows is to hold.
#[derive(Debug, Clone, Default)]
pub struct Conversion {
    /// The columns of numbers that describe a row.
    pub features: FeatureColumns,
    /// Columns that are kept beside the rows as numbers, such as targets; a missing one stays so.
    pub numbers: Vec<String>,
    /// Columns that are kept beside the rows as texts, such as classes; a missing one stays so.
    pub texts: Vec<String>,
    /// A column of texts by which the rows are sorted, in the order of their first appearance.
    pub group: Option<String>,
    /// Whether a 1 is put behind each row, as linear models with an intercept take it.
    pub ones: bool,
    /// What becomes of missing features.
    pub missing: Missing,
}

/// What was written.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Converted {
    /// How many rows.
    pub rows: usize,
    /// The names of the features.
    pub features: Vec<String>,
    /// The names of the columns beside them.
    pub beside: Vec<String>,
    /// How many groups rows are sorted by, if they are.
    pub groups: Option<usize>,
    /// The size of the file.
    pub bytes: u64,
    /// What was left out because of missing values.
    pub dropped: Dropped,
    /// What the reader decided; whole sentences.
    pub notes: Vec<String>,
}

/// Why a file of rows was not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// The table cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl Limits {
    /// Makes a file of rows of a table, in memory that does not grow with its features: what is
    /// kept are the columns beside them and, where rows are sorted, the order of these.
    ///
    /// # Errors
    ///
    /// If the table cannot be read or the file not written, which then is not there, or as it was.
    pub fn convert(
        &self,
        table: &Path,
        out: &OutFile,
        conversion: &Conversion,
    ) -> Result<Converted, ConvertError> {
        if out.is_special() {
            let error = io::Error::other("no file that numbers can be looked up in");
            return Err(out.refused(&error).into());
        }
        let mut refused = None;
        let mut made = None;
        let written = out.write(|file| {
            let mut rows = Rows::new(conversion, out)?;
            match rows.read(table, file, self) {
                Ok(frame) => made = Some(rows.finish(frame, file)?),
                Err(error) => refused = Some(error),
            }
            if refused.is_some() { Err(io::Error::other("refused")) } else { Ok(()) }
        });
        match (refused, written, made) {
            (Some(Stopped::Read(error)), ..) => Err(error.into()),
            (Some(Stopped::Write(error)), ..) => Err(out.refused(&error).into()),
            (None, Ok(()), Some(made)) => Ok(made),
            (None, Err(error), _) => Err(error.into()),
            (None, Ok(()), None) => unreachable!("what is written has been made"),
        }
    }
}

/// What ends the way of the rows.
enum Stopped {
    Read(ReadError),
    Write(io::Error),
}

impl From<ReadError> for Stopped {
    fn from(error: ReadError) -> Self {
        Stopped::Read(error)
    }
}

/// Rows on their way.
struct Rows<'c> {
    conversion: &'c Conversion,
    /// Where rows wait that are to be sorted.
    scratch: Option<tempfile::NamedTempFile>,
    width: usize,
    sums: LeafSums,
    numbers: Vec<Vec<f64>>,
    /// Those of the group last.
    texts: Vec<KeyColumn>,
}

impl<'c> Rows<'c> {
    fn new(conversion: &'c Conversion, out: &OutFile) -> io::Result<Self> {
        let sorts = conversion.group.is_some();
        let names = conversion.texts.iter().chain(&conversion.group);
        Ok(Rows {
            conversion,
            scratch: sorts.then(|| out.scratch()).transpose()?,
            width: 0,
            sums: LeafSums::default(),
            numbers: vec![Vec::new(); conversion.numbers.len()],
            texts: names.map(|name| KeyColumn::new(name)).collect(),
        })
    }

    /// Reads the table; what comes back has names and notes.
    fn read(
        &mut self,
        table: &Path,
        file: &mut BufWriter<File>,
        limits: &Limits,
    ) -> Result<Frame, Stopped> {
        let Conversion { features, numbers, texts, group, ones, missing } = self.conversion;
        let blank = |name: &String| Ask::required(name.as_str()).or_blank();
        let mut keys: Vec<Ask> = texts.iter().map(blank).collect();
        keys.extend(group.iter().map(|name| Ask::required(name.as_str())));
        let numbers = numbers.iter().map(blank).collect();
        let columns = Columns { keys, numbers, features: features.clone() };
        let scratch = self.scratch.as_ref().map(|scratch| scratch.as_file().try_clone());
        let mut scratch = scratch.transpose().map_err(Stopped::Write)?.map(BufWriter::new);
        if scratch.is_none() {
            file.write_all(&[0; HEADER as usize]).map_err(Stopped::Write)?;
        }
        let mut bytes = Vec::new();
        let mut take = |frame: Frame| -> Result<(), Stopped> {
            let d = frame.feature_names.len();
            self.width = d + usize::from(*ones);
            bytes.clear();
            for row in frame.features.chunks_exact(d.max(1)) {
                bytes.extend(row.iter().flat_map(|x| x.to_le_bytes()));
                if *ones {
                    bytes.extend(1.0_f64.to_le_bytes());
                }
            }
            let written = if let Some(scratch) = &mut scratch {
                scratch.write_all(&bytes)
            } else {
                self.sums.add(&bytes, 8 * self.width.max(1));
                file.write_all(&bytes)
            };
            written.map_err(Stopped::Write)?;
            for (own, column) in self.numbers.iter_mut().zip(frame.numbers) {
                own.extend(column.unwrap_or_default());
            }
            for (own, keys) in self.texts.iter_mut().zip(frame.keys.into_iter().flatten()) {
                let codes: Vec<u32> = keys.names.iter().map(|name| own.code(name)).collect();
                for &code in &keys.codes {
                    own.push_code(codes[code as usize]);
                }
            }
            Ok(())
        };
        let frame = limits.read_frame_in_pieces(table, &columns, *missing, PIECE, &mut take)?;
        if let Some(mut scratch) = scratch {
            scratch.flush().map_err(Stopped::Write)?;
        }
        if frame.feature_names.is_empty() {
            let advice = "expected at least one beside those that are kept apart";
            let reason = "has no column of features left";
            return Err(ReadError::unsuitable(&frame.source, reason, advice).into());
        }
        Ok(frame)
    }

    /// Writes what stands behind the rows, and the rows in order where they are sorted.
    fn finish(mut self, frame: Frame, file: &mut BufWriter<File>) -> io::Result<Converted> {
        let rows = frame.rows;
        let groups = self.scratch.as_ref().and(self.texts.last()).map(KeyColumn::texts_count);
        let order = self.sort(rows, file)?;
        let placed = |k: usize| order.as_ref().map_or(k, |order| order[k]);
        let mut sum = Checksum::default();
        let mut beside = Vec::new();
        let mut write = |bytes: &mut Vec<u8>| {
            bytes.resize(bytes.len().next_multiple_of(8), 0);
            sum.add(bytes);
            file.write_all(bytes)
        };
        for (name, column) in self.conversion.numbers.iter().zip(&self.numbers) {
            let mut bytes: Vec<u8> =
                (0..rows).flat_map(|k| column[placed(k)].to_le_bytes()).collect();
            write(&mut bytes)?;
            beside.push(Beside { name: named(name, &frame), texts: None });
        }
        let names = self.conversion.texts.iter().chain(&self.conversion.group);
        for (name, column) in names.zip(std::mem::take(&mut self.texts)) {
            let keys = column.finish();
            let mut bytes: Vec<u8> =
                (0..rows).flat_map(|k| keys.codes[placed(k)].to_le_bytes()).collect();
            write(&mut bytes)?;
            beside.push(Beside { name: named(name, &frame), texts: Some(keys.names) });
        }
        let sum_beside = sum.value();
        self.sums.close();
        let description = Description {
            rows,
            features: frame.feature_names.clone(),
            ones: self.conversion.ones,
            source: frame.source.clone(),
            sorted_by: self.conversion.group.as_ref().map(|name| named(name, &frame)),
            beside,
            sums: std::mem::take(&mut self.sums.sums),
            sum_beside,
        };
        file.write_all(&description.tail())?;
        let bytes = file.stream_position()?;
        file.seek(SeekFrom::Start(0))?;
        npy::write_padded_header(file, npy::DOUBLE, &[rows, self.width], HEADER as usize)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Converted {
            rows,
            features: frame.feature_names,
            beside: description.beside.into_iter().map(|column| column.name).collect(),
            groups,
            bytes,
            dropped: frame.dropped,
            notes: frame.notes,
        })
    }

    /// Where each row stood before, if rows are sorted: these are written here.
    fn sort(&mut self, rows: usize, file: &mut BufWriter<File>) -> io::Result<Option<Vec<usize>>> {
        let (Some(scratch), Some(group)) = (self.scratch.take(), self.texts.last()) else {
            return Ok(None);
        };
        let order = group.order();
        file.write_all(&[0; HEADER as usize])?;
        let row = 8 * self.width;
        let most = (super::PIECE / row).max(1);
        let (mut input, mut bytes) = (scratch.as_file(), Vec::new());
        let mut first = 0;
        while first < rows {
            // Rows that stand one after the other are read at once.
            let run = order[first..].windows(2).take(most - 1);
            let run = 1 + run.take_while(|pair| pair[1] == pair[0] + 1).count();
            bytes.resize(run * row, 0);
            input.seek(SeekFrom::Start((order[first] * row) as u64))?;
            input.read_exact(&mut bytes)?;
            self.sums.add(&bytes, row);
            file.write_all(&bytes)?;
            first += run;
        }
        Ok(Some(order))
    }
}

/// The name of a column in the file, which may have been asked for in another way.
fn named(asked: &str, frame: &Frame) -> String {
    let header = Header { file: &frame.source, names: &frame.columns, named: true, labels: None };
    let found = header.find(asked).ok().flatten();
    found.map_or_else(|| asked.to_owned(), |column| frame.columns[column].clone())
}

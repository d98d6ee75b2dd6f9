//! Tables written to files: CSV and TSV, packed or not, JSON, npy and Parquet.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::formats::npy;
use crate::text::cell::is_missing_key;
use crate::text::line::begins_formula;
use crate::write::file::{OutFile, WriteError};

/// A table to be written: predictions, weights.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OutTable {
    /// Names and contents; all columns have as many rows.
    pub columns: Vec<(String, OutColumn)>,
}

/// One column.
#[derive(Debug, Clone, PartialEq)]
pub enum OutColumn {
    /// Numbers, written with as few digits as give them back exactly.
    Numbers(Vec<f64>),
    /// Texts.
    Texts(Vec<String>),
    /// Whole numbers, such as codes and counts.
    Whole(Vec<u64>),
}

impl OutColumn {
    fn len(&self) -> usize {
        match self {
            Self::Numbers(values) => values.len(),
            Self::Texts(texts) => texts.len(),
            Self::Whole(values) => values.len(),
        }
    }
}

/// How a table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Delimited { delimiter: u8, packed: bool },
    Json,
    Npy,
    Parquet,
}

impl Format {
    const KNOWN: &'static str = ".csv, .tsv, .csv.gz, .tsv.gz, .json, .npy, .parquet";

    /// By how the file's name ends.
    fn of(path: &Path) -> Result<Self, WriteError> {
        let name =
            path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        let format = match name.rsplit('.').next().filter(|_| name.contains('.')) {
            Some("csv") => Self::Delimited { delimiter: b',', packed: false },
            Some("tsv") => Self::Delimited { delimiter: b'\t', packed: false },
            Some("gz") if name.ends_with(".csv.gz") => {
                Self::Delimited { delimiter: b',', packed: true }
            }
            Some("gz") if name.ends_with(".tsv.gz") => {
                Self::Delimited { delimiter: b'\t', packed: true }
            }
            Some("json") => Self::Json,
            Some("npy") => Self::Npy,
            Some("parquet") => Self::Parquet,
            _ => {
                return Err(WriteError::UnknownEnding {
                    file: path.display().to_string(),
                    known: Self::KNOWN,
                });
            }
        };
        if format == Self::Parquet && !cfg!(feature = "parquet") {
            return Err(WriteError::NoParquet { file: path.display().to_string() });
        }
        Ok(format)
    }
}

impl OutTable {
    /// Says before a long run whether a table could be written to `path`. `texts` is the name of a
    /// column of texts the table will have, if any; `inputs` are the files that must survive.
    ///
    /// # Errors
    ///
    /// As [`OutTable::write`].
    pub fn check(path: &Path, texts: Option<&str>, inputs: &[&Path]) -> Result<(), WriteError> {
        let format = Format::of(path)?;
        if let (Format::Npy, Some(column)) = (format, texts) {
            return Err(WriteError::Texts {
                file: path.display().to_string(),
                column: column.to_owned(),
            });
        }
        OutFile::check(path, inputs).map(drop)
    }

    /// Writes the table in the format that the ending of `path` says: `.csv`, `.tsv`, these with
    /// `.gz`, `.json`, `.npy`, or `.parquet` if built in. An older file is replaced once all is
    /// written.
    ///
    /// A number that is not finite is `NaN` or `inf` in text and null in JSON. An `.npy` file is a
    /// matrix, or a vector if there is one column, and has no names.
    ///
    /// # Errors
    ///
    /// [`WriteError`]: an unknown ending, texts for `.npy`, a path that cannot be written.
    ///
    /// # Panics
    ///
    /// If the columns are not equally long.
    pub fn write(&self, path: &Path) -> Result<(), WriteError> {
        let rows = self.rows();
        assert!(
            self.columns.iter().all(|(_, column)| column.len() == rows),
            "columns of different lengths"
        );
        let format = Format::of(path)?;
        let texts = self.columns.iter().find(|(_, column)| matches!(column, OutColumn::Texts(_)));
        Self::check(path, texts.map(|(name, _)| name.as_str()), &[])?;
        OutFile::check(path, &[])?.write(|out| match format {
            Format::Delimited { delimiter, packed: false } => self.write_delimited(delimiter, out),
            Format::Delimited { delimiter, packed: true } => {
                let mut packed = GzEncoder::new(out, Compression::fast());
                self.write_delimited(delimiter, &mut packed)?;
                packed.finish().map(drop)
            }
            Format::Json => self.write_json(out),
            Format::Npy => self.write_npy(out),
            #[cfg(feature = "parquet")]
            Format::Parquet => crate::formats::parquet::write(self, rows, out),
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => Err(io::ErrorKind::Unsupported.into()),
        })
    }

    /// Writes the table as CSV, as a `.csv` file has it.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    ///
    /// # Panics
    ///
    /// If a column is shorter than the first.
    pub fn write_csv(&self, out: &mut impl Write) -> io::Result<()> {
        self.write_delimited(b',', out)
    }

    fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }

    fn write_delimited(&self, delimiter: u8, out: &mut impl Write) -> io::Result<()> {
        let mut line = String::new();
        for (j, (name, _)) in self.columns.iter().enumerate() {
            push_text(&mut line, name, j, delimiter);
        }
        line.push('\n');
        for row in 0..self.rows() {
            for (j, (_, column)) in self.columns.iter().enumerate() {
                match column {
                    OutColumn::Texts(texts) => push_text(&mut line, &texts[row], j, delimiter),
                    OutColumn::Numbers(values) => {
                        push_delimiter(&mut line, j, delimiter);
                        push_number(&mut line, values[row]);
                    }
                    OutColumn::Whole(values) => {
                        push_delimiter(&mut line, j, delimiter);
                        let _ = write!(line, "{}", values[row]);
                    }
                }
            }
            line.push('\n');
            if line.len() > 1 << 16 {
                out.write_all(line.as_bytes())?;
                line.clear();
            }
        }
        out.write_all(line.as_bytes())
    }

    fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(b"[")?;
        for row in 0..self.rows() {
            out.write_all(if row == 0 { b"\n  {" } else { b",\n  {" })?;
            for (j, (name, column)) in self.columns.iter().enumerate() {
                if j > 0 {
                    out.write_all(b", ")?;
                }
                serde_json::to_writer(&mut *out, name)?;
                out.write_all(b": ")?;
                match column {
                    OutColumn::Texts(texts) => serde_json::to_writer(&mut *out, &texts[row])?,
                    OutColumn::Numbers(values) => serde_json::to_writer(&mut *out, &values[row])?,
                    OutColumn::Whole(values) => serde_json::to_writer(&mut *out, &values[row])?,
                }
            }
            out.write_all(b"}")?;
        }
        out.write_all(b"\n]\n")
    }

    fn write_npy(&self, out: &mut impl Write) -> io::Result<()> {
        let whole = self.columns.iter().all(|(_, column)| matches!(column, OutColumn::Whole(_)));
        let kind = if whole { npy::WHOLE } else { npy::DOUBLE };
        let shape = [self.rows(), self.columns.len()];
        npy::write_header(out, kind, if shape[1] == 1 { &shape[..1] } else { &shape })?;
        for row in 0..self.rows() {
            for (_, column) in &self.columns {
                out.write_all(&match column {
                    OutColumn::Whole(values) if whole => values[row].to_le_bytes(),
                    OutColumn::Whole(values) => (values[row] as f64).to_le_bytes(),
                    OutColumn::Numbers(values) => values[row].to_le_bytes(),
                    OutColumn::Texts(_) => f64::NAN.to_le_bytes(),
                })?;
            }
        }
        Ok(())
    }
}

fn push_delimiter(line: &mut String, column: usize, delimiter: u8) {
    if column > 0 {
        line.push(delimiter as char);
    }
}

/// A text, in quotes where it would be read as something else without; in quotes and behind an
/// apostrophe where a spreadsheet would take it for a formula. The reader takes both away.
fn push_text(line: &mut String, text: &str, column: usize, delimiter: u8) {
    push_delimiter(line, column, delimiter);
    let special = |b: u8| b == delimiter || matches!(b, b'"' | b'\n' | b'\r');
    let guarded = begins_formula(text);
    let plain =
        !guarded && !is_missing_key(text) && !text.starts_with('#') && !text.bytes().any(special);
    if plain {
        line.push_str(text);
    } else {
        line.push_str(if guarded { "\"'" } else { "\"" });
        line.push_str(&text.replace('"', "\"\""));
        line.push('"');
    }
}

/// The shortest digits that give the number back, with an exponent where they would be many.
pub(crate) fn push_number(line: &mut String, value: f64) {
    let size = value.abs();
    let _ = if size != 0.0 && !(1e-5..1e16).contains(&size) && size.is_finite() {
        write!(line, "{value:e}")
    } else {
        write!(line, "{value}")
    };
}

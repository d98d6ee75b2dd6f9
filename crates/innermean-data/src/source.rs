//! A file as it is opened: what it holds, told by its first bytes, and its text, unpacked if need
//! be.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use flate2::read::MultiGzDecoder;

use crate::error::ReadError;
use crate::formats::npy;
use crate::formats::npz::Archive;
use crate::formats::row_file::RowFile;
use crate::formats::row_file::description::Description;
use crate::limits::{Counted, Limits};
use crate::tables::arrays::{ArchiveColumns, ColumnSource, MatrixColumns};
use crate::text::Text;

mod pipe;

/// Bytes in order, or from any place on.
pub(crate) trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

/// A file or bytes at hand, nothing of which has been used.
pub(crate) struct Source<'a> {
    /// The name in messages.
    pub(crate) file: String,
    kind: Kind,
    /// The part behind the colon of `file.npz:name`.
    member: Option<String>,
    /// The first bytes, which have been taken from `input`.
    head: Vec<u8>,
    input: Box<dyn ReadSeek + 'a>,
    /// What is refused.
    pub(crate) limits: Limits,
    #[cfg_attr(not(any(feature = "parquet", feature = "mat")), allow(dead_code))]
    origin: Origin<'a>,
}

/// Where the bytes are, for readers that open files by themselves.
#[cfg_attr(not(any(feature = "parquet", feature = "mat")), allow(dead_code))]
enum Origin<'a> {
    Path(PathBuf),
    Bytes(&'a [u8]),
}

/// What the first bytes say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Gzip,
    Zip,
    Npy,
    Parquet,
    Mat,
    OldMat,
    Hdf5,
    /// A workbook of Excel before 2007, or another document of that time.
    OldWorkbook,
}

impl Kind {
    fn of(head: &[u8]) -> Self {
        const KINDS: [(&[u8], Kind); 8] = [
            (b"\x1f\x8b", Kind::Gzip),
            (b"PK\x03\x04", Kind::Zip),
            (npy::MAGIC, Kind::Npy),
            (b"PAR1", Kind::Parquet),
            (b"MATLAB 7.3 MAT", Kind::Mat),
            (b"MATLAB 5.0 MAT", Kind::OldMat),
            (b"\x89HDF\r\n", Kind::Hdf5),
            (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Kind::OldWorkbook),
        ];
        KINDS
            .into_iter()
            .find(|(magic, _)| head.starts_with(magic))
            .map_or(Self::Text, |(_, kind)| kind)
    }
}

/// Text, or columns that are numbers already.
pub(crate) enum Content<'a> {
    Text(Text<'a>),
    Columns(Box<dyn ColumnSource + 'a>),
}

impl<'a> Source<'a> {
    pub(crate) fn open(path: &Path, limits: Limits) -> Result<Self, ReadError> {
        let given = path;
        let (path, member) = with_member(path);
        let file = || path.display().to_string();
        if path.is_dir() {
            return Err(ReadError::Directory { file: file() });
        }
        let refused = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound => ReadError::NotFound { file: file() },
            io::ErrorKind::IsADirectory => ReadError::Directory { file: file() },
            _ => ReadError::Unreadable { file: file(), source },
        };
        if let Some(bytes) = pipe::bytes_of(&path, &limits).map_err(refused)? {
            let input = Box::new(Cursor::new(bytes));
            return Self::new(input, file(), member, Origin::Bytes(bytes), limits);
        }
        let opened = File::open(&path).map_err(refused)?;
        let source =
            Self::new(Box::new(opened), file(), member, Origin::Path(path.clone()), limits)?;
        // Other files have no parts that could be named.
        if source.member.is_some() && !matches!(source.kind, Kind::Zip | Kind::Mat) {
            return Err(ReadError::NotFound { file: given.display().to_string() });
        }
        Ok(source)
    }

    pub(crate) fn of_bytes(bytes: &'a [u8], name: &str) -> Result<Self, ReadError> {
        let input = Box::new(Cursor::new(bytes));
        Self::new(input, name.to_owned(), None, Origin::Bytes(bytes), Limits::default())
    }

    fn new(
        mut input: Box<dyn ReadSeek + 'a>,
        file: String,
        member: Option<String>,
        origin: Origin<'a>,
        limits: Limits,
    ) -> Result<Self, ReadError> {
        let mut head = Vec::new();
        let read = input.by_ref().take(16).read_to_end(&mut head);
        read.map_err(|source| ReadError::Unreadable { file: file.clone(), source })?;
        let kind = Kind::of(&head);
        Ok(Self { file, kind, member, head, input, limits, origin })
    }

    /// Whether it is a text, packed or not.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self.kind, Kind::Text | Kind::Gzip)
    }

    /// About how many bytes its numbers take in memory: by the header of an array, by the first
    /// bytes of a text; none where that would take reading it.
    pub(crate) fn numbers_in_memory(self) -> Result<Option<u64>, ReadError> {
        /// Bytes that are looked at.
        const SAMPLE: u64 = 1 << 16;
        /// What packed text unpacks to, of its size.
        const UNPACKED: u64 = 4;
        let packed = self.kind == Kind::Gzip;
        let source = match self.array_in_pieces() {
            Ok(Ok(array)) => {
                let count = array.rows.saturating_mul(array.columns.unwrap_or(1));
                return Ok(Some(8_u64.saturating_mul(count as u64)));
            }
            Ok(Err(source)) => source,
            // What is wrong with it, its reader says.
            Err(_) => return Ok(None),
        };
        if !source.is_text() {
            return Ok(None);
        }
        let mut sample = Vec::new();
        let unpacked = source.unpacked()?;
        let (file, length) = (unpacked.file.clone(), unpacked.length.unwrap_or(0));
        let read = unpacked.take(SAMPLE).read_to_end(&mut sample);
        read.map_err(|source| unreadable(&file, source))?;
        let between = |byte: &&u8| b",;\t|\n ".contains(byte);
        let cells = sample.iter().filter(between).count() as u64;
        let length = if packed { UNPACKED.saturating_mul(length) } else { length };
        Ok(Some((8.0 * cells as f64 * length as f64 / sample.len().max(1) as f64) as u64))
    }

    /// An array of numpy that is read some rows at a time, with no more memory than these take;
    /// of a file of another kind, the file as it was.
    pub(crate) fn array_in_pieces(mut self) -> Result<Result<npy::Pieces<'a>, Self>, ReadError> {
        if self.kind != Kind::Npy {
            return Ok(Err(self));
        }
        let (room, file) = (self.rest(), self.file.clone());
        let input = Box::new(Cursor::new(self.head).chain(self.input));
        Ok(Ok(npy::Pieces::new(input, room, &file)?))
    }

    /// A file of rows that was converted; of any other, the file as it was.
    pub(crate) fn row_file(mut self) -> Result<Result<RowFile<'a>, Self>, ReadError> {
        if self.kind != Kind::Npy {
            return Ok(Err(self));
        }
        Ok(match Description::find(&mut *self.input, &self.file)? {
            Some(found) => Ok(RowFile::new(self.input, found, self.limits, &self.file)?),
            None => Err(self),
        })
    }

    /// A table in whatever form the file has it.
    pub(crate) fn content(self) -> Result<Content<'a>, ReadError> {
        match self.row_file()? {
            Ok(rows) => Ok(Content::Columns(Box::new(rows))),
            Err(source) => source.other_content(),
        }
    }

    fn other_content(mut self) -> Result<Content<'a>, ReadError> {
        match self.kind {
            Kind::Text | Kind::Gzip => Ok(Content::Text(self.text()?)),
            Kind::Npy => {
                let (room, limits) = (self.rest(), self.limits);
                let mut input = Cursor::new(self.head).chain(self.input);
                let array = npy::read(&mut input, room, &limits, &self.file)?;
                Ok(Content::Columns(Box::new(MatrixColumns::new(
                    array, &self.file, None, &limits,
                )?)))
            }
            Kind::Zip => {
                let mut archive = Archive::open(self.input, self.limits, &self.file)?;
                Ok(Content::Columns(match archive.only(self.member.as_deref())? {
                    Some(index) => {
                        let (file, name) = archive.name_of(index);
                        Box::new(MatrixColumns::new(
                            archive.read(index)?,
                            &file,
                            Some(&name),
                            &self.limits,
                        )?)
                    }
                    None => Box::new(ArchiveColumns::new(archive)?),
                }))
            }
            Kind::Parquet => self.parquet(),
            Kind::Mat => self.mat(),
            Kind::OldMat => {
                let advice = "save it with save(..., '-v7.3')";
                Err(ReadError::unsuitable(
                    &self.file,
                    "is a MATLAB file of a version before 7.3",
                    advice,
                ))
            }
            Kind::Hdf5 => self.log(),
            Kind::OldWorkbook => Err(ReadError::Workbook { file: self.file }),
        }
    }

    /// The most bytes that can follow the first ones. A pipe does not say.
    fn rest(&mut self) -> u64 {
        let here = self.input.stream_position();
        let end = here.and_then(|here| {
            let end = self.input.seek(SeekFrom::End(0))?;
            self.input.seek(SeekFrom::Start(here))?;
            Ok(end.saturating_sub(here))
        });
        end.unwrap_or(u64::MAX)
    }

    #[cfg(feature = "parquet")]
    fn parquet(self) -> Result<Content<'a>, ReadError> {
        use crate::formats::parquet;
        Ok(Content::Columns(match self.origin {
            Origin::Path(path) => {
                let opened = File::open(path).map_err(|source| unreadable(&self.file, source))?;
                parquet::open(opened, self.limits, &self.file)?
            }
            Origin::Bytes(bytes) => {
                let bytes = bytes::Bytes::copy_from_slice(bytes);
                parquet::open(bytes, self.limits, &self.file)?
            }
        }))
    }

    #[cfg(not(feature = "parquet"))]
    fn parquet(self) -> Result<Content<'a>, ReadError> {
        Err(ReadError::NotBuiltIn { file: self.file, what: "Parquet", feature: "parquet" })
    }

    #[cfg(feature = "mat")]
    fn hdf5(&self) -> Result<hdf5_pure::File, ReadError> {
        let opened = match &self.origin {
            Origin::Path(path) => hdf5_pure::File::open_streaming(path),
            Origin::Bytes(bytes) => hdf5_pure::File::from_bytes(bytes.to_vec()),
        };
        opened.map_err(|error| crate::formats::mat::damaged(&self.file, &error))
    }

    #[cfg(feature = "mat")]
    fn log(self) -> Result<Content<'a>, ReadError> {
        use crate::formats::hdf5_log::LogColumns;
        let log = LogColumns::new(self.hdf5()?, &self.file, &self.limits)?;
        Ok(Content::Columns(Box::new(log)))
    }

    #[cfg(not(feature = "mat"))]
    fn log(self) -> Result<Content<'a>, ReadError> {
        Err(ReadError::NotBuiltIn { file: self.file, what: "plain HDF5", feature: "mat" })
    }

    #[cfg(feature = "mat")]
    fn mat(self) -> Result<Content<'a>, ReadError> {
        let opened = self.hdf5()?;
        let (name, array) =
            crate::formats::mat::read(&opened, &self.file, self.member.as_deref(), &self.limits)?;
        let file = format!("{}:{name}", self.file);
        Ok(Content::Columns(Box::new(MatrixColumns::new(array, &file, Some(&name), &self.limits)?)))
    }

    #[cfg(not(feature = "mat"))]
    fn mat(self) -> Result<Content<'a>, ReadError> {
        Err(ReadError::NotBuiltIn { file: self.file, what: "MATLAB 7.3", feature: "mat" })
    }

    /// The bytes of a text, unpacked.
    fn unpacked(mut self) -> Result<Unpacked<'a>, ReadError> {
        if self.kind == Kind::Zip {
            return Err(match Archive::open(self.input, self.limits, &self.file) {
                Err(error @ ReadError::Workbook { .. }) => error,
                // French's library hands out zip files; their bytes would otherwise be reported as
                // broken text.
                _ => ReadError::Zip { file: self.file },
            });
        }
        let length = self.rest().checked_add(self.head.len() as u64);
        let (bytes, taken) = Counted::new(Cursor::new(self.head).chain(self.input));
        let (file, limits, packed) = (self.file.clone(), self.limits, self.kind == Kind::Gzip);
        let unpacked =
            |input| Ok(Unpacked { file, input, packed, handed_out: 0, taken, length, limits });
        match self.kind {
            Kind::Text => unpacked(Box::new(bytes)),
            Kind::Gzip => unpacked(Box::new(MultiGzDecoder::new(bytes))),
            Kind::OldWorkbook => Err(ReadError::Workbook { file: self.file }),
            kind => {
                let what = match kind {
                    Kind::Npy => "is an array of numpy",
                    Kind::Parquet => "is a Parquet file",
                    _ => "is a MATLAB or HDF5 file",
                };
                Err(ReadError::unsuitable(&self.file, what, "expected a text file"))
            }
        }
    }

    /// The lines of a text.
    pub(crate) fn text(self) -> Result<Text<'a>, ReadError> {
        Text::new(self.unpacked()?)
    }

    /// A short text as a whole, without a byte order mark.
    pub(crate) fn whole_text(self) -> Result<String, ReadError> {
        let file = self.file.clone();
        let limits = self.limits;
        let mut bytes = Vec::new();
        let mut input = self.unpacked()?.take(limits.line as u64 + 1);
        input.read_to_end(&mut bytes).map_err(|source| unreadable(&file, source))?;
        limits.check_line(bytes.len(), || file.clone())?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..valid].split(|&b| b == b'\n').count();
            ReadError::NotUtf8 { file, line }
        })?;
        Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
    }
}

/// The bytes of a text as they are read, unpacked if need be.
pub(crate) struct Unpacked<'a> {
    /// The name in messages.
    pub(crate) file: String,
    input: Box<dyn Read + 'a>,
    packed: bool,
    handed_out: u64,
    /// Bytes of the file that have been used, and how many there are.
    taken: Rc<Cell<u64>>,
    length: Option<u64>,
    pub(crate) limits: Limits,
}

#[cfg(test)]
impl<'a> Unpacked<'a> {
    /// Bytes of a text called `file`, of unknown length.
    pub(crate) fn of(input: impl Read + 'a) -> Self {
        let (input, taken) = Counted::new(input);
        let (file, input, limits) = ("file".to_owned(), Box::new(input), Limits::default());
        Self { file, input, packed: false, handed_out: 0, taken, length: None, limits }
    }
}

impl Unpacked<'_> {
    /// How much of the file has been used, from 0 to 1.
    pub(crate) fn part(&self) -> Option<f64> {
        self.length
            .filter(|length| *length > 0)
            .map(|length| self.taken.get() as f64 / length as f64)
    }
}

impl Read for Unpacked<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(out)?;
        self.handed_out += read as u64;
        if self.packed {
            let checked =
                self.limits.check_expansion(self.handed_out, self.taken.get(), &self.file);
            checked.map_err(io::Error::other)?;
        }
        Ok(read)
    }
}

/// `file.npz:name` as a path and a name, unless there is a file that is called so.
fn with_member(path: &Path) -> (PathBuf, Option<String>) {
    if let Some((file, member)) = path.to_str().and_then(|text| text.rsplit_once(':'))
        && !path.exists()
        && Path::new(file).is_file()
    {
        return (PathBuf::from(file), Some(member.to_owned()));
    }
    (path.to_owned(), None)
}

/// Why reading stopped half way: the system, or bytes that do not unpack.
pub(crate) fn unreadable(file: &str, source: io::Error) -> ReadError {
    // A limit of ours.
    let source = match source.downcast::<ReadError>() {
        Ok(refused) => return refused,
        Err(source) => source,
    };
    match source.kind() {
        io::ErrorKind::UnexpectedEof => ReadError::damaged(file, "it ends too early"),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            ReadError::damaged(file, &source.to_string())
        }
        _ => ReadError::Unreadable { file: file.to_owned(), source },
    }
}

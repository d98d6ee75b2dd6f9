//! A file as it is opened: what it holds, told by its first bytes, and its text, unpacked if need be.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::error::ReadError;
use crate::text::Text;

/// A file or bytes at hand, nothing of which has been used.
pub(crate) struct Source<'a> {
    /// The name in messages.
    pub(crate) file: String,
    pub(crate) kind: Kind,
    input: Box<dyn Read + 'a>,
}

/// What the first bytes say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Gzip,
    Zip,
}

impl Kind {
    fn of(head: &[u8]) -> Self {
        const KINDS: [(&[u8], Kind); 2] = [(b"\x1f\x8b", Kind::Gzip), (b"PK\x03\x04", Kind::Zip)];
        KINDS.into_iter().find(|(magic, _)| head.starts_with(magic)).map_or(Self::Text, |(_, kind)| kind)
    }
}

impl<'a> Source<'a> {
    pub(crate) fn open(path: &Path) -> Result<Self, ReadError> {
        let file = || path.display().to_string();
        if path.is_dir() {
            return Err(ReadError::Directory { file: file() });
        }
        let opened = File::open(path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => ReadError::NotFound { file: file() },
            io::ErrorKind::IsADirectory => ReadError::Directory { file: file() },
            _ => ReadError::Unreadable { file: file(), source },
        })?;
        Self::new(Box::new(opened), file())
    }

    pub(crate) fn of_bytes(bytes: &'a [u8], name: &str) -> Result<Self, ReadError> {
        Self::new(Box::new(bytes), name.to_owned())
    }

    fn new(mut input: Box<dyn Read + 'a>, file: String) -> Result<Self, ReadError> {
        let mut head = Vec::new();
        let read = input.by_ref().take(8).read_to_end(&mut head);
        read.map_err(|source| ReadError::Unreadable { file: file.clone(), source })?;
        let kind = Kind::of(&head);
        Ok(Self { file, kind, input: Box::new(io::Cursor::new(head).chain(input)) })
    }

    /// The bytes, unpacked.
    fn unpacked(self) -> Result<Box<dyn Read + 'a>, ReadError> {
        match self.kind {
            Kind::Text => Ok(self.input),
            Kind::Gzip => Ok(Box::new(MultiGzDecoder::new(self.input))),
            // French's library hands out zip files; their bytes would otherwise be reported as broken text.
            Kind::Zip => Err(ReadError::Zip { file: self.file }),
        }
    }

    /// The lines of a text.
    pub(crate) fn text(self) -> Result<Text<'a>, ReadError> {
        let file = self.file.clone();
        Text::new(self.unpacked()?, &file)
    }

    /// A short text as a whole, without a byte order mark.
    pub(crate) fn whole_text(self) -> Result<String, ReadError> {
        let file = self.file.clone();
        let mut bytes = Vec::new();
        self.unpacked()?.read_to_end(&mut bytes).map_err(|source| unreadable(&file, source))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..valid].split(|&b| b == b'\n').count();
            ReadError::NotUtf8 { file, line }
        })?;
        Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
    }
}

/// Why reading stopped half way: the system, or bytes that do not unpack.
pub(crate) fn unreadable(file: &str, source: io::Error) -> ReadError {
    let file = file.to_owned();
    match source.kind() {
        io::ErrorKind::UnexpectedEof => ReadError::Damaged { file, reason: "it ends too early".to_owned() },
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            ReadError::Damaged { file, reason: source.to_string() }
        }
        _ => ReadError::Unreadable { file, source },
    }
}

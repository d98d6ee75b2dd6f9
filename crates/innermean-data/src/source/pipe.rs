//! Files that are pipes, such as `<(zcat returns.csv.gz)`: a table is looked at before it is read,
//! and a pipe gives its bytes only once.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::limits::Limits;

/// What pipes gave, for whoever opens them again; kept as long as the program runs.
static READ: Mutex<Vec<(PathBuf, &'static [u8])>> = Mutex::new(Vec::new());

/// Bytes after which the memory that is left is looked at again.
const PIECE: u64 = 1 << 24;

/// The bytes of a pipe; none of any other file.
pub(super) fn bytes_of(path: &Path, limits: &Limits) -> io::Result<Option<&'static [u8]>> {
    if !is_pipe(path) {
        return Ok(None);
    }
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, bytes)) = read.iter().find(|(known, _)| known == path) {
        return Ok(Some(bytes));
    }
    let (mut pipe, mut bytes) = (File::open(path)?, Vec::new());
    while pipe.by_ref().take(PIECE).read_to_end(&mut bytes)? > 0 {
        let length = bytes.len() as u64;
        if limits.lacking(length, length).is_some() {
            let reason = "a pipe with more bytes than memory has room for; save it as a file first";
            return Err(io::Error::other(reason));
        }
    }
    let bytes: &'static [u8] = bytes.leak();
    read.push((path.to_owned(), bytes));
    Ok(Some(bytes))
}

#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    path.metadata().is_ok_and(|of| of.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_pipe(_: &Path) -> bool {
    false
}

//! A file that appears whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::{Builder, NamedTempFile};

/// Why a file could not be written, in one sentence that says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The path is a directory.
    #[error("{file}: is a directory; expected the path of a file")]
    Directory {
        /// The path as given.
        file: String,
    },
    /// The path is one of the files the program reads.
    #[error(
        "{file}: is a file that is being read; expected another path, for it would be overwritten"
    )]
    Input {
        /// The path as given.
        file: String,
    },
    /// The operating system refused.
    #[error("{file}: cannot be written ({reason}); check the folder and its permissions")]
    Refused {
        /// The path as given.
        file: String,
        /// What kind of refusal it was.
        reason: String,
    },
    /// The name does not end in a way that says how to write.
    #[error("{file}: does not say by its ending how to write it; expected one of {known}")]
    UnknownEnding {
        /// The path as given.
        file: String,
        /// The endings there are.
        known: &'static str,
    },
    /// The format is known and not built in.
    #[error("{file}: Parquet is not built in; build with --features parquet, or write a .csv")]
    NoParquet {
        /// The path as given.
        file: String,
    },
    /// Texts for a format of numbers.
    #[error(
        "{file}: the column '{column}' holds texts, and .npy holds numbers only; write a .csv or \
         .json"
    )]
    Texts {
        /// The path as given.
        file: String,
        /// The first column of texts.
        column: String,
    },
}

impl WriteError {
    /// The kind of the error alone: its text would name a temporary file that the user has never
    /// heard of.
    fn refused(path: &Path, error: &io::Error) -> Self {
        let reason = match error.kind() {
            io::ErrorKind::NotFound => "there is no such folder".to_owned(),
            // Only a few kinds have words of their own.
            io::ErrorKind::Other => error.to_string(),
            kind => kind.to_string(),
        };
        Self::Refused { file: path.display().to_string(), reason }
    }
}

/// A file to be written, beside which nothing has been touched yet.
///
/// What is written goes to another file in the same folder, which takes the place of an older one
/// at the end, by a rename. So a program that is refused, stopped or killed leaves the older one as
/// it was, and after a power cut there is the one or the other. What a killed program leaves is
/// hidden, and goes when another file is written to the folder.
#[derive(Debug, Clone)]
pub struct OutFile {
    /// As it was given, for messages.
    given: PathBuf,
    /// What links lead to.
    path: PathBuf,
    /// A pipe or a device, which must be written to and never replaced.
    special: bool,
}

impl OutFile {
    /// Looks whether `path` can be written, without touching what is there. `inputs` are files that
    /// must survive.
    ///
    /// # Errors
    ///
    /// [`WriteError`] if it is a directory, one of `inputs`, or cannot be written.
    pub fn check(path: &Path, inputs: &[&Path]) -> Result<Self, WriteError> {
        let refused = |error| WriteError::refused(path, &error);
        let file = || path.display().to_string();
        let Ok(there) = fs::metadata(path) else {
            // Nothing is there, perhaps at the end of a link, which survives.
            let target = end_of_links(path).map_err(refused)?;
            try_folder_of(&target).map_err(refused)?;
            return Ok(Self { given: path.to_owned(), path: target, special: false });
        };
        if there.is_dir() {
            return Err(WriteError::Directory { file: file() });
        }
        if !there.is_file() {
            return Ok(Self { given: path.to_owned(), path: path.to_owned(), special: true });
        }
        // Through a link to the file itself, so that the link survives the rename.
        let target = fs::canonicalize(path).map_err(refused)?;
        if inputs.iter().any(|input| fs::canonicalize(input).is_ok_and(|input| input == target)) {
            return Err(WriteError::Input { file: file() });
        }
        let writable = OpenOptions::new().append(true).open(&target);
        writable.and_then(|_| try_folder_of(&target)).map_err(refused)?;
        Ok(Self { given: path.to_owned(), path: target, special: false })
    }

    /// Writes the whole file.
    ///
    /// # Errors
    ///
    /// [`WriteError::Refused`]; an older file is then as it was.
    pub fn write(
        &self,
        content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), WriteError> {
        let written = if self.special {
            OpenOptions::new().write(true).open(&self.path).and_then(|file| {
                let mut out = BufWriter::new(file);
                content(&mut out)?;
                out.flush()
            })
        } else {
            self.replace(content)
        };
        written.map_err(|error| WriteError::refused(&self.given, &error))
    }

    /// A file beside it for a while: it goes when it is dropped.
    pub(crate) fn scratch(&self) -> io::Result<NamedTempFile> {
        temporary_beside(&self.path)
    }

    fn replace(
        &self,
        content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> io::Result<()> {
        let temporary = temporary_beside(&self.path)?;
        let mut out = BufWriter::new(temporary.as_file().try_clone()?);
        content(&mut out)?;
        out.flush()?;
        // Otherwise a power cut might find the new name and not yet the content.
        temporary.as_file().sync_all()?;
        temporary.persist(&self.path)?;
        let folder = folder_of(&self.path);
        // The name is part of the folder; some file systems cannot wait for it, and the file is
        // there all the same.
        #[cfg(unix)]
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
        remove_leftovers(folder);
        Ok(())
    }
}

/// What is written as it goes, such as the course of a long run, cannot wait for a rename.
impl OutFile {
    /// Opens the file behind its first `keep` bytes; what follows them is dropped.
    ///
    /// # Errors
    ///
    /// [`WriteError::Refused`]
    pub fn stream(&self, keep: u64) -> Result<File, WriteError> {
        let open = || {
            let mut file = OpenOptions::new()
                .write(true)
                .create(!self.special)
                .truncate(false)
                .open(&self.path)?;
            if !self.special {
                file.set_len(keep)?;
                file.seek(SeekFrom::Start(keep))?;
            }
            Ok(file)
        };
        open().map_err(|error| self.refused(&error))
    }

    /// The byte at this place, if the file is that long.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn byte_at(&self, place: u64) -> io::Result<Option<u8>> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(place))?;
        let mut byte = [0];
        Ok((file.read(&mut byte)? == 1).then_some(byte[0]))
    }

    /// The path as it was given.
    pub fn given(&self) -> &Path {
        &self.given
    }

    /// Whether it is a pipe or a device.
    pub fn is_special(&self) -> bool {
        self.special
    }

    /// Why something could not be written to it.
    pub fn refused(&self, error: &io::Error) -> WriteError {
        WriteError::refused(&self.given, error)
    }
}

/// Where a link leads to that leads to nothing, or the path itself.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    /// As many as Linux follows.
    const MOST: usize = 40;
    let mut end = path.to_owned();
    for _ in 0..MOST {
        match fs::read_link(&end) {
            Ok(next) => end = folder_of(&end).join(next),
            Err(_) => return Ok(end),
        }
    }
    Err(io::Error::other("links that lead in a circle"))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// Whether the folder takes a file. That one has no name where the system has such files, so that
/// a program killed meanwhile leaves nothing.
fn try_folder_of(path: &Path) -> io::Result<()> {
    tempfile::tempfile_in(folder_of(path)).map(drop)
}

/// How the names of temporary files begin.
const PREFIX: &str = ".innermean-";
/// A file this young may be about to be locked.
const YOUNG: Duration = Duration::from_secs(60);

/// Removes what killed programs have left in a folder: a program at work holds a lock on its file,
/// and the system takes the locks of those that have ended. What cannot be looked at stays.
fn remove_leftovers(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)) {
        let is_old = |file: &File| {
            let age = file.metadata().and_then(|about| about.modified()).map(|at| at.elapsed());
            matches!(age, Ok(Ok(age)) if age > YOUNG)
        };
        let path = entry.path();
        if let Ok(file) = OpenOptions::new().append(true).open(&path)
            && is_old(&file)
            && file.try_lock().is_ok()
        {
            // Another program may have been faster.
            let _ = fs::remove_file(&path);
        }
    }
}

/// A file in the same folder, for a rename does not cross file systems; locked, and gone when
/// dropped.
fn temporary_beside(path: &Path) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(PREFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Temporary files are private by default; what is asked for is as public as any other file
        // the user makes.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let temporary = builder.tempfile_in(folder_of(path))?;
    // A file system without locks has nobody who would look for one.
    let _ = temporary.as_file().try_lock();
    Ok(temporary)
}

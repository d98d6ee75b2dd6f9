//! A file that a run writes when it ends.
//!
//! The file appears whole, by a rename. So a run refused for bad input leaves an older file as it was, and a run that is
//! killed leaves no half of one. That the path can be written is found out beforehand.

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use tempfile::{Builder, NamedTempFile};

/// Where it goes.
#[derive(Debug)]
pub(crate) struct OutputFile {
    /// The flag that asked for it, for messages.
    flag: &'static str,
    path: PathBuf,
    /// A pipe or a device, which must be written to and never replaced.
    special: bool,
}

impl OutputFile {
    /// Looks whether `path` can be written without touching what is there. `inputs` are the files that must survive.
    pub(crate) fn check(flag: &'static str, path: &Path, inputs: &[&Path]) -> Result<Self> {
        let regular = |path: PathBuf| OutputFile { flag, path, special: false };
        let Ok(there) = fs::metadata(path) else {
            temporary_beside(path).map_err(|error| refused(flag, path, &error))?;
            return Ok(regular(path.to_owned()));
        };
        if there.is_dir() {
            bail!("{flag} {}: is a directory; expected the path of a file", path.display());
        }
        if !there.is_file() {
            return Ok(OutputFile { flag, path: path.to_owned(), special: true });
        }
        // Through a link to the file itself, so that the link survives the rename.
        let target = fs::canonicalize(path).map_err(|error| refused(flag, path, &error))?;
        if inputs.iter().any(|input| fs::canonicalize(input).is_ok_and(|input| input == target)) {
            bail!(
                "{flag} {}: is a file that is being read; expected another path, for it would be overwritten",
                path.display()
            );
        }
        let writable = OpenOptions::new().append(true).open(&target);
        writable.and_then(|_| temporary_beside(&target)).map_err(|error| refused(flag, path, &error))?;
        Ok(regular(target))
    }

    /// Hands the file to `write`; it appears when that has come back.
    pub(crate) fn write(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        let OutputFile { flag, path, special } = self;
        let written = if *special {
            OpenOptions::new().write(true).open(path).and_then(|file| {
                let mut out = BufWriter::new(file);
                write(&mut out)?;
                out.flush()
            })
        } else {
            replace(path, write)
        };
        written.map_err(|error| refused(flag, path, &error))
    }
}

/// The kind of the error alone: its text would name a temporary file that the user has never heard of.
fn refused(flag: &str, path: &Path, error: &io::Error) -> anyhow::Error {
    let reason = match error.kind() {
        io::ErrorKind::NotFound => "there is no such folder".to_owned(),
        kind => kind.to_string(),
    };
    anyhow!("{flag} {}: cannot be written ({reason}); check the folder and its permissions", path.display())
}

fn replace(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut file = temporary_beside(path)?;
    let mut out = BufWriter::new(file.as_file_mut());
    write(&mut out)?;
    out.flush()?;
    drop(out);
    file.persist(path)?;
    Ok(())
}

/// A file in the same folder, for a rename does not cross file systems; gone when dropped.
fn temporary_beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let mut builder = Builder::new();
    builder.prefix(".innermean-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Temporary files are private by default; an answer is as public as any other file the user makes.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

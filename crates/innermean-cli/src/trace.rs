//! The trace file: one JSON object for each evaluation.
//!
//! The file appears whole, at the end of the run, by a rename. So a run refused for bad input leaves an older trace
//! as it was, and a run that is killed leaves no half of one. That the path can be written is found out beforehand.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use innermean::Record;
use serde::Serialize;
use tempfile::{Builder, NamedTempFile};

/// Where the trace goes.
#[derive(Debug)]
pub(crate) struct TraceFile {
    /// The flag that asked for it, for messages.
    flag: &'static str,
    path: PathBuf,
    /// A pipe or a device, which must be written to and never replaced.
    special: bool,
}

/// One line; the sum of the calls is what the paper's figures count.
#[derive(Serialize)]
struct Line {
    outer: u64,
    inner: u64,
    calls: u64,
    rows: u64,
    seconds: f64,
    objective: f64,
    optimality: Option<f64>,
    /// What is above the optimum, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    gap: Option<f64>,
}

impl TraceFile {
    /// Looks whether `path` can be written without touching what is there. `inputs` are the files that must survive.
    pub(crate) fn check(flag: &'static str, path: &Path, inputs: &[&Path]) -> Result<Self> {
        let regular = |path: PathBuf| TraceFile { flag, path, special: false };
        let Ok(there) = fs::metadata(path) else {
            temporary_beside(path).map_err(|error| refused(flag, path, &error))?;
            return Ok(regular(path.to_owned()));
        };
        if there.is_dir() {
            bail!("{flag} {}: is a directory; expected the path of a file", path.display());
        }
        if !there.is_file() {
            return Ok(TraceFile { flag, path: path.to_owned(), special: true });
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

    /// Writes the whole trace, with gaps if the optimum is known.
    pub(crate) fn write(&self, trace: &[Record], optimum: Option<f64>) -> Result<()> {
        let TraceFile { flag, path, special } = self;
        let written = if *special {
            let file = OpenOptions::new().write(true).open(path);
            file.and_then(|mut file| write_lines(&mut file, trace, optimum))
        } else {
            replace(path, trace, optimum)
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

fn replace(path: &Path, trace: &[Record], optimum: Option<f64>) -> io::Result<()> {
    let mut file = temporary_beside(path)?;
    write_lines(file.as_file_mut(), trace, optimum)?;
    file.persist(path)?;
    Ok(())
}

fn write_lines(file: &mut File, trace: &[Record], optimum: Option<f64>) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    for &Record { outer, inner, calls, rows, seconds, objective, optimality } in trace {
        let gap = optimum.map(|optimum| (objective - optimum).max(0.0));
        let line = Line { outer, inner, calls: calls.total(), rows, seconds, objective, optimality, gap };
        serde_json::to_writer(&mut out, &line)?;
        out.write_all(b"\n")?;
    }
    out.flush()
}

/// A file in the same folder, for a rename does not cross file systems; gone when dropped.
fn temporary_beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let mut builder = Builder::new();
    builder.prefix(".innermean-trace-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Temporary files are private by default; a trace is as public as any other file the user makes.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

//! Where a run begins.

use std::convert::Infallible;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Result, anyhow, bail};
use innermean_apps::Error;
use innermean_apps::run::{self, RunError};
use innermean_data::ReadError;

use crate::flags::input::limits;

/// The start as given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Start {
    /// All zeros.
    Zeros,
    /// Uniform in [0, 1).
    Uniform,
    /// Where the problem says.
    Auto,
    /// From a file.
    File(PathBuf),
}

impl FromStr for Start {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "zeros" => Start::Zeros,
            "uniform" => Start::Uniform,
            "auto" => Start::Auto,
            path => Start::File(path.into()),
        })
    }
}

impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Start::Zeros => f.write_str("zeros"),
            Start::Uniform => f.write_str("uniform"),
            Start::Auto => f.write_str("auto"),
            Start::File(path) => path.display().fmt(f),
        }
    }
}

impl Start {
    /// The point, one number for each of `names`; `known` is where the problem says, if it does.
    pub(crate) fn point(
        &self,
        names: &[String],
        seed: u64,
        known: Option<Vec<f64>>,
    ) -> Result<Vec<f64>> {
        let d = names.len();
        let start = match self {
            Start::Zeros => run::Start::Zeros,
            Start::Uniform => run::Start::Uniform,
            Start::Auto if known.is_none() => bail!(
                "--start auto: this problem knows no start; expected zeros, uniform or the path of \
                 a file"
            ),
            Start::Auto => run::Start::Auto,
            Start::File(path) => run::Start::Given(match limits().read_vector(path, d, names) {
                // It may be a slip in one of the two words as well.
                Err(ReadError::NotFound { file }) => {
                    bail!(
                        "--start {file}: no such file; expected zeros, uniform or the path of a \
                         file"
                    )
                }
                read => read?,
            }),
        };
        Ok(start.point(d, seed, known)?)
    }

    /// The refusal of a run, which may be about this start: the objective is not finite there, or
    /// at the point that the constraint allows next to it.
    pub(crate) fn refusal(&self, error: Error) -> anyhow::Error {
        let Error::Run(RunError::StartNotFinite { objective, moved }) = error else {
            return error.into();
        };
        let (place, expected) = if moved {
            ("at the point next to it that --constraint allows", "bounds")
        } else {
            ("there", "numbers")
        };
        anyhow!(
            "--start {self}: the objective {place} is {objective}; expected {expected} of a \
             smaller size"
        )
    }

    /// The file it comes from.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Start::File(path) => Some(path),
            _ => None,
        }
    }
}

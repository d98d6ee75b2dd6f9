//! Where a run begins.

use innermean::draws::Stream;
use serde::{Deserialize, Serialize};

use super::RunError;
use crate::error::{Error, same_length};

/// The stream of the start's draws, far from those that the methods number from 0.
const START_STREAM: u64 = 1000;

/// Where to begin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// All zeros.
    Zeros,
    /// Each coordinate uniform in [0, 1), by the seed.
    Uniform,
    /// Where the application says.
    Auto,
    /// At this point, in the units of the data.
    Given(Vec<f64>),
}

impl Start {
    /// The point, of `d` coordinates; `known` is where the application says, if it does.
    ///
    /// # Errors
    /// If the application knows no start, or the given one has another number of coordinates.
    pub fn point(&self, d: usize, seed: u64, known: Option<Vec<f64>>) -> Result<Vec<f64>, Error> {
        match self {
            Start::Zeros => Ok(vec![0.0; d]),
            Start::Auto => known.ok_or(Error::Run(RunError::NoStart)),
            Start::Uniform => {
                let mut stream = Stream::new(seed, START_STREAM);
                Ok((0..d).map(|_| stream.unit()).collect())
            }
            Start::Given(point) => {
                same_length("numbers of the start", point.len(), d)?;
                Ok(point.clone())
            }
        }
    }
}

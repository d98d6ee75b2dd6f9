//! What has been computed, one file a piece, so that an interrupted run goes on where it stopped.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use innermean_data::OutFile;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// To be raised when an experiment changes: what was stored before is then computed anew.
const FORMAT: u32 = 1;

/// The folder of the pieces.
pub(super) struct Store {
    folder: PathBuf,
    quick: bool,
}

/// What a file holds.
#[derive(Serialize, Deserialize)]
struct Stored {
    stamp: Stamp,
    /// The version and the commit that computed it.
    by: String,
    value: Value,
}

/// What a piece must have been computed with to be taken.
#[derive(PartialEq, Serialize, Deserialize)]
struct Stamp {
    format: u32,
    version: String,
    quick: bool,
    /// Of the data that it depends on.
    data: u64,
}

impl Store {
    /// Makes the folder.
    pub(super) fn open(folder: PathBuf, quick: bool) -> Result<Self> {
        fs::create_dir_all(&folder).map_err(|error| {
            anyhow!(
                "--out {}: cannot be made ({}); expected the path of a folder",
                folder.display(),
                error.kind()
            )
        })?;
        Ok(Store { folder, quick })
    }

    fn stamp(&self, data: u64) -> Stamp {
        Stamp { format: FORMAT, version: env!("CARGO_PKG_VERSION").to_owned(), quick: self.quick, data }
    }

    fn path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }

    fn read(&self, id: &str, data: u64) -> Option<Stored> {
        let text = fs::read_to_string(self.path(id)).ok()?;
        let stored: Stored = serde_json::from_str(&text).ok()?;
        (stored.stamp == self.stamp(data)).then_some(stored)
    }

    /// Whether the piece is there, computed as it would be now from data with this fingerprint.
    pub(super) fn has(&self, id: &str, data: u64) -> bool {
        self.read(id, data).is_some()
    }

    /// The piece.
    pub(super) fn get<T: DeserializeOwned>(&self, id: &str, data: u64) -> Result<T> {
        let stored =
            self.read(id, data).ok_or_else(|| anyhow!("{}: is not there", self.path(id).display()))?;
        serde_json::from_value(stored.value)
            .with_context(|| format!("{}: cannot be read", self.path(id).display()))
    }

    /// Who computed it: a version and a commit.
    pub(super) fn by(&self, id: &str, data: u64) -> Option<String> {
        Some(self.read(id, data)?.by)
    }

    /// Keeps the piece, whole or not at all.
    pub(super) fn put(&self, id: &str, data: u64, value: Value) -> Result<()> {
        let stored = Stored { stamp: self.stamp(data), by: env!("INNERMEAN_VERSION").to_owned(), value };
        write(&self.path(id), serde_json::to_string(&stored)?.as_bytes())
    }
}

/// Writes a whole file, or leaves an older one as it was.
pub(super) fn write(path: &Path, content: &[u8]) -> Result<()> {
    let file = OutFile::check(path, &[]).map_err(|error| anyhow!("--out {error}"))?;
    file.write(|out| out.write_all(content)).map_err(|error| anyhow!("--out {error}"))
}

/// A fingerprint of numbers (FNV-1a).
pub(super) fn fingerprint(numbers: &[f64]) -> u64 {
    let byte = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    numbers.iter().flat_map(|x| x.to_bits().to_le_bytes()).fold(0xcbf2_9ce4_8422_2325, byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_taken_only_as_it_was_computed() {
        let folder = std::env::temp_dir().join(format!("innermean-store-{}", std::process::id()));
        let store = Store::open(folder.clone(), true).expect("a folder");
        store.put("a", 7, serde_json::json!([1.0, 2.5e-11])).expect("it is kept");
        assert_eq!(store.get::<Vec<f64>>("a", 7).expect("it is there"), [1.0, 2.5e-11]);
        assert!(!store.has("a", 8) && !store.has("b", 7));
        assert!(!Store::open(folder.clone(), false).expect("a folder").has("a", 7));
        // Half a file, as a crash of the machine might leave one.
        fs::write(folder.join("a.json"), "{\"stamp\":").expect("it can be written");
        assert!(!store.has("a", 7));
        fs::remove_dir_all(folder).expect("it can be removed");
    }

    #[test]
    fn other_numbers_have_another_fingerprint() {
        assert_ne!(fingerprint(&[1.0, 2.0]), fingerprint(&[2.0, 1.0]));
        assert_eq!(fingerprint(&[]), 0xcbf2_9ce4_8422_2325);
    }
}

//! What has been computed, in one file, so that an interrupted run goes on where it stopped and a
//! reader finds the numbers behind the pictures.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result, anyhow};
use innermean_data::OutFile;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// To be raised when an experiment changes: what was stored before is then computed anew.
const FORMAT: u32 = 1;
/// The name of the file.
pub(super) const NAME: &str = "numbers.json";
/// A list or an object of this many letters stays on one line.
const LINE: usize = 100;

/// The pieces by name, and the file that holds them.
pub(super) struct Store {
    path: PathBuf,
    quick: bool,
    pieces: Mutex<BTreeMap<String, Stored>>,
}

/// A piece.
#[derive(Serialize, Deserialize)]
struct Stored {
    stamp: Stamp,
    /// The version and the commit that computed it.
    by: String,
    /// As it is written: a piece that is kept does not change by a digit.
    value: Box<RawValue>,
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
    /// Makes the folder, and reads what is there.
    pub(super) fn open(folder: &Path, quick: bool) -> Result<Self> {
        fs::create_dir_all(folder).map_err(|error| {
            anyhow!(
                "--out {}: cannot be made ({}); expected the path of a folder",
                folder.display(),
                error.kind()
            )
        })?;
        let path = folder.join(NAME);
        let pieces = match fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text).map_err(|error| {
                anyhow!(
                    "--out {}: {error}; expected what `innermean reproduce` has written: remove \
                     the file to compute everything anew",
                    path.display()
                )
            })?,
            Err(error) if error.kind() == ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => {
                return Err(anyhow!("--out {}: cannot be read ({})", path.display(), error.kind()));
            }
        };
        Ok(Store { path, quick, pieces: Mutex::new(pieces) })
    }

    fn stamp(&self, data: u64) -> Stamp {
        Stamp {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            quick: self.quick,
            data,
        }
    }

    fn pieces(&self) -> MutexGuard<'_, BTreeMap<String, Stored>> {
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something about the piece, if it is there and was computed as it would be now.
    fn look<T>(&self, id: &str, data: u64, at: impl FnOnce(&Stored) -> T) -> Option<T> {
        self.pieces().get(id).filter(|stored| stored.stamp == self.stamp(data)).map(at)
    }

    /// Whether the piece is there, computed as it would be now from data with this fingerprint.
    pub(super) fn has(&self, id: &str, data: u64) -> bool {
        self.look(id, data, |_| ()).is_some()
    }

    /// The piece.
    pub(super) fn get<T: DeserializeOwned>(&self, id: &str, data: u64) -> Result<T> {
        let what = || format!("{}: {id}", self.path.display());
        self.look(id, data, |stored| serde_json::from_str(stored.value.get()))
            .ok_or_else(|| anyhow!("{}: is not there", what()))?
            .with_context(|| format!("{}: cannot be read", what()))
    }

    /// Who computed it: a version and a commit.
    pub(super) fn by(&self, id: &str, data: u64) -> Option<String> {
        self.look(id, data, |stored| stored.by.clone())
    }

    /// Keeps the piece, whole or not at all.
    pub(super) fn put(&self, id: &str, data: u64, value: &Value) -> Result<()> {
        let value = RawValue::from_string(laid_out(value, 2))?;
        let by = env!("INNERMEAN_VERSION").to_owned();
        let mut pieces = self.pieces();
        pieces.insert(id.to_owned(), Stored { stamp: self.stamp(data), by, value });
        write(&self.path, text(&pieces)?.as_bytes())
    }
}

/// The whole file.
fn text(pieces: &BTreeMap<String, Stored>) -> Result<String> {
    let mut out = String::from("{");
    for (k, (id, Stored { stamp, by, value })) in pieces.iter().enumerate() {
        let comma = if k > 0 { "," } else { "" };
        let (id, by) = (serde_json::to_string(id)?, serde_json::to_string(by)?);
        let stamp = serde_json::to_string(stamp)?;
        write!(
            out,
            "{comma}\n{id}: {{\n  \"stamp\": {stamp},\n  \"by\": {by},\n  \"value\": {value}\n}}"
        )?;
    }
    Ok(out + "\n}\n")
}

/// JSON with a line for each short list or object, and for each list of numbers.
fn laid_out(value: &Value, indent: usize) -> String {
    let compact = value.to_string();
    let plain = |value: &Value| !value.is_object() && !value.is_array();
    let numbers = value.as_array().is_some_and(|items| items.iter().all(plain));
    if compact.len() <= LINE || numbers {
        return compact;
    }
    let (open, items, close) = match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| laid_out(item, indent + 2)).collect();
            ('[', items, ']')
        }
        Value::Object(entries) => {
            let item = |(key, item): (&String, &Value)| {
                format!("{}: {}", Value::from(key.as_str()), laid_out(item, indent + 2))
            };
            ('{', entries.iter().map(item).collect(), '}')
        }
        _ => return compact,
    };
    let pad = " ".repeat(indent);
    format!("{open}\n{pad}  {}\n{pad}{close}", items.join(&format!(",\n{pad}  ")))
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
        let store = Store::open(&folder, true).expect("a folder");
        let value = serde_json::json!([1.0, 2.5e-11]);
        store.put("a", 7, &value).expect("it is kept");
        assert_eq!(store.get::<Vec<f64>>("a", 7).expect("it is there"), [1.0, 2.5e-11]);
        assert!(!store.has("a", 8) && !store.has("b", 7));
        assert!(!Store::open(&folder, false).expect("a folder").has("a", 7));
        let path = folder.join(NAME);
        let before = fs::read_to_string(&path).expect("the file");
        let again = Store::open(&folder, true).expect("a folder");
        assert!(again.has("a", 7));
        again.put("a", 7, &value).expect("it is kept");
        assert_eq!(fs::read_to_string(&path).expect("the file"), before);
        // Half a file is refused: it may hold an hour of work.
        fs::write(&path, &before[..before.len() / 2]).expect("it can be written");
        let said = Store::open(&folder, true).err().expect("it is refused").to_string();
        assert!(said.contains(NAME) && said.contains("remove the file"), "{said}");
        fs::remove_dir_all(folder).expect("it can be removed");
    }

    #[test]
    fn a_layout_changes_no_number_and_keeps_lists_together() {
        let numbers: Vec<f64> = (0..40).map(|k| f64::from(k) / 3.0).collect();
        let value =
            serde_json::json!({"calls": numbers, "runs": [{"name": "a", "gaps": numbers}, {}]});
        let shown = laid_out(&value, 0);
        assert_eq!(shown.lines().count(), 10, "{shown}");
        assert_eq!(shown.split_whitespace().collect::<String>(), value.to_string());
    }

    #[test]
    fn the_numbers_in_the_book_can_be_gone_on_with() {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reproduction"));
        let store = Store::open(folder, false).expect("the numbers");
        let held: Value = store.get("table2", 0).expect("what Table 2 shows");
        assert_eq!(held[0]["n_x"], 1000);
        let written = fs::read_to_string(folder.join(NAME)).expect("the file");
        assert_eq!(text(&store.pieces()).expect("a text"), written);
    }

    #[test]
    fn other_numbers_have_another_fingerprint() {
        assert_ne!(fingerprint(&[1.0, 2.0]), fingerprint(&[2.0, 1.0]));
        assert_eq!(fingerprint(&[]), 0xcbf2_9ce4_8422_2325);
    }
}

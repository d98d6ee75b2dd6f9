//! A run in a file: all that it takes to go on, bit for bit, as if nothing had happened.
//!
//! [`Observer::asks_for_checkpoint`](crate::Observer::asks_for_checkpoint) says when one is made,
//! [`Checkpoint::to_bytes`] and [`Checkpoint::from_bytes`] are the way to a file and back, and
//! [`Driver::resume`](crate::Driver::resume) or [`AnyMethod::run_from`](crate::AnyMethod::run_from)
//! goes on. A run that was stopped at any point and resumed ends
//! with the bits of one that was not; only `seconds` differ.
//!
//! ```text
//! "innermean checkpoint\n", format (4 bytes), hash (16), length (8), then as many bytes: header, body, note
//! ```
//!
//! All numbers have their lowest byte first; the hash is that of everything behind it. What
//! does not fit is refused with a sentence: another format or release, a hash that does not
//! match, another problem, method or setting.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use self::hash::Hash;
use crate::model::problem::Objective;

mod fingerprint;
mod hash;
pub(crate) mod shape;

const MAGIC: &[u8] = b"innermean checkpoint\n";
/// To be raised with every change of what states and memories hold.
const FORMAT: u32 = 2;
/// Of a release: other ones may keep other things in a state.
const RELEASE: &str = env!("CARGO_PKG_VERSION");

/// Why a checkpoint cannot be gone on from, in a sentence without its subject, the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The first bytes are others.
    #[error("is no checkpoint; expected a file that --checkpoint has written")]
    Unknown,
    /// It is too short, or its bytes are not those that were written.
    #[error("is damaged ({0}); expected all bytes as --checkpoint has written them, or begin anew")]
    Damaged(&'static str),
    /// Another format, or another release.
    #[error(
        "was written by innermean {found}, and this is {here}; go on with that one, or begin anew"
    )]
    Release {
        /// Who wrote it.
        found: String,
        /// Who reads it.
        here: String,
    },
    /// Another f, phi or g.
    #[error(
        "belongs to another problem: data, loss or penalties differ; expected those of the run \
         that wrote it"
    )]
    Problem,
    /// Another method.
    #[error("was written by the method {found}, and this run is by {here}; expected the same")]
    Method {
        /// In the file.
        found: String,
        /// Of this run.
        here: String,
    },
    /// Other settings of the method or of the driver.
    #[error("was written with another {0}; expected the same, for it changes the way a run takes")]
    Settings(&'static str),
}

/// What a checkpoint says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Header {
    /// The method, or auto.
    pub(crate) method: String,
    /// A hash of its settings.
    pub(crate) settings: u128,
    /// [`Problem::fingerprint`](crate::Problem::fingerprint)
    pub(crate) problem: u128,
    /// Where the run began.
    pub(crate) start: Vec<f64>,
    /// Seconds since then.
    pub(crate) wall: f64,
}

/// A run that can be gone on with.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    pub(crate) header: Header,
    /// What only the method can read.
    pub(crate) body: Vec<u8>,
    note: Vec<u8>,
}

impl Checkpoint {
    /// How every file begins.
    pub const BEGINNING: &'static [u8] = MAGIC;

    /// One with this memory.
    pub(crate) fn new(header: Header, memory: &impl Serialize) -> Self {
        Checkpoint { header, body: to_bytes(memory), note: Vec::new() }
    }

    /// Where the run began.
    pub fn start(&self) -> &[f64] {
        &self.header.start
    }

    /// Seconds since the run began.
    pub fn wall(&self) -> f64 {
        self.header.wall
    }

    /// The method that runs, or `auto`.
    pub fn method(&self) -> &str {
        &self.header.method
    }

    /// What the one who keeps it has added.
    pub fn note(&self) -> &[u8] {
        &self.note
    }

    /// Adds something of one's own.
    #[must_use]
    pub fn with_note(self, note: Vec<u8>) -> Self {
        Checkpoint { note, ..self }
    }

    /// For a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let header = to_bytes(&(RELEASE, &self.header, self.body.len() as u64));
        let length = header.len() + self.body.len() + self.note.len();
        let mut bytes = Vec::with_capacity(HEADER_BYTES + length);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&FORMAT.to_le_bytes());
        bytes.extend_from_slice(&[0; HASH]);
        bytes.extend_from_slice(&(length as u64).to_le_bytes());
        for part in [&header, &self.body, &self.note] {
            bytes.extend_from_slice(part);
        }
        let hash = Hash::of_bytes(&bytes[HASHED..]).to_le_bytes();
        bytes[HASHED - HASH..HASHED].copy_from_slice(&hash);
        bytes
    }

    /// From a file; takes no more memory than the bytes do, whatever they say.
    ///
    /// # Errors
    /// If they are not all that was written, or by another release.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let after = bytes.strip_prefix(MAGIC).ok_or(CheckpointError::Unknown)?;
        let (format, after) = after.split_first_chunk().ok_or(TRUNCATED)?;
        let format = u32::from_le_bytes(*format);
        if format != FORMAT {
            let name = |format: u32| format!("with the format {format}");
            return Err(CheckpointError::Release { found: name(format), here: name(FORMAT) });
        }
        let (hash, hashed) = after.split_first_chunk().ok_or(TRUNCATED)?;
        let (length, content) = hashed.split_first_chunk().ok_or(TRUNCATED)?;
        match (content.len() as u64).cmp(&u64::from_le_bytes(*length)) {
            std::cmp::Ordering::Less => return Err(TRUNCATED),
            std::cmp::Ordering::Greater => return Err(CheckpointError::Damaged("it is too long")),
            std::cmp::Ordering::Equal => {}
        }
        if Hash::of_bytes(hashed) != u128::from_le_bytes(*hash) {
            return Err(CheckpointError::Damaged("its hash does not match"));
        }
        let (release, _) = postcard::take_from_bytes::<&str>(content).map_err(|_| UNREADABLE)?;
        if release != RELEASE {
            let (found, here) = (shown(release), RELEASE.to_owned());
            return Err(CheckpointError::Release { found, here });
        }
        let ((_, header, length), rest) =
            postcard::take_from_bytes::<(&str, Header, u64)>(content).map_err(|_| UNREADABLE)?;
        let (body, note) = usize::try_from(length)
            .ok()
            .and_then(|length| rest.split_at_checked(length))
            .ok_or(TRUNCATED)?;
        Ok(Checkpoint { header, body: body.to_vec(), note: note.to_vec() })
    }

    /// Looks whether this is a checkpoint of a run on that problem, before anything else is done.
    ///
    /// # Errors
    /// If it is not.
    pub fn check_problem<'p>(
        &self,
        problem: impl Into<Objective<'p>>,
    ) -> Result<(), CheckpointError> {
        let problem = problem.into();
        if self.header.problem == problem.fingerprint() {
            Ok(())
        } else {
            Err(CheckpointError::Problem)
        }
    }

    /// What was given to [`Self::new`], and the bytes behind it.
    pub(crate) fn memory_and_rest<T: DeserializeOwned>(
        &self,
    ) -> Result<(T, &[u8]), CheckpointError> {
        postcard::take_from_bytes(&self.body).map_err(|_| UNREADABLE)
    }

    /// One with this body.
    pub(crate) fn of_parts(header: Header, body: Vec<u8>) -> Self {
        Checkpoint { header, body, note: Vec::new() }
    }

    /// Looks whether the run began at a point with d coordinates.
    pub(crate) fn check_start(&self, d: usize) -> Result<(), CheckpointError> {
        if self.header.start.len() == d { Ok(()) } else { Err(FOREIGN) }
    }

    /// Looks whether this is a checkpoint of a run like that of `here`.
    pub(crate) fn check(&self, here: &Header) -> Result<(), CheckpointError> {
        let Header { method, settings, problem, .. } = &self.header;
        if *problem != here.problem {
            return Err(CheckpointError::Problem);
        }
        if *method != here.method {
            return Err(CheckpointError::Method {
                found: shown(method),
                here: here.method.clone(),
            });
        }
        if *settings != here.settings {
            return Err(CheckpointError::Settings("setting of the method, seed or start"));
        }
        Ok(())
    }
}

const HASH: usize = 16;
/// Where begins what is hashed.
const HASHED: usize = MAGIC.len() + 4 + HASH;
/// Bytes before the content.
const HEADER_BYTES: usize = HASHED + 8;
const TRUNCATED: CheckpointError = CheckpointError::Damaged("it ends too soon");
pub(crate) const UNREADABLE: CheckpointError =
    CheckpointError::Damaged("what it holds cannot be read");
pub(crate) const FOREIGN: CheckpointError =
    CheckpointError::Damaged("its sizes are not those of the problem");

/// A word of a file, for a sentence: whoever has forged it gets no control over a terminal.
pub(crate) fn shown(word: &str) -> String {
    word.chars().filter(char::is_ascii_graphic).take(40).collect()
}

/// Bytes of what is made of numbers, texts and lists of them.
pub(crate) fn to_bytes(value: &impl Serialize) -> Vec<u8> {
    postcard::to_stdvec(value).expect("numbers, texts and lists serialise")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Checkpoint {
        let header = Header {
            method: "gd".to_owned(),
            settings: 1,
            problem: 2,
            start: vec![0.5, f64::INFINITY],
            wall: 0.5,
        };
        Checkpoint::new(header, &vec![1.0, 2.0, 3.0]).with_note(b"beside".to_vec())
    }

    #[test]
    fn what_was_written_comes_back() {
        let read = Checkpoint::from_bytes(&some().to_bytes()).expect("it is whole");
        assert_eq!(read, some());
        assert_eq!(read.memory_and_rest::<Vec<f64>>(), Ok((vec![1.0, 2.0, 3.0], &[][..])));
        assert_eq!((read.method(), read.note()), ("gd", &b"beside"[..]));
        assert!(!matches!(read.memory_and_rest::<Vec<String>>(), Ok((_, []))));
    }

    #[test]
    fn every_byte_and_every_length_is_looked_at() {
        let whole = some().to_bytes();
        for end in 0..whole.len() {
            assert!(Checkpoint::from_bytes(&whole[..end]).is_err(), "cut at {end}");
        }
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut other = whole.clone();
                other[at] ^= 1 << bit;
                assert!(Checkpoint::from_bytes(&other).is_err(), "bit {bit} of byte {at}");
            }
        }
        assert!(Checkpoint::from_bytes(&[&whole[..], b" "].concat()).is_err());
    }

    /// Whoever has the hash right may still say anything.
    #[test]
    fn a_hash_that_is_right_makes_no_promise() {
        let whole = some().to_bytes();
        for at in HASHED..whole.len() {
            for byte in [0, 1, 0x7f, 0x80, 0xff] {
                let mut other = whole.clone();
                other[at] = byte;
                let hash = Hash::of_bytes(&other[HASHED..]).to_le_bytes();
                other[HASHED - HASH..HASHED].copy_from_slice(&hash);
                if let Ok(read) = Checkpoint::from_bytes(&other) {
                    let _ = read.memory_and_rest::<Vec<f64>>();
                }
            }
        }
    }

    #[test]
    fn other_runs_are_told_apart() {
        let here = some().header;
        assert_eq!(some().check(&here), Ok(()));
        assert_eq!(
            some().check(&Header { problem: 3, ..here.clone() }),
            Err(CheckpointError::Problem)
        );
        let method = some().check(&Header { method: "saga".to_owned(), ..here.clone() });
        assert!(method.is_err_and(|error| {
            error.to_string().contains("by the method gd, and this run is by saga")
        }));
        assert!(matches!(
            some().check(&Header { settings: 0, ..here }),
            Err(CheckpointError::Settings(_))
        ));
        let odd = Header { method: "sa\u{1b}[2J\u{202e}ga\n".to_owned(), ..some().header };
        let error =
            Checkpoint::new(odd, &0).check(&some().header).expect_err("another method").to_string();
        assert!(error.contains("by the method sa[2Jga, and"), "{error:?}");
        let mut newer = some().to_bytes();
        newer[MAGIC.len()] += 1;
        let error = Checkpoint::from_bytes(&newer).expect_err("another format").to_string();
        assert!(error.contains("with the format 3, and this is with the format 2"), "{error}");
    }
}

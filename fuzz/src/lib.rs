//! Damaged input for every reader: a target for each, a corpus of small files for each, and a
//! mutator that knows what files are made of.
//!
//! Case `k` of a seed is the same whatever else runs. A finding is a panic, memory beyond
//! [`memory::MOST`], or what a reader lets pass although it breaks its own promises. `./test`
//! replays the corpus and some thousand cases; for hours:
//!
//! ```text
//! cargo run --release --manifest-path fuzz/Cargo.toml -- libsvm --cases 1000000 --seed 1
//! cargo run --release --manifest-path fuzz/Cargo.toml -- flags --cases 10000 --program target/release/innermean
//! ```

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use anyhow::{Context, Result};

pub mod checkpoints;
pub mod commands;
pub mod memory;
pub mod mutate;
pub mod readers;

/// A reader, or whatever else takes input.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name, and that of its folder of the corpus.
    pub name: &'static str,
    /// Reads, and panics if what comes back breaks a promise.
    pub run: fn(&[u8]),
}

/// Every reader.
pub const TARGETS: &[Target] = &[
    Target { name: "returns", run: readers::returns },
    Target { name: "frame", run: readers::frame },
    Target { name: "keyed", run: readers::keyed },
    Target { name: "gzip", run: readers::gzip },
    Target { name: "npy", run: readers::npy },
    Target { name: "npz", run: readers::npz },
    Target { name: "libsvm", run: readers::libsvm },
    Target { name: "vector", run: readers::vector },
    Target { name: "tokens", run: readers::tokens },
    Target { name: "toml", run: readers::settings },
    Target { name: "models", run: readers::model },
    Target { name: CHECKPOINTS, run: checkpoints::checkpoint },
    #[cfg(feature = "parquet")]
    Target { name: "parquet", run: readers::frame },
    #[cfg(feature = "mat")]
    Target { name: "mat", run: readers::frame },
    #[cfg(feature = "mat")]
    Target { name: "hdf5", run: readers::frame },
];

/// The targets whose corpus is made, and not kept: the library's checkpoints, and those of the
/// command line, which makes them ([`commands::Resumes`]).
const CHECKPOINTS: &str = "checkpoints";
/// See above.
pub const RESUMES: &str = "resumes";

/// Case `number` of `seed` of a target, from its corpus.
pub fn case(target: &str, seeds: &[&[u8]], seed: u64, number: u64) -> Vec<u8> {
    let forged = [CHECKPOINTS, RESUMES].contains(&target);
    let make = if forged { checkpoints::case } else { mutate::case };
    make(seeds, seed, number)
}

/// A case that something is wrong with.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The target's name.
    pub target: String,
    /// The number of the case under its seed, or the name of a file of the corpus.
    pub case: String,
    /// What is wrong.
    pub what: String,
}

/// The files of a target's corpus, in the order of their names.
///
/// # Errors
/// If there are none.
pub fn corpus(target: &str) -> Result<Vec<(String, Vec<u8>)>> {
    if target == CHECKPOINTS {
        return Ok(checkpoints::seeds());
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let missing = || format!("{}: expected a folder of files to begin with", folder.display());
    let entries = fs::read_dir(&folder).with_context(missing)?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        fs::read(&path).map(|bytes| (name, bytes)).with_context(|| path.display().to_string())
    };
    paths.into_iter().map(read).collect()
}

/// Runs one case; says what is wrong with it. Memory is only watched in programs whose allocator is
/// [`memory::Watching`].
pub fn run_case(run: &dyn Fn(&[u8]), data: &[u8], number: u64) -> Option<String> {
    memory::CASE.store(number, Ordering::Relaxed);
    let before = memory::start();
    let outcome = catch_unwind(AssertUnwindSafe(|| run(data)));
    let most = memory::most_since(before);
    if let Err(panic) = outcome {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        return Some(format!("panics: {text}"));
    }
    (most > memory::MOST).then(|| format!("takes {} MB for {} bytes", most >> 20, data.len()))
}

/// Replays the corpus of `target` and runs `cases` that are made from it.
///
/// # Errors
/// If there is no corpus.
pub fn fuzz(target: &Target, seed: u64, cases: u64) -> Result<Vec<Finding>> {
    fuzz_with(target.name, &target.run, seed, cases)
}

/// [`fuzz`] for what is not in the table.
///
/// # Errors
/// If there is no corpus.
pub fn fuzz_with(name: &str, run: &dyn Fn(&[u8]), seed: u64, cases: u64) -> Result<Vec<Finding>> {
    Ok(fuzz_from(name, &corpus(name)?, run, seed, cases))
}

/// [`fuzz_with`] from files to begin with, by their names.
pub fn fuzz_from(
    name: &str,
    corpus: &[(String, Vec<u8>)],
    run: &dyn Fn(&[u8]),
    seed: u64,
    cases: u64,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut note = |case: String, what: Option<String>| {
        findings.extend(what.map(|what| Finding { target: name.to_owned(), case, what }));
        findings.len() >= MOST_FINDINGS
    };
    for (file, bytes) in corpus {
        note(file.clone(), run_case(run, bytes, u64::MAX));
    }
    let seeds: Vec<&[u8]> = corpus.iter().map(|(_, bytes)| &**bytes).collect();
    for number in 0..cases {
        let data = case(name, &seeds, seed, number);
        if note(number.to_string(), run_case(run, &data, number)) {
            break;
        }
    }
    findings
}

/// After this many there is enough to do.
const MOST_FINDINGS: usize = 20;

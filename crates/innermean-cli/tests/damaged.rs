//! Flags, traces and checkpoints that are damaged here and there: the program ends with a sentence,
//! leaves nothing behind where it refuses, and does not panic.

use std::path::Path;

use innermean_fuzz::{Finding, RESUMES, commands, fuzz_from, fuzz_with};

use crate::desk::PROGRAM;

/// Each is a run of the program.
const CASES: u64 = 120;

fn check(target: &str, run: fn(&Path, &[u8])) {
    let program = Path::new(PROGRAM);
    none(&fuzz_with(target, &|data: &[u8]| run(program, data), 1, CASES).expect("a corpus"));
}

fn none(found: &[Finding]) {
    let found: Vec<String> =
        found.iter().map(|found| format!("--case {}: {}", found.case, found.what)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn flags() {
    check("flags", commands::flags);
}

#[test]
fn traces() {
    check("traces", commands::traces);
}

#[test]
fn checkpoints() {
    let resumes = commands::Resumes::new(Path::new(PROGRAM));
    none(&fuzz_from(RESUMES, &resumes.corpus(), &|data: &[u8]| resumes.run(data), 1, CASES));
}

//! Every reader on its corpus and on some thousand damaged files: no panic, no memory without
//! bound, nothing let through that breaks a promise.

use innermean_fuzz::{TARGETS, fuzz, memory};

#[global_allocator]
static ALLOCATOR: memory::Watching = memory::Watching;

/// Of each target.
const CASES: u64 = 3000;

#[test]
fn damaged_files_are_refused_in_a_sentence() {
    let found: Vec<String> = TARGETS
        .iter()
        .flat_map(|target| fuzz(target, 1, CASES).expect("a corpus"))
        .map(|finding| format!("{} --case {}: {}", finding.target, finding.case, finding.what))
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn memory_is_watched() {
    let before = memory::start();
    drop(vec![1_u8; 1 << 20]);
    assert!(memory::most_since(before) >= 1 << 20);
}

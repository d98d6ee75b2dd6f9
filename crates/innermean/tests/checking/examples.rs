//! The example of a user's own problem runs, and the page that walks through it shows its code.

use std::fs;
use std::path::Path;

#[path = "../../examples/instrumental_variables.rs"]
mod instrumental_variables;

#[test]
fn the_example_finds_the_closed_form() {
    instrumental_variables::main();
}

#[test]
fn the_page_shows_the_code_that_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(root.join(path)).expect("it is there");
    let (page, example) =
        (read("../../docs/adding-a-problem.md"), read("examples/instrumental_variables.rs"));
    let blocks: Vec<&str> =
        page.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() >= 2, "{} blocks of code", blocks.len());
    for block in blocks {
        assert!(example.contains(block.trim_end()), "not in the example:\n{block}");
    }
    assert!(example.lines().count() <= 60, "{} lines", example.lines().count());
}

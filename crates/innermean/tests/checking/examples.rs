//! The examples run and find what they assert; the page that walks through a problem of one's own
//! shows the code of its example.

use std::fs;
use std::path::Path;

#[path = "../../examples/constrained_portfolio.rs"]
mod constrained_portfolio;
#[path = "../../examples/instrumental_variables.rs"]
mod instrumental_variables;
#[path = "../../examples/own_method.rs"]
mod own_method;
#[path = "../../examples/run_in_pieces.rs"]
mod run_in_pieces;
#[path = "../../examples/standard_errors.rs"]
mod standard_errors;

#[test]
fn the_example_finds_the_closed_form() {
    instrumental_variables::main();
}

#[test]
fn a_constrained_portfolio_is_within_its_certificate() {
    constrained_portfolio::main();
}

#[test]
fn a_run_in_pieces_ends_with_the_bits_of_one_at_once() {
    run_in_pieces::main();
}

#[test]
fn standard_errors_of_a_line_have_a_closed_form() {
    standard_errors::main();
}

#[test]
fn a_method_of_ones_own_finds_the_closed_form() {
    own_method::main();
}

#[test]
fn the_pages_show_the_code_that_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |path: &str| fs::read_to_string(root.join(path)).expect("it is there");
    for (page, example, least) in
        [("adding-a-problem", "instrumental_variables", 2), ("adding-a-method", "own_method", 2)]
    {
        let page = read(&format!("../../docs/{page}.md"));
        let example = read(&format!("examples/{example}.rs"));
        let blocks: Vec<&str> =
            page.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        assert!(blocks.len() >= least, "{} blocks of code", blocks.len());
        for block in blocks {
            assert!(example.contains(block.trim_end()), "not in the example:\n{block}");
        }
        assert!(example.lines().count() <= 60, "{} lines", example.lines().count());
    }
}

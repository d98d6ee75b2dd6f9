//! The README's examples are what the program prints.

use std::path::Path;
use std::{env, fs};

use assert_cmd::Command;

/// What the README shows below `cargo run --release -- ARGS`, and what the program prints.
fn shown_and_printed(args: &str) -> (String, String) {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = fs::read_to_string(readme).expect("the README");
    let (_, example) = readme.split_once(&format!("cargo run --release -- {args}\n")).expect("the example");
    let (_, block) = example.split_once("```text\n").expect("its output");
    let (shown, _) = block.split_once("```").expect("the end of it");
    let mut command = Command::cargo_bin("innermean").expect("the program");
    let output = command.args(args.split_whitespace()).assert().success().get_output().stdout.clone();
    (shown.to_owned(), String::from_utf8(output).expect("text"))
}

#[test]
fn the_example_is_what_the_program_prints() {
    let (shown, printed) = shown_and_printed("portfolio --constraint long-only");
    // All but the seconds: they are the machine's.
    let without_time = |text: &str| -> Vec<String> {
        text.lines()
            .filter(|line| !line.starts_with("time "))
            .map(|line| line.trim_end().to_owned())
            .collect()
    };
    assert_eq!(without_time(&printed), without_time(&shown));
}

#[test]
fn the_comparison_begins_as_shown() {
    let (shown, printed) =
        shown_and_printed("compare portfolio --methods svrpda1,svrpda2,comp-svrg2,lbfgs,saga,spdc");
    let head = shown.split_once("...\n").expect("what follows is left out").0;
    assert_eq!(printed.get(..head.len()), Some(head), "{printed}");
}

//! The README's example is what the program prints.

use std::path::Path;
use std::{env, fs};

use assert_cmd::Command;

#[test]
fn the_example_is_what_the_program_prints() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = fs::read_to_string(readme).expect("the README");
    let (_, example) =
        readme.split_once("cargo run --release -- portfolio --constraint long-only\n").expect("the example");
    let (_, block) = example.split_once("```text\n").expect("its output");
    let (expected, _) = block.split_once("```").expect("the end of it");

    let output = Command::cargo_bin("innermean")
        .expect("the program")
        .args(["portfolio", "--constraint", "long-only"])
        .assert()
        .success()
        .get_output()
        .stdout
        .clone();
    let printed = String::from_utf8(output).expect("text");
    // All but the seconds: they are the machine's.
    let without_time = |text: &str| -> Vec<String> {
        text.lines()
            .filter(|line| !line.starts_with("time "))
            .map(|line| line.trim_end().to_owned())
            .collect()
    };
    assert_eq!(without_time(&printed), without_time(expected));
}

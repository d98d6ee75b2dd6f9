//! The table of methods in the documentation is the one in the library.

use std::fmt::Write as _;
use std::path::PathBuf;

use innermean::METHODS;
use innermean::methods::{Form, Rate};

const BEGIN: &str = "<!-- The table of methods begins: written by the test `documented` with INNERMEAN_BLESS=1. -->\n";
const END: &str = "<!-- The table of methods ends. -->\n";

fn table() -> String {
    let mut text = String::from(
        "| name | method | asks for | rate | works on | stores | reference |\n|---|---|---|---|---|---|---|\n",
    );
    for row in METHODS {
        let asks: Vec<&str> = row.asks.iter().map(|ask| ask.words()).collect();
        let rate = if row.rate == Rate::Linear { "linear" } else { "sublinear" };
        let form = match row.form {
            Form::Given => "the problem as given",
            Form::Shared => "shared inner sample",
            Form::Collapsed => "collapsed averages",
        };
        writeln!(
            text,
            "| `{}` | {}: {} | {} | {rate} | {form} | `{}` | {} |",
            row.name,
            row.title,
            row.summary,
            if asks.is_empty() { "nothing".to_owned() } else { asks.join("; ") },
            row.storage,
            row.reference
        )
        .expect("a string takes all");
    }
    text
}

#[test]
fn the_table_of_methods() {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../docs/methods.md");
    let text = std::fs::read_to_string(&file).expect("the page is there");
    let (before, rest) = text.split_once(BEGIN).expect("the table's begin is marked");
    let (found, after) = rest.split_once(END).expect("the table's end is marked");
    let expected = table();
    if std::env::var_os("INNERMEAN_BLESS").is_some() {
        std::fs::write(&file, format!("{before}{BEGIN}{expected}{END}{after}"))
            .expect("the page can be written");
    } else {
        assert_eq!(
            found, expected,
            "docs/methods.md is not up to date: run this test with INNERMEAN_BLESS=1"
        );
    }
}

/// The promise of equal bits on every machine: no source calls the system's elementary functions
/// outside of tests.
#[test]
fn results_do_not_depend_on_the_systems_functions() {
    let calls = [
        ".ln()",
        ".ln_1p()",
        ".exp()",
        ".exp_m1()",
        ".powf(",
        ".cbrt()",
        ".hypot(",
        ".sin()",
        ".cos()",
        ".tanh()",
    ];
    let mut folders = vec![PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../src")];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if path.ends_with("tests.rs") {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a text");
            let source = text.split("#[cfg(test)]").next().unwrap_or_default();
            let code = |line: &&str| !line.trim_start().starts_with("//");
            for line in source.lines().filter(code) {
                let call = calls.iter().find(|call| line.contains(**call));
                assert_eq!(call, None, "{}: {line}; see `elementary`", path.display());
            }
            files += 1;
        }
    }
    assert!(files > 100);
}

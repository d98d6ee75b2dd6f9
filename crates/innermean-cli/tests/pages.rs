//! The commands in the README and in docs/ work, and print what is shown.
//!
//! Every line `innermean ...`, `cargo run --release -- ...` or the same with `--features ...` of a
//! block `sh` is run by a shell, in a folder of the page. If it is the one command of its block and
//! a block `text` follows, that is its output, or what it complains about where it fails; a line
//! `...` stands for whatever is left out. A block such as `csv file=returns.csv` is a file in that
//! folder. Lines about time are the machine's and not compared.
//!
//! `INNERMEAN_BLESS=1 cargo test -p innermean-cli --test all pages::` writes what the program
//! prints into the pages: of an example with one line `...`, as many lines before and after it as
//! stood there. Read the difference before you keep it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::desk::PROGRAM;

/// Pages that must have one.
const WITH_EXAMPLES: [&str; 13] = [
    "README.md",
    "docs/bags.md",
    "docs/certificates.md",
    "docs/checkpoints.md",
    "docs/linear.md",
    "docs/models.md",
    "docs/moments.md",
    "docs/policy.md",
    "docs/portfolio.md",
    "docs/reports.md",
    "docs/reproduction.md",
    "docs/sequences.md",
    "docs/start.md",
];

/// A fenced block of a page.
struct Block<'a> {
    /// What is behind the fence.
    kind: &'a str,
    text: String,
}

/// The README and the pages of the book, with its contents.
pub(crate) fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = fs::read_dir(root.join("docs")).expect("the docs");
    let docs = docs
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "md"));
    let mut pages: Vec<PathBuf> = docs.chain([root.join("README.md")]).collect();
    pages.sort();
    pages
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(kind) = line.strip_prefix("```") {
            let text =
                lines.by_ref().take_while(|line| *line != "```").map(|line| line.to_owned() + "\n");
            blocks.push(Block { kind, text: text.collect() });
        }
    }
    blocks
}

/// Commands that are not run: they are what runs the tests, or take an hour, or change the machine.
const NOT_RUN: [&str; 4] =
    ["cargo test ", "INNERMEAN_BLESS=1 ", "experiments/bench/run", "cargo install "];

/// The command of a line, with the program's name in place of cargo; nothing for comments, and for
/// those that tests do not run.
fn command(line: &str) -> Option<String> {
    let line = line.split(" #").next().unwrap_or(line).trim();
    if line.is_empty() || line == "./test" || NOT_RUN.iter().any(|other| line.starts_with(other)) {
        return None;
    }
    // The program of the tests has all features.
    let args =
        line.strip_prefix("cargo run --release ").and_then(|rest| match rest.strip_prefix("-- ") {
            None => rest.strip_prefix("--features ")?.split_once(" -- ").map(|(_, args)| args),
            args => args,
        });
    Some(args.map_or(line.to_owned(), |args| format!("innermean {args}")))
}

/// Runs a line in a shell that finds the program.
fn run(line: &str, folder: &Path) -> Output {
    let program = Path::new(PROGRAM);
    let paths = program.parent().map(Path::to_owned).into_iter();
    let paths = paths
        .chain(std::env::var_os("PATH").iter().flat_map(std::env::split_paths).collect::<Vec<_>>());
    Command::new("sh")
        .args(["-c", line])
        .current_dir(folder)
        .env("PATH", std::env::join_paths(paths).expect("paths without colons"))
        .output()
        .expect("there is a shell")
}

/// Lines to compare. What is left to rounding (a gap of 1e-13) is of one size on every processor and
/// with every order of sums, but not of one value.
fn comparable(text: &str) -> Vec<String> {
    let without_rounding = |word: &str| {
        let number = word.trim_end_matches([',', ';', ')']);
        match number.parse::<f64>() {
            Ok(value) if value != 0.0 && value.abs() < 1e-10 => {
                word.replacen(number, "(rounding)", 1)
            }
            _ => word.to_owned(),
        }
    };
    text.lines()
        .filter(|line| !line.starts_with("time "))
        .map(|line| line.trim_end().split(' ').map(without_rounding).collect::<Vec<_>>().join(" "))
        .collect()
}

/// Whether `printed` is `shown`, in which a line `...` stands for any number of lines.
fn agrees(printed: &[impl AsRef<str>], shown: &[impl AsRef<str>]) -> Result<(), String> {
    let printed: Vec<&str> = printed.iter().map(AsRef::as_ref).collect();
    let shown: Vec<&str> = shown.iter().map(AsRef::as_ref).collect();
    let mut rest = printed.as_slice();
    for (k, part) in shown.split(|line| *line == "...").enumerate() {
        let last = shown.iter().filter(|line| **line == "...").count() == k;
        let at = match k {
            0 if rest.starts_with(part) => Some(0),
            0 => None,
            _ if last => rest.len().checked_sub(part.len()).filter(|at| rest[*at..] == *part),
            _ => {
                (0..=rest.len().saturating_sub(part.len())).find(|at| rest[*at..].starts_with(part))
            }
        };
        let Some(at) = at else {
            return Err(format!("shown:\n{}\nprinted:\n{}", part.join("\n"), rest.join("\n")));
        };
        rest = &rest[at + part.len()..];
        if last && !rest.is_empty() {
            return Err(format!("not shown:\n{}", rest.join("\n")));
        }
    }
    Ok(())
}

/// What a page shows instead of `shown` when the program prints `printed`.
fn blessed(printed: &str, shown: &str) -> String {
    let printed: Vec<&str> = printed.lines().map(str::trim_end).collect();
    let parts: Vec<Vec<&str>> = shown
        .split("\n...\n")
        .map(|part| part.lines().filter(|line| *line != "...").collect())
        .collect();
    let (head, tail) = match parts.as_slice() {
        [all] if !shown.lines().any(|line| line == "...") => (all.len().max(printed.len()), 0),
        [head] => (head.len(), 0),
        [head, tail] => (head.len(), tail.len()),
        _ => panic!("an example with several lines `...` is written by hand:\n{shown}"),
    };
    if head + tail >= printed.len() {
        return printed.join("\n") + "\n";
    }
    let lines = printed[..head].iter().chain(&["..."]).chain(&printed[printed.len() - tail..]);
    lines.map(|line| (*line).to_owned() + "\n").collect()
}

#[test]
fn commands_work_and_print_what_is_shown() {
    let bless = std::env::var_os("INNERMEAN_BLESS").is_some();
    let mut wrong = Vec::new();
    for path in pages() {
        let mut examples = 0;
        let page = fs::read_to_string(&path).expect("a page");
        let mut written = page.clone();
        let folder = TempDir::new().expect("a folder for the page");
        let blocks = blocks(&page);
        for (k, block) in blocks.iter().enumerate() {
            if let Some((_, name)) = block.kind.split_once(" file=") {
                fs::write(folder.path().join(name), &block.text).expect("a file of the page");
            }
            if block.kind != "sh" {
                continue;
            }
            let commands: Vec<String> = block.text.lines().filter_map(command).collect();
            let shown = blocks.get(k + 1).filter(|next| next.kind == "text" && commands.len() == 1);
            for line in &commands {
                let output = run(line, folder.path());
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                let printed = String::from_utf8(output.stdout).expect("text");
                let printed =
                    if output.status.code() == Some(2) { printed + &said } else { printed };
                let Some(shown) = shown else {
                    if !output.status.success() {
                        wrong.push(format!("{}: {line}\n{said}", path.display()));
                    }
                    continue;
                };
                examples += 1;
                if let Err(difference) = agrees(&comparable(&printed), &comparable(&shown.text)) {
                    if bless {
                        written = written.replacen(&shown.text, &blessed(&printed, &shown.text), 1);
                        continue;
                    }
                    wrong.push(format!("{}: {line}\n{difference}\n{said}", path.display()));
                }
            }
        }
        if written != page {
            fs::write(&path, written).expect("the page is written");
        }
        if examples == 0 && WITH_EXAMPLES.iter().any(|name| path.ends_with(name)) {
            wrong.push(format!("{}: has no example", path.display()));
        }
    }
    for name in WITH_EXAMPLES {
        assert!(pages().iter().any(|page| page.ends_with(name)), "there is no page {name}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn rounding_may_have_any_value_and_nothing_else() {
    let shown = comparable("within 8.7e-15 of (relative 3e-12, 1e-6)");
    assert!(agrees(&comparable("within 9.4e-14 of (relative 1e-11, 1e-6)"), &shown).is_ok());
    assert!(agrees(&comparable("within 9.4e-9 of (relative 3e-12, 1e-6)"), &shown).is_err());
    assert!(agrees(&comparable("within 8.7e-15 of (relative 3e-12, 1e-5)"), &shown).is_err());
}

#[test]
fn what_is_left_out_may_be_anything() {
    assert!(agrees(&["a", "b", "c"], &["a", "...", "c"]).is_ok());
    assert!(agrees(&["a", "b", "c"], &["a", "..."]).is_ok());
    assert!(agrees(&["a", "b", "c"], &["a", "b", "c"]).is_ok());
    assert!(agrees(&["a", "b", "c"], &["a", "..", "c"]).is_err());
    assert!(agrees(&["a", "b", "c"], &["a", "...", "b"]).is_err());
    assert!(agrees(&["a", "b", "c"], &["b", "...", "c"]).is_err());
    assert!(agrees(&["a", "b", "c"], &["a", "b"]).is_err());
}

#[test]
fn a_blessed_example_shows_as_many_lines_as_before() {
    assert_eq!(blessed("a\nb\nc\nd\n", "x\n...\ny\n"), "a\n...\nd\n");
    assert_eq!(blessed("a\nb\nc\nd\n", "x\n...\n"), "a\n...\n");
    assert_eq!(blessed("a\nb\nc\n", "x\n"), "a\nb\nc\n");
}

#[test]
fn the_readme_counts_the_methods() {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md"));
    let said = format!("{} methods", innermean::METHODS.len());
    assert!(readme.expect("a page").contains(&said), "the README does not say '{said}'");
}

//! The book is whole: every page is in its contents, every link leads to a file, and every anchor
//! to a heading. mdBook itself, which only draws the pages, is not needed for that.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::pages::pages;

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The README, the book, and what else is read in the repository itself.
fn all_pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    pages()
        .into_iter()
        .chain(["CONTRIBUTING.md", "CHANGELOG.md"].map(|name| root.join(name)))
        .collect()
}

/// The lines outside fenced blocks; an error if the last block has no end.
fn prose(page: &str) -> Result<String, String> {
    let mut fence = None;
    let mut prose = String::new();
    for line in page.lines() {
        let is_fence = line.trim_start().starts_with("```");
        match fence {
            None if is_fence => fence = Some(line),
            None => prose.extend([line, "\n"]),
            // What ends a block is bare; with a word behind it, it would be the block's text.
            Some(_) if is_fence && line.trim() == "```" => fence = None,
            Some(_) => {}
        }
    }
    fence.map_or(Ok(prose), |line| Err(format!("the block {line} has no end")))
}

/// The targets of links and pictures, `](target)`, inside the repository.
fn targets(prose: &str) -> impl Iterator<Item = &str> {
    let ends = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    ends.map(|(target, _)| target).filter(|target| !target.contains("://"))
}

/// The anchors of a page's headings, as mdBook and GitHub make them: lower case, blanks to hyphens,
/// other signs left out, and a number where a heading comes again.
fn anchors(prose: &str) -> HashSet<String> {
    let mut anchors = HashSet::new();
    for line in prose.lines() {
        let Some(title) =
            line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#'))
        else {
            continue;
        };
        let kept = title.trim().chars().filter_map(|c| match c {
            c if c.is_whitespace() => Some('-'),
            c if c.is_alphanumeric() || c == '_' || c == '-' => Some(c),
            _ => None,
        });
        let anchor = kept.collect::<String>().to_lowercase();
        let again = (1..).map(|k| format!("{anchor}-{k}"));
        let new = [anchor.clone()].into_iter().chain(again).find(|name| !anchors.contains(name));
        anchors.extend(new);
    }
    anchors
}

/// What is wrong with the link `target` on the page `path`.
fn fault(path: &Path, target: &str) -> Option<String> {
    let (file, anchor) =
        target.split_once('#').map_or((target, None), |(file, anchor)| (file, Some(anchor)));
    let there = if file.is_empty() { path.to_owned() } else { path.parent()?.join(file) };
    if !there.exists() {
        return Some("there is no such file".to_owned());
    }
    let anchor = anchor.filter(|_| there.extension().is_some_and(|e| e == "md"))?;
    let known = prose(&text(&there)).is_ok_and(|prose| anchors(&prose).contains(anchor));
    (!known).then(|| format!("no heading of {} is #{anchor}", there.display()))
}

#[test]
fn links_lead_somewhere() {
    let mut wrong = Vec::new();
    for path in all_pages() {
        match prose(&text(&path)) {
            Err(what) => wrong.push(format!("{}: {what}", path.display())),
            Ok(prose) => {
                let faults =
                    targets(&prose).filter_map(|target| Some((target, fault(&path, target)?)));
                wrong.extend(
                    faults.map(|(target, what)| format!("{}: {target}: {what}", path.display())),
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn links_that_lead_nowhere_are_told() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/methods.md");
    assert_eq!(fault(&path, "automatic-steps.md#the-safeguard"), None);
    assert!(fault(&path, "automatic-steps.md#no-such-heading").is_some());
    assert!(fault(&path, "no-such-page.md").is_some());
    assert!(fault(&path, "#no-such-heading").is_some());
    assert!(prose("```sh\nls\n").is_err());
    let page = "# What `f` is\n\n```sh\n# no heading\n```\n## f, and g\n## f, and g\n#no heading\n";
    let expected = ["what-f-is", "f-and-g", "f-and-g-1"].map(str::to_owned);
    assert_eq!(anchors(&prose(page).expect("closed blocks")), HashSet::from(expected));
}

#[test]
fn the_book_has_every_page() {
    let pages = pages();
    let summary =
        pages.iter().find(|page| page.ends_with("SUMMARY.md")).expect("the book's contents");
    let contents = text(summary);
    let listed: Vec<&str> = targets(&contents).collect();
    for page in pages.iter().filter(|page| page.parent() == summary.parent() && *page != summary) {
        let name = page.file_name().and_then(|name| name.to_str()).expect("a name");
        let times = listed.iter().filter(|target| **target == name).count();
        assert_eq!(times, 1, "docs/SUMMARY.md lists {name} {times} times, not once");
    }
}

/// What mdBook is told to take along is there.
#[test]
fn the_book_has_its_style() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let settings = text(&docs.join("book.toml"));
    let mut styles = settings
        .split('"')
        .filter(|word| Path::new(word).extension().is_some_and(|e| e == "css"))
        .peekable();
    assert!(styles.peek().is_some(), "docs/book.toml names no style");
    for style in styles {
        assert!(docs.join(style).is_file(), "docs/book.toml names {style}, which is not there");
    }
}

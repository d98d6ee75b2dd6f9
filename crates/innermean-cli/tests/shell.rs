//! What a shell and a reader of manuals ask for.

use tempfile::TempDir;

use crate::desk::program;

fn printed(args: &[&str]) -> String {
    let output = program().args(args).output().expect("it runs");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn completions_know_the_commands_and_their_flags() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = printed(&["completions", shell]);
        for word in ["portfolio", "compare", "risk-aversion"] {
            assert!(text.contains(word), "{shell} has no {word}");
        }
    }
}

#[test]
fn a_shell_that_nobody_knows_is_refused() {
    let output = program().args(["completions", "tcsh"]).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("tcsh") && said.contains("fish"), "{said}");
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let page = printed(&["man"]);
    assert!(page.contains(".TH innermean 1") && page.contains("loss of averages"), "{page}");
    let folder = TempDir::new().expect("a folder");
    let man = folder.path().join("man1");
    printed(&["man", "--dir", man.to_str().expect("text")]);
    for name in
        ["innermean.1", "innermean-portfolio.1", "innermean-policy.1", "innermean-compare.1"]
    {
        let page = std::fs::read_to_string(man.join(name))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(page.contains(".SH"), "{name}: {page}");
    }
}

#[test]
fn the_version_tells_the_commit_where_there_is_one() {
    let version = printed(&["--version"]);
    let rest = version
        .trim()
        .strip_prefix(concat!("innermean ", env!("CARGO_PKG_VERSION")))
        .expect("the version");
    let commit = rest.strip_prefix(" (").and_then(|rest| rest.strip_suffix(')'));
    assert!(
        rest.is_empty()
            || commit.is_some_and(|c| c.len() >= 7 && c.bytes().all(|b| b.is_ascii_hexdigit())),
        "{version}"
    );
}

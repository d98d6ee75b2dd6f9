//! Checkpoints from the command line: limits that are raised, and files that do not fit.

#![cfg(unix)]

use std::fs;

use crate::desk::{csv, market, small};
use innermean::Checkpoint;
use innermean::checkpoint::Hash;

/// A run that a limit or Ctrl-C ends leaves a checkpoint behind: with more time it goes on as if
/// there had been more from the beginning.
#[test]
fn limits_may_be_raised() {
    let desk = market();
    let run = "portfolio small.csv --risk absolute --constraint long-only --method svrpda1 --tolerance 1e-300";
    let whole = desk.json(&format!("{run} --max-outer 30"), 1);
    let short = desk.json(&format!("{run} --max-outer 7 --checkpoint run.bin"), 1);
    assert_eq!(short["outer"], 7);
    assert!(
        short["advice"].as_str().is_some_and(|advice| advice.contains("--resume run.bin")),
        "{short}"
    );
    // Where nothing is left to do, nothing is done.
    let same = desk.json(&format!("{run} --max-outer 7 --resume run.bin"), 1);
    assert_eq!(same["theta"], short["theta"]);
    let rest = desk.json(&format!("{run} --max-outer 30 --resume run.bin --threads 1"), 1);
    for key in ["theta", "objective", "calls", "outer", "inner", "certificate"] {
        assert_eq!(rest[key], whole[key], "{key}");
    }
    let timed = desk.json(&format!("{run} --max-seconds 1e-3 --checkpoint run.bin"), 1);
    assert_eq!(timed["status"], "max_seconds");
    let rest = desk.json(&format!("{run} --max-outer 30 --resume run.bin"), 1);
    assert_eq!((&rest["theta"], &rest["calls"]), (&whole["theta"], &whole["calls"]));
}

/// Steps that would take for ever by themselves.
#[test]
fn limits_hold_within_a_step() {
    let desk = market();
    for args in [
        "--method svrpda1 --outer-batch 1e12",
        "--method sox --outer-batch 1e12",
        "--method alexr --batch 1e12",
    ] {
        let cut = desk.json(
            &format!("portfolio small.csv {args} --max-seconds 0.05 --checkpoint run.bin"),
            1,
        );
        assert_eq!((&cut["status"], &cut["outer"]), (&"max_seconds".into(), &0.into()), "{args}");
        fs::remove_file(desk.path().join("run.bin")).expect("the beginning was written down");
    }
    desk.assert_refused(
        "portfolio small.csv --method c-saga --outer-batch 1e12",
        &["--outer-batch 1000000000000: expected at most"],
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let desk = market();
    let mut other = small();
    other.values[17] += 1e-9;
    desk.file("other.csv", &csv(&other));
    desk.json("portfolio small.csv --method svrpda1 --max-outer 1 --checkpoint run.bin", 1);
    let whole = fs::read(desk.path().join("run.bin")).expect("it was written");
    let write =
        |name: &str, bytes: &[u8]| fs::write(desk.path().join(name), bytes).expect("it is written");
    write("short.bin", &whole[..whole.len() - 1]);
    write("empty.bin", b"");
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 4;
    write("damaged.bin", &damaged);
    let mut newer = whole.clone();
    newer[21] += 1;
    write("newer.bin", &newer);
    let run = "portfolio small.csv --method svrpda1";
    for (args, words) in [
        (format!("{run} --resume none.bin"), ["none.bin", "no such file"]),
        (format!("{run} --resume ."), [".", "cannot be read"]),
        (format!("{run} --resume small.csv"), ["small.csv", "is no checkpoint"]),
        (format!("{run} --resume empty.bin"), ["empty.bin", "is no checkpoint"]),
        (format!("{run} --resume short.bin"), ["short.bin", "is damaged (it ends too soon)"]),
        (
            format!("{run} --resume damaged.bin"),
            ["damaged.bin", "is damaged (its hash does not match)"],
        ),
        (format!("{run} --resume newer.bin"), ["newer.bin", "with the format 2"]),
        (format!("{run} --resume run.bin --seed 1"), ["--seed 0", "this run has --seed 1"]),
        (format!("{run} --resume run.bin --l2 0.1"), ["with l2 0.0", "this run has l2 0.1"]),
        (
            format!("{run} --resume run.bin --alpha-w 2"),
            ["--alpha-w none", "this run has --alpha-w 2"],
        ),
        (
            "portfolio other.csv --method svrpda1 --resume run.bin".to_owned(),
            ["run.bin", "another problem"],
        ),
        ("portfolio small.csv --resume run.bin".to_owned(), ["--method svrpda1", "--method auto"]),
        ("linear --resume run.bin".to_owned(), ["run.bin", "innermean portfolio"]),
        (format!("{run} --checkpoint small.csv"), ["--checkpoint small.csv", "is being read"]),
    ] {
        desk.assert_refused(&args, &words);
    }
}

/// Whoever makes a file with a hash that is right does not write on the terminal by it.
#[test]
fn settings_from_a_file_are_shown_without_what_a_terminal_acts_upon() {
    let desk = market();
    desk.json("portfolio small.csv --method svrpda1 --max-outer 1 --checkpoint run.bin", 1);
    let whole = fs::read(desk.path().join("run.bin")).expect("it was written");
    // Version, hash and length stand between the beginning and what is hashed with its length.
    let hashed = Checkpoint::BEGINNING.len() + 4 + 16;
    for (text, other) in
        [("svrpda1", "\u{1b}[31m\u{7}\n"), ("portfolio", "\u{202e}\u{1b}c\r\n\n\n")]
    {
        assert_eq!(text.len(), other.len());
        let mut changed = whole.clone();
        let at = whole.windows(text.len()).rposition(|window| window == text.as_bytes());
        let at = at.expect("the note says it");
        changed[at..at + other.len()].copy_from_slice(other.as_bytes());
        let hash = Hash::of_bytes(&changed[hashed..]).to_le_bytes();
        changed[hashed - hash.len()..hashed].copy_from_slice(&hash);
        fs::write(desk.path().join("changed.bin"), &changed).expect("it is written");
        let refused = desk.run("portfolio small.csv --method svrpda1 --resume changed.bin");
        assert_eq!(refused.code, Some(2), "{}", refused.err);
        let sentence = refused.err.trim_end_matches('\n');
        assert!(sentence.contains("changed.bin: was written"), "{sentence:?}");
        assert!(sentence.contains('\u{fffd}'), "{sentence:?}");
        assert!(
            !sentence.contains(char::is_control) && !sentence.contains('\u{202e}'),
            "{sentence:?}"
        );
    }
}

/// A trace is gone on with where it ended, and nowhere else.
#[test]
fn a_trace_of_another_run_is_left_alone() {
    let desk = market();
    let run = "portfolio small.csv --method svrpda1 --tolerance 1e-300";
    desk.json(&format!("{run} --max-outer 5 --trace run.jsonl --checkpoint run.bin"), 1);
    desk.file("other.jsonl", "{}\n");
    let refused = desk.run(&format!("{run} --max-outer 9 --resume run.bin --trace other.jsonl"));
    assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""));
    assert!(
        refused.err.contains("--trace other.jsonl: is not the trace of the run"),
        "{}",
        refused.err
    );
    assert_eq!(desk.trace("other.jsonl").len(), 1);
    let twice = desk.run(&format!("{run} --trace both --checkpoint both"));
    assert!(
        twice.code == Some(2) && twice.err.contains("is the path of --trace too"),
        "{}",
        twice.err
    );
    desk.json(&format!("{run} --max-outer 9 --resume run.bin --trace run.jsonl"), 1);
    assert_eq!(desk.trace("run.jsonl").len(), 10);
}

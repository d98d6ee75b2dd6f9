//! Runs that are killed at any instant and gone on with, from the command line.

#![cfg(unix)]

use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::desk::{Desk, csv, small};
use innermean::Checkpoint;
use innermean::checkpoint::Hash;
use innermean::draws::Stream;
use serde_json::Value;

/// Takes away what tells the time, and the advice, which speaks of the checkpoint.
fn timeless(mut value: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.retain(|key, _| key != "seconds" && key != "advice");
                fields.values_mut().for_each(strip);
            }
            Value::Array(values) => values.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut value);
    value
}

/// The answer and the trace of a run.
fn outcome(desk: &Desk, out: &str) -> (Value, Vec<Value>) {
    let answer = serde_json::from_str(out).unwrap_or_else(|error| panic!("{error} in {out}"));
    (timeless(answer), desk.trace("run.jsonl").into_iter().map(timeless).collect())
}

/// Kills a command `kills` times, each time gone on with by the same line, and compares every end
/// that it comes to with that of a run to which nothing happened.
fn check(desk: &Desk, args: &str, kills: usize, seed: u64) {
    let whole = desk.run(&format!("{args} --json --trace run.jsonl"));
    assert!(matches!(whole.code, Some(0 | 1)), "{args}: {}", whole.err);
    let expected = outcome(desk, &whole.out);
    fs::remove_file(desk.path().join("run.jsonl")).expect("it was written");
    let again = format!(
        "{args} --json --trace run.jsonl --checkpoint run.bin --checkpoint-every 0 --resume run.bin"
    );
    let checkpoint = desk.path().join("run.bin");
    let mut draws = Stream::new(seed, 0);
    // Milliseconds within which a kill comes: more where too little was done by then.
    let (mut within, mut killed) = (30.0, 0);
    loop {
        let before = fs::read(&checkpoint).ok();
        let mut child = command(desk, &again).spawn().expect("the binary starts");
        if killed < kills {
            sleep(Duration::from_secs_f64(within / 1e3 * draws.unit()));
            if child.try_wait().expect("it is asked").is_none() {
                child.kill().expect("it is there");
                child.wait().expect("it ends");
                killed += 1;
                within *= if fs::read(&checkpoint).ok() == before { 1.3 } else { 0.95 };
                continue;
            }
        }
        // Too fast for the kills so far.
        within *= 0.7;
        let run = child.wait_with_output().expect("it ends");
        let (out, err) =
            (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
        assert_eq!(run.status.code(), whole.code, "{args}: {err}");
        assert_eq!(outcome(desk, &out), expected, "{args}, killed {killed} times");
        fs::remove_file(&checkpoint).expect("it was written");
        if killed == kills {
            return;
        }
        // It ended before all kills had come: once more from the beginning.
    }
}

fn command(desk: &Desk, args: &str) -> Command {
    let mut command = desk.command(args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn market() -> Desk {
    let desk = Desk::at("");
    desk.file("small.csv", &csv(&small()));
    desk
}

#[test]
fn portfolios_that_are_killed_go_on() {
    let desk = market();
    let kinks = "portfolio small.csv --risk absolute --constraint long-only --max-outer 40 --tolerance 1e-300";
    check(&desk, &format!("{kinks} --method svrpda1 --trace-every 500"), 20, 1);
    check(&desk, &format!("{kinks} --method svrpda2"), 20, 2);
    check(&desk, "portfolio small.csv --risk huber --l1 0.01 --tolerance 1e-12", 20, 3);
}

#[test]
fn other_commands_that_are_killed_go_on() {
    let desk = Desk::at("");
    let rows = "linear --rows 300 --features 6 --loss logistic --l2 0.01 --tolerance 1e-300";
    check(&desk, &format!("{rows} --method saga --max-outer 30"), 20, 4);
    check(&desk, &format!("{rows} --method lbfgs --max-outer 200"), 20, 5);
    check(&desk, "policy --method svrg --max-outer 30", 20, 6);
    check(&desk, "bags --groups 40 --method sox --max-outer 30", 20, 7);
}

/// Newton's method stalls, and another takes over.
#[test]
fn several_attempts_that_are_killed_go_on() {
    let desk = Desk::at("");
    let attempts = "sequences --classes 4 --generated-steps 2000 --features 3 --starts 2 --data-seed 5 --tolerance 1e-300";
    let args = format!("{attempts} --max-outer 900");
    let whole = desk.json(&args, 1);
    assert!(
        whole["fallbacks"].as_array().is_some_and(|fallbacks| !fallbacks.is_empty()),
        "{whole}"
    );
    check(&desk, &args, 8, 8);
}

#[test]
fn a_run_is_killed_a_hundred_times() {
    let desk = market();
    let long = "portfolio small.csv --risk absolute --constraint long-only --method svrpda1 --tolerance 1e-300 --max-outer 400";
    check(&desk, long, 100, 9);
}

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

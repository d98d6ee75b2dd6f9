//! Programs that are killed at any instant and gone on with: the same bits as if nothing happened.

#![cfg(unix)]

use std::fs;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, sleep};
use std::time::Duration;

use innermean::METHODS;
use innermean::draws::Stream;
use serde_json::Value;

use crate::desk::{Desk, market};

/// Problems that keep some methods busy for some hundredths of a second, and which ones.
const PROBLEMS: &[(&str, &[&str])] = &[
    (
        "portfolio small.csv --risk absolute --constraint long-only --max-outer 15",
        &["svrpda1", "svrpda2", "alexr", "multipliers"],
    ),
    (
        "linear --rows 300 --features 6 --loss logistic --l2 0.01 --max-outer 15",
        &["saga", "lbfgs", "gd", "apg", "newton", "precise"],
    ),
    ("linear --rows 300 --features 6 --loss square --l2 0.01 --max-outer 15", &["spdc"]),
    ("linear --rows 600 --features 150 --loss square --l1 0.01", &["direct"]),
    ("linear --rows 100 --features 300 --loss square --l1 0.05", &["working-set"]),
    ("bags --groups 40 --max-outer 15", &["prox-linear", "sox", "msvr", "spdg"]),
    (
        "policy --max-outer 15",
        &["ascvrg", "comp-svrg1", "comp-svrg2", "vrsc-pg", "asc-pg", "c-saga", "scgd", "svrg"],
    ),
    ("policy --objective projected --max-outer 15", &["gtd2", "pdbg", "mspbe-saga", "mspbe-svrg"]),
];

/// Kills that each method survives.
const KILLS: usize = 20;

#[test]
fn every_method_that_is_killed_goes_on() {
    let runs: Vec<(&str, &str)> = PROBLEMS
        .iter()
        .flat_map(|(problem, methods)| methods.iter().map(move |method| (*method, *problem)))
        .collect();
    for row in METHODS {
        let named = runs.iter().filter(|(method, _)| *method == row.name).count();
        assert_eq!(named, 1, "problems here on which {} is killed", row.name);
    }
    assert_eq!(runs.len(), METHODS.len());
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((method, problem)) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let args = format!("{problem} --tolerance 1e-300 --method {method}");
                    let answer = check(&market(), &args, KILLS);
                    assert_eq!(answer["method"], *method);
                }
            });
        }
    });
}

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

/// Kills a command `kills` times, each time after it had written something down and before it
/// ended, and goes on with it by the same line; compares every end that it comes to with that of a
/// run to which nothing happened. Returns the answer.
fn check(desk: &Desk, args: &str, kills: usize) -> Value {
    let whole = desk.run(&format!("{args} --json --trace run.jsonl"));
    assert!(matches!(whole.code, Some(0 | 1)), "{args}: {}", whole.err);
    let expected = outcome(desk, &whole.out);
    fs::remove_file(desk.path().join("run.jsonl")).expect("it was written");
    let again = format!(
        "{args} --json --trace run.jsonl --checkpoint run.bin --checkpoint-every 0 --resume run.bin"
    );
    let checkpoint = desk.path().join("run.bin");
    let mut draws = Stream::new(kills as u64, args.len() as u64);
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
                if fs::read(&checkpoint).ok() == before {
                    within *= 1.3;
                } else {
                    within *= 0.95;
                    killed += 1;
                }
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
            return expected.0;
        }
        // It ended before all kills had come: once more from the beginning.
    }
}

fn command(desk: &Desk, args: &str) -> Command {
    let mut command = desk.command(args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What `auto` takes, and a trace that looks more often.
#[test]
fn what_is_chosen_and_looked_at_goes_on() {
    let desk = market();
    check(&desk, "portfolio small.csv --risk huber --l1 0.01 --tolerance 1e-12", 20);
    let kinks = "portfolio small.csv --risk absolute --constraint long-only --tolerance 1e-300";
    check(&desk, &format!("{kinks} --max-outer 40 --method svrpda1 --trace-every 500"), 20);
}

/// Methods stall, and others take over.
#[test]
fn several_attempts_that_are_killed_go_on() {
    let desk = Desk::at("");
    let attempts = "sequences --classes 3 --generated-steps 200 --features 2 --starts 1";
    let args = format!("{attempts} --data-seed 5 --tolerance 1e-300 --max-outer 300");
    let answer = check(&desk, &args, 20);
    let fallbacks = answer["fallbacks"].as_array().map_or(0, Vec::len);
    assert!(fallbacks >= 2, "{answer}");
}

#[test]
fn a_run_is_killed_a_hundred_times() {
    let long = "portfolio small.csv --risk absolute --constraint long-only --method svrpda1";
    check(&market(), &format!("{long} --tolerance 1e-300 --max-outer 400"), 100);
}

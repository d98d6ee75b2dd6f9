//! Ctrl-C.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::*;

/// A run that would take for ever: a duality gap far below rounding.
fn endless(desk: &Desk, output: &str) -> Child {
    let child = desk
        .command(&format!(
            "--method svrpda1 --risk absolute --constraint long-only --tolerance 1e-300 --max-outer 1e9 {output}"
        ))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    // Time to make up the market and to begin.
    sleep(Duration::from_millis(1500));
    child
}

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
}

#[test]
fn the_first_one_prints_the_best_point_so_far() {
    let desk = Desk::new();
    let child = endless(&desk, "--json --trace run.jsonl");
    interrupt(&child);
    let run = Run::from(child.wait_with_output().expect("it ends"));
    assert_eq!(run.code, Some(1), "{}", run.err);
    let answer: Value = serde_json::from_str(&run.out).expect("one object");
    assert_eq!(answer["status"], "interrupted");
    assert!(answer["advice"].as_str().is_some_and(|advice| advice.contains("--start FILE")), "{answer}");
    assert_eq!(numbers(&answer["theta"]).len(), 25);
    assert!(desk.trace("run.jsonl").len() > 2);

    let child = endless(&desk, "");
    interrupt(&child);
    let run = Run::from(child.wait_with_output().expect("it ends"));
    assert_eq!(run.code, Some(1));
    assert!(run.out.contains("interrupted") && run.out.contains("S5B5"), "{}", run.out);
}

/// One that is told to end but has not ended yet, for it waits on the trace, a pipe that nobody reads.
#[test]
fn the_second_one_ends_the_program() {
    let desk = Desk::new();
    let pipe = desk.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    let mut child = endless(&desk, "--trace pipe");
    interrupt(&child);
    sleep(Duration::from_millis(500));
    assert!(child.try_wait().expect("it is asked").is_none(), "it waits");
    interrupt(&child);
    let status = child.wait().expect("it ends");
    assert_eq!((status.code(), status.signal()), (Some(130), None));
}

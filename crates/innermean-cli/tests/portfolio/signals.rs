//! Signals that ask the program to end, and limits that hold before a run begins.

use std::os::unix::process::ExitStatusExt;
use std::process::Child;

use super::*;
use crate::desk::signal::{HANGUP, has_signal, send, started, wait_for_work};

/// A run that would take for ever: a duality gap far below rounding.
const ENDLESS: &str =
    "--method svrpda1 --risk absolute --constraint long-only --tolerance 1e-300 --max-outer 1e9";

fn endless(desk: &Desk, output: &str) -> Child {
    let mut child = desk.start(&format!("{ENDLESS} {output}"));
    wait_for_work(&mut child);
    child
}

/// Those that ask a program to end, and their numbers.
const SIGNALS: [(&str, u32); 3] = [("INT", 2), ("TERM", 15), ("HUP", HANGUP)];

/// Ends a program that ignores this signal, as those do that `nohup` or a shell started so: it
/// leaves it at that, and there is nothing to test.
fn is_ignored(child: &mut Child, (signal, value): (&str, u32)) -> bool {
    let is_ignored = has_signal(child, "SigIgn:", value);
    if is_ignored {
        println!("skipped: {signal} is ignored where the tests run");
        send(child, "KILL");
        child.wait().expect("it ends");
    }
    is_ignored
}

fn ended(child: Child) -> Run {
    Run::from(child.wait_with_output().expect("it ends"))
}

#[test]
fn each_of_them_ends_the_run_with_all_that_was_asked_for() {
    let desk = desk();
    for (signal, value) in SIGNALS {
        let mut child =
            endless(&desk, &format!("--json --trace {signal}.jsonl --report {signal}.html"));
        if is_ignored(&mut child, (signal, value)) {
            continue;
        }
        send(&child, signal);
        let run = ended(child);
        assert_eq!(run.code, Some(1), "{signal}: {}", run.err);
        let answer: Value = serde_json::from_str(&run.out).expect("one object");
        assert_eq!(answer["status"], "interrupted", "{signal}");
        assert!(
            answer["advice"].as_str().is_some_and(|advice| advice.contains("--start FILE")),
            "{answer}"
        );
        assert_eq!(numbers(&answer["theta"]).len(), 25);
        let trace = desk.trace(&format!("{signal}.jsonl"));
        let best =
            trace.iter().map(|record| number(&record["objective"])).fold(f64::INFINITY, f64::min);
        assert_eq!(number(&answer["objective"]), best, "{signal}: the best point so far");
        let page =
            fs::read_to_string(desk.path().join(format!("{signal}.html"))).expect("the report");
        assert!(page.contains("Interrupted") && page.trim_end().ends_with("</html>"), "{signal}");
    }
    let child = endless(&desk, "");
    send(&child, "TERM");
    let run = ended(child);
    assert_eq!(run.code, Some(1));
    assert!(run.out.contains("interrupted") && run.out.contains("S5B5"), "{}", run.out);
}

/// One that is told to end but has not ended yet, for it waits on its report, a pipe that nobody
/// reads.
#[test]
fn the_second_one_ends_the_program() {
    let desk = desk();
    pipe(&desk, "pipe.html");
    for (signal, value) in SIGNALS {
        let mut child = endless(&desk, "--report pipe.html");
        if is_ignored(&mut child, (signal, value)) {
            continue;
        }
        send(&child, "INT");
        // Sent until it ends: two of a kind that come at once count as one.
        while child.try_wait().expect("it is asked").is_none() {
            send(&child, signal);
            std::thread::yield_now();
        }
        let status = child.wait().expect("it ends");
        // Whichever of the two comes second, where both wait to be delivered.
        let codes = [128 + 2, 128 + value.cast_signed()];
        assert!(codes.map(Some).contains(&status.code()), "{signal}: {status}");
        assert_eq!(status.signal(), None);
    }
}

#[test]
fn under_nohup_a_closed_terminal_ends_nothing() {
    let desk = desk();
    let binary = desk.command(ENDLESS);
    let mut child = started(
        Command::new("sh")
            .args(["-c", "trap '' HUP; exec \"$0\" \"$@\""])
            .arg(binary.get_program())
            .args(binary.get_args()),
    );
    wait_for_work(&mut child);
    assert!(has_signal(&child, "SigIgn:", HANGUP) && !has_signal(&child, "SigCgt:", HANGUP));
    send(&child, "HUP");
    send(&child, "TERM");
    assert_eq!(ended(child).code, Some(1));
}

fn pipe(desk: &Desk, name: &str) {
    let made = Command::new("mkfifo").arg(desk.path().join(name)).status();
    assert!(made.expect("mkfifo runs").success());
}

/// Nothing is worth finishing before the run: a reader that waits for a file ends as any program
/// does.
#[test]
fn what_comes_before_the_run_ends_at_once() {
    let desk = desk();
    pipe(&desk, "pipe");
    for (signal, value) in SIGNALS {
        let mut child = desk.start("pipe --trace run.jsonl");
        if is_ignored(&mut child, (signal, value)) {
            continue;
        }
        send(&child, signal);
        assert_eq!(child.wait().expect("it ends").signal(), Some(value.cast_signed()));
        assert_eq!(desk.names(), ["pipe"]);
    }
}

#[test]
fn seconds_count_from_the_first_thing_a_command_does() {
    let desk = desk();
    pipe(&desk, "pipe");
    let run = desk.run("pipe --max-seconds 0.01 --trace run.jsonl");
    assert_eq!((run.code, run.out.as_str()), (Some(1), ""), "{}", run.err);
    assert!(
        run.err.starts_with("innermean: --max-seconds 0.01: reading or generating"),
        "{}",
        run.err
    );
    assert_eq!(desk.names(), ["pipe"]);
}

/// A pipe that nobody writes to keeps a reader waiting for ever: so nothing was read where a
/// refusal comes.
#[test]
fn outputs_are_looked_at_before_anything_is_read() {
    let desk = Desk::at("");
    pipe(&desk, "pipe");
    fs::create_dir(desk.path().join("folder.html")).expect("a folder");
    let before = desk.names();
    for (args, said) in [
        (
            "portfolio pipe --trace nowhere/run.jsonl",
            "--trace nowhere/run.jsonl: cannot be written",
        ),
        ("portfolio pipe --report page.txt", "--report page.txt: a report is a page"),
        ("portfolio pipe --report folder.html", "--report folder.html: is a directory"),
        ("bags pipe --plot run.gif", "--plot run.gif: does not say by its ending"),
        (
            "linear pipe --predictions out.xlsx",
            "--predictions out.xlsx: does not say by its ending",
        ),
        ("policy pipe --trace a --report a.html --plot a", "--plot a: is the path of --trace too"),
        (
            "sequences pipe --corpus pipe --predictions pipe.csv/x.csv",
            "--predictions pipe.csv/x.csv: cannot",
        ),
        ("compare portfolio pipe --report page.txt", "--report page.txt: a report is a page"),
        ("compare policy pipe --plot run.gif", "--plot run.gif"),
    ] {
        let run = desk.run(args);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{args}: {}", run.err);
        assert!(run.err.contains(said), "{args}: {}", run.err);
        assert_eq!(desk.names(), before, "{args}");
    }
}

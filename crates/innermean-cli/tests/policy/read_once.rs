//! Logs of which only the moments are kept: the answers are those of logs that are kept, and what
//! cannot be told without the rows is refused.

use std::fmt::Write as _;

use super::chance::Chance;
use super::*;

const COLUMNS: &str = "--features x,y --next-features x2,y2 --discount 0.9";
const READ_ONCE: &str = "rows once and kept their means and covariances alone";

/// Episodes of some steps each, most of which end and some of which are cut off; where `resets`, a
/// row from the last state to the first of the next episode follows each end.
fn log(episodes: usize, resets: bool) -> String {
    let mut chance = Chance(5);
    let mut text = "episode,x,y,x2,y2,reward,done,truncated,weight,ratio\n".to_owned();
    let mut at = [0.0, 0.0];
    for episode in 0..episodes {
        let first = [chance.normal(), 3.0 + chance.normal()];
        if resets && episode > 0 {
            let ([x, y], [x2, y2]) = (at, first);
            let _ = writeln!(text, "e{episode},{x},{y},{x2},{y2},0,0,0,1,1");
        }
        at = first;
        let length = 2 + chance.below(9);
        for k in 0..length {
            let [x, y] = at;
            at = [0.7 * x + chance.normal(), 3.0 + 0.3 * x - 0.2 * y + chance.normal()];
            let ([x2, y2], reward) = (at, x - 2.0 * at[1] + chance.normal());
            let ends = k + 1 == length;
            let (done, cut) =
                (u8::from(ends && episode % 4 > 0), u8::from(ends && episode % 4 == 0));
            let (weight, ratio) = (1 + chance.below(3), 0.2 + chance.uniform());
            let _ = writeln!(
                text,
                "e{episode},{x},{y},{x2},{y2},{reward},{done},{cut},{weight},{ratio}"
            );
        }
    }
    text
}

fn assert_alike(read: &Value, kept: &Value, flags: &str) {
    for key in ["/theta", "/initial/value", "/mean_squared_residual", "/objective"] {
        // Of a log that is kept this is the mean over transitions, whatever they weigh.
        if key == "/mean_squared_residual" && !flags.contains("--weight-column none") {
            continue;
        }
        let (a, b) = (read.pointer(key), kept.pointer(key));
        let list = |value: Option<&Value>| match value {
            Some(value) if value.is_array() => numbers(value),
            Some(value) if value.is_number() => vec![number(value)],
            _ => Vec::new(),
        };
        let (a, b) = (list(a), list(b));
        assert_eq!(a.len(), b.len(), "{key} of {flags}");
        let size = b.iter().fold(1.0_f64, |size, x| size.max(x.abs()));
        for (a, b) in a.iter().zip(&b) {
            assert!((a - b).abs() <= 1e-12 * size, "{key} of {flags}: {a:e} for {b:e}");
        }
    }
    assert_eq!(read["status"], kept["status"], "{flags}");
    let objective = number(&read["objective"]).max(number(&kept["objective"])).max(1e-9);
    let gap = number(&read["certificate"]["gap"]);
    assert!(gap <= 1e-6 * objective.max(1.0), "{flags}: {}", read["certificate"]);
}

#[test]
fn a_log_that_is_read_once_has_the_answer_of_its_rows() {
    let desk = Desk::at("policy");
    desk.file("log.csv", &log(400, false));
    for flags in [
        "--weight-column none",
        "",
        "--intercept --initial-states first",
        "--lambda 0.7",
        "--weight-column none --lambda 1 --ratio-column ratio --intercept --initial-states first",
        "--ratio-column ratio",
        "--l2 0.01 --constraint box=-1,1",
        "--l1 0.05",
        "--auto-reset none --missing drop-rows",
    ] {
        let flags = format!("{COLUMNS} {flags}");
        let kept = desk.json(&format!("log.csv {flags} --objective projected"), 0);
        let read = desk.json(&format!("log.csv {flags} --moments"), 0);
        assert!(read["notes"].to_string().contains(READ_ONCE), "{}", read["notes"]);
        assert_alike(&read, &kept, &flags);
        assert_eq!(read["episodes"], kept["episodes"], "{flags}");
        let threads = desk.json(&format!("log.csv {flags} --moments --threads 3"), 0);
        assert_eq!(threads["theta"], read["theta"], "{flags}");
    }
    let run = desk.run(&format!("log.csv {COLUMNS} --moments --report page.html"));
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.contains("squared TD error"), "{}", run.out);
}

#[test]
fn resets_are_left_out_where_they_are_said_to_be_some() {
    let desk = Desk::at("policy");
    desk.file("log.csv", &log(60, true));
    let flags = format!("log.csv {COLUMNS} --weight-column none");
    let kept = desk.json(&format!("{flags} --objective projected"), 0);
    let flags = format!("{flags} --moments --auto-reset next-step");
    let read = desk.json(&flags, 0);
    assert_alike(&read, &kept, &flags);
    assert!(read["notes"].to_string().contains("59"), "{}", read["notes"]);
    let words = ["the 59 rows behind the end", "--auto-reset next-step"];
    desk.assert_refused(&format!("log.csv {COLUMNS} --moments"), &words);
}

#[test]
fn what_needs_the_transitions_is_refused() {
    let desk = Desk::at("policy");
    let text = log(30, false);
    desk.file("log.csv", &text);
    desk.file("named.csv", "state,next_state,reward\na,b,1\nb,a,0\n");
    for (flags, words) in [
        ("log.csv COLUMNS --objective bellman", "--objective bellman needs the rows"),
        ("log.csv COLUMNS --standard-errors", "--standard-errors or --bootstrap needs the rows"),
        ("log.csv COLUMNS --initial-states e1", "have no names"),
        ("named.csv", "a log of states by name needs the rows"),
        ("", "--moments: speaks of a file"),
    ] {
        let flags = flags.replace("COLUMNS", COLUMNS);
        desk.assert_refused(&format!("{flags} --moments"), &[words]);
    }
    // The same place of a mistake, in whatever piece it is.
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let last = lines.len() - 1;
    lines[last] = lines[last].replacen(",0,", ",2,", 1).replacen(",1,", ",2,", 1);
    desk.file("marks.csv", &format!("{}\n", lines.join("\n")));
    let told = desk.refusal(&format!("marks.csv {COLUMNS} --objective projected"));
    assert_eq!(desk.refusal(&format!("marks.csv {COLUMNS} --moments")), told);
    let again = text.lines().nth(1).expect("a row");
    desk.file("mixed.csv", &format!("{text}{again}\n"));
    let words =
        [&format!("mixed.csv, line {}", last + 2), "episode 'e0' comes again after another"];
    desk.assert_refused(&format!("mixed.csv {COLUMNS} --moments"), &words.map(|word| word as &str));
}

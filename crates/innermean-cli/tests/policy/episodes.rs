//! Logs of environments that end, are cut off and begin again by themselves.

use std::fmt::Write as _;

use super::chance::{Chance, solve};
use super::*;

const MAP: &[u8; 16] = b"SFFFFHFHFFFHHFFG";
const DISCOUNT: f64 = 0.99;

fn is_end(s: usize) -> bool {
    MAP[s] == b'H' || MAP[s] == b'G'
}

/// One step on the ice: the direction, one to the left of it or one to the right, each alike, is
/// for a random policy any of the four.
fn slide(s: usize, direction: usize) -> usize {
    let (row, column) = (s / 4, s % 4);
    match direction {
        0 => 4 * row + column.saturating_sub(1),
        1 => 4 * (row + 1).min(3) + column,
        2 => 4 * row + (column + 1).min(3),
        _ => 4 * row.saturating_sub(1) + column,
    }
}

/// `(I - discount P) V = r` of the random policy.
fn exact() -> Vec<f64> {
    let (mut a, mut b) = (vec![vec![0.0; 16]; 16], vec![0.0; 16]);
    for s in 0..16 {
        a[s][s] = 1.0;
        for direction in (0..4).filter(|_| !is_end(s)) {
            let next = slide(s, direction);
            a[s][next] -= 0.25 * DISCOUNT;
            b[s] += if MAP[next] == b'G' { 0.25 } else { 0.0 };
        }
    }
    solve(a, b)
}

struct Names<'a> {
    done: &'a str,
    truncated: &'a str,
}

/// As vector environments log that reset in the step after the end: that row goes from the last
/// state to the first, with reward 0. Episodes are cut off after 12 steps. Without `resets`, as one
/// would log by hand.
fn log(names: &Names, resets: bool) -> String {
    let mut chance = Chance(7);
    let Names { done, truncated } = names;
    let mut text = format!("state,action,reward,next_state,{done},{truncated}\n");
    let (mut s, mut steps) = (0, 0);
    for _ in 0..60_000 {
        let next = slide(s, chance.below(4));
        steps += 1;
        let (end, cut) = (is_end(next), steps == 12);
        let reward = u8::from(MAP[next] == b'G');
        let _ =
            writeln!(text, "{s},0,{reward},{next},{},{cut}", if end { "True" } else { "False" });
        s = next;
        if end || cut {
            if resets {
                let _ = writeln!(text, "{s},0,0,0,False,false");
            }
            (s, steps) = (0, 0);
        }
    }
    text
}

#[test]
fn an_auto_reset_log_has_the_values_of_the_environment() {
    let desk = desk();
    let known = exact();
    let usual = Names { done: "terminated", truncated: "truncated" };
    desk.file("auto.csv", &log(&usual, true));
    desk.file("plain.csv", &log(&Names { done: "Done", truncated: "TimeOut" }, false));
    let near = |answer: &Value| {
        (0..16).filter(|&s| s != 15).all(|s| {
            let value = value_of(answer, &s.to_string());
            (value - known[s]).abs() < 0.004 + 0.1 * known[s]
        })
    };
    let args = format!("--discount {DISCOUNT}");
    let auto = desk.json(&format!("auto.csv {args}"), 0);
    assert!(near(&auto), "{} and not {known:?}", auto["values"]);
    let said = auto["notes"].to_string();
    assert!(said.contains("Episodes end where column 'terminated' is set"), "{said}");
    assert!(said.contains("cut off where column 'truncated' is set"), "{said}");
    assert!(said.contains("Left out as automatic resets") && said.contains("--auto-reset"));
    let told = desk.json(&format!("auto.csv {args} --auto-reset next-step"), 0);
    assert_eq!(auto["values"], told["values"]);
    let plain = desk.json(&format!("plain.csv {args}"), 0);
    for s in (0..16).map(|s| s.to_string()) {
        assert!(close(value_of(&plain, &s), value_of(&auto, &s)), "{s}");
    }
    assert!(!plain["notes"].to_string().contains("resets"), "{}", plain["notes"]);
    // Holes lead back to the start if nobody says that they are holes.
    let ignored =
        desk.json(&format!("auto.csv {args} --done-column none --truncated-column none"), 0);
    let start = value_of(&ignored, "0");
    assert!(start > 3.0 * known[0], "{start} and {}", known[0]);
    let said = ignored["notes"].to_string();
    assert!(said.contains("Columns 'terminated', 'truncated' seemingly say where episodes end"));
    // All episodes begin in the corner.
    let first = desk.json(&format!("auto.csv {args} --initial-states first"), 0);
    assert!(close(number(&first["initial"]["value"]), value_of(&auto, "0")));
    assert_eq!(first["initial"]["states"], first["episodes"]);
    assert_eq!(first["episodes"], plain["episodes"]);
    // With features that tell all states apart, the projected error has the same answer.
    let projected = desk.json(&format!("auto.csv {args} --objective projected"), 0);
    assert!(close(value_of(&projected, "0"), value_of(&auto, "0")));
}

#[test]
fn terminal_wins_and_what_is_cut_off_goes_on() {
    let desk = desk();
    desk.file(
        "log.csv",
        "state,next_state,reward,done,truncated\na,b,1,0,0\nb,c,1,1,1\na,a,1,0,1\nb,a,1,1,0\n",
    );
    // c is entered by a terminal step alone: V(b) = 1, V(a) = (2 + V(b) d + V(a) d) / 2.
    let answer = desk.json("log.csv --discount 0.5", 0);
    let a = (1.0 + 0.25) / (1.0 - 0.25);
    assert!(close(value_of(&answer, "b"), 1.0) && close(value_of(&answer, "a"), a));
    assert_eq!(value_of(&answer, "c"), 0.0);
    assert_eq!(answer["episodes"], 3);
    let said = answer["notes"].to_string();
    assert!(
        said.contains("'done' is set: 2 steps") && said.contains("'truncated' is set: 1 step,")
    );
    // The first state of the next episode in place of the last of this one.
    desk.file(
        "same.csv",
        "state,next_state,reward,truncated\na,b,1,0\nb,a,1,1\na,c,1,0\nc,a,1,1\na,b,1,0\n",
    );
    let same = desk.json("same.csv", 0);
    assert!(same["notes"].to_string().contains("the last of the old one"), "{}", same["notes"]);
    // Rows of two environments that take turns.
    desk.file(
        "mixed.csv",
        "env,state,next_state,reward,done\n1,a,b,1,0\n2,a,b,1,0\n1,b,x,0,1\n2,b,y,3,1\n1,x,a,0,0\n2,y,a,0,0\n",
    );
    let mixed = desk.json("mixed.csv --episode-column env --discount 0.5", 0);
    assert!(close(value_of(&mixed, "b"), 1.5) && close(value_of(&mixed, "a"), 1.75));
    assert!(mixed["notes"].to_string().contains("automatic resets"), "{}", mixed["notes"]);
    assert_eq!(mixed["episodes"], 2);
}

#[test]
fn ends_that_cannot_be_are_refused() {
    let desk = desk();
    desk.file("log.csv", "state,next_state,reward,done\na,b,1,0\nb,a,1,0.5\n");
    desk.assert_refused("log.csv", &["log.csv, line 3", "column 'done' has 0.5", "0 or 1"]);
    desk.assert_refused("log.csv --done-column over", &["over", "done"]);
    desk.assert_refused(
        "log.csv --done-column none --auto-reset next-step",
        &["--auto-reset next-step", "--done-column"],
    );
    desk.file("cut.csv", "state,next_state,reward,truncated\na,b,1,0\nb,,1,1\n");
    desk.assert_refused("cut.csv", &["cut.csv, line 3", "truncated", "terminal"]);
    desk.file("paid.csv", "state,next_state,reward,done\na,b,1,1\nb,a,2,0\na,a,0,0\n");
    desk.assert_refused("paid.csv --auto-reset next-step", &["paid.csv, line 3", "a reward of 2"]);
    for flag in
        ["--done-column d", "--truncated-column d", "--episode-column d", "--ratio-column r"]
    {
        let name = flag.split(' ').next().expect("a flag");
        desk.assert_refused(flag, &[&format!("{name} does nothing without a log")]);
    }
    desk.assert_refused("--lambda 2", &["--lambda 2", "from 0 to 1"]);
    desk.assert_refused("--lambda 0.5", &["--lambda", "order of time"]);
    desk.assert_refused(
        "log.csv --lambda 0.5 --objective bellman",
        &["--lambda 0.5 does nothing with --objective bellman"],
    );
    desk.assert_refused("--initial-states first", &["--initial-states first", "order of time"]);
    desk.assert_refused(
        "--initial-states 77",
        &["--initial-states 77: there is no such state", "expected one of 0, 1"],
    );
    desk.assert_refused("--target-column p", &["--behaviour-column"]);
    desk.assert_refused("--generate walk --intercept", &["intercept", "one-hot"]);
}

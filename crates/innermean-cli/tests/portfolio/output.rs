//! Traces, pipes, help.

use std::io::Read;
use std::process::Stdio;

use super::*;

#[test]
fn a_trace_has_one_object_a_line_in_the_order_of_calls() {
    let desk = desk();
    let answer = desk.json("--method svrpda1 --trace run.jsonl", 0);
    let trace = desk.trace("run.jsonl");
    assert_eq!(trace.len() as u64, answer["outer"].as_u64().expect("a count") + 1);
    for pair in trace.windows(2) {
        for key in ["outer", "inner", "calls"] {
            assert!(
                pair[0][key].as_u64().expect(key) < pair[1][key].as_u64().expect(key),
                "{pair:?}"
            );
        }
        assert!(number(&pair[0]["seconds"]) <= number(&pair[1]["seconds"]), "{pair:?}");
    }
    let last = trace.last().expect("a last line");
    assert_eq!(last["calls"], answer["calls"]["total"]);
    assert_eq!(last["objective"], answer["objective"]);
    assert_eq!(last["optimality"], answer["certificate"]["relative"]);
    assert_eq!(desk.names(), ["run.jsonl"]);

    desk.json("--method svrpda1 --trace run.jsonl --trace-every 1e4", 0);
    let fine = desk.trace("run.jsonl");
    assert!(fine.len() > 3 * trace.len());
    assert_eq!(fine[1]["inner"], 10_000);
}

#[test]
fn a_trace_is_written_also_where_a_limit_ends_the_run() {
    let desk = desk();
    desk.json("--method svrpda1 --max-outer 2 --trace run.jsonl", 1);
    assert_eq!(desk.trace("run.jsonl").len(), 3);
}

#[cfg(unix)]
#[test]
fn a_trace_respects_what_stands_in_its_place() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let desk = desk();
    // A device is written to, a link is followed.
    desk.json("--trace /dev/null", 0);
    assert!(!fs::metadata("/dev/null").expect("it is there").is_file());
    desk.file("old.jsonl", "old");
    symlink("old.jsonl", desk.path().join("link.jsonl")).expect("links can be made");
    desk.json("--trace link.jsonl", 0);
    assert!(desk.trace("old.jsonl").len() > 1);
    let link = fs::symlink_metadata(desk.path().join("link.jsonl")).expect("it is there");
    assert!(link.is_symlink());
    // As public as any other file: a temporary file would be private.
    let mode =
        |name: &str| fs::metadata(desk.path().join(name)).expect(name).permissions().mode() & 0o777;
    desk.json("--trace new.jsonl", 0);
    desk.file("plain", "");
    assert_eq!(mode("new.jsonl"), mode("plain"));
}

#[test]
fn a_reader_who_has_seen_enough_is_no_error() {
    let desk = desk();
    for args in ["", "--json", "--help"] {
        let mut child = desk
            .command(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        drop(child.stdout.take());
        let mut err = String::new();
        child.stderr.take().expect("a pipe").read_to_string(&mut err).expect("text");
        let status = child.wait().expect("it ends");
        assert_eq!((status.code(), err.as_str()), (Some(0), ""), "{args}");
    }
}

#[test]
fn help_states_problem_stopping_rule_and_example() {
    let desk = desk();
    let help = desk.run("--help");
    assert_eq!(help.code, Some(0));
    let words = help.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "-<m, theta> + (1/n) sum_i phi(<x_i - m, theta>) + g(theta)",
        "stops as solved when the answer is proven to be within --tolerance of the optimum",
        "Examples:",
        "innermean portfolio returns.csv --constraint long-only",
        "Exit codes: 0 solved",
        "SVRPDA-II",
    ] {
        assert!(words.contains(part), "{part} in {}", help.out);
    }
    let version = Run::from(program().arg("--version").output().expect("runs"));
    assert_eq!(version.code, Some(0));
    assert!(
        version.out.starts_with(concat!("innermean ", env!("CARGO_PKG_VERSION"))),
        "{}",
        version.out
    );
    let help = Run::from(program().arg("help").output().expect("runs"));
    assert!(help.code == Some(0) && help.out.contains("portfolio"), "{}", help.out);
    let nothing = Run::from(program().output().expect("runs"));
    assert_eq!((nothing.code, nothing.out.as_str()), (Some(2), ""));
    assert!(nothing.err.contains("Usage: innermean <COMMAND>"), "{}", nothing.err);
}

#[test]
fn what_was_decided_without_being_asked_is_said() {
    let desk = desk();
    let free = desk.run("");
    assert!(
        free.out.contains("Without a constraint the weights need not sum to 1"),
        "{}",
        free.out
    );
    assert!(!free.out.contains("no minimum"), "{}", free.out);
    for constraint in ["sum-to-one", "box=0,inf"] {
        let run = desk.run(&format!("--constraint {constraint}"));
        assert!(!run.out.contains("Without a constraint"), "{}", run.out);
    }
    // Three days of four assets: some portfolio has no risk.
    desk.file("few.csv", &csv(&generate_factor_model(3, 4, 7)));
    let few = desk.run("few.csv --max-outer 5");
    let words = few.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("With 3 periods for 4 assets some portfolio has return and no risk at all"),
        "{words}"
    );
}

/// Names that would clear a screen, turn text around or begin a line of their own.
#[test]
fn names_do_nothing_to_a_terminal() {
    let desk = desk();
    let text = csv(&small());
    let header = text.lines().next().expect("a header").to_owned();
    let names = ["\u{1b}[2Jred", "\u{202e}abc\u{2066}", "\u{9b}31m", "<b>bold</b>"];
    desk.file("names.csv", &text.replacen(&header, &format!("date,{}", names.join(",")), 1));
    let harmless = |text: &str| {
        let bad = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{2069}').contains(&c);
        assert!(!text.contains(bad), "{text:?}");
    };
    let run = desk.run("names.csv --constraint long-only --report page.html");
    assert_eq!(run.code, Some(0), "{}", run.err);
    harmless(&run.out);
    assert!(
        run.out.contains("\u{fffd}[2Jred") && run.out.contains("\u{fffd}abc\u{fffd}"),
        "{}",
        run.out
    );
    let page = fs::read_to_string(desk.path().join("page.html")).expect("the page");
    assert!(page.contains("&lt;b&gt;bold&lt;/b&gt;") && !page.contains("<b>bold"), "escaped");
    // For programs they are what they are.
    let answer = desk.json("names.csv --constraint long-only", 0);
    assert_eq!(answer["names"], serde_json::json!(names));
    for args in [["\u{1b}[2J\n.csv", "--json"], ["names.csv", "--meth\u{1b}od"]] {
        let mut command = desk.command("");
        let refused = Run::from(command.args(args).output().expect("the binary runs"));
        assert_eq!(refused.code, Some(2));
        harmless(&refused.err);
    }
    desk.file(
        "broken.csv",
        &text.replacen(&header, "date,\u{1b}a,b,c,d", 1).replacen("0.", "\u{202e}x.", 1),
    );
    harmless(&desk.refusal("broken.csv"));
}

//! Every refusal is one clear sentence, exit code 2, nothing on stdout and nothing written.

use super::*;

fn assert_refused(desk: &Desk, args: &str, words: &[&str]) {
    let before = desk.names();
    let run = desk.run(&format!("{args} --trace run.jsonl --predictions out.csv"));
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{args}: {}", run.err);
    assert_eq!(desk.names(), before, "{args}");
    assert!(run.err.starts_with("innermean: ") && !run.err.contains("panicked"), "{args}: {}", run.err);
    for word in words {
        assert!(run.err.contains(word), "{args}: expected {word} in {}", run.err);
    }
}

#[test]
fn logs_that_are_none() {
    let desk = desk();
    let cases: [(&str, &[&str]); 9] = [
        ("", &["is empty"]),
        ("state,next_state,reward\n", &["line 1"]),
        ("state,next,reward\na,b,1\n", &["no column", "next_state", "next"]),
        ("state,next_state\na,b\n", &["reward"]),
        ("state,next_state,reward\na,a,x\n", &["line 2, column 3 (reward)", "'x' is not a number"]),
        ("state,next_state,reward\na,a,1\na,a,NaN\n", &["line 3", "missing value", "--missing drop-rows"]),
        ("state,next_state,reward\na,a,inf\n", &["line 2, column 3 (reward)", "not a finite number"]),
        ("state,next_state,reward\n,a,1\n", &["line 2, column 1 (state)", "missing"]),
        ("state,next_state,reward,weight\na,a,1,1\na,,1,-2\n", &["line 3", "a weight of -2", "0 or above"]),
    ];
    for (text, words) in cases {
        desk.file("bad.csv", text);
        assert_refused(&desk, "bad.csv", words);
        assert_refused(&desk, "bad.csv", &["bad.csv"]);
    }
    assert_refused(&desk, "nowhere.csv", &["nowhere.csv: no such file"]);
    desk.file("zero.csv", "state,next_state,reward,weight\na,b,1,1\nb,a,1,0\nb,b,1,0\n");
    assert_refused(&desk, "zero.csv", &["state 'b'", "all zero"]);
}

#[test]
fn states_that_are_never_left() {
    let desk = desk();
    desk.file("log.csv", "state,next_state,reward\na,b,1\na,goal,0\nb,a,1\nb,trap,0\n");
    let words: &[&str] = &[
        "log.csv, line 3",
        "state 'goal' is entered and never left",
        "and so is one other state",
        "--terminal goal",
        "--never-left terminal",
    ];
    assert_refused(&desk, "log.csv", words);
    assert_refused(&desk, "log.csv --terminal goal", &["log.csv, line 5", "state 'trap'", "--terminal trap"]);
    assert_refused(&desk, "log.csv --never-left bootstrap", &["one-hot", "--features FILE"]);
    assert_refused(
        &desk,
        "log.csv --terminal exit",
        &["--terminal exit: there is no such state", "a, b, goal, trap"],
    );
    assert_refused(&desk, "log.csv --terminal a,goal,trap", &["line 2", "a transition leaves state 'a'"]);
    assert_refused(&desk, "log.csv --never-left ignore", &["error", "terminal", "bootstrap"]);
}

#[test]
fn features_that_do_not_fit() {
    let desk = desk();
    desk.file("log.csv", "state,next_state,reward\na,b,1\nb,a,2\n");
    desk.file("features.csv", "state,x\na,1\n");
    assert_refused(
        &desk,
        "log.csv --features features.csv",
        &["features.csv: has no row for state 'b'", "log.csv, line 2", "--terminal b"],
    );
    desk.file("features.csv", "state,x\na,1\nb,2\na,3\n");
    assert_refused(
        &desk,
        "log.csv --features features.csv",
        &["features.csv, line 4: state 'a' again", "features.csv, line 2", "one row for each state"],
    );
    desk.file("features.csv", "state,x\na,1\nb,\n");
    assert_refused(
        &desk,
        "log.csv --features features.csv",
        &["features.csv, line 3, column 2 (x)", "missing"],
    );
    desk.file("features.csv", "state,x\na,1\nb,two\n");
    assert_refused(
        &desk,
        "log.csv --features features.csv",
        &["features.csv, line 3, column 2 (x)", "'two'"],
    );
    desk.file("features.csv", "name,x\na,1\nb,2\n");
    assert_refused(&desk, "log.csv --features features.csv", &["features.csv", "state", "name"]);
    desk.file("features.csv", "state\na\nb\n");
    assert_refused(&desk, "log.csv --features features.csv", &["features.csv", "no column beside state"]);
    assert_refused(&desk, "log.csv --features nowhere.csv", &["nowhere.csv: no such file"]);
    assert_refused(
        &desk,
        "log.csv --features 3",
        &["--features 3", "random features are for generated processes"],
    );
    assert_refused(&desk, "--features 0", &["--features", "a whole number above 0"]);
}

#[test]
fn models_that_are_none() {
    let desk = desk();
    let head = "state,next_state,probability,reward\n";
    for (text, words) in [
        ("a,a,0.5,1\na,b,0.4,1\nb,a,1,0\n", &["model.csv, line 2", "state 'a' sum to 0.9", "expected 1"][..]),
        ("a,a,-0.5,1\na,b,1.5,1\nb,a,1,0\n", &["model.csv, line 2: a probability of -0.5", "from 0 to 1"]),
        ("a,a,1,NaN\n", &["model.csv, line 2, column 4 (reward)", "missing"]),
        ("a,b,1,1\n", &["model.csv, line 2: state 'b' is entered and never left"]),
    ] {
        desk.file("model.csv", &(head.to_owned() + text));
        assert_refused(&desk, "--model model.csv", words);
    }
    desk.file("bare.csv", "state,next_state,probability\na,a,1\n");
    assert_refused(&desk, "--model bare.csv", &["bare.csv", "no column reward"]);
    desk.file("r.csv", "1\n2\n");
    desk.file("P.csv", "0.5,0.5\n0.25,0.5\n");
    assert_refused(&desk, "--model P.csv --rewards r.csv", &["P.csv, row 2", "sum to 0.75"]);
    desk.file("P.csv", "0.5,0.5\n-0.3,1.3\n");
    assert_refused(
        &desk,
        "--model P.csv --rewards r.csv",
        &["P.csv, row 2, column 1: a probability of -0.3"],
    );
    desk.file("P.csv", "0.5,0.5\n0.5,0.5\n0.1,0.9\n");
    assert_refused(&desk, "--model P.csv --rewards r.csv", &["P.csv", "square", "3 rows of 2"]);
    desk.file("P.csv", "0.5,0.5\n0.5,0.5\n");
    assert_refused(&desk, "--model P.csv", &["--model P.csv", "--rewards FILE"]);
    desk.file("r.csv", "1\n2\n3\n");
    assert_refused(&desk, "--model P.csv --rewards r.csv", &["--rewards r.csv", "3 rows of 1", "2 states"]);
    assert_refused(&desk, "--model P.csv log.csv", &["cannot be used with"]);
    assert_refused(&desk, "--rewards r.csv", &["--model"]);
    assert_refused(&desk, "--model P.csv --generate walk", &["cannot be used with"]);
}

#[test]
fn discounts_beyond_their_range() {
    let desk = desk();
    desk.file("log.csv", "state,next_state,reward\na,b,1\nb,a,2\nc,,1\n");
    let words: &[&str] = &["--discount 1", "from state 'a' no end can be reached", "below 1", "--terminal"];
    assert_refused(&desk, "log.csv --discount 1", words);
    assert_refused(&desk, "--discount 1", &["--discount 1", "no end can be reached"]);
    for value in ["1.5", "-0.1", "nan", "x"] {
        assert_refused(&desk, &format!("log.csv --discount {value}"), &["--discount", value]);
    }
}

#[test]
fn flags_that_would_do_nothing() {
    let desk = desk();
    desk.file("log.csv", "state,next_state,reward\na,b,1\nb,a,2\n");
    for (args, words) in [
        ("log.csv --states 5", "--states does nothing with a file"),
        ("log.csv --transitions 5", "--transitions does nothing with a file"),
        ("--generate boyan --states 5", "--states does nothing with --generate boyan"),
        ("--generate walk --grid 3x3", "--grid does nothing with --generate walk"),
        ("--policy shortest", "--policy does nothing with --generate random"),
        ("--generate grid --successors 3", "--successors does nothing with --generate grid"),
    ] {
        assert_refused(&desk, args, &[words]);
    }
    assert_refused(&desk, "--generate maze", &["random", "walk", "boyan", "grid"]);
    assert_refused(&desk, "--generate grid --grid 4", &["ROWSxCOLUMNS"]);
    assert_refused(&desk, "--generate grid --grid 1x2", &["3 to"]);
    assert_refused(&desk, "--objective td", &["bellman", "projected"]);
    assert_refused(&desk, "--states 1e10", &["--states 10000000000: expected at most 50000"]);
    assert_refused(&desk, "--objective projected --features 12", &["linearly dependent"]);
    assert_refused(&desk, "--method pdbg", &["pdbg does not suit", "lbfgs"]);
    assert_refused(&desk, "--method lbfgs --alpha-w 1", &["--alpha-w does nothing with --method lbfgs"]);
}

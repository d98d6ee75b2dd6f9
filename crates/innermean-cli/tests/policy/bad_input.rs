//! Every refusal is one clear sentence, exit code 2, nothing on stdout and nothing written.

use super::*;

#[test]
fn logs_that_are_none() {
    let desk = desk();
    let cases: [(&str, &[&str]); 9] = [
        ("", &["is empty"]),
        ("state,next_state,reward\n", &["line 1"]),
        ("state,next,reward\na,b,1\n", &["no column", "next_state", "next"]),
        ("state,next_state\na,b\n", &["reward"]),
        ("state,next_state,reward\na,a,x\n", &["line 2, column 3 (reward)", "'x' is not a number"]),
        (
            "state,next_state,reward\na,a,1\na,a,NaN\n",
            &["line 3", "missing value", "--missing drop-rows"],
        ),
        (
            "state,next_state,reward\na,a,inf\n",
            &["line 2, column 3 (reward)", "not a finite number"],
        ),
        ("state,next_state,reward\n,a,1\n", &["line 2, column 1 (state)", "missing"]),
        (
            "state,next_state,reward,weight\na,a,1,1\na,,1,-2\n",
            &["line 3", "a weight of -2", "0 or above"],
        ),
    ];
    for (text, words) in cases {
        desk.file("bad.csv", text);
        desk.assert_refused("bad.csv", words);
        desk.assert_refused("bad.csv", &["bad.csv"]);
    }
    desk.assert_refused("nowhere.csv", &["nowhere.csv: no such file"]);
    desk.file("zero.csv", "state,next_state,reward,weight\na,b,1,1\nb,a,1,0\nb,b,1,0\n");
    desk.assert_refused("zero.csv", &["state 'b'", "all zero"]);
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
    desk.assert_refused("log.csv", words);
    desk.assert_refused(
        "log.csv --terminal goal",
        &["log.csv, line 5", "state 'trap'", "--terminal trap"],
    );
    desk.assert_refused("log.csv --never-left bootstrap", &["one-hot", "--features FILE"]);
    desk.assert_refused(
        "log.csv --terminal exit",
        &["--terminal exit: there is no such state", "a, b, goal, trap"],
    );
    desk.assert_refused(
        "log.csv --terminal a,goal,trap",
        &["line 2", "a transition leaves state 'a'"],
    );
    desk.assert_refused("log.csv --never-left ignore", &["error", "terminal", "bootstrap"]);
}

#[test]
fn features_that_do_not_fit() {
    let desk = desk();
    desk.file("log.csv", "state,next_state,reward\na,b,1\nb,a,2\n");
    desk.file("features.csv", "state,x\na,1\n");
    desk.assert_refused(
        "log.csv --features features.csv",
        &["features.csv: has no row for state 'b'", "log.csv, line 2", "--terminal b"],
    );
    desk.file("features.csv", "state,x\na,1\nb,2\na,3\n");
    desk.assert_refused(
        "log.csv --features features.csv",
        &[
            "features.csv, line 4: state 'a' again",
            "features.csv, line 2",
            "one row for each state",
        ],
    );
    desk.file("features.csv", "state,x\na,1\nb,\n");
    desk.assert_refused(
        "log.csv --features features.csv",
        &["features.csv, line 3, column 2 (x)", "missing"],
    );
    desk.file("features.csv", "state,x\na,1\nb,two\n");
    desk.assert_refused(
        "log.csv --features features.csv",
        &["features.csv, line 3, column 2 (x)", "'two'"],
    );
    desk.file("features.csv", "name,x\na,1\nb,2\n");
    desk.assert_refused("log.csv --features features.csv", &["features.csv", "state", "name"]);
    desk.file("features.csv", "state\na\nb\n");
    desk.assert_refused(
        "log.csv --features features.csv",
        &["features.csv", "no column beside state"],
    );
    desk.assert_refused("log.csv --features nowhere.csv", &["nowhere.csv: no such file"]);
    desk.assert_refused(
        "log.csv --features 3",
        &["--features 3", "random features are for generated processes"],
    );
    desk.assert_refused("--features 0", &["--features", "a whole number above 0"]);
}

#[test]
fn models_that_are_none() {
    let desk = desk();
    let head = "state,next_state,probability,reward\n";
    for (text, words) in [
        (
            "a,a,0.5,1\na,b,0.4,1\nb,a,1,0\n",
            &["model.csv, line 2", "state 'a' sum to 0.9", "expected 1"][..],
        ),
        (
            "a,a,-0.5,1\na,b,1.5,1\nb,a,1,0\n",
            &["model.csv, line 2: a probability of -0.5", "from 0 to 1"],
        ),
        ("a,a,1,NaN\n", &["model.csv, line 2, column 4 (reward)", "missing"]),
        ("a,b,1,1\n", &["model.csv, line 2: state 'b' is entered and never left"]),
    ] {
        desk.file("model.csv", &(head.to_owned() + text));
        desk.assert_refused("--model model.csv", words);
    }
    desk.file("bare.csv", "state,next_state,probability\na,a,1\n");
    desk.assert_refused("--model bare.csv", &["bare.csv", "no column reward"]);
    desk.file("r.csv", "1\n2\n");
    desk.file("P.csv", "0.5,0.5\n0.25,0.5\n");
    desk.assert_refused("--model P.csv --rewards r.csv", &["P.csv, row 2", "sum to 0.75"]);
    desk.file("P.csv", "0.5,0.5\n-0.3,1.3\n");
    desk.assert_refused(
        "--model P.csv --rewards r.csv",
        &["P.csv, row 2, column 1: a probability of -0.3"],
    );
    desk.file("P.csv", "0.5,0.5\n0.5,0.5\n0.1,0.9\n");
    desk.assert_refused("--model P.csv --rewards r.csv", &["P.csv", "square", "3 rows of 2"]);
    desk.file("P.csv", "0.5,0.5\n0.5,0.5\n");
    desk.assert_refused("--model P.csv", &["--model P.csv", "--rewards FILE"]);
    desk.file("r.csv", "1\n2\n3\n");
    desk.assert_refused(
        "--model P.csv --rewards r.csv",
        &["--rewards r.csv", "3 rows of 1", "2 states"],
    );
    desk.assert_refused("--model P.csv log.csv", &["cannot be used with"]);
    desk.assert_refused("--rewards r.csv", &["--model"]);
    desk.assert_refused("--model P.csv --generate walk", &["cannot be used with"]);
}

#[test]
fn discounts_beyond_their_range() {
    let desk = desk();
    desk.file("log.csv", "state,next_state,reward\na,b,1\nb,a,2\nc,,1\n");
    let words: &[&str] =
        &["--discount 1", "from state 'a' no end can be reached", "below 1", "--terminal"];
    desk.assert_refused("log.csv --discount 1", words);
    desk.assert_refused("--discount 1", &["--discount 1", "no end can be reached"]);
    for value in ["1.5", "-0.1", "nan", "x"] {
        desk.assert_refused(&format!("log.csv --discount {value}"), &["--discount", value]);
    }
}

#[test]
fn flags_that_would_do_nothing() {
    let desk = desk();
    desk.file("log.csv", "state,next_state,reward\na,b,1\nb,a,2\n");
    desk.file("P.csv", "0.5,0.5\n0.25,0.75\n");
    desk.file("r.csv", "1\n2\n");
    for (args, words) in [
        ("log.csv --states 5", "--states does nothing with a file"),
        ("log.csv --transitions 5", "--transitions does nothing with a file"),
        ("--generate boyan --states 5", "--states does nothing with --generate boyan"),
        ("--generate walk --grid 3x3", "--grid does nothing with --generate walk"),
        ("--policy shortest", "--policy does nothing with --generate random"),
        ("--generate grid --successors 3", "--successors does nothing with --generate grid"),
        ("--state-column s", "--state-column does nothing without a file"),
        ("--next-column n", "--next-column does nothing without a file"),
        ("--reward-column r", "--reward-column does nothing without a file"),
        ("--generate walk --weight-column w", "--weight-column does nothing without a file"),
        ("--feature-key s", "--feature-key does nothing without a file of features"),
        ("log.csv --columns x", "--columns does nothing without a file of features"),
        ("--except x", "--except does nothing without a file of features"),
        ("--missing drop-rows", "--missing does nothing without a file of features"),
        (
            "--model P.csv --rewards r.csv --next-column n",
            "--next-column: P.csv is a matrix of probabilities",
        ),
    ] {
        desk.assert_refused(args, &[words]);
    }
    desk.assert_refused("--generate maze", &["random", "walk", "boyan", "grid"]);
    desk.assert_refused("--generate grid --grid 4", &["ROWSxCOLUMNS"]);
    desk.assert_refused("--generate grid --grid 1x2", &["3 to"]);
    desk.assert_refused("--generate grid --grid 9223372036854775810x2", &["ROWSxCOLUMNS", "3 to"]);
    desk.assert_refused(
        "--generate walk --states 1e8 --features 1000",
        &["--features 1000 of 100000000 states", "in memory"],
    );
    desk.assert_refused("--objective td", &["bellman", "projected"]);
    desk.assert_refused("--states 1e10", &["--states 10000000000: expected at most 50000"]);
    desk.assert_refused("--objective projected --features 12", &["linearly dependent"]);
    desk.assert_refused("--method pdbg", &["pdbg does not suit", "lbfgs"]);
    desk.assert_refused(
        "--method lbfgs --alpha-w 1",
        &["--alpha-w does nothing with --method lbfgs"],
    );
}

#[test]
fn outputs_are_looked_at_before_the_run() {
    let desk = Desk::at("policy");
    desk.assert_refused("--predictions out.npy", &["--predictions out.npy", "'state'", "texts"]);
    // The help asks for what is needed.
    assert!(desk.run("--help").out.contains("probability and reward"));
}

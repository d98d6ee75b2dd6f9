//! Every refusal is one clear sentence, exit code 2, nothing on stdout and no trace.

use super::*;

#[test]
fn files_that_are_no_tables_of_returns() {
    let desk = desk();
    let cases: [(&str, &[&str]); 13] = [
        ("", &["is empty"]),
        ("a,b\n", &["no rows of data", "line 1"]),
        ("a,b\n1,2\n", &["line 2", "only row"]),
        ("a,b\n1,2\n3\n4,5\n", &["line 3", "found 1 field", "expected 2"]),
        ("a,b\n1,2\n3,4,5\n4,5\n", &["line 3", "found 3 fields", "expected 2"]),
        ("a,b\n1,2\n3,x\n4,5\n", &["line 3, column 2 (b)", "'x' is not a number"]),
        ("a,b\n1,2\n3,x\n4,5\n", &["leave the column out by `--except b`"]),
        ("a,b c\n1,x\n3,x\n4,x\n", &["line 2, column 2 (b c)", "by `--except 2`"]),
        ("a,b\n1,2\n3,inf\n4,5\n", &["line 3, column 2 (b)", "'inf' is not a finite number"]),
        ("a,b\n1,2\n3,1e999\n4,5\n", &["line 3, column 2 (b)", "not a finite number"]),
        (
            "a,b\n1,2\nNaN,4\n4,5\n",
            &["line 3, column 1 (a)", "missing value", "first of 1", "--missing drop-rows"],
        ),
        ("a,b\n1,2\n3,2\n4,2\n", &["'b' (always 2)", "leave it out by `--except`"]),
        ("a,a\n1,2\n3,2.5\n4,2\n", &["columns 1 and 2", "'a'"]),
    ];
    for (text, words) in cases {
        desk.file("bad.csv", text);
        desk.assert_refused("bad.csv", words);
        desk.assert_refused("bad.csv", &["bad.csv"]);
    }
    desk.assert_refused("nowhere.csv", &["nowhere.csv: no such file"]);
    desk.assert_refused(".", &["is a directory"]);
    desk.assert_refused("-", &["standard input"]);
    desk.file("gaps.csv", "a,b\n1,\n,2\n");
    desk.assert_refused("gaps.csv --missing drop-rows", &["0 of 2 rows", "--missing drop-columns"]);
    desk.file("huge.csv", "a,b\n1e200,2e200\n-1e200,1e200\n3e200,-1e200\n");
    desk.assert_refused("huge.csv", &["scale the data"]);
    desk.assert_refused("huge.csv --method svrpda1", &["alpha_theta", "scale the data"]);
}

#[test]
fn numbers_outside_their_range() {
    let desk = desk();
    for flag in ["--alpha-theta", "--alpha-w", "--tolerance", "--risk-aversion", "--max-seconds"] {
        for value in ["0", "-1", "-1e-3", "nan", "inf", "x"] {
            desk.assert_refused(
                &format!("{flag} {value}"),
                &[flag, value, "expected a finite number above 0"],
            );
        }
    }
    desk.assert_refused("--risk huber --huber-width 0", &["--huber-width", "above 0"]);
    for flag in ["--l1", "--l2"] {
        desk.assert_refused(&format!("{flag} -1"), &[flag, "'-1'", "0 or above"]);
    }
    for flag in ["--max-calls", "--max-outer", "--inner-iterations", "--trace-every"] {
        for value in ["0", "-5", "1.5", "many"] {
            desk.assert_refused(
                &format!("{flag} {value}"),
                &[flag, value, "expected a whole number above 0"],
            );
        }
    }
    desk.assert_refused("--warmup-epochs -1", &["--warmup-epochs", "whole number, 0 or above"]);
    desk.assert_refused("--threads -1", &["--threads", "0 (all cores)"]);
    desk.assert_refused("--seed -1", &["--seed", "whole number from 0"]);
    desk.assert_refused("--target-objective low", &["--target-objective", "a finite number"]);
}

#[test]
fn unknown_names_are_answered_with_the_known_ones() {
    let desk = desk();
    desk.assert_refused("--method adam", &["'adam'", "auto", "svrpda1", "svrpda2"]);
    desk.assert_refused(
        "--alpha-w 1",
        &["--alpha-w does nothing with --method auto", "--method svrpda1"],
    );
    desk.assert_refused(
        "--method auto --steps theorem1",
        &["--steps does nothing with --method auto"],
    );
    desk.assert_refused("--steps theorem4", &["scaled", "theorem1", "theorem2", "theorem3"]);
    desk.assert_refused("--reference first", &["last", "random"]);
    desk.assert_refused("--risk beta", &["variance", "semivariance", "absolute", "huber"]);
    desk.assert_refused("--missing ignore", &["error", "drop-rows", "drop-columns"]);
    desk.assert_refused(
        "--constraint short",
        &["none, long-only, sum-to-one, sum-to-one=LO,HI or box=LO,HI"],
    );
    desk.assert_refused(
        "--constraint sum-to-one=0,0.01",
        &["--constraint sum-to-one=0,0.01", "hi = 0.01, expected at least 0.04", "25 numbers"],
    );
    desk.assert_refused("--start ones", &["--start ones", "zeros, uniform"]);
    desk.assert_refused("--frobnicate", &["--frobnicate"]);
}

#[test]
fn boxes_without_a_point() {
    let desk = desk();
    desk.assert_refused(
        "--constraint box=2,1",
        &["box=2,1", "lo = 2.0, expected at most hi = 1.0"],
    );
    desk.assert_refused("--constraint box=nan,1", &["--constraint", "lo = NaN"]);
    desk.assert_refused(
        "--constraint box=inf,inf",
        &["box=inf,inf", "lo = inf, expected a number"],
    );
    desk.assert_refused(
        "--constraint box=-inf,-inf",
        &["box=-inf,-inf", "hi = -inf, expected a number"],
    );
    desk.assert_refused(
        "--constraint box=1e300,1e301",
        &["that --constraint allows is inf", "bounds"],
    );
    // Each of 25 is allowed, and no 25 sum to 1.
    desk.assert_refused(
        "--constraint sum-to-one=1,2",
        &["lo = 1.0, expected at most 0.04", "25 numbers"],
    );
    desk.assert_refused(
        "--constraint sum-to-one=-inf,0.0399",
        &["hi = 0.0399, expected at least 0.04"],
    );
    desk.assert_refused("--constraint sum-to-one=0.05,inf", &["lo = 0.05, expected at most 0.04"]);
    desk.assert_refused("--constraint sum-to-one=nan,nan", &["sum-to-one=nan,nan", "lo = NaN"]);
    desk.assert_refused(
        "--constraint box=-1,1 --constraint sum-to-one",
        &["--constraint", "multiple times"],
    );
    for text in ["box", "box=", "box=1", "box=1,b", "box=1,2,3"] {
        desk.assert_refused(&format!("--constraint {text}"), &[text, "box=LO,HI with two numbers"]);
    }
}

#[test]
fn starts_that_do_not_fit() {
    let desk = desk();
    desk.file("start.txt", "1 2 3\n");
    desk.assert_refused("--start start.txt", &["start.txt", "found 3 numbers, expected 25"]);
    desk.file("start.txt", "1 2 x\n");
    desk.assert_refused(
        "--start start.txt",
        &["start.txt, line 1, column 3", "'x' is not a number"],
    );
    desk.file("start.json", "{\"theta\": 3}");
    desk.assert_refused("--start start.json", &["start.json", "\"theta\" is a single number"]);
    desk.file("start.json", &format!("{:?}", [1e200; 25]));
    desk.assert_refused(
        "--start start.json",
        &["--start start.json", "the objective there is inf"],
    );
}

#[test]
fn traces_that_cannot_be_written() {
    let desk = desk();
    let files = csv(&small());
    desk.file("small.csv", &files);
    for (path, words) in [
        ("nowhere/run.jsonl", "no such folder"),
        (".", "is a directory"),
        ("small.csv", "being read"),
    ] {
        let run = desk.run(&format!("small.csv --trace {path}"));
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{path}");
        assert!(
            run.err.contains(&format!("--trace {path}")) && run.err.contains(words),
            "{}",
            run.err
        );
    }
    assert_eq!(desk.names(), ["small.csv"]);
    assert_eq!(fs::read_to_string(desk.path().join("small.csv")).expect("it survives"), files);
}

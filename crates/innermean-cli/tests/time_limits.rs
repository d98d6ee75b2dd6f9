//! `--max-seconds` on work that takes a minute or more by itself. No time is measured here: what
//! shows that the limit held is how little of the work was done, and a slow or busy machine does
//! less of it.

use std::fmt::Write as _;

use crate::desk::{Desk, number};
use serde_json::Value;

const LIMIT: &str = "--max-seconds 0.5";

/// What is said where there was no time for a run at all.
const BEFORE: &str = "--max-seconds 0.5: reading or generating the data has taken all of it";

/// What a command prints, and none where the limit came before its run, which a busy machine may
/// bring about.
fn answer(desk: &Desk, args: &str, sentence: &str) -> Option<(Option<i32>, Value)> {
    let run = desk.run(&format!("{args} {LIMIT} --json"));
    if run.out.is_empty() {
        assert_eq!(run.code, Some(1), "{args}: {}", run.err);
        assert!(run.err.contains(BEFORE) || run.err.contains(sentence), "{args}: {}", run.err);
        return None;
    }
    Some((run.code, serde_json::from_str(&run.out).expect("one object")))
}

/// Ended by the limit: while data were made or folds compared, in a sentence; in a run, by its
/// status.
fn assert_cut(command: &'static str, args: &str, sentence: &str) {
    if let Some((code, answer)) = answer(&Desk::at(command), args, sentence) {
        let found = (code, answer["status"].as_str());
        assert_eq!(found, (Some(1), Some("max_seconds")), "{command} {args}");
    }
}

#[test]
fn data_that_take_long_to_make() {
    assert_cut("sequences", "--generated-steps 3000000", BEFORE);
    assert_cut("bags", "--groups 200000 --rows 20..40", BEFORE);
    assert_cut("linear", "--rows 60000 --features 1000", BEFORE);
    assert_cut("policy", "--states 200000 --successors 100", BEFORE);
}

/// Rows of which Hessians take seconds each, and no minimum that rounding would let anyone reach.
#[test]
fn matrices_that_take_long() {
    let rows = "--rows 30000 --features 1500 --tolerance 1e-300";
    assert_cut("linear", &format!("{rows} --loss logistic --l2 1e-9 --method newton"), BEFORE);
    assert_cut("linear", &format!("{rows} --l1 1e-4 --method direct"), BEFORE);
    assert_cut("linear", &format!("{rows} --loss logistic --standard-errors"), BEFORE);
    // A factor of 3400 columns.
    assert_cut("linear", "--rows 3500 --features 3400 --l2 1e-3 --method direct", BEFORE);
}

/// Second derivatives by thousands of gradients, and a covariance of as many coefficients, come
/// after a run that is over soon: the answer is there, without errors and with the reason.
#[test]
fn standard_errors_that_take_long() {
    let args = "--groups 1500 --rows 10..20 --features 100 --link softmax --classes 8 --l2 0.05";
    let args = format!("{args} --standard-errors --max-seconds 2.5 --json");
    let run = Desk::at("bags").run(&args);
    if run.out.is_empty() {
        assert!(run.err.contains("reading or generating"), "{args}: {}", run.err);
        return;
    }
    let answer: Value = serde_json::from_str(&run.out).expect("one object");
    let refused = answer["inference"]["refused"].as_str();
    let said = refused.unwrap_or_else(|| panic!("{args}: {}", answer["inference"]));
    let is_cut = said.contains("the time was up") || said.contains("did not end at a minimum");
    assert!(is_cut, "{args}: {said}");
}

#[test]
fn steps_parts_and_snapshots() {
    for method in ["svrpda1", "svrpda2", "lbfgs", "gd", "c-saga", "spdc"] {
        let args =
            format!("--constraint long-only --risk huber --tolerance 1e-300 --method {method}");
        if let Some((_, answer)) = answer(&Desk::at("portfolio"), &args, BEFORE) {
            let status = answer["status"].as_str().expect("a status");
            // Some of them end where rounding leaves nothing to gain.
            assert!(["max_seconds", "solved"].contains(&status), "{method}: {status}");
        }
    }
    assert_cut("sequences", "--generated-steps 50000 --starts 100000", BEFORE);
    let states = "--states 2000 --features 200 --discount 0.999 --tolerance 1e-300";
    assert_cut("policy", &format!("{states} --method svrpda1"), BEFORE);
}

#[test]
fn folds_of_a_cross_validation() {
    let penalties: Vec<String> = (1..400).map(|k| format!("{k}e-6")).collect();
    let penalties = penalties.join(",");
    let args = format!("--rows 5000 --features 50 --loss logistic --cv 10 --l2 {penalties}");
    assert_cut("linear", &args, "cross-validation was interrupted");
    let args = format!("--groups 2000 --cv 10 --l2 {penalties}");
    assert_cut("bags", &args, "cross-validation was interrupted");
}

/// A million draws of the bootstrap, of which those after the limit are not made: the answer is
/// there all the same, and says how many are missing.
#[test]
fn draws_of_a_bootstrap() {
    const DRAWS: f64 = 1e6;
    let desk = Desk::at("");
    let mut rows = "y,p,z,w\n".to_owned();
    for i in 0..400 {
        let (z, w) = (f64::from(i * 7 % 13), f64::from(i * 11 % 17));
        let error = f64::from(i * 5 % 11) - 5.0;
        let _ = writeln!(rows, "{},{},{z},{w}", 2.0 * z + error + w, z + 0.3 * error);
    }
    desk.file("rows.csv", &rows);
    for command in [
        "linear --rows 2000 --features 10 --loss logistic --l2 1e-3",
        "bags --groups 200 --features 5",
        "policy --generate walk --states 5 --transitions 20000",
        "policy --generate walk --states 5 --transitions 20000 --objective projected",
        "moments rows.csv --outcome y --regressors p --exogenous w --instruments z",
    ] {
        let args = format!("{command} --bootstrap 1000000");
        let Some((code, answer)) = answer(&desk, &args, BEFORE) else { continue };
        let found = if answer["inference"].is_null() { &answer } else { &answer["inference"] };
        let drawn = &found["bootstrap"];
        if drawn.is_null() {
            // A busy machine has no time for two of them, or for the run before.
            assert!(found["refused"].is_string(), "{command}: {found}");
        } else {
            assert!(number(&drawn["unmade"]) > DRAWS / 2.0, "{command}: {drawn}");
            let made = number(&drawn["draws"]) + number(&drawn["unmade"]);
            assert_eq!((code, made), (Some(1), DRAWS), "{command}: {drawn}");
        }
    }
}

//! `innermean compare` and `innermean methods`, driven as a user would.

use std::fs;

use crate::desk::*;
use innermean::METHODS;
use serde_json::Value;

fn on_small() -> Desk {
    let desk = Desk::at("compare portfolio");
    desk.file("small.csv", &csv(&small()));
    desk
}

fn method<'a>(answer: &'a Value, name: &str) -> &'a Value {
    let methods = answer["methods"].as_array().expect("a list of methods");
    methods
        .iter()
        .find(|method| method["name"] == name)
        .unwrap_or_else(|| panic!("{name} took part"))
}

/// The calls to each decade of the gap, as far as they were reached.
fn calls(method: &Value) -> Vec<f64> {
    let reached = method["reached"].as_array().expect("a list of gaps");
    reached.iter().map_while(|at| at["calls"]["median"].as_f64()).collect()
}

#[test]
fn all_methods_that_suit_run_and_the_others_are_named() {
    let desk = on_small();
    let answer = desk.json("small.csv --max-calls 4e6", 0);
    let names: Vec<&str> = answer["methods"]
        .as_array()
        .expect("methods")
        .iter()
        .filter_map(|m| m["name"].as_str())
        .collect();
    let unsuited: Vec<&str> = answer["unsuited"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|m| m["name"].as_str())
        .collect();
    assert_eq!(names.len() + unsuited.len(), METHODS.len());
    assert!(METHODS.iter().all(|row| names.contains(&row.name) != unsuited.contains(&row.name)));
    for name in ["svrpda1", "svrpda2", "lbfgs"] {
        let method = method(&answer, name);
        assert_eq!(calls(method).len(), 10, "{name} reaches a gap of 1e-10");
        assert!(calls(method).is_sorted());
        assert_eq!(method["runs"][0]["status"], "target_reached");
    }
    // The closed form on 300 days of 4 assets: a direct solve.
    assert!(
        answer["optimum_source"].as_str().expect("words").contains("direct"),
        "{}",
        answer["optimum_source"]
    );
    let people = desk.run("small.csv --max-calls 4e6 --methods svrpda1,lbfgs");
    assert_eq!(people.code, Some(0), "{}", people.err);
    for words in [
        "Oracle calls to a gap",
        "Seconds to a gap",
        "Rows of data read to a gap",
        "optimum:",
        "svrpda1",
        "(the paper's)",
        "(its own)",
    ] {
        let all = people.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(all.contains(words), "{words} in {}", people.out);
    }
}

#[test]
fn the_same_start_and_seed_for_all_and_the_same_answer_again() {
    let desk = on_small();
    let run = || {
        let mut answer = desk.json("small.csv --methods svrpda2,svrpda1 --repeat 3 --seed 5", 0);
        for method in answer["methods"].as_array_mut().expect("methods") {
            for run in method["runs"].as_array_mut().expect("runs") {
                run["seconds"] = Value::Null;
            }
            for at in method["reached"].as_array_mut().expect("gaps") {
                at["seconds"] = Value::Null;
            }
        }
        answer
    };
    let answer = run();
    assert_eq!(answer, run());
    let seeds: Vec<u64> = method(&answer, "svrpda1")["runs"]
        .as_array()
        .expect("runs")
        .iter()
        .filter_map(|r| r["seed"].as_u64())
        .collect();
    assert_eq!(seeds, [5, 6, 7]);
    for at in method(&answer, "svrpda1")["reached"].as_array().expect("gaps") {
        let [least, median, most] =
            ["least", "median", "most"].map(|key| number(&at["calls"][key]));
        assert!(least <= median && median <= most, "{at}");
    }
    // In the order in which they were named.
    assert_eq!(answer["methods"][0]["name"], "svrpda2");
}

#[test]
fn a_method_that_diverges_is_said_to_and_does_not_stop_the_others() {
    let desk = Desk::at("compare policy");
    // The paper chose its steps for ten states with uniform features; these are larger.
    let answer = desk.json("--methods svrpda1,gd --feature-kind gaussian --features 8", 0);
    assert_eq!(method(&answer, "svrpda1")["settings_from"], "paper");
    assert_eq!(method(&answer, "svrpda1")["runs"][0]["status"], "diverged");
    assert_eq!(method(&answer, "gd")["runs"][0]["status"], "target_reached");
    let people = desk.run("--methods svrpda1,gd --feature-kind gaussian --features 8");
    assert!(people.out.contains("diverged"), "{}", people.out);
    let own =
        desk.json("--methods svrpda1 --feature-kind gaussian --features 8 --settings default", 0);
    assert_eq!(method(&own, "svrpda1")["runs"][0]["status"], "target_reached");
}

#[test]
fn tuning_is_never_worse_by_much_and_says_what_it_chose() {
    let desk = Desk::at("compare policy");
    let (plain, tuned) =
        (desk.json("--methods c-saga", 0), desk.json("--methods c-saga --tune", 0));
    let tuning = method(&tuned, "c-saga")["tuning"].as_str().expect("a sentence").to_owned();
    assert!(tuning.contains("alpha_theta") && tuning.contains("best of 7"), "{tuning}");
    // The paper's step, 0.1, is ten times too small.
    assert!(calls(method(&tuned, "c-saga"))[5] < 0.3 * calls(method(&plain, "c-saga"))[5]);
    assert!(number(&method(&tuned, "c-saga")["settings"]["alpha_theta"]) > 0.2);
}

#[test]
fn traces_go_into_a_folder() {
    let desk = on_small();
    desk.json("small.csv --methods svrpda1,gd --repeat 2 --trace-dir traces --max-seconds 0.5", 0);
    let mut files: Vec<String> = fs::read_dir(desk.path().join("traces"))
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    files.sort();
    assert_eq!(
        files,
        ["gd-seed0.jsonl", "gd-seed1.jsonl", "svrpda1-seed0.jsonl", "svrpda1-seed1.jsonl"]
    );
    let trace = desk.trace("traces/svrpda1-seed1.jsonl");
    assert!(trace.len() > 10 && number(&trace[0]["gap"]) > number(&trace[trace.len() - 1]["gap"]));
    assert!(number(&trace[trace.len() - 1]["gap"]) <= 1e-10);
}

#[test]
fn gaps_may_be_relative() {
    let desk = on_small();
    let answer = desk.json("small.csv --methods gd --gap relative --until 1e-4", 0);
    let gap = number(&method(&answer, "gd")["runs"][0]["gap"]);
    assert!(gap > 1e-6 && gap <= 1e-4, "{gap}");
    let above = number(&method(&answer, "gd")["runs"][0]["objective"]) - number(&answer["optimum"]);
    let at_start = number(&answer["objective_at_start"]) - number(&answer["optimum"]);
    assert!((above / at_start - gap).abs() <= 1e-9 * gap);
}

#[test]
fn bad_input_is_refused_in_words() {
    let desk = on_small();
    desk.file("two.csv", "a,b\n1,2\n2,1\n");
    for (args, words) in [
        (
            "small.csv --methods simplex",
            vec!["--methods simplex", "there is no such method", "svrpda1", "or all"],
        ),
        ("small.csv --methods gd,gd", vec!["gd is named twice"]),
        (
            "small.csv --methods gd --risk absolute --constraint long-only",
            vec!["gd does not suit", "phi has a kink", "svrpda1"],
        ),
        ("small.csv --methods all,gd", vec!["--methods all,gd", "expected it alone"]),
        ("small.csv --methods svrpda1,,gd", vec!["a name is missing"]),
        // Two days of two assets: some portfolio has no risk, and the objective falls for ever.
        ("two.csv --methods gd", vec!["no optimum was found", "--constraint, or --l2"]),
        ("none.csv --methods gd", vec!["none.csv", "no such file"]),
        ("small.csv --repeat 0", vec!["--repeat", "from 1 to 1000000"]),
        (
            "small.csv --methods gd --trace-dir small.csv",
            vec!["--trace-dir small.csv", "expected the path of a folder"],
        ),
        ("small.csv --start x.txt", vec!["--start x.txt", "no such file"]),
    ] {
        let run = desk.run(args);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{args}: {}", run.err);
        assert!(
            run.err.starts_with("innermean: ") || run.err.contains("invalid value"),
            "{}",
            run.err
        );
        for word in words {
            assert!(run.err.contains(word), "{args}: expected {word} in {}", run.err);
        }
    }
    assert_eq!(desk.names(), ["small.csv", "two.csv"]);
}

#[test]
fn processes_that_cannot_be_are_refused_in_words() {
    let desk = Desk::at("compare policy");
    for (args, words) in [
        ("--discount 1", "--discount 1: from state '0' no end can be reached"),
        ("--states 1e10", "--states 10000000000: expected at most 50000"),
        ("--policy shortest", "--policy does nothing with --generate random"),
        ("--objective projected --features 12", "linearly dependent"),
        (
            "--objective projected --methods gtd2 --constraint long-only --states 0",
            "a whole number above 0",
        ),
    ] {
        let run = desk.run(args);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{args}: {}", run.err);
        assert!(run.err.contains(words), "{args}: {}", run.err);
    }
    let projected =
        desk.json("--objective projected --methods mspbe-saga,mspbe-svrg,pdbg,lbfgs", 0);
    for name in ["mspbe-saga", "mspbe-svrg", "pdbg", "lbfgs"] {
        assert_eq!(calls(method(&projected, name)).len(), 10, "{name}");
    }
}

#[test]
fn the_papers_settings_are_for_returns_in_percent() {
    let desk = on_small();
    let mut returns = small();
    returns.values.iter_mut().for_each(|x| *x *= 0.01);
    desk.file("fractions.csv", &csv(&returns));
    for (file, from) in [("small.csv", "paper"), ("fractions.csv", "default")] {
        let answer = desk.json(&format!("{file} --methods svrpda1 --gap relative"), 0);
        assert_eq!(method(&answer, "svrpda1")["settings_from"], from, "{file}");
        assert_eq!(method(&answer, "svrpda1")["runs"][0]["status"], "target_reached", "{file}");
    }
    let other = desk.json("small.csv --methods svrpda1 --risk semivariance", 0);
    assert_eq!(method(&other, "svrpda1")["settings_from"], "default");
    assert_eq!(other["objective"], "-return + semivariance");
}

#[test]
fn columns_end_where_runs_do() {
    let desk = on_small();
    let answer = desk.json("small.csv --methods lbfgs --until 1e-4", 0);
    assert_eq!(method(&answer, "lbfgs")["reached"].as_array().map(Vec::len), Some(4));
    let people = desk.run("small.csv --methods lbfgs --until 1e-3");
    assert!(people.out.contains("1e-3") && !people.out.contains("1e-4 "), "{}", people.out);
}

#[test]
fn methods_are_listed_with_what_they_ask() {
    let desk = Desk::at("methods");
    let all = desk.run("");
    assert!(
        METHODS.iter().all(|row| all.out.contains(row.name) && all.out.contains(row.title)),
        "{}",
        all.out
    );
    let json: Value = serde_json::from_str(&desk.run("--json").out).expect("JSON");
    assert_eq!(json.as_array().map(Vec::len), Some(METHODS.len()));
    let one = desk.run("spdc");
    assert!(one.out.contains("an affine f") && one.out.contains("--alpha-theta"), "{}", one.out);
    let none = desk.run("simplex");
    assert!(none.code == Some(2) && none.err.contains("expected one of svrpda1"), "{}", none.err);
}

#[test]
fn a_setting_that_a_method_lacks_is_refused() {
    let desk = Desk::at("portfolio");
    let run = desk.run("--method gd --alpha-w 3");
    assert_eq!(run.code, Some(2));
    assert!(
        run.err.contains("--alpha-w does nothing with --method gd; it has --alpha-theta"),
        "{}",
        run.err
    );
    let run = desk.run("--method gd --risk absolute --constraint long-only");
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("phi has a kink") && run.err.contains("svrpda1"), "{}", run.err);
}

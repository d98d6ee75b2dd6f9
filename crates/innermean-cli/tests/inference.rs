//! Standard errors, the bootstrap and instrumental variables against statsmodels and linearmodels:
//! the numbers that the library's tests have (crates/innermean/tests/inference/peers.py).

use std::fmt::Write as _;

use crate::desk::*;
use serde_json::Value;

const PEERS: &str = include_str!("../../innermean/tests/inference/peers.json");

/// A desk with the peers' rows, and their answers.
fn desk(command: &'static str) -> (Desk, Value) {
    let peers: Value = serde_json::from_str(PEERS).expect("JSON");
    let column = |name: &str| numbers(&peers[name]);
    let (y, price, x) = (column("y"), column("price"), column("x"));
    let (group, label, weight, z) =
        (column("group"), column("label"), column("weight"), column("z"));
    let mut text = "y,label,price,x,weight,group,z1,z2,z3\n".to_owned();
    for i in 0..y.len() {
        let z = &z[3 * i..3 * i + 3];
        let _ = writeln!(
            text,
            "{},{},{},{},{},g{},{},{},{}",
            y[i], label[i], price[i], x[i], weight[i], group[i], z[0], z[1], z[2]
        );
    }
    let desk = Desk::at(command);
    desk.file("rows.csv", &text);
    (desk, peers)
}

/// The square roots of the diagonal of a peer's covariance.
fn errors(peer: &Value) -> Vec<f64> {
    let d = numbers(&peer["theta"]).len();
    numbers(&peer["covariance"]).iter().step_by(d + 1).map(|v| v.sqrt()).collect()
}

fn assert_close(found: &[f64], wanted: &[f64], tolerance: f64) {
    assert_eq!(found.len(), wanted.len());
    for (a, b) in found.iter().zip(wanted) {
        assert!((a - b).abs() <= tolerance * b.abs(), "{found:?} is not {wanted:?}");
    }
}

const LINEAR: &str = "rows.csv --target y --columns price,x";

#[test]
fn linear_models_have_the_errors_of_statsmodels() {
    let (desk, peers) = desk("linear");
    for (flags, peer) in [
        ("--standard-errors", "least_squares_hc1"),
        ("--standard-errors --cluster group", "least_squares_clustered"),
        ("--standard-errors=robust --weight weight", "weighted_hc1"),
        ("--standard-errors --no-scaling", "least_squares_hc1"),
    ] {
        let answer = desk.json(&format!("{LINEAR} {flags}"), 0);
        assert_close(&numbers(&answer["theta"]), &numbers(&peers[peer]["theta"]), 1e-6);
        let found = &answer["inference"]["standard_errors"];
        assert_close(&numbers(&found["errors"]), &errors(&peers[peer]), 1e-6);
        let [low, high] = numbers(&found["intervals"][0])[..] else { panic!("{found}") };
        let (theta, error) = (numbers(&answer["theta"])[0], numbers(&found["errors"])[0]);
        assert!((low + high - 2.0 * theta).abs() < 1e-9, "{found}");
        let t = (high - low) / 2.0 / error;
        // Student's t with 87 degrees of freedom, or with 14.
        let wanted = if flags.contains("cluster") { 2.144_786_7 } else { 1.987_608_3 };
        assert!((t - wanted).abs() < 1e-6, "{t}");
    }
}

/// statsmodels makes no correction for logistic regression.
#[test]
fn logistic_regression_has_the_errors_of_statsmodels() {
    let (desk, peers) = desk("linear");
    let rows = "rows.csv --target label --columns price,x --loss logistic --standard-errors";
    let peer = &peers["logistic_hc1"];
    let found = desk.json(rows, 0);
    assert_close(&numbers(&found["theta"]), &numbers(&peer["theta"]), 1e-5);
    let correction = (90.0_f64 / 87.0).sqrt();
    let wanted: Vec<f64> = errors(peer).iter().map(|error| error * correction).collect();
    assert_close(&numbers(&found["inference"]["standard_errors"]["errors"]), &wanted, 1e-5);
}

#[test]
fn columns_of_other_sizes_change_nothing() {
    let (desk, _) = desk("linear");
    let mut text = "y,a,b\n".to_owned();
    for i in 0..60 {
        let (a, b) = (f64::from(i * i % 17), f64::from(i * 7 % 13));
        let y = a - b + f64::from(i * 5 % 11);
        let _ = writeln!(text, "{y},{},{}", 1e4 + 100.0 * a, 1e-3 * b);
    }
    desk.file("sizes.csv", &text);
    let found = |flags: &str| {
        let answer = desk.json(&format!("sizes.csv --target y --standard-errors {flags}"), 0);
        numbers(&answer["inference"]["standard_errors"]["errors"])
    };
    assert_close(&found(""), &found("--no-scaling --tolerance 1e-13"), 1e-5);
}

#[test]
fn the_bootstrap_is_near_the_formula_and_the_same_on_any_threads() {
    let (desk, peers) = desk("linear");
    let flags = format!("{LINEAR} --bootstrap 300 --seed 4");
    let found = desk.json(&format!("{flags} --threads 1"), 0)["inference"].clone();
    assert_eq!(found, desk.json(&format!("{flags} --threads 3"), 0)["inference"]);
    assert_eq!(found["standard_errors"], Value::Null);
    let drawn = &found["bootstrap"];
    assert_eq!((&drawn["draws"], &drawn["failed"]), (&Value::from(300), &Value::from(0)));
    // 300 draws leave 4 % of a standard error, and residuals of 90 rows a few more.
    assert_close(&numbers(&drawn["errors"]), &errors(&peers["least_squares_hc1"]), 0.2);
    let text = desk.run(&format!("{flags} --standard-errors --level 0.9")).out;
    for word in ["standard error", "90 % from", "bootstrap error", "300 draws of 90 rows, seed 4"] {
        assert!(text.contains(word), "{word} in {text}");
    }
}

#[test]
fn groups_are_the_observations_of_bags() {
    let desk = Desk::at("bags");
    let flags = "--groups 60 --rows 5..9 --features 2 --standard-errors --bootstrap 100";
    let found = desk.json(flags, 0)["inference"].clone();
    assert_eq!(found["units"], 60);
    let (formula, drawn) = (&found["standard_errors"], &found["bootstrap"]);
    assert_eq!(formula["degrees_of_freedom"], 57.0);
    assert_close(&numbers(&drawn["errors"]), &numbers(&formula["errors"]), 0.4);
    // Of several classes the estimates are about their mean.
    let flags = "--link softmax --groups 80 --rows 4..8 --features 1 --standard-errors";
    let found = desk.json(flags, 0)["inference"].clone();
    let estimates = numbers(&found["estimates"]);
    assert!(estimates[..3].iter().sum::<f64>().abs() < 1e-9, "{estimates:?}");
    assert!(numbers(&found["standard_errors"]["errors"]).iter().all(|error| *error > 0.0));
}

#[test]
fn what_makes_no_sense_is_refused_before_or_after_the_run() {
    let (desk, _) = desk("linear");
    for (flags, words) in [
        ("--standard-errors --l1 0.1", "--standard-errors: the penalty has a kink"),
        ("--bootstrap 10 --l1 0.1", "--bootstrap: the penalty has a kink"),
        ("--level 0.9", "--level does nothing without --standard-errors"),
        ("--cluster group", "--cluster does nothing without --standard-errors"),
        ("--standard-errors=clustered", "does nothing without --cluster COLUMN"),
        ("--standard-errors=robust --cluster group", "--standard-errors=clustered"),
        ("--standard-errors=strange", "expected robust or clustered"),
        ("--standard-errors --level 1", "expected a number between 0 and 1"),
        ("--bootstrap 1", "2 or above"),
        ("--standard-errors --cluster nowhere", "nowhere"),
    ] {
        desk.assert_refused(&format!("{LINEAR} {flags}"), &[words]);
    }
    desk.file("few.csv", "y,a,b\n1,2,3\n2,3,5\n3,5,4\n");
    desk.assert_refused("few.csv --target y --standard-errors", &["too few for 3 coefficients"]);
    desk.file("apart.csv", "y,a\n0,1\n0,2\n0,3\n1,5\n1,6\n1,7\n");
    let found = desk.run("apart.csv --target y --loss logistic --standard-errors --json");
    let found: Value = serde_json::from_str(&found.out).expect("JSON");
    assert!(found["inference"]["refused"].is_string(), "{found}");
    assert_eq!(found["inference"]["standard_errors"], Value::Null);
}

#[test]
fn whiskers_are_on_the_page() {
    let (desk, _) = desk("linear");
    let run = desk.run(&format!("{LINEAR} --standard-errors --report page.html"));
    assert_eq!(run.code, Some(0), "{}", run.err);
    let page = std::fs::read_to_string(desk.path().join("page.html")).expect("a page");
    assert_eq!(page.matches("<b style=\"left:").count(), 2);
    assert!(page.contains("standard error"));
}

const MARKET: &str = "rows.csv --outcome y --regressors price --exogenous x --instruments z1,z2,z3";

/// linearmodels has x, the constant and the price in this order.
fn as_ours(theirs: &[f64]) -> Vec<f64> {
    vec![theirs[2], theirs[0], theirs[1]]
}

#[test]
fn instruments_give_the_estimates_of_linearmodels() {
    let (desk, peers) = desk("moments");
    for kind in ["unadjusted", "robust", "clustered"] {
        let errors_flag = if kind == "clustered" {
            "--cluster group".to_owned()
        } else {
            format!("--standard-errors {kind}")
        };
        for (flags, peer) in [
            ("--steps 1 --no-correction", format!("two_stages_{kind}")),
            ("--steps 1", format!("two_stages_{kind}_debiased")),
            ("--no-correction", format!("two_steps_{kind}")),
            ("--steps iterated --no-correction", format!("iterated_{kind}")),
        ] {
            let answer = desk.json(&format!("{MARKET} {errors_flag} {flags}"), 0);
            let peer = &peers[&peer];
            assert_eq!(answer["names"], serde_json::json!(["price", "x", "(intercept)"]));
            let theta = as_ours(&numbers(&peer["theta"]));
            assert_close(&numbers(&answer["theta"]), &theta, 1e-8);
            let found = numbers(&answer["standard_errors"]["errors"]);
            assert_close(&found, &as_ours(&errors(peer)), 1e-8);
            assert_eq!(answer["standard_errors"]["kind"], kind);
            let j = &answer["j"];
            let j = [number(&j["statistic"]), number(&j["p_value"])];
            assert_close(&j, &numbers(&peer["j"]), 1e-7);
        }
    }
    let text = desk.run(&format!("{MARKET} --bootstrap 50")).out;
    for word in ["J test", "p-value", "standard error", "95 % from", "50 draws of 90 rows"] {
        assert!(text.contains(word), "{word} in {text}");
    }
}

/// The first stage is two regressions, of the price on x with and without the instruments; what
/// they leave is found here by `innermean linear`.
#[test]
fn the_first_stage_compares_two_regressions() {
    let (desk, _) = desk("moments");
    let answer = desk.json(MARKET, 0);
    let (linear, _) = self::desk("linear");
    let left = |columns: &str| {
        let args = format!("rows.csv --target price --columns {columns} --tolerance 1e-12");
        2.0 * 90.0 * number(&linear.json(&args, 0)["objective"])
    };
    let (full, restricted) = (left("x,z1,z2,z3"), left("x"));
    let stage = &answer["first_stage"][0];
    assert_eq!(stage["regressor"], "price");
    assert_eq!(stage["degrees_of_freedom"], serde_json::json!([3, 85]));
    let f = (restricted - full) / 3.0 / (full / 85.0);
    let found = [number(&stage["f"]), number(&stage["partial_r_squared"])];
    assert_close(&found, &[f, 1.0 - full / restricted], 1e-8);
    // What is minimised is proven to be.
    let gap = number(&answer["certificate"]["gap"]);
    assert!((0.0..1e-8).contains(&gap), "{gap}");
}

#[test]
fn moments_have_a_page() {
    let (desk, _) = desk("moments");
    let run = desk.run(&format!("{MARKET} --bootstrap 20 --report page.html"));
    assert_eq!(run.code, Some(0), "{}", run.err);
    let page = std::fs::read_to_string(desk.path().join("page.html")).expect("a page");
    assert_eq!(page.matches("<b style=\"left:").count(), 3);
    for words in ["J test", "First stage", "partial R²", "bootstrap error", "proven to be within"]
    {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("Convergence"));
    for (path, words) in [("page.txt", "ends in .html"), ("rows.csv", "rows.csv")] {
        let run = desk.run(&format!("{MARKET} --report {path}"));
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{}", run.err);
        assert!(run.err.contains(words), "{}", run.err);
    }
}

#[test]
fn weak_instruments_are_named() {
    let desk = Desk::at("moments");
    let mut text = "y,p,z\n".to_owned();
    for i in 0..60 {
        let _ = writeln!(text, "{},{},{}", i * 7 % 11, i * 5 % 13, i * 3 % 17);
    }
    desk.file("weak.csv", &text);
    let text = desk.run("weak.csv --outcome y --regressors p --instruments z").out;
    assert!(text.contains("note: The instruments say little about p"), "{text}");
}

#[test]
fn splines_stand_for_a_column() {
    let (desk, _) = desk("moments");
    let flags = "rows.csv --outcome y --regressors price --instruments z1 --spline price=1,z1=2";
    let answer = desk.json(flags, 0);
    let names = serde_json::json!(["price[2]", "price[3]", "price[4]", "price[5]", "(intercept)"]);
    assert_eq!(answer["names"], names);
    assert_eq!(answer["instruments"].as_array().map(Vec::len), Some(6));
    assert_eq!(answer["j"]["degrees_of_freedom"], 1);
}

#[test]
fn bad_moments_are_refused_in_a_sentence() {
    let (desk, _) = desk("moments");
    let y = "rows.csv --outcome y";
    for (args, words) in [
        (format!("{y} --regressors price,x --instruments z1"), "2 instruments for 3 regressors"),
        (format!("{y} --regressors price --instruments price"), "is in --regressors already"),
        (format!("{y} --regressors y --instruments z1"), "is in --outcome already"),
        (format!("{y} --regressors price --instruments nowhere"), "nowhere"),
        (format!("{MARKET} --spline z9=2"), "--spline z9: no such regressor"),
        (format!("{MARKET} --spline z1"), "such as price=3"),
        (format!("{MARKET} --spline z1=2 --no-intercept"), "sum to 1"),
        (format!("{MARKET} --spline z1=2,z1=3"), "has a spline already"),
        (format!("{MARKET} --standard-errors clustered"), "without --cluster COLUMN"),
        (format!("{MARKET} --standard-errors robust --cluster group"), "--cluster does nothing"),
        (format!("{MARKET} --steps 3"), "possible values: 1, 2, iterated"),
    ] {
        let run = desk.run(&args);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{args}: {}", run.err);
        assert!(run.err.contains(words), "{args}: expected {words} in {}", run.err);
    }
    // An instrument that is another one twice over.
    let mut text = "y,p,a,b\n".to_owned();
    for i in 0..20 {
        let _ = writeln!(text, "{},{},{},{}", i % 7, i % 5, i % 3, 2 * (i % 3));
    }
    desk.file("twice.csv", &text);
    for steps in ["", " --steps 1"] {
        let run =
            desk.run(&format!("twice.csv --outcome y --regressors p --instruments a,b{steps}"));
        assert_eq!(run.code, Some(2));
        assert!(run.err.contains("linearly dependent: b is a combination"), "{}", run.err);
        assert!(!run.err.contains("--steps"), "{}", run.err);
    }
}

/// Rows whose columns lie `offset` away from zero, all but the outcome.
fn far_from_zero(offset: f64) -> String {
    let mut text = "y,x,w,z1,z2\n".to_owned();
    let waves = |i: usize, by: f64| (by * i as f64).sin();
    for i in 0..200 {
        let (z1, z2, u) = (waves(i, 1.3), waves(i, 2.1), waves(i, 3.7));
        let (x, w) = (z1 + 0.5 * z2 + u, waves(i, 0.7));
        let y = 1.0 + 2.0 * x + 0.5 * w + u;
        // On a grid that offsets do not disturb.
        let [x, w, z1, z2] = [x, w, z1, z2].map(|v| (v * 1024.0).round() / 1024.0 + offset);
        let _ = writeln!(text, "{y},{x},{w},{z1},{z2}");
    }
    text
}

#[test]
fn moments_do_not_depend_on_where_columns_begin() {
    let desk = Desk::at("moments");
    let flags = "--outcome y --regressors x --exogenous w --instruments z1,z2 --bootstrap 5";
    let at = |offset: f64| {
        desk.file("far.csv", &far_from_zero(offset));
        let found = desk.json(&format!("far.csv {flags}"), 0);
        let coefficients = numbers(&found["theta"])[..2].to_vec();
        let errors = numbers(&found["standard_errors"]["errors"])[..2].to_vec();
        let j = number(&found["j"]["statistic"]);
        let f = number(&found["first_stage"][0]["f"]);
        [coefficients, errors, vec![j, f, number(&found["objective"])]].concat()
    };
    let near = at(0.0);
    for offset in [1e3, 1e6, 1e9] {
        assert_close(&at(offset), &near, 1e-7);
    }
}

#[test]
fn a_first_stage_without_degrees_of_freedom_has_no_test() {
    let desk = Desk::at("moments");
    desk.file("three.csv", "y,x,z1,z2\n1,2,0,1\n2,1,1,0\n4,5,2,3\n");
    let run = desk.run("three.csv --outcome y --regressors x --instruments z1,z2 --steps 1");
    assert!(!run.out.contains("F below"), "{}", run.out);
}

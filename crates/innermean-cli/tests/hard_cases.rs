//! Small problems on which double precision is easily wrong: columns that are nearly the same,
//! mixed units, no minimum.

use std::path::Path;

use serde_json::Value;

use crate::desk::program;

/// A command on the files of this folder, and the least objective that there is, found in 300-bit
/// arithmetic.
const CASES: [(&str, f64); 9] = [
    (
        "linear smoothed-hinge-ordinary.csv --target y --loss smoothed-hinge --hinge-width 0.5",
        0.134_729_82,
    ),
    (
        "linear smoothed-hinge-ordinary.csv --target y --loss smoothed-hinge --hinge-width 0.5 --method newton",
        0.134_729_82,
    ),
    ("linear huber-near-equal-columns.csv --target y --loss huber --huber-width 0.5", 0.235_357_58),
    ("portfolio semivariance.csv --risk semivariance --method lbfgs", -19.098_09),
    ("portfolio semivariance.csv --risk semivariance", -19.098_09),
    ("linear square-direct.csv --target y", 0.371_136_46),
    ("linear least-squares.csv --target y --tolerance 1e-12", 0.052_285_47),
    (
        "policy --model policy-p.npy --rewards policy-r.npy --features policy-f.npy --discount 0.9999",
        0.0,
    ),
    ("bags bags-small-units.csv", 0.5922),
];

fn run(folder: &Path, args: &str) -> (Option<i32>, Value) {
    let output = program()
        .current_dir(folder)
        .args(args.split(' '))
        .arg("--json")
        .output()
        .expect("it runs");
    (output.status.code(), serde_json::from_slice(&output.stdout).expect("JSON"))
}

#[test]
fn claims_are_true_and_answers_right() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/torture");
    for (args, least) in CASES {
        let (code, answer) = run(&folder, args);
        let objective = answer["objective"].as_f64().expect("a number");
        let gap = answer["certificate"]["gap"].as_f64();
        // The last digit of what is known, and what a gap of 1e-6 may leave.
        let slack = 1e-6 * (1.0 + least.abs());
        assert!(
            gap.is_none_or(|gap| objective - gap <= least + slack),
            "{args}: {objective} within {gap:?}"
        );
        // Of columns that differ by 1e-9, coefficients in double precision leave more than 1e-12.
        assert!(code == Some(0) || args.contains("--tolerance 1e-12"), "{args}: {answer}");
        let near = if args.starts_with("bags") { 1e-4 } else { slack };
        assert!((objective - least).abs() <= near, "{args}: {objective}, least {least}");
    }
}

/// What cannot be solved is not called solved.
#[test]
fn what_has_no_minimum_is_named_with_its_direction() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = "a,b,c,d\n0.13,-0.13,0.64,0.10\n-0.54,0.36,1.30,0.95\n";
    std::fs::write(folder.path().join("two.csv"), rows).expect("written");
    let (code, answer) = run(folder.path(), "portfolio two.csv");
    assert_eq!((code, &answer["status"]), (Some(1), &"unbounded".into()), "{answer}");
    assert_eq!(answer["falls_along"].as_array().map(Vec::len), Some(4), "{answer}");
    let (code, answer) = run(folder.path(), "portfolio two.csv --method newton");
    assert!(code == Some(1) && answer["certificate"]["gap"].is_null(), "{answer}");
}

/// A wide box is no scale, and a start is no answer.
#[test]
fn a_wide_box_does_not_solve_anything() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/torture");
    let (code, answer) = run(&folder, "portfolio semivariance.csv --constraint box=-1e6,1e6");
    let theta = answer["theta"].as_array().expect("numbers");
    assert!(code == Some(0) && theta.iter().any(|t| t.as_f64() != Some(0.0)), "{answer}");
    // 12 assets over 8 periods in units from 1e-5 to 1e5.
    let mixed =
        "portfolio stationarity-mixed.csv --constraint sum-to-one --l1 0.01 --max-outer 200";
    let (_, answer) = run(&folder, mixed);
    let (objective, solved) = (answer["objective"].as_f64().expect("a number"), &answer["status"]);
    assert!(objective <= -136.4 || solved != "solved", "{answer}");
}

//! Every refusal is one clear sentence, exit code 2, nothing on stdout and nothing written.

use super::*;

#[test]
fn targets_that_are_not_what_the_loss_asks() {
    let desk = desk();
    desk.file("t.csv", "a,b,y\n1,2,x\n3,4,y\n5,6,z\n");
    desk.assert_refused(
        "t.csv --target y --loss smoothed-hinge",
        &["t.csv, column y", "3 classes", "'x', 'y', 'z'"],
    );
    desk.assert_refused(
        "t.csv --target y",
        &["t.csv, line 2, column 3 (y)", "'x' is not a number"],
    );
    desk.file("one.csv", "a,y\n1,1\n3,1.0\n");
    desk.assert_refused(
        "one.csv --target y --loss squared-hinge",
        &["one.csv, column y", "all targets are '1'"],
    );
    desk.file("one.svm", "1 1:2\n1 1:3\n");
    desk.assert_refused(
        "one.svm --loss logistic",
        &["one.svm", "all targets are '1'", "two classes"],
    );
    desk.file("many.svm", "1 1:2\n2 1:3\n3 1:1\n");
    desk.assert_refused(
        "many.svm --loss squared-hinge",
        &["3 classes", "'1', '2', '3'", "--loss square"],
    );
    let mut many = "a,y\n".to_owned();
    for k in 0..70 {
        let _ = writeln!(many, "{k},c{k}");
    }
    desk.file("most.csv", &many);
    desk.assert_refused(
        "most.csv --target y --loss logistic",
        &["most.csv, column y", "more than 64 classes"],
    );
    desk.assert_refused("t.csv", &["t.csv", "--target COLUMN is missing"]);
    desk.assert_refused("t.csv --target nothing", &["nothing", "t.csv"]);
    desk.file("gap.csv", "a,y\n1,1\n,2\n3,NaN\n");
    desk.assert_refused(
        "gap.csv --target y",
        &["gap.csv, line 3", "missing", "--missing drop-rows"],
    );
    desk.assert_refused("gap.csv --target y --missing drop-columns", &["gap.csv", "drop-rows"]);
    desk.file("text.csv", "a,b,y\n1,u,1\n2,v,2\n");
    desk.assert_refused("text.csv --target y", &["line 2, column 2 (b)", "'u'"]);
    desk.file("only.csv", "y\n1\n2\n");
    desk.assert_refused("only.csv --target y", &["only.csv"]);
}

#[test]
fn sparse_rows_that_are_none() {
    let desk = desk();
    let cases: [(&str, &[&str]); 7] = [
        ("", &["is empty"]),
        ("1 1:2\nx 1:2\n", &["line 2", "'x'"]),
        ("1 1:2\n1 1:z\n", &["line 2"]),
        ("1 1:nan\n", &["line 1", "nan"]),
        ("1 3:1 2:1\n", &["line 1"]),
        ("1\n2\n", &["no row has an entry"]),
        ("1 1:2\n2 40000000000:1\n", &["line 2", "40000000000"]),
    ];
    for (text, words) in cases {
        desk.file("bad.svm", text);
        desk.assert_refused("bad.svm", words);
        desk.assert_refused("bad.svm", &["bad.svm"]);
    }
    desk.file("good.svm", "1 1:2\n2 2:1\n");
    for (flag, words) in [
        ("--target y", "--target"),
        ("--weight w", "--weight"),
        ("--columns a", "--columns"),
        ("--except a", "--except"),
        ("--missing drop-rows", "--missing"),
    ] {
        desk.assert_refused(&format!("good.svm {flag}"), &[words, "good.svm holds sparse rows"]);
    }
    desk.assert_refused("nowhere.svm", &["nowhere.svm: no such file"]);
    desk.assert_refused("nowhere.txt", &["nowhere.txt: no such file"]);
    desk.assert_refused("-", &["standard input"]);
}

#[test]
fn weights_and_flags_that_make_no_sense() {
    let desk = desk();
    desk.file("t.csv", "a,y,w\n1,2,1\n3,4,-1\n5,7,0\n");
    desk.assert_refused("t.csv --target y --weight w", &["t.csv, line 3", "the weight is -1"]);
    desk.file("zero.csv", "a,y,w\n1,2,0\n3,4,0\n");
    desk.assert_refused("zero.csv --target y --weight w", &["all weights are 0"]);
    desk.file("class.csv", "a,y,w\n1,u,1\n3,v,0\n2,u,1\n");
    desk.assert_refused("class.csv --target y --weight w --loss logistic", &["of one class"]);
    desk.assert_refused("--huber-width 1", &["--huber-width does nothing without --loss huber"]);
    desk.assert_refused(
        "--hinge-width 1 --loss logistic",
        &["--hinge-width does nothing without --loss smoothed-hinge"],
    );
    desk.assert_refused("--loss huber --huber-width 0", &["--huber-width", "above 0"]);
    desk.assert_refused("--loss none", &["--loss", "smoothed-hinge"]);
    desk.assert_refused(
        "--rows 1e12",
        &["--rows 1000000000000, --features 30", "numbers, for all of them are kept in memory"],
    );
    desk.assert_refused(
        "--generate sparse --rows 1e12",
        &["--rows 1000000000000, --nonzeros 20", "in memory"],
    );
    desk.assert_refused("--nonzeros 3", &["--nonzeros does nothing without --generate sparse"]);
    desk.assert_refused("--target y", &["--target", "expected a FILE"]);
    desk.assert_refused("t.csv --target y --rows 3", &["--rows"]);
    desk.assert_refused("t.csv --target y --generate sparse", &["--generate"]);
    desk.assert_refused("--features 0", &["--features", "1 to 100000000"]);
    desk.assert_refused("--l1 -1", &["--l1", "'-1'"]);
    desk.assert_refused("--method mspbe-saga", &["does not suit", "lbfgs"]);
    desk.assert_refused("--steps theorem1 --method svrpda1", &["Theorem 1", "mu = 0"]);
    desk.assert_refused("--memory 3 --method saga", &["--memory does nothing"]);
}

#[test]
fn roles_are_no_features() {
    let desk = desk();
    desk.file("t.csv", "a,y,w\n1,2,1\n3,4,2\n5,7,1\n");
    let answer = desk.json("t.csv --target y --weight w", 0);
    assert_eq!(answer["names"], serde_json::json!(["a", "(intercept)"]));
    desk.assert_refused("t.csv --target y --columns a,y", &["t.csv", "'y' is asked for twice"]);
    desk.assert_refused(
        "t.csv --target y --weight w --columns a,w",
        &["t.csv", "'w' is asked for twice"],
    );
}

#[test]
fn outputs_are_looked_at_before_the_run() {
    let desk = Desk::at("linear");
    let classes = "--rows 50 --loss logistic --l2 0.1";
    desk.assert_refused(
        &format!("{classes} --predictions out.npy"),
        &["--predictions out.npy", "'target'", "texts"],
    );
    // Numbers alone.
    assert_eq!(desk.run("--rows 50 --predictions out.npy").code, Some(0));
}

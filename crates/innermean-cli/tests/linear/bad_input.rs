//! Every refusal is one clear sentence, exit code 2, nothing on stdout and nothing written.

use super::*;

fn assert_refused(desk: &Desk, args: &str, words: &[&str]) {
    let before = desk.names();
    for output in ["", "--json"] {
        let run = desk.run(&format!("{args} {output} --trace fresh.jsonl --predictions fresh.csv"));
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{args}: {}", run.err);
        assert_eq!(desk.names(), before, "{args}");
        assert!(run.err.starts_with("innermean: ") && !run.err.contains("panicked"), "{args}: {}", run.err);
        for word in words {
            assert!(run.err.contains(word), "{args}: expected {word} in {}", run.err);
        }
    }
}

#[test]
fn targets_that_are_not_what_the_loss_asks() {
    let desk = Desk::new();
    desk.file("t.csv", "a,b,y\n1,2,x\n3,4,y\n5,6,z\n");
    assert_refused(
        &desk,
        "t.csv --target y --loss logistic",
        &["t.csv, column y", "3 classes", "'x', 'y', 'z'"],
    );
    assert_refused(&desk, "t.csv --target y", &["t.csv, line 2, column 3 (y)", "'x' is not a number"]);
    desk.file("one.csv", "a,y\n1,1\n3,1.0\n");
    assert_refused(
        &desk,
        "one.csv --target y --loss squared-hinge",
        &["one.csv, column y", "all targets are '1'"],
    );
    desk.file("one.svm", "1 1:2\n1 1:3\n");
    assert_refused(&desk, "one.svm --loss logistic", &["one.svm", "all targets are '1'", "two classes"]);
    desk.file("many.svm", "1 1:2\n2 1:3\n3 1:1\n");
    assert_refused(&desk, "many.svm --loss logistic", &["3 classes", "'1', '2', '3'", "--loss square"]);
    assert_refused(&desk, "t.csv", &["t.csv", "--target COLUMN is missing"]);
    assert_refused(&desk, "t.csv --target nothing", &["nothing", "t.csv"]);
    desk.file("gap.csv", "a,y\n1,1\n,2\n3,NaN\n");
    assert_refused(&desk, "gap.csv --target y", &["gap.csv, line 3", "missing", "--missing drop-rows"]);
    assert_refused(&desk, "gap.csv --target y --missing drop-columns", &["line 4", "drop-rows"]);
    desk.file("text.csv", "a,b,y\n1,u,1\n2,v,2\n");
    assert_refused(&desk, "text.csv --target y", &["line 2, column 2 (b)", "'u'"]);
    desk.file("only.csv", "y\n1\n2\n");
    assert_refused(&desk, "only.csv --target y", &["only.csv"]);
}

#[test]
fn sparse_rows_that_are_none() {
    let desk = Desk::new();
    let cases: [(&str, &[&str]); 7] = [
        ("", &["is empty"]),
        ("1 1:2\nx 1:2\n", &["line 2", "'x'"]),
        ("1 1:2\n1 1:z\n", &["line 2"]),
        ("1 1:nan\n", &["line 1", "nan"]),
        ("1 3:1 2:1\n", &["line 1"]),
        ("1\n2\n", &["no row has an entry"]),
        ("1 1:2\n2 4000000000:1\n", &["line 2", "4,000,000,000", "100,000,000"]),
    ];
    for (text, words) in cases {
        desk.file("bad.svm", text);
        assert_refused(&desk, "bad.svm", words);
        assert_refused(&desk, "bad.svm", &["bad.svm"]);
    }
    desk.file("good.svm", "1 1:2\n2 2:1\n");
    for (flag, words) in [
        ("--target y", "--target"),
        ("--weight w", "--weight"),
        ("--columns a", "--columns"),
        ("--except a", "--except"),
        ("--missing drop-rows", "--missing"),
    ] {
        assert_refused(&desk, &format!("good.svm {flag}"), &[words, "good.svm holds sparse rows"]);
    }
    assert_refused(&desk, "nowhere.svm", &["nowhere.svm: no such file"]);
    assert_refused(&desk, "nowhere.txt", &["nowhere.txt: no such file"]);
    assert_refused(&desk, "-", &["standard input"]);
}

#[test]
fn weights_and_flags_that_make_no_sense() {
    let desk = Desk::new();
    desk.file("t.csv", "a,y,w\n1,2,1\n3,4,-1\n5,7,0\n");
    assert_refused(&desk, "t.csv --target y --weight w", &["t.csv, line 3", "the weight is -1"]);
    desk.file("zero.csv", "a,y,w\n1,2,0\n3,4,0\n");
    assert_refused(&desk, "zero.csv --target y --weight w", &["all weights are 0"]);
    desk.file("class.csv", "a,y,w\n1,u,1\n3,v,0\n2,u,1\n");
    assert_refused(&desk, "class.csv --target y --weight w --loss logistic", &["of one class"]);
    assert_refused(&desk, "--huber-width 1", &["--huber-width does nothing without --loss huber"]);
    assert_refused(
        &desk,
        "--hinge-width 1 --loss logistic",
        &["--hinge-width does nothing without --loss smoothed-hinge"],
    );
    assert_refused(&desk, "--loss huber --huber-width 0", &["--huber-width", "above 0"]);
    assert_refused(&desk, "--loss none", &["--loss", "smoothed-hinge"]);
    assert_refused(&desk, "--nonzeros 3", &["--nonzeros does nothing without --generate sparse"]);
    assert_refused(&desk, "--target y", &["--target", "expected a FILE"]);
    assert_refused(&desk, "t.csv --target y --rows 3", &["--rows"]);
    assert_refused(&desk, "t.csv --target y --generate sparse", &["--generate"]);
    assert_refused(&desk, "--features 0", &["--features", "1 to 100000000"]);
    assert_refused(&desk, "--l1 -1", &["--l1", "'-1'"]);
    assert_refused(&desk, "--method mspbe-saga", &["does not suit", "lbfgs"]);
    assert_refused(&desk, "--steps theorem1 --method svrpda1", &["Theorem 1", "mu = 0"]);
    assert_refused(&desk, "--memory 3 --method saga", &["--memory does nothing"]);
}

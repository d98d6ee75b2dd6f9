//! Models applied: to the rows that they come from, and to others.

use super::*;

const LINEAR: &str = "linear rows.csv --model model.json --predictions fitted.csv --l2 1e-3";

/// To the last bit, for every loss, with units of the run and without.
#[test]
fn the_rows_of_a_fit_are_predicted_as_the_fit_does() {
    let desk = desk();
    for (args, names) in [
        ("--target y --except id,class", &["prediction"][..]),
        ("--target y --except id,class --loss huber --no-intercept", &["prediction"]),
        ("--target y --except id,class --no-scaling --max-outer 3", &["prediction"]),
        ("--target class --except id,y --loss logistic", &["prediction", "score", "probability"]),
        ("--target class --except id,y --loss smoothed-hinge", &["prediction", "score"]),
    ] {
        let run = desk.run(&format!("{LINEAR} {args}"));
        assert!(matches!(run.code, Some(0 | 1)), "{args}: {}", run.err);
        let summary = done(&desk, "predict model.json rows.csv --output out.csv");
        assert!(summary.contains("60 rows predicted by model.json"), "{summary}");
        let (fitted, applied) = (columns(&desk, "fitted.csv"), columns(&desk, "out.csv"));
        for name in names {
            assert_eq!(column(&fitted, name), column(&applied, name), "{args}: {name}");
        }
        // As text and as JSON, with names beside them, whatever the order of the columns.
        desk.file("turned.csv", &table(0..60, true));
        let text = done(&desk, "predict model.json turned.csv --id-column id");
        let turned = columns_of(&text);
        assert_eq!(column(&turned, "id")[7], "r7");
        assert_eq!(column(&turned, "line")[7], "9");
        let json = desk.json("predict model.json turned.csv", 0);
        assert_eq!(json["rows"], 60);
        for name in names {
            assert_eq!(column(&fitted, name), column(&turned, name), "{args}: {name}");
            let first = &json["predictions"][*name][0];
            let first = first.as_str().map_or_else(|| number(first).to_string(), str::to_owned);
            assert_eq!(first, column(&fitted, name)[0], "{args}: {name}");
        }
    }
    let solved = desk.json("predict model.json rows.csv", 0);
    assert_eq!(solved["notes"], serde_json::json!([]), "{solved}");
}

/// scikit-learn's `predict_proba` is `1 / (1 + e^-(x coef_ + intercept_))`.
#[test]
fn new_rows_have_the_probabilities_of_the_formula() {
    let desk = desk();
    done(&desk, &format!("{LINEAR} --target class --except id,y --loss logistic"));
    let model: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(desk.path().join("model.json")).expect("a model"))
            .expect("JSON");
    assert_eq!((&model["format"], &model["version"]), (&"innermean-model".into(), &1.into()));
    assert_eq!(model["features"], serde_json::json!(["height", "weight"]));
    assert_eq!(model["classes"], serde_json::json!(["small", "tall"]));
    assert_eq!(model["target"], "class");
    assert_eq!(model["settings"]["loss"], "logistic");
    assert_eq!(model["fit"]["status"], "solved");
    assert!(number(&model["fit"]["certificate"]["gap"]) < 1e-5);
    let coefficients = numbers(&model["coefficients"][0]);
    let intercept = number(&model["intercepts"][0]);
    desk.file("new.csv", "height,weight\n1.61,7003.5\n1.75,7031\n1.9,6999.25\n");
    let answer = desk.json("predict model.json new.csv", 0);
    let found = numbers(&answer["predictions"]["probability"]);
    for (row, p) in [[1.61, 7003.5], [1.75, 7031.0], [1.9, 6999.25]].iter().zip(found) {
        let score = row[0] * coefficients[0] + row[1] * coefficients[1] + intercept;
        let expected = 1.0 / (1.0 + (-score).exp());
        assert!((p - expected).abs() < 1e-12, "{p} {expected}");
    }
}

#[test]
fn sparse_rows_are_predicted_as_their_fit_does() {
    let desk = desk();
    let (mut sparse, mut dense) = (String::new(), String::new());
    for i in 0..80_u32 {
        let label = if i % 3 == 0 { 1 } else { -1 };
        let (a, b) = (i % 40 + 2, i * 7 % 40 + 42);
        let _ = writeln!(sparse, "{label} {a}:{} {b}:1.5", f64::from(i) / 7.0);
        let _ = writeln!(dense, "{label} 1:{} 2:0.25 3:{}", f64::from(i) / 7.0, i % 5);
    }
    for text in [sparse, dense] {
        desk.file("rows.svm", &text);
        let fit = "linear rows.svm --loss logistic --l2 0.01 --model m.json --predictions f.csv";
        done(&desk, fit);
        done(&desk, "predict m.json rows.svm --output out.csv");
        let (fitted, applied) = (columns(&desk, "f.csv"), columns(&desk, "out.csv"));
        for name in ["row", "prediction", "score", "probability"] {
            assert_eq!(column(&fitted, name), column(&applied, name), "{name}");
        }
    }
    // A column that the model does not have.
    desk.file("new.svm", "1 1:2 99:1\n");
    let run = desk.run("predict m.json new.svm");
    assert!(run.code == Some(2) && run.err.contains("x99"), "{}", run.err);
    let run = desk.run("predict m.json new.svm --ignore-extra");
    assert!(run.code == Some(0) && run.err.contains("x99"), "{}", run.err);
}

#[test]
fn rows_in_groups_are_predicted_as_their_fit_does() {
    let desk = desk();
    let mut rows = "bag,a,b,share,s1,s2\n".to_owned();
    for i in 0..90_u32 {
        let share = f64::from(i / 10 + 1) / 11.0;
        let (a, b) = (f64::from(i * 13 % 29) / 29.0 + share, 500.0 + f64::from(i * 5 % 17));
        let _ = writeln!(rows, "g{},{a},{b},{share},{share},{}", i / 10, 1.0 - share);
    }
    desk.file("bags.csv", &rows);
    let fit = "bags bags.csv --group bag --l2 1e-3 --model m.json --predictions f.csv --label";
    for (label, names) in [
        ("share --except s1,s2", &["probability"][..]),
        ("share --except s1,s2 --link identity", &["prediction"]),
        ("share --except s1,s2 --link exp", &["expected_count"]),
        (
            "s1,s2 --except share --link softmax",
            &["class", "probability of s1", "probability of s2"],
        ),
    ] {
        done(&desk, &format!("{fit} {label}"));
        done(&desk, "predict m.json bags.csv --output out.csv");
        let (fitted, applied) = (columns(&desk, "f.csv"), columns(&desk, "out.csv"));
        for name in ["line"].iter().chain(names) {
            assert_eq!(column(&fitted, name), column(&applied, name), "{label}: {name}");
        }
        // Averages of groups.
        let name = names.last().expect("one");
        let of_groups = columns_of(&done(&desk, "predict m.json bags.csv --group bag"));
        assert_eq!(column(&of_groups, "rows"), ["10"; 9]);
        let of_rows: Vec<f64> =
            column(&fitted, name).iter().map(|cell| cell.parse().expect("a number")).collect();
        for (g, mean) in column(&of_groups, &format!("mean {name}")).iter().enumerate() {
            let expected = of_rows[10 * g..10 * (g + 1)].iter().sum::<f64>() / 10.0;
            assert!((mean.parse::<f64>().expect("a number") - expected).abs() < 1e-14);
        }
    }
}

#[test]
fn steps_and_states_are_predicted_as_their_fit_does() {
    let desk = desk();
    let mut steps = "sequence,x,z\n".to_owned();
    let mut corpus = String::new();
    for t in 0..300_u32 {
        let class = t % 3;
        let noise = f64::from(t.wrapping_mul(2_654_435_761) >> 16) / 65_536.0 - 0.5;
        let _ = writeln!(steps, "{},{},{}", t / 30, f64::from(class) + noise / 4.0, noise);
        corpus.push_str(["a ", "b ", "c "][class as usize]);
    }
    desk.file("steps.csv", &steps);
    desk.file("text.txt", &corpus);
    let fit = "sequences steps.csv --corpus text.txt --starts 4 --predictions f.csv";
    done(&desk, &format!("{fit} --all-probabilities --model m.json"));
    done(&desk, "predict m.json steps.csv --output out.csv --all-probabilities");
    let (fitted, applied) = (columns(&desk, "f.csv"), columns(&desk, "out.csv"));
    for name in ["predicted", "probability", "p(a)", "p(b)", "p(c)"] {
        assert_eq!(column(&fitted, name), column(&applied, name), "{name}");
    }
    desk.file("one.csv", "z,x\n0.1,2\n");
    let one = columns_of(&done(&desk, "predict m.json one.csv"));
    assert_eq!(
        one.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["line", "predicted", "probability"]
    );

    desk.file("log.csv", "state,next_state,reward\na,b,0\nb,c,1\nc,,2\na,c,1\n");
    desk.file("features.csv", "state,one,level\na,1,0\nb,1,1\nc,1,3\n");
    for features in ["", "--features features.csv"] {
        let fit = "policy log.csv --discount 0.5 --predictions f.csv --save-model m.json";
        done(&desk, &format!("{fit} {features}"));
        let fitted = columns(&desk, "f.csv");
        let by_name = columns_of(&done(&desk, "predict m.json log.csv"));
        let of = |state: &str| {
            let place = column(&fitted, "state").iter().position(|s| s == state).expect("a state");
            column(&fitted, "value")[place].clone()
        };
        let expected: Vec<String> = ["a", "b", "c", "a"].map(of).to_vec();
        assert_eq!(column(&by_name, "value"), expected);
        desk.file("new.csv", "state\nb\nd\n");
        let run = desk.run("predict m.json new.csv");
        assert_eq!(run.code, Some(2));
        assert!(run.err.contains("new.csv, line 3: state 'd'"), "{}", run.err);
    }
    // Of features, also of states that were never seen.
    let values = columns_of(&done(&desk, "predict m.json features.csv --id-column state"));
    assert_eq!(column(&values, "value"), column(&columns(&desk, "f.csv"), "value"));
    desk.file("new.csv", "level,one\n2,1\n");
    assert_eq!(columns_of(&done(&desk, "predict m.json new.csv"))[1].0, "value");
}

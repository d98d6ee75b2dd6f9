//! Weights of classes, and rows that are predicted without being fitted.

use super::cross_validation::{desk_with_peers, peers};
use super::*;

#[test]
fn class_weights_are_those_of_scikit_learn() {
    let (desk, peers) = (desk_with_peers(), peers());
    let fit = "linear peers.csv --columns x1,x2,x3,x4 --target two --loss logistic --l2 0.01 \
               --tolerance 1e-14 --class-weights";
    for (weights, name) in [("balanced", "balanced"), ("no=1,yes=3", "by_name")] {
        let answer = desk.json(&format!("{fit} {weights}"), 0);
        let peer = &peers["coefficients"][name];
        let mut expected = numbers(&peer["coefficients"][0]);
        expected.extend(numbers(&peer["intercepts"]));
        for (found, expected) in numbers(&answer["theta"]).iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-6, "{name}: {found} {expected}");
        }
    }
    for (args, words) in [
        ("--target two --loss logistic --class-weights no=1", "'yes' has no weight"),
        ("--target two --loss logistic --class-weights no=1,yes=2,maybe=1", "no class 'maybe'"),
        ("--target two --loss logistic --class-weights no=1,yes=0", "above 0"),
        ("--target two --loss logistic --class-weights even", "balanced"),
        ("--target y --class-weights balanced", "--class-weights is for classes"),
    ] {
        let run = desk.run(&format!("linear peers.csv --columns x1,x2,x3,x4 {args}"));
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{args}: {}", run.err);
        assert!(run.err.contains(words), "{args}: expected {words} in {}", run.err);
    }
}

/// Rows of weight 0 and rows without a target are predicted, and the fit is that of the others.
#[test]
fn rows_that_are_not_fitted_are_predicted() {
    let desk = desk_with_peers();
    let text = include_str!("rows.csv");
    let (mut all, mut some) = ("x1,x2,y,two,w\n".to_owned(), "x1,x2,y,two,w\n".to_owned());
    for (i, line) in text.lines().skip(1).enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        let (y, two) = if i % 7 == 3 { ("", "") } else { (cells[4], cells[5]) };
        let weight = if i % 5 == 1 { 0 } else { 1 + i % 2 };
        let line = format!("{},{},{y},{two},{weight}\n", cells[0], cells[1]);
        all.push_str(&line);
        if !y.is_empty() && weight > 0 {
            some.push_str(&line);
        }
    }
    desk.file("all.csv", &all);
    desk.file("some.csv", &some);
    let fitted_rows = some.lines().count() - 1;
    for (args, score) in [
        ("--target y --except two", "prediction"),
        ("--target two --except y --loss logistic", "score"),
    ] {
        let flags = format!("{args} --weight w --l2 0.01 --tolerance 1e-12");
        let whole = desk.json(&format!("linear all.csv {flags} --predictions p.csv"), 0);
        let part = desk.json(&format!("linear some.csv {flags} --model m.json"), 0);
        assert_eq!((&whole["theta"], &whole["n_x"]), (&part["theta"], &fitted_rows.into()));
        assert!(whole["notes"].to_string().contains("without a target: 9"), "{}", whole["notes"]);
        assert!(whole["held_out"]["rows"].as_u64() > Some(5), "{}", whole["held_out"]);
        assert!(part["held_out"].is_null());
        let predicted = columns(&desk, "p.csv");
        assert_eq!(column(&predicted, "row").len(), 60);
        assert_eq!(column(&predicted, "fitted").iter().filter(|f| *f == "1").count(), fitted_rows);
        let applied = columns_of(&done(&desk, "predict m.json all.csv --id-column w"));
        assert_eq!(column(&predicted, score), column(&applied, score), "{args}");
    }
    // Scores of rows held out are those of the formula.
    let whole = desk.json("linear all.csv --target y --except two --weight w --l2 0.01", 0);
    done(&desk, "linear all.csv --target y --except two --weight w --l2 0.01 --predictions p.csv");
    let predicted = columns(&desk, "p.csv");
    let mut errors = Vec::new();
    for (i, line) in all.lines().skip(1).enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        if cells[4] == "0" && !cells[2].is_empty() {
            let p: f64 = column(&predicted, "prediction")[i].parse().expect("a number");
            errors.push((p - cells[2].parse::<f64>().expect("a number")).abs());
        }
    }
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    assert!((number(&whole["held_out"]["mean_absolute_error"]) - mean).abs() < 1e-12);
    desk.file("none.csv", "a,y\n1,\n2,\n");
    let run = desk.run("linear none.csv --target y");
    assert!(run.code == Some(2) && run.err.contains("no row has a target"), "{}", run.err);
}

/// More than two classes: scikit-learn's multinomial model.
#[test]
fn several_classes_are_those_of_scikit_learn() {
    let (desk, peers) = (desk_with_peers(), peers());
    let data = "linear peers.csv --columns x1,x2,x3,x4 --target three --loss logistic";
    let fit = format!("{data} --l2 0.02 --tolerance 1e-12 --model m.json --predictions p.csv");
    let answer = desk.json(&fit, 0);
    let peer = &peers["coefficients"]["three"];
    assert_eq!(answer["class_names"], peer["classes"]);
    let rows = peer["coefficients"].as_array().expect("rows");
    let mut expected: Vec<f64> = rows.iter().flat_map(numbers).collect();
    expected.extend(numbers(&peer["intercepts"]));
    let found = numbers(&answer["theta"]);
    assert_eq!((found.len(), &answer["names"][0]), (15, &"a: x1".into()));
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
    let (fitted, applied) = (columns(&desk, "p.csv"), {
        done(&desk, "predict m.json peers.csv --output out.csv");
        columns(&desk, "out.csv")
    });
    for (c, class) in ["a", "b", "c"].iter().enumerate() {
        let name = format!("probability of {class}");
        assert_eq!(column(&fitted, &name), column(&applied, &name));
        for (i, row) in peer["probabilities"].as_array().expect("rows").iter().enumerate() {
            let p: f64 = column(&applied, &name)[i].parse().expect("a number");
            assert!((p - number(&row[c])).abs() < 1e-6);
        }
    }
    assert_eq!(column(&fitted, "prediction"), column(&applied, "prediction"));
    // Cross-validation, weights and other losses.
    let table =
        desk.json(&format!("{data} --fold-column fold --l2 0.3,0.1,0.01 --tolerance 1e-12"), 0);
    let rows = table["cross_validation"]["rows"].as_array().expect("rows");
    for (row, peer) in rows.iter().zip(peers["three log-loss"].as_array().expect("rows")) {
        assert!((number(&row["mean"]) + number(&peer["mean"])).abs() < 1e-6, "{row} {peer}");
    }
    let balanced = desk.json(&format!("{data} --l2 0.02 --class-weights balanced"), 0);
    assert_ne!(balanced["theta"], answer["theta"]);
    let text = done(&desk, &format!("{data} --l2 0.02"));
    assert!(text.contains("3 classes: a, b, c") && text.contains("intercepts"), "{text}");
}

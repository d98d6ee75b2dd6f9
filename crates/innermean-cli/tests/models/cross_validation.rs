//! Cross-validation against scikit-learn's, and its rules.

use serde_json::Value;

use super::*;

pub(super) fn peers() -> Value {
    serde_json::from_str(include_str!("peers.json")).expect("JSON")
}

pub(super) fn desk_with_peers() -> Desk {
    let desk = Desk::at("");
    desk.file("peers.csv", include_str!("rows.csv"));
    desk
}

/// `cross_val_score` with the folds of the column, for the same weights.
#[test]
fn the_table_is_that_of_scikit_learn() {
    let (desk, peers) = (desk_with_peers(), peers());
    let table = "linear peers.csv --columns x1,x2,x3,x4 --fold-column fold --tolerance 1e-14";
    for (name, args, sign) in [
        ("ridge mse", "--target y --l2 0.3,0.1,0.01", -1.0),
        ("ridge r2", "--target y --l2 0.3,0.1,0.01 --score r2", 1.0),
        ("lasso mae", "--target y --l1 0.3,0.1,0.01 --score mae", -1.0),
        ("logistic log-loss", "--target two --loss logistic --l2 0.3,0.1,0.01", -1.0),
        (
            "logistic accuracy",
            "--target two --loss logistic --l2 0.3,0.1,0.01 --score accuracy",
            1.0,
        ),
    ] {
        let answer = desk.json(&format!("{table} {args}"), 0);
        let found = &answer["cross_validation"];
        assert_eq!(found["folds"], 5, "{name}");
        let rows = found["rows"].as_array().expect("rows");
        let mut means = Vec::new();
        for (row, peer) in rows.iter().zip(peers[name].as_array().expect("scores")) {
            let (mean, error) = (number(&row["mean"]), number(&row["standard_error"]));
            assert!((sign * number(&peer["mean"]) - mean).abs() < 1e-6, "{name}: {row} {peer}");
            assert!((number(&peer["standard_error"]) - error).abs() < 1e-6, "{name}: {row}");
            means.push(sign * mean);
        }
        assert_eq!(means.len(), 3);
        // The best is fitted again, to all rows.
        let best = found["best"].as_u64().expect("a row") as usize;
        assert!(means.iter().all(|mean| *mean <= means[best]), "{name}: {found}");
        let weight = if name.starts_with("lasso") { "l1" } else { "l2" };
        let chosen = number(&rows[best][weight]);
        assert_eq!(number(&answer["settings"][weight]), chosen, "{name}");
        let args = args.replace("0.3,0.1,0.01", &chosen.to_string());
        let args = args.replace("--score r2", "").replace("--score mae", "");
        let args = args.replace("--score accuracy", "");
        let single = "linear peers.csv --columns x1,x2,x3,x4 --tolerance 1e-14";
        assert_eq!(desk.json(&format!("{single} {args}"), 0)["theta"], answer["theta"], "{name}");
    }
}

#[test]
fn paths_folds_and_choices() {
    let desk = desk_with_peers();
    let data = "linear peers.csv --columns x1,x2,x3,x4 --target y";
    let lasso = format!("{data} --cv 4 --path 8 --path-of l1");
    let answer = desk.json(&lasso, 0);
    let found = &answer["cross_validation"];
    let rows = found["rows"].as_array().expect("rows");
    assert_eq!((rows.len(), &found["folds"]), (8, &4.into()));
    // The first weight leaves no coefficient, the last one nearly all.
    assert!(number(&rows[0]["nonzeros"]) < 1.0, "{}", rows[0]);
    assert!(number(&rows[7]["nonzeros"]) > 3.0, "{}", rows[7]);
    assert!((number(&rows[0]["l1"]) / number(&rows[7]["l1"]) - 1000.0).abs() < 1e-6);
    let zero = number(&rows[0]["l1"]);
    let at = desk.json(&format!("{data} --l1 {} --tolerance 1e-12", 1.0001 * zero), 0);
    assert_eq!(at["zeros"], 4);
    let below = desk.json(&format!("{data} --l1 {} --tolerance 1e-12", 0.98 * zero), 0);
    assert_eq!(below["zeros"], 3);
    // The same seed gives the same folds, on any number of threads, and another one others.
    let again = desk.json(&format!("{lasso} --threads 1"), 0);
    assert_eq!(again["cross_validation"], answer["cross_validation"]);
    let other = desk.json(&format!("{lasso} --seed 3"), 0);
    assert_ne!(other["cross_validation"]["rows"], found["rows"]);
    // Within a standard error of the best: a stronger penalty.
    let (best, within) = (found["best"].as_u64(), found["one_standard_error"].as_u64());
    assert!(within < best, "{found}");
    let cautious = desk.json(&format!("{lasso} --one-standard-error"), 0);
    let place = within.expect("a row") as usize;
    assert_eq!(cautious["settings"]["l1"], rows[place]["l1"]);
    // For people: the table, and what was chosen.
    let text = done(&desk, &format!("{data} --cv 5"));
    for words in ["5-fold cross-validation", "mean squared error", "nonzeros", "best", "held out"] {
        assert!(text.contains(words), "{words} in {text}");
    }
}

/// A group is held out as a whole, and scored by its label.
#[test]
fn groups_stay_together() {
    let desk = Desk::at("");
    let data = "bags --groups 60 --rows 5..9 --features 4";
    let answer = desk.json(&format!("{data} --cv 5 --l2 1,0.01,0.0001"), 0);
    let rows = answer["cross_validation"]["rows"].as_array().expect("rows").clone();
    assert_eq!(answer["cross_validation"]["score"], "log-loss");
    assert!(number(&rows[2]["mean"]) < number(&rows[0]["mean"]), "{rows:?}");
    // By hand: fitted without a fold, the averages of its groups.
    let mut text = "bag,a,y,part\n".to_owned();
    for i in 0..24_u32 {
        let (bag, a) = (i / 4, f64::from(i * 7 % 11));
        let _ = writeln!(text, "g{bag},{a},{},p{}", f64::from(bag * bag % 5), bag % 2);
    }
    desk.file("bags.csv", &text);
    let fit = "bags bags.csv --group bag --label y --link identity --tolerance 1e-13";
    let both = desk.json(&format!("{fit} --l2 0.1 --fold-column part"), 0);
    let scores = numbers(&both["cross_validation"]["rows"][0]["scores"]);
    for (fold, score) in scores.iter().enumerate() {
        let part = |inside: bool| {
            let own = |line: &&str| line.ends_with(&format!("p{fold}")) == inside;
            let lines: Vec<&str> = text.lines().skip(1).filter(own).collect();
            format!("bag,a,y,part\n{}\n", lines.join("\n"))
        };
        desk.file("others.csv", &part(false));
        desk.file("own.csv", &part(true));
        let others = fit.replace("bags.csv", "others.csv");
        done(&desk, &format!("{others} --l2 0.1 --except part --model m.json"));
        let means = columns_of(&done(&desk, "predict m.json own.csv --group bag"));
        let labels = [[0.0, 4.0, 1.0], [1.0, 4.0, 0.0]][fold];
        let square = |(mean, label): (&String, &f64)| {
            (mean.parse::<f64>().expect("a number") - label).powi(2)
        };
        let expected =
            column(&means, "mean prediction").iter().zip(&labels).map(square).sum::<f64>() / 3.0;
        assert!((score - expected).abs() < 1e-6, "{fold}: {score} {expected}");
    }
    desk.file("torn.csv", &text.replacen("p0", "p1", 1));
    let run = desk.run(&format!("{} --fold-column part", fit.replace("bags.csv", "torn.csv")));
    assert!(run.code == Some(2) && run.err.contains("group 'g0'"), "{}", run.err);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let desk = desk_with_peers();
    let data = "linear peers.csv --columns x1,x2,x3,x4 --target y";
    for (args, words) in [
        ("--l2 0.1,0.2", "--cv"),
        ("--score mae", "--cv"),
        ("--path 5", "--cv"),
        ("--cv 1", "2 or above"),
        ("--cv 61", "from 2 to 60"),
        ("--cv 5 --score accuracy", "mse, mae, r2"),
        ("--cv 5 --path 5 --l2 0.1", "--path"),
        ("--cv 5 --path 5 --l1 0.1,0.2", "one norm"),
        ("--cv 5 --path 5 --path-ratio 2", "below 1"),
        ("--cv 5 --fold-column fold", "--fold-column"),
        ("--fold-column none", "none"),
        ("--l2 0.1,x --cv 5", "0 or above"),
    ] {
        let run = desk.run(&format!("{data} {args}"));
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{args}: {}", run.err);
        assert!(run.err.contains(words), "{args}: expected {words} in {}", run.err);
    }
    desk.file("one.csv", "a,y,f\n1,u,p\n2,u,p\n3,v,q\n4,v,q\n");
    let run = desk.run("linear one.csv --target y --loss logistic --fold-column f --l2 1");
    assert!(run.code == Some(2) && run.err.contains("one class"), "{}", run.err);
}

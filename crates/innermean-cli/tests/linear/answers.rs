//! Answers against formulas, and one kind of file against another.

use super::*;

const TABLE: &str = "rows.csv --except id,class --target y";
const CLASSES: &str = "rows.csv --except id,y --target class";

fn desk_with_rows() -> (Desk, Vec<Vec<f64>>, Vec<f64>) {
    let desk = desk();
    let (rows, targets) = rows();
    desk.file("rows.csv", &csv(&rows, &targets));
    (desk, rows, targets)
}

fn labels(targets: &[f64]) -> Vec<f64> {
    targets.iter().map(|t| t.signum()).collect()
}

/// Least squares by the normal equations of centred columns.
#[test]
fn least_squares_is_that_of_the_normal_equations() {
    let (desk, rows, targets) = desk_with_rows();
    let answer = desk.json(&format!("{TABLE} --tolerance 1e-12"), 0);
    let theta = numbers(&answer["theta"]);
    assert_eq!(answer["names"], serde_json::json!(["age", "year", "dose", "(intercept)"]));
    // At the optimum every column, and the ones, are at right angles to the errors.
    let error = |i: usize| {
        rows[i].iter().zip(&theta).map(|(x, t)| x * t).sum::<f64>() + theta[3] - targets[i]
    };
    for l in 0..4 {
        let column = |i: usize| rows[i].get(l).copied().unwrap_or(1.0);
        let (product, size) = (0..120).fold((0.0, 0.0), |(product, size), i| {
            (product + column(i) * error(i), size + (column(i) * error(i)).abs())
        });
        assert!(product.abs() < 1e-7 * size, "column {l}: {product}");
    }
    assert!(
        (theta[0] - 2.0).abs() < 0.4
            && (theta[1] - 0.01).abs() < 1e-3
            && (theta[2] + 800.0).abs() < 200.0
    );
    assert_eq!(number(&answer["intercept"]), theta[3]);
    assert!(number(&answer["r_squared"]) > 0.9);
    let square = |u: f64, t: f64| (u - t).powi(2) / 2.0;
    let expected = objective(&rows, &targets, &theta, square, 0.0, 0.0);
    assert!((number(&answer["objective"]) - expected).abs() < 1e-10);
}

/// File and target, loss, and its formula.
type Case<'a> = (&'a str, &'a str, &'a dyn Fn(f64, f64) -> f64);

/// The objective that is printed is the formula's at the coefficients that are printed, in the
/// units of the file; no point around is better.
#[test]
fn every_loss_and_penalty_is_at_a_minimum_of_its_formula() {
    let (desk, rows, targets) = desk_with_rows();
    let h = 0.7;
    let huber = |u: f64, t: f64| {
        let e = (u - t).abs();
        if e <= h { e * e / 2.0 } else { h * (e - h / 2.0) }
    };
    let smoothed = |u: f64, y: f64| {
        let short = 1.0 - y * u;
        if short <= 0.0 {
            0.0
        } else if short <= h {
            short * short / (2.0 * h)
        } else {
            short - h / 2.0
        }
    };
    let cases: [Case<'_>; 5] = [
        (TABLE, "--loss square", &|u, t| (u - t).powi(2) / 2.0),
        (TABLE, "--loss huber --huber-width 0.7", &huber),
        (CLASSES, "--loss logistic", &|u, y| (-y * u).exp().ln_1p()),
        (CLASSES, "--loss squared-hinge", &|u, y| (1.0 - y * u).max(0.0).powi(2)),
        (CLASSES, "--loss smoothed-hinge --hinge-width 0.7", &smoothed),
    ];
    for (file, loss, formula) in cases {
        let targets = if file == TABLE { targets.clone() } else { labels(&targets) };
        for (l1, l2) in [(0.0, 1e-4), (1e-3, 0.0), (1e-3, 1e-3)] {
            for intercept in ["", "--no-intercept"] {
                let args =
                    format!("{file} {loss} --l1 {l1} --l2 {l2} {intercept} --tolerance 1e-10");
                let answer = desk.json(&args, 0);
                let theta = numbers(&answer["theta"]);
                assert_eq!(theta.len(), if intercept.is_empty() { 4 } else { 3 });
                let at = |theta: &[f64]| objective(&rows, &targets, theta, formula, l1, l2);
                let least = at(&theta);
                assert!(
                    (number(&answer["objective"]) - least).abs() < 1e-9 * (1.0 + least),
                    "{args}"
                );
                for l in 0..theta.len() {
                    // Steps that move scores by about 1e-3 and 1e-2.
                    let unit = 1e-3 / [0.3, 2000.0, 6e-4, 1.0][l];
                    for step in [-10.0, -1.0, 1.0, 10.0] {
                        let mut near = theta.clone();
                        near[l] += step * unit;
                        assert!(at(&near) >= least - 1e-12, "{args}: coordinate {l}, {step}");
                    }
                }
            }
        }
    }
}

#[test]
fn scaling_changes_the_speed_and_not_the_answer() {
    let (desk, rows, targets) = desk_with_rows();
    let scaled = desk.json(&format!("{CLASSES} --loss logistic --l2 1e-3 --tolerance 1e-9"), 0);
    assert!(scaled["notes"].to_string().contains("one scale"));
    let at = |answer: &Value| {
        objective(
            &rows,
            &labels(&targets),
            &numbers(&answer["theta"]),
            |u, y| (-y * u).exp().ln_1p(),
            0.0,
            1e-3,
        )
    };
    // As they are, a run ends at its limit and says so.
    let crawling = desk.json(
        &format!(
            "{CLASSES} --loss logistic --l2 1e-3 --tolerance 1e-9 --no-scaling --method apg --max-outer 300"
        ),
        1,
    );
    assert_eq!(crawling["status"], "max_outer");
    assert!(at(&scaled) < at(&crawling));
    // An answer is a start, also where units are changed on the way.
    desk.file("answer.json", &scaled.to_string());
    let again = desk.json(
        &format!("{CLASSES} --loss logistic --l2 1e-3 --tolerance 1e-8 --start answer.json"),
        0,
    );
    assert_eq!(again["outer"], 0);
    assert!((number(&again["objective"]) - number(&scaled["objective"])).abs() < 1e-14);
}

#[test]
fn sparse_rows_and_tables_give_the_same_answer() {
    let (desk, rows, targets) = desk_with_rows();
    desk.file("rows.svm", &libsvm(&rows, &targets, true));
    desk.file("rows.txt", &libsvm(&rows, &targets, true));
    desk.file("rows.data", &libsvm(&rows, &targets, true));
    let flags = "--loss logistic --l1 1e-3 --l2 1e-3 --tolerance 1e-10";
    let table = desk.json(&format!("{CLASSES} {flags}"), 0);
    for file in ["rows.svm", "rows.txt", "rows.data --format libsvm"] {
        let sparse = desk.json(&format!("{file} {flags}"), 0);
        assert!(
            (number(&sparse["objective"]) - number(&table["objective"])).abs() < 1e-12,
            "{file}"
        );
        assert_eq!(sparse["names"][0], "x1");
        assert_eq!(sparse["classes"], serde_json::json!({"negative": "1", "positive": "2"}));
    }
    // Numbers as targets.
    desk.file("numbers.svm", &libsvm(&rows, &targets, false));
    let sparse = desk.json("numbers.svm --l2 1e-3 --tolerance 1e-10", 0);
    let table = desk.json(&format!("{TABLE} --l2 1e-3 --tolerance 1e-10"), 0);
    assert!((number(&sparse["objective"]) - number(&table["objective"])).abs() < 1e-11);
}

/// Rows with nothing in them count, and features that are never there keep a coefficient of zero.
#[test]
fn empty_rows_and_absent_features() {
    let desk = desk();
    let text = "1 2:1.5\n-1\n1 2:2 9:1 # a remark\n\n-1 2:-1\n-1 9:-0.5\n1\n-1 2:-2 9:1\n";
    desk.file("rows.svm", text);
    let answer = desk.json("rows.svm --loss logistic --l2 0.1 --tolerance 1e-10", 0);
    assert_eq!((answer["n_x"].as_u64(), answer["d"].as_u64()), (Some(7), Some(10)));
    assert!(answer["notes"].to_string().contains("zero in every row: 7 of 9"));
    let theta = numbers(&answer["theta"]);
    let rows: Vec<Vec<f64>> =
        [[1.5, 0.0], [0.0, 0.0], [2.0, 1.0], [-1.0, 0.0], [0.0, -0.5], [0.0, 0.0], [-2.0, 1.0]]
            .iter()
            .map(|row| row.to_vec())
            .collect();
    let labels = [1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0];
    assert_eq!(theta.iter().filter(|t| **t == 0.0).count(), 7);
    let expected = objective(
        &rows,
        &labels,
        &[theta[1], theta[8], theta[9]],
        |u, y| (-y * u).exp().ln_1p(),
        0.0,
        0.1,
    );
    assert!((number(&answer["objective"]) - expected).abs() < 1e-12);
    // An index 0 moves all of them, and is told.
    desk.file("zero.svm", "1 0:1\n-1 1:1\n1 0:2 1:-1\n");
    let answer = desk.json("zero.svm --loss logistic --l2 0.1", 0);
    assert!(answer["notes"].to_string().contains("count from 0"), "{answer}");
    assert_eq!(answer["d"], 3);
}

/// A large sparse problem by steps that leave coordinates for later.
#[test]
fn generated_sparse_rows_by_several_methods() {
    let desk = desk();
    let args = "--generate sparse --rows 2000 --features 5000 --nonzeros 5 --loss logistic --l1 1e-3 --l2 1e-3 --tolerance 1e-11";
    let answers: Vec<Value> = ["lbfgs", "saga", "svrpda1", "spdc"]
        .map(|method| desk.json(&format!("{args} --method {method}"), 0))
        .into();
    for answer in &answers {
        assert!(
            (number(&answer["objective"]) - number(&answers[0]["objective"])).abs() < 1e-10,
            "{answer}"
        );
        assert_eq!(answer["zeros"], answers[0]["zeros"]);
        assert!(answer["generated"].as_bool() == Some(true));
    }
    assert!(answers[0]["zeros"].as_u64() > Some(1000));
    // The same seed of the data gives the same problem, whatever the seed of the run.
    let other = desk.json(&format!("{args} --method saga --seed 5"), 0);
    assert!((number(&other["objective"]) - number(&answers[0]["objective"])).abs() < 1e-10);
    let other = desk.json(&format!("{args} --data-seed 2"), 0);
    assert_ne!(other["objective"], answers[0]["objective"]);
}

#[test]
fn predictions_are_written() {
    let (desk, rows, targets) = desk_with_rows();
    let answer =
        desk.json(&format!("{CLASSES} --loss logistic --l2 1e-3 --predictions out.csv"), 0);
    let theta = numbers(&answer["theta"]);
    let text = fs::read_to_string(desk.path().join("out.csv")).expect("predictions");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("row,target,prediction,score,probability"));
    let mut right = 0;
    for (i, line) in lines.enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        let score = rows[i].iter().zip(&theta).map(|(x, t)| x * t).sum::<f64>() + theta[3];
        let read = |k: usize| cells[k].parse::<f64>().expect("a number");
        assert_eq!(cells[0], (i + 1).to_string());
        assert_eq!(cells[1], if targets[i] > 0.0 { "yes" } else { "no" });
        assert_eq!(cells[2], if score > 0.0 { "yes" } else { "no" });
        assert!((read(3) - score).abs() < 1e-9 * (1.0 + score.abs()));
        assert!((read(4) - 1.0 / (1.0 + (-score).exp())).abs() < 1e-9);
        right += usize::from(cells[1] == cells[2]);
    }
    assert!((number(&answer["accuracy"]) - right as f64 / 120.0).abs() < 1e-12);
    desk.json(&format!("{TABLE} --predictions out.tsv"), 0);
    let text = fs::read_to_string(desk.path().join("out.tsv")).expect("predictions");
    assert!(text.starts_with("row\ttarget\tprediction\n") && text.lines().count() == 121);
}

/// A weight of 2 is a row twice, and a weight of 0 none.
#[test]
fn weights_stand_for_rows() {
    let (desk, rows, targets) = desk_with_rows();
    let (mut weighted, mut repeated) = ("a,b,c,y,w\n".to_owned(), "a,b,c,y\n".to_owned());
    for (i, (row, t)) in rows.iter().zip(&targets).enumerate() {
        let cells = format!("{},{},{},{t}", row[0], row[1], row[2]);
        let _ = writeln!(weighted, "{cells},{}", i % 3);
        for _ in 0..i % 3 {
            let _ = writeln!(repeated, "{cells}");
        }
    }
    desk.file("weighted.csv", &weighted);
    desk.file("repeated.csv", &repeated);
    let a = desk.json("weighted.csv --target y --weight w --l2 1e-3 --tolerance 1e-11", 0);
    let b = desk.json("repeated.csv --target y --l2 1e-3 --tolerance 1e-11", 0);
    assert!(a["notes"].to_string().contains("weight is 0: 40"), "{}", a["notes"]);
    for key in ["objective", "r_squared", "root_mean_square_error", "intercept"] {
        let (a, b) = (number(&a[key]), number(&b[key]));
        assert!((a - b).abs() < 1e-7 * (1.0 + b.abs()), "{key}: {a} {b}");
    }
}

#[test]
fn a_constant_target_and_constant_columns_have_an_answer() {
    let desk = desk();
    desk.file("rows.csv", "a,b,y\n1,7,3\n2,7,3\n4,7,3\n-1,7,3\n");
    let answer = desk.json("rows.csv --target y", 0);
    assert!((number(&answer["intercept"]) - 3.0).abs() < 1e-5 && answer["r_squared"].is_null());
    let run = desk.run("rows.csv --target y --loss huber");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(
        run.out.contains("all targets are the same") && run.out.contains("--huber-width"),
        "{}",
        run.out
    );
}

/// Classes that a plane keeps apart have no best coefficients without a penalty: a truthful end,
/// and a word.
#[test]
fn separated_classes_are_warned_about() {
    let desk = desk();
    desk.file("rows.csv", "a,y\n1,u\n2,u\n3,v\n4,v\n");
    let run = desk.run("rows.csv --target y --loss logistic --max-outer 200");
    assert!(run.out.contains("warning") && run.out.contains("--l2"), "{}", run.out);
    assert!(run.out.contains("speaks for 'v'"), "{}", run.out);
    let answer = desk.json("rows.csv --target y --loss logistic --l2 0.1", 0);
    assert!(answer["warning"].is_null());
}

#[test]
fn without_an_intercept_a_ridge_is_strongly_convex() {
    let desk = desk();
    let (rows, targets) = rows();
    desk.file("t.csv", &csv(&rows, &targets));
    // As they are, and brought to one scale.
    for data in ["--rows 200 --features 3", "t.csv --target y --except id,class"] {
        let args = format!("{data} --l2 0.1 --method svrpda1 --steps theorem1");
        desk.assert_refused(&args, &["mu = 0"]);
        let run = desk.run(&format!("{args} --no-intercept --max-seconds 0.05"));
        assert!(
            matches!(run.code, Some(0 | 1)) && run.err.is_empty(),
            "{args}: {}{}",
            run.out,
            run.err
        );
    }
}

#[test]
fn whoever_asks_for_generated_rows_is_not_told_that_there_is_no_file() {
    let desk = desk();
    let unasked = desk.run("--rows 50 --features 2").out;
    assert!(unasked.contains("(no FILE was given)"), "{unasked}");
    for kind in ["dense", "sparse"] {
        let asked = desk.run(&format!("--rows 50 --features 2 --generate {kind} --l2 0.1")).out;
        assert!(asked.contains("generated: ") && !asked.contains("no FILE"), "{asked}");
    }
}

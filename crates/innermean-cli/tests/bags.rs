//! Drives `innermean bags` as a user would.

use std::fmt::Write as _;
use std::fs;

use crate::desk::{Desk, number, numbers};
use innermean_data::{GroupOptions, RowLabels, generate_groups};
use serde_json::Value;

/// Rows of 60 groups of 1 to 30 rows with row labels, and a table of their proportions, sorted
/// otherwise.
fn files(desk: &Desk) {
    let drawn = generate_groups(&GroupOptions {
        groups: 60,
        rows: (1, 30),
        features: 3,
        labels: RowLabels::Binary,
        seed: 2,
    });
    let mut rows = "bag,a,b,c,share,truth\n".to_owned();
    let last = drawn.groups.len();
    // Rows of a group need not stand together.
    for r in (0..last).step_by(2).chain((1..last).step_by(2)) {
        let (x, group) = (&drawn.rows[3 * r..3 * r + 3], drawn.groups[r]);
        let share = drawn.group_labels[group as usize];
        let _ =
            writeln!(rows, "p{group},{},{},{},{share},{}", x[0], x[1], x[2], drawn.row_labels[r]);
    }
    let mut labels = "bag;share\n".to_owned();
    for group in (0..60).rev() {
        let _ = writeln!(labels, "p{group};{}", drawn.group_labels[group]);
    }
    desk.file("rows.csv", &rows);
    desk.file("labels.csv", &labels);
}

#[test]
fn one_table_and_two_say_the_same() {
    let desk = Desk::at("bags");
    files(&desk);
    let one = desk.json("rows.csv --group bag --label share --row-label truth", 0);
    let two =
        desk.json("rows.csv --group bag --labels labels.csv --row-label truth --except share", 0);
    assert_eq!(numbers(&one["theta"]), numbers(&two["theta"]));
    assert_eq!(one["names"], serde_json::json!(["a", "b", "c", "(intercept)"]));
    assert_eq!(one["status"], "solved");
    assert!(number(&one["row_scores"]["auc"]) > 0.75);
    let fit = &one["group_fit"];
    assert!(number(&fit["log_loss"]) > number(&fit["log_loss_floor"]));
    assert!((number(&fit["log_loss"]) - number(&one["objective"])).abs() < 1e-12);
    // The answer is a start, and steps of another kind stay there.
    desk.file("answer.json", &one.to_string());
    let again = desk.json(
        "rows.csv --group bag --label share --except truth --start answer.json --method svrpda1",
        0,
    );
    for (a, b) in numbers(&one["theta"]).iter().zip(numbers(&again["theta"])) {
        assert!((a - b).abs() < 1e-3, "{a} {b}");
    }
}

#[test]
fn labels_of_rows_change_scores_alone() {
    let desk = Desk::at("bags");
    files(&desk);
    let text = fs::read_to_string(desk.path().join("rows.csv")).expect("the rows");
    let flipped: String = text
        .lines()
        .map(|line| match line.rsplit_once(',') {
            Some((rest, "0")) => format!("{rest},1\n"),
            Some((rest, "1")) => format!("{rest},0\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    desk.file("flipped.csv", &flipped);
    let right = desk.json("rows.csv --group bag --label share --row-label truth", 0);
    let wrong = desk.json("flipped.csv --group bag --label share --row-label truth", 0);
    assert_eq!(right["theta"], wrong["theta"]);
    let auc = |answer: &Value| number(&answer["row_scores"]["auc"]);
    assert!((auc(&right) + auc(&wrong) - 1.0).abs() < 1e-12);
    let without = desk.json("rows.csv --group bag --label share --except truth", 0);
    assert_eq!(without["theta"], right["theta"]);
    assert!(without["row_scores"].is_null());
}

#[test]
fn every_link_has_an_answer_and_predictions() {
    let desk = Desk::at("bags");
    for (link, column) in [
        ("logistic", "probability"),
        ("identity", "prediction"),
        ("exp", "expected_count"),
        ("softmax", "class"),
    ] {
        let args =
            format!("--groups 80 --rows 1..30 --features 3 --link {link} --predictions out.csv");
        let run = desk.run(&args);
        assert_eq!(run.code, Some(0), "{link}: {}{}", run.out, run.err);
        assert!(
            run.out.contains("fit of groups") && run.out.contains("worst groups"),
            "{}",
            run.out
        );
        let written = fs::read_to_string(desk.path().join("out.csv")).expect("predictions");
        let header = written.lines().next().expect("a header");
        assert!(header.starts_with(&format!("row,group,{column}")), "{header}");
        let answer = desk.json(&args, 0);
        assert_eq!(written.lines().count() - 1, number(&answer["rows"]) as usize);
        // The average of a group's predictions is what is fitted to it.
        if link == "logistic" {
            let worst = &answer["worst_groups"][0];
            let own: Vec<f64> = written
                .lines()
                .filter(|line| line.split(',').nth(1) == worst["group"].as_str())
                .map(|line| line.split(',').nth(2).expect("a number").parse().expect("a number"))
                .collect();
            let mean = own.iter().sum::<f64>() / own.len() as f64;
            assert!((mean - number(&worst["fitted"])).abs() < 1e-9);
        }
    }
    // The same groups, whatever the seed of the run; others with another --data-seed.
    let source = |args: &str| {
        desk.json(&format!("--groups 30 --rows 5 --features 2 {args}"), 0)["objective"].clone()
    };
    assert_eq!(source("--seed 4"), source("--seed 5"));
    assert_ne!(source("--data-seed 4"), source("--data-seed 5"));
}

#[test]
fn groups_of_one_row_and_proportions_of_zero_and_one() {
    let desk = Desk::at("bags");
    // With single rows it is logistic regression: by symmetry theta = 0, and by counting the
    // intercept is log(3).
    desk.file(
        "single.csv",
        "group,x,label\nr1,1,1\nr2,-1,1\nr3,1,1\nr4,-1,1\nr5,1,1\nr6,-1,1\nr7,1,0\nr8,-1,0\n",
    );
    let answer = desk.json("single.csv --tolerance 1e-9", 0);
    let theta = numbers(&answer["theta"]);
    assert!(theta[0].abs() < 1e-6 && (theta[1] - 3f64.ln()).abs() < 1e-6, "{theta:?}");
    // One group alone: its proportion is met exactly.
    desk.file("one.csv", "group,x,label\ng,1,0.25\ng,2,0.25\ng,4,0.25\n");
    let answer = desk.json("one.csv --l2 0.01", 0);
    assert!(number(&answer["group_fit"]["mean_absolute_error"]) < 1e-5);
    assert_eq!(number(&answer["settings"]["l2"]), 0.01);
}

/// Groups of one class each that a line parts: no finite coefficients are best, and the report says
/// so, unless a norm holds them or the line cannot part the rows.
#[test]
fn classes_that_a_line_parts_are_named() {
    let desk = Desk::at("bags");
    let apart = "group,x,label\na,-2,0\na,-1,0\nb,1,1\nb,3,1\nc,2,1\n";
    desk.file("apart.csv", apart);
    desk.file("mixed.csv", &apart.replace("b,3,1", "b,-3,1"));
    let warning = |args: &str| {
        let answer = desk.command(&format!("{args} --json")).output().expect("it runs");
        let answer: Value = serde_json::from_slice(&answer.stdout).expect("JSON");
        answer["warning"].as_str().map(str::to_owned)
    };
    for args in ["apart.csv", "apart.csv --loss square --no-intercept"] {
        let said = warning(args).unwrap_or_else(|| panic!("{args}: no warning"));
        assert!(said.contains("nothing holds the coefficients") && said.contains("--l2"), "{said}");
    }
    let shown = desk.run("apart.csv");
    assert!(shown.out.contains("Every row is classified correctly"), "{}", shown.out);
    for args in ["apart.csv --l2 1e-4", "apart.csv --l1 1e-4", "mixed.csv --l2 1e-4"] {
        assert_eq!(warning(args), None, "{args}");
    }
    // No line parts these, and the loss is least where all predictions are 0 or 1.
    let said = warning("mixed.csv").expect("a warning");
    assert!(said.contains("twice as large"), "{said}");
}

#[test]
fn groups_on_one_side_alone_are_left_out_and_named() {
    let desk = Desk::at("bags");
    desk.file("rows.csv", "group,x\na,1\na,2\nb,0\nb,3\nc,9\nc,8\nd,0.5\n");
    desk.file("labels.csv", "group,label\na,0.5\nb,0.2\nd,0.1\ne,0.3\n");
    let run = desk.run("rows.csv --labels labels.csv --l2 0.1 --predictions p.csv");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.starts_with("5 rows of 1 feature in 3 groups"), "{}", run.out);
    assert!(
        run.out.contains("Groups without a label: 1, such as 'c'. Their 2 rows"),
        "{}",
        run.out
    );
    assert!(
        run.out.contains("Labels of groups without rows left out: 1, such as 'e'."),
        "{}",
        run.out
    );
    let written = fs::read_to_string(desk.path().join("p.csv")).expect("predictions");
    assert_eq!(written.lines().filter(|line| line.contains(",c,")).count(), 2);
}

#[test]
fn labels_that_stand_in_the_rows_too_are_no_features() {
    let desk = Desk::at("bags");
    files(&desk);
    let without = desk.json("rows.csv --group bag --labels labels.csv --except share,truth", 0);
    let with = desk.json("rows.csv --group bag --labels labels.csv --row-label truth", 0);
    assert_eq!(with["names"], serde_json::json!(["a", "b", "c", "(intercept)"]));
    assert_eq!(with["theta"], without["theta"]);
    assert!(with["notes"].to_string().contains("no features: 'share'"), "{}", with["notes"]);
    assert!(!without["notes"].to_string().contains("share"), "{}", without["notes"]);
    // Whatever is there.
    desk.file("few.csv", "group,x,Label\na,1,\na,2,high\nb,0,\nb,3,0.1\n");
    desk.file("label.csv", "group,label\na,0.5\nb,0.2\n");
    let answer = desk.json("few.csv --labels label.csv --l2 0.1", 0);
    assert_eq!(answer["names"], serde_json::json!(["x", "(intercept)"]));
    desk.assert_refused(
        "few.csv --labels label.csv --columns x,label --missing drop-rows",
        &["few.csv", "column 3"],
    );
    desk.file("some.csv", "group,x,label\na,1,0\na,2,0\nb,0,0\nb,3,1\n");
    desk.assert_refused(
        "some.csv --labels label.csv --columns x,label",
        &["some.csv", "'label'", "never features"],
    );
    // Classes that are called by numbers are no numbers of columns.
    desk.file("shares.csv", "group,1,2\na,0.5,0.5\nb,0.2,0.8\n");
    desk.file("plain.csv", "group,x,y\na,1,3\na,2,0\nb,0,1\nb,3,2\n");
    let answer = desk.json("plain.csv --labels shares.csv --link softmax --l2 0.1", 0);
    assert_eq!(answer["names"].as_array().expect("names").len(), 6);
    desk.file("numbers.csv", "group,x,2\na,1,3\na,2,0\nb,0,1\nb,3,2\n");
    desk.assert_refused(
        "numbers.csv --labels shares.csv --link softmax",
        &["numbers.csv", "'2'", "--except 2"],
    );
    // Columns without names are others in every table.
    desk.file("bare-rows.csv", "a,1,3\na,2,0\nb,0,1\nb,3,2\n");
    desk.file("bare-labels.csv", "a,0.5\nb,0.2\n");
    let answer = desk.json("bare-rows.csv --group 1 --labels bare-labels.csv --l2 0.1", 0);
    assert_eq!(answer["names"], serde_json::json!(["c2", "c3", "(intercept)"]));
}

#[test]
fn predictions_name_the_lines_of_the_file() {
    let desk = Desk::at("bags");
    desk.file("rows.csv", "group,x,label\na,1,0.5\nb,,0.2\na,2,0.5\n\nb,3,0.2\n");
    desk.json("rows.csv --missing drop-rows --l2 0.1 --predictions p.csv", 0);
    let written = fs::read_to_string(desk.path().join("p.csv")).expect("predictions");
    let places: Vec<&str> =
        written.lines().map(|line| line.split(',').next().expect("a cell")).collect();
    assert_eq!(places, ["line", "2", "4", "6"]);
}

#[test]
fn outputs_are_looked_at_before_the_run() {
    let desk = Desk::at("bags");
    desk.assert_refused(
        "--groups 20 --predictions out.npy",
        &["--predictions out.npy", "'group'", "texts"],
    );
    desk.file("a.csv", "old");
    for path in ["a.csv", "./a.csv", "new.csv", "./new.csv"] {
        let args =
            format!("--groups 20 --trace {} --predictions {path}", path.trim_start_matches("./"));
        let run = desk.run(&args);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{args}: {}", run.err);
        assert!(run.err.contains("is the path of --trace too"), "{args}: {}", run.err);
    }
    assert_eq!(desk.names(), ["a.csv"]);
}

#[test]
fn without_an_intercept_a_ridge_is_strongly_convex() {
    let desk = Desk::at("bags");
    let args = "--groups 30 --rows 5 --features 2 --link identity --l2 0.1 --method svrpda1 --steps theorem1";
    desk.assert_refused(args, &["mu = 0"]);
    let run = desk.run(&format!("{args} --no-intercept --max-seconds 0.05"));
    assert!(
        matches!(run.code, Some(0 | 1)) && run.err.is_empty(),
        "{args}: {}{}",
        run.out,
        run.err
    );
}

#[test]
fn refusals_say_where_and_what() {
    let desk = Desk::at("bags");
    desk.file("rows.csv", "group,x\na,1\nb,2\nb,3\n");
    desk.file("varies.csv", "group,x,label\na,1,0.5\nb,2,0.2\nb,3,0.3\n");
    desk.file("range.csv", "group,x,label\na,1,0.5\nb,2,1.2\nb,3,1.2\n");
    desk.file("percent.csv", "group,label\na,50\nb,20\n");
    desk.file("twice.csv", "group,label\na,0.5\nb,0.2\na,0.5\n");
    desk.file("other.csv", "group,label\ny,0.5\nz,0.2\n");
    desk.file("wide.csv", "group,p,q\na,0.5,0.5\nb,0.2,0.7\n");
    desk.file("negative.csv", "group,label\na,-1\nb,3\n");
    desk.file("gap.csv", "group,label\na,\nb,3\n");
    desk.file("text.csv", "group,x,y,label\na,1,high,0.5\nb,2,low,0.5\n");
    desk.file("truth.csv", "group,x,label,truth\na,1,0.5,0\nb,2,0.5,2\n");
    desk.file("class.csv", "group,x,p,q,truth\na,1,0.5,0.5,p\nb,2,0.5,0.5,r\n");
    desk.file("nothing.csv", "group,label\na,0.5\nb,0.2\n");
    let cases: [(&str, &[&str]); 32] = [
        ("nowhere.csv", &["nowhere.csv: no such file"]),
        ("-", &["standard input"]),
        ("rows.csv", &["rows.csv", "'label'", "group, x"]),
        ("rows.csv --group bag --labels other.csv", &["other.csv", "'bag'"]),
        ("varies.csv", &["varies.csv, line 4", "group 'b'", "0.3", "0.2 on line 3", "--row-label"]),
        ("range.csv", &["range.csv, line 3", "group 'b'", "1.2", "from 0 to 1"]),
        ("rows.csv --labels percent.csv", &["percent.csv, line 2", "50", "divided by 100"]),
        ("rows.csv --labels twice.csv", &["twice.csv, line 4", "group 'a'", "line 2"]),
        ("rows.csv --labels other.csv", &["none of the 2 groups", "'a'", "'y'"]),
        ("rows.csv --labels wide.csv", &["wide.csv", "2 columns", "p, q", "--label"]),
        (
            "rows.csv --labels wide.csv --link softmax",
            &["wide.csv, line 3", "group 'b'", "0.8", "expected 1"],
        ),
        ("rows.csv --labels negative.csv --link exp", &["negative.csv, line 2", "-1", "a count"]),
        ("rows.csv --labels other.csv --link softmax", &["other.csv", "two or more classes"]),
        ("rows.csv --labels gap.csv --link identity", &["gap.csv, line 2", "missing"]),
        ("text.csv", &["text.csv", "line 2", "high"]),
        ("truth.csv --row-label truth", &["truth.csv, line 3", "truth is '2'", "0 or 1"]),
        (
            "class.csv --label p,q --link softmax --row-label truth",
            &["class.csv, line 3", "'r'", "p, q"],
        ),
        ("class.csv --label p,q --except truth", &["--label p,q", "one column", "softmax"]),
        ("nothing.csv", &["no column is left"]),
        ("--link exp --loss square", &["--loss square", "--link exp", "poisson"]),
        ("--rows 80..20", &["80..20", "smaller one first"]),
        ("--classes 1", &["from 2 to"]),
        ("rows.csv --groups 4", &["--groups"]),
        ("--groups 5 --link newton", &["logistic", "softmax", "identity", "exp"]),
        // What would do nothing.
        ("--group bag", &["--group bag", "without ROWS"]),
        ("--columns a,b", &["--columns", "without ROWS"]),
        ("--except a", &["--except", "without ROWS"]),
        ("--missing drop-rows", &["--missing", "without ROWS"]),
        ("--classes 5", &["--classes 5 does nothing with --link logistic", "softmax"]),
        // What does not fit into memory.
        (
            "--groups 1e12",
            &["--groups 1000000000000, --rows 20..80, --features 30", "numbers, for all"],
        ),
        ("--rows 1e15", &["--rows 1000000000000000..1000000000000000", "in memory"]),
        // What holds labels is no feature.
        (
            "truth.csv --row-label truth --columns x,truth",
            &["truth.csv", "'truth' is asked for twice"],
        ),
    ];
    for (args, words) in cases {
        desk.assert_refused(args, words);
    }
}

/// Coefficients for each deviation of a column do not depend on its unit, nor on where its zero is.
#[test]
fn units_do_not_change_the_fit() {
    let desk = Desk::at("bags");
    // Golden-ratio steps: spread evenly, the same on every machine.
    let unit = |k: usize, by: f64| (k as f64 * by).fract() - 0.5;
    let table = |scale: [f64; 2], shift: [f64; 2]| {
        let mut text = "group,a,b\n".to_owned();
        for k in 0..240 {
            let (a, b) = (unit(k, 0.618_033_988_75), unit(k, 0.754_877_666_2));
            let row = [shift[0] + scale[0] * a, shift[1] + scale[1] * b];
            let _ = writeln!(text, "g{},{},{}", k / 6, row[0], row[1]);
        }
        text
    };
    let mut labels = "group,label\n".to_owned();
    for i in 0..40 {
        let of = |by: f64| (6 * i..6 * i + 6).map(|k| unit(k, by)).sum::<f64>() / 6.0;
        let score = of(0.618_033_988_75) - 0.8 * of(0.754_877_666_2) + 0.1 * unit(i, 0.333_333);
        let _ = writeln!(labels, "g{i},{}", 0.5 + 0.4 * score);
    }
    desk.file("labels.csv", &labels);
    desk.file("plain.csv", &table([1.0, 1.0], [0.0, 0.0]));
    desk.file("units.csv", &table([15_000.0, 0.01], [50_000.0, 3.0]));
    for link in ["identity", "logistic"] {
        let fit = |file: &str| {
            let answer =
                desk.json(&format!("{file} --labels labels.csv --link {link} --tolerance 1e-9"), 0);
            (numbers(&answer["theta"]), number(&answer["objective"]), answer["notes"].to_string())
        };
        let (plain, objective, notes) = fit("plain.csv");
        assert!(!notes.contains("--no-scaling"), "{notes}");
        let (scaled, same, notes) = fit("units.csv");
        assert!(notes.contains("--no-scaling"), "{notes}");
        assert!((objective - same).abs() < 1e-9, "{link}: {objective} and {same}");
        assert!((plain[0] - 15_000.0 * scaled[0]).abs() < 1e-5, "{link}: {plain:?} and {scaled:?}");
        assert!((plain[1] - 0.01 * scaled[1]).abs() < 1e-5, "{link}: {plain:?} and {scaled:?}");
        let intercept = scaled[2] + 50_000.0 * scaled[0] + 3.0 * scaled[1];
        assert!((plain[2] - intercept).abs() < 1e-5, "{link}: {plain:?} and {scaled:?}");
    }
}

/// A row without a label of its own is fitted as the others are, and not scored.
#[test]
fn rows_without_labels_of_their_own_are_not_scored() {
    let desk = Desk::at("bags");
    files(&desk);
    let rows = fs::read_to_string(desk.path().join("rows.csv")).expect("the rows");
    let blank = |(k, line): (usize, &str)| {
        let kept = line.rsplit_once(',').map_or(line, |(kept, _)| kept);
        if k > 0 && k % 3 == 0 { format!("{kept},\n") } else { format!("{line}\n") }
    };
    desk.file("blanks.csv", &rows.lines().enumerate().map(blank).collect::<String>());
    let fit = |file: &str| {
        desk.json(
            &format!("{file} --group bag --labels labels.csv --row-label truth --except share"),
            0,
        )
    };
    let (all, some) = (fit("rows.csv"), fit("blanks.csv"));
    assert_eq!(all["theta"], some["theta"]);
    let scored = |answer: &Value| answer["row_scores"]["rows"].as_u64().expect("scores");
    assert_eq!(scored(&some), scored(&all) - scored(&all) / 3);
}

/// Labels of groups that say 'some row is positive' look like shares of 0 and 1.
#[test]
fn bags_that_are_positive_if_any_row_is_are_told_apart() {
    let desk = Desk::at("bags");
    desk.file("any.csv", "group,x,label\na,1,1\na,-2,1\nb,-1,0\nb,-3,0\nc,2,1\nc,-1,1\n");
    desk.file("ones.csv", "group,x,label\na,1,1\na,-2,1\nb,-1,1\nb,-3,1\n");
    desk.file("shares.csv", "group,x,label\na,1,0.5\na,-2,0.5\nb,-1,0\nb,-3,0\n");
    desk.file("single.csv", "group,x,label\na,1,1\nb,-2,0\nc,-1,1\nd,-3,0\n");
    for (file, words) in [
        ("any.csv", Some("All labels of groups are 0 or 1: taken as shares")),
        ("ones.csv --no-intercept", Some("All labels of groups are 1: taken as shares")),
        ("shares.csv", None),
        ("single.csv", None),
    ] {
        let notes = desk.json(&format!("{file} --l2 0.1"), 0)["notes"].to_string();
        let said = notes.contains("some row of the group is positive (multiple-instance learning)");
        assert_eq!(said, words.is_some(), "{file}: {notes}");
        assert!(words.is_none_or(|words| notes.contains(words)), "{file}: {notes}");
    }
    // Where there is nothing to tell apart the intercept grows without end, whatever holds the rest.
    let run = desk.run("ones.csv --l2 0.1");
    let flat = run.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("warning: All labels are 1"), "{flat}");
    assert!(flat.contains("--no-intercept") && !flat.contains("multiple-instance"), "{flat}");
}

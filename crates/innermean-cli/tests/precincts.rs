//! Tables of cells with counts, and groups that overlap, as users of precinct and census tables
//! have them.

use std::fmt::Write as _;
use std::fs;

use crate::desk::{Desk, number, numbers};
use innermean_data::{GroupOptions, RowLabels, generate_groups};
use serde_json::Value;

/// 40 precincts in 4 counties: cells with the number of persons in each, the same person by person,
/// and a table of results with turnouts.
fn files(desk: &Desk) {
    let drawn = generate_groups(&GroupOptions {
        groups: 40,
        rows: (2, 8),
        features: 2,
        labels: RowLabels::Binary,
        seed: 5,
    });
    let header = "precinct,county,side,persons,age,income,vote\n";
    let (mut cells, mut persons) = (header.to_owned(), header.to_owned());
    for (r, &group) in drawn.groups.iter().enumerate() {
        let (x, count) = (&drawn.rows[2 * r..2 * r + 2], 1 + (r * 7) % 5);
        let side = if x[0] > 0.0 { "east" } else { "west" };
        let cell = |persons: usize| {
            let county = group / 10;
            let vote = drawn.row_labels[r];
            format!("P{group},C{county},{side},{persons},{},{},{vote}\n", x[0], x[1])
        };
        cells.push_str(&cell(count));
        persons.push_str(&cell(1).repeat(count));
    }
    let mut results = "precinct,share,turnout,variance\n".to_owned();
    for (group, share) in drawn.group_labels.iter().enumerate() {
        let (turnout, share) = (100 + 13 * group, 0.1 + 0.8 * share);
        let _ = writeln!(results, "P{group},{share},{turnout},{}", 1.0 / f64::from(turnout as u32));
    }
    let mut both = results.clone();
    for county in 0..4 {
        let _ = writeln!(both, "C{county},0.{},{},1", 4 + county, 1000 * (county + 1));
    }
    desk.file("cells.csv", &cells);
    desk.file("persons.csv", &persons);
    desk.file("results.csv", &results);
    desk.file("both.csv", &both);
}

const COLUMNS: &str = "--group precinct --columns age,income --l2 0.01 --tolerance 1e-13";

fn assert_same(a: &Value, b: &Value, what: &str) {
    let (x, y) = (number(&a["objective"]), number(&b["objective"]));
    assert!((x - y).abs() <= 1e-12 * y.abs(), "{what}: {x} {y}");
    for (x, y) in numbers(&a["theta"]).iter().zip(numbers(&b["theta"])) {
        assert!((x - y).abs() <= 1e-11 * (1.0 + y.abs()), "{what}: {x} {y}");
    }
}

#[test]
fn cells_with_counts_answer_as_persons_do() {
    let desk = Desk::at("bags");
    files(&desk);
    for more in ["", "--by-size", "--loss square", "--link identity", "--label-weight turnout"] {
        let labels = "--labels results.csv --label share --average-by side --row-label vote";
        let args = format!("{COLUMNS} {labels} {more}");
        let cells = desk.json(&format!("cells.csv {args} --weight persons"), 0);
        let persons = desk.json(&format!("persons.csv {args}"), 0);
        assert_same(&cells, &persons, more);
        for (cell, person) in [(&cells, &persons)] {
            let fit = |answer: &Value| number(&answer["group_fit"]["mean_absolute_error"]);
            assert!((fit(cell) - fit(person)).abs() < 1e-11, "{more}");
            let averages = |answer: &Value| {
                let values = answer["averages"][0]["values"].as_array().expect("values").clone();
                let mut found: Vec<(String, f64, f64)> = values
                    .iter()
                    .map(|own| {
                        let name = own["value"].as_str().expect("a text").to_owned();
                        (name, number(&own["weight"]), number(&own["prediction"][0]))
                    })
                    .collect();
                found.sort_by(|a, b| a.0.cmp(&b.0));
                found
            };
            let (a, b) = (averages(cell), averages(person));
            assert_eq!(a.len(), 2);
            for ((x, w, p), (y, v, q)) in a.iter().zip(&b) {
                assert_eq!((x, w), (y, v), "{more}");
                assert!((p - q).abs() < 1e-11, "{more}");
            }
        }
    }
    // Variances of the labels are the inverse of what they count.
    let with = |more: &str| {
        desk.json(&format!("cells.csv {COLUMNS} --labels results.csv --label share {more}"), 0)
    };
    assert_same(&with("--label-variance variance"), &with("--label-weight turnout"), "variances");
    let [equal, turnout] = ["", "--label-weight turnout"].map(with);
    assert_ne!(equal["theta"], turnout["theta"]);
    let shown = desk.run(&format!(
        "cells.csv {COLUMNS} --labels results.csv --label share --weight persons --average-by side"
    ));
    assert!(shown.out.contains("predictions averaged by side"), "{}", shown.out);
    assert!(shown.out.contains("mean probability"), "{}", shown.out);
}

#[test]
fn counts_of_cells_are_exposures() {
    let desk = Desk::at("bags");
    files(&desk);
    let args = "--group precinct --columns age,income --l2 0.01 --tolerance 1e-13 --link exp \
                --labels results.csv --label turnout";
    let cells = desk.json(&format!("cells.csv {args} --weight persons"), 0);
    assert_same(&cells, &desk.json(&format!("persons.csv {args}"), 0), "exp");
}

/// A precinct in its county: as if the rows stood in the table once for each.
#[test]
fn rows_of_several_groups_are_not_copied_by_the_user() {
    let desk = Desk::at("bags");
    files(&desk);
    let text = fs::read_to_string(desk.path().join("cells.csv")).expect("cells");
    let (mut copies, mut joined) = (String::new(), String::new());
    for (k, line) in text.lines().enumerate() {
        let (precinct, rest) = line.split_once(',').expect("cells");
        let (county, rest) = rest.split_once(',').expect("cells");
        if k == 0 {
            let _ = writeln!(copies, "precinct,{rest}");
            let _ = writeln!(joined, "precinct,{rest}");
        } else {
            let _ = writeln!(copies, "{precinct},{rest}\n{county},{rest}");
            let _ = writeln!(joined, "{precinct} | {county},{rest}");
        }
    }
    desk.file("copies.csv", &copies);
    desk.file("joined.csv", &joined);
    let args = "--columns age,income --l2 0.01 --tolerance 1e-13 --labels both.csv --label share \
                --weight persons";
    let columns = desk.json(&format!("cells.csv --group precinct,county {args}"), 0);
    let copies = desk.json(&format!("copies.csv --group precinct {args}"), 0);
    assert_same(&columns, &copies, "two columns");
    let mut command = desk.command("joined.csv --group precinct --json");
    command.args(args.split_whitespace()).args(["--group-separator", "|"]);
    let found = command.output().expect("it runs");
    let joined: Value = serde_json::from_slice(&found.stdout).expect("JSON");
    assert_same(&joined, &copies, "a separator");
    assert_eq!(number(&columns["groups"]), 44.0);
    assert_eq!(2.0 * number(&columns["rows"]), number(&copies["rows"]));
    // Groups that share rows are no independent observations.
    desk.assert_refused(
        &format!("cells.csv --group precinct,county {args} --standard-errors"),
        &["--standard-errors", "belong to several groups", "'P0' and 'C0'"],
    );
    desk.assert_refused(
        "cells.csv --group precinct,county --columns age",
        &["--group precinct,county", "--labels"],
    );
}

#[test]
fn single_rows_with_labels_are_groups_of_one() {
    let desk = Desk::at("bags");
    desk.file(
        "rows.csv",
        "group,x,own,truth\na,-1,,0\na,0.5,1,1\nb,0.25,,0\nb,1,0,1\n,2,1,1\n,-2,,0\n",
    );
    desk.file("labels.csv", "group,share\na,0.4\nb,0.7\n");
    desk.file("ones.csv", "group,x\na,-1\na,0.5\nb,0.25\nb,1\nr3,0.5\nr5,1\nr6,2\n");
    desk.file("all.csv", "group,share\na,0.4\nb,0.7\nr3,1\nr5,0\nr6,1\n");
    let args = "--l2 0.01 --tolerance 1e-13";
    let single = desk.json(
        &format!("rows.csv --labels labels.csv --single-label own --row-label truth {args}"),
        0,
    );
    let ones = desk.json(&format!("ones.csv --labels all.csv {args}"), 0);
    assert_same(&single, &ones, "singles");
    assert_eq!((number(&single["groups"]), number(&single["single_rows"])), (5.0, 3.0));
    // Labels that the fit has seen, those that it has not, and a row that takes no part.
    let rows = |what: &str| number(&single[what]["rows"]);
    assert_eq!([rows("fitted_rows"), rows("row_scores"), rows("held_out_rows")], [3.0, 2.0, 1.0]);
    let shown =
        desk.run("rows.csv --labels labels.csv --single-label own --except truth --l2 0.01");
    assert!(
        shown.out.starts_with("5 rows of 1 feature in 2 groups and 3 single rows"),
        "{}",
        shown.out
    );
    assert!(
        shown.out.contains("Rows of no group and without a label of their own: 1"),
        "{}",
        shown.out
    );
}

#[test]
fn labels_and_rows_of_weight_zero_are_scored_apart() {
    let desk = Desk::at("bags");
    desk.file(
        "rows.csv",
        "group,x,w,truth\na,-1,1,0\na,0.5,1,1\nb,0.25,2,0\nb,1,2,1\nc,2,1,1\nc,-2,1,0\nb,9,0,1\n",
    );
    desk.file("labels.csv", "group,share,use\na,0.4,1\nb,0.7,1\nc,0.5,0\n");
    let args = "rows.csv --weight w --row-label truth --labels labels.csv --label share --label-weight use";
    let held = desk.json(&format!("{args} --l2 0.01"), 0);
    assert_eq!(number(&held["held_out_groups"]["groups"]), 1.0);
    assert_eq!(number(&held["held_out_rows"]["rows"]), 3.0);
    assert_eq!(number(&held["row_scores"]["rows"]), 4.0);
    let shown = desk.run(&format!("{args} --l2 0.01")).out;
    for words in ["held-out labels", "held-out rows", "Labels of weight 0 are held out: 1"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    desk.file("few.csv", "group,x,w\na,-1,1\na,0.5,1\nb,0.25,2\nb,1,2\n");
    desk.file("two.csv", "group,share\na,0.4\nb,0.7\n");
    let without = desk.json("few.csv --weight w --labels two.csv --l2 0.01", 0);
    assert_same(&held, &without, "held out");
}

#[test]
fn refusals_of_weights_say_where_and_what() {
    let desk = Desk::at("bags").with_predictions();
    desk.file("rows.csv", "group,x,w,own\na,1,1,\nb,2,-3,0.5\nb,3,1,2\n");
    desk.file("none.csv", "group,x,w\na,1,1\nb,2,0\nb,3,0\n");
    desk.file("gap.csv", "group,x,w\na,1,1\nb,2,\n");
    desk.file("labels.csv", "group,share,v,n\na,0.5,1,0\nb,0.2,0,0\n");
    let labels = "--labels labels.csv --label share";
    for (args, words) in [
        (
            "rows.csv --except own --weight w",
            &["rows.csv, line 3", "the weight is -3", "0 or above"][..],
        ),
        ("none.csv --weight w", &["group 'b'", "weight 0"]),
        ("gap.csv --weight w", &["gap.csv, line 3", "missing"]),
        ("rows.csv --except w,own --weight nothing", &["'nothing'"]),
        (
            "rows.csv --except w,own --label-variance v",
            &["labels.csv, line 3", "variance 0", "above 0"],
        ),
        ("rows.csv --except w,own --label-weight n", &["weight 0", "one above 0"]),
        ("rows.csv --except w --single-label own", &["rows.csv, line 4", "own is 2", "0 to 1"]),
        (
            "rows.csv --except w --single-label own --single-weight 0",
            &["--single-weight", "above 0"],
        ),
        (
            "rows.csv --except w,own --link exp --by-size",
            &["--by-size changes nothing", "--link exp"],
        ),
        ("rows.csv --except w,own --by-size --label-weight n", &["--by-size", "--label-weight"]),
        ("rows.csv --except w,own --average-by side", &["'side'"]),
    ] {
        desk.assert_refused(&format!("{args} {labels}"), words);
    }
    desk.assert_refused("rows.csv --label x --except own,w --single-label own", &["--labels"]);
    desk.assert_refused("--by-size", &["--by-size"]);
}

/// A kept model averages by groups with weights too.
#[test]
fn predict_averages_with_weights() {
    let desk = Desk::at("bags");
    files(&desk);
    let args = "--group precinct --columns age,income --labels results.csv --label share --l2 0.01";
    let fit = desk
        .json(&format!("cells.csv {args} --weight persons --average-by side --model m.json"), 0);
    let predict = Desk::at("predict");
    for name in ["m.json", "cells.csv"] {
        let text = fs::read_to_string(desk.path().join(name)).expect(name);
        predict.file(name, &text);
    }
    let found = predict.json("m.json cells.csv --group side --weight persons", 0);
    let means = numbers(&found["predictions"]["mean probability"]);
    let sides = found["predictions"]["side"].as_array().expect("texts");
    for own in fit["averages"][0]["values"].as_array().expect("values") {
        let k = sides.iter().position(|side| *side == own["value"]).expect("both");
        assert!((means[k] - number(&own["prediction"][0])).abs() < 1e-12);
    }
    assert_eq!(numbers(&found["predictions"]["weight"]).len(), 2);
}

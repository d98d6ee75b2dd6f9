//! Logs in Parquet, D4RL's and Minari's files: the same answer as from a table of text.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use innermean_data::{OutColumn, OutTable};

use super::*;

/// `[t + 1, e^2 + t^2 / 2]`, as in `innermean-data/tests/files/make_logs.py`.
fn observed(e: u8, t: u8) -> [f64; 2] {
    let (e, t) = (f64::from(e), f64::from(t));
    [t + 1.0, e * e + 0.5 * t * t]
}

const STEPS: [(u8, u8); 8] = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)];

/// The columns x, y, x2, y2, reward, done and truncated.
fn columns(steps: &[(u8, u8)]) -> Vec<Vec<f64>> {
    let row = |&(e, t): &(u8, u8)| {
        let ([x, y], [x2, y2]) = (observed(e, t), observed(e, t + 1));
        let (done, cut) = (t == 2, (e, t) == (1, 1));
        let marks = [f64::from(u8::from(done)), f64::from(u8::from(cut))];
        [x, y, x2, y2, f64::from(e) - f64::from(t), marks[0], marks[1]]
    };
    let rows: Vec<[f64; 7]> = steps.iter().map(row).collect();
    (0..7).map(|k| rows.iter().map(|row| row[k]).collect()).collect()
}

const NAMES: [&str; 7] = ["x", "y", "x2", "y2", "reward", "done", "truncated"];
const ARGS: &str = "--discount 0.9 --lambda 0.5 --intercept --initial-states first";

/// The answer from a table of text.
fn expected(desk: &Desk, steps: &[(u8, u8)], breaks: bool) -> Value {
    let columns = columns(steps);
    let mut text = format!("{},episode\n", NAMES.join(","));
    for (t, step) in steps.iter().enumerate() {
        for column in &columns {
            let _ = write!(text, "{},", column[t]);
        }
        let _ = writeln!(text, "{}", if breaks { step.0 } else { 0 });
    }
    desk.file("log.csv", &text);
    desk.json(&format!("log.csv --features x,y --next-features x2,y2 {ARGS}"), 0)
}

fn assert_same(answer: &Value, expected: &Value, words: &str) {
    for (a, b) in numbers(&answer["theta"]).iter().zip(numbers(&expected["theta"])) {
        assert!(close(*a, b), "{words}: {} and not {}", answer["theta"], expected["theta"]);
    }
    assert_eq!(answer["episodes"], expected["episodes"], "{words}");
    assert!(close(number(&answer["initial"]["value"]), number(&expected["initial"]["value"])));
}

fn copied(desk: &Desk, name: &str) {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("../innermean-data/tests/files");
    fs::copy(files.join(name), desk.path().join(name)).expect("the file is there");
}

#[test]
fn d4rl_and_minari_are_read() {
    let desk = desk();
    let all = expected(&desk, &STEPS, false);
    for name in ["d4rl.hdf5", "minari.hdf5"] {
        copied(&desk, name);
        let answer = desk.json(&format!("{name} {ARGS}"), 0);
        assert_same(&answer, &all, name);
        let said = answer["notes"].to_string();
        assert!(said.contains("described by the columns of 'observations'"), "{said}");
        let asked = desk.json(
            &format!("{name} --features observations --next-features next_observations {ARGS}"),
            0,
        );
        assert_eq!(asked["theta"], answer["theta"]);
        assert!(!asked["notes"].to_string().contains("described by"));
        assert_eq!(asked["names"][0], "observations1");
    }
    copied(&desk, "d4rl_bare.hdf5");
    let kept: Vec<(u8, u8)> = STEPS.into_iter().filter(|step| *step != (1, 1)).collect();
    let bare = desk.json(&format!("d4rl_bare.hdf5 {ARGS}"), 0);
    assert_same(&bare, &expected(&desk, &kept, true), "without next observations");
    assert!(bare["notes"].to_string().contains("no next observations"), "{}", bare["notes"]);
    copied(&desk, "other.hdf5");
    desk.assert_refused("other.hdf5", &["other.hdf5", "no log of D4RL or Minari"]);
}

/// A cell of a data frame may hold a whole observation: `X` is then `X1`, `X2`, ...
#[test]
fn lists_in_parquet_are_columns() {
    let desk = desk();
    let all = expected(&desk, &STEPS, false);
    copied(&desk, "d4rl.parquet");
    let answer = desk.json(&format!("d4rl.parquet {ARGS}"), 0);
    assert_same(&answer, &all, "lists");
    let said = answer["notes"].to_string();
    assert!(said.contains("described by the columns of 'observations'"), "{said}");
    let named = "--features observations1,observations2 \
                 --next-features next_observations1,next_observations2";
    let named = desk.json(&format!("d4rl.parquet {named} {ARGS}"), 0);
    assert_eq!(named["theta"], answer["theta"]);
    let both = desk.json(
        "d4rl.parquet --features observations,actions --next-features next_observations,actions \
         --discount 0.9",
        0,
    );
    assert_eq!(both["names"][2], "actions1");
    // Of 12 numbers in 8 rows no common length can be told; of gaps, where they are.
    let next = "--next-features next_observations";
    desk.assert_refused(
        &format!("d4rl.parquet --features uneven.list.element,rewards {next} --discount 0.9"),
        &["d4rl.parquet", "'uneven.list.element' holds lists"],
    );
    desk.assert_refused(
        &format!("d4rl.parquet --features gaps {next} --discount 0.9"),
        &["d4rl.parquet, row 2", "gaps1", "missing"],
    );
}

/// A row of Minari's tables is an episode, whose cells are lists of different lengths.
#[test]
fn episodes_in_parquet_are_steps() {
    let desk = desk();
    let all = expected(&desk, &STEPS, true);
    copied(&desk, "minari.parquet");
    let answer = desk.json(&format!("minari.parquet {ARGS}"), 0);
    assert_same(&answer, &all, "episodes");
    let said = answer["notes"].to_string();
    assert!(said.contains("described by the columns of 'observations'"), "{said}");
    let named = "--features observations,actions --next-features next_observations,actions";
    let both = desk.json(&format!("minari.parquet {named} --discount 0.9"), 0);
    assert_eq!(both["names"][2], "actions");
    for (file, parts) in [
        ("short.parquet", ["short.parquet: row 2", "'observations' has 3 items of 2", "has 1"]),
        ("ragged.parquet", ["ragged.parquet", "row 2", "an item of 1 numbers after one of 2"]),
    ] {
        copied(&desk, file);
        desk.assert_refused(&format!("{file} --discount 0.9"), &parts);
    }
}

/// A file without names that are known says what it has, and how to name it.
#[test]
fn columns_of_other_names_are_asked_for() {
    let desk = desk();
    copied(&desk, "snappy.parquet");
    desk.assert_refused(
        "snappy.parquet --discount 0.9",
        &["snappy.parquet", "no column 'state'", "stars", "--state-column", "--next-features"],
    );
}

#[test]
fn parquet_is_read() {
    let desk = desk();
    let all = expected(&desk, &STEPS, false);
    let columns = NAMES.into_iter().zip(columns(&STEPS));
    let table = OutTable {
        columns: columns.map(|(name, c)| (name.to_owned(), OutColumn::Numbers(c))).collect(),
    };
    table.write(&desk.path().join("log.parquet")).expect("it is written");
    let answer = desk.json(&format!("log.parquet --features x,y --next-features x2,y2 {ARGS}"), 0);
    assert_same(&answer, &all, "Parquet");
}

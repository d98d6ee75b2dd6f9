//! Drives `--model` and `innermean predict` as a user would.

use std::fmt::Write as _;
use std::fs;

use crate::desk::*;

mod applied;
mod cross_validation;
mod refused;
mod weighted;

/// A folder with a table: a name, two features of very different size, a number and a class.
fn desk() -> Desk {
    let desk = Desk::at("");
    desk.file("rows.csv", &table(0..60, false));
    desk
}

/// Rows of that table, with the features in one order or the other, and without what is to be
/// predicted in the other.
fn table(rows: std::ops::Range<u32>, turned: bool) -> String {
    let mut text =
        if turned { "weight,id,height\n" } else { "id,height,weight,y,class\n" }.to_owned();
    for i in rows {
        let noise = f64::from(i.wrapping_mul(2_654_435_761) >> 16) / 65_536.0 - 0.5;
        let (height, weight) =
            (1.5 + 0.01 * f64::from(i * 7 % 50), 7000.0 + f64::from(i * 11 % 37));
        let y = 3.0 * height - 0.1 * (weight - 7018.0) + noise;
        let class = if y > 5.2 { "tall" } else { "small" };
        let _ = if turned {
            writeln!(text, "{weight},r{i},{height}")
        } else {
            writeln!(text, "r{i},{height},{weight},{y},{class}")
        };
    }
    text
}

/// The columns of a CSV file without quotes, by name.
fn columns(desk: &Desk, name: &str) -> Vec<(String, Vec<String>)> {
    let text = fs::read_to_string(desk.path().join(name)).expect("it was written");
    columns_of(&text)
}

fn columns_of(text: &str) -> Vec<(String, Vec<String>)> {
    let mut lines = text.lines();
    let header = lines.next().expect("a header");
    let mut columns: Vec<(String, Vec<String>)> =
        header.split(',').map(|name| (name.to_owned(), Vec::new())).collect();
    for line in lines {
        columns.iter_mut().zip(line.split(',')).for_each(|(own, cell)| own.1.push(cell.to_owned()));
    }
    columns
}

fn column<'a>(columns: &'a [(String, Vec<String>)], name: &str) -> &'a [String] {
    let found = columns.iter().find(|(own, _)| own == name);
    &found.unwrap_or_else(|| panic!("{name} among {columns:?}")).1
}

/// Runs what must succeed.
fn done(desk: &Desk, args: &str) -> String {
    let run = desk.run(args);
    assert_eq!(run.code, Some(0), "{args}: {}{}", run.out, run.err);
    run.out
}

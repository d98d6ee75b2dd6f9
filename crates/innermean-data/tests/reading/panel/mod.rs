//! Tables that hold something else than returns, or more: each trap as a file of that shape.

use std::fmt::Write as _;

use innermean_data::{
    Cash, Missing, Panel, Prices, ReadOptions, Returns, generate_factor_model, parse_returns,
};

mod prices;
mod selection;
mod shapes;

fn read(text: &str, options: &ReadOptions) -> Returns {
    match parse_returns(text.as_bytes(), "table.csv", options) {
        Ok(returns) => returns,
        Err(error) => panic!("{error}\nin\n{text}"),
    }
}

fn plain(text: &str) -> Returns {
    read(text, &ReadOptions::default())
}

/// The sentence of a refusal, which names the file and says all of `parts`.
fn refused(text: &str, options: &ReadOptions, parts: &[&str]) {
    match parse_returns(text.as_bytes(), "table.csv", options) {
        Ok(returns) => panic!("read as {returns:?}"),
        Err(error) => {
            let error = error.to_string();
            assert!(error.starts_with("table.csv") && !error.contains('\n'), "{error}");
            for part in parts {
                assert!(error.contains(part), "'{part}' is not in: {error}");
            }
        }
    }
}

fn notes(returns: &Returns) -> String {
    returns.notes.join(" ")
}

fn dates(returns: &Returns) -> Vec<&str> {
    returns.dates.iter().flatten().map(String::as_str).collect()
}

fn texts(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

fn with_prices(prices: Prices) -> ReadOptions {
    ReadOptions { prices, ..ReadOptions::default() }
}

fn day(row: usize) -> String {
    format!("{}-{:02}-{:02}", 2000 + row / 336, row / 28 % 12 + 1, row % 28 + 1)
}

/// A file of `value(row, asset)` with dates.
fn table(rows: usize, names: &[&str], value: impl Fn(usize, usize) -> f64) -> String {
    let mut text = format!("date,{}\n", names.join(","));
    for row in 0..rows {
        let cells: Vec<String> = (0..names.len()).map(|j| value(row, j).to_string()).collect();
        let _ = writeln!(text, "{},{}", day(row), cells.join(","));
    }
    text
}

/// Daily returns in percent of three assets.
fn market(rows: usize) -> Returns {
    generate_factor_model(rows, 3, 11)
}

/// What the assets of [`market`] are worth, from `starts` on.
fn wealth(rows: usize, starts: [f64; 3]) -> Vec<[f64; 3]> {
    let market = market(rows);
    let mut worth = starts;
    (0..rows)
        .map(|row| {
            worth.iter_mut().zip(market.row(row)).for_each(|(w, r)| *w *= 1.0 + r / 100.0);
            worth
        })
        .collect()
}

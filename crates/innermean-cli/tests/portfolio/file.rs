//! The file is understood: what an analyst has at hand is read right, refused or noted.

use std::fmt::Write as _;

use super::*;

/// Prices of the small market's assets, each line with a date, from 100 on.
fn prices(returns: &Returns) -> String {
    let mut text = format!("Date,{}\n", returns.names.join(","));
    let mut worth = vec![100.0; returns.assets()];
    for i in 0..returns.rows() {
        let cells: Vec<String> = worth.iter().map(f64::to_string).collect();
        let _ = writeln!(text, "{},{}", day(i), cells.join(","));
        worth.iter_mut().zip(returns.row(i)).for_each(|(p, r)| *p *= 1.0 + r / 100.0);
    }
    text
}

fn day(i: usize) -> String {
    format!("20{:02}-{:02}-{:02}", 10 + i / 112, i / 28 % 4 + 1, i % 28 + 1)
}

fn notes(answer: &Value) -> String {
    let notes = answer["notes"].as_array().expect("notes");
    notes.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
}

fn theta(answer: &Value) -> Vec<f64> {
    numbers(&answer["theta"])
}

#[test]
fn prices_are_refused_and_made_into_returns() {
    let desk = desk();
    let market = small();
    desk.file("prices.csv", &prices(&market));
    desk.assert_refused(
        "prices.csv --constraint long-only",
        &["prices.csv: looks like prices", "--prices simple", "--prices log", "--prices none"],
    );
    let long_only = "--constraint long-only --risk-aversion 50";
    let answer = desk.json(&format!("prices.csv --prices simple {long_only}"), 0);
    assert!(notes(&answer).contains("Simple returns were made of 300 rows"), "{answer}");
    assert_eq!(answer["settings"]["prices"], "simple");
    // The same as from the returns, of which the last is in no price.
    let rows: Vec<String> = (0..market.rows() - 1)
        .map(|i| {
            let cells: Vec<String> =
                market.row(i).iter().map(|r| (r / 100.0).to_string()).collect();
            cells.join(",")
        })
        .collect();
    desk.file("returns.csv", &format!("{}\n{}\n", market.names.join(","), rows.join("\n")));
    let same = desk.json(&format!("returns.csv {long_only}"), 0);
    for (a, b) in theta(&answer).into_iter().zip(theta(&same)) {
        assert!((a - b).abs() < 1e-6, "{answer} {same}");
    }
    let log = desk.json(&format!("prices.csv --prices log {long_only}"), 0);
    assert!(number(&log["expected_return"]) < number(&answer["expected_return"]), "{log}");
    // Newest first is as good.
    let text = prices(&market);
    let (header, lines) = text.split_once('\n').expect("a header");
    let newest: Vec<&str> = lines.lines().rev().collect();
    desk.file("newest.csv", &format!("{header}\n{}\n", newest.join("\n")));
    let turned = desk.json(&format!("newest.csv --prices simple {long_only}"), 0);
    assert_eq!(turned["theta"], answer["theta"]);
    // Somebody knows better.
    let kept = desk.json("prices.csv --prices none --constraint long-only", 0);
    assert!(number(&kept["expected_return"]) > 10.0, "{kept}");
    let lines: Vec<&str> = text.lines().collect();
    let zero = lines[9].rsplit_once(',').expect("cells").0;
    desk.file("zero.csv", &text.replace(lines[9], &format!("{zero},0")));
    desk.assert_refused(
        "zero.csv --prices simple --constraint long-only",
        &["zero.csv, line 10, column 5", "a price of 0 has no return"],
    );
}

#[test]
fn frames_of_pandas_with_an_index_and_dates() {
    let desk = desk();
    let market = small();
    desk.file("plain.csv", &csv(&market));
    let plain = csv(&market);
    let (header, rows) = plain.split_once('\n').expect("a header");
    let mut frame = format!(",{header},year\n");
    for (i, row) in rows.lines().enumerate() {
        let _ = writeln!(frame, "{i},{row},{}", 2000 + i / 252);
    }
    desk.file("frame.csv", &frame);
    let (one, other) = (desk.json("plain.csv", 0), desk.json("frame.csv", 0));
    assert_eq!(one["theta"], other["theta"]);
    assert!(!notes(&one).contains("left out"), "{one}");
    assert!(notes(&other).contains("Column 'year' holds years and was left out."), "{other}");
    let chosen = desk.json("frame.csv --except year,A01", 0);
    assert_eq!(theta(&chosen).len(), 3);
    let people = desk.run("frame.csv");
    assert!(people.out.contains("note: Column 'year' holds years"), "{}", people.out);
}

#[test]
fn tables_on_their_side() {
    let desk = desk();
    let market = generate_factor_model(30, 4, 7);
    let days: Vec<String> = (0..30).map(day).collect();
    let mut text = format!("ticker,{}\n", days.join(","));
    for (l, name) in market.names.iter().enumerate() {
        let cells: Vec<String> = (0..30).map(|i| market.row(i)[l].to_string()).collect();
        let _ = writeln!(text, "{name},{}", cells.join(","));
    }
    desk.file("side.csv", &text);
    desk.file("upright.csv", &csv(&market));
    let (side, upright) = (desk.json("side.csv", 0), desk.json("upright.csv", 0));
    assert_eq!(side["theta"], upright["theta"]);
    assert!(notes(&side).contains("a line was taken for an asset"), "{side}");
}

#[test]
fn columns_dates_and_windows() {
    let desk = desk();
    let market = small();
    let mut text = "Date,currency,S1,S2,S3,S4,settled\n".to_owned();
    for i in 0..market.rows() {
        let cells: Vec<String> = market.row(i).iter().map(f64::to_string).collect();
        let _ = writeln!(text, "{},USD,{},{}", day(i), cells.join(","), day(i + 2));
    }
    desk.file("r.csv", &text);
    desk.assert_refused("r.csv", &["line 2, column 2 (currency): 'USD' is not a number"]);
    let chosen = desk.json("r.csv --columns S1,s3", 0);
    assert_eq!(theta(&chosen).len(), 2);
    assert_eq!(chosen["settings"]["columns"][1], "s3");
    let most = desk.json("r.csv --except currency", 0);
    assert_eq!(theta(&most).len(), 4);
    assert!(notes(&most).contains("Column 'settled' holds dates"), "{most}");
    desk.assert_refused("r.csv --except curency", &["no column 'curency'", "Date, currency, S1"]);
    desk.assert_refused("r.csv --columns S1 --except S2", &["--columns", "--except"]);
    // A year of 112 rows each.
    let title = |args: &str| desk.run(&format!("r.csv --columns S1,S2,S3 {args}")).out;
    for (args, rows) in [
        ("--from 2011", 188),
        ("--to 2010", 112),
        ("--from 2010-02 --to 2010-03-05", 33),
        ("--from 1/13/2012 --to 2012", 64),
        ("--from 2012-01-02 --date-column settled", 77),
    ] {
        let title = title(args);
        assert!(title.contains(&format!("3 assets over {rows} periods")), "{args}: {title}");
    }
    let columns = "r.csv --columns S1,S2";
    desk.assert_refused(
        &format!("{columns} --from 2031"),
        &["r.csv: has no row from 2031", "from 2010-01-01 to 2012-03-20"],
    );
    desk.assert_refused(
        &format!("{columns} --from 1/2/2012"),
        &["--from", "'1/2/2012' could be one of two days", "2024-01-31"],
    );
    desk.assert_refused(&format!("{columns} --to never"), &["--to", "'never' is not a date"]);
    desk.assert_refused(&format!("{columns} --date-column day"), &["no column 'day'"]);
    desk.assert_refused(
        &format!("{columns} --date-column currency --from 2010"),
        &["r.csv, line 2: 'USD' is not a date"],
    );
    desk.assert_refused("--from 2010", &["has no dates", "--date-column"]);
    assert_eq!(theta(&desk.json("--columns S1B1,S5B5", 0)).len(), 2);
}

#[test]
fn unequal_histories() {
    let desk = desk();
    let market = small();
    let mut text = format!("date,{},new\n", market.names.join(","));
    for i in 0..market.rows() {
        let cells: Vec<String> = market.row(i).iter().map(f64::to_string).collect();
        let [late, new] = [50, 290].map(|first| i >= first);
        let first = if late { cells[0].clone() } else { String::new() };
        let new = if new { cells[1].clone() } else { String::new() };
        let _ = writeln!(text, "{},{first},{},{new}", day(i), cells[1..].join(","));
    }
    desk.file("r.csv", &text);
    desk.assert_refused("r.csv", &["line 2, column 2", "--min-history", "--missing drop-rows"]);
    let answer = desk.json("r.csv --min-history 100", 0);
    assert_eq!(theta(&answer).len(), 4);
    let said = notes(&answer);
    assert!(said.contains("fewer than 100 values: 1 asset (new)."), "{said}");
    assert!(said.contains("from 2010-02-23 to 2012-03-20: 250 of 300 rows"), "{said}");
    assert_eq!(answer["settings"]["min_history"], 100);
    desk.assert_refused("r.csv --min-history 301", &["no asset has the 301 values"]);
    desk.assert_refused("r.csv --min-history 0", &["--min-history", "whole number above 0"]);
}

#[test]
fn cash_where_weights_sum_to_one() {
    let desk = desk();
    let market = small();
    let mut text = format!("{},cash,bills\n", market.names.join(","));
    for i in 0..market.rows() {
        let cells: Vec<String> = market.row(i).iter().map(f64::to_string).collect();
        let _ = writeln!(text, "{},0.02,0.01", cells.join(","));
    }
    desk.file("r.csv", &text);
    for constraint in ["", "--constraint box=-1,1"] {
        desk.assert_refused(
            &format!("r.csv {constraint}"),
            &["'cash' (always 0.02)", "--except", "--constraint long-only"],
        );
    }
    desk.assert_refused("r.csv --constraint sum-to-one", &["any amount could be moved"]);
    for args in [
        "--constraint long-only",
        "--constraint sum-to-one=-1,2",
        "--constraint sum-to-one --except bills",
    ] {
        let answer = desk.json(&format!("r.csv --risk-aversion 5 {args}"), 0);
        let theta = theta(&answer);
        assert_close(theta.iter().sum(), 1.0, 1e-9);
        assert!(notes(&answer).contains("without risk, such as cash"), "{answer}");
        // The optimum of the excess returns over the rate is what is held beside cash.
        assert!(theta[4] > 0.1, "{args}: {theta:?}");
        if args.contains("--except bills") {
            // How much of it follows from the sum.
            assert!(!notes(&answer).contains("tell all coefficients apart"), "{answer}");
        }
    }
    let excess: Vec<String> = (0..market.rows())
        .map(|i| {
            let cells: Vec<String> = market.row(i).iter().map(|r| (r - 0.02).to_string()).collect();
            cells.join(",")
        })
        .collect();
    desk.file("excess.csv", &format!("{}\n{}\n", market.names.join(","), excess.join("\n")));
    let beside = theta(&desk.json("excess.csv --risk-aversion 5", 0));
    let whole = theta(&desk.json(
        "r.csv --risk-aversion 5 --constraint sum-to-one --except bills --tolerance 1e-9",
        0,
    ));
    for (a, b) in beside.iter().zip(&whole) {
        assert!((a - b).abs() < 1e-5, "{beside:?} {whole:?}");
    }
}

#[test]
fn oddities_get_a_note() {
    let desk = desk();
    let market = small();
    let file = |name: &str, rows: usize, value: &dyn Fn(usize, usize) -> f64| {
        let mut text = format!("{}\n", market.names.join(","));
        for i in 0..rows {
            let cells: Vec<String> = (0..4).map(|l| value(i, l).to_string()).collect();
            let _ = writeln!(text, "{}", cells.join(","));
        }
        desk.file(name, &text);
    };
    let long_only = |name: &str| notes(&desk.json(&format!("{name} --constraint long-only"), 0));
    file("mixed.csv", 300, &|i, l| market.row(i)[l] * if l == 2 { 0.01 } else { 1.0 });
    let said = long_only("mixed.csv");
    assert!(said.contains("mixed units") && said.contains(&market.names[2]), "{said}");
    file("gross.csv", 300, &|i, l| 1.0 + 0.01 * market.row(i)[l]);
    assert!(long_only("gross.csv").contains("gross returns"));
    file("few.csv", 4, &|i, l| market.row(i)[l]);
    let said = long_only("few.csv");
    assert!(said.contains("4 periods for 4 assets"), "{said}");
    file("enough.csv", 300, &|i, l| market.row(i)[l]);
    assert_eq!(long_only("enough.csv"), "");
}

#[test]
fn workbooks_and_formats_that_are_not_read() {
    let desk = desk();
    let path = desk.path().join("book.xls");
    fs::write(&path, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and more").expect("written");
    desk.assert_refused("book.xls", &["book.xls: is a workbook", "save its sheet as CSV"]);
}

//! Columns and rows that are asked for, and assets with unequal histories.

use super::*;

#[test]
fn columns_by_name_number_and_exception() {
    let text =
        "date,ccy,A,B,C\n2024-01-02,USD,1,2,3\n2024-01-03,EUR,-1,5,-3\n2024-01-04,USD,2,1,1\n";
    refused(text, &ReadOptions::default(), &["line 2, column 2 (ccy): 'USD' is not a number"]);
    let only = |columns: &[&str]| ReadOptions { columns: texts(columns), ..ReadOptions::default() };
    let except = |names: &[&str]| ReadOptions { except: texts(names), ..ReadOptions::default() };
    for (options, names) in [
        (only(&["C", "a"]), vec!["A", "C"]),
        (only(&["3", "5"]), vec!["A", "C"]),
        (except(&["ccy"]), vec!["A", "B", "C"]),
        (except(&["CCY", "B", "date"]), vec!["A", "C"]),
        (except(&["2", "4"]), vec!["A", "C"]),
    ] {
        let returns = read(text, &options);
        assert_eq!(returns.names, names, "{options:?}");
        assert_eq!((returns.rows(), dates(&returns)[0]), (3, "2024-01-02"), "{options:?}");
    }
    let absent = ["has no column 'D'; its columns are date, ccy, A, B, C"];
    refused(text, &only(&["A", "D"]), &absent);
    refused(text, &except(&["D"]), &absent);
    refused(text, &except(&["ccy", "A", "B", "C"]), &["no column left that could be an asset"]);
    // Text files of blanks, and a header that leaves the dates without a name.
    let short = "A B C\n2024-01-02 1 x 3\n2024-01-03 -1 y -3\n";
    assert_eq!(read(short, &except(&["B"])).values, [1.0, 3.0, -1.0, -3.0]);
}

#[test]
fn the_column_of_dates_by_name() {
    let text = "traded,settled,A\n2024-01-02,2024-02-04,0.1\n2024-01-03,2024-02-05,0.2\n2024-01-04,2024-02-06,-0.1\n";
    let by =
        |name: &str| ReadOptions { date_column: Some(name.to_owned()), ..ReadOptions::default() };
    assert_eq!(dates(&plain(text))[0], "2024-01-02");
    let returns = read(text, &by("settled"));
    assert_eq!((returns.names.join(" "), dates(&returns)[0]), ("A".into(), "2024-02-04"));
    let numbers = "A,week,B\n0.1,7,0.3\n0.2,9,-0.4\n-0.2,8,0.1\n";
    assert_eq!(dates(&read(numbers, &by("week"))), ["7", "9", "8"]);
    refused(numbers, &by("when"), &["has no column 'when'"]);
    let from = ReadOptions { from: Some("2024".to_owned()), ..by("week") };
    refused(numbers, &from, &["line 2: '7' is not a date that `--from` can be compared with"]);
}

#[test]
fn rows_of_a_window() {
    let between = |from: Option<&str>, to: Option<&str>| ReadOptions {
        from: from.map(str::to_owned),
        to: to.map(str::to_owned),
        ..ReadOptions::default()
    };
    let iso = ["2023-12-29", "2024-01-02", "2024-01-31", "2024-02-01", "2025-01-02"];
    let forms: [&dyn Fn(&str) -> String; 5] = [
        &|d| d.to_owned(),
        &|d| d.replace('-', ""),
        &|d| format!("{}.{}.{}", &d[8..], &d[5..7], &d[..4]),
        &|d| format!("{}/{}/{}", &d[5..7], &d[8..], &d[..4]),
        &|d| format!("{d} 16:00:00"),
    ];
    for form in forms {
        let mut text = "date,A\n".to_owned();
        for (row, day) in iso.iter().enumerate() {
            let _ = writeln!(text, "{},0.{row}", form(day));
        }
        for (from, to, rows) in [
            (Some("2024"), Some("2024"), 1..4),
            (Some("2024-02"), None, 3..5),
            (Some("2024-01-02"), Some("2024-01"), 1..3),
            (None, Some("2024-01-31"), 0..3),
            (Some("20240103"), None, 2..5),
            (Some("31.01.2024"), None, 2..5),
            (Some("1/31/2024"), Some("2024-12"), 2..4),
        ] {
            let returns = read(&text, &between(from, to));
            let expected: Vec<String> = iso[rows].iter().map(|day| form(day)).collect();
            assert_eq!(dates(&returns), expected, "{from:?} {to:?}");
        }
        refused(&text, &between(Some("2026"), None), &["no row from 2026", &form(iso[0])]);
        refused(&text, &between(Some("soon"), None), &["`--from` 'soon' is not a date"]);
        refused(&text, &between(None, Some("2024-13")), &["`--to` '2024-13' is not a date"]);
    }
    let broken = "date,A\n2024-01-02,0.1\nsome day,0.2\n2024-01-04,0.3\n";
    refused(broken, &between(Some("2024"), None), &["line 3: 'some day' is not a date"]);
    refused("A\n0.1\n0.2\n", &between(None, Some("2024")), &["has no dates", "`--date-column`"]);
    // The return of the first day in a window is made of the price before it.
    let prices =
        "date,A\n2023-12-28,0\n2023-12-29,100\n2024-01-02,110\n2024-01-03,120\n2024-02-01,0\n";
    let options = ReadOptions { prices: Prices::Simple, ..between(Some("2024"), Some("2024-01")) };
    let returns = read(prices, &options);
    assert_eq!(dates(&returns), ["2024-01-02", "2024-01-03"]);
    assert_eq!(returns.row(0)[0], 110.0 / 100.0 - 1.0);
}

#[test]
fn unequal_histories() {
    // A and B are whole but for a gap of B, C begins late, D ends early, E is short.
    let market = market(40);
    let is_gap = |row: usize, j: usize| match j {
        1 => row == 20,
        2 => row < 8,
        3 => row > 32,
        4 => !(15..18).contains(&row),
        _ => false,
    };
    let text = table(40, &["A", "B", "C", "D", "E"], |row, j| {
        if is_gap(row, j) { f64::NAN } else { market.row(row)[j % 3] + j as f64 / 10.0 }
    });
    refused(
        &text,
        &ReadOptions::default(),
        &["line 2, column 4 (C)", "`--min-history N`", "`--missing drop-rows`"],
    );
    let least = |min_history: usize, missing: Missing| ReadOptions {
        min_history,
        missing,
        ..ReadOptions::default()
    };
    // What is left inside the window is for `missing`.
    refused(&text, &least(30, Missing::Error), &["line 22, column 3 (B)", "first of 1"]);
    let returns = read(&text, &least(30, Missing::DropRows));
    assert_eq!((returns.names.join(" "), returns.rows()), ("A B C D".into(), 24));
    assert_eq!(
        returns.notes,
        [
            "Left out, with fewer than 30 values: 1 asset (E).",
            "All other assets have values from 2000-01-09 to 2000-02-05: 25 of 40 rows."
        ]
    );
    let columns = read(&text, &least(30, Missing::DropColumns));
    assert_eq!((columns.names.join(" "), columns.rows()), ("A C D".into(), 25));
    let all = read(&text, &least(1, Missing::Error));
    assert_eq!((all.assets(), all.rows()), (5, 3), "{:?}", all.notes);
    refused(
        &text,
        &least(41, Missing::Error),
        &["no asset has the 41 values", "'A' has the most, 40"],
    );
    let apart = "date,A,B\n2024-01-02,1,\n2024-01-03,2,\n2024-01-04,,1\n2024-01-05,,3\n";
    refused(
        apart,
        &least(2, Missing::Error),
        &["no two rows in common: 'B' begins at 2024-01-04 and 'A' ends at 2024-01-03"],
    );
}

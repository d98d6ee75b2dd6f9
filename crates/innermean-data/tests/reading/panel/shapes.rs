//! Columns that label the rows, tables on their side, tables in memory, workbooks.

use super::*;

#[test]
fn columns_that_label_the_rows_are_left_out_with_a_note() {
    let market = market(24);
    let with = |name: &str, label: &dyn Fn(usize) -> String| {
        let mut text = format!("A,{name},B\n");
        for row in 0..24 {
            let [a, b] = [0, 1].map(|j| market.row(row)[j]);
            let _ = writeln!(text, "{a},{},{b}", label(row));
        }
        text
    };
    for (name, label, words, first) in [
        ("n", &(|row: usize| row.to_string()) as &dyn Fn(usize) -> String, "counts the rows", None),
        ("fund", &|row| (row + 1).to_string(), "counts the rows", None),
        ("fund", &|row| (2000 + row).to_string(), "holds years", Some("2000")),
        ("Year", &|row| (2000 + row / 12).to_string(), "holds years", Some("2000")),
        ("when", &|row| format!("200101{:02}", row + 1), "holds dates", Some("20010101")),
        (
            "ym",
            &|row| format!("20{:02}{:02}", row / 12, row % 12 + 1),
            "holds dates",
            Some("200001"),
        ),
        ("month", &|row| (row % 12 + 1).to_string(), "holds months", None),
    ] {
        let returns = plain(&with(name, label));
        assert_eq!(returns.names, ["A", "B"], "{name}");
        assert!(
            notes(&returns).contains(&format!("Column '{name}' {words} and was left out.")),
            "{name}: {:?}",
            returns.notes
        );
        assert_eq!(returns.dates.as_ref().map(|dates| dates[0].as_str()), first, "{name}");
    }
    // A column that is asked for is an asset.
    let options = ReadOptions { columns: texts(&["n", "B"]), ..ReadOptions::default() };
    let text = with("n", &|row| row.to_string());
    assert_eq!(read(&text, &options).names, ["n", "B"]);
    // Whole numbers that skip, or few of them, are returns.
    assert_eq!(plain(&with("n", &|row| (row * row % 7).to_string())).assets(), 3);
    assert_eq!(plain("A,B\n1,0.5\n2,-0.5\n3,0.1\n").assets(), 2);
    refused(
        "A,B\n1,0\n2,1\n3,2\n4,3\n5,4\n",
        &ReadOptions::default(),
        &["no column of returns: column 'A' counts the rows, column 'B'", "`--columns`"],
    );
}

#[test]
fn a_year_and_a_month_are_a_date() {
    let text = "Year,Month,A,B\n2001,11,0.1,-0.2\n2001,12,0.3,0.1\n2002,1,-0.1,0.2\n";
    let returns = plain(text);
    assert_eq!(returns.names, ["A", "B"]);
    assert_eq!(dates(&returns), ["2001-11", "2001-12", "2002-01"]);
    let options = ReadOptions { to: Some("2001".to_owned()), ..ReadOptions::default() };
    assert_eq!(read(text, &options).rows(), 2);
}

#[test]
fn frames_with_an_index_and_a_column_of_dates() {
    let values = [0.1, -0.2, 0.3, 0.4];
    for (text, note) in [
        (",date,A,B\n0,2024-01-02,0.1,-0.2\n1,2024-01-03,0.3,0.4\n", "Column 1 numbers the rows"),
        (
            "Unnamed: 0,Date,A,B\n0,2024-01-02,0.1,-0.2\n1,2024-01-03,0.3,0.4\n",
            "Column 'Unnamed: 0' numbers the rows and was left out; their dates are in column 'Date'",
        ),
        ("A,date,B\n0.1,2024-01-02,-0.2\n0.3,2024-01-03,0.4\n", ""),
        (
            "day,date,A,B\nTue,2024-01-02,0.1,-0.2\nWed,2024-01-03,0.3,0.4\n",
            "Column 'day' labels the rows",
        ),
        (
            "date,A,settled,B\n2024-01-02,0.1,2024-01-04,-0.2\n2024-01-03,0.3,,0.4\n",
            "Column 'settled' holds dates and was left out.",
        ),
        (
            ",caldt,A,B\n0,20240102,0.1,-0.2\n1,20240103,0.3,0.4\n",
            "Column 'caldt' holds dates and was left out.",
        ),
    ] {
        let returns = plain(text);
        assert_eq!(
            (returns.names.join(" "), &returns.values[..]),
            ("A B".into(), &values[..]),
            "{text}"
        );
        assert!(dates(&returns)[0].starts_with("2024"), "{text}: {:?}", returns.dates);
        assert!(notes(&returns).contains(note), "{note}: {:?}", returns.notes);
        assert_eq!(returns.notes.is_empty(), note.is_empty(), "{:?}", returns.notes);
    }
}

#[test]
fn tables_on_their_side_are_turned() {
    let text = "ticker,2024-01-02,2024-01-03,2024-01-04\nA,0.1,0.3,0.5\nB,-0.2,0.4,-0.6\n";
    for (old, new) in [("", ""), ("-01-", "01"), ("ticker", "")] {
        let returns = plain(&text.replace(old, new));
        assert_eq!(returns.names, ["A", "B"], "{old}");
        assert_eq!(returns.values, [0.1, -0.2, 0.3, 0.4, 0.5, -0.6]);
        assert_eq!(dates(&returns)[2], "2024-01-04".replace(old, new));
        assert_eq!(returns.notes.len(), 1, "{:?}", returns.notes);
        assert!(returns.notes[0].contains("a line was taken for an asset"));
    }
    let options = ReadOptions {
        columns: texts(&["B"]),
        from: Some("2024-01-03".to_owned()),
        ..ReadOptions::default()
    };
    assert_eq!(read(text, &options).values, [0.4, -0.6]);
    let gap = text.replace("0.4", "NA");
    refused(&gap, &ReadOptions::default(), &["line 3, column 3 (B)", "'NA' is a missing value"]);
    let twice = text.replace("\nB", "\nA");
    refused(&twice, &ReadOptions::default(), &["two of its lines are named 'A'"]);
    // Bonds may be named by the day they end.
    let bonds = "date,2030-01-31,2031-01-31\n2024-01-02,0.1,-0.2\n2024-01-03,0.3,0.4\n";
    assert_eq!(plain(bonds).names, ["2030-01-31", "2031-01-31"]);
    let bare = plain("2030-01-31,2031-01-31\n0.1,-0.2\n0.3,0.4\n");
    assert!(notes(&bare).contains("transpose the table"), "{:?}", bare.notes);
}

#[test]
fn tables_in_memory_are_judged_alike() {
    let worth = wealth(50, [100.0; 3]);
    let names = || texts(&["A", "year", "C"]);
    let days: Vec<String> = (0..50).map(day).collect();
    let values: Vec<f64> =
        worth.iter().enumerate().flat_map(|(row, w)| [w[0], 1990.0 + row as f64, w[2]]).collect();
    let panel = Panel::new(names(), Some(days), values).unwrap().called("frame");
    let error = panel.clone().returns(&ReadOptions::default()).unwrap_err().to_string();
    assert!(error.starts_with("frame: looks like prices"), "{error}");
    let options = ReadOptions {
        prices: Prices::Log,
        columns: texts(&["C"]),
        from: Some(day(10)),
        ..ReadOptions::default()
    };
    let returns = panel.returns(&options).unwrap();
    assert_eq!((returns.names.join(" "), returns.rows()), ("C".into(), 40));
    assert_eq!(returns.values[0], (worth[10][2] / worth[9][2]).ln());
    assert!(Panel::new(names(), None, vec![1.0; 4]).is_err());
    assert!(Panel::new(names(), Some(texts(&["x"])), vec![1.0; 6]).is_err());
    assert!(Panel::new(names(), None, vec![f64::INFINITY; 3]).is_err());
}

#[test]
fn workbooks_are_told_to_be_saved_as_text() {
    let workbook = crate::archive::zip(
        &[("[Content_Types].xml", b"<x/>".to_vec()), ("xl/workbook.xml", b"<x/>".to_vec())],
        true,
    );
    for bytes in [&workbook[..], b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 old"] {
        let error = parse_returns(bytes, "book.xlsx", &ReadOptions::default()).unwrap_err();
        let error = error.to_string();
        assert!(error.starts_with("book.xlsx: is a workbook"), "{error}");
        assert!(error.contains("CSV UTF-8"), "{error}");
    }
}

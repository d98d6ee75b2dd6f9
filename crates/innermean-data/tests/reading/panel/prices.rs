//! Prices, gross returns, mixed units and cash: numbers that are no returns, or odd ones.

use super::*;

#[test]
fn prices_of_any_level_are_refused_with_the_remedy() {
    let remedy = ["looks like prices, not returns", "'A'", "`--prices simple`", "`--prices log`"];
    for starts in [[100.0; 3], [17.0, 250.0, 4000.0], [1.0, 1.3, 0.8], [1.1, 0.0067, 150.0]] {
        let worth = wealth(600, starts);
        let text = table(600, &["A", "B", "C"], |row, j| worth[row][j]);
        refused(&text, &ReadOptions::default(), &remedy);
    }
    // Three rows of an index, and prices in a file without header or dates.
    refused("A,B\n100,50\n101,51\n99,50.5\n", &ReadOptions::default(), &remedy);
    refused("100 50\n101 51\n99 50.5\n", &ReadOptions::default(), &["'a01'"]);
    // Years apart, steps are larger.
    let text = "year,A,B\n2001,100,80\n2002,118,85\n2003,104,97\n2004,130,90\n";
    refused(text, &ReadOptions::default(), &remedy);
    // One of them gapped, one with a mistake.
    let worth = wealth(300, [100.0; 3]);
    let text = table(
        300,
        &["A", "B", "C"],
        |row, j| if (row, j) == (7, 1) { -5.0 } else { worth[row][j] },
    );
    refused(&text, &ReadOptions::default(), &remedy);
}

#[test]
fn returns_of_every_kind_are_no_prices() {
    let market = market(600);
    for (scale, shift) in [(1.0, 0.0), (0.01, 0.0), (100.0, 0.0), (1e-6, 0.0)] {
        let text = table(600, &["A", "B", "C"], |row, j| scale * market.row(row)[j] + shift);
        assert!(plain(&text).notes.is_empty(), "{scale}");
    }
    // Cash: all positive, tiny, and slow.
    let rate = |row: usize, j: usize| 0.3 + 0.2 * (0.01 * row as f64 + j as f64).sin();
    for scale in [1.0, 0.01, 0.0001] {
        let text = table(600, &["bills", "notes", "fund"], |row, j| scale * rate(row, j));
        assert!(plain(&text).notes.is_empty(), "{scale}");
    }
    // A riskless rate beside factors, as in Kenneth French's files.
    let text = table(600, &["Mkt-RF", "SMB", "RF"], |row, j| {
        if j == 2 { 0.1 * rate(row, 0) } else { market.row(row)[j] }
    });
    assert!(plain(&text).notes.is_empty());
    // All positive by chance: a few rows, or good years.
    assert_eq!(plain("A,B\n1.5,0.2\n0.4,2.5\n2.2,1.1\n").assets(), 2);
    assert_eq!(plain("A,B\n15,12\n24,11\n8,26\n31,13\n").assets(), 2);
}

#[test]
fn gross_returns_are_no_prices_and_get_a_note() {
    let market = market(400);
    let text = table(400, &["A", "B", "C"], |row, j| 1.0 + market.row(row)[j] / 100.0);
    let returns = plain(&text);
    assert!(notes(&returns).contains("gross returns"), "{:?}", returns.notes);
    assert_eq!(returns.row(0)[0], 1.0 + market.row(0)[0] / 100.0);
}

#[test]
fn a_level_among_returns_is_named() {
    let (market, worth) = (market(300), wealth(300, [1500.0; 3]));
    let text =
        table(
            300,
            &["A", "SPX", "B"],
            |row, j| {
                if j == 1 { worth[row][0] } else { market.row(row)[j] }
            },
        );
    let parts = ["'SPX' looks like prices or another level", "`--except SPX`", "`--prices none`"];
    refused(&text, &ReadOptions::default(), &parts);
    let without = ReadOptions { except: texts(&["SPX"]), ..ReadOptions::default() };
    assert_eq!(read(&text, &without).names, ["A", "B"]);
    assert_eq!(read(&text, &with_prices(Prices::Kept)).assets(), 3);
}

#[test]
fn returns_are_made_of_prices() {
    let text = "date,A,B\n2024-01-02,100,50\n2024-01-03,110,45\n2024-01-04,99,54\n";
    let returns = read(text, &with_prices(Prices::Simple));
    let simple = [110.0 / 100.0 - 1.0, 45.0 / 50.0 - 1.0, 99.0 / 110.0 - 1.0, 54.0 / 45.0 - 1.0];
    assert_eq!(returns.values, simple);
    assert_eq!(dates(&returns), ["2024-01-03", "2024-01-04"]);
    assert!(notes(&returns).contains("Simple returns were made of 3 rows of prices, as fractions"));
    let log = read(text, &with_prices(Prices::Log));
    for (log, simple) in log.values.iter().zip(simple) {
        assert!((log - f64::ln_1p(simple)).abs() < 1e-15);
    }
    // The newest first, as many sites write them.
    let (header, rows) = text.split_once('\n').unwrap();
    let newest: Vec<&str> = rows.lines().rev().collect();
    let turned = read(&format!("{header}\n{}\n", newest.join("\n")), &with_prices(Prices::Simple));
    assert_eq!((&turned.values, &turned.dates), (&returns.values, &returns.dates));
    assert!(notes(&turned).contains("newest row comes first"), "{:?}", turned.notes);
}

#[test]
fn prices_of_which_no_return_can_be_made() {
    let simple = with_prices(Prices::Simple);
    let head = "date,A,B\n2024-01-02,100,50\n";
    let tail = "2024-01-05,99,54\n2024-01-08,98,55\n";
    for (price, parts) in [
        ("0", ["line 3, column 3 (B): a price of 0 has no return", "above 0"]),
        ("-4.5", ["line 3, column 3 (B): a price of -4.5", "`--except`"]),
        ("", ["line 3, column 3 (B): an empty cell is a missing value", "first of 1"]),
    ] {
        refused(&format!("{head}2024-01-03,110,{price}\n{tail}"), &simple, &parts);
    }
    // Left out, a gap takes the two returns beside it along.
    let gap = format!("{head}2024-01-03,110,51\n2024-01-04,111,\n{tail}");
    let options = ReadOptions { missing: Missing::DropRows, ..simple.clone() };
    let returns = read(&gap, &options);
    assert_eq!(dates(&returns), ["2024-01-03", "2024-01-08"]);
    assert_eq!((returns.dropped.rows, returns.row(1)[1]), (2, 55.0 / 54.0 - 1.0));
    refused(
        "date,A\n2024-01-03,100\n2024-01-02,101\n2024-01-04,102\n",
        &simple,
        &["line 3: '2024-01-02' comes after '2024-01-03'", "sort the rows"],
    );
    refused("A\n100\n101\n", &simple, &["1 row of returns remain", "at least 2"]);
}

#[test]
fn returns_in_mixed_units_get_a_note() {
    let market = market(250);
    let names = ["A", "B", "C", "D", "E"];
    let scaled = |small: &[usize]| {
        table(250, &names, |row, j| {
            let x = market.row(row)[j % 3] * (1.0 + j as f64 / 5.0);
            if small.contains(&j) { x / 100.0 } else { x }
        })
    };
    let returns = plain(&scaled(&[1, 3]));
    assert!(notes(&returns).contains("mixed units"), "{:?}", returns.notes);
    assert!(notes(&returns).contains("2 columns (B, D) are"), "{:?}", returns.notes);
    assert!(notes(&plain(&scaled(&[0, 1, 2, 3]))).contains("1 column (E)"));
    assert!(plain(&scaled(&[])).notes.is_empty());
    assert!(plain(&scaled(&[0, 1, 2, 3, 4])).notes.is_empty());
}

#[test]
fn cash_is_allowed_where_it_is_said() {
    let text = "A,cash,bills\n0.1,0.01,0.02\n-0.2,0.01,0.02\n0.3,0.01,0.02\n";
    let with = |cash: Cash, except: &[&str]| ReadOptions {
        cash,
        except: texts(except),
        ..ReadOptions::default()
    };
    refused(text, &with(Cash::Refused, &[]), &["'cash' (always 0.01), 'bills'", "`--except`"]);
    refused(text, &with(Cash::One, &[]), &["any amount could be moved", "all but one"]);
    let one = read(text, &with(Cash::One, &["bills"]));
    assert_eq!(
        one.notes,
        [
            "Column 'cash' (always 0.01) has the same value in every row: an asset without risk, such as cash."
        ]
    );
    assert_eq!(read(text, &with(Cash::Any, &[])).assets(), 3);
}

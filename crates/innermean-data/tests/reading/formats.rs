//! Every form of a table of returns that is read without being told.

use innermean_data::{Missing, ReadOptions, Returns, parse_returns};

fn read(text: &str) -> Returns {
    read_with(text, Missing::Error)
}

fn read_with(text: &str, missing: Missing) -> Returns {
    match parse_returns(
        text.as_bytes(),
        "table.csv",
        &ReadOptions { missing, ..ReadOptions::default() },
    ) {
        Ok(returns) => returns,
        Err(error) => panic!("{error}\nin\n{text}"),
    }
}

fn dates(returns: &Returns) -> Vec<&str> {
    returns
        .dates
        .as_ref()
        .map(|dates| dates.iter().map(String::as_str).collect())
        .unwrap_or_default()
}

const VALUES: [f64; 4] = [0.1, -0.2, 0.3, 0.4];

#[test]
fn each_delimiter() {
    for delimiter in [",", ";", "\t", "|", " ", "   ", ", ", " \t "] {
        let text = "date,a,b\n2024-01-02,0.1,-0.2\n2024-01-03,0.3,0.4\n".replace(',', delimiter);
        let returns = read(&text);
        assert_eq!(returns.values, VALUES, "{delimiter:?}");
        assert_eq!(returns.names, ["a", "b"], "{delimiter:?}");
        assert_eq!(dates(&returns), ["2024-01-02", "2024-01-03"]);
        assert_eq!((returns.rows(), returns.assets()), (2, 2));
        assert_eq!(returns.source, "table.csv");
        assert!(returns.notes.is_empty(), "{:?}", returns.notes);
    }
}

#[test]
fn byte_order_mark_line_ends_comments_and_blank_lines() {
    let returns = read(
        "\u{feff}# made by hand\r\n\r\na,b\r\n0.1,-0.2\r\n\r\n# half way\r\n0.3,0.4\r\n\r\n  \r\n",
    );
    assert_eq!(returns.values, VALUES);
    assert_eq!(returns.names, ["a", "b"]);
    assert_eq!(returns.dates, None);
    assert!(returns.notes.is_empty(), "{:?}", returns.notes);
    assert_eq!(read("a,b\r0.1,-0.2\r0.3,0.4\r").values, VALUES);
    assert_eq!(read("a,b\n0.1,-0.2\n0.3,0.4").values, VALUES, "no line end at the end");
}

#[test]
fn quoted_cells() {
    let returns = read(
        "\"date\",\"small, growth\",\"say \"\"b\"\"\"\n\"2024-01-02\",\"0.1\",-0.2\n2024-01-03,0.3,\"0.4\"\n",
    );
    assert_eq!(returns.names, ["small, growth", "say \"b\""]);
    assert_eq!(returns.values, VALUES);
}

#[test]
fn quoted_cells_over_several_lines() {
    let returns = read(
        "\"date\",\"small\n\ngrowth\",b\r\n\"2024-01-02\r\n\",0.1,-0.2\r\n2024-01-03,\"0.3\n\",0.4",
    );
    assert_eq!(returns.names, ["small\n\ngrowth", "b"]);
    assert_eq!(returns.values, VALUES);
    // A quote inside of a cell opens none.
    let returns = read("date,5\" pipe,b\n2024-01-02,0.1,-0.2\n2024-01-03,0.3,0.4\n");
    assert_eq!(returns.names, ["5\" pipe", "b"]);
    assert_eq!(returns.values, VALUES);
}

#[test]
fn no_header() {
    let returns = read("0.1,-0.2\n0.3,0.4\n");
    assert_eq!(returns.names, ["a01", "a02"]);
    assert_eq!(returns.values, VALUES);
    let wide = ["0.1 ".repeat(120), "0.2 ".repeat(120)].join("\n");
    assert_eq!(read(&wide).names[0], "a001");
    assert_eq!(read("0.1\n0.2\n0.3\n").values, [0.1, 0.2, 0.3]);
}

#[test]
fn dates_in_many_forms_with_and_without_a_header() {
    for pair in [
        ["2024-01-02", "2024-01-03"],
        ["20240102", "20240103"],
        ["202401", "202402"],
        ["2024/01/02", "2024/01/03"],
        ["02.01.2024", "03.01.2024"],
        ["1/2/2024", "1/23/2024"],
        ["2024-01", "2024-02"],
        ["2024-01-02 00:00:00", "2024-01-03 00:00:00"],
        ["2024-01-02T16:00:00Z", "2024-01-03T16:00:00Z"],
        ["2023", "2024"],
    ] {
        for header in ["", "Portfolio,a,b\n", "date,a,b\n", ",a,b\n"] {
            let text = format!("{header}{},0.1,-0.2\n{},0.3,0.4\n", pair[0], pair[1]);
            let returns = read(&text);
            assert_eq!(dates(&returns), pair, "{text}");
            assert_eq!(returns.values, VALUES, "{text}");
        }
    }
}

#[test]
fn index_columns() {
    for header in ["", "Unnamed: 0", "index", "Date", "time"] {
        let returns = read(&format!("{header},a,b\n0,0.1,-0.2\n1,0.3,0.4\n"));
        assert_eq!(dates(&returns), ["0", "1"], "{header}");
        assert_eq!(returns.names, ["a", "b"]);
    }
    // A table without names, as data frames write it.
    let returns = read(",0,1\n0,0.1,-0.2\n1,0.3,0.4\n");
    assert_eq!((returns.names, returns.values), (vec!["0".into(), "1".into()], VALUES.to_vec()));
    let returns = read("0,1,2\n0.1,-0.2,1\n0.3,0.4,2\n");
    assert_eq!((returns.rows(), returns.names.join(" ")), (2, "0 1 2".to_owned()));
    assert!(returns.notes[0].contains("Line 1 was taken for a header"), "{:?}", returns.notes);
    let returns = read("date,10107,14593\n2024-01-02,0.1,-0.2\n2024-01-03,0.3,0.4\n");
    assert_eq!(returns.names, ["10107", "14593"]);
    // Row names without a header of their own.
    let returns = read("a b\n1 0.1 -0.2\n2 0.3 0.4\n");
    assert_eq!((dates(&returns), &returns.values[..]), (vec!["1", "2"], &VALUES[..]));
    let returns = read("day,a,b\nMonday,0.1,-0.2\nTuesday,0.3,0.4\n");
    assert_eq!(dates(&returns), ["Monday", "Tuesday"]);
    assert!(returns.notes[0].contains("Monday"), "{:?}", returns.notes);
}

#[test]
fn returns_are_not_taken_for_an_index() {
    let returns = read("index,fund\n0.1,-0.2\n0.3,0.4\n");
    assert_eq!((returns.dates, returns.names), (None, vec!["index".into(), "fund".into()]));
    assert_eq!(
        read("a,b\n1,-2\n2,4\n").assets(),
        2,
        "whole numbers under an ordinary name are returns"
    );
    assert_eq!(read("1,-2\n2,4\n").assets(), 2);
    assert_eq!(read("1,2,3\n4,5,6\n").values, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(read("2024-01-02,1,2,3\n2024-01-03,4,5,6\n").rows(), 2);
    assert_eq!(read("Update,b\n0.1,-0.2\n0.3,0.4\n").assets(), 2);
    assert_eq!(read("12.01,1.5\n12.02,3.5\n").assets(), 2);
}

#[test]
fn decimal_commas() {
    for delimiter in [";", "\t", "|", "  "] {
        let returns = read(&"02.01.2024;0,1;-0,2\n03.01.2024;0,3;4e-1\n".replace(';', delimiter));
        assert_eq!(returns.values, VALUES, "{delimiter:?}");
        assert_eq!(dates(&returns), ["02.01.2024", "03.01.2024"]);
    }
    assert_eq!(read("1,5e-6;0,3\n2,5e-6;2\n").values, [1.5e-6, 0.3, 2.5e-6, 2.0]);
    assert_eq!(read("1,25;0,3\n-1;2\n").values, [1.25, 0.3, -1.0, 2.0]);
}

#[test]
fn percent_signs_on_all_values() {
    let returns = read("a,b\n0.1%,-0.2%\n0.3 %,0.4%\n");
    assert_eq!(returns.values, VALUES);
    assert!(returns.notes[0].contains("percent"), "{:?}", returns.notes);
}

#[test]
fn spellings_of_numbers() {
    assert_eq!(read("a;b\n 1e5 ;+0.3\n-.5;5.\n").values, [1e5, 0.3, -0.5, 5.0]);
}

#[test]
fn delimiters_at_the_end_of_lines_and_of_the_file() {
    let returns = read("date,a,b,\n2024-01-02,0.1,-0.2,\n2024-01-03,0.3,0.4,\n");
    assert_eq!((returns.names.len(), &returns.values[..]), (2, &VALUES[..]));
    assert_eq!(read("date,a,b\n2024-01-02,0.1,-0.2,\n2024-01-03,0.3,0.4,\n").values, VALUES);
    assert_eq!(read("date,a,b\n2024-01-02,0.1,-0.2\n2024-01-03,0.3,0.4\n,,\n,,\n").values, VALUES);
}

#[test]
fn missing_values_are_dropped_on_request() {
    let text = "date,a,b,c\n2024-01-02,1,2,3\n2024-01-03,,5,6\n2024-01-04,7,8,9\n2024-01-05,NA,1,-99.990\n";
    let rows = read_with(text, Missing::DropRows);
    assert_eq!(rows.values, [1.0, 2.0, 3.0, 7.0, 8.0, 9.0]);
    assert_eq!(dates(&rows), ["2024-01-02", "2024-01-04"]);
    assert_eq!((rows.dropped.rows, rows.dropped.columns.len()), (2, 0));
    let assets = read_with(text, Missing::DropColumns);
    assert_eq!(assets.values, [2.0, 5.0, 8.0, 1.0]);
    assert_eq!(assets.names, ["b"]);
    assert_eq!(
        (assets.dropped.rows, assets.dropped.columns),
        (0, vec!["a".to_owned(), "c".to_owned()])
    );
    for word in
        ["NA", "N/A", "NaN", "nan", "null", ".", "-", "-99.99", "-999", "-999.0", "-999.00", "\"\""]
    {
        let text = format!("a,b\n0.1,-0.2\n{word},7\n0.3,0.4\n");
        let returns = read_with(&text, Missing::DropRows);
        assert_eq!((&returns.values[..], returns.dropped.rows), (&VALUES[..], 1), "{word}");
    }
}

const FRENCH_CSV: &str = "This file was made for a test, in the form of the library's files.\r
Missing data are indicated by -99.99 or -999.\r
\r
\r
  Average Value Weighted Returns -- Daily\r
,SMALL LoBM,ME1 BM2\r
19260701,    0.10,   -0.20\r
19260702,    0.30,    0.40\r
\r
\r
  Average Equal Weighted Returns -- Daily\r
,SMALL LoBM,ME1 BM2\r
19260701,    9.10,    9.20\r
19260702,    9.30,    9.40\r
\r
Copyright 2024 Kenneth R. French\r
";

#[test]
fn french_csv_uses_the_first_table() {
    let returns = read(FRENCH_CSV);
    assert_eq!(returns.names, ["SMALL LoBM", "ME1 BM2"]);
    assert_eq!(returns.values, VALUES);
    assert_eq!(dates(&returns), ["19260701", "19260702"]);
    assert_eq!(returns.notes.len(), 2, "{:?}", returns.notes);
    assert!(returns.notes[0].contains("3 lines of text before"), "{:?}", returns.notes);
    assert!(returns.notes[1].contains("further tables from line 11 on"), "{:?}", returns.notes);
    let coded = FRENCH_CSV.replace("   -0.20", "  -99.99");
    assert!(parse_returns(coded.as_bytes(), "x", &ReadOptions::default()).is_err());
}

#[test]
fn french_factors_with_a_copyright_line_only() {
    let returns = read(
        "This file was made for a test.\nThe rate is from somewhere, Inc.\n\n,Mkt-RF,SMB,HML,RF\n\
         192607,    2.96,   -2.56,   -2.43,    0.22\n192608,    2.64,   -1.17,    3.82,    0.25\n\n\
         \x20Annual Factors: January-December \n,Mkt-RF,SMB,HML,RF\n  1927,   29.47,   -2.04,   -4.54,    3.12\n",
    );
    assert_eq!((returns.rows(), returns.names.join(" ")), (2, "Mkt-RF SMB HML RF".to_owned()));
    assert!(
        returns.notes.iter().any(|note| note.contains("further tables")),
        "{:?}",
        returns.notes
    );
    let returns = read(
        "This file was made for a test.\n\n,Mkt-RF,SMB\n19260701,0.10,-0.20\n19260702,0.30,0.40\nCopyright 2024 Somebody\n",
    );
    assert_eq!(returns.values, VALUES);
    assert!(
        returns.notes[1].contains("Ignored the text below the table, from line 6 on"),
        "{:?}",
        returns.notes
    );
}

#[test]
fn french_plain_text() {
    let text = "  This file was made for a test of 2 portfolios in 2024.\n\n  Average Value Weighted Returns -- Daily\n\
                \x20         Agric  Food\n19260701   0.10  -0.20\n19260702   0.30   0.40\n\n\n\
                \x20 Average Equal Weighted Returns -- Daily\n          Agric  Food\n19260701   9.10   9.20\n\n\
                Copyright 2024 Somebody\n";
    let returns = read(text);
    assert_eq!(
        (&returns.names[..], &returns.values[..]),
        (&["Agric".to_owned(), "Food".into()][..], &VALUES[..])
    );
    // Names with blanks are told apart by wider gaps, or else given up.
    let wide = read(&text.replace("Agric  Food", "SMALL LoBM  BIG HiBM"));
    assert_eq!(wide.names, ["SMALL LoBM", "BIG HiBM"]);
    let narrow = read(&text.replace("Agric  Food", "SMALL LoBM BIG HiBM"));
    assert_eq!(
        (&narrow.names[..], &narrow.values[..]),
        (&["a01".to_owned(), "a02".into()][..], &VALUES[..])
    );
    assert!(narrow.notes[0].contains("Line 4"), "{:?}", narrow.notes);
}

/// Univariate sorts are named by their breakpoints: half of each name is a number.
#[test]
fn french_text_with_numbers_in_the_names() {
    let text = "This file was created from a data base.\n\n  Value Weight Returns -- Daily\n\
                           <= 0   Lo 30   Med 40   Hi 30\n\
                19630701    0.12    0.34   -0.56    0.78\n\
                19630702   -0.10    0.20    0.30    0.40\n\
                19630703    0.11   -0.21    0.31   -0.41\n";
    let returns = parse_returns(text.as_bytes(), "sorts.txt", &ReadOptions::default()).unwrap();
    assert_eq!((returns.rows(), returns.assets()), (3, 4));
    assert_eq!(returns.row(0), [0.12, 0.34, -0.56, 0.78]);
    assert_eq!(returns.names, ["<= 0", "Lo 30", "Med 40", "Hi 30"]);
}

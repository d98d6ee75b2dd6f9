//! Every way a table of returns can be wrong, and what the message says about it.

use std::fs;
use std::path::Path;

use innermean_data::{Missing, ReadError, ReadOptions, parse_returns, read_returns};

fn error_with(text: impl AsRef<[u8]>, missing: Missing) -> ReadError {
    match parse_returns(
        text.as_ref(),
        "table.csv",
        &ReadOptions { missing, ..ReadOptions::default() },
    ) {
        Ok(returns) => panic!("read as {returns:?}"),
        Err(error) => error,
    }
}

/// Asserts that the message has all parts, and is one line.
fn assert_says(error: &ReadError, parts: &[&str]) {
    let message = error.to_string();
    for part in parts {
        assert!(message.contains(part), "'{part}' is not in: {message}");
    }
    assert!(!message.contains('\n') && message.len() < 400, "{message}");
}

fn says(text: impl AsRef<[u8]>, parts: &[&str]) {
    assert_says(&error_with(text, Missing::Error), parts);
}

#[test]
fn files_that_cannot_be_opened() {
    let directory = tempfile::tempdir().unwrap();
    let options = ReadOptions::default();
    let error = read_returns(&directory.path().join("none.csv"), &options).unwrap_err();
    assert!(matches!(error, ReadError::NotFound { .. }));
    assert_says(&error, &["none.csv: no such file"]);
    let error = read_returns(directory.path(), &options).unwrap_err();
    assert!(matches!(error, ReadError::Directory { .. }));
    assert_says(&error, &["is a directory"]);
    let error = read_returns(Path::new("a\0b"), &options).unwrap_err();
    assert!(matches!(error, ReadError::Unreadable { .. }));
    assert_says(&error, &["cannot be read", "permissions"]);
    let file = directory.path().join("good.csv");
    fs::write(&file, "a,b\n0.1,-0.2\n0.3,0.4\n").unwrap();
    assert_eq!(read_returns(&file, &options).unwrap().source, file.display().to_string());
}

#[test]
fn bytes_that_are_no_text() {
    says(b"a,b\n0.1,0.2\n\xff,1\n", &["table.csv, line 3", "not UTF-8", "save the file"]);
    says(b"PK\x03\x04\x00\x00", &["is damaged", "ends too early"]);
    says(b"\x1f\x8b\x08", &["is damaged", "ends too early"]);
}

#[test]
fn a_long_name_is_shortened_and_the_flag_takes_its_number() {
    let table = format!("a,{}\n0.1,0.2\n0.3,x\n", "b".repeat(3000));
    says(table, &["'x' is not a number", "leave the column out by `--except 2`"]);
}

#[test]
fn too_little_data() {
    says("", &["table.csv: is empty"]);
    says(" \n# only a remark\n\n", &["is empty"]);
    says("date,a,b\n", &["no rows of data after line 1", "at least two"]);
    says("# remark\ndate,a,b\n\n\n", &["no rows of data after line 2"]);
    says("date,a,b\n2024-01-02,0.1,0.2\n", &["line 2", "only row of data", "two"]);
    says("0.1,0.2", &["line 1", "only row"]);
    says("date\n2024-01-02\n2024-01-03\n", &["line 2", "no column of numbers beside the dates"]);
}

#[test]
fn ragged_rows() {
    let parts = ["table.csv, line 4: found 2 fields, expected 3 as in line 1"];
    says("date,a,b\n2024-01-02,0.1,0.2\n\n2024-01-03,0.1\n2024-01-04,0.1,0.2\n", &parts);
    says(
        "date,a,b\n2024-01-02,0.1\n2024-01-03,0.1,0.2\n2024-01-04,0.1,0.3",
        &["line 2: found 2", "3 as in line 1"],
    );
    says("0.1,0.2\n0.3,0.4\n0.5\n", &["line 3: found 1 field, expected 2 as in line 1"]);
    // Whole numbers, which might be taken for one column with decimal commas.
    says("a,b\n1,2\n3\n4,5\n", &["line 3: found 1 field, expected 2 as in line 1"]);
    says("0.1 0.2\n0.3 0.4\n0.5 0.6 0.7\n", &["line 3: found 3", "expected 2 as in line 1"]);
    says(
        "date,a\n2024-01-02,0.1,0.2\n2024-01-03,0.1,0.2\n",
        &["line 2: found 3", "expected 2 as in line 1"],
    );
    says("a,b,c\n0.1,0.2\n0.3,0.4\n", &["line 2: found 2", "expected 3 as in line 1"]);
    says("a,b\n0.1,0.2\n0.3,0.4\nfoo,bar,baz\n", &["line 4: found 3", "expected 2"]);
}

#[test]
fn text_among_numbers() {
    let parts = ["table.csv, line 3, column 3 (b): 'abc' is not a number", "expected one such as"];
    says("date,a,b\n2024-01-02,0.1,0.2\n2024-01-03,0.3,abc\n", &parts);
    says("date,a,b\n2024-01-02,0.3,abc\n2024-01-03,0.1,0.2\n", &["line 2, column 3 (b): 'abc'"]);
    says("date,a,b\n2024-01-02,x,y\n2024-01-03,0.1,0.2\n", &["line 2, column 2 (a): 'x'"]);
    says("abc,0.1,0.2\n0.3,0.1,0.2\n", &["line 1, column 1: 'abc'"]);
    says("a,b\n0.1,0.2\n\nfoo,0.2\n", &["line 4, column 1 (a): 'foo'"]);
    says(
        "a;b\n0.1;0.2\n1,234.5;0.2\n",
        &["line 3, column 1 (a): '1,234.5'", "without thousands separators"],
    );
    says("a;b\n0,1;0,2\n1.234,5;0,2\n", &["line 3, column 1 (a): '1.234,5'"]);
    says("a;b\n0.1;0.2\n0,1;0.2\n", &["line 3", "'0,1' is not a number"]);
    says("a,b\n\"1,234\",0.2\n0.1,0.2\n", &["'1,234' is not a number"]);
    says("date,a,b\n2024-01-02,x,y\n2024-01-03,u,v\n", &["line 2, column 2 (a): 'x'"]);
    says("a,b\nu,v\nx,y\n", &["is not a number"]);
    let prose =
        "Some words\n\n,a,b\n20240102,0.1,0.2\n20240103,0.3,0.4\nfoo,bar,baz\n20240105,0.1,0.2\n";
    says(prose, &["line 6, column 2 (a): 'bar'"]);
    says("a,b\n0.1bp,0.2\n0.3bp,0.4\n", &["line 2, column 1 (a): '0.1bp' is not a number"]);
    says("<html>\n<body>not found</body>\n</html>", &["is not a number"]);
    let long = format!("a,b\n0.1,0.2\n0.1,{}\n", "x".repeat(1000));
    says(long, &["xxx…"]);
}

#[test]
fn infinities() {
    for text in ["inf", "-inf", "Infinity", "1e999"] {
        says(
            format!("a,b\n0.1,0.2\n0.3,{text}\n"),
            &["line 3, column 2 (b)", text, "is not a finite number"],
        );
    }
}

#[test]
fn unclosed_quotes() {
    says(
        "date,a,b\n2024-01-02,0.1,0.2\n2024-01-03,\"0.3,0.4\n",
        &["line 3, column 2 (a)", "quote", "not closed"],
    );
}

#[test]
fn lines_are_counted_within_quoted_cells() {
    says(
        "date,\"a\n\nx\",b\n2024-01-02,0.1,0.2\n2024-01-03,0.3,y\n",
        &["line 5, column 3 (b): 'y' is not a number"],
    );
    says(
        "date,a,b\n\"2024-01-02\n\",0.1,0.2\n\"2024-01-03\n\",\"0.3\n1\",0.4\n",
        &["line 4, column 2 (a)", "is not a number"],
    );
    // A stray quote is reported where it is, however much lies below.
    let rows = "2024-01-03,0.3,0.4\n".repeat(10_000);
    says(
        format!("date,a,b\n2024-01-02,\"0.1,0.2\n{rows}2024-01-03,0.5,\"0.4\n"),
        &["line 2, column 2 (a)", "quote", "not closed"],
    );
}

#[test]
fn percent_signs_on_some_values() {
    says("a,b\n0.1%,0.2%\n0.3%,0.4\n", &["line 3, column 2 (b): '0.4' lacks a percent sign"]);
    says("a,b\n0.1,0.2\n0.3%,0.4\n", &["line 3, column 1 (a): '0.3%' has a percent sign"]);
}

#[test]
fn missing_values() {
    let text = "date,a,b\n2024-01-02,0.1,0.2\n2024-01-03,0.3,\n2024-01-04,NA,-999\n";
    let parts = [
        "table.csv, line 3, column 3 (b)",
        "an empty cell",
        "first of 3",
        "`--missing drop-rows`",
        "drop-columns`",
    ];
    says(text, &parts);
    says("a,b\n0.1,0.2\n-99.99,3\n", &["line 3, column 1 (a): '-99.99' is a missing value"]);
    says("a,b\nNA,NA\nNA,NA\n", &["line 2, column 1 (a)", "first of 4"]);
    let parts = ["1 of 3 rows and 2 of 2 assets", "at least 2 rows", "`--missing drop-columns`"];
    assert_says(&error_with(text, Missing::DropRows), &parts);
    assert_says(
        &error_with(text, Missing::DropColumns),
        &["3 of 3 rows and 0 of 2 assets", "`--missing drop-rows`"],
    );
}

#[test]
fn constant_columns() {
    says(
        "a,b,c\n1,0,3\n1,5,3\n",
        &[
            "columns 'a' (always 1), 'c' (always 3) have the same value",
            "leave them out by `--except`",
        ],
    );
    says(
        "a,b\n0.25,0\n0.25,5\n",
        &["column 'a' (always 0.25) has the same value in every row", "leave it out by `--except`"],
    );
    let text = "a,b\n1,2\n,3\n1,4\n";
    assert_says(&error_with(text, Missing::DropRows), &["'a' (always 1)"]);
}

#[test]
fn names_given_twice() {
    says(
        "date,x,y,x\n2024-01-02,1,2,3\n2024-01-03,2,3,4\n",
        &["line 1", "columns 2 and 4 are both named 'x'", "rename"],
    );
}

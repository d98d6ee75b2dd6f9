//! Tables of any columns: what is found by name, what is refused, and what the messages say.

use innermean_data::{Ask, Columns, FeatureColumns, Frame, Missing, ReadError, parse_frame};
use proptest::prelude::*;

fn asks(names: &[&str]) -> Vec<Ask> {
    names.iter().map(|&name| Ask::required(name)).collect()
}

fn others(except: &[&str]) -> FeatureColumns {
    FeatureColumns::Others { except: except.iter().map(|&name| name.to_owned()).collect() }
}

fn named(names: &[&str]) -> FeatureColumns {
    FeatureColumns::Named(names.iter().map(|&name| name.to_owned()).collect())
}

/// Keys, numbers and features by name.
fn columns(keys: &[&str], numbers: &[&str], features: FeatureColumns) -> Columns {
    Columns { keys: asks(keys), numbers: asks(numbers), features }
}

fn parse(text: &str, columns: &Columns) -> Result<Frame, ReadError> {
    parse_frame(text.as_bytes(), "table.csv", columns, Missing::Error)
}

fn read(text: &str, columns: &Columns) -> Frame {
    read_with(text, columns, Missing::Error)
}

fn read_with(text: &str, columns: &Columns, missing: Missing) -> Frame {
    match parse_frame(text.as_bytes(), "table.csv", columns, missing) {
        Ok(frame) => frame,
        Err(error) => panic!("{error}\nin\n{text}"),
    }
}

fn says(text: &str, columns: &Columns, parts: &[&str]) {
    says_with(text, columns, Missing::Error, parts);
}

fn says_with(text: &str, columns: &Columns, missing: Missing, parts: &[&str]) {
    let error = match parse_frame(text.as_bytes(), "table.csv", columns, missing) {
        Ok(frame) => panic!("read as {frame:?}"),
        Err(error) => error.to_string(),
    };
    for part in parts {
        assert!(error.contains(part), "'{part}' is not in: {error}");
    }
    assert!(
        error.starts_with("table.csv") && !error.contains('\n') && error.len() < 500,
        "{error}"
    );
}

const LOG: &str = "user,Item,stars,x1,comment,x2\n\
                   u1,007,5,0.5,\"good, cheap\",1\n\
                   u2,7,3,-0.25,NA,2e1\n\
                   u1,7,4,1,x,3\n";

#[test]
fn columns_by_name_and_by_number() {
    for (keys, numbers, features) in [
        (["user", "Item"], ["stars"], named(&["x1", "x2"])),
        (["USER", "item"], ["Stars"], named(&["X2", "x1"])),
        (["1", "2"], ["3"], others(&["5"])),
        (["user", "Item"], ["stars"], others(&["comment"])),
    ] {
        let frame = read(LOG, &columns(&keys, &numbers, features));
        let [Some(user), Some(item)] = &frame.keys[..] else { panic!("{frame:?}") };
        assert_eq!((&user.name[..], &user.codes[..]), ("user", &[0, 1, 0][..]));
        assert_eq!(
            (&item.names[..], &item.codes[..]),
            (&["007".to_owned(), "7".into()][..], &[0, 1, 1][..])
        );
        assert_eq!(item.text(0), "007");
        assert_eq!(frame.numbers, [Some(vec![5.0, 3.0, 4.0])]);
        assert_eq!(frame.feature_names, ["x1", "x2"]);
        assert_eq!(frame.features, [0.5, 1.0, -0.25, 20.0, 1.0, 3.0]);
        assert_eq!((frame.rows, frame.row(1)), (3, &[-0.25, 20.0][..]));
        assert_eq!(
            (frame.place(0), frame.place(2)),
            ("table.csv, line 2".into(), "table.csv, line 4".into())
        );
        assert!(frame.notes.is_empty(), "{:?}", frame.notes);
    }
}

#[test]
fn optional_columns() {
    let mut wanted = columns(&["user"], &[], FeatureColumns::None);
    wanted.keys.insert(0, Ask::optional("group"));
    wanted.numbers = vec![Ask::optional("weight"), Ask::optional("stars")];
    let frame = read(LOG, &wanted);
    assert_eq!(frame.keys[0], None);
    assert_eq!(frame.keys[1].as_ref().map(|keys| keys.names.len()), Some(2));
    assert_eq!(frame.numbers, [None, Some(vec![5.0, 3.0, 4.0])]);
    assert_eq!((frame.rows, frame.features.len()), (3, 0));
}

#[test]
fn each_delimiter_and_line_end() {
    let wanted = columns(&["k"], &["y"], others(&[]));
    for delimiter in [",", ";", "\t", "|", " ", "   ", ", "] {
        for end in ["\n", "\r\n", "\r"] {
            let text = "k,y,a,b\np,1,0.5,2\nq,2,1.5,3\np,3,2.5,4"
                .replace(',', delimiter)
                .replace('\n', end);
            let frame = read(&text, &wanted);
            assert_eq!(frame.features, [0.5, 2.0, 1.5, 3.0, 2.5, 4.0], "{delimiter:?}");
            assert_eq!(frame.keys[0].as_ref().map(|k| k.codes.clone()), Some(vec![0, 1, 0]));
            assert_eq!(frame.numbers[0], Some(vec![1.0, 2.0, 3.0]));
        }
    }
}

#[test]
fn the_delimiter_that_finds_the_names_wins() {
    let frame = read("id\ttext\n1\ta,b\n2\tc,d\n", &columns(&["id"], &[], FeatureColumns::None));
    assert_eq!(frame.keys[0].as_ref().unwrap().names, ["1", "2"]);
    let frame = read("a;b\n1,5;2\n2,5;3\n", &columns(&[], &["a"], named(&["b"])));
    assert_eq!((frame.numbers[0].clone(), frame.features), (Some(vec![1.5, 2.5]), vec![2.0, 3.0]));
    let frame = read("1,5;2,5\n3,5;4,5\n", &columns(&[], &[], others(&[])));
    assert_eq!(frame.features, [1.5, 2.5, 3.5, 4.5]);
    // Points in keys say nothing about numbers.
    let frame = read("k;b\n1.2;0,5\n1.3;0,25\n", &columns(&["k"], &["b"], FeatureColumns::None));
    assert_eq!(frame.numbers[0], Some(vec![0.5, 0.25]));
}

#[test]
fn one_row_and_constant_columns_are_fine() {
    let frame = read("k,y\na,1\n", &columns(&["k"], &["y"], FeatureColumns::None));
    assert_eq!((frame.rows, frame.numbers[0].clone()), (1, Some(vec![1.0])));
    assert_eq!(read("y\n1\n1\n", &columns(&[], &["y"], FeatureColumns::None)).rows, 2);
    assert_eq!(
        read("-999,1\n-99.99,1\n", &columns(&[], &[], others(&[]))).features,
        [-999.0, 1.0, -99.99, 1.0],
        "codes for missing returns are numbers here"
    );
    assert_eq!(
        read("y\ntrue\nFalse\n", &columns(&[], &["y"], FeatureColumns::None)).numbers[0],
        Some(vec![1.0, 0.0])
    );
}

#[test]
fn without_a_header() {
    let frame = read("a,1,0.5\nb,2,0.25\n", &columns(&["1"], &["c2"], others(&[])));
    assert_eq!(frame.feature_names, ["c3"]);
    assert_eq!(frame.features, [0.5, 0.25]);
    assert_eq!(frame.place(0), "table.csv, line 1");
    assert!(
        frame.notes[0].contains("no header") && frame.notes[0].contains("c1 to c3"),
        "{:?}",
        frame.notes
    );
    says(
        "a,1\nb,2\n",
        &columns(&["user"], &[], FeatureColumns::None),
        &["has no column 'user'", "it has no header, and its columns are called c1, c2"],
    );
}

#[test]
fn a_first_line_that_may_be_a_row_is_told() {
    let frame = read("who,what\nann,x\nbob,y\n", &columns(&["1", "2"], &[], FeatureColumns::None));
    assert_eq!(frame.rows, 2);
    assert_eq!(frame.notes, ["Line 1 is all text and was taken for the header."]);
    let frame = read("who,what\nann,x\nbob,y\n", &columns(&["who"], &[], FeatureColumns::None));
    assert!(frame.notes.is_empty(), "its name is asked for: {:?}", frame.notes);
    let frame = read("ann,x\nbob,y\nann,y\n", &columns(&["1"], &[], FeatureColumns::None));
    assert_eq!(frame.rows, 3, "the first text comes again, so it is no name");
}

#[test]
fn an_unnamed_column_that_counts_rows_is_left_out_of_all_others() {
    for text in [",y,x\n0,1,5\n1,2,6\n", "Unnamed: 0,y,x\n1,1,5\n2,2,6\n", "y x\n1 1 5\n2 2 6\n"] {
        let frame = read(text, &columns(&[], &["y"], others(&[])));
        assert_eq!(
            (&frame.feature_names[..], &frame.features[..]),
            (&["x".to_owned()][..], &[5.0, 6.0][..])
        );
        assert!(frame.notes[0].contains("labels the rows"), "{:?}", frame.notes);
        let frame = read(text, &columns(&["1"], &["y"], others(&[])));
        assert_eq!(
            (frame.keys[0].as_ref().unwrap().names.len(), frame.notes.len()),
            (2, 0),
            "it is asked for"
        );
    }
    // Named, or not counting: it is a column like any other.
    assert_eq!(
        read("id,x\n0,5\n1,6\n", &columns(&[], &[], others(&[]))).feature_names,
        ["id", "x"]
    );
    let frame = read(",x\n3,5\n1,6\n", &columns(&[], &[], others(&[])));
    assert_eq!(frame.feature_names, ["c1", "x"]);
}

#[test]
fn blank_lines_comments_and_delimiters_at_the_end() {
    let frame = read(
        "\u{feff}# made by hand\n\nk,y,\na,1,\n\n# half way\nb,2,\n,,\n,,\n",
        &columns(&["k"], &["y"], others(&[])),
    );
    assert_eq!((frame.rows, frame.features.len()), (2, 0));
    assert_eq!(frame.place(1), "table.csv, line 7");
    assert_eq!(frame.notes, ["Skipped 1 line below the header that begins with '#'."]);
}

#[test]
fn unknown_ambiguous_and_repeated_columns() {
    says(
        LOG,
        &columns(&["usr"], &[], FeatureColumns::None),
        &["has no column 'usr'", "user, Item, stars, x1"],
    );
    says(LOG, &columns(&["7"], &[], FeatureColumns::None), &["has no column '7'"]);
    says(LOG, &columns(&["0"], &[], FeatureColumns::None), &["has no column '0'"]);
    says(LOG, &columns(&[], &[], named(&["x1", "x9"])), &["has no column 'x9'"]);
    says(LOG, &columns(&[], &[], others(&["x9"])), &["has no column 'x9'"]);
    says(
        LOG,
        &columns(&["user"], &["1"], FeatureColumns::None),
        &["column 'user' is asked for twice"],
    );
    says("a,A,b\n1,2,3\n", &columns(&[], &["B", "a"], named(&["c"])), &["has no column 'c'"]);
    says(
        "xa,XA\n1,2\n",
        &columns(&[], &["Xa"], FeatureColumns::None),
        &["'Xa' could be column 'xa' or column 'XA'"],
    );
    says(
        "a,b,a\n1,2,3\n",
        &columns(&[], &["b"], FeatureColumns::None),
        &["line 1: columns 1 and 3 are both named 'a'"],
    );
}

#[test]
fn cells_that_are_no_numbers() {
    let parts = [
        "line 2, column 5 (comment): 'good, cheap' is not a number",
        "leave the column out by `--except`",
    ];
    says(LOG, &columns(&["user", "item"], &["stars"], others(&[])), &parts);
    says(
        "k,y\na,1\nb,x\n",
        &columns(&["k"], &["y"], FeatureColumns::None),
        &["line 3, column 2 (y): 'x' is not a number; expected"],
    );
    says(
        "y\n1\ninf\n",
        &columns(&[], &["y"], FeatureColumns::None),
        &["line 3, column 1 (y): 'inf' is not a finite number"],
    );
    says(
        "y,z\n1,2%\n2,3%\n",
        &columns(&[], &["z"], FeatureColumns::None),
        &["'2%' is not a number"],
    );
    says(
        "k,y\n\"a,1\nb,2\n",
        &columns(&["k"], &["y"], FeatureColumns::None),
        &["line 2, column 1 (k)", "not closed"],
    );
}

#[test]
fn rows_of_another_length() {
    let wanted = columns(&["k"], &["y"], FeatureColumns::None);
    says(
        "k,y,z\na,1,2\nb,2\nc,3,4\n",
        &wanted,
        &["line 3: found 2 fields, expected 3 as in line 1"],
    );
    says(
        "k,y,z\na,1,2\nb,2,3,4\nc,3,4\n",
        &wanted,
        &["line 3: found 4 fields, expected 3 as in line 1"],
    );
    says(
        "k,y\na,1,2\nb,2,3\nc,x,4\n",
        &columns(&["k"], &["y"], named(&["z"])),
        &["has no column 'z'"],
    );
    says("k,y,z,u\na,1\nb,2\n", &wanted, &["line 2: found 2 fields, expected 4 as in line 1"]);
    says("", &wanted, &["is empty; expected a table"]);
    says("k,y\n", &wanted, &["no rows of data after line 1; expected at least one row"]);
    says("k,y\n,\n", &wanted, &["no rows of data"]);
}

#[test]
fn missing_values() {
    let text = "k,y,a,b\np,1,2,3\n,2,3,4\nq,NA,4,5\nr,4,.,6\ns,5,6,7\n";
    let wanted = columns(&["k"], &["y"], others(&[]));
    says(
        text,
        &wanted,
        &[
            "line 3, column 1 (k): an empty cell is a missing value, the first of 3",
            "`--missing drop-rows` to leave such rows out",
        ],
    );
    // Only where no column that is needed has gaps can columns be left out.
    let features = "k,y,a,b\np,1,2,3\nr,4,.,6\n";
    says(features, &wanted, &["line 3, column 3 (a)", "drop-rows` or `--missing drop-columns`"]);
    let rows = read_with(text, &wanted, Missing::DropRows);
    assert_eq!(rows.features, [2.0, 3.0, 6.0, 7.0]);
    assert_eq!(rows.keys[0].as_ref().unwrap().names, ["p", "s"], "texts of dropped rows are gone");
    assert_eq!(
        (rows.dropped.rows, rows.rows, rows.place(1)),
        (3, 2, "table.csv, line 6".to_owned())
    );
    says_with(
        text,
        &wanted,
        Missing::DropColumns,
        &["line 3, column 1 (k)", "first of 2", "its column is needed"],
    );
    let columns_dropped = read_with(text, &columns(&[], &["b"], named(&["a"])), Missing::DropRows);
    assert_eq!(columns_dropped.numbers[0].as_ref().map(Vec::len), Some(4));
    let text = "k,a,b\np,1,\nq,2,3\n";
    let frame = read_with(text, &columns(&["k"], &[], others(&[])), Missing::DropColumns);
    assert_eq!(
        (&frame.feature_names[..], &frame.features[..]),
        (&["a".to_owned()][..], &[1.0, 2.0][..])
    );
    assert_eq!(frame.dropped.columns, ["b"]);
    let all = "k,a\np,\nq,-\n";
    says_with(
        all,
        &columns(&["k"], &[], others(&[])),
        Missing::DropColumns,
        &["each of its 1 features"],
    );
    says_with(
        all,
        &columns(&["k"], &[], others(&[])),
        Missing::DropRows,
        &["each of its 2 rows has a missing"],
    );
}

#[test]
fn quoted_keys_are_never_missing() {
    let frame =
        read("k,y\n\"NA\",1\n.,2\n-,3\nNone,4\n", &columns(&["k"], &["y"], FeatureColumns::None));
    assert_eq!(frame.keys[0].as_ref().unwrap().names, ["NA", ".", "-", "None"]);
    says(
        "k,y\nNA,1\n",
        &columns(&["k"], &["y"], FeatureColumns::None),
        &["'NA' is a missing value"],
    );
    says("k,y\n\"\",1\n", &columns(&["k"], &["y"], FeatureColumns::None), &["missing value"]);
}

fn all_promises_hold(bytes: &[u8]) -> Result<(), TestCaseError> {
    for (keys, numbers, features) in [
        (&["a"][..], &["b"][..], others(&[])),
        (&["1"][..], &[][..], named(&["2", "3"])),
        (&[][..], &[][..], others(&[])),
    ] {
        let mut wanted = columns(keys, numbers, features);
        wanted.keys.push(Ask::optional("7"));
        for missing in [Missing::Error, Missing::DropRows, Missing::DropColumns] {
            match parse_frame(bytes, "bytes", &wanted, missing) {
                Ok(frame) => {
                    let (rows, d) = (frame.rows, frame.feature_names.len());
                    prop_assert!(rows > 0 && frame.features.len() == rows * d);
                    prop_assert!(frame.features.iter().all(|x| x.is_finite()));
                    for keys in frame.keys.iter().flatten() {
                        prop_assert!(
                            keys.codes.len() == rows && !keys.names.contains(&String::new())
                        );
                        prop_assert!(
                            keys.codes.iter().all(|&code| (code as usize) < keys.names.len())
                        );
                    }
                    for column in frame.numbers.iter().flatten() {
                        prop_assert!(column.len() == rows && column.iter().all(|x| x.is_finite()));
                    }
                    prop_assert!(frame.place(rows - 1).starts_with("bytes, "));
                }
                Err(error) => prop_assert!(error.to_string().starts_with("bytes")),
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_text_makes_it_panic(text in "[-0-9a-cé#%\"'.,;|eENA \t\r\n\u{feff}]{0,120}") {
        all_promises_hold(text.as_bytes())?;
    }

    #[test]
    fn no_table_makes_it_panic(
        cells in prop::collection::vec("[a-b]|[0-9.-]{1,4}|NA||\"x,\"", 4..60),
        width in 1_usize..5,
        delimiter in prop::sample::select(vec![",", ";", "\t", " ", "|"]),
    ) {
        let rows: Vec<String> = cells.chunks(width).map(|row| row.join(delimiter)).collect();
        all_promises_hold(format!("a{delimiter}b{delimiter}c\n{}", rows.join("\n")).as_bytes())?;
        all_promises_hold(rows.join("\n").as_bytes())?;
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        all_promises_hold(&bytes)?;
    }
}

#[test]
fn columns_not_asked_for_are_not_parsed() {
    let frame = parse(
        "k,junk,y\na,\"x, \"\"y\",1\nb,1e999,2\n",
        &columns(&["k"], &["y"], FeatureColumns::None),
    );
    assert_eq!(frame.unwrap().numbers[0], Some(vec![1.0, 2.0]));
}

/// A column of numbers in which some may be missing: no gap, but NaN; rows are kept for it.
#[test]
fn numbers_may_be_blank_where_that_is_asked_for() {
    let text = "x,y,z\n1,2,a\n,3,b\n4,,c\n5,NA,\n6,7,e\n";
    let columns = Columns {
        keys: Vec::new(),
        numbers: vec![Ask::required("y").or_blank()],
        features: FeatureColumns::Named(vec!["x".to_owned()]),
    };
    let read = |missing| parse_frame(text.as_bytes(), "t", &columns, missing);
    assert!(read(Missing::Error).is_err_and(|error| error.to_string().contains("line 3")));
    let frame = read(Missing::DropRows).expect("rows");
    assert_eq!((frame.features, frame.dropped.rows), (vec![1.0, 4.0, 5.0, 6.0], 1));
    let y = frame.numbers[0].as_ref().expect("a column");
    assert_eq!(y.iter().map(|y| y.is_nan()).collect::<Vec<_>>(), [false, true, true, false]);
    assert_eq!(frame.columns, ["x", "y", "z"]);
}

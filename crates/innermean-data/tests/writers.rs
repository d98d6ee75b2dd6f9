//! Tables that are written: each format, what is refused beforehand, and that reading gives them
//! back.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use innermean_data::{
    Ask, Columns, FeatureColumns, Missing, OutColumn, OutFile, OutTable, read_frame, read_matrix,
};
use proptest::prelude::*;

fn table() -> OutTable {
    let texts = ["ann", "a,b \"c\"", "NA"].map(str::to_owned).to_vec();
    OutTable {
        columns: vec![
            ("user".into(), OutColumn::Texts(texts)),
            ("value, mean".into(), OutColumn::Numbers(vec![0.1, -1e-300, f64::NAN])),
            ("count".into(), OutColumn::Whole(vec![1, 2, u64::MAX])),
        ],
    }
}

fn numbers() -> OutTable {
    let column = |values: &[f64]| OutColumn::Numbers(values.to_vec());
    OutTable {
        columns: vec![
            ("a".into(), column(&[1.0, 2.0])),
            ("b".into(), OutColumn::Whole(vec![3, 4])),
        ],
    }
}

fn refusal(table: &OutTable, path: &Path) -> String {
    table.write(path).unwrap_err().to_string()
}

#[test]
fn text_and_json() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    table().write(&path("t.csv")).unwrap();
    let expected = "user,\"value, mean\",count\nann,0.1,1\n\"a,b \"\"c\"\"\",-1e-300,2\n\"NA\",NaN,18446744073709551615\n";
    assert_eq!(fs::read_to_string(path("t.csv")).unwrap(), expected);
    table().write(&path("t.TSV")).unwrap();
    let expected = "user\tvalue, mean\tcount\nann\t0.1\t1\n\"a,b \"\"c\"\"\"\t-1e-300\t2\n\"NA\"\tNaN\t18446744073709551615\n";
    assert_eq!(fs::read_to_string(path("t.TSV")).unwrap(), expected);
    table().write(&path("t.json")).unwrap();
    let json: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(path("t.json")).unwrap()).unwrap();
    assert_eq!(json[0], serde_json::json!({"user": "ann", "value, mean": 0.1, "count": 1}));
    assert_eq!(json[2], serde_json::json!({"user": "NA", "value, mean": null, "count": u64::MAX}));
    OutTable::default().write(&path("empty.json")).unwrap();
    assert_eq!(fs::read_to_string(path("empty.json")).unwrap(), "[\n]\n");
}

#[test]
fn packed_text_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["t.csv.gz", "t.tsv.gz"] {
        let path = folder.path().join(name);
        table().write(&path).unwrap();
        assert!(fs::read(&path).unwrap().starts_with(b"\x1f\x8b"));
        let keys = vec![Ask::required("user")];
        let frame =
            read_frame(&path, &Columns { keys, ..Columns::default() }, Missing::Error).unwrap();
        assert_eq!(frame.keys[0].as_ref().unwrap().names, ["ann", "a,b \"c\"", "NA"]);
    }
}

#[test]
fn arrays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.npy");
    numbers().write(&path).unwrap();
    let matrix = read_matrix(&path).unwrap();
    assert_eq!((matrix.rows, matrix.columns, matrix.values), (2, 2, vec![1.0, 3.0, 2.0, 4.0]));
    assert_eq!(fs::metadata(&path).unwrap().len() % 32, 0, "the numbers begin at a multiple of 64");
    let whole = OutTable { columns: vec![("n".into(), OutColumn::Whole(vec![7, 8]))] };
    whole.write(&path).unwrap();
    assert!(String::from_utf8_lossy(&fs::read(&path).unwrap()).contains("'descr': '<u8'"));
    assert_eq!(read_matrix(&path).unwrap().values, [7.0, 8.0]);
}

#[test]
fn what_cannot_be_written_is_said_beforehand() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let error = refusal(&table(), &path("t.npy"));
    assert!(
        error.ends_with(
            "t.npy: the column 'user' holds texts, and .npy holds numbers only; write a .csv or .json"
        ),
        "{error}"
    );
    assert_eq!(OutTable::check(&path("t.npy"), Some("user"), &[]).unwrap_err().to_string(), error);
    for name in ["t", "t.xls", "t.gz", "csv"] {
        let error = refusal(&numbers(), &path(name));
        assert!(error.contains("expected one of .csv, .tsv, .csv.gz"), "{error}");
    }
    let error = refusal(&numbers(), &path("none/t.csv"));
    assert!(error.contains("cannot be written (there is no such folder)"), "{error}");
    fs::create_dir(path("d.csv")).unwrap();
    assert!(refusal(&numbers(), &path("d.csv")).contains("is a directory"));
    fs::write(path("in.csv"), "a\n1\n").unwrap();
    let error = OutTable::check(&path("in.csv"), None, &[&path("in.csv")]).unwrap_err().to_string();
    assert!(error.contains("is a file that is being read"), "{error}");
    assert!(OutTable::check(&path("out.csv"), None, &[&path("in.csv")]).is_ok());
    assert!(!path("out.csv").exists(), "looking leaves nothing behind");
    if cfg!(not(feature = "parquet")) {
        assert!(refusal(&numbers(), &path("t.parquet")).contains("build with --features parquet"));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing half written");
}

#[test]
fn an_older_file_survives_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    fs::write(&path, "old").unwrap();
    let file = OutFile::check(&path, &[]).unwrap();
    let error =
        file.write(|_| Err(std::io::Error::other("the disk is full"))).unwrap_err().to_string();
    assert!(error.contains("the disk is full"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    numbers().write(&path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "a,b\n1,3\n2,4\n");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn links_and_pipes_are_followed() {
    let folder = tempfile::tempdir().unwrap();
    let (target, link) = (folder.path().join("t.csv"), folder.path().join("l.csv"));
    fs::write(&target, "old").unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    numbers().write(&link).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&target).unwrap(), "a,b\n1,3\n2,4\n");
    let device = folder.path().join("null.csv");
    std::os::unix::fs::symlink("/dev/null", &device).unwrap();
    numbers().write(&device).unwrap();
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_is_respected() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("there")).unwrap();
    // A link to a link to a file that is to be.
    std::os::unix::fs::symlink("second.csv", path("first.csv")).unwrap();
    std::os::unix::fs::symlink("there/t.csv", path("second.csv")).unwrap();
    numbers().write(&path("first.csv")).unwrap();
    assert!(
        ["first.csv", "second.csv"]
            .iter()
            .all(|name| fs::symlink_metadata(path(name)).unwrap().is_symlink())
    );
    assert_eq!(fs::read_to_string(path("there/t.csv")).unwrap(), "a,b\n1,3\n2,4\n");
    std::os::unix::fs::symlink("nowhere/t.csv", path("lost.csv")).unwrap();
    let refused = numbers().write(&path("lost.csv")).unwrap_err().to_string();
    assert!(refused.contains("lost.csv: cannot be written (there is no such folder)"), "{refused}");
    std::os::unix::fs::symlink("round.csv", path("round.csv")).unwrap();
    assert!(numbers().write(&path("round.csv")).is_err());
}

/// A file of a program at work, one of a killed program, one of a killed program that has just
/// begun, and another's.
#[test]
fn what_killed_programs_leave_is_removed_at_the_next_write() {
    let folder = tempfile::tempdir().unwrap();
    let made = |name: &str, seconds: u64| {
        let file = fs::File::create(folder.path().join(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
        file
    };
    let at_work = made(".innermean-atwork", 4000);
    at_work.lock().unwrap();
    drop((made(".innermean-killed", 4000), made(".innermean-young", 1), made(".other", 4000)));
    numbers().write(&folder.path().join("t.csv")).unwrap();
    let mut left: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, [".innermean-atwork", ".innermean-young", ".other", "t.csv"]);
}

#[test]
fn no_name_becomes_a_formula() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let names = ["=1+1", "+cmd", "-x", "@sum(a)", "'=1", "-5", "+1e3", "-", "a=b", "'quoted'"];
    let texts = OutColumn::Texts(names.map(str::to_owned).to_vec());
    OutTable { columns: vec![("=name".to_owned(), texts)] }.write(&path).unwrap();
    let written = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = written.lines().collect();
    let expected = [
        "\"'=name\"",
        "\"'=1+1\"",
        "\"'+cmd\"",
        "\"'-x\"",
        "\"'@sum(a)\"",
        "\"''=1\"",
        "-5",
        "+1e3",
        "-",
        "a=b",
        "'quoted'",
    ];
    assert_eq!(lines, expected);
    let columns = Columns { keys: vec![Ask::required("=name")], ..Columns::default() };
    let frame = read_frame(&path, &columns, Missing::Error).unwrap();
    let read: Vec<&str> =
        (0..names.len()).map(|row| frame.keys[0].as_ref().unwrap().text(row)).collect();
    assert_eq!(read, names);
}

/// Texts of a table: no blanks around them.
fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c0-9]{1,3}",
        "[ -~é]{1,8}",
        "[a,\n\r\"]{1,6}",
        Just("NA".to_owned()),
        Just("#x".to_owned()),
        "'{0,2}[=+@-][a-z0-9'\",]{0,3}",
        Just("\"".to_owned())
    ]
    .prop_map(|text| text.trim().to_owned())
    .prop_filter("not empty", |text| !text.is_empty())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_was_written_is_read(
        rows in prop::collection::vec((texts(), any::<f64>(), -9..9_i32, texts()), 1..120),
        ending in prop::sample::select(vec!["csv", "tsv", "csv.gz"]),
    ) {
        prop_assume!(rows.iter().all(|row| row.1.is_finite()));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t").with_extension(ending);
        let table = OutTable { columns: vec![
            ("key one".into(), OutColumn::Texts(rows.iter().map(|row| row.0.clone()).collect())),
            ("x".into(), OutColumn::Numbers(rows.iter().map(|row| row.1).collect())),
            ("y".into(), OutColumn::Numbers(rows.iter().map(|row| f64::from(row.2)).collect())),
            ("k2".into(), OutColumn::Texts(rows.iter().map(|row| row.3.clone()).collect())),
        ]};
        table.write(&path).unwrap();
        let columns = Columns {
            keys: vec![Ask::required("k2"), Ask::required("key one")],
            numbers: vec![Ask::required("y")],
            features: FeatureColumns::Others { except: Vec::new() },
        };
        let frame = read_frame(&path, &columns, Missing::Error).unwrap();
        prop_assert_eq!(frame.rows, rows.len());
        for (i, row) in rows.iter().enumerate() {
            prop_assert_eq!(frame.keys[0].as_ref().unwrap().text(i), &row.3);
            prop_assert_eq!(frame.keys[1].as_ref().unwrap().text(i), &row.0);
            prop_assert_eq!(frame.row(i)[0].to_bits(), row.1.to_bits());
            prop_assert_eq!(frame.numbers[0].as_ref().unwrap()[i], f64::from(row.2));
        }
    }
}

//! Parquet files as other programs write them, and as this one does; and what is said where they are not built in.

#![cfg_attr(not(feature = "parquet"), allow(dead_code, unused_imports))]

use std::path::{Path, PathBuf};

use innermean_data::{
    Ask, Columns, FeatureColumns, Frame, Missing, OutColumn, OutTable, ReadError, ReadOptions, read_frame,
    read_returns,
};
use proptest::prelude::*;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name)
}

fn asks(names: &[&str]) -> Vec<Ask> {
    names.iter().map(|&name| Ask::required(name)).collect()
}

fn named(names: &[&str]) -> FeatureColumns {
    FeatureColumns::Named(names.iter().map(|&name| name.to_owned()).collect())
}

fn read(name: &str, keys: &[&str], numbers: &[&str], features: FeatureColumns) -> Result<Frame, ReadError> {
    let columns = Columns { keys: asks(keys), numbers: asks(numbers), features };
    read_frame(&file(name), &columns, Missing::Error)
}

#[cfg(not(feature = "parquet"))]
#[test]
fn without_the_feature_it_is_named() {
    let error = read("snappy.parquet", &[], &["stars"], FeatureColumns::None).unwrap_err().to_string();
    assert!(error.contains("snappy.parquet: is a Parquet file, which is not built in"), "{error}");
    assert!(error.contains("build with --features parquet"), "{error}");
}

#[cfg(feature = "parquet")]
mod built_in {
    use super::*;

    #[test]
    fn columns_of_every_kind() {
        for name in ["snappy.parquet", "zstd.parquet", "gzip.parquet"] {
            let frame = read(name, &["id", "flag"], &["stars", "price"], named(&["x2", "flag"]));
            assert!(matches!(frame, Err(ReadError::ColumnTwice { .. })));
            let frame = read(name, &["id"], &["stars", "price"], named(&["x2", "flag"])).unwrap();
            assert_eq!(frame.keys[0].as_ref().unwrap().names, ["9223372036854775807", "1", "2", "3"]);
            assert_eq!(frame.numbers, [Some(vec![5.0, 3.0, 4.0, 1.0]), Some(vec![1.0, 2.0, 3.0, 4.0])]);
            assert_eq!(frame.feature_names, ["flag", "x2"], "in the order of the file");
            assert_eq!(frame.features, [1.0, 1.0, 0.0, 2.0, 1.0, 3.0, 1.0, 4.0]);
            assert!(frame.place(3).ends_with("row 4"));
        }
    }

    #[test]
    fn nulls_are_missing() {
        let error = read("zstd.parquet", &["user"], &[], named(&["x1"])).unwrap_err().to_string();
        assert!(error.contains("row 2, column 5 (x1): 'NaN' is a missing value, the first of 2"), "{error}");
        let columns = Columns { keys: asks(&["user"]), features: named(&["x1"]), ..Columns::default() };
        let frame = read_frame(&file("zstd.parquet"), &columns, Missing::DropRows).unwrap();
        assert_eq!((frame.features, frame.dropped.rows), (vec![0.5, 2.5], 2));
        assert_eq!(frame.keys[0].as_ref().unwrap().names, ["ann"]);
    }

    #[test]
    fn what_is_refused() {
        let says = |keys: &[&str], numbers: &[&str], features: FeatureColumns, part: &str| {
            let error = read("snappy.parquet", keys, numbers, features).unwrap_err().to_string();
            assert!(error.contains(part) && error.contains("snappy.parquet"), "'{part}' is not in: {error}");
        };
        says(&[], &["when"], FeatureColumns::None, "column 'when' holds dates or times");
        says(&["many.list.element"], &[], FeatureColumns::None, "holds lists or bytes");
        says(&[], &["id"], FeatureColumns::None, "whole numbers above 2^53");
        says(&[], &["user"], FeatureColumns::None, "row 1, column 1 (user): 'ann' is not a number");
        let others =
            FeatureColumns::Others { except: vec!["id".into(), "when".into(), "many.list.element".into()] };
        says(&[], &[], others, "'ann' is not a number, but all columns without another role are features");
        says(
            &["nobody"],
            &[],
            FeatureColumns::None,
            "has no column 'nobody'; its columns are user, id, stars",
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cut.parquet");
        let whole = std::fs::read(file("snappy.parquet")).unwrap();
        for bytes in [&whole[..whole.len() - 20], &whole[..100], b"PAR1"] {
            std::fs::write(&path, bytes).unwrap();
            let error = read_returns(&path, &ReadOptions::default()).unwrap_err();
            assert!(matches!(error, ReadError::Damaged { .. }), "{error}");
        }
    }

    #[test]
    fn an_index_without_a_name_is_left_out_of_all_others() {
        let except = ["id", "when", "many.list.element", "user", "x1"].map(str::to_owned).to_vec();
        let frame = read("snappy.parquet", &[], &[], FeatureColumns::Others { except }).unwrap();
        assert_eq!(frame.feature_names, ["stars", "flag", "x2", "price"]);
        assert_eq!(frame.notes, ["Column 10 has no name and labels the rows; it is left out."]);
    }

    fn texts() -> impl Strategy<Value = String> {
        prop_oneof!["[a-c]{1,2}", "[ -~é\n]{1,8}"]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn what_was_written_is_read(rows in prop::collection::vec((texts(), any::<f64>(), any::<u64>()), 1..200)) {
            prop_assume!(rows.iter().all(|row| row.1.is_finite()));
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("t.parquet");
            OutTable { columns: vec![
                ("a key".into(), OutColumn::Texts(rows.iter().map(|row| row.0.clone()).collect())),
                ("x".into(), OutColumn::Numbers(rows.iter().map(|row| row.1).collect())),
                ("n".into(), OutColumn::Whole(rows.iter().map(|row| row.2).collect())),
            ] }.write(&path).unwrap();
            let columns = Columns { keys: asks(&["a key", "n"]), numbers: asks(&["x"]), ..Columns::default() };
            let frame = read_frame(&path, &columns, Missing::Error).unwrap();
            for (i, row) in rows.iter().enumerate() {
                prop_assert_eq!(frame.keys[0].as_ref().unwrap().text(i), &row.0);
                prop_assert_eq!(frame.keys[1].as_ref().unwrap().text(i), row.2.to_string());
                prop_assert_eq!(frame.numbers[0].as_ref().unwrap()[i].to_bits(), row.1.to_bits());
            }
        }
    }
}

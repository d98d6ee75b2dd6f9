//! Parquet files as other programs write them, and as this one does; and what is said where they
//! are not built in.

#![cfg_attr(not(feature = "parquet"), allow(dead_code, unused_imports))]

use std::path::{Path, PathBuf};

use innermean_data::{
    Ask, Columns, FeatureColumns, Frame, Missing, OutColumn, OutTable, ReadError, ReadOptions,
    parse_frame, parse_returns, read_frame, read_returns,
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

fn read(
    name: &str,
    keys: &[&str],
    numbers: &[&str],
    features: FeatureColumns,
) -> Result<Frame, ReadError> {
    let columns = Columns { keys: asks(keys), numbers: asks(numbers), features };
    read_frame(&file(name), &columns, Missing::Error)
}

#[cfg(not(feature = "parquet"))]
#[test]
fn without_the_feature_it_is_named() {
    let error =
        read("snappy.parquet", &[], &["stars"], FeatureColumns::None).unwrap_err().to_string();
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
            assert_eq!(
                frame.keys[0].as_ref().unwrap().names,
                ["9223372036854775807", "1", "2", "3"]
            );
            assert_eq!(
                frame.numbers,
                [Some(vec![5.0, 3.0, 4.0, 1.0]), Some(vec![1.0, 2.0, 3.0, 4.0])]
            );
            assert_eq!(frame.feature_names, ["flag", "x2"], "in the order of the file");
            assert_eq!(frame.features, [1.0, 1.0, 0.0, 2.0, 1.0, 3.0, 1.0, 4.0]);
            assert!(frame.place(3).ends_with("row 4"));
        }
    }

    #[test]
    fn nulls_are_missing() {
        let error = read("zstd.parquet", &["user"], &[], named(&["x1"])).unwrap_err().to_string();
        assert!(
            error.contains("row 2, column 5 (x1): 'NaN' is a missing value, the first of 2"),
            "{error}"
        );
        let columns =
            Columns { keys: asks(&["user"]), features: named(&["x1"]), ..Columns::default() };
        let frame = read_frame(&file("zstd.parquet"), &columns, Missing::DropRows).unwrap();
        assert_eq!((frame.features, frame.dropped.rows), (vec![0.5, 2.5], 2));
        assert_eq!(frame.keys[0].as_ref().unwrap().names, ["ann"]);
    }

    #[test]
    fn what_is_refused() {
        let says = |keys: &[&str], numbers: &[&str], features: FeatureColumns, part: &str| {
            let error = read("snappy.parquet", keys, numbers, features).unwrap_err().to_string();
            assert!(
                error.contains(part) && error.contains("snappy.parquet"),
                "'{part}' is not in: {error}"
            );
        };
        says(&[], &["when"], FeatureColumns::None, "column 'when' holds dates or times");
        says(&["many.list.element"], &[], FeatureColumns::None, "holds lists or bytes");
        says(&[], &["id"], FeatureColumns::None, "whole numbers above 2^53");
        says(&[], &["user"], FeatureColumns::None, "row 1, column 1 (user): 'ann' is not a number");
        let others = FeatureColumns::Others {
            except: vec!["id".into(), "when".into(), "many.list.element".into()],
        };
        says(
            &[],
            &[],
            others,
            "'ann' is not a number, but all columns without another role are features",
        );
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

    /// Columns of dates and times as programs wrote them before there were logical types.
    #[test]
    fn dates_of_old_files_are_no_numbers() {
        use std::sync::Arc;

        use parquet::basic::{ConvertedType, Repetition, Type as Physical};
        use parquet::data_type::{Int32Type, Int64Type};
        use parquet::file::writer::SerializedFileWriter;
        use parquet::schema::types::Type;

        let short = [ConvertedType::DATE, ConvertedType::TIME_MILLIS, ConvertedType::INT_32];
        let long = [
            ConvertedType::TIME_MICROS,
            ConvertedType::TIMESTAMP_MILLIS,
            ConvertedType::TIMESTAMP_MICROS,
            ConvertedType::INT_64,
        ];
        let kinds = short
            .map(|kind| (Physical::INT32, kind))
            .into_iter()
            .chain(long.map(|kind| (Physical::INT64, kind)));
        let fields = kinds.map(|(physical, kind)| {
            let field = Type::primitive_type_builder(&kind.to_string(), physical)
                .with_repetition(Repetition::REQUIRED)
                .with_converted_type(kind)
                .build();
            Arc::new(field.unwrap())
        });
        let schema = Type::group_type_builder("old").with_fields(fields.collect()).build().unwrap();
        let mut bytes = Vec::new();
        let mut writer =
            SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        for column in 0..7 {
            let mut chunk = group.next_column().unwrap().unwrap();
            if column < 3 {
                chunk.typed::<Int32Type>().write_batch(&[7, 8], None, None).unwrap();
            } else {
                chunk.typed::<Int64Type>().write_batch(&[7, 8], None, None).unwrap();
            }
            chunk.close().unwrap();
        }
        group.close().unwrap();
        writer.close().unwrap();
        let read = |keys: &[&str], numbers: &[&str]| {
            let columns =
                Columns { keys: asks(keys), numbers: asks(numbers), ..Columns::default() };
            parse_frame(&bytes, "old.parquet", &columns, Missing::Error)
        };
        let times = ["DATE", "TIME_MILLIS", "TIME_MICROS", "TIMESTAMP_MILLIS", "TIMESTAMP_MICROS"];
        for name in times {
            let error = read(&[], &[name]).unwrap_err().to_string();
            assert!(error.contains(&format!("column '{name}' holds dates or times")), "{error}");
            assert_eq!(read(&[name], &[]).unwrap().keys[0].as_ref().unwrap().names, ["7", "8"]);
        }
        for name in ["INT_32", "INT_64"] {
            assert_eq!(read(&[], &[name]).unwrap().numbers, [Some(vec![7.0, 8.0])]);
        }
    }

    /// A frame of returns with its index of times, a day of type date and one of type text.
    #[test]
    fn dates_label_the_returns() {
        use std::sync::Arc;

        use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as Physical};
        use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
        use parquet::file::writer::SerializedFileWriter;
        use parquet::schema::types::Type;

        let field = |name: &str, physical: Physical, logical: Option<LogicalType>| {
            let field = Type::primitive_type_builder(name, physical)
                .with_repetition(Repetition::REQUIRED)
                .with_logical_type(logical)
                .build();
            Arc::new(field.unwrap())
        };
        let fields = vec![
            field("A", Physical::DOUBLE, None),
            field("day", Physical::INT32, Some(LogicalType::Date)),
            field("text", Physical::BYTE_ARRAY, Some(LogicalType::String)),
            field("B", Physical::DOUBLE, None),
            field(
                "__index_level_0__",
                Physical::INT64,
                Some(LogicalType::timestamp(false, TimeUnit::MILLIS)),
            ),
        ];
        let schema = Type::group_type_builder("frame").with_fields(fields).build().unwrap();
        let mut bytes = Vec::new();
        let mut writer =
            SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        macro_rules! column {
            ($kind:ty, $values:expr) => {
                let mut chunk = group.next_column().unwrap().unwrap();
                chunk.typed::<$kind>().write_batch(&$values, None, None).unwrap();
                chunk.close().unwrap();
            };
        }
        // 2024-01-31 is day 19753.
        column!(DoubleType, [0.1, -0.2, 0.3]);
        column!(Int32Type, [19753, 19754, 19755]);
        column!(ByteArrayType, ["2024-02-02", "2024-02-05", "2024-02-06"].map(ByteArray::from));
        column!(DoubleType, [0.4, 0.5, -0.6]);
        let noon = |day: i64| (day * 24 + 12) * 3_600_000;
        column!(Int64Type, [noon(19753), noon(19754), noon(19755)]);
        group.close().unwrap();
        writer.close().unwrap();

        let read = |options: &ReadOptions| parse_returns(&bytes, "frame.parquet", options);
        let returns = read(&ReadOptions::default()).unwrap();
        assert_eq!(returns.names, ["A", "B"]);
        assert_eq!(returns.values, [0.1, 0.4, -0.2, 0.5, 0.3, -0.6]);
        assert_eq!(returns.dates.unwrap(), ["2024-01-31", "2024-02-01", "2024-02-02"]);
        assert!(returns.notes.iter().any(|note| note.contains("'text' holds dates")));
        let by = |name: &str, from: &str| ReadOptions {
            date_column: Some(name.to_owned()),
            from: Some(from.to_owned()),
            ..ReadOptions::default()
        };
        let returns = read(&by("text", "2024-02-05")).unwrap();
        assert_eq!(returns.dates.unwrap(), ["2024-02-05", "2024-02-06"]);
        let returns = read(&by("__index_level_0__", "2024-02")).unwrap();
        assert_eq!(returns.dates.unwrap(), ["2024-02-01 12:00:00", "2024-02-02 12:00:00"]);
        let only = ReadOptions { columns: vec!["B".to_owned()], ..ReadOptions::default() };
        assert_eq!(read(&only).unwrap().values, [0.4, 0.5, -0.6]);
    }

    /// The last part of a file says how many rows there are.
    #[test]
    fn the_number_of_rows_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        let numbers = |from: u32| OutColumn::Numbers((from..from + 100).map(f64::from).collect());
        OutTable { columns: vec![("x".into(), numbers(0)), ("y".into(), numbers(1))] }
            .write(&path)
            .unwrap();
        let whole = std::fs::read(&path).unwrap();
        // A whole number takes seven bits a byte, twice its size: 100 rows, then the list of
        // groups.
        let told = [0x16, 0xc8, 0x01, 0x19];
        let at = whole.windows(4).rposition(|bytes| bytes == told).unwrap();
        for rows in [99, 101, 10_u64.pow(9), 10_u64.pow(15), 10_u64.pow(18)] {
            let mut forged = vec![0x16];
            let mut left = 2 * rows;
            while left >= 128 {
                forged.push((left % 128) as u8 | 128);
                left /= 128;
            }
            forged.extend([left as u8, 0x19]);
            let mut bytes = [&whole[..at], &forged, &whole[at + 4..]].concat();
            let end = bytes.len() - 8;
            let length = u32::from_le_bytes(whole[whole.len() - 8..][..4].try_into().unwrap());
            let length = length + forged.len() as u32 - 4;
            bytes[end..end + 4].copy_from_slice(&length.to_le_bytes());
            for columns in [
                Columns { features: named(&["x", "y"]), ..Columns::default() },
                Columns { numbers: asks(&["y"]), ..Columns::default() },
                Columns { keys: asks(&["y"]), ..Columns::default() },
            ] {
                let error = parse_frame(&bytes, "t.parquet", &columns, Missing::Error).unwrap_err();
                // Said of the rows, or of what this many would unpack to.
                let words = error.to_string();
                assert!(
                    words.contains("rows") || words.contains("unpacks to more than"),
                    "{rows}: {error}"
                );
            }
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

//! Arrays of numpy: every type and order, archives, and what is refused.

use std::fs;
use std::path::{Path, PathBuf};

use crate::archive::{doubles, npy, npy_with, zip};
use innermean_data::{
    Ask, Columns, FeatureColumns, Limits, Matrix, Missing, OutColumn, OutTable, ReadError,
    ReadOptions, parse_returns, read_frame, read_matrix, read_returns,
};
use proptest::prelude::*;

/// A file that is gone at the end.
struct Written {
    folder: tempfile::TempDir,
    path: PathBuf,
}

fn written(name: &str, bytes: &[u8]) -> Written {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    Written { folder, path }
}

fn matrix(name: &str, bytes: &[u8]) -> Result<Matrix, ReadError> {
    read_matrix(&written(name, bytes).path)
}

fn says(bytes: &[u8], parts: &[&str]) {
    let error = matrix("m.npy", bytes).unwrap_err().to_string();
    for part in parts {
        assert!(error.contains(part), "'{part}' is not in: {error}");
    }
    assert!(error.contains("m.npy") && !error.contains('\n'), "{error}");
}

const VALUES: [f64; 6] = [1.0, 0.0, 3.0, 4.0, 5.0, 100.0];

fn all_others() -> Columns {
    Columns { features: FeatureColumns::Others { except: Vec::new() }, ..Columns::default() }
}

#[test]
fn every_type_and_byte_order() {
    macro_rules! check {
        ($type:ty, $name:literal) => {
            let values = VALUES.map(|value| value as $type);
            let little: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            let big: Vec<u8> = values.iter().flat_map(|value| value.to_be_bytes()).collect();
            for (kind, data) in [(concat!("<", $name), little), (concat!(">", $name), big)] {
                let read = matrix("m.npy", &npy(kind, "2, 3", &data)).unwrap();
                assert_eq!(
                    (read.rows, read.columns, &read.values[..]),
                    (2, 3, &VALUES[..]),
                    "{kind}"
                );
            }
        };
    }
    check!(f32, "f4");
    check!(f64, "f8");
    check!(i8, "i1");
    check!(i16, "i2");
    check!(i32, "i4");
    check!(i64, "i8");
    check!(u8, "u1");
    check!(u16, "u2");
    check!(u32, "u4");
    check!(u64, "u8");
    let read = matrix("m.npy", &npy("|b1", "3,", &[1, 0, 1])).unwrap();
    assert_eq!((read.rows, read.columns, read.values), (3, 1, vec![1.0, 0.0, 1.0]));
    assert_eq!(matrix("m.npy", &npy("<i8", "1,", &(-7_i64).to_le_bytes())).unwrap().values, [-7.0]);
}

#[test]
fn versions_and_order() {
    for version in 1..=3 {
        let read =
            matrix("m.npy", &npy_with(version, "<f8", "False", "3, 2", &doubles(&VALUES))).unwrap();
        assert_eq!((read.rows, read.columns, &read.values[..]), (3, 2, &VALUES[..]));
    }
    let by_columns =
        npy_with(1, "<f8", "True", "2, 3", &doubles(&[1.0, 4.0, 0.0, 5.0, 3.0, 100.0]));
    assert_eq!(matrix("m.npy", &by_columns).unwrap().values, VALUES);
    let large: Vec<f64> = (0..300 * 200).map(f64::from).collect();
    let read = matrix("m.npy", &npy_with(2, "<f8", "True", "300, 200", &doubles(&large))).unwrap();
    assert!((0..300).all(|i| (0..200).all(|j| read.values[i * 200 + j] == (j * 300 + i) as f64)));
}

#[test]
fn arrays_that_are_refused() {
    let good = npy("<f8", "2, 3", &doubles(&VALUES));
    says(&good[..good.len() - 1], &["is damaged", "ends too early"]);
    says(&good[..9], &["is damaged"]);
    says(&good[..40], &["is damaged"]);
    says(
        &npy("<f8", "2, 3, 1", &doubles(&VALUES)),
        &["has 3 dimensions; expected a matrix or a vector"],
    );
    says(&npy("<f8", "", &doubles(&VALUES[..1])), &["has 0 dimensions"]);
    says(&npy("<f8", "0, 3", &[]), &["has no numbers"]);
    says(
        &npy("<U5", "1,", &[0; 20]),
        &["holds values of type '<U5'; expected whole numbers, float32"],
    );
    says(&npy("<c16", "1,", &[0; 16]), &["'<c16'"]);
    says(&npy("<f2", "1,", &[0; 2]), &["'<f2'"]);
    says(&npy("<f8", "99999999999, 99999999999", &[]), &["shape is impossible"]);
    says(&npy("<f8", "99999999, 99999999", &[]), &["ends too early"]);
    says(&npy_with(1, "<f8", "True", "9999999, 99999999", &[]), &["is damaged"]);
    says(&npy("<f8", "-1", &[]), &["strange shape"]);
    says(&npy_with(9, "<f8", "False", "1,", &[0; 8]), &["version 9"]);
    says(
        &npy("<f8", "2,", &doubles(&[1.0, f64::INFINITY])),
        &["m.npy, row 2, column 1: 'inf' is not a finite"],
    );
    says(
        &npy("<f8", "1, 2", &doubles(&[1.0, f64::NAN])),
        &["m.npy, row 1, column 2: 'NaN' is a missing value"],
    );
    says(&npy("<u8", "1,", &u64::MAX.to_le_bytes()), &["above 2^53"]);
    says(b"\x93NUMPY\x01\x00\x05\x00{'a'}", &["its header has no shape"]);
}

#[test]
fn archives() {
    let x = npy("<f8", "3, 2", &doubles(&VALUES));
    let y = npy("<i4", "3,", &[7, 0, 0, 0, 8, 0, 0, 0, 7, 0, 0, 0]);
    for deflated in [false, true] {
        let file =
            written("data.npz", &zip(&[("X.npy", x.clone()), ("y.npy", y.clone())], deflated));
        let member = file.folder.path().join("data.npz:X");
        assert_eq!(read_matrix(&member).unwrap().values, VALUES);
        let wanted = Columns { keys: vec![Ask::required("y")], ..all_others() };
        let frame = read_frame(&file.path, &wanted, Missing::Error).unwrap();
        assert_eq!(
            (frame.feature_names.join(" "), &frame.features[..]),
            ("X1 X2".to_owned(), &VALUES[..])
        );
        assert_eq!(frame.keys[0].as_ref().unwrap().names, ["7", "8"]);
        assert!(frame.place(2).ends_with("data.npz, row 3"));
        assert!(frame.notes.is_empty());
        let only = Columns { numbers: vec![Ask::required("X2")], ..Columns::default() };
        let frame = read_frame(&file.path, &only, Missing::Error).unwrap();
        assert_eq!(frame.numbers[0], Some(vec![0.0, 4.0, 100.0]));
        let error = read_matrix(&file.folder.path().join("data.npz:z")).unwrap_err().to_string();
        assert!(error.contains("data.npz: has no array 'z'; its arrays are X, y"), "{error}");
    }
    assert_eq!(
        matrix("one.npz", &zip(&[("v.npy", y.clone())], true)).unwrap().values,
        [7.0, 8.0, 7.0]
    );
}

#[test]
fn only_archives_have_parts() {
    let file = written("m.npy", &npy("<f8", "2, 3", &doubles(&VALUES)));
    let error = read_matrix(&file.folder.path().join("m.npy:X")).unwrap_err().to_string();
    assert!(error.ends_with("m.npy:X: no such file; check the path"), "{error}");
}

#[test]
fn archives_that_are_refused() {
    let says = |bytes: &[u8], part: &str| {
        let error = matrix("a.npz", bytes).unwrap_err().to_string();
        assert!(error.contains(part) && error.contains("a.npz"), "'{part}' is not in: {error}");
    };
    let long = npy("<f8", "6,", &doubles(&VALUES));
    let short = npy("<f8", "2,", &doubles(&VALUES[..2]));
    let mixed = zip(&[("a.npy", long.clone()), ("b.npy", short)], true);
    says(&mixed, "different numbers of rows: a: 6, b: 2; name one of them as");
    says(&zip(&[("a.txt", b"1,2".to_vec())], true), "is a zip archive without arrays; unpack it");
    let pair = npy("<f8", "3, 2", &doubles(&VALUES));
    let single = npy("<f8", "3,", &doubles(&VALUES[..3]));
    says(&zip(&[("X.npy", pair), ("X2.npy", single)], true), "columns 2 and 3 are both named 'X2'");
    let whole = zip(&[("a.npy", long)], false);
    let mut broken = whole.clone();
    broken[150] ^= 1;
    says(&broken, "checksum");
    says(&whole[..whole.len() - 30], "ends too early");
    let mut method = zip(&[("a.npy", npy("<f8", "6,", &doubles(&VALUES)))], true);
    let at = method.windows(4).rposition(|bytes| bytes == b"PK\x01\x02").unwrap();
    method[at + 10] = 12;
    says(&method, "packed by method 12");
}

#[test]
fn headers_that_promise_too_much() {
    let says = |bytes: &[u8], part: &str| {
        let file = written("a.npz", bytes);
        let named = Columns { numbers: vec![Ask::required("y")], ..Columns::default() };
        for columns in [all_others(), named] {
            let error = read_frame(&file.path, &columns, Missing::Error).unwrap_err().to_string();
            assert!(error.contains(part) && error.contains("a.npz"), "'{part}' is not in: {error}");
        }
    };
    let few = doubles(&VALUES);
    let wide = "1, 1000000000000";
    for deflated in [false, true] {
        for shape in [wide, "1000000000000000,", "1000000000000, 1000"] {
            for order in ["False", "True"] {
                let array = npy_with(1, "|u1", order, shape, &few);
                let archive = zip(&[("x.npy", array.clone()), ("y.npy", array.clone())], deflated);
                says(
                    &archive,
                    "a.npz:x: is damaged (it ends too early: its header promises 1000000000000",
                );
                says(
                    &zip(&[("y.npy", array.clone())], deflated),
                    "a.npz:y: is damaged (it ends too early",
                );
            }
        }
        let array = npy("<f8", "1000000000000000000,", &few);
        let archive = zip(&[("x.npy", array.clone()), ("y.npy", array.clone())], deflated);
        says(
            &archive,
            "a.npz:x: is damaged (it ends too early: its header promises 8000000000000000000 bytes",
        );
        let array = npy("|u1", "4000000000000000000,", &few);
        says(
            &zip(&[("x.npy", array.clone()), ("y.npy", array)], deflated),
            "x: is damaged (its shape is imp",
        );
        let empty = npy("<f8", "1000000000000000, 0", &[]);
        says(&zip(&[("x.npy", empty.clone()), ("y.npy", empty)], deflated), "has no numbers");
    }
    // What the directory says of the size is not believed either.
    let array = npy("|u1", "4000000000,", &[0; 1000]);
    let mut archive = zip(&[("x.npy", array.clone()), ("y.npy", array)], true);
    let at = archive.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    archive[at + 24..at + 28].copy_from_slice(&4_100_000_000_u32.to_le_bytes());
    says(&archive, "a.npz:x: is damaged (it ends too early: its header promises 4000000000 bytes");
    let mut long = npy_with(2, "<f8", "False", "6,", &few);
    long[8..12].copy_from_slice(&0xff00_0000_u32.to_le_bytes());
    says(
        &zip(&[("x.npy", long.clone()), ("y.npy", long)], true),
        "a.npz:x: is damaged (its header has 42781",
    );
}

#[test]
fn tables_have_names_for_their_columns_so_not_too_many() {
    says(
        &npy("|u1", "1, 1000001", &vec![0; 1_000_001]),
        &["m.npy: has 1000001 columns, and a table has at most 200000; rows come first"],
    );
    let half = npy("|u1", "1, 100001", &vec![0; 100_001]);
    let error =
        matrix("a.npz", &zip(&[("x.npy", half.clone()), ("y.npy", half)], true)).unwrap_err();
    assert!(error.to_string().contains("a.npz: has 200002 columns"), "{error}");
}

#[test]
fn returns_from_arrays() {
    let file =
        written("r.npy", &npy("<f8", "3, 2", &doubles(&[0.1, 0.2, f64::NAN, 0.4, 0.5, 0.7])));
    let error = read_returns(&file.path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("row 2, column 1: 'NaN' is a missing value"), "{error}");
    let returns = read_returns(
        &file.path,
        &ReadOptions { missing: Missing::DropRows, ..ReadOptions::default() },
    )
    .unwrap();
    assert_eq!(
        (returns.names.join(" "), &returns.values[..]),
        ("a01 a02".into(), &[0.1, 0.2, 0.5, 0.7][..])
    );
    let returns = read_returns(
        &file.path,
        &ReadOptions { missing: Missing::DropColumns, ..ReadOptions::default() },
    )
    .unwrap();
    assert_eq!(returns.names, ["a02"]);
    let one = npy("<f8", "1, 2", &doubles(&[0.1, 0.2]));
    let error = parse_returns(&one, "one", &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("one: has a single row; at least two rows"), "{error}");
    let flat = npy("<f8", "2,", &doubles(&[0.1, 0.1]));
    assert!(matches!(
        parse_returns(&flat, "flat", &ReadOptions::default()),
        Err(ReadError::Constant { .. })
    ));
}

#[test]
fn files_that_numpy_wrote() {
    let file = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name);
    let values: Vec<f64> = (0..12).map(f64::from).collect();
    let matrix = read_matrix(&file("fortran.npy")).unwrap();
    assert_eq!((matrix.rows, matrix.columns, matrix.values), (4, 3, values.clone()));
    // Data frames of one type are saved column after column.
    let (limits, columns) = (Limits::default(), Columns::default());
    let mapped = limits.map_frame(&file("fortran.npy"), &columns, Missing::Error);
    assert!(mapped.unwrap().is_none());
    let returns = limits.read_returns(&file("fortran.npy"), &ReadOptions::default()).unwrap();
    assert_eq!(returns.values, values);
    assert_eq!(read_matrix(&file("numpy.npz:X")).unwrap().values, values[..6]);
    assert_eq!(read_matrix(&file("numpy.npz:y")).unwrap().values, [7.0, 8.0, 7.0]);
    assert_eq!(read_matrix(&file("numpy.npz")).unwrap().columns, 3);
}

proptest! {
    #[test]
    fn what_was_written_is_read(columns in 1_usize..5, values in prop::collection::vec(any::<f64>().prop_filter("finite", |x| x.is_finite()), 1..60)) {
        let rows = values.len().div_ceil(columns);
        let columns: Vec<Vec<f64>> = (0..columns).map(|j| (0..rows).map(|i| values[(i * columns + j) % values.len()]).collect()).collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.npy");
        let table = OutTable { columns: columns.iter().map(|column| (String::new(), OutColumn::Numbers(column.clone()))).collect() };
        table.write(&path).unwrap();
        let read = read_matrix(&path).unwrap();
        prop_assert_eq!((read.rows, read.columns), (rows, columns.len()));
        for (j, column) in columns.iter().enumerate() {
            prop_assert!((0..rows).all(|i| read.values[i * columns.len() + j].to_bits() == column[i].to_bits()));
        }
    }

    #[test]
    fn no_damage_makes_it_panic(edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), cut in any::<prop::sample::Index>()) {
        let array = npy_with(1, "<f8", "True", "2, 3", &doubles(&VALUES));
        for whole in [array.clone(), zip(&[("a.npy", array.clone()), ("b.npy", array)], true)] {
            let mut bytes = whole;
            for (index, byte) in &edits {
                let at = index.index(bytes.len());
                bytes[at] = *byte;
            }
            let _ = parse_returns(&bytes, "bytes", &ReadOptions::default());
            bytes.truncate(cut.index(bytes.len()));
            let _ = parse_returns(&bytes, "bytes", &ReadOptions::default());
        }
    }
}

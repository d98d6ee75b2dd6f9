//! Variables of MATLAB 7.3, from files laid out as MATLAB lays them out; and what is said where
//! they are not built in.

use std::path::{Path, PathBuf};

use innermean_data::read_matrix;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name)
}

fn says(name: &str, part: &str) {
    let error = read_matrix(&file(name)).unwrap_err().to_string();
    assert!(error.contains(part), "'{part}' is not in: {error}");
    assert!(!error.contains('\n'), "{error}");
}

#[test]
fn older_versions_are_refused() {
    says("old.mat", "is a MATLAB file of a version before 7.3; save it with save(..., '-v7.3')");
}

#[cfg(not(feature = "mat"))]
#[test]
fn without_the_feature_it_is_named() {
    says("one.mat", "is a MATLAB 7.3 file, which is not built in; build with --features mat");
    says("d4rl.hdf5", "is a plain HDF5 file, which is not built in; build with --features mat");
}

#[cfg(feature = "mat")]
mod built_in {
    use super::*;
    use innermean_data::{ReadError, ReadOptions, read_returns};

    const VALUES: [f64; 6] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];

    #[test]
    fn the_only_matrix_of_numbers_is_taken() {
        let matrix = read_matrix(&file("one.mat")).unwrap();
        assert_eq!((matrix.rows, matrix.columns, &matrix.values[..]), (3, 2, &VALUES[..]));
        let returns = read_returns(&file("one.mat"), &ReadOptions::default()).unwrap();
        assert_eq!(
            (returns.names.join(" "), &returns.values[..]),
            ("a01 a02".to_owned(), &VALUES[..])
        );
    }

    #[test]
    fn variables_by_name() {
        let matrix = read_matrix(&file("two.mat:X")).unwrap();
        assert_eq!((matrix.rows, matrix.columns, &matrix.values[..]), (3, 2, &VALUES[..]));
        let matrix = read_matrix(&file("two.mat:y")).unwrap();
        assert_eq!((matrix.rows, matrix.columns, &matrix.values[..]), (3, 1, &[1.0, 0.0, 1.0][..]));
        says("two.mat", "holds several variables (X, y); name one of them as");
        says("two.mat:z", "has no array 'z'; its arrays are X, y");
        says("one.mat:title", "has no array 'title'; its arrays are R");
    }

    #[test]
    fn shapes_that_promise_too_much() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("wide.mat");
        let whole = std::fs::read(file("one.mat")).unwrap();
        let shape = |columns: u64, rows: u64| [columns.to_le_bytes(), rows.to_le_bytes()].concat();
        let told = shape(2, 3);
        for (columns, rows, part) in [
            (
                2,
                1_000_000_000_000_000,
                "R: unpacks to more than 200 times its size; if it is to be trusted",
            ),
            (1_000_000_000_000, 1, "R: has 1000000000000 columns, and a table has at most 200000"),
            (200_000, u64::MAX, "R: unpacks to more than 200 times"),
            (2, 1000, "R: is damaged"),
        ] {
            let mut bytes = whole.clone();
            let places: Vec<usize> =
                (0..whole.len() - 16).filter(|&at| whole[at..].starts_with(&told)).collect();
            assert!(!places.is_empty());
            for at in places {
                bytes[at..at + 16].copy_from_slice(&shape(columns, rows));
            }
            std::fs::write(&path, &bytes).unwrap();
            let error = read_matrix(&path).unwrap_err().to_string();
            assert!(error.contains(part), "'{part}' is not in: {error}");
        }
    }

    #[test]
    fn damage_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cut.mat");
        let whole = std::fs::read(file("one.mat")).unwrap();
        for length in [100, 600, whole.len() - 100] {
            std::fs::write(&path, &whole[..length]).unwrap();
            let error = read_matrix(&path).unwrap_err();
            assert!(matches!(error, ReadError::Damaged { .. }), "{length}: {error}");
        }
    }
}

//! The readers of `innermean-data`, and what they promise of what they let pass.

#![allow(clippy::missing_panics_doc, reason = "a panic is how a broken promise is told")]

use std::io::Write;

use flate2::write::GzEncoder;
use flate2::{Compression, Crc};
use innermean_apps::model::{Model, NewRows};
use innermean_data::{
    Ask, Cash, Columns, FeatureColumns, Frame, Missing, Prices, ReadError, ReadOptions, Setting,
    SettingValue, parse_corpus, parse_frame, parse_libsvm, parse_returns, parse_settings,
    parse_vector, read_matrix,
};

/// What to do about missing values: all there is.
const MISSING: [Missing; 3] = [Missing::Error, Missing::DropRows, Missing::DropColumns];

/// A refusal is one line that names the file.
fn refused(error: &ReadError) {
    let sentence = error.to_string();
    assert!(sentence.starts_with("input"), "the file is not named first: {sentence}");
    assert!(!sentence.contains('\n'), "more than a line: {sentence:?}");
    assert!(
        sentence.chars().count() < 2000,
        "a sentence of {} characters",
        sentence.chars().count()
    );
    assert!(!sentence.chars().any(char::is_control), "control characters: {sentence:?}");
}

/// `innermean portfolio`
pub fn returns(data: &[u8]) {
    let by_missing = MISSING.map(|missing| ReadOptions { missing, ..ReadOptions::default() });
    let asked_for = ReadOptions {
        missing: Missing::DropRows,
        prices: Prices::Simple,
        except: vec!["2".to_owned()],
        from: Some("2000".to_owned()),
        min_history: 2,
        cash: Cash::Any,
        ..ReadOptions::default()
    };
    for options in by_missing.iter().chain([&asked_for]) {
        match parse_returns(data, "input", options) {
            Err(error) => refused(&error),
            Ok(table) => {
                assert!(table.rows() > 0 && table.assets() > 0, "an empty table");
                assert_eq!(table.values.len(), table.rows() * table.assets(), "whole rows");
                assert!(table.values.iter().all(|x| x.is_finite()), "numbers that are not finite");
            }
        }
    }
}

fn whole(frame: &Frame) {
    let width = frame.feature_names.len();
    for row in 0..frame.rows {
        let numbers = frame.row(row);
        assert_eq!(numbers.len(), width, "whole rows");
        assert!(numbers.iter().all(|x| x.is_finite()), "numbers that are not finite");
        assert!(!frame.place(row).is_empty());
    }
    for keys in frame.keys.iter().flatten() {
        (0..frame.rows).for_each(|row| assert!(keys.text(row).len() < usize::MAX));
    }
}

fn frame_by(data: &[u8], columns: &Columns) {
    for missing in MISSING {
        match parse_frame(data, "input", columns, missing) {
            Err(error) => refused(&error),
            Ok(frame) => whole(&frame),
        }
    }
}

/// All columns as numbers: `innermean linear` and the like.
pub fn frame(data: &[u8]) {
    frame_by(
        data,
        &Columns { features: FeatureColumns::Others { except: Vec::new() }, ..Columns::default() },
    );
}

/// With columns of texts: `innermean bags`, logs and features of states.
pub fn keyed(data: &[u8]) {
    let columns = Columns {
        keys: vec![Ask::required("user"), Ask::optional("group").or_blank()],
        numbers: vec![Ask::optional("stars")],
        features: FeatureColumns::Others { except: vec!["note".to_owned()] },
    };
    frame_by(data, &columns);
}

/// A packed text that is damaged, and a damaged text that is packed.
pub fn gzip(data: &[u8]) {
    frame(data);
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(data).expect("memory takes all");
    frame(&packed.finish().expect("memory takes all"));
}

/// An array of numpy, as a table and as a matrix.
pub fn npy(data: &[u8]) {
    returns(data);
    let mut file = tempfile::Builder::new().prefix("input").tempfile().expect("a file");
    file.write_all(data).expect("written");
    match read_matrix(file.path()) {
        Err(error) => assert!(!error.to_string().contains('\n'), "more than a line: {error:?}"),
        Ok(matrix) => assert_eq!(matrix.values.len(), matrix.rows * matrix.columns, "whole rows"),
    }
}

/// An archive of numpy that is damaged, and a damaged array in a sound archive.
pub fn npz(data: &[u8]) {
    frame(data);
    keyed(data);
    frame(&archive("X.npy", data));
}

/// A zip archive with one member, stored: a local header, the bytes, the directory, and where that
/// stands.
fn archive(name: &str, data: &[u8]) -> Vec<u8> {
    let mut checksum = Crc::new();
    checksum.update(data);
    let size = (data.len() as u32).to_le_bytes();
    // Versions, flags, method (stored), time and date; checksum, sizes; lengths of the name and of
    // what else there is.
    let mut header = vec![20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
    for part in [checksum.sum().to_le_bytes(), size, size, [name.len() as u8, 0, 0, 0]] {
        header.extend(part);
    }
    let mut zip = [b"PK\x03\x04", &*header, name.as_bytes(), data].concat();
    let start = zip.len();
    // The directory: comment, disk, attributes and the offset of the local header are all zero.
    zip.extend([b"PK\x01\x02\x14\x00", &*header, &[0; 14], name.as_bytes()].concat());
    let end = zip.len();
    zip.extend(b"PK\x05\x06\x00\x00\x00\x00\x01\x00\x01\x00");
    zip.extend(((end - start) as u32).to_le_bytes());
    zip.extend((start as u32).to_le_bytes());
    zip.extend([0, 0]);
    zip
}

/// Sparse rows.
pub fn libsvm(data: &[u8]) {
    match parse_libsvm(data, "input") {
        Err(error) => refused(&error),
        Ok(table) => {
            for i in 0..table.rows() {
                let (columns, values) = table.row(i);
                assert_eq!(columns.len(), values.len());
                assert!(columns.is_sorted_by(|a, b| a < b), "columns that do not rise");
                assert!(values.iter().all(|x| x.is_finite()), "numbers that are not finite");
            }
        }
    }
}

/// A start.
pub fn vector(data: &[u8]) {
    let names = ["a", "b", "c"].map(str::to_owned);
    match parse_vector(data, "input", 3, &names) {
        Err(error) => refused(&error),
        Ok(numbers) => {
            assert_eq!(numbers.len(), 3);
            assert!(numbers.iter().all(|x| x.is_finite()), "numbers that are not finite");
        }
    }
}

/// `innermean predict`
pub fn model(data: &[u8]) {
    let model = match Model::parse(&String::from_utf8_lossy(data)) {
        Err(error) => {
            let sentence = error.to_string();
            assert!(!sentence.chars().any(char::is_control), "control characters: {sentence:?}");
            assert!(sentence.chars().count() < 2000, "a long sentence: {sentence}");
            return;
        }
        Ok(model) => model,
    };
    assert_eq!(Model::parse(&model.to_json()).as_ref(), Ok(&model), "written as it was read");
    let names = model.features();
    let values: Vec<f64> = (0..3 * names.len()).map(|k| k as f64 / 7.0).collect();
    // A model that was changed may refuse rows, but not panic.
    if let Ok(columns) = model.predict(&NewRows::Dense { names, values: &values }) {
        assert!(!columns.is_empty(), "something is predicted");
    }
}

/// Sequences of tokens.
pub fn tokens(data: &[u8]) {
    match parse_corpus(data, "input") {
        Err(error) => refused(&error),
        Ok(corpus) => {
            let (ngrams, counts) = corpus.ngrams(2);
            assert_eq!(ngrams.len(), 2 * counts.len());
        }
    }
}

/// Settings in TOML.
pub fn settings(data: &[u8]) {
    match parse_settings(data, "input") {
        Err(error) => refused(&error),
        Ok(settings) => {
            for Setting { path, value, line } in settings {
                assert!(!path.is_empty() && line > 0, "{path:?} in line {line}");
                assert!(!matches!(value, SettingValue::Number(x) if !x.is_finite()), "{value:?}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_here_is_a_sound_archive() {
        let (_, array) = crate::corpus("npy").expect("a corpus").swap_remove(1);
        let columns = Columns {
            features: FeatureColumns::Others { except: Vec::new() },
            ..Columns::default()
        };
        let read = |bytes: &[u8]| parse_frame(bytes, "input", &columns, Missing::Error);
        let (alone, packed) =
            (read(&array).expect("an array"), read(&archive("X.npy", &array)).expect("a member"));
        assert_eq!((alone.rows, alone.row(0)), (packed.rows, packed.row(0)));
    }
}

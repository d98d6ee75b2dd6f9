//! Logs of D4RL and Minari, as h5py writes them (`files/make_logs.py`).

use std::path::{Path, PathBuf};

use innermean_data::{Ask, Columns, Frame, Limits, Missing, ReadError, read_frame};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name)
}

fn read(name: &str, columns: &[&str]) -> Frame {
    let numbers = columns.iter().map(|name| Ask::required(*name)).collect();
    read_frame(&file(name), &Columns { numbers, ..Columns::default() }, Missing::Error).unwrap()
}

/// `[t + 1, e^2 + t^2 / 2]`
fn observed(e: u8, t: u8) -> [f64; 2] {
    let (e, t) = (f64::from(e), f64::from(t));
    [t + 1.0, e * e + 0.5 * t * t]
}

const STEPS: [(u8, u8); 8] = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)];
const NAMES: [&str; 5] =
    ["observations1", "observations2", "next_observations1", "next_observations2", "rewards"];

fn check(frame: &Frame, steps: &[(u8, u8)]) {
    assert_eq!(frame.rows, steps.len());
    let column = |k: usize| frame.numbers[k].as_ref().unwrap();
    for (row, &(e, t)) in steps.iter().enumerate() {
        assert_eq!([column(0)[row], column(1)[row]], observed(e, t));
        if row + 1 < steps.len() || frame.rows == STEPS.len() {
            let next = [column(2)[row], column(3)[row]];
            assert!(next == observed(e, t + 1) || (e, t) == (0, 2), "{row}: {next:?}");
        }
        assert_eq!(column(4)[row], f64::from(e) - f64::from(t));
    }
}

#[test]
fn both_have_a_row_for_each_step() {
    let d4rl = read("d4rl.hdf5", &[&NAMES[..], &["actions", "terminals", "timeouts"]].concat());
    check(&d4rl, &STEPS);
    assert_eq!(d4rl.numbers[5].as_ref().unwrap()[2], 0.5);
    let ends = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    assert_eq!(d4rl.numbers[6].as_ref().unwrap(), &ends);
    assert_eq!(d4rl.numbers[7].as_ref().unwrap()[4], 1.0);
    assert!(d4rl.notes.is_empty() && !d4rl.columns.iter().any(|name| name.contains("infos")));
    let minari =
        read("minari.hdf5", &[&NAMES[..], &["terminations", "truncations", "episode"]].concat());
    check(&minari, &STEPS);
    assert_eq!(minari.numbers[5].as_ref().unwrap(), &ends);
    assert_eq!(minari.numbers[7].as_ref().unwrap(), &[0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
    let names = Limits::default().column_names(&file("minari.hdf5")).unwrap().unwrap();
    assert_eq!(names, minari.columns);
}

/// Minari's tables in Parquet have a row for each episode: the same steps come out.
#[cfg(feature = "parquet")]
#[test]
fn episodes_in_parquet_are_those_of_hdf5() {
    let names = [&NAMES[..], &["actions", "terminations", "truncations", "episode"]].concat();
    let (parquet, hdf5) = (read("minari.parquet", &names), read("minari.hdf5", &names));
    check(&parquet, &STEPS);
    assert_eq!(parquet.numbers, hdf5.numbers);
    assert!(!parquet.columns.iter().any(|name| name.contains("infos") || name == "seed"));
    for (name, said) in [
        ("short.parquet", "row 2: 'observations' has 3 items of 2 and 'rewards' has 1"),
        ("ragged.parquet", "row 2: 'observations' has an item of 1 numbers after one of 2"),
    ] {
        let numbers = vec![Ask::required("observations1")];
        let columns = Columns { numbers, ..Columns::default() };
        let error = read_frame(&file(name), &columns, Missing::Error).unwrap_err().to_string();
        assert!(error.contains(said), "{name}: {error}");
    }
}

#[test]
fn next_observations_are_those_of_the_next_row() {
    let bare = read("d4rl_bare.hdf5", &[&NAMES[..], &["episode"]].concat());
    // Where the second episode was cut off, nothing says what came next.
    let kept: Vec<(u8, u8)> = STEPS.into_iter().filter(|step| *step != (1, 1)).collect();
    check(&bare, &kept);
    assert_eq!(bare.numbers[5].as_ref().unwrap(), &[0.0, 0.0, 0.0, 1.0, 2.0, 2.0, 2.0]);
    assert!(bare.notes[0].contains("no next observations") && bare.notes[0].ends_with("out: 1."));
}

#[test]
fn other_files_are_refused() {
    let columns = Columns::default();
    let error = read_frame(&file("other.hdf5"), &columns, Missing::Error).unwrap_err().to_string();
    assert!(error.contains("no log of D4RL or Minari") && !error.contains('\n'), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.hdf5");
    let numbers = vec![Ask::required("observations1")];
    let columns = Columns { numbers, ..Columns::default() };
    for name in ["d4rl.hdf5", "minari.hdf5"] {
        let whole = std::fs::read(file(name)).unwrap();
        for length in [30, 600, whole.len() / 2] {
            std::fs::write(&path, &whole[..length]).unwrap();
            let error = read_frame(&path, &columns, Missing::Error).unwrap_err();
            assert!(matches!(error, ReadError::Damaged { .. }), "{name}, {length}: {error}");
        }
    }
}

/// A byte of the type of `timeouts` says that one of them takes 4 GB.
#[test]
fn no_memory_is_taken_for_a_damaged_type() {
    let mut bytes = std::fs::read(file("d4rl_bare.hdf5")).unwrap();
    bytes[13751] = 30;
    let damaged = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(damaged.path(), bytes).unwrap();
    let columns = Columns { numbers: vec![Ask::required("rewards")], ..Columns::default() };
    let refusal = read_frame(damaged.path(), &columns, Missing::Error).unwrap_err().to_string();
    assert!(refusal.contains("is damaged") && refusal.contains(" bytes"), "{refusal}");
}

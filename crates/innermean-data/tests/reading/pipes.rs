//! Tables that come through a pipe: read as if they were files, however often they are looked at.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::{self, JoinHandle};

use innermean_data::{Columns, Limits, Missing, ReadOptions, parse_returns};

use super::packed::{long_table, packed};

/// A pipe, and somebody who writes into it.
fn pipe(folder: &Path, name: &str, bytes: Vec<u8>) -> (PathBuf, JoinHandle<()>) {
    let path = folder.join(name);
    let made = Command::new("mkfifo").arg(&path).status().expect("mkfifo");
    assert!(made.success());
    let to = path.clone();
    (path, thread::spawn(move || fs::write(to, bytes).expect("a reader")))
}

#[test]
fn a_pipe_loses_no_bytes_to_those_who_look_at_it_first() {
    let folder = tempfile::tempdir().unwrap();
    let (options, limits) = (ReadOptions::default(), Limits::default());
    let text = long_table();
    let plain = parse_returns(text.as_bytes(), "t", &options).unwrap();
    for (name, bytes) in [("t.csv", text.clone().into_bytes()), ("t.csv.gz", packed(&text))] {
        let (path, writer) = pipe(folder.path(), name, bytes);
        assert_eq!(limits.lacking_for(&path).unwrap(), None);
        assert!(limits.map_frame(&path, &Columns::default(), Missing::Error).unwrap().is_none());
        assert!(!limits.looks_like_libsvm(&path).unwrap());
        let read = limits.read_returns(&path, &options).unwrap();
        assert_eq!((read.names, read.values), (plain.names.clone(), plain.values.clone()));
        writer.join().unwrap();
    }
}

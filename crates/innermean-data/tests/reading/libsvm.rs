//! Sparse rows: what is read, what is refused, and that writing gives them back.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use innermean_data::{SparseTable, parse_libsvm, read_libsvm};
use proptest::prelude::*;

fn read(text: &str) -> SparseTable {
    match parse_libsvm(text.as_bytes(), "rows.txt") {
        Ok(table) => table,
        Err(error) => panic!("{error}\nin\n{text}"),
    }
}

fn says(text: &str, parts: &[&str]) {
    let error = match parse_libsvm(text.as_bytes(), "rows.txt") {
        Ok(table) => panic!("read as {table:?}"),
        Err(error) => error.to_string(),
    };
    for part in parts {
        assert!(error.contains(part), "'{part}' is not in: {error}");
    }
    assert!(error.starts_with("rows.txt") && !error.contains('\n'), "{error}");
}

#[test]
fn rows_labels_and_places() {
    let table =
        read("# made by hand\n+1 1:0.5 3:-2e1  \n\n-1\t2:1\r\n0.5 # no entries\n1 3:1 # 4:7\n");
    assert_eq!(table.labels, [1.0, -1.0, 0.5, 1.0]);
    assert_eq!(table.indptr, [0, 2, 3, 3, 4]);
    assert_eq!(table.indices, [0, 2, 1, 2]);
    assert_eq!(table.values, [0.5, -20.0, 1.0, 1.0]);
    assert_eq!((table.d, table.rows(), table.row(1)), (3, 4, (&[1][..], &[1.0][..])));
    assert_eq!(
        (table.place(1), table.place(3)),
        ("rows.txt, line 4".into(), "rows.txt, line 6".into())
    );
    assert!(table.notes.is_empty(), "{:?}", table.notes);
    assert_eq!(table.first_index, 1);
}

#[test]
fn indices_from_zero_and_query_numbers_are_told() {
    let table = read("1 1:2\n1 0:1 4:2\n");
    assert_eq!((&table.indices[..], table.d, table.first_index), (&[1, 0, 4][..], 5, 0));
    assert!(
        table.notes[0].contains("count from 0") && table.notes[0].contains("line 2"),
        "{:?}",
        table.notes
    );
    let table = read("3 qid:1 1:2\n1 qid:1 2:2\n");
    assert_eq!(
        (&table.indices[..], &table.notes[..]),
        (&[0, 1][..], &["Skipped 2 query numbers (qid).".into()][..])
    );
}

#[test]
fn what_is_refused() {
    says("", &["is empty", "1 3:0.5 7:-1"]);
    says("# nothing\n\n", &["is empty"]);
    says("1 1:2\nx 1:2\n", &["line 2, column 1: 'x' is not a label"]);
    says("1 1:2 3:x\n", &["line 1, column 3: '3:x' is not an entry"]);
    says("1 1:2 3\n", &["line 1, column 3: '3' is not an entry"]);
    says("1 1:2 :3\n", &["':3' is not an entry"]);
    says("1 1:2 3:\n", &["'3:' is not an entry"]);
    says("1 -1:2\n", &["'-1:2' is not an entry"]);
    says("1 1.5:2\n", &["'1.5:2' is not an entry"]);
    says("1 99999999999:2\n", &["'99999999999:2' is not an entry"]);
    says("1,2,3\n", &["line 1, column 1: '1,2,3' is not a label"]);
    says("1 3:1 2:1\n", &["line 1, column 3: index 2 follows index 3", "sort the row"]);
    says("1 3:1 3:1\n", &["index 3 follows index 3"]);
    says("1 3:inf\n", &["line 1, column 2: 'inf' is not a finite number"]);
    says("nan 3:1\n", &["not a finite number"]);
    says("1 1:2\n1 1:2é\n", &["line 2, column 2: '1:2é'"]);
}

fn tables() -> impl Strategy<Value = SparseTable> {
    let entry = (
        0_u32..50,
        prop_oneof![
            -5.0..5.0_f64,
            (-9..9_i32).prop_map(f64::from),
            any::<i64>().prop_map(|x| x as f64 * 1e-30)
        ],
    );
    let row = (-2.0..2.0_f64, prop::collection::vec(entry, 0..8));
    prop::collection::vec(row, 1..30).prop_map(|rows| {
        let (mut labels, mut indptr, mut indices, mut values) = (vec![], vec![0], vec![], vec![]);
        for (label, mut entries) in rows {
            entries.sort_by_key(|(index, _)| *index);
            entries.dedup_by_key(|(index, _)| *index);
            labels.push(label);
            indices.extend(entries.iter().map(|(index, _)| *index));
            values.extend(entries.iter().map(|(_, value)| *value));
            indptr.push(values.len());
        }
        let d = indices.iter().max().map_or(0, |&largest| largest as usize + 1);
        SparseTable::new("made", labels, indptr, indices, values, d)
    })
}

proptest! {
    #[test]
    fn what_was_written_is_read(table in tables()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.svm");
        table.write(&path).unwrap();
        let read = read_libsvm(&path).unwrap();
        prop_assert_eq!((&read.labels, &read.indptr, &read.indices), (&table.labels, &table.indptr, &table.indices));
        prop_assert_eq!((&read.values, read.d, read.first_index), (&table.values, table.d, table.first_index));
        let packed = folder.path().join("rows.svm.gz");
        let mut encoder = GzEncoder::new(std::fs::File::create(&packed).unwrap(), Compression::default());
        encoder.write_all(&std::fs::read(&path).unwrap()).unwrap();
        encoder.finish().unwrap();
        prop_assert_eq!(read_libsvm(&packed).unwrap().values, read.values);
    }

    #[test]
    fn nothing_makes_it_panic(text in "[-+0-9:.eqid# \t\r\né]{0,80}") {
        match parse_libsvm(text.as_bytes(), "bytes") {
            Ok(table) => {
                prop_assert!(table.values.iter().all(|x| x.is_finite()));
                prop_assert_eq!(table.indptr.len(), table.rows() + 1);
                prop_assert!(table.indices.iter().all(|&index| (index as usize) < table.d));
            }
            Err(error) => prop_assert!(error.to_string().starts_with("bytes")),
        }
    }
}

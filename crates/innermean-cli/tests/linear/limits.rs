//! Files that are small and stand for much, and files larger than the memory: each is refused in a
//! sentence, with little memory.

use std::io::Write as _;

use super::*;

impl Desk {
    /// Runs with 256 MiB of memory, whatever it is called for.
    fn run_in_little_memory(&self, args: &str) -> Run {
        self.run_within(262_144, args)
    }

    /// A refusal in one sentence, with all of `words`, for want of memory or not.
    fn assert_too_large(&self, args: &str, words: &[&str]) {
        let before = self.names();
        let run = self.run_in_little_memory(&format!("{args} --trace fresh.jsonl"));
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{args}: {}", run.err);
        assert!(
            run.err.starts_with("innermean: ") && run.err.lines().count() == 1,
            "{args}: {}",
            run.err
        );
        for word in words {
            assert!(run.err.contains(word), "{args}: expected {word} in {}", run.err);
        }
        assert_eq!(self.names(), before, "{args}");
    }

    /// A text so often, packed.
    fn packed(&self, name: &str, head: &str, text: &str, times: usize) {
        let file = fs::File::create(self.path().join(name)).expect("a file");
        let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::best());
        packed.write_all(head.as_bytes()).expect("written");
        let block = text.repeat(1000);
        (0..times / 1000).for_each(|_| packed.write_all(block.as_bytes()).expect("written"));
        packed.finish().expect("written");
    }
}

#[test]
fn an_index_costs_nothing_if_no_other_is_there() {
    let desk = Desk::at("linear");
    desk.file("wide.svm", "1 1:0.5 100000000:1\n-1 2:0.5\n1 100000000:2\n");
    let run = desk.run_in_little_memory("wide.svm --loss logistic --l2 0.1 --threads 1 --json");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let answer: Value = serde_json::from_str(&run.out).expect("one object");
    assert_eq!(answer["names"], serde_json::json!(["x1", "x2", "x100000000", "(intercept)"]));
    let note = "Columns that no row mentions are left out: 99,999,997 of 100,000,000";
    assert!(answer["notes"].to_string().contains(note), "{}", answer["notes"]);
    // The same rows with neighbours for columns.
    desk.file("narrow.svm", "1 1:0.5 3:1\n-1 2:0.5\n1 3:2\n");
    let narrow = desk.json("narrow.svm --loss logistic --l2 0.1", 0);
    assert_eq!(answer["theta"], narrow["theta"]);
}

#[test]
fn what_unpacks_to_a_multiple_is_refused() {
    let desk = Desk::at("linear");
    desk.packed("zeros.csv.gz", "y,a,b\n", "0,0,0\n", 20_000_000);
    let unpacks = ["zeros.csv.gz: unpacks to more than 200 times its size", "--max-expansion"];
    desk.assert_too_large("zeros.csv.gz --target y --max-memory 8G", &unpacks);
    // Where it is allowed, the memory is what is looked at next.
    desk.assert_too_large(
        "zeros.csv.gz --target y --max-expansion 1100",
        &["would take about", "--max-memory"],
    );
    desk.packed("rows.svm.gz", "", "1 1:0\n", 20_000_000);
    desk.assert_too_large(
        "rows.svm.gz --max-memory 8G",
        &["rows.svm.gz: unpacks to more than 200 times its size"],
    );
}

#[test]
fn tables_that_do_not_fit_are_refused_before_they_are_read() {
    let desk = Desk::at("linear");
    let row = "0.125,0.25,0.5,1.5,2.5,3.5,4.5,5.5\n";
    desk.file("large.csv", &format!("y,a,b,c,d,e,f,g\n{}", row.repeat(2_000_000)));
    let refused = ["large.csv: would take about", "are there for it; read fewer columns or rows"];
    desk.assert_too_large("large.csv --target y --loss huber", &refused);
    desk.assert_too_large(
        "large.csv --target y --loss huber --max-memory 64M",
        &["and 64 MiB are there for it"],
    );
    let svm = "1 1:0.5 2:0.25 3:1\n".repeat(4_000_000);
    desk.file("large.svm", &svm);
    desk.assert_too_large("large.svm --max-memory 64M", &["large.svm: would take about"]);
    // What is asked for holds however little it is, and for the end of a file too.
    desk.file("short.csv", "y,a,b\n1,2,3\n4,5,6\n7,8,10\n");
    desk.assert_too_large(
        "short.csv --target y --loss huber --max-memory 100",
        &["short.csv: would take about", "and 100 bytes are there for it"],
    );
    desk.json("short.csv --target y --l2 0.1 --max-memory 1M", 0);
}

#[test]
fn lines_cells_and_columns_have_limits() {
    let desk = Desk::at("linear");
    let sparse = fs::File::create(desk.path().join("nothing.csv")).expect("a file");
    sparse.set_len(1 << 36).expect("a file of zeros that takes no room");
    desk.assert_too_large(
        "nothing.csv --target y",
        &["nothing.csv, line 1: is longer than 32 MiB", "--max-line"],
    );
    desk.file("wide.csv", &format!("{}\n1\n", ",".repeat(2_000_000)));
    desk.assert_too_large(
        "wide.csv --target y",
        &["wide.csv, line 1: has 2000001 columns", "--max-columns"],
    );
    let long = "z".repeat(100_000);
    desk.file("cell.csv", &format!("y,a\n{long},1\nb,2\n"));
    let cell =
        ["cell.csv, line 2, column 1 (y): a text of 98 KiB is longer than 64 KiB", "--max-cell"];
    desk.assert_too_large("cell.csv --target y --loss logistic", &cell);
    let run = desk.run("cell.csv --target y --loss logistic --l2 1 --max-cell 1M --json");
    assert_eq!(run.code, Some(0), "{}", run.err);
    desk.file("name.csv", &format!("y,{long}\n1,1\n3,2\n"));
    desk.assert_too_large("name.csv --target y", &["name.csv, line 1: a text of 98 KiB"]);
    desk.file("rows.csv", "y,a,b\n1,1,2\n3,2,4\n");
    desk.assert_too_large("rows.csv --target y --max-columns 2", &["line 1: has 3 columns"]);
    desk.assert_too_large("rows.csv --target y --max-line 4", &["line 1: is longer than 4 bytes"]);
    desk.assert_refused("rows.csv --target y --max-line 1Q", &["a number of bytes above 0"]);
}

#[test]
fn shapes_and_sizes_are_looked_at_before_memory_is_taken() {
    let desk = Desk::at("linear");
    let header = |shape: &str| {
        let text = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}");
        let text = format!("{text:<117}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes
    };
    for (shape, said) in [
        ("1000000000000, 3", "it ends too early"),
        ("18446744073709551615, 18446744073709551615", "its shape is impossible"),
        ("99999999999999999999999, 2", "its header has a strange shape"),
    ] {
        fs::write(desk.path().join("m.npy"), header(shape)).expect("a file");
        desk.assert_too_large("m.npy --target c1 --loss huber", &["m.npy: is damaged", said]);
    }
    let mut sparse = fs::File::create(desk.path().join("m.npy")).expect("a file");
    sparse.write_all(&header("1000000000, 3")).expect("written");
    sparse.set_len(128 + 24_000_000_000).expect("a file of zeros that takes no room");
    desk.assert_too_large(
        "m.npy --target c1 --loss huber",
        &["m.npy: would take about 45 GiB of memory"],
    );
    for sizes in [
        "--rows 1e9 --features 1e6",
        "--rows 1e15",
        "--generate sparse --features 1e8",
        "--rows 1e8 --features 20",
    ] {
        desk.assert_too_large(sizes, &["expected sizes that make at most", "--max-memory"]);
    }
}

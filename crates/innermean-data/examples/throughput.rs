//! How fast files are read, and with how much memory: `cargo run --release -p innermean-data
//! --example throughput`, with a part of a case's name behind it for that case alone.
//!
//! Rates are by the time on a processor. Text is compared with the loop over the records of the
//! `csv` crate, which cuts cells and parses nothing.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Instant;

use innermean_data::{
    Ask, Columns, FeatureColumns, Missing, OutColumn, OutTable, ReadOptions, Returns, SparseTable,
    generate_factor_model, read_frame, read_libsvm, read_matrix, read_returns,
};

const ROWS: usize = 200_000;

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let returns = generate_factor_model(ROWS, 25, 1);
    println!("{:<34} {:>7} {:>9} {:>9} {:>16}", "", "MB", "MB/s", "csv MB/s", "peak / values MB");
    for (name, places) in [("two decimals", 2), ("seventeen digits", 17)] {
        let path = folder.path().join(format!("{places}.csv"));
        fs::write(&path, text_of(&returns, places)).expect("a file");
        measure(&format!("{name}, read_returns"), &path, true, || {
            read_returns(&path, &ReadOptions::default()).map(|read| read.values.len())
        });
        let features = FeatureColumns::Others { except: vec!["date".to_owned()] };
        let columns = Columns { features, ..Columns::default() };
        measure(&format!("{name}, read_frame"), &path, true, || {
            read_frame(&path, &columns, Missing::Error).map(|read| read.features.len())
        });
    }
    let path = folder.path().join("keys.csv");
    fs::write(&path, text_of_log(5 * ROWS)).expect("a file");
    let columns = Columns {
        keys: vec![Ask::required("user"), Ask::required("item")],
        numbers: vec![Ask::required("stars")],
        features: FeatureColumns::Others { except: Vec::new() },
    };
    measure("whole numbers and keys, read_frame", &path, true, || {
        // Two keys and a number of half a double each, a number, and the features.
        read_frame(&path, &columns, Missing::Error).map(|read| 2 * read.rows + read.features.len())
    });
    let path = folder.path().join("rows.svm");
    sparse_rows(ROWS).write(&path).expect("a file");
    measure("libsvm", &path, false, || read_libsvm(&path).map(|read| 3 * read.values.len() / 2));
    let path = folder.path().join("m.npy");
    let column = |j: usize| {
        let values = returns.values.iter().skip(j).step_by(25).copied().collect();
        (String::new(), OutColumn::Numbers(values))
    };
    OutTable { columns: (0..25).map(column).collect() }.write(&path).expect("a file");
    measure("npy", &path, false, || read_matrix(&path).map(|read| read.values.len()));
}

/// Returns with dates, as a file.
fn text_of(returns: &Returns, places: usize) -> String {
    let mut text = format!("date,{}\n", returns.names.join(","));
    for i in 0..returns.rows() {
        let _ =
            write!(text, "{:04}-{:02}-{:02}", 1900 + i / 336 % 200, i / 28 % 12 + 1, i % 28 + 1);
        for value in returns.row(i) {
            let _ = if places == 2 {
                write!(text, ",{value:.2}")
            } else {
                write!(text, ",{:.16}", value / 97.0)
            };
        }
        text.push('\n');
    }
    text
}

/// A log of users and items.
fn text_of_log(rows: usize) -> String {
    let mut text = "user,item,stars,clicks,age\n".to_owned();
    for i in 0..rows {
        let mixed = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        let _ = writeln!(
            text,
            "user{},i{:05},{},{},{}",
            mixed % 10_007,
            mixed / 7 % 997,
            mixed % 5,
            mixed % 1000,
            mixed % 90
        );
    }
    text
}

fn sparse_rows(rows: usize) -> SparseTable {
    let per_row = 20;
    let indices = (0..rows * per_row).map(|k| (37 * (k % per_row) + k % 31) as u32).collect();
    let values: Vec<f64> = (0..rows * per_row).map(|k| (k % 1009) as f64 / 1000.0).collect();
    let labels = (0..rows).map(|i| (i % 2) as f64).collect();
    let indptr = (0..=rows).map(|i| i * per_row).collect();
    SparseTable::new("made", labels, indptr, indices, values, 37 * per_row)
}

/// Prints the best rate of a few runs; `read` says how many doubles it holds in the end.
fn measure<E: std::fmt::Display>(
    name: &str,
    path: &Path,
    csv: bool,
    read: impl Fn() -> Result<usize, E>,
) {
    if std::env::args().nth(1).is_some_and(|only| !name.contains(&only)) {
        return;
    }
    let megabytes = fs::metadata(path).map_or(0.0, |file| file.len() as f64 / 1e6);
    let mut doubles = 0;
    reset_peak();
    let before = peak();
    let best = fastest(|| match read() {
        Ok(count) => doubles = count,
        Err(error) => panic!("{error}"),
    });
    let memory = peak() - before;
    let raw =
        if csv { format!("{:.0}", megabytes / fastest(|| records(path))) } else { String::new() };
    let held = doubles as f64 * 8e-6;
    println!(
        "{name:<34} {megabytes:>7.0} {:>9.0} {raw:>9} {memory:>9.0} / {held:.0}",
        megabytes / best
    );
}

fn fastest(mut run: impl FnMut()) -> f64 {
    let start = Instant::now();
    (0..7).fold(f64::INFINITY, |best, _| {
        let before = seconds(start);
        run();
        best.min(seconds(start) - before)
    })
}

/// Time on a processor, so that a busy machine does not count; the clock's where the system does
/// not tell.
fn seconds(start: Instant) -> f64 {
    let text = fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|first| first.parse::<f64>().ok());
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64(), |nanoseconds| nanoseconds * 1e-9)
}

/// The loop over all records of a file.
fn records(path: &Path) {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_path(path).expect("a file");
    let mut record = csv::ByteRecord::new();
    let mut cells = 0;
    while reader.read_byte_record(&mut record).expect("a record") {
        cells += record.len();
    }
    assert!(cells > 0);
}

/// Lets the system forget the largest memory seen so far; where it cannot, the first case tells the
/// truth.
fn reset_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// The most memory held at once since then, in MB; 0 where the system does not tell.
fn peak() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok()).unwrap_or(0.0)
        * 1.024e-3
}

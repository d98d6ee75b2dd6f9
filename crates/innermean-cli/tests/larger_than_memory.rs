//! Files larger than memory: rows that are read once and not kept give the same answer with the
//! same certificate.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;

use serde_json::Value;

use crate::desk::{Desk, csv, number, numbers, small};

/// Numbers that look random, of deviation 1/2 and three digits.
fn noise(count: usize) -> Vec<f64> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    (0..count).map(|_| (1e3 * (next() + next() + next())).round() / 1e3).collect()
}

/// Rows of a target and d features, as text: `y = 2 + sum_l l (x_l - center) + noise`.
fn rows_of_model(rows: usize, d: usize, center: f64) -> String {
    let mut text = String::new();
    for row in noise(rows * (d + 1)).chunks_exact(d + 1) {
        let slopes = row[1..].iter().enumerate().map(|(l, x)| (l + 1) as f64 * x);
        let y = 2.0 + slopes.sum::<f64>() + row[0];
        let _ = write!(text, "{y:.3}");
        for x in &row[1..] {
            let _ = write!(text, ",{:.3}", center + x);
        }
        text.push('\n');
    }
    text
}

fn header(d: usize) -> String {
    let names: Vec<String> = (1..=d).map(|l| format!("x{l}")).collect();
    format!("y,{}\n", names.join(","))
}

impl Desk {
    /// An array of numpy: the rows so many times, one after the other.
    fn npy(&self, name: &str, d: usize, values: &[f64], times: usize) {
        let rows = times * values.len() / d;
        let dict = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {d}), }}");
        let header = format!("{dict:<117}\n");
        let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        bytes.extend(header.as_bytes());
        let block: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        let mut file = fs::File::create(self.path().join(name)).expect("a file");
        file.write_all(&bytes).expect("written");
        (0..times).for_each(|_| file.write_all(&block).expect("written"));
    }
}

/// The same coordinates and objective to twelve digits, and both proven.
fn assert_same(answer: &Value, other: &Value) {
    assert_eq!(answer["names"], other["names"]);
    let (a, b) = (numbers(&answer["theta"]), numbers(&other["theta"]));
    let size = b.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
    for (a, b) in a.iter().zip(&b) {
        assert!((a - b).abs() <= 1e-12 * size, "{a:e} for {b:e}");
    }
    let (a, b) = (number(&answer["objective"]), number(&other["objective"]));
    assert!((a - b).abs() <= 1e-12 * b.abs(), "{a:e} for {b:e}");
    assert_eq!(answer["certificate"]["kind"], other["certificate"]["kind"]);
    for answer in [answer, other] {
        assert!(number(&answer["certificate"]["gap"]) <= 1e-6, "{}", answer["certificate"]);
    }
}

fn says(answer: &Value, words: &str) -> bool {
    answer["notes"].to_string().contains(words)
}

const READ_ONCE: &str = "rows once and kept their means and covariances alone";

/// 64 MB of numbers in 128 MiB, of which a table and a copy would take all. Rows that are repeated
/// have the moments of the rows.
#[test]
fn what_does_not_fit_is_read_once() {
    let desk = Desk::at("linear");
    let rows = rows_of_model(1000, 7, 0.0);
    desk.file("rows.csv", &format!("{}{rows}", header(7)));
    desk.file("large.csv", &format!("{}{}", header(7), rows.repeat(1000)));
    let flags = "--target y --l2 0.1 --threads 2";
    let kept = desk.json(&format!("rows.csv {flags}"), 0);
    assert!(!says(&kept, READ_ONCE));
    let run = desk.run_within(131_072, &format!("large.csv {flags} --json"));
    assert_eq!(run.code, Some(0), "{}", run.err);
    let read: Value = serde_json::from_str(&run.out).expect("one object");
    assert!(says(&read, &format!("Read 1,000,000 {READ_ONCE}")), "{}", read["notes"]);
    assert_same(&read, &kept);

    let desk = Desk::at("portfolio");
    let returns: Vec<f64> = noise(8000).iter().map(|x| 0.01 * x).collect();
    desk.npy("rows.npy", 8, &returns, 1);
    desk.npy("large.npy", 8, &returns, 1000);
    let flags = "--constraint long-only --threads 2";
    let kept = desk.json(&format!("rows.npy {flags}"), 0);
    let run = desk.run_within(131_072, &format!("large.npy {flags} --json"));
    assert_eq!(run.code, Some(0), "{}", run.err);
    let read: Value = serde_json::from_str(&run.out).expect("one object");
    assert!(says(&read, &format!("Read 1,000,000 {READ_ONCE}")), "{}", read["notes"]);
    assert_same(&read, &kept);
}

#[test]
fn moments_of_every_format_give_the_answer_of_the_rows() {
    let desk = Desk::at("linear");
    let text = format!("{}{}", header(3), rows_of_model(3000, 3, 0.0));
    desk.file("rows.csv", &text);
    let packed = fs::File::create(desk.path().join("rows.csv.gz")).expect("a file");
    let mut packed = flate2::write::GzEncoder::new(packed, flate2::Compression::fast());
    packed.write_all(text.as_bytes()).expect("written");
    packed.finish().expect("written");
    let penalties = ["--l2 0.1", "--l1 0.05", "--l2 0.1 --no-intercept", "--l2 0.01 --weight x3"];
    for penalty in penalties {
        let weights = penalty.contains("weight");
        if weights {
            let counted = |line: &str| {
                let (rest, _) = line.rsplit_once(',').expect("several cells");
                format!("{rest},{}\n", line.len() % 3)
            };
            let counts: String = text.lines().skip(1).map(counted).collect();
            desk.file("rows.csv", &format!("{}{counts}", header(3)));
        }
        let kept = desk.json(&format!("rows.csv --target y {penalty}"), 0);
        let read = desk.json(&format!("rows.csv --target y {penalty} --moments"), 0);
        assert!(says(&read, READ_ONCE) && !says(&kept, READ_ONCE));
        assert_same(&read, &kept);
        if !weights {
            let packed = desk.json(&format!("rows.csv.gz --target y {penalty} --moments"), 0);
            assert_eq!(packed["theta"], read["theta"], "the same rows");
        }
    }
    let flags = "rows.csv.gz --target y --moments";
    assert_eq!(desk.run(&format!("{flags} --report page.html")).code, Some(0));

    let desk = Desk::at("portfolio");
    desk.file("returns.csv", &csv(&small()));
    for flags in
        ["--constraint long-only", "--l2 0.1 --objective min-risk", "--constraint sum-to-one"]
    {
        let kept = desk.json(&format!("returns.csv {flags}"), 0);
        assert_same(&desk.json(&format!("returns.csv {flags} --moments"), 0), &kept);
    }
    let run = desk.run("returns.csv --constraint long-only --moments --report page.html");
    assert_eq!(run.code, Some(0), "{}", run.err);
}

/// Means a million times the deviation.
#[test]
fn far_from_zero_digits_stay() {
    let desk = Desk::at("linear");
    desk.file("near.csv", &format!("{}{}", header(3), rows_of_model(4000, 3, 0.0)));
    desk.file("far.csv", &format!("{}{}", header(3), rows_of_model(4000, 3, 5e5)));
    let near = numbers(&desk.json("near.csv --target y --l2 0.1 --moments", 0)["theta"]);
    let far = numbers(&desk.json("far.csv --target y --l2 0.1 --moments", 0)["theta"]);
    // Three digits behind the point are rounded at 5e5 by 3e-11.
    for (near, far) in near.iter().zip(&far).take(3) {
        assert!((near - far).abs() <= 1e-11, "{far:e} for {near:e}");
    }
}

#[test]
fn threads_change_no_bit() {
    let desk = Desk::at("linear");
    desk.file("rows.csv", &format!("{}{}", header(4), rows_of_model(9000, 4, 10.0)));
    let theta = |threads: usize| {
        let flags = format!("rows.csv --target y --l2 0.1 --moments --threads {threads}");
        desk.json(&flags, 0)["theta"].clone()
    };
    let one = theta(1);
    for threads in [2, 3] {
        assert_eq!(theta(threads), one);
    }
}

#[test]
fn what_is_wrong_is_told_in_the_same_words() {
    let desk = Desk::at("linear");
    let mut lines: Vec<String> = rows_of_model(5000, 3, 0.0).lines().map(str::to_owned).collect();
    for row in [1500, 4000] {
        lines[row] = "1,2,,4".to_owned();
    }
    desk.file("gaps.csv", &format!("{}{}\n", header(3), lines.join("\n")));
    let told = desk.refusal("gaps.csv --target y");
    assert_eq!(desk.refusal("gaps.csv --target y --moments"), told);
    let kept = desk.json("gaps.csv --target y --l2 0.1 --missing drop-rows", 0);
    let read = desk.json("gaps.csv --target y --l2 0.1 --missing drop-rows --moments", 0);
    assert_same(&read, &kept);
    let mut values = noise(5000 * 3);
    values[3 * 2222 + 1] = f64::INFINITY;
    desk.npy("rows.npy", 3, &values, 1);
    let told = desk.refusal("rows.npy --target 1");
    assert!(told.contains("2223"), "{told}");
    assert_eq!(desk.refusal("rows.npy --target 1 --moments"), told);
    desk.assert_refused("--moments", &["--moments: speaks of a file"]);
    let needed = ["--moments: --loss needs the rows themselves; expected one of the two"];
    desk.assert_refused("gaps.csv --target y --loss huber --moments", &needed);
    let needed = ["drop-columns needs the rows themselves"];
    desk.assert_refused("gaps.csv --target y --missing drop-columns --moments", &needed);
    let wide = format!("{}\n{}\n", header(2000).trim_end(), vec!["1"; 2001].join(","));
    desk.file("wide.csv", &wide);
    let needed = ["wide.csv: covariances of 2,001 columns take about", "expected fewer columns"];
    desk.assert_refused("wide.csv --target y --moments --max-memory 32M", &needed);

    let desk = Desk::at("portfolio");
    desk.file("returns.csv", &csv(&small()));
    for (flags, needed) in [
        ("--risk absolute", "--risk needs the rows themselves"),
        ("--half-life 20", "--half-life needs the rows themselves"),
        ("--from 20000201", "--from, --to, --min-history or --missing drop-columns needs"),
    ] {
        let flags = format!("returns.csv --constraint long-only {flags} --moments");
        desk.assert_refused(&flags, &[needed]);
    }
    let desk = Desk::at("compare portfolio");
    desk.file("returns.csv", &csv(&small()));
    let run = desk.run("returns.csv --constraint long-only --moments");
    assert_eq!(run.code, Some(2), "{}", run.out);
    assert!(run.err.contains("--moments: a comparison needs the rows themselves"), "{}", run.err);
}

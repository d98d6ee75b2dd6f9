//! Files of rows: made by `convert`, read where they are, with the answers of the tables that they
//! come from.

use std::fmt::Write as _;
use std::fs;

use innermean_data::{
    GroupOptions, LanguageOptions, RowLabels, generate_factor_model, generate_groups,
    generate_language,
};
use serde_json::Value;

use crate::desk::{Desk, csv, numbers, small};

/// Rows of d features, a target, a class, a weight and a fold: features of several sizes where
/// `sizes` says so.
fn table(rows: usize, d: usize, sizes: bool) -> String {
    let names: Vec<String> = (1..=d).map(|l| format!("x{l}")).collect();
    let mut text = format!("id,{},price,outcome,count,fold\n", names.join(","));
    let market = generate_factor_model(rows, d, 3);
    for i in 0..rows {
        let row = market.row(i);
        let size = |l: usize| if sizes && l == 0 { 1000.0 } else { 1.0 };
        let score: f64 = row.iter().enumerate().map(|(l, x)| (l as f64 - 1.0) * x).sum();
        let noisy = score + row[0] * row[d - 1];
        let _ = write!(text, "p{i}");
        for (l, x) in row.iter().enumerate() {
            let _ = write!(text, ",{}", size(l) * x);
        }
        let outcome = if noisy + row[1].sin() > 0.1 { "ill" } else { "well" };
        let _ = writeln!(text, ",{noisy},{outcome},{},f{}", 1 + i % 3, i % 5);
    }
    text
}

impl Desk {
    /// Makes a file of rows, and says what was made.
    fn convert(&self, args: &str) -> Value {
        let output = crate::desk::program()
            .current_dir(self.path())
            .arg("convert")
            .args(args.split_whitespace())
            .arg("--json")
            .output()
            .expect("the binary runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "convert {args}: {said}");
        serde_json::from_slice(&output.stdout).expect("one object")
    }

    /// What `convert` refuses, in one sentence and with nothing written.
    fn refuses_to_convert(&self, args: &str, words: &[&str]) {
        let before = self.names();
        let output = crate::desk::program()
            .current_dir(self.path())
            .arg("convert")
            .args(args.split_whitespace())
            .output()
            .expect("the binary runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "convert {args}: {said}");
        for word in words {
            assert!(said.contains(word), "convert {args}: expected {word} in {said}");
        }
        assert_eq!(self.names(), before, "convert {args}");
    }
}

/// The answer of both files, bit for bit.
fn assert_same_bits(desk: &Desk, table: &str, rows: &str, flags: &str) {
    let of_table = desk.json(&format!("{table} {flags}"), 0);
    let of_rows = desk.json(&format!("{rows} {flags}"), 0);
    for key in ["theta", "objective", "certificate", "method", "status", "fit"] {
        assert_eq!(of_rows[key], of_table[key], "{key} of {flags}");
    }
    assert!(!numbers(&of_rows["theta"]).is_empty());
}

#[test]
fn portfolios_of_rows_are_those_of_the_table() {
    let desk = Desk::at("portfolio");
    desk.file("returns.csv", &csv(&small()));
    let made = desk.convert("returns.csv returns.npy --except date");
    assert_eq!((&made["rows"], &made["intercept"]), (&300.into(), &false.into()));
    let dated = desk.convert("returns.csv dated.npy --texts date");
    assert_eq!(dated["beside"], serde_json::json!(["date"]));
    for flags in [
        "--risk variance",
        "--risk absolute",
        "--risk semivariance",
        "--risk huber",
        "--risk cvar --level 0.9",
        "--risk entropic",
        "--risk kelly --percent",
        "--method svrpda1 --max-seconds 20",
        "--half-life 60",
        "--objective max-sharpe",
    ] {
        let flags = format!("--constraint long-only {flags}");
        assert_same_bits(&desk, "returns.csv", "returns.npy", &flags);
        assert_same_bits(&desk, "returns.csv", "dated.npy", &flags);
    }
    // numpy's own files have no names.
    let named = desk.json("returns.npy --constraint long-only", 0);
    assert_eq!(named["names"], serde_json::json!(small().names));
    // What needs columns of its own, or all rows at once, takes a copy.
    for flags in ["--benchmark A02", "--columns A01,A03"] {
        assert_same_bits(&desk, "returns.csv", "returns.npy", &format!("--l2 0.1 {flags}"));
    }
    let run = desk.run("returns.npy --constraint long-only --walk-forward 100,50");
    assert_eq!(run.code, Some(0), "{}", run.err);
}

#[test]
fn linear_models_of_rows_are_those_of_the_table() {
    let desk = Desk::at("linear");
    for sizes in [false, true] {
        desk.file("rows.csv", &table(700, 5, sizes));
        let beside = "--numbers price,count --texts outcome,fold --except id";
        let made = desk.convert(&format!("rows.csv wide.npy {beside} --intercept"));
        assert_eq!(made["features"], serde_json::json!(["x1", "x2", "x3", "x4", "x5"]));
        desk.convert(&format!("rows.csv narrow.npy {beside}"));
        for flags in [
            "--target price --l2 0.1 --except ASIDE",
            "--target price --l1 0.05 --loss huber --except ASIDE",
            "--target price --l2 0.1 --no-intercept --weight count --except outcome,fold",
            "--target outcome --l2 0.01 --loss logistic --except price,count,fold",
            "--target outcome --l2 0.01 --loss smoothed-hinge --weight count --except price,fold",
            "--target outcome --loss logistic --no-scaling --l2 0.1 --except price,count,fold",
            "--target price --l2 0.1,1 --fold-column fold --except outcome,count",
            "--target price --l2 0.1 --moments --except ASIDE",
        ] {
            let flags = flags.replace("ASIDE", "outcome,count,fold");
            // The table has a column of names more.
            let of_table = flags.replace("--except ", "--except id,");
            let of_table = desk.json(&format!("rows.csv {of_table}"), 0);
            for rows in ["wide.npy", "narrow.npy"] {
                let of_rows = desk.json(&format!("{rows} {flags}"), 0);
                for key in ["theta", "objective", "certificate", "r_squared", "log_loss"] {
                    assert_eq!(of_rows[key], of_table[key], "{key} of {rows} {flags}");
                }
            }
        }
    }
}

#[test]
fn rows_are_sorted_by_their_groups() {
    let desk = Desk::at("bags");
    let drawn = generate_groups(&GroupOptions {
        groups: 40,
        rows: (3, 30),
        features: 4,
        labels: RowLabels::Binary,
        seed: 5,
    });
    let mut labels = String::from("group,share\n");
    let mut lines = Vec::new();
    let mut at = 0;
    for (i, share) in drawn.group_labels.iter().enumerate() {
        let _ = writeln!(labels, "g{i},{share}");
        let size = drawn.groups.iter().filter(|group| **group == i as u32).count();
        for _ in 0..size {
            let row: Vec<String> =
                drawn.rows[4 * at..4 * (at + 1)].iter().map(f64::to_string).collect();
            lines.push(format!("g{i},{},{}", row.join(","), 1 + at % 4));
            at += 1;
        }
    }
    desk.file("labels.csv", &labels);
    let header = "group,x1,x2,x3,x4,persons\n";
    desk.file("sorted.csv", &format!("{header}{}\n", lines.join("\n")));
    // A stride that meets every row: neighbours are far apart.
    let n = lines.len();
    let stride =
        (n / 2 + 1..2 * n).find(|k| (2..=*k).all(|p| n % p > 0 || k % p > 0)).expect("one");
    let mixed: Vec<&str> = (0..n).map(|k| lines[k * stride % n].as_str()).collect();
    desk.file("mixed.csv", &format!("{header}{}\n", mixed.join("\n")));
    let flags = "--labels labels.csv --l2 0.01";
    for weights in ["--except persons", "--weight persons --by-size"] {
        let beside = "--numbers persons";
        let made = desk.convert(&format!("sorted.csv sorted.npy --group group {beside}"));
        assert_eq!(made["groups"], 40);
        assert_same_bits(&desk, "sorted.csv", "sorted.npy", &format!("{flags} {weights}"));
        desk.convert(&format!("mixed.csv mixed.npy --group group {beside}"));
        let of_table = desk.json(&format!("mixed.csv {flags} {weights}"), 0);
        let of_rows = desk.json(&format!("mixed.npy {flags} {weights}"), 0);
        let pairs = numbers(&of_table["theta"]).into_iter().zip(numbers(&of_rows["theta"]));
        for (a, b) in pairs {
            assert!((a - b).abs() <= 1e-12 * a.abs().max(1.0), "{a:e} for {b:e}");
        }
    }
}

/// 62 MB of features where a program may take 48 MB of memory of its own. Rows that are repeated
/// have the answer of the rows.
#[cfg(target_os = "linux")]
#[test]
fn rows_larger_than_memory_are_solved_where_they_are() {
    let market = generate_factor_model(1000, 60, 2);
    let header = format!("{},class,group\n", market.names.join(","));
    let mut block = String::new();
    for i in 0..1000 {
        let row = market.row(i);
        for x in row {
            let _ = write!(block, "{x:.3},");
        }
        let _ = writeln!(block, "{},g{}", u8::from(row[0] + row[1].sin() > 0.0), i / 20);
    }
    let mut shares = String::from("group,share\n");
    for i in 0..50 {
        let _ = writeln!(shares, "g{i},{}", 0.2 + 0.01 * f64::from(i));
    }
    for (command, kept, flags) in [
        ("linear", "--texts class --except group --intercept", "--target class --loss logistic"),
        ("bags", "--group group --except class", "--labels shares.csv"),
    ] {
        let desk = Desk::at(command);
        desk.file("few.csv", &format!("{header}{block}"));
        desk.file("many.csv", &format!("{header}{}", block.repeat(130)));
        desk.file("shares.csv", &shares);
        desk.convert(&format!("few.csv few.npy {kept}"));
        desk.convert(&format!("many.csv many.npy {kept}"));
        fs::remove_file(desk.path().join("many.csv")).expect("it is there");
        let flags = format!("{flags} --l2 0.01 --tolerance 1e-9 --threads 2");
        let few = desk.json(&format!("few.npy {flags}"), 0);
        let run = desk.run_with_data(49_152, &format!("many.npy {flags} --json"));
        assert_eq!(run.code, Some(0), "{command}: {}", run.err);
        let many: Value = serde_json::from_str(&run.out).expect("one object");
        for (a, b) in numbers(&many["theta"]).into_iter().zip(numbers(&few["theta"])) {
            assert!((a - b).abs() <= 1e-4, "{command}: {a:e} for {b:e}");
        }
        assert_eq!(many["certificate"]["kind"], few["certificate"]["kind"], "{command}");
    }
}

/// 31 MB of features within so much address space that they cannot be mapped beside what a program
/// takes for itself: the bits of a run without a limit. Features of several sizes are scaled, a 1 is
/// put behind each row or left out.
#[cfg(target_os = "linux")]
#[test]
fn rows_that_cannot_be_mapped_are_read_with_the_same_bits() {
    let drawn = table(500, 60, true);
    let (header, block) = drawn.split_once('\n').expect("a header");
    let asset = |line: &str| line.split(',').skip(1).take(60).collect::<Vec<_>>().join(",");
    let assets = |text: &str| text.lines().map(|line| asset(line) + "\n").collect::<String>();
    let desk = Desk::at("portfolio");
    desk.file("returns.csv", &format!("{}\n{}", asset(header), assets(block).repeat(130)));
    desk.convert("returns.csv returns.npy");
    fs::remove_file(desk.path().join("returns.csv")).expect("it is there");
    let limited = |desk: &Desk, flags: &str| {
        let flags = format!("{flags} --threads 2 --tolerance 1e-3");
        let free = desk.run(&format!("{flags} --json"));
        assert_ne!(free.code, Some(2), "{flags}: {}", free.err);
        let free: Value = serde_json::from_str(&free.out).expect("one object");
        let run = desk.run_within(98_304, &format!("{flags} --json"));
        assert!(matches!(run.code, Some(0 | 1)), "{flags}: {}", run.err);
        let read: Value = serde_json::from_str(&run.out).expect("one object");
        assert!(read["notes"].to_string().contains("whenever they are looked at"), "{flags}");
        for key in ["theta", "objective", "certificate", "status", "fit", "log_loss"] {
            assert_eq!(read[key], free[key], "{key} of {flags}");
        }
    };
    for risk in ["absolute", "semivariance", "huber", "cvar", "entropic", "kelly --percent"] {
        limited(&desk, &format!("returns.npy --constraint long-only --l2 0.1 --risk {risk}"));
    }

    let desk = Desk::at("linear");
    desk.file("rows.csv", &format!("{header}\n{}", block.repeat(130)));
    let beside = "--numbers price --texts outcome --except id,count,fold";
    desk.convert(&format!("rows.csv wide.npy {beside} --intercept"));
    desk.convert(&format!("rows.csv narrow.npy {beside}"));
    desk.convert("rows.csv bags.npy --group fold --except id,price,outcome,count");
    fs::remove_file(desk.path().join("rows.csv")).expect("it is there");
    for rows in ["wide.npy", "narrow.npy"] {
        limited(&desk, &format!("{rows} --target price --loss huber --l2 0.1 --except outcome"));
        let logistic = "--target outcome --loss logistic --l2 0.01 --except price";
        limited(&desk, &format!("{rows} {logistic}"));
    }
    let shares = "fold,share\nf0,0.2\nf1,0.3\nf2,0.4\nf3,0.5\nf4,0.6\n";
    let bags = Desk::at("bags");
    bags.file("shares.csv", shares);
    fs::rename(desk.path().join("bags.npy"), bags.path().join("bags.npy")).expect("one disk");
    limited(&bags, "bags.npy --group fold --labels shares.csv --l2 0.01");
}

#[test]
fn what_cannot_be_converted_is_refused() {
    let desk = Desk::at("linear");
    desk.file("rows.csv", "a,b,y\n1,2,3\n4,5,6\n7,NA,9\n");
    desk.refuses_to_convert("rows.csv rows.npy --numbers y", &["rows.csv, line 4, column 2 (b)"]);
    desk.refuses_to_convert("rows.csv rows.bin", &["expected a name that ends in .npy"]);
    desk.refuses_to_convert("rows.csv rows.npy --numbers z", &["no column", "z"]);
    desk.refuses_to_convert(
        "rows.csv rows.npy --numbers a,b --texts y",
        &["no column of features"],
    );
    desk.refuses_to_convert("rows.csv none/rows.npy", &["no such folder"]);
    desk.refuses_to_convert("- rows.npy", &["standard input is not read"]);
    desk.refuses_to_convert("absent.csv rows.npy", &["absent.csv: no such file"]);
    desk.file("texts.csv", "a,b\n1,x\n2,y\n");
    desk.refuses_to_convert("texts.csv rows.npy", &["texts.csv, line 2, column 2 (b)"]);
    let made = desk.convert("rows.csv rows.npy --numbers y --missing drop-rows --intercept");
    assert_eq!((&made["rows"], &made["dropped_rows"]), (&2.into(), &1.into()));
    // An older file stays where a newer one is refused.
    let before = fs::read(desk.path().join("rows.npy")).expect("it is there");
    desk.refuses_to_convert("rows.csv rows.npy --numbers y", &["line 4"]);
    assert_eq!(fs::read(desk.path().join("rows.npy")).expect("still there"), before);
    desk.refuses_to_convert("rows.npy rows.npy", &["is being read"]);
}

/// A bit anywhere, and an end that is missing.
#[test]
fn what_is_damaged_is_refused() {
    let desk = Desk::at("linear");
    desk.file("rows.csv", &table(60, 3, false));
    desk.convert(
        "rows.csv rows.npy --numbers price --texts outcome --except id,count,fold --intercept",
    );
    let flags = "rows.npy --target price --except outcome --l2 0.1";
    assert_eq!(desk.run(flags).code, Some(0));
    let good = fs::read(desk.path().join("rows.npy")).expect("it is there");
    for (at, words) in [
        (128 + 8 * 4 * 17 + 5, "rows 1 to 60 are not what was written"),
        (128 + 8 * 4 * 60 + 8 * 7, "the columns beside its rows are not what they were"),
        (128 + 8 * 5 * 60 + 4 * 60 + 30, "the description behind its rows does not fit"),
        (good.len() - 30, "the description behind its rows does not fit"),
    ] {
        let mut bad = good.clone();
        bad[at] ^= 4;
        fs::write(desk.path().join("rows.npy"), bad).expect("written");
        desk.assert_refused(flags, &["rows.npy: is damaged", words]);
    }
    // Half a file is no file of rows, and no array either.
    fs::write(desk.path().join("rows.npy"), &good[..good.len() / 4]).expect("written");
    desk.assert_refused(flags, &["rows.npy: is damaged"]);
}

/// Sequences one after the other, as `convert --group` sorts them, with steps in order.
#[test]
fn sequences_of_rows_are_those_of_the_table() {
    let desk = Desk::at("sequences");
    let spoken =
        generate_language(&LanguageOptions { classes: 3, steps: 900, ..Default::default() });
    let names: Vec<String> = (1..=spoken.features).map(|k| format!("x{k}")).collect();
    let mut text = format!("sequence,step,{},label\n", names.join(","));
    for (t, row) in spoken.rows.chunks_exact(spoken.features).enumerate() {
        let (own, step) = (t / spoken.lengths[0], t % spoken.lengths[0]);
        let features: Vec<String> = row.iter().map(f64::to_string).collect();
        let _ = writeln!(text, "s{own},{step},{},{}", features.join(","), spoken.labels[t]);
    }
    desk.file("steps.csv", &text);
    let mut language = "token1,token2,count\n".to_owned();
    for (k, count) in [5, 3, 1, 2, 6, 2, 4, 1, 7].iter().enumerate() {
        let _ = writeln!(language, "{},{},{count}", k / 3, k % 3);
    }
    desk.file("language.csv", &language);
    let beside = "--group sequence --numbers step --texts label";
    desk.convert(&format!("steps.csv steps.npy {beside}"));
    let flags = "--language-model language.csv --starts 4";
    assert_same_bits(&desk, "steps.csv", "steps.npy", flags);
    // Read a window at a time where memory is short.
    let small = desk.json(&format!("steps.npy {flags} --max-memory 100K"), 0);
    assert!(
        small["notes"].to_string().contains("whenever they are looked at"),
        "{}",
        small["notes"]
    );
    assert_eq!(small["theta"], desk.json(&format!("steps.csv {flags}"), 0)["theta"]);
    assert_eq!(small["scores"], desk.json(&format!("steps.csv {flags}"), 0)["scores"]);
    let run = desk.run(&format!("steps.npy {flags} --method svrpda1 --max-seconds 1"));
    assert!(run.code.is_some_and(|code| code < 2), "{}", run.err);
}

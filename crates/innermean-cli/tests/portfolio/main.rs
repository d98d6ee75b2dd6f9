//! Drives the binary as a user would.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use innermean_data::{Returns, generate_factor_model};
use serde_json::Value;
use tempfile::TempDir;

mod answers;
mod bad_input;
mod options;
mod output;
#[cfg(unix)]
mod signals;

/// A folder of its own for each test, in which the binary runs.
struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        Desk(TempDir::new().expect("a folder for the test"))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, text).expect("the test writes its files");
        path
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path()).expect("the folder is there");
        let mut names: Vec<String> =
            entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// `innermean portfolio` with these arguments, in this folder.
    fn command(&self, args: &str) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("innermean"));
        command.current_dir(self.path()).arg("portfolio").args(args.split_whitespace());
        command
    }

    fn run(&self, args: &str) -> Run {
        Run::from(self.command(args).output().expect("the binary runs"))
    }

    /// Runs with `--json` and expects this exit code.
    fn json(&self, args: &str, code: i32) -> Value {
        let run = self.run(&format!("{args} --json"));
        assert_eq!(run.code, Some(code), "{args}: {}{}", run.out, run.err);
        serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{args}: {error} in {}", run.out))
    }

    /// The trace of a file, line by line.
    fn trace(&self, name: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.path().join(name)).expect("the trace is there");
        text.lines().map(|line| serde_json::from_str(line).expect("a JSON object a line")).collect()
    }
}

/// What a run left behind.
struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Run {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).expect("text on stdout"),
            err: String::from_utf8(output.stderr).expect("text on stderr"),
        }
    }
}

/// A small market that is solved in milliseconds.
fn small() -> Returns {
    generate_factor_model(300, 4, 7)
}

/// As a file with a header and dates.
fn csv(returns: &Returns) -> String {
    let mut text = format!("date,{}\n", returns.names.join(","));
    for i in 0..returns.rows() {
        let cells: Vec<String> = returns.row(i).iter().map(f64::to_string).collect();
        let _ = writeln!(text, "{},{}", 20_000_101 + i / 28 * 100 + i % 28, cells.join(","));
    }
    text
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("an array").iter().map(number).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// The mean returns, written out.
fn means(returns: &Returns) -> Vec<f64> {
    let n = returns.rows() as f64;
    (0..returns.assets()).map(|l| (0..returns.rows()).map(|i| returns.row(i)[l]).sum::<f64>() / n).collect()
}

/// `<x_i - m, theta>` for all i.
fn deviations(returns: &Returns, theta: &[f64]) -> Vec<f64> {
    let m = means(returns);
    let deviation = |i: usize| returns.row(i).iter().zip(&m).zip(theta).map(|((x, m), t)| (x - m) * t).sum();
    (0..returns.rows()).map(deviation).collect()
}

/// The mean of `phi` over the deviations.
fn risk(returns: &Returns, theta: &[f64], phi: impl Fn(f64) -> f64) -> f64 {
    deviations(returns, theta).into_iter().map(phi).sum::<f64>() / returns.rows() as f64
}

fn expected_return(returns: &Returns, theta: &[f64]) -> f64 {
    means(returns).iter().zip(theta).map(|(m, t)| m * t).sum()
}

fn assert_close(a: f64, b: f64, relative: f64) {
    assert!((a - b).abs() <= relative * a.abs().max(b.abs()).max(1e-300), "{a} and {b}");
}

//! Whole commands, from the file to the printed answer: against starting the program, reading the
//! file's numbers and solving alone, and against another program that reads the same file.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use innermean_data::{generate_factor_model, write_npy};
use serde::Serialize;
use serde_json::Value;

use super::cases::dot;
use super::draws::Draws;
use super::table::{Claim, markdown, seconds};
use crate::timing::median;

/// Medians, in seconds.
#[derive(Debug, Clone, Serialize)]
pub struct Measured {
    rows: usize,
    features: usize,
    megabytes: f64,
    /// The process, from its start to its end.
    whole: f64,
    /// A process that does nothing: `innermean --version`.
    starting: f64,
    /// The file's bytes read and made into numbers by this program, on one thread.
    reading: f64,
    /// What the command says its run took.
    solving: f64,
}

/// `innermean linear` on a numpy file of so many rows: least squares with a small ridge.
///
/// # Errors
/// If the program has not been built, fails, or does not solve the problem.
pub fn linear(folder: &Path, rows: usize, features: usize, rounds: usize) -> Result<Measured> {
    fs::create_dir_all(folder)?;
    let file = folder.join("linear.npy");
    let (mut model, mut draws) = (Draws::new(1, 0), Draws::new(1, 1));
    let truth: Vec<f64> = (0..features).map(|_| model.normal()).collect();
    let mut values = Vec::with_capacity(rows * (features + 1));
    for _ in 0..rows {
        let row: Vec<f64> = (0..features).map(|_| draws.normal()).collect();
        values.push(dot(&row, &truth) + draws.normal());
        values.extend(row);
    }
    write_npy(&file, features + 1, &values)?;
    drop(values);
    let (mut whole, mut solving) = (Vec::new(), Vec::new());
    let (mut starting, mut reading) = (Vec::new(), Vec::new());
    for _ in 0..rounds.max(1) {
        let begun = Instant::now();
        let bytes = fs::read(&file)?;
        let numbers: Vec<f64> = bytes
            .chunks_exact(8)
            .map(|bytes| f64::from_le_bytes(bytes.try_into().expect("eight bytes")))
            .collect();
        std::hint::black_box(numbers);
        reading.push(begun.elapsed().as_secs_f64());
        starting.push(timed(&["--version"])?.0);
        let (seconds, answer) =
            run(&["linear", text(&file)?, "--target", "1", "--l2", "1e-3", "--json"])?;
        whole.push(seconds);
        solving.push(answer["seconds"].as_f64().context("the answer has no seconds")?);
    }
    let megabytes = fs::metadata(&file)?.len() as f64 / 1e6;
    fs::remove_file(&file)?;
    let [whole, starting, reading, solving] = [whole, starting, reading, solving].map(median);
    Ok(Measured { rows, features, megabytes, whole, starting, reading, solving })
}

/// A command of ours: its seconds from the start of the process to its end, and the JSON that it
/// prints.
fn run(arguments: &[&str]) -> Result<(f64, Value)> {
    let (seconds, printed) = timed(arguments)?;
    Ok((seconds, serde_json::from_slice(&printed)?))
}

/// The same with whatever it prints.
fn timed(arguments: &[&str]) -> Result<(f64, Vec<u8>)> {
    let begun = Instant::now();
    let done = Command::new("target/release/innermean")
        .args(arguments)
        .output()
        .context("target/release/innermean does not start")?;
    let seconds = begun.elapsed().as_secs_f64();
    let said = String::from_utf8_lossy(&done.stderr);
    ensure!(done.status.success(), "innermean {}: {}", arguments[0], said.trim());
    Ok((seconds, done.stdout))
}

fn text(file: &Path) -> Result<&str> {
    file.to_str().with_context(|| format!("{} is no text", file.display()))
}

/// An interpreter with skfolio, which `experiments/desk/run` installs.
const SKFOLIO: &str = "target/desk-env/bin/python";

/// Whole runs on the same table, in seconds.
#[derive(Debug, Clone, Serialize)]
pub struct Against {
    days: usize,
    assets: usize,
    /// The process, from its start to its end.
    whole: f64,
    /// skfolio from the file to the weights, without its start and imports; none where it is not
    /// installed.
    other: Option<f64>,
    /// How much larger the variance of its portfolio is than that of ours, relative.
    apart: Option<f64>,
}

/// `innermean portfolio` on a table of returns, for the least variance of a long-only portfolio.
///
/// # Errors
/// If a program fails.
pub fn portfolio(folder: &Path, days: usize, assets: usize, rounds: usize) -> Result<Against> {
    fs::create_dir_all(folder)?;
    let file = folder.join("returns.csv");
    let market = generate_factor_model(days, assets, 1);
    let names: Vec<String> = (1..=assets).map(|asset| format!("asset {asset}")).collect();
    let mut table = names.join(",");
    for row in market.values.chunks_exact(assets) {
        let cells: Vec<String> = row.iter().map(|x| (0.01 * x).to_string()).collect();
        table.push('\n');
        table += &cells.join(",");
    }
    fs::write(&file, table + "\n")?;
    let (mut whole, mut weights) = (Vec::new(), Vec::new());
    for _ in 0..rounds.max(1) {
        let asked = ["--constraint", "long-only", "--objective", "min-risk", "--json"];
        let (seconds, answer) = run(&[&["portfolio", text(&file)?], &asked[..]].concat())?;
        whole.push(seconds);
        weights = serde_json::from_value(answer["theta"].clone())?;
    }
    let mut measured = Against { days, assets, whole: median(whole), other: None, apart: None };
    if Path::new(SKFOLIO).exists() {
        let done = Command::new(SKFOLIO)
            .args(["experiments/bench/peers/whole_portfolio.py", text(&file)?])
            .arg(rounds.to_string())
            .output()?;
        let said = String::from_utf8_lossy(&done.stderr);
        ensure!(done.status.success(), "skfolio: {}", said.trim());
        let answer: Value = serde_json::from_slice(&done.stdout)?;
        let others: Vec<f64> = serde_json::from_value(answer["weights"].clone())?;
        let of = |weights: &[f64]| variance(&market.values, weights);
        measured.other = answer["seconds"].as_f64();
        measured.apart = Some(of(&others) / of(&weights) - 1.0);
    }
    fs::remove_file(&file)?;
    Ok(measured)
}

/// Of the returns of a portfolio.
fn variance(rows: &[f64], weights: &[f64]) -> f64 {
    let returns: Vec<f64> = rows.chunks_exact(weights.len()).map(|row| dot(row, weights)).collect();
    let n = returns.len() as f64;
    let mean = returns.iter().sum::<f64>() / n;
    returns.iter().map(|r| (r - mean) * (r - mean)).sum::<f64>() / n
}

impl Against {
    /// The time of ours as part of that of the other.
    pub fn claim(&self) -> Claim {
        let ratio = self.other.map(|other| self.whole / other);
        let claim =
            Claim::at_most("portfolio from a file", "whole command / skfolio", ratio, Some(1.0));
        Claim {
            ours: seconds(self.whole),
            other: self.other.map_or_else(String::new, seconds),
            note: match self.apart {
                Some(apart) => format!("its variance is {apart:.0e} larger; imports not counted"),
                None => "experiments/desk/run installs skfolio".to_owned(),
            },
            ..claim
        }
    }

    /// For people.
    pub fn table(&self) -> String {
        let other = self.other.map_or_else(|| "not installed".to_owned(), seconds);
        let heads = ["innermean portfolio", "skfolio, without imports"];
        format!(
            "{} days of {} assets\n\n{}",
            self.days,
            self.assets,
            markdown(&heads, &[vec![seconds(self.whole), other]])
        )
    }
}

impl Measured {
    /// The whole as a multiple of its parts.
    pub fn claim(&self) -> Claim {
        let parts = self.starting + self.reading + self.solving;
        let what = "whole command / (starting + reading + solving)";
        Claim {
            ours: seconds(self.whole),
            other: seconds(parts),
            ..Claim::at_most("linear from a file", what, Some(self.whole / parts), Some(1.5))
        }
    }

    /// For people.
    pub fn table(&self) -> String {
        let row = [self.whole, self.starting, self.reading, self.solving].map(seconds).to_vec();
        format!(
            "{} x {}, {:.1} MB\n\n{}",
            self.rows,
            self.features,
            self.megabytes,
            markdown(&["whole command", "starting", "reading alone", "solving"], &[row])
        )
    }
}

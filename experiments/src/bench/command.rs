//! A whole command, from the file to the printed answer, against starting the program, reading the
//! file's numbers and solving alone.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use innermean_data::write_npy;
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
    let program = || Command::new("target/release/innermean");
    for _ in 0..rounds.max(1) {
        let begun = Instant::now();
        let bytes = fs::read(&file)?;
        let numbers: Vec<f64> = bytes
            .chunks_exact(8)
            .map(|bytes| f64::from_le_bytes(bytes.try_into().expect("eight bytes")))
            .collect();
        std::hint::black_box(numbers);
        reading.push(begun.elapsed().as_secs_f64());
        let begun = Instant::now();
        program().arg("--version").output().context("target/release/innermean does not start")?;
        starting.push(begun.elapsed().as_secs_f64());
        let begun = Instant::now();
        let done = program()
            .arg("linear")
            .arg(&file)
            .args(["--target", "1", "--l2", "1e-3", "--json"])
            .output()
            .context("target/release/innermean does not start")?;
        whole.push(begun.elapsed().as_secs_f64());
        let said = String::from_utf8_lossy(&done.stderr);
        ensure!(done.status.success(), "innermean linear: {}", said.trim());
        let answer: Value = serde_json::from_slice(&done.stdout)?;
        solving.push(answer["seconds"].as_f64().context("the answer has no seconds")?);
    }
    let megabytes = fs::metadata(&file)?.len() as f64 / 1e6;
    fs::remove_file(&file)?;
    let [whole, starting, reading, solving] = [whole, starting, reading, solving].map(median);
    Ok(Measured { rows, features, megabytes, whole, starting, reading, solving })
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

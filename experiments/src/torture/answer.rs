//! What a run answers, whether the library or the command line gave it.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use innermean::{Solution, Status};
use serde_json::Value;

use super::draw::files::Files;

/// An answer with all that is claimed about it.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The point.
    pub theta: Vec<f64>,
    /// Its objective, as printed.
    pub objective: f64,
    /// Why the run ended, in words.
    pub status: String,
    /// Whether that is 'solved'.
    pub solved: bool,
    /// Whether that is 'no minimum'.
    pub endless: bool,
    /// Whether the objective was finite at the start.
    pub begun: bool,
    /// What is said about optimality.
    pub measure: String,
    /// The objective is claimed to be within this of the optimum.
    pub gap: Option<f64>,
    /// Among points up to this many times as large as the answer, if the claim says so.
    pub within: Option<f64>,
}

impl From<Solution> for Answer {
    fn from(solution: Solution) -> Self {
        let certificate = &solution.certificate;
        Answer {
            objective: solution.objective,
            status: solution.status.to_string(),
            solved: solution.status == Status::Solved,
            endless: solution.status == Status::Unbounded,
            begun: solution.status != Status::StartNotFinite,
            measure: certificate.measure.title().to_owned(),
            gap: certificate.gap.filter(|_| certificate.measure.is_gap()),
            within: certificate.within,
            theta: solution.theta,
        }
    }
}

/// What `program` prints for the problem, whose files go into `folder`; none if it refuses it.
///
/// # Errors
/// If it cannot be run, or breaks off.
pub fn of_command(program: &Path, files: &Files, folder: &Path) -> Result<Option<Answer>> {
    files.write(folder)?;
    let mut command = Command::new(program);
    command.current_dir(folder).args(files.arguments.split(' ')).args(["--json", "--threads", "1"]);
    let output = command.output().with_context(|| format!("{} cannot be run", program.display()));
    fs::remove_dir_all(folder)
        .with_context(|| format!("{} cannot be removed", folder.display()))?;
    let output = output?;
    match output.status.code() {
        Some(2) => return Ok(None),
        Some(0 | 1) => {}
        _ => bail!("{}", String::from_utf8_lossy(&output.stderr).trim()),
    }
    let answer: Value = serde_json::from_slice(&output.stdout).context("no answer in JSON")?;
    // What is not finite has no place in JSON.
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let theta = answer["theta"].as_array().context("an answer without theta")?;
    Ok(Some(Answer {
        theta: theta.iter().map(number).collect(),
        objective: number(&answer["objective"]),
        status: word(&answer["status"]),
        solved: answer["status"] == "solved",
        endless: answer["status"] == "unbounded",
        begun: answer["status"] != "start_not_finite",
        measure: word(&answer["certificate"]["measure"]),
        gap: answer["certificate"]["gap"].as_f64(),
        within: answer["certificate"]["within"].as_f64(),
    }))
}

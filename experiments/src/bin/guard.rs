//! Whether the program still answers as it did: a fixed list of runs over all commands and methods,
//! compared with what was recorded.
//!
//! `cargo run --release -p innermean-experiments --bin guard` compares `target/release/innermean`
//! with `experiments/results/guard.json`, bit for bit, and says how far off what differs is;
//! `--program FILE` takes another program, `--record true` writes the file anew. Exits with 1 if an
//! answer differs by more than 1e-12 of its size, or ends otherwise.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use innermean::METHODS;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What each method is tried on, if it suits.
const PROBLEMS: [&str; 6] = [
    "portfolio --risk variance",
    "portfolio --risk absolute --constraint long-only",
    "policy --states 30",
    "bags --groups 40",
    "linear --rows 200 --features 5 --loss logistic --l2 0.01",
    "sequences --classes 3 --generated-steps 300 --features 2 --starts 1",
];
/// Limits of these runs.
const LIMITS: &str = "--max-outer 12 --tolerance 1e-9 --seed 3";
/// A difference of this part is rounding.
const ROUNDING: f64 = 1e-12;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Answer {
    /// The status, or what was said when the run was refused.
    status: String,
    objective: Option<f64>,
    outer: Option<u64>,
    calls: Option<u64>,
    theta: Vec<f64>,
}

/// All commands, without the program's name.
fn commands() -> Vec<String> {
    let mut all = Vec::new();
    for row in METHODS {
        all.extend(
            PROBLEMS.iter().map(|problem| format!("{problem} --method {} {LIMITS}", row.name)),
        );
    }
    for risk in ["variance", "semivariance", "absolute", "huber"] {
        for more in [
            "",
            "--constraint long-only",
            "--constraint sum-to-one --l2 0.01",
            "--constraint box=-1,1 --l1 0.001",
        ] {
            all.push(format!("portfolio --risk {risk} {more}"));
        }
    }
    for loss in ["square", "huber", "logistic", "squared-hinge", "smoothed-hinge"] {
        for more in ["--l2 0.01", "--l1 0.02", "--no-intercept"] {
            all.push(format!("linear --rows 300 --features 6 --loss {loss} {more}"));
        }
    }
    all.extend(
        ["policy", "policy --objective projected", "bags", "bags --l2 0.1", "sequences --starts 2"]
            .map(str::to_owned),
    );
    all
}

/// Runs the program once.
fn ask(program: &Path, command: &str) -> Result<Answer> {
    let output = Command::new(program).args(command.split_whitespace()).arg("--json").output();
    let output = output.with_context(|| format!("{}", program.display()))?;
    let Ok(document) = serde_json::from_slice::<Value>(&output.stdout) else {
        let words =
            String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned();
        return Ok(Answer {
            status: words,
            objective: None,
            outer: None,
            calls: None,
            theta: Vec::new(),
        });
    };
    let theta =
        document["theta"].as_array().map(|all| all.iter().filter_map(Value::as_f64).collect());
    Ok(Answer {
        status: document["status"].as_str().unwrap_or_default().to_owned(),
        objective: document["objective"].as_f64(),
        outer: document["outer"].as_u64(),
        calls: document["calls"]["total"].as_u64(),
        theta: theta.unwrap_or_default(),
    })
}

/// How far apart two answers are, of their sizes; infinite where they are of different kinds.
fn distance(old: &Answer, new: &Answer) -> f64 {
    if (&old.status, old.outer, old.calls, old.theta.len())
        != (&new.status, new.outer, new.calls, new.theta.len())
    {
        return f64::INFINITY;
    }
    let size = old.theta.iter().fold(f64::MIN_POSITIVE, |most, x| most.max(x.abs()));
    let apart =
        old.theta.iter().zip(&new.theta).map(|(a, b)| (a - b).abs() / size).fold(0.0, f64::max);
    let objectives = old
        .objective
        .zip(new.objective)
        .map_or(0.0, |(a, b)| (a - b).abs() / a.abs().max(f64::MIN_POSITIVE));
    if old.objective.is_some() == new.objective.is_some() {
        apart.max(objectives)
    } else {
        f64::INFINITY
    }
}

fn main() -> Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut program, mut record) = (root.join("../target/release/innermean"), false);
    let mut words = std::env::args().skip(1);
    while let Some(flag) = words.next() {
        let value = words.next().with_context(|| format!("{flag} needs a value"))?;
        match &*flag {
            "--program" => program = PathBuf::from(value),
            "--record" => record = value == "true",
            _ => bail!("{flag}: expected --program or --record"),
        }
    }
    let file = root.join("results/guard.json");
    let mut answers = BTreeMap::new();
    for command in commands() {
        let answer = ask(&program, &command)?;
        answers.insert(command, answer);
    }
    if record {
        let lines: Vec<String> = answers
            .iter()
            .map(|(command, answer)| {
                Ok(format!(
                    "{}: {}",
                    serde_json::to_string(command)?,
                    serde_json::to_string(answer)?
                ))
            })
            .collect::<Result<_>>()?;
        fs::write(&file, format!("{{\n{}\n}}\n", lines.join(",\n")))?;
        println!("{} runs recorded: {}", answers.len(), file.display());
        return Ok(ExitCode::SUCCESS);
    }
    let recorded: BTreeMap<String, Answer> = serde_json::from_str(&fs::read_to_string(&file)?)?;
    let (mut equal, mut near, mut others) = (0, 0, 0);
    for (command, new) in &answers {
        let apart = recorded.get(command).map_or(f64::INFINITY, |old| distance(old, new));
        match apart {
            0.0 => equal += 1,
            apart if apart <= ROUNDING => near += 1,
            apart => {
                others += 1;
                println!("{command}: off by {apart:.1e}, now {} {:?}", new.status, new.objective);
            }
        }
    }
    println!("{} runs: {equal} equal, {near} within {ROUNDING:e}, {others} others", answers.len());
    Ok(if others == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

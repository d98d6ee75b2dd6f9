//! How often do 95 % intervals cover the truth? Simulated data sets of every application, each with
//! its estimate and interval; the truth is known from the model that the data are drawn from.
//!
//! `cargo run --release -p innermean-experiments --bin coverage [-- SETS] [--seed SEED] [--only
//! NAME]` prints a table of SETS (500) data sets, and without flags writes
//! `experiments/results/coverage.json` and `.md`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use innermean::draws::Stream;
use innermean_experiments::simulations::{LEVEL, SIMULATIONS, Simulation};
use rayon::prelude::*;
use serde::Serialize;

const SETS: usize = 500;
const SEED: u64 = 1;

/// One line of the table.
#[derive(Serialize)]
struct Line {
    command: &'static str,
    estimator: &'static str,
    interval: &'static str,
    sets: usize,
    /// Sets without an interval.
    refused: usize,
    /// The share of intervals that cover, over all sets and coefficients.
    coverage: f64,
    /// The binomial standard error of that share, as if the intervals of a set were one.
    error: f64,
}

fn main() -> Result<()> {
    let (mut sets, mut seed, mut only) = (SETS, SEED, None);
    let mut arguments = std::env::args().skip(1);
    let mut plain = true;
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().with_context(|| format!("{argument} takes a value"));
        match argument.as_str() {
            "--seed" => seed = value()?.parse().context("--seed takes a whole number")?,
            "--only" => only = Some(value()?),
            number => sets = number.parse().with_context(|| format!("{number} is no number"))?,
        }
        plain = false;
    }
    ensure!(sets > 0, "at least one data set");
    let mut lines = Vec::new();
    println!("{HEADING}");
    for simulation in SIMULATIONS {
        let name = format!("{} {}", simulation.command, simulation.estimator);
        if only.as_ref().is_none_or(|only| name.contains(only.as_str())) {
            let line = measured(simulation, sets, seed);
            println!("{}", row(&line));
            lines.push(line);
        }
    }
    if plain {
        write(&lines)?;
    }
    Ok(())
}

fn measured(simulation: &Simulation, sets: usize, seed: u64) -> Line {
    let shares: Vec<Option<f64>> = (0..sets)
        .into_par_iter()
        .map(|set| {
            let intervals = (simulation.run)(&mut Stream::new(seed, set as u64))?;
            let covered = intervals.iter().filter(|one| one.covers()).count();
            Some(covered as f64 / intervals.len() as f64)
        })
        .collect();
    let found: Vec<f64> = shares.iter().copied().flatten().collect();
    let coverage = found.iter().sum::<f64>() / found.len().max(1) as f64;
    Line {
        command: simulation.command,
        estimator: simulation.estimator,
        interval: simulation.interval,
        sets,
        refused: sets - found.len(),
        coverage,
        error: (coverage * (1.0 - coverage) / found.len().max(1) as f64).sqrt(),
    }
}

const HEADING: &str = "| command | estimator | interval | coverage | +- | refused |\n\
                       |---|---|---|---|---|---|";

fn row(line: &Line) -> String {
    let Line { command, estimator, interval, refused, .. } = line;
    let (coverage, error) = (100.0 * line.coverage, 100.0 * line.error);
    format!("| {command} | {estimator} | {interval} | {coverage:.1} % | {error:.1} | {refused} |")
}

fn write(lines: &[Line]) -> Result<()> {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    fs::write(results.join("coverage.json"), serde_json::to_string_pretty(lines)? + "\n")?;
    let mut page = format!(
        "# Coverage of {:.0} % intervals\n\n\
         Over {SETS} simulated data sets each; the last columns are the binomial standard error in\n\
         percent, and the data sets without an interval. Written by `cargo run --release -p\n\
         innermean-experiments --bin coverage`; the models are in `experiments/src/simulations`.\n\n\
         {HEADING}\n",
        100.0 * LEVEL
    );
    for line in lines {
        writeln!(page, "{}", row(line))?;
    }
    fs::write(results.join("coverage.md"), page)?;
    Ok(())
}

//! Times of portfolios from the returns in memory to the proven answer, for `experiments/desk/run`,
//! which compares them with those of other solvers.
//!
//! `desk FOLDER ROUNDS` solves four problems of each CSV file of a folder, and the first of them of
//! each numpy array, and prints a line of JSON each: the least seconds of so many rounds, from an
//! array of returns to the weights, the objective and its proof. The array is copied before the
//! clock starts, since the task keeps it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use innermean_apps::portfolio::{Aim, Limits, PortfolioSettings, PortfolioTask};
use innermean_apps::run::{Solver, Task, Watch};
use innermean_data::{ReadOptions, Returns, read_returns};
use innermean_experiments::timing::{median, seconds};
use serde_json::json;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [folder, rounds] = &args[..] else { bail!("expected: desk FOLDER ROUNDS") };
    let rounds: usize = rounds.parse().with_context(|| format!("{rounds} is no number"))?;
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .with_context(|| format!("cannot read {folder}"))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    files.retain(|file| is_of(file, "csv") || is_of(file, "npy"));
    files.sort();
    files.iter().try_for_each(|file| measure(file, rounds))
}

fn is_of(file: &Path, extension: &str) -> bool {
    file.extension().is_some_and(|own| own == extension)
}

/// The problems by name; some ask for the mean returns.
fn problems(returns: &Returns) -> Result<Vec<(&'static str, PortfolioSettings, Limits)>> {
    let named = |constraint: &str| -> Result<PortfolioSettings> {
        let mut settings = PortfolioSettings::default();
        settings.constraint = constraint.parse().map_err(anyhow::Error::msg)?;
        Ok(settings)
    };
    let d = returns.names.len();
    let mean = |l: usize| {
        let column = returns.values.iter().skip(l).step_by(d);
        column.sum::<f64>() * d as f64 / returns.values.len() as f64
    };
    let mut least = named("long-only")?;
    least.aim = Aim::MinRisk;
    let mut target = Limits::default();
    target.target_return = Some(median((0..d).map(mean).collect()));
    let mut gross = Limits::default();
    gross.gross = Some(1.6);
    Ok(vec![
        ("long-only variance", named("long-only")?, Limits::default()),
        ("at most a fifth each", named("sum-to-one=0,0.2")?, Limits::default()),
        ("least variance, target return", least, target),
        ("gross exposure 1.6", named("sum-to-one")?, gross),
    ])
}

fn measure(file: &Path, rounds: usize) -> Result<()> {
    let returns = read_returns(file, &ReadOptions::default())?;
    let name = file.file_name().context("a file has a name")?.to_string_lossy();
    let count = if is_of(file, "npy") { 1 } else { usize::MAX };
    for (problem, settings, limits) in problems(&returns)?.into_iter().take(count) {
        let mut least = f64::INFINITY;
        let mut last = None;
        for _ in 0..rounds {
            let (names, values) = (returns.names.clone(), returns.values.clone());
            let limits = limits.clone();
            let (taken, fit) = seconds(|| {
                let task = PortfolioTask::within(names, values, &settings, limits)?;
                task.fit(&Solver::default(), Watch::by(&mut ()))
            });
            (least, last) = (least.min(taken), Some(fit?));
        }
        let solution = last.context("at least one round")?.solution;
        let line = json!({
            "file": name, "problem": problem, "seconds": least,
            "objective": solution.objective, "solved": solution.status.is_solved(),
            "gap": solution.certificate.gap, "own_seconds": solution.seconds,
        });
        println!("{line}");
    }
    Ok(())
}

//! Portfolios: minus expected return plus risk.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use innermean::{Absolute, Portfolio, Regularizer, Simplex, Square, Stop, Unregularized};
use innermean_apps::portfolio::{PortfolioSettings, PortfolioTask as Application, Risk};
use innermean_apps::run::{Solver, Task as _, Watch};
use innermean_data::{ReadOptions, Returns, generate_factor_model, read_returns, write_npy};
use serde_json::{Value, json};

use super::{Case, Run, Task, dot, mean, solve};
use crate::bench::machine::cpu_seconds;

/// What is asked of a portfolio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortfolioTask {
    /// Least variance, any theta.
    Free,
    /// Least variance, theta at least 0 with sum 1.
    LongOnly,
    /// Least mean absolute deviation, theta at least 0 with sum 1.
    Absolute,
    /// Least mean of the worst twentieth of the losses, theta at least 0 with sum 1.
    Cvar,
}

/// Several files of returns.
pub struct PortfolioCase {
    markets: Vec<Returns>,
    real: bool,
    task: PortfolioTask,
}

/// c
const AVERSION: f64 = 1.0;
/// Of conditional value at risk: the losses that count are those beyond this part of all.
const LEVEL: f64 = 0.95;

impl PortfolioCase {
    /// The first `most` files of a folder, or as many generated markets if there are none.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn new(folder: &Path, most: usize, task: PortfolioTask) -> Result<Self> {
        let mut files: Vec<_> = match fs::read_dir(folder) {
            Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect(),
            Err(_) => Vec::new(),
        };
        files.retain(|file| file.extension().is_some_and(|extension| extension == "csv"));
        files.sort();
        if files.is_empty() {
            return Ok(Self::generated(most, 7240, 25, task));
        }
        let markets: Result<Vec<Returns>, _> = files
            .iter()
            .take(most)
            .map(|file| read_returns(file, &ReadOptions::default()))
            .collect();
        Ok(PortfolioCase { markets: markets?, real: true, task })
    }

    /// Generated markets.
    pub fn generated(count: usize, rows: usize, assets: usize, task: PortfolioTask) -> Self {
        let market = |seed: usize| generate_factor_model(rows, assets, seed as u64);
        PortfolioCase { markets: (0..count).map(market).collect(), real: false, task }
    }
}

impl Case for PortfolioCase {
    fn family(&self) -> &'static str {
        "portfolio"
    }

    fn sizes(&self) -> String {
        let kind = if self.real { "files of daily returns" } else { "generated markets" };
        let first = &self.markets[0];
        format!("{} {kind}, {} x {}", self.markets.len(), first.rows(), first.assets())
    }

    fn export(&self, folder: &Path) -> Result<Value> {
        for (k, market) in self.markets.iter().enumerate() {
            write_npy(&folder.join(format!("part{k}.npy")), market.assets(), &market.values)?;
        }
        let task = match self.task {
            PortfolioTask::Free => "free",
            PortfolioTask::LongOnly => "long-only",
            PortfolioTask::Absolute => "absolute",
            PortfolioTask::Cvar => "cvar",
        };
        let parts = self.markets.len();
        Ok(json!({ "parts": parts, "task": task, "aversion": AVERSION, "level": LEVEL }))
    }

    fn solve(&self, task: &Task) -> Run {
        let task =
            &Task { max_seconds: task.max_seconds / self.markets.len() as f64, ..task.clone() };
        let one = |market: &Returns| {
            let (d, values) = (market.assets(), market.values.clone());
            let portfolio = move || Portfolio::new(d, values).expect("finite returns");
            let square = || Square::new(AVERSION).expect("positive");
            match self.task {
                PortfolioTask::Free => solve(task, market.rows(), || {
                    portfolio().problem(square(), Unregularized).expect("finite means")
                }),
                PortfolioTask::LongOnly => solve(task, market.rows(), || {
                    portfolio().problem(square(), Simplex).expect("finite means")
                }),
                PortfolioTask::Absolute => solve(task, market.rows(), || {
                    let absolute = Absolute::new(AVERSION).expect("positive");
                    portfolio().problem(absolute, Simplex).expect("finite means")
                }),
                PortfolioTask::Cvar => by_application(task, market),
            }
        };
        self.markets.iter().map(one).reduce(Run::then).expect("a market")
    }

    fn objectives(&self, theta: &[f64]) -> Vec<f64> {
        let mut rest = theta;
        let one = |market: &Returns| {
            let (own, others) = rest.split_at(market.assets());
            rest = others;
            let mut own = own.to_vec();
            if self.task != PortfolioTask::Free {
                Simplex.prox(1.0, &mut own);
            }
            let n = market.rows();
            let expected = mean(n, |i| dot(market.row(i), &own));
            if self.task == PortfolioTask::Cvar {
                return AVERSION * worst_losses(market, &own) - expected;
            }
            let risk = mean(n, |i| {
                let deviation = dot(market.row(i), &own) - expected;
                if self.task == PortfolioTask::Absolute {
                    deviation.abs()
                } else {
                    deviation * deviation
                }
            });
            AVERSION * risk - expected
        };
        self.markets.iter().map(one).collect()
    }
}

/// Conditional value at risk has a threshold beside theta; the application adds it.
fn by_application(task: &Task, market: &Returns) -> Run {
    let mut settings = PortfolioSettings::default();
    (settings.risk, settings.level, settings.risk_aversion) = (Risk::Cvar, Some(LEVEL), AVERSION);
    settings.constraint = "long-only".parse().expect("a constraint");
    let (tolerance, max_seconds) = (Some(task.tolerance), Some(task.max_seconds));
    let stop = Stop { max_outer: None, tolerance, max_seconds, ..Stop::default() };
    let mut solver = Solver::default();
    (solver.method, solver.stop) = (task.method.to_owned(), stop);
    let (names, values) = (market.names.clone(), market.values.clone());
    let (cpu, begun) = (cpu_seconds(), Instant::now());
    let asked = Application::new(names, values, &settings).expect("finite returns");
    let fit = asked.fit(&solver, Watch::by(&mut ())).expect("a method");
    let seconds = begun.elapsed().as_secs_f64();
    let mut theta = fit.solution.theta;
    theta.truncate(market.assets());
    Run {
        seconds,
        cpu_seconds: cpu_seconds() - cpu,
        theta,
        passes: fit.solution.rows as f64 / market.rows() as f64,
        method: fit.method.to_owned(),
        measure: fit.solution.certificate.measure,
        optimality: fit.solution.certificate.relative,
        solved: fit.solution.status.is_solved(),
        objective: fit.solution.objective,
    }
}

/// The mean of the largest losses, `1 - LEVEL` of all; the last of them may count in part.
fn worst_losses(market: &Returns, theta: &[f64]) -> f64 {
    let mut losses: Vec<f64> = (0..market.rows()).map(|i| -dot(market.row(i), theta)).collect();
    losses.sort_by(|a, b| b.total_cmp(a));
    let count = (1.0 - LEVEL) * losses.len() as f64;
    let share = |k: usize| (count - k as f64).clamp(0.0, 1.0);
    losses.iter().enumerate().map(|(k, loss)| share(k) * loss).sum::<f64>() / count
}

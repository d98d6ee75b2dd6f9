//! Portfolios: minus expected return plus risk.

use std::fs;
use std::path::Path;

use anyhow::Result;
use innermean::{Absolute, Portfolio, Regularizer, Simplex, Square, Unregularized};
use innermean_data::{ReadOptions, Returns, generate_factor_model, read_returns, write_npy};
use serde_json::{Value, json};

use super::{Case, Run, Task, dot, mean, solve};

/// What is asked of a portfolio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortfolioTask {
    /// Least variance, any theta.
    Free,
    /// Least variance, theta at least 0 with sum 1.
    LongOnly,
    /// Least mean absolute deviation, theta at least 0 with sum 1.
    Absolute,
}

/// Several files of returns.
pub struct PortfolioCase {
    markets: Vec<Returns>,
    real: bool,
    task: PortfolioTask,
}

/// c
const AVERSION: f64 = 1.0;

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
        };
        Ok(json!({ "parts": self.markets.len(), "task": task, "aversion": AVERSION }))
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

//! What the weights mean.

use innermean::Solution;
use serde::Serialize;

use super::risk::Measure;
use super::{Aim, PortfolioTask, Risk, risk_budget};
use crate::error::Error;

/// What the weights mean.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PortfolioAnswer {
    /// In a period.
    pub expected_return: f64,
    /// The measure of risk, with weight 1.
    pub risk: f64,
    /// Which measure that is.
    pub risk_measure: Risk,
    /// Where the risk is the variance.
    pub standard_deviation: Option<f64>,
    /// The loss that the worst periods exceed, where the risk is the mean of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_at_risk: Option<f64>,
    /// The mean return of the benchmark, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub benchmark_return: Option<f64>,
    /// The part of the variance that each asset contributes, where a budget asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk_contributions: Option<Vec<f64>>,
    /// `sum_l |theta_l - current_l|`, where the weights that are held now are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turnover: Option<f64>,
    /// What is earned for each period without risk, where that is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk_free: Option<f64>,
    /// The expected return above the risk-free rate over the standard deviation, where a rate is
    /// given or the largest ratio was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sharpe_ratio: Option<f64>,
    /// What was searched for, and the bound that is proven.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sought: Option<Sought>,
    /// By the year.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annual: Option<Annual>,
}

/// What a search was for: the largest return or the largest ratio.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Sought {
    /// Which of them.
    pub objective: Aim,
    /// Its value at the answer: the expected return, or the ratio, less costs and norms.
    pub value: f64,
    /// Proven: no portfolio within the limits has more.
    pub at_most: f64,
    /// The largest risk that was allowed, in the unit of the returns where it is a mean of squares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_risk: Option<f64>,
    /// How many weights of risk were tried.
    pub tried: usize,
}

/// Return and risk of a year of independent periods.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Annual {
    /// Periods of a year.
    pub periods: f64,
    /// The expected return times the periods.
    pub expected_return: f64,
    /// The standard deviation times the root of the periods.
    pub standard_deviation: f64,
    /// The ratio of the return above the risk-free rate to that.
    pub sharpe_ratio: f64,
}

impl Annual {
    /// From the return, the risk-free rate and the standard deviation of a period.
    pub(super) fn new(periods: f64, earned: f64, risk_free: f64, deviation: f64) -> Self {
        let root = periods.sqrt();
        Annual {
            periods,
            expected_return: periods * earned,
            standard_deviation: root * deviation,
            sharpe_ratio: root * (earned - risk_free) / deviation,
        }
    }
}

impl PortfolioTask {
    /// What the answer of a run means.
    pub(super) fn explain(&self, solution: &Solution) -> Result<PortfolioAnswer, Error> {
        let (portfolio, settings) = (&self.portfolio, &self.settings);
        let risk_measure = settings.risk;
        let risk = self.risk_of(&solution.theta)?;
        let expected_return = portfolio.expected_return(&solution.theta);
        let is_asked = settings.risk_free.is_some() || settings.aim == Aim::MaxSharpe;
        let deviation = match risk_measure {
            Risk::Variance => risk.sqrt(),
            _ if !is_asked && settings.annualize.is_none() => f64::NAN,
            _ => Measure::Variance.value(portfolio, &solution.theta)?.sqrt(),
        };
        let risk_free = settings.risk_free.unwrap_or(0.0);
        let budget = self.limits.risk_budget.as_ref();
        Ok(PortfolioAnswer {
            expected_return,
            risk,
            risk_measure,
            standard_deviation: (risk_measure == Risk::Variance).then_some(deviation),
            value_at_risk: (risk_measure == Risk::Cvar)
                .then(|| self.measure.threshold(portfolio, &solution.theta)),
            benchmark_return: self.benchmark.as_ref().map(|_| portfolio.benchmark_return()),
            risk_contributions: budget
                .and_then(|_| risk_budget::contributions(portfolio, &solution.theta)),
            turnover: self.current.as_ref().map(|current| {
                current.iter().zip(&solution.theta).map(|(held, x)| (x - held).abs()).sum()
            }),
            risk_free: settings.risk_free,
            sharpe_ratio: is_asked.then_some((expected_return - risk_free) / deviation),
            sought: self.sought(solution, risk),
            annual: settings
                .annualize
                .map(|periods| Annual::new(periods, expected_return, risk_free, deviation)),
        })
    }

    /// Every asset held alone: its name, its risk and its expected return.
    pub fn assets(&self) -> impl Iterator<Item = (&str, f64, f64)> {
        let mean = self.portfolio.mean_returns();
        self.names.iter().enumerate().map(move |(l, name)| {
            let mut alone = vec![0.0; mean.len()];
            alone[l] = 1.0;
            (name.as_str(), self.risk_of(&alone).unwrap_or(f64::NAN), mean[l])
        })
    }

    /// The measure of risk with weight 1.
    pub(super) fn risk_of(&self, theta: &[f64]) -> Result<f64, Error> {
        Ok(self.measure.value(&self.portfolio, theta)?)
    }
}

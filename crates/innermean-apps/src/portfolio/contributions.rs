//! What each asset contributes to the risk, by Euler's theorem.
//!
//! Where the risk rho has a gradient, asset l contributes `theta_l d rho / d theta_l`. Of a risk
//! with `rho(s theta) = s^k rho(theta)` these sum to `k rho(theta)`. A benchmark is one more asset,
//! with weight -1. All risks here have
//!
//! ```text
//! d rho / d theta_l = sum_i a_i (x_il - e_l)
//! ```
//!
//! with e the mean where deviations from the mean are a risk, and 0 where losses are.

use innermean::{Inner, Portfolio};
use serde::Serialize;

use super::PortfolioTask;
use super::risk::Measure;

/// Losses or deviations nearer than this part of their mean size are the same: an optimum puts
/// several of them on a kink of the risk, where there is no gradient.
const TIED: f64 = 1e-6;
/// Contributions that cancel to less than this part of their sizes are parts of nothing.
const NOTHING: f64 = 1e-9;

/// Parts of the risk, which sum to 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RiskContributions {
    /// Of each asset; what hedges the others has one below 0.
    pub assets: Vec<f64>,
    /// Of the benchmark that returns are compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub benchmark: Option<f64>,
}

impl PortfolioTask {
    /// The part of the risk that each asset contributes; none where the risk has no gradient
    /// (absolute deviation and `CVaR`, if several periods lie on their kinks), or where the
    /// contributions do not sum to something above 0 and there is no risk to divide.
    pub fn risk_contributions(&self, theta: &[f64]) -> Option<RiskContributions> {
        let portfolio = &self.portfolio;
        let d = theta.len();
        let (a, is_centred) = self.measure.slopes(portfolio, theta)?;
        let mut sums = vec![0.0; d];
        portfolio.returns().each_row(d, |i, row| {
            for (l, x) in row.iter().enumerate() {
                let centre = if is_centred { portfolio.mean_row()[l] } else { 0.0 };
                sums[l] += a[i] * (x - centre);
            }
        });
        let assets: Vec<f64> = sums.iter().zip(theta).map(|(sum, x)| sum * x).collect();
        let benchmark = portfolio.benchmark().map(|z| {
            let centre = if is_centred { portfolio.benchmark_return() } else { 0.0 };
            -a.iter().zip(z).map(|(a, z)| a * (z - centre)).sum::<f64>()
        });
        let all = || assets.iter().copied().chain(benchmark);
        let whole: f64 = all().sum();
        let size: f64 = all().map(f64::abs).sum();
        (whole.is_finite() && whole > NOTHING * size).then(|| RiskContributions {
            assets: assets.iter().map(|part| part / whole).collect(),
            benchmark: benchmark.map(|part| part / whole),
        })
    }
}

impl Measure {
    /// `a_i`, up to a factor that they have in common, and whether e is the mean; none where there
    /// is no gradient.
    fn slopes(self, portfolio: &Portfolio, theta: &[f64]) -> Option<(Vec<f64>, bool)> {
        let n = portfolio.n_x();
        let weight = |i: usize| portfolio.weights().map_or(1.0, |omega| omega[i]) / n as f64;
        let mut returns = Vec::with_capacity(n);
        portfolio.returns().each_row(theta.len(), |_, row| {
            returns.push(row.iter().zip(theta).map(|(x, theta)| x * theta).sum::<f64>());
        });
        if let Some(z) = portfolio.benchmark() {
            returns.iter_mut().zip(z).for_each(|(r, z)| *r -= z);
        }
        let mean: f64 = (0..n).map(|i| weight(i) * returns[i]).sum();
        let size = (0..n).map(|i| weight(i) * (returns[i] - mean).abs()).sum::<f64>();
        let tied = TIED * size;
        let of_deviation = |slope: &dyn Fn(f64) -> f64| {
            let all = (0..n).map(|i| weight(i) * slope(returns[i] - mean));
            Some((all.collect(), true))
        };
        match self {
            Measure::Variance => of_deviation(&|u| u),
            Measure::Semivariance => of_deviation(&|u| u.min(0.0)),
            Measure::Huber(width) => of_deviation(&|u| (u / width).clamp(-1.0, 1.0)),
            Measure::Absolute => {
                let is_on_kink = returns.iter().any(|r| (r - mean).abs() <= tied);
                if is_on_kink { None } else { of_deviation(&f64::signum) }
            }
            Measure::Cvar(level) => {
                // The loss at the quantile counts by what is left of 1 - level.
                let t = self.threshold(portfolio, theta);
                let sum = |of: &dyn Fn(f64) -> bool| -> (usize, f64) {
                    let all = (0..n).filter(|&i| of(-returns[i] - t));
                    all.fold((0, 0.0), |(count, sum), i| (count + 1, sum + weight(i)))
                };
                let (_, beyond) = sum(&|excess| excess > tied);
                let (count, at) = sum(&|excess| excess.abs() <= tied);
                let part = ((1.0 - level - beyond) / at).clamp(0.0, 1.0);
                let is_whole = part.min(1.0 - part) < 1e-9;
                let slope = |i: usize| match -returns[i] - t {
                    excess if excess > tied => -weight(i),
                    excess if excess >= -tied => -part * weight(i),
                    _ => 0.0,
                };
                (count <= 1 || is_whole).then(|| ((0..n).map(slope).collect(), false))
            }
            Measure::Entropic(rate) => {
                let t = self.threshold(portfolio, theta);
                let slope = |i: usize| -weight(i) * (rate * (-returns[i] - t)).exp();
                Some(((0..n).map(slope).collect(), false))
            }
            Measure::Kelly(whole) => {
                let slope = |i: usize| -weight(i) / (whole + returns[i]);
                Some(((0..n).map(slope).collect(), false))
            }
        }
    }
}

//! What weights did over the periods of the data, and what their risk is made of: the numbers
//! behind the charts of a page.
//!
//! With the same weights theta at the beginning of every period, x for the returns as fractions and
//! `c = 1 - sum_l theta_l` for cash, which earns the risk-free rate f,
//!
//! ```text
//! R_i = <theta, x_i> + c f,   V_i = prod_(k <= i) (1 + R_k),   D_i = V_i / max_(k <= i) V_k - 1
//! ```
//!
//! are the returns, the value of 1 that was invested before the first period (`V_0 = 1`), and how
//! far it is below its highest so far.

use serde::Serialize;

use super::walk::resolved;
use super::{PortfolioTask, Risk, Unit};

/// What one number of the data says about the growth of an asset.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Growth {
    /// The unit of the returns.
    pub unit: Unit,
    /// Whether they are logarithms of what 1 has become, and not what was added to it.
    pub are_logs: bool,
}

impl Growth {
    /// What is added to 1 in a period.
    pub(super) fn of(self, x: f64) -> f64 {
        let x = self.unit.as_fraction() * x;
        if self.are_logs { x.exp_m1() } else { x }
    }
}

/// Returns, period by period and together. All numbers are fractions.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TrackRecord {
    /// `R_i`; where nothing is left, -1.
    pub returns: Vec<f64>,
    /// `V_i - 1`: of all periods up to this one together.
    pub cumulative: Vec<f64>,
    /// `D_i`, which is 0 or below.
    pub drawdown: Vec<f64>,
}

impl TrackRecord {
    /// Of returns as fractions. What has lost everything stays at nothing.
    pub fn new(returns: Vec<f64>) -> Self {
        let (mut value, mut highest) = (1.0_f64, 1.0_f64);
        let mut record = TrackRecord::default();
        for earned in &returns {
            value *= (1.0 + earned).max(0.0);
            highest = highest.max(value);
            record.cumulative.push(value - 1.0);
            record.drawdown.push(value / highest - 1.0);
        }
        record.returns = returns;
        record
    }

    /// Of all periods together.
    pub fn total_return(&self) -> f64 {
        self.cumulative.last().copied().unwrap_or(0.0)
    }

    /// The largest fall from a highest value, which is 0 or above.
    pub fn largest_drawdown(&self) -> f64 {
        -self.drawdown.iter().copied().fold(0.0, f64::min)
    }
}

impl PortfolioTask {
    /// The unit of the returns and whether they are logarithms, with the unit found where it is
    /// [`Unit::Auto`].
    pub fn growth(&self, unit: Unit, are_logs: bool) -> Growth {
        let (d, returns) = (self.names.len(), self.portfolio.returns());
        let unit = match unit {
            // Logarithms of wealth say by themselves which it is.
            Unit::Auto if self.settings.risk == Risk::Kelly && self.settings.percent => {
                Unit::Percent
            }
            Unit::Auto if self.settings.risk == Risk::Kelly => Unit::Fraction,
            unit => resolved(unit, d, returns),
        };
        Growth { unit, are_logs }
    }

    /// What weights that are the same at the beginning of every period did over the periods that
    /// count ([`Self::counted_periods`]), without costs; none of moments, which have no periods.
    pub fn track_record(&self, theta: &[f64], growth: Growth) -> Option<TrackRecord> {
        if self.are_moments {
            return None;
        }
        let cash = 1.0 - theta.iter().sum::<f64>();
        // Of a sum of 1, rounding is no cash.
        let cash = if cash.abs() < 1e-12 { 0.0 } else { cash };
        let idle = cash * growth.of(self.settings.risk_free.unwrap_or(0.0));
        let earned = |row: &[f64]| {
            let held = row.iter().zip(theta).map(|(x, weight)| weight * growth.of(*x));
            (held.sum::<f64>() + idle).max(-1.0)
        };
        let mut record = Vec::with_capacity(self.portfolio.returns().len() / theta.len().max(1));
        self.portfolio.returns().each_row(theta.len(), |_, row| record.push(earned(row)));
        Some(TrackRecord::new(record))
    }

    /// The same of the benchmark, where there is one.
    pub fn benchmark_record(&self, growth: Growth) -> Option<TrackRecord> {
        let returns = self.portfolio.benchmark()?;
        Some(TrackRecord::new(returns.iter().map(|z| growth.of(*z)).collect()))
    }

    /// The periods of the data that have a weight above 0, from 0.
    pub fn counted_periods(&self) -> impl Iterator<Item = usize> {
        use innermean::Inner;
        let all = self.portfolio.n_x() + self.left_out.len();
        (0..all).filter(|period| self.left_out.binary_search(period).is_err())
    }
}

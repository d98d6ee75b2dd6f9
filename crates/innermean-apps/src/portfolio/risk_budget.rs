//! Risk budgets: each asset contributes a given part of the variance.
//!
//! ```text
//! min over theta > 0 of  c theta' Sigma theta - sum_l b_l log theta_l
//! ```
//!
//! has `2 c theta_l (Sigma theta)_l = b_l` at its minimum, whatever c is, and so have all multiples
//! of theta up to a factor: it is divided by its sum.

use innermean::{Fused, Inner, LogBarrier, Portfolio};
use serde::Deserialize;

use super::limits::{Limits, LimitsError, places};
use super::{PortfolioSettings, Risk};
use crate::error::Error;
use crate::penalty::Constraint;

/// The parts of the risk that assets contribute.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum RiskBudget {
    /// All alike: risk parity.
    Equal,
    /// By asset; only their ratios count.
    Given(Vec<(String, f64)>),
}

/// Why a risk budget is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RiskBudgetError {
    /// Something that leaves no room for a budget.
    #[error(
        "`risk_budget` determines the weights by itself, all above 0 and with sum 1: `{0}` cannot \
         be met beside it; leave one of them out"
    )]
    Beside(String),
    /// A risk whose contributions it does not determine.
    #[error("`risk_budget` is about contributions to the variance: expected `risk=variance`")]
    Risk,
    /// An asset without a budget.
    #[error("`risk_budget`: {0} has none; expected a row for every asset")]
    Missing(String),
    /// A budget that is none.
    #[error("`risk_budget`: {value} for {name}; expected a number above 0")]
    NotPositive {
        /// The asset.
        name: String,
        /// Its budget.
        value: f64,
    },
}

impl RiskBudget {
    /// `b_l` in the order of the assets, with sum 1.
    ///
    /// # Errors
    /// If a name is unknown or missing, or a number not above 0.
    pub(super) fn parts(&self, names: &[String]) -> Result<Vec<f64>, Error> {
        let d = names.len();
        let mut parts = match self {
            RiskBudget::Equal => vec![1.0; d],
            RiskBudget::Given(given) => {
                let named = given.iter().map(|(name, _)| name.as_str());
                let mut parts = vec![f64::NAN; d];
                for (l, (name, value)) in
                    places("`risk_budget`", named, names)?.into_iter().zip(given)
                {
                    if !(value.is_finite() && *value > 0.0) {
                        let (name, value) = (name.clone(), *value);
                        return Err(RiskBudgetError::NotPositive { name, value }.into());
                    }
                    parts[l] = *value;
                }
                parts
            }
        };
        if let Some(l) = parts.iter().position(|b| b.is_nan()) {
            return Err(RiskBudgetError::Missing(names[l].clone()).into());
        }
        let sum: f64 = parts.iter().sum();
        for b in &mut parts {
            *b /= sum;
        }
        Ok(parts)
    }

    /// g.
    ///
    /// # Errors
    /// As [`Self::parts`], and if something else is asked of the weights.
    pub(super) fn regularizer(
        &self,
        names: &[String],
        settings: &PortfolioSettings,
        limits: &Limits,
        portfolio: &Portfolio,
    ) -> Result<LogBarrier, Error> {
        let beside = |what: &str| Err(RiskBudgetError::Beside(what.to_owned()).into());
        if settings.risk != Risk::Variance {
            return Err(RiskBudgetError::Risk.into());
        }
        if !matches!(settings.constraint, Constraint::None | Constraint::LongOnly) {
            return beside(&format!("constraint={}", settings.constraint));
        }
        let asked = [
            ("l1", settings.penalty.l1 != 0.0),
            ("l2", settings.penalty.l2 != 0.0),
            ("risk_aversion", settings.risk_aversion != 1.0),
            ("limits", !limits.assets.is_empty()),
            ("group_limits", !limits.groups.is_empty()),
            ("gross", limits.gross.is_some()),
            ("turnover", limits.turnover.is_some()),
            ("cost", limits.cost.is_some()),
            ("target_return", limits.target_return.is_some()),
            ("benchmark", portfolio.benchmark().is_some()),
        ];
        if let Some((name, _)) = asked.into_iter().find(|(_, given)| *given) {
            return beside(name);
        }
        Ok(LogBarrier::new(self.parts(names)?)?)
    }
}

impl From<RiskBudgetError> for LimitsError {
    fn from(error: RiskBudgetError) -> Self {
        LimitsError::Budget(error)
    }
}

impl From<RiskBudgetError> for Error {
    fn from(error: RiskBudgetError) -> Self {
        LimitsError::Budget(error).into()
    }
}

/// `theta_l (Sigma theta)_l / theta' Sigma theta`, what each asset contributes to the variance;
/// none where there is no variance.
pub(super) fn contributions(portfolio: &Portfolio, theta: &[f64]) -> Option<Vec<f64>> {
    let mut deviations = vec![0.0; portfolio.n_x()];
    portfolio.f().means(theta, &mut deviations);
    if let Some(weights) = portfolio.weights() {
        deviations.iter_mut().zip(weights).for_each(|(u, weight)| *u *= weight);
    }
    let mut slopes = vec![0.0; theta.len()];
    portfolio.f().add_weighted_jac_t(theta, &deviations, &mut slopes);
    let parts: Vec<f64> = slopes.iter().zip(theta).map(|(slope, x)| slope * x).collect();
    let sum: f64 = parts.iter().sum();
    (sum > 0.0).then(|| parts.iter().map(|part| part / sum).collect())
}

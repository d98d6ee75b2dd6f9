//! What is asked for: the objective of a portfolio and its bounds.

use serde::{Deserialize, Serialize};

use super::risk::{DEFAULT_EXPONENT, DEFAULT_LEVEL, Risk};
use crate::error::Error;
use crate::penalty::{Bounds, Constraint, Penalty};
use crate::wording::named;
use crate::wording::numbers::significant;

named! {
    /// What is sought.
    pub enum Aim, default Utility {
        /// Much return and little risk: -return + risk aversion x risk
        Utility = "utility",
        /// The least risk, whatever the return
        MinRisk = "min-risk",
        /// The largest return, with `max_risk` among portfolios of at most that risk
        MaxReturn = "max-return",
        /// The largest ratio of return above `risk_free` to risk
        MaxSharpe = "max-sharpe",
    }
}

/// What is minimised: `-return + risk_aversion risk + g`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct PortfolioSettings {
    /// What is sought.
    #[serde(rename = "objective")]
    pub aim: Aim,
    /// The measure of risk.
    pub risk: Risk,
    /// The weight of risk against expected return.
    pub risk_aversion: f64,
    /// h of [`Risk::Huber`], in the unit of the returns; by default the mean absolute deviation of
    /// all returns.
    pub huber_width: Option<f64>,
    /// The level of [`Risk::Cvar`]; [`DEFAULT_LEVEL`] unless it is given.
    pub level: Option<f64>,
    /// gamma of [`Risk::Entropic`]; [`DEFAULT_EXPONENT`] unless it is given.
    pub exponent: Option<f64>,
    /// Whether returns are in percent, for [`Risk::Kelly`].
    pub percent: bool,
    /// What the weights may be.
    pub constraint: Constraint,
    /// Norms of the weights.
    #[serde(flatten)]
    pub penalty: Penalty,
    /// The largest risk, where the return is maximised: a root where the risk is a mean of squares,
    /// which then has the unit of the returns.
    pub max_risk: Option<f64>,
    /// What is earned for each period without risk, in the unit of the returns.
    pub risk_free: Option<f64>,
    /// Periods of a year, for an answer by the year.
    pub annualize: Option<f64>,
}

impl Default for PortfolioSettings {
    fn default() -> Self {
        PortfolioSettings {
            aim: Aim::default(),
            risk: Risk::default(),
            risk_aversion: 1.0,
            huber_width: None,
            level: None,
            exponent: None,
            percent: false,
            constraint: Constraint::default(),
            penalty: Penalty::default(),
            max_risk: None,
            risk_free: None,
            annualize: None,
        }
    }
}

impl PortfolioSettings {
    /// Constraint and norms.
    pub fn bounds(&self) -> Bounds {
        Bounds { constraint: self.constraint, penalty: self.penalty }
    }

    /// What can be found out without data.
    ///
    /// # Errors
    /// If the objective cannot have a minimum.
    pub fn check(&self) -> Result<(), Error> {
        // Without a bound on the weights a homogeneous risk has no answer but none or infinity, and
        // no duality gap: the run would go on to its limit and say nothing.
        if self.risk.is_homogeneous() && !self.bounds().bounds_theta() {
            return Err(Error::UnboundedRisk(self.risk));
        }
        Ok(())
    }

    /// Whether it is the objective of the paper, for which it gives settings: mean and variance,
    /// alike in weight, and nothing else.
    pub fn is_papers(&self) -> bool {
        self.aim == Aim::Utility
            && self.risk == Risk::Variance
            && self.risk_aversion == 1.0
            && self.bounds() == Bounds::default()
    }

    /// The objective in words.
    pub fn formula(&self) -> String {
        let measure = match self.risk {
            Risk::Absolute => "absolute deviation".to_owned(),
            Risk::Cvar => format!("CVaR({})", self.level.unwrap_or(DEFAULT_LEVEL)),
            Risk::Entropic => format!("entropic({})", self.exponent.unwrap_or(DEFAULT_EXPONENT)),
            Risk::Kelly if self.percent => "mean(-log(1 + return/100))".to_owned(),
            Risk::Kelly => "mean(-log(1 + return))".to_owned(),
            other => other.title().to_owned(),
        };
        let weight = if self.risk_aversion == 1.0 {
            String::new()
        } else {
            match self.aim {
                Aim::Utility | Aim::MinRisk => format!("{} ", self.risk_aversion),
                // Found, and not given.
                Aim::MaxReturn | Aim::MaxSharpe => {
                    format!("{} ", significant(self.risk_aversion, 6))
                }
            }
        };
        let mut terms = vec![format!("{weight}{measure}")];
        if self.aim != Aim::MinRisk {
            terms.insert(0, "-return".to_owned());
        }
        let Penalty { l1, l2 } = self.penalty;
        // The l1 norm of what is long-only is always 1.
        let l1 = if self.constraint == Constraint::LongOnly { 0.0 } else { l1 };
        terms.extend(Penalty { l1, l2 }.terms("theta"));
        let formula = terms.join(" + ");
        match self.constraint {
            Constraint::None => formula,
            Constraint::LongOnly => formula + ", theta >= 0, sum 1",
            Constraint::SumToOne { lo: f64::NEG_INFINITY, hi: f64::INFINITY } => {
                formula + ", sum 1"
            }
            Constraint::SumToOne { lo, hi } => formula + &format!(", {lo} <= theta <= {hi}, sum 1"),
            Constraint::Box { lo, hi } => formula + &format!(", {lo} <= theta <= {hi}"),
        }
    }
}

//! Portfolios: weights for assets from a table of their returns.
//!
//! ```
//! use innermean_apps::portfolio::{PortfolioSettings, PortfolioTask, Risk};
//! use innermean_apps::run::{Solver, Task, Watch};
//! use innermean_data::generate_factor_model;
//!
//! let mut settings = PortfolioSettings::default();
//! settings.risk = Risk::Semivariance;
//! settings.constraint = "long-only".parse()?;
//! let market = generate_factor_model(250, 5, 1);
//! let task = PortfolioTask::new(market.names, market.values, &settings)?;
//! let fit = task.fit(&Solver::default(), Watch::by(&mut ()))?;
//! let weights = &fit.solution.theta;
//! assert!(fit.solution.status.is_solved());
//! assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use innermean::{
    AnyMerit, Choice, Inner, Objective, Portfolio, Problem, Regularizer, Solution, Tilted,
};
use serde::{Deserialize, Serialize};

use crate::error::{Error, same_length};
use crate::penalty::{Bounds, Constraint, Penalty};
use crate::run::Task;
use crate::wording::Note;

mod limits;
mod risk;

pub use limits::{AssetLimit, GroupLimit, Limits, LimitsError};
pub use risk::Risk;

use crate::wording::named;

named! {
    /// What is sought.
    pub enum Aim, default Utility {
        /// Much return and little risk: -return + risk aversion x risk
        Utility = "utility",
        /// The least risk, whatever the return
        MinRisk = "min-risk",
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
    /// What the weights may be.
    pub constraint: Constraint,
    /// Norms of the weights.
    #[serde(flatten)]
    pub penalty: Penalty,
}

impl Default for PortfolioSettings {
    fn default() -> Self {
        PortfolioSettings {
            aim: Aim::default(),
            risk: Risk::default(),
            risk_aversion: 1.0,
            huber_width: None,
            constraint: Constraint::default(),
            penalty: Penalty::default(),
        }
    }
}

/// What the weights mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
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
    /// `sum_l |theta_l - current_l|`, where the weights that are held now are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turnover: Option<f64>,
}

/// The problem as the library has it.
pub type PortfolioProblem = Problem<Portfolio, AnyMerit, Tilted<Box<dyn Regularizer>>>;

/// Returns and settings made into a problem.
pub struct PortfolioTask {
    settings: PortfolioSettings,
    limits: Limits,
    /// The weights that are held now.
    current: Option<Vec<f64>>,
    names: Vec<String>,
    /// h of the Huber function.
    width: Option<f64>,
    problem: PortfolioProblem,
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
        // Without a bound on the weights the absolute deviation has no answer but none or infinity,
        // and no duality gap: the run would go on to its limit and say nothing.
        if self.risk == Risk::Absolute && !self.bounds().bounds_theta() {
            return Err(Error::UnboundedRisk);
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
            Risk::Absolute => "absolute deviation",
            other => other.title(),
        };
        let weight = if self.risk_aversion == 1.0 {
            String::new()
        } else {
            format!("{} ", self.risk_aversion)
        };
        let mut terms = vec![format!("{weight}{measure}")];
        if self.aim == Aim::Utility {
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

impl PortfolioTask {
    /// The problem of these returns: a row for each period, a column for each of `names`.
    ///
    /// # Errors
    /// If settings contradict each other or are out of their range, or returns are not finite.
    pub fn new(
        names: Vec<String>,
        returns: Vec<f64>,
        settings: &PortfolioSettings,
    ) -> Result<Self, Error> {
        Self::within(names, returns, settings, Limits::default())
    }

    /// The same with limits of assets and groups, of trades and of the return.
    ///
    /// # Errors
    /// As [`Self::new`], and if no weights meet the limits: with those that clash.
    pub fn within(
        names: Vec<String>,
        returns: Vec<f64>,
        settings: &PortfolioSettings,
        limits: Limits,
    ) -> Result<Self, Error> {
        if limits.is_empty() {
            settings.check()?;
        }
        let d = names.len();
        same_length("returns beyond the last whole row", returns.len() % d.max(1), 0)?;
        let portfolio = Portfolio::new(d, returns)?;
        let width = match (settings.risk, settings.huber_width) {
            (Risk::Huber, given) => {
                Some(given.unwrap_or_else(|| risk::mean_absolute_deviation(&portfolio)))
            }
            (_, None) => None,
            (risk, Some(width)) => {
                return Err(Error::Idle {
                    parameter: "huber_width",
                    value: width.to_string(),
                    chosen: format!("risk={risk}"),
                    needed: "risk=huber".to_owned(),
                });
            }
        };
        let merit = settings.risk.merit(settings.risk_aversion, width)?;
        let g: Box<dyn Regularizer> = if limits.is_empty() {
            Box::new(settings.bounds().regularizer(d)?)
        } else {
            let mean = portfolio.mean_returns();
            Box::new(limits.regularizer(&names, mean, &settings.bounds())?)
        };
        let current = limits.current_weights(&names)?;
        let problem = match settings.aim {
            Aim::Utility => portfolio.problem(merit, g)?,
            Aim::MinRisk => {
                Problem { inner: portfolio, merit, regularizer: Tilted::new(g, vec![0.0; d])? }
            }
        };
        Ok(PortfolioTask { settings: *settings, limits, current, names, width, problem })
    }

    /// The settings that it was made with.
    pub fn settings(&self) -> &PortfolioSettings {
        &self.settings
    }

    /// What is asked of the weights beyond a constraint by name.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The objective in words.
    pub fn formula(&self) -> String {
        let Limits { cost, .. } = self.limits;
        let costs = cost.map_or(String::new(), |cost| format!(" + {cost} sum |theta - current|"));
        let formula = self.settings.formula();
        // Costs are a term, before the constraints.
        let (terms, constraints) = formula.split_once(',').unwrap_or((&formula, ""));
        let comma = if constraints.is_empty() { "" } else { "," };
        format!("{terms}{costs}{comma}{constraints}{}", self.limits.words())
    }

    /// h of the Huber function, given or found.
    pub fn width(&self) -> Option<f64> {
        self.width
    }

    /// Assets and periods.
    pub fn portfolio(&self) -> &Portfolio {
        &self.problem.inner
    }

    /// The paper's settings for a method, if it gives some for this problem.
    pub fn paper_choice(&self, method: &str) -> Option<Choice> {
        let f = &self.problem.inner;
        f.paper_choice(method).filter(|_| self.settings.is_papers() && f.is_of_papers_scale())
    }
}

impl Task for PortfolioTask {
    type Answer = PortfolioAnswer;
    const BOUNDS: &'static str = "`constraint`, `l2`";

    fn problem(&self) -> Objective<'_> {
        self.problem.erased()
    }

    fn coordinates(&self) -> &[String] {
        &self.names
    }

    fn notes(&self) -> Vec<Note> {
        let bounds = self.settings.bounds();
        let mut notes: Vec<Note> = self.width.map(Note::RiskWidth).into_iter().collect();
        if !bounds.bounds_theta() && self.limits.is_empty() {
            notes.extend((self.settings.risk == Risk::Huber).then_some(Note::RiskMayFall));
            let (periods, assets) = (self.problem.inner.n_x(), self.problem.inner.d());
            notes.push(if periods <= assets {
                Note::NoRisk { periods, assets }
            } else {
                Note::FreeSum
            });
        }
        notes.extend(bounds.note());
        notes
    }

    fn answer(&self, solution: &Solution) -> Result<PortfolioAnswer, Error> {
        let portfolio = &self.problem.inner;
        let risk_measure = self.settings.risk;
        let risk = risk_measure.value(self.width, portfolio, &solution.theta)?;
        Ok(PortfolioAnswer {
            expected_return: portfolio.expected_return(&solution.theta),
            risk,
            risk_measure,
            standard_deviation: (risk_measure == Risk::Variance).then(|| risk.sqrt()),
            turnover: self.current.as_ref().map(|current| {
                current.iter().zip(&solution.theta).map(|(held, x)| (x - held).abs()).sum()
            }),
        })
    }
}

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

use std::sync::Arc;

use crate::error::{Error, same_length};
use crate::penalty::Constraint;
use crate::run::Task;
use crate::wording::Note;
use crate::wording::numbers::significant;
use innermean::{
    Choice, Collapsed, Inner, Merit, Objective, Portfolio, Regularizer, RowData, RowMoments,
    Solution,
};

mod answer;
mod contributions;
mod frontier;
mod limits;
mod moments;
mod risk;
mod risk_budget;
mod scenarios;
mod search;
mod settings;
mod story;
mod walk;
mod weights;

pub use answer::{Annual, PortfolioAnswer, Sought};
pub use contributions::RiskContributions;
pub use frontier::{Frontier, FrontierPoint};
pub use limits::{AssetLimit, GroupLimit, Limits, LimitsError};
pub use moments::{Covariance, Moments, MomentsError};
pub use risk::{DEFAULT_EXPONENT, DEFAULT_LEVEL, Risk};
pub use risk_budget::{RiskBudget, RiskBudgetError};
pub use scenarios::{Benchmark, Scenarios, ScenariosError};
pub use search::SearchError;
pub use settings::{Aim, PortfolioSettings};
pub use story::{Growth, TrackRecord};
pub use walk::{Held, Unit, Walk, WalkSettings, Window};

use risk::Measure;
use weights::Allowed;

/// Returns and settings made into a problem.
pub struct PortfolioTask {
    settings: PortfolioSettings,
    limits: Limits,
    /// The weights that are held now.
    current: Option<Vec<f64>>,
    names: Vec<String>,
    benchmark: Option<String>,
    /// Periods that count nothing, from 0, in their order.
    left_out: Vec<usize>,
    are_moments: bool,
    /// Periods of which only the moments were kept.
    read: Option<u64>,
    measure: Measure,
    /// Assets and periods.
    portfolio: Portfolio,
    /// f, where it is not the deviation from the mean.
    inner: Option<Collapsed>,
    merit: Box<dyn Merit>,
    /// What is asked of the weights, without the return.
    allowed: Allowed,
    /// g
    regularizer: Arc<dyn Regularizer>,
    /// What thresholds count from.
    base: f64,
    /// What the search for the weight of risk has found, where the aim asks for one.
    found: Option<search::Found>,
}

impl PortfolioTask {
    /// The problem of these returns: a row for each period, a column for each of `names`.
    ///
    /// # Errors
    /// If settings contradict each other or are out of their range, or returns are not finite.
    pub fn new(
        names: Vec<String>,
        returns: impl Into<RowData>,
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
        returns: impl Into<RowData>,
        settings: &PortfolioSettings,
        limits: Limits,
    ) -> Result<Self, Error> {
        Self::of(Scenarios::new(names, returns), settings, limits)
    }

    /// The same of periods that need not count alike, and against a benchmark; or of a mean and a
    /// covariance ([`Moments::scenarios`]).
    ///
    /// # Errors
    /// As [`Self::within`], and if weights or benchmark are not what is expected.
    pub fn of(
        scenarios: Scenarios,
        settings: &PortfolioSettings,
        limits: Limits,
    ) -> Result<Self, Error> {
        let are_moments = scenarios.are_moments;
        check_moments(are_moments, settings)?;
        if limits.is_empty() && limits.risk_budget.is_none() {
            settings.check()?;
        }
        let benchmark = scenarios.benchmark.as_ref().map(|benchmark| benchmark.name.clone());
        let (portfolio, names, left_out) = scenarios.portfolio()?;
        let known = Known { portfolio, names, benchmark, left_out, are_moments, read: None };
        Self::of_known(known, settings, limits)
    }

    /// The same of rows of which only the moments are kept, a column for each of `names`.
    ///
    /// # Errors
    /// As [`Self::within`], and if the risk is not the variance.
    pub fn of_moments(
        names: Vec<String>,
        moments: &RowMoments,
        settings: &PortfolioSettings,
        limits: Limits,
    ) -> Result<Self, Error> {
        check_moments(true, settings)?;
        if limits.is_empty() && limits.risk_budget.is_none() {
            settings.check()?;
        }
        same_length("columns of the moments", moments.d(), names.len())?;
        let known = Known {
            portfolio: Portfolio::of_moments(moments)?,
            names,
            benchmark: None,
            left_out: Vec::new(),
            are_moments: true,
            read: Some(moments.rows()),
        };
        Self::of_known(known, settings, limits)
    }

    fn of_known(known: Known, settings: &PortfolioSettings, limits: Limits) -> Result<Self, Error> {
        let Known { portfolio, names, benchmark, left_out, are_moments, read } = known;
        let measure = Measure::new(settings, &names, &portfolio)?;
        let allowed = Allowed::new(settings, &limits, &names, &portfolio)?;
        let regularizer = allowed.tilted(settings, settings.aim != Aim::MinRisk, &portfolio)?;
        let current = limits.current_weights(&names)?;
        let base = if settings.risk.has_threshold() {
            let point = weights::nearest(&*regularizer, vec![0.0; names.len() + 1]);
            measure.threshold(&portfolio, &point[..names.len()])
        } else {
            0.0
        };
        let task = PortfolioTask {
            settings: *settings,
            limits,
            current,
            names,
            benchmark,
            left_out,
            are_moments,
            read,
            measure,
            inner: measure.inner(&portfolio, base),
            merit: measure.merit(settings.risk_aversion, &portfolio, base)?,
            allowed,
            regularizer,
            portfolio,
            base,
            found: None,
        };
        task.check_aim()?;
        Ok(task)
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
        let costs = cost.map_or(String::new(), |cost| {
            // That of a walk is a part of what was given.
            let given = cost.to_string();
            let cost = if given.len() > 10 { significant(cost, 6) } else { given };
            format!(" + {cost} sum |theta - current|")
        });
        let mut formula = self.settings.formula();
        if self.limits.risk_budget.is_some() {
            return "variance - sum b log theta, theta then divided by its sum".to_owned();
        }
        if let Some(benchmark) = &self.benchmark {
            formula.extend([", risk of return - ", benchmark]);
        }
        // Costs are a term, before the constraints.
        let (terms, constraints) = formula.split_once(',').unwrap_or((&formula, ""));
        let comma = if constraints.is_empty() { "" } else { "," };
        format!("{terms}{costs}{comma}{constraints}{}", self.limits.words())
    }

    /// Says the answer by the year as well, of so many periods.
    pub fn annualize(&mut self, periods: Option<f64>) {
        self.settings.annualize = periods;
    }

    /// The weights that are held now, where they are known.
    pub fn current(&self) -> Option<&[f64]> {
        self.current.as_deref()
    }

    /// h of the Huber function, given or found.
    pub fn width(&self) -> Option<f64> {
        self.measure.width()
    }

    /// What the returns are compared with, if with something: its returns are those of
    /// [`Portfolio::benchmark`].
    pub fn benchmark(&self) -> Option<&str> {
        self.benchmark.as_deref()
    }

    /// Whether the periods stand for a mean and a covariance.
    pub fn are_moments(&self) -> bool {
        self.are_moments
    }

    /// How many periods there are; none of moments that were given.
    pub fn periods(&self) -> Option<u64> {
        let kept = (!self.are_moments).then(|| self.portfolio.n_x() as u64);
        self.read.or(kept)
    }

    /// A name for each coordinate of a run, of which there may be one behind the weights.
    pub fn run_coordinates(&self) -> Vec<String> {
        let threshold = self.settings.risk.has_threshold().then(|| "threshold".to_owned());
        self.names.iter().cloned().chain(threshold).collect()
    }

    /// Assets and periods.
    pub fn portfolio(&self) -> &Portfolio {
        &self.portfolio
    }

    /// The paper's settings for a method, if it gives some for this problem.
    pub fn paper_choice(&self, method: &str) -> Option<Choice> {
        let f = &self.portfolio;
        let is_plain = f.weights().is_none() && f.benchmark().is_none() && !self.are_moments;
        let is_papers = is_plain && self.settings.is_papers() && self.limits.risk_budget.is_none();
        f.paper_choice(method).filter(|_| is_papers && f.is_of_papers_scale())
    }
}

/// What is known of the periods.
struct Known {
    portfolio: Portfolio,
    names: Vec<String>,
    benchmark: Option<String>,
    left_out: Vec<usize>,
    are_moments: bool,
    read: Option<u64>,
}

/// # Errors
/// If moments do not tell the risk.
fn check_moments(are_moments: bool, settings: &PortfolioSettings) -> Result<(), Error> {
    if are_moments && settings.risk != Risk::Variance {
        return Err(ScenariosError::OfMoments(settings.risk).into());
    }
    Ok(())
}

impl Task for PortfolioTask {
    type Answer = PortfolioAnswer;
    const BOUNDS: &'static str = "`constraint`, `l2`";

    fn problem(&self) -> Objective<'_> {
        Objective {
            inner: self.inner.as_ref().map_or(&self.portfolio as &dyn Inner, |inner| inner),
            merit: &*self.merit,
            regularizer: &*self.regularizer,
        }
    }

    fn coordinates(&self) -> &[String] {
        &self.names
    }

    fn notes(&self) -> Vec<Note> {
        let bounds = self.settings.bounds();
        let mut notes: Vec<Note> = self.width().map(Note::RiskWidth).into_iter().collect();
        let (periods, assets) = (self.portfolio.n_x(), self.portfolio.d());
        let are_few = self.periods().is_some_and(|periods| periods <= assets as u64);
        if let Some(weights) = self.portfolio.weights() {
            let squares: f64 = weights.iter().map(|weight| weight * weight).sum();
            let effective = (periods * periods) as f64 / squares;
            let left_out = self.left_out.len();
            let periods = periods + left_out;
            notes.push(Note::WeightedPeriods { effective, periods, left_out });
        }
        if self.settings.risk == Risk::Kelly && !self.settings.percent {
            let typical = risk::mean_absolute_deviation(&self.portfolio);
            notes
                .extend((typical >= risk::LARGE_FRACTION).then_some(Note::LargeFractions(typical)));
        }
        let asks_nothing = self.limits.is_empty() && self.limits.risk_budget.is_none();
        if bounds.bounds_theta() || !asks_nothing {
            notes.extend(are_few.then_some(Note::FewPeriods { periods, assets }));
        } else {
            notes.extend((self.settings.risk == Risk::Huber).then_some(Note::RiskMayFall));
            let free = bounds.constraint == Constraint::None;
            notes.extend(are_few.then_some(Note::NoRisk { periods, assets }));
            notes.extend((free && !are_few).then_some(Note::FreeSum));
        }
        notes.extend(bounds.note());
        notes
    }

    /// Where the search has ended; nowhere for the method of multipliers, which its runs were by
    /// where the risk has kinks, and which gains nothing from a start.
    fn start(&self) -> Option<Vec<f64>> {
        let found = self.found.as_ref().filter(|_| !self.settings.risk.is_homogeneous());
        found.map(|found| found.theta.clone())
    }

    /// With the best threshold behind the weights, where the risk has one.
    fn scaled(&self, mut theta: Vec<f64>) -> Vec<f64> {
        if self.settings.risk.has_threshold() && theta.len() == self.names.len() {
            theta.push(0.0);
            let allowed = weights::nearest(&*self.regularizer, theta.clone());
            let t = self.measure.threshold(&self.portfolio, &allowed[..self.names.len()]);
            theta[self.names.len()] = t - self.base;
        }
        theta
    }

    /// The weights alone; where a budget of risk determines them, with sum 1, and where they were
    /// searched for, those that were found.
    fn restate(&self, tolerance: f64, solution: &mut Solution) {
        solution.theta.truncate(self.names.len());
        if self.limits.risk_budget.is_some() {
            let sum: f64 = solution.theta.iter().sum();
            solution.theta.iter_mut().for_each(|x| *x /= sum);
        }
        self.settle(tolerance, solution);
    }

    fn answer(&self, solution: &Solution) -> Result<PortfolioAnswer, Error> {
        self.explain(solution)
    }
}

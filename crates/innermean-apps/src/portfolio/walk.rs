//! Out of sample: weights are fitted to some periods, held over the next ones, and fitted again.
//!
//! Write x for the returns of a period as fractions, w for the weights at its beginning and c for
//! cash, which earns the risk-free rate f. Then
//!
//! ```text
//! c = 1 - sum_l w_l,   R = <w, x> + c f,   w_l <- w_l (1 + x_l) / (1 + R)
//! ```
//!
//! so that weights drift while nothing is traded. At the end of a window they are the current
//! weights of the next fit: turnover is limited and charged against them. A window's trades cost
//! `rate sum_l |theta_l - w_l|`, taken from its first period: `(1 - cost) (1 + R) - 1`. The fit,
//! whose objective is by the period, spreads that over the periods that the weights are held for:
//! it has `rate / TEST` in the place of the rate.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::search::SearchError;
use super::story::Growth;
use super::{Aim, Annual, Limits, PortfolioSettings, PortfolioTask, Risk, RiskBudget, Scenarios};
use crate::error::{Error, same_length};
use crate::run::{Solver, Start, Task, Watch};
use crate::wording::named;
use innermean::RowData;

named! {
    /// The unit of returns.
    pub enum Unit, default Auto {
        /// Percent if returns deviate from their means by 0.2 or more on average, fractions if not
        Auto = "auto",
        /// 1 is a hundredth
        Percent = "percent",
        /// 1 is the whole
        Fraction = "fraction",
    }
}

impl Unit {
    /// 1 in this unit as a fraction.
    pub fn as_fraction(self) -> f64 {
        if self == Unit::Percent { 0.01 } else { 1.0 }
    }
}

/// Returns as fractions do not deviate by so much in a period, and in percent by no less in a day.
const PERCENT: f64 = 0.2;

/// Which periods are fitted and held.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WalkSettings {
    /// Periods that are fitted.
    pub train: usize,
    /// Periods that the weights are held for; the last window may have fewer.
    pub test: usize,
    /// The unit of the returns.
    pub unit: Unit,
    /// Whether returns are logarithms of what 1 has become. What is realised is said in simple
    /// returns all the same.
    pub are_logs: bool,
    /// After how many periods one counts half in a fit.
    pub half_life: Option<f64>,
}

/// What was done at the beginning of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    /// The weights were fitted.
    Fitted,
    /// The fit failed, and the weights of the window before were kept.
    Kept,
}

/// Some periods that weights are held for.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Window {
    /// The first period that was fitted, from 0.
    pub fitted_from: usize,
    /// The first period that the weights are held for: the fitted ones end before it.
    pub held_from: usize,
    /// The first period after them.
    pub held_to: usize,
    /// The assets without gaps in the periods that were fitted.
    pub assets: usize,
    /// Whether the weights were fitted.
    pub weights: Held,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How far the fit is from its optimum, as far as that is proven.
    pub gap: Option<f64>,
    /// `sum_l |theta_l - w_l|`
    pub turnover: f64,
    /// What the trades cost, in the unit of the returns.
    pub cost: f64,
    /// The return of the whole window, costs taken off, in the unit of the returns.
    pub realised_return: f64,
    /// The standard deviation of the periods.
    pub standard_deviation: f64,
    /// The measure of risk of the periods.
    pub risk: f64,
    /// The weights at the beginning, after the trades, in the order of all assets.
    pub theta: Vec<f64>,
}

/// All windows.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Walk {
    /// Windows in their order.
    pub windows: Vec<Window>,
    /// The return of every period that weights were held for, in the unit of the returns.
    pub returns: Vec<f64>,
    /// The unit that was given or found.
    pub unit: Unit,
    /// Of a period.
    pub mean_return: f64,
    /// Of a period.
    pub standard_deviation: f64,
    /// The measure of risk of all periods.
    pub risk: f64,
    /// `(mean_return - risk_free) / standard_deviation`
    pub sharpe_ratio: f64,
    /// Of all periods together.
    pub total_return: f64,
    /// The largest fall from a height, in the unit of the returns.
    pub largest_drawdown: f64,
    /// The mean of all windows but the first, which buys everything unless weights were held.
    pub mean_turnover: f64,
    /// Of all trades.
    pub cost: f64,
    /// Windows whose fit failed.
    pub kept: usize,
    /// Returns that are missing while an asset is held, taken as 0.
    pub missing: usize,
    /// By the year.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annual: Option<Annual>,
}

/// Returns with names, of which some may be missing.
struct History<'a> {
    names: &'a [String],
    values: &'a [f64],
    growth: Growth,
    /// What cash adds to 1 in a period.
    risk_free: f64,
    half_life: Option<f64>,
}

impl History<'_> {
    fn rows(&self, from: usize, to: usize) -> impl Iterator<Item = &[f64]> {
        let d = self.names.len();
        self.values[from * d..to * d].chunks_exact(d)
    }

    /// The assets without gaps.
    fn universe(&self, from: usize, to: usize) -> Vec<usize> {
        let mut whole = vec![true; self.names.len()];
        for row in self.rows(from, to) {
            whole.iter_mut().zip(row).for_each(|(whole, x)| *whole &= x.is_finite());
        }
        (0..whole.len()).filter(|&l| whole[l]).collect()
    }

    /// The task of some periods and assets, with what is held of each of all assets.
    fn task(
        &self,
        (from, to): (usize, usize),
        universe: &[usize],
        held: Option<&[f64]>,
        settings: &PortfolioSettings,
        limits: &Limits,
    ) -> Result<PortfolioTask, Error> {
        let names: Vec<String> = universe.iter().map(|&l| self.names[l].clone()).collect();
        let mut returns = Vec::with_capacity((to - from) * universe.len());
        for row in self.rows(from, to) {
            returns.extend(universe.iter().map(|&l| row[l]));
        }
        let mut limits = limits.clone();
        limits.assets.retain(|limit| names.contains(&limit.asset));
        let has_members =
            |group: &String| limits.assets.iter().any(|limit| limit.group.as_ref() == Some(group));
        limits.groups.retain(|limit| has_members(&limit.group));
        if let Some(held) = held {
            let pair = |(&l, name): (&usize, &String)| (name.clone(), held[l]);
            limits.current = Some(universe.iter().zip(&names).map(pair).collect());
        } else {
            // Everything is bought for the first time: there is nothing to turn over.
            limits.turnover = None;
            limits.current = limits.cost.map(|_| Vec::new());
        }
        if let Some(RiskBudget::Given(parts)) = &mut limits.risk_budget {
            parts.retain(|(asset, _)| names.contains(asset));
        }
        let mut scenarios = Scenarios::new(names, returns);
        scenarios.half_life = self.half_life;
        PortfolioTask::of(scenarios, settings, limits)
    }

    /// The return of a period with these weights, which drift; counts what is missing.
    fn advance(&self, row: &[f64], weights: &mut [f64], missing: &mut usize) -> f64 {
        let mut growth = |x: f64, weight: f64| {
            if x.is_finite() {
                return self.growth.of(x);
            }
            *missing += usize::from(weight != 0.0);
            0.0
        };
        let grown: Vec<f64> = row.iter().zip(&*weights).map(|(x, w)| growth(*x, *w)).collect();
        let earned: f64 = grown.iter().zip(&*weights).map(|(x, w)| x * w).sum();
        let cash = 1.0 - weights.iter().sum::<f64>();
        // Of a sum of 1, rounding is no cash.
        let cash = if cash.abs() < 1e-12 { 0.0 } else { cash };
        let whole = earned + cash * self.risk_free;
        if whole <= -1.0 {
            // Nothing is left.
            weights.fill(0.0);
            return -1.0;
        }
        for (weight, x) in weights.iter_mut().zip(&grown) {
            *weight *= (1.0 + x) / (1.0 + whole);
        }
        whole
    }
}

impl Walk {
    /// Walks over all periods. `values` has a row for each period, in which what is missing is not
    /// a number: an asset takes part in a fit if nothing of it is missing there. The task that is
    /// returned beside the walk is that of the last periods, with what is held at the end: its
    /// answer is what to hold next.
    ///
    /// # Errors
    /// If the windows do not fit into the periods, or the task of the last periods is refused. A
    /// window whose fit is refused or fails keeps the weights of the one before.
    pub fn over(
        names: &[String],
        values: &[f64],
        settings: &PortfolioSettings,
        limits: &Limits,
        walk: &WalkSettings,
        (solver, interrupt): (&Solver, Option<&AtomicBool>),
    ) -> Result<(Walk, PortfolioTask), Error> {
        let d = names.len();
        same_length("returns beyond the last whole row", values.len() % d.max(1), 0)?;
        let periods = values.len().checked_div(d).unwrap_or(0);
        let WalkSettings { train, test, unit, are_logs, half_life } = *walk;
        if train == 0 || test == 0 || train >= periods {
            return Err(SearchError::Windows { train, test, periods }.into());
        }
        let unit = resolved(unit, d, &values.to_vec().into());
        let (as_fraction, growth) = (unit.as_fraction(), Growth { unit, are_logs });
        let risk_free = growth.of(settings.risk_free.unwrap_or(0.0));
        let history = History { names, values, growth, risk_free, half_life };
        let rate = as_fraction * limits.cost.unwrap_or(0.0);
        let mut limits = limits.clone();
        limits.cost = limits.cost.map(|rate| rate / test as f64);
        let limits = &limits;
        let mut weights = limits.current_weights(names)?.unwrap_or_else(|| vec![0.0; d]);
        let mut is_held = limits.current.is_some();
        let (mut windows, mut returns, mut missing) = (Vec::new(), Vec::new(), 0);
        let begun = Instant::now();
        for from in (train..periods).step_by(test) {
            let mut solver = solver.clone();
            let used = begun.elapsed().as_secs_f64();
            let left = |most: f64| (most - used).max(f64::MIN_POSITIVE);
            solver.stop.max_seconds = solver.stop.max_seconds.map(left);
            let to = (from + test).min(periods);
            let universe = history.universe(from - train, from);
            let held = is_held.then_some(weights.as_slice());
            let fitted = (from - train, from);
            let task = history.task(fitted, &universe, held, settings, limits);
            let fit = task.and_then(|task| fit(task, &universe, &weights, &solver, interrupt));
            let before = weights.clone();
            let (gap, reason) = match fit {
                Ok((theta, gap)) => {
                    weights.fill(0.0);
                    universe.iter().zip(&theta).for_each(|(&l, x)| weights[l] = *x);
                    is_held = true;
                    (gap, None)
                }
                Err(reason) => (None, Some(reason.to_string())),
            };
            let turnover: f64 = weights.iter().zip(&before).map(|(x, w)| (x - w).abs()).sum();
            let cost = rate * turnover;
            let theta = weights.clone();
            let first = returns.len();
            for row in history.rows(from, to) {
                let earned = history.advance(row, &mut weights, &mut missing);
                let paid = if returns.len() == first { 1.0 - cost } else { 1.0 };
                returns.push(((paid * (1.0 + earned)) - 1.0) / as_fraction);
            }
            let of_window = &returns[first..];
            let (_, deviation) = moments(of_window);
            windows.push(Window {
                fitted_from: from - train,
                held_from: from,
                held_to: to,
                assets: universe.len(),
                weights: if reason.is_none() { Held::Fitted } else { Held::Kept },
                reason,
                gap,
                turnover,
                cost: cost / as_fraction,
                realised_return: compound(of_window, as_fraction),
                standard_deviation: deviation,
                risk: realised_risk(settings, of_window)?,
                theta,
            });
        }
        let last = (periods - train, periods);
        let universe = history.universe(last.0, last.1);
        let held = is_held.then_some(weights.as_slice());
        let task = history.task(last, &universe, held, settings, limits)?;
        let found = Walk::summed(windows, returns, unit, settings, missing)?;
        Ok((found, task))
    }

    fn summed(
        windows: Vec<Window>,
        returns: Vec<f64>,
        unit: Unit,
        settings: &PortfolioSettings,
        missing: usize,
    ) -> Result<Walk, Error> {
        let as_fraction = unit.as_fraction();
        let (mean_return, standard_deviation) = moments(&returns);
        let risk_free = settings.risk_free.unwrap_or(0.0);
        let later = &windows[1..];
        let turnover: f64 = later.iter().map(|window| window.turnover).sum();
        Ok(Walk {
            unit,
            mean_return,
            standard_deviation,
            risk: realised_risk(settings, &returns)?,
            sharpe_ratio: (mean_return - risk_free) / standard_deviation,
            total_return: compound(&returns, as_fraction),
            largest_drawdown: drawdown(&returns, as_fraction),
            mean_turnover: turnover / later.len().max(1) as f64,
            cost: windows.iter().map(|window| window.cost).sum(),
            kept: windows.iter().filter(|window| window.weights == Held::Kept).count(),
            missing,
            annual: settings
                .annualize
                .map(|periods| Annual::new(periods, mean_return, risk_free, standard_deviation)),
            windows,
            returns,
        })
    }
}

/// The weights of a universe, from where they are now, with the gap that is proven.
fn fit(
    mut task: PortfolioTask,
    universe: &[usize],
    held: &[f64],
    solver: &Solver,
    interrupt: Option<&AtomicBool>,
) -> Result<(Vec<f64>, Option<f64>), Error> {
    task.search(solver, interrupt)?;
    let mut solver = solver.clone();
    let held = || universe.iter().map(|&l| held[l]).collect();
    let start = task.start().unwrap_or_else(held);
    let limit = solver.stop.max_seconds;
    solver.start = task.leap(Some(start), limit, interrupt).map(Start::Given);
    let solution = task.run(&solver, Watch { observer: &mut (), interrupt })?.solution;
    if !solution.status.is_solved() {
        return Err(SearchError::Unsolved(solution.status).into());
    }
    Ok((solution.theta, solution.certificate.gap))
}

/// The unit of returns.
pub(super) fn resolved(unit: Unit, d: usize, values: &RowData) -> Unit {
    if unit != Unit::Auto {
        return unit;
    }
    let (mut means, mut counts, mut sums) = (vec![0.0; d], vec![0_u64; d], vec![0.0; d]);
    let each = |visit: &mut dyn FnMut(usize, f64)| {
        values.each_row(d, |_, row| {
            let known = row.iter().enumerate().filter(|(_, x)| x.is_finite());
            known.for_each(|(l, x)| visit(l, *x));
        });
    };
    each(&mut |l, x| {
        means[l] += x;
        counts[l] += 1;
    });
    for (mean, count) in means.iter_mut().zip(&counts) {
        *mean /= (*count).max(1) as f64;
    }
    each(&mut |l, x| sums[l] += (x - means[l]).abs());
    let (sum, count) = (sums.iter().sum::<f64>(), counts.iter().sum::<u64>());
    if sum >= PERCENT * count as f64 { Unit::Percent } else { Unit::Fraction }
}

/// Mean and standard deviation.
fn moments(returns: &[f64]) -> (f64, f64) {
    let n = returns.len().max(1) as f64;
    let mean = returns.iter().sum::<f64>() / n;
    let square = returns.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
    (mean, square.sqrt())
}

/// Of all periods together.
fn compound(returns: &[f64], as_fraction: f64) -> f64 {
    let growth: f64 = returns.iter().map(|x| 1.0 + as_fraction * x).product();
    (growth - 1.0) / as_fraction
}

/// The largest fall from a height, as a part of it.
fn drawdown(returns: &[f64], as_fraction: f64) -> f64 {
    let (mut value, mut height, mut most) = (1.0_f64, 1.0_f64, 0.0_f64);
    for x in returns {
        value *= 1.0 + as_fraction * x;
        height = height.max(value);
        most = most.max(1.0 - value / height);
    }
    most / as_fraction
}

/// The measure of risk of the returns of one portfolio.
fn realised_risk(settings: &PortfolioSettings, returns: &[f64]) -> Result<f64, Error> {
    let mut alone = PortfolioSettings { aim: Aim::Utility, max_risk: None, ..*settings };
    alone.constraint = crate::penalty::Constraint::LongOnly;
    if alone.risk != Risk::Huber {
        alone.huber_width = None;
    }
    let task = PortfolioTask::new(vec![String::new()], returns.to_vec(), &alone)?;
    task.risk_of(&[1.0])
}

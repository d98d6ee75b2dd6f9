//! Objectives that are searched for: the largest return, with or without a largest risk, and the
//! largest ratio of return to risk. Both are met by `-return + C risk + g` at one weight C, which
//! is found by runs from where others ended; the answer is that of an ordinary run at C, and
//! `search/bound.rs` says what is proven about what was asked.
//!
//! Write r(C) for the return less costs and norms at the minimum, and rho(C) for its risk: both
//! fall as C grows.
//!
//! - *A largest risk R*: `rho(C) = R`. Where rho is a mean of squares, `rho = a + b / C^2` as long
//!   as the same weights are at their bounds, so that a secant in `1 / C^2` ends there. Where rho
//!   has kinks, rho(C) jumps: the next C is the slope between the portfolios on both sides of R,
//!   and the answer lies between two that are equally good at C. So it does where rounding leaves a
//!   step between the sides.
//! - *The largest ratio `(r - f) / rho`*: Dinkelbach, "On Nonlinear Fractional Programming", 1967:
//!   C is the ratio of the portfolio before.
//! - *The largest ratio `(r - f) / sqrt(rho)`*, rho a mean of squares: a portfolio has it where the
//!   tangent of the frontier goes through f, `r - f = 2 C rho`; the difference falls in C, and is a
//!   line as long as the same weights are at their bounds.

use std::sync::atomic::AtomicBool;

use innermean::Inner;

use self::probe::find_zero;
pub(super) use self::probe::{Probe, Prober};
pub use self::refusal::SearchError;
use super::risk::mean_absolute_deviation;
use super::{Aim, PortfolioTask, Risk, RiskBudgetError};
use crate::error::Error;
use crate::penalty::Constraint;
use crate::run::{Solver, Start, Task, Watch};

mod bound;
mod line;
mod path;
mod probe;
mod refusal;
mod settle;

/// Weights beyond the usual one by this factor make no difference that can be seen.
const FARTHEST: f64 = 1e13;
/// Of the usual deviation of returns: less is no risk, to the accuracy of a run.
const RISKLESS: f64 = 3e-5;
/// Steps between weights while both sides of an answer are looked for.
const STRIDE: f64 = 8.0;
/// Times the weight of the largest ratio, where a lower bound on all risks is looked for.
const CAUTION: [f64; 3] = [4.0, 30.0, 1000.0];
/// Of the size of what is compared.
const CLOSE: f64 = 1e-12;
/// Steps of a search that gets nearer by slopes.
const MOST_SLOPES: usize = 100;

/// What a search has found.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// Where its best run ended, or between two such places: they are equally good, and the answer
    /// of a run would be one of them.
    pub(super) theta: Vec<f64>,
    /// Proven at the weight that was found: the objective is nowhere below it.
    lower: f64,
    /// `rho_low` of `search/bound.rs`.
    least_risk: f64,
    /// No return is above it.
    largest: f64,
    /// How many weights were tried.
    tried: usize,
}

impl PortfolioTask {
    /// Whether the aim asks for a search.
    pub fn is_searched(&self) -> bool {
        matches!(self.settings.aim, Aim::MaxReturn | Aim::MaxSharpe)
    }

    /// What can be found out about the aim without a run.
    pub(super) fn check_aim(&self) -> Result<(), Error> {
        let settings = &self.settings;
        if let Some(most) = settings.max_risk
            && settings.aim != Aim::MaxReturn
        {
            return Err(Error::Idle {
                parameter: "max_risk",
                value: most.to_string(),
                chosen: format!("objective={}", settings.aim),
                needed: "objective=max-return".to_owned(),
            });
        }
        if self.is_searched() && self.limits.risk_budget.is_some() {
            return Err(RiskBudgetError::Beside(format!("objective={}", settings.aim)).into());
        }
        if settings.aim != Aim::MaxSharpe {
            return Ok(());
        }
        if !self.has_budget() {
            return Err(SearchError::NoBudget.into());
        }
        let beside = match settings.risk {
            Risk::Entropic | Risk::Kelly => Some(format!("risk={}", settings.risk)),
            _ => self.benchmark.as_ref().map(|name| format!("benchmark={name}")),
        };
        beside.map_or(Ok(()), |beside| Err(SearchError::NoRatio(beside).into()))
    }

    /// Whether all weights add up to 1.
    pub(super) fn has_budget(&self) -> bool {
        matches!(self.settings.constraint, Constraint::LongOnly | Constraint::SumToOne { .. })
    }

    /// Another weight of risk.
    pub(super) fn weigh(&mut self, weight: f64) -> Result<(), Error> {
        self.settings.risk_aversion = weight;
        self.merit = self.measure.merit(weight, &self.portfolio, self.base)?;
        if self.settings.risk.has_threshold() {
            self.regularizer = self.allowed.tilted(&self.settings, true, &self.portfolio)?;
        }
        Ok(())
    }

    /// The same task on a market of few periods with the same means and covariances, where nothing
    /// else counts.
    pub(super) fn condensed(&self) -> Option<PortfolioTask> {
        if self.settings.risk != Risk::Variance {
            return None;
        }
        let portfolio = self.portfolio.condensed()?;
        let mut task = PortfolioTask {
            settings: self.settings,
            limits: self.limits.clone(),
            current: self.current.clone(),
            names: self.names.clone(),
            benchmark: None,
            left_out: Vec::new(),
            are_moments: self.are_moments,
            read: self.read,
            measure: self.measure,
            inner: None,
            merit: self.measure.merit(self.settings.risk_aversion, &portfolio, 0.0).ok()?,
            allowed: self.allowed.clone(),
            regularizer: self.regularizer.clone(),
            portfolio,
            base: 0.0,
            found: None,
        };
        // Means that differ by rounding.
        task.regularizer = task.allowed.tilted(&task.settings, true, &task.portfolio).ok()?;
        Some(task)
    }

    /// The minimum, where one step from the start leads to it, found without a proof of how far the
    /// start is from it, which would cost more: a run that begins there proves it and ends. The
    /// start, where the risk is not quadratic.
    pub(super) fn leap(
        &self,
        start: Option<Vec<f64>>,
        max_seconds: Option<f64>,
        interrupt: Option<&AtomicBool>,
    ) -> Option<Vec<f64>> {
        if self.settings.risk != Risk::Variance {
            return start;
        }
        let mut once = Solver::default();
        "direct".clone_into(&mut once.method);
        (once.stop.tolerance, once.stop.max_outer) = (None, Some(1));
        once.stop.max_seconds = max_seconds;
        once.start = start.clone().map(Start::Given);
        let found = self.run(&once, Watch { observer: &mut (), interrupt });
        let theta = found.ok().map(|ran| ran.solution.theta);
        theta.filter(|theta| theta.iter().all(|x| x.is_finite())).or(start)
    }

    /// Finds the weight of risk that meets the aim, where it asks for one; a run of the task is
    /// then the answer. The interrupt, if there is one, ends the search where it is.
    ///
    /// # Errors
    /// If there is no such weight: with the reason.
    pub fn search(&mut self, solver: &Solver, interrupt: Option<&AtomicBool>) -> Result<(), Error> {
        if !self.is_searched() {
            return Ok(());
        }
        self.found = None;
        let periods = self.portfolio.n_x();
        let mut condensed = self.condensed();
        let is_small = condensed.is_some();
        let task = condensed.as_mut().unwrap_or(self);
        let mut prober = Prober::new(task, is_small.then_some(periods), solver, interrupt);
        let largest = prober.task.largest_return();
        let risk_free = prober.task.settings.risk_free.unwrap_or(0.0);
        let (weight, theta) = match prober.task.settings.aim {
            Aim::MaxSharpe => {
                let best = best_ratio(&mut prober, largest, risk_free)?;
                // What bounds the risk from below: the more it weighs the better.
                for more in CAUTION {
                    prober.at(more * best.weight)?;
                }
                (best.weight, best.theta)
            }
            _ => best_return(&mut prober, largest)?,
        };
        let bound = |probe: &Probe| (probe.lower + risk_free) / probe.weight;
        // Of a condensed market, whose risks differ by rounding.
        let least_risk = 0.999 * prober.probes.iter().map(bound).fold(0.0, f64::max);
        let tried = prober.probes.len();
        let of_weight = prober.probes.iter().filter(|probe| probe.weight == weight && !is_small);
        let lower = of_weight.map(Probe::lower_everywhere).fold(f64::NEG_INFINITY, f64::max);
        self.weigh(weight)?;
        // Of the market itself: the means of a condensed one differ by rounding.
        let largest = if is_small { self.largest_return() } else { largest };
        self.found = Some(Found { theta, lower, least_risk, largest, tried });
        Ok(())
    }
}

/// The portfolio of the largest return, among those the one of least risk: at a weight so small
/// that nothing of the return is lost that can be seen.
pub(super) fn richest(prober: &mut Prober<'_>, largest: f64) -> Result<Probe, Error> {
    let usual = prober.usual_weight();
    let mean = prober.task.portfolio().mean_returns();
    let size = mean.iter().fold(largest.abs(), |most, m| most.max(m.abs()));
    let mut weight = 1e-4 * usual;
    loop {
        let probe = prober.at(weight)?.clone();
        let lost = largest - probe.net;
        if lost <= 1e-10 * size || weight <= usual / FARTHEST || prober.is_interrupted() {
            return Ok(probe);
        }
        weight *= 1e-3;
    }
}

/// The weight of risk and the weights of the assets.
fn best_return(prober: &mut Prober<'_>, largest: f64) -> Result<(f64, Vec<f64>), Error> {
    let measure = prober.task.settings().risk;
    let (Some(given), Some(most)) = (prober.task.settings().max_risk, prober.task.most_risk())
    else {
        if largest.is_infinite() {
            return Err(SearchError::EndlessReturn { parameter: "objective=max-return" }.into());
        }
        let best = richest(prober, largest)?;
        return Ok((best.weight, best.theta));
    };
    if largest.is_finite() {
        let best = richest(prober, largest)?;
        if best.risk <= most * (1.0 + CLOSE) {
            return Ok((best.weight, best.theta));
        }
    }
    // Both sides: little risk at a large weight, much at a small one.
    let usual = prober.usual_weight();
    let mut weight = usual;
    let mut safe = prober.at(weight)?.clone();
    while safe.risk > most && !prober.is_interrupted() {
        weight *= STRIDE;
        if weight > usual * FARTHEST {
            let least = measure.in_units(safe.risk);
            // The least risk is allowed, but for rounding.
            if safe.risk <= most * (1.0 + 1e-9) {
                return Ok((safe.weight, safe.theta));
            }
            return Err(SearchError::TooLittleRisk { given, least }.into());
        }
        safe = prober.at(weight)?.clone();
    }
    if safe.risk > most {
        return Err(SearchError::Unsolved(prober.why_ended()).into());
    }
    let bold = prober.probes.iter().rev().find(|probe| probe.risk > most).cloned();
    let mut bold = bold.map_or_else(|| prober.at(usual / STRIDE).cloned(), Ok)?;
    while bold.risk <= most && bold.weight > usual / FARTHEST && !prober.is_interrupted() {
        safe = bold;
        bold = prober.at(safe.weight / STRIDE)?.clone();
    }
    if bold.risk <= most {
        return Ok((bold.weight, bold.theta));
    }
    if measure.is_square() {
        let place = |weight: f64| 1.0 / (weight * weight);
        let ends = [&safe, &bold].map(|probe| (place(probe.weight), probe.risk - most));
        find_zero(ends, CLOSE * most, |place| {
            Ok(if prober.is_interrupted() {
                f64::NAN
            } else {
                prober.at(1.0 / place.sqrt())?.risk - most
            })
        })?;
        let is_allowed = |probe: &&Probe| probe.risk <= most * (1.0 + 2.0 * CLOSE);
        let allowed = prober.probes.iter().filter(is_allowed);
        // The first side was one.
        safe = allowed.max_by(|a, b| a.net.total_cmp(&b.net)).expect("one is allowed").clone();
        if safe.risk >= most * (1.0 - CLOSE) {
            return Ok((safe.weight, safe.theta));
        }
        // Rounding has ended the steps before.
        let others = prober.probes.iter().filter(|probe| !is_allowed(probe));
        bold = others.min_by(|a, b| a.risk.total_cmp(&b.risk)).cloned().unwrap_or(bold);
        return between(prober, most, &safe, &bold);
    }
    by_slopes(prober, most, safe, bold)
}

/// A largest risk where the risk has kinks: `safe` has less and `bold` has more. At the slope
/// between them both are as good as each other; if nothing is better there, what lies between them
/// is the answer, and otherwise one of them gives way.
fn by_slopes(
    prober: &mut Prober<'_>,
    most: f64,
    mut safe: Probe,
    mut bold: Probe,
) -> Result<(f64, Vec<f64>), Error> {
    for _ in 0..MOST_SLOPES {
        let weight = (bold.net - safe.net) / (bold.risk - safe.risk);
        if !(weight > 0.0 && weight.is_finite()) || prober.is_interrupted() {
            break;
        }
        let next = prober.at(weight)?.clone();
        let of = |probe: &Probe| weight * probe.risk - probe.net;
        let size = weight * next.risk.abs() + next.net.abs();
        let gained = of(&safe) - of(&next);
        if next.risk <= most {
            safe = next;
        } else {
            bold = next;
        }
        if gained <= 1e-11 * size {
            break;
        }
    }
    between(prober, most, &safe, &bold)
}

/// The weight whose run proves most, as no return is above `C R - L`, and what has the risk R of the
/// portfolios between two of which one has less and one has more.
fn between(
    prober: &Prober<'_>,
    most: f64,
    safe: &Probe,
    bold: &Probe,
) -> Result<(f64, Vec<f64>), Error> {
    let bound = |probe: &Probe| probe.weight * most - probe.lower_everywhere();
    let known = prober.probes.iter().filter(|probe| bound(probe).is_finite());
    let proves = known.min_by(|a, b| bound(a).total_cmp(&bound(b)));
    let weight = proves.map_or(safe.weight, |probe| probe.weight);
    let between = |share: f64| -> Vec<f64> {
        safe.theta.iter().zip(&bold.theta).map(|(a, b)| a + share * (b - a)).collect()
    };
    // From `safe` on, by the part of the way that is left: above 0, as places are.
    let ends = [(1.0, bold.risk - most), (2.0, safe.risk - most)];
    let mut share = 0.0;
    let mut best = safe.risk;
    find_zero(ends, 1e-13 * most, |place| {
        let tried = 2.0 - place;
        let risk = prober.task.risk_of(&between(tried))?;
        if risk <= most * (1.0 + CLOSE) && risk >= best {
            (share, best) = (tried, risk);
        }
        Ok(risk - most)
    })?;
    Ok((weight, between(share)))
}

/// The portfolio of the largest ratio.
fn best_ratio(prober: &mut Prober<'_>, largest: f64, risk_free: f64) -> Result<Probe, Error> {
    let mean = prober.task.portfolio().mean_returns();
    let size = mean.iter().fold(risk_free.abs(), |most, m| most.max(m.abs()));
    if largest - risk_free <= CLOSE * size {
        return Err(SearchError::NoExcess { largest, risk_free }.into());
    }
    let is_square = prober.task.settings().risk.is_square();
    let degree = if is_square { 2.0 } else { 1.0 };
    let usual = prober.usual_weight();
    // `r - f - degree C rho` is above 0 at weights that are too small.
    let off = |probe: &Probe| probe.net - risk_free - degree * probe.weight * probe.risk;
    let mut low =
        if largest.is_finite() { richest(prober, largest)? } else { prober.at(usual)?.clone() };
    while off(&low) <= 0.0 && !prober.is_interrupted() {
        if low.weight <= usual / FARTHEST {
            return Err(SearchError::EndlessRatio { risk_free }.into());
        }
        low = prober.at(low.weight / STRIDE)?.clone();
    }
    // A better weight than that: between it and the best.
    let next = |probe: &Probe| (probe.net - risk_free) / (degree * probe.risk);
    let highest = usual * FARTHEST;
    let measure = prober.task.settings().risk;
    let least = RISKLESS * mean_absolute_deviation(prober.task.portfolio());
    let is_riskless = |probe: &Probe| measure.in_units(probe.risk) <= least;
    if !is_square {
        loop {
            let weight = next(&low);
            if is_riskless(&low) || weight.is_nan() || weight > highest {
                return Err(SearchError::NoRisk { risk_free }.into());
            }
            if weight <= low.weight * (1.0 + CLOSE) || prober.is_interrupted() {
                return Ok(low);
            }
            let found = prober.at(weight)?.clone();
            let is_nearer = next(&found) > weight;
            low = found;
            if !is_nearer {
                return Ok(low);
            }
        }
    }
    let mut high = low.clone();
    while off(&high) > 0.0 && !prober.is_interrupted() {
        let weight = next(&high).max(STRIDE * high.weight);
        low = high;
        if weight.is_nan() || weight > highest {
            return Err(SearchError::NoRisk { risk_free }.into());
        }
        high = prober.at(weight)?.clone();
    }
    let ends = [(low.weight, off(&low)), (high.weight, off(&high))];
    find_zero(ends, CLOSE * size.min(largest - risk_free), |weight| {
        Ok(if prober.is_interrupted() { f64::NAN } else { off(prober.at(weight)?) })
    })?;
    let ratio = |probe: &&Probe| (probe.net - risk_free) / probe.risk.sqrt();
    let best = prober.probes.iter().max_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let best = best.expect("there have been runs").clone();
    if is_riskless(&best) {
        return Err(SearchError::NoRisk { risk_free }.into());
    }
    // The tangent of the best: nearer than the last weight by rounding.
    Ok(Probe { weight: next(&best), ..best })
}

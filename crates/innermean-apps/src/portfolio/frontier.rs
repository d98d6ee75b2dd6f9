//! The efficient frontier: portfolios from the least risk to the largest return.
//!
//! Every point is the minimum of `-return + C risk + g` at a weight C of its own, with the
//! certificate of that run. Between two neighbours the next weight is the slope of the line through
//! them: there both are equally good, and the minimum is the point of the frontier that is farthest
//! from the line. It is placed between the neighbours that are farthest apart, so that points are
//! dense everywhere (Ruzika and Wiecek, "Approximation Methods in Multiobjective Programming",
//! 2005, section 3, has the scheme). For the variance, as long as the same weights are at their
//! bounds, its return is halfway between theirs.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use innermean::{Certificate, Inner, Status};
use serde::Serialize;

use super::search::{Probe, Prober, SearchError, richest};
use super::{PortfolioTask, Risk, RiskBudgetError};
use crate::error::Error;
use crate::run::{Solver, Task};

/// Times the usual weight: the least risk, but for what cannot be seen.
const CAUTIOUS: f64 = 1e5;
/// Where the weights are not bounded the frontier ends at this many times the least risk.
const LONGEST: f64 = 3.0;
/// Of the objective's terms: a gain that is more than rounding.
const VISIBLE: f64 = 1e-11;

/// A portfolio of the frontier.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FrontierPoint {
    /// C: the weight of risk at which it is the best.
    pub risk_aversion: f64,
    /// In a period.
    pub expected_return: f64,
    /// The measure of risk, with weight 1.
    pub risk: f64,
    /// Where the risk is the variance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_deviation: Option<f64>,
    /// Proven: at this risk, no portfolio earns more than so much more.
    pub gap: Option<f64>,
    /// If that holds for no more: among all weights up to this many times as large.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
    /// How its run ended.
    pub status: Status,
    /// The weights.
    pub theta: Vec<f64>,
}

/// Portfolios by growing risk.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Frontier {
    /// The measure of risk.
    pub risk_measure: Risk,
    /// Whether it ends at three times the least risk, because nothing bounds the weights.
    pub is_open: bool,
    /// From the least risk on.
    pub points: Vec<FrontierPoint>,
    /// How many problems were solved for it.
    pub solved: usize,
    /// How long that took.
    pub seconds: f64,
}

impl PortfolioTask {
    /// So many portfolios from the least risk to the largest return.
    ///
    /// # Errors
    /// If there are fewer than two, or the weights have neither bounds nor a least risk.
    pub fn frontier(
        &mut self,
        points: usize,
        solver: &Solver,
        interrupt: Option<&AtomicBool>,
    ) -> Result<Frontier, Error> {
        if points < 2 {
            return Err(SearchError::FewPoints(points).into());
        }
        if self.limits.risk_budget.is_some() {
            return Err(RiskBudgetError::Beside("frontier".to_owned()).into());
        }
        let (weight, given) = (self.settings.risk_aversion, self.regularizer.clone());
        let found = self.found.take();
        self.regularizer = self.allowed.tilted(&self.settings, true, &self.portfolio)?;
        let traced = self.traced(points, solver, interrupt);
        self.found = found;
        self.weigh(weight)?;
        self.regularizer = given;
        traced
    }

    fn traced(
        &mut self,
        points: usize,
        solver: &Solver,
        interrupt: Option<&AtomicBool>,
    ) -> Result<Frontier, Error> {
        let begun = Instant::now();
        let measure = self.settings.risk;
        let periods = self.portfolio.n_x();
        let mut condensed = self.condensed();
        let is_small = condensed.is_some();
        let task = condensed.as_mut().unwrap_or(self);
        let mut prober = Prober::new(task, is_small.then_some(periods), solver, interrupt);
        let largest = prober.task.largest_return();
        let usual = prober.usual_weight();
        let least = prober.at(CAUTIOUS * usual)?.clone();
        let is_open = largest.is_infinite();
        let most = if is_open {
            let goal = LONGEST * measure.in_units(least.risk);
            let mut bold = prober.at(usual)?.clone();
            while measure.in_units(bold.risk) < goal && bold.weight > 1e-13 * usual {
                bold = prober.at(bold.weight / 2.0)?.clone();
            }
            if measure.in_units(bold.risk) >= 1e3 * measure.in_units(least.risk) {
                return Err(SearchError::EndlessReturn { parameter: "frontier" }.into());
            }
            bold
        } else {
            richest(&mut prober, largest)?
        };
        let kept = fill(&mut prober, points, &[least, most])?;
        let mean = prober.task.portfolio();
        let point = |probe: Probe| {
            let Certificate { gap, within, .. } = probe.certificate;
            FrontierPoint {
                risk_aversion: probe.weight,
                expected_return: mean.expected_return(&probe.theta),
                risk: probe.risk,
                standard_deviation: (measure == Risk::Variance).then(|| probe.risk.sqrt()),
                gap,
                within,
                status: probe.status,
                theta: probe.theta,
            }
        };
        let solved = prober.probes.len();
        let points = kept.into_iter().map(point).collect();
        let seconds = begun.elapsed().as_secs_f64();
        Ok(Frontier { risk_measure: measure, is_open, points, solved, seconds })
    }
}

/// Points between two ends, placed where neighbours are farthest apart.
fn fill(prober: &mut Prober<'_>, points: usize, ends: &[Probe; 2]) -> Result<Vec<Probe>, Error> {
    let measure = prober.task.settings().risk;
    let in_units = |probe: &Probe| measure.in_units(probe.risk);
    let [least, most] = ends;
    let reach = |a: f64, b: f64| if b > a { b - a } else { 1.0 };
    let (wide, high) = (reach(in_units(least), in_units(most)), reach(least.net, most.net));
    let apart =
        |a: &Probe, b: &Probe| ((in_units(b) - in_units(a)) / wide).hypot((b.net - a.net) / high);
    let mut kept: Vec<Probe> = ends.to_vec();
    while kept.len() < points && !prober.is_interrupted() {
        let gaps = kept.windows(2).map(|pair| apart(&pair[0], &pair[1]));
        let widest = gaps.enumerate().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        let Some((k, gap)) = widest else { break };
        let (low, high) = (kept[k].clone(), kept[k + 1].clone());
        let weight = (high.net - low.net) / (high.risk - low.risk);
        if gap <= 1e-9 || !(weight > 0.0 && weight.is_finite()) {
            // All of it is one point.
            break;
        }
        let next = prober.at(weight)?.clone();
        let of = |probe: &Probe| weight * probe.risk - probe.net;
        let size = weight * next.risk.abs() + next.net.abs();
        // Where all of a straight piece is as good, a run may end anywhere on it.
        let is_between = apart(&low, &next).min(apart(&next, &high)) > 0.05 * gap
            && (low.risk..high.risk).contains(&next.risk);
        let next = if is_between || of(&low) - of(&next) > VISIBLE * size {
            next
        } else {
            // A straight piece, all of which is as good: its middle.
            between(prober, weight, [&low, &high], &next)?
        };
        kept.insert(k + 1, next);
    }
    Ok(kept)
}

/// The middle of two portfolios, which is as good at this weight as the answer of a run there, but
/// for what its own gap says.
fn between(
    prober: &mut Prober<'_>,
    weight: f64,
    [low, high]: [&Probe; 2],
    run: &Probe,
) -> Result<Probe, Error> {
    let theta: Vec<f64> =
        low.theta.iter().zip(&high.theta).map(|(a, b)| f64::midpoint(*a, *b)).collect();
    prober.task.weigh(weight)?;
    let objective = prober.task.problem().objective(&prober.task.scaled(theta.clone()));
    if !objective.is_finite() {
        return Ok(run.clone());
    }
    let risk = prober.task.risk_of(&theta)?;
    let mut certificate = run.certificate;
    certificate.gap = certificate.gap.map(|gap| {
        let own = weight * run.risk - run.net;
        (objective - own).max(0.0) + gap + 4.0 * f64::EPSILON * objective.abs()
    });
    let net = weight * risk - objective;
    Ok(Probe { weight, theta, net, risk, certificate, ..run.clone() })
}

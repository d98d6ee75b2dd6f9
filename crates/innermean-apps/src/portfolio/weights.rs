//! g: what is asked of the weights, and of a threshold behind them.

use std::sync::Arc;

use innermean::regularizer::Coordinate;
use innermean::{Constraints, FreeTail, Polyhedral, Portfolio, Regularizer, Tilted};

use super::{Limits, PortfolioSettings, Risk};
use crate::error::Error;
use crate::penalty::Constraint;

/// What is asked of the weights.
#[derive(Clone)]
pub(super) struct Allowed {
    /// Of the weights alone.
    pub(super) weights: Arc<dyn Regularizer>,
    /// With the threshold of a risk that has one, which is free.
    with_threshold: Arc<dyn Regularizer>,
    /// Whether a budget of risk determines them, and no return counts.
    by_risk: bool,
}

impl Allowed {
    /// # Errors
    /// If settings or limits are out of their range, or no weights meet them.
    pub(super) fn new(
        settings: &PortfolioSettings,
        limits: &Limits,
        names: &[String],
        portfolio: &Portfolio,
    ) -> Result<Self, Error> {
        let by_risk = limits.risk_budget.is_some();
        let same =
            |g: Arc<dyn Regularizer>| Allowed { weights: g.clone(), with_threshold: g, by_risk };
        if let Some(budget) = &limits.risk_budget {
            return Ok(same(Arc::new(budget.regularizer(names, settings, limits, portfolio)?)));
        }
        let (bounds, mean) = (settings.bounds(), portfolio.mean_returns());
        let weights: Arc<dyn Regularizer> = if limits.is_empty() {
            Arc::new(bounds.regularizer(names.len())?)
        } else {
            Arc::new(limits.regularizer(names, mean, &bounds)?)
        };
        if !settings.risk.has_threshold() {
            return Ok(same(weights));
        }
        // The method of multipliers takes a budget that leaves out the threshold, three times as
        // fast as constraints; Newton's method does not.
        let has_budget =
            matches!(settings.constraint, Constraint::LongOnly | Constraint::SumToOne { .. });
        let by_parts = limits.is_empty() && !(has_budget && settings.risk == Risk::Entropic);
        let with_threshold: Arc<dyn Regularizer> = if by_parts {
            Arc::new(FreeTail::new(bounds.regularizer(names.len())?, names.len()))
        } else {
            Arc::new(with_threshold(&limits.regularizer(names, mean, &bounds)?)?)
        };
        Ok(Allowed { weights, with_threshold, by_risk })
    }

    /// g: with the expected return where it `earns`, and with the threshold of a risk that has one.
    ///
    /// # Errors
    /// If a number is not finite.
    pub(super) fn tilted(
        &self,
        settings: &PortfolioSettings,
        earns: bool,
        portfolio: &Portfolio,
    ) -> Result<Arc<dyn Regularizer>, Error> {
        if self.by_risk {
            return Ok(self.weights.clone());
        }
        let mean = portfolio.mean_returns();
        let mut tilt: Vec<f64> = mean.iter().map(|m| if earns { -m } else { 0.0 }).collect();
        tilt.extend(settings.risk.has_threshold().then_some(settings.risk_aversion));
        Ok(Arc::new(Tilted::new(self.with_threshold.clone(), tilt)?))
    }
}

/// The same limits with a free coordinate at the end.
fn with_threshold(g: &Polyhedral) -> Result<Polyhedral, Error> {
    let mut parts = g.parts().to_vec();
    parts.push(Coordinate::FREE);
    let mut constraints = g.constraints().map_or_else(Constraints::default, |all| (**all).clone());
    for row in &mut constraints.rows {
        row.coefficients.push(0.0);
    }
    for norm in &mut constraints.norms {
        norm.weights.push(0.0);
        norm.center.push(0.0);
    }
    Ok(Polyhedral::new(parts, constraints)?)
}

/// The point, or the one next to it that g allows.
pub(super) fn nearest(g: &dyn Regularizer, mut point: Vec<f64>) -> Vec<f64> {
    if !g.value(&point).is_finite() {
        g.prox(f64::MIN_POSITIVE, &mut point);
    }
    point
}

//! g: what is asked of the weights, and of a threshold behind them.

use std::sync::Arc;

use innermean::regularizer::Coordinate;
use innermean::{
    Constraints, FreeTail, Inner, Polyhedral, Portfolio, Regularizer, Separable, Tilted,
};

use super::{Limits, PortfolioSettings, Risk};
use crate::error::Error;
use crate::penalty::Constraint;

/// What is asked of the weights.
#[derive(Clone)]
pub(super) struct Allowed {
    /// Of the weights alone.
    pub(super) weights: Arc<dyn Regularizer>,
    /// With the threshold of a risk that has one.
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
        // The best threshold is one of the losses, and so is what it counts from, but for rounding.
        // Duals at the corners of their domain, which cannot be moved to balance a free coordinate,
        // prove something within these bounds; those of the entropic risk are at none.
        let threshold = if settings.risk == Risk::Cvar {
            let most = 3.0 * largest_loss(portfolio, &*weights, has_budget, limits.gross);
            Coordinate { lo: -most, hi: most, ..Coordinate::FREE }
        } else {
            Coordinate::FREE
        };
        let parts: Option<Vec<Coordinate>> =
            (0..names.len()).map(|l| weights.coordinate(l)).chain([Some(threshold)]).collect();
        let with_threshold: Arc<dyn Regularizer> = match parts {
            Some(parts) => Arc::new(Separable::new(parts)?),
            None if limits.is_empty() && settings.risk != Risk::Entropic => {
                Arc::new(FreeTail::new(bounds.regularizer(names.len())?, names.len()))
            }
            None => {
                let weights = limits.regularizer(names, mean, &bounds)?;
                Arc::new(with_threshold(&weights, threshold)?)
            }
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

/// No loss of a period is above it, and none below minus it.
fn largest_loss(
    portfolio: &Portfolio,
    weights: &dyn Regularizer,
    has_budget: bool,
    gross: Option<f64>,
) -> f64 {
    let mut sizes = vec![0.0_f64; portfolio.d()];
    portfolio.returns().each_row(sizes.len(), |_, row| {
        sizes.iter_mut().zip(row).for_each(|(size, x)| *size = size.max(x.abs()));
    });
    let benchmark = portfolio.benchmark().into_iter().flatten();
    let most = reach(weights, &sizes, has_budget, gross);
    (1.0 + f64::EPSILON * sizes.len() as f64) * most
        + benchmark.fold(0.0, |most: f64, z| most.max(z.abs()))
}

/// A bound on `sum_l sizes_l |theta_l|` over all theta that are allowed.
pub(super) fn reach(
    g: &dyn Regularizer,
    sizes: &[f64],
    has_budget: bool,
    gross: Option<f64>,
) -> f64 {
    let part = |l: usize| g.coordinate(l).or_else(|| g.constrained_coordinate(l));
    let ends: Option<Vec<(f64, f64)>> =
        (0..sizes.len()).map(|l| part(l).map(|part| (part.lo, part.hi))).collect();
    let largest = sizes.iter().copied().fold(0.0, f64::max);
    let Some(ends) = ends else { return f64::INFINITY };
    let by_bounds: f64 =
        sizes.iter().zip(&ends).map(|(size, (lo, hi))| size * lo.abs().max(hi.abs())).sum();
    // With a sum of 1, weights above 0 add up to 1 and what is below.
    let below: f64 = ends.iter().map(|(lo, _)| (-lo).max(0.0)).sum();
    let above: f64 = ends.iter().map(|(_, hi)| hi.max(0.0)).sum();
    let by_sum = if has_budget {
        largest * (1.0 + 2.0 * below).min((2.0 * above - 1.0).max(1.0))
    } else {
        f64::INFINITY
    };
    let by_gross = gross.map_or(f64::INFINITY, |gross| gross * largest);
    [by_bounds, by_sum, by_gross].into_iter().fold(f64::INFINITY, |least, x| {
        // 0 times infinity is no number, and no bound.
        if x < least { x } else { least }
    })
}

/// The same limits with a threshold at the end.
fn with_threshold(g: &Polyhedral, threshold: Coordinate) -> Result<Polyhedral, Error> {
    let mut parts = g.parts().to_vec();
    parts.push(threshold);
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

//! What a desk asks of the weights: limits of assets and groups, gross exposure, turnover and the
//! costs of trades, a target return.

use std::collections::{HashMap, HashSet};

use innermean::regularizer::Coordinate;
use innermean::{Constraints, LinearConstraint, Polyhedral, WeightedNorm};
use serde::Deserialize;

use super::RiskBudget;
use crate::error::Error;
use crate::penalty::{Bounds, Constraint};

mod clash;

use clash::{Given, Named};

/// Limits of one asset, and the group that it belongs to.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct AssetLimit {
    /// The asset.
    pub asset: String,
    /// The least weight.
    pub lower: Option<f64>,
    /// The largest weight.
    pub upper: Option<f64>,
    /// A group whose weights are limited together.
    pub group: Option<String>,
}

/// Limits of the sum of a group's weights.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct GroupLimit {
    /// The group.
    pub group: String,
    /// The least sum.
    pub lower: Option<f64>,
    /// The largest sum.
    pub upper: Option<f64>,
}

/// What is asked of the weights beyond a constraint by name.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Limits {
    /// Of assets; one that is not named has none of its own.
    pub assets: Vec<AssetLimit>,
    /// Of groups.
    pub groups: Vec<GroupLimit>,
    /// `sum_l |theta_l|` at most.
    pub gross: Option<f64>,
    /// The weights that are held now, by asset; 0 for one that is not named.
    pub current: Option<Vec<(String, f64)>>,
    /// `sum_l |theta_l - current_l|` at most.
    pub turnover: Option<f64>,
    /// What a trade costs, as a part of its size: `cost sum_l |theta_l - current_l|` is added to
    /// the objective.
    pub cost: Option<f64>,
    /// `<m, theta>` at least.
    pub target_return: Option<f64>,
    /// What each asset contributes to the variance; goes with nothing else.
    pub risk_budget: Option<RiskBudget>,
}

/// Why limits are refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitsError {
    /// A name that is none of the assets.
    #[error("{parameter}: no asset is called '{name}'; the assets are {}", listed(.assets))]
    Unknown {
        /// The parameter that names it, in backquotes.
        parameter: &'static str,
        /// The name.
        name: String,
        /// What there is.
        assets: Vec<String>,
    },
    /// A name that stands there twice.
    #[error("{parameter}: '{name}' is named twice; expected one row for each")]
    Repeated {
        /// The parameter that names it, in backquotes.
        parameter: &'static str,
        /// The name.
        name: String,
    },
    /// A group without assets.
    #[error("`group_limits`: no asset of `limits` belongs to the group '{0}'")]
    EmptyGroup(String),
    /// A lower limit above the upper one.
    #[error("{name}: the lower limit {lower} is above the upper one, {upper}")]
    Crossed {
        /// Of what.
        name: String,
        /// The lower limit.
        lower: f64,
        /// The upper limit.
        upper: f64,
    },
    /// Of risk budgets.
    #[error(transparent)]
    Budget(super::RiskBudgetError),
    /// A parameter that says nothing without the weights that are held.
    #[error("`{0}` is measured against the weights that are held now: add `current`")]
    NoCurrent(&'static str),
    /// Limits that no weights meet together.
    #[error("no weights meet these limits together: {}; {remedy}", listed(.limits))]
    Clash {
        /// The limits that take part.
        limits: Vec<String>,
        /// The least change that helps.
        remedy: String,
    },
}

/// `a, b and c`; the first few of many.
fn listed(names: &[String]) -> String {
    const MOST: usize = 8;
    if names.len() > MOST {
        return format!("{} and {} others", names[..MOST].join(", "), names.len() - MOST);
    }
    match names {
        [] => "none".to_owned(),
        [name] => name.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

impl Limits {
    /// Whether nothing is asked for but a risk budget.
    pub fn is_empty(&self) -> bool {
        let Limits { assets, groups, gross, turnover, cost, target_return, .. } = self;
        let numbers = [gross, turnover, cost, target_return];
        assets.is_empty() && groups.is_empty() && numbers.iter().all(|x| x.is_none())
    }

    /// The weights that are held now, in the order of the assets.
    ///
    /// # Errors
    /// If one is named that is not there, or twice.
    pub fn current_weights(&self, names: &[String]) -> Result<Option<Vec<f64>>, Error> {
        let Some(current) = &self.current else { return Ok(None) };
        let mut weights = vec![0.0; names.len()];
        let held = current.iter().map(|(name, _)| name.as_str());
        for (l, (_, weight)) in places("`current`", held, names)?.into_iter().zip(current) {
            weights[l] = *weight;
        }
        Ok(Some(weights))
    }

    /// g: these limits, a constraint by name and norms. The mean returns `mean` are for the target.
    ///
    /// # Errors
    /// If a name is unknown or a number out of its range, or no weights meet all of it.
    pub(super) fn regularizer(
        &self,
        names: &[String],
        mean: &[f64],
        bounds: &Bounds,
    ) -> Result<Polyhedral, Error> {
        let d = names.len();
        let parts = self.parts(names, bounds)?;
        let rows = self.rows(names, mean, bounds)?;
        let mut norms = Vec::new();
        let mut norm_names = Vec::new();
        if let Some(limit) = self.gross {
            let center = vec![0.0; d];
            norms.push(WeightedNorm { weights: vec![1.0; d], center, limit, price: 0.0 });
            norm_names.push(("gross", limit));
        }
        let (limit, price) = (self.turnover, self.cost.unwrap_or(0.0));
        if limit.is_some() || self.cost.is_some() {
            let asked = if limit.is_some() { "turnover" } else { "cost" };
            let center = self.current_weights(names)?.ok_or(LimitsError::NoCurrent(asked))?;
            let limit = limit.unwrap_or(f64::INFINITY);
            norms.push(WeightedNorm { weights: vec![1.0; d], center, limit, price });
            norm_names.push(("turnover", limit));
        }
        let constraints =
            Constraints { rows: rows.iter().map(|row| row.row.clone()).collect(), norms };
        let of_assets = parts.iter().map(|part| (part.lo, part.hi)).collect();
        let g = Polyhedral::new(parts, constraints)?;
        let Some(clash) = g.clash() else { return Ok(g) };
        let (limits, rows, norms) = (self, &*rows, &*norm_names);
        Err(Given { limits, bounds, names, rows, norms, of_assets }.explained(&clash).into())
    }

    /// Bounds of single weights.
    fn parts(&self, names: &[String], bounds: &Bounds) -> Result<Vec<Coordinate>, Error> {
        let (lo, hi) = match bounds.constraint {
            Constraint::None => (f64::NEG_INFINITY, f64::INFINITY),
            Constraint::LongOnly => (0.0, f64::INFINITY),
            Constraint::Box { lo, hi } | Constraint::SumToOne { lo, hi } => (lo, hi),
        };
        let part =
            Coordinate { lo, hi, l1: bounds.penalty.l1, l2: bounds.penalty.l2, ..Coordinate::FREE };
        let mut parts = vec![part; names.len()];
        let named = self.assets.iter().map(|limit| limit.asset.as_str());
        for (l, limit) in places("`limits`", named, names)?.into_iter().zip(&self.assets) {
            let part = &mut parts[l];
            part.lo = limit.lower.map_or(part.lo, |lower| lower.max(part.lo));
            part.hi = limit.upper.map_or(part.hi, |upper| upper.min(part.hi));
            crossed(&limit.asset, part.lo, part.hi)?;
        }
        Ok(parts)
    }

    /// Limits of sums.
    fn rows(&self, names: &[String], mean: &[f64], bounds: &Bounds) -> Result<Vec<Named>, Error> {
        let d = names.len();
        let mut rows = Vec::new();
        if matches!(bounds.constraint, Constraint::LongOnly | Constraint::SumToOne { .. }) {
            let row = LinearConstraint { coefficients: vec![1.0; d], lo: 1.0, hi: 1.0 };
            let name = format!("`constraint={}` (sum 1)", bounds.constraint);
            rows.push(Named { row, ends: [name.clone(), name.clone()], name });
        }
        let mut seen = HashSet::new();
        for limit in &self.groups {
            if !seen.insert(&limit.group) {
                let (parameter, name) = ("`group_limits`", limit.group.clone());
                return Err(LimitsError::Repeated { parameter, name }.into());
            }
            let of_group = |asset: &&AssetLimit| asset.group.as_ref() == Some(&limit.group);
            let members = self.assets.iter().filter(of_group).map(|asset| asset.asset.as_str());
            let members = places("`limits`", members, names)?;
            if members.is_empty() {
                return Err(LimitsError::EmptyGroup(limit.group.clone()).into());
            }
            let lo = limit.lower.unwrap_or(f64::NEG_INFINITY);
            let hi = limit.upper.unwrap_or(f64::INFINITY);
            crossed(&format!("group {}", limit.group), lo, hi)?;
            let mut coefficients = vec![0.0; d];
            for l in members {
                coefficients[l] = 1.0;
            }
            let group = &limit.group;
            let name = match (limit.lower, limit.upper) {
                (Some(lo), None) => format!("group '{group}' at least {lo}"),
                (None, Some(hi)) => format!("group '{group}' at most {hi}"),
                _ => format!("group '{group}' between {lo} and {hi}"),
            };
            let ends = ["lower", "upper"].map(|end| format!("the {end} limit of group '{group}'"));
            rows.push(Named { row: LinearConstraint { coefficients, lo, hi }, name, ends });
        }
        if let Some(target) = self.target_return {
            let row =
                LinearConstraint { coefficients: mean.to_vec(), lo: target, hi: f64::INFINITY };
            let name = format!("`target_return={target}`");
            rows.push(Named { row, ends: [name.clone(), name.clone()], name });
        }
        Ok(rows)
    }

    /// What they add to the objective in words, each with a comma before it.
    pub(super) fn words(&self) -> String {
        let mut words = String::new();
        if self.assets.iter().any(|limit| limit.lower.is_some() || limit.upper.is_some()) {
            words += ", limits of assets";
        }
        if !self.groups.is_empty() {
            words += ", limits of groups";
        }
        let mut add = |what: &str, number: Option<f64>| {
            if let Some(number) = number {
                words.extend([", ", what, " ", &number.to_string()]);
            }
        };
        add("sum |theta| <=", self.gross);
        add("sum |theta - current| <=", self.turnover);
        add("return >=", self.target_return);
        words
    }
}

/// Where the named assets stand.
pub(super) fn places<'n>(
    parameter: &'static str,
    named: impl Iterator<Item = &'n str>,
    assets: &[String],
) -> Result<Vec<usize>, Error> {
    let known: HashMap<&str, usize> =
        assets.iter().enumerate().map(|(l, name)| (name.as_str(), l)).collect();
    let mut seen = vec![false; assets.len()];
    let mut found = Vec::new();
    for name in named {
        let Some(&l) = known.get(name) else {
            let (name, assets) = (name.to_owned(), assets.to_vec());
            return Err(LimitsError::Unknown { parameter, name, assets }.into());
        };
        if std::mem::replace(&mut seen[l], true) {
            return Err(LimitsError::Repeated { parameter, name: name.to_owned() }.into());
        }
        found.push(l);
    }
    Ok(found)
}

fn crossed(name: &str, lower: f64, upper: f64) -> Result<(), Error> {
    if lower <= upper {
        return Ok(());
    }
    Err(LimitsError::Crossed { name: name.to_owned(), lower, upper }.into())
}

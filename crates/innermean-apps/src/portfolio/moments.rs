//! A mean and a covariance instead of returns: `Sigma = sum_i L_i L_i'` makes 2k periods,
//!
//! ```text
//! x = m + sqrt(k) L_i  and  x = m - sqrt(k) L_i,   i = 1, ..., k
//! ```
//!
//! whose mean is m and whose covariance is Sigma.

use super::scenarios::Scenarios;
use crate::error::{Error, same_length};

/// Moments of the returns of assets.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Moments {
    /// The assets.
    pub names: Vec<String>,
    /// m, one for each asset.
    pub mean: Vec<f64>,
    /// Sigma.
    pub covariance: Covariance,
}

/// Sigma.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Covariance {
    /// Row after row.
    Full(Vec<f64>),
    /// `B F B' + D`.
    Factors {
        /// B: a row for each asset, a column for each factor.
        loadings: Vec<f64>,
        /// F, row after row.
        factors: Vec<f64>,
        /// The diagonal of D, one for each asset.
        specific: Vec<f64>,
    },
}

/// Why moments are refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MomentsError {
    /// A matrix that is not symmetric.
    #[error(
        "`{parameter}` is not symmetric: {one} in row {row}, column {column} and {other} in row \
         {column}, column {row}"
    )]
    Asymmetric {
        /// Which matrix.
        parameter: &'static str,
        /// By name.
        row: String,
        /// By name.
        column: String,
        /// Above or below the diagonal.
        one: f64,
        /// On the other side.
        other: f64,
    },
    /// A matrix that is no covariance.
    #[error(
        "`{parameter}` is not positive semidefinite: {} has a variance of {variance:.3e}; expected \
         the covariance of some returns, in which no portfolio has one below 0",
        combination(.portfolio)
    )]
    Indefinite {
        /// Which matrix.
        parameter: &'static str,
        /// A portfolio whose variance is below 0, by name.
        portfolio: Vec<(String, f64)>,
        /// That variance, for weights of size 1.
        variance: f64,
    },
    /// A variance below 0.
    #[error("`specific`: {value} for {name}; expected a variance of 0 or above")]
    Negative {
        /// The asset.
        name: String,
        /// The variance.
        value: f64,
    },
}

/// `0.71 A - 0.7 B`, the largest terms.
fn combination(portfolio: &[(String, f64)]) -> String {
    const MOST: usize = 4;
    let mut terms: Vec<&(String, f64)> = portfolio.iter().filter(|term| term.1 != 0.0).collect();
    terms.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let text = |(name, x): &&(String, f64)| format!("{x:.3} {name}");
    let shown: Vec<String> = terms.iter().take(MOST).map(text).collect();
    let rest = if terms.len() > MOST { " + ..." } else { "" };
    format!("{}{rest}", shown.join(" + ").replace("+ -", "- "))
}

/// Of the size of the entries: how far apart two that should be equal may be.
const SYMMETRY: f64 = 1e-8;
/// Of the largest diagonal entry, for each row: a pivot that is rounding.
const ROUNDING: f64 = 1e-14;
/// The same below which a pivot under 0 is more than rounding of the file.
const NEGATIVE: f64 = 1e-10;

impl Moments {
    /// Of the assets of these names.
    pub fn new(names: Vec<String>, mean: Vec<f64>, covariance: Covariance) -> Self {
        Moments { names, mean, covariance }
    }

    /// Periods with these moments.
    ///
    /// # Errors
    /// If sizes differ, or a matrix is not symmetric or not positive semidefinite.
    pub fn scenarios(self) -> Result<Scenarios, Error> {
        let d = self.names.len();
        same_length("`mean`", self.mean.len(), d)?;
        let rows = match self.covariance {
            Covariance::Full(matrix) => {
                same_length("`covariance`", matrix.len(), d * d)?;
                root("covariance", &self.names, matrix)?
            }
            Covariance::Factors { loadings, factors, specific } => {
                factor_rows(&self.names, &loadings, factors, &specific)?
            }
        };
        let k = (rows.len() / d.max(1)) as f64;
        let mut returns = Vec::with_capacity(2 * rows.len());
        for row in rows.chunks_exact(d.max(1)) {
            for sign in [1.0, -1.0] {
                returns.extend(self.mean.iter().zip(row).map(|(m, x)| m + sign * k.sqrt() * x));
            }
        }
        let mut scenarios = Scenarios::new(self.names, returns);
        scenarios.are_moments = true;
        Ok(scenarios)
    }
}

/// The rows of `(B R')'` with `F = R' R`, and those of the root of D.
fn factor_rows(
    names: &[String],
    loadings: &[f64],
    factors: Vec<f64>,
    specific: &[f64],
) -> Result<Vec<f64>, Error> {
    let d = names.len();
    let k = loadings.len() / d.max(1);
    same_length("`factors`", loadings.len(), d * k)?;
    same_length("`factor_covariance`", factors.len(), k * k)?;
    same_length("`specific`", specific.len(), d)?;
    if let Some(l) = specific.iter().position(|s| !(s.is_finite() && *s >= 0.0)) {
        return Err(MomentsError::Negative { name: names[l].clone(), value: specific[l] }.into());
    }
    let numbers: Vec<String> = (1..=k).map(|f| format!("factor {f}")).collect();
    let mut rows = Vec::new();
    for of_factor in root("factor_covariance", &numbers, factors)?.chunks_exact(k.max(1)) {
        let row = loadings.chunks_exact(k.max(1));
        rows.extend(row.map(|b| b.iter().zip(of_factor).map(|(b, r)| b * r).sum::<f64>()));
    }
    for (l, variance) in specific.iter().enumerate().filter(|(_, variance)| **variance > 0.0) {
        let start = rows.len();
        rows.resize(start + d, 0.0);
        rows[start + l] = variance.sqrt();
    }
    if rows.is_empty() {
        rows.resize(d, 0.0);
    }
    Ok(rows)
}

/// Rows `L_i` with `sum_i L_i L_i'` the matrix: Cholesky's factor, with the largest pivot first.
fn root(parameter: &'static str, names: &[String], matrix: Vec<f64>) -> Result<Vec<f64>, Error> {
    let d = names.len();
    for l in 0..d {
        for c in 0..l {
            let (one, other) = (matrix[l * d + c], matrix[c * d + l]);
            // Not where one of them is no number.
            if (one - other).abs() > SYMMETRY * one.abs().max(other.abs()) || one.is_nan() {
                let (row, column) = (names[l].clone(), names[c].clone());
                return Err(MomentsError::Asymmetric { parameter, row, column, one, other }.into());
            }
        }
    }
    let largest = matrix.iter().step_by(d + 1).fold(0.0, |most: f64, x| most.max(x.abs()));
    let mut left = matrix;
    let mut rows: Vec<f64> = Vec::new();
    let mut pivots: Vec<usize> = Vec::new();
    loop {
        let open = (0..d).filter(|l| !pivots.contains(l));
        let at = |l: usize| left[l * d + l];
        let (mut most, mut least) = (None, None);
        for l in open {
            most = Some(most.filter(|&k| at(k) >= at(l)).unwrap_or(l));
            least = Some(least.filter(|&k| at(k) <= at(l)).unwrap_or(l));
        }
        let Some((pivot, worst)) = most.zip(least) else { break };
        if at(worst) < -NEGATIVE * largest {
            return Err(indefinite(parameter, names, &rows, &pivots, worst, at(worst)));
        }
        if at(pivot) <= ROUNDING * d as f64 * largest {
            break;
        }
        let scale = at(pivot).sqrt();
        let row: Vec<f64> = (0..d)
            .map(|c| if pivots.contains(&c) { 0.0 } else { left[pivot * d + c] / scale })
            .collect();
        for l in 0..d {
            for c in 0..d {
                left[l * d + c] -= row[l] * row[c];
            }
        }
        pivots.push(pivot);
        rows.extend(row);
    }
    // A diagonal of zeros goes with zeros around it.
    let open: Vec<usize> = (0..d).filter(|l| !pivots.contains(l)).collect();
    for &l in &open {
        for &c in open.iter().filter(|c| **c != l) {
            let off = left[l * d + c];
            if off.abs() > NEGATIVE * largest {
                let mut portfolio = vec![(names[l].clone(), std::f64::consts::FRAC_1_SQRT_2)];
                let other = -off.signum() * std::f64::consts::FRAC_1_SQRT_2;
                portfolio.push((names[c].clone(), other));
                let variance = -off.abs();
                return Err(MomentsError::Indefinite { parameter, portfolio, variance }.into());
            }
        }
    }
    if rows.is_empty() {
        rows.resize(d, 0.0);
    }
    Ok(rows)
}

/// The portfolio that hedges one asset by those eliminated before it, whose variance is the pivot.
fn indefinite(
    parameter: &'static str,
    names: &[String],
    rows: &[f64],
    pivots: &[usize],
    worst: usize,
    pivot: f64,
) -> Error {
    let d = names.len();
    let mut weights = vec![0.0; d];
    weights[worst] = 1.0;
    // Back substitution: row i of the factor, on the pivots, times the weights is 0.
    for (i, &own) in pivots.iter().enumerate().rev() {
        let row = &rows[i * d..(i + 1) * d];
        let others: f64 = row.iter().zip(&weights).map(|(r, w)| r * w).sum();
        weights[own] = -others / row[own];
    }
    let size: f64 = weights.iter().map(|w| w * w).sum::<f64>().sqrt();
    let portfolio = names.iter().cloned().zip(weights.iter().map(|w| w / size)).collect();
    MomentsError::Indefinite { parameter, portfolio, variance: pivot / (size * size) }.into()
}

//! Linear constraints and norms: what theta has to meet beyond bounds on its coordinates.

use serde::{Deserialize, Serialize};

use crate::linalg::interior::Band;
use crate::linalg::vector::dot;
use crate::model::setting::InvalidSetting;

/// `lo <= <coefficients, theta> <= hi`; an equation where both ends are equal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinearConstraint {
    /// One for each coordinate.
    pub coefficients: Vec<f64>,
    /// The lower end, or `-inf`.
    pub lo: f64,
    /// The upper end, or `inf`.
    pub hi: f64,
}

/// `N(theta) = sum_l weights_l |theta_l - center_l|` with a price and a limit: the function `price
/// N(theta)` where `N(theta) <= limit`, and `inf` elsewhere. Turnover, the costs of trades, and
/// gross exposure are of this form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WeightedNorm {
    /// 0 or above, one for each coordinate.
    pub weights: Vec<f64>,
    /// One for each coordinate.
    pub center: Vec<f64>,
    /// 0 or above; `inf` for none.
    pub limit: f64,
    /// 0 or above.
    pub price: f64,
}

/// What is asked of theta as a whole.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Constraints {
    /// Linear ones.
    pub rows: Vec<LinearConstraint>,
    /// Norms with a limit or a price.
    pub norms: Vec<WeightedNorm>,
}

/// Multipliers of [`Constraints`]: any of them make a function below g that is simpler.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Multipliers {
    /// For every row: above 0 charges its upper end, below 0 its lower one.
    pub(crate) rows: Vec<f64>,
    /// For every norm, a slope for each coordinate.
    pub(crate) norms: Vec<Vec<f64>>,
}

impl LinearConstraint {
    /// `<coefficients, theta>`
    pub fn at(&self, theta: &[f64]) -> f64 {
        dot(&self.coefficients, theta)
    }

    /// The same for programs.
    pub(crate) fn band(&self) -> Band<'_> {
        Band { coefficients: &self.coefficients, lo: self.lo, hi: self.hi }
    }

    /// The size of the terms at theta, and of the end that is nearer: what the other one is says
    /// nothing about rounding at this one.
    pub(crate) fn size(&self, theta: &[f64]) -> f64 {
        let terms = self.coefficients.iter().zip(theta).map(|(a, x)| (a * x).abs()).sum::<f64>();
        let at = self.at(theta);
        let end = if at - self.lo < self.hi - at { self.lo } else { self.hi };
        terms.max(if end.is_finite() { end.abs() } else { 0.0 })
    }

    /// How far theta is beyond the ends; 0 if it is not.
    pub fn violation(&self, theta: &[f64]) -> f64 {
        let at = self.at(theta);
        (self.lo - at).max(at - self.hi).max(0.0)
    }
}

impl WeightedNorm {
    /// `N(theta)`
    pub fn at(&self, theta: &[f64]) -> f64 {
        let terms = self.weights.iter().zip(&self.center).zip(theta);
        terms.map(|((weight, center), x)| weight * (x - center).abs()).sum()
    }
}

impl Constraints {
    /// How far a constraint may be missed for `value` to forgive it, relative to the size of its
    /// terms: rounding.
    pub const SLACK: f64 = 1e-9;

    /// # Errors
    /// If a number is missing, not finite or out of its range.
    pub fn check(&self, d: usize) -> Result<(), InvalidSetting> {
        let wrong = |name: String, value: String, expected: &str| {
            Err(InvalidSetting::new(name, value, expected.to_owned()))
        };
        for (k, row) in self.rows.iter().enumerate() {
            let sound = row.coefficients.len() == d
                && row.coefficients.iter().all(|a| a.is_finite())
                && row.lo <= row.hi
                && row.lo < f64::INFINITY
                && row.hi > f64::NEG_INFINITY;
            if !sound {
                return wrong(
                    format!("rows[{k}]"),
                    format!("{row:?}"),
                    "a finite coefficient for each coordinate, and lo <= hi",
                );
            }
        }
        for (j, norm) in self.norms.iter().enumerate() {
            let sound = norm.weights.len() == d
                && norm.center.len() == d
                && norm.weights.iter().all(|w| w.is_finite() && *w >= 0.0)
                && norm.center.iter().all(|c| c.is_finite())
                && norm.limit >= 0.0
                && norm.price.is_finite()
                && norm.price >= 0.0;
            if !sound {
                return wrong(
                    format!("norms[{j}]"),
                    format!("{norm:?}"),
                    "a weight of 0 or above and a finite centre for each coordinate, a limit and a \
                     price of 0 or above",
                );
            }
        }
        Ok(())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.norms.is_empty()
    }

    /// The prices at theta, `inf` where a constraint is missed by more than rounding.
    pub(crate) fn value(&self, theta: &[f64]) -> f64 {
        let met = self.rows.iter().all(|row| {
            row.violation(theta) <= Self::SLACK * row.size(theta).max(f64::MIN_POSITIVE)
        });
        let mut value = if met { 0.0 } else { f64::INFINITY };
        for norm in &self.norms {
            let at = norm.at(theta);
            let within = at <= norm.limit + Self::SLACK * at.max(norm.limit);
            value += if within { norm.price * at } else { f64::INFINITY };
        }
        value
    }

    /// The slope of the prices along a direction at `theta + tau direction`, to the right.
    pub(crate) fn slope_along(&self, theta: &[f64], direction: &[f64], tau: f64) -> f64 {
        let of_norm = |norm: &WeightedNorm| {
            let mut slope = 0.0;
            for (l, p) in direction.iter().enumerate() {
                let off = theta[l] + tau * p - norm.center[l];
                let side = if off == 0.0 { p.signum() } else { off.signum() };
                slope += norm.weights[l] * side * p;
            }
            norm.price * slope
        };
        self.norms.iter().filter(|norm| norm.price > 0.0).map(of_norm).sum()
    }

    /// `t = A' y + sum_j s_j`, and the size of its terms: the linear function `<t, theta>` less
    /// [`Self::support`] is below the constraints' part of g.
    pub(crate) fn tilt(&self, multipliers: &Multipliers, d: usize) -> (Vec<f64>, Vec<f64>) {
        let (mut tilt, mut size) = (vec![0.0; d], vec![0.0; d]);
        let mut add = |l: usize, term: f64| {
            tilt[l] += term;
            size[l] += term.abs();
        };
        for (row, y) in self.rows.iter().zip(&multipliers.rows).filter(|(_, y)| **y != 0.0) {
            row.coefficients.iter().enumerate().for_each(|(l, a)| add(l, a * y));
        }
        for slopes in &multipliers.norms {
            slopes.iter().enumerate().for_each(|(l, s)| add(l, *s));
        }
        (tilt, size)
    }

    /// What the multipliers charge beyond `<t, theta>`, and the size of its terms:
    ///
    /// ```text
    /// support = sum_k max(y_k lo_k, y_k hi_k) + sum_j [ kappa_j limit_j + <s_j, center_j> ],  kappa_j = max(max_l |s_jl| / weight_jl - price_j, 0)
    /// ```
    pub(crate) fn support(&self, multipliers: &Multipliers) -> (f64, f64) {
        let (mut sum, mut size) = (0.0, 0.0);
        let mut add = |term: f64| {
            sum += term;
            size += term.abs();
        };
        for (row, y) in self.rows.iter().zip(&multipliers.rows) {
            match *y {
                y if y > 0.0 => add(y * row.hi),
                y if y < 0.0 => add(y * row.lo),
                _ => {}
            }
        }
        for (norm, slopes) in self.norms.iter().zip(&multipliers.norms) {
            let kappa = norm.kappa(slopes);
            if kappa > 0.0 {
                add(kappa * norm.limit);
            }
            slopes.iter().zip(&norm.center).for_each(|(s, c)| add(s * c));
        }
        (sum, size)
    }
}

impl WeightedNorm {
    /// The price that the limit must have for these slopes, a little more than rounding makes it.
    fn kappa(&self, slopes: &[f64]) -> f64 {
        let ratio = |(s, weight): (&f64, &f64)| match (*s, *weight) {
            (0.0, _) => 0.0,
            (s, weight) => s.abs() / weight,
        };
        let most = slopes.iter().zip(&self.weights).map(ratio).fold(0.0, f64::max);
        let kappa = most - self.price;
        // Slopes that are the price but for rounding.
        if kappa <= 4.0 * f64::EPSILON * most { 0.0 } else { kappa }
    }
}

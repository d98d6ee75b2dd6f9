//! `-sum_c q_ic log u_c`

use crate::linalg::elementary::Elementary;
use std::ops::Range;

use super::Merit;
use crate::linalg::scalar::clamp;
use crate::model::setting::{self, InvalidSetting};

/// The cross-entropy of averaged probabilities u against targets `q_i`, with a weight for each
/// coordinate of each term.
///
/// Coordinate by coordinate, with `q >= 0`, a floor `e >= 0`, and a unit `t > 0` in which u is
/// measured, 1 unless it is given:
///
/// ```text
/// phi(u)               = -q log(u/t)                     if u >= e t
///                      = -q log e - q (u/t - e) / e      otherwise;  +inf if e = 0 and u <= 0
/// phi'(u)              = -q / max(u, e t)
/// phi*(w)              = -q - q log(-w t/q)              if -q/(e t) <= w < 0;  inf otherwise
/// prox_{alpha phi*}(w) = max(v, -q/(e t))  for the negative root v of  v^2 - w v - alpha q = 0
/// gamma                = e^2 / max q/t^2
/// B_w                  = max_i |q_i/t_i| / e
/// ```
///
/// and for `q = 0`: `phi = 0`, `phi* = 0` at 0 and inf elsewhere, a prox of 0.
///
/// The curvature `q / u^2` of a logarithm grows without bound towards zero: with `e = 0` there is
/// no `gamma` above 0, and methods go by the curvature where they start.
/// [`NegativeLog::with_floor`] goes on along the tangent below e. That changes nothing for averages
/// of e and above, so that a solution whose averages all lie there is one of the logarithm itself;
/// see [`NegativeLog::is_exact_at`]. Below e the slope is the one at e: an average that is too
/// small, or a linear model of it that is negative, is still driven up.
#[derive(Debug, Clone, PartialEq)]
pub struct NegativeLog {
    ell: usize,
    /// `q_ic`, ell for each i
    weights: Vec<f64>,
    /// e
    floor: f64,
    /// `t_ic`, ell for each i; none where all are 1
    units: Vec<f64>,
    /// The largest `q/t^2`
    most: f64,
    /// `max_i |q_i/t_i|`
    longest: f64,
}

impl NegativeLog {
    /// Weights `q_ic`, `ell` for each outer term; the logarithm itself, with no floor.
    ///
    /// # Errors
    /// Unless there are `ell` weights for each of one or more terms, all finite and 0 or above, and
    /// one above 0.
    pub fn new(ell: usize, weights: Vec<f64>) -> Result<Self, InvalidSetting> {
        if ell == 0 || weights.is_empty() || !weights.len().is_multiple_of(ell) {
            let given = format!("{} numbers in rows of {ell}", weights.len());
            return Err(InvalidSetting::new("weights", given, "at least one whole row"));
        }
        for (k, &q) in weights.iter().enumerate() {
            setting::non_negative(&format!("weights[{k}]"), q)?;
        }
        if weights.iter().all(|q| *q == 0.0) {
            return Err(InvalidSetting::new("weights", "all 0", "at least one above 0"));
        }
        Ok(NegativeLog { ell, weights, units: Vec::new(), floor: 0.0, most: 0.0, longest: 0.0 }
            .measured())
    }

    /// The same with averages measured in units of their own, `t_ic` for each weight: phi is 0
    /// where `u = t`. The floor counts in these units.
    ///
    /// # Errors
    /// Unless there is one for each weight, finite and above 0.
    pub fn with_units(self, units: Vec<f64>) -> Result<Self, InvalidSetting> {
        if units.len() != self.weights.len() {
            let expected = format!("{}, one for each weight", self.weights.len());
            return Err(InvalidSetting::new("units", format!("{} numbers", units.len()), expected));
        }
        for (k, &t) in units.iter().enumerate() {
            setting::positive(&format!("units[{k}]"), t)?;
        }
        Ok(NegativeLog { units, ..self }.measured())
    }

    /// With the largest curvature and slope at a floor of 1.
    fn measured(self) -> Self {
        let slope = |k: usize| self.weights[k] / self.unit(k);
        let curvatures = (0..self.weights.len()).map(|k| slope(k) / self.unit(k));
        let most = curvatures.fold(0.0, f64::max);
        let starts = (0..self.weights.len()).step_by(self.ell);
        let squares = starts.map(|k| (k..k + self.ell).map(|k| slope(k).powi(2)).sum::<f64>());
        let longest = squares.fold(0.0, f64::max).sqrt();
        NegativeLog { most, longest, ..self }
    }

    /// The same, continued by its tangent below `floor`.
    ///
    /// # Errors
    /// Unless it is finite and above 0.
    pub fn with_floor(self, floor: f64) -> Result<Self, InvalidSetting> {
        Ok(NegativeLog { floor: setting::positive("floor", floor)?, ..self })
    }

    /// `q_ic`, ell for each i.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// e
    pub fn floor(&self) -> f64 {
        self.floor
    }

    /// Whether no average that counts lies below the floor: then phi is the negative logarithm at
    /// all of them.
    pub fn is_exact_at(&self, f_bar: &[f64]) -> bool {
        (0..f_bar.len()).all(|k| self.is_exact_for(k, f_bar[k]))
    }

    /// Whether number k of the averages, u, does not count or does not lie below the floor.
    pub fn is_exact_for(&self, k: usize, u: f64) -> bool {
        self.weights[k] == 0.0 || u >= self.floor * self.unit(k)
    }

    #[inline(always)]
    fn unit(&self, k: usize) -> f64 {
        if self.units.is_empty() { 1.0 } else { self.units[k] }
    }

    #[inline(always)]
    fn row(&self, i: usize) -> &[f64] {
        &self.weights[i * self.ell..(i + 1) * self.ell]
    }
}

impl Merit for NegativeLog {
    fn terms(&self) -> Option<usize> {
        Some(self.weights.len() / self.ell)
    }

    fn value(&self, i: usize, u: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (c, (&q, &u)) in self.row(i).iter().zip(u).enumerate() {
            let (u, e) = (u / self.unit(i * self.ell + c), self.floor);
            sum += if q == 0.0 {
                // A NaN stays one.
                0.0 * u
            } else if u < e {
                -q * (e.natural_log() + (u - e) / e)
            } else {
                -q * u.natural_log()
            };
        }
        sum
    }

    fn gradient(&self, i: usize, u: &[f64], out: &mut [f64]) {
        for (c, ((out, &q), &u)) in out.iter_mut().zip(self.row(i)).zip(u).enumerate() {
            let e = self.floor * self.unit(i * self.ell + c);
            *out = if q == 0.0 { 0.0 * u } else { -q / if u < e { e } else { u } };
        }
    }

    /// `q / u^2` above the floor, 0 below it.
    fn hessian_diagonal(&self, terms: Range<usize>, u: &[f64], out: &mut [f64]) -> bool {
        for ((k, &u), out) in (terms.start * self.ell..).zip(u).zip(out) {
            *out = if u < self.floor * self.unit(k) { 0.0 } else { self.weights[k] / (u * u) };
        }
        true
    }

    fn conjugate(&self, i: usize, w: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (c, (&q, &w)) in self.row(i).iter().zip(w).enumerate() {
            let w = w * self.unit(i * self.ell + c);
            let within = if q == 0.0 {
                w == 0.0
            } else {
                w < 0.0 && -w * self.floor <= q * (1.0 + ROUNDING)
            };
            sum += match (within, q == 0.0) {
                (false, _) => f64::INFINITY,
                (true, true) => 0.0,
                (true, false) => -q - q * (-w / q).natural_log(),
            };
        }
        sum
    }

    fn prox_conjugate(&self, i: usize, alpha: f64, w: &mut [f64]) {
        for (c, (&q, w)) in self.row(i).iter().zip(w).enumerate() {
            *w = if q == 0.0 {
                0.0 * *w
            } else {
                let reach = (*w * *w + 4.0 * alpha * q).sqrt();
                // Of the two ways to write the root the one in which nothing cancels.
                let root =
                    if *w > 0.0 { -2.0 * alpha * q / (*w + reach) } else { 0.5 * (*w - reach) };
                clamp(root, -q / (self.floor * self.unit(i * self.ell + c)), 0.0)
            };
        }
    }

    fn gamma(&self) -> f64 {
        self.floor * self.floor / self.most
    }

    /// None: where the tangent begins, the slope is that of the logarithm.
    fn has_kinks(&self) -> bool {
        false
    }

    /// `max_c q_ic / max(u_c, e t)^2`
    fn curvature(&self, i: usize, u: &[f64]) -> Option<f64> {
        let curvature = |(c, (&q, &u)): (usize, (&f64, &f64))| {
            let e = self.floor * self.unit(i * self.ell + c);
            if q == 0.0 { 0.0 } else { q / u.max(e).powi(2) }
        };
        Some(self.row(i).iter().zip(u).enumerate().map(curvature).fold(0.0, f64::max))
    }

    fn lipschitz(&self, _: usize) -> f64 {
        self.longest / self.floor
    }
}

/// Of `-q/e`, by which a dual that is there may have passed it.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

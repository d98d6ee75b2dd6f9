//! `n_i u - c_i log u`

use super::ScalarMerit;
use super::bernoulli::positive_root;
use crate::linalg::elementary::Elementary;
use crate::model::setting::{self, InvalidSetting};

/// Half the deviance of a Poisson count `c_i` whose mean is `n_i u`, with a scale s common to all
/// terms:
///
/// ```text
/// phi_i(u)               = s (n u - c + c log(c / (n u)))            on u > 0
/// phi_i'(u)              = s (n - c / u)
/// phi_i*(w)              = s c log( s n / (s n - w) )                on w < s n
/// prox_{alpha phi_i*}(w) = s n - t  for the positive root t of  t^2 - (s n - w) t - alpha s c = 0
/// gamma                  = 0: the curvature s c / u^2 has no bound
/// B_w                    = inf
/// ```
///
/// The conjugate is reached at `u = s c / (s n - w)`. A count of 0 leaves `s n u`, taken on all of
/// the line: `phi* = 0` at `w = s n` and inf elsewhere, a prox of `s n`.
///
/// The scale makes the loss comparable between data sets: with `s = 1 / (mean of the n_i)` it is
/// the deviance for each unit of exposure.
#[derive(Debug, Clone, PartialEq)]
pub struct Poisson {
    /// `s n_i`
    exposures: Vec<f64>,
    /// `s c_i`
    counts: Vec<f64>,
}

impl Poisson {
    /// Counts `c_i` and exposures `n_i`, one of each for every outer term.
    ///
    /// # Errors
    /// Unless there is an exposure for each count, the counts are finite and 0 or above, the
    /// exposures finite and above 0, and so is the scale.
    pub fn new(counts: Vec<f64>, exposures: Vec<f64>, scale: f64) -> Result<Self, InvalidSetting> {
        let scale = setting::positive("scale", scale)?;
        if counts.len() != exposures.len() {
            let expected = format!("one for each of {} counts", counts.len());
            return Err(InvalidSetting::new(
                "exposures",
                format!("{} numbers", exposures.len()),
                expected,
            ));
        }
        for (i, (c, n)) in counts.iter().zip(&exposures).enumerate() {
            setting::non_negative(&format!("counts[{i}]"), *c)?;
            setting::positive(&format!("exposures[{i}]"), *n)?;
        }
        let scaled = |x: Vec<f64>| x.into_iter().map(|x| scale * x).collect();
        Ok(Poisson { exposures: scaled(exposures), counts: scaled(counts) })
    }
}

impl ScalarMerit for Poisson {
    fn count(&self) -> Option<usize> {
        Some(self.counts.len())
    }

    #[inline(always)]
    fn phi(&self, i: usize, u: f64) -> f64 {
        let (n, c) = (self.exposures[i], self.counts[i]);
        if c == 0.0 {
            n * u
        } else if u <= 0.0 {
            f64::INFINITY
        } else {
            n * u - c + c * (c / (n * u)).natural_log()
        }
    }

    #[inline(always)]
    fn slope(&self, i: usize, u: f64) -> f64 {
        let (n, c) = (self.exposures[i], self.counts[i]);
        if c == 0.0 { n + 0.0 * u } else { n - c / u }
    }

    /// `s c / u^2`
    #[inline(always)]
    fn second_derivative(&self, i: usize, u: f64) -> f64 {
        let c = self.counts[i];
        if c == 0.0 { 0.0 } else { c / (u * u) }
    }

    fn phi_star(&self, i: usize, w: f64) -> f64 {
        let (n, c) = (self.exposures[i], self.counts[i]);
        if c == 0.0 {
            if (w - n).abs() <= ROUNDING * n { 0.0 } else { f64::INFINITY }
        } else if w < n {
            -c * (-w / n).natural_log_1p()
        } else {
            f64::INFINITY
        }
    }

    #[inline(always)]
    fn prox_phi_star(&self, i: usize, alpha: f64, w: f64) -> f64 {
        let (n, c) = (self.exposures[i], self.counts[i]);
        if c == 0.0 { n + 0.0 * w } else { n - positive_root(n - w, alpha * c) }
    }

    #[inline(always)]
    fn max_curvature(&self) -> f64 {
        f64::INFINITY
    }

    #[inline(always)]
    fn is_kinked(&self) -> bool {
        false
    }

    #[inline(always)]
    fn max_slope(&self) -> f64 {
        f64::INFINITY
    }
}

/// Of `s n`, by which a dual of a term without counts may lie beside it.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

//! phi by its value and its slope alone.

use super::ScalarMerit;
use crate::model::curve::{Along, Curve};
use crate::model::regularizer::Coordinate;
use crate::model::setting::{self, InvalidSetting};

/// A phi that is written as its value and its slope: conjugate and prox are found numerically.
///
/// ```
/// use innermean::merit::{Curve, Merit, Numerical};
///
/// /// `log cosh u`
/// struct LogCosh;
///
/// impl Curve for LogCosh {
///     fn value(&self, _: usize, u: f64) -> f64 { u.cosh().ln() }
///     fn slope(&self, _: usize, u: f64) -> f64 { u.tanh() }
/// }
///
/// let merit = Numerical::new(LogCosh).with_max_curvature(1.0)?.with_max_slope(1.0)?;
/// // (1 + w) log(1 + w) / 2 + (1 - w) log(1 - w) / 2 at w = 1/2
/// assert!((merit.conjugate(0, &[0.5]) - 0.130_812_035_941_137_2).abs() < 1e-14);
/// assert_eq!(merit.gamma(), 1.0);
/// # Ok::<(), innermean::InvalidSetting>(())
/// ```
#[derive(Debug, Clone)]
pub struct Numerical<C> {
    curve: C,
    max_curvature: f64,
    max_slope: f64,
    kinked: bool,
    ends: [f64; 2],
}

impl<C: Curve> Numerical<C> {
    /// A smooth phi of which nothing else is known.
    pub fn new(curve: C) -> Self {
        let (max_curvature, max_slope) = (f64::INFINITY, f64::INFINITY);
        let ends = [f64::NEG_INFINITY, f64::INFINITY];
        Numerical { curve, max_curvature, max_slope, kinked: false, ends }
    }

    /// The same with a bound on second derivatives.
    ///
    /// # Errors
    /// Unless it is finite and above 0.
    pub fn with_max_curvature(self, most: f64) -> Result<Self, InvalidSetting> {
        Ok(Numerical { max_curvature: setting::positive("max_curvature", most)?, ..self })
    }

    /// The same with a bound on the size of slopes.
    ///
    /// # Errors
    /// Unless it is finite and above 0.
    pub fn with_max_slope(self, most: f64) -> Result<Self, InvalidSetting> {
        Ok(Numerical { max_slope: setting::positive("max_slope", most)?, ..self })
    }

    /// The same with kinks.
    #[must_use]
    pub fn with_kinks(self) -> Self {
        Numerical { kinked: true, max_curvature: f64::INFINITY, ..self }
    }

    /// The same between these ends, and infinite beyond them.
    ///
    /// # Errors
    /// Unless the first is below the second.
    pub fn between(self, lo: f64, hi: f64) -> Result<Self, InvalidSetting> {
        if lo < hi {
            return Ok(Numerical { ends: [lo, hi], ..self });
        }
        let given = format!("from {lo} to {hi}");
        Err(InvalidSetting::new("domain", given, "two numbers, the first below the second"))
    }

    fn along(&self, i: usize) -> Along<'_, C> {
        let [lo, hi] = self.ends;
        Along { curve: &self.curve, i, part: Coordinate { lo, hi, ..Coordinate::FREE } }
    }
}

impl<C: Curve> ScalarMerit for Numerical<C> {
    fn count(&self) -> Option<usize> {
        self.curve.count()
    }

    fn phi(&self, i: usize, u: f64) -> f64 {
        self.along(i).value(u)
    }

    fn slope(&self, i: usize, u: f64) -> f64 {
        self.curve.slope(i, u)
    }

    fn phi_star(&self, i: usize, w: f64) -> f64 {
        self.along(i).conjugate(w)
    }

    /// By Moreau's identity, `w - alpha prox_{phi/alpha}(w / alpha)`.
    fn prox_phi_star(&self, i: usize, alpha: f64, w: f64) -> f64 {
        w - alpha * self.along(i).prox(1.0 / alpha, w / alpha)
    }

    fn max_curvature(&self) -> f64 {
        self.max_curvature
    }

    fn is_kinked(&self) -> bool {
        self.kinked
    }

    fn max_slope(&self) -> f64 {
        self.max_slope
    }
}

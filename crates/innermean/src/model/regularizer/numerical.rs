//! A sum over coordinates of functions by their values and slopes alone.

use super::{Coordinate, Regularizer};
use crate::model::curve::{Along, Curve};
use crate::model::setting::InvalidSetting;

/// `g(theta) = sum_l c_l(theta_l) + part_l(theta_l)` where every `c_l` is written as its value and
/// its slope: prox and conjugate are found numerically, coordinate by coordinate.
///
/// ```
/// use innermean::merit::Curve;
/// use innermean::regularizer::{Coordinate, Numerical, Regularizer};
///
/// /// `x^4 / 4`
/// struct Quartic;
///
/// impl Curve for Quartic {
///     fn value(&self, _: usize, x: f64) -> f64 { x.powi(4) / 4.0 }
///     fn slope(&self, _: usize, x: f64) -> f64 { x.powi(3) }
/// }
///
/// let g = Numerical::new(Quartic, vec![Coordinate::FREE])?;
/// let mut theta = [2.0];
/// g.prox(1.0, &mut theta); // x + x^3 = 2
/// assert_eq!(theta, [1.0]);
/// assert!((g.conjugate(&[8.0]) - 12.0).abs() < 1e-13);
/// # Ok::<(), innermean::InvalidSetting>(())
/// ```
#[derive(Debug, Clone)]
pub struct Numerical<C> {
    curve: C,
    parts: Vec<Coordinate>,
}

impl<C: Curve> Numerical<C> {
    /// With a part for each coordinate, [`Coordinate::FREE`] for none.
    ///
    /// # Errors
    /// If there are not as many parts as functions.
    pub fn new(curve: C, parts: Vec<Coordinate>) -> Result<Self, InvalidSetting> {
        match curve.count() {
            Some(count) if count != parts.len() => {
                let expected = format!("{}, one for each coordinate", parts.len());
                Err(InvalidSetting::new("parameters", count.to_string(), expected))
            }
            _ => Ok(Numerical { curve, parts }),
        }
    }

    fn along(&self, l: usize) -> Along<'_, C> {
        Along { curve: &self.curve, i: l, part: self.parts[l] }
    }
}

impl<C: Curve> Regularizer for Numerical<C> {
    fn d(&self) -> Option<usize> {
        Some(self.parts.len())
    }

    fn value(&self, theta: &[f64]) -> f64 {
        theta.iter().enumerate().map(|(l, x)| self.along(l).value(*x)).sum()
    }

    fn prox(&self, alpha: f64, theta: &mut [f64]) {
        for (l, x) in theta.iter_mut().enumerate() {
            *x = self.along(l).prox(alpha, *x);
        }
    }

    fn conjugate(&self, v: &[f64]) -> f64 {
        v.iter().enumerate().map(|(l, v)| self.along(l).conjugate(*v)).sum()
    }

    fn mu(&self) -> f64 {
        self.parts.iter().map(|part| part.l2).fold(f64::INFINITY, f64::min)
    }
}

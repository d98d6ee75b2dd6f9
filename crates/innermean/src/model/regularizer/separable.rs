//! A sum over coordinates, each with a part of its own

use super::{Coordinate, Regularizer};
use crate::model::setting::InvalidSetting;

/// Norms and bounds that differ from coordinate to coordinate. With parts `g_l` as a [`Coordinate`]
/// has them:
///
/// ```text
/// g(theta)          = sum_l g_l(theta_l)
/// g*(v)             = sum_l g_l*(v_l)
/// prox_{alpha g}(v) = prox_{alpha g_l}(v_l), coordinate by coordinate
/// mu                = min_l l2_l
/// ```
///
/// All of these panic if theta and the parts differ in number.
#[derive(Debug, Clone, PartialEq)]
pub struct Separable {
    parts: Vec<Coordinate>,
}

impl Separable {
    /// One part for each coordinate.
    ///
    /// # Errors
    /// Unless every `l1` and `l2` is finite and 0 or above, every tilt finite, and every `lo` at
    /// most its `hi`.
    pub fn new(parts: Vec<Coordinate>) -> Result<Self, InvalidSetting> {
        let weight = |x: f64| x.is_finite() && x >= 0.0;
        let sound = |g: &Coordinate| {
            weight(g.l1)
                && weight(g.l2)
                && g.tilt.is_finite()
                && g.lo <= g.hi
                && g.lo < f64::INFINITY
                && g.hi > f64::NEG_INFINITY
        };
        match parts.iter().position(|part| !sound(part)) {
            None => Ok(Self { parts }),
            Some(l) => Err(InvalidSetting::new(
                format!("parts[{l}]"),
                format!("{:?}", parts[l]),
                "finite weights of 0 or above, a finite tilt, and lo <= hi",
            )),
        }
    }

    /// `h(z) = g(z_1 / c_1, ..., z_d / c_d)`: g after a change of units, for sizes `c_l` above 0.
    /// None if g is no sum over coordinates.
    ///
    /// # Errors
    /// If a part cannot be written down in these units: a size is not above 0, or too far from the
    /// weights.
    pub fn rescaled<G: Regularizer + ?Sized>(
        g: &G,
        sizes: &[f64],
    ) -> Result<Option<Self>, InvalidSetting> {
        let part = |(l, c): (usize, &f64)| {
            let Coordinate { tilt, l1, l2, lo, hi } = g.coordinate(l)?;
            Some(Coordinate {
                tilt: tilt / c,
                l1: l1 / c,
                l2: l2 / (c * c),
                lo: lo * c,
                hi: hi * c,
            })
        };
        let parts: Option<Vec<Coordinate>> = sizes.iter().enumerate().map(part).collect();
        parts.map(Self::new).transpose()
    }

    /// The parts, known to be `d`: a zip of unequal lengths would stop short without a word.
    #[inline(always)]
    fn parts_of(&self, d: usize) -> &[Coordinate] {
        assert_eq!(self.parts.len(), d, "parts and theta differ in length");
        &self.parts
    }
}

impl Regularizer for Separable {
    fn d(&self) -> Option<usize> {
        Some(self.parts.len())
    }

    fn value(&self, theta: &[f64]) -> f64 {
        self.parts_of(theta.len()).iter().zip(theta).map(|(part, &x)| part.value(x)).sum()
    }

    fn prox(&self, alpha: f64, theta: &mut [f64]) {
        let parts = self.parts_of(theta.len());
        for (x, part) in theta.iter_mut().zip(parts) {
            *x = part.step(alpha, 0.0, *x);
        }
    }

    fn step(&self, alpha: f64, direction: &[f64], theta: &mut [f64]) {
        assert_eq!(direction.len(), theta.len(), "a direction for each coordinate");
        for ((x, part), v) in theta.iter_mut().zip(self.parts_of(direction.len())).zip(direction) {
            *x = part.step(alpha, *v, *x);
        }
    }

    fn conjugate(&self, v: &[f64]) -> f64 {
        self.parts_of(v.len()).iter().zip(v).map(|(part, &v)| part.conjugate(v)).sum()
    }

    fn mu(&self) -> f64 {
        let least = self.parts.iter().map(|part| part.l2).fold(f64::INFINITY, f64::min);
        if least.is_finite() { least } else { 0.0 }
    }

    fn coordinate(&self, l: usize) -> Option<Coordinate> {
        Some(self.parts[l])
    }

    fn quadratic(&self, d: usize) -> Option<(f64, Vec<f64>)> {
        let parts = self.parts_of(d);
        let Coordinate { l2, .. } = *parts.first()?;
        let smooth = |part: &Coordinate| {
            part.l1 == 0.0
                && part.l2 == l2
                && part.lo == f64::NEG_INFINITY
                && part.hi == f64::INFINITY
        };
        parts.iter().all(smooth).then(|| (l2, parts.iter().map(|part| part.tilt).collect()))
    }
}

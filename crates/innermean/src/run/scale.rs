//! The size of an objective: what a gap is measured by.

use serde::{Deserialize, Serialize};

use crate::certificate::dual;
use crate::certificate::ground::Ground;
use crate::certificate::hessian;
use crate::model::inner::Inner;
use crate::model::problem::Objective;
use crate::model::sample::PartOf;

/// Of F where every column of the data counts as 1: what is as good as 0. The size of an objective
/// that is 0 at the origin and whose phi has kinks, as nothing else is known of it.
const AS_GOOD_AS_ZERO: f64 = 1e-6;

/// What the size of an objective is made of, looked up when it is needed.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Scale {
    /// `|F| + |g|` at the origin, or at the point that g allows next to it.
    origin: Option<f64>,
    /// Where that is 0: the least of the same at the first point where it is not, of `|min g|`, and
    /// of what a step along one coordinate would gain if there was nothing but F and a tilt.
    instead: f64,
}

impl Scale {
    /// The size at a point of that magnitude or at the origin, whichever is more. Where it is 0 at
    /// both, as that of a portfolio of nothing: at other points, or what a step would gain.
    pub(crate) fn at(&self, magnitude: f64) -> f64 {
        let scale = magnitude.max(self.origin.unwrap_or(0.0));
        if scale > 0.0 { scale } else { self.instead }
    }

    /// That at the origin, if it has been looked up and is not 0.
    pub(crate) fn at_origin(&self) -> Option<f64> {
        self.origin.filter(|scale| *scale > 0.0)
    }

    /// Whether that at the origin has been looked up and is 0.
    pub(crate) fn is_0_at_origin(&self) -> bool {
        self.origin == Some(0.0)
    }

    /// Looks up what it is made of, at a point of that magnitude.
    pub(crate) fn look_up(
        &mut self,
        problem: Objective<'_>,
        ground: &Ground<'_>,
        theta: &[f64],
        magnitude: f64,
    ) {
        let zero = vec![0.0; theta.len()];
        let origin = *self.origin.get_or_insert_with(|| {
            if problem.regularizer.barrier(0).is_some() {
                // A logarithm is as large as one likes next to the origin.
                return 0.0;
            }
            let origin = problem.allowed(&zero);
            if theta == origin {
                return magnitude;
            }
            let there = loss_at(problem, &origin).abs() + problem.regularizer.value(&origin).abs();
            if there.is_finite() { there } else { 0.0 }
        });
        if origin != 0.0 || magnitude == 0.0 || self.instead > 0.0 {
            return;
        }
        let least = dual::lowest(problem.regularizer, theta.len()).abs();
        if !least.is_finite() {
            return;
        }
        let start = problem.allowed(&zero);
        let size = problem.inner.n_x() * problem.inner.ell();
        let (mut f_bar, mut w, mut slope) = (vec![0.0; size], vec![0.0; size], zero);
        problem.loss_and_gradient(&start, &mut f_bar, &mut w, &mut slope);
        self.instead = magnitude.min(least).min(ground.gain(&slope));
        if problem.merit.has_kinks() {
            let there = as_good_as_zero(problem, ground);
            if there > 0.0 {
                self.instead = self.instead.min(there);
            }
        }
    }
}

/// What is as good as 0 beside F where every column of the data counts as 1. Where F is as bent as
/// one likes, so that nothing follows from its value there: beside what it rises by if its slopes
/// are those at the origin.
pub(crate) fn as_good_as_zero(problem: Objective<'_>, ground: &Ground<'_>) -> f64 {
    let merit = problem.merit;
    if merit.gamma() == 0.0 && !merit.has_kinks() {
        let f = problem.inner;
        let (mut f_bar, mut w) = (vec![0.0; f.n_x() * f.ell()], vec![0.0; f.n_x() * f.ell()]);
        f.means(&vec![0.0; f.d()], &mut f_bar);
        problem.duals(&f_bar, &mut w);
        let slope = w.iter().map(|w| w.abs()).sum::<f64>() / f.n_x() as f64;
        return if slope.is_finite() { AS_GOOD_AS_ZERO * slope } else { 0.0 };
    }
    let unit = |size: &f64| if *size > 0.0 { 1.0 / size } else { 0.0 };
    let unit: Vec<f64> = ground.sizes().columns.iter().map(unit).collect();
    AS_GOOD_AS_ZERO * loss_at(problem, &unit).abs()
}

/// `F(theta)`; where f is not affine and has very many samples, as an estimate from some of them. At
/// the origin, where links do not depend on features, that is exact.
fn loss_at(problem: Objective<'_>, theta: &[f64]) -> f64 {
    let (f, ell) = (problem.inner, problem.inner.ell());
    let Some((picked, each)) = hessian::looked_at(f) else {
        let mut f_bar = vec![0.0; f.n_x() * ell];
        f.means(theta, &mut f_bar);
        return problem.loss(&f_bar);
    };
    let mut f_bar = vec![0.0; picked.len() * ell];
    let part: &dyn Inner = &PartOf::new(f, &picked, each);
    part.means(theta, &mut f_bar);
    let terms = picked.iter().zip(f_bar.chunks_exact(ell));
    terms.map(|(&i, f_bar)| problem.merit.value(i, f_bar)).sum::<f64>() / picked.len() as f64
}

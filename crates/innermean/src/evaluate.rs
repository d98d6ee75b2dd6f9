//! How good a point is: its objective and how far it is from optimal. The driver asks with the clock stopped.

use serde::{Deserialize, Serialize};

use crate::blocks::Blocks;
use crate::inner::{Inner, mean_jacobian_norm};
use crate::merit::Merit;
use crate::problem::Problem;
use crate::regularizer::Regularizer;
use crate::vector::{axpy, dot, norm_squared};

/// Which number says how far a point is from optimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// For smooth phi: the norm of the prox-gradient mapping, relative to its norm at the origin (or the point that g
    /// allows next to it), or at f's ordinary point if that is larger.
    Stationarity,
    /// For phi with a kink and affine f: the duality gap `P(theta) - D(w)` between the method's best point and best duals so far,
    /// relative to the size of the objective's two parts or, where that is larger, of the least g: the optimum may
    /// be zero.
    DualityGap,
    /// For a phi with a kink and an f that is not affine there is none; where no tolerance is set, none is needed.
    None,
}

/// What is known of one point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// `P(theta)`
    pub objective: f64,
    /// `|F(theta)| + |g(theta)|`: the size of what the objective is made of.
    pub magnitude: f64,
    /// The relative measure of optimality, where there is one.
    pub optimality: Option<f64>,
}

/// Evaluates points of one problem, in buffers of its own.
#[derive(Debug)]
pub struct Evaluator<'p, F, P, G> {
    problem: &'p Problem<F, P, G>,
    measure: Measure,
    /// The step of the prox-gradient mapping, 1/L.
    alpha: f64,
    /// `(lambda, tilt)` of a quadratic g, whose gradient says more than a difference of points, which may round to zero.
    quadratic: Option<(f64, Vec<f64>)>,
    /// The norm of the mapping at the origin; for the duality gap, `|min g| = |g*(0)|` where it is finite.
    scale: f64,
    /// The largest `D(w)` seen.
    bound: f64,
    /// The smallest `P(theta)` seen, and the size of its parts.
    best: (f64, f64),
    f_bar: Vec<f64>,
    w: Vec<f64>,
    gradient: Vec<f64>,
}

impl<'p, F: Inner, P: Merit, G: Regularizer> Evaluator<'p, F, P, G> {
    /// Chooses the measure; takes a pass or two over the data.
    pub fn new(problem: &'p Problem<F, P, G>) -> Self {
        let measure = match (!problem.merit.has_kinks(), problem.inner.structure().affine) {
            (true, _) => Measure::Stationarity,
            (false, true) => Measure::DualityGap,
            (false, false) => Measure::None,
        };
        Self::by(problem, measure)
    }

    /// Objectives alone, for half the work.
    pub fn without_measure(problem: &'p Problem<F, P, G>) -> Self {
        Self::by(problem, Measure::None)
    }

    fn by(problem: &'p Problem<F, P, G>, measure: Measure) -> Self {
        let f = &problem.inner;
        let (d, size) = (f.d(), f.n_x() * f.ell());
        let mut evaluator = Evaluator {
            problem,
            measure,
            alpha: 1.0,
            quadratic: problem.regularizer.quadratic(d),
            scale: 1.0,
            bound: f64::NEG_INFINITY,
            best: (f64::INFINITY, 0.0),
            f_bar: vec![0.0; size],
            w: vec![0.0; size],
            gradient: vec![0.0; d],
        };
        if measure == Measure::Stationarity {
            let origin = problem.allowed(&vec![0.0; d]);
            let smoothness = mean_jacobian_norm(f, &origin).powi(2) / problem.gamma_at(&origin);
            evaluator.alpha = if smoothness > 0.0 && smoothness.is_finite() { 1.0 / smoothness } else { 1.0 };
            f.means(&origin, &mut evaluator.f_bar);
            let norm = evaluator.mapping_norm(&origin);
            let ordinary = f.ordinary_point().map_or(0.0, |point| {
                f.means(&point, &mut evaluator.f_bar);
                evaluator.mapping_norm(&point)
            });
            // A logarithm may be infinitely steep at the origin: in that unit every point would be solved.
            let usable = |norm: &f64| norm.is_finite() && *norm > 0.0;
            evaluator.scale = [norm, ordinary].into_iter().filter(usable).reduce(f64::max).unwrap_or(1.0);
        } else if measure == Measure::DualityGap {
            let least = problem.regularizer.conjugate(&evaluator.gradient).abs();
            evaluator.scale = if least.is_finite() { least } else { 0.0 };
        }
        evaluator
    }

    /// The number that [`Evaluation::optimality`] holds.
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// Evaluates theta; `duals` are the method's, used for the duality gap.
    pub fn evaluate(&mut self, theta: &[f64], duals: Option<&[f64]>) -> Evaluation {
        self.problem.inner.means(theta, &mut self.f_bar);
        let loss = self.problem.loss(&self.f_bar);
        let g = self.problem.regularizer.value(theta);
        let magnitude = loss.abs() + g.abs();
        let optimality = match (self.measure, duals) {
            (Measure::Stationarity, _) => Some(self.mapping_norm(theta) / self.scale),
            (Measure::DualityGap, Some(w)) => {
                if loss + g < self.best.0 {
                    self.best = (loss + g, magnitude);
                }
                self.bound = self.bound.max(self.dual_objective(theta, w));
                // Rounding may carry the bound past the objective.
                let gap = (self.best.0 - self.bound).max(0.0);
                let scale = self.best.1.max(self.scale);
                Some(if scale > 0.0 { gap / scale } else { gap })
            }
            _ => None,
        };
        Evaluation { objective: loss + g, magnitude, optimality }
    }

    /// The norm of the prox-gradient mapping, or of `P'(theta)` where g is quadratic, at theta, whose averages stand in `f_bar`.
    fn mapping_norm(&mut self, theta: &[f64]) -> f64 {
        self.problem.duals(&self.f_bar, &mut self.w);
        self.gradient.fill(0.0);
        self.problem.inner.add_weighted_jac_t(theta, &self.w, &mut self.gradient);
        if let Some((lambda, tilt)) = &self.quadratic {
            axpy(*lambda, theta, &mut self.gradient);
            axpy(1.0, tilt, &mut self.gradient);
            return norm_squared(&self.gradient).sqrt();
        }
        norm_squared(&self.problem.mapping(theta, &self.gradient, self.alpha)).sqrt()
    }

    /// A bound from below, for affine f:
    /// `D(w) = (1/n) sum_i [ <bbar_i, w_i> - phi_i*(w_i) ] - g*(-u)`, `u = (1/n) sum_i Abar_i w_i`, and
    /// `<bbar_i, w_i> = <fbar_i(theta), w_i> - <theta, Abar_i w_i>` for the averages that stand in `f_bar`.
    fn dual_objective(&mut self, theta: &[f64], w: &[f64]) -> f64 {
        let Problem { inner: f, merit, regularizer } = self.problem;
        let (n_x, ell) = (f.n_x(), f.ell());
        let u = &mut self.gradient;
        u.fill(0.0);
        f.add_weighted_jac_t(theta, w, u);
        let f_bar = &self.f_bar;
        let sum = Blocks::new(n_x, ell).sum(
            #[inline(always)]
            |i| {
                let own = i * ell..(i + 1) * ell;
                dot(&f_bar[own.clone()], &w[own.clone()]) - merit.conjugate(i, &w[own])
            },
        );
        let bilinear = dot(theta, u);
        for u in u.iter_mut() {
            *u = -*u;
        }
        sum / n_x as f64 - bilinear - regularizer.conjugate(u)
    }
}

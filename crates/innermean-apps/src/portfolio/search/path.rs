//! Minima between two that are known, where nothing but bounds and a budget counts beside return
//! and variance.
//!
//! With `tau = 1 / C` and the covariances S, `theta' S theta - tau <m, theta>` has its minima on a
//! path over tau that is straight as long as the same weights are at their bounds (Markowitz, "The
//! Optimization of a Quadratic Function Subject to Linear Constraints", 1956). Between two of them
//! it is walked once (`line.rs`). Where that does not lead to a minimum, as where two weights reach
//! a bound at once, it is searched for from a point between two others: Newton's steps of the
//! weights that are at no bound end at the first, and when a step is a whole one, the weight that
//! gains most leaves its own (Nocedal and Wright, "Numerical Optimization", 2006, section 16.5).
//!
//! The proof does not ask how a point was found. For `F = C theta' S theta - <m, theta>`, which is
//! convex, and g, which is 0 or infinite,
//!
//! ```text
//! F(z) + g(z) >= F(theta) + <F'(theta), z - theta> + g(z) >= F(theta) - <F', theta> - g*(-F').
//! ```

use std::cell::OnceCell;

use innermean::cholesky::Cholesky;
use innermean::vector::{axpy, dot, row_dots};
use innermean::{Certificate, Inner, Measure, Passes, Regularizer, Status};

use super::super::{PortfolioTask, Risk};
use super::line::Line;
use super::probe::Probe;

/// Half the distance from 1 to the next number.
const UNIT: f64 = f64::EPSILON / 2.0;
/// Beyond so many assets a run changes many bounds at once, and is as fast.
const MOST_ASSETS: usize = 200;
/// Of the size of the slopes: less than what rounding makes of those that are equal.
const VISIBLE: f64 = 1e-13;

/// What determines the path.
pub(super) struct Path {
    /// S, row after row.
    covariance: Vec<f64>,
    /// m
    pub(super) mean: Vec<f64>,
    /// The root of the diagonal of S.
    deviations: Vec<f64>,
    /// The bounds of every weight.
    pub(super) ends: Vec<(f64, f64)>,
    /// From the first two minima between which another was asked for.
    line: OnceCell<Option<Line>>,
}

impl Path {
    /// That of a market that takes the place of a larger one; none where more counts, or where
    /// weights may go without end.
    pub(super) fn new(task: &PortfolioTask) -> Option<Self> {
        let (d, settings) = (task.portfolio.d(), &task.settings);
        let is_plain = settings.risk == Risk::Variance
            && task.limits.is_empty()
            && task.limits.risk_budget.is_none()
            && settings.penalty.is_zero()
            && task.has_budget()
            && settings.bounds().bounds_theta();
        if !is_plain || d > MOST_ASSETS {
            return None;
        }
        let part = |l| task.allowed.weights.constrained_coordinate(l);
        let ends = (0..d).map(|l| part(l).map(|part| (part.lo, part.hi))).collect::<Option<_>>()?;
        let mean = task.portfolio.mean_returns().to_vec();
        let share = 1.0 / task.portfolio.n_x() as f64;
        let covariance = task.portfolio.gram(&|_| share).ok()??;
        let deviations = covariance.iter().step_by(d + 1).map(|square| square.sqrt()).collect();
        Some(Path { covariance, mean, deviations, ends, line: OnceCell::new() })
    }

    /// The minimum at a weight of risk between those of two others, if it is found and proven to
    /// `tolerance`; `near` is a point near it.
    pub(super) fn at(
        &self,
        weight: f64,
        near: &[f64],
        [above, below]: [&Probe; 2],
        task: &PortfolioTask,
        tolerance: f64,
    ) -> Option<Probe> {
        let tau = 1.0 / weight;
        let walk = || Line::walk(self, 1.0 / above.weight, &above.theta, 1.0 / below.weight);
        let on_line = self.line.get_or_init(walk).as_ref().and_then(|line| line.at(tau));
        let proven = |theta: Vec<f64>, slopes: &[f64]| {
            self.proven((tau, weight), theta, slopes, task, tolerance)
        };
        on_line
            .and_then(|theta| {
                let slopes = self.slopes(tau, &theta);
                proven(theta, &slopes)
            })
            .or_else(|| {
                let (theta, slopes) = self.minimum(tau, near.to_vec())?;
                proven(theta, &slopes)
            })
    }

    /// A point with a proof that it is the minimum, if there is one.
    fn proven(
        &self,
        (tau, weight): (f64, f64),
        theta: Vec<f64>,
        slopes: &[f64],
        task: &PortfolioTask,
        tolerance: f64,
    ) -> Option<Probe> {
        let net = dot(&self.mean, &theta);
        let risk = 0.5 * (dot(slopes, &theta) + tau * net);
        let gradient: Vec<f64> = slopes.iter().map(|slope| weight * slope).collect();
        let down: Vec<f64> = gradient.iter().map(|x| -x).collect();
        let excess = dot(&gradient, &theta) + task.allowed.weights.conjugate(&down);
        // Of every slope: 3 d products and sums of deviations, and those of its two terms; at the
        // point, and at whatever is best.
        let d = theta.len();
        let own: f64 = self.deviations.iter().zip(&theta).map(|(s, x)| s * x.abs()).sum();
        let products = 2.0 * weight * (3 * d + 16) as f64 * UNIT * own;
        let terms = (2 * d + 8) as f64 * UNIT;
        let slopes = self.deviations.iter().zip(&self.mean).zip(&gradient);
        let errors: Vec<f64> =
            slopes.map(|((s, m), x)| products * s + terms * (m.abs() + x.abs())).collect();
        let rounding = 2.0 * task.reach(&errors);
        let gap = excess.max(0.0) + rounding;
        let size = weight * risk + net.abs();
        // Not where it is no number.
        let is_proven = gap <= tolerance * size && task.allowed.weights.value(&theta) == 0.0;
        if !is_proven {
            return None;
        }
        let mut certificate = Certificate::NONE;
        certificate.measure = Measure::FenchelGap;
        (certificate.gap, certificate.relative) = (Some(gap), Some(gap / size));
        certificate.is_rounding = excess <= rounding;
        let lower = weight * risk - net - gap;
        Some(Probe { weight, theta, net, risk, lower, certificate, status: Status::Solved })
    }

    /// The minimiser and the slopes there; none if it takes many steps, or S is singular on the
    /// way.
    pub(super) fn minimum(&self, tau: f64, mut x: Vec<f64>) -> Option<(Vec<f64>, Vec<f64>)> {
        let is_inside = |(x, (lo, hi)): (&f64, &(f64, f64))| x > lo && x < hi;
        let mut free: Vec<bool> = x.iter().zip(&self.ends).map(is_inside).collect();
        let mut slopes = self.slopes(tau, &x);
        for _ in 0..2 * x.len() + 8 {
            let places: Vec<usize> = (0..x.len()).filter(|&l| free[l]).collect();
            let direction = self.direction(&places, &slopes)?;
            let (length, end) = self.first_end(&x, &places, &direction);
            places.iter().zip(&direction).for_each(|(&l, p)| x[l] += length * p);
            if let Some((l, at)) = end {
                (x[l], free[l]) = (at, false);
            }
            slopes = self.slopes(tau, &x);
            if end.is_some() {
                continue;
            }
            let level = places.iter().map(|&l| slopes[l]).sum::<f64>() / places.len() as f64;
            // What moving a weight away from its bound would gain.
            let gain = |l: usize| match self.ends[l] {
                (lo, hi) if free[l] || lo >= hi => 0.0,
                (lo, _) if x[l] <= lo => level - slopes[l],
                _ => slopes[l] - level,
            };
            let least = slopes.iter().zip(&self.mean).fold(0.0, |most: f64, (slope, m)| {
                most.max(VISIBLE * (slope.abs() + tau * m.abs()))
            });
            let best = (0..x.len()).max_by(|&a, &b| gain(a).total_cmp(&gain(b)))?;
            if gain(best) <= least {
                return Some((x, slopes));
            }
            free[best] = true;
        }
        None
    }

    /// Row l of S.
    pub(super) fn row(&self, l: usize) -> &[f64] {
        let d = self.mean.len();
        &self.covariance[l * d..(l + 1) * d]
    }

    /// `2 S x - tau m`
    pub(super) fn slopes(&self, tau: f64, x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; x.len()];
        row_dots(&self.covariance, x.len(), x, &mut out);
        out.iter_mut().zip(&self.mean).for_each(|(out, m)| *out = 2.0 * *out - tau * m);
        out
    }

    /// To the minimum over these weights, whose sum stays: `2 S p = lambda - slopes` with `<1, p> =
    /// 0`.
    fn direction(&self, places: &[usize], slopes: &[f64]) -> Option<Vec<f64>> {
        let m = places.len();
        if m <= 1 {
            return (m == 1).then(|| vec![0.0]);
        }
        let mut matrix = Vec::with_capacity(m * m);
        for &l in places {
            matrix.extend(places.iter().map(|&c| 2.0 * self.row(l)[c]));
        }
        let factor = Cholesky::new(&matrix, m).ok()?;
        let mut p: Vec<f64> = places.iter().map(|&l| -slopes[l]).collect();
        let mut ones = vec![1.0; m];
        factor.solve(&mut p);
        factor.solve(&mut ones);
        axpy(-p.iter().sum::<f64>() / ones.iter().sum::<f64>(), &ones, &mut p);
        let left = p.iter().sum::<f64>() / m as f64;
        axpy(-left, &vec![1.0; m], &mut p);
        Some(p)
    }

    /// How far it is to the first bound, at most 1, and which weight meets it where.
    fn first_end(&self, x: &[f64], places: &[usize], p: &[f64]) -> (f64, Option<(usize, f64)>) {
        let mut first = (1.0, None);
        for (&l, p) in places.iter().zip(p).filter(|(_, p)| **p != 0.0) {
            let (lo, hi) = self.ends[l];
            let at = if *p < 0.0 { lo } else { hi };
            let length = ((at - x[l]) / p).max(0.0);
            if length < first.0 {
                first = (length, Some((l, at)));
            }
        }
        first
    }
}

//! Primal-dual steps (Chambolle and Pock 2011), drawn back towards an anchor that moves whenever
//! enough has been gained: Halpern's iteration with restarts (Lu and Yang 2024), linearly
//! convergent where P is piecewise linear or quadratic. For affine f.
//!
//! ```text
//! theta+ = prox_{tau g}(theta - (tau/n) sum_i Abar_i' w_i)
//! w_i+   = prox_{sigma phi_i*}(w_i + sigma (Abar_i (2 theta+ - theta) + bbar_i))
//! z     <- (k+1)/(k+2) (2 z+ - z) + 1/(k+2) anchor,  z = (theta, w)
//! ```

use super::{MOST_ITERATIONS, Progress, Reached};
use crate::linalg::vector::{axpy, distance_squared};
use crate::model::problem::Objective;
use crate::tuning::curvature;
use crate::tuning::steps;

/// An anchor moves when the residual has fallen to this part of its own,
const SUFFICIENT_DECAY: f64 = 0.2;
/// or to this part and rises again,
const NECESSARY_DECAY: f64 = 0.8;
/// or after this part of all steps made.
const LONGEST_SHARE: f64 = 0.36;
/// Long plateaus before the last stretch are common, where the run finds out which averages are
/// zero.
const STEPS_WITHOUT_PROGRESS: usize = 20_000;

/// theta and the duals.
#[derive(Clone)]
struct Pair {
    theta: Vec<f64>,
    w: Vec<f64>,
}

impl Pair {
    fn copy(&mut self, other: &Pair) {
        self.theta.copy_from_slice(&other.theta);
        self.w.copy_from_slice(&other.w);
    }

    /// `self <- a (2 to - self) + (1 - a) anchor`
    fn draw_back(&mut self, to: &Pair, anchor: &Pair, a: f64) {
        let parts = [(&mut self.theta, &to.theta, &anchor.theta), (&mut self.w, &to.w, &anchor.w)];
        for (here, to, anchor) in parts {
            for ((here, to), anchor) in here.iter_mut().zip(to).zip(anchor) {
                *here = a * (2.0 * to - *here) + (1.0 - a) * anchor;
            }
        }
    }
}

/// One problem, and room for a step on it.
struct Stepper<'p> {
    problem: Objective<'p>,
    u: Vec<f64>,
    ahead: Vec<f64>,
    f_bar: Vec<f64>,
}

impl Stepper<'_> {
    /// The step from z to `to`. Returns its length, the root of `|dtheta|^2/tau + |dw|^2/(n
    /// sigma)`: zero at a saddle point alone.
    fn step(&mut self, z: &Pair, to: &mut Pair, tau: f64, sigma: f64) -> f64 {
        let Objective { inner: f, merit, regularizer } = self.problem;
        self.u.fill(0.0);
        f.add_weighted_jac_t(&z.theta, &z.w, &mut self.u);
        to.theta.copy_from_slice(&z.theta);
        regularizer.step(tau, &self.u, &mut to.theta);
        for ((ahead, to), from) in self.ahead.iter_mut().zip(&to.theta).zip(&z.theta) {
            *ahead = 2.0 * to - from;
        }
        f.means(&self.ahead, &mut self.f_bar);
        to.w.copy_from_slice(&z.w);
        axpy(sigma, &self.f_bar, &mut to.w);
        for (i, w_i) in to.w.chunks_exact_mut(f.ell()).enumerate() {
            merit.prox_conjugate(i, sigma, w_i);
        }
        let by_duals = distance_squared(&to.w, &z.w) / (f.n_x() as f64 * sigma);
        (distance_squared(&to.theta, &z.theta) / tau + by_duals).sqrt()
    }
}

/// The point with the smallest step of a run from `theta`.
pub(super) fn run(problem: Objective<'_>, theta: &[f64]) -> (Vec<f64>, Reached) {
    let f = problem.inner;
    let (d, size) = (f.d(), f.n_x() * f.ell());
    let mut z = Pair { theta: problem.allowed(theta), w: vec![0.0; size] };
    let mut stepper =
        Stepper { problem, u: vec![0.0; d], ahead: vec![0.0; d], f_bar: vec![0.0; size] };
    f.means(&z.theta, &mut stepper.f_bar);
    problem.duals(&stepper.f_bar, &mut z.w);
    let [mut to, mut anchor] = [z.clone(), z.clone()];
    let mut best = z.theta.clone();
    // tau sigma |Abar|^2/n < 1; the scaled rule knows a first sigma / tau.
    let product = 0.9 / curvature::of_jacobians(f, &z.theta).max(f64::MIN_POSITIVE);
    let scaled = steps::scaled(problem, theta);
    let mut ratio = scaled.alpha_w / scaled.alpha_theta;
    let mut progress = Progress::new(f64::INFINITY, STEPS_WITHOUT_PROGRESS);
    let (mut at_anchor, mut last, mut since) = (f64::INFINITY, f64::INFINITY, 0_usize);
    for k in 1..=MOST_ITERATIONS {
        let residual =
            stepper.step(&z, &mut to, (product / ratio).sqrt(), (product * ratio).sqrt());
        if k == 1 {
            progress = Progress::new(residual, STEPS_WITHOUT_PROGRESS);
        }
        if progress.improves(k, residual) {
            best.copy_from_slice(&to.theta);
        }
        if progress.over(k) || !residual.is_finite() {
            return (best, progress.reached(k));
        }
        if since == 0 {
            at_anchor = residual;
        }
        let enough = residual <= SUFFICIENT_DECAY * at_anchor;
        let no_more = residual <= NECESSARY_DECAY * at_anchor && residual > last;
        if since > 0 && (enough || no_more || since as f64 >= LONGEST_SHARE * k as f64) {
            let travelled = distance_squared(&to.theta, &anchor.theta);
            let by_duals = distance_squared(&to.w, &anchor.w) / f.n_x() as f64;
            if travelled > 0.0 && by_duals > 0.0 {
                // Halfway, in logarithms, to the ratio of the lengths travelled.
                ratio = (ratio * by_duals / travelled).sqrt();
            }
            z.copy(&to);
            anchor.copy(&to);
            (since, last) = (0, f64::INFINITY);
        } else {
            z.draw_back(&to, &anchor, (since + 1) as f64 / (since + 2) as f64);
            (since, last) = (since + 1, residual);
        }
    }
    (best, progress.reached(MOST_ITERATIONS))
}

//! Accelerated proximal gradient steps (Beck and Teboulle 2009, FISTA with backtracking), restarted
//! where the momentum points uphill (O'Donoghue and Candes 2015).

use super::{MOST_ITERATIONS, Progress, Reached};
use crate::linalg::vector::{distance_squared, dot_of_differences};
use crate::model::problem::Objective;
use crate::tuning::curvature;

/// What F may rise above its quadratic model by rounding alone, relative to F.
const SLACK: f64 = 1e-13;
/// Enough for momentum to build up at condition numbers of a million.
const STEPS_WITHOUT_PROGRESS: usize = 1000;

/// The point with the smallest prox-gradient mapping of a run from `theta`.
pub(super) fn run(problem: Objective<'_>, theta: &[f64]) -> (Vec<f64>, Reached) {
    let d = problem.inner.d();
    let mut x = problem.allowed(theta);
    let mut smoothness = curvature::of_mean(problem, &x);
    if !(smoothness.is_finite() && smoothness > 0.0) {
        smoothness = 1.0;
    }
    let [mut y, mut next, mut best] = [x.clone(), x.clone(), x.clone()];
    let (mut gradient, zeros) = (vec![0.0; d], vec![0.0; d]);
    let mut f_bar = vec![0.0; problem.inner.n_x() * problem.inner.ell()];
    let mut w = f_bar.clone();
    let mut progress =
        Progress::new(problem.stationarity(&x, 1.0 / smoothness), STEPS_WITHOUT_PROGRESS);
    let mut t = 1.0;
    for k in 1..=MOST_ITERATIONS {
        problem.inner.means(&y, &mut f_bar);
        let loss = problem.loss(&f_bar);
        problem.duals(&f_bar, &mut w);
        gradient.fill(0.0);
        problem.inner.add_weighted_jac_t(&y, &w, &mut gradient);
        loop {
            next.copy_from_slice(&y);
            problem.regularizer.step(1.0 / smoothness, &gradient, &mut next);
            problem.inner.means(&next, &mut f_bar);
            let risen =
                problem.loss(&f_bar) - loss - dot_of_differences(&next, &y, &gradient, &zeros);
            // F(next) <= F(y) + <F'(y), next - y> + (L/2) |next - y|^2, or L is too small.
            let allowed = 0.5 * smoothness * distance_squared(&next, &y) + SLACK * loss.abs();
            if risen <= allowed || risen.is_nan() || !smoothness.is_finite() {
                break;
            }
            smoothness *= 2.0;
        }
        let residual = smoothness * distance_squared(&y, &next).sqrt();
        if progress.improves(k, residual) {
            best.copy_from_slice(&next);
        }
        if progress.over(k) || !residual.is_finite() {
            return (best, progress.reached(k));
        }
        let uphill = dot_of_differences(&y, &next, &next, &x) > 0.0;
        let (from, to) =
            if uphill { (1.0, 1.0) } else { (t, 0.5 * (1.0 + f64::sqrt(1.0 + 4.0 * t * t))) };
        for ((y, x), next) in y.iter_mut().zip(&mut x).zip(&next) {
            *y = next + (from - 1.0) / to * (next - *x);
            *x = *next;
        }
        t = to;
    }
    (best, progress.reached(MOST_ITERATIONS))
}

//! Duals of scores of classes balanced against the intercepts, one for each class.
//!
//! g is a straight line along every intercept, so that `g*(-u)` is infinite unless the duals add up
//! to 0 over the rows, `r_c = (1/n) sum_i w_ic = 0` for each class c. Moving the intercepts to their
//! best place does it: Newton's steps on
//!
//! ```text
//! h(s) = (1/n) sum_i phi_i(fbar_i + s),   h' = r,   h'' = (1/n) sum_i phi_i''(fbar_i + s)
//! ```
//!
//! What rounding leaves of r is repaired (`class_repair.rs`).

use crate::linalg::blocks::{Blocks, MERIT};
use crate::linalg::cholesky::Cholesky;
use crate::linalg::vector::axpy;
use crate::model::problem::Objective;

/// Newton's steps, at most.
const MOST_STEPS: usize = 40;
/// What rounding of r cannot be told from.
const NOISE: f64 = 2.0 * f64::EPSILON;
/// Of r, what a step with an old matrix may leave before a new one is made.
const LEFT_BY_OLD_MATRIX: f64 = 0.1;
/// A step moves no score by more.
const LONGEST: f64 = 2.0;

/// Whether the coordinates along which g is a straight line, with these slopes, are the intercepts
/// of scores of classes that phi ties together.
pub(crate) fn applies(problem: Objective<'_>, free: &[(usize, f64)]) -> bool {
    let Objective { inner: f, merit, .. } = problem;
    let Some(scores) = f.class_scores() else { return false };
    let intercepts = scores.intercepts();
    f.n_x() > 0
        && !intercepts.is_empty()
        && merit.class_of(0).is_some()
        && free.len() == intercepts.len()
        && free.iter().all(|(l, slope)| intercepts.contains(l) && *slope == 0.0)
}

/// r, and the sizes of what it is the sum of.
struct Mean {
    r: Vec<f64>,
    sizes: Vec<f64>,
}

impl Mean {
    fn is_noise(&self) -> bool {
        self.r.iter().zip(&self.sizes).all(|(r, size)| r.abs() <= NOISE * size)
    }

    fn norm(&self) -> f64 {
        self.r.iter().map(|r| r.abs()).sum()
    }
}

/// Replaces the duals in w by those that are balanced, next to the averages in `f_bar`.
pub(crate) fn apply(problem: Objective<'_>, f_bar: &[f64], w: &mut [f64]) {
    let ell = problem.inner.ell();
    let mut shift = vec![0.0; ell];
    let mut mean = at(problem, f_bar, &shift, w);
    let mut best = (mean.norm(), shift.clone());
    let mut factor: Option<Cholesky> = None;
    for _ in 0..MOST_STEPS {
        if mean.is_noise() || !mean.norm().is_finite() {
            break;
        }
        let before = mean.norm();
        if factor.is_none() {
            factor = hessian(problem, f_bar, &shift);
        }
        let Some(made) = &factor else { break };
        // The last class stays: what is added to all changes nothing.
        let mut step: Vec<f64> = mean.r[..ell - 1].iter().map(|r| -r).collect();
        made.solve(&mut step);
        let longest = step.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let part = if longest > LONGEST { LONGEST / longest } else { 1.0 };
        axpy(part, &step, &mut shift[..ell - 1]);
        mean = at(problem, f_bar, &shift, w);
        if mean.norm() < best.0 {
            best = (mean.norm(), shift.clone());
        } else if part == 1.0 && mean.norm() >= before {
            // Rounding, or too far.
            break;
        }
        if mean.norm() > LEFT_BY_OLD_MATRIX * before || part < 1.0 {
            factor = None;
        }
    }
    if best.1 != shift {
        at(problem, f_bar, &best.1, w);
    }
}

/// r for averages moved by a shift; leaves the duals in w.
fn at(problem: Objective<'_>, f_bar: &[f64], shift: &[f64], w: &mut [f64]) -> Mean {
    let (n_x, ell) = (problem.inner.n_x(), shift.len());
    let mut sums = vec![0.0; 2 * ell];
    Blocks::new(n_x, MERIT * ell).fill_and_add(
        ell,
        w,
        1.0 / n_x as f64,
        &mut sums,
        #[inline(always)]
        |terms, w, sums| {
            let mut moved = f_bar[terms.start * ell..terms.end * ell].to_vec();
            moved.chunks_exact_mut(ell).for_each(|moved| axpy(1.0, shift, moved));
            problem.merit.values_and_gradients(terms, &moved, w);
            let (r, sizes) = sums.split_at_mut(ell);
            for w in w.chunks_exact(ell) {
                for ((r, size), w) in r.iter_mut().zip(&mut *sizes).zip(w) {
                    *r += w;
                    *size += w.abs();
                }
            }
        },
    );
    let sizes = sums.split_off(ell);
    Mean { r: sums, sizes }
}

/// The factor of `h''` for all classes but the last.
fn hessian(problem: Objective<'_>, f_bar: &[f64], shift: &[f64]) -> Option<Cholesky> {
    let (n_x, ell) = (problem.inner.n_x(), shift.len());
    let m = ell - 1;
    let mut matrix = vec![0.0; m * m];
    Blocks::with_least(n_x, ell * ell, m * m).add(1.0 / n_x as f64, &mut matrix, |terms, sum| {
        let mut moved = f_bar[terms.start * ell..terms.end * ell].to_vec();
        moved.chunks_exact_mut(ell).for_each(|moved| axpy(1.0, shift, moved));
        let (mut diagonal, mut across) = (vec![0.0; moved.len()], vec![0.0; moved.len()]);
        problem.merit.diagonal_less_rank_one(terms, &moved, &mut diagonal, &mut across);
        for (diagonal, across) in diagonal.chunks_exact(ell).zip(across.chunks_exact(ell)) {
            for (c, row) in sum.chunks_exact_mut(m).enumerate() {
                axpy(-across[c], &across[..=c], &mut row[..=c]);
                row[c] += diagonal[c];
            }
        }
    });
    Cholesky::new(&matrix, m).ok()
}

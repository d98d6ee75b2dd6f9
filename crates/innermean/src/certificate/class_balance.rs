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
//! What rounding leaves of r is repaired. With `v_i = w_i / omega_i + e_{c_i}`, a point of the
//! simplex, and any y, the duals `w_ic + omega_i v_ic (y_c - <v_i, y>)` are feasible where y spreads
//! over less than 1, and their mean is `r + L y`, where L is the Laplacian of the graph of the
//! classes whose edges have weights `a_cd = (1/n) sum_i omega_i v_ic v_id`. So there is a y for any
//! r. It need not be computed: with the weights to one class h, `a = min over c of a_ch`, and the
//! spread s of y,
//!
//! ```text
//! a (s/2)^2 <= y' L y = -<r, y> <= |r|_1 s / 2,   so that   s <= 2 |r|_1 / a
//! ```
//!
//! Each `v_ic` changes by at most `s v_ic`, and so `u_l` of class c by at most `s S_l ((1/n) sum_i
//! (omega_i v_ic)^2)^(1/2)`. By `log(1 + x) <= x`, the part of phi in the gap grows by at most
//! `(1/n) sum_i omega_i (s sum_c v_ic |log v_ic - log p_ic| + s^2)`, with `p_i = softmax(fbar_i)`.

use super::dual::Point;
use super::ground::Ground;
use super::repair::Repair;
use crate::linalg::blocks::{Blocks, MERIT};
use crate::linalg::cholesky::Cholesky;
use crate::linalg::elementary::Elementary;
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
/// The largest spread that counts as a repair.
const MOST_SPREAD: f64 = 0.1;
/// Makes up for what r and the weights are rounded by.
const MARGIN_OF_WEIGHTS: f64 = 4.0;

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
        problem.merit.seconds_less_squares(terms, &moved, &mut diagonal, &mut across);
        for (diagonal, across) in diagonal.chunks_exact(ell).zip(across.chunks_exact(ell)) {
            for (c, row) in sum.chunks_exact_mut(m).enumerate() {
                axpy(-across[c], &across[..=c], &mut row[..=c]);
                row[c] += diagonal[c];
            }
        }
    });
    Cholesky::new(&matrix, m).ok()
}

/// What takes an excess along the intercepts away, if there is one nowhere else; None where it may
/// be more than rounding.
pub(crate) fn repair(
    ground: &Ground<'_>,
    point: Point<'_>,
    w: &[f64],
    excess: &[f64],
) -> Option<Repair> {
    let problem = ground.problem;
    let (n_x, ell) = (problem.inner.n_x(), problem.inner.ell());
    let intercepts = problem.inner.class_scores()?.intercepts();
    if (0..excess.len()).any(|l| excess[l] != 0.0 && !intercepts.contains(&l)) {
        return None;
    }
    let v = |i: usize| {
        let (class, weight) = problem.merit.class_of(i).unwrap_or((0, 1.0));
        let of = move |c: usize, w: f64| (w / weight + f64::from(c == class)).max(0.0);
        (class, weight, of)
    };
    // Of every class, the sums of omega v and of its square; behind them, of omega and of the
    // distances of log v from log p.
    let mut sums = vec![0.0; 2 * ell + 2];
    Blocks::new(n_x, 2 * MERIT * ell).add(1.0 / n_x as f64, &mut sums, |terms, sums| {
        for i in terms {
            let (w, u) = (&w[i * ell..(i + 1) * ell], &point.f_bar[i * ell..(i + 1) * ell]);
            let (class, weight, of) = v(i);
            let log_sum = problem.merit.value(i, u) / weight + u[class];
            for c in 0..ell {
                let v = of(c, w[c]);
                sums[c] += weight * v;
                sums[ell + c] += (weight * v).powi(2);
                if v > 0.0 {
                    sums[2 * ell + 1] += weight * v * (v.natural_log() - u[c] + log_sum).abs();
                }
            }
            sums[2 * ell] += weight;
        }
    });
    let hub = (0..ell).fold(0, |hub, c| if sums[c] > sums[hub] { c } else { hub });
    let mut edges = vec![0.0; ell];
    Blocks::new(n_x, ell).add(1.0 / n_x as f64, &mut edges, |terms, edges| {
        for i in terms {
            let (w, (_, weight, of)) = (&w[i * ell..(i + 1) * ell], v(i));
            let to_hub = weight * of(hub, w[hub]);
            (0..ell).for_each(|c| edges[c] += to_hub * of(c, w[c]));
        }
    });
    edges[hub] = f64::INFINITY;
    let least = edges.iter().copied().fold(f64::INFINITY, f64::min);
    let spread = MARGIN_OF_WEIGHTS * 2.0 * excess.iter().sum::<f64>() / least;
    if spread.is_nan() || spread >= MOST_SPREAD {
        return None;
    }
    let scores = problem.inner.class_scores()?;
    let columns = &ground.sizes().columns;
    let of_class = |c: usize| {
        let size = sums[ell + c].sqrt();
        scores.columns_of(c).map(|l| columns[l] * size).collect()
    };
    let added = MARGIN_OF_WEIGHTS * (spread * sums[2 * ell + 1] + spread * spread * sums[2 * ell]);
    Some(Repair::of_classes(scores.by_class(of_class), spread, added))
}

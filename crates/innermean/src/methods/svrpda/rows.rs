//! The steps of `svrpda.rs` on an affine f whose rows lie in memory, with one number for each
//! average: the same but for rounding, with phi and g matched once for many steps, and with U and
//! theta in one sweep.
//!
//! What a step waits for is `<a_ij, theta - theta_ref>`, which needs the theta of the step before
//! it. Where phi is a square and g quadratic, all that can be worked out beside it is, so that what
//! follows is one multiplication and the sweep.

use super::{AHEAD, Pace, PrimalDual, Variant};
use crate::linalg::vector::{
    axpy, axpy_of_difference, dispatch, dot_of_differences, dot_with_difference, prefetch,
    update_two_dispatched,
};
use crate::model::inner::PairRows;
use crate::oracle::Oracle;

/// The pairs of an affine f: `f_theta(x_i, y_ij) = <a_ij, theta>` and a constant.
trait Pairs: Copy {
    /// Samples of a term.
    fn n_y(self) -> usize;

    /// `<a_ij, theta - theta_ref>`
    fn difference(self, i: usize, j: usize, theta: &[f64], theta_ref: &[f64]) -> f64;

    /// `u += c a_ij`
    fn add(self, i: usize, j: usize, c: f64, u: &mut [f64]);

    /// U moved along `fbar_i'`, and theta along the new U, in one sweep.
    fn add_mean_and_step(
        self,
        i: usize,
        along: Move,
        u: &mut [f64],
        tilt: &[f64],
        theta: &mut [f64],
    );

    /// A hint that the pair will be asked for soon.
    fn prefetch(self, i: usize, j: usize);
}

/// Row i.
#[inline(always)]
fn row(rows: &[f64], d: usize, i: usize) -> &[f64] {
    &rows[i * d..(i + 1) * d]
}

/// A primal step where g is `(lambda/2) |theta|^2 + <tilt, theta>`.
#[derive(Clone, Copy)]
struct Move {
    /// What is added to U, for its Jacobian as 1.
    c: f64,
    /// `1 / (1 + alpha lambda)`
    shrink: f64,
    /// `-shrink alpha`
    step: f64,
}

impl Move {
    /// `u + c x` and `shrink (theta - alpha (u + c x + t))`, to which x comes last.
    #[inline(always)]
    fn of(self, u: f64, theta: f64, x: f64, t: f64) -> (f64, f64) {
        let Move { c, shrink, step } = self;
        (x.mul_add(c, u), x.mul_add(step * c, u.mul_add(step, t.mul_add(step, shrink * theta))))
    }
}

/// [`PairRows::Own`], with d.
#[derive(Clone, Copy)]
struct Own<'a>(&'a [f64], usize);

impl Pairs for Own<'_> {
    #[inline(always)]
    fn n_y(self) -> usize {
        1
    }

    #[inline(always)]
    fn difference(self, i: usize, _: usize, theta: &[f64], theta_ref: &[f64]) -> f64 {
        dot_with_difference(row(self.0, self.1, i), theta, theta_ref)
    }

    #[inline(always)]
    fn add(self, i: usize, _: usize, c: f64, u: &mut [f64]) {
        axpy(c, row(self.0, self.1, i), u);
    }

    #[inline(always)]
    fn add_mean_and_step(
        self,
        i: usize,
        along: Move,
        u: &mut [f64],
        tilt: &[f64],
        theta: &mut [f64],
    ) {
        update_two_dispatched(
            u,
            theta,
            [row(self.0, self.1, i), tilt],
            #[inline(always)]
            |u, theta, [x, t]| along.of(u, theta, x, t),
        );
    }

    #[inline(always)]
    fn prefetch(self, i: usize, _: usize) {
        prefetch(self.0, i * self.1, self.1);
    }
}

/// [`PairRows::Differences`], with d.
#[derive(Clone, Copy)]
struct Differences<'a> {
    rows: &'a [f64],
    mean: &'a [f64],
    d: usize,
}

impl Pairs for Differences<'_> {
    #[inline(always)]
    fn n_y(self) -> usize {
        self.rows.len() / self.d
    }

    #[inline(always)]
    fn difference(self, i: usize, j: usize, theta: &[f64], theta_ref: &[f64]) -> f64 {
        let Differences { rows, d, .. } = self;
        dot_of_differences(row(rows, d, i), row(rows, d, j), theta, theta_ref)
    }

    #[inline(always)]
    fn add(self, i: usize, j: usize, c: f64, u: &mut [f64]) {
        axpy_of_difference(c, row(self.rows, self.d, i), row(self.rows, self.d, j), u);
    }

    #[inline(always)]
    fn add_mean_and_step(
        self,
        i: usize,
        along: Move,
        u: &mut [f64],
        tilt: &[f64],
        theta: &mut [f64],
    ) {
        let streams = [row(self.rows, self.d, i), self.mean, tilt];
        update_two_dispatched(
            u,
            theta,
            streams,
            #[inline(always)]
            |u, theta, [x, m, t]| along.of(u, theta, x - m, t),
        );
    }

    #[inline(always)]
    fn prefetch(self, i: usize, j: usize) {
        prefetch(self.rows, i * self.d, self.d);
        prefetch(self.rows, j * self.d, self.d);
    }
}

impl PrimalDual {
    /// `count` steps, if f has rows for them.
    pub(super) fn steps_on_rows<V: Variant>(
        &mut self,
        oracle: &mut Oracle<'_>,
        pace: &Pace,
        count: usize,
    ) -> bool {
        let d = oracle.d();
        if pace.single_loop
            || !self.points.is_empty()
            || V::STORES_JACOBIANS && self.jac_bar.is_empty()
        {
            return false;
        }
        match oracle.pair_rows() {
            Some(PairRows::Own(rows)) => self.steps_on::<V>(Own(rows, d), oracle, pace, count),
            Some(PairRows::Differences(rows, mean)) => {
                self.steps_on::<V>(Differences { rows, mean, d }, oracle, pace, count);
            }
            None => return false,
        }
        true
    }

    fn steps_on<V: Variant>(
        &mut self,
        pairs: impl Pairs,
        oracle: &mut Oracle<'_>,
        pace: &Pace,
        count: usize,
    ) {
        if self.next_reference.is_last() {
            dispatch(
                #[inline(always)]
                || self.steps_compiled::<V, true>(pairs, oracle, pace, count),
            );
        } else {
            dispatch(
                #[inline(always)]
                || self.steps_compiled::<V, false>(pairs, oracle, pace, count),
            );
        }
    }

    #[inline(always)]
    fn steps_compiled<V: Variant, const LAST: bool>(
        &mut self,
        pairs: impl Pairs,
        oracle: &mut Oracle<'_>,
        pace: &Pace,
        count: usize,
    ) {
        let (n_x, n_y, d) = (oracle.n_x(), pairs.n_y(), oracle.d());
        let share = oracle.one_over_n_x();
        let square = oracle.phi().square_weight().map(|c| 2.0 * c / (2.0 * c + pace.alpha_w));
        let alpha = pace.alpha_theta;
        let g = oracle.quadratic_g().map(|(lambda, tilt)| (1.0 / (1.0 + alpha * lambda), tilt));
        for _ in 0..count {
            if !LAST {
                self.next_reference.before_step(self.k, &self.theta);
            }
            let PrimalDual { theta, w, theta_ref, f_bar, jac_bar, u, draws, leaks, .. } = self;
            let ahead = draws.dual_i.ahead(AHEAD, n_x);
            pairs.prefetch(ahead, draws.dual_j.ahead(AHEAD, n_y));
            if V::STORES_JACOBIANS && g.is_none() {
                prefetch(jac_bar, ahead * d, d);
            }
            prefetch(w, ahead, 1);
            prefetch(f_bar, ahead, 1);
            let i = draws.dual_i.index(n_x);
            let j = draws.dual_j.index(n_y);
            let difference = pairs.difference(i, j, theta, theta_ref);
            oracle.count_difference(i, j);
            let change = if let Some(shrink) = square {
                // prox(v) = shrink v for v = w_i + alpha_w (difference + fbar_i), less w_i
                let at_hand = f_bar[i].mul_add(pace.alpha_w, w[i]).mul_add(shrink, -w[i]);
                difference.mul_add(pace.alpha_w * shrink, at_hand)
            } else {
                let mut new = [(difference + f_bar[i]).mul_add(pace.alpha_w, w[i])];
                oracle.phi().prox_conjugate(i, pace.alpha_w, &mut new);
                new[0] - w[i]
            };
            w[i] += change;
            let mut c = change * share;
            if !V::STORES_JACOBIANS {
                let j = draws.u_j.index(n_y);
                if pace.leak > 0.0 {
                    leaks.draw_back(pace.leak, u);
                    c += pace.leak * (w[i] - change - leaks.w()[i]);
                }
                pairs.add(i, j, c, u);
                oracle.count_product(i, j);
                oracle.g().step(alpha, u, theta);
            } else if let Some((shrink, tilt)) = &g {
                // fbar_i' is near, and `jac_bar` is not.
                let along = Move { c, shrink: *shrink, step: -shrink * alpha };
                pairs.add_mean_and_step(i, along, u, tilt, theta);
            } else {
                oracle.g().step_along_sum(alpha, c, row(jac_bar, d, i), u, theta);
            }
            if !LAST {
                self.next_reference.dual_changed(self.k, i, &[change]);
            }
            self.k += 1;
            if !LAST {
                self.next_reference.after_step(
                    oracle,
                    self.k,
                    pace.inner_iterations,
                    &self.theta,
                    &mut self.w,
                );
            }
        }
    }
}

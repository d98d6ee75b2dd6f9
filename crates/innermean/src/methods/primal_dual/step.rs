//! The steps of the boxes: single terms and samples, as in the paper, and plain ones before the first snapshot.

use std::mem;

use super::{Pace, PrimalDual, UpdateU};
use crate::oracle::Oracle;
use crate::vector::{dispatch, prefetch};

/// How many steps ahead rows are prefetched: the time of a few steps covers a wait for memory.
const AHEAD: usize = 4;

impl PrimalDual {
    /// Step k of the box. With Option I (`LAST`) the reference point asks for nothing.
    #[inline(always)]
    pub(super) fn step<V: UpdateU, const LAST: bool>(&mut self, oracle: &mut Oracle<'_>, pace: &Pace) {
        if !LAST {
            self.next_reference.before_step(self.k, &self.theta);
        }
        // i_k, j_k; delta^w_k; w_i^(k)
        let (i, j) = self.draw_dual(oracle);
        self.dual_step(
            oracle,
            pace,
            i,
            j,
            #[inline(always)]
            |s, oracle, change| {
                if !LAST {
                    s.next_reference.dual_changed(s.k, i, change);
                }
                // U_k; i'_k, j'_k; delta^theta_k; theta^(k)
                V::update_u_and_theta(s, oracle, pace, i, change);
            },
        );
        self.k += 1;
        if !LAST {
            self.next_reference.after_step(oracle, self.k, pace.inner_iterations, &self.theta, &mut self.w);
        }
    }

    /// Steps that are not the paper's, or lag behind, or warm up: out of the way of the others, which would be slower with these inlined beside
    /// them.
    #[inline(never)]
    pub(super) fn other_steps<V: UpdateU>(&mut self, oracle: &mut Oracle<'_>, pace: &Pace, count: usize) {
        let lags = self.lagged.is_on(oracle);
        dispatch(
            #[inline(always)]
            || {
                for _ in 0..count {
                    if lags {
                        self.lagged_step::<V>(oracle, pace);
                    } else if pace.is_batched() {
                        self.batch_step::<V>(oracle, pace);
                    } else {
                        self.plain_step(oracle, pace);
                    }
                }
            },
        );
    }

    /// Draws `i_k` and `j_k`.
    #[inline(always)]
    pub(super) fn draw_dual(&mut self, oracle: &Oracle<'_>) -> (usize, usize) {
        self.prefetch(oracle);
        let i = self.draws.dual_i.index(oracle.n_x());
        (i, self.draws.dual_j.index(oracle.n_y(i)))
    }

    /// Computes `delta^w_k = f_theta(x_i, y_ij) - f_theta_ref(x_i, y_ij) + fbar_i(theta_ref)` for `i = i_k` and `j = j_k`, and updates
    /// `w_i <- argmin -<delta^w_k, w> + phi_i*(w) + |w - w_i|^2 / (2 alpha_w) = prox_{alpha_w phi_i*}(w_i + alpha_w delta^w_k)`.
    /// What follows is told what has been added to `w_i`.
    #[inline(always)]
    pub(super) fn dual_step<'p>(
        &mut self,
        oracle: &mut Oracle<'p>,
        pace: &Pace,
        i: usize,
        j: usize,
        then: impl FnOnce(&mut Self, &mut Oracle<'p>, &[f64]),
    ) {
        self.with_scratch(
            oracle.ell(),
            #[inline(always)]
            |s, [delta_w, work, change]| {
                if pace.single_loop {
                    // n_Y = 1: f_theta_ref and fbar_i(theta_ref) cancel.
                    oracle.value(&s.theta, i, j, delta_w);
                    change.fill(0.0);
                } else {
                    oracle.difference(&s.theta, &s.theta_ref, i, j, work, delta_w);
                    for (known, f_bar) in change.iter_mut().zip(&s.f_bar[i * delta_w.len()..]) {
                        *known = *f_bar;
                    }
                }
                s.ascend(oracle, pace.alpha_w, i, delta_w, change);
                then(s, oracle, change);
            },
        );
    }

    /// Brings near what the dual step will touch a few steps from now: random rows would each cost a wait.
    #[inline(always)]
    pub(super) fn prefetch(&self, oracle: &Oracle<'_>) {
        let ell = oracle.ell();
        let i = self.draws.dual_i.ahead(AHEAD, oracle.n_x());
        let j = self.draws.dual_j.ahead(AHEAD, oracle.n_y(i));
        oracle.prefetch(i, j);
        prefetch(&self.jac_bar, i * ell * oracle.d(), ell * oracle.d());
        prefetch(&self.w, i * ell, ell);
        prefetch(&self.f_bar, i * ell, ell);
    }

    /// Lends three vectors of length ell. For `ell = 1` they are on the stack, where the compiler turns them into registers:
    /// through memory, each of the dual step's lines would wait for the one before it.
    #[inline(always)]
    pub(super) fn with_scratch(&mut self, ell: usize, work: impl FnOnce(&mut Self, [&mut [f64]; 3])) {
        if ell == 1 {
            let [mut a, mut b, mut c] = [[0.0]; 3];
            work(self, [&mut a, &mut b, &mut c]);
        } else {
            let mut scratch = mem::take(&mut self.scratch);
            let (a, rest) = scratch.split_at_mut(ell);
            let (b, c) = rest.split_at_mut(ell);
            work(self, [a, b, c]);
            self.scratch = scratch;
        }
    }

    /// `w_i <- prox_{alpha_w phi_i*}(w_i + alpha_w (delta_w + change))`, where `delta_w` has been waited for and `change` was at hand; after it, `change` is what
    /// is added to `w_i`.
    #[inline(always)]
    pub(super) fn ascend(
        &mut self,
        oracle: &Oracle<'_>,
        alpha_w: f64,
        i: usize,
        delta_w: &mut [f64],
        change: &mut [f64],
    ) {
        let w_i = &mut self.w[i * delta_w.len()..(i + 1) * delta_w.len()];
        for ((delta, known), w) in delta_w.iter_mut().zip(&*change).zip(&*w_i) {
            *delta = delta.mul_add(alpha_w, known.mul_add(alpha_w, *w));
        }
        oracle.prox_conjugate(i, alpha_w, delta_w);
        for ((change, w), new) in change.iter_mut().zip(w_i).zip(delta_w) {
            *change = *new - *w;
            *w = *new;
        }
    }

    /// Draws `i'_k` and `j'_k`, computes
    /// `delta^theta_k = f'_theta(x_i', y_i'j') w_i' - f'_theta_ref(x_i', y_i'j') w_i' + U_k`, and updates
    /// `theta <- prox_{alpha_theta g}(theta - alpha_theta delta^theta_k)`.
    #[inline(always)]
    pub(in crate::methods) fn primal_step(&mut self, oracle: &mut Oracle<'_>, pace: &Pace) {
        if oracle.affine() {
            // The first two terms cancel: nothing is drawn and nothing is asked.
            return oracle.primal_step(pace.alpha_theta, &self.u, &mut self.theta);
        }
        let ell = oracle.ell();
        let i = self.draws.primal_i.index(oracle.n_x());
        let j = self.draws.primal_j.index(oracle.n_y(i));
        self.delta_theta.copy_from_slice(&self.u);
        let w_i = &self.w[i * ell..(i + 1) * ell];
        oracle.add_jac_t_difference(&self.theta, &self.theta_ref, i, j, w_i, &mut self.delta_theta);
        oracle.primal_step(pace.alpha_theta, &self.delta_theta, &mut self.theta);
    }

    /// A warm-up step, not variance-reduced: draws one pair, then `w_i <- prox(w_i + alpha_w f_theta(x_i, y_ij))` and
    /// `theta <- prox(theta - alpha_theta f'_theta(x_i, y_ij) w_i)`. With one sample for both, the noise in `w_i` pulls
    /// theta towards zero as a ridge would; two independent samples took 4 % more calls on the paper's portfolios.
    #[inline(always)]
    pub(super) fn plain_step(&mut self, oracle: &mut Oracle<'_>, pace: &Pace) {
        let ell = oracle.ell();
        let (i, j) = self.draw_dual(oracle);
        self.plain_dual_step(oracle, pace, i, j);
        self.delta_theta.fill(0.0);
        let w_i = &self.w[i * ell..(i + 1) * ell];
        oracle.add_jac_t(&self.theta, i, j, w_i, 1.0, &mut self.delta_theta);
        oracle.primal_step(pace.alpha_theta, &self.delta_theta, &mut self.theta);
        self.k += 1;
    }

    /// The dual half of a warm-up step.
    #[inline(always)]
    pub(super) fn plain_dual_step(&mut self, oracle: &mut Oracle<'_>, pace: &Pace, i: usize, j: usize) {
        self.with_scratch(
            oracle.ell(),
            #[inline(always)]
            |s, [value, _, change]| {
                oracle.value(&s.theta, i, j, value);
                change.fill(0.0);
                s.ascend(oracle, pace.alpha_w, i, value, change);
            },
        );
    }
}

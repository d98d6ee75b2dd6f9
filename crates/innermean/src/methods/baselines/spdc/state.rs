//! What SPDC carries from step to step, and its dual half-step.

use serde::{Deserialize, Serialize};

use super::Spdc;
use crate::draws::Stream;
use crate::linalg::vector::{Aligned, axpy};
use crate::methods::lagged::Lagged;
use crate::methods::reference::NextReference;
use crate::oracle::Oracle;

/// Theta, the duals, and u.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    pub(super) theta: Aligned,
    pub(super) theta_before: Aligned,
    pub(super) theta_bar: Aligned,
    pub(super) w: Vec<f64>,
    /// `u = (1/n_X) sum_i Abar_i' w_i`
    pub(super) u: Aligned,
    /// `u + (1/m) sum_{k in K} Abar_k' dw_k`
    pub(super) direction: Aligned,
    /// `Abar_i' dw_i`
    pub(super) product: Aligned,
    /// Where averages are taken, that of u.
    pub(super) u_mean: Vec<f64>,
    pub(super) next_reference: NextReference,
    pub(super) k: usize,
    /// Which coordinates of theta are behind, theta-before and theta-bar with them
    pub(super) lagged: Lagged,
    /// The terms that a step has drawn
    pub(super) drawn: Vec<usize>,
    /// Two vectors of length ell
    pub(super) scratch: Vec<f64>,
    pub(super) draws: Stream,
}

impl State {
    /// Draws k and updates `w_k <- prox_{sigma phi_k*}(w_k + sigma fbar_k(theta-bar))`, u and the
    /// direction. Differs: the m draws of a batch are independent, so that one dual may move twice.
    #[inline(always)]
    pub(super) fn dual_step(&mut self, oracle: &mut Oracle<'_>, settings: &Spdc) {
        let i = self.draw(oracle);
        self.ascend(oracle, settings.alpha_w, i);
        let change = &self.scratch[oracle.ell()..];
        // Both along the same product: u += (1/n) Abar_i' dw_i, direction += (1/m) Abar_i' dw_i.
        self.product.fill(0.0);
        oracle.add_jac_t(&self.theta_bar, i, 0, change, 1.0, &mut self.product);
        axpy(oracle.one_over_n_x(), &self.product, &mut self.u);
        axpy(1.0 / settings.batch as f64, &self.product, &mut self.direction);
    }

    #[inline(always)]
    fn draw(&mut self, oracle: &Oracle<'_>) -> usize {
        oracle.prefetch(self.draws.ahead(AHEAD, oracle.n_x()), 0);
        self.draws.index(oracle.n_x())
    }

    /// `w_i <- prox_{sigma phi_i*}(w_i + sigma fbar_i(theta-bar))`; what is added to it is in
    /// the second half of the scratch.
    #[inline(always)]
    fn ascend(&mut self, oracle: &mut Oracle<'_>, alpha_w: f64, i: usize) {
        let ell = oracle.ell();
        let w_i = &mut self.w[i * ell..(i + 1) * ell];
        let (new, change) = self.scratch.split_at_mut(ell);
        oracle.value(&self.theta_bar, i, 0, new);
        for (new, w) in new.iter_mut().zip(&*w_i) {
            *new = w + alpha_w * *new;
        }
        oracle.phi().prox_conjugate(i, alpha_w, new);
        for ((change, w), new) in change.iter_mut().zip(w_i).zip(new) {
            *change = *new - *w;
            *w = *new;
        }
        self.next_reference.dual_changed(self.k, i, change);
    }

    /// A whole step that looks at the coordinates of its terms alone. Along the others the
    /// direction is u, which does not change there.
    #[inline(never)]
    pub(super) fn lagged_step(&mut self, oracle: &mut Oracle<'_>, settings: &Spdc) {
        for t in 0..settings.batch {
            let i = self.draw(oracle);
            self.drawn[t] = i;
            for &l in oracle.support(i).unwrap_or_default() {
                self.catch_up(oracle, settings, l as usize);
            }
            self.ascend(oracle, settings.alpha_w, i);
            let change = &self.scratch[oracle.ell()..];
            oracle.add_jac_t(&self.theta_bar, i, 0, change, 1.0, &mut self.product);
        }
        for t in 0..settings.batch {
            for &l in oracle.support(self.drawn[t]).unwrap_or_default() {
                let l = l as usize;
                if self.lagged.is_next(l) {
                    let product = std::mem::take(&mut self.product[l]);
                    let direction = self.u[l] + product / settings.batch as f64;
                    self.u[l] += oracle.one_over_n_x() * product;
                    self.step(oracle, settings, l, direction);
                }
            }
        }
        self.lagged.tick();
        self.k += 1;
        if self.k == settings.inner_iterations {
            for l in 0..oracle.d() {
                self.catch_up(oracle, settings, l);
            }
        }
    }

    /// Makes the steps that coordinate l has missed, the last of them with theta-before and
    /// theta-bar.
    #[inline(always)]
    fn catch_up(&mut self, oracle: &Oracle<'_>, settings: &Spdc, l: usize) {
        let missed = self.lagged.missed(l);
        if missed > 1 {
            self.theta[l] =
                oracle.repeated_step(l, missed - 1, settings.alpha_theta, self.u[l], self.theta[l]);
        }
        if missed > 0 {
            self.step(oracle, settings, l, self.u[l]);
        }
    }

    /// One primal step on coordinate l.
    #[inline(always)]
    fn step(&mut self, oracle: &Oracle<'_>, settings: &Spdc, l: usize, direction: f64) {
        let before = self.theta[l];
        let new = oracle.repeated_step(l, 1, settings.alpha_theta, direction, before);
        self.theta_before[l] = before;
        self.theta[l] = new;
        self.theta_bar[l] = new + settings.extrapolation * (new - before);
    }
}

/// Draws between the asking for a row and its use.
const AHEAD: usize = 4;

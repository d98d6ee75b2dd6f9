//! What SPDC carries from step to step, and its dual half-step.

use serde::{Deserialize, Serialize};

use super::Spdc;
use crate::draws::Stream;
use crate::inner::Inner;
use crate::merit::Merit;
use crate::methods::reference::NextReference;
use crate::oracle::Oracle;
use crate::regularizer::Regularizer;
use crate::vector::{Aligned, axpy};

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
    /// Two vectors of length ell
    pub(super) scratch: Vec<f64>,
    pub(super) draws: Stream,
}

impl State {
    /// Draws k and updates `w_k <- prox_{sigma phi_k*}(w_k + sigma fbar_k(theta-bar))`, u and the direction. Differs: the m draws of
    /// a batch are independent, so that one dual may move twice.
    #[inline(always)]
    pub(super) fn dual_step<F: Inner, P: Merit, G: Regularizer>(
        &mut self,
        oracle: &mut Oracle<'_, F, P, G>,
        settings: &Spdc,
    ) {
        let (n_x, ell) = (oracle.n_x(), oracle.ell());
        oracle.prefetch(self.draws.ahead(AHEAD, n_x), 0);
        let i = self.draws.index(n_x);
        let w_i = &mut self.w[i * ell..(i + 1) * ell];
        let (new, change) = self.scratch.split_at_mut(ell);
        oracle.value(&self.theta_bar, i, 0, new);
        for (new, w) in new.iter_mut().zip(&*w_i) {
            *new = w + settings.alpha_w * *new;
        }
        oracle.prox_conjugate(i, settings.alpha_w, new);
        for ((change, w), new) in change.iter_mut().zip(w_i).zip(new) {
            *change = *new - *w;
            *w = *new;
        }
        self.next_reference.dual_changed(self.k, i, change);
        // Both along the same product: u += (1/n) Abar_i' dw_i, direction += (1/m) Abar_i' dw_i.
        self.product.fill(0.0);
        oracle.add_jac_t(&self.theta_bar, i, 0, change, 1.0, &mut self.product);
        axpy(oracle.one_over_n_x(), &self.product, &mut self.u);
        axpy(1.0 / settings.batch as f64, &self.product, &mut self.direction);
    }
}

/// Draws between the asking for a row and its use.
const AHEAD: usize = 4;

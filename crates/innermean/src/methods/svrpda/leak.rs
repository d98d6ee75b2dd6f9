//! SVRPDA-II with a leak: U is drawn back to the batch gradient by the samples that it is updated
//! with, so that M may be as long as that of SVRPDA-I.
//!
//! ```text
//! U_k = U_{k-1} + (1/n_X) J (w_i^(k) - w_i^(k-1)) + p [ J (w_i^(k-1) - w_i^(0)) - (U_{k-1} - U_0) ]
//! ```
//!
//! with `J = f'_theta_ref(x_i, y_ij'')` and `i = i_k`, which does not depend on `w^(k-1)`: the
//! bracket is in expectation what U is short of `(1/n_X) sum_i fbar_i'(theta_ref) w_i^(k-1)`, and
//! U, which begins there, never leaves it in expectation. Without a leak the errors of single
//! samples add up like a random walk; with one they are forgotten after `1/p` steps, and what it
//! adds itself is in proportion to how far the duals have come from `w^(0)`. J is asked for anyway:
//! no call is added.

use serde::{Deserialize, Serialize};

use super::{PrimalDual, Settings};
use crate::linalg::vector::{Aligned, update_with};
use crate::tuning::choice::Leak;

/// What a leak draws back to: the duals and U of the snapshot. Empty where there is none.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Leaks {
    #[serde(with = "crate::run::checkpoint::shape::sized")]
    w: Vec<f64>,
    #[serde(with = "crate::run::checkpoint::shape::sized")]
    u: Aligned,
}

impl Leaks {
    /// Room for as many duals in d coordinates, where steps may leak.
    pub(super) fn new(settings: &Settings, allowed: bool, duals: usize, d: usize) -> Self {
        let wanted = match settings.leak {
            Leak::Off => false,
            Leak::Automatic => settings.automatic,
            Leak::Part(_) => true,
        };
        let room = |length| if allowed && wanted { length } else { 0 };
        Leaks { w: vec![0.0; room(duals)], u: Aligned::zeros(room(d)) }
    }

    /// Whether there is room.
    pub(super) fn are_allowed(&self) -> bool {
        !self.w.is_empty()
    }

    /// After a snapshot.
    pub(super) fn remember(&mut self, w: &[f64], u: &[f64]) {
        if self.are_allowed() {
            self.w.copy_from_slice(w);
            self.u.copy_from_slice(u);
        }
    }

    /// `U <- U - p (U - U_0)`
    #[inline(always)]
    pub(super) fn draw_back(&self, p: f64, u: &mut [f64]) {
        update_with(u, &self.u, |u, from| p.mul_add(from - u, u));
    }

    /// `w^(0)`
    #[inline(always)]
    pub(super) fn w(&self) -> &[f64] {
        &self.w
    }
}

impl PrimalDual {
    /// Draws U towards `U_0`, and adds to `change` what the same Jacobian is multiplied with: `n_X
    /// p (w_i^(k-1) - w_i^(0))`.
    #[inline(always)]
    pub(super) fn leak(&mut self, p: f64, share: f64, i: usize) {
        if p == 0.0 {
            return;
        }
        let PrimalDual { leaks, w, u, change, .. } = self;
        leaks.draw_back(p, u);
        let own = i * change.len()..(i + 1) * change.len();
        for ((change, w), from) in change.iter_mut().zip(&w[own.clone()]).zip(&leaks.w[own]) {
            // w is w^(k) here.
            *change += p / share * (w - *change - from);
        }
    }
}

//! The dual step in the Bregman distance of `phi_i*` instead of the Euclidean one, with `w_i =
//! phi_i'(u_i)`:
//!
//! ```text
//! D_i(w, w_i) = phi_i*(w) - phi_i*(w_i) - <u_i, w - w_i>
//! w_i         = argmin over w of  -<delta^w, w> + phi_i*(w) + D_i(w, w_i) / alpha_w
//! ```
//!
//! whose optimality condition is an average: `u_i <- (u_i + alpha_w delta^w) / (1 + alpha_w)`.
//! There is no prox, and no Newton step in one as for Bernoulli; the price is a query of phi. The
//! saddle point is the same: at it, `u_i = fbar_i`, whatever the distance is.

use super::PrimalDual;
use crate::oracle::Oracle;

/// Halvings of a step on the way back to where phi is finite, at most.
const MOST_HALVINGS: usize = 30;

impl PrimalDual {
    /// The step on `w_i`; `change` is what it adds. `delta^w` is an estimate of an average, and may
    /// lie where phi is infinite: then the step is halved until u does not, a query for each.
    pub(super) fn ascend_mirrored(&mut self, oracle: &mut Oracle<'_>, alpha_w: f64, i: usize) {
        let PrimalDual { w, points, delta_w, work, change, .. } = self;
        let own = i * work.len()..(i + 1) * work.len();
        let (w_i, u_i) = (&mut w[own.clone()], &mut points[own]);
        let mut part = alpha_w / (1.0 + alpha_w);
        let mut allowed = false;
        for _ in 0..MOST_HALVINGS {
            for ((new, u), delta_w) in work.iter_mut().zip(&*u_i).zip(&*delta_w) {
                *new = part.mul_add(delta_w - u, *u);
            }
            allowed = oracle.merit_slope(i, work, change).is_finite()
                && change.iter().all(|w| w.is_finite());
            if allowed {
                break;
            }
            part *= 0.5;
        }
        if !allowed {
            return change.fill(0.0);
        }
        u_i.copy_from_slice(work);
        for (change, w) in change.iter_mut().zip(w_i) {
            let new = *change;
            *change -= *w;
            *w = new;
        }
    }
}

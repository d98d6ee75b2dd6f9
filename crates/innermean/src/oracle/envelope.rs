//! Envelopes of phi around duals, for the method of multipliers: all made of the prox of `phi*`,
//! which is free.

use crate::linalg::blocks::{Blocks, MERIT};
use crate::linalg::vector::{dot, update_with, update_with_both};
use crate::model::problem::Objective;

impl Objective<'_> {
    /// `out_i = prox_{sigma phi_i*}(w_i + sigma f_bar_i)`: the derivative of the envelope.
    pub(crate) fn envelope(&self, sigma: f64, w: &[f64], f_bar: &[f64], out: &mut [f64]) {
        let ell = self.inner.ell();
        Blocks::new(self.inner.n_x(), MERIT * ell).fill(
            ell,
            out,
            #[inline(always)]
            |terms, out| {
                let own = terms.start * ell..terms.end * ell;
                update_with_both(out, &w[own.clone()], &f_bar[own], |_, w, z| w + sigma * z);
                self.merit.prox_conjugates(terms, sigma, out);
            },
        );
    }

    /// [`Self::envelope`] at `f_bar + tau moved`, and `(1/n_X) sum_i <out_i, moved_i>`, the slope
    /// of the mean of the envelopes along it.
    pub(crate) fn envelope_along(
        &self,
        sigma: f64,
        w: &[f64],
        (f_bar, moved, tau): (&[f64], &[f64], f64),
        out: &mut [f64],
    ) -> f64 {
        let (ell, mut slope) = (self.inner.ell(), [0.0]);
        Blocks::new(self.inner.n_x(), MERIT * ell).fill_and_add(
            ell,
            out,
            1.0 / self.inner.n_x() as f64,
            &mut slope,
            #[inline(always)]
            |terms, out, slope| {
                let own = terms.start * ell..terms.end * ell;
                let moved = &moved[own.clone()];
                update_with_both(out, &f_bar[own.clone()], moved, |_, z, moved| z + tau * moved);
                update_with(out, &w[own], |z, w| w + sigma * z);
                self.merit.prox_conjugates(terms, sigma, out);
                slope[0] = dot(out, moved);
            },
        );
        slope[0]
    }

    /// How fast [`Self::envelope`] moves with `sigma f_bar`; see [`Merit::prox_slopes`].
    pub(crate) fn envelope_slopes(&self, sigma: f64, w: &[f64], f_bar: &[f64], out: &mut [f64]) {
        let ell = self.inner.ell();
        Blocks::new(self.inner.n_x(), MERIT * ell).fill(
            ell,
            out,
            #[inline(always)]
            |terms, out| {
                let own = terms.start * ell..terms.end * ell;
                let mut at = vec![0.0; own.len()];
                update_with_both(&mut at, &w[own.clone()], &f_bar[own], |_, w, z| w + sigma * z);
                self.merit.prox_slopes(terms, sigma, &at, out);
            },
        );
    }
}

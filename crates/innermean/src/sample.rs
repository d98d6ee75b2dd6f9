//! A part of the outer terms, as a problem of its own.

use std::ops::Range;

use crate::draws::Stream;
use crate::inner::{Inner, Structure};
use crate::merit::Merit;

/// Of the draws, far from those that methods number from 0.
const STREAM: u64 = 3000;

/// So many of `0..n`, rising: one drawn from each of as many equal stretches.
pub(crate) fn spread(n: usize, count: usize, seed: u64) -> Vec<usize> {
    let mut draws = Stream::new(seed, STREAM);
    let cut = |k: usize| k * n / count;
    let pick = |k: usize| cut(k) + ((cut(k + 1) - cut(k)) as f64 * draws.unit()) as usize;
    (0..count).map(pick).collect()
}

/// Some terms of an affine f or of a phi: term k is that of number `terms[k]`.
pub(crate) struct TermsOf<'p, T: ?Sized> {
    pub(crate) whole: &'p T,
    pub(crate) terms: &'p [usize],
}

impl Inner for TermsOf<'_, dyn Inner + '_> {
    fn d(&self) -> usize {
        self.whole.d()
    }

    fn ell(&self) -> usize {
        self.whole.ell()
    }

    fn n_x(&self) -> usize {
        self.terms.len()
    }

    fn n_y(&self, k: usize) -> usize {
        self.whole.n_y(self.terms[k])
    }

    fn structure(&self) -> Structure {
        Structure { affine: self.whole.structure().affine, ..Structure::default() }
    }

    fn support(&self, k: usize) -> Option<&[u32]> {
        self.whole.support(self.terms[k])
    }

    fn value(&self, theta: &[f64], k: usize, j: usize, out: &mut [f64]) {
        self.whole.value(theta, self.terms[k], j, out);
    }

    fn add_jac_t(&self, theta: &[f64], k: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        self.whole.add_jac_t(theta, self.terms[k], j, w, c, out);
    }

    fn mean(&self, theta: &[f64], k: usize, work: &mut [f64], out: &mut [f64]) {
        self.whole.mean(theta, self.terms[k], work, out);
    }

    fn add_mean_jac_t(&self, theta: &[f64], k: usize, w: &[f64], c: f64, out: &mut [f64]) {
        self.whole.add_mean_jac_t(theta, self.terms[k], w, c, out);
    }
}

impl Merit for TermsOf<'_, dyn Merit + '_> {
    fn value(&self, k: usize, u: &[f64]) -> f64 {
        self.whole.value(self.terms[k], u)
    }

    fn gradient(&self, k: usize, u: &[f64], out: &mut [f64]) {
        self.whole.gradient(self.terms[k], u, out);
    }

    fn seconds(&self, terms: Range<usize>, u: &[f64], out: &mut [f64]) -> bool {
        let ell = u.len() / terms.len().max(1);
        for (k, (u, out)) in terms.zip(u.chunks_exact(ell.max(1)).zip(out.chunks_exact_mut(ell.max(1)))) {
            let i = self.terms[k];
            self.whole.seconds(i..i + 1, u, out);
        }
        self.whole.seconds(0..0, &[], &mut [])
    }

    fn conjugate(&self, k: usize, w: &[f64]) -> f64 {
        self.whole.conjugate(self.terms[k], w)
    }

    fn prox_conjugate(&self, k: usize, alpha: f64, w: &mut [f64]) {
        self.whole.prox_conjugate(self.terms[k], alpha, w);
    }

    fn prox_slopes(&self, terms: Range<usize>, alpha: f64, w: &[f64], out: &mut [f64]) -> bool {
        let ell = w.len() / terms.len().max(1);
        let each = w.chunks_exact(ell.max(1)).zip(out.chunks_exact_mut(ell.max(1)));
        let slopes = |(k, (w, out)): (usize, (&[f64], &mut [f64]))| {
            let i = self.terms[k];
            self.whole.prox_slopes(i..i + 1, alpha, w, out)
        };
        terms.zip(each).all(slopes)
    }

    fn gamma(&self) -> f64 {
        self.whole.gamma()
    }

    fn has_kinks(&self) -> bool {
        self.whole.has_kinks()
    }

    fn curvature(&self, k: usize, u: &[f64]) -> Option<f64> {
        self.whole.curvature(self.terms[k], u)
    }

    fn lipschitz(&self, ell: usize) -> f64 {
        self.whole.lipschitz(ell)
    }

    fn square_weight_of(&self, k: usize) -> Option<f64> {
        self.whole.square_weight_of(self.terms[k])
    }

    fn square_weight(&self) -> Option<f64> {
        self.whole.square_weight()
    }
}

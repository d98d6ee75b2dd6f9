//! `omega_i phi_i`

use std::ops::Range;

use super::Merit;
use crate::model::setting::{InvalidSetting, positive};

/// A merit with a weight for each outer term: one that counts double stands for two.
///
/// ```text
/// h_i(u)               = omega_i phi_i(u)
/// h_i*(w)              = omega_i phi_i*(w / omega_i)
/// prox_{alpha h_i*}(w) = omega_i prox_{(alpha/omega_i) phi_i*}(w / omega_i)
/// gamma                = gamma of phi / max_i omega_i
/// B_w                  = max_i omega_i B_w of phi
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Weighted<P> {
    merit: P,
    weights: Vec<f64>,
    largest: f64,
}

impl<P> Weighted<P> {
    /// One weight for each outer term.
    ///
    /// # Errors
    /// Unless every weight is finite and above 0.
    pub fn new(merit: P, weights: Vec<f64>) -> Result<Self, InvalidSetting> {
        let mut largest = 0.0;
        for (i, &weight) in weights.iter().enumerate() {
            if !(weight.is_finite() && weight > 0.0) {
                positive(&format!("weights[{i}]"), weight)?;
            }
            largest = f64::max(largest, weight);
        }
        Ok(Self { merit, weights, largest })
    }

    /// The merit without weights.
    pub fn merit(&self) -> &P {
        &self.merit
    }

    /// `omega_i`
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }
}

#[inline(always)]
fn scale(by: f64, x: &mut [f64]) {
    for x in x {
        *x *= by;
    }
}

impl<P: Merit> Merit for Weighted<P> {
    fn terms(&self) -> Option<usize> {
        Some(self.weights.len())
    }

    #[inline(always)]
    fn value(&self, i: usize, u: &[f64]) -> f64 {
        self.weights[i] * self.merit.value(i, u)
    }

    fn value_beside(&self, i: usize, u: &[f64], rest: &[f64]) -> f64 {
        self.weights[i] * self.merit.value_beside(i, u, rest)
    }

    #[inline(always)]
    fn gradient(&self, i: usize, u: &[f64], out: &mut [f64]) {
        self.merit.gradient(i, u, out);
        scale(self.weights[i], out);
    }

    fn hessian_diagonal(&self, terms: Range<usize>, u: &[f64], out: &mut [f64]) -> bool {
        let ell = u.len() / terms.len().max(1);
        let known = self.merit.hessian_diagonal(terms.clone(), u, out);
        if known {
            for (i, out) in terms.zip(out.chunks_exact_mut(ell.max(1))) {
                scale(self.weights[i], out);
            }
        }
        known
    }

    fn diagonal_less_rank_one(
        &self,
        terms: Range<usize>,
        u: &[f64],
        diagonal: &mut [f64],
        across: &mut [f64],
    ) -> bool {
        let ell = (u.len() / terms.len().max(1)).max(1);
        let known = self.merit.diagonal_less_rank_one(terms.clone(), u, diagonal, across);
        if known {
            let parts = diagonal.chunks_exact_mut(ell).zip(across.chunks_exact_mut(ell));
            for (i, (diagonal, across)) in terms.zip(parts) {
                scale(self.weights[i], diagonal);
                scale(self.weights[i].sqrt(), across);
            }
        }
        known
    }

    fn conjugate(&self, i: usize, w: &[f64]) -> f64 {
        let mut part = w.to_vec();
        scale(1.0 / self.weights[i], &mut part);
        let value = self.merit.conjugate(i, &part);
        if value < f64::INFINITY {
            return self.weights[i] * value;
        }
        // What a prox has put at the end of the domain may come back next to it.
        scale(1.0 - 2.0 * f64::EPSILON, &mut part);
        self.weights[i] * self.merit.conjugate(i, &part)
    }

    #[inline(always)]
    fn prox_conjugate(&self, i: usize, alpha: f64, w: &mut [f64]) {
        let weight = self.weights[i];
        scale(1.0 / weight, w);
        self.merit.prox_conjugate(i, alpha / weight, w);
        scale(weight, w);
    }

    fn prox_slopes(&self, terms: Range<usize>, alpha: f64, w: &[f64], out: &mut [f64]) -> bool {
        let ell = w.len() / terms.len().max(1);
        let mut part = vec![0.0; ell];
        let each = w.chunks_exact(ell.max(1)).zip(out.chunks_exact_mut(ell.max(1)));
        let mut known = true;
        for (i, (w, out)) in terms.zip(each) {
            part.copy_from_slice(w);
            scale(1.0 / self.weights[i], &mut part);
            known &= self.merit.prox_slopes(i..i + 1, alpha / self.weights[i], &part, out);
        }
        known
    }

    #[inline(always)]
    fn gamma(&self) -> f64 {
        self.merit.gamma() / self.largest
    }

    #[inline(always)]
    fn has_kinks(&self) -> bool {
        self.merit.has_kinks()
    }

    fn curvature(&self, i: usize, u: &[f64]) -> Option<f64> {
        self.merit.curvature(i, u).map(|curvature| self.weights[i] * curvature)
    }

    #[inline(always)]
    fn lipschitz(&self, ell: usize) -> f64 {
        self.merit.lipschitz(ell) * self.largest
    }

    fn square_weight_of(&self, i: usize) -> Option<f64> {
        self.merit.square_weight_of(i).map(|weight| self.weights[i] * weight)
    }

    fn class_of(&self, i: usize) -> Option<(usize, f64)> {
        self.merit.class_of(i).map(|(class, weight)| (class, self.weights[i] * weight))
    }
}

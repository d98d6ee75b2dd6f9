//! A merit written for one coordinate serves any number of them.

use std::ops::Range;

use super::{Merit, difference};
use crate::linalg::vector::dispatch;

/// Of u, the step of a difference: the cube root of rounding, where the two errors of a central
/// difference meet.
const DIFFERENCE: f64 = 6e-6;

/// A family of convex functions `phi_i` of one number. Whatever implements it is a [`Merit`] on
/// `R^ell`: `phi_i(u) = sum_c phi_i(u_c)`, whose gradient, conjugate and prox all go coordinate by
/// coordinate.
///
/// Implement this rather than `Merit` for a phi of your own that is a function of one number or a
/// sum of such. The methods run in the inner loop: mark them `#[inline(always)]`, allocate nothing,
/// and let a NaN through (`f64::min` and `f64::max` swallow it, and with it the news that a run
/// diverged). The names differ from those of `Merit` so that both traits can be in scope.
///
/// ```
/// use innermean::merit::{Merit, ScalarMerit};
///
/// /// `phi_i(u) = (u - b_i)^2 / 2`, so `phi_i*(w) = w^2/2 + b_i w`.
/// struct Target(Vec<f64>);
///
/// impl ScalarMerit for Target {
///     fn phi(&self, i: usize, u: f64) -> f64 { 0.5 * (u - self.0[i]).powi(2) }
///     fn slope(&self, i: usize, u: f64) -> f64 { u - self.0[i] }
///     fn phi_star(&self, i: usize, w: f64) -> f64 { 0.5 * w * w + self.0[i] * w }
///     fn prox_phi_star(&self, i: usize, alpha: f64, w: f64) -> f64 { (w - alpha * self.0[i]) / (1.0 + alpha) }
///     fn max_curvature(&self) -> f64 { 1.0 }
///     fn max_slope(&self) -> f64 { f64::INFINITY }
/// }
///
/// let merit = Target(vec![3.0, 1.0]);
/// assert_eq!(merit.value(1, &[2.0, 0.0]), 1.0);
/// assert_eq!(merit.gamma(), 1.0);
/// ```
pub trait ScalarMerit: Send + Sync {
    /// How many terms there are; see [`Merit::terms`].
    fn count(&self) -> Option<usize> {
        None
    }

    /// `phi_i(u)`.
    fn phi(&self, i: usize, u: f64) -> f64;

    /// `phi_i(u)` where `rest = 1 - u` is known to its last digit; see [`Merit::value_beside`].
    fn phi_beside(&self, i: usize, u: f64, rest: f64) -> f64 {
        let _ = rest;
        self.phi(i, u)
    }

    /// `phi_i'(u)`; at a kink, some subgradient.
    fn slope(&self, i: usize, u: f64) -> f64;

    /// `phi_i''(u)`; where `phi_i'` has a kink, one of its one-sided slopes. Newton's method asks
    /// for it. Unless it is written down, by a central difference of slopes.
    #[inline(always)]
    fn second_derivative(&self, i: usize, u: f64) -> f64 {
        let h = DIFFERENCE * u.abs().max(DIFFERENCE);
        (self.slope(i, u + h) - self.slope(i, u - h)) / (2.0 * h)
    }

    /// The sum of values for many terms; see [`Merit::values`].
    fn phis(&self, terms: Range<usize>, u: &[f64]) -> f64 {
        let ell = u.len() / terms.len().max(1);
        dispatch(
            #[inline(always)]
            || {
                let mut sum = 0.0;
                if ell == 1 {
                    for (i, &u) in terms.zip(u) {
                        sum += self.phi(i, u);
                    }
                    return sum;
                }
                for (k, u) in u.chunks_exact(ell.max(1)).enumerate() {
                    sum += u.iter().fold(0.0, |sum, &u| sum + self.phi(terms.start + k, u));
                }
                sum
            },
        )
    }

    /// Slopes and the sum of values for many terms; see [`Merit::values_and_gradients`].
    fn phis_and_slopes(&self, terms: Range<usize>, u: &[f64], out: &mut [f64]) -> f64 {
        one_by_one(self, terms, u, out)
    }

    /// `phi_i*(w) = sup_u u w - phi_i(u)`, `+inf` outside its domain.
    fn phi_star(&self, i: usize, w: f64) -> f64;

    /// `prox_{alpha phi_i*}(w) = argmin_v phi_i*(v) + (v - w)^2 / (2 alpha)`.
    fn prox_phi_star(&self, i: usize, alpha: f64, w: f64) -> f64;

    /// How fast that prox moves with w; see [`Merit::prox_slopes`]. Unless it is written down, by a
    /// central difference.
    #[inline(always)]
    fn prox_slope(&self, i: usize, alpha: f64, w: f64) -> f64 {
        difference(w, |w| self.prox_phi_star(i, alpha, w))
    }

    /// `sup phi_i''` over all `i` and `u`, `+inf` where there is a kink; `gamma` is its inverse.
    fn max_curvature(&self) -> f64;

    /// Whether there is a kink; see [`Merit::has_kinks`].
    #[inline(always)]
    fn is_kinked(&self) -> bool {
        self.max_curvature() == f64::INFINITY
    }

    /// `phi_i''(u)` where `max_curvature` says nothing about it and there is no kink; see
    /// [`Merit::curvature`].
    fn curvature_at(&self, i: usize, u: f64) -> Option<f64> {
        let unbounded = self.max_curvature() == f64::INFINITY && !self.is_kinked();
        unbounded.then(|| self.second_derivative(i, u))
    }

    /// `sup |phi_i'|` over all `i` and `u`; `B_w` is `sqrt(ell)` times that.
    fn max_slope(&self) -> f64;

    /// `c` if `phi_i(u) = c u^2` for every i; see [`Merit::square_weight`].
    fn square_factor(&self) -> Option<f64> {
        None
    }
}

/// [`ScalarMerit::phis_and_slopes`] as anyone would write it.
pub(super) fn one_by_one<S: ScalarMerit + ?Sized>(
    merit: &S,
    terms: Range<usize>,
    u: &[f64],
    out: &mut [f64],
) -> f64 {
    let ell = u.len() / terms.len().max(1);
    dispatch(
        #[inline(always)]
        || {
            let mut sum = 0.0;
            for (k, (&u, out)) in u.iter().zip(out).enumerate() {
                let i = terms.start + if ell == 1 { k } else { k / ell };
                sum += merit.phi(i, u);
                *out = merit.slope(i, u);
            }
            sum
        },
    )
}

impl<S: ScalarMerit> Merit for S {
    fn terms(&self) -> Option<usize> {
        self.count()
    }

    #[inline(always)]
    fn value(&self, i: usize, u: &[f64]) -> f64 {
        let mut sum = 0.0;
        for &u in u {
            sum += self.phi(i, u);
        }
        sum
    }

    fn value_beside(&self, i: usize, u: &[f64], rest: &[f64]) -> f64 {
        u.iter().zip(rest).map(|(&u, &rest)| self.phi_beside(i, u, rest)).sum()
    }

    #[inline(always)]
    fn gradient(&self, i: usize, u: &[f64], out: &mut [f64]) {
        for (out, &u) in out.iter_mut().zip(u) {
            *out = self.slope(i, u);
        }
    }

    fn values(&self, terms: Range<usize>, u: &[f64]) -> f64 {
        self.phis(terms, u)
    }

    fn values_and_gradients(&self, terms: Range<usize>, u: &[f64], out: &mut [f64]) -> f64 {
        self.phis_and_slopes(terms, u, out)
    }

    fn hessian_diagonal(&self, terms: Range<usize>, u: &[f64], out: &mut [f64]) -> bool {
        let ell = u.len() / terms.len().max(1);
        dispatch(
            #[inline(always)]
            || {
                for (k, (&u, out)) in u.iter().zip(out).enumerate() {
                    *out =
                        self.second_derivative(terms.start + if ell == 1 { k } else { k / ell }, u);
                }
            },
        );
        true
    }

    #[inline(always)]
    fn conjugate(&self, i: usize, w: &[f64]) -> f64 {
        let mut sum = 0.0;
        for &w in w {
            sum += self.phi_star(i, w);
        }
        sum
    }

    fn conjugates(&self, terms: Range<usize>, w: &[f64]) -> [f64; 2] {
        let ell = w.len() / terms.len().max(1);
        dispatch(
            #[inline(always)]
            || {
                let mut sums = [0.0; 2];
                for (k, &w) in w.iter().enumerate() {
                    let star = self.phi_star(terms.start + if ell == 1 { k } else { k / ell }, w);
                    sums = [sums[0] + star, sums[1] + star.abs()];
                }
                sums
            },
        )
    }

    #[inline(always)]
    fn prox_conjugate(&self, i: usize, alpha: f64, w: &mut [f64]) {
        for w in w {
            *w = self.prox_phi_star(i, alpha, *w);
        }
    }

    fn prox_conjugates(&self, terms: Range<usize>, alpha: f64, w: &mut [f64]) {
        let ell = w.len() / terms.len().max(1);
        dispatch(
            #[inline(always)]
            || {
                for (k, w) in w.iter_mut().enumerate() {
                    *w = self.prox_phi_star(
                        terms.start + if ell == 1 { k } else { k / ell },
                        alpha,
                        *w,
                    );
                }
            },
        );
    }

    fn prox_slopes(&self, terms: Range<usize>, alpha: f64, w: &[f64], out: &mut [f64]) -> bool {
        let ell = w.len() / terms.len().max(1);
        dispatch(
            #[inline(always)]
            || {
                for (k, (&w, out)) in w.iter().zip(out).enumerate() {
                    *out =
                        self.prox_slope(terms.start + if ell == 1 { k } else { k / ell }, alpha, w);
                }
            },
        );
        true
    }

    #[inline(always)]
    fn gamma(&self) -> f64 {
        1.0 / self.max_curvature()
    }

    #[inline(always)]
    fn lipschitz(&self, ell: usize) -> f64 {
        self.max_slope() * (ell as f64).sqrt()
    }

    #[inline(always)]
    fn has_kinks(&self) -> bool {
        self.is_kinked()
    }

    fn curvature(&self, i: usize, u: &[f64]) -> Option<f64> {
        u.iter().try_fold(0.0, |most: f64, &u| Some(most.max(self.curvature_at(i, u)?)))
    }

    fn square_weight(&self) -> Option<f64> {
        self.square_factor()
    }
}

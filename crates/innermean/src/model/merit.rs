//! The merit phi: what is done to each average.
//!
//! `P(theta) = (1/n_X) sum_i phi_i( mean_j f_theta(x_i, y_ij) ) + g(theta)`; this room holds the
//! `phi_i`.
//!
//! The primal-dual methods never call phi itself in a step. They use its convex conjugate `phi*(w)
//! = sup_u <u, w> - phi(u)` through the prox `prox_{alpha phi*}(w) = argmin_v phi*(v) + |v - w|^2 /
//! (2 alpha)`. The two are tied by Moreau's identity `w = prox_{alpha phi*}(w) + alpha
//! prox_{phi/alpha}(w/alpha)`.

use std::ops::Range;
use std::sync::Arc;

use crate::linalg::scalar::clamp;
use crate::linalg::vector::{self, dispatch};

mod absolute;
mod any;
mod bernoulli;
mod downside_square;
mod excess;
mod exponential;
mod huber;
mod labels;
mod logistic;
mod multinomial;
mod negative_log;
mod numerical;
mod poisson;
mod quadratic_form;
mod scalar_merit;
mod smoothed_hinge;
mod square;
mod squared_hinge;
mod weighted;

pub use crate::model::curve::Curve;
pub use absolute::Absolute;
pub use any::AnyMerit;
pub use bernoulli::Bernoulli;
pub use downside_square::DownsideSquare;
pub use excess::Excess;
pub use exponential::Exponential;
pub use huber::Huber;
pub use logistic::Logistic;
pub use multinomial::Multinomial;
pub use negative_log::NegativeLog;
pub use numerical::Numerical;
pub use poisson::Poisson;
pub use quadratic_form::QuadraticForm;
pub use scalar_merit::ScalarMerit;
pub use smoothed_hinge::SmoothedHinge;
pub use square::Square;
pub use squared_hinge::SquaredHinge;
pub use weighted::Weighted;

/// A family of convex functions `phi_i` on `R^ell`, one for each outer index `i`.
///
/// The merits shipped here apply one scalar function to each coordinate and add up, so that they
/// serve any `ell`; see [`ScalarMerit`], the shorter way to a merit of your own.
pub trait Merit: Send + Sync {
    /// How many terms there are, for a family with numbers of its own for each; none if it goes
    /// with any number of terms.
    fn terms(&self) -> Option<usize> {
        None
    }

    /// `phi_i(u)`.
    fn value(&self, i: usize, u: &[f64]) -> f64;

    /// `out = phi_i'(u)`; at a kink, some subgradient.
    fn gradient(&self, i: usize, u: &[f64], out: &mut [f64]);

    /// `out += c phi_i'(u)`; `work` is scratch of the length of u. Worth its own code where `phi_i`
    /// looks at few coordinates.
    #[inline(always)]
    fn add_gradient(&self, i: usize, u: &[f64], c: f64, work: &mut [f64], out: &mut [f64]) {
        self.gradient(i, u, work);
        vector::axpy(c, work, out);
    }

    /// `phi_i(u)` where `rest = 1 - u` is known to its last digit, as it is of probabilities that
    /// are nearly 1.
    fn value_beside(&self, i: usize, u: &[f64], rest: &[f64]) -> f64 {
        let _ = rest;
        self.value(i, u)
    }

    /// `sum_i phi_i(u_i)` over some terms, whose averages lie flat in `u`; see
    /// [`Self::values_and_gradients`].
    fn values(&self, terms: Range<usize>, u: &[f64]) -> f64 {
        let ell = u.len() / terms.len().max(1);
        dispatch(
            #[inline(always)]
            || {
                let mut sum = 0.0;
                for (k, i) in terms.enumerate() {
                    sum += self.value(i, &u[k * ell..(k + 1) * ell]);
                }
                sum
            },
        )
    }

    /// `out_i = phi_i'(u_i)` for some terms, whose averages lie flat in `u`, and `sum_i phi_i(u_i)`
    /// as what is returned. One call for many terms: the loop is compiled for the phi and for the
    /// CPU at hand, even where phi is known at run time alone.
    fn values_and_gradients(&self, terms: Range<usize>, u: &[f64], out: &mut [f64]) -> f64 {
        let ell = u.len() / terms.len().max(1);
        dispatch(
            #[inline(always)]
            || {
                let mut sum = 0.0;
                for (k, i) in terms.enumerate() {
                    let own = k * ell..(k + 1) * ell;
                    sum += self.value(i, &u[own.clone()]);
                    self.gradient(i, &u[own.clone()], &mut out[own]);
                }
                sum
            },
        )
    }

    /// `out_i = ` the diagonal of `phi_i''(u_i)` for some terms, as in
    /// [`Self::values_and_gradients`], if every `phi_i` is a sum over coordinates; where `phi_i'`
    /// has a kink, one of its one-sided slopes. False, with nothing written, if it is no such sum
    /// or is not known.
    fn hessian_diagonal(&self, terms: Range<usize>, u: &[f64], out: &mut [f64]) -> bool {
        let _ = (terms, u, out);
        false
    }

    /// `phi_i'' = diag(diagonal_i) - across_i across_i'` for some terms, as in
    /// [`Self::values_and_gradients`], for a phi that is no sum over coordinates and has second
    /// derivatives of this kind. False, with nothing written, for all others.
    fn diagonal_less_rank_one(
        &self,
        terms: Range<usize>,
        u: &[f64],
        diagonal: &mut [f64],
        across: &mut [f64],
    ) -> bool {
        let _ = (terms, u, diagonal, across);
        false
    }

    /// `phi_i*(w)`, `+inf` outside its domain.
    fn conjugate(&self, i: usize, w: &[f64]) -> f64;

    /// The sum of `phi_i*(w_i)` over some terms, as in [`Self::values_and_gradients`], and that of
    /// their sizes.
    fn conjugates(&self, terms: Range<usize>, w: &[f64]) -> [f64; 2] {
        let ell = w.len() / terms.len().max(1);
        let stars = terms.zip(w.chunks_exact(ell.max(1))).map(|(i, w)| self.conjugate(i, w));
        stars.fold([0.0; 2], |[sum, size], star| [sum + star, size + star.abs()])
    }

    /// `w <- prox_{alpha phi_i*}(w)`.
    fn prox_conjugate(&self, i: usize, alpha: f64, w: &mut [f64]);

    /// [`Self::prox_conjugate`] for some terms, whose duals lie flat in `w`, as in
    /// [`Self::values_and_gradients`].
    fn prox_conjugates(&self, terms: Range<usize>, alpha: f64, w: &mut [f64]) {
        let ell = w.len() / terms.len().max(1);
        for (i, w) in terms.zip(w.chunks_exact_mut(ell.max(1))) {
            self.prox_conjugate(i, alpha, w);
        }
    }

    /// How fast that prox moves, if every `phi_i` is a sum over coordinates: `out_i = ` the
    /// diagonal of its derivative at `w_i`, between 0 and 1; where it has a kink, something between
    /// its one-sided slopes. False, with nothing written, if it is no such sum or is not known.
    /// Unless it is written down, for averages of one number by a central difference.
    fn prox_slopes(&self, terms: Range<usize>, alpha: f64, w: &[f64], out: &mut [f64]) -> bool {
        if w.len() != terms.len() {
            return false;
        }
        let prox = |i: usize, w: f64| {
            let mut w = [w];
            self.prox_conjugate(i, alpha, &mut w);
            w[0]
        };
        for ((i, &w), out) in terms.zip(w).zip(out) {
            *out = difference(w, |w| prox(i, w));
        }
        true
    }

    /// The largest `gamma >= 0` for which every `phi_i` is `1/gamma`-smooth, so that every `phi_i*`
    /// is `gamma`-strongly convex. Zero when some `phi_i` has a kink, or a curvature without bound,
    /// as logarithms have.
    fn gamma(&self) -> f64;

    /// Whether some `phi_i` has a kink. Where there is none and gamma is 0, methods go by the
    /// curvature where they start.
    #[inline(always)]
    fn has_kinks(&self) -> bool {
        self.gamma() <= 0.0
    }

    /// The largest eigenvalue of `phi_i''(u)`, for a phi whose curvature differs so much from place
    /// to place that `1/gamma` says nothing about it. None: `1/gamma` will do.
    fn curvature(&self, i: usize, u: &[f64]) -> Option<f64> {
        let _ = (i, u);
        None
    }

    /// `B_w`: a Lipschitz constant common to all `phi_i` on `R^ell`, `+inf` where there is none.
    fn lipschitz(&self, ell: usize) -> f64;

    /// `c` if `phi_i(u) = c |u|^2` for every i: then the optimum may be had directly.
    fn square_weight(&self) -> Option<f64> {
        None
    }

    /// `c_i` if `phi_i(u) = c_i |u|^2`; for every i or for none.
    fn square_weight_of(&self, i: usize) -> Option<f64> {
        let _ = i;
        self.square_weight()
    }

    /// The class `c_i` and the weight omega, if `phi_i(u) = omega (log sum_c e^(u_c) - u_{c_i})`;
    /// for every i or for none.
    fn class_of(&self, i: usize) -> Option<(usize, f64)> {
        let _ = i;
        None
    }

    /// This merit as a quadratic form, if it is one: methods for policy evaluation sample its
    /// matrix.
    #[inline(always)]
    fn quadratic_form(&self) -> Option<&QuadraticForm> {
        None
    }
}

/// The slope of a prox at w by a central difference.
#[inline(always)]
fn difference(w: f64, prox: impl Fn(f64) -> f64) -> f64 {
    let h = DIFFERENCE * (w.abs() + prox(w).abs()).max(f64::MIN_POSITIVE / DIFFERENCE);
    clamp((prox(w + h) - prox(w - h)) / (2.0 * h), 0.0, 1.0)
}

/// Of w, the step of a difference: the prox has straight pieces, whose ends should not be met.
const DIFFERENCE: f64 = 1e-9;

/// Writes `impl Merit` for a pointer to one, which passes on every call, the provided ones too.
macro_rules! pass_on {
    ($($pointer:ty $(, $P:ident)?;)*) => { $(
            impl$(<$P: Merit + ?Sized>)? Merit for $pointer {
                fn terms(&self) -> Option<usize> {
                    (**self).terms()
                }

                fn value(&self, i: usize, u: &[f64]) -> f64 {
                    (**self).value(i, u)
                }

                fn value_beside(&self, i: usize, u: &[f64], rest: &[f64]) -> f64 {
                    (**self).value_beside(i, u, rest)
                }

                fn gradient(&self, i: usize, u: &[f64], out: &mut [f64]) {
                    (**self).gradient(i, u, out);
                }

                fn add_gradient(&self, i: usize, u: &[f64], c: f64, work: &mut [f64], out: &mut [f64]) {
                    (**self).add_gradient(i, u, c, work, out);
                }

                fn values(&self, terms: Range<usize>, u: &[f64]) -> f64 {
                    (**self).values(terms, u)
                }

                fn values_and_gradients(&self, terms: Range<usize>, u: &[f64], out: &mut [f64]) -> f64 {
                    (**self).values_and_gradients(terms, u, out)
                }

                fn hessian_diagonal(&self, terms: Range<usize>, u: &[f64], out: &mut [f64]) -> bool {
                    (**self).hessian_diagonal(terms, u, out)
                }

                fn diagonal_less_rank_one(
                    &self,
                    terms: Range<usize>,
                    u: &[f64],
                    diagonal: &mut [f64],
                    across: &mut [f64],
                ) -> bool {
                    (**self).diagonal_less_rank_one(terms, u, diagonal, across)
                }

                fn conjugate(&self, i: usize, w: &[f64]) -> f64 {
                    (**self).conjugate(i, w)
                }

                fn conjugates(&self, terms: Range<usize>, w: &[f64]) -> [f64; 2] {
                    (**self).conjugates(terms, w)
                }

                fn prox_conjugate(&self, i: usize, alpha: f64, w: &mut [f64]) {
                    (**self).prox_conjugate(i, alpha, w);
                }

                fn prox_conjugates(&self, terms: Range<usize>, alpha: f64, w: &mut [f64]) {
                    (**self).prox_conjugates(terms, alpha, w);
                }

                fn prox_slopes(&self, terms: Range<usize>, alpha: f64, w: &[f64], out: &mut [f64]) -> bool {
                    (**self).prox_slopes(terms, alpha, w, out)
                }

                fn gamma(&self) -> f64 {
                    (**self).gamma()
                }

                fn lipschitz(&self, ell: usize) -> f64 {
                    (**self).lipschitz(ell)
                }

                fn has_kinks(&self) -> bool {
                    (**self).has_kinks()
                }

                fn curvature(&self, i: usize, u: &[f64]) -> Option<f64> {
                    (**self).curvature(i, u)
                }

                fn square_weight(&self) -> Option<f64> {
                    (**self).square_weight()
                }

                fn square_weight_of(&self, i: usize) -> Option<f64> {
                    (**self).square_weight_of(i)
                }

                fn class_of(&self, i: usize) -> Option<(usize, f64)> {
                    (**self).class_of(i)
                }

                fn quadratic_form(&self) -> Option<&QuadraticForm> {
                    (**self).quadratic_form()
                }
            }
    )* };
}

pass_on! {
    &'_ (dyn Merit + '_);
    Box<dyn Merit + '_>;
    Arc<P>, P;
}

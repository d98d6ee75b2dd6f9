//! The regulariser g: penalties and constraints on theta.
//!
//! A method meets g only through `prox_{alpha g}(v) = argmin_theta g(theta) + |theta - v|^2 / (2
//! alpha)`.

use std::sync::Arc;

use crate::linalg::vector;

mod any;
mod boxed;
mod budget;
mod constraints;
mod coordinate;
mod free_tail;
mod l1;
mod log_barrier;
mod numerical;
mod parts;
pub(crate) mod polyhedral;
mod ridged;
mod separable;
mod simplex;
mod tilted;
mod unregularized;

pub use any::AnyRegularizer;
pub use boxed::BoxConstraint;
pub use budget::Budget;
pub(crate) use constraints::Multipliers;
pub use constraints::{Constraints, LinearConstraint, WeightedNorm};
pub use coordinate::Coordinate;
pub use free_tail::FreeTail;
pub use l1::L1;
pub use log_barrier::LogBarrier;
pub use numerical::Numerical;
pub use parts::Parts;
pub use polyhedral::{Clash, Polyhedral};
pub use ridged::{ElasticNet, Ridge, Ridged};
pub use separable::Separable;
pub use simplex::Simplex;
pub use tilted::Tilted;
pub use unregularized::Unregularized;

/// A convex function on `R^d` with an easy prox; constraints are its `+inf` values.
pub trait Regularizer: Send + Sync {
    /// The length of theta, for a g with numbers of its own for each coordinate; none if it goes
    /// with any length.
    fn d(&self) -> Option<usize> {
        None
    }

    /// Whether theta may have `d` coordinates.
    fn fits(&self, d: usize) -> bool {
        self.d().is_none_or(|own| own == d)
    }

    /// `g(theta)`, `+inf` outside the constraints (with a slack for rounding where a sum is
    /// constrained).
    fn value(&self, theta: &[f64]) -> f64;

    /// `theta <- prox_{alpha g}(theta)`.
    fn prox(&self, alpha: f64, theta: &mut [f64]);

    /// `theta <- prox_{alpha g}(theta - alpha direction)`: the primal step of every method.
    #[inline(always)]
    fn step(&self, alpha: f64, direction: &[f64], theta: &mut [f64]) {
        vector::axpy(-alpha, direction, theta);
        self.prox(alpha, theta);
    }

    /// `u += c x`, then [`Self::step`] along u; one sweep where g allows it.
    #[inline(always)]
    fn step_along_sum(&self, alpha: f64, c: f64, x: &[f64], u: &mut [f64], theta: &mut [f64]) {
        vector::axpy(c, x, u);
        self.step(alpha, u, theta);
    }

    /// `g*(v) = sup_theta <v, theta> - g(theta)`. Not for the inner loop: it may allocate.
    fn conjugate(&self, v: &[f64]) -> f64;

    /// The largest known `mu >= 0` for which g is mu-strongly convex.
    fn mu(&self) -> f64;

    /// `g_l` if `g(theta) = sum_l g_l(theta_l)` with parts of that shape; for every l or for none.
    /// Then a method may leave coordinates that a step does not look at for later, and make many
    /// steps on one at once.
    #[inline(always)]
    fn coordinate(&self, l: usize) -> Option<Coordinate> {
        let _ = l;
        None
    }

    /// `g_l` if g is such a sum where `sum_l theta_l = 1` over the [`Self::budgeted`] coordinates,
    /// and `+inf` elsewhere; or where it is such a sum together with [`Self::constraints`]. For
    /// every l or for none.
    fn constrained_coordinate(&self, l: usize) -> Option<Coordinate> {
        let _ = l;
        None
    }

    /// What is asked of theta as a whole, beside the parts of [`Self::constrained_coordinate`].
    fn constraints(&self) -> Option<&Arc<Constraints>> {
        None
    }

    /// How many coordinates, the first ones, the budget of [`Self::constrained_coordinate`] sums up;
    /// those after them are not part of it.
    fn budgeted(&self, d: usize) -> usize {
        d
    }

    /// `(lambda, tilt)` if `g(theta) = (lambda/2) |theta|^2 + <tilt, theta>` on all of `R^d`, but
    /// for a constant: then the optimum may be had directly.
    fn quadratic(&self, d: usize) -> Option<(f64, Vec<f64>)> {
        let _ = d;
        None
    }

    /// `(b_l, t_l)` if `g(theta) = sum_l t_l theta_l - b_l log theta_l` on `theta > 0` and `inf`
    /// elsewhere; for every l or for none.
    fn barrier(&self, l: usize) -> Option<(f64, f64)> {
        let _ = l;
        None
    }

    /// The coordinates along which g is a straight line without end, each with its slope: an
    /// intercept has slope 0. There `g*` is finite at that slope alone, and a bound from below
    /// needs duals that meet it.
    fn free_coordinates(&self, d: usize) -> Vec<(usize, f64)> {
        let free =
            |l: usize| self.coordinate(l).filter(Coordinate::is_free).map(|part| (l, part.tilt));
        (0..d).filter_map(free).collect()
    }
}

/// Writes `impl Regularizer` for a pointer to one, so that a problem can borrow its g or hold one
/// chosen at run time.
macro_rules! pass_on {
    ($($pointer:ty),*) => {
        $(
            impl<G: Regularizer + ?Sized> Regularizer for $pointer {
                fn d(&self) -> Option<usize> {
                    (**self).d()
                }

                fn fits(&self, d: usize) -> bool {
                    (**self).fits(d)
                }

                #[inline(always)]
                fn value(&self, theta: &[f64]) -> f64 {
                    (**self).value(theta)
                }

                #[inline(always)]
                fn prox(&self, alpha: f64, theta: &mut [f64]) {
                    (**self).prox(alpha, theta);
                }

                #[inline(always)]
                fn step(&self, alpha: f64, direction: &[f64], theta: &mut [f64]) {
                    (**self).step(alpha, direction, theta);
                }

                #[inline(always)]
                fn step_along_sum(&self, alpha: f64, c: f64, x: &[f64], u: &mut [f64], theta: &mut [f64]) {
                    (**self).step_along_sum(alpha, c, x, u, theta);
                }

                #[inline(always)]
                fn conjugate(&self, v: &[f64]) -> f64 {
                    (**self).conjugate(v)
                }

                #[inline(always)]
                fn mu(&self) -> f64 {
                    (**self).mu()
                }

                #[inline(always)]
                fn coordinate(&self, l: usize) -> Option<Coordinate> {
                    (**self).coordinate(l)
                }

                fn constrained_coordinate(&self, l: usize) -> Option<Coordinate> {
                    (**self).constrained_coordinate(l)
                }

                fn constraints(&self) -> Option<&Arc<Constraints>> {
                    (**self).constraints()
                }

                fn budgeted(&self, d: usize) -> usize {
                    (**self).budgeted(d)
                }

                fn quadratic(&self, d: usize) -> Option<(f64, Vec<f64>)> {
                    (**self).quadratic(d)
                }

                fn barrier(&self, l: usize) -> Option<(f64, f64)> {
                    (**self).barrier(l)
                }

                fn free_coordinates(&self, d: usize) -> Vec<(usize, f64)> {
                    (**self).free_coordinates(d)
                }
            }
        )*
    };
}

pass_on!(&G, Box<G>, Arc<G>);

//! What goes beyond one pair at a time: whole passes over the data, several samples at once, and
//! what f knows about itself.
//!
//! Whoever works on a `dyn Inner` asks these of it as if they were its own: an f with [`Passes`]
//! answers itself, for any other they are made of its queries (`in_memory.rs`), compiled once for
//! all.

use std::ops::Range;

use super::{Bounds, Duals, Inner, PairRows, ProjectedRows, Rows, TransitionRow, in_memory};
use crate::model::collapse::Collapsed;
use crate::model::shared::SharedForm;
use crate::run::checkpoint::Hash;

/// Writes the trait, whose provided calls are those of `in_memory.rs` or a value, and the same
/// calls of `dyn Inner`.
macro_rules! passes {
    ($($(#[$meta:meta])* fn $name:ident($($arg:ident: $type:ty),*) $(-> $out:ty)? $(= $value:expr)?;)*) => {
        /// What an f does better than one pair at a time, and what it knows about itself. Every
        /// call but the first is provided, and a problem overrides it to fuse, to vectorise or to
        /// exploit its structure.
        ///
        /// `add_...` accumulates into `out`, a bare noun overwrites it. `work` is scratch of length
        /// `ell` lent by the caller, so that nothing is allocated in a step. Vectors over all i lie
        /// flat: i owns `[i * ell..(i + 1) * ell]`.
        pub trait Passes: Sync {
            /// The f itself.
            fn f(&self) -> &dyn Inner;

            $(
                $(#[$meta])*
                fn $name(&self $(, $arg: $type)*) $(-> $out)? {
                    passes!(@ self.f(), $name($($arg),*) $(= $value)?)
                }
            )*
        }

        #[expect(missing_docs, reason = "they are those of `Passes`")]
        #[expect(clippy::too_many_arguments, reason = "the formulas have as many")]
        impl dyn Inner + '_ {
            $(
                #[inline]
                pub fn $name(&self $(, $arg: $type)*) $(-> $out)? {
                    match self.passes() {
                        Some(own) => own.$name($($arg),*),
                        None => passes!(@ self, $name($($arg),*) $(= $value)?),
                    }
                }
            )*
        }
    };
    (@ $f:expr, $name:ident($($arg:ident),*) = $value:expr) => {{
        let _ = ($($arg,)*);
        $value
    }};
    (@ $f:expr, $name:ident($($arg:ident),*)) => { in_memory::$name($f $(, $arg)*) };
}

passes! {
    /// What is known about the size of f'.
    fn bounds() -> Bounds;

    /// The rows of data that a query reads: one for a pair, unless f says otherwise.
    fn rows() -> Rows;

    /// What one query of f or f' counts as, in oracle calls: more than one where f stacks several
    /// functions, as [`SharedForm`]s do.
    fn calls_per_query() -> u64 = 1;

    /// A hint for f of which a term looks at few coordinates of theta: those that any `f_theta(x_i,
    /// y_ij)` of term i depends on, rising. None: all of them. An f gives the coordinates of every
    /// term or of none. Methods that take it leave the other coordinates for later, so that a step
    /// costs as much as it looks at, and mean Jacobians are kept at these coordinates alone.
    fn support(i: usize) -> Option<&[u32]> = None;

    /// An estimate of `max_i |fbar_i'(theta)|` (Frobenius) for steps and measures, where there is a
    /// cheaper way to one than a pass over the data for each coordinate of each term.
    fn mean_jacobian_size(theta: &[f64]) -> Option<f64> = None;

    /// `fbar_i'(theta)` of some terms, or averages over some of their samples, as ell rows of
    /// length d for each: for rough estimates, where they cost a fraction of a pass over the data.
    fn some_mean_jacobians(theta: &[f64]) -> Option<Vec<f64>> = None;

    /// A point whose gradient is of ordinary size, for an f that may be stationary at the origin by
    /// symmetry: stationarity is measured in the larger of the two.
    fn ordinary_point() -> Option<Vec<f64>> = None;

    /// Whether every `phi_i(fbar_i(theta))` is convex in theta. An affine f is so with any phi.
    /// Another f may say so of itself and the phi that it is made for, as a convex f with a phi
    /// that never falls: then the distance to the optimum can be bounded, and a wrong word here
    /// makes that bound wrong.
    fn convex_composition() -> bool;

    /// The same f with an inner sample shared by all i, where there is a better way to it than
    /// [`crate::model::shared::Stacked`].
    fn shared_form() -> Option<Box<dyn SharedForm + '_>> = None;

    /// Whether `1 - f_theta = f_{-theta}`, as of probabilities by a logistic link: what averages
    /// that are nearly 1 leave to it has all its digits there.
    fn is_mirrored() -> bool = false;

    /// The averages of an affine f as linear predictors, where it keeps them: then nobody needs to
    /// collapse it.
    fn averages() -> Option<&Collapsed> = None;

    /// The rows behind the pairs of an affine f with `ell = 1`, where they lie in memory, each of
    /// length d.
    fn pair_rows() -> Option<PairRows<'_>> = None;

    /// The rows `x_i` and their mean m, rounded, of an affine f with `fbar_i(theta) = <x_i - m,
    /// theta>`: what is rounded in them is as large as `x_i` and m, and not as their difference.
    fn centred_rows() -> Option<(&[f64], &[f64])> = None;

    /// The transitions behind the averages of a projected Bellman error, as they were given:
    /// products of their features are rounded in single values.
    fn projected_rows() -> Option<ProjectedRows<'_>> = None;

    /// The transition behind pair (i, j) of a Bellman error, as it was given, of every pair or of
    /// none.
    fn transition_row(i: usize, j: usize) -> Option<TransitionRow<'_>> = None;

    /// `sum_r weight(r) a_r a_r'` over the rows of all mean Jacobians, where row `r = i ell + c` is
    /// coordinate c of `fbar_i`, for an affine f that finds it without a copy of them; d rows of
    /// length d.
    fn gram(weight: &(dyn Fn(usize) -> f64 + Sync)) -> Option<Vec<f64>>;

    /// Takes up all numbers that f is made of, for an f whose values and Jacobians may hide the
    /// last digit of one, as where they are differences. False: what pairs answer tells the data
    /// apart.
    fn hash_data(hash: &mut Hash) -> bool = false;

    /// `out = f'_theta(x_i, y_ij)` as ell rows of length d, for the few methods that keep Jacobians
    /// of single pairs.
    fn jacobian(theta: &[f64], i: usize, j: usize, work: &mut [f64], out: &mut [f64]);

    /// A hint: pair (i, j) will be asked for within a few steps. A problem with its data in memory
    /// brings it near.
    fn prefetch(i: usize, j: usize) = ();

    /// `out = f_theta(x_i, y_ij) - f_theta_ref(x_i, y_ij)`
    fn difference(theta: &[f64], theta_ref: &[f64], i: usize, j: usize, work: &mut [f64], out: &mut [f64]);

    /// `out += c (f'_theta(x_i, y_ij) - f'_theta_ref(x_i, y_ij)) w`
    #[expect(clippy::too_many_arguments, reason = "the formula has as many")]
    fn add_jac_t_difference(theta: &[f64], theta_ref: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]);

    /// How many consecutive samples of a term a step may well take at once, where f has found out:
    /// its samples stand in random order, so that a block of them is as good as a random sample,
    /// and a block costs little more than a sample does. 1: no more than one.
    fn block() -> usize = 1;

    /// `out = (1/b) sum of f_theta(x_i, y_ij)` over a block of b consecutive samples.
    fn block_mean(theta: &[f64], i: usize, js: Range<usize>, work: &mut [f64], out: &mut [f64]);

    /// `out = (1/b) sum of f_theta(x_i, y_ij) - f_theta_ref(x_i, y_ij)` over a block of b
    /// consecutive samples.
    fn block_difference(theta: &[f64], theta_ref: &[f64], i: usize, js: Range<usize>, work: &mut [f64], out: &mut [f64]);

    /// `out += (c/b) sum of f'_theta(x_i, y_ij) w` over a block of b consecutive samples.
    fn add_block_jac_t(theta: &[f64], i: usize, js: Range<usize>, w: &[f64], c: f64, out: &mut [f64]);

    /// [`Self::block_mean`], and the mean of the Jacobians of the same samples as ell rows of
    /// length d.
    fn block_mean_and_jacobian(theta: &[f64], i: usize, js: Range<usize>, work: &mut [f64], mean: &mut [f64], jacobian: &mut [f64]);

    /// `out += (c/b) sum of (f'_theta(x_i, y_ij) - f'_theta_ref(x_i, y_ij)) w` over a block of b
    /// consecutive samples.
    #[expect(clippy::too_many_arguments, reason = "the formula has as many")]
    fn add_block_jac_t_difference(theta: &[f64], theta_ref: &[f64], i: usize, js: Range<usize>, w: &[f64], c: f64, out: &mut [f64]);

    /// `out = fbar_i(theta) = (1/n_Yi) sum_j f_theta(x_i, y_ij)`
    fn mean(theta: &[f64], i: usize, work: &mut [f64], out: &mut [f64]);

    /// `out += c fbar_i'(theta) w`
    fn add_mean_jac_t(theta: &[f64], i: usize, w: &[f64], c: f64, out: &mut [f64]);

    /// `out = fbar_i(theta)` for all i.
    fn means(theta: &[f64], out: &mut [f64]);

    /// `out = fbar_i'(theta)` for all i, as ell rows of length d for each i (row c belongs to
    /// coordinate c of f). Of a shared sample, whose Jacobians are all the same, `out` may also
    /// hold the first alone.
    fn mean_jacobians(theta: &[f64], out: &mut [f64]);

    /// [`Self::means`] and [`Self::mean_jacobians`] at one point.
    fn means_and_jacobians(theta: &[f64], f_bar: &mut [f64], jacobians: &mut [f64]);

    /// `out += (1/n_X) sum_i fbar_i'(theta) w_i`
    fn add_weighted_jac_t(theta: &[f64], w: &[f64], out: &mut [f64]);

    /// Both batch quantities of a snapshot: `f_bar_i = fbar_i(theta)` for all i and
    /// `u = (1/n_X) sum_i fbar_i'(theta) w_i`.
    fn snapshot(theta: &[f64], w: &[f64], f_bar: &mut [f64], u: &mut [f64]);

    /// `out = F'(theta) = (1/n_X) sum_i fbar_i'(theta) w_i` and `F(theta)` as what is returned,
    /// where `duals` makes `w_i = phi_i'(f_bar_i)` from `f_bar_i = fbar_i(theta)`; all of them are
    /// left in `f_bar` and `w`. An f whose rows are still near when their duals are known reads
    /// them once and not twice.
    fn gradient(theta: &[f64], duals: &Duals<'_>, f_bar: &mut [f64], w: &mut [f64], out: &mut [f64]) -> f64;
}

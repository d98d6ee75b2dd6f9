//! Queries of f about more than one pair at a time, and the data that f lends.
//!
//! Whoever works on a `dyn Inner` asks these of it as if they were its own: an f with [`Fused`]
//! calls answers itself, for any other they are made of its queries (`in_memory.rs`), compiled once
//! for all.

use std::ops::Range;

use super::{CentredRows, Inner, PairRows, ProjectedRows, TransitionRow, in_memory};
use crate::model::class_scores::ClassScores;
use crate::model::collapse::Collapsed;
use crate::model::shared::SharedForm;

/// Writes the trait, whose provided calls are those of `in_memory.rs` or a value; the same calls of
/// `dyn Inner`; and a macro that passes them on.
macro_rules! fused {
    ($($(#[$meta:meta])* fn $name:ident($($arg:ident: $type:ty),*) $(-> $out:ty)? $(= $value:expr)?;)*) => {
        /// What an f answers better than one pair at a time, and what it lends of its data. Every
        /// call but the first is provided, and a problem overrides it to fuse, to vectorise or to
        /// exploit its structure. None of them fails: they concern a few samples in memory.
        ///
        /// `add_...` accumulates into `out`, a bare noun overwrites it. `work` is scratch of length
        /// `ell` lent by the caller, so that nothing is allocated in a step.
        pub trait Fused: Send + Sync {
            /// The f itself.
            fn f(&self) -> &dyn Inner;

            $(
                $(#[$meta])*
                fn $name(&self $(, $arg: $type)*) $(-> $out)? {
                    fused!(@ self.f(), $name($($arg),*) $(= $value)?)
                }
            )*
        }

        #[expect(missing_docs, reason = "they are those of `Fused`")]
        #[expect(clippy::too_many_arguments, reason = "the formulas have as many")]
        impl dyn Inner + '_ {
            $(
                #[inline]
                pub fn $name(&self $(, $arg: $type)*) $(-> $out)? {
                    match self.passes() {
                        Some(own) => own.$name($($arg),*),
                        None => fused!(@ self, $name($($arg),*) $(= $value)?),
                    }
                }
            )*
        }

        /// Writes `impl Fused for Recording`, which asks the f behind it.
        macro_rules! pass_on_fused {
            () => {
                impl Fused for Recording<'_> {
                    fn f(&self) -> &dyn Inner {
                        self
                    }

                    $(
                        fn $name(&self $(, $arg: $type)*) $(-> $out)? {
                            self.asked().$name($($arg),*)
                        }
                    )*
                }
            };
        }
        pub(super) use pass_on_fused;
    };
    (@ $f:expr, $name:ident($($arg:ident),*) = $value:expr) => {{
        let _ = ($($arg,)*);
        $value
    }};
    (@ $f:expr, $name:ident($($arg:ident),*)) => { in_memory::$name($f $(, $arg)*) };
}

fused! {
    /// The coordinates of theta that any `f_theta(x_i, y_ij)` of term i depends on, rising, for an
    /// f of which a term looks at few. None: all of them. An f gives the coordinates of every term
    /// or of none. Methods that use it leave the other coordinates for later, so that a step
    /// costs as much as it looks at, and mean Jacobians are kept at these coordinates alone.
    fn support(i: usize) -> Option<&[u32]> = None;

    /// How many coordinates all terms look at, added up, and the most that one looks at, where f
    /// has supports.
    fn support_sizes() -> Option<(usize, usize)>;

    /// `sum_i n_Yi`
    fn pairs() -> usize;

    /// A point whose gradient is of ordinary size, for an f that may be stationary at the origin by
    /// symmetry: stationarity is measured in the larger of the two.
    fn ordinary_point() -> Option<Vec<f64>> = None;

    /// The same f with an inner sample shared by all i, where there is a better way to it than
    /// [`crate::model::shared::Stacked`].
    fn shared_form() -> Option<Box<dyn SharedForm + '_>> = None;

    /// The averages of an affine f as linear predictors, where it keeps them: then it need not be
    /// collapsed.
    fn averages() -> Option<&Collapsed> = None;

    /// The scores of several classes, if that is what f is: their rows are kept once for all of
    /// them, and second derivatives are made of blocks.
    fn class_scores() -> Option<&ClassScores> = None;

    /// The rows behind the pairs of an affine f with `ell = 1`, where they lie in memory, each of
    /// length d.
    fn pair_rows() -> Option<PairRows<'_>> = None;

    /// The rows `x_i` and their mean m, rounded, of an affine f with `fbar_i(theta) = <x_i - m,
    /// theta>` and a constant: the rounding in them is relative to `x_i` and m, not to their
    /// difference.
    fn centred_rows() -> Option<CentredRows<'_>> = None;

    /// The transitions behind the averages of a projected Bellman error, as they were given:
    /// products of their features are rounded in single values.
    fn projected_rows() -> Option<ProjectedRows<'_>> = None;

    /// The transition behind pair (i, j) of a Bellman error, as it was given, of every pair or of
    /// none.
    fn transition_row(i: usize, j: usize) -> Option<TransitionRow<'_>> = None;

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
}

//! Pointers to an f are an f.

use std::ops::Range;

use super::{Bounds, Duals, Inner, PairRows, ProjectedRows, Rows, Structure};
use crate::model::collapse::Collapsed;
use crate::model::shared::SharedForm;
use crate::run::checkpoint::Hash;

/// Writes `impl Inner` for a pointer to one, so that a problem can borrow its f or hold one chosen at run time
/// (`Box<dyn Inner>`). Every call is passed on, the provided ones too: the f behind may have its own.
macro_rules! pass_on {
    ($(fn $name:ident($($arg:ident: $type:ty),*) $(-> $out:ty)?;)*) => {
        pass_on!(@ &'_ F; $(fn $name($($arg: $type),*) $(-> $out)?;)*);
        pass_on!(@ Box<F>; $(fn $name($($arg: $type),*) $(-> $out)?;)*);
    };
    (@ $pointer:ty; $(fn $name:ident($($arg:ident: $type:ty),*) $(-> $out:ty)?;)*) => {
        impl<F: Inner + ?Sized> Inner for $pointer {
            $(
                #[inline(always)]
                fn $name(&self $(, $arg: $type)*) $(-> $out)? {
                    (**self).$name($($arg),*)
                }
            )*
        }
    };
}

pass_on! {
    fn d() -> usize;
    fn ell() -> usize;
    fn n_x() -> usize;
    fn n_y(i: usize) -> usize;
    fn structure() -> Structure;
    fn bounds() -> Bounds;
    fn rows() -> Rows;
    fn calls_per_query() -> u64;
    fn support(i: usize) -> Option<&[u32]>;
    fn mean_jacobian_size(theta: &[f64]) -> Option<f64>;
    fn some_mean_jacobians(theta: &[f64]) -> Option<Vec<f64>>;
    fn ordinary_point() -> Option<Vec<f64>>;
    fn convex_composition() -> bool;
    fn shared_form() -> Option<Box<dyn SharedForm + '_>>;
    fn is_mirrored() -> bool;
    fn averages() -> Option<&Collapsed>;
    fn pair_rows() -> Option<PairRows<'_>>;
    fn centred_rows() -> Option<(&[f64], &[f64])>;
    fn projected_rows() -> Option<ProjectedRows<'_>>;
    fn gram(weight: &(dyn Fn(usize) -> f64 + Sync)) -> Option<Vec<f64>>;
    fn hash_data(hash: &mut Hash) -> bool;
    fn value(theta: &[f64], i: usize, j: usize, out: &mut [f64]);
    fn add_jac_t(theta: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]);
    fn jacobian(theta: &[f64], i: usize, j: usize, work: &mut [f64], out: &mut [f64]);
    fn prefetch(i: usize, j: usize);
    fn difference(theta: &[f64], theta_ref: &[f64], i: usize, j: usize, work: &mut [f64], out: &mut [f64]);
    fn add_jac_t_difference(theta: &[f64], theta_ref: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]);
    fn block() -> usize;
    fn block_mean(theta: &[f64], i: usize, js: Range<usize>, work: &mut [f64], out: &mut [f64]);
    fn block_mean_and_jacobian(theta: &[f64], i: usize, js: Range<usize>, work: &mut [f64], mean: &mut [f64], jacobian: &mut [f64]);
    fn block_difference(theta: &[f64], theta_ref: &[f64], i: usize, js: Range<usize>, work: &mut [f64], out: &mut [f64]);
    fn add_block_jac_t(theta: &[f64], i: usize, js: Range<usize>, w: &[f64], c: f64, out: &mut [f64]);
    fn add_block_jac_t_difference(theta: &[f64], theta_ref: &[f64], i: usize, js: Range<usize>, w: &[f64], c: f64, out: &mut [f64]);
    fn mean(theta: &[f64], i: usize, work: &mut [f64], out: &mut [f64]);
    fn add_mean_jac_t(theta: &[f64], i: usize, w: &[f64], c: f64, out: &mut [f64]);
    fn means(theta: &[f64], out: &mut [f64]);
    fn mean_jacobians(theta: &[f64], out: &mut [f64]);
    fn means_and_jacobians(theta: &[f64], f_bar: &mut [f64], jacobians: &mut [f64]);
    fn add_weighted_jac_t(theta: &[f64], w: &[f64], out: &mut [f64]);
    fn snapshot(theta: &[f64], w: &[f64], f_bar: &mut [f64], u: &mut [f64]);
    fn gradient(theta: &[f64], duals: &Duals<'_>, f_bar: &mut [f64], w: &mut [f64], out: &mut [f64]) -> f64;
}

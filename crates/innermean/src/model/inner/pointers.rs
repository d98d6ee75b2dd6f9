//! Pointers to an f are an f.

use std::sync::Arc;

use super::{Facts, Inner, Passes};

/// Writes `impl Inner` for a pointer to one, so that a problem can borrow its f or hold one chosen
/// at run time (`Box<dyn Inner>`), alone or together with others (`Arc<dyn Inner>`).
macro_rules! pass_on {
    ($(fn $name:ident($($arg:ident: $type:ty),*) $(-> $out:ty)?;)*) => {
        pass_on!(@ &'_ F; $(fn $name($($arg: $type),*) $(-> $out)?;)*);
        pass_on!(@ Box<F>; $(fn $name($($arg: $type),*) $(-> $out)?;)*);
        pass_on!(@ Arc<F>; $(fn $name($($arg: $type),*) $(-> $out)?;)*);
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
    fn facts() -> Facts;
    fn value(theta: &[f64], i: usize, j: usize, out: &mut [f64]);
    fn add_jac_t(theta: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]);
    fn passes() -> Option<&dyn Passes>;
}

//! A merit chosen at run time.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Absolute, DownsideSquare, Huber, Merit, Square};

/// One of the merits of this room, chosen at run time as by a command line: one `match` per call,
/// so that it inlines where `Box<dyn Merit>` would not. It answers bit for bit like the merit it
/// holds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnyMerit {
    /// `c u^2`
    Square(Square),
    /// `c min(u, 0)^2`
    DownsideSquare(DownsideSquare),
    /// `c |u|`
    Absolute(Absolute),
    /// `c |u|`, rounded off around zero
    Huber(Huber),
}

/// Writes what depends on the list of variants, so that a new merit is one more word at the bottom
/// of this file.
macro_rules! variants {
    ($($Variant:ident)*) => {
        $(
            impl From<$Variant> for AnyMerit {
                #[inline(always)]
                fn from(merit: $Variant) -> Self {
                    Self::$Variant(merit)
                }
            }
        )*

        impl Merit for AnyMerit {
            fn terms(&self) -> Option<usize> {
                match self { $(Self::$Variant(merit) => merit.terms(),)* }
            }

            #[inline(always)]
            fn value(&self, i: usize, u: &[f64]) -> f64 {
                match self { $(Self::$Variant(merit) => merit.value(i, u),)* }
            }

            fn value_beside(&self, i: usize, u: &[f64], rest: &[f64]) -> f64 {
                match self { $(Self::$Variant(merit) => merit.value_beside(i, u, rest),)* }
            }

            #[inline(always)]
            fn gradient(&self, i: usize, u: &[f64], out: &mut [f64]) {
                match self { $(Self::$Variant(merit) => merit.gradient(i, u, out),)* }
            }

            fn values(&self, terms: Range<usize>, u: &[f64]) -> f64 {
                match self { $(Self::$Variant(merit) => merit.values(terms, u),)* }
            }

            fn values_and_gradients(&self, terms: Range<usize>, u: &[f64], out: &mut [f64]) -> f64 {
                match self { $(Self::$Variant(merit) => merit.values_and_gradients(terms, u, out),)* }
            }

            fn hessian_diagonal(&self, terms: Range<usize>, u: &[f64], out: &mut [f64]) -> bool {
                match self { $(Self::$Variant(merit) => merit.hessian_diagonal(terms, u, out),)* }
            }

            #[inline(always)]
            fn conjugate(&self, i: usize, w: &[f64]) -> f64 {
                match self { $(Self::$Variant(merit) => merit.conjugate(i, w),)* }
            }

            #[inline(always)]
            fn prox_conjugate(&self, i: usize, alpha: f64, w: &mut [f64]) {
                match self { $(Self::$Variant(merit) => merit.prox_conjugate(i, alpha, w),)* }
            }

            fn prox_conjugates(&self, terms: Range<usize>, alpha: f64, w: &mut [f64]) {
                match self { $(Self::$Variant(merit) => merit.prox_conjugates(terms, alpha, w),)* }
            }

            fn prox_slopes(&self, terms: Range<usize>, alpha: f64, w: &[f64], out: &mut [f64]) -> bool {
                match self { $(Self::$Variant(merit) => merit.prox_slopes(terms, alpha, w, out),)* }
            }

            #[inline(always)]
            fn gamma(&self) -> f64 {
                match self { $(Self::$Variant(merit) => merit.gamma(),)* }
            }

            #[inline(always)]
            fn lipschitz(&self, ell: usize) -> f64 {
                match self { $(Self::$Variant(merit) => merit.lipschitz(ell),)* }
            }

            fn square_weight(&self) -> Option<f64> {
                match self { $(Self::$Variant(merit) => merit.square_weight(),)* }
            }
        }
    };
}

variants!(Square DownsideSquare Absolute Huber);

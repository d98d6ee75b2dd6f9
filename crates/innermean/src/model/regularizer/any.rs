//! A regulariser chosen at run time.

use serde::{Deserialize, Serialize};

use super::{BoxConstraint, Budget, Coordinate, L1, Regularizer, Simplex, Unregularized};

/// One of the regularisers of this room, chosen at run time as by a command line: one `match` per
/// call, so that it inlines where `Box<dyn Regularizer>` would not. It answers bit for bit like the
/// regulariser it holds. [`Ridged`](super::Ridged) and [`Tilted`](super::Tilted) go around it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnyRegularizer {
    /// `0`
    Unregularized(Unregularized),
    /// `lambda |theta|_1`
    L1(L1),
    /// `lo <= theta <= hi`
    Box(BoxConstraint),
    /// `theta >= 0, sum_l theta_l = 1`
    Simplex(Simplex),
    /// `lo <= theta <= hi, sum_l theta_l = 1`
    Budget(Budget),
}

/// Writes what depends on the list of variants, so that a new regulariser is one more pair at the
/// bottom of this file.
macro_rules! variants {
    ($($Variant:ident($Type:ident))*) => {
        $(
            impl From<$Type> for AnyRegularizer {
                #[inline(always)]
                fn from(g: $Type) -> Self {
                    Self::$Variant(g)
                }
            }
        )*

        impl Regularizer for AnyRegularizer {
            fn d(&self) -> Option<usize> {
                match self { $(Self::$Variant(g) => g.d(),)* }
            }

            #[inline(always)]
            fn value(&self, theta: &[f64]) -> f64 {
                match self { $(Self::$Variant(g) => g.value(theta),)* }
            }

            #[inline(always)]
            fn prox(&self, alpha: f64, theta: &mut [f64]) {
                match self { $(Self::$Variant(g) => g.prox(alpha, theta),)* }
            }

            #[inline(always)]
            fn step(&self, alpha: f64, direction: &[f64], theta: &mut [f64]) {
                match self { $(Self::$Variant(g) => g.step(alpha, direction, theta),)* }
            }

            #[inline(always)]
            fn step_along_sum(&self, alpha: f64, c: f64, x: &[f64], u: &mut [f64], theta: &mut [f64]) {
                match self { $(Self::$Variant(g) => g.step_along_sum(alpha, c, x, u, theta),)* }
            }

            #[inline(always)]
            fn conjugate(&self, v: &[f64]) -> f64 {
                match self { $(Self::$Variant(g) => g.conjugate(v),)* }
            }

            #[inline(always)]
            fn mu(&self) -> f64 {
                match self { $(Self::$Variant(g) => g.mu(),)* }
            }

            #[inline(always)]
            fn coordinate(&self, l: usize) -> Option<Coordinate> {
                match self { $(Self::$Variant(g) => g.coordinate(l),)* }
            }

            fn constrained_coordinate(&self, l: usize) -> Option<Coordinate> {
                match self { $(Self::$Variant(g) => g.constrained_coordinate(l),)* }
            }

            fn budgeted(&self, d: usize) -> usize {
                match self { $(Self::$Variant(g) => g.budgeted(d),)* }
            }

            fn quadratic(&self, d: usize) -> Option<(f64, Vec<f64>)> {
                match self { $(Self::$Variant(g) => g.quadratic(d),)* }
            }

            fn free_coordinates(&self, d: usize) -> Vec<(usize, f64)> {
                match self { $(Self::$Variant(g) => g.free_coordinates(d),)* }
            }
        }
    };
}

variants!(Unregularized(Unregularized) L1(L1) Box(BoxConstraint) Simplex(Simplex) Budget(Budget));

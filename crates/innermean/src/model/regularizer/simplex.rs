//! `theta >= 0, sum_l theta_l = 1`

use serde::{Deserialize, Serialize};

use super::{Coordinate, Regularizer};
use crate::linalg::scalar::positive_part;
use crate::linalg::vector::{self, LANES, dispatch};

/// Probabilities: no coordinate below 0, the sum 1.
///
/// ```text
/// g(theta)          = 0  if theta_l >= 0 for all l and sum_l theta_l = 1,  inf otherwise
/// g*(v)             = max_l v_l
/// prox_{alpha g}(v) = max(v_l - tau, 0), with the tau that makes the sum 1; the same for all alpha
/// mu                = 0
/// ```
///
/// `value` forgives [`SLACK`](Self::SLACK) in each of the conditions, which rounding needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Simplex;

impl Simplex {
    /// How far below 0 a coordinate and how far from 1 the sum may be for `value` to say 0.
    pub const SLACK: f64 = 1e-9;
}

/// `sum_{x_l > tau} x_l` and the number of its terms, in lanes so that it vectorises.
#[inline(always)]
fn sum_above(tau: f64, x: &[f64]) -> (f64, f64) {
    let (mut sums, mut counts) = ([0.0; LANES], [0.0; LANES]);
    let (blocks, rest) = x.as_chunks::<LANES>();
    let mut add = |lane: usize, x: f64| {
        let inside = x > tau;
        sums[lane] += if inside { x } else { 0.0 };
        counts[lane] += if inside { 1.0 } else { 0.0 };
    };
    for block in blocks {
        for (lane, &x) in block.iter().enumerate() {
            add(lane, x);
        }
    }
    for (lane, &x) in rest.iter().enumerate() {
        add(lane, x);
    }
    (sums.iter().sum(), counts.iter().sum())
}

impl Regularizer for Simplex {
    fn value(&self, theta: &[f64]) -> f64 {
        let sum: f64 = theta.iter().sum();
        if theta.iter().all(|&x| x >= -Self::SLACK) && (sum - 1.0).abs() <= Self::SLACK {
            0.0
        } else {
            f64::INFINITY
        }
    }

    /// Projects in place, exactly and without scratch, by Michelot's method (1986).
    ///
    /// For a set S that holds the support of the projection, `tau_S = (sum_S v - 1) / |S|` is at
    /// most tau, because `sum_S (v - tau) = 1 + (terms <= 0)`. So `{ v > tau_S }` holds the support
    /// again, and the first S that does not shrink is the support itself. A few passes are usual; d
    /// is the worst case.
    ///
    /// The projection does not change when a constant is added to v. We subtract the largest entry:
    /// then `-1 <= tau < 0`, no entry of size 1e12 eats the 1, and the first S is `{ v > -1 }`,
    /// mostly small. The largest entry stays in every S, so that |S| is never 0; but for a NaN,
    /// which ends up in theta.
    ///
    /// Not a part of its callers, whose code for every other g it would swell: it takes far longer
    /// than a call.
    #[inline(never)]
    fn prox(&self, _: f64, theta: &mut [f64]) {
        dispatch(
            #[inline(always)]
            || {
                let mut largest = f64::NEG_INFINITY;
                for &x in theta.iter() {
                    largest = if x > largest { x } else { largest };
                }
                vector::update(theta, |x| x - largest);
                let mut tau = -1.0;
                let mut size = f64::INFINITY;
                loop {
                    let (sum, count) = sum_above(tau, theta);
                    // Rounding may let an entry next to tau in again: only a smaller set is a
                    // reason to go on.
                    if count >= size {
                        break;
                    }
                    tau = (sum - 1.0) / count;
                    size = count;
                }
                vector::update(theta, |x| positive_part(x - tau));
            },
        );
    }

    fn conjugate(&self, v: &[f64]) -> f64 {
        // Not f64::max, which drops a NaN; a NaN once taken stays, for no v is above it.
        v.iter()
            .copied()
            .fold(f64::NEG_INFINITY, |max, v| if v > max || v.is_nan() { v } else { max })
    }

    fn mu(&self) -> f64 {
        0.0
    }

    fn constrained_coordinate(&self, _: usize) -> Option<Coordinate> {
        Some(Coordinate { lo: 0.0, ..Coordinate::FREE })
    }
}

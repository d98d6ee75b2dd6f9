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

/// Sums of numbers and how many they are, in lanes so that they vectorise.
#[derive(Clone, Copy)]
struct Sums {
    sums: [f64; LANES],
    counts: [f64; LANES],
}

impl Sums {
    const NOTHING: Sums = Sums { sums: [0.0; LANES], counts: [0.0; LANES] };

    #[inline(always)]
    fn add(&mut self, lane: usize, x: f64, inside: bool) {
        self.sums[lane] += if inside { x } else { 0.0 };
        self.counts[lane] += if inside { 1.0 } else { 0.0 };
    }

    /// `sum_{x_l > tau} x_l` and the number of its terms.
    #[inline(always)]
    fn above(tau: f64, x: &[f64]) -> Sums {
        let mut all = Sums::NOTHING;
        let (blocks, rest) = x.as_chunks::<LANES>();
        for block in blocks {
            for (lane, &x) in block.iter().enumerate() {
                all.add(lane, x, x > tau);
            }
        }
        for (lane, &x) in rest.iter().enumerate() {
            all.add(lane, x, x > tau);
        }
        all
    }

    /// The tau at which this set would be the support: `(sum - 1) / count`.
    #[inline(always)]
    fn tau(&self) -> f64 {
        (total(&self.sums) - 1.0) / total(&self.counts)
    }
}

/// The lanes added up as a tree, whose depth is what is waited for.
#[inline(always)]
fn total(lanes: &[f64; LANES]) -> f64 {
    let [a, b, c, d, e, f, g, h] = *lanes;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// Projects from a guess at the support, of which these are the sums, by Newton's steps; false,
/// with nothing written, where the numbers are so large beside the 1 that it would lose digits.
///
/// `sum_l max(v_l - tau, 0)` is convex in tau and falls, so that a step leads to where it is at
/// least 1, and all that follow go up until the set is the support. From the support of the last
/// point, which rarely changes in a small step, the first is the last, and only checked: this
/// check is not waited for by what follows.
#[inline(always)]
fn from_guess(guess: Sums, v: &mut [f64]) -> bool {
    let mut tau = guess.tau();
    loop {
        // Also where it is no number, or where nothing was guessed.
        let plain = tau.abs() <= MOST_TAU;
        if !plain {
            return false;
        }
        let next = Sums::above(tau, v).tau();
        let rises = next > tau;
        if !rises {
            break;
        }
        tau = next;
    }
    vector::update(v, |x| positive_part(x - tau));
    true
}

/// Beyond this tau the sums have lost a digit.
const MOST_TAU: f64 = 1.0;

/// Projects exactly and without scratch, by Michelot's method (1986), whatever the size of the
/// numbers.
///
/// For a set S that holds the support of the projection, `tau_S = (sum_S v - 1) / |S|` is at most
/// tau, because `sum_S (v - tau) = 1 + (terms <= 0)`. So `{ v > tau_S }` holds the support again,
/// and the first S that does not shrink is the support itself. A few passes are usual; d is the
/// worst case.
///
/// The projection does not change when a constant is added to v. We subtract the largest entry:
/// then `-1 <= tau < 0`, no entry of size 1e12 eats the 1, and the first S is `{ v > -1 }`, mostly
/// small. The largest entry stays in every S, so that |S| is never 0; but for a NaN, which ends up
/// in theta.
#[inline(always)]
fn from_all(theta: &mut [f64]) {
    let mut largest = f64::NEG_INFINITY;
    for &x in theta.iter() {
        largest = if x > largest { x } else { largest };
    }
    vector::update(theta, |x| x - largest);
    let mut tau = -1.0;
    let mut size = f64::INFINITY;
    loop {
        let inside = Sums::above(tau, theta);
        let count = total(&inside.counts);
        // Rounding may let an entry next to tau in again: only a smaller set is a reason to go on.
        if count >= size {
            break;
        }
        tau = inside.tau();
        size = count;
    }
    vector::update(theta, |x| positive_part(x - tau));
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

    /// The guess at the support are the entries above 0.
    ///
    /// Not a part of its callers, whose code for every other g it would swell: it takes far longer
    /// than a call.
    #[inline(never)]
    fn prox(&self, _: f64, theta: &mut [f64]) {
        dispatch(
            #[inline(always)]
            || {
                if !from_guess(Sums::above(0.0, theta), theta) {
                    from_all(theta);
                }
            },
        );
    }

    /// The guess at the support is that of theta.
    #[inline(never)]
    fn step(&self, alpha: f64, direction: &[f64], theta: &mut [f64]) {
        let direction = &direction[..theta.len()];
        dispatch(
            #[inline(always)]
            || {
                let mut guess = Sums::NOTHING;
                let mut one = |lane: usize, x: &mut f64, v: f64| {
                    let inside = *x > 0.0;
                    *x = v.mul_add(-alpha, *x);
                    guess.add(lane, *x, inside);
                };
                let (blocks, rest) = theta.as_chunks_mut::<LANES>();
                let (directions, more) = direction.as_chunks::<LANES>();
                for (block, direction) in blocks.iter_mut().zip(directions) {
                    for lane in 0..LANES {
                        one(lane, &mut block[lane], direction[lane]);
                    }
                }
                for (lane, (x, v)) in rest.iter_mut().zip(more).enumerate() {
                    one(lane, x, *v);
                }
                if !from_guess(guess, theta) {
                    from_all(theta);
                }
            },
        );
    }

    /// The same, with U moved in the same sweep.
    #[inline(never)]
    fn step_along_sum(&self, alpha: f64, c: f64, x: &[f64], u: &mut [f64], theta: &mut [f64]) {
        let (moved, u) = (&x[..theta.len()], &mut u[..theta.len()]);
        dispatch(
            #[inline(always)]
            || {
                let mut guess = Sums::NOTHING;
                let mut one = |lane: usize, x: &mut f64, u: &mut f64, moved: f64| {
                    let inside = *x > 0.0;
                    *u = moved.mul_add(c, *u);
                    *x = u.mul_add(-alpha, *x);
                    guess.add(lane, *x, inside);
                };
                let (blocks, rest) = theta.as_chunks_mut::<LANES>();
                let (us, more_u) = u.as_chunks_mut::<LANES>();
                let (moves, more) = moved.as_chunks::<LANES>();
                for ((block, u), moved) in blocks.iter_mut().zip(us).zip(moves) {
                    for lane in 0..LANES {
                        one(lane, &mut block[lane], &mut u[lane], moved[lane]);
                    }
                }
                for (lane, ((x, u), moved)) in rest.iter_mut().zip(more_u).zip(more).enumerate() {
                    one(lane, x, u, *moved);
                }
                if !from_guess(guess, theta) {
                    from_all(theta);
                }
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

//! What g adds to a gap, coordinate by coordinate: `g(theta) + <u, theta> + g*(-u)`.
//!
//! With `v_l = u_l + tilt_l` and `h_l` what is left of `g_l`, coordinate l adds
//!
//! ```text
//! G_l(v_l) = sup over z in [lo, hi] of  h_l(theta_l) - h_l(z) + v_l (theta_l - z)
//! ```
//!
//! which is convex in `v_l`: where `v_l` is known up to e, the larger of `G_l(v_l - e)` and
//! `G_l(v_l + e)` bounds it. A budget `sum_l z_l = 1` adds a multiplier tau to every `v_l`, and any
//! tau will do. Where `G_l` is infinite, so that g leaves theta a way to infinity that F does not
//! close for certain, it is finite among all `|z_l| <= radius_l`.

use std::ops::Range;

use super::sizes::UNIT;
use crate::linalg::blocks::{Blocks, MERIT};
use crate::linalg::scalar::{clamp, soft_threshold};
use crate::model::regularizer::{Coordinate, Parts};

/// A sum over the coordinates, and what of it may be rounding.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bracket {
    /// Without what rounding adds.
    pub(crate) exact: f64,
    pub(crate) rounding: f64,
    /// What of the first may well be rounding.
    pub(crate) floor: f64,
}

/// Halvings of the interval in which tau lies.
const HALVINGS: usize = 200;

/// The `v_l` at which `G_l` is finite.
pub(crate) fn finite(part: &Coordinate) -> (f64, f64) {
    if part.l2 > 0.0 {
        return (f64::NEG_INFINITY, f64::INFINITY);
    }
    let least = if part.hi == f64::INFINITY { -part.l1 } else { f64::NEG_INFINITY };
    let most = if part.lo == f64::NEG_INFINITY { part.l1 } else { f64::INFINITY };
    (least, most)
}

/// Where the supremum is attained among `|z| <= radius`.
fn attained(part: &Coordinate, v: f64, radius: f64) -> f64 {
    let (lo, hi) = (part.lo.max(-radius), part.hi.min(radius));
    let pull = soft_threshold(-v, part.l1);
    let z = match (part.l2 > 0.0, pull) {
        (true, pull) => pull / part.l2,
        (false, 0.0) => 0.0,
        (false, pull) => pull.signum() * f64::INFINITY,
    };
    clamp(z, lo, hi)
}

/// `G_l(v)` among `|z| <= radius`, and the size of its terms.
fn gap_of(part: &Coordinate, theta: f64, v: f64, radius: f64) -> (f64, f64) {
    let Coordinate { l1, l2, .. } = *part;
    if part.is_smooth() && l2 > 0.0 {
        let slope = v + l2 * theta;
        return (slope * slope / (2.0 * l2), 0.0);
    }
    let z = attained(part, v, radius);
    if z == theta || z.is_infinite() {
        return (if z == theta { 0.0 } else { f64::INFINITY }, 0.0);
    }
    let gap = v * (theta - z) + l1 * (theta.abs() - z.abs()) + 0.5 * l2 * (theta - z) * (theta + z);
    let size = (v * theta).abs()
        + (v * z).abs()
        + (l1 + l2 * (theta.abs() + z.abs())) * (theta.abs() + z.abs());
    (if gap < 0.0 { 0.0 } else { gap }, size)
}

/// What a coordinate adds as it is; infinite where nothing but a change of `v` helps.
pub(crate) fn cost(part: &Coordinate, theta: f64, v: f64) -> f64 {
    gap_of(part, theta, v, f64::INFINITY).0
}

/// The multiplier of the budget that makes the sum least among `|z_l| <= radius_l`; 0 without a
/// budget.
pub(crate) fn multiplier(g: &Parts, u: &[f64], radius: &[f64]) -> f64 {
    if !g.budget {
        return 0.0;
    }
    let v: Vec<f64> = g.parts.iter().zip(u).map(|(part, u)| u + part.tilt).collect();
    // How far the z_l add up to more than 1: falls with tau.
    let over = |tau: f64| {
        let z =
            g.parts.iter().zip(&v).zip(radius).map(|((part, v), r)| attained(part, v + tau, *r));
        z.sum::<f64>() - 1.0
    };
    let reach = |l: usize| {
        let (part, r) = (&g.parts[l], radius[l].min(f64::MAX.sqrt()));
        v[l].abs() + part.l1 + part.l2 * part.lo.max(-r).abs().max(part.hi.min(r).abs())
    };
    let most = 2.0 * (0..v.len()).map(reach).fold(f64::MIN_POSITIVE, f64::max);
    let (mut low, mut high) = (-most, most);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if over(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    // Where the sum jumps, the end at which fewer of them are beyond.
    let nearest = v.iter().map(|v| -v).find(|tau| low <= *tau && *tau <= high);
    nearest.unwrap_or(high)
}

/// For every coordinate, how far `v_l` may lie beyond where `G_l` is finite, at most: 0 for those
/// that are certain to be inside.
pub(crate) fn excess(g: &Parts, u: &[f64], error: &[f64], tau: f64) -> Vec<f64> {
    let beyond = |((part, u), error): ((&Coordinate, &f64), &f64)| {
        let (v, error) = slope(part, *u, *error, tau);
        let (least, most) = finite(part);
        let beyond = (least - v).max(v - most) + error;
        // A coordinate that nothing looks at and nothing pulls stays where it is.
        if beyond > 0.0 || beyond.is_nan() { beyond } else { 0.0 }
    };
    g.parts.iter().zip(u).zip(error).map(beyond).collect()
}

/// `v_l` and what it is known up to.
fn slope(part: &Coordinate, u: f64, error: f64, tau: f64) -> (f64, f64) {
    let size =
        if part.tilt == 0.0 && tau == 0.0 { 0.0 } else { u.abs() + part.tilt.abs() + tau.abs() };
    (u + part.tilt + tau, error + 2.0 * UNIT * size)
}

/// What the sum is taken with.
#[derive(Clone, Copy)]
pub(crate) struct Slopes<'a> {
    pub(crate) u: &'a [f64],
    /// What each `u_l` is known up to.
    pub(crate) error: &'a [f64],
    /// What of that is there for rounding, and not for a repair; and how much of it may well be.
    pub(crate) rounding: &'a [f64],
    pub(crate) usual: f64,
    pub(crate) tau: f64,
    /// The coordinates whose excess has been taken away.
    pub(crate) repaired: Option<&'a [f64]>,
    /// `|z_l|` at most.
    pub(crate) radius: Option<&'a [f64]>,
}

/// `sum_l G_l`, for a theta within the bounds.
pub(crate) fn bracket(g: &Parts, theta: &[f64], slopes: Slopes<'_>) -> Bracket {
    let mut sums = [0.0; 3];
    Blocks::new(g.parts.len(), MERIT).add(1.0, &mut sums, |range, sums| {
        let part = bracket_of(&g.parts, theta, slopes, range);
        sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
    });
    let [exact, mut rounding, floor] = sums;
    if g.budget {
        let off = (theta.iter().sum::<f64>() - 1.0).abs()
            + UNIT * theta.iter().map(|t| t.abs()).sum::<f64>();
        rounding += slopes.tau.abs() * off;
    }
    Bracket { exact, rounding, floor }
}

/// Its three sums over some coordinates.
#[inline(always)]
fn bracket_of(
    parts: &[Coordinate],
    theta: &[f64],
    slopes: Slopes<'_>,
    range: Range<usize>,
) -> [f64; 3] {
    let Slopes { u, error, usual, tau, repaired, radius, .. } = slopes;
    let (mut sum, mut rounding, mut floor) = (0.0, 0.0, 0.0);
    for l in range {
        let part = &parts[l];
        let radius = radius.map_or(f64::INFINITY, |radius| radius[l].max(theta[l].abs()));
        let (_, mut rounded) = slope(part, u[l], slopes.rounding[l], tau);
        let (mut v, mut error) = slope(part, u[l], error[l], tau);
        if repaired.is_some_and(|excess| excess[l] > 0.0) {
            let (least, most) = finite(part);
            (v, error, rounded) = (clamp(v, least, most), 0.0, 0.0);
        }
        if part.is_smooth() && part.l2 > 0.0 {
            let lost = 2.0 * UNIT * (v.abs() + part.l2 * theta[l].abs());
            (error, rounded) = (error + lost, rounded + lost);
            let (slope, half) = ((v + part.l2 * theta[l]).abs(), 0.5 / part.l2);
            sum += half * slope * slope;
            rounding += half * (2.0 * slope + error) * error;
            floor += half * (usual * rounded) * (usual * rounded);
            continue;
        }
        let (exact, size) = gap_of(part, theta[l], v, radius);
        let worst = |error: f64| {
            let at = |v: f64| gap_of(part, theta[l], v, radius);
            let ((low, below), (high, above)) = (at(v - error), at(v + error));
            // Not f64::max, which would drop a NaN.
            (if low > high { low } else { high }, below.max(above))
        };
        let (most, reached) = worst(error);
        let size = size.max(reached);
        sum += exact;
        if most > exact {
            rounding += most - exact;
        }
        let usually = if rounded == error { most } else { worst(rounded).0 };
        if usually > exact && usually.is_finite() {
            floor += usual * (usually - exact);
        }
        rounding += 4.0 * UNIT * size;
        floor += 4.0 * UNIT * size;
    }
    [sum, rounding, floor]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Stream;
    use crate::model::regularizer::{BoxConstraint, Budget, Regularizer};

    /// `G_l` by trying many z.
    fn by_trying(part: &Coordinate, theta: f64, v: f64, radius: f64) -> f64 {
        let (lo, hi) = (part.lo.max(-radius), part.hi.min(radius));
        let line = |x: f64| part.l1 * x.abs() + 0.5 * part.l2 * x * x;
        let at = |k: i32| lo + (hi - lo) * f64::from(k) / 4000.0;
        let ends = (0..=4000).map(at).chain([clamp(0.0, lo, hi)]);
        ends.map(|z| line(theta) - line(z) + v * (theta - z)).fold(0.0, f64::max)
    }

    #[test]
    fn a_coordinate_adds_what_trying_finds() {
        let mut draws = Stream::new(3, 1);
        for _ in 0..400 {
            let mut pick = |choices: [f64; 3]| choices[(draws.unit() * 3.0) as usize];
            let part = Coordinate {
                tilt: 0.0,
                l1: pick([0.0, 0.5, 1.0]),
                l2: pick([0.0, 0.5, 0.0]),
                lo: pick([f64::NEG_INFINITY, 0.0, -1.0]),
                hi: pick([f64::INFINITY, 1.0, 2.0]),
            };
            let (theta, v) =
                (clamp(2.0 * draws.unit() - 1.0, part.lo, part.hi), 4.0 * draws.unit() - 2.0);
            let (found, tried) =
                (gap_of(&part, theta, v, 10.0).0, by_trying(&part, theta, v, 10.0));
            let smooth = part.is_smooth() && part.l2 > 0.0;
            assert!(found >= tried - 1e-12, "{part:?} {theta} {v}: {found} {tried}");
            assert!(found <= tried + 2e-2 || smooth, "{part:?} {theta} {v}: {found} {tried}");
            let (least, most) = finite(&part);
            assert_eq!(
                gap_of(&part, theta, v, f64::INFINITY).0.is_finite(),
                least <= v && v <= most
            );
        }
    }

    #[test]
    fn the_multiplier_of_a_budget_makes_the_sum_that_of_its_conjugate() {
        let bounds = BoxConstraint::new(-0.5, 1.0).expect("bounds");
        let budget = Budget::new(4, bounds).expect("a point within");
        let g = Parts::of(&budget, 4).expect("parts");
        let mut draws = Stream::new(4, 1);
        for _ in 0..200 {
            let u: Vec<f64> = (0..4).map(|_| draws.unit() - 0.5).collect();
            let theta = [0.25; 4];
            let tau = multiplier(&g, &u, &[f64::INFINITY; 4]);
            let slopes = Slopes {
                u: &u,
                error: &[0.0; 4],
                rounding: &[0.0; 4],
                usual: 1.0,
                tau,
                repaired: None,
                radius: None,
            };
            let minus: Vec<f64> = u.iter().map(|u| -u).collect();
            let known = 0.25 * u.iter().sum::<f64>() + budget.conjugate(&minus);
            let found = bracket(&g, &theta, slopes).exact;
            assert!((found - known).abs() < 1e-12, "{found} {known}");
        }
    }
}

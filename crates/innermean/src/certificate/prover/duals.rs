//! Bounds by the duals at hand: as they are, shrunk, or next to feasible ones.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::{Evidence, Prover};
use crate::certificate::Bound;
use crate::certificate::bracket::{self, Bracket, Slopes};
use crate::certificate::class_repair;
use crate::certificate::dual::{self, Point, mismatch, mismatch_within};
use crate::certificate::repair::{self, Repair};
use crate::certificate::sizes::UNIT;
use crate::linalg::scalar::clamp;
use crate::linalg::vector::dot;
use crate::model::regularizer::Parts;

/// What rounding may do to a g of one's own, of the size of its terms.
const ROUNDING: f64 = 16.0 * f64::EPSILON;
/// What balancing may leave of the slope along a coordinate that such a g leaves free, of the size
/// of its terms.
const LEFT_BY_BALANCE: f64 = 1e-12;

impl Prover<'_> {
    /// By what no phi and no g can be below.
    pub(super) fn by_lowest(&self, evidence: &Evidence<'_>) -> Bound {
        let lowest = *self.lowest.get_or_init(|| dual::at_zero(self.ground.problem));
        let rounding = evidence.rounding;
        let size = evidence.point.loss.abs() + evidence.point.g.abs() + lowest.abs();
        let gap = evidence.point.loss + evidence.point.g - lowest;
        // Where phi is infinitely steep, all that is known is how many terms were added.
        let rounding =
            if rounding.is_finite() { rounding } else { self.ground.sizes().of_sum * size };
        let rounding = rounding + 4.0 * UNIT * size;
        Bound::new(gap, rounding, 4.0 * UNIT * size, None)
    }

    /// By the duals at hand, with or without a repair, among all theta or among this many times the
    /// answer. What phi adds to the gap is found once and kept in `mismatched`.
    pub(super) fn by_duals(
        &self,
        evidence: &Evidence<'_>,
        mismatched: &OnceCell<(f64, f64)>,
        repair: Option<&Repair>,
        times: Option<f64>,
    ) -> Bound {
        let Evidence { point, matched, .. } = evidence;
        let (mut w, mut u, mut matched) =
            (Cow::Borrowed(evidence.w), Cow::Borrowed(evidence.u), *matched);
        let ground = &self.ground;
        let Some(g) = &ground.parts else { return self.by_conjugate(evidence) };
        let mut error = ground.errors(point.theta, &w);
        let radius = times.map(|times| ground.radius(*point, &w, &u, times));
        if radius.as_ref().is_some_and(|radius| radius.contains(&0.0)) {
            return Bound::NONE;
        }
        let tau = ground.multiplier(g, *point, &w, &u);
        let mut beyond = bracket::excess(g, &u, &error, tau);
        let is_beyond = |excess: &[f64]| excess.iter().any(|excess| *excess != 0.0);
        let mut along = None;
        if radius.is_none() && repair.is_none() && is_beyond(&beyond) {
            if !ground.problem.inner.facts().affine {
                return Bound::NONE;
            }
            if let Some(s) = shrinkage(g, &u, &error).filter(|s| *s < 1.0) {
                w.to_mut().iter_mut().for_each(|w| *w *= s);
                u.to_mut().iter_mut().for_each(|u| *u *= s);
                matched = false;
                beyond = bracket::excess(g, &u, &error, tau);
            }
            if is_beyond(&beyond) {
                along = self.along_intercept(*point, &w, &beyond);
                if let (Some(repair), true) = (&along, self.balances_classes) {
                    // Slopes at the edge of what g allows need room for what a repair may do.
                    let moved = |(l, error): (usize, &f64)| error + repair.of_sum(l);
                    let wider: Vec<f64> = error.iter().enumerate().map(moved).collect();
                    if let Some(s) = shrinkage(g, &u, &wider).filter(|s| *s < 1.0) {
                        w.to_mut().iter_mut().for_each(|w| *w *= s);
                        u.to_mut().iter_mut().for_each(|u| *u *= s);
                        matched = false;
                        beyond = bracket::excess(g, &u, &error, tau);
                        along = self.along_intercept(*point, &w, &beyond);
                    }
                }
                if along.is_none() {
                    return Bound::NONE;
                }
            }
        }
        let repair = repair.or(along.as_ref());
        let of_rounding = error.clone();
        if let Some(repair) = repair {
            (0..error.len()).for_each(|l| error[l] += repair.of_sum(l));
        }
        let repaired = repair.map(|_| &*beyond);
        let usual = ground.sizes().usual();
        let slopes = Slopes {
            u: &u,
            error: &error,
            rounding: &of_rounding,
            usual,
            tau,
            repaired,
            radius: radius.as_deref(),
        };
        let Bracket { exact, rounding, floor } = bracket::bracket(g, point.theta, slopes);
        let at_hand = matched && repair.is_none();
        let is_shrunk = matches!(w, Cow::Owned(_));
        let added = repair.and_then(Repair::added);
        let (first, size) = match repair {
            Some(repair) if added.is_none() => {
                mismatch_within(ground.problem, point.f_bar, &w, &|r| repair.of_dual(r))
            }
            _ if at_hand => (0.0, 0.0),
            _ if is_shrunk => mismatch(ground.problem, *point, &w),
            _ => *mismatched.get_or_init(|| mismatch(ground.problem, *point, &w)),
        };
        // What a repair of rounding alone adds is rounding.
        let of_repair = if along.is_some() && added.is_none() && is_near(&beyond, &of_rounding) {
            let before = if is_shrunk {
                mismatch(ground.problem, *point, &w)
            } else {
                *mismatched.get_or_init(|| mismatch(ground.problem, *point, &w))
            };
            (first - before.0).max(0.0)
        } else {
            0.0
        };
        let first = first + added.unwrap_or(0.0);
        let of_objective =
            if is_shrunk { ground.objective_error(*point, &w) } else { evidence.rounding };
        let rounding = rounding + of_objective + (4.0 * UNIT + ground.sizes().of_sum) * size;
        // Where g is strongly convex all around, squares of slopes can be told apart below the
        // objective's last digit.
        let strong =
            at_hand && !g.budget && g.parts.iter().all(|part| part.is_smooth() && part.l2 > 0.0);
        let digits =
            if strong { 0.0 } else { ROUNDING * (size + point.loss.abs() + point.g.abs()) };
        Bound::new(first + exact, rounding, floor + digits + of_repair, times)
    }

    /// A repair along the coordinates that are free, if there is an excess nowhere else.
    fn along_intercept(&self, point: Point<'_>, w: &[f64], excess: &[f64]) -> Option<Repair> {
        if self.balances_classes {
            return class_repair::along_intercepts(&self.ground, point, w, excess);
        }
        let (free, column) = self.balance.as_ref()?.column();
        if excess.iter().enumerate().any(|(l, excess)| l != free && *excess != 0.0) {
            return None;
        }
        let weights = repair::weights(&self.ground, point.f_bar, w)?;
        Repair::along(&self.ground, &weights, (free, column), excess[free])
    }

    /// For a g of one's own, whose conjugate is believed, and for logarithms.
    fn by_conjugate(&self, evidence: &Evidence<'_>) -> Bound {
        let Evidence { point, w, matched, u, .. } = evidence;
        let problem = self.ground.problem;
        let v: Vec<f64> = u.iter().map(|u| -u).collect();
        let conjugate = problem.regularizer.conjugate(&v);
        let (first, size) = if *matched { (0.0, 0.0) } else { mismatch(problem, *point, w) };
        let products: f64 = point.theta.iter().zip(&v).map(|(theta, v)| (theta * v).abs()).sum();
        let size = size + point.loss.abs() + point.g.abs() + products + conjugate.abs();
        let mut errors = self.ground.errors(point.theta, w);
        // Along a straight line the conjugate is finite at its slope alone: beside large slopes of
        // other coordinates, a small one may pass for that.
        let (sizes, omega) = (self.ground.sizes(), self.ground.omega(point.theta, w));
        for &(l, slope) in &self.free {
            let left = (u[l] + slope).abs();
            if left > errors[l] + LEFT_BY_BALANCE * (sizes.columns[l] * omega + slope.abs()) {
                return Bound::NONE;
            }
            errors[l] = errors[l].max(left);
        }
        let moved = if problem.regularizer.barrier(0).is_some() {
            // It grows with v: a slope that rounding may have made negative proves nothing.
            let most: Vec<f64> = v.iter().zip(&errors).map(|(v, error)| v + error).collect();
            problem.regularizer.conjugate(&most) - conjugate
        } else {
            // theta is about where the conjugate's maximum is attained.
            errors.iter().zip(point.theta).map(|(error, theta)| error * theta.abs()).sum()
        };
        let lost = ROUNDING * size + evidence.rounding + moved;
        let second = point.g - dot(point.theta, &v) + conjugate;
        Bound::new(first + if second < 0.0 { 0.0 } else { second }, lost, ROUNDING * size, None)
    }
}

/// How many times what slopes are known up to an excess may be that is there for rounding alone.
const NEAR: f64 = 4.0;

/// Whether an excess is no more than rounding.
fn is_near(excess: &[f64], error: &[f64]) -> bool {
    excess.iter().zip(error).all(|(excess, error)| *excess <= NEAR * error)
}

/// The largest s for which `s u` has no excess but along free coordinates, where that is the way
/// out: nothing tilts, and there is no budget.
fn shrinkage(g: &Parts, u: &[f64], error: &[f64]) -> Option<f64> {
    let mut s = 1.0;
    for ((part, u), error) in g.parts.iter().zip(u).zip(error) {
        if part.tilt != 0.0 || g.budget {
            return None;
        }
        let up = if part.lo == f64::NEG_INFINITY { *u } else { f64::NEG_INFINITY };
        let down = if part.hi == f64::INFINITY { -u } else { f64::NEG_INFINITY };
        let beyond = up.max(down) + 2.0 * error;
        if part.l2 == 0.0 && !part.is_free() && beyond > part.l1 {
            s = clamp(part.l1 / beyond * (1.0 - 4.0 * UNIT), 0.0, s);
        }
    }
    (s > 0.0).then_some(s)
}

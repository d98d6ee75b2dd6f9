//! Takes a point and what is known of it, and proves how far from optimal it is.
//!
//! Nobody is believed: duals come from wherever they like, but their feasibility and all values are
//! found here, with a bound on what rounding may have done to each (`sizes.rs`). In turn:
//!
//! 1. Where F is quadratic and its Hessian is certain to be positive definite, the minimum of its
//!    model (`quadratic.rs`).
//! 2. The duals `phi_i'(fbar_i)`, or those of the method where phi has kinks, balanced against an
//!    intercept (`balance.rs`), shrunk where that makes them feasible.
//! 3. Close to the optimum, the same after a Newton step (`newton.rs`); what rounding leaves is
//!    repaired (`repair.rs`) or, where columns are too much alike for double precision, done again
//!    in twice the precision (`precise_proof.rs`).
//! 4. Where g leaves theta a way to infinity that nothing closes for certain: among all theta up to
//!    a stated multiple of the answer.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::balance::Balance;
use super::bracket::{self, Bracket, Slopes};
use super::definite::Definite;
use super::dual::{self, Point, mismatch, mismatch_within};
use super::ground::Ground;
use super::quadratic;
use super::repair::{self, Repair};
use super::sizes::{UNIT, mean_square};
use super::{Bound, Measure, newton, precise_proof};
use crate::linalg::precise;
use crate::linalg::scalar::clamp;
use crate::linalg::vector::dot;
use crate::model::problem::Objective;
use crate::model::regularizer::Parts;

/// How many times the answer theta may be in a bound that holds for no more: where twice the
/// precision is at hand, and elsewhere.
const FAR: f64 = 1e12;
const FURTHER: f64 = 100.0;
/// A bound among some theta alone, relative to the objective, that is worth more than a larger one
/// among all.
pub(crate) const WORTH_SAYING: f64 = 1e-3;
/// A gap that is rounding alone counts as none if it is no more than this part of the objective.
pub(crate) const BEARABLE: f64 = 1e-9;
/// A gap among theta of the answer's size, relative to the scale, above which nothing dear is
/// tried.
const NEAR: f64 = 1e-2;
/// Gram matrices of so many products take less than a millisecond, and are made at every point
/// close to the optimum; in twice the precision, fewer.
const FEW_PRODUCTS: f64 = 2e6;
const FEW_PRECISE_PRODUCTS: f64 = 1e5;
/// Of a large problem, the step of the objective after which the point may well be as good as is
/// wanted, in terms of the gap that is: where g is strongly convex, so that duals as they are prove
/// more with every step, and elsewhere.
const SETTLED: [f64; 2] = [0.01, 100.0];
/// The same for a gap among theta of the answer's size, where phi has kinks and the duals are those
/// of the method.
const CLOSE: f64 = 10.0;
/// What rounding may do to a g of one's own, of the size of its terms.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// A matrix that is made when it is needed for the first time.
#[derive(Debug)]
enum Lazy {
    Unmade,
    /// F is not quadratic, or the matrix too large, or not certain to be positive definite.
    Impossible,
    Made(Definite),
}

/// Proves bounds of one problem.
pub(crate) struct Prover<'p> {
    pub(crate) ground: Ground<'p>,
    hessian: Lazy,
    /// The coordinates along which g is a straight line.
    free: Vec<(usize, f64)>,
    balance: Option<Balance>,
    /// The last slope that balancing has seen.
    pub(crate) steepness: f64,
    lowest: OnceCell<f64>,
    /// The objective of the last point in twice the precision, and its bound, if that was looked
    /// for.
    exact: Option<(f64, Bound)>,
    /// Whether twice the precision is affordable.
    pub(crate) is_small: bool,
    /// How many times the answer theta may be in a bound that holds for no more.
    reach: f64,
    /// Dear bounds that were asked for, and the next of them that will be tried: twice as many as
    /// for the last.
    pub(crate) asked: u64,
    pub(crate) due: u64,
}

/// What a proof may use of a point.
#[derive(Clone, Copy)]
pub(crate) struct Evidence<'e> {
    pub(crate) point: Point<'e>,
    /// `w_i`
    pub(crate) w: &'e [f64],
    /// Whether `w_i = phi_i'(fbar_i)`.
    pub(crate) matched: bool,
    /// `(1/n) sum_i fbar_i' w_i`
    pub(crate) u: &'e [f64],
    /// What a gap is compared with, and how small it should be.
    pub(crate) scale: f64,
    pub(crate) wanted: f64,
    /// By how much the objective has changed at most at the last two points.
    pub(crate) progress: f64,
}

impl Evidence<'_> {
    /// What double precision proves is good enough where rounding is all that is left.
    fn bearable_gap(&self) -> f64 {
        self.wanted.max(BEARABLE) * self.scale
    }

    /// What a coordinate may add to a gap without being moved for it.
    pub(crate) fn bearable(&self) -> f64 {
        0.01 * self.wanted * self.scale / self.u.len().max(1) as f64
    }
}

impl<'p> Prover<'p> {
    pub(crate) fn new(problem: Objective<'p>) -> Self {
        let d = problem.inner.d();
        let free = problem.regularizer.free_coordinates(d);
        let ground = Ground::new(problem);
        let (parts, problem) = (&ground.parts, ground.problem);
        let hessian = if parts.is_some() && quadratic::is_at_hand(problem) {
            Lazy::Unmade
        } else {
            Lazy::Impossible
        };
        let is_small = parts.is_some() && precise::is_affordable(problem);
        let reach = if precise::is_small(problem) { FAR } else { FURTHER };
        Prover {
            ground,
            hessian,
            free,
            balance: None,
            steepness: 0.0,
            lowest: OnceCell::new(),
            exact: None,
            is_small,
            reach,
            asked: 0,
            due: 1,
        }
    }

    /// Whether duals are moved along an intercept before they prove anything, so that those of a
    /// method's gradient do not serve.
    pub(crate) fn balances(&self) -> bool {
        let affine = self.ground.problem.inner.facts().affine;
        affine && self.free.len() == 1 && !matches!(self.hessian, Lazy::Made(_) | Lazy::Unmade)
    }

    /// Balances the duals in `w`, which are those of the averages in `f_bar`, against an intercept,
    /// if that is what g leaves free.
    pub(crate) fn balance(&mut self, f_bar: &[f64], w: &mut [f64]) {
        let problem = self.ground.problem;
        let balance = self.balance.get_or_insert_with(|| Balance::new(problem, self.free[0]));
        balance.apply(problem, f_bar, w, &mut self.steepness);
    }

    /// The smallest bound on `P(theta) - P*` that is found, what proves it, and `P(theta)` itself
    /// if it was found in twice the precision.
    pub(crate) fn prove(&mut self, evidence: Evidence<'_>) -> (Bound, Measure, Option<f64>) {
        let objective = evidence.point.loss + evidence.point.g;
        self.exact = None;
        let (mut bound, measure) = self.best_bound(evidence);
        let (exact, its_own) = if let Some((exact, its_own)) = self.exact {
            (exact, Some(its_own))
        } else {
            // Points whose objectives are noise cannot be compared.
            let found = self.objective(evidence.point, evidence.w, evidence.bearable_gap());
            let Some(exact) = found else { return (bound, measure, None) };
            (exact, None)
        };
        if its_own != Some(bound) {
            // The bound from below is that of the objective as it was found before.
            bound.gap = (exact - (objective - bound.gap)).max(0.0)
                + 2.0 * UNIT * (objective.abs() + bound.gap);
        }
        (bound, measure, Some(exact))
    }

    fn best_bound(&mut self, evidence: Evidence<'_>) -> (Bound, Measure) {
        let affine = self.ground.problem.inner.facts().affine;
        let measure = if affine { Measure::DualityGap } else { Measure::FenchelGap };
        let target = evidence.wanted * evidence.scale;
        let bearable = evidence.bearable_gap();
        if evidence.matched
            && let Some(bound) = self.by_hessian(&evidence)
        {
            let (mut best, mut by) = (bound, Measure::Quadratic);
            // Rounding may hide that the point is optimal.
            let near = best.gap <= NEAR * evidence.scale || best.gap - best.excess > target;
            if best.gap > target && near {
                let lowest = self.by_lowest(&evidence);
                if lowest.gap < best.gap {
                    (best, by) = (lowest, measure);
                }
            }
            if best.gap > bearable && self.is_small && self.is_due() {
                let precise = self.precisely(&evidence);
                if precise.helps(best, &evidence) {
                    (best, by) = (precise, measure);
                }
            }
            return (best, by);
        }
        let mismatched = OnceCell::new();
        let mut best = self.by_duals(&evidence, &mismatched, None, None);
        if best.gap > target {
            let lowest = self.by_lowest(&evidence);
            best = if lowest.gap < best.gap { lowest } else { best };
        }
        if best.gap <= target || self.ground.parts.is_none() {
            return (best, measure);
        }
        let Ground { problem, parts, .. } = &self.ground;
        let (products, kinks) = (self.products(), problem.merit.has_kinks());
        let large = products > FEW_PRODUCTS;
        let most = if large && kinks { CLOSE * target } else { NEAR * evidence.scale };
        let near =
            best.gap <= most || self.by_duals(&evidence, &mismatched, None, Some(1.0)).gap <= most;
        let strong = parts.as_ref().is_some_and(|g| g.parts.iter().all(|part| part.l2 > 0.0));
        let settled = evidence.progress <= SETTLED[usize::from(!strong)] * target;
        if affine && (near && (settled || !large) || self.is_small) {
            let due = self.is_due();
            let dear = |most: f64| due || near && products <= most;
            let by_step =
                if dear(FEW_PRODUCTS) { self.by_newton_step(&evidence) } else { Bound::NONE };
            best = if by_step.gap < best.gap { by_step } else { best };
            if best.gap > bearable && self.is_small && dear(FEW_PRECISE_PRODUCTS) {
                let precise = self.precisely(&evidence);
                best = if precise.helps(best, &evidence) { precise } else { best };
            }
        }
        if best.gap == f64::INFINITY {
            best = self.by_duals(&evidence, &mismatched, None, Some(self.reach));
        }
        (best, measure)
    }

    /// By what no phi and no g can be below.
    fn by_lowest(&self, evidence: &Evidence<'_>) -> Bound {
        let lowest = *self.lowest.get_or_init(|| dual::at_zero(self.ground.problem));
        let rounding = self.ground.objective_error(evidence.point, evidence.w);
        let size = evidence.point.loss.abs() + evidence.point.g.abs() + lowest.abs();
        let gap = evidence.point.loss + evidence.point.g - lowest;
        // Where phi is infinitely steep, all that is known is how many terms were added.
        let rounding =
            if rounding.is_finite() { rounding } else { self.ground.sizes().of_sum * size };
        let rounding = rounding + 4.0 * UNIT * size;
        Bound::new(gap, rounding, 4.0 * UNIT * size, None)
    }

    /// The bound of the duals at hand and no others.
    pub(crate) fn at_hand(&self, evidence: Evidence<'_>) -> Bound {
        self.by_duals(&evidence, &OnceCell::new(), None, None)
    }

    /// Whether something dear may be tried: the first, second, fourth, ... time.
    fn is_due(&mut self) -> bool {
        self.asked += 1;
        let due = self.asked >= self.due;
        if due {
            self.due = 2 * self.asked;
        }
        due
    }

    /// Of a Gram matrix.
    fn products(&self) -> f64 {
        let f = self.ground.problem.inner;
        (f.n_x() * f.ell()) as f64 * (f.d() as f64).powi(2)
    }

    /// Where F is quadratic.
    fn by_hessian(&mut self, evidence: &Evidence<'_>) -> Option<Bound> {
        let (Lazy::Made(hessian), Some(g)) = (&self.hessian, &self.ground.parts) else {
            return None;
        };
        let Evidence { point, w, u, .. } = evidence;
        // The gradient is that of averages that are rounded themselves: phi'' times their error.
        let ground = &self.ground;
        let (sizes, bend) = (ground.sizes(), 1.0 / ground.problem.merit.gamma());
        let moved =
            bend * sizes.average_error(point.theta) + 4.0 * UNIT * mean_square(w, ground.n_x());
        let errors = ground.errors(w);
        let error: Vec<f64> = (0..u.len()).map(|l| errors[l] + sizes.columns[l] * moved).collect();
        let bound = quadratic::gap(hessian, ground.problem, g, *point, u, (&error, sizes.usual()));
        let rounding = bound.gap - bound.excess + ground.objective_error(*point, w);
        Some(Bound::new(bound.excess, rounding, bound.floor, None))
    }

    /// Makes the Hessian, unless that has been tried: from `F''` as
    /// [`Passes::gram`](crate::Passes::gram) or the Gram matrix of the averages made it, if a
    /// method has it.
    pub(crate) fn make_hessian(&mut self, known: Option<&[f64]>) {
        if matches!(self.hessian, Lazy::Unmade) {
            self.hessian =
                quadratic::hessian(&self.ground, known).map_or(Lazy::Impossible, Lazy::Made);
        }
    }

    /// Whether that has been tried.
    pub(crate) fn has_looked(&self) -> bool {
        !matches!(self.hessian, Lazy::Unmade)
    }

    /// By the duals at hand, with or without a repair, among all theta or among so many times the
    /// answer. What phi adds to the gap is found once and kept in `mismatched`.
    fn by_duals(
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
        let mut error = ground.errors(&w);
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
                if along.is_none() {
                    return Bound::NONE;
                }
            }
        }
        let repair = repair.or(along.as_ref());
        if let Some(repair) = repair {
            (0..error.len()).for_each(|l| error[l] += repair.of_sum(l));
        }
        let repaired = repair.map(|_| &*beyond);
        let usual = ground.sizes().usual();
        let slopes =
            Slopes { u: &u, error: &error, usual, tau, repaired, radius: radius.as_deref() };
        let Bracket { exact, rounding, floor } = bracket::bracket(g, point.theta, slopes);
        let at_hand = matched && repair.is_none();
        let is_shrunk = matches!(w, Cow::Owned(_));
        let (first, size) = match repair {
            Some(repair) => {
                mismatch_within(ground.problem, point.f_bar, &w, &|r| repair.of_dual(r))
            }
            None if at_hand => (0.0, 0.0),
            None if is_shrunk => mismatch(ground.problem, *point, &w),
            None => *mismatched.get_or_init(|| mismatch(ground.problem, *point, &w)),
        };
        let rounding = rounding
            + ground.objective_error(*point, &w)
            + (4.0 * UNIT + ground.sizes().of_sum) * size;
        // Where g is strongly convex all around, squares of slopes can be told apart below the
        // objective's last digit.
        let strong =
            at_hand && !g.budget && g.parts.iter().all(|part| part.is_smooth() && part.l2 > 0.0);
        let digits =
            if strong { 0.0 } else { ROUNDING * (size + point.loss.abs() + point.g.abs()) };
        Bound::new(first + exact, rounding, floor + digits, times)
    }

    /// A repair along the one coordinate that is free, if there is an excess nowhere else.
    fn along_intercept(&self, point: Point<'_>, w: &[f64], excess: &[f64]) -> Option<Repair> {
        let (free, column) = self.balance.as_ref()?.column();
        if excess.iter().enumerate().any(|(l, excess)| l != free && *excess != 0.0) {
            return None;
        }
        let weights = repair::weights(&self.ground, point.f_bar, w)?;
        Repair::along(&self.ground, &weights, (free, column), excess[free])
    }

    /// For a g of one's own, whose conjugate is believed.
    fn by_conjugate(&self, evidence: &Evidence<'_>) -> Bound {
        let Evidence { point, w, matched, u, .. } = evidence;
        let problem = self.ground.problem;
        let v: Vec<f64> = u.iter().map(|u| -u).collect();
        let conjugate = problem.regularizer.conjugate(&v);
        let (first, size) = if *matched { (0.0, 0.0) } else { mismatch(problem, *point, w) };
        let products: f64 = point.theta.iter().zip(&v).map(|(theta, v)| (theta * v).abs()).sum();
        let size = size + point.loss.abs() + point.g.abs() + products + conjugate.abs();
        let lost = ROUNDING * size + self.ground.objective_error(*point, w);
        let second = point.g - dot(point.theta, &v) + conjugate;
        Bound::new(first + if second < 0.0 { 0.0 } else { second }, lost, ROUNDING * size, None)
    }

    /// After a Newton step of the duals, with what is left repaired. First with all of `phi''`;
    /// where that leaves the domain of `phi*`, duals near its edge stay.
    fn by_newton_step(&self, evidence: &Evidence<'_>) -> Bound {
        let ground = &self.ground;
        let (Some(g), true) = (&ground.parts, quadratic::is_affordable(ground.problem.inner))
        else {
            return Bound::NONE;
        };
        if let Some(bend) = repair::bend(ground.problem, evidence.point.f_bar) {
            let bound = self.after_step(evidence, g, &bend);
            if bound.gap < f64::INFINITY {
                return bound;
            }
        }
        let weights = repair::weights(ground, evidence.point.f_bar, evidence.w);
        weights.map_or(Bound::NONE, |weights| self.after_step(evidence, g, &weights))
    }

    /// The same with given weights.
    fn after_step(&self, evidence: &Evidence<'_>, g: &Parts, weights: &[f64]) -> Bound {
        let ground = &self.ground;
        let matrix = repair::gram(ground, weights);
        let prove = |w: &[f64], u: &[f64]| {
            let moved = Evidence { w, u, matched: false, ..*evidence };
            let beyond = bracket::excess(
                g,
                u,
                &ground.errors(w),
                ground.multiplier(g, evidence.point, w, u),
            );
            if beyond.iter().all(|excess| *excess == 0.0) {
                return self.by_duals(&moved, &OnceCell::new(), None, None);
            }
            let repair = Repair::new(ground, weights, &matrix, &beyond, g.budget);
            repair.map_or(Bound::NONE, |repair| {
                self.by_duals(&moved, &OnceCell::new(), Some(&repair), None)
            })
        };
        let Some((mut w, u)) = newton::moved(ground, g, evidence, weights, &matrix) else {
            return prove(evidence.w, evidence.u);
        };
        let bound = prove(&w, &u);
        if bound.gap < f64::INFINITY {
            return bound;
        }
        let u = newton::projected(ground, evidence.point, &mut w);
        prove(&w, &u)
    }

    /// What the objective at a point may be rounded by.
    pub(crate) fn objective_error(&self, point: Point<'_>, w: &[f64]) -> f64 {
        self.ground.objective_error(point, w)
    }

    /// `P(theta)` in twice the precision, where that is at hand and double precision may be off by
    /// more than `bearable`.
    pub(crate) fn objective(&self, point: Point<'_>, w: &[f64], bearable: f64) -> Option<f64> {
        let g = self.ground.parts.as_ref()?;
        let rough = self.ground.objective_error(point, w) > bearable;
        (rough && self.is_small)
            .then(|| precise_proof::objective(self.ground.problem, g, point.theta))
            .filter(|exact| exact.is_finite())
    }

    /// In twice the precision.
    fn precisely(&mut self, evidence: &Evidence<'_>) -> Bound {
        let found = self
            .ground
            .parts
            .as_ref()
            .and_then(|g| precise_proof::gap(&self.ground, g, evidence, FAR));
        // Numbers near the largest there are overflow in twice the precision.
        let Some((bound, exact)) = found.filter(|(_, exact)| exact.is_finite()) else {
            return Bound::NONE;
        };
        self.exact = Some((exact, bound));
        bound
    }
}

impl Bound {
    /// Whether it is worth more than another, which holds among all theta.
    fn helps(self, other: Bound, evidence: &Evidence<'_>) -> bool {
        self.gap < other.gap && (self.within.is_none() || self.gap <= WORTH_SAYING * evidence.scale)
    }
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

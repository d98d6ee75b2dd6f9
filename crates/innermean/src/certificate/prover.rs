//! Takes a point and what is known of it, and proves how far from optimal it is.
//!
//! Nothing is believed: duals come from wherever they like, but their feasibility and all values
//! are found here, with a bound on what rounding may have done to each (`sizes.rs`). In turn:
//!
//! 1. Where F is quadratic and its Hessian is certain to be positive definite, the minimum of its
//!    model (`quadratic.rs`); where theta is bounded and a factor dear, only if duals do not do.
//! 2. The duals `phi_i'(fbar_i)`, or those of the method where phi has kinks, balanced against an
//!    intercept (`balance.rs`), shrunk where that makes them feasible.
//! 3. Close to the optimum, the same after a Newton step (`newton.rs`); what rounding leaves is
//!    repaired (`repair.rs`) or, where columns are too much alike for double precision, done again
//!    in twice the precision (`precise_proof.rs`).
//! 4. Where g leaves theta a way to infinity that nothing closes for certain: among all theta up to
//!    a stated multiple of the answer.

use std::cell::OnceCell;

use super::balance::Balance;
use super::definite::Definite;
use super::dual::Point;
use super::ground::Ground;
use super::sizes::{UNIT, mean_square};
use super::{Bound, Measure, precise_proof};
use super::{class_balance, quadratic};
use crate::linalg::precise;
use crate::model::problem::Objective;
use crate::oracle::Patience;

mod duals;
mod steps;

/// How many times the answer theta may be in a bound that holds for no more: where twice the
/// precision is at hand, and elsewhere.
const REACH_OF_PRECISE: f64 = 1e12;
const REACH: f64 = 100.0;
/// A bound among some theta alone, relative to the objective, that is worth more than a larger one
/// among all.
pub(crate) const WORTH_SAYING: f64 = 1e-3;
/// A gap that is rounding alone counts as none if it is no more than this part of the objective.
pub(crate) const BEARABLE: f64 = 1e-9;
/// The largest gap, relative to the scale, at which bounds that cost a matrix are tried.
const MOST_GAP: f64 = 1e-2;
/// The same for a large problem whose phi has kinks, so that the duals are those of the method, in
/// terms of the gap that is wanted.
const MOST_GAP_WITH_KINKS: f64 = 10.0;
/// For a large problem, the largest change of the objective at the last two points at which they
/// are tried, in terms of the gap that is wanted: where duals as they are prove more with every step
/// ([`Prover::improves`]), and elsewhere.
const MOST_PROGRESS_IF_IMPROVING: f64 = 0.01;
const MOST_PROGRESS: f64 = 100.0;
/// Gram matrices of at most this many products take less than a millisecond, and are made at every
/// point close to the optimum; in twice the precision, fewer.
pub(crate) const FEW_PRODUCTS: f64 = 2e6;
const FEW_PRECISE_PRODUCTS: f64 = 1e5;

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
    /// Once a Hessian has been tried, whether sizes of columns were known before: else they come
    /// from it.
    pub(crate) looked: Option<bool>,
    /// The coordinates along which g is a straight line.
    free: Vec<(usize, f64)>,
    balance: Option<Balance>,
    /// Whether they are the intercepts of classes.
    balances_classes: bool,
    /// The last slope that balancing has seen.
    pub(crate) steepness: f64,
    lowest: OnceCell<f64>,
    /// The objective of the last point in twice the precision, and its bound, if that was looked
    /// for.
    exact: Option<(f64, Bound)>,
    /// Whether twice the precision is affordable.
    pub(crate) is_small: bool,
    /// The same where g is a sum of logarithms and nothing else.
    is_small_with_logarithms: bool,
    /// How many times the answer theta may be in a bound that holds for no more.
    reach: f64,
    /// What the objective of the last point lacks, as that point misses constraints by rounding.
    pub(crate) missed: f64,
    /// How long a proof may take; over once one was left because of it.
    pub(crate) patience: Patience<'p>,
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
    /// What the objective may be rounded by, with the duals in `w`
    /// ([`Ground::objective_error`]).
    pub(crate) rounding: f64,
    /// What a gap is compared with, and how small it should be.
    pub(crate) scale: f64,
    pub(crate) wanted: f64,
    /// By how much the objective has changed at most at the last two points.
    pub(crate) progress: f64,
}

impl Evidence<'_> {
    /// What double precision proves is good enough where rounding is all that is left.
    pub(crate) fn bearable_gap(&self) -> f64 {
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
        let logarithm = |l: usize| problem.regularizer.barrier(l).is_some_and(|(_, t)| t == 0.0);
        let is_small_with_logarithms =
            d > 0 && (0..d).all(logarithm) && precise::is_affordable(problem);
        let reach = if precise::is_small(problem) { REACH_OF_PRECISE } else { REACH };
        Prover {
            ground,
            hessian,
            looked: None,
            balances_classes: class_balance::applies(problem, &free),
            free,
            balance: None,
            steepness: 0.0,
            lowest: OnceCell::new(),
            exact: None,
            is_small,
            is_small_with_logarithms,
            reach,
            missed: 0.0,
            patience: Patience::default(),
            asked: 0,
            due: 1,
        }
    }

    /// Whether duals are moved along an intercept before they prove anything, so that those of a
    /// method's gradient do not serve.
    pub(crate) fn balances(&self) -> bool {
        let affine = self.ground.problem.inner.facts().affine;
        let intercepts = self.free.len() == 1 || self.balances_classes;
        affine && intercepts && !matches!(self.hessian, Lazy::Made(_) | Lazy::Unmade)
    }

    /// Balances the duals in `w`, which are those of the averages in `f_bar`, against an intercept,
    /// if that is what g leaves free.
    pub(crate) fn balance(&mut self, f_bar: &[f64], w: &mut [f64]) {
        let problem = self.ground.problem;
        if self.balances_classes {
            return class_balance::apply(problem, f_bar, w);
        }
        let balance = self.balance.get_or_insert_with(|| Balance::new(problem, self.free[0]));
        balance.apply(problem, f_bar, w, &mut self.steepness);
    }

    /// The smallest bound on `P(theta) - P*` that is found, what proves it, and `P(theta)` itself
    /// if it was found in twice the precision.
    pub(crate) fn prove(&mut self, evidence: Evidence<'_>) -> (Bound, Measure, Option<f64>) {
        let objective = evidence.point.loss + evidence.point.g;
        self.exact = None;
        let charged = self.lean(&evidence);
        let (mut bound, measure) = self.best_bound(evidence);
        bound = bound.with(charged);
        let (exact, its_own) = if let Some((exact, its_own)) = self.exact {
            (exact, Some(its_own))
        } else {
            // Points whose objectives are noise cannot be compared.
            let found =
                self.objective(evidence.point.theta, evidence.rounding, evidence.bearable_gap());
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

    /// Where g has constraints on theta as a whole: takes a function below it, as the slopes at
    /// hand suggest, and returns what that costs and what of it may be rounding.
    fn lean(&mut self, evidence: &Evidence<'_>) -> (f64, f64) {
        let Ground { lean: Some(lean), parts, .. } = &mut self.ground else { return (0.0, 0.0) };
        let (charged, rounding) = lean.toward(evidence.point.theta, evidence.u);
        *parts = Some(lean.parts().clone());
        // Multipliers charge nothing where constraints are met; below 0 is what it was worth that
        // they were not.
        self.missed = (-charged).max(0.0);
        (if charged < 0.0 { 0.0 } else { charged }, rounding)
    }

    fn best_bound(&mut self, evidence: Evidence<'_>) -> (Bound, Measure) {
        let affine = self.ground.problem.inner.facts().affine;
        let measure = if affine { Measure::DualityGap } else { Measure::FenchelGap };
        if evidence.matched
            && let Some(bound) = self.by_hessian(&evidence)
        {
            return self.best_of_quadratic(&evidence, bound, measure);
        }
        (self.best_of_duals(&evidence), measure)
    }

    /// Where F is quadratic: the bound of its model, or another one, whose measure is given, if
    /// rounding spoils that.
    fn best_of_quadratic(
        &mut self,
        evidence: &Evidence<'_>,
        bound: Bound,
        measure: Measure,
    ) -> (Bound, Measure) {
        let target = evidence.wanted * evidence.scale;
        let (mut best, mut by) = (bound, Measure::Quadratic);
        // Rounding may hide that the point is optimal.
        let near = best.gap <= MOST_GAP * evidence.scale || best.gap - best.excess > target;
        if best.gap > target && near {
            let lowest = self.by_lowest(evidence);
            if lowest.gap < best.gap {
                (best, by) = (lowest, measure);
            }
        }
        if best.gap > evidence.bearable_gap() && self.is_small && self.is_due(near) {
            let precise = self.precisely(evidence);
            if precise.helps(best, evidence) {
                (best, by) = (precise, measure);
            }
        }
        (best, by)
    }

    /// The cheapest bound that is as small as is wanted, or the smallest that is affordable.
    fn best_of_duals(&mut self, evidence: &Evidence<'_>) -> Bound {
        let target = evidence.wanted * evidence.scale;
        let mismatched = OnceCell::new();
        let mut best = self.by_duals(evidence, &mismatched, None, None);
        if best.gap > target {
            let lowest = self.by_lowest(evidence);
            best = if lowest.gap < best.gap { lowest } else { best };
        }
        if best.gap > target && self.is_small_with_logarithms {
            if self.is_due(best.gap <= MOST_GAP * evidence.scale) {
                let precise = self.precisely_by_conjugate(evidence);
                best = if precise.gap < best.gap { precise } else { best };
            }
            return best;
        }
        if best.gap <= target || self.ground.parts.is_none() {
            return best;
        }
        let affine = self.ground.problem.inner.facts().affine;
        let mut is_all = false;
        if affine && (self.is_small || !self.is_large() || self.has_settled(evidence)) {
            (best, is_all) = self.best_of_steps(evidence, best, &mismatched);
        }
        // Where nothing else comes of them, the duals at hand may still prove it for theta of about
        // the answer's size.
        if best.gap == f64::INFINITY || is_all && best.gap > evidence.bearable_gap() {
            for reach in [self.reach, REACH] {
                let bound = self.by_duals(evidence, &mismatched, None, Some(reach));
                if best.gap == f64::INFINITY || bound.gap <= evidence.bearable_gap() {
                    return bound;
                }
            }
        }
        best
    }

    /// The better of a bound and those that cost a matrix, if the point is close to the optimum, and
    /// whether all of them were tried.
    fn best_of_steps(
        &mut self,
        evidence: &Evidence<'_>,
        mut best: Bound,
        mismatched: &OnceCell<(f64, f64)>,
    ) -> (Bound, bool) {
        let target = evidence.wanted * evidence.scale;
        let kinks = self.ground.problem.merit.has_kinks();
        let most = if self.is_large() && kinks {
            MOST_GAP_WITH_KINKS * target
        } else {
            MOST_GAP * evidence.scale
        };
        // Among theta of the answer's size, if not among all.
        let near =
            best.gap <= most || self.by_duals(evidence, mismatched, None, Some(1.0)).gap <= most;
        if !near && !self.is_small {
            return (best, false);
        }
        let (due, products) = (self.is_due(near), self.products());
        let dear = |most: f64| due || near && products <= most;
        let by_step = if dear(FEW_PRODUCTS) { self.by_newton_step(evidence) } else { Bound::NONE };
        best = if by_step.gap < best.gap { by_step } else { best };
        if !self.is_small {
            return (best, dear(FEW_PRODUCTS));
        }
        // While the objective falls and rounding is a small part of the gap, more digits are of no
        // use; where phi has kinks the gap is that of the method's own duals.
        let lacks_digits = kinks
            || by_step.gap - by_step.excess >= target
            || evidence.progress <= MOST_PROGRESS * target;
        let precisely = lacks_digits && dear(FEW_PRECISE_PRODUCTS);
        if best.gap > evidence.bearable_gap() && precisely {
            let precise = self.precisely(evidence);
            best = if precise.helps(best, evidence) { precise } else { best };
        }
        (best, precisely)
    }

    /// Whether a Gram matrix is more than a matter of a millisecond.
    fn is_large(&self) -> bool {
        self.products() > FEW_PRODUCTS
    }

    /// Whether duals as they are prove more with every step: g is strongly convex along every
    /// coordinate, or has a kink along every one, so that duals that are scaled are feasible.
    fn improves(&self) -> bool {
        let Some(g) = &self.ground.parts else { return false };
        g.parts.iter().all(|part| part.l2 > 0.0) || g.parts.iter().all(|part| part.l1 > 0.0)
    }

    /// Whether the objective changes so little that the point may well be as good as is wanted.
    fn has_settled(&self, evidence: &Evidence<'_>) -> bool {
        let most = if self.improves() { MOST_PROGRESS_IF_IMPROVING } else { MOST_PROGRESS };
        evidence.progress <= most * evidence.wanted * evidence.scale
    }

    /// The bound of the duals at hand and no others.
    pub(crate) fn at_hand(&mut self, evidence: Evidence<'_>) -> Bound {
        let charged = self.lean(&evidence);
        self.by_duals(&evidence, &OnceCell::new(), None, None).with(charged)
    }

    /// Whether something dear may be tried: the first, second, fourth, ... time, of which the first
    /// is a start that needs none unless it looks close to the optimum.
    fn is_due(&mut self, near: bool) -> bool {
        self.asked += 1;
        let due = self.asked >= self.due && (near || self.asked > 1);
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
        let errors = ground.errors(point.theta, w);
        let error: Vec<f64> = (0..u.len()).map(|l| errors[l] + sizes.columns[l] * moved).collect();
        let bound = quadratic::gap(hessian, ground.problem, g, *point, u, (&error, sizes.usual()));
        let rounding = bound.gap - bound.excess + evidence.rounding;
        Some(Bound::new(bound.excess, rounding, bound.floor, None))
    }

    /// Whether duals alone may do, so that no Hessian is made yet: it would be dear, and is not
    /// known; duals as they are prove more with every step; and the objective still changes.
    pub(crate) fn spares_hessian(&self, known: Option<&[f64]>, progress: f64, target: f64) -> bool {
        let unknown = known.is_none() && matches!(self.hessian, Lazy::Unmade);
        unknown
            && self.improves()
            && self.is_large()
            && progress > MOST_PROGRESS_IF_IMPROVING * target
    }

    /// Whether duals are asked before a Hessian is made whose factors would be dear: where theta is
    /// bounded, they prove an answer as closely as its slopes are known. Takes what they need of
    /// `F''`, if that is known.
    pub(crate) fn asks_duals_first(&mut self, known: Option<&[f64]>) -> bool {
        let Some(g) = &self.ground.parts else { return false };
        let is_bounded = g.parts.iter().all(|part| part.lo.is_finite() && part.hi.is_finite());
        let is_dear = (g.parts.len() as f64).powi(3) > FEW_PRODUCTS;
        let asks = matches!(self.hessian, Lazy::Unmade) && is_bounded && is_dear;
        let known = known.filter(|_| asks && !self.ground.is_sized_by_hessian);
        if let Some(variances) = known.and_then(|k| quadratic::variances(self.ground.problem, k)) {
            self.ground.take_variances(&variances);
        }
        asks
    }

    /// Makes the Hessian, unless that has been tried: from `F''` as
    /// [`Passes::gram`](crate::Passes::gram) or the Gram matrix of the averages made it, if a
    /// method has it.
    pub(crate) fn make_hessian(&mut self, known: Option<&[f64]>) {
        if matches!(self.hessian, Lazy::Unmade) {
            self.looked = Some(self.ground.has_sizes());
            self.hessian =
                quadratic::hessian(&self.ground, known).map_or(Lazy::Impossible, Lazy::Made);
        }
    }

    /// `P(theta)` in twice the precision, where that is at hand and double precision, off by
    /// `rounding`, may be off by more than `bearable`.
    pub(crate) fn objective(&self, theta: &[f64], rounding: f64, bearable: f64) -> Option<f64> {
        let g = self.ground.parts.as_ref()?;
        (rounding > bearable && self.is_small)
            .then(|| precise_proof::objective(self.ground.problem, g, theta))
            .filter(|exact| exact.is_finite())
    }
}

impl Bound {
    /// With what the constraints charge, and what of that may be rounding.
    fn with(self, (charged, rounding): (f64, f64)) -> Bound {
        let floor = self.floor + rounding;
        Bound { gap: self.gap + charged + rounding, excess: self.excess + charged, floor, ..self }
    }

    /// Whether it is worth more than another, which holds among all theta.
    fn helps(self, other: Bound, evidence: &Evidence<'_>) -> bool {
        self.gap < other.gap && (self.within.is_none() || self.gap <= WORTH_SAYING * evidence.scale)
    }
}

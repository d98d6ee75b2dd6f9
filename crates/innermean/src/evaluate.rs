//! How good a point is: its objective and how far it is from optimal. The driver asks with the clock stopped.
//!
//! One pass over the data gives the averages, and with them the objective; one more the weighted Jacobians, and with them the bounds of
//! [`crate::certificate`] or the stationarity.

use serde::{Deserialize, Serialize};

use crate::certificate::balance::Balance;
use crate::certificate::dual::{self, Duals, Point};
use crate::certificate::newton::{self, Newton};
use crate::certificate::quadratic::{self, Hessian, Squares};
use crate::certificate::{Bound, Certificate, Measure, ROUNDING, Reason};
use crate::cholesky::Cholesky;
use crate::inner::{Inner, mean_jacobian_norm};
use crate::merit::Merit;
use crate::problem::Problem;
use crate::regularizer::Regularizer;
use crate::vector::norm_squared;

/// A point with a relative stationarity above this is too far from optimal for proofs that are not promised.
const NEAR: f64 = 1e-2;

/// What is known of one point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// `P(theta)`
    pub objective: f64,
    /// `|F(theta)| + |g(theta)|`: the size of what the objective is made of.
    pub magnitude: f64,
    /// How far from optimal: a gap is that of the best point so far, stationarity that of this point.
    pub certificate: Certificate,
    /// Whether this is the best point so far: that with the smallest proven gap or, where there is none, the smallest objective.
    pub is_best: bool,
}

/// What a method may know beside theta.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known<'m> {
    /// The dual variables `w_i`, flat.
    pub duals: Option<&'m [f64]>,
    /// Cholesky's factor of `P''`, if P is quadratic.
    pub factor: Option<&'m Cholesky>,
    /// `F'` at theta; or, of a method that has duals, the sum that belongs to them.
    pub gradient: Option<Gradient<'m>>,
}

/// A whole gradient at a point, with what it was made of.
#[derive(Debug, Clone, Copy)]
pub struct Gradient<'m> {
    /// `fbar_i(theta)`, flat.
    pub f_bar: &'m [f64],
    /// `w_i = phi_i'(fbar_i)`, flat; or the duals of the method, if it has some.
    pub w: &'m [f64],
    /// `(1/n_X) sum_i fbar_i'(theta) w_i`, with the first of these `F'(theta)`
    pub gradient: &'m [f64],
}

/// How the distance from optimal is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// By proof.
    Proof,
    /// Without one, for a reason.
    Stationarity(Reason),
    /// Not at all: phi has a kink and nothing can be proven.
    Nothing(Reason),
    /// Nobody asks.
    Unasked,
}

/// A matrix that is made when it is needed for the first time.
#[derive(Debug)]
enum Lazy {
    Unmade,
    /// F is not quadratic, or the matrix too large, or not positive definite.
    Impossible,
    Made(Hessian),
}

/// The step and the unit of the prox-gradient mapping.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Mapping {
    /// 1/L
    alpha: f64,
    /// Its norm at the origin (or the point that g allows next to it), or at f's ordinary point if that is larger.
    unit: f64,
}

/// A point and what is proven of it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Proven {
    objective: f64,
    magnitude: f64,
    /// Of `P - P*`.
    bound: Bound,
}

impl Proven {
    /// Takes a bound from below of P into account. It may have come from another point, so that the difference is rounded.
    fn tighten(&mut self, below: f64) {
        let bound = Bound::new((self.objective - below).max(0.0), self.magnitude);
        if bound.gap < self.bound.gap {
            self.bound = bound;
        }
    }
}

/// What evaluations leave behind, for a checkpoint.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Memory {
    scale: Option<f64>,
    mapping: Option<Mapping>,
    below: (f64, Measure),
    best: Proven,
    /// Where the next search for a balance begins.
    balance: Option<f64>,
    newton: Option<newton::Memory>,
}

/// Evaluates points of one problem, in buffers of its own.
#[derive(Debug)]
pub struct Evaluator<'p, F, P, G> {
    problem: &'p Problem<F, P, G>,
    way: Way,
    /// The coordinates along which g is a straight line.
    free: Vec<(usize, f64)>,
    /// Whether duals alone can bound P from below.
    by_duals: bool,
    squares: Squares,
    hessian: Lazy,
    balance: Option<Balance>,
    /// Where nothing else bounds P.
    newton: Option<Newton>,
    /// `D(0)`, once it is asked for.
    lowest: Option<f64>,
    mapping: Option<Mapping>,
    /// About the largest `|fbar_i'|`, once it is asked for.
    reach: Option<f64>,
    /// `|F| + |g|` at the origin, or `|min g| = |g*(0)|` where that is finite and larger.
    scale: Option<f64>,
    /// The largest bound from below so far, and what proved it.
    below: (f64, Measure),
    best: Proven,
    f_bar: Vec<f64>,
    w: Vec<f64>,
    gradient: Vec<f64>,
}

impl<'p, F: Inner, P: Merit, G: Regularizer> Evaluator<'p, F, P, G> {
    /// Chooses the way to a measure; what it needs of the data is looked up when it is needed.
    pub fn new(problem: &'p Problem<F, P, G>) -> Self {
        let Problem { inner: f, merit, regularizer: g } = problem;
        let (d, affine) = (f.d(), f.structure().affine);
        let free = g.free_coordinates(d);
        let by_duals = free.len() <= usize::from(affine) && dual::is_usable(g, d, &free, affine);
        let without =
            |reason| if merit.has_kinks() { Way::Nothing(reason) } else { Way::Stationarity(reason) };
        let way = if !f.convex_composition() {
            without(Reason::NotConvex)
        } else if by_duals || quadratic::is_at_hand(problem) {
            Way::Proof
        } else {
            without(Reason::Unbounded)
        };
        let hessian =
            if way == Way::Proof && quadratic::is_at_hand(problem) { Lazy::Unmade } else { Lazy::Impossible };
        let newton = (way == Way::Stationarity(Reason::Unbounded)).then(|| Newton::new(problem)).flatten();
        Evaluator { free, by_duals, hessian, newton, squares: Squares::of(g, d), ..Self::by(problem, way) }
    }

    /// Objectives alone, for half the work.
    pub fn without_measure(problem: &'p Problem<F, P, G>) -> Self {
        Self::by(problem, Way::Unasked)
    }

    fn by(problem: &'p Problem<F, P, G>, way: Way) -> Self {
        let f = &problem.inner;
        let size = f.n_x() * f.ell();
        Evaluator {
            problem,
            way,
            free: Vec::new(),
            by_duals: false,
            squares: Squares::of(&problem.regularizer, 0),
            hessian: Lazy::Impossible,
            balance: None,
            newton: None,
            lowest: None,
            mapping: None,
            reach: None,
            scale: None,
            below: (f64::NEG_INFINITY, Measure::None),
            best: Proven { objective: f64::INFINITY, magnitude: 0.0, bound: Bound::NONE },
            f_bar: vec![0.0; size],
            w: vec![0.0; size],
            gradient: vec![0.0; f.d()],
        }
    }

    /// What earlier evaluations have left behind for later ones; all else follows from the problem.
    pub(crate) fn memory(&self) -> Memory {
        Memory {
            scale: self.scale,
            mapping: self.mapping,
            below: self.below,
            best: self.best,
            balance: self.balance.as_ref().map(|balance| balance.derivative),
            newton: self.newton.as_ref().map(Newton::memory),
        }
    }

    /// Goes on from there; false if that is not of this problem.
    pub(crate) fn remember(&mut self, memory: Memory) -> bool {
        let Memory { scale, mapping, below, best, balance, newton } = memory;
        (self.scale, self.mapping, self.below, self.best) = (scale, mapping, below, best);
        match (balance, &*self.free) {
            (Some(derivative), [one]) => {
                let balance = self.balance.insert(Balance::new(self.problem, *one));
                balance.derivative = derivative;
            }
            (Some(_), _) => return false,
            (None, _) => {}
        }
        match (&mut self.newton, newton) {
            (Some(own), Some(memory)) => own.remember(self.problem, &self.squares, memory),
            (own, memory) => own.is_none() && memory.is_none(),
        }
    }

    /// Evaluates theta, of which a method may know more.
    pub fn evaluate(&mut self, theta: &[f64], known: Known<'_>) -> Evaluation {
        let problem = self.problem;
        let asked = self.way != Way::Unasked;
        let at_origin = asked && self.look_up(theta, known);
        let matched = asked && self.is_matched(known);
        if let (true, Some(known)) = (matched, known.gradient) {
            self.f_bar.copy_from_slice(known.f_bar);
            self.w.copy_from_slice(known.w);
            self.gradient.copy_from_slice(known.gradient);
        } else if let Some(known) = known.gradient {
            self.f_bar.copy_from_slice(known.f_bar);
        } else if matched {
            problem.loss_and_gradient(theta, &mut self.f_bar, &mut self.w, &mut self.gradient);
        } else {
            problem.inner.means(theta, &mut self.f_bar);
        }
        let loss = problem.loss(&self.f_bar);
        let g = problem.regularizer.value(theta);
        let (objective, magnitude) = (loss + g, loss.abs() + g.abs());
        let mut here = Proven { objective, magnitude, bound: Bound::NONE };
        let mut stationarity = None;
        if asked && magnitude.is_finite() {
            self.scale.get_or_insert_with(|| scale(problem, at_origin.then_some(magnitude)));
            let point = Point { theta, loss, g };
            if let (Way::Stationarity(_), None) = (self.way, self.mapping) {
                self.mapping = Some(self.make_mapping(theta));
            }
            let (mut bound, mut measure) = self.prove(point, at_origin, matched, known);
            if let (Way::Stationarity(_), Some(mapping)) = (self.way, self.mapping) {
                let relative = self.mapping_norm(theta, &self.gradient, mapping.alpha) / mapping.unit;
                stationarity = Some(relative);
                if bound == Bound::NONE {
                    (bound, measure) = (self.try_to_prove(point, relative), Measure::DualityGap);
                }
            }
            here.bound = bound;
            if bound.gap < f64::INFINITY && objective - bound.gap >= self.below.0 {
                self.below = (objective - bound.gap, measure);
            }
            here.tighten(self.below.0);
            self.best.tighten(self.below.0);
        }
        // Of two points, that with the smaller bound: objectives that differ by rounding say nothing.
        let (new, old) = (here.bound.gap, self.best.bound.gap);
        let is_best = new < old || (new == old && objective < self.best.objective);
        if is_best {
            self.best = here;
        }
        Evaluation { objective, magnitude, certificate: self.certificate(stationarity), is_best }
    }

    fn certificate(&self, stationarity: Option<f64>) -> Certificate {
        let Bound { gap, .. } = self.best.bound;
        let scale = self.best.magnitude.max(self.scale.unwrap_or(0.0));
        let relative = if scale > 0.0 { gap / scale } else { gap };
        // Where no proof is promised, one that says less than the stationarity is not what a run should wait for.
        let (measure, is_rounding) = (self.below.1, self.best.bound.is_rounding());
        let is_worth = stationarity.is_none_or(|stationarity| relative <= stationarity) || is_rounding;
        if gap < f64::INFINITY && is_worth {
            return Certificate {
                measure,
                gap: Some(gap),
                relative: Some(relative),
                is_rounding,
                reason: None,
            };
        }
        match self.way {
            Way::Proof => Certificate {
                measure: self.expected(),
                relative: Some(f64::INFINITY),
                reason: Some(Reason::NotYet),
                ..Certificate::NONE
            },
            Way::Stationarity(reason) => Certificate {
                measure: Measure::Stationarity,
                relative: stationarity,
                reason: Some(reason),
                ..Certificate::NONE
            },
            Way::Nothing(reason) => Certificate { reason: Some(reason), ..Certificate::NONE },
            Way::Unasked => Certificate::NONE,
        }
    }

    /// What a proof will be.
    fn expected(&self) -> Measure {
        match (&self.hessian, self.problem.inner.structure().affine) {
            (Lazy::Impossible, true) => Measure::DualityGap,
            (Lazy::Impossible, false) => Measure::FenchelGap,
            _ => Measure::Quadratic,
        }
    }

    /// Looks up what this evaluation needs and earlier ones did not; says whether theta is the origin (or the point that g allows next to it) and the
    /// first point of all.
    fn look_up(&mut self, theta: &[f64], known: Known<'_>) -> bool {
        let problem = self.problem;
        let at_origin = self.scale.is_none() && theta == problem.allowed(&vec![0.0; theta.len()]);
        // A run that begins at the origin has it all before it.
        if matches!(self.hessian, Lazy::Unmade) && !at_origin && known.factor.is_none() {
            self.hessian = Hessian::new(problem, &self.squares).map_or(Lazy::Impossible, Lazy::Made);
            if matches!(self.hessian, Lazy::Impossible) && !self.by_duals {
                self.way = Way::Stationarity(Reason::Singular);
            }
        }
        if let (Way::Proof, Lazy::Impossible, None, [one]) =
            (self.way, &self.hessian, &self.balance, &*self.free)
        {
            self.balance = Some(Balance::new(problem, *one));
        }
        if let (Way::Stationarity(_), None, false) = (self.way, self.mapping, at_origin) {
            let origin = problem.allowed(&vec![0.0; theta.len()]);
            let loss = problem.loss_and_gradient(&origin, &mut self.f_bar, &mut self.w, &mut self.gradient);
            self.mapping = Some(self.make_mapping(&origin));
            self.scale.get_or_insert_with(|| {
                scale(problem, Some(loss.abs() + problem.regularizer.value(&origin).abs()))
            });
        }
        at_origin
    }

    /// The method's duals, where they are better than `phi_i'(fbar_i)`: at a kink that is one of many subgradients, and the method knows
    /// better which.
    fn duals<'m>(&self, known: Known<'m>) -> Option<&'m [f64]> {
        let Problem { inner: f, merit, .. } = self.problem;
        known.duals.filter(|_| merit.has_kinks() && f.structure().affine)
    }

    /// Whether the duals will be `w_i = phi_i'(fbar_i)`.
    fn is_matched(&self, known: Known<'_>) -> bool {
        known.factor.is_some() || (self.duals(known).is_none() && self.balance.is_none())
    }

    /// A bound on `P(theta) - P*` at the point whose averages stand in `f_bar`, and what proves it; and, if the duals are matched, those in `w` and
    /// `F'` in `gradient`.
    fn prove(
        &mut self,
        point: Point<'_>,
        at_origin: bool,
        matched: bool,
        known: Known<'_>,
    ) -> (Bound, Measure) {
        let problem = self.problem;
        let affine = problem.inner.structure().affine;
        let mut balanced = None;
        if !matched {
            match self.duals(known) {
                Some(w) => self.w.copy_from_slice(w),
                None => problem.duals(&self.f_bar, &mut self.w),
            }
            let balance = self.balance.as_mut();
            balanced = balance.map(|balance| balance.apply(problem, &self.f_bar, &mut self.w));
            if let Some(known) = known.gradient.filter(|_| balanced.is_none()) {
                self.gradient.copy_from_slice(known.gradient);
            } else {
                self.gradient.fill(0.0);
                problem.inner.add_weighted_jac_t(point.theta, &self.w, &mut self.gradient);
            }
        }
        let prove = |factor: &Cholesky| {
            quadratic::gap(factor, &problem.regularizer, &self.squares, point, &self.gradient)
        };
        if let Some(factor) = known.factor {
            return (prove(factor), Measure::Quadratic);
        }
        if self.way != Way::Proof || (at_origin && !self.by_duals) {
            return (Bound::NONE, Measure::None);
        }
        if let Lazy::Made(hessian) = &self.hessian {
            return (prove(&hessian.factor), Measure::Quadratic);
        }
        let mut v: Vec<f64> = self.gradient.iter().map(|u| -u).collect();
        for (l, slope) in &self.free {
            v[*l] = *slope;
        }
        let left = match (&self.balance, balanced) {
            (Some(balance), Some(balanced)) => {
                balance.left(balanced, point.theta, &self.f_bar, &self.gradient)
            }
            // Nothing met the slopes.
            _ if !self.free.is_empty() => f64::INFINITY,
            _ => 0.0,
        };
        let may_shrink = affine && self.free.iter().all(|(_, slope)| *slope == 0.0);
        let duals = Duals { w: &mut self.w, matched, v: &mut v, may_shrink };
        let mut bound = dual::gap(problem, point, &self.f_bar, duals);
        bound.gap += left;
        bound.rounding += left;
        if bound.is_rounding() && matched && self.squares.are_all() && self.problem.regularizer.mu() > 0.0 {
            let error = self.rounding(point.theta);
            let closer = self.squares.strong_gap(point.theta, &self.gradient, error);
            bound = if closer.gap < bound.gap { closer } else { bound };
        }
        (bound, if affine { Measure::DualityGap } else { Measure::FenchelGap })
    }

    /// What rounding may have done to a coordinate of `F'`, the mean of `<f'_l, w_i>`: with `|fbar_i'| <= B`, eps of `B |w_i|`, and what `w_i` itself
    /// was rounded by, `B |theta| / gamma`.
    fn rounding(&mut self, theta: &[f64]) -> f64 {
        let f = &self.problem.inner;
        let reach = *self.reach.get_or_insert_with(|| {
            f.bounds().mean_jacobian.unwrap_or_else(|| mean_jacobian_norm(f, &vec![0.0; f.d()]))
        });
        let w = (norm_squared(&self.w) / f.n_x() as f64).sqrt();
        let gamma = self.problem.merit.gamma();
        ROUNDING * reach * (w + reach * norm_squared(theta).sqrt() / gamma)
    }

    /// A bound where none is promised, if it says at least as much as the relative stationarity.
    fn try_to_prove(&mut self, point: Point<'_>, stationarity: f64) -> Bound {
        let problem = self.problem;
        if stationarity > NEAR {
            return Bound::NONE;
        }
        let lowest = *self.lowest.get_or_insert_with(|| dual::at_zero(problem));
        let mut bound = Bound::new(point.loss + point.g - lowest, point.loss.abs() + point.g.abs());
        if let Some(newton) = &mut self.newton {
            let closer = newton.gap(problem, &self.squares, point, &self.f_bar, &self.w, &self.gradient);
            bound = if closer.gap < bound.gap { closer } else { bound };
        }
        let scale = self.scale.unwrap_or(0.0).max(point.loss.abs() + point.g.abs());
        if bound.gap <= stationarity * scale || bound.is_rounding() { bound } else { Bound::NONE }
    }

    /// From the averages and the gradient at the origin, which are at hand.
    fn make_mapping(&self, origin: &[f64]) -> Mapping {
        let problem = self.problem;
        let f = &problem.inner;
        // Where g is quadratic nobody asks for the step.
        let smoothness = if self.squares.are_all() {
            1.0
        } else {
            mean_jacobian_norm(f, origin).powi(2) / problem.gamma_of(&self.f_bar)
        };
        let alpha = if smoothness > 0.0 && smoothness.is_finite() { 1.0 / smoothness } else { 1.0 };
        let at_origin = self.mapping_norm(origin, &self.gradient, alpha);
        let elsewhere = f.ordinary_point().map_or(0.0, |point| {
            let mut gradient = vec![0.0; point.len()];
            problem.gradient(&point, &mut gradient);
            self.mapping_norm(&point, &gradient, alpha)
        });
        // A logarithm may be infinitely steep at the origin: in that unit every point would be solved.
        let usable = |norm: &f64| norm.is_finite() && *norm > 0.0;
        let unit = [at_origin, elsewhere].into_iter().filter(usable).reduce(f64::max).unwrap_or(1.0);
        Mapping { alpha, unit }
    }

    /// The norm of the prox-gradient mapping at theta, where `F'` is `gradient`; where g is quadratic that of `P'(theta)`, which
    /// says more than a difference of points that may round to zero.
    fn mapping_norm(&self, theta: &[f64], gradient: &[f64], alpha: f64) -> f64 {
        if let Some(gradient) = self.squares.gradient(theta, gradient) {
            return norm_squared(&gradient).sqrt();
        }
        norm_squared(&self.problem.mapping(theta, gradient, alpha)).sqrt()
    }
}

/// `|F| + |g|` at the origin (or the point that g allows next to it), or `|min g| = |g*(0)|` where that is finite and larger.
fn scale<F: Inner, P: Merit, G: Regularizer>(problem: &Problem<F, P, G>, known: Option<f64>) -> f64 {
    let zero = vec![0.0; problem.inner.d()];
    let there = known.unwrap_or_else(|| {
        let origin = problem.allowed(&zero);
        let mut f_bar = vec![0.0; problem.inner.n_x() * problem.inner.ell()];
        problem.inner.means(&origin, &mut f_bar);
        problem.loss(&f_bar).abs() + problem.regularizer.value(&origin).abs()
    });
    let least = problem.regularizer.conjugate(&zero).abs();
    [there, least].into_iter().filter(|x| x.is_finite()).fold(0.0, f64::max)
}

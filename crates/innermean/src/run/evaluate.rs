//! How good a point is: its objective and how far it is from optimal. The driver asks with the
//! method's clock stopped.
//!
//! One pass over the data gives the averages, and with them the objective; one more the weighted
//! Jacobians, and with them the bounds of [`crate::certificate`] or the stationarity.

use serde::{Deserialize, Serialize};

use crate::certificate::dual::Point;
use crate::certificate::linearised;
use crate::certificate::prover::{Evidence, Prover};
use crate::certificate::stationarity::{Asked, Slope, Stationarity};
use crate::certificate::{Certificate, Measure};
use crate::linalg::vector::norm_squared;
use crate::model::inner::Lost;
use crate::model::problem::Objective;
use crate::run::scale::Scale;

mod by_model;
mod certificate;
mod digits;
mod look;
mod proven;
mod time;

use certificate::relative;
use digits::DIGITS;
use look::{Looked, Room};
use proven::Proven;

/// An objective this many times that of the origin is no answer, however flat it is there.
const WORSE_THAN_ORIGIN: f64 = 1e3;
/// The gain of a Newton step is an estimate of the gap. Where nothing moves any more, this many
/// times that gain is taken for the gap.
const MARGIN_OF_GAIN: f64 = 1e3;
/// The least stationarity that double precision can tell from none.
const LAST_DIGIT: f64 = 1e-14;
/// The tolerance if none is set.
const TOLERANCE: f64 = 1e-6;

/// What is known of one point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Evaluation {
    /// `P(theta)`
    pub objective: f64,
    /// `|F(theta)| + |g(theta)|`: the size of what the objective is made of.
    pub magnitude: f64,
    /// How far from optimal: a gap is that of the best point so far, stationarity that of this
    /// point.
    pub certificate: Certificate,
    /// Whether this is the best point so far: that with the smallest objective or, among those that
    /// differ by rounding, the smallest proven gap.
    pub is_best: bool,
}

/// What a method may know beside theta.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known<'m> {
    /// The dual variables `w_i`, flat.
    pub duals: Option<&'m [f64]>,
    /// `F''` as [`Passes::gram`](crate::Passes::gram) or the Gram matrix of the averages made it,
    /// with nothing added, if F is quadratic.
    pub gram: Option<&'m [f64]>,
    /// `F'` at theta; or, of a method that has duals, the sum that belongs to them.
    pub gradient: Option<Gradient<'m>>,
}

/// A whole gradient at a point, with what it was made of: each found in one pass over the data, not
/// moved along with theta.
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
    /// Without one, for P may not be convex.
    Stationarity,
    /// The same, where phi has a kink.
    Linearised,
    /// Not at all: the model that would tell is too large or not to be solved.
    NoMeasure,
    /// Not at all: no tolerance is set.
    Unasked,
}

/// What earlier evaluations left behind: all that the next depends on beside the problem.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Memory {
    scale: Scale,
    /// The largest bound from below so far that holds everywhere, and what proved it.
    below: (f64, Measure),
    best: Proven,
    /// The objectives of the last point and of the one before.
    last: [f64; 2],
    stationarity: Stationarity,
    /// Dear bounds that were asked for, and the next that will be tried.
    asked: u64,
    due: u64,
    /// The last slope that balancing against an intercept has seen.
    steepness: f64,
    /// Of a Hessian of F that has been asked for: whether sizes of columns were known before.
    hessian: Option<bool>,
}

/// Evaluates points of one problem, in buffers of its own.
pub struct Evaluator<'p> {
    problem: Objective<'p>,
    way: Way,
    tolerance: f64,
    prover: Prover<'p>,
    memory: Memory,
    room: Room,
}

impl<'p> Evaluator<'p> {
    /// Chooses the way to a measure; what it needs of the data is looked up when it is needed.
    pub fn new(problem: impl Into<Objective<'p>>) -> Self {
        let problem = problem.into();
        let way = match (problem.inner.facts().is_convex(), problem.merit.has_kinks()) {
            (true, _) => Way::Proof,
            (false, false) => Way::Stationarity,
            (false, true) if linearised::suits(problem) => Way::Linearised,
            (false, true) => Way::NoMeasure,
        };
        Self::by(problem, way)
    }

    /// Objectives alone, for half the work.
    pub fn without_measure(problem: impl Into<Objective<'p>>) -> Self {
        Self::by(problem.into(), Way::Unasked)
    }

    /// From now on objectives alone, for which no time is left to prove anything.
    pub(crate) fn prove_nothing(&mut self) {
        self.way = Way::Unasked;
    }

    /// Whether some bound from below holds for all theta.
    pub(crate) fn has_bound_from_below(&self) -> bool {
        self.memory.below.0 > f64::NEG_INFINITY
    }

    /// The first pass over the data that failed.
    pub(crate) fn lost(&self) -> Option<Lost> {
        self.problem.inner.lost()
    }

    fn by(problem: Objective<'p>, way: Way) -> Self {
        Evaluator {
            prover: Prover::new(problem),
            problem,
            way,
            tolerance: TOLERANCE,
            memory: Memory {
                scale: Scale::default(),
                below: (f64::NEG_INFINITY, Measure::None),
                best: Proven::UNKNOWN,
                last: [f64::INFINITY, 0.0],
                stationarity: Stationarity::default(),
                asked: 0,
                due: 1,
                steepness: 0.0,
                hessian: None,
            },
            room: Room::default(),
        }
    }

    /// The same, for a run that asks for so small a relative gap: what is smaller need not be
    /// proven.
    #[must_use]
    pub fn aiming_at(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// What the next evaluation depends on beside the problem.
    pub(crate) fn memory(&self) -> Memory {
        let Prover { asked, due, steepness, .. } = self.prover;
        Memory { asked, due, steepness, hessian: self.prover.looked, ..self.memory.clone() }
    }

    /// Goes on from where another evaluator ended; false if that was not of this problem.
    pub(crate) fn remember(&mut self, memory: Memory) -> bool {
        let Prover { asked, due, steepness, .. } = &mut self.prover;
        (*asked, *due, *steepness) = (memory.asked, memory.due, memory.steepness);
        if let Some(was_sized) = memory.hessian {
            if was_sized {
                self.prover.ground.sizes();
            }
            self.prover.make_hessian(None);
        }
        let fits = memory.stationarity.is_of(self.problem.inner.d());
        self.memory = memory;
        fits
    }

    /// Evaluates theta, of which a method may know more.
    pub fn evaluate(&mut self, theta: &[f64], known: Known<'_>) -> Evaluation {
        let mut room = std::mem::take(&mut self.room);
        let looked = self.look(theta, known, &mut room);
        let evaluation = self.judge(theta, looked, known);
        self.room = room;
        evaluation
    }

    /// [`Self::evaluate`] once the averages are at hand.
    fn judge(&mut self, theta: &[f64], looked: Looked<'_>, known: Known<'_>) -> Evaluation {
        let asked = self.way != Way::Unasked;
        let loss = self.problem.loss(looked.f_bar);
        let g = self.problem.regularizer.value(theta);
        let (objective, magnitude) = (loss + g, loss.abs() + g.abs());
        let mut here = Proven { objective, magnitude, ..Proven::UNKNOWN };
        let mut gained = None;
        if asked && magnitude.is_finite() {
            self.memory.scale.look_up(self.problem, &self.prover.ground, theta, magnitude);
            let scale = self.memory.scale.at(magnitude);
            match self.way {
                Way::Proof => self.prove(theta, (loss, g), looked, known, scale, &mut here),
                Way::Stationarity => {
                    let Evaluator { problem, memory, tolerance, .. } = self;
                    let Looked { f_bar, w, gradient, .. } = looked;
                    let at = Slope { theta, f_bar, w, gradient };
                    // Not by what the objective has grown to here.
                    let scale = memory.scale.at_origin().unwrap_or(scale);
                    // A gain is about the square of a slope.
                    let square = tolerance.powi(2) * scale;
                    let gain = memory.stationarity.gain(*problem, at, square);
                    let mut measure = relative(gain, scale).sqrt();
                    // Where it is 0 at the origin, nothing says how large what it is made of is,
                    // and so its rounding.
                    let sized = memory.scale.at_origin().is_some();
                    if memory.stationarity.is_idle(objective, square) && gain > square && sized {
                        let enough = square.max(*tolerance / MARGIN_OF_GAIN * scale);
                        let asked = Asked { enough, scale };
                        let kept = memory.stationarity.kept(*problem, at, asked, gain);
                        let gain = relative(kept, scale);
                        measure = gain.sqrt().min(MARGIN_OF_GAIN * gain);
                    }
                    // What has run away to where squares are not finite rests there by rounding
                    // alone.
                    if !norm_squared(theta).is_finite() {
                        measure = f64::INFINITY;
                    }
                    let least =
                        if magnitude > WORSE_THAN_ORIGIN * scale { 1.0 } else { LAST_DIGIT };
                    gained = Some(measure.max(least));
                }
                Way::Linearised => gained = self.gained_by_model(theta, objective, scale),
                Way::NoMeasure | Way::Unasked => {}
            }
            // A point that is certain to be better than the origin takes its place.
            if here.objective >= -here.rounding {
                self.prove_origin(scale, looked);
            }
            let (below, measure) = self.note(&here);
            here.tighten(below, measure);
            self.memory.best.tighten(below, measure);
        }
        let is_best = here.is_better_than(&self.memory.best);
        if is_best {
            self.memory.best = here;
        }
        Evaluation {
            objective: here.objective,
            magnitude,
            certificate: self.certificate(gained),
            is_best,
        }
    }

    fn prove(
        &mut self,
        theta: &[f64],
        (loss, g): (f64, f64),
        looked: Looked<'_>,
        known: Known<'_>,
        scale: f64,
        here: &mut Proven,
    ) {
        let Looked { f_bar, w, gradient, matched } = looked;
        let point = Point { theta, loss, g, f_bar };
        let [last, before] = self.memory.last;
        let progress = (here.objective - last).abs().max((last - before).abs());
        self.memory.last = [here.objective, last];
        let target = self.tolerance * scale;
        let may_do = matched && self.prover.asks_duals_first(known.gram);
        if matched && !may_do && !self.prover.spares_hessian(known.gram, progress, target) {
            self.prover.make_hessian(known.gram);
        }
        here.rounding = self.prover.ground.objective_error(point, w);
        let evidence = Evidence {
            point,
            w,
            matched,
            u: gradient,
            rounding: here.rounding,
            scale,
            wanted: self.tolerance,
            progress,
        };
        let mut proven = self.prover.prove(evidence);
        // Not at the start, which is no answer as a rule.
        if may_do && progress.is_finite() && proven.0.gap > target {
            self.prover.make_hessian(known.gram);
            proven = self.prover.prove(evidence);
        }
        let exact;
        (here.bound, here.measure, exact) = proven;
        match exact {
            Some(exact) if (exact - here.objective).abs() > DIGITS * here.magnitude => {
                here.objective = exact;
                // Of numbers that are as good as noise the size is noise, too.
                here.magnitude = (exact - g).abs() + g.abs();
                here.rounding = f64::EPSILON * here.magnitude;
            }
            // The bound is that of the other objective.
            Some(exact) => here.bound.gap += (here.objective - exact).max(0.0),
            None => {}
        }
        // A point that misses a constraint by rounding may lie below the optimum by what that is
        // worth: it is no better than one that meets it, and refutes no bound.
        here.rounding += self.prover.missed;
    }

    /// Where the objective is 0 at the origin, which is the best point so far, a gap is nothing or
    /// all: the duals at hand are tried there.
    fn prove_origin(&mut self, scale: f64, looked: Looked<'_>) {
        let best = &self.memory.best;
        if self.way != Way::Proof
            || best.magnitude != 0.0
            || best.bound.gap == 0.0
            || best.objective != 0.0
        {
            return;
        }
        let origin = vec![0.0; looked.gradient.len()];
        let mut f_bar = vec![0.0; looked.f_bar.len()];
        self.problem.inner.means(&origin, &mut f_bar);
        let loss = self.problem.loss(&f_bar);
        if loss != 0.0 || self.problem.regularizer.value(&origin) != 0.0 {
            return;
        }
        let point = Point { theta: &origin, loss, g: 0.0, f_bar: &f_bar };
        let evidence = Evidence {
            point,
            w: looked.w,
            matched: false,
            u: looked.gradient,
            rounding: self.prover.ground.objective_error(point, looked.w),
            scale,
            wanted: 0.0,
            progress: 0.0,
        };
        let bound = self.prover.at_hand(evidence);
        if bound.gap < self.memory.best.bound.gap {
            self.memory.best.bound = bound;
        }
    }
}

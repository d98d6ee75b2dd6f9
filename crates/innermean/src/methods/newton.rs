//! Proximal Newton with a Hessian from a part of the terms, corrected by quasi-Newton pairs:
//! sub-sampled Newton (Byrd, Chin, Neveitt and Nocedal, "On the Use of Stochastic Hessian
//! Information in Optimization Methods for Machine Learning", 2011) as the matrix from which BFGS
//! starts; for a g that is not smooth, the proximal step of Lee, Sun and Saunders, "Proximal
//! Newton-Type Methods for Minimizing Composite Functions", 2014.
//!
//! ```text
//! x      = argmin over x of  <F'(theta), x - theta> + (x - theta)' B (x - theta) / 2 + g(x)
//! theta <- theta + tau (x - theta),   tau = 1, 1/2, ... until P falls enough
//! ```
//!
//! B begins as `F''`: that of a part of the data, whose problem is solved first; of all where they
//! are few or P is a quadratic; as its diagonal where d is large. Every step improves it by BFGS
//! with the gradients that are there anyway. After steps that helped little it is made anew, from
//! more terms. With all terms at every step this is Newton's method, with its quadratic
//! convergence; otherwise every step takes off a digit or more, for one pass over the data where a
//! whole Hessian would cost d/8 of them.
//!
//! Where f is not affine, `F''` is what comes from phi alone, `(1/n_X) sum_i fbar_i' phi_i''
//! fbar_i'^T` (Gauss-Newton): never indefinite, and nearly all of it where averages are close to
//! what phi asks for. BFGS makes up for the rest; where that is slow and d is small, the whole of
//! it is found by differences of gradients, a pass over the data for each coordinate and side
//! (`bent.rs`).
//!
//! Asks of the problem: a smooth phi that knows its second derivatives, and a g that is a sum over
//! coordinates, with or without a budget. Converges from any start, to a stationary point where P
//! is not convex: every step descends, and B stays positive definite. Per step: one whole gradient.
//! Storage: `2 n_X ell` for averages and duals, `d^2` for B, or `2 memory d` where d is large;
//! while a Hessian is made of m terms of an f that is not affine, `m ell d`.
//!
//! Differs: the papers solve for the step by conjugate gradients or coordinate descent; with d this
//! small it is exact, by Cholesky's factor.

use serde::Serialize;

use self::model::Model;
use self::start::Start;
use self::state::{Bending, Point, Trying};
use super::lbfgs::pairs::Pairs;
use super::{Ask, Chosen, Family, Form, Listed, Method, MethodInfo, Rate};
use crate::certificate::bent::{self, Reach};
use crate::linalg::long::zeros;
use crate::model::inner::mean_support;
use crate::model::problem::Objective;
use crate::model::regularizer::Parts;
use crate::model::setting::at_least_one;
use crate::oracle::Oracle;
use crate::run::evaluate::Gradient;
use crate::tuning::choice::{Choice, Knob};

mod model;
mod orthant;
mod start;
mod state;

pub use state::State;

/// Pairs of differences kept where B is known by its inverse.
const MEMORY: usize = 20;
/// Rows for each coordinate from which the first Hessian is made, at least and at most; see
/// `experiments/src/bin/newton.rs`.
const LEAST_ROWS: usize = 40;
const MOST_ROWS: usize = 200;
/// A whole pass over n samples costs as much as the Hessian of this many times `n / d` terms.
const TERMS_PER_PASS: usize = 8;
/// The most passes that the first Hessian may cost.
const MOST_PASSES: usize = 6;
/// Up to this many coordinates a Hessian costs little more than a gradient, where f is affine.
const CHEAP_COORDINATES: usize = 32;
/// Up to this many coordinates there is a matrix, however few the data.
const ALWAYS_MATRIX: usize = 256;
/// Products of a factor for each number of the data.
const PRODUCTS_PER_NUMBER: f64 = 300.0;
/// The same where rows are sparse: from this many numbers on a matrix was as fast as a diagonal on
/// logistic rows (`experiments/results/bench.md`, growth in nnz).
const PRODUCTS_PER_NONZERO: f64 = 60.0;
/// The most coordinates for which there may be one.
pub(crate) const MOST: usize = 2000;
/// A step is slow if more than this part of the predicted gain remains.
const SLOW_DECAY: f64 = 0.3;
/// The shortest part of a step that was cut off at bounds before the prox step is tried instead.
const SHORTEST_CUT: f64 = 0.1;
/// The shortest step that is tried.
const SHORTEST: f64 = 1e-10;
/// Passes before the whole of `F''` is found by differences of gradients where f bends, or as many
/// as it takes if they are more, with slow steps to the last.
const PASSES_BEFORE_DIFFERENCES: usize = 24;

/// Newton's method with its settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Newton {
    /// Pairs of differences that are kept.
    pub memory: usize,
    /// Of the terms that the Hessian is made from.
    pub seed: u64,
    /// Rows for each coordinate from which the first Hessian is made.
    pub rows: usize,
    /// Newton's method proper: the Hessian of all terms at every step.
    pub whole: bool,
}

impl Listed for Newton {
    const INFO: MethodInfo = MethodInfo {
        name: "newton",
        title: "Newton",
        family: Family::Batch,
        summary: "steps by the Hessian of a part of the data, corrected by later gradients, for \
            any g with parts",
        reference: "Byrd, Chin, Neveitt and Nocedal 2011; with a prox, Lee, Sun and Saunders 2014",
        storage: "n_X ell + d^2, or memory d where d is large",
        rate: Rate::Linear,
        form: Form::Collapsed,
        asks: &[Ask::SmoothMerit, Ask::Hessian, Ask::Parts],
        settings: &[Knob::Memory],
    };

    fn settings(choice: &Choice, problem: Objective<'_>, _: &[f64]) -> Chosen<Self> {
        let memory = at_least_one("memory", choice.memory.unwrap_or(MEMORY))?;
        let (d, n_x) = (problem.inner.d().max(1), problem.inner.n_x());
        // For half a pass.
        let rows = (TERMS_PER_PASS * n_x / (2 * d * d)).clamp(LEAST_ROWS, MOST_ROWS);
        Ok(Newton { memory, seed: choice.seed, rows, whole: false })
    }
}

impl Method for Newton {
    type State = State;

    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> State {
        let (d, size) = (oracle.d(), oracle.n_x() * oracle.ell());
        let mut start = Point::new(theta);
        let (mut f_bar, mut w) = (zeros(size), zeros(size));
        start.loss = oracle.pass().gradient(theta, &mut f_bar, &mut w, &mut start.gradient);
        start.g = oracle.g().value(theta);
        let g = parts(oracle);
        // A matrix has its pairs inside.
        let pairs = if g.are_smooth() || !has_matrix(oracle, &g) { self.memory } else { 1 };
        State {
            here: start.clone(),
            trial: start,
            target: theta.to_vec(),
            direction: vec![0.0; d],
            tau: 1.0,
            slope: 0.0,
            model: Model::Diagonal(Vec::new()),
            pairs: Pairs::new(pairs, d),
            terms: 0,
            exact: false,
            damping: 0.0,
            damped: false,
            moved: true,
            trying: Trying::Nothing,
            size: 0.0,
            reach: Vec::new(),
            bending: Bending::Gauss,
            passes: 1,
            slow: 0,
            f_bar,
            w,
        }
    }

    /// F and F' at the trial point.
    fn outer(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        if s.trying == Trying::Nothing {
            self.begin(oracle, s);
        }
        let State { trial, f_bar, w, .. } = s;
        trial.loss = oracle.pass().gradient(&trial.x, f_bar, w, &mut trial.gradient);
        trial.g = oracle.g().value(&trial.x);
        s.passes += 1;
        s.moved = false;
    }

    fn fits(&self, oracle: &Oracle<'_>, s: &State) -> bool {
        s.model.fits(oracle.d(), parts(oracle).are_smooth())
            && [0, oracle.d()].contains(&s.reach.len())
    }

    /// Accepts the trial point or not, and takes the next.
    fn inner(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        let g = parts(oracle);
        if std::mem::replace(&mut s.trying, Trying::Step) == Trying::Jump {
            // What suits a part of the data may not suit all: from the start, then.
            if s.trial.objective() <= s.here.objective() {
                s.arrive();
            }
            s.aim(oracle, &g);
        } else if s.falls(&g) {
            self.move_on(oracle, &g, s);
        } else if s.damps() {
            s.aim(oracle, &g);
        } else if s.tau < SHORTEST_CUT && !g.are_smooth() && !s.pairs.is_empty() {
            s.fall_back(oracle, &g);
        } else if s.tau > SHORTEST {
            s.shorten();
        } else if Self::may_bend(oracle, s) && s.bending != Bending::Here {
            // The gradient is that of the trial point by now, the averages of Gauss-Newton's matrix
            // as well.
            oracle.pass().means(&s.here.x, &mut s.f_bar);
            s.bending = Bending::Whole;
            self.make_model(oracle, &g, s);
            s.aim(oracle, &g);
        } else {
            // Nothing is left but rounding.
            s.target.copy_from_slice(&s.here.x);
            s.tau = 1.0;
        }
        s.look_ahead();
    }

    fn theta<'s>(&self, s: &'s State) -> &'s [f64] {
        &s.here.x
    }

    fn gradient<'s>(&self, s: &'s State) -> Option<Gradient<'s>> {
        let State { here, f_bar, w, moved, .. } = s;
        moved.then_some(Gradient { f_bar, w, gradient: &here.gradient })
    }
}

impl Newton {
    /// To the trial point, with a better model and a new aim.
    fn move_on(&self, oracle: &mut Oracle<'_>, g: &Parts, s: &mut State) {
        if !s.exact {
            s.learn(g);
        }
        s.arrive();
        s.undamp();
        let gain = s.slope;
        let cheap = oracle.facts().affine && oracle.d() <= CHEAP_COORDINATES;
        let every_step =
            self.whole || s.bending != Bending::Gauss || cheap && s.terms == oracle.n_x();
        if every_step && !s.exact {
            self.make_model(oracle, g, s);
            return s.aim(oracle, g);
        }
        s.aim(oracle, g);
        s.slow = if s.slope < SLOW_DECAY * gain { s.slow + 1 } else { 0 };
        if s.slow > 1 && !s.exact {
            s.bending = if Self::may_bend(oracle, s) { Bending::Whole } else { Bending::Gauss };
            self.make_model(oracle, g, s);
            s.aim(oracle, g);
        }
    }

    /// Whether enough steps have been made for the whole of `F''` to be worth its differences.
    fn may_bend(oracle: &Oracle<'_>, s: &State) -> bool {
        let d = oracle.d();
        !oracle.facts().affine
            && d <= bent::MOST
            && s.passes >= PASSES_BEFORE_DIFFERENCES.max(2 * d)
    }

    /// The first trial point: by a part of the data where there are enough of them, otherwise by
    /// the Hessian at the start.
    fn begin(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        let g = parts(oracle);
        if let Some(Start { x, model, terms }) = self.start_on_a_part(oracle, &g, &s.here.x) {
            (s.trial.x, s.model, s.terms) = (x, model, terms);
            s.trying = Trying::Jump;
        } else {
            self.make_model(oracle, &g, s);
            s.aim(oracle, &g);
            s.look_ahead();
            s.trying = Trying::Step;
        }
    }

    /// Terms whose Hessian costs about as much as a whole pass over the data.
    fn terms_of_a_pass(oracle: &Oracle<'_>) -> usize {
        TERMS_PER_PASS * oracle.samples() / oracle.d().max(1)
    }

    /// Terms for the first Hessian, unless they cost too many passes.
    fn first_terms(&self, oracle: &Oracle<'_>) -> usize {
        let (d, n_x) = (oracle.d(), oracle.n_x());
        let rows = (self.rows * d).min(MOST_PASSES * Self::terms_of_a_pass(oracle)).max(2 * d);
        rows.div_ceil(oracle.ell()).min(n_x)
    }

    /// The Hessian at the point whose averages are at hand.
    fn make_model(&self, oracle: &mut Oracle<'_>, g: &Parts, s: &mut State) {
        let (d, n_x) = (oracle.d(), oracle.n_x());
        s.pairs.clear();
        s.slow = 0;
        if !has_matrix(oracle, g) {
            s.terms = n_x;
            s.model = Model::diagonal(oracle.pass().hessian_diagonal(&s.here.x, &s.f_bar));
            return;
        }
        s.exact = oracle.problem().quadratic();
        let most = Self::terms_of_a_pass(oracle) * s.passes;
        let wanted = self.first_terms(oracle);
        s.terms = if self.whole || s.exact || s.bending != Bending::Gauss {
            n_x
        } else {
            wanted.max((4 * s.terms).min(most))
        };
        if 4 * s.terms >= n_x {
            s.terms = n_x;
        }
        let mut matrix = oracle.pass().hessian(&s.here.x, &s.f_bar, s.terms, self.seed);
        s.reach_out(&matrix);
        if s.bending != Bending::Gauss {
            s.bending = Bending::Here;
            let reach = Reach { bends: &s.reach, size: s.size };
            let (mut f_bar, mut w) = (s.f_bar.clone(), s.w.clone());
            let gradient = |x: &[f64], out: &mut [f64]| {
                oracle.pass().gradient(x, &mut f_bar, &mut w, out);
                !oracle.patience.is_over()
            };
            matrix = bent::whole(gradient, g, &s.here.x, matrix.clone(), reach).unwrap_or(matrix);
            s.passes += 2 * d;
        }
        s.model = Model::dense(matrix, g);
        if s.damping > 0.0 {
            s.model.damp(s.damping, d);
        }
    }
}

/// Whether there is a matrix.
fn has_matrix(oracle: &Oracle<'_>, g: &Parts) -> bool {
    g.budget
        || g.constraints.is_some()
        || oracle.problem().inner.summed().is_some()
        || is_moderate(
            oracle.d(),
            oracle.samples() * oracle.ell(),
            mean_support(oracle.problem().inner),
        )
}

/// Whether d is so moderate that a matrix pays, beside this many rows that look at d coordinates
/// or, where that is known, at fewer: Cholesky's factor costs `d^3/6` products and should cost no
/// more than a few dozen passes.
pub(crate) fn is_moderate(d: usize, rows: usize, support: Option<f64>) -> bool {
    let (width, dozens) =
        support.map_or((d as f64, PRODUCTS_PER_NUMBER), |width| (width, PRODUCTS_PER_NONZERO));
    d <= ALWAYS_MATRIX || d <= MOST && (d as f64).powi(3) <= dozens * rows as f64 * width
}

/// Rows of which the first Hessian is made at most, beside this many samples.
pub(crate) fn rows_at_first(d: usize, samples: usize) -> usize {
    (MOST_ROWS * d).min(MOST_PASSES * TERMS_PER_PASS * samples / d.max(1)).max(2 * d)
}

/// g along its coordinates.
fn parts(oracle: &Oracle<'_>) -> Parts {
    oracle.problem().parts().expect("the method has been chosen for this problem")
}

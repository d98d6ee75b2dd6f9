//! Working sets: Newton's method on the few columns that matter, for a g with corners at which most
//! coordinates rest. Massias, Gramfort and Salmon, "Celer: a Fast Solver for the Lasso with Dual
//! Extrapolation", 2018; Bertrand, Klopfenstein, Bannier, Gidel and Massias, "Beyond L1: Faster and
//! Better Sparse Models with skglm", 2022.
//!
//! ```text
//! v_l = the distance of -F'(theta)_l from the subgradients of g_l at theta_l
//! W   = { l that do not rest } and, of those that rest, the ones with the largest v_l^2 / |A_l|^2
//! x   = argmin over x of  P(x)  with  x_l = theta_l outside W
//! ```
//!
//! Only the step to x looks at columns, those of W, which are copied out of the rows. A step costs
//! one whole gradient, in which all coordinates have their say on the next W; it is what a
//! certificate is made of. Where a coordinate outside W would move, W grows, at most to twice its
//! size.
//!
//! On W, P is minimised by proximal Newton steps (Lee, Sun and Saunders 2014) with a line search,
//! one where F is quadratic. Their quadratic programs are solved exactly by Cholesky's factor
//! (`program.rs`) where the Gram matrix of W is small beside its columns, and otherwise by
//! coordinate descent with extrapolation (`descent.rs`), to a part of what was left before.
//!
//! Asks of the problem: an affine f, a phi that is a sum over coordinates and knows its second
//! derivatives, a g that is one without constraints. Every step descends. Storage: `2 n_X ell` for
//! averages and duals, and the columns of W.
//!
//! Differs: W is ranked by the slopes at theta itself, not by those at an extrapolated dual point;
//! coordinates are not screened for good, since a pass along the rows reads all columns anyway.

use serde::{Deserialize, Serialize};

use self::part::Part;
use super::backtracking::SLACK;
use super::{Ask, Chosen, Family, Form, Listed, Method, MethodInfo, Rate};
use crate::model::collapse::Collapsed;
use crate::model::problem::Objective;
use crate::model::regularizer::{Coordinate, Parts};
use crate::oracle::Oracle;
use crate::run::evaluate::Gradient;
use crate::tuning::choice::Choice;

mod descent;
mod part;

/// Coordinates that the first set takes, beside those that do not rest: where rows are dense, so
/// many that their Gram matrix costs less than a pass; where they are sparse, a part of all, with
/// which sweeps cost little.
const FIRST: usize = 32;
const SQUARE_OF_FIRST: f64 = 8.0;
const PART_OF_SPARSE: usize = 16;
/// How many coordinates that rest may be let in for each that does not.
const GROWTH: usize = 1;
const GROWTH_OF_SPARSE: usize = 3;
/// Coordinates outside W are let in where they would gain more than this part of what those inside
/// would.
const WORTH_A_SET: f64 = 0.01;
/// The part of what a first sweep gains that is not worth another, on a set that will grow and on
/// one that may be the last.
const ENOUGH_AT_FIRST: f64 = 1e-3;
const SMALL_GAIN_OF_LAST: f64 = 1e-8;
/// Of what a slope is made of.
const ROUNDING: f64 = 1e-14;

/// The method; it has no settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkingSet {}

/// The current point with F and F' there, and the set of the last step.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
    loss: f64,
    g: f64,
    gradient: Vec<f64>,
    f_bar: Vec<f64>,
    w: Vec<f64>,
    /// W, rising; of any length, see `fits`
    #[serde(with = "crate::run::checkpoint::shape::free")]
    set: Vec<usize>,
    /// The columns of W; made again where a run is resumed
    #[serde(skip)]
    part: Option<Part>,
}

impl Listed for WorkingSet {
    const INFO: MethodInfo = MethodInfo {
        name: "working-set",
        title: "Working sets",
        family: Family::Batch,
        summary: "Newton steps on the few columns that matter, for a g with corners",
        reference: "Massias, Gramfort and Salmon 2018; Bertrand et al. 2022",
        storage: "n_X ell + the columns that matter",
        rate: Rate::Linear,
        form: Form::Collapsed,
        asks: &[Ask::AffineInner, Ask::SmoothMerit, Ask::DiagonalHessian, Ask::Separable],
        settings: &[],
    };

    fn settings(_: &Choice, _: Objective<'_>, _: &[f64]) -> Chosen<Self> {
        Ok(WorkingSet {})
    }
}

impl Method for WorkingSet {
    type State = State;

    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> State {
        let size = oracle.n_x() * oracle.ell();
        let mut state = State {
            theta: theta.to_vec(),
            loss: 0.0,
            g: oracle.g().value(theta),
            gradient: vec![0.0; theta.len()],
            f_bar: vec![0.0; size],
            w: vec![0.0; size],
            set: Vec::new(),
            part: None,
        };
        state.look(oracle);
        state
    }

    fn fits(&self, oracle: &Oracle<'_>, s: &State) -> bool {
        let rises = s.set.windows(2).all(|pair| pair[0] < pair[1]);
        rises && s.set.last().is_none_or(|l| *l < oracle.d())
    }

    /// The step on W, and F and F' at its end.
    fn outer(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        let Parts { parts, .. } = oracle.problem().parts().expect("g is a sum over coordinates");
        let is_new = s.choose(oracle, &parts);
        if is_new {
            oracle.pass().count_columns();
            s.part = None;
        }
        let mut part = s.part.take().unwrap_or_else(|| s.take_columns(oracle));
        let own: Vec<Coordinate> = s.set.iter().map(|&l| parts[l]).collect();
        let before: Vec<f64> = s.set.iter().map(|&l| s.theta[l]).collect();
        let slopes = s.set.iter().map(|&l| s.gradient[l]).collect();
        let at = Point { x: before.clone(), loss: s.loss, f_bar: s.f_bar.clone(), slopes };
        let enough = if is_new { ENOUGH_AT_FIRST } else { SMALL_GAIN_OF_LAST };
        let x = part.minimise(oracle, &own, at, &s.w, enough);
        s.part = Some(part);
        let objective = s.loss + s.g;
        let slack = 10.0 * SLACK * (s.loss.abs() + s.g.abs());
        s.put(&x);
        // A step that ends where it began counts its calls too, or a limit on them would not end a
        // run without progress.
        s.look(oracle);
        // False also where P is no number.
        let falls = s.loss + s.g <= objective + slack;
        if !falls {
            s.put(&before);
            s.look(oracle);
        }
    }

    fn inner(&self, _: &mut Oracle<'_>, _: &mut State) {}

    fn theta<'s>(&self, s: &'s State) -> &'s [f64] {
        &s.theta
    }

    fn gradient<'s>(&self, s: &'s State) -> Option<Gradient<'s>> {
        let State { f_bar, w, gradient, .. } = s;
        Some(Gradient { f_bar, w, gradient })
    }
}

impl State {
    /// Theta on W.
    fn put(&mut self, x: &[f64]) {
        self.set.iter().zip(x).for_each(|(&l, x)| self.theta[l] = *x);
    }

    /// F and F' at theta.
    fn look(&mut self, oracle: &mut Oracle<'_>) {
        let State { theta, f_bar, w, gradient, .. } = self;
        self.loss = oracle.pass().gradient(theta, f_bar, w, gradient);
        self.g = oracle.g().value(theta);
    }

    /// The columns of W.
    fn take_columns(&self, oracle: &Oracle<'_>) -> Part {
        let f = oracle.problem().inner;
        let sparse = f.n_x() > 0 && f.support(0).is_some();
        let made = || Collapsed::without_offsets(f, &self.theta);
        if sparse {
            let apart = |rows: &Collapsed| rows.columns_apart(&self.set);
            return Part::by_columns(f.averages().map_or_else(|| apart(&made()), apart));
        }
        let own = f.averages().map_or_else(|| made().columns(&self.set), |f| f.columns(&self.set));
        Part::by_rows(own)
    }

    /// Chooses W; whether it is another than before.
    fn choose(&mut self, oracle: &Oracle<'_>, parts: &[Coordinate]) -> bool {
        let d = parts.len();
        let mut inside = vec![false; d];
        self.set.iter().for_each(|&l| inside[l] = true);
        let squares = oracle.mean_squares();
        // What a coordinate would gain by itself, but for a factor.
        let (mut gains, mut rest) = (vec![0.0; d], vec![false; d]);
        let (mut gain_inside, mut gain_outside, mut must) = (0.0, 0.0, false);
        for (l, part) in parts.iter().enumerate() {
            let (x, slope) = (self.theta[l], self.gradient[l]);
            let beyond = violation(part, x, slope);
            let gain = if beyond > 0.0 { beyond * beyond / squares[l] } else { 0.0 };
            (gains[l], rest[l]) = (gain, rests(part, x));
            must |= !rest[l] && !inside[l];
            if inside[l] {
                gain_inside += gain;
            } else {
                gain_outside += gain;
            }
        }
        if !must && gain_outside <= WORTH_A_SET * gain_inside {
            return false;
        }
        let moving = rest.iter().filter(|rests| !**rests).count();
        let mut waiting: Vec<usize> = (0..d).filter(|&l| rest[l] && gains[l] > 0.0).collect();
        let sparse = oracle.support(0).is_some();
        let dense = (SQUARE_OF_FIRST * d as f64).sqrt() as usize;
        let (first, growth) =
            if sparse { (d / PART_OF_SPARSE, GROWTH_OF_SPARSE) } else { (dense, GROWTH) };
        let most = (growth * moving).max(first).max(FIRST);
        if waiting.len() > most {
            let order = |a: &usize, b: &usize| gains[*b].total_cmp(&gains[*a]).then(a.cmp(b));
            waiting.select_nth_unstable_by(most, order);
            waiting.truncate(most);
        }
        for l in waiting {
            rest[l] = false;
        }
        let chosen: Vec<usize> = (0..d).filter(|&l| !rest[l]).collect();
        let is_new = chosen != self.set;
        self.set = chosen;
        is_new
    }
}

/// Whether a coordinate rests at a bound or at the kink.
pub(super) fn rests(part: &Coordinate, x: f64) -> bool {
    x <= part.lo || x >= part.hi || part.l1 > 0.0 && x == 0.0
}

/// How far `-F'_l` is from the subgradients of `g_l` at x; what may be rounding counts as nothing.
pub(super) fn violation(part: &Coordinate, x: f64, slope: f64) -> f64 {
    let v = slope + part.tilt + part.l2 * x;
    let size = slope.abs() + part.tilt.abs() + (part.l2 * x).abs() + part.l1;
    let (down, up) = match x {
        // The slopes to the left and to the right.
        0.0 => (v - part.l1, v + part.l1),
        x => (v + part.l1 * x.signum(), v + part.l1 * x.signum()),
    };
    let down = if x > part.lo { down } else { 0.0 };
    let up = if x < part.hi { -up } else { 0.0 };
    let beyond = down.max(up);
    if beyond > ROUNDING * size { beyond } else { 0.0 }
}

/// The point at which a step on W begins.
struct Point {
    x: Vec<f64>,
    loss: f64,
    f_bar: Vec<f64>,
    /// F' on W
    slopes: Vec<f64>,
}

//! The line search of Newton's method: the current point, the one on trial, and the model that
//! leads from one to the other.

use serde::{Deserialize, Serialize};

use super::model::Model;
use super::orthant;
use crate::linalg::vector::{axpy, dot, norm_squared, update_with_both};
use crate::methods::backtracking::SLACK;
use crate::methods::lbfgs::pairs::Pairs;
use crate::model::regularizer::Parts;
use crate::oracle::Oracle;

/// The part of the slope by which P must fall.
const SIGMA: f64 = 1e-4;
/// The first ridge of a damped model, and the most, for the mean of its diagonal as 1; by which it
/// grows after a step that did not help, and shrinks where the next model is made after one that
/// did.
const FIRST_DAMPING: f64 = 0.01;
const MOST_DAMPING: f64 = 0.999;
const DAMP: f64 = 8.0;
const UNDAMP: f64 = 16.0;
const LEAST_DAMPING: f64 = 1e-30;

/// What the trial point is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Trying {
    /// There is none yet.
    Nothing,
    /// The solution of the problem of a part of the data.
    Jump,
    /// The next point by the model.
    Step,
}

/// What the model knows of how f bends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Bending {
    /// Nothing: it is Gauss-Newton's.
    Gauss,
    /// All, wherever it was made last.
    Whole,
    /// All, at the current point.
    Here,
}

/// A point with F and F' there.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Point {
    pub(super) x: Vec<f64>,
    pub(super) loss: f64,
    pub(super) gradient: Vec<f64>,
    pub(super) g: f64,
}

impl Point {
    pub(super) fn new(x: &[f64]) -> Self {
        Point { x: x.to_vec(), loss: f64::INFINITY, gradient: vec![0.0; x.len()], g: 0.0 }
    }

    /// `P(x)`
    pub(super) fn objective(&self) -> f64 {
        self.loss + self.g
    }
}

/// The current point, the one on trial, and the model that leads from one to the other.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    pub(super) here: Point,
    pub(super) trial: Point,
    /// x, x - theta, and how far along it the trial point lies
    pub(super) target: Vec<f64>,
    pub(super) direction: Vec<f64>,
    pub(super) tau: f64,
    /// `<F'(theta), x - theta> + g(x) - g(theta)`: at most 0; twice what a whole step gains
    pub(super) slope: f64,
    pub(super) model: Model,
    pub(super) pairs: Pairs,
    /// Terms from which the Hessian was made; all, for a diagonal
    pub(super) terms: usize,
    /// Whether the Hessian is the same everywhere and known
    pub(super) exact: bool,
    /// The ridge that has been added to the model, and whether since the last move
    pub(super) damping: f64,
    pub(super) damped: bool,
    /// Whether the last gradient is that of the current point
    pub(super) moved: bool,
    /// What the trial point is
    pub(super) trying: Trying,
    /// The largest entries of the diagonal of Gauss-Newton's matrix so far, and the size of the
    /// objective where the first was made
    pub(super) reach: Vec<f64>,
    pub(super) size: f64,
    /// Whether the model is the whole of `F''` where f bends
    pub(super) bending: Bending,
    /// Gradients so far, and slow steps since the model was made
    pub(super) passes: usize,
    pub(super) slow: usize,
    pub(super) f_bar: Vec<f64>,
    pub(super) w: Vec<f64>,
}

impl State {
    /// The trial point becomes the current one.
    pub(super) fn arrive(&mut self) {
        std::mem::swap(&mut self.here, &mut self.trial);
        self.moved = true;
        if self.bending == Bending::Here {
            self.bending = Bending::Whole;
        }
    }

    /// Notes how much coordinates bend.
    pub(super) fn reach_out(&mut self, matrix: &[f64]) {
        let d = self.here.x.len();
        if self.reach.is_empty() {
            self.reach = vec![0.0; d];
            let size = self.here.loss.abs() + self.here.g.abs();
            self.size = if size > 0.0 && size.is_finite() { size } else { 1.0 };
        }
        for (most, bend) in self.reach.iter_mut().zip(matrix.iter().step_by(d + 1)) {
            *most = most.max(*bend);
        }
    }

    /// Takes most of the ridge off the next model, after a move that needed no more of it.
    pub(super) fn undamp(&mut self) {
        if !std::mem::take(&mut self.damped) {
            self.damping = if self.damping > LEAST_DAMPING { self.damping / UNDAMP } else { 0.0 };
        }
    }

    /// Adds to the ridge of a matrix, after a step that did not help: where few terms bend, as
    /// those of a hinge, a Hessian says too little about the others. Whether there was anything to
    /// add to.
    pub(super) fn damps(&mut self) -> bool {
        let d = self.here.x.len();
        match self.model.size(d) {
            Some(size) if size.is_finite() && self.damping < MOST_DAMPING * size => {
                let more = if self.damping > 0.0 {
                    (DAMP - 1.0) * self.damping
                } else {
                    FIRST_DAMPING * size
                };
                self.model.damp(more, d);
                self.damping += more;
                self.damped = true;
                true
            }
            _ => false,
        }
    }

    /// Whether P has fallen enough at the trial point. Where that is lost in rounding, whether it
    /// has not risen and, where g is smooth, `P'` has become shorter.
    pub(super) fn falls(&self, g: &Parts) -> bool {
        let State { here, trial, .. } = self;
        let slack = SLACK * (here.loss.abs() + here.g.abs());
        let asked = SIGMA * self.tau * self.slope;
        if trial.objective() <= here.objective() + asked && -self.slope > slack {
            return true;
        }
        trial.objective() <= here.objective() + slack
            && -self.tau * self.slope <= 10.0 * slack
            && (!g.are_smooth() || norm_squared(&trial.slope(g)) <= norm_squared(&here.slope(g)))
    }

    /// The pair of differences between here and the trial point.
    pub(super) fn learn(&mut self, g: &Parts) {
        let State { here, trial, pairs, model, .. } = self;
        let difference = |s: &mut [f64], y: &mut [f64]| {
            update_with_both(s, &trial.x, &here.x, |_, next, x| next - x);
            update_with_both(y, &trial.gradient, &here.gradient, |_, next, v| next - v);
        };
        if matches!(model, Model::Matrix(_)) {
            let (mut s, mut y) = (vec![0.0; here.x.len()], vec![0.0; here.x.len()]);
            difference(&mut s, &mut y);
            model.update(&s, &y);
        } else {
            pairs.add(|s, y| {
                difference(s, y);
                for ((y, s), part) in y.iter_mut().zip(&*s).zip(&g.parts) {
                    *y += part.l2 * s;
                }
            });
        }
    }

    /// The direction to where the model is least.
    pub(super) fn aim(&mut self, oracle: &Oracle<'_>, g: &Parts) {
        let State { here, target, direction, model, pairs, .. } = self;
        self.tau = 1.0;
        target.copy_from_slice(&here.x);
        if g.are_smooth() {
            let slope = here.slope(g);
            direction.copy_from_slice(&slope);
            pairs.descend_from(direction, |q| model.solve(g, q));
            axpy(1.0, direction, target);
            self.slope = dot(direction, &slope);
        } else {
            model.minimise(oracle, g, &here.gradient, target);
            let quasi = match model {
                Model::Diagonal(diagonal) if !pairs.is_empty() => {
                    orthant::improve(g, diagonal, pairs, (&here.x, &here.gradient), target);
                    true
                }
                _ => false,
            };
            self.head_for_target(oracle);
            if quasi && (self.slope.is_nan() || self.slope >= 0.0) {
                self.fall_back(oracle, g);
            }
        }
    }

    /// The direction and the slope from here to the target.
    fn head_for_target(&mut self, oracle: &Oracle<'_>) {
        let State { here, target, direction, .. } = self;
        update_with_both(direction, target, &here.x, |_, target, x| target - x);
        self.slope = dot(&here.gradient, direction) + oracle.g().value(target) - here.g;
    }

    /// To the prox step by the model alone, which always leads downwards.
    pub(super) fn fall_back(&mut self, oracle: &Oracle<'_>, g: &Parts) {
        self.pairs.clear();
        self.tau = 1.0;
        self.target.copy_from_slice(&self.here.x);
        self.model.minimise(oracle, g, &self.here.gradient, &mut self.target);
        self.head_for_target(oracle);
    }

    /// A shorter step: to the least of the parabola through what is known, within bounds.
    pub(super) fn shorten(&mut self) {
        let risen = self.trial.objective() - self.here.objective() - self.tau * self.slope;
        let least = -0.5 * self.slope * self.tau / risen;
        // Not a number where P is infinite.
        self.tau *= if least > 0.1 { least.min(0.5) } else { 0.1 };
    }

    /// `theta + tau (x - theta)`, which is x itself for tau = 1: it may be at a bound.
    pub(super) fn look_ahead(&mut self) {
        let State { here, trial, target, direction, tau, .. } = self;
        if *tau == 1.0 {
            trial.x.copy_from_slice(target);
        } else {
            update_with_both(&mut trial.x, &here.x, direction, |_, x, v| x + *tau * v);
        }
    }
}

impl Point {
    /// `P'(x)` where g is smooth.
    fn slope(&self, g: &Parts) -> Vec<f64> {
        let mut slope = self.gradient.clone();
        g.add_gradient(&self.x, &mut slope);
        slope
    }
}

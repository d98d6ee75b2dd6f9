//! The line search of L-BFGS: the current point, the one on trial, and what is decided between
//! them.

use std::mem;

use serde::{Deserialize, Serialize};

use super::pairs::Pairs;
use super::point::Point;
use crate::linalg::vector::{distance_squared, norm_squared, update_with_both};
use crate::methods::backtracking::{SLACK, is_below_parabola};
use crate::oracle::Oracle;

/// The part of `gamma |r|^2 / 2` by which the envelope must fall; below `1 - gamma L`.
const SIGMA: f64 = 0.02;
/// gamma may grow where gamma times the curvature seen stays below this.
const GROWTH_THRESHOLD: f64 = 0.1;

/// The current point, the one on trial, and the line between them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    pub(super) here: Point,
    pub(super) trial: Point,
    pub(super) gamma: f64,
    pub(super) pairs: Pairs,
    /// `-H r`
    pub(super) direction: Vec<f64>,
    pub(super) tau: f64,
    /// Whether the start has been left
    pub(super) moved: bool,
    /// Whether g is smooth, so that the current point is as good as its prox-gradient step
    pub(super) smooth: bool,
    /// Whether the averages and duals are those of the current point
    pub(super) known: bool,
    /// Moves since curvature was last judged, the largest `|F'(x^+) - F'(x)| / |x^+ - x|` in them,
    /// and how many must pass before gamma may grow
    pub(super) quiet: usize,
    pub(super) steepest: f64,
    pub(super) patience: usize,
    pub(super) f_bar: Vec<f64>,
    pub(super) w: Vec<f64>,
    pub(super) work: Vec<f64>,
}

impl State {
    /// Whether gamma has proved short enough between the two points. For affine f it is by choice.
    pub(super) fn gamma_holds(&mut self, oracle: &Oracle<'_>) -> bool {
        let State { here, trial, gamma, work, .. } = self;
        oracle.facts().affine
            || is_below_parabola(
                (&here.x, here.loss, &here.gradient),
                (&trial.x, trial.loss),
                *gamma,
                work,
            )
    }

    /// Whether the envelope has fallen by `sigma |r|^2`. Where that is lost in rounding, whether r
    /// has become shorter.
    pub(super) fn falls(&self) -> bool {
        let State { here, trial, gamma, .. } = self;
        let square = norm_squared(&here.residual);
        let asked = 0.5 * SIGMA * gamma * square;
        let slack = SLACK * here.magnitude();
        trial.envelope <= here.envelope - asked
            || trial.envelope <= here.envelope + slack && norm_squared(&trial.residual) <= square
    }

    /// To the trial point, with a new direction.
    pub(super) fn move_on(&mut self, first: bool) {
        let State { here, trial, pairs, direction, .. } = self;
        if !first {
            pairs.add(|s, y| {
                update_with_both(s, &trial.x, &here.x, |_, next, x| next - x);
                update_with_both(y, &trial.residual, &here.residual, |_, next, r| next - r);
            });
        }
        self.moved = !first;
        self.known = true;
        mem::swap(here, trial);
        direction.copy_from_slice(&here.residual);
        pairs.descend(direction);
        self.tau = if pairs.is_empty() { 0.0 } else { 1.0 };
    }

    /// Another gamma, for which the residuals are others.
    pub(super) fn set_gamma(&mut self, oracle: &Oracle<'_>, gamma: f64) {
        self.gamma = gamma;
        self.here.forward_backward(oracle, gamma);
        self.pairs.clear();
        self.tau = 0.0;
        (self.quiet, self.steepest) = (0, 0.0);
    }

    /// Differs: where f is not affine and F has been far flatter than gamma supposes for a while,
    /// gamma grows; the residual of a tiny gamma is lost in rounding. As this may be a mistake,
    /// every time takes twice the patience of the last.
    pub(super) fn grow(&mut self, oracle: &Oracle<'_>) {
        let State { here, trial, .. } = self;
        // After the move, the trial point is the last one.
        let change =
            distance_squared(&here.gradient, &trial.gradient) / distance_squared(&here.x, &trial.x);
        self.steepest = self.steepest.max(change.sqrt());
        self.quiet += 1;
        if self.quiet < self.patience {
            return;
        }
        if self.steepest > 0.0 && self.gamma * self.steepest < GROWTH_THRESHOLD {
            self.patience *= 2;
            self.set_gamma(oracle, 0.5 / self.steepest);
        }
        (self.quiet, self.steepest) = (0, 0.0);
    }

    /// `x^+ = (1 - tau) x_bar + tau (x - H r)`
    pub(super) fn look_ahead(&mut self) {
        let State { here, trial, direction, tau, .. } = self;
        trial.x.copy_from_slice(&here.x_bar);
        if *tau > 0.0 {
            update_with_both(&mut trial.x, &here.x, direction, |x_bar, x, v| {
                x_bar + *tau * (x + v - x_bar)
            });
        }
    }
}

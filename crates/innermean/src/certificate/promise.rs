//! Whether a step gains what the slopes promise. Where nothing moves any more, slopes may be
//! rounding, of scores that are large numbers less large numbers, say; along directions in which
//! nothing bends, as where predictions are 0 or 1, a step by them has no end, and promises more
//! than there is. The objective itself knows.
//!
//! A slope that is there shows at all lengths of a step that are short enough: the objective falls
//! by half of what it says or more. One that is not shows at none, down to where rounding would
//! hide it.

use super::sizes::UNIT;
use super::stationarity::{self, Asked, Slope, alone, newton_step};
use crate::model::problem::Objective;
use crate::model::regularizer::Parts;

/// Of the diagonal: ridges for Newton's matrix, down to the matrix as it is. What is rounding along
/// one direction must not hide what is a slope along another.
const RIDGES: [f64; 4] = [1e-3, 1e-6, 1e-9, 1e-13];
/// Each length that is tried is this many times the last.
const SHORTENING: f64 = 0.25;
/// Of the size of the objective: a difference that rounding does not hide.
const BEYOND_ROUNDING: f64 = 32.0 * UNIT;
/// Lengths in a row at which the objective falls as promised: one may be rounding.
const IN_A_ROW: i32 = 2;

/// What became of a promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Promise {
    /// The objective falls.
    Kept,
    /// It does not, at any length.
    Broken,
    /// Rounding would hide it: the promise stands.
    Unseen,
}

/// The most that a step gains which promises more than `enough` and is not seen to break its
/// promise; 0 if all are. And by how much the objective has been seen to fall: steps are tried until
/// that is more than `enough`. A step that keeps its promise over a length at which next to nothing
/// is gained, as along a coordinate that hardly bends, does not end the search.
pub(super) fn kept(
    problem: Objective<'_>,
    g: &Parts,
    at: Slope<'_>,
    diagonal: &[f64],
    stiff: impl Fn(usize) -> f64,
    Asked { enough, scale }: Asked,
) -> (f64, f64) {
    let d = at.theta.len();
    let mut beside = Beside::new(problem, at, scale);
    // Coordinates that break it alone are held.
    let mut g = g.clone();
    let mut next = at.theta.to_vec();
    let mut most = 0.0_f64;
    for l in 0..d {
        let (end, gain) = alone(&g.parts[l], at.theta[l], at.gradient[l], diagonal[l] + stiff(l));
        if gain * d as f64 <= enough {
            continue;
        }
        next[l] = end;
        match beside.promise(&next, gain) {
            Promise::Broken => (g.parts[l].lo, g.parts[l].hi) = (at.theta[l], at.theta[l]),
            _ if gain > enough => most = most.max(gain),
            _ => {}
        }
        if beside.fallen > enough {
            return (most, beside.fallen);
        }
        next[l] = at.theta[l];
    }
    let matrix = stationarity::matrix(problem, at);
    for ridge in RIDGES {
        let (next, gain) = newton_step(problem, &g, at, matrix.clone(), ridge, &stiff);
        if gain > enough && beside.promise(&next, gain) != Promise::Broken {
            most = most.max(gain);
        }
        if beside.fallen > enough {
            break;
        }
    }
    (most, beside.fallen)
}

/// A point with its objective, and buffers for others.
struct Beside<'a> {
    problem: Objective<'a>,
    at: Slope<'a>,
    objective: f64,
    visible: f64,
    /// The most that it was seen to fall by.
    fallen: f64,
    x: Vec<f64>,
    f_bar: Vec<f64>,
}

impl<'a> Beside<'a> {
    fn new(problem: Objective<'a>, at: Slope<'a>, scale: f64) -> Self {
        let (loss, g) = (problem.loss(at.f_bar), problem.regularizer.value(at.theta));
        let (x, f_bar) = (at.theta.to_vec(), at.f_bar.to_vec());
        // What is small here may be a difference of what is large at the origin.
        let visible = BEYOND_ROUNDING * (loss.abs() + g.abs()).max(scale);
        Beside { problem, at, objective: loss + g, visible, fallen: 0.0, x, f_bar }
    }

    /// Whether the objective falls on the way to `next`, by half of what the step gains for each
    /// part of it.
    fn promise(&mut self, next: &[f64], gain: f64) -> Promise {
        if !gain.is_finite() || gain * SHORTENING.powi(IN_A_ROW) <= self.visible {
            return Promise::Unseen;
        }
        let (mut length, mut in_a_row) = (1.0, 0);
        while length * gain > self.visible {
            for ((x, here), next) in self.x.iter_mut().zip(self.at.theta).zip(next) {
                *x = here + length * (next - here);
            }
            self.problem.inner.means(&self.x, &mut self.f_bar);
            let there = self.problem.loss(&self.f_bar) + self.problem.regularizer.value(&self.x);
            self.fallen = self.fallen.max(self.objective - there);
            in_a_row = if self.objective - there >= 0.5 * length * gain { in_a_row + 1 } else { 0 };
            if in_a_row == IN_A_ROW {
                return Promise::Kept;
            }
            length *= SHORTENING;
        }
        Promise::Broken
    }
}

#[cfg(test)]
mod tests {
    use super::{Asked, Slope, kept};
    use crate::model::problem::Problem;
    use crate::model::regularizer::Parts;
    use crate::problems::bags::{Bags, Groups, Link};
    use crate::{Bernoulli, Unregularized};

    /// What is kept at theta of one row with the proportion 1/2, `F = log(2 cosh(theta / 2))`, of a
    /// slope that is off by so much.
    fn kept_at(theta: f64, off: f64, enough: f64) -> f64 {
        let groups = Groups::new(1, vec![1.0], vec![0, 1], false).expect("groups");
        let merit = Bernoulli::new(vec![0.5]).expect("a proportion");
        let problem =
            Problem { inner: Bags::new(groups, Link::Logistic), merit, regularizer: Unregularized };
        let problem = problem.erased();
        let (mut f_bar, mut w, mut gradient) = ([0.0], [0.0], [0.0]);
        problem.loss_and_gradient(&[theta], &mut f_bar, &mut w, &mut gradient);
        gradient[0] += off;
        let g = Parts::of(problem.regularizer, problem.inner.d()).expect("parts");
        let at = Slope { theta: &[theta], f_bar: &f_bar, w: &w, gradient: &gradient };
        kept(problem, &g, at, &[0.25], |_| 0.0, Asked { enough, scale: 0.7 }).0
    }

    #[test]
    fn slopes_that_are_not_there_promise_nothing() {
        assert_eq!(kept_at(0.0, 1e-3, 1e-12), 0.0);
        assert_eq!(kept_at(0.0, 1e-5, 1e-12), 0.0);
    }

    #[test]
    fn slopes_that_are_there_stand() {
        // slope^2 / (2 bend), with slopes tanh(theta / 2) / 2
        for theta in [1.0, 1e-2, 1e-4] {
            let wanted = (0.5 * f64::tanh(0.5 * theta)).powi(2) / 0.5;
            let found = kept_at(theta, 0.0, 1e-12);
            assert!((found / wanted - 1.0).abs() < 1e-6, "{found} is not {wanted} at {theta}");
        }
    }

    #[test]
    fn what_rounding_would_hide_stands() {
        // Some 1e-17, of an objective of 0.7: the fall is invisible.
        let (theta, wanted) = (1e-8, (0.25e-8_f64).powi(2) / 0.5);
        let found = kept_at(theta, 0.0, 1e-20);
        assert!((found / wanted - 1.0).abs() < 1e-3, "{found} is not {wanted}");
    }
}

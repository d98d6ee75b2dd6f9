//! Where phi has kinks and f bends, and nothing can be proven: what the linear model of all averages
//! would gain.
//!
//! ```text
//! P(theta) - min over x of  (1/n_X) sum_i phi_i( fbar_i + fbar_i'^T (x - theta) ) + g(x)
//! ```
//!
//! 0 exactly where theta is stationary: there, and nowhere else, the model has its minimum
//! (Drusvyatskiy and Lewis, "Error Bounds, Quadratic Growth, and Linear Convergence of Proximal
//! Methods", Math. of Operations Research 2018, who add a prox term; without one the gain is
//! larger, and no unit of a coordinate counts). The model is convex: its minimum is found by the method of multipliers and
//! bounded from below by proof, so that the gain is never taken for less than it is.

use crate::methods::{self, multipliers};
use crate::model::collapse::Collapsed;
use crate::model::problem::Objective;
use crate::oracle::{Oracle, Patience};
use crate::run::evaluate::{Evaluator, Known};

/// Numbers of a model at most: half a gigabyte.
const MOST_NUMBERS: usize = 1 << 26;

/// Whether such a model can be made and minimised.
pub(crate) fn suits(problem: Objective<'_>) -> bool {
    let f = problem.inner;
    f.n_x() * f.ell() * f.d() <= MOST_NUMBERS
        && methods::info("prox-linear").is_ok_and(|row| row.missing(problem).is_none())
}

/// At least what the model at theta would gain, where P is `objective`; without end where no proof
/// was found.
pub(crate) fn gain(
    problem: Objective<'_>,
    theta: &[f64],
    objective: f64,
    patience: &Patience<'_>,
) -> f64 {
    let Objective { inner, merit, regularizer } = problem;
    let mut rows = Collapsed::room_for(inner);
    rows.linearise(inner, theta);
    let model = Objective { inner: &rows, merit, regularizer };
    let mut oracle = Oracle::new(model);
    oracle.patience = patience.clone();
    let (mut w, mut sigma) = (vec![0.0; inner.n_x() * inner.ell()], 0.0);
    let mut x = theta.to_vec();
    multipliers::minimise(&mut oracle, objective, &mut w, &mut sigma, &mut x);
    let known = Known { duals: Some(&w), ..Known::default() };
    let mut evaluator = Evaluator::new(model);
    evaluator.until(patience.clone());
    let there = evaluator.evaluate(&x, known);
    let gap = there.certificate.gap.unwrap_or(f64::INFINITY);
    let gain = objective - there.objective + gap;
    if gain.is_nan() { f64::INFINITY } else { gain.max(0.0) }
}

//! Duals moved by a Newton step to where g can meet them.
//!
//! Where `g*` is finite on a thin set only, as for a g that leaves directions free, the duals `w_i = phi_i'(fbar_i)` of a point that is merely close to optimal prove
//! nothing. With the words of [`quadratic`](super::quadratic), a matrix W of weights, `H = (1/n) A' W A + D` and `delta = H^-1 s`, the duals
//! `w' = w - W A delta` are met: for all z
//!
//! ```text
//! P(z) >= (1/n) sum_i [ <fbar_i(z), w'_i> - phi_i*(w'_i) ] + (1/2) z' D z + g0(theta+) + <v, z - theta+>,
//! ```
//!
//! whose gradient at theta is `D delta`, so that
//!
//! ```text
//! P(theta) - P* <= (1/n) sum_i [ phi_i(fbar_i) + phi_i*(w'_i) - <fbar_i, w'_i> ] + (1/2) delta' D delta
//!                  + g0(theta) - g0(theta+) - <v, theta - theta+>.
//! ```
//!
//! This holds for any W. With `W = phi''` the sum is about `(1/2) delta' A' W A delta / n`, the bound about half the Newton decrement, and duals inside the
//! domain of `phi*` hardly ever leave it. So W is kept as long as it serves.

use serde::{Deserialize, Serialize};

use super::Bound;
use super::dual::{Point, mismatch};
use super::quadratic::{Hessian, Squares, Tangent, caution, is_affordable};
use crate::collapse::Collapsed;
use crate::gram;
use crate::inner::Inner;
use crate::merit::Merit;
use crate::problem::Problem;
use crate::regularizer::Regularizer;

/// W and its Hessian, as they were made last.
#[derive(Debug)]
pub(crate) struct Newton {
    made: Option<(Vec<f64>, Hessian)>,
    /// Bounds that were asked for.
    asked: usize,
    /// The next of them for which another W may be made: twice as many as for the last.
    due: usize,
}

/// What goes into a checkpoint: the matrix follows from W.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Memory {
    weights: Option<Vec<f64>>,
    asked: u64,
    due: u64,
}

/// A bound so many times above the Newton decrement could be better.
const LOOSE: f64 = 2.0;

/// A Gram matrix of so many products takes a few milliseconds and is made whenever it helps. Where phi'' jumps, a W that is not up to date leads out of the
/// domain of `phi*`.
const FEW_PRODUCTS: f64 = 1e7;

impl Newton {
    /// None if phi has no second derivatives, or a Gram matrix is too dear.
    pub(crate) fn new<F: Inner, P: Merit, G: Regularizer>(problem: &Problem<F, P, G>) -> Option<Self> {
        let (f, mut second) = (&problem.inner, vec![0.0; problem.inner.ell()]);
        let known = f.n_x() > 0 && problem.merit.seconds(0..1, &vec![0.0; f.ell()], &mut second);
        (known && is_affordable(f)).then_some(Newton { made: None, asked: 0, due: 1 })
    }

    pub(crate) fn memory(&self) -> Memory {
        let weights = self.made.as_ref().map(|(weights, _)| weights.clone());
        Memory { weights, asked: self.asked as u64, due: self.due as u64 }
    }

    /// Goes on from there; false if that is not of this problem.
    pub(crate) fn remember<F: Inner, P: Merit, G: Regularizer>(
        &mut self,
        problem: &Problem<F, P, G>,
        squares: &Squares,
        memory: Memory,
    ) -> bool {
        (self.asked, self.due) = (memory.asked as usize, memory.due as usize);
        let Some(weights) = memory.weights else { return true };
        if weights.len() != problem.inner.n_x() * problem.inner.ell() {
            return false;
        }
        self.make_of(problem, squares, weights);
        true
    }

    /// A bound on `P(theta) - P*` from `w_i = phi_i'(fbar_i)` and `u = F'(theta)`; takes another pass over the data, and now and then a Gram matrix.
    pub(crate) fn gap<F: Inner, P: Merit, G: Regularizer>(
        &mut self,
        problem: &Problem<F, P, G>,
        squares: &Squares,
        point: Point<'_>,
        f_bar: &[f64],
        w: &[f64],
        u: &[f64],
    ) -> Bound {
        self.asked += 1;
        let (bound, loose) = self.gap_as_made(problem, squares, point, f_bar, w, u);
        let (rows, d) = (f_bar.len() as f64, u.len() as f64);
        if !loose || (self.asked < self.due && rows * d * d > FEW_PRODUCTS) {
            return bound;
        }
        self.due = 2 * self.asked;
        self.make(problem, squares, f_bar);
        let (next, _) = self.gap_as_made(problem, squares, point, f_bar, w, u);
        if next.gap < bound.gap { next } else { bound }
    }

    fn make<F: Inner, P: Merit, G: Regularizer>(
        &mut self,
        problem: &Problem<F, P, G>,
        squares: &Squares,
        f_bar: &[f64],
    ) {
        let mut weights = vec![0.0; f_bar.len()];
        if problem.merit.seconds(0..problem.inner.n_x(), f_bar, &mut weights) {
            self.make_of(problem, squares, weights);
        }
    }

    fn make_of<F: Inner, P: Merit, G: Regularizer>(
        &mut self,
        problem: &Problem<F, P, G>,
        squares: &Squares,
        weights: Vec<f64>,
    ) {
        let f = &problem.inner;
        let n_x = f.n_x() as f64;
        let weight = |r: usize| weights[r] / n_x;
        let matrix =
            f.gram(&weight).unwrap_or_else(|| gram::weighted(&Collapsed::new(f, &vec![0.0; f.d()]), weight));
        self.made = Hessian::of(matrix, squares).map(|hessian| (weights, hessian));
    }

    /// The bound, and whether another W might give a better one.
    fn gap_as_made<F: Inner, P: Merit, G: Regularizer>(
        &self,
        problem: &Problem<F, P, G>,
        squares: &Squares,
        point: Point<'_>,
        f_bar: &[f64],
        w: &[f64],
        u: &[f64],
    ) -> (Bound, bool) {
        let Some((weights, hessian)) = &self.made else { return (Bound::NONE, true) };
        let Tangent { s, rest, size } = Tangent::new(&problem.regularizer, squares, hessian.alpha, point, u);
        let mut delta = s.clone();
        hessian.factor.solve(&mut delta);
        let (mut decrement, mut ridge) = (0.0, 0.0);
        for l in 0..s.len() {
            decrement += 0.5 * s[l] * delta[l];
            ridge += 0.5 * squares.diagonal[l] * delta[l] * delta[l];
        }
        // A delta, as the difference of averages: w' = w - W (fbar(theta) - fbar(theta - delta)).
        let there: Vec<f64> = point.theta.iter().zip(&delta).map(|(theta, delta)| theta - delta).collect();
        let mut moved = vec![0.0; f_bar.len()];
        problem.inner.means(&there, &mut moved);
        for (r, moved) in moved.iter_mut().enumerate() {
            *moved = w[r] - weights[r] * (f_bar[r] - *moved);
        }
        let (first, terms) = mismatch(problem, f_bar, &moved);
        let size = size + terms + point.loss.abs();
        let bound = Bound::new((first + ridge) * caution(&hessian.factor) + rest, size);
        let bearable = LOOSE * (decrement + rest) + 2.0 * bound.rounding;
        let loose = bearable.is_nan() || bound.gap > bearable;
        (bound, loose)
    }
}

//! A quadratic with logarithms, by Newton's method on its matrix:
//!
//! ```text
//! min over x > 0 of  <v0, x - x0> + (1/2) (x - x0)' B (x - x0) + sum_l t_l x_l - b_l log x_l
//! ```
//!
//! The function over the least `b_l` is self-concordant: with the decrement `lambda^2 = q' q''^-1
//! q'` whole steps converge quadratically once `lambda^2 <= min_l b_l / 16` (Nesterov and
//! Nemirovskii 1994), and until then a line search falls by a constant with every step.

use crate::linalg::cholesky::Cholesky;
use crate::linalg::elementary::Elementary;
use crate::linalg::vector::dot;

/// Newton steps; ten to thirty are usual.
const MOST_STEPS: usize = 200;
/// Of the least `b_l`: the square of the decrement from which on steps are whole.
const WHOLE_STEPS: f64 = 1.0 / 16.0;
/// The same at which the minimum is reached but for rounding.
const MINIMUM_REACHED: f64 = 1e-24;
/// The part of the way to the nearest bound that a step may take.
const WITHIN: f64 = 0.99;
/// The part of what the slope promises that a step must gain.
const ARMIJO: f64 = 1e-4;

/// The program: `q(x) = <c, x> + (1/2) x' B x - sum_l b_l log x_l` and a constant.
struct Program<'a> {
    matrix: &'a [f64],
    c: Vec<f64>,
    b: Vec<f64>,
}

/// Moves x, which comes in as `x0`, to the minimiser; false if the search did not end. The pairs
/// are `(b_l, t_l)`.
pub(super) fn solve(
    matrix: &[f64],
    gradient: &[f64],
    logarithms: &[(f64, f64)],
    x: &mut [f64],
) -> bool {
    let d = x.len();
    let moved = matrix.chunks_exact(d).zip(gradient).map(|(row, v)| v - dot(row, x));
    let c: Vec<f64> = moved.zip(logarithms).map(|(v, (_, t))| v + t).collect();
    let b: Vec<f64> = logarithms.iter().map(|(b, _)| *b).collect();
    let program = Program { matrix, c, b };
    let own = program.start();
    // Not where it is no number.
    if program.value(x).is_nan() || program.value(&own) < program.value(x) {
        x.copy_from_slice(&own);
    }
    program.descend(x)
}

impl Program<'_> {
    /// The minimum along each coordinate where no others are held.
    fn start(&self) -> Vec<f64> {
        let d = self.b.len();
        let along = |l: usize| {
            let (bend, c, b) = (self.matrix[l * d + l], self.c[l], self.b[l]);
            let reach = (c * c + 4.0 * bend * b).sqrt();
            // The positive root of bend x^2 + c x - b = 0, written so that nothing cancels.
            let root = if c > 0.0 { 2.0 * b / (c + reach) } else { (reach - c) / (2.0 * bend) };
            if root > 0.0 && root.is_finite() { root } else { 1.0 }
        };
        (0..d).map(along).collect()
    }

    fn value(&self, x: &[f64]) -> f64 {
        let rows = self.matrix.chunks_exact(x.len());
        let bent: f64 = rows.zip(x).map(|(row, x_l)| x_l * dot(row, x)).sum();
        let logs: f64 = self.b.iter().zip(x).map(|(b, x)| b * x.natural_log()).sum();
        let value = dot(&self.c, x) + 0.5 * bent - logs;
        if x.iter().all(|x| *x > 0.0) { value } else { f64::INFINITY }
    }

    fn descend(&self, x: &mut [f64]) -> bool {
        let d = x.len();
        let least = self.b.iter().copied().fold(f64::INFINITY, f64::min);
        let mut last = f64::INFINITY;
        for _ in 0..MOST_STEPS {
            let mut bent = self.matrix.to_vec();
            let mut step = vec![0.0; d];
            for l in 0..d {
                bent[l * d + l] += self.b[l] / (x[l] * x[l]);
                let slope = self.c[l] + dot(&self.matrix[l * d..(l + 1) * d], x);
                step[l] = self.b[l] / x[l] - slope;
            }
            let slopes = step.clone();
            let Ok(factor) = Cholesky::new(&bent, d) else { return false };
            factor.solve(&mut step);
            let decrement = dot(&slopes, &step);
            if decrement.is_nan() {
                return false;
            }
            let near = decrement <= WHOLE_STEPS * least;
            // Squares fall by far more than a half until rounding is all that is left.
            if decrement <= MINIMUM_REACHED * least || near && decrement > 0.5 * last {
                return true;
            }
            last = if near { decrement } else { f64::INFINITY };
            let tau = if near { 1.0 } else { self.length(x, &step, decrement) };
            if tau == 0.0 {
                return false;
            }
            x.iter_mut().zip(&step).for_each(|(x, p)| *x += tau * p);
        }
        false
    }

    /// How much of a step to take, so that all stay above 0 and q falls.
    fn length(&self, x: &[f64], step: &[f64], decrement: f64) -> f64 {
        let nearest = x.iter().zip(step).map(|(x, p)| -p / x).fold(0.0, f64::max);
        let mut tau = if nearest > WITHIN { WITHIN / nearest } else { 1.0 };
        let here = self.value(x);
        let mut there = vec![0.0; x.len()];
        while tau > f64::EPSILON {
            for ((there, x), p) in there.iter_mut().zip(x).zip(step) {
                *there = x + tau * p;
            }
            if self.value(&there) <= here - ARMIJO * tau * decrement {
                return tau;
            }
            tau *= 0.5;
        }
        0.0
    }
}

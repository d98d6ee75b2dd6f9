//! Coordinate descent on a quadratic with g, where the matrix is `scale A' A` and A is at hand
//! column by column; Anderson's extrapolation as in Bertrand and Massias, "Anderson Acceleration of
//! Coordinate Descent", 2021.
//!
//! ```text
//! min over x of  <slopes, x - x0> + (scale/2) |A (x - x0)|^2 + g(x)
//! ```

use crate::linalg::cholesky::Cholesky;
use crate::linalg::vector::{axpy, dispatch, dot, norm_squared};
use crate::model::collapse::{Collapsed, Row};
use crate::model::inner::Inner;
use crate::model::regularizer::Coordinate;
use crate::oracle::Patience;

/// Rounds of one sweep over all coordinates and several over those that do not rest.
const MOST_ROUNDS: usize = 200;
/// Sweeps of a round over those that do not rest, and iterates that are extrapolated.
const SWEEPS: usize = 5;
/// Of the mean of the diagonal: the least bend of a coordinate.
const RIDGE: f64 = 1e-12;
/// Of the differences of iterates, whose products are nearly singular.
const RIDGE_OF_DIFFERENCES: f64 = 1e-10;

/// `<slopes, x - x0> + (scale/2) |A (x - x0)|^2`
#[derive(Clone, Copy)]
pub(super) struct Quadratic<'a> {
    /// A, whose columns are the rows of this
    pub(super) columns: &'a Collapsed,
    pub(super) scale: f64,
    pub(super) slopes: &'a [f64],
}

struct Program<'a> {
    quadratic: Quadratic<'a>,
    parts: &'a [Coordinate],
    /// The diagonal
    bends: Vec<f64>,
    x0: Vec<f64>,
}

/// A point, and `A (x - x0)`.
#[derive(Clone)]
struct Iterate {
    x: Vec<f64>,
    product: Vec<f64>,
}

impl Iterate {
    fn copy(&mut self, other: &Iterate) {
        self.x.copy_from_slice(&other.x);
        self.product.copy_from_slice(&other.product);
    }
}

/// Moves x, which comes in as `x0`, close to the minimiser: until a sweep over all gains no more
/// than this part of what the first one did.
pub(super) fn minimise(
    quadratic: Quadratic<'_>,
    parts: &[Coordinate],
    enough: f64,
    patience: &Patience<'_>,
    x: &mut [f64],
) {
    let Quadratic { columns, scale, .. } = quadratic;
    let m = x.len();
    let square = |l: usize| match columns.row(l, 0) {
        Row::Dense(column) => norm_squared(column),
        Row::Sparse(_, values) => norm_squared(values),
    };
    let squares: Vec<f64> = (0..m).map(square).collect();
    let mean = scale * squares.iter().sum::<f64>() / m.max(1) as f64;
    let least = if mean > 0.0 { RIDGE * mean } else { 1.0 };
    let bends = squares.iter().map(|square| (scale * square).max(least)).collect();
    let program = Program { quadratic, parts, bends, x0: x.to_vec() };
    let mut here = Iterate { x: x.to_vec(), product: vec![0.0; columns.d()] };
    let mut seen = vec![here.clone(); SWEEPS + 1];
    let mut start = 0.0;
    for round in 0..MOST_ROUNDS {
        let gain = program.sweep(0..m, &mut here);
        start = if round == 0 { gain } else { start };
        // Also where it is no number.
        let goes_on = gain > enough * start;
        if !goes_on || patience.ends() {
            break;
        }
        let rests = |l: &usize| super::rests(&parts[*l], here.x[*l]);
        let free: Vec<usize> = (0..m).filter(|l| !rests(l)).collect();
        seen[0].copy(&here);
        for seen in &mut seen[1..] {
            program.sweep(free.iter().copied(), &mut here);
            seen.copy(&here);
        }
        if let Some(next) = program.extrapolated(&free, &seen)
            && program.value(&next) < program.value(&here)
        {
            here = next;
        }
    }
    x.copy_from_slice(&here.x);
}

impl Program<'_> {
    /// One coordinate after the other to the minimum along it; twice what that gains, about.
    fn sweep(&self, which: impl Iterator<Item = usize>, at: &mut Iterate) -> f64 {
        let Quadratic { columns, scale, slopes } = self.quadratic;
        let Iterate { x, product } = at;
        let mut gain = 0.0;
        dispatch(
            #[inline(always)]
            || {
                for l in which {
                    let (bend, column) = (self.bends[l], columns.row(l, 0));
                    let slope = slopes[l] + scale * column.dot(product);
                    let next = self.parts[l].step(1.0 / bend, slope, x[l]);
                    let change = next - x[l];
                    if change != 0.0 {
                        column.add_to(change, product);
                        x[l] = next;
                        gain += bend * change * change;
                    }
                }
            },
        );
        gain
    }

    fn value(&self, at: &Iterate) -> f64 {
        let Quadratic { scale, slopes, .. } = self.quadratic;
        let each = at.x.iter().zip(&self.x0).zip(slopes).zip(self.parts);
        let lines = each.map(|(((x, x0), slope), part)| slope * (x - x0) + part.value(*x));
        lines.sum::<f64>() + 0.5 * scale * norm_squared(&at.product)
    }

    /// The affine combination of the iterates whose differences would cancel.
    fn extrapolated(&self, free: &[usize], seen: &[Iterate]) -> Option<Iterate> {
        let differences: Vec<Vec<f64>> = seen
            .windows(2)
            .map(|pair| {
                let step = |l: &usize| (pair[1].x[*l] - pair[0].x[*l]) * self.bends[*l].sqrt();
                free.iter().map(step).collect()
            })
            .collect();
        let k = differences.len();
        let mut matrix: Vec<f64> =
            differences.iter().flat_map(|a| differences.iter().map(|b| dot(a, b))).collect();
        let trace: f64 = matrix.iter().step_by(k + 1).sum();
        matrix.iter_mut().step_by(k + 1).for_each(|entry| *entry += RIDGE_OF_DIFFERENCES * trace);
        let mut shares = vec![1.0; k];
        Cholesky::new(&matrix, k).ok()?.solve(&mut shares);
        let total: f64 = shares.iter().sum();
        let mut next = seen[k].clone();
        next.product.fill(0.0);
        for &l in free {
            next.x[l] = 0.0;
        }
        for (share, iterate) in shares.iter().zip(&seen[1..]) {
            let share = share / total;
            for &l in free {
                next.x[l] += share * iterate.x[l];
            }
            axpy(share, &iterate.product, &mut next.product);
        }
        Some(next)
    }
}

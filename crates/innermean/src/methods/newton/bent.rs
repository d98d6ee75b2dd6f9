//! The whole of `F''` where f bends. Gauss-Newton's matrix leaves out `(1/n_X) sum_i w_i fbar_i''`, which BFGS does not always make up for: where averages cannot
//! be what phi asks for, the steps are too long or too short, thousands of them.
//!
//! Differences of gradients are taken along directions in which Gauss-Newton's matrix, with a small ridge, is the identity: neither units nor columns that are nearly the
//! same count. Eigenvalues, relative to that matrix, count by their sizes (Dauphin and others, "Identifying and attacking the saddle point problem", 2014): steps lead
//! down along those that are negative, too.

use super::state::Point;
use crate::cholesky::Cholesky;
use crate::eigen::Eigen;
use crate::gram;
use crate::inner::Inner;
use crate::merit::Merit;
use crate::oracle::Oracle;
use crate::regularizer::{Parts, Regularizer};
use crate::vector::{axpy, dot, update_with_both};

/// Of Gauss-Newton's diagonal: the ridge where its rank is not full.
const RIDGE: f64 = 1e-10;
/// Half a difference, along a direction in which the objective would change by its size: the cube root of rounding.
const DIFFERENCE: f64 = 6e-6;
/// The longest direction, for 1 as the length at which a coordinate alone did as much where it did the most.
const LONGEST: f64 = 1e4;
/// The least size of an eigenvalue.
const LEAST: f64 = 1e-6;

/// How far coordinates reach.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reach<'a> {
    /// The largest entries of Gauss-Newton's diagonal that were met.
    pub(super) bends: &'a [f64],
    /// The size of the objective.
    pub(super) size: f64,
}

/// `F''` at a point, made positive definite together with the parabolas of g, from Gauss-Newton's matrix there. None where gradients are no numbers.
pub(super) fn whole<F: Inner, P: Merit, G: Regularizer>(
    oracle: &mut Oracle<'_, F, P, G>,
    g: &Parts,
    at: &Point,
    mut gauss: Vec<f64>,
    reach: Reach<'_>,
) -> Option<Vec<f64>> {
    let d = g.parts.len();
    for (entry, part) in gauss.iter_mut().step_by(d + 1).zip(&g.parts) {
        *entry += part.l2;
    }
    gram::add_ridge(RIDGE, 1.0, d, &mut gauss);
    let metric = Cholesky::new(&gauss, d).ok()?;
    let mut bent = vec![0.0; d * d];
    let mut difference = Difference::new(oracle.n_x() * oracle.ell(), d);
    for (k, row) in bent.chunks_exact_mut(d).enumerate() {
        let mut direction = vec![0.0; d];
        direction[k] = 1.0;
        metric.solve_upper(&mut direction);
        let longest = |(v, bend): (&f64, &f64)| LONGEST / (v.abs() * bend.sqrt());
        let length = direction.iter().zip(reach.bends).map(longest).fold(1.0, f64::min);
        difference.along(oracle, at, &direction, DIFFERENCE * length * reach.size.sqrt(), row);
        if oracle.patience.is_over() || !row.iter().all(|x| x.is_finite()) {
            return None;
        }
        for ((row, v), part) in row.iter_mut().zip(&direction).zip(&g.parts) {
            *row += part.l2 * v;
        }
        metric.solve_lower(row);
    }
    for k in 0..d {
        for l in 0..k {
            let mean = 0.5 * (bent[k * d + l] + bent[l * d + k]);
            (bent[k * d + l], bent[l * d + k]) = (mean, mean);
        }
    }
    let Eigen { values, vectors } = Eigen::new(bent, d);
    let least = LEAST * values.iter().fold(1.0_f64, |most, value| most.max(value.abs()));
    let mut matrix = vec![0.0; d * d];
    for (value, vector) in values.iter().zip(vectors.chunks_exact(d)) {
        let mut column = vector.to_vec();
        metric.apply_lower(&mut column);
        for (row, entry) in matrix.chunks_exact_mut(d).zip(&column) {
            axpy(value.abs().max(least) * entry, &column, row);
        }
    }
    for (entry, part) in matrix.iter_mut().step_by(d + 1).zip(&g.parts) {
        *entry -= part.l2;
    }
    dot(&matrix, &matrix).is_finite().then_some(matrix)
}

/// Buffers for gradients beside a point.
struct Difference {
    x: Vec<f64>,
    f_bar: Vec<f64>,
    w: Vec<f64>,
    ahead: Vec<f64>,
    behind: Vec<f64>,
}

impl Difference {
    fn new(averages: usize, d: usize) -> Self {
        let zeros = |n: usize| vec![0.0; n];
        Difference {
            x: zeros(d),
            f_bar: zeros(averages),
            w: zeros(averages),
            ahead: zeros(d),
            behind: zeros(d),
        }
    }

    /// `(F'(x + h v) - F'(x - h v)) / 2 h`
    fn along<F: Inner, P: Merit, G: Regularizer>(
        &mut self,
        oracle: &mut Oracle<'_, F, P, G>,
        at: &Point,
        v: &[f64],
        h: f64,
        out: &mut [f64],
    ) {
        let Difference { x, f_bar, w, ahead, behind } = self;
        for (side, gradient) in [(h, &mut *ahead), (-h, &mut *behind)] {
            update_with_both(x, &at.x, v, |_, x, v| x + side * v);
            oracle.gradient(x, f_bar, w, gradient);
        }
        update_with_both(out, ahead, behind, |_, ahead, behind| (ahead - behind) / (2.0 * h));
    }
}

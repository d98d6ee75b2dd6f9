//! The whole of `F''` where f bends. Gauss-Newton's matrix leaves out `(1/n_X) sum_i w_i fbar_i''`,
//! which BFGS does not always make up for: where averages cannot be what phi asks for, the steps
//! are too long or too short, thousands of them.
//!
//! Differences of gradients are taken along directions in which Gauss-Newton's matrix, with a small
//! ridge, is the identity: neither units nor columns that are nearly the same count. Eigenvalues,
//! relative to that matrix, count by their sizes (Dauphin and others, "Identifying and attacking
//! the saddle point problem", 2014): steps lead down along those that are negative, too.

use crate::linalg::cholesky::Cholesky;
use crate::linalg::eigen::Eigen;
use crate::linalg::gram;
use crate::linalg::vector::{axpy, dot, update_with, update_with_both};
use crate::model::regularizer::Parts;

/// Of Gauss-Newton's diagonal: the ridge where its rank is not full.
const RIDGE: f64 = 1e-10;
/// Half a difference, along a direction in which the objective would change by its size: the cube
/// root of rounding.
const DIFFERENCE: f64 = 6e-6;
/// The longest direction, for 1 as the length at which a coordinate alone did as much where it did
/// the most.
const LONGEST: f64 = 1e4;
/// The least size of an eigenvalue, relative to the largest.
const LEAST_EIGENVALUE: f64 = 1e-6;
/// What F may bend by along a direction, relative to Gauss-Newton's matrix, before the direction is
/// made shorter: probabilities p that are nearly 0 bend by p, of which the matrix has the square.
/// Otherwise such a direction would make what the others bend by seem rounding.
const MOST_BENT: f64 = 1e3;

/// The most coordinates for which that is worth its gradients, two for each.
pub(crate) const MOST: usize = 64;

/// How far coordinates reach.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reach<'a> {
    /// The largest entries of Gauss-Newton's diagonal that were met.
    pub(crate) bends: &'a [f64],
    /// The size of the objective.
    pub(crate) size: f64,
}

/// `F''` at x, made positive definite together with the parabolas of g, from Gauss-Newton's matrix
/// there. `gradient(x, out)` is `F'`, and false where there is no more time. None without it, and
/// where gradients are no numbers.
pub(crate) fn whole(
    mut gradient: impl FnMut(&[f64], &mut [f64]) -> bool,
    g: &Parts,
    x: &[f64],
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
    let (mut beside, mut behind) = (vec![0.0; d], vec![0.0; d]);
    for (k, row) in bent.chunks_exact_mut(d).enumerate() {
        let mut direction = vec![0.0; d];
        direction[k] = 1.0;
        metric.solve_upper(&mut direction);
        let longest = |(v, bend): (&f64, &f64)| LONGEST / (v.abs() * bend.sqrt());
        let length = direction.iter().zip(reach.bends).map(longest).fold(1.0, f64::min);
        let h = DIFFERENCE * length * reach.size.sqrt();
        for (side, out) in [(h, &mut *row), (-h, &mut behind)] {
            update_with_both(&mut beside, x, &direction, |_, x, v| x + side * v);
            if !gradient(&beside, out) {
                return None;
            }
        }
        update_with(row, &behind, |ahead, behind| (ahead - behind) / (2.0 * h));
        if !row.iter().all(|x| x.is_finite()) {
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
    let shorter = |k: usize| (MOST_BENT / bent[k * d + k].abs()).min(1.0).sqrt();
    let shorter: Vec<f64> = (0..d).map(shorter).collect();
    for (row, s) in bent.chunks_exact_mut(d).zip(&shorter) {
        update_with(row, &shorter, |entry, t| entry * s * t);
    }
    let Eigen { values, vectors } = Eigen::new(bent, d);
    let least = LEAST_EIGENVALUE * values.iter().fold(1.0_f64, |most, value| most.max(value.abs()));
    let mut matrix = vec![0.0; d * d];
    for (value, vector) in values.iter().zip(vectors.chunks_exact(d)) {
        let mut column = vector.to_vec();
        update_with(&mut column, &shorter, |entry, s| entry / s);
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

#[cfg(test)]
mod tests {
    use super::{Reach, whole};
    use crate::model::regularizer::{Coordinate, Parts};

    /// The matrix for `F = (2 x^2 - 3 y^2) / 2 + x y / 2` in units of the coordinates, where
    /// Gauss-Newton's is the identity in those units.
    fn made(units: [f64; 2], l2: f64) -> Vec<f64> {
        let hessian = [[2.0, 0.5], [0.5, -3.0]];
        let gradient = |x: &[f64], out: &mut [f64]| {
            let z = [x[0] * units[0], x[1] * units[1]];
            for k in 0..2 {
                out[k] = units[k] * (hessian[k][0] * z[0] + hessian[k][1] * z[1]);
            }
            true
        };
        let part = |unit: f64| Coordinate { l2: l2 * unit * unit, ..Coordinate::FREE };
        let g = Parts::separate(units.map(part).to_vec());
        let gauss = vec![units[0].powi(2), 0.0, 0.0, units[1].powi(2)];
        let bends = units.map(|unit| unit * unit);
        let reach = Reach { bends: &bends, size: 1.0 };
        let matrix =
            whole(gradient, &g, &[0.3 / units[0], 0.7 / units[1]], gauss, reach).expect("numbers");
        (0..4).map(|k| matrix[k] / (units[k / 2] * units[k % 2])).collect()
    }

    #[test]
    fn eigenvalues_count_by_their_sizes_whatever_the_units() {
        // |H| = (H^2)^(1/2): H^2 = [[4.25, -0.5], [-0.5, 9.25]], whose root is (H^2 + det I) / sqrt(tr + 2 det) with det = 6.25.
        let scale = (4.25_f64 + 9.25 + 2.0 * 6.25).sqrt();
        let wanted = [10.5 / scale, -0.5 / scale, -0.5 / scale, 15.5 / scale];
        for units in [[1.0, 1.0], [1e-6, 1e6], [1e9, 1.0]] {
            for (made, wanted) in made(units, 0.0).iter().zip(&wanted) {
                assert!(
                    (made - wanted).abs() < 1e-6,
                    "{made} is not {wanted} in units of {units:?}"
                );
            }
        }
    }

    #[test]
    fn a_direction_that_bends_much_more_does_not_hide_the_others() {
        // F = (10^14 x^2 + y^2) / 2, where Gauss-Newton's matrix is the identity.
        let gradient = |x: &[f64], out: &mut [f64]| {
            out.copy_from_slice(&[1e14 * x[0], x[1]]);
            true
        };
        let g = Parts::separate(vec![Coordinate::FREE; 2]);
        let reach = Reach { bends: &[1.0, 1.0], size: 1.0 };
        let matrix = whole(gradient, &g, &[0.0, 0.0], vec![1.0, 0.0, 0.0, 1.0], reach);
        let matrix = matrix.expect("numbers");
        assert!((matrix[0] / 1e14 - 1.0).abs() < 1e-6, "{matrix:?}");
        assert!((matrix[3] - 1.0).abs() < 1e-6, "{matrix:?}");
    }

    #[test]
    fn a_ridge_counts_before_sizes_are_taken() {
        // With 4 on the diagonal the whole is positive definite, and the ridge is taken off again.
        for (made, wanted) in made([1.0, 1e3], 4.0).iter().zip(&[2.0, 0.5, 0.5, -3.0]) {
            assert!((made - wanted).abs() < 1e-6, "{made} is not {wanted}");
        }
    }
}

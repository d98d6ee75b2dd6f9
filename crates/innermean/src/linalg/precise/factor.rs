//! Cholesky's factor in double-double arithmetic, of a matrix scaled to a unit diagonal; a pivot
//! that is rounding is left out, and with it its coordinate.

use super::Double;
use crate::linalg::scalar::power_of_two_near;

/// `S M S = L L'` on the coordinates that are kept, S diagonal.
pub(crate) struct Factor {
    d: usize,
    /// L row by row.
    l: Vec<Double>,
    /// The diagonal of S: powers of two, so that scaling is exact.
    scales: Vec<f64>,
    /// M
    matrix: Vec<Double>,
    /// Coordinates whose pivots are more than rounding.
    kept: Vec<bool>,
}

/// A pivot below this, for a diagonal of about 1, is rounding.
const ROUNDING: f64 = 1e-29;
/// Of the sizes of its terms: a slope along what the matrix takes to zero that is no rounding of
/// double precision.
const SLOPE_ROUNDING: f64 = 1e-13;

impl Factor {
    /// Of a symmetric positive semidefinite matrix; reads what is on and below its diagonal.
    pub(crate) fn new(matrix: &[Double], d: usize) -> Self {
        let scale = |l: usize| {
            let entry = matrix[l * d + l].hi;
            // 2^-k with 4^k near the entry
            1.0 / power_of_two_near(entry.sqrt())
        };
        let scales: Vec<f64> = (0..d).map(scale).collect();
        let mut l = vec![Double::ZERO; d * d];
        let mut kept = vec![true; d];
        for r in 0..d {
            for c in 0..=r {
                let mut entry = matrix[r * d + c] * Double::product(scales[r], scales[c]);
                for k in 0..c {
                    entry -= l[r * d + k] * l[c * d + k];
                }
                if c < r {
                    l[r * d + c] = if kept[c] { entry / l[c * d + c] } else { Double::ZERO };
                } else if entry.hi > ROUNDING * d as f64 && entry.is_finite() {
                    l[r * d + r] = entry.sqrt();
                } else {
                    kept[r] = false;
                    l[r * d..=r * d + r].fill(Double::ZERO);
                }
            }
        }
        Factor { d, l, scales, matrix: matrix.to_vec(), kept }
    }

    /// `-N N' x` in the units of the matrix, N a basis of what the matrix takes to zero, if x has
    /// more than rounding along it: `size(l)` is that of its coordinate l.
    pub(crate) fn flat_descent(
        &self,
        x: &[Double],
        size: impl Fn(usize) -> f64,
    ) -> Option<Vec<Double>> {
        let Factor { d, kept, scales, .. } = self;
        let mut descent = vec![Double::ZERO; *d];
        let mut found = false;
        for c in (0..*d).filter(|c| !kept[*c]) {
            let mut flat = vec![Double::ZERO; *d];
            for (r, flat) in flat.iter_mut().enumerate() {
                *flat = -self.column(r, c);
            }
            self.solve(&mut flat);
            flat[c] = Double::from(1.0);
            let along = flat.iter().zip(x).fold(Double::ZERO, |sum, (flat, x)| sum + *flat * *x);
            let sizes: f64 = flat.iter().enumerate().map(|(l, flat)| flat.hi.abs() * size(l)).sum();
            if along.hi.abs() > SLOPE_ROUNDING * sizes {
                found = true;
                let unit = Double::product(scales[c], scales[c]) * along;
                descent.iter_mut().zip(&flat).for_each(|(sum, flat)| *sum -= unit * *flat);
            }
        }
        found.then_some(descent)
    }

    /// Entry (r, c) of the matrix.
    fn column(&self, r: usize, c: usize) -> Double {
        self.matrix[r.max(c) * self.d + r.min(c)]
    }

    /// `x <- L^-1 S x` on the coordinates that are kept, 0 on the others.
    pub(crate) fn solve_lower(&self, x: &mut [Double]) {
        let Factor { d, l, scales, kept, .. } = self;
        for r in 0..*d {
            let mut sum = x[r] * Double::from(scales[r]);
            for k in 0..r {
                sum -= l[r * d + k] * x[k];
            }
            x[r] = if kept[r] { sum / l[r * d + r] } else { Double::ZERO };
        }
    }

    /// The diagonal of S.
    pub(crate) fn scales(&self) -> &[f64] {
        &self.scales
    }

    /// A number below the least eigenvalue of `S M S`, for M known up to the rounding of its
    /// entries; none where that is too close to zero to tell.
    pub(crate) fn least_eigenvalue(&self) -> Option<f64> {
        if self.kept.contains(&false) {
            return None;
        }
        // 1 / |L^-1|^2, half of which is left to what rounding did to S M S and to L.
        let d = self.d;
        let mut squares = Double::ZERO;
        for c in 0..d {
            let mut column = vec![Double::ZERO; d];
            column[c] = Double::from(1.0 / self.scales[c]);
            self.solve_lower(&mut column);
            squares = column.iter().fold(squares, |sum, x| sum + *x * *x);
        }
        let least = 0.5 / squares.hi;
        (least > ROUNDING * (d * d) as f64).then_some(least)
    }

    /// `x <- M^-1 x` on the coordinates that are kept, 0 on the others.
    pub(crate) fn solve(&self, x: &mut [Double]) {
        let Factor { d, l, scales, kept, .. } = self;
        self.solve_lower(x);
        for r in (0..*d).rev() {
            let mut sum = x[r];
            for k in r + 1..*d {
                sum -= l[k * d + r] * x[k];
            }
            x[r] = if kept[r] { sum / l[r * d + r] } else { Double::ZERO };
        }
        for (x, scale) in x.iter_mut().zip(scales) {
            *x = *x * Double::from(*scale);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gram matrix of rows.
    fn gram(rows: &[[f64; 3]]) -> Vec<Double> {
        let mut matrix = vec![Double::ZERO; 9];
        for row in rows {
            for r in 0..3 {
                for c in 0..3 {
                    matrix[3 * r + c] += Double::product(row[r], row[c]);
                }
            }
        }
        matrix
    }

    #[test]
    fn a_matrix_beyond_double_precision_is_solved() {
        // Columns that differ by 1e-12, in units that differ by 1e9.
        let rows = [
            [1.0, 1e9 * (1.0 + 1e-12), 0.3],
            [2.0, 1e9 * (2.0 - 1e-12), -0.1],
            [-1.5, -1.5e9, 0.7],
        ];
        let (matrix, x) = (gram(&rows), [3.0, -2e-9, 0.5]);
        let product = |r: usize| {
            (0..3).fold(Double::ZERO, |sum, c| sum + matrix[3 * r + c] * Double::from(x[c]))
        };
        let mut solved: Vec<Double> = (0..3).map(product).collect();
        let factor = Factor::new(&matrix, 3);
        assert_eq!(factor.kept, [true; 3]);
        factor.solve(&mut solved);
        for (solved, x) in solved.iter().zip(x) {
            assert!(((*solved - Double::from(x)).hi / x).abs() < 1e-5, "{solved:?} {x}");
        }
    }

    #[test]
    fn a_column_that_stands_twice_is_left_out() {
        let rows = [[1.0, 1.0, 0.3], [2.0, 2.0, -0.1], [-1.5, -1.5, 0.7]];
        let factor = Factor::new(&gram(&rows), 3);
        assert_eq!(factor.kept, [true, false, true]);
        let mut x: Vec<Double> = [1.0, 1.0, 0.0].map(Double::from).to_vec();
        factor.solve(&mut x);
        assert_eq!(x[1], Double::ZERO);
        let product = gram(&rows)[0] * x[0] + gram(&rows)[2] * x[2];
        assert!((product.value() - 1.0).abs() < 1e-15);
    }
}

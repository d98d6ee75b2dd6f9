//! Gram matrices of linear predictors: what second-order methods and exact bounds are made of.

use crate::blocks::Blocks;
use crate::collapse::{Collapsed, Row};
use crate::inner::Inner;
use crate::vector::{axpy, sparse_axpy, update_with};

/// `sum_r weight(r) a_r a_r'` over all rows of `f`, where row `r = i ell + c` is coordinate c of term i; d rows of length d. Threads share the
/// rows of the result.
pub fn weighted(f: &Collapsed, weight: impl Fn(usize) -> f64 + Sync) -> Vec<f64> {
    let d = f.d();
    let mut matrix = vec![0.0; d * d];
    Blocks::new(d, f.numbers()).fill(
        d,
        &mut matrix,
        #[inline(always)]
        |range, rows| {
            for r in 0..f.n_x() * f.ell() {
                let weight = weight(r);
                match f.row(r / f.ell(), r % f.ell()) {
                    Row::Dense(a) => {
                        for (l, row) in range.clone().zip(rows.chunks_exact_mut(d)) {
                            axpy(weight * a[l], a, row);
                        }
                    }
                    Row::Sparse(columns, a) => {
                        for (l, a_l) in columns.iter().map(|l| *l as usize).zip(a) {
                            if range.contains(&l) {
                                let row = &mut rows[(l - range.start) * d..(l - range.start + 1) * d];
                                sparse_axpy(weight * a_l, columns, a, row);
                            }
                        }
                    }
                }
            }
        },
    );
    matrix
}

/// The diagonal of [`weighted`] without the rest.
pub fn weighted_diagonal(f: &Collapsed, weight: impl Fn(usize) -> f64 + Sync) -> Vec<f64> {
    let mut diagonal = vec![0.0; f.d()];
    f.blocks(true).add(
        1.0,
        &mut diagonal,
        #[inline(always)]
        |terms, partial| {
            for r in terms.start * f.ell()..terms.end * f.ell() {
                let weight = weight(r);
                match f.row(r / f.ell(), r % f.ell()) {
                    Row::Dense(a) => update_with(partial, a, |sum, a| sum + weight * a * a),
                    Row::Sparse(columns, a) => {
                        for (l, a) in columns.iter().zip(a) {
                            partial[*l as usize] += weight * a * a;
                        }
                    }
                }
            }
        },
    );
    diagonal
}

/// `matrix += lambda I`
pub fn add_ridge(lambda: f64, d: usize, matrix: &mut [f64]) {
    for entry in matrix.iter_mut().step_by(d + 1) {
        *entry += lambda;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collapse::SparseRows;

    #[test]
    fn dense_and_sparse_rows_give_the_sum_of_outer_products() {
        let rows = [[1.0, 2.0, 0.0], [0.0, -1.0, 3.0]];
        let weight = |r: usize| [2.0, 0.5][r];
        let mut expected = [0.0; 9];
        for (r, row) in rows.iter().enumerate() {
            for (k, entry) in expected.iter_mut().enumerate() {
                *entry += weight(r) * row[k / 3] * row[k % 3];
            }
        }
        let dense = Collapsed::from_rows(3, rows.concat(), vec![0.0; 2]);
        assert_eq!(weighted(&dense, weight), expected);
        let sparse = SparseRows::new(3, vec![0, 2, 4], vec![0, 1, 1, 2], vec![1.0, 2.0, -1.0, 3.0]);
        let sparse = Collapsed::from_sparse_rows(sparse.expect("rising columns"), vec![0.0; 2]);
        for f in [&dense, &sparse] {
            assert_eq!(weighted_diagonal(f, weight), [expected[0], expected[4], expected[8]]);
        }
        let mut matrix = weighted(&sparse, weight);
        assert_eq!(matrix, expected);
        add_ridge(0.25, 3, &mut matrix);
        assert_eq!(matrix[4], expected[4] + 0.25);
    }
}

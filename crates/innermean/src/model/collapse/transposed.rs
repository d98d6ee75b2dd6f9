//! Columns as rows.

use super::matrix::{Matrix, Row, Shape};
use super::{Collapsed, SparseRows};
use crate::model::inner::{Fused, Inner};

impl Collapsed {
    /// The same matrix lying on its side: d rows with a number for each of the `n_X ell`, offsets
    /// zero.
    pub(crate) fn transposed(&self) -> Collapsed {
        let (rows, d) = (self.n_x() * self.ell(), self.d());
        let row = |r: usize| self.row(r / self.ell(), r % self.ell());
        let matrix = if self.support(0).is_some() {
            Matrix::Sparse(sparse(rows, d, row))
        } else {
            let mut columns = vec![0.0; rows * d];
            for r in 0..rows {
                self.with_row(r / self.ell(), r % self.ell(), |row| {
                    if let Row::Dense(values) = row {
                        columns[r..]
                            .iter_mut()
                            .step_by(rows)
                            .zip(values)
                            .for_each(|(out, value)| *out = *value);
                    }
                });
            }
            Matrix::Dense(columns.into())
        };
        Collapsed::of_parts(Shape { d: rows, ell: 1 }, matrix, vec![0.0; d])
    }
}

fn sparse<'a>(rows: usize, d: usize, row: impl Fn(usize) -> Row<'a>) -> SparseRows {
    let entries = |r: usize| {
        let (columns, values) = match row(r) {
            Row::Sparse(columns, values) => (columns, values),
            Row::Dense(_) => (&[][..], &[][..]),
        };
        columns.iter().map(|l| *l as usize).zip(values)
    };
    // How many numbers lie in the columns before each.
    let mut starts = vec![0; d + 1];
    for r in 0..rows {
        entries(r).for_each(|(l, _)| starts[l + 1] += 1);
    }
    for l in 0..d {
        starts[l + 1] += starts[l];
    }
    let mut next = starts.clone();
    let (mut columns, mut values) = (vec![0; starts[d]], vec![0.0; starts[d]]);
    for r in 0..rows {
        for (l, value) in entries(r) {
            (columns[next[l]], values[next[l]]) = (r as u32, *value);
            next[l] += 1;
        }
    }
    SparseRows::of_parts(rows, starts, columns, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_turned_twice_is_what_it_was() {
        let dense = [1.0, 0.0, 2.0, 0.0, 3.0, 4.0];
        let sparse = SparseRows::new(3, vec![0, 2, 4], vec![0, 2, 1, 2], vec![1.0, 2.0, 3.0, 4.0]);
        let sparse = Collapsed::from_sparse_rows(sparse.expect("rising columns"), vec![0.0; 2]);
        for rows in [Collapsed::from_rows(3, dense.to_vec(), vec![0.0; 2]), sparse] {
            let turned = rows.transposed();
            assert_eq!((turned.d(), turned.n_x()), (2, 3));
            let mut columns = vec![0.0; 6];
            turned.f().mean_jacobians(&[0.0; 2], &mut columns);
            assert_eq!(columns, [1.0, 0.0, 0.0, 3.0, 2.0, 4.0]);
            let mut again = vec![0.0; 6];
            turned.transposed().f().mean_jacobians(&[0.0; 3], &mut again);
            assert_eq!(again, dense);
        }
    }
}

//! Some of the columns.

use super::Collapsed;
use super::matrix::{Matrix, Shape};
use crate::model::row_data::Made;

impl Collapsed {
    /// The same rows with these columns alone, which rise, and offsets of 0. What most numbers of
    /// are zero has a row for each of the `n_X ell` predictors afterwards.
    pub(crate) fn columns(&self, set: &[usize]) -> Collapsed {
        let Shape { d, ell } = self.shape;
        let shape = Shape { d: set.len(), ell };
        let rows = match &self.rows {
            Matrix::Dense(rows) if rows.held().is_none() => {
                let set = set.to_vec();
                let count = set.len();
                let chosen = move |row: &[f64], part: &mut [f64]| {
                    part.iter_mut().zip(&set).for_each(|(part, &l)| *part = row[l]);
                };
                Matrix::Dense(Made::rows((rows, d), count, chosen))
            }
            Matrix::Dense(rows) => {
                let rows = rows.held().unwrap_or_default();
                let mut part = vec![0.0; self.offsets.len() * set.len()];
                self.blocks(false).fill(ell * set.len(), &mut part, |terms, part| {
                    let rows = &rows[terms.start * ell * d..terms.end * ell * d];
                    let each = rows.chunks_exact(d.max(1)).zip(part.chunks_exact_mut(set.len()));
                    for (row, part) in each {
                        part.iter_mut().zip(set).for_each(|(part, &l)| *part = row[l]);
                    }
                });
                Matrix::Dense(part.into())
            }
            Matrix::Sparse(_) => {
                return self.columns_apart(set).transposed();
            }
        };
        Self::of_parts(shape, rows, vec![0.0; self.offsets.len()])
    }

    /// The same with every column l multiplied by `factors[l]`.
    pub(crate) fn with_columns_times(mut self, factors: &[f64]) -> Collapsed {
        match &mut self.rows {
            Matrix::Dense(rows) if rows.is_shared() => {
                let (d, own) = (factors.len(), factors.to_vec());
                let times = move |row: &[f64], out: &mut [f64]| {
                    let terms = row.iter().zip(&own);
                    out.iter_mut().zip(terms).for_each(|(out, (x, factor))| *out = x * factor);
                };
                *rows = Made::where_they_are((rows, d), d, times);
            }
            Matrix::Dense(rows) => {
                for row in rows.to_mut().chunks_exact_mut(factors.len().max(1)) {
                    row.iter_mut().zip(factors).for_each(|(x, factor)| *x *= factor);
                }
            }
            Matrix::Sparse(rows) => rows.multiply_columns(factors),
        }
        Self::of_parts(self.shape, self.rows, self.offsets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::collapse::SparseRows;
    use crate::model::inner::{Fused, Inner};

    #[test]
    fn some_columns_are_those_of_the_whole() {
        let dense = [1.0, 0.0, 2.0, 0.0, 3.0, 4.0];
        let sparse = SparseRows::new(3, vec![0, 2, 4], vec![0, 2, 1, 2], vec![1.0, 2.0, 3.0, 4.0]);
        let sparse = Collapsed::from_sparse_rows(sparse.expect("rising columns"), vec![5.0; 2]);
        for rows in [Collapsed::from_rows(3, dense.to_vec(), vec![5.0; 2]), sparse] {
            for (set, expected) in [
                (vec![0, 2], vec![1.0, 2.0, 0.0, 4.0]),
                (vec![1], vec![0.0, 3.0]),
                (vec![0, 1, 2], dense.to_vec()),
            ] {
                let part = rows.columns(&set);
                assert_eq!((part.d(), part.n_x(), part.offsets()), (set.len(), 2, &[0.0; 2][..]));
                let mut found = vec![0.0; expected.len()];
                part.f().mean_jacobians(&vec![0.0; set.len()], &mut found);
                assert_eq!(found, expected);
                let twice = part.with_columns_times(&vec![2.0; set.len()]);
                twice.f().mean_jacobians(&vec![0.0; set.len()], &mut found);
                assert_eq!(found, expected.iter().map(|x| 2.0 * x).collect::<Vec<_>>());
            }
        }
    }
}

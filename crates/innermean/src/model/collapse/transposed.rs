//! Columns as rows.

use rayon::prelude::*;

use super::matrix::{Matrix, Row, Shape};
use super::{Collapsed, SparseRows};
use crate::model::inner::{Fused, Inner};

/// Numbers of the rows that a thread looks through at once.
const NUMBERS_PER_TASK: usize = 1 << 17;
/// The place of a column that is left out.
const NOWHERE: u32 = u32::MAX;

/// A number, its row and the place of its column among those that are chosen.
type Entry = (u32, u32, f64);

impl Collapsed {
    /// The same matrix lying on its side: d rows with a number for each of the `n_X ell`, offsets
    /// zero.
    pub(crate) fn transposed(&self) -> Collapsed {
        let (rows, d) = (self.n_x() * self.ell(), self.d());
        if self.support(0).is_some() {
            return self.columns_apart(&(0..d).collect::<Vec<_>>());
        }
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
        let matrix = Matrix::Dense(columns.into());
        Collapsed::of_parts(Shape { d: rows, ell: 1 }, matrix, vec![0.0; d])
    }

    /// Some columns, which rise, of rows that are sparse: each as a row. One look at the rows, for
    /// what lies in these columns, which is then put in order.
    pub(crate) fn columns_apart(&self, set: &[usize]) -> Collapsed {
        let (rows, ell) = (self.n_x() * self.ell(), self.ell());
        let mut places = vec![NOWHERE; self.d()];
        set.iter().zip(0..).for_each(|(&l, place)| places[l] = place);
        let per_task = rows.div_ceil(self.numbers().div_ceil(NUMBERS_PER_TASK).max(1)).max(1);
        let look = |task: usize| -> Vec<Entry> {
            let mut entries = Vec::new();
            for r in task * per_task..((task + 1) * per_task).min(rows) {
                let (i, c) = if ell == 1 { (r, 0) } else { (r / ell, r % ell) };
                if let Row::Sparse(columns, values) = self.row(i, c) {
                    for (l, value) in columns.iter().zip(values) {
                        let place = places[*l as usize];
                        if place != NOWHERE {
                            entries.push((place, r as u32, *value));
                        }
                    }
                }
            }
            entries
        };
        let tasks = rows.div_ceil(per_task);
        let found: Vec<Vec<Entry>> = if tasks > 1 {
            (0..tasks).into_par_iter().with_max_len(1).map(look).collect()
        } else {
            (0..tasks).map(look).collect()
        };
        // How many numbers lie in the columns before each.
        let mut starts = vec![0; set.len() + 1];
        found.iter().flatten().for_each(|(place, ..)| starts[*place as usize + 1] += 1);
        for k in 0..set.len() {
            starts[k + 1] += starts[k];
        }
        let mut next = starts.clone();
        let (mut columns, mut values) = (vec![0; starts[set.len()]], vec![0.0; starts[set.len()]]);
        for (place, r, value) in found.into_iter().flatten() {
            let next = &mut next[place as usize];
            (columns[*next], values[*next]) = (r, value);
            *next += 1;
        }
        let matrix = Matrix::Sparse(SparseRows::of_parts(rows, starts, columns, values));
        Collapsed::of_parts(Shape { d: rows, ell: 1 }, matrix, vec![0.0; set.len()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Stream;

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

    /// Whether one thread takes them or several, and however many there are.
    #[test]
    fn columns_apart_are_those_of_the_whole() {
        let mut draws = Stream::new(1, 0);
        for (n, d) in [(0, 3), (7, 5), (9000, 300)] {
            let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
            for _ in 0..n {
                columns.extend((0..d as u32).filter(|_| draws.index(8) == 0));
                values.resize_with(columns.len(), || draws.unit() + 1.0);
                starts.push(columns.len());
            }
            let rows = SparseRows::new(d, starts, columns, values).expect("rising columns");
            let rows = Collapsed::from_sparse_rows(rows, vec![0.0; n]);
            let sets = [vec![], vec![d - 1], (0..d).step_by(2).collect(), (0..d).collect()];
            for set in sets {
                let apart = rows.columns_apart(&set);
                assert_eq!((apart.n_x(), apart.d()), (set.len(), n));
                for (k, &l) in set.iter().enumerate() {
                    let mut column = vec![0.0; n];
                    apart.row(k, 0).add_to(1.0, &mut column);
                    let mut unit = vec![0.0; d];
                    unit[l] = 1.0;
                    let expected: Vec<f64> = (0..n).map(|r| rows.row(r, 0).dot(&unit)).collect();
                    assert_eq!(column, expected, "{n} x {d}: {l}");
                }
            }
        }
    }
}

//! The averages of transitions: `fbar_i = <Psi_i - discount sum_j p_ij Psi_ij, theta> - sum_j p_ij
//! r_ij`, as rows of d numbers or, for one-hot features, as sparse rows.

use super::{END, StateFeatures, Transitions};
use crate::linalg::blocks::Blocks;
use crate::model::collapse::{Collapsed, SparseRows};

impl Transitions {
    /// `fbar_i` for all i.
    pub(super) fn average(&self) -> Collapsed {
        match self.features {
            StateFeatures::OneHot { states } => {
                Collapsed::from_sparse_rows(self.sparse_rows(states), self.offsets())
            }
            StateFeatures::Rows { d, .. } => Collapsed::from_rows(d, self.rows(d), self.offsets()),
        }
    }

    /// `Psi_i - discount sum_j p_ij Psi_ij`
    fn rows(&self, d: usize) -> Vec<f64> {
        let mut rows = vec![0.0; self.states.len() * d];
        let pairs = self.next.len() / self.states.len();
        Blocks::new(self.states.len(), d * (pairs + 1)).fill(
            d,
            &mut rows,
            #[inline(always)]
            |range, rows| {
                for (i, row) in range.zip(rows.chunks_exact_mut(d)) {
                    self.add_features(self.states[i], 1.0, row);
                    for at in self.starts[i]..self.starts[i + 1] {
                        self.add_features(self.next[at], -self.discount * self.share(i, at), row);
                    }
                }
            },
        );
        rows
    }

    /// `e_i - discount sum_j p_ij e_ij`; successors that occur several times make one entry.
    fn sparse_rows(&self, d: usize) -> SparseRows {
        let most = self.next.len() + self.states.len();
        let (mut starts, mut columns, mut values) =
            (vec![0], Vec::with_capacity(most), Vec::with_capacity(most));
        let mut row: Vec<(u32, f64)> = Vec::new();
        for (i, &s) in self.states.iter().enumerate() {
            row.clear();
            row.push((s, 1.0));
            let moves = (self.starts[i]..self.starts[i + 1]).filter(|&at| self.next[at] != END);
            row.extend(moves.map(|at| (self.next[at], -self.discount * self.share(i, at))));
            // Stable: entries of one column are added up in the order of the transitions.
            row.sort_by_key(|(column, _)| *column);
            for same in row.chunk_by(|a, b| a.0 == b.0) {
                columns.push(same[0].0);
                values.push(same.iter().map(|(_, value)| value).sum());
            }
            starts.push(columns.len());
        }
        columns.shrink_to_fit();
        values.shrink_to_fit();
        SparseRows::new(d, starts, columns, values).expect("columns of states, sorted")
    }

    /// `-sum_j p_ij r_ij`
    fn offsets(&self) -> Vec<f64> {
        let mut offsets = vec![0.0; self.states.len()];
        let pairs = self.next.len() / self.states.len();
        Blocks::new(offsets.len(), pairs).fill(
            1,
            &mut offsets,
            #[inline(always)]
            |range, offsets| {
                for (i, offset) in range.zip(offsets) {
                    for at in self.starts[i]..self.starts[i + 1] {
                        *offset -= self.share(i, at) * self.rewards[at];
                    }
                }
            },
        );
        offsets
    }
}

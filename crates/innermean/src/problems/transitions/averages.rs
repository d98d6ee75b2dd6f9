//! The averages of transitions: `fbar_i = <Psi_i - discount sum_j p_ij Psi_ij, theta> - sum_j p_ij r_ij`, as rows of d numbers or, for one-hot
//! features, as sparse rows.

use super::{END, StateFeatures, Transitions};
use crate::blocks::Blocks;
use crate::collapse::Collapsed;
use crate::inner::Inner;

/// Linear predictors, one for each outer term.
#[derive(Debug, Clone)]
pub(super) enum Averages {
    Rows(Collapsed),
    Sparse(SparseRows),
}

/// Rows of which only what may differ from zero is kept.
#[derive(Debug, Clone, Default)]
pub(super) struct SparseRows {
    d: usize,
    /// Row i owns the entries `starts[i]..starts[i + 1]`.
    starts: Vec<usize>,
    /// Their columns, ascending within a row.
    columns: Vec<u32>,
    values: Vec<f64>,
    offsets: Vec<f64>,
    /// `max_i |row i|`
    reach: f64,
}

impl Default for Averages {
    fn default() -> Self {
        Averages::Sparse(SparseRows::default())
    }
}

impl Averages {
    pub(super) fn new(f: &Transitions) -> Self {
        let offsets = offsets(f);
        match &f.features {
            StateFeatures::OneHot { states } => Averages::Sparse(SparseRows::new(f, *states, offsets)),
            StateFeatures::Rows { d, .. } => {
                let d = *d;
                let mut rows = vec![0.0; f.states.len() * d];
                let pairs = f.next.len() / f.states.len();
                Blocks::new(f.states.len(), d * (pairs + 1)).fill(
                    d,
                    &mut rows,
                    #[inline(always)]
                    |range, rows| {
                        for (i, row) in range.zip(rows.chunks_exact_mut(d)) {
                            f.add_features(f.states[i], 1.0, row);
                            for at in f.starts[i]..f.starts[i + 1] {
                                f.add_features(f.next[at], -f.discount * f.share(i, at), row);
                            }
                        }
                    },
                );
                Averages::Rows(Collapsed::from_rows(d, rows, offsets))
            }
        }
    }

    /// `max_i |fbar_i'|`
    pub(super) fn reach(&self) -> f64 {
        match self {
            Averages::Rows(rows) => rows.bounds().mean_jacobian.unwrap_or(f64::INFINITY),
            Averages::Sparse(rows) => rows.reach,
        }
    }

    #[inline(always)]
    pub(super) fn mean(&self, theta: &[f64], i: usize) -> f64 {
        match self {
            Averages::Rows(rows) => {
                let mut out = [0.0];
                rows.value(theta, i, 0, &mut out);
                out[0]
            }
            Averages::Sparse(rows) => rows.mean(theta, i),
        }
    }

    /// `out += c fbar_i'`
    #[inline(always)]
    pub(super) fn add_mean_jac_t(&self, i: usize, c: f64, out: &mut [f64]) {
        match self {
            Averages::Rows(rows) => rows.add_jac_t(&[], i, 0, &[1.0], c, out),
            Averages::Sparse(rows) => rows.add_row(i, c, out),
        }
    }

    pub(super) fn means(&self, theta: &[f64], out: &mut [f64]) {
        match self {
            Averages::Rows(rows) => rows.means(theta, out),
            Averages::Sparse(rows) => rows.means(theta, out),
        }
    }

    pub(super) fn mean_jacobians(&self, theta: &[f64], out: &mut [f64]) {
        match self {
            Averages::Rows(rows) => rows.mean_jacobians(theta, out),
            Averages::Sparse(rows) => {
                out.fill(0.0);
                for (i, row) in out.chunks_exact_mut(rows.d).enumerate() {
                    rows.add_row(i, 1.0, row);
                }
            }
        }
    }

    pub(super) fn add_weighted_jac_t(&self, theta: &[f64], w: &[f64], out: &mut [f64]) {
        match self {
            Averages::Rows(rows) => rows.add_weighted_jac_t(theta, w, out),
            Averages::Sparse(rows) => rows.add_weighted_rows(w, out),
        }
    }

    pub(super) fn snapshot(&self, theta: &[f64], w: &[f64], f_bar: &mut [f64], u: &mut [f64]) {
        match self {
            Averages::Rows(rows) => rows.snapshot(theta, w, f_bar, u),
            Averages::Sparse(rows) => {
                rows.means(theta, f_bar);
                u.fill(0.0);
                rows.add_weighted_rows(w, u);
            }
        }
    }
}

/// `-sum_j p_ij r_ij`
fn offsets(f: &Transitions) -> Vec<f64> {
    let mut offsets = vec![0.0; f.states.len()];
    let pairs = f.next.len() / f.states.len();
    Blocks::new(offsets.len(), pairs).fill(
        1,
        &mut offsets,
        #[inline(always)]
        |range, offsets| {
            for (i, offset) in range.zip(offsets) {
                for at in f.starts[i]..f.starts[i + 1] {
                    *offset -= f.share(i, at) * f.rewards[at];
                }
            }
        },
    );
    offsets
}

impl SparseRows {
    /// `e_i - discount sum_j p_ij e_ij`; successors that occur several times make one entry.
    fn new(f: &Transitions, d: usize, offsets: Vec<f64>) -> Self {
        let mut rows = SparseRows { d, starts: vec![0], offsets, ..SparseRows::default() };
        rows.columns.reserve(f.next.len() + f.states.len());
        rows.values.reserve(f.next.len() + f.states.len());
        let mut row: Vec<(u32, f64)> = Vec::new();
        for (i, &s) in f.states.iter().enumerate() {
            row.clear();
            row.push((s, 1.0));
            let moves = (f.starts[i]..f.starts[i + 1]).filter(|&at| f.next[at] != END);
            row.extend(moves.map(|at| (f.next[at], -f.discount * f.share(i, at))));
            // Stable: entries of one column are added up in the order of the transitions.
            row.sort_by_key(|(column, _)| *column);
            let mut square = 0.0;
            for same in row.chunk_by(|a, b| a.0 == b.0) {
                let value: f64 = same.iter().map(|(_, value)| value).sum();
                rows.columns.push(same[0].0);
                rows.values.push(value);
                square += value * value;
            }
            rows.starts.push(rows.columns.len());
            rows.reach = rows.reach.max(square.sqrt());
        }
        rows.columns.shrink_to_fit();
        rows.values.shrink_to_fit();
        rows
    }

    fn entries(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let own = self.starts[i]..self.starts[i + 1];
        self.columns[own.clone()].iter().map(|&column| column as usize).zip(self.values[own].iter().copied())
    }

    #[inline(always)]
    fn mean(&self, theta: &[f64], i: usize) -> f64 {
        let mut sum = self.offsets[i];
        for (column, value) in self.entries(i) {
            sum += value * theta[column];
        }
        sum
    }

    /// `out += c (row i)`
    #[inline(always)]
    fn add_row(&self, i: usize, c: f64, out: &mut [f64]) {
        for (column, value) in self.entries(i) {
            out[column] += c * value;
        }
    }

    fn cost(&self) -> usize {
        self.columns.len() / self.offsets.len()
    }

    fn means(&self, theta: &[f64], out: &mut [f64]) {
        Blocks::new(self.offsets.len(), self.cost()).fill(
            1,
            out,
            #[inline(always)]
            |range, out| {
                for (i, out) in range.zip(out) {
                    *out = self.mean(theta, i);
                }
            },
        );
    }

    /// `out += (1/n_X) sum_i w_i (row i)`
    fn add_weighted_rows(&self, w: &[f64], out: &mut [f64]) {
        let n_x = self.offsets.len();
        Blocks::summing(n_x, self.cost(), self.d).add(
            1.0 / n_x as f64,
            out,
            #[inline(always)]
            |range, partial| {
                for i in range {
                    self.add_row(i, w[i], partial);
                }
            },
        );
    }
}

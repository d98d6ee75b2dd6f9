//! Random sparse regressions, and the same numbers in dense rows.

use innermean::collapse::SparseRows;
use innermean::draws::Stream;
use innermean::{Collapsed, Facts, Fused, Inner, Passes};

/// Rows of few numbers each, and targets; the last column is an intercept if there is one.
#[derive(Debug, Clone)]
pub(crate) struct SparseData {
    pub(crate) d: usize,
    pub(crate) starts: Vec<usize>,
    pub(crate) columns: Vec<u32>,
    pub(crate) values: Vec<f64>,
    pub(crate) targets: Vec<f64>,
}

impl SparseData {
    /// n rows, each of at most `nonzeros` numbers at random columns, some rows empty; with a column
    /// of ones at the end if asked for.
    pub(crate) fn random(n: usize, d: usize, nonzeros: usize, intercept: bool, seed: u64) -> Self {
        let mut draws = Stream::new(seed, 83);
        let (mut starts, mut columns, mut values) = (vec![0], vec![], vec![]);
        let mut targets = vec![];
        let truth: Vec<f64> = (0..d).map(|_| 2.0 * draws.unit() - 1.0).collect();
        for i in 0..n {
            let count = if i % 17 == 3 { 0 } else { nonzeros };
            let features = d - usize::from(intercept);
            let mut own: Vec<u32> = (0..count).map(|_| draws.index(features) as u32).collect();
            if intercept {
                own.push(d as u32 - 1);
            }
            own.sort_unstable();
            own.dedup();
            let mut score = 0.3;
            for &l in &own {
                let value =
                    if intercept && l as usize == d - 1 { 1.0 } else { 2.0 * draws.unit() - 1.0 };
                values.push(value);
                score += value * truth[l as usize];
            }
            targets.push(score + 0.1 * draws.unit());
            columns.extend(own);
            starts.push(columns.len());
        }
        SparseData { d, starts, columns, values, targets }
    }

    pub(crate) fn sparse(&self) -> Collapsed {
        let rows =
            SparseRows::new(self.d, self.starts.clone(), self.columns.clone(), self.values.clone())
                .unwrap();
        Collapsed::from_sparse_rows(rows, self.offsets())
    }

    pub(crate) fn dense(&self) -> Collapsed {
        let mut rows = vec![0.0; self.d * self.targets.len()];
        for (i, row) in rows.chunks_exact_mut(self.d).enumerate() {
            for k in self.starts[i]..self.starts[i + 1] {
                row[self.columns[k] as usize] = self.values[k];
            }
        }
        Collapsed::from_rows(self.d, rows, self.offsets())
    }

    fn offsets(&self) -> Vec<f64> {
        self.targets.iter().map(|b| -b).collect()
    }
}

/// `f_theta(x_i, y_ij) = (theta_l c_ij + theta_m - b_i, theta_m)` with `l = (3 i + j) mod d`, `m =
/// (5 i + 1) mod d`: affine, ell = 2, ragged, with or without a word on its supports.
#[derive(Debug, Clone)]
pub(crate) struct Sparse {
    d: usize,
    n_y: Vec<usize>,
    supports: Option<Vec<Vec<u32>>>,
}

impl Sparse {
    pub(crate) fn new(d: usize, n_x: usize, tells: bool) -> Self {
        let n_y: Vec<usize> = (0..n_x).map(|i| 1 + i % 4).collect();
        let support = |i: usize| {
            let mut own: Vec<u32> = (0..n_y[i]).map(|j| ((3 * i + j) % d) as u32).collect();
            own.push(((5 * i + 1) % d) as u32);
            own.sort_unstable();
            own.dedup();
            own
        };
        let supports = tells.then(|| (0..n_x).map(support).collect());
        Sparse { d, n_y, supports }
    }

    fn coordinates(&self, i: usize, j: usize) -> (usize, usize, f64) {
        ((3 * i + j) % self.d, (5 * i + 1) % self.d, 0.5 + ((7 * i + 3 * j) % 5) as f64 / 5.0)
    }
}

impl Inner for Sparse {
    fn d(&self) -> usize {
        self.d
    }

    fn ell(&self) -> usize {
        2
    }

    fn n_x(&self) -> usize {
        self.n_y.len()
    }

    fn n_y(&self, i: usize) -> usize {
        self.n_y[i]
    }

    fn facts(&self) -> Facts {
        Facts::affine()
    }

    fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
        let (l, m, c) = self.coordinates(i, j);
        out[0] = c * theta[l] + theta[m] - (i % 3) as f64;
        out[1] = theta[m];
    }

    fn add_jac_t(&self, _: &[f64], i: usize, j: usize, w: &[f64], scale: f64, out: &mut [f64]) {
        let (l, m, c) = self.coordinates(i, j);
        out[l] += scale * c * w[0];
        out[m] += scale * (w[0] + w[1]);
    }

    fn passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }
}

impl Fused for Sparse {
    fn f(&self) -> &dyn Inner {
        self
    }

    fn support(&self, i: usize) -> Option<&[u32]> {
        Some(&self.supports.as_ref()?[i])
    }
}

impl Passes for Sparse {}

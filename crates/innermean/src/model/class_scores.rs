//! Scores of several classes: linear predictors that share their rows.
//!
//! ```text
//! f_i(theta) = ( <x_i, theta_c> + intercept_c  for c = 1..C ),   ell = C,   n_Y = 1
//! ```
//!
//! Written as a [`Collapsed`] it would have C rows for each term, each C times as long as `x_i` and
//! mostly zeros. Here the rows are kept once, dense or sparse. theta holds the coefficients of class
//! after class, and then the intercepts.

use std::ops::Range;

use crate::linalg::blocks::Blocks;
use crate::linalg::gram;
use crate::linalg::vector::dot;
use crate::model::collapse::{Collapsed, Row};
use crate::model::inner::{Bounds, Duals, Facts, Fused, Inner, Lost, Passes};
use crate::model::sample::PartOf;
use crate::model::setting::InvalidSetting;
use crate::oracle::Patience;

/// Numbers that a block touches for each of the vector that it adds up.
const NUMBERS_PER_SUM: usize = 8;

/// The f of scores of several classes.
#[derive(Debug, Clone)]
pub struct ClassScores {
    /// `x_i`, with a 1 at the end where there are intercepts
    rows: Collapsed,
    classes: usize,
    intercepts: bool,
}

/// `phi_i'' = diag(diagonal_i) - across_i across_i'` for all i, flat.
#[derive(Debug)]
pub(crate) struct DiagonalLessRankOne {
    pub(crate) diagonal: Vec<f64>,
    pub(crate) across: Vec<f64>,
}

impl ClassScores {
    /// The scores of this many classes by these rows, one for each term. With intercepts, the last
    /// number of every row is 1.
    ///
    /// # Errors
    /// Unless there are at least two classes, a row for each term without an offset, and, with
    /// intercepts, a last column of ones.
    pub fn new(rows: Collapsed, classes: usize, intercepts: bool) -> Result<Self, InvalidSetting> {
        if classes < 2 {
            return Err(InvalidSetting::new("classes", classes.to_string(), "two or more"));
        }
        if rows.ell() != 1 || rows.offsets().iter().any(|offset| *offset != 0.0) {
            let given = format!("{} for each term, or with offsets", rows.ell());
            return Err(InvalidSetting::new("rows", given, "one for each term, without offsets"));
        }
        let is_one = |i: usize| {
            rows.with_row(i, 0, |row| match row {
                Row::Dense(row) => row.last() == Some(&1.0),
                Row::Sparse(columns, values) => {
                    columns.last().is_some_and(|l| *l as usize + 1 == rows.d())
                        && values.last() == Some(&1.0)
                }
            })
        };
        if intercepts && let Some(i) = (0..rows.n_x()).find(|i| !is_one(*i)) {
            let given = format!("row {i} that does not end with 1");
            return Err(InvalidSetting::new("rows", given, "a last column of ones"));
        }
        Ok(ClassScores { rows, classes, intercepts })
    }

    /// `x_i`, with a 1 at the end where there are intercepts.
    pub fn rows(&self) -> &Collapsed {
        &self.rows
    }

    /// The coordinates of theta before the intercepts.
    pub fn penalised(&self) -> usize {
        self.classes * self.features()
    }

    /// The coordinates of the intercepts.
    pub(crate) fn intercepts(&self) -> Range<usize> {
        self.penalised()..self.d()
    }

    /// The coordinates of theta of one class, in the order of the columns of the rows.
    pub(crate) fn columns_of(&self, c: usize) -> impl Iterator<Item = usize> {
        (0..self.rows.d()).map(move |l| self.place(c, l))
    }

    /// The coordinates of theta that hold one feature, or the intercept, for all classes: a constant
    /// added to them changes no probability.
    pub fn shifts(&self) -> Vec<Vec<usize>> {
        let of_column = |l: usize| (0..self.classes).map(|c| self.place(c, l)).collect();
        (0..self.rows.d()).map(of_column).collect()
    }

    fn features(&self) -> usize {
        self.rows.d() - usize::from(self.intercepts)
    }

    fn is_sparse(&self) -> bool {
        self.rows.data().is_none()
    }

    /// Where theta holds column l of the rows for class c.
    #[inline(always)]
    fn place(&self, c: usize, l: usize) -> usize {
        let features = self.features();
        if l < features { c * features + l } else { self.classes * features + c }
    }

    /// `each(place in theta, place in a table)` for a table of as many numbers: a row for each
    /// class or, where rows are sparse, for each column, so that all classes lie side by side.
    fn places(&self, mut each: impl FnMut(usize, usize)) {
        let (classes, width, sparse) = (self.classes, self.rows.d(), self.is_sparse());
        for c in 0..classes {
            for l in 0..width {
                each(self.place(c, l), if sparse { l * classes + c } else { c * width + l });
            }
        }
    }

    /// theta as such a table.
    fn table(&self, theta: &[f64]) -> Vec<f64> {
        let mut table = vec![0.0; theta.len()];
        self.places(|place, spot| table[spot] = theta[place]);
        table
    }

    /// The scores of some terms, by a table of theta; `work` has a number for each of them.
    #[inline(always)]
    fn scores(&self, table: &[f64], terms: Range<usize>, work: &mut [f64], out: &mut [f64]) {
        let classes = self.classes;
        if self.is_sparse() {
            out.fill(0.0);
            for (i, out) in terms.zip(out.chunks_exact_mut(classes)) {
                self.each_entry(i, |l, x| {
                    let row = &table[l * classes..(l + 1) * classes];
                    out.iter_mut().zip(row).for_each(|(out, theta)| *out += x * theta);
                });
            }
            return;
        }
        for (c, theta) in table.chunks_exact(self.rows.d()).enumerate() {
            self.rows.dots(terms.clone(), theta, work);
            for (out, score) in out.chunks_exact_mut(classes).zip(&*work) {
                out[c] = *score;
            }
        }
    }

    /// `sum += sum_i x_i w_i'` over some terms, as a table.
    #[inline(always)]
    fn add_products(&self, terms: Range<usize>, w: &[f64], work: &mut [f64], sum: &mut [f64]) {
        let classes = self.classes;
        if self.is_sparse() {
            for (i, w) in terms.zip(w.chunks_exact(classes)) {
                self.each_entry(i, |l, x| {
                    let row = &mut sum[l * classes..(l + 1) * classes];
                    row.iter_mut().zip(w).for_each(|(sum, w)| *sum += x * w);
                });
            }
            return;
        }
        for (c, sum) in sum.chunks_exact_mut(self.rows.d()).enumerate() {
            for (work, w) in work.iter_mut().zip(w.chunks_exact(classes)) {
                *work = w[c];
            }
            self.rows.add_weighted(terms.clone(), work, sum);
        }
    }

    /// `each(column, number)` for the numbers of a sparse row.
    #[inline(always)]
    fn each_entry(&self, i: usize, mut each: impl FnMut(usize, f64)) {
        if let Row::Sparse(columns, values) = self.rows.row(i, 0) {
            columns.iter().zip(values).for_each(|(l, x)| each(*l as usize, *x));
        }
    }

    /// The terms in blocks, for passes that fill, or for those that add up vectors of length d.
    fn blocks(&self, adding: bool) -> Blocks {
        let n_x = self.n_x();
        let cost = self.classes * self.rows.numbers().div_ceil(n_x.max(1));
        let least = if adding && self.is_sparse() { NUMBERS_PER_SUM * self.d() } else { 0 };
        Blocks::with_least(n_x, cost, least)
    }

    /// Some terms as an f of their own.
    pub(crate) fn part(&self, terms: &[usize]) -> Self {
        let part = PartOf::new(&self.rows, terms, usize::MAX);
        let rows = Collapsed::without_offsets(&part, &vec![0.0; self.rows.d()]);
        ClassScores { rows, ..*self }
    }

    /// `share sum_i fbar_i' phi_i'' fbar_i'^T`, d rows of length d: for classes a and b the block
    /// `share sum_i (phi_i'')_ab x_i x_i'`, which is symmetric. Good for nothing where patience ends
    /// on the way.
    pub(crate) fn hessian(
        &self,
        curvatures: &DiagonalLessRankOne,
        share: f64,
        patience: &Patience<'_>,
    ) -> Vec<f64> {
        let (classes, d) = (self.classes, self.d());
        let mut matrix = vec![0.0; d * d];
        for a in 0..classes {
            for b in 0..=a {
                if patience.is_over() {
                    return matrix;
                }
                let weight = |i: usize| {
                    let (of_a, of_b) = (i * classes + a, i * classes + b);
                    let own = if a == b { curvatures.diagonal[of_a] } else { 0.0 };
                    share * (own - curvatures.across[of_a] * curvatures.across[of_b])
                };
                let block = patience
                    .within(self.rows.d(), &weight, |weight| gram::weighted(&self.rows, weight));
                self.put(&block, a, b, &mut matrix);
            }
        }
        matrix
    }

    /// Puts a block and its mirror image into a matrix.
    fn put(&self, block: &[f64], a: usize, b: usize, matrix: &mut [f64]) {
        let (width, d) = (self.rows.d(), self.d());
        for (l, row) in block.chunks_exact(width).enumerate() {
            for (m, entry) in row.iter().enumerate() {
                let (r, c) = (self.place(a, l), self.place(b, m));
                matrix[r * d + c] = *entry;
                matrix[c * d + r] = *entry;
            }
        }
    }

    /// A number for every coordinate of theta, from one for every column of the rows and class.
    pub(crate) fn by_class(&self, of_class: impl Fn(usize) -> Vec<f64>) -> Vec<f64> {
        let mut out = vec![0.0; self.d()];
        for c in 0..self.classes {
            for (l, x) in of_class(c).into_iter().enumerate() {
                out[self.place(c, l)] = x;
            }
        }
        out
    }

    /// The diagonal of [`Self::hessian`].
    pub(crate) fn hessian_diagonal(
        &self,
        curvatures: &DiagonalLessRankOne,
        share: f64,
    ) -> Vec<f64> {
        self.by_class(|c| {
            let weight = |i: usize| {
                let own = i * self.classes + c;
                share * (curvatures.diagonal[own] - curvatures.across[own].powi(2))
            };
            gram::weighted_diagonal(&self.rows, &weight)
        })
    }
}

impl Inner for ClassScores {
    fn d(&self) -> usize {
        self.classes * self.rows.d()
    }

    fn ell(&self) -> usize {
        self.classes
    }

    fn n_x(&self) -> usize {
        self.rows.n_x()
    }

    fn n_y(&self, _: usize) -> usize {
        1
    }

    fn facts(&self) -> Facts {
        Facts::affine()
    }

    fn value(&self, theta: &[f64], i: usize, _: usize, out: &mut [f64]) {
        let features = self.features();
        let (heads, tail) = theta.split_at(self.penalised());
        for (c, out) in out.iter_mut().enumerate() {
            let head = &heads[c * features..(c + 1) * features];
            let score = self.rows.with_row(i, 0, |row| match row {
                Row::Dense(row) => dot(&row[..features], head),
                Row::Sparse(columns, values) => {
                    let entries =
                        columns.iter().zip(values).take_while(|(l, _)| (**l as usize) < features);
                    entries.map(|(l, x)| x * head[*l as usize]).sum()
                }
            });
            *out = score + tail.get(c).unwrap_or(&0.0);
        }
    }

    fn add_jac_t(&self, _: &[f64], i: usize, _: usize, w: &[f64], c: f64, out: &mut [f64]) {
        for (k, w) in w.iter().enumerate() {
            self.rows.with_row(i, 0, |row| match row {
                Row::Dense(row) => {
                    row.iter().enumerate().for_each(|(l, x)| out[self.place(k, l)] += c * w * x);
                }
                Row::Sparse(..) => self.each_entry(i, |l, x| out[self.place(k, l)] += c * w * x),
            });
        }
    }

    fn passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }
}

impl Fused for ClassScores {
    fn f(&self) -> &dyn Inner {
        self
    }

    fn class_scores(&self) -> Option<&ClassScores> {
        Some(self)
    }

    fn prefetch(&self, i: usize, j: usize) {
        self.rows.prefetch(i, j);
    }

    fn mean(&self, theta: &[f64], i: usize, _: &mut [f64], out: &mut [f64]) {
        self.value(theta, i, 0, out);
    }

    fn add_mean_jac_t(&self, theta: &[f64], i: usize, w: &[f64], c: f64, out: &mut [f64]) {
        self.add_jac_t(theta, i, 0, w, c, out);
    }
}

impl Passes for ClassScores {
    /// `|f_i'| = |x_i|`, as an operator.
    fn bounds(&self) -> Bounds {
        self.rows.bounds()
    }

    /// A block for each class.
    fn gram(&self, weight: &(dyn Fn(usize) -> f64 + Sync)) -> Result<Option<Vec<f64>>, Lost> {
        let mut matrix = vec![0.0; self.d() * self.d()];
        for c in 0..self.classes {
            let block = gram::weighted(&self.rows, &|i| weight(i * self.classes + c));
            self.put(&block, c, c, &mut matrix);
        }
        Ok(Some(matrix))
    }

    fn means(&self, theta: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        let (classes, table, tile) = (self.classes, self.table(theta), self.rows.tile());
        self.blocks(false).fill(
            classes,
            out,
            #[inline(always)]
            |terms, f_bar| {
                let mut work = vec![0.0; tile];
                let tiles = f_bar.chunks_mut(tile * classes);
                for (first, f_bar) in (terms.start..).step_by(tile).zip(tiles) {
                    let len = f_bar.len() / classes;
                    self.scores(&table, first..first + len, &mut work[..len], f_bar);
                }
            },
        );
        Ok(())
    }

    fn add_weighted_jac_t(&self, _: &[f64], w: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        let (classes, tile) = (self.classes, self.rows.tile());
        let mut sum = vec![0.0; self.d()];
        self.blocks(true).add(
            1.0 / self.n_x() as f64,
            &mut sum,
            #[inline(always)]
            |terms, partial| {
                let mut work = vec![0.0; tile];
                let own = &w[terms.start * classes..terms.end * classes];
                let tiles = own.chunks(tile * classes);
                for (first, w) in (terms.start..).step_by(tile).zip(tiles) {
                    let len = w.len() / classes;
                    self.add_products(first..first + len, w, &mut work[..len], partial);
                }
            },
        );
        self.places(|place, spot| out[place] += sum[spot]);
        Ok(())
    }

    /// Tile by tile: the rows of a tile are near when its duals are there.
    fn gradient(
        &self,
        theta: &[f64],
        duals: &Duals<'_>,
        f_bar: &mut [f64],
        w: &mut [f64],
        out: &mut [f64],
    ) -> Result<f64, Lost> {
        let (classes, table, tile) = (self.classes, self.table(theta), self.rows.tile());
        let d = self.d();
        // The loss is behind the sum.
        let mut sum = vec![0.0; d + 1];
        self.blocks(true).fill_both_and_add(
            classes,
            (f_bar, w),
            1.0 / self.n_x() as f64,
            &mut sum,
            #[inline(always)]
            |terms, f_bar, w, partial| {
                let mut work = vec![0.0; tile];
                let (partial, loss) = partial.split_at_mut(d);
                let tiles = f_bar.chunks_mut(tile * classes).zip(w.chunks_mut(tile * classes));
                for (first, (f_bar, w)) in (terms.start..).step_by(tile).zip(tiles) {
                    let terms = first..first + w.len() / classes;
                    let work = &mut work[..terms.len()];
                    self.scores(&table, terms.clone(), work, f_bar);
                    loss[0] += duals(terms.clone(), f_bar, w);
                    self.add_products(terms, w, work, partial);
                }
            },
        );
        self.places(|place, spot| out[place] = sum[spot]);
        Ok(sum[d])
    }
}

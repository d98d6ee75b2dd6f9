//! Where the columns of rows lie and how far they reach, in one pass.

use std::ops::Range;

use crate::linalg::blocks::Blocks;
use crate::model::row_data::RowData;

/// The first numbers of rows of `width`, column by column.
pub(super) struct Columns<'r> {
    pub(super) rows: &'r RowData,
    pub(super) width: usize,
}

/// Where columns lie, and how far they reach.
pub(super) struct Spread {
    /// The means, or 0 where there is no intercept.
    pub(super) centers: Vec<f64>,
    /// The means of squared distances from the centers.
    pub(super) squares: Vec<f64>,
    pub(super) is_constant: Vec<bool>,
}

impl Columns<'_> {
    fn blocks(&self) -> Blocks {
        Blocks::new(self.rows.len() / self.width, self.width)
    }

    /// With the first row as the origin one pass is enough: it is one of the n, so that
    /// `(mean - first)^2` is at most n times the variance, and many digits are left of
    /// `mean (x - first)^2 - (mean - first)^2`.
    pub(super) fn spread(&self, first: &[f64], intercept: bool) -> Spread {
        let d = first.len();
        let n = (self.rows.len() / self.width) as f64;
        let zero = vec![0.0; d];
        let origin = if intercept { first } else { &zero };
        let sums = self.sums(origin, first);
        let (shifts, rest) = sums.split_at(d);
        let (squares, differ) = rest.split_at(d);
        let is_constant = differ.iter().map(|differ| *differ == 0.0).collect();
        let mut squares: Vec<f64> = squares.iter().map(|sum| sum / n).collect();
        if !intercept {
            return Spread { centers: zero, squares, is_constant };
        }
        for (square, shift) in squares.iter_mut().zip(shifts) {
            *square = (*square - (shift / n).powi(2)).max(0.0);
        }
        let centers = first.iter().zip(shifts).map(|(first, shift)| first + shift / n).collect();
        Spread { centers, squares, is_constant }
    }

    /// Of each column `sum_i (x_i - origin)`, then of each `sum_i (x_i - origin)^2`, then how many
    /// of its numbers are not the first.
    fn sums(&self, origin: &[f64], first: &[f64]) -> Vec<f64> {
        let d = first.len();
        let mut sums = vec![0.0; 3 * d];
        self.blocks().add(
            1.0,
            &mut sums,
            #[inline(always)]
            |range, sums| {
                let (shift, rest) = sums.split_at_mut(d);
                let (squares, differ) = rest.split_at_mut(d);
                self.visit(
                    range,
                    #[inline(always)]
                    |row| {
                        for l in 0..d {
                            let apart = row[l] - origin[l];
                            shift[l] += apart;
                            squares[l] += apart * apart;
                            differ[l] += if row[l] == first[l] { 0.0 } else { 1.0 };
                        }
                    },
                );
            },
        );
        sums
    }

    /// Which columns hold a number whose difference to their center is rounded.
    pub(super) fn inexact(&self, centers: &[f64]) -> Vec<bool> {
        let mut rounded = vec![0.0; centers.len()];
        self.blocks().add(
            1.0,
            &mut rounded,
            #[inline(always)]
            |range, rounded| {
                self.visit(
                    range,
                    #[inline(always)]
                    |row| {
                        for ((x, center), rounded) in row.iter().zip(centers).zip(&mut *rounded) {
                            *rounded += if is_exact(*x, *center) { 0.0 } else { 1.0 };
                        }
                    },
                );
            },
        );
        rounded.iter().map(|rounded| *rounded > 0.0).collect()
    }

    #[inline(always)]
    fn visit(&self, rows: Range<usize>, mut work: impl FnMut(&[f64])) {
        self.rows.visit(
            self.width,
            rows,
            #[inline(always)]
            |_, numbers| {
                for row in numbers.chunks_exact(self.width) {
                    work(row);
                }
            },
        );
    }
}

/// Whether `x - center` is a number of double precision.
#[inline(always)]
pub(super) fn is_exact(x: f64, center: f64) -> bool {
    let difference = x - center;
    let shadow = difference - x;
    (x - (difference - shadow)) - (center + shadow) == 0.0
}

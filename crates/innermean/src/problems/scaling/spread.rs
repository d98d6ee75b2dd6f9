//! How the numbers of columns are spread, found in one pass.

use crate::linalg::blocks::Blocks;
use crate::model::row_data::RowData;

/// Of each column.
pub(super) struct Spread {
    /// Of a constant column, its number.
    pub(super) mean: Vec<f64>,
    pub(super) variance: Vec<f64>,
    pub(super) is_constant: Vec<bool>,
}

impl Spread {
    /// Of the first d columns of rows of `width` numbers, in one pass: about their mean or, where
    /// none is to be taken off, about 0. Sums are those of differences from the first row, which
    /// lose fewer digits.
    pub(super) fn of(rows: &RowData, d: usize, width: usize, centred: bool) -> Self {
        let n = rows.len() / width;
        let first = rows.with(width, 0..1, |row| row[..d].to_vec());
        let about = if centred { first.clone() } else { vec![0.0; d] };
        // Differences from there, their squares, and how many numbers are not the first.
        let mut sums = vec![0.0; 3 * d];
        Blocks::with_least(n, 3 * width, 3 * d).add(
            1.0 / n as f64,
            &mut sums,
            #[inline(always)]
            |range, sums| {
                let (lines, rest) = sums.split_at_mut(d);
                let (squares, others) = rest.split_at_mut(d);
                rows.visit(width, range, |_, rows| {
                    for row in rows.chunks_exact(width) {
                        let columns = row[..d].iter().zip(&first).zip(&about);
                        let sums = lines.iter_mut().zip(&mut *squares).zip(&mut *others);
                        for (((x, first), about), ((line, square), other)) in columns.zip(sums) {
                            let off = x - about;
                            *line += off;
                            *square += off * off;
                            *other += if x == first { 0.0 } else { 1.0 };
                        }
                    }
                });
            },
        );
        let (lines, rest) = sums.split_at(d);
        let (squares, others) = rest.split_at(d);
        let shift = |l: usize| if centred { lines[l] } else { 0.0 };
        Spread {
            mean: (0..d).map(|l| about[l] + shift(l)).collect(),
            variance: (0..d).map(|l| (squares[l] - shift(l).powi(2)).max(0.0)).collect(),
            is_constant: others.iter().map(|others| *others == 0.0).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Stream;

    /// Columns of ordinary numbers, far from 0, of one number, of one but for the last row, and of
    /// a first number far from all others; and a number behind them that does not count.
    #[test]
    fn one_pass_finds_what_two_find() {
        let (n, d, width) = (20_000, 5, 6);
        let mut draws = Stream::new(3, 0);
        let mut rows = Vec::with_capacity(n * width);
        for i in 0..n {
            let x = draws.unit();
            let last = if i + 1 == n { 1.0 } else { 0.0 };
            let outlier = if i == 0 { 1e6 } else { x };
            rows.extend([x - 0.5, 1e6 + x, 7.5, 2.0 + last, outlier, f64::NAN]);
        }
        let data = RowData::from(rows.clone());
        for centred in [true, false] {
            let spread = Spread::of(&data, d, width, centred);
            for l in 0..d {
                let column = || rows.iter().skip(l).step_by(width);
                let mean = if centred { column().sum::<f64>() / n as f64 } else { 0.0 };
                let variance = column().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
                assert!((spread.mean[l] - mean).abs() <= 1e-9 * (1.0 + mean.abs()), "{l}");
                let off = (spread.variance[l] - variance).abs();
                assert!(off <= 1e-8 * variance, "{l}: {} {variance}", spread.variance[l]);
            }
            assert_eq!(spread.is_constant, [false, false, true, false, false]);
        }
    }
}

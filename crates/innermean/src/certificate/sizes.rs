//! How large the numbers are that are added up, and so how far rounding may have moved a sum.
//!
//! With u the unit of rounding, a sum of products whose terms pass through at most k roundings is
//! wrong by at most about `k u` of the sum of their sizes (Higham, "Accuracy and Stability of
//! Numerical Algorithms", section 3.1). Let `s_rl` be the size of what makes up entry l of row r,
//! and `S_l^2 = (1/n_X) sum_r s_rl^2`. By Cauchy and Schwarz, and Minkowski,
//!
//! ```text
//! |rounding of u_l|                     <= k u S_l omega,                    omega^2 = (1/n_X) sum_r w_r^2
//! (1/n_X sum_r |rounding of fbar_r|^2)^(1/2) <= k u (S_0 + sum_l S_l |theta_l|),   S_0 for the offsets
//! ```

use crate::linalg::blocks::Blocks;
use crate::linalg::vector::norm_squared;
use crate::linalg::{long, precise};
use crate::model::class_scores::ClassScores;
use crate::model::collapse::Collapsed;
use crate::model::inner::{CentredRows, Columns, Inner, is_single, pieces};
#[cfg(doc)]
use crate::model::merit::Multinomial;
use crate::model::row_data::RowData;

/// The unit of rounding of double precision, `2^-53`.
pub(crate) const UNIT: f64 = 0.5 * f64::EPSILON;

/// Of the most that rounding can do to a long sum, what it usually does; and units of rounding that
/// it does to a short one.
const USUAL_PART: f64 = 0.03;
const FEW_UNITS: f64 = 8.0;

/// Numbers up to which the rows of all pairs are looked at; beyond, so many terms and pairs of
/// each, with a margin for those that are not.
const MOST_NUMBERS: usize = 1 << 16;
const SOME_TERMS: usize = 128;
const SOME_PAIRS: usize = 16;
const MARGIN_OF_SAMPLE: f64 = 2.0;
/// At most this many blocks are added up (see `blocks.rs`), of at least so many numbers.
const MOST_BLOCKS: usize = 128;
const LEAST_WORK: usize = 1 << 15;

/// Makes up for what a variance is rounded by.
const ROUNDING_OF_VARIANCE: f64 = 1.0 + 1e-6;

/// Units for each class by which duals of classes may miss their sum, and by which softmax rounds.
const OFF_BY: f64 = 40.0;

/// Roundings that a value of an f that is not affine passes through, as a guess.
const CURVED: f64 = 64.0;

/// Sizes of the columns of an affine f.
#[derive(Debug)]
pub(crate) struct Sizes {
    /// `S_l`
    pub(crate) columns: Vec<f64>,
    /// `S_0`
    pub(crate) offset: f64,
    /// Where there is one outer term whose averages have units of their own: the size of every
    /// entry, that of the offset behind those of a row.
    entries: Option<Vec<f64>>,
    /// `k u` for a sum over the rows.
    pub(crate) of_sum: f64,
    /// `k u` for an average, `<a_r, theta> + b_r`.
    pub(crate) of_average: f64,
    /// `k u` of an entry, where entries are averages themselves.
    pub(crate) of_entry: f64,
}

impl Sizes {
    /// Of an f that is all of F.
    pub(crate) fn of_all(columns: &Columns<'_>) -> Self {
        Sizes {
            columns: columns.sizes.to_vec(),
            offset: columns.offset,
            entries: None,
            of_sum: UNIT * (columns.roundings + 3.0),
            of_average: UNIT * (columns.of_average + 3.0),
            of_entry: 0.0,
        }
    }

    /// From the variances of its columns, if these are known and it is of centred rows.
    pub(crate) fn new(f: &dyn Inner, variances: Option<&[f64]>) -> Self {
        let (d, n_x) = (f.d(), f.n_x());
        let block = n_x.div_ceil(MOST_BLOCKS).max(LEAST_WORK / d.max(1)).min(n_x);
        let added = (block * f.ell() + MOST_BLOCKS.min(n_x)) as f64;
        if let Some(scores) = f.class_scores() {
            return Self::of_classes(scores, added);
        }
        let width = f.support_sizes().map_or(d, |(_, most)| most) as f64;
        let (columns, offset, averaged) = if let Some(centred) = f.centred_rows() {
            let CentredRows { rows, mean, offsets, .. } = centred;
            let columns = match variances {
                Some(variances) => variances
                    .iter()
                    .zip(mean)
                    .map(|(v, m)| ROUNDING_OF_VARIANCE * v.sqrt() + 2.0 * m.abs())
                    .collect(),
                None => sizes_of_centred(rows, mean),
            };
            (columns, mean_square(offsets, n_x), added)
        } else {
            let samples = || (0..n_x).map(|i| f.n_y(i)).max().unwrap_or(1);
            let most = if is_single(f) { 1 } else { samples() };
            let (columns, offset) = sizes_of_pairs(f, most);
            // Two more for a difference of features.
            let differ = n_x > 0 && f.transition_row(0, 0).is_some();
            let projected = f.projected_rows().map(|given| precise::roundings(&given) as f64);
            let added = projected.unwrap_or(if most > 1 { most as f64 } else { 0.0 });
            (columns, offset, added + if differ { 2.0 } else { 0.0 })
        };
        // Of what f stands for.
        let before = f64::from(f.facts().roundings);
        let stands_in = before > 0.0 && f.projected_rows().is_some();
        let entries = (n_x == 1 && (f.ell() > 1 || stands_in)).then(|| sizes_of_entries(f));
        let columns = match &entries {
            Some(entries) if stands_in => sizes_of_columns(entries, d),
            _ => columns,
        };
        // Three more for weights, shares and products.
        Sizes {
            columns,
            offset,
            entries,
            of_sum: UNIT * (added + averaged + before + 3.0),
            of_average: UNIT * (width + averaged + before + 3.0),
            of_entry: UNIT * (averaged + if f.centred_rows().is_some() { 2.0 } else { 0.0 }),
        }
    }

    /// Of scores of classes, whose rows are the same for all of them. A dual may be off by what
    /// rounding leaves of the sum over classes, see [`Multinomial`].
    fn of_classes(scores: &ClassScores, added: f64) -> Self {
        let (rows, _) = sizes_of_rows(scores.rows());
        Sizes {
            columns: scores.by_class(|_| rows.clone()),
            offset: 0.0,
            entries: None,
            of_sum: UNIT * (added + OFF_BY * scores.ell() as f64 + 3.0),
            of_average: UNIT * (rows.len() as f64 + 3.0),
            of_entry: 0.0,
        }
    }

    /// Of an f that is not affine, as far as a bound on its mean Jacobians says.
    pub(crate) fn of_curved(d: usize, jacobian: f64) -> Self {
        let unit = CURVED * UNIT;
        Sizes {
            columns: vec![jacobian; d],
            offset: 0.0,
            entries: None,
            of_sum: unit,
            of_average: unit,
            of_entry: 0.0,
        }
    }

    /// The size of every entry of the only outer term, that of the offset behind those of a row.
    pub(crate) fn entries(&self) -> Option<&[f64]> {
        self.entries.as_deref()
    }

    /// What rounding may have moved each `u_l` by, where the duals have root mean square `omega`.
    pub(crate) fn sum_errors(&self, w: &[f64], omega: f64) -> Vec<f64> {
        if let Some(entries) = &self.entries {
            let mut errors = vec![0.0; self.columns.len()];
            for (row, w) in entries.chunks_exact(self.columns.len() + 1).zip(w) {
                errors
                    .iter_mut()
                    .zip(row)
                    .for_each(|(error, size)| *error += self.of_sum * size * w.abs());
            }
            return errors;
        }
        self.columns.iter().map(|size| self.of_sum * size * omega).collect()
    }

    /// What rounding may have moved the averages by, in root mean square.
    pub(crate) fn average_error(&self, theta: &[f64]) -> f64 {
        self.of_average * self.reach(theta)
    }

    /// What rounding of the averages may have moved `(1/n_X) sum_r w_r fbar_r` by.
    pub(crate) fn product_error(&self, theta: &[f64], w: &[f64], omega: f64) -> f64 {
        match self.average_errors(theta) {
            Some(errors) => errors.iter().zip(w).map(|(error, w)| error * w.abs()).sum(),
            None => omega * self.average_error(theta),
        }
    }

    /// What rounding may have moved each of the averages of the only outer term by.
    pub(crate) fn average_errors(&self, theta: &[f64]) -> Option<Vec<f64>> {
        let d = theta.len();
        let of_row = |row: &[f64]| {
            let sum: f64 = row.iter().zip(theta).map(|(size, x)| size * x.abs()).sum();
            self.of_average * (row[d] + sum)
        };
        self.entries.as_ref().map(|entries| entries.chunks_exact(d + 1).map(of_row).collect())
    }

    /// `S_0 + sum_l S_l |theta_l|`
    pub(crate) fn reach(&self, theta: &[f64]) -> f64 {
        self.offset
            + self.columns.iter().zip(theta).map(|(size, theta)| size * theta.abs()).sum::<f64>()
    }

    /// Of a bound on rounding, what may well be.
    pub(crate) fn usual(&self) -> f64 {
        (FEW_UNITS * UNIT / self.of_sum).clamp(USUAL_PART, 1.0)
    }

    /// `max_l S_l |theta_l|`, or `least` if that is more: how large theta is, in units in which
    /// columns have size 1.
    pub(crate) fn extent(&self, theta: &[f64], least: f64) -> f64 {
        self.columns
            .iter()
            .zip(theta)
            .fold(least, |most, (size, theta)| most.max(size * theta.abs()))
    }
}

/// `x_i` and m beside each other.
fn sizes_of_centred(rows: &RowData, mean: &[f64]) -> Vec<f64> {
    let (d, n) = (mean.len(), rows.len() / mean.len().max(1));
    let mut squares = vec![0.0; d];
    Blocks::new(n, d).add(1.0 / n as f64, &mut squares, |range, squares| {
        rows.visit(d, range, |_, rows| {
            for row in rows.chunks_exact(d) {
                squares.iter_mut().zip(row).for_each(|(sum, x)| *sum += x * x);
            }
        });
    });
    squares.iter().zip(mean).map(|(square, mean)| square.sqrt() + mean.abs()).collect()
}

/// From the rows of all pairs or, of an f with very many, from its averages and some of the pairs.
fn sizes_of_pairs(f: &dyn Inner, most: usize) -> (Vec<f64>, f64) {
    let (d, ell, n_x) = (f.d(), f.ell(), f.n_x());
    let differ = n_x > 0 && f.transition_row(0, 0).is_some();
    if let (1, Some(averages), false) = (most, f.averages(), differ) {
        return sizes_of_rows(averages);
    }
    let whole = pieces(f).max(f.pairs()) * ell * d <= MOST_NUMBERS;
    let origin = vec![0.0; d];
    let (mut value, mut work, mut jacobian) = (vec![0.0; ell], vec![0.0; ell], vec![0.0; ell * d]);
    let (mut columns, mut offset) = match f.averages().filter(|_| !whole) {
        Some(averages) => sizes_of_rows(averages),
        None => (vec![0.0; d], 0.0),
    };
    let (mut squares, mut offsets) = (vec![0.0; d], 0.0);
    let mut sum = vec![0.0; ell * d];
    let terms = if whole { n_x } else { n_x.min(SOME_TERMS) };
    for i in (0..terms).map(|k| k * n_x / terms) {
        let pairs = f.n_y(i);
        let looked = if whole { pairs } else { pairs.min(SOME_PAIRS) };
        sum.fill(0.0);
        let mut constant = 0.0;
        for k in 0..looked {
            let j = k * pairs / looked;
            f.value(&origin, i, j, &mut value);
            f.jacobian(&origin, i, j, &mut work, &mut jacobian);
            if let Some(pair) = f.transition_row(i, j) {
                // Of what is subtracted, not of the difference.
                for (x, now) in jacobian.iter_mut().zip(pair.now) {
                    *x = 2.0 * now.abs() + x.abs();
                }
            }
            sum.iter_mut().zip(&jacobian).for_each(|(sum, x)| *sum += x.abs());
            constant += norm_squared(&value).sqrt();
        }
        let share = 1.0 / looked.max(1) as f64;
        for row in sum.chunks_exact(d.max(1)) {
            squares.iter_mut().zip(row).for_each(|(square, x)| *square += (x * share).powi(2));
        }
        offsets += (constant * share).powi(2);
    }
    let margin = if whole { 1.0 } else { MARGIN_OF_SAMPLE };
    for (column, square) in columns.iter_mut().zip(&squares) {
        *column = column.max(margin * (square / terms as f64).sqrt());
    }
    offset = f64::max(offset, margin * (offsets / terms as f64).sqrt());
    (columns, offset)
}

/// The mean sizes of the entries of the only term, and of its offsets.
fn sizes_of_entries(f: &dyn Inner) -> Vec<f64> {
    let (d, ell, pairs) = (f.d(), f.ell(), f.n_y(0));
    if let Some(given) = f.projected_rows().filter(|_| f.facts().roundings > 0) {
        return precise::sizes_of_moments(&given);
    }
    if let Some(given) = f.projected_rows().filter(|_| pairs * ell * d <= MOST_NUMBERS) {
        // Differences of features and terms of traces may cancel.
        return precise::sizes_of_products(&given);
    }
    let looked = pairs.min(MOST_NUMBERS / (ell * d).max(1)).max(1);
    let origin = vec![0.0; d];
    let (mut value, mut work, mut jacobian) = (vec![0.0; ell], vec![0.0; ell], vec![0.0; ell * d]);
    let mut sizes = vec![0.0; ell * (d + 1)];
    for k in 0..looked {
        let j = k * pairs / looked;
        f.value(&origin, 0, j, &mut value);
        f.jacobian(&origin, 0, j, &mut work, &mut jacobian);
        for (c, sizes) in sizes.chunks_exact_mut(d + 1).enumerate() {
            let row = jacobian[c * d..(c + 1) * d].iter().chain([&value[c]]);
            sizes.iter_mut().zip(row).for_each(|(size, x)| *size += x.abs() / looked as f64);
        }
    }
    sizes
}

/// Of columns, from those of their entries.
fn sizes_of_columns(entries: &[f64], d: usize) -> Vec<f64> {
    let mut squares = vec![0.0; d];
    for row in entries.chunks_exact(d + 1) {
        squares.iter_mut().zip(row).for_each(|(sum, size)| *sum += size * size);
    }
    squares.into_iter().map(f64::sqrt).collect()
}

fn sizes_of_rows(averages: &Collapsed) -> (Vec<f64>, f64) {
    let share = 1.0 / averages.n_x() as f64;
    let columns = averages.mean_squares().iter().map(|square| square.sqrt()).collect();
    (columns, (long::norm_squared(averages.offsets()) * share).sqrt())
}

/// `((1/n) sum w_r^2)^(1/2)`
pub(crate) fn mean_square(w: &[f64], n_x: usize) -> f64 {
    (long::norm_squared(w) / n_x as f64).sqrt()
}

//! Gram matrices of linear predictors: what second-order methods and exact bounds are made of.
//!
//! A symmetric product of rank n is computed on and below its diagonal: dense rows by tiles that
//! stay in registers, sparse ones by scattered sums. Groups of rows and strips of the result are
//! shared out to the threads; partial sums are added up in the order of the groups.

use self::dense::{DataRows, Pack};
use crate::linalg::vector::update_with;
use crate::model::collapse::{Collapsed, Row};
use crate::model::inner::Inner;
use crate::model::row_data::RowData;

mod cuts;
mod dense;
mod sparse;

/// Rows of which more than one number in this many is not zero are multiplied as if they were
/// dense: a scattered product takes about so much longer.
const SCATTERED_COST: usize = 8;

/// The weight of row r. Through a pointer, so that a Gram matrix is compiled once and not for every
/// kind of weights.
pub type Weight<'a> = dyn Fn(usize) -> f64 + Sync + 'a;

/// `sum_r weight(r) a_r a_r'` over all rows of `f`, where row `r = i ell + c` is coordinate c of
/// term i; d rows of length d.
pub fn weighted(f: &Collapsed, weight: &Weight<'_>) -> Vec<f64> {
    let (n, d) = (f.n_x() * f.ell(), f.d());
    if let Some(rows) = f.data() {
        return of_data(d, rows, None, weight);
    }
    let data = Sparse(f);
    if f.numbers() * SCATTERED_COST > n * d {
        return cuts::fill(
            n,
            d,
            #[inline(always)]
            |rows, strip, out| dense::add(d, &data, rows, strip, weight, out),
        );
    }
    cuts::fill(
        n,
        d,
        #[inline(always)]
        |rows, strip, out| {
            sparse::add(d, rows, strip, weight, |r| data.columns_and_values(r), out);
        },
    )
}

/// [`weighted`] for dense rows of length d at hand.
///
/// # Panics
/// Unless all rows are whole.
pub fn of_rows(d: usize, rows: &[f64], weight: &Weight<'_>) -> Vec<f64> {
    let n = rows.len() / d.max(1);
    assert_eq!(n * d, rows.len(), "rows of length {d}");
    let data = dense::Contiguous { d, rows };
    cuts::fill(
        n,
        d,
        #[inline(always)]
        |rows, strip, out| dense::add(d, &data, rows, strip, weight, out),
    )
}

/// [`of_rows`] for rows `a_r - center`, which are made a few at a time: `sum a_r a_r' - n center
/// center'` would lose the digits of rows that vary little.
///
/// # Panics
/// Unless all rows are whole.
pub fn of_centred_rows(d: usize, rows: &[f64], center: &[f64], weight: &Weight<'_>) -> Vec<f64> {
    let n = rows.len() / d.max(1);
    assert!(n * d == rows.len() && center.len() == d, "rows of length {d}");
    let data = dense::Centred { rows: dense::Contiguous { d, rows }, center };
    cuts::fill(
        n,
        d,
        #[inline(always)]
        |rows, strip, out| dense::add(d, &data, rows, strip, weight, out),
    )
}

/// [`of_rows`], or [`of_centred_rows`] where there is a center, for rows that may be read when they
/// are looked at.
pub(crate) fn of_data(
    d: usize,
    data: &RowData,
    center: Option<&[f64]>,
    weight: &Weight<'_>,
) -> Vec<f64> {
    let read = match (data.held(), center) {
        (Some(rows), Some(center)) => return of_centred_rows(d, rows, center, weight),
        (Some(rows), None) => return of_rows(d, rows, weight),
        (None, _) => dense::Read { d, data, center },
    };
    cuts::fill(
        data.len() / d.max(1),
        d,
        #[inline(always)]
        |rows, strip, out| dense::add(d, &read, rows, strip, weight, out),
    )
}

/// The diagonal of [`weighted`] without the rest.
pub fn weighted_diagonal(f: &Collapsed, weight: &Weight<'_>) -> Vec<f64> {
    let mut diagonal = vec![0.0; f.d()];
    f.blocks(true).add(
        1.0,
        &mut diagonal,
        #[inline(always)]
        |terms, partial| {
            for r in terms.start * f.ell()..terms.end * f.ell() {
                let weight = weight(r);
                f.with_row(
                    r / f.ell(),
                    r % f.ell(),
                    #[inline(always)]
                    |row| match row {
                        Row::Dense(a) => update_with(partial, a, |sum, a| sum + weight * a * a),
                        Row::Sparse(columns, a) => {
                            for (l, a) in columns.iter().zip(a) {
                                partial[*l as usize] += weight * a * a;
                            }
                        }
                    },
                );
            }
        },
    );
    diagonal
}

/// `(1/n_X) sum_r |a_rl w_r|` for every l.
pub fn sizes_of_sum(f: &Collapsed, w: &[f64]) -> Vec<f64> {
    let mut sizes = vec![0.0; f.d()];
    f.blocks(true).add(1.0 / f.n_x() as f64, &mut sizes, |terms, partial| {
        let own = terms.start * f.ell()..terms.end * f.ell();
        for (r, w) in own.clone().zip(&w[own]) {
            f.with_row(r / f.ell(), r % f.ell(), |row| match row {
                Row::Dense(a) => update_with(partial, a, |sum, a| sum + (a * w).abs()),
                Row::Sparse(columns, a) => {
                    for (l, a) in columns.iter().zip(a) {
                        partial[*l as usize] += (a * w).abs();
                    }
                }
            });
        }
    });
    sizes
}

/// `matrix += share diag(matrix)`, whatever the units of the coordinates; where the diagonal is 0,
/// as much of its mean, or of `otherwise` if all of it is.
pub fn add_ridge(share: f64, otherwise: f64, d: usize, matrix: &mut [f64]) {
    let mean = matrix.iter().step_by(d + 1).sum::<f64>() / d.max(1) as f64;
    let least = if mean > 0.0 { mean } else { otherwise };
    for entry in matrix.iter_mut().step_by(d + 1) {
        *entry += share * if *entry > 0.0 { *entry } else { least };
    }
}

/// c for which `c 1 1'` is of the size of the matrix along the ones, in units in which its diagonal
/// is 1: `1 / sum_l (1 / M_ll)`. Added within a budget `sum_l p_l = 0`, along which it is nothing,
/// it makes up for what the matrix lacks across.
pub fn size_across(d: usize, matrix: &[f64]) -> f64 {
    let inverse: f64 =
        matrix.iter().step_by(d + 1).filter(|entry| **entry > 0.0).map(|entry| 1.0 / entry).sum();
    if inverse > 0.0 && inverse.is_finite() { 1.0 / inverse } else { 1.0 }
}

/// Predictors whose rows are sparse.
struct Sparse<'f>(&'f Collapsed);

impl Sparse<'_> {
    #[inline(always)]
    fn columns_and_values(&self, r: usize) -> (&[u32], &[f64]) {
        let ell = self.0.ell();
        match self.0.row(r / ell, r % ell) {
            Row::Sparse(columns, values) => (columns, values),
            Row::Dense(_) => unreachable!("all rows are sparse, or none"),
        }
    }
}

impl DataRows for Sparse<'_> {
    #[inline(always)]
    fn pack(&self, r: usize, weight: f64, l: usize, packed: &mut impl Pack, scratch: &mut [f64]) {
        scratch.fill(0.0);
        let (columns, values) = self.columns_and_values(r);
        for (l, value) in columns.iter().zip(values) {
            scratch[*l as usize] = *value;
        }
        packed.set(l, weight, (scratch, scratch), |x, _| x);
    }

    #[inline(always)]
    fn prefetch(&self, _: usize, _: usize) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Stream;
    use crate::model::collapse::SparseRows;

    #[test]
    fn dense_and_sparse_rows_give_the_sum_of_outer_products() {
        let rows = [[1.0, 2.0, 0.0], [0.0, -1.0, 3.0]];
        let weight = |r: usize| [2.0, 0.5][r];
        let mut expected = [0.0; 9];
        for (r, row) in rows.iter().enumerate() {
            for (k, entry) in expected.iter_mut().enumerate() {
                *entry += weight(r) * row[k / 3] * row[k % 3];
            }
        }
        let dense = Collapsed::from_rows(3, rows.concat(), vec![0.0; 2]);
        assert_eq!(weighted(&dense, &weight), expected);
        let sparse = SparseRows::new(3, vec![0, 2, 4], vec![0, 1, 1, 2], vec![1.0, 2.0, -1.0, 3.0]);
        let sparse = Collapsed::from_sparse_rows(sparse.expect("rising columns"), vec![0.0; 2]);
        for f in [&dense, &sparse] {
            assert_eq!(weighted_diagonal(f, &weight), [expected[0], expected[4], expected[8]]);
        }
        let mut matrix = weighted(&sparse, &weight);
        assert_eq!(matrix, expected);
        add_ridge(0.25, 1.0, 3, &mut matrix);
        assert_eq!(matrix[4], 1.25 * expected[4]);
        assert_eq!(size_across(2, &[2.0, 0.0, 0.0, 2.0]), 1.0);
        assert_eq!(sizes_of_sum(&dense, &[1.0, -1.0]), sizes_of_sum(&sparse, &[-1.0, 1.0]));
    }

    /// For sizes on both sides of every cut: one tile and many, one strip and many, one group and
    /// many.
    #[test]
    fn large_gram_matrices_are_the_plain_sums_on_any_number_of_threads() {
        for (n, d, kept) in [
            (0, 3, 1),
            (1, 1, 1),
            (5, 7, 1),
            (3000, 25, 1),
            (193, 50, 1),
            (1100, 200, 1),
            (1200, 401, 30),
            (1500, 60, 3),
        ] {
            let mut draws = Stream::new(d as u64, 0);
            let mut number = || if draws.index(kept) == 0 { draws.unit() - 0.4 } else { 0.0 };
            let rows: Vec<f64> = (0..n * d).map(|_| number()).collect();
            let weight = |r: usize| (r % 5) as f64 - 1.0;
            let f = if kept == 1 {
                Collapsed::from_rows(d, rows.clone(), vec![0.0; n])
            } else {
                sparse(d, &rows)
            };
            let on = |threads| {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .expect("a thread pool");
                pool.install(|| weighted(&f, &weight))
            };
            let matrix = on(1);
            // Of a large matrix every seventh entry, in all rows and columns.
            for k in (0..d * d).step_by(if d > 100 { 7 } else { 1 }) {
                let (mut plain, mut size) = (0.0, 0.0);
                for (r, row) in rows.chunks_exact(d).enumerate() {
                    let term = weight(r) * row[k / d] * row[k % d];
                    plain += term;
                    size += f64::abs(term);
                }
                assert!((matrix[k] - plain).abs() <= 1e-13 * size, "entry {k} of {n} x {d}");
            }
            for k in 0..d * d {
                assert_eq!(
                    matrix[k].to_bits(),
                    matrix[k % d * d + k / d].to_bits(),
                    "symmetric, {n} x {d}"
                );
            }
            assert_eq!(matrix, on(3), "{n} x {d}");
        }
    }

    /// Of columns a million times as far from 0 as they spread, for every width of narrow rows,
    /// with and without weights: nothing but the rounding of deviations and sums is lost.
    #[test]
    fn centred_rows_far_from_zero_lose_no_digits() {
        use crate::linalg::precise::Double;
        for d in (1..=33).chain([50, 100]) {
            let (n, mut draws) = (230, Stream::new(d as u64, 1));
            let rows: Vec<f64> =
                (0..n * d).map(|k| 1e6 * (1 + k % d) as f64 + draws.unit()).collect();
            let center: Vec<f64> = (0..d).map(|l| 1e6 * (1 + l) as f64 + 0.5).collect();
            for weight in [|_: usize| 1.0, |r: usize| [2.0, 0.0, 0.5][r % 3]] {
                let matrix = of_centred_rows(d, &rows, &center, &weight);
                for (j, k) in (0..d).flat_map(|j| (0..=j).map(move |k| (j, k))) {
                    let (mut sum, mut size) = (Double::ZERO, 0.0);
                    for (r, row) in rows.chunks_exact(d).enumerate() {
                        let apart = |l: usize| Double::sum(row[l], -center[l]);
                        let product = apart(j) * apart(k) * Double::from(weight(r));
                        (sum, size) = (sum + product, size + product.value().abs());
                    }
                    let off = (matrix[j * d + k] - sum.value()).abs();
                    assert!(off <= (n as f64 + 4.0) * 0.5 * f64::EPSILON * size, "{d}: {j}, {k}");
                    assert_eq!(matrix[j * d + k].to_bits(), matrix[k * d + j].to_bits());
                }
            }
        }
    }

    fn sparse(d: usize, rows: &[f64]) -> Collapsed {
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in rows.chunks_exact(d) {
            for (l, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                columns.push(l as u32);
                values.push(*x);
            }
            starts.push(values.len());
        }
        let offsets = vec![0.0; starts.len() - 1];
        Collapsed::from_sparse_rows(
            SparseRows::new(d, starts, columns, values).expect("rising columns"),
            offsets,
        )
    }
}

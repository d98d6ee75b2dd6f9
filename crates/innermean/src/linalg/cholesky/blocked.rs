//! Factors block column by block column: the trailing submatrix is updated by tiles,
//! in parallel where it pays.

use rayon::prelude::*;

use super::{NotPositiveDefinite, ROUNDING};
use crate::linalg::vector::{
    HEIGHT, Panels, Places, Tile, WIDTH, dispatch, dot, tile, tiles, update_with,
};

/// Columns of a block: tiles run along this many terms.
const BLOCK: usize = 64;
/// Rows of the trailing submatrix that go to a thread at once.
const STRIP: usize = 8 * HEIGHT;

/// From this d on threads share the rows.
const WORTH_THREADS: usize = 256;

/// Turns a matrix, of which the part on and below the diagonal counts, into L; what lies above the
/// diagonal is zero after it. Before each block `ends` may give it up.
pub(super) fn factor(
    l: &mut [f64],
    d: usize,
    ends: &(dyn Fn() -> bool + Sync),
) -> Result<(), NotPositiveDefinite> {
    if d < WORTH_THREADS {
        return factor_on::<false>(l, d, ends);
    }
    // Inside the threads' pool once and for all: to enter it takes longer than some of the passes.
    rayon::scope(|_| factor_on::<true>(l, d, ends))
}

fn factor_on<const THREADS: bool>(
    l: &mut [f64],
    d: usize,
    ends: &(dyn Fn() -> bool + Sync),
) -> Result<(), NotPositiveDefinite> {
    let diagonal: Vec<f64> = (0..d).map(|r| l[r * d + r]).collect();
    for first in (0..d).step_by(BLOCK) {
        if ends() {
            return Err(NotPositiveDefinite { row: first, d });
        }
        let end = d.min(first + BLOCK);
        let (head, below) = l.split_at_mut(end * d);
        let block = &mut head[first * d..];
        dispatch(
            #[inline(always)]
            || factor_block(block, d, first, &diagonal),
        )?;
        if end < d {
            let (panels, triangles) = transposed(block, d, first);
            for_strips::<THREADS>(
                below,
                d,
                #[inline(always)]
                |_, rows| divide(rows, d, first, &panels, &triangles),
            );
            update::<THREADS>(below, d, first);
        }
    }
    for (r, row) in l.chunks_exact_mut(d.max(1)).enumerate() {
        row[r + 1..].fill(0.0);
    }
    Ok(())
}

/// The block on the diagonal, row by row, from column `first` on: what lies to the left has been
/// subtracted.
#[inline(always)]
fn factor_block(
    block: &mut [f64],
    d: usize,
    first: usize,
    diagonal: &[f64],
) -> Result<(), NotPositiveDefinite> {
    for k in 0..block.len() / d {
        let (above, rest) = block.split_at_mut(k * d);
        let row = &mut rest[first..d];
        for (c, other) in above.chunks_exact(d).enumerate() {
            // L_rc = (M_rc - sum_{k < c} L_rk L_ck) / L_cc
            let other = &other[first..];
            row[c] = (row[c] - dot(&row[..c], &other[..c])) / other[c];
        }
        // L_rr^2 = M_rr - sum_{k < r} L_rk^2
        let pivot = row[k] - dot(&row[..k], &row[..k]);
        if !(pivot > ROUNDING * d as f64 * diagonal[first + k] && pivot.is_finite()) {
            return Err(NotPositiveDefinite { row: first + k, d });
        }
        row[k] = pivot.sqrt();
    }
    Ok(())
}

/// A triangle on the diagonal of a block: its columns below the diagonal, and what to multiply with
/// instead of dividing by the diagonal.
struct Triangle {
    columns: [[f64; WIDTH]; WIDTH],
    inverse: [f64; WIDTH],
}

/// The block on the diagonal as the right factor of products with its transpose, and the triangles
/// that these leave out. Only whole triangles: nothing comes below a block that is not.
fn transposed(block: &[f64], d: usize, first: usize) -> (Panels, Vec<Triangle>) {
    let mut panels = Panels::zeros(BLOCK, BLOCK);
    let mut column = [0.0; BLOCK];
    for l in 0..BLOCK {
        for (c, entry) in column.iter_mut().enumerate() {
            *entry = if c >= l { block[c * d + first + l] } else { 0.0 };
        }
        panels.set(l, &column);
    }
    let triangles = (0..BLOCK).step_by(WIDTH).map(|t| {
        let entry = |r: usize, c: usize| block[(t + r) * d + first + t + c];
        Triangle {
            columns: std::array::from_fn(|l| {
                std::array::from_fn(|r| if r > l { entry(r, l) } else { 0.0 })
            }),
            inverse: std::array::from_fn(|l| 1.0 / entry(l, l)),
        }
    });
    (panels, triangles.collect())
}

/// `rows <- rows L'^-1` in the columns of a block, eight of them at a time: what earlier columns
/// contribute is subtracted by tiles, then a triangle remains.
#[inline(always)]
fn divide(rows: &mut [f64], d: usize, first: usize, panels: &Panels, triangles: &[Triangle]) {
    let mut left = [0.0; HEIGHT * BLOCK];
    for rows in rows.chunks_mut(HEIGHT * d) {
        for (p, triangle) in triangles.iter().enumerate() {
            let sums = tile(p * WIDTH, &left, Places::of_rows(BLOCK), panels.panel(p));
            for (i, row) in rows.chunks_exact_mut(d).enumerate() {
                let own = &mut row[first + p * WIDTH..first + (p + 1) * WIDTH];
                let mut x: [f64; WIDTH] = std::array::from_fn(|j| own[j] - sums[i][j]);
                for l in 0..WIDTH {
                    x[l] *= triangle.inverse[l];
                    let x_l = -x[l];
                    for (x, entry) in x.iter_mut().zip(&triangle.columns[l]) {
                        *x = entry.mul_add(x_l, *x);
                    }
                }
                own.copy_from_slice(&x);
                left[i * BLOCK + p * WIDTH..i * BLOCK + (p + 1) * WIDTH].copy_from_slice(&x);
            }
        }
    }
}

/// `M_rc -= sum over the block's columns k of L_rk L_ck` for all rows below the block and columns
/// to its right, up to the diagonal.
fn update<const THREADS: bool>(below: &mut [f64], d: usize, first: usize) {
    let (end, n) = (first + BLOCK, below.len() / d);
    // The block's columns, both as rows for the left and as panels for the right. Rows beyond the
    // last are zeros.
    let mut left = vec![0.0; n.next_multiple_of(HEIGHT) * BLOCK];
    for (left, row) in left.chunks_exact_mut(BLOCK).zip(below.chunks_exact(d)) {
        left.copy_from_slice(&row[first..end]);
    }
    let mut right = Panels::zeros(n, BLOCK);
    let mut column = vec![0.0; n];
    for l in 0..BLOCK {
        for (entry, row) in column.iter_mut().zip(left.chunks_exact(BLOCK)) {
            *entry = row[l];
        }
        right.set(l, &column);
    }
    for_strips::<THREADS>(
        below,
        d,
        #[inline(always)]
        |r, rows| {
            let count = rows.len() / d;
            let panels = (r + count).div_ceil(WIDTH);
            for q in (0..panels).step_by(2) {
                // Tiles that lie above the diagonal as a whole are left out.
                for p in (0..count).step_by(HEIGHT).filter(|p| r + p + HEIGHT > q * WIDTH) {
                    let own = &left[(r + p) * BLOCK..];
                    let places = Places::of_rows(BLOCK);
                    let mut subtract = |q: usize, sums: &Tile| {
                        for (row, sums) in rows[p * d..].chunks_exact_mut(d).zip(sums) {
                            let columns = end + q * WIDTH..d.min(end + (q + 1) * WIDTH);
                            update_with(&mut row[columns], sums, |entry, sum| entry - sum);
                        }
                    };
                    if q + 1 < panels && r + p + HEIGHT > (q + 1) * WIDTH {
                        let right = [right.panel(q), right.panel(q + 1)];
                        let [one, two] = tiles(BLOCK, own, places, right, |_| ());
                        subtract(q, &one);
                        subtract(q + 1, &two);
                    } else {
                        subtract(q, &tile(BLOCK, own, places, right.panel(q)));
                    }
                }
            }
        },
    );
}

/// `work(first of them, rows)` for strips of the rows, on as many threads as that is worth: an
/// entry does not depend on the others.
fn for_strips<const THREADS: bool>(
    below: &mut [f64],
    d: usize,
    work: impl Fn(usize, &mut [f64]) + Sync,
) {
    let strip = |(s, rows): (usize, &mut [f64])| {
        dispatch(
            #[inline(always)]
            || work(s * STRIP, rows),
        );
    };
    if THREADS {
        below.par_chunks_mut(STRIP * d).enumerate().with_max_len(1).for_each(strip);
    } else {
        below.chunks_mut(STRIP * d).enumerate().for_each(strip);
    }
}

//! The product of narrow rows with themselves: the lower triangle of a matrix, in strips of columns
//! from the diagonal down, whose sums stay in registers.
//!
//! Tiles of six rows and eight columns compute twice what a triangle of 25 columns has; strips of
//! four columns a tenth more, and strips of eight a fourth, by half as many instructions.

/// Rows are that many numbers long, or a multiple: a strip of any width can be read.
pub(crate) const STRIP: usize = 8;
/// Sums of a piece of a strip, or of two strips side by side.
const MOST: usize = 26 * 8;

type Sums = [f64; MOST];

/// How wide strips are, and how many vectors of sums a piece has at most: with a vector of the
/// right factor for each strip and a number of the left one they fill the registers.
#[derive(Debug, Clone, Copy)]
struct Shape {
    strip: usize,
    vectors: usize,
}

const OF_FOUR: Shape = Shape { strip: 4, vectors: 13 };
#[cfg(target_arch = "x86_64")]
const OF_EIGHT: Shape = Shape { strip: 8, vectors: 25 };

/// Some rows of one strip, or of two side by side.
#[derive(Debug, Clone, Copy)]
struct Piece {
    from: usize,
    to: usize,
    column: usize,
    strips: usize,
}

/// Two factors, `depth` rows of `stride` numbers each, one after the other.
#[derive(Debug, Clone, Copy)]
struct Factors<'f> {
    depth: usize,
    stride: usize,
    left: &'f [f64],
    right: &'f [f64],
}

/// Adds `sum_l left_l right_l'` over `l < depth` to what is on and below the diagonal of `out`, `d`
/// rows of d; what is above it may change. The factors have rows of `d.next_multiple_of(STRIP)`
/// numbers, those behind d zeros. Every sum runs from 0 in the order of l, one fused multiply-add
/// after the other: the bits are those of a plain loop.
///
/// # Panics
/// If a factor or `out` is too short.
#[inline(always)]
pub(crate) fn add_triangle(
    depth: usize,
    d: usize,
    (left, right): (&[f64], &[f64]),
    out: &mut [f64],
) {
    let stride = d.next_multiple_of(STRIP);
    assert!(left.len() >= depth * stride && right.len() >= depth * stride, "{depth} rows");
    let factors = Factors { depth, stride, left, right };
    let shape = shape();
    let mut column = 0;
    while column < d {
        let below = d - column;
        let is_short = below > shape.strip && 2 * below <= shape.vectors;
        let strips = if is_short { 2 } else { 1 };
        let width = strips * shape.strip;
        let pieces = (below * strips).div_ceil(shape.vectors);
        for piece in 0..pieces {
            let [from, to] = [piece, piece + 1].map(|k| column + k * below / pieces);
            let mut sums = [0.0; MOST];
            add_sums(factors, Piece { from, to, column, strips }, &mut sums);
            for (r, sums) in (from..to).zip(sums.chunks_exact(width)) {
                let own = &mut out[r * d + column..r * d + d.min(column + width)];
                own.iter_mut().zip(sums).for_each(|(out, sum)| *out += sum);
            }
        }
        column += width;
    }
}

/// What suits the CPU.
fn shape() -> Shape {
    #[cfg(target_arch = "x86_64")]
    if super::avx512::available().is_some() {
        return OF_EIGHT;
    }
    OF_FOUR
}

/// Those of a piece, row by row.
fn add_sums(factors: Factors<'_>, piece: Piece, sums: &mut Sums) {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(cpu) = super::avx512::available() {
            return avx512::sums(cpu, factors, piece, sums);
        }
        if let Some(cpu) = super::avx2::available() {
            return avx2::sums(cpu, factors, piece, sums);
        }
    }
    plain(factors, piece, OF_FOUR.strip, sums);
}

fn plain(factors: Factors<'_>, piece: Piece, strip: usize, sums: &mut Sums) {
    let Factors { depth, stride, left, right } = factors;
    let Piece { from, to, column, strips } = piece;
    for l in 0..depth {
        let right = &right[l * stride + column..(l + 1) * stride];
        for (r, sums) in (from..to).zip(sums.chunks_exact_mut(strips * strip)) {
            let left = left[l * stride + r];
            for (sum, right) in sums.iter_mut().zip(right) {
                *sum = left.mul_add(*right, *sum);
            }
        }
    }
}

/// The kernels of one width.
#[cfg(target_arch = "x86_64")]
macro_rules! kernels {
    (
        $room:ident, $cpu:ident, $features:literal, $width:literal, $set:ident, $load:ident,
        $store:ident, $zero:ident, $add:ident, $one:tt, $two:tt
    ) => {
        mod $room {
            #![expect(
                unsafe_code,
                reason = "vector loads, and calls that are sound because the CPU was asked"
            )]

            use std::arch::x86_64::{$add, $load, $set, $store, $zero};

            use super::{Factors, Piece, Sums};
            use crate::linalg::vector::$room::$cpu;

            /// Sums of R rows and V strips.
            #[target_feature(enable = $features)]
            fn piece<const R: usize, const V: usize>(
                factors: Factors<'_>,
                from: usize,
                column: usize,
                out: &mut Sums,
            ) {
                let Factors { depth, stride, left, right } = factors;
                assert!(from + R <= stride && column + V * $width <= stride);
                assert!(R * V * $width <= out.len());
                assert!(left.len() >= depth * stride && right.len() >= depth * stride);
                let mut sums = [[$zero(); V]; R];
                for l in 0..depth {
                    // SAFETY: row l lies within both factors, and what is read of it within the
                    // row.
                    unsafe {
                        let left = left.as_ptr().add(l * stride + from);
                        let right = right.as_ptr().add(l * stride + column);
                        let mut numbers = [$zero(); V];
                        for v in 0..V {
                            numbers[v] = $load(right.add(v * $width));
                        }
                        for i in 0..R {
                            let factor = $set(*left.add(i));
                            for v in 0..V {
                                sums[i][v] = $add(factor, numbers[v], sums[i][v]);
                            }
                        }
                    }
                }
                for i in 0..R {
                    for v in 0..V {
                        // SAFETY: there are numbers for R times V vectors.
                        unsafe { $store(out.as_mut_ptr().add((i * V + v) * $width), sums[i][v]) }
                    }
                }
            }

            pub(super) fn sums(_: $cpu, factors: Factors<'_>, own: Piece, out: &mut Sums) {
                let Piece { from, to, column, strips } = own;
                // SAFETY: the CPU has the features, as its proof says.
                unsafe {
                    kernels! {
                        choose piece, (factors, from, column, out), (strips, to - from), $one, $two
                    }
                }
            }
        }
    };
    (choose $piece:ident, $arguments:tt, $sizes:expr, [$($one:literal)*], [$($two:literal)*]) => {
        match $sizes {
            $((1, $one) => kernels!(call $piece, $one, 1, $arguments),)*
            $((2, $two) => kernels!(call $piece, $two, 2, $arguments),)*
            (strips, rows) => unreachable!("{rows} rows of {strips} strips"),
        }
    };
    (call $piece:ident, $rows:literal, $strips:literal, ($($argument:expr),*)) => {
        $piece::<$rows, $strips>($($argument),*)
    };
}

#[cfg(target_arch = "x86_64")]
kernels! {
    avx2, Avx2, "avx2,fma", 4, _mm256_set1_pd, _mm256_loadu_pd, _mm256_storeu_pd,
    _mm256_setzero_pd, _mm256_fmadd_pd, [1 2 3 4 5 6 7 8 9 10 11 12 13], [5 6]
}

#[cfg(target_arch = "x86_64")]
kernels! {
    avx512, Avx512, "avx512f", 8, _mm512_set1_pd, _mm512_loadu_pd, _mm512_storeu_pd,
    _mm512_setzero_pd, _mm512_fmadd_pd,
    [1 2 3 4 5 6 7 8 13 14 15 16 17 18 19 20 21 22 23 24 25], [9 10 11 12]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::vector::tests::on_every_path;

    #[test]
    fn a_triangle_is_bit_for_bit_the_plain_loop() {
        on_every_path(|| {
            for d in 1..=32_usize {
                let depth = [3, 1, 9, 64][d % 4];
                let stride = d.next_multiple_of(STRIP);
                let number = |seed: usize| {
                    move |k: usize| {
                        let is_behind = k % stride >= d;
                        if is_behind {
                            0.0
                        } else {
                            ((k * 7919 + seed) % 1000) as f64 / 137.0 - 3.0
                        }
                    }
                };
                let left: Vec<f64> = (0..depth * stride).map(number(d)).collect();
                let right: Vec<f64> = (0..depth * stride).map(number(d + 1)).collect();
                let mut out = vec![0.5; d * d];
                add_triangle(depth, d, (&left, &right), &mut out);
                for r in 0..d {
                    for c in 0..=r {
                        let term = |l: usize| (left[l * stride + r], right[l * stride + c]);
                        let sum = (0..depth).map(term).fold(0.0, |sum, (a, b)| a.mul_add(b, sum));
                        assert_eq!(out[r * d + c], 0.5 + sum, "{d}: {r}, {c}");
                    }
                }
            }
        });
    }
}

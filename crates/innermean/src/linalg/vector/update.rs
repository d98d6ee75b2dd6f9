//! Vectors that are written: axpy and its kin, number by number, without a sum.

#[cfg(target_arch = "x86_64")]
use super::avx2;
use super::{LANES, dispatch, plain};

/// `y_l <- map(y_l, [x_0[l], x_1[l], ...])` for all l, in blocks of eight, four, two and one, as
/// the sums read them: a load that covers a store only in part would wait until the store has
/// reached the cache. Left to itself the compiler unrolls such a loop so far that a vector of 25
/// falls through to its scalar end.
#[inline(always)]
fn update_from<const K: usize>(
    y: &mut [f64],
    streams: [&[f64]; K],
    map: impl Fn(f64, [f64; K]) -> f64,
) {
    #[cfg(target_arch = "x86_64")]
    match avx2::available() {
        Some(cpu) => avx2::with(
            cpu,
            #[inline(always)]
            || update_all(y, streams, map),
        ),
        None => update_one_by_one(y, streams, map),
    }
    #[cfg(not(target_arch = "x86_64"))]
    update_all(y, streams, map);
}

/// [`update_all`] on an old CPU. Out of line, as the kernels of `plain.rs`: it is compiled once for
/// each map, and not wherever one is inlined.
#[cfg(target_arch = "x86_64")]
#[cold]
#[inline(never)]
fn update_one_by_one<const K: usize>(
    y: &mut [f64],
    streams: [&[f64]; K],
    map: impl Fn(f64, [f64; K]) -> f64,
) {
    for stream in streams {
        assert!(stream.len() >= y.len(), "a vector is shorter than the one it is added to");
    }
    for (l, y) in y.iter_mut().enumerate() {
        let mut at_l = [0.0; K];
        for (x, stream) in at_l.iter_mut().zip(streams) {
            *x = stream[l];
        }
        *y = map(*y, at_l);
    }
}

#[inline(always)]
fn update_all<const K: usize>(
    y: &mut [f64],
    streams: [&[f64]; K],
    map: impl Fn(f64, [f64; K]) -> f64,
) {
    let n = y.len();
    for stream in streams {
        assert!(stream.len() >= n, "a vector is shorter than the one it is added to");
    }
    let whole = n - n % LANES;
    let mut l = 0;
    // SAFETY: every block ends at or before n, and no stream is shorter.
    #[expect(unsafe_code, reason = "checks in this loop would cost as much as its work")]
    unsafe {
        while l < whole {
            update_block::<8, K>(y, streams, l, &map);
            l += LANES;
        }
        if n & 4 != 0 {
            update_block::<4, K>(y, streams, l, &map);
            l += 4;
        }
        if n & 2 != 0 {
            update_block::<2, K>(y, streams, l, &map);
            l += 2;
        }
        if n & 1 != 0 {
            update_block::<1, K>(y, streams, l, &map);
        }
    }
}

/// The N numbers from l on. All of the block is read before any of it is written: then it need not
/// be known that the vectors lie apart.
///
/// # Safety
/// `l + N` is at most the length of y and of every stream.
#[inline(always)]
#[expect(unsafe_code, reason = "see `update_from`")]
unsafe fn update_block<const N: usize, const K: usize>(
    y: &mut [f64],
    streams: [&[f64]; K],
    l: usize,
    map: &impl Fn(f64, [f64; K]) -> f64,
) {
    // SAFETY: the caller has seen to it that the block lies within the slices; an array is aligned
    // like its numbers.
    unsafe {
        let y = y.as_mut_ptr().add(l).cast::<[f64; N]>();
        let mut new = *y;
        let mut x = [[0.0; N]; K];
        for (x, stream) in x.iter_mut().zip(streams) {
            *x = *stream.as_ptr().add(l).cast::<[f64; N]>();
        }
        for lane in 0..N {
            let mut at_lane = [0.0; K];
            for k in 0..K {
                at_lane[k] = x[k][lane];
            }
            new[lane] = map(new[lane], at_lane);
        }
        *y = new;
    }
}

/// `y_l <- map(y_l)` for all l.
#[inline(always)]
pub fn update(y: &mut [f64], map: impl Fn(f64) -> f64) {
    update_from(
        y,
        [],
        #[inline(always)]
        |y, []| map(y),
    );
}

/// `y_l <- map(y_l, x_l)` for all l.
///
/// # Panics
/// If x is shorter than y.
#[inline(always)]
pub fn update_with(y: &mut [f64], x: &[f64], map: impl Fn(f64, f64) -> f64) {
    update_from(
        y,
        [x],
        #[inline(always)]
        |y, [x]| map(y, x),
    );
}

/// [`update_with`] for loops inside [`dispatch`], of which it becomes a part: for the few numbers
/// of a tile, a call costs more than the work.
///
/// # Panics
/// If x is shorter than y.
#[inline(always)]
pub(crate) fn update_with_dispatched(y: &mut [f64], x: &[f64], map: impl Fn(f64, f64) -> f64) {
    update_all(
        y,
        [x],
        #[inline(always)]
        |y, [x]| map(y, x),
    );
}

/// `y_l <- map(y_l, a_l, b_l)` for all l.
///
/// # Panics
/// If a or b is shorter than y.
#[inline(always)]
pub fn update_with_both(y: &mut [f64], a: &[f64], b: &[f64], map: impl Fn(f64, f64, f64) -> f64) {
    update_from(
        y,
        [a, b],
        #[inline(always)]
        |y, [a, b]| map(y, a, b),
    );
}

/// `y += c x`
#[inline(always)]
pub fn axpy(c: f64, x: &[f64], y: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = avx2::available() {
        return avx2::axpy(cpu, c, x, y);
    }
    plain::axpy(c, x, y);
}

/// `y += c (a - b)`
#[inline(always)]
pub fn axpy_of_difference(c: f64, a: &[f64], b: &[f64], y: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = avx2::available() {
        return avx2::axpy_of_difference(cpu, c, a, b, y);
    }
    plain::axpy_of_difference(c, a, b, y);
}

/// `y += c x`, then `z += b y`, in one sweep: z does not wait for y to reach the cache and come
/// back.
///
/// # Panics
/// If x or z is shorter than y.
#[inline(always)]
pub fn axpy_axpy(c: f64, x: &[f64], y: &mut [f64], b: f64, z: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = avx2::available() {
        return avx2::axpy_axpy(cpu, c, x, y, b, z);
    }
    plain::axpy_axpy(c, x, y, b, z);
}

/// `(y_l, z_l) <- map(y_l, z_l, [x_0[l], x_1[l], ...])` for all l, in one sweep, block by block as
/// [`update`].
///
/// # Panics
/// If z or a stream is shorter than y.
#[inline(always)]
pub fn update_two<const K: usize>(
    y: &mut [f64],
    z: &mut [f64],
    streams: [&[f64]; K],
    map: impl Fn(f64, f64, [f64; K]) -> (f64, f64),
) {
    dispatch(
        #[inline(always)]
        || update_two_dispatched(y, z, streams, map),
    );
}

/// [`update_two`] for loops inside [`dispatch`], of which it becomes a part: at some 25 numbers, a
/// call costs as much as the sweep.
///
/// # Panics
/// If z or a stream is shorter than y.
#[inline(always)]
pub(crate) fn update_two_dispatched<const K: usize>(
    y: &mut [f64],
    z: &mut [f64],
    streams: [&[f64]; K],
    map: impl Fn(f64, f64, [f64; K]) -> (f64, f64),
) {
    let n = y.len();
    let z = &mut z[..n];
    let streams = streams.map(|stream| &stream[..n]);
    let whole = n - n % LANES;
    let mut l = 0;
    while l < whole {
        update_two_blocks::<8, K>(y, z, streams, l, &map);
        l += LANES;
    }
    if n & 4 != 0 {
        update_two_blocks::<4, K>(y, z, streams, l, &map);
        l += 4;
    }
    if n & 2 != 0 {
        update_two_blocks::<2, K>(y, z, streams, l, &map);
        l += 2;
    }
    if n & 1 != 0 {
        update_two_blocks::<1, K>(y, z, streams, l, &map);
    }
}

/// The N numbers from l on, read before any is written, as in [`update_block`].
#[inline(always)]
fn update_two_blocks<const N: usize, const K: usize>(
    y: &mut [f64],
    z: &mut [f64],
    streams: [&[f64]; K],
    l: usize,
    map: &impl Fn(f64, f64, [f64; K]) -> (f64, f64),
) {
    let block = l..l + N;
    let (mut new_y, mut new_z) = ([0.0; N], [0.0; N]);
    new_y.copy_from_slice(&y[block.clone()]);
    new_z.copy_from_slice(&z[block.clone()]);
    for lane in 0..N {
        let at_lane = streams.map(|stream| stream[l + lane]);
        (new_y[lane], new_z[lane]) = map(new_y[lane], new_z[lane], at_lane);
    }
    y[block.clone()].copy_from_slice(&new_y);
    z[block].copy_from_slice(&new_z);
}

//! The kernels of `vector.rs` in plain code, which says what all others must give, bit for bit.
//!
//! On x86-64 it is what an old CPU runs. There a call is kept out of the loops that take the other
//! way.

use super::{LANES, update_with, update_with_both};

/// Writes functions that are inlined unless they are the way that is not taken.
macro_rules! kernels {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? $body:block)*) => {
        $(
            $(#[$doc])*
            #[cfg_attr(target_arch = "x86_64", cold, inline(never))]
            #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
            pub(super) fn $name($($argument: $type),*) $(-> $result)? $body
        )*
    };
}

kernels! {
    fn dot(a: &[f64], b: &[f64]) -> f64 {
        lane_sum([a, b], |[a, b], sum| a.mul_add(b, sum))
    }

    fn dot_of_differences(a: &[f64], b: &[f64], p: &[f64], q: &[f64]) -> f64 {
        lane_sum([a, b, p, q], |[a, b, p, q], sum| (a - b).mul_add(p - q, sum))
    }

    fn dot_with_difference(a: &[f64], p: &[f64], q: &[f64]) -> f64 {
        lane_sum([a, p, q], |[a, p, q], sum| a.mul_add(p - q, sum))
    }

    fn sum(a: &[f64]) -> f64 {
        lane_sum([a], |[a], sum| sum + a)
    }

    fn axpy(c: f64, x: &[f64], y: &mut [f64]) {
        update_with(y, x, |y, x| x.mul_add(c, y));
    }

    fn axpy_of_difference(c: f64, a: &[f64], b: &[f64], y: &mut [f64]) {
        update_with_both(y, a, b, |y, a, b| (a - b).mul_add(c, y));
    }

    fn axpy_axpy(c: f64, x: &[f64], y: &mut [f64], b: f64, z: &mut [f64]) {
        update_with(y, x, |y, x| x.mul_add(c, y));
        update_with(&mut z[..y.len()], y, |z, y| y.mul_add(b, z));
    }

    fn sparse_dot(columns: &[u32], values: &[f64], x: &[f64]) -> f64 {
        sparse_lane_sum(columns, values, x)
    }

    fn sparse_axpy(c: f64, columns: &[u32], values: &[f64], y: &mut [f64]) {
        scatter(c, columns, values, y);
    }
}

/// A sum over l in lanes, l in lane `l % LANES`, where `add([streams_0[l], streams_1[l], ...],
/// sum)` is the sum of a lane with its next term.
#[inline(always)]
fn lane_sum<const K: usize>(streams: [&[f64]; K], add: impl Fn([f64; K], f64) -> f64) -> f64 {
    let n = streams[0].len();
    let streams = streams.map(|s| &s[..n]);
    let mut sum = [0.0; LANES];
    for l in 0..n {
        sum[l % LANES] = add(streams.map(|s| s[l]), sum[l % LANES]);
    }
    add_lanes(&sum)
}

/// Four lanes, so that the additions do not wait for each other.
#[inline(always)]
pub(super) fn sparse_lane_sum(columns: &[u32], values: &[f64], x: &[f64]) -> f64 {
    let mut sum = [0.0; 4];
    let (columns, more_columns) = columns.as_chunks::<4>();
    let (values, more_values) = values.as_chunks::<4>();
    for (columns, values) in columns.iter().zip(values) {
        for lane in 0..4 {
            sum[lane] = values[lane].mul_add(x[columns[lane] as usize], sum[lane]);
        }
    }
    for (lane, (column, value)) in more_columns.iter().zip(more_values).enumerate() {
        sum[lane] = value.mul_add(x[*column as usize], sum[lane]);
    }
    (sum[0] + sum[2]) + (sum[1] + sum[3])
}

/// `y += c a`, number by number.
#[inline(always)]
pub(super) fn scatter(c: f64, columns: &[u32], values: &[f64], y: &mut [f64]) {
    for (column, value) in columns.iter().zip(values) {
        let y = &mut y[*column as usize];
        *y = value.mul_add(c, *y);
    }
}

/// The sum of all lanes, in the order that suits halves of registers.
#[inline(always)]
fn add_lanes(sum: &[f64; LANES]) -> f64 {
    ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]))
}

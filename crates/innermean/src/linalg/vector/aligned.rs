//! Vectors that start at a line of the cache.
//!
//! Each inner step reads the theta that the one before has just written. The CPU hands such a value
//! over at once unless it straddles two lines of the cache, which in a vector that starts anywhere
//! half of the wide stores do: measured, a step of 25 numbers then takes up to twice as long.

#![expect(unsafe_code, reason = "lines seen as numbers")]

use std::ops::{Deref, DerefMut};
use std::slice;

use serde::{Deserialize, Serialize};

use super::LANES;

/// A line of the cache.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Line([f64; LANES]);

/// A vector of fixed length whose first number starts a line of the cache. It serialises like a
/// `Vec<f64>`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Vec<f64>", into = "Vec<f64>")]
pub struct Aligned {
    /// At least `len` numbers.
    lines: Vec<Line>,
    len: usize,
}

impl Aligned {
    /// This many zeros.
    pub fn zeros(len: usize) -> Self {
        Aligned { lines: vec![Line([0.0; LANES]); len.div_ceil(LANES)], len }
    }
}

impl From<&[f64]> for Aligned {
    fn from(values: &[f64]) -> Self {
        let mut aligned = Aligned::zeros(values.len());
        aligned.copy_from_slice(values);
        aligned
    }
}

impl From<Vec<f64>> for Aligned {
    fn from(values: Vec<f64>) -> Self {
        values.as_slice().into()
    }
}

impl From<Aligned> for Vec<f64> {
    fn from(aligned: Aligned) -> Self {
        aligned.to_vec()
    }
}

impl Deref for Aligned {
    type Target = [f64];

    #[inline(always)]
    fn deref(&self) -> &[f64] {
        // SAFETY: a line is just LANES numbers, so that the lines hold at least `len` numbers in a
        // row.
        unsafe { slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl DerefMut for Aligned {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [f64] {
        // SAFETY: as above.
        unsafe { slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_at_a_line_and_survives_moves_clones_and_files() {
        for len in [0, 1, 7, 8, 25, 1000] {
            let values: Vec<f64> = (0..len).map(f64::from).collect();
            let moved = Box::new(Aligned::from(values.as_slice()));
            let bytes = postcard::to_stdvec(&*moved).expect("serialises");
            let back: Aligned = postcard::from_bytes(&bytes).expect("and comes back");
            for aligned in [&*moved, &moved.clone(), &back] {
                assert_eq!(**aligned, *values);
                assert_eq!(aligned.as_ptr() as usize % 64, 0, "len = {len}");
            }
        }
    }
}

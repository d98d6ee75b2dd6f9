//! A hash of fixed definition: what a file holds must mean the same on every machine and in every
//! release.
//!
//! Two lanes of 64 bits. Each takes up a word by an exclusive or, a product with an odd number and
//! a shift, all of which can be undone: two inputs that differ in one word
//! alone never have the same hash. It tells whether files are damaged or differ, not whether one
//! is forged.

use crate::model::row_data::RowData;

/// A hash in the making.
#[derive(Debug, Clone, Copy)]
pub struct Hash {
    lanes: [u64; 2],
    words: u64,
}

/// Odd, and as good as random: the digits of the golden ratio and of the square root of 3.
const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xbb67_ae85_84ca_a73b];
const SHIFTS: [u32; 2] = [32, 29];

impl Default for Hash {
    fn default() -> Self {
        Hash { lanes: FACTORS, words: 0 }
    }
}

impl Hash {
    /// Takes up a word.
    #[inline(always)]
    pub fn word(&mut self, word: u64) {
        for ((lane, factor), shift) in self.lanes.iter_mut().zip(FACTORS).zip(SHIFTS) {
            *lane = (*lane ^ word).wrapping_mul(factor);
            *lane ^= *lane >> shift;
        }
        self.words = self.words.wrapping_add(1);
    }

    /// Takes up a number by its bits; all that are no numbers are alike.
    #[inline(always)]
    pub fn number(&mut self, x: f64) {
        self.word(if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() });
    }

    /// Takes up numbers and how many they are.
    pub fn numbers(&mut self, all: &[f64]) {
        self.word(all.len() as u64);
        for x in all {
            self.number(*x);
        }
    }

    /// Takes up the numbers of all rows of this width, as [`Self::numbers`] does.
    pub(crate) fn rows(&mut self, width: usize, rows: &RowData) {
        self.word(rows.len() as u64);
        rows.each_row(width, |_, row| row.iter().for_each(|x| self.number(*x)));
    }

    /// Takes up bytes and how many they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        let (words, rest) = bytes.as_chunks();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.word(u64::from_le_bytes(last));
    }

    /// The hash of all that was taken up.
    pub fn finish(mut self) -> u128 {
        self.word(self.words);
        // Each lane hears of the other.
        self.word(self.lanes[1]);
        (u128::from(self.lanes[0]) << 64) | u128::from(self.lanes[1])
    }

    /// The hash of bytes alone.
    pub fn of_bytes(bytes: &[u8]) -> u128 {
        let mut hash = Hash::default();
        hash.bytes(bytes);
        hash.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that was written once must be read for ever.
    #[test]
    fn the_definition_is_fixed() {
        assert_eq!(
            Hash::of_bytes(b"mean of means"),
            48_472_404_775_881_638_774_567_436_427_603_214_336
        );
    }

    #[test]
    fn every_bit_and_every_length_counts() {
        let text = *b"a loss of averages, hashed";
        let mut seen = vec![Hash::of_bytes(&text)];
        for bit in 0..8 * text.len() {
            let mut other = text;
            other[bit / 8] ^= 1 << (bit % 8);
            seen.push(Hash::of_bytes(&other));
        }
        seen.extend((0..text.len()).map(|end| Hash::of_bytes(&text[..end])));
        seen.push(Hash::of_bytes(b"a loss of averages, hashed\0"));
        let all = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), all);
    }

    #[test]
    fn zeros_have_signs_and_what_is_no_number_is_alike() {
        let of = |x: f64| {
            let mut hash = Hash::default();
            hash.number(x);
            hash.finish()
        };
        assert_ne!(of(0.0), of(-0.0));
        assert_eq!(of(f64::NAN), of(-f64::NAN));
    }
}

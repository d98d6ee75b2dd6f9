//! A sum over bytes that shows damage: no protection against anybody who means harm.

/// Rows in a leaf: each has a sum of its own.
pub(crate) const LEAF_ROWS: usize = 1 << 15;

const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// A sum over words of eight bytes, which may come in any pieces: four chains, for a product waits
/// for the one before it.
#[derive(Debug, Clone)]
pub(crate) struct Checksum {
    chains: [u64; 4],
    words: usize,
}

impl Default for Checksum {
    fn default() -> Self {
        Self { chains: [1, 2, 3, 4], words: 0 }
    }
}

fn mixed(chain: u64, word: [u8; 8]) -> u64 {
    (chain ^ u64::from_le_bytes(word)).wrapping_mul(ODD).rotate_left(29)
}

impl Checksum {
    /// Takes whole words; what is left behind them is filled up with zeros.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        // To the first chain, and then four words at a time.
        let (head, words) = words.split_at(words.len().min((4 - self.words % 4) % 4));
        for word in head {
            self.push(*word);
        }
        let (fours, last) = words.as_chunks::<4>();
        for four in fours {
            for (chain, word) in self.chains.iter_mut().zip(four) {
                *chain = mixed(*chain, *word);
            }
        }
        self.words += 4 * fours.len();
        for word in last {
            self.push(*word);
        }
        if !rest.is_empty() {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            self.push(word);
        }
    }

    fn push(&mut self, word: [u8; 8]) {
        let chain = &mut self.chains[self.words % 4];
        *chain = mixed(*chain, word);
        self.words += 1;
    }

    pub(crate) fn value(&self) -> u64 {
        let all = self
            .chains
            .iter()
            .fold(self.words as u64, |all, chain| mixed(all, chain.to_le_bytes()));
        all ^ (all >> 32)
    }

    /// Of bytes that are at hand.
    pub(crate) fn of(bytes: &[u8]) -> u64 {
        let mut sum = Self::default();
        sum.add(bytes);
        sum.value()
    }
}

/// The sums of leaves of rows that come one after the other.
#[derive(Debug, Default)]
pub(crate) struct LeafSums {
    /// Rows of the leaf that is not yet full.
    rows: usize,
    open: Checksum,
    pub(crate) sums: Vec<u64>,
}

impl LeafSums {
    /// Takes whole rows of so many bytes.
    pub(crate) fn add(&mut self, mut bytes: &[u8], row: usize) {
        while !bytes.is_empty() {
            let rows = (bytes.len() / row).min(LEAF_ROWS - self.rows);
            let (own, rest) = bytes.split_at(rows * row);
            self.open.add(own);
            (self.rows, bytes) = (self.rows + rows, rest);
            if self.rows == LEAF_ROWS {
                self.close();
            }
        }
    }

    /// Takes whole rows of so many numbers.
    pub(crate) fn add_numbers(&mut self, numbers: &[f64], width: usize) {
        let mut bytes = Vec::with_capacity(size_of_val(numbers));
        bytes.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
        self.add(&bytes, 8 * width);
    }

    /// The leaf that is not full is the last one.
    pub(crate) fn close(&mut self) {
        if self.rows > 0 {
            self.sums.push(std::mem::take(&mut self.open).value());
            self.rows = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_change_nothing_and_every_bit_counts() {
        let bytes: Vec<u8> = (0..8 * 41_u32).map(|k| (k * k % 251) as u8).collect();
        let whole = Checksum::of(&bytes);
        for cut in 0..=41 {
            let mut sum = Checksum::default();
            sum.add(&bytes[..8 * cut]);
            sum.add(&bytes[8 * cut..]);
            assert_eq!(sum.value(), whole, "cut at {cut}");
        }
        for bit in 0..8 * bytes.len() {
            let mut other = bytes.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(Checksum::of(&other), whole, "bit {bit}");
        }
        assert_ne!(Checksum::of(&bytes[..8 * 40]), whole);
        let mut swapped = bytes.clone();
        swapped.rotate_left(8);
        assert_ne!(Checksum::of(&swapped), whole);
    }

    #[test]
    fn leaves_are_those_of_the_whole_whatever_the_pieces() {
        let row = 16;
        let bytes: Vec<u8> = (0..row * (2 * LEAF_ROWS + 5)).map(|k| (k % 253) as u8).collect();
        let expected: Vec<u64> = bytes.chunks(row * LEAF_ROWS).map(Checksum::of).collect();
        for piece in [1, 700, LEAF_ROWS, 3 * LEAF_ROWS] {
            let mut sums = LeafSums::default();
            for part in bytes.chunks(piece * row) {
                sums.add(part, row);
            }
            sums.close();
            assert_eq!(sums.sums, expected, "pieces of {piece} rows");
        }
    }
}

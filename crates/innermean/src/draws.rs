//! Random indices: one numbered stream for each random variable of an algorithm.
//!
//! Draw number t of a stream is a function of (seed, stream, t) alone. So streams never disturb
//! each other (a method that skips a variable leaves the others unchanged), a run resumed from its
//! counters continues bit for bit, and indices can be drawn in blocks ahead of their use, which is
//! several times cheaper than one by one.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

/// Draws made at once.
const BLOCK: usize = 256;
/// This many of the next block are made as well, for those who look ahead.
const AHEAD_OF_BLOCK: usize = 8;
/// The generator counts 32-bit words; a draw takes two.
const WORDS_PER_DRAW: u128 = 2;

/// A stream of uniform draws, serialised as its three counters.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Position", into = "Position")]
pub struct Stream {
    position: Position,
    /// The block that holds draw `position.next`; at its first draw, to be drawn.
    block: [u64; BLOCK + AHEAD_OF_BLOCK],
}

/// The position of a stream.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Position {
    #[serde(with = "crate::run::checkpoint::shape::free")]
    seed: u64,
    #[serde(with = "crate::run::checkpoint::shape::free")]
    stream: u64,
    /// From one draw to the next where these are even, otherwise 0
    #[serde(with = "crate::run::checkpoint::shape::fixed")]
    step: u64,
    next: u64,
}

/// From one even draw to the next, in units of 2^-64: the fractional parts of the golden ratio and
/// of the roots of 2 and 3, of which no ratio is rational, so that pairs are even as well.
const STEPS: [u64; 3] = [0x9E37_79B9_7F4A_7C15, 0x6A09_E667_F3BC_C909, 0xBB67_AE85_84CA_A73B];

impl From<Position> for Stream {
    fn from(position: Position) -> Self {
        let mut stream = Stream { position, block: [0; BLOCK + AHEAD_OF_BLOCK] };
        stream.draw_block();
        stream
    }
}

impl From<Stream> for Position {
    fn from(stream: Stream) -> Self {
        stream.position
    }
}

impl Stream {
    /// The stream of that number under `seed`, at its beginning.
    pub fn new(seed: u64, stream: u64) -> Self {
        Position { seed, stream, step: 0, next: 0 }.into()
    }

    /// Draws that fill `[0, 1)` evenly, from a random one on (Weyl's sequence): n of them leave
    /// gaps of the order of 1/n, where independent ones leave some of `log n / n`. Streams with
    /// different `ratio < 3` are even together.
    pub fn even(seed: u64, stream: u64, ratio: usize) -> Self {
        Position { seed, stream, step: STEPS[ratio], next: 0 }.into()
    }

    /// A uniform 64-bit number.
    #[inline(always)]
    fn next(&mut self) -> u64 {
        let within = self.position.next as usize % BLOCK;
        if within == 0 {
            self.draw_block();
        }
        self.position.next += 1;
        self.block[within]
    }

    /// A uniform index below `n`, by the high word of a product; its bias is below n / 2^64.
    #[inline(always)]
    pub fn index(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// What [`Self::index`] will return at the call after the next `by` ones, for prefetching.
    /// Before the first draw of a block, and more than `AHEAD_OF_BLOCK` ahead, it is a guess.
    #[inline(always)]
    pub fn ahead(&self, by: usize, n: usize) -> usize {
        let within = (self.position.next as usize % BLOCK + by).min(BLOCK + AHEAD_OF_BLOCK - 1);
        ((u128::from(self.block[within]) * n as u128) >> 64) as usize
    }

    /// A uniform number in [0, 1), a multiple of 2^-53.
    #[inline(always)]
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    #[cold]
    #[inline(never)]
    fn draw_block(&mut self) {
        let Position { seed, stream, step, next } = self.position;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream);
        let first = next / BLOCK as u64 * BLOCK as u64;
        if step > 0 {
            let start = rng.next_u64();
            for (draw, t) in self.block.iter_mut().zip(first..) {
                *draw = t.wrapping_mul(step).wrapping_add(start);
            }
            return;
        }
        rng.set_word_pos(u128::from(first) * WORDS_PER_DRAW);
        let mut bytes = [0; size_of::<u64>() * (BLOCK + AHEAD_OF_BLOCK)];
        rng.fill_bytes(&mut bytes);
        for (draw, bytes) in self.block.iter_mut().zip(bytes.as_chunks().0) {
            *draw = u64::from_le_bytes(*bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_depends_on_seed_stream_and_position_alone() {
        let mut stream = Stream::new(7, 3);
        let first: Vec<u64> = (0..1000).map(|_| stream.next()).collect();
        for cut in [0, 1, 255, 256, 257, 700] {
            let mut start = Stream::new(7, 3);
            for _ in 0..cut {
                start.next();
            }
            let bytes = postcard::to_stdvec(&start).expect("a stream serialises");
            let mut resumed: Stream = postcard::from_bytes(&bytes).expect("and comes back");
            let rest: Vec<u64> = (cut..1000).map(|_| resumed.next()).collect();
            assert_eq!(rest, first[cut..], "resumed after {cut} draws");
        }
        let mut other = Stream::new(7, 4);
        assert!((0..1000).all(|t| other.next() != first[t]));
    }

    #[test]
    fn even_draws_fill_every_cell_alike_and_resume() {
        let mut streams = [0, 1, 2].map(|ratio| Stream::even(5, 2, ratio));
        let (mut counts, mut pairs) = ([[0_u32; 7]; 3], [0_u32; 35]);
        for _ in 0..70_000 {
            let [i, j, _] = [0, 1, 2].map(|k| {
                let i = streams[k].index(if k == 1 { 5 } else { 7 });
                counts[k][i] += 1;
                i
            });
            pairs[5 * i + j] += 1;
        }
        assert!([0, 2].iter().all(|&k| counts[k].iter().all(|c| c.abs_diff(10_000) < 5)));
        assert!(counts[1][..5].iter().all(|c| c.abs_diff(14_000) < 5), "{counts:?}");
        // Independent ones would be 45 apart, and the worst of 35 twice as far.
        assert!(pairs.iter().all(|c| c.abs_diff(2000) < 25), "{pairs:?}");
        let bytes = postcard::to_stdvec(&streams[0]).expect("a stream serialises");
        let mut resumed: Stream = postcard::from_bytes(&bytes).expect("and comes back");
        assert!((0..300).all(|_| resumed.next() == streams[0].next()));
        assert_ne!(Stream::even(6, 2, 0).next(), Stream::even(5, 2, 0).next());
    }

    #[test]
    fn indices_are_uniform_and_in_range() {
        let mut stream = Stream::new(1, 0);
        let mut counts = [0_u32; 7];
        for _ in 0..70_000 {
            counts[stream.index(7)] += 1;
        }
        // Each count is binomial with mean 10 000 and deviation 93: five of them.
        assert!(counts.iter().all(|&c| c.abs_diff(10_000) < 465), "{counts:?}");
        assert!((0..1000).all(|_| (0.0..1.0).contains(&stream.unit())));
        assert_eq!(stream.index(1), 0);
    }
}

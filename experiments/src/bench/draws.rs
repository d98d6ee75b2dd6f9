//! Random numbers for the data of cases: the same seed gives the same numbers.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A stream of numbers.
pub struct Draws(ChaCha8Rng);

impl Draws {
    /// Stream `number` of a seed.
    pub fn new(seed: u64, number: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(number);
        Draws(rng)
    }

    /// Uniform on [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Standard normal, nearly: the sum of 12 uniforms has variance one.
    pub fn normal(&mut self) -> f64 {
        let mut sum = 0_u64;
        for _ in 0..3 {
            let word = self.0.next_u64();
            sum += (word & 0xffff) + (word >> 16 & 0xffff) + (word >> 32 & 0xffff) + (word >> 48);
        }
        (sum as f64 - 6.0 * 65535.0) / 65536.0
    }

    /// A label of -1 or 1, the latter with the logistic probability at a score.
    pub fn label(&mut self, score: f64) -> f64 {
        if self.unit() * (1.0 + (-score).exp()) < 1.0 { 1.0 } else { -1.0 }
    }
}

//! Random points at which things are asked.

use super::CheckOptions;
use crate::draws::Stream;
use crate::model::inner::Inner;

/// Of the draws, far from those that the methods number from 0.
const STREAM: u64 = 3000;
/// A term with more samples is not averaged one by one.
pub(super) const MOST_SAMPLES: usize = 100_000;

/// Where to look.
pub(super) struct Points {
    stream: Stream,
    pub(super) tolerance: f64,
    scale: f64,
    centre: Vec<f64>,
    pairs: usize,
}

impl Points {
    pub(super) fn new(f: &dyn Inner, options: &CheckOptions) -> Self {
        Points {
            stream: Stream::new(options.seed, STREAM),
            tolerance: options.tolerance,
            scale: options.scale,
            centre: options.centre.clone().unwrap_or_else(|| vec![0.0; f.d()]),
            pairs: options.pairs.max(1),
        }
    }

    /// Between -1 and 1, and not near 0: a product with 0 would hide what is multiplied.
    pub(super) fn number(&mut self) -> f64 {
        let x = 2.0 * self.stream.unit() - 1.0;
        x + 0.25 * x.signum()
    }

    pub(super) fn vector(&mut self, len: usize) -> Vec<f64> {
        (0..len).map(|_| self.number()).collect()
    }

    pub(super) fn theta(&mut self) -> Vec<f64> {
        let scale = self.scale;
        let centre = self.centre.clone();
        centre.iter().map(|c| c + scale * self.number()).collect()
    }

    /// Some of `0..n`, the first and the last among them, each once.
    pub(super) fn some(&mut self, n: usize) -> Vec<usize> {
        let mut some: Vec<usize> =
            [0, n - 1].into_iter().chain((0..self.pairs).map(|_| self.stream.index(n))).collect();
        some.sort_unstable();
        some.dedup();
        some
    }

    /// Some pairs (i, j).
    pub(super) fn pairs(&mut self, f: &dyn Inner) -> Vec<(usize, usize)> {
        let terms = self.some(f.n_x());
        terms.into_iter().map(|i| (i, self.stream.index(f.n_y(i)))).collect()
    }
}

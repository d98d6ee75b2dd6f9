//! Which observations depend on each other, and the middle of the sandwich that follows.

use super::InferenceError;
use super::bread::GoOn;
use crate::linalg::blocks::Blocks;
use crate::linalg::gram;
use crate::linalg::vector::axpy;
use crate::setting::InvalidSetting;

/// Scores that are held at once where they are independent.
const CHUNK: usize = 1 << 12;

/// A partition of the observations: those of one cluster may depend on each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clusters {
    of: Vec<u32>,
    count: usize,
}

impl Clusters {
    /// Every one of `n` observations is a cluster of its own.
    pub fn singletons(n: usize) -> Self {
        Clusters { of: (0..n as u32).collect(), count: n }
    }

    /// From the cluster of each observation, numbered from 0.
    ///
    /// # Errors
    /// If a number below the largest has no member.
    pub fn new(of: Vec<u32>) -> Result<Self, InvalidSetting> {
        let count = of.iter().max().map_or(0, |largest| *largest as usize + 1);
        let mut seen = vec![false; count];
        for &c in &of {
            seen[c as usize] = true;
        }
        match seen.iter().position(|seen| !seen) {
            Some(c) => Err(InvalidSetting::new(
                "clusters",
                format!("no member of cluster {c}"),
                "consecutive numbers from 0",
            )),
            None => Ok(Clusters { of, count }),
        }
    }

    /// The cluster of each observation.
    pub fn of(&self) -> &[u32] {
        &self.of
    }

    /// The number of clusters.
    pub fn count(&self) -> usize {
        self.count
    }
}

/// How observations depend on each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dependence {
    /// Not at all: heteroskedasticity-robust errors.
    Independent,
    /// Within clusters, such as groups or episodes.
    Clustered(Clusters),
    /// Along their order, as in one time series: Newey and West's estimator (1987), with
    /// Bartlett's weight `1 - l/(lags + 1)` for the autocovariance at lag l.
    Serial {
        /// The largest lag that counts.
        lags: usize,
    },
}

/// Whether residuals, which are smaller than errors, are corrected for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Correction {
    /// No: HC0, and CR0 with clusters. Outside of linear regression, what statsmodels calls HC1 is
    /// this, too.
    None,
    /// By `n/(n - d)`, HC1; with c clusters by `c/(c - 1) (n - 1)/(n - d)`, CR1.
    SmallSample,
}

impl Dependence {
    /// # Panics
    /// Unless there is a cluster for each of `n` observations.
    pub(crate) fn assert_covers(&self, n: usize) {
        if let Dependence::Clustered(clusters) = self {
            assert_eq!(clusters.of.len(), n, "a cluster for each of {n} observations");
        }
    }

    /// Independent units among n observations.
    pub(crate) fn units(&self, n: usize) -> usize {
        match self {
            Dependence::Clustered(clusters) => clusters.count,
            _ => n,
        }
    }

    /// The factor of the covariance of d estimates from n observations.
    pub(crate) fn factor(
        &self,
        n: usize,
        d: usize,
        correction: Correction,
    ) -> Result<f64, InferenceError> {
        let units = self.units(n);
        if units < 2 || n <= d {
            return Err(InferenceError::TooFewUnits { units, d });
        }
        let (count, n, d) = (units as f64, n as f64, d as f64);
        Ok(match (correction, self) {
            (Correction::None, _) => 1.0,
            (_, Dependence::Clustered(_)) => count / (count - 1.0) * (n - 1.0) / (n - d),
            _ => n / (n - d),
        })
    }

    /// Degrees of freedom of Student's t for d estimates from n observations.
    pub(crate) fn degrees_of_freedom(&self, n: usize, d: usize) -> f64 {
        match self {
            Dependence::Clustered(clusters) => clusters.count as f64 - 1.0,
            _ => n as f64 - d as f64,
        }
    }

    /// `sum over pairs k, m of kappa_km s_k s_m'` with the scores that `add_score(k, out)` adds to
    /// `out`, and kappa 1 within clusters or Bartlett's weights; d rows of length d.
    pub(crate) fn sum_of_products(
        &self,
        n: usize,
        d: usize,
        add_score: &(dyn Fn(usize, &mut [f64]) + Sync),
        go_on: &GoOn<'_>,
    ) -> Result<Vec<f64>, InferenceError> {
        let scores = |first: usize, count: usize| {
            let mut rows = vec![0.0; count * d];
            Blocks::new(count, d * d).fill(d, &mut rows, |range, rows| {
                for (k, row) in range.zip(rows.chunks_exact_mut(d)) {
                    add_score(first + k, row);
                }
            });
            rows
        };
        let mut sum = vec![0.0; d * d];
        match self {
            Dependence::Independent => {
                for first in (0..n).step_by(CHUNK) {
                    go_on()?;
                    let rows = scores(first, CHUNK.min(n - first));
                    axpy(1.0, &gram::of_rows(d, &rows, &|_| 1.0), &mut sum);
                }
            }
            Dependence::Clustered(clusters) => {
                go_on()?;
                let mut rows = vec![0.0; clusters.count * d];
                for (k, &c) in clusters.of.iter().enumerate() {
                    add_score(k, &mut rows[c as usize * d..(c as usize + 1) * d]);
                }
                sum = gram::of_rows(d, &rows, &|_| 1.0);
            }
            Dependence::Serial { lags } => {
                // The sum of the scores in a window of `lags + 1`, squared and summed over all
                // windows, counts a pair at distance l `lags + 1 - l` times.
                let (rows, width) = (scores(0, n), lags + 1);
                let mut window = vec![0.0; d];
                let mut windows = Vec::with_capacity((n + lags) * d);
                for end in 0..n + lags {
                    if end < n {
                        axpy(1.0, &rows[end * d..(end + 1) * d], &mut window);
                    }
                    if end >= width {
                        let gone = end - width;
                        axpy(-1.0, &rows[gone * d..(gone + 1) * d], &mut window);
                    }
                    windows.extend_from_slice(&window);
                }
                sum = gram::of_rows(d, &windows, &|_| 1.0 / width as f64);
            }
        }
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Stream;

    /// The weight of a pair.
    type Kappa<'k> = &'k dyn Fn(usize, usize) -> f64;

    /// Against the double sum of the definition.
    #[test]
    fn products_are_weighted_as_defined() {
        let (n, d) = (23, 2);
        let mut draws = Stream::new(3, 0);
        let scores: Vec<f64> = (0..n * d).map(|_| draws.unit() - 0.5).collect();
        let of: Vec<u32> = (0..n as u32).map(|k| k % 5).collect();
        let clusters = Clusters::new(of.clone()).expect("consecutive numbers");
        let kinds: [(Dependence, Kappa<'_>); 4] = [
            (Dependence::Independent, &|k, m| f64::from(u8::from(k == m))),
            (Dependence::Clustered(clusters), &|k, m| f64::from(u8::from(of[k] == of[m]))),
            (Dependence::Serial { lags: 0 }, &|k, m| f64::from(u8::from(k == m))),
            (Dependence::Serial { lags: 3 }, &|k, m| (1.0 - k.abs_diff(m) as f64 / 4.0).max(0.0)),
        ];
        for (dependence, kappa) in kinds {
            let add_score = |k: usize, out: &mut [f64]| axpy(1.0, &scores[k * d..(k + 1) * d], out);
            let found = dependence.sum_of_products(n, d, &add_score, &|| Ok(()));
            let found = found.expect("there is time");
            for (at, found) in found.iter().enumerate() {
                let mut wanted = 0.0;
                for k in 0..n {
                    for m in 0..n {
                        wanted += kappa(k, m) * scores[k * d + at / d] * scores[m * d + at % d];
                    }
                }
                assert!((found - wanted).abs() < 1e-13, "{dependence:?}: {found}, not {wanted}");
            }
        }
    }
}

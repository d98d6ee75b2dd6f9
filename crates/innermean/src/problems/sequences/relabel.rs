//! Which class is which, for parts of the steps that have no names yet.
//!
//! Given how often part b follows part a, `B_ab`, and how often class d follows class c in the
//! language, `p_cd`, names are found by
//!
//! ```text
//! max over permutations s of  sum_cd p_cd log B_{s(c) s(d)}
//! ```
//!
//! exchanging two names at a time as long as that helps, from many random orders. An exchange costs
//! O(C) to look at.

use super::LanguageModel;
use crate::draws::Stream;
use crate::linalg::elementary::Elementary;

/// Of `1/C^2`: pairs that are never predicted count as so rare.
const RARE_PAIR: f64 = 1e-3;

impl LanguageModel {
    /// `p_cd`, how often d follows c: C rows of C.
    pub fn bigrams(&self) -> Vec<f64> {
        let (classes, order) = (self.classes(), self.order());
        let mut bigrams = vec![0.0; classes * classes];
        for (i, p) in self.probabilities().iter().enumerate() {
            for pair in self.ngram(i).windows(2) {
                bigrams[pair[0] as usize * classes + pair[1] as usize] += p / (order - 1) as f64;
            }
        }
        bigrams
    }
}

/// The matching of classes to parts: `places[c]` is the part that is called c.
struct Matching<'m> {
    classes: usize,
    /// `p_cd`
    language: &'m [f64],
    /// `log B_ab`
    predicted: &'m [f64],
    places: Vec<usize>,
}

impl Matching<'_> {
    /// What class c contributes, once: its row, its column, and its corner.
    fn share(&self, c: usize) -> f64 {
        let (n, s) = (self.classes, &self.places);
        let mut sum = self.language[c * n + c] * self.predicted[s[c] * n + s[c]];
        for d in 0..n {
            if d != c {
                sum += self.language[c * n + d] * self.predicted[s[c] * n + s[d]];
                sum += self.language[d * n + c] * self.predicted[s[d] * n + s[c]];
            }
        }
        sum
    }

    /// What two classes contribute, once.
    fn share_of_two(&self, c: usize, d: usize) -> f64 {
        let (n, s) = (self.classes, &self.places);
        let both = self.language[c * n + d] * self.predicted[s[c] * n + s[d]]
            + self.language[d * n + c] * self.predicted[s[d] * n + s[c]];
        self.share(c) + self.share(d) - both
    }

    fn score(&self) -> f64 {
        let (n, s) = (self.classes, &self.places);
        let pairs = (0..n * n).map(|k| self.language[k] * self.predicted[s[k / n] * n + s[k % n]]);
        pairs.sum()
    }

    /// Exchanges two names as long as that helps, and time is not over.
    fn climb(&mut self, is_over: &dyn Fn() -> bool) {
        let mut improved = true;
        while improved {
            improved = false;
            for c in 0..self.classes {
                if is_over() {
                    return;
                }
                for d in c + 1..self.classes {
                    let before = self.share_of_two(c, d);
                    self.places.swap(c, d);
                    // More than rounding, or it might go round in circles.
                    if self.share_of_two(c, d) > before + 1e-12 {
                        improved = true;
                    } else {
                        self.places.swap(c, d);
                    }
                }
            }
        }
    }
}

/// The best names found in `rounds` climbs, the first from the names as they are: `names[c]` is the
/// part to be called c. No more are made once time `is_over`.
pub(super) fn best_names(
    language: &[f64],
    predicted: &[f64],
    draws: &mut Stream,
    rounds: usize,
    is_over: &dyn Fn() -> bool,
) -> Vec<usize> {
    let classes = language.len().isqrt();
    let rare = RARE_PAIR / language.len() as f64;
    let predicted: Vec<f64> = predicted.iter().map(|b| (b + rare).natural_log()).collect();
    let mut matching =
        Matching { classes, language, predicted: &predicted, places: (0..classes).collect() };
    let mut best = (f64::NEG_INFINITY, matching.places.clone());
    for round in 0..rounds {
        if is_over() {
            break;
        }
        if round > 0 {
            for c in (1..classes).rev() {
                matching.places.swap(c, draws.index(c + 1));
            }
        }
        matching.climb(is_over);
        let score = matching.score();
        if score > best.0 {
            best = (score, matching.places.clone());
        }
    }
    best.1
}

/// theta with its classes under other names.
pub(super) fn renamed(theta: &[f64], names: &[usize]) -> Vec<f64> {
    let width = theta.len() / names.len();
    names.iter().flat_map(|part| theta[part * width..(part + 1) * width].iter().copied()).collect()
}

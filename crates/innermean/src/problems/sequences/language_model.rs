//! The language model: which n-grams of classes occur, and how often.

use crate::linalg::elementary::Elementary;
use crate::model::setting::InvalidSetting;

/// The longest n-grams: products of more probabilities than that are seldom estimated from a file.
pub const MOST_ORDER: usize = 3;

/// How far from 1 the probabilities may add up, through rounding in a file.
const ROUNDING: f64 = 1e-4;

/// Probabilities of n-grams of classes, those above zero alone, in the order of their classes.
#[derive(Debug, Clone, PartialEq)]
pub struct LanguageModel {
    classes: usize,
    order: usize,
    /// N classes for each n-gram
    ngrams: Vec<u32>,
    probabilities: Vec<f64>,
    /// The first n-gram with each context, that is with each beginning of N - 1 classes, and the
    /// end
    contexts: Vec<usize>,
}

impl LanguageModel {
    /// `ngrams` holds `order` classes, each below `classes`, for each entry of `probabilities`.
    /// Those of probability 0 are left out, and what rounding has left of the sum is divided out.
    ///
    /// # Errors
    /// Unless the order is 2 or 3, every class exists, no n-gram is given twice, and probabilities
    /// are 0 or above and sum to 1.
    pub fn new(
        classes: usize,
        order: usize,
        ngrams: &[u32],
        probabilities: &[f64],
    ) -> Result<Self, InvalidSetting> {
        if !(2..=MOST_ORDER).contains(&order) {
            return Err(InvalidSetting::new("order", order.to_string(), "2 or 3"));
        }
        if ngrams.len() != order * probabilities.len() {
            let given =
                format!("{} classes for {} probabilities", ngrams.len(), probabilities.len());
            return Err(InvalidSetting::new("ngrams", given, format!("{order} classes for each")));
        }
        if let Some(k) = ngrams.iter().position(|c| *c as usize >= classes) {
            let name = format!("ngrams[{}]", k / order);
            return Err(InvalidSetting::new(
                name,
                ngrams[k].to_string(),
                format!("classes below {classes}"),
            ));
        }
        if let Some(k) = probabilities.iter().position(|p| !p.is_finite() || *p < 0.0) {
            let name = format!("probabilities[{k}]");
            return Err(InvalidSetting::new(
                name,
                format!("{:?}", probabilities[k]),
                "a number from 0 to 1",
            ));
        }
        let total: f64 = probabilities.iter().sum();
        if (total - 1.0).abs() > ROUNDING {
            return Err(InvalidSetting::new(
                "probabilities",
                format!("a sum of {total}"),
                "a sum of 1",
            ));
        }
        let gram = |k: usize| &ngrams[k * order..(k + 1) * order];
        let mut kept: Vec<usize> =
            (0..probabilities.len()).filter(|&k| probabilities[k] > 0.0).collect();
        kept.sort_by(|&a, &b| gram(a).cmp(gram(b)));
        if let Some(twice) = kept.windows(2).find(|pair| gram(pair[0]) == gram(pair[1])) {
            let name = format!("ngrams[{}]", twice[1]);
            return Err(InvalidSetting::new(
                name,
                format!("{:?}", gram(twice[1])),
                "each n-gram once",
            ));
        }
        let mut contexts: Vec<usize> = (0..kept.len())
            .filter(|&k| k == 0 || gram(kept[k])[..order - 1] != gram(kept[k - 1])[..order - 1])
            .collect();
        contexts.push(kept.len());
        Ok(LanguageModel {
            classes,
            order,
            ngrams: kept.iter().flat_map(|&k| gram(k).iter().copied()).collect(),
            probabilities: kept.iter().map(|&k| probabilities[k] / total).collect(),
            contexts,
        })
    }

    /// C
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// N
    pub fn order(&self) -> usize {
        self.order
    }

    /// The number of n-grams above zero.
    pub fn len(&self) -> usize {
        self.probabilities.len()
    }

    /// Whether there is none: never, for they sum to 1.
    pub fn is_empty(&self) -> bool {
        self.probabilities.is_empty()
    }

    /// The classes of n-gram i.
    #[inline(always)]
    pub fn ngram(&self, i: usize) -> &[u32] {
        &self.ngrams[i * self.order..(i + 1) * self.order]
    }

    /// `p_i`
    #[inline(always)]
    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }

    /// For each beginning of N - 1 classes that occurs, its classes and the n-grams that begin so.
    #[inline(always)]
    pub fn contexts(&self) -> impl Iterator<Item = (&[u32], std::ops::Range<usize>)> {
        self.contexts
            .windows(2)
            .map(|ends| (&self.ngram(ends[0])[..self.order - 1], ends[0]..ends[1]))
    }

    /// `-sum_i p_i log p_i`: what no classifier's cost can fall below.
    pub fn entropy(&self) -> f64 {
        -self.probabilities.iter().map(|p| p * p.natural_log()).sum::<f64>()
    }

    /// How often each class is in a place of an n-gram, on average over the places.
    pub fn class_frequencies(&self) -> Vec<f64> {
        let mut frequencies = vec![0.0; self.classes];
        for (i, p) in self.probabilities.iter().enumerate() {
            for &c in self.ngram(i) {
                frequencies[c as usize] += p / self.order as f64;
            }
        }
        frequencies
    }
}

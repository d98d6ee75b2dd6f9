//! Sequences without a file: a language of random transitions, spoken with noise.
//!
//! Classes follow each other by a random Markov chain in which most classes have few likely
//! successors. A step shows its class through features: the class's mean, drawn once, plus noise.
//! The same seed gives the same bits on machines of one kind. On others they may differ, for
//! transitions are drawn by logarithms, whose last bit is left to platforms' libraries (see
//! `factor_model`).

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::generated::factor_model::normal;

/// What to draw. The default is 10 classes and 20 000 steps that a classifier with labels gets
/// right nine times in ten.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LanguageOptions {
    /// C
    pub classes: usize,
    /// Steps of all sequences together.
    pub steps: usize,
    /// Steps of a sequence; the last may be shorter.
    pub length: usize,
    /// Numbers that describe a step.
    pub features: usize,
    /// The deviation of a feature from its class's mean, where two means are typically 1 apart.
    pub noise: f64,
    /// Of all draws.
    pub seed: u64,
}

impl Default for LanguageOptions {
    fn default() -> Self {
        LanguageOptions {
            classes: 10,
            steps: 20_000,
            length: 100,
            features: 10,
            noise: 0.25,
            seed: 1,
        }
    }
}

/// Generated sequences, with what was said in them and the language they are in.
#[derive(Debug, Clone, PartialEq)]
pub struct SpokenLanguage {
    /// C
    pub classes: usize,
    /// Numbers that describe a step.
    pub features: usize,
    /// The features of each step, sequence after sequence.
    pub rows: Vec<f64>,
    /// How many steps each sequence has.
    pub lengths: Vec<usize>,
    /// The class of each step.
    pub labels: Vec<u32>,
    /// How often each class occurs.
    pub frequencies: Vec<f64>,
    /// C rows of C: how often each class follows.
    pub transitions: Vec<f64>,
    /// Where it comes from.
    pub source: String,
}

/// Draws a language and what is said in it. Transitions, means, labels and noise come from streams
/// of their own.
pub fn generate_language(options: &LanguageOptions) -> SpokenLanguage {
    let LanguageOptions { classes, steps, length, features, noise, seed } = *options;
    let stream = |number: u64| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(number);
        rng
    };
    let transitions = transitions(classes, &mut stream(0));
    let frequencies = stationary(classes, &transitions);
    let mut draws = stream(1);
    // Two vectors of F normals are sqrt(2 F) apart.
    let scale = 1.0 / (2.0 * features as f64).sqrt();
    let means: Vec<f64> = (0..classes * features).map(|_| scale * normal(&mut draws)).collect();
    let mut draws = stream(2);
    let mut labels: Vec<u32> = Vec::with_capacity(steps);
    for t in 0..steps {
        let among = match labels.last() {
            Some(&before) if t % length != 0 => {
                &transitions[before as usize * classes..][..classes]
            }
            _ => &frequencies,
        };
        labels.push(pick(among, unit(&mut draws)));
    }
    let mut draws = stream(3);
    let mut rows = Vec::with_capacity(steps * features);
    for &c in &labels {
        let mean = &means[c as usize * features..][..features];
        rows.extend(mean.iter().map(|m| m + noise * normal(&mut draws)));
    }
    let mut lengths = vec![length; steps / length];
    lengths.extend((!steps.is_multiple_of(length)).then_some(steps % length));
    let source = format!(
        "generated: {steps} steps of {classes} classes, {features} features, noise {noise}, seed \
         {seed}"
    );
    SpokenLanguage { classes, features, rows, lengths, labels, frequencies, transitions, source }
}

impl SpokenLanguage {
    /// Every n-gram that can occur, N classes for each, and its probability.
    pub fn ngrams(&self, order: usize) -> (Vec<u32>, Vec<f64>) {
        let (mut ngrams, mut probabilities) = (vec![Vec::new()], vec![1.0]);
        for _ in 0..order {
            let (mut longer, mut products) = (Vec::new(), Vec::new());
            for (ngram, p) in ngrams.iter().zip(&probabilities) {
                for c in 0..self.classes {
                    let q = match ngram.last() {
                        None => self.frequencies[c],
                        Some(&before) => self.transitions[before as usize * self.classes + c],
                    };
                    if q > 0.0 {
                        longer.push([&ngram[..], &[c as u32]].concat());
                        products.push(p * q);
                    }
                }
            }
            (ngrams, probabilities) = (longer, products);
        }
        (ngrams.concat(), probabilities)
    }
}

/// Each class has a certain successor, so that all can be reached, and others with the chance of
/// three in five; squares of exponential draws make a few of them likely and the rest rare.
fn transitions(classes: usize, draws: &mut ChaCha8Rng) -> Vec<f64> {
    let mut transitions = vec![0.0; classes * classes];
    for (c, row) in transitions.chunks_exact_mut(classes.max(1)).enumerate() {
        for (b, weight) in row.iter_mut().enumerate() {
            let (present, size) = (unit(draws), unit(draws));
            let exponential = -libm::log(1.0 - size);
            if present < 0.6 || b == (c + 1) % classes {
                *weight = exponential * exponential + 0.02;
            }
        }
        let sum: f64 = row.iter().sum();
        for weight in row {
            *weight /= sum;
        }
    }
    transitions
}

/// The frequencies that the transitions keep, by walking from equal ones. Every other step stays,
/// so that no cycle is left.
fn stationary(classes: usize, transitions: &[f64]) -> Vec<f64> {
    let mut frequencies = vec![1.0 / classes as f64; classes];
    for _ in 0..10_000 {
        let mut next: Vec<f64> = frequencies.iter().map(|p| 0.5 * p).collect();
        for (p, row) in frequencies.iter().zip(transitions.chunks_exact(classes.max(1))) {
            for (next, q) in next.iter_mut().zip(row) {
                *next += 0.5 * p * q;
            }
        }
        let change: f64 = next.iter().zip(&frequencies).map(|(a, b)| (a - b).abs()).sum();
        frequencies = next;
        if change < 1e-15 {
            break;
        }
    }
    frequencies
}

fn pick(probabilities: &[f64], mut left: f64) -> u32 {
    let place = probabilities.iter().position(|p| {
        left -= p;
        left < 0.0
    });
    // Rounding may leave something beyond the last; then the last that can be.
    let last = || probabilities.iter().rposition(|p| *p > 0.0).unwrap_or(0);
    place.unwrap_or_else(last) as u32
}

/// Uniform in [0, 1), a multiple of 2^-53.
fn unit(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

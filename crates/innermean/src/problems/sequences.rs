//! Sequence classification without labels: the Empirical-ODM cost of Liu, Chen and Deng,
//! "Unsupervised Sequence Classification using Sequential Output Statistics", 2017; equation (3) of
//! the paper.
//!
//! A language model knows how often each n-gram of classes occurs, `p_i` for n-gram i. A classifier
//! `P_theta(c | x)` is fitted to steps `x_t` of sequences without labels, so that the n-grams of
//! what it predicts occur as often:
//!
//! ```text
//! min over theta of  -sum_i p_i log( (1/T) sum_t prod_k P_theta(c_ik | x_{t+k}) ) + g(theta)
//! ```
//!
//! over the T windows of N steps that lie within a sequence. The classifier is a softmax of linear
//! scores: theta holds, for each class, a weight for each feature and an intercept, so `d = C (F +
//! 1)`. Here
//!
//! ```text
//! f_theta(x_i, y_t) = (s_i/p_i) prod_k P_theta(c_ik | x_{t+k}),  n_X = n-grams above zero,  n_Y = T,  ell = 1
//! phi_i(u)          = -n_X p_i log(u/s_i),  s_i = sqrt(n_X p_i)
//! ```
//!
//! Differs: the paper's f is the product alone and its phi `-p_i log u`. Dividing by `p_i` takes
//! the entropy of the language model off the cost, which becomes the Kullback-Leibler divergence
//! from the language model to the predictions, 0 at best. The factor `s_i` changes nothing of it:
//! with `u = s_i` at best, it makes all phi equally curved there, `n_X p_i / s_i^2 = 1`, so that
//! one step suits all duals and the largest curvature and the largest Jacobian say together how
//! curved the cost is, however rare the rarest n-gram.
//!
//! f is not affine and the cost is not convex. Its samples are the same windows for all n-grams,
//! yet f depends on both: its structure is that of samples of each term's own, and a snapshot
//! counts `n_X T` values. What it takes is far less: class probabilities are found once for each
//! step, and what n-grams have in common once for all of them.

use std::ops::Range;

use rayon::prelude::*;

use crate::draws::Stream;
use crate::linalg::blocks::Blocks;
use crate::linalg::exponential::exp;
use crate::linalg::vector::{axpy, dot, norm_squared, prefetch, update_with};
use crate::model::inner::{Facts, Fused, Inner, Lost, Passes, Rows, stretches};
use crate::model::merit::NegativeLog;
use crate::model::problem::Problem;
use crate::model::row_data::RowData;
use crate::model::setting::InvalidSetting;
use crate::problems::scaling::Standard;

mod clusters;
mod labelled;
mod language_model;
mod passes;
mod relabel;
mod rows;
mod sample;
pub mod search;
mod softmax;

use rows::checked;

pub use labelled::Labelled;
pub use language_model::{LanguageModel, MOST_ORDER};

/// The logarithm of an average below this share of what it should be is continued along its
/// tangent; see [`NegativeLog`].
pub const FLOOR: f64 = 1e-2;

/// Steps and n-grams that the estimate of the largest mean Jacobian looks at.
const ESTIMATE: (usize, usize) = (4096, 32);
/// Seed and stream of the ordinary point.
const ORDINARY: (u64, u64) = (1, 2999);

/// The f of sequence classification.
#[derive(Debug, Clone)]
pub struct Sequences {
    language: LanguageModel,
    /// `s_i / p_i = sqrt(n_X / p_i)`
    scales: Vec<f64>,
    /// F + 1
    width: usize,
    /// The features of each step, and a 1 for the intercept
    rows: RowData,
    /// `O(t)`: 1 where a window opens, 0 where it would cross the end of a sequence
    opens: Vec<f64>,
    /// The steps where one does
    windows: Vec<usize>,
}

impl Sequences {
    /// `features` numbers for each step in `rows`, sequence after sequence; `lengths` are theirs.
    ///
    /// # Errors
    /// Unless rows are whole, finite, and as many as the lengths say, and some sequence is as long
    /// as an n-gram.
    pub fn new(
        features: usize,
        rows: impl Into<RowData>,
        lengths: &[usize],
        language: LanguageModel,
    ) -> Result<Self, InvalidSetting> {
        let rows = checked(features, rows.into(), lengths)?;
        Self::of_wide(features, rows::widened(rows, features, None), lengths, language)
    }

    /// The same with features that are brought to mean 0 and deviation 1: those that are shared or
    /// not in memory when they are looked at.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn standardized(
        features: usize,
        rows: impl Into<RowData>,
        standard: &Standard,
        lengths: &[usize],
        language: LanguageModel,
    ) -> Result<Self, InvalidSetting> {
        let rows = checked(features, rows.into(), lengths)?;
        Self::of_wide(features, rows::widened(rows, features, Some(standard)), lengths, language)
    }

    /// Of rows with a 1 behind the features.
    fn of_wide(
        features: usize,
        rows: RowData,
        lengths: &[usize],
        language: LanguageModel,
    ) -> Result<Self, InvalidSetting> {
        let (order, steps) = (language.order(), lengths.iter().sum());
        let mut opens = Vec::with_capacity(steps);
        for &length in lengths {
            opens.extend((0..length).map(|t| if t + order <= length { 1.0 } else { 0.0 }));
        }
        let windows: Vec<usize> = (0..steps).filter(|&t| opens[t] > 0.0).collect();
        if windows.is_empty() {
            let longest = lengths.iter().max().copied().unwrap_or(0);
            let expected = format!("a sequence of at least {order} steps, as the n-grams have");
            return Err(InvalidSetting::new("lengths", format!("at most {longest}"), expected));
        }
        let n_x = language.len() as f64;
        let scales = language.probabilities().iter().map(|p| (n_x / p).sqrt()).collect();
        Ok(Sequences { language, scales, width: features + 1, rows, opens, windows })
    }

    /// The whole problem, with g for whatever is asked of theta.
    ///
    /// # Errors
    /// Never, for probabilities of a language model.
    pub fn problem<G>(
        self,
        regularizer: G,
    ) -> Result<Problem<Sequences, NegativeLog, G>, InvalidSetting> {
        let n_x = self.language.len() as f64;
        let weights: Vec<f64> = self.language.probabilities().iter().map(|p| n_x * p).collect();
        let units = weights.iter().map(|q| q.sqrt()).collect();
        let merit = NegativeLog::new(1, weights)?.with_units(units)?.with_floor(FLOOR)?;
        Ok(Problem { inner: self, merit, regularizer })
    }

    /// The language model.
    pub fn language(&self) -> &LanguageModel {
        &self.language
    }

    /// F + 1: the length of a class's part of theta.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of steps.
    pub fn steps(&self) -> usize {
        self.opens.len()
    }

    /// `P_theta(c | x_t)`, C for each step.
    pub fn probabilities(&self, theta: &[f64]) -> Vec<f64> {
        let classes = self.language.classes();
        let mut out = vec![0.0; self.steps() * classes];
        self.blocks().fill(
            classes,
            &mut out,
            #[inline(always)]
            |steps, rows| self.fill_probabilities(theta, steps, rows),
        );
        out
    }

    /// The features of the steps, and a 1 after those of each.
    #[inline(always)]
    fn with_rows<R>(&self, steps: Range<usize>, work: impl FnOnce(&[f64]) -> R) -> R {
        self.rows.with(self.width, steps, work)
    }

    /// The largest score of a step, and `sum_b e^(score_b - largest)`. Scores are found again where
    /// they are needed: nothing is allocated for them.
    #[inline(always)]
    fn odds(&self, theta: &[f64], step: usize) -> (f64, f64) {
        let (mut most, mut total) = (f64::NEG_INFINITY, 0.0);
        self.with_rows(
            step..step + 1,
            #[inline(always)]
            |x| {
                for theta_c in theta.chunks_exact(self.width) {
                    let score = dot(theta_c, x);
                    if score > most {
                        total = total * exp(most - score) + 1.0;
                        most = score;
                    } else {
                        total += exp(score - most);
                    }
                }
            },
        );
        (most, total)
    }

    /// `P_theta(class | x_step)`, given the odds.
    #[inline(always)]
    fn probability(
        &self,
        theta: &[f64],
        step: usize,
        class: u32,
        (most, total): (f64, f64),
    ) -> f64 {
        let theta_c = &theta[class as usize * self.width..][..self.width];
        let score = self.with_rows(step..step + 1, |x| dot(theta_c, x));
        exp(score - most) / total
    }

    /// The mean Jacobians of some n-grams.
    fn jacobians_of(&self, theta: &[f64], ngrams: &[usize], out: &mut [f64]) {
        out.fill(0.0);
        Blocks::new(ngrams.len(), self.d() * self.steps()).fill(
            self.d(),
            out,
            #[inline(always)]
            |own, rows| {
                let share = |i: usize| self.scales[i] / self.windows.len() as f64;
                self.add_each_jac_t(theta, &ngrams[own], share, rows);
            },
        );
    }

    /// The steps in blocks, for a whole pass.
    fn blocks(&self) -> Blocks {
        Blocks::new(self.steps(), self.language.classes() * self.width + 2 * self.language.len())
    }
}

/// `P_theta(c | x)` of any rows of features, C for each row: bit for bit what
/// [`Sequences::probabilities`] finds for the same rows.
///
/// # Panics
/// Unless rows and theta are whole: `features` numbers for each row, one more for each class.
pub fn probabilities(features: usize, rows: &[f64], theta: &[f64]) -> Vec<f64> {
    /// Rows at once.
    const TILE: usize = 128;
    let width = features + 1;
    assert!(features > 0 && rows.len().is_multiple_of(features), "whole rows");
    assert!(theta.len().is_multiple_of(width), "a row of theta for each class");
    let classes = theta.len() / width;
    let mut out = Vec::with_capacity(rows.len() / features * classes);
    let (mut with_one, mut by_class) = (Vec::new(), vec![0.0; TILE * classes]);
    let mut work = [0.0; TILE];
    for tile in rows.chunks(TILE * features) {
        with_one.clear();
        for row in tile.chunks_exact(features) {
            with_one.extend_from_slice(row);
            with_one.push(1.0);
        }
        let len = tile.len() / features;
        let by_class = &mut by_class[..len * classes];
        softmax::class_probabilities(theta, &with_one, width, &mut work[..len], by_class);
        for r in 0..len {
            out.extend((0..classes).map(|c| by_class[c * len + r]));
        }
    }
    out
}

impl Inner for Sequences {
    fn d(&self) -> usize {
        self.language.classes() * self.width
    }

    fn n_x(&self) -> usize {
        self.language.len()
    }

    fn n_y(&self, _: usize) -> usize {
        self.windows.len()
    }

    /// A pair reads the N steps of a window, a pass every step.
    fn facts(&self) -> Facts {
        let (pair, all) = (self.language.order() as u64, self.steps() as u64);
        Facts::default().with_rows(Rows { pair, all, merit: 0 })
    }

    fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
        let mut product = self.scales[i];
        for (k, &class) in self.language.ngram(i).iter().enumerate() {
            let step = self.windows[j] + k;
            product *= self.probability(theta, step, class, self.odds(theta, step));
        }
        out[0] = product;
    }

    /// `d prod / d score_b(t + k) = prod (1[b = c_k] - P_b(t + k))`
    fn add_jac_t(&self, theta: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        let mut product = [0.0];
        self.value(theta, i, j, &mut product);
        let c = c * w[0] * product[0];
        for (k, &class) in self.language.ngram(i).iter().enumerate() {
            let step = self.windows[j] + k;
            let odds = self.odds(theta, step);
            for (b, out) in out.chunks_exact_mut(self.width).enumerate() {
                let p = self.probability(theta, step, b as u32, odds);
                let own = if b as u32 == class { 1.0 } else { 0.0 };
                self.with_rows(step..step + 1, |x| axpy(c * (own - p), x, out));
            }
        }
    }

    fn passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }
}

impl Fused for Sequences {
    fn f(&self) -> &dyn Inner {
        self
    }

    /// Random weights: with classes that are all equally frequent, the origin is stationary.
    fn ordinary_point(&self) -> Option<Vec<f64>> {
        Some(search::random_weights(self.d(), &mut Stream::new(ORDINARY.0, ORDINARY.1)))
    }

    fn prefetch(&self, _: usize, j: usize) {
        if let Some(rows) = self.rows.held() {
            prefetch(rows, self.windows[j] * self.width, self.language.order() * self.width);
        }
    }

    fn mean(&self, theta: &[f64], i: usize, _: &mut [f64], out: &mut [f64]) {
        let sum = self.product(theta, 0..self.steps(), i);
        out[0] = sum * self.scales[i] / self.windows.len() as f64;
    }

    fn add_mean_jac_t(&self, theta: &[f64], i: usize, w: &[f64], c: f64, out: &mut [f64]) {
        let share = c * w[0] * self.scales[i] / self.windows.len() as f64;
        self.add_each_jac_t(
            theta,
            &[i],
            #[inline(always)]
            |_| share,
            out,
        );
    }
}

impl Passes for Sequences {
    /// From the n-grams with the largest averages on a part of the steps: the others have small
    /// Jacobians too.
    fn mean_jacobian_size(&self, theta: &[f64]) -> Result<Option<f64>, Lost> {
        let part = self.sample(ESTIMATE.0);
        let mut means = vec![0.0; self.n_x()];
        part.means(theta, &mut means)?;
        let mut largest: Vec<usize> = (0..self.n_x()).collect();
        largest.sort_by(|&a, &b| means[b].total_cmp(&means[a]));
        largest.truncate(ESTIMATE.1);
        let sizes = largest.into_par_iter().map(|i| {
            let mut jacobian = vec![0.0; self.d()];
            part.add_mean_jac_t(theta, i, &[1.0], 1.0, &mut jacobian);
            norm_squared(&jacobian).sqrt()
        });
        Ok(Some(sizes.reduce(|| 0.0, f64::max)))
    }

    fn means(&self, theta: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        out.fill(0.0);
        self.blocks().add(
            1.0 / self.windows.len() as f64,
            out,
            #[inline(always)]
            |steps, partial| self.add_products(theta, steps, partial),
        );
        update_with(out, &self.scales, |mean, scale| mean * scale);
        self.rows.check()
    }

    fn mean_jacobians(&self, theta: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        let ngrams: Vec<usize> = (0..self.n_x()).collect();
        self.jacobians_of(theta, &ngrams, out);
        self.rows.check()
    }

    /// Class probabilities are found once for all terms, as in a pass over all steps.
    fn means_of(
        &self,
        theta: &[f64],
        terms: &[usize],
        most: usize,
        f_bar: &mut [f64],
        jacobians: &mut [f64],
    ) -> Result<(), Lost> {
        let part = stretches(self.windows.len(), most).map(|stretches| self.of_windows(stretches));
        let f = part.as_ref().unwrap_or(self);
        let mut all = vec![0.0; self.n_x()];
        f.means(theta, &mut all)?;
        for (mean, &i) in f_bar.iter_mut().zip(terms) {
            *mean = all[i];
        }
        if !jacobians.is_empty() {
            f.jacobians_of(theta, terms, jacobians);
        }
        f.rows.check()
    }

    fn add_weighted_jac_t(&self, theta: &[f64], w: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        let v: Vec<f64> = w.iter().zip(&self.scales).map(|(w, scale)| w * scale).collect();
        self.blocks().add(
            1.0 / (self.n_x() as f64 * self.windows.len() as f64),
            out,
            #[inline(always)]
            |steps, partial| self.add_products_jac_t(theta, &v, steps, partial),
        );
        self.rows.check()
    }
}

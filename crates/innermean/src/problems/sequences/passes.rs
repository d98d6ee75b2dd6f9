//! Passes over the steps: all averages, all weighted Jacobians, and those of single n-grams.
//!
//! The steps are cut into stretches of some hundred. Within one, class probabilities are laid out
//! class by class, `P_c(t)` along the steps t, so that the average of an n-gram (a, b) is a dot of
//! two such vectors, one shifted by a step, and its Jacobian two axpys. What all n-grams with the
//! same beginning need is made once. Windows that would cross the end of a sequence have the weight
//! 0 through `O(t)`, which is 1 where a window opens and 0 elsewhere.

use std::ops::Range;

use super::Sequences;
use super::softmax::class_probabilities;
use crate::linalg::vector::{add_weighted_rows, axpy, dot, update_with, update_with_both};

/// Steps that are looked at together: ten classes of them fit into the nearest cache.
const STRETCH: usize = 256;

/// One stretch of steps, with those around it that its windows reach.
struct Stretch<'f> {
    f: &'f Sequences,
    /// The steps that are looked at
    seen: Range<usize>,
    /// Those whose turn it is
    own: Range<usize>,
    /// `P_c(t)`, one vector along `seen` for each class
    probabilities: Vec<f64>,
    /// Slopes in them
    slopes: Vec<f64>,
    /// `O(t) prod_k P_{a_k}(t + k)` over the classes of a context
    context: Vec<f64>,
    /// The sum of what follows a context
    ends: Vec<f64>,
    work: Vec<f64>,
}

impl<'f> Stretch<'f> {
    fn new(f: &'f Sequences) -> Self {
        Stretch {
            f,
            seen: 0..0,
            own: 0..0,
            probabilities: Vec::new(),
            slopes: Vec::new(),
            context: Vec::new(),
            ends: Vec::new(),
            work: Vec::new(),
        }
    }

    /// Goes through `steps` stretch by stretch; windows reach `last` steps ahead and, where all
    /// windows that hold a step are asked for, behind.
    #[inline(always)]
    fn for_each(
        f: &'f Sequences,
        theta: &[f64],
        steps: Range<usize>,
        behind: bool,
        mut work: impl FnMut(&mut Self),
    ) {
        let last = f.last();
        let mut stretch = Stretch::new(f);
        for from in steps.clone().step_by(STRETCH) {
            stretch.own = from..(from + STRETCH).min(steps.end);
            let start = if behind { from.saturating_sub(last) } else { from };
            stretch.seen = start..(stretch.own.end + last).min(f.steps());
            stretch.look(theta);
            work(&mut stretch);
        }
    }

    #[inline(always)]
    fn look(&mut self, theta: &[f64]) {
        let Stretch { f, seen, probabilities, slopes, context, ends, work, .. } = self;
        let (len, classes) = (seen.len(), f.language.classes());
        for vector in [&mut *context, ends, work] {
            vector.resize(len, 0.0);
        }
        for vectors in [&mut *probabilities, slopes] {
            vectors.resize(classes * len, 0.0);
        }
        f.with_rows(
            seen.clone(),
            #[inline(always)]
            |rows| class_probabilities(theta, rows, f.width, work, probabilities),
        );
    }

    /// How many windows the stretch holds.
    #[inline(always)]
    fn windows(&self) -> usize {
        self.seen.len().saturating_sub(self.f.last())
    }

    /// `P_c(t + k)` for the windows.
    #[inline(always)]
    fn probability(&self, class: u32, k: usize) -> &[f64] {
        &self.probabilities[class as usize * self.seen.len() + k..][..self.windows()]
    }

    /// `O(t)` for the windows.
    #[inline(always)]
    fn opens(&self) -> &'f [f64] {
        &self.f.opens[self.seen.start..][..self.windows()]
    }

    /// `context = O(t) prod_k P_{a_k}(t + k)`, without the place `but`.
    #[inline(always)]
    fn multiply(&mut self, classes: &[u32], but: usize) {
        let mut context = std::mem::take(&mut self.context);
        let product = &mut context[..self.windows()];
        product.copy_from_slice(self.opens());
        for (k, &class) in classes.iter().enumerate() {
            if k != but {
                update_with(product, self.probability(class, k), |v, p| v * p);
            }
        }
        self.context = context;
    }

    /// `slopes_c(t + k) += c context(t)` along the windows.
    #[inline(always)]
    fn add_slope(&mut self, class: u32, k: usize, c: f64) {
        let (len, windows) = (self.seen.len(), self.windows());
        axpy(c, &self.context[..windows], &mut self.slopes[class as usize * len + k..][..windows]);
    }

    /// `slopes_c(t) = d/dP_c(t) of sum_i v_i sum_windows prod_k P_{c_k}(t + k)`
    #[inline(always)]
    fn slopes_of_all(&mut self, v: &[f64]) {
        let (f, windows, last) = (self.f, self.windows(), self.f.last());
        self.slopes.fill(0.0);
        for (context, ngrams) in f.language.contexts() {
            self.multiply(context, last);
            let mut ends = std::mem::take(&mut self.ends);
            ends[..windows].fill(0.0);
            for i in ngrams {
                let class = f.language.ngram(i)[last];
                axpy(v[i], self.probability(class, last), &mut ends[..windows]);
                self.add_slope(class, last, v[i]);
            }
            for (k, &class) in context.iter().enumerate() {
                self.multiply(context, k);
                update_with(&mut self.context[..windows], &ends, |others, end| others * end);
                self.add_slope(class, k, 1.0);
            }
            self.ends = ends;
        }
    }

    /// The same of n-gram i alone, times c.
    #[inline(always)]
    fn slopes_of(&mut self, i: usize, c: f64) {
        self.slopes.fill(0.0);
        let ngram = self.f.language.ngram(i);
        for (k, &class) in ngram.iter().enumerate() {
            self.multiply(ngram, k);
            self.add_slope(class, k, c);
        }
    }

    /// From slopes in the probabilities to those in the logits, `P_c (s_c - sum_b P_b s_b)`, and
    /// from the own steps on to theta.
    #[inline(always)]
    fn add_to_theta(&mut self, out: &mut [f64]) {
        let Stretch { f, seen, own, probabilities, slopes, work, .. } = self;
        let len = seen.len();
        let local = own.start - seen.start..own.end - seen.start;
        let mean = &mut work[..own.len()];
        mean.fill(0.0);
        for (p, slope) in probabilities.chunks_exact(len).zip(slopes.chunks_exact(len)) {
            update_with_both(mean, &p[local.clone()], &slope[local.clone()], |mean, p, s| {
                mean + p * s
            });
        }
        f.with_rows(
            own.clone(),
            #[inline(always)]
            |rows| {
                let classes = probabilities.chunks_exact(len).zip(slopes.chunks_exact_mut(len));
                for ((p, slope), out) in classes.zip(out.chunks_exact_mut(f.width)) {
                    let slope = &mut slope[local.clone()];
                    update_with_both(slope, &p[local.clone()], mean, |s, p, mean| p * (s - mean));
                    add_weighted_rows(rows, slope, out);
                }
            },
        );
    }
}

impl Sequences {
    /// The last place of an n-gram, N - 1.
    #[inline(always)]
    fn last(&self) -> usize {
        self.language.order() - 1
    }

    /// `out_i += sum over the windows that open in steps of prod_k P_{c_k}(t + k)` for all i.
    #[inline(always)]
    pub(super) fn add_products(&self, theta: &[f64], steps: Range<usize>, out: &mut [f64]) {
        let last = self.last();
        Stretch::for_each(
            self,
            theta,
            steps,
            false,
            #[inline(always)]
            |stretch| {
                for (context, ngrams) in self.language.contexts() {
                    stretch.multiply(context, last);
                    for i in ngrams {
                        let end = stretch.probability(self.language.ngram(i)[last], last);
                        out[i] += dot(end, &stretch.context);
                    }
                }
            },
        );
    }

    /// The same for n-gram i alone, as what is returned.
    #[inline(always)]
    pub(super) fn product(&self, theta: &[f64], steps: Range<usize>, i: usize) -> f64 {
        let (ngram, last) = (self.language.ngram(i), self.last());
        let mut sum = 0.0;
        Stretch::for_each(
            self,
            theta,
            steps,
            false,
            #[inline(always)]
            |stretch| {
                stretch.multiply(&ngram[..last], last);
                sum += dot(stretch.probability(ngram[last], last), &stretch.context);
            },
        );
        sum
    }

    /// `out += (d/dtheta of sum_i v_i sum_windows prod_k P_{c_k})`, the share of the own steps.
    #[inline(always)]
    pub(super) fn add_products_jac_t(
        &self,
        theta: &[f64],
        v: &[f64],
        steps: Range<usize>,
        out: &mut [f64],
    ) {
        Stretch::for_each(
            self,
            theta,
            steps,
            true,
            #[inline(always)]
            |stretch| {
                stretch.slopes_of_all(v);
                stretch.add_to_theta(out);
            },
        );
    }

    /// The same for each of some n-grams by itself, times c: d numbers of `out` for each.
    #[inline(always)]
    pub(super) fn add_each_jac_t(
        &self,
        theta: &[f64],
        ngrams: &[usize],
        c: impl Fn(usize) -> f64,
        out: &mut [f64],
    ) {
        Stretch::for_each(
            self,
            theta,
            0..self.steps(),
            true,
            #[inline(always)]
            |stretch| {
                for (&i, out) in ngrams.iter().zip(out.chunks_exact_mut(theta.len())) {
                    stretch.slopes_of(i, c(i));
                    stretch.add_to_theta(out);
                }
            },
        );
    }

    /// `out = P_c(t)`, C for each step.
    #[inline(always)]
    pub(super) fn fill_probabilities(&self, theta: &[f64], steps: Range<usize>, out: &mut [f64]) {
        let classes = self.language.classes();
        let first = steps.start;
        Stretch::for_each(
            self,
            theta,
            steps,
            false,
            #[inline(always)]
            |stretch| {
                let len = stretch.seen.len();
                for t in stretch.own.clone() {
                    let row = &mut out[(t - first) * classes..(t - first + 1) * classes];
                    for (c, p) in row.iter_mut().enumerate() {
                        *p = stretch.probabilities[c * len + t - stretch.seen.start];
                    }
                }
            },
        );
    }
}

//! The same classifier fitted with labels, as the yardstick: multinomial logistic regression.
//!
//! ```text
//! min over theta of  (1/L) sum over the L labelled steps t of -log P_theta(label_t | x_t) + g(theta)
//! f_theta(x_t) = P_theta(label_t | x_t),  n_X = all steps,  n_Y = 1;  phi_t(u) = -(n_X/L) log u, or 0 without a label
//! ```
//!
//! Seen so, f is not affine; the whole is convex all the same.

use std::ops::Range;

use super::Sequences;
use super::softmax::class_probabilities;
use crate::linalg::blocks::Blocks;
use crate::linalg::vector::{add_weighted_rows, axpy, update_with};
use crate::model::inner::{Fused, Inner, Lost, Passes};
use crate::model::merit::NegativeLog;
use crate::model::problem::Problem;
use crate::model::setting::InvalidSetting;

/// Below this the logarithm is continued along the tangent: no fitted classifier is so sure of a
/// wrong class.
const FLOOR: f64 = 1e-12;
/// Steps that are looked at together.
const STRETCH: usize = 256;

/// The steps of sequences with their labels.
#[derive(Debug, Clone)]
pub struct Labelled<'f> {
    sequences: &'f Sequences,
    /// A class for each step; any where there is no label, for its weight is 0.
    labels: Vec<u32>,
}

impl Sequences {
    /// The problem of fitting the classifier to labels, of which some steps may have none.
    ///
    /// # Errors
    /// Unless there is an entry for each step, each label is a class, and at least one step has
    /// one.
    pub fn labelled<G>(
        &self,
        labels: &[Option<u32>],
        regularizer: G,
    ) -> Result<Problem<Labelled<'_>, NegativeLog, G>, InvalidSetting> {
        if labels.len() != self.steps() {
            let expected = format!("one for each of {} steps", self.steps());
            return Err(InvalidSetting::new("labels", labels.len().to_string(), expected));
        }
        let classes = self.language.classes();
        if let Some((t, bad)) = labels.iter().enumerate().find_map(|(t, label)| match label {
            Some(c) if *c as usize >= classes => Some((t, *c)),
            _ => None,
        }) {
            let expected = format!("a class below {classes}");
            return Err(InvalidSetting::new(format!("labels[{t}]"), bad.to_string(), expected));
        }
        let count = labels.iter().flatten().count() as f64;
        let weight = labels.len() as f64 / count;
        let weights =
            labels.iter().map(|label| if label.is_some() { weight } else { 0.0 }).collect();
        let merit = NegativeLog::new(1, weights)?.with_floor(FLOOR)?;
        let labels = labels.iter().map(|label| label.unwrap_or(0)).collect();
        Ok(Problem { inner: Labelled { sequences: self, labels }, merit, regularizer })
    }
}

impl Labelled<'_> {
    /// For each stretch of steps, `work(steps, probabilities class by class)`.
    #[inline(always)]
    fn for_each(
        &self,
        theta: &[f64],
        steps: Range<usize>,
        mut work: impl FnMut(Range<usize>, &mut [f64]),
    ) {
        let (f, classes) = (self.sequences, self.sequences.language.classes());
        let (mut total, mut out) = (vec![0.0; STRETCH], vec![0.0; STRETCH * classes]);
        for from in steps.clone().step_by(STRETCH) {
            let own = from..(from + STRETCH).min(steps.end);
            let out = &mut out[..own.len() * classes];
            f.with_rows(
                own.clone(),
                #[inline(always)]
                |rows| class_probabilities(theta, rows, f.width, &mut total[..own.len()], out),
            );
            work(own, out);
        }
    }

    fn blocks(&self) -> Blocks {
        Blocks::new(self.labels.len(), self.d())
    }
}

impl Inner for Labelled<'_> {
    fn d(&self) -> usize {
        self.sequences.d()
    }

    fn n_x(&self) -> usize {
        self.labels.len()
    }

    fn n_y(&self, _: usize) -> usize {
        1
    }

    fn value(&self, theta: &[f64], i: usize, _: usize, out: &mut [f64]) {
        let f = self.sequences;
        out[0] = f.probability(theta, i, self.labels[i], f.odds(theta, i));
    }

    /// `d P_a / d score_b = P_a (1[a = b] - P_b)`
    fn add_jac_t(&self, theta: &[f64], i: usize, _: usize, w: &[f64], c: f64, out: &mut [f64]) {
        let f = self.sequences;
        let (odds, label) = (f.odds(theta, i), self.labels[i]);
        let c = c * w[0] * f.probability(theta, i, label, odds);
        for (b, out) in out.chunks_exact_mut(f.width).enumerate() {
            let own = if b as u32 == label { 1.0 } else { 0.0 };
            let slope = c * (own - f.probability(theta, i, b as u32, odds));
            f.with_rows(i..i + 1, |x| axpy(slope, x, out));
        }
    }

    fn passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }
}

impl Fused for Labelled<'_> {
    fn f(&self) -> &dyn Inner {
        self
    }
}

impl Passes for Labelled<'_> {
    fn means(&self, theta: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        self.blocks().fill(
            1,
            out,
            #[inline(always)]
            |range, out| {
                let first = range.start;
                self.for_each(
                    theta,
                    range,
                    #[inline(always)]
                    |own, p| {
                        for (k, t) in own.clone().enumerate() {
                            out[t - first] = p[self.labels[t] as usize * own.len() + k];
                        }
                    },
                );
            },
        );
        self.sequences.rows.check()
    }

    fn add_weighted_jac_t(&self, theta: &[f64], w: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        let f = self.sequences;
        self.blocks().add(
            1.0 / self.n_x() as f64,
            out,
            #[inline(always)]
            |range, partial| {
                let mut slope = [0.0; STRETCH];
                self.for_each(
                    theta,
                    range,
                    #[inline(always)]
                    |own, p| {
                        let slope = &mut slope[..own.len()];
                        for (k, t) in own.clone().enumerate() {
                            slope[k] = w[t] * p[self.labels[t] as usize * own.len() + k];
                        }
                        for (c, p) in p.chunks_exact_mut(own.len()).enumerate() {
                            update_with(p, slope, |p, slope| -slope * p);
                            for (k, t) in own.clone().enumerate() {
                                if self.labels[t] as usize == c {
                                    p[k] += slope[k];
                                }
                            }
                            let out = &mut partial[c * f.width..(c + 1) * f.width];
                            f.with_rows(own.clone(), |rows| add_weighted_rows(rows, p, out));
                        }
                    },
                );
            },
        );
        self.sequences.rows.check()
    }
}

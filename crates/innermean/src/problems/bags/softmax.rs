//! Several classes: the softmax link.

use std::ops::Range;

use super::{Groups, TILE};
use crate::linalg::elementary::Elementary;
use crate::linalg::exponential::exp;
use crate::linalg::vector::{add_weighted_rows, axpy, dot, row_dots, sum, update, update_with};
use crate::model::inner::Inner;
use crate::model::setting::InvalidSetting;

mod queries;

/// At most this many classes: the probabilities of a row live on the stack.
pub const MOST_CLASSES: usize = 64;

/// `f_theta(x_i, y_ij) = c_ij softmax( <y_ij, theta_c> + intercept_c  for c = 1..C )`, ell = C, with
/// `c_ij = 1` unless rows have weights. theta holds the coefficients of class after class, and then
/// the C intercepts. What is common to all classes changes nothing; started from zeros it stays
/// zero.
#[derive(Debug, Clone)]
pub struct SoftmaxBags {
    groups: Groups,
    classes: usize,
}

/// Probabilities that are handled at once: those of all classes for a tile of rows, on the stack.
const SCORES: usize = 16 * MOST_CLASSES;

impl SoftmaxBags {
    /// # Errors
    /// Unless there are 2 to [`MOST_CLASSES`] classes.
    pub fn new(groups: Groups, classes: usize) -> Result<Self, InvalidSetting> {
        if (2..=MOST_CLASSES).contains(&classes) {
            Ok(SoftmaxBags { groups, classes })
        } else {
            let expected = format!("a number from 2 to {MOST_CLASSES}");
            Err(InvalidSetting::new("classes", classes.to_string(), expected))
        }
    }

    /// The rows.
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// The coordinates of theta before the intercepts.
    pub fn penalised(&self) -> usize {
        self.classes * self.groups.width
    }

    /// The coordinates of theta that hold one feature, or the intercept, for all classes: a constant
    /// added to them changes no probability.
    pub fn shifts(&self) -> Vec<Vec<usize>> {
        let (width, classes) = (self.groups.width, self.classes);
        let mut shifts: Vec<Vec<usize>> =
            (0..width).map(|l| (0..classes).map(|c| c * width + l).collect()).collect();
        if self.groups.intercept {
            shifts.push((self.penalised()..self.penalised() + classes).collect());
        }
        shifts
    }

    /// The probabilities of all classes for all rows, group after group, C for each row.
    pub fn predictions(&self, theta: &[f64]) -> Vec<f64> {
        let mut out = Vec::with_capacity(self.groups.rows() * self.classes);
        let mut p = [0.0; SCORES];
        self.groups.tiles(0..self.groups.rows(), self.tile(), |rows, places| {
            let len = places.len();
            let p = &mut p[..len * self.classes];
            self.probabilities(theta, rows, len, p);
            for r in 0..len {
                out.extend(p.chunks_exact(len).map(|p| p[r]));
            }
        });
        out
    }

    /// Where to begin: no coefficients, and the intercepts at which every row is predicted as the
    /// averages of the labels.
    pub fn start(&self, averages: &[f64]) -> Vec<f64> {
        let mut theta = vec![0.0; self.d()];
        if self.groups.intercept {
            let logs: Vec<f64> = averages.iter().map(|q| q.max(1e-3).natural_log()).collect();
            let mean = logs.iter().sum::<f64>() / logs.len() as f64;
            for (theta, log) in theta[self.penalised()..].iter_mut().zip(&logs) {
                *theta = log - mean;
            }
        }
        theta
    }

    #[inline(always)]
    fn of_class<'t>(&self, theta: &'t [f64], c: usize) -> (&'t [f64], f64) {
        let width = self.groups.width;
        let intercept = if self.groups.intercept { theta[self.penalised() + c] } else { 0.0 };
        (&theta[c * width..(c + 1) * width], intercept)
    }

    /// `p_c = softmax` of the scores of a row, in `out`.
    #[inline(always)]
    fn of_row(&self, theta: &[f64], row: &[f64], out: &mut [f64]) {
        let mut most = f64::NEG_INFINITY;
        for (c, out) in out.iter_mut().enumerate() {
            let (coefficients, intercept) = self.of_class(theta, c);
            *out = dot(row, coefficients) + intercept;
            most = if *out <= most { most } else { *out };
        }
        let mut total = 0.0;
        for out in &mut *out {
            *out = exp(*out - most);
            total += *out;
        }
        for out in out {
            *out /= total;
        }
    }

    /// Rows that are handled at once.
    #[inline(always)]
    fn tile(&self) -> usize {
        SCORES / self.classes
    }

    /// The probability of class c for row r as `p[c * len + r]`.
    #[inline(always)]
    fn probabilities(&self, theta: &[f64], rows: &[f64], len: usize, p: &mut [f64]) {
        let mut most = [f64::NEG_INFINITY; TILE];
        let mut total = [0.0; TILE];
        let (most, total) = (&mut most[..len], &mut total[..len]);
        for (c, scores) in p.chunks_exact_mut(len).enumerate() {
            let (coefficients, intercept) = self.of_class(theta, c);
            row_dots(rows, self.groups.width, coefficients, scores);
            update(scores, |score| score + intercept);
            update_with(most, scores, |most, score| if score <= most { most } else { score });
        }
        for scores in p.chunks_exact_mut(len) {
            update_with(scores, most, |t, most| exp(t - most));
            update_with(total, scores, |total, e| total + e);
        }
        update(total, |total| 1.0 / total);
        for scores in p.chunks_exact_mut(len) {
            update_with(scores, total, |e, share| e * share);
        }
    }

    /// Adds `sum_r c_r p_r` over the rows of a tile, a number for each class.
    #[inline(always)]
    fn add_sums(&self, places: &Range<usize>, p: &[f64], sums: &mut [f64]) {
        for (sum_c, p) in sums.iter_mut().zip(p.chunks_exact(places.len())) {
            *sum_c += self.groups.weighted_sum(places, p);
        }
    }

    /// From probabilities to what each row counts in the sum of products `P_r w`, with `P_r` the
    /// Jacobian of row r: `c c_r p_rk (w_k - <w, p_r>)` for class k.
    #[inline(always)]
    fn weights(&self, places: &Range<usize>, w: &[f64], c: f64, p: &mut [f64]) {
        let len = places.len();
        let mut inner = [0.0; TILE];
        let inner = &mut inner[..len];
        for (w, p) in w.iter().zip(p.chunks_exact(len)) {
            axpy(*w, p, inner);
        }
        for (w, p) in w.iter().zip(p.chunks_exact_mut(len)) {
            update_with(p, inner, |p, inner| c * p * (w - inner));
            self.groups.weigh(places, p);
        }
    }

    /// `out += sum over r and k of weights_kr (row r, in the place of class k)`
    #[inline(always)]
    fn add_rows(&self, rows: &[f64], len: usize, weights: &[f64], out: &mut [f64]) {
        let (width, penalised) = (self.groups.width, self.penalised());
        for (k, weights) in weights.chunks_exact(len).enumerate() {
            add_weighted_rows(rows, weights, &mut out[k * width..(k + 1) * width]);
            if self.groups.intercept {
                out[penalised + k] += sum(weights);
            }
        }
    }

    /// `out += c sum_r P_r w`. The sums of the probabilities go into `sums`.
    #[inline(always)]
    fn add_products(
        &self,
        theta: &[f64],
        range: Range<usize>,
        w: &[f64],
        c: f64,
        sums: &mut [f64],
        out: &mut [f64],
    ) {
        let mut p = [0.0; SCORES];
        self.groups.tiles(
            range,
            self.tile(),
            #[inline(always)]
            |rows, places| {
                let len = places.len();
                let p = &mut p[..len * self.classes];
                self.probabilities(theta, rows, len, p);
                self.add_sums(&places, p, sums);
                self.weights(&places, w, c, p);
                self.add_rows(rows, len, p, out);
            },
        );
    }

    /// Adds the sums of the probabilities of some rows to `sums`, and those of their gradients to
    /// `out`, C rows of length d: of class c along the coefficients of class k > c, `-p_c p_k`
    /// times the row. The rest follows, [`Self::complete`].
    #[inline(always)]
    fn add_jacobians(&self, theta: &[f64], range: Range<usize>, sums: &mut [f64], out: &mut [f64]) {
        let (d, width) = (self.d(), self.groups.width);
        let (mut p, mut weights) = ([0.0; SCORES], [0.0; TILE]);
        self.groups.tiles(
            range,
            self.tile(),
            #[inline(always)]
            |rows, places| {
                let len = places.len();
                let (p, weights) = (&mut p[..len * self.classes], &mut weights[..len]);
                self.probabilities(theta, rows, len, p);
                self.add_sums(&places, p, sums);
                for (c, out) in out.chunks_exact_mut(d).enumerate() {
                    for k in c + 1..self.classes {
                        weights.fill(-1.0);
                        update_with(weights, &p[c * len..(c + 1) * len], |t, p| t * p);
                        update_with(weights, &p[k * len..(k + 1) * len], |t, p| t * p);
                        self.groups.weigh(&places, weights);
                        add_weighted_rows(rows, weights, &mut out[k * width..(k + 1) * width]);
                        if self.groups.intercept {
                            out[self.penalised() + k] += sum(weights);
                        }
                    }
                }
            },
        );
    }

    /// What [`Self::add_jacobians`] left out: a Jacobian is symmetric in its two classes, and adds
    /// up to nothing over either.
    fn complete(&self, jacobian: &mut [f64]) {
        let (d, width, classes) = (self.d(), self.groups.width, self.classes);
        let coordinates = |k: usize| {
            let intercept = self.groups.intercept.then_some(self.penalised() + k);
            (k * width..(k + 1) * width).chain(intercept)
        };
        for c in 0..classes {
            for k in c + 1..classes {
                for (to_c, to_k) in coordinates(c).zip(coordinates(k)) {
                    let both = jacobian[c * d + to_k];
                    jacobian[k * d + to_c] = both;
                    jacobian[c * d + to_c] -= both;
                    jacobian[k * d + to_k] -= both;
                }
            }
        }
    }

    /// The sums of the probabilities of some rows, added to `sums`.
    #[inline(always)]
    fn add_probabilities(&self, theta: &[f64], range: Range<usize>, sums: &mut [f64]) {
        let mut p = [0.0; SCORES];
        self.groups.tiles(
            range,
            self.tile(),
            #[inline(always)]
            |rows, places| {
                let len = places.len();
                let p = &mut p[..len * self.classes];
                self.probabilities(theta, rows, len, p);
                self.add_sums(&places, p, sums);
            },
        );
    }
}

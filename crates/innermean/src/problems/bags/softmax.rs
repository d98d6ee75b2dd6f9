//! Several classes: the softmax link.

use super::{Groups, TILE};
use crate::exponential::exp;
use crate::inner::{Bounds, Inner};
use crate::setting::InvalidSetting;
use crate::vector::{add_weighted_rows, axpy, dot, prefetch, row_dots, sum, update_with};

/// At most so many classes: the probabilities of a row live on the stack.
pub const MOST_CLASSES: usize = 64;

/// `f_theta(x_i, y_ij) = softmax( <y_ij, theta_c> + intercept_c  for c = 1..C )`, ell = C. theta holds the coefficients of class after
/// class, and then the C intercepts. What is common to all classes changes nothing; started from zeros it stays zero.
#[derive(Debug, Clone)]
pub struct SoftmaxBags {
    groups: Groups,
    classes: usize,
}

/// For each class, the scores or probabilities of the rows of a tile.
type Tile = [[f64; TILE]];

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

    /// The probabilities of all classes for all rows, group after group, C for each row.
    pub fn predictions(&self, theta: &[f64]) -> Vec<f64> {
        let mut out = Vec::with_capacity(self.groups.rows() * self.classes);
        let mut tile = new_tile();
        self.groups.tiles(0..self.groups.rows(), |rows, len| {
            self.probabilities(theta, rows, len, &mut tile);
            for r in 0..len {
                out.extend(tile[..self.classes].iter().map(|p| p[r]));
            }
        });
        out
    }

    /// Where to begin: no coefficients, and the intercepts at which every row is predicted as the averages of the labels.
    pub fn start(&self, averages: &[f64]) -> Vec<f64> {
        let mut theta = vec![0.0; self.d()];
        if self.groups.intercept {
            let logs: Vec<f64> = averages.iter().map(|q| q.max(1e-3).ln()).collect();
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

    /// `tile_c[r]` = the probability of class c for row r.
    #[inline(always)]
    fn probabilities(&self, theta: &[f64], rows: &[f64], len: usize, tile: &mut Tile) {
        let tile = &mut tile[..self.classes];
        let mut most = [f64::NEG_INFINITY; TILE];
        let mut total = [0.0; TILE];
        let (most, total) = (&mut most[..len], &mut total[..len]);
        for (c, scores) in tile.iter_mut().enumerate() {
            let (coefficients, intercept) = self.of_class(theta, c);
            row_dots(rows, self.groups.width, coefficients, &mut scores[..len]);
            for (score, most) in scores[..len].iter_mut().zip(&mut *most) {
                *score += intercept;
                *most = if *score <= *most { *most } else { *score };
            }
        }
        for scores in &mut *tile {
            update_with(&mut scores[..len], most, |t, most| exp(t - most));
            update_with(total, scores, |total, e| total + e);
        }
        for scores in tile {
            update_with(&mut scores[..len], total, |e, total| e / total);
        }
    }

    /// `out += c sum_r P_r w`, `P_r` the Jacobian of row r: `coefficient_rc = p_rc (w_c - <w, p_r>)` times the row for each class.
    /// The sums of the probabilities go into `sums`.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "the formula has as many")]
    fn add_products(
        &self,
        theta: &[f64],
        range: std::ops::Range<usize>,
        w: &[f64],
        c: f64,
        tile: &mut Tile,
        sums: &mut [f64],
        out: &mut [f64],
    ) {
        let (width, penalised) = (self.groups.width, self.penalised());
        self.groups.tiles(
            range,
            #[inline(always)]
            |rows, len| {
                self.probabilities(theta, rows, len, tile);
                let mut inner = [0.0; TILE];
                let inner = &mut inner[..len];
                for (k, p) in tile[..self.classes].iter().enumerate() {
                    sums[k] += sum(&p[..len]);
                    axpy(w[k], &p[..len], inner);
                }
                for (k, p) in tile[..self.classes].iter_mut().enumerate() {
                    update_with(&mut p[..len], inner, |p, inner| c * p * (w[k] - inner));
                    add_weighted_rows(rows, &p[..len], &mut out[k * width..(k + 1) * width]);
                    if self.groups.intercept {
                        out[penalised + k] += sum(&p[..len]);
                    }
                }
            },
        );
    }

    /// The sums of the probabilities of some rows, added to `sums`.
    #[inline(always)]
    fn add_probabilities(
        &self,
        theta: &[f64],
        range: std::ops::Range<usize>,
        tile: &mut Tile,
        sums: &mut [f64],
    ) {
        self.groups.tiles(
            range,
            #[inline(always)]
            |rows, len| {
                self.probabilities(theta, rows, len, tile);
                for (sum_c, p) in sums.iter_mut().zip(&tile[..self.classes]) {
                    *sum_c += sum(&p[..len]);
                }
            },
        );
    }
}

fn new_tile() -> Vec<[f64; TILE]> {
    vec![[0.0; TILE]; MOST_CLASSES]
}

impl Inner for SoftmaxBags {
    #[inline(always)]
    fn d(&self) -> usize {
        self.classes * self.groups.coefficients()
    }

    #[inline(always)]
    fn ell(&self) -> usize {
        self.classes
    }

    #[inline(always)]
    fn n_x(&self) -> usize {
        self.groups.count()
    }

    #[inline(always)]
    fn n_y(&self, i: usize) -> usize {
        self.groups.size(i)
    }

    /// The Jacobian of a softmax, `diag(p) - p p'`, is at most 1/2.
    fn bounds(&self) -> Bounds {
        Bounds { b_f: Some(self.groups.longest / 2.0), ..Bounds::default() }
    }

    #[inline(always)]
    fn prefetch(&self, i: usize, j: usize) {
        let row = self.groups.starts[i] + j;
        prefetch(&self.groups.rows, row * self.groups.width, self.groups.width);
    }

    #[inline(always)]
    fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
        self.of_row(theta, self.groups.row(self.groups.starts[i] + j), out);
    }

    #[inline(always)]
    fn add_jac_t(&self, theta: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        let row = self.groups.row(self.groups.starts[i] + j);
        let mut p = [0.0; MOST_CLASSES];
        let p = &mut p[..self.classes];
        self.of_row(theta, row, p);
        let inner = dot(p, w);
        for (k, p) in p.iter().enumerate() {
            let weight = c * p * (w[k] - inner);
            axpy(weight, row, &mut out[k * row.len()..(k + 1) * row.len()]);
            if self.groups.intercept {
                out[self.penalised() + k] += weight;
            }
        }
    }

    fn mean(&self, theta: &[f64], i: usize, _: &mut [f64], out: &mut [f64]) {
        out.fill(0.0);
        self.add_probabilities(theta, self.groups.range(i), &mut new_tile(), out);
        for out in out {
            *out /= self.n_y(i) as f64;
        }
    }

    fn add_mean_jac_t(&self, theta: &[f64], i: usize, w: &[f64], c: f64, out: &mut [f64]) {
        let (mut tile, mut sums) = (new_tile(), [0.0; MOST_CLASSES]);
        let share = c / self.n_y(i) as f64;
        self.add_products(theta, self.groups.range(i), w, share, &mut tile, &mut sums, out);
    }

    fn means(&self, theta: &[f64], out: &mut [f64]) {
        let (classes, segments) = (self.classes, &self.groups.segments);
        let mut sums = vec![0.0; segments.len() * classes];
        self.groups.blocks.fill(
            classes,
            &mut sums,
            #[inline(always)]
            |range, sums| {
                let mut tile = new_tile();
                for (segment, sums) in segments[range].iter().zip(sums.chunks_exact_mut(classes)) {
                    self.add_probabilities(theta, segment.rows.clone(), &mut tile, sums);
                }
            },
        );
        self.groups.reduce(classes, &sums, out);
    }

    fn add_weighted_jac_t(&self, theta: &[f64], w: &[f64], out: &mut [f64]) {
        let (classes, segments) = (self.classes, &self.groups.segments);
        self.groups.blocks.add(
            1.0 / self.n_x() as f64,
            out,
            #[inline(always)]
            |range, partial| {
                let (mut tile, mut sums) = (new_tile(), [0.0; MOST_CLASSES]);
                for segment in &segments[range] {
                    let w = &w[segment.group * classes..(segment.group + 1) * classes];
                    let share = 1.0 / self.n_y(segment.group) as f64;
                    self.add_products(theta, segment.rows.clone(), w, share, &mut tile, &mut sums, partial);
                }
            },
        );
    }

    /// Averages and weighted Jacobians in one sweep over the rows.
    fn snapshot(&self, theta: &[f64], w: &[f64], f_bar: &mut [f64], u: &mut [f64]) {
        let (classes, segments) = (self.classes, &self.groups.segments);
        let mut sums = vec![0.0; segments.len() * classes];
        u.fill(0.0);
        self.groups.blocks.fill_and_add(
            classes,
            &mut sums,
            1.0 / self.n_x() as f64,
            u,
            #[inline(always)]
            |range, sums, partial| {
                let mut tile = new_tile();
                for (segment, sums) in segments[range].iter().zip(sums.chunks_exact_mut(classes)) {
                    let w = &w[segment.group * classes..(segment.group + 1) * classes];
                    let share = 1.0 / self.n_y(segment.group) as f64;
                    self.add_products(theta, segment.rows.clone(), w, share, &mut tile, sums, partial);
                }
            },
        );
        self.groups.reduce(classes, &sums, f_bar);
    }
}

//! The mean Jacobians and offsets of an affine f, in double-double arithmetic from its single
//! values.

use serde::{Deserialize, Serialize};

use super::{Double, Form, form};
use crate::model::inner::{CentredRows, Inner, ProjectedRows};

/// Rows whose products are added up side by side.
const ABREAST: usize = 4;

/// `fbar_r(theta) = <a_r, theta> + b_r` for all rows `r = i ell + c`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Rows {
    #[serde(with = "crate::run::checkpoint::shape::fixed")]
    d: usize,
    #[serde(with = "crate::run::checkpoint::shape::fixed")]
    n_x: usize,
    a: Vec<Double>,
    b: Vec<Double>,
    /// Where rows are centred, their mean, and the same as it was rounded.
    mean: Option<(Vec<Double>, Vec<f64>)>,
}

impl Rows {
    /// Averages the rows of all pairs of an affine f, each taken as f computes it.
    pub(crate) fn new(f: &dyn Inner) -> Self {
        let (d, ell, n_x) = (f.d(), f.ell(), f.n_x());
        let mut rows = Rows {
            d,
            n_x,
            a: vec![Double::ZERO; n_x * ell * d],
            b: vec![Double::ZERO; n_x * ell],
            mean: None,
        };
        if let Some(centred) = f.centred_rows() {
            rows.fill_centred(&centred);
            return rows;
        }
        if let Some(given) = f.projected_rows() {
            rows.fill_projected(&given);
            return rows;
        }
        if n_x > 0 && f.transition_row(0, 0).is_some() {
            (0..n_x).for_each(|i| rows.fill_transitions(f, i));
            return rows;
        }
        let origin = vec![0.0; d];
        let (mut value, mut work, mut jacobian) =
            (vec![0.0; ell], vec![0.0; ell], vec![0.0; ell * d]);
        for i in 0..n_x {
            let count = f.n_y(i);
            let (a, b) = (&mut rows.a[i * ell * d..][..ell * d], &mut rows.b[i * ell..][..ell]);
            for j in 0..count {
                f.value(&origin, i, j, &mut value);
                f.jacobian(&origin, i, j, &mut work, &mut jacobian);
                a.iter_mut().zip(&jacobian).for_each(|(sum, x)| *sum += Double::from(*x));
                b.iter_mut().zip(&value).for_each(|(sum, x)| *sum += Double::from(*x));
            }
            if count > 1 {
                let count = Double::from(count as f64);
                a.iter_mut().chain(b).for_each(|sum| *sum = *sum / count);
            }
        }
        rows
    }

    /// `x_i - m`, and what is added to it
    fn fill_centred(&mut self, centred: &CentredRows<'_>) {
        let CentredRows { rows, mean: rounded, weights, offsets } = *centred;
        let d = rounded.len();
        let n = Double::from(self.n_x as f64);
        let mut mean = vec![Double::ZERO; d];
        if weights.is_empty() {
            rows.each_row(d, |_, row| {
                mean.iter_mut().zip(row).for_each(|(sum, x)| *sum = sum.plus(*x));
            });
        }
        rows.each_row(d, |i, row| {
            let Some(weight) = weights.get(i).map(|weight| Double::from(*weight)) else { return };
            mean.iter_mut().zip(row).for_each(|(sum, x)| *sum += weight * Double::from(*x));
        });
        self.b.iter_mut().zip(offsets).for_each(|(b, offset)| *b = Double::from(*offset));
        for sum in &mut mean {
            *sum = *sum / n;
        }
        rows.each_row(d, |i, row| {
            let out = self.a[i * d..(i + 1) * d].iter_mut();
            for ((out, x), mean) in out.zip(row).zip(&mean) {
                *out = (-*mean).plus(*x);
            }
        });
        self.mean = Some((mean, rounded.to_vec()));
    }

    /// `b - A theta`
    fn fill_projected(&mut self, given: &ProjectedRows<'_>) {
        let (d, discount) = (self.d, Double::from(given.discount));
        let (shares, left) = (form::shares(given), form::left_factors(given));
        let ell = self.b.len();
        for (t, share) in shares.iter().enumerate() {
            let (now, next) = (&given.features[t * d..][..d], &given.next_features[t * d..][..d]);
            let reward = Double::from(given.rewards[t]);
            let drop = |l: usize| Double::from(now[l]) - discount * Double::from(next[l]);
            let drops: Vec<Double> = (0..d).map(drop).collect();
            let left = left[t * ell..(t + 1) * ell].iter().enumerate();
            for (r, x) in left.filter(|(_, x)| x.hi != 0.0) {
                let scaled = *share * *x;
                self.b[r] += scaled * reward;
                let row = self.a[r * d..(r + 1) * d].iter_mut();
                row.zip(&drops).for_each(|(sum, drop)| *sum -= scaled * *drop);
            }
        }
    }

    /// `Psi_i - discount sum_j p_ij Psi_ij` and `-sum_j p_ij r_ij` of term i.
    fn fill_transitions(&mut self, f: &dyn Inner, i: usize) {
        let a = &mut self.a[i * self.d..(i + 1) * self.d];
        let pairs = || (0..f.n_y(i)).filter_map(|j| f.transition_row(i, j));
        let total = pairs().fold(Double::ZERO, |sum, pair| sum + Double::from(pair.weight));
        for (j, pair) in pairs().enumerate() {
            if j == 0 {
                a.iter_mut().zip(pair.now).for_each(|(a, x)| *a = Double::from(*x));
            }
            let weight = Double::from(pair.weight);
            let share = if pair.is_probability { weight } else { weight / total };
            self.b[i] -= share * Double::from(pair.reward);
            let share = share * Double::from(pair.discount);
            for (a, x) in a.iter_mut().zip(pair.next.into_iter().flatten()) {
                *a -= share * Double::from(*x);
            }
        }
    }

    /// The rows of the only term as those of a sum of squares, `u' C^-1 u / 2 = |L^-1 u|^2 / 2`.
    pub(crate) fn whitened(mut self, form: &Form) -> Self {
        let (d, ell) = (self.d, self.len());
        for l in 0..d {
            let mut column: Vec<Double> = (0..ell).map(|r| self.a[r * d + l]).collect();
            form.whiten(&mut column);
            column.iter().enumerate().for_each(|(r, x)| self.a[r * d + l] = *x);
        }
        form.whiten(&mut self.b);
        self
    }

    /// What is to be added to a tilt that is minus the mean of centred rows, which was rounded.
    pub(crate) fn tilt_correction(&self, l: usize, tilt: f64) -> Double {
        match &self.mean {
            Some((mean, rounded)) if tilt == -rounded[l] => Double::from(rounded[l]) - mean[l],
            _ => Double::ZERO,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.b.len()
    }

    pub(crate) fn row(&self, r: usize) -> &[Double] {
        &self.a[r * self.d..(r + 1) * self.d]
    }

    /// `fbar_r(theta)` for all r.
    pub(crate) fn means(&self, theta: &[Double]) -> Vec<Double> {
        self.products(theta, self.b.clone())
    }

    /// `<a_r, x>` for all r.
    pub(crate) fn linear(&self, x: &[Double]) -> Vec<Double> {
        self.products(x, vec![Double::ZERO; self.len()])
    }

    /// `sums_r + <a_r, x>` for all r. Additions of a row wait for one another, those of rows side by
    /// side do not.
    fn products(&self, x: &[Double], mut sums: Vec<Double>) -> Vec<Double> {
        let d = self.d.max(1);
        for (rows, sums) in self.a.chunks(ABREAST * d).zip(sums.chunks_mut(ABREAST)) {
            if sums.len() < ABREAST {
                for (row, sum) in rows.chunks_exact(d).zip(sums) {
                    row.iter().zip(x).for_each(|(a, x)| *sum += *a * *x);
                }
                continue;
            }
            let mut own = [Double::ZERO; ABREAST];
            own.copy_from_slice(sums);
            let [first, second, third, last] = [0, 1, 2, 3].map(|k| &rows[k * d..][..d]);
            let columns = first.iter().zip(second).zip(third.iter().zip(last)).zip(x);
            for (((a, b), (c, e)), x) in columns {
                own = [own[0] + *a * *x, own[1] + *b * *x, own[2] + *c * *x, own[3] + *e * *x];
            }
            sums.copy_from_slice(&own);
        }
        sums
    }

    /// `(1/n_X) sum_r |w_r a_rl|`
    pub(crate) fn size(&self, l: usize, w: &[Double]) -> f64 {
        let sum: f64 = w.iter().enumerate().map(|(r, w)| (w.hi * self.row(r)[l].hi).abs()).sum();
        sum / self.n_x as f64
    }

    /// `(1/n_X) sum_r w_r a_r`
    pub(crate) fn weighted(&self, w: &[Double]) -> Vec<Double> {
        let mut sum = vec![Double::ZERO; self.d];
        for (row, w) in self.a.chunks_exact(self.d.max(1)).zip(w) {
            if w.hi != 0.0 {
                sum.iter_mut().zip(row).for_each(|(sum, a)| *sum += *a * *w);
            }
        }
        let n = Double::from(self.n_x as f64);
        for sum in &mut sum {
            *sum = *sum / n;
        }
        sum
    }

    /// `(1/n_X) sum_r weight_r a_r a_r'` on and below the diagonal.
    pub(crate) fn gram(&self, weights: &[f64]) -> Vec<Double> {
        let d = self.d;
        let mut matrix = vec![Double::ZERO; d * d];
        for (row, weight) in self.a.chunks_exact(d.max(1)).zip(weights) {
            if *weight == 0.0 {
                continue;
            }
            for (r, a) in row.iter().enumerate() {
                let scaled = *a * Double::from(*weight);
                for (entry, b) in matrix[r * d..=r * d + r].iter_mut().zip(row) {
                    *entry += scaled * *b;
                }
            }
        }
        let n = Double::from(self.n_x as f64);
        for entry in &mut matrix {
            *entry = *entry / n;
        }
        matrix
    }
}

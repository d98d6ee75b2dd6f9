//! Mean and covariance of rows that come in pieces and are not kept.
//!
//! A quadratic problem knows its rows by their number, mean and covariance alone. A piece gives its
//! own mean m and `S = sum_i (x_i - m) (x_i - m)'`; two pieces are joined by
//!
//! ```text
//! m = m_a + (n_b / n) delta,   S = S_a + S_b + (n_a n_b / n) delta delta',   delta = m_b - m_a
//! ```
//!
//! (Chan, Golub and `LeVeque`, "Updating Formulae and a Pairwise Algorithm for Computing Sample
//! Variances", 1979). Means have twice the precision, so that those far from zero take no digits
//! from deviations. Pieces are joined by a binary tree that their order alone determines, whoever
//! has computed them, and all that is added to S is positive semidefinite: by Cauchy and Schwarz
//! `S_jk` is wrong by at most [`RowMoments::roundings`] units of rounding of `(S_jj S_kk)^(1/2)`.

use rayon::prelude::*;

use crate::linalg::gram;
use crate::linalg::precise::Double;
use crate::linalg::scalar::power_of_two_near;

/// Mean and covariance of some rows.
///
/// ```
/// use innermean::RowMoments;
///
/// let rows = [1.0, 10.0, 3.0, 14.0, 2.0, 12.0, 6.0, 20.0];
/// let mut all = RowMoments::new(2);
/// all.push(RowMoments::of_rows(2, &rows[..4], None));
/// all.push(RowMoments::of_rows(2, &rows[4..], None));
/// let all = all.whole();
/// assert_eq!((all.rows(), all.mean()), (4, vec![3.0, 14.0]));
/// assert_eq!(all.covariance(0, 1), 7.0);
/// ```
#[derive(Debug, Clone)]
pub struct RowMoments {
    d: usize,
    /// The pieces so far, joined like the digits of a binary number: each with how often it was
    /// joined, which falls from one to the next.
    parts: Vec<(u32, Part)>,
}

/// What is known of a piece.
#[derive(Debug, Clone)]
struct Part {
    rows: u64,
    /// The sum of the weights, n where there are none.
    mass: f64,
    mean: Vec<Double>,
    /// S, on and below its diagonal
    scatter: Vec<f64>,
    least: Vec<f64>,
    most: Vec<f64>,
    /// The rows that were added up one by one, at most.
    longest: usize,
    joins: u32,
}

/// The unit of rounding of double precision.
const UNIT: f64 = 0.5 * f64::EPSILON;

impl RowMoments {
    /// Of no rows of length d.
    pub fn new(d: usize) -> Self {
        RowMoments { d, parts: Vec::new() }
    }

    /// Of a piece, with a weight for each row if they do not all count alike. All numbers must be
    /// finite.
    ///
    /// # Panics
    /// Unless all rows are whole and have a weight.
    pub fn of_rows(d: usize, rows: &[f64], weights: Option<&[f64]>) -> Self {
        let n = rows.len() / d.max(1);
        assert_eq!(n * d, rows.len(), "rows of length {d}");
        let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
        let mass: f64 = (0..n).map(weight).sum();
        if mass <= 0.0 {
            return RowMoments::new(d);
        }
        let mut about = vec![0.0; d];
        for (i, row) in rows.chunks_exact(d).enumerate() {
            about.iter_mut().zip(row).for_each(|(sum, x)| *sum += weight(i) / mass * x);
        }
        // The mean is rounded; what it is off by is known to twice the precision.
        let mut off = vec![Double::ZERO; d];
        let (mut least, mut most) = (rows[..d].to_vec(), rows[..d].to_vec());
        for (i, row) in rows.chunks_exact(d).enumerate() {
            for (l, x) in row.iter().enumerate() {
                let deviation = Double::sum(*x, -about[l]);
                off[l] +=
                    if weights.is_none() { deviation } else { deviation * Double::from(weight(i)) };
                (least[l], most[l]) = (least[l].min(*x), most[l].max(*x));
            }
        }
        let off: Vec<Double> = off.into_iter().map(|sum| sum / Double::from(mass)).collect();
        let mut scatter = gram::of_centred_rows(d, rows, &about, &weight);
        add_square(&mut scatter, d, -mass, &off.iter().map(|x| x.value()).collect::<Vec<_>>());
        let mean = about.iter().zip(off).map(|(m, off)| Double::from(*m) + off).collect();
        let part = Part { rows: n as u64, mass, mean, scatter, least, most, longest: n, joins: 0 };
        RowMoments { d, parts: vec![(0, part)] }
    }

    /// Adds a piece behind those before. Whether the pieces before it were joined already changes
    /// no bit, but the order and the sizes of pieces do.
    ///
    /// # Panics
    /// If its rows have another length.
    pub fn push(&mut self, piece: RowMoments) {
        assert_eq!(self.d, piece.d, "rows of one length");
        for (_, part) in piece.parts {
            let mut level = 0;
            let mut joined = part;
            while self.parts.last().is_some_and(|(last, _)| *last == level) {
                let (_, before) = self.parts.pop().expect("it is there");
                joined = before.join(&joined, self.d);
                level += 1;
            }
            self.parts.push((level, joined));
        }
    }

    /// Adds pieces, of which each has rows and, if they do not all count alike, weights: computed by
    /// all threads, joined in their order.
    pub fn extend(&mut self, pieces: &[(Vec<f64>, Option<Vec<f64>>)]) {
        let d = self.d;
        let of_piece = |(rows, weights): &(Vec<f64>, Option<Vec<f64>>)| {
            RowMoments::of_rows(d, rows, weights.as_deref())
        };
        let found: Vec<RowMoments> = pieces.par_iter().map(of_piece).collect();
        for piece in found {
            self.push(piece);
        }
    }

    /// All pieces joined to one.
    #[must_use]
    pub fn whole(mut self) -> Self {
        let Some((mut level, mut joined)) = self.parts.pop() else { return self };
        while let Some((before_level, before)) = self.parts.pop() {
            (level, joined) = (before_level, before.join(&joined, self.d));
        }
        self.parts.push((level, joined));
        self
    }

    /// The length of a row.
    pub fn d(&self) -> usize {
        self.d
    }

    /// How many rows there were.
    pub fn rows(&self) -> u64 {
        self.parts.iter().map(|(_, part)| part.rows).sum()
    }

    fn part(&self) -> Option<&Part> {
        debug_assert!(self.parts.len() < 2, "pieces are joined by `whole` first");
        self.parts.last().map(|(_, part)| part)
    }

    /// The mean of each column, after [`Self::whole`].
    pub fn mean(&self) -> Vec<f64> {
        self.part().map_or(Vec::new(), |part| part.mean.iter().map(|m| m.value()).collect())
    }

    /// The mean of products of deviations, after [`Self::whole`].
    pub fn covariance(&self, j: usize, k: usize) -> f64 {
        let at = j.max(k) * self.d + j.min(k);
        self.part().map_or(f64::NAN, |part| part.scatter[at] / part.mass)
    }

    /// What [`Self::mean`] is off the mean, which has twice the precision.
    fn rest(&self) -> Vec<f64> {
        let off = |m: &Double| (*m - Double::from(m.value())).value();
        self.part().map_or(Vec::new(), |part| part.mean.iter().map(off).collect())
    }

    /// Columns that are the same in all rows, after [`Self::whole`].
    pub fn constant(&self) -> Vec<usize> {
        let Some(part) = self.part() else { return Vec::new() };
        (0..self.d).filter(|&l| part.least[l] == part.most[l]).collect()
    }

    /// Units of rounding by which a covariance may be wrong, of the root of the two variances.
    pub fn roundings(&self) -> u32 {
        // Three for a deviation and its product, five for what a join adds, three for the mean.
        let most = self.parts.iter().map(|(_, p)| p.longest as u32 + 5 * p.joins + 6).max();
        most.unwrap_or(0) + 5 * self.parts.len() as u32
    }

    /// Rows with the covariance of those that were read, and with their mean less [`Self::mean`],
    /// and the units of rounding by which mean products of theirs may be off: with `r_i` of
    /// [`Self::roots`], `rest + r_i` and `rest - r_i`.
    pub fn symmetric_rows(&self) -> (Vec<f64>, u32) {
        let (roots, units) = self.roots();
        let rest = self.rest();
        let mut rows = Vec::with_capacity(2 * roots.len());
        for root in roots.chunks_exact(self.d.max(1)) {
            rows.extend(rest.iter().zip(root).map(|(m, x)| m + x));
            rows.extend(rest.iter().zip(root).map(|(m, x)| m - x));
        }
        (rows, units + 4)
    }

    /// Rows with the mean products of those that were read, and the units of rounding by which these
    /// may be off: with `r_i` of [`Self::roots`], `(1 + 1/k)^(1/2) r_i` and `(k + 1)^(1/2) m`.
    pub fn rows_about_zero(&self) -> (Vec<f64>, u32) {
        let (mut rows, units) = self.roots();
        let k = (rows.len() / self.d.max(1)) as f64;
        for x in &mut rows {
            *x *= ((k + 1.0) / k).sqrt();
        }
        rows.extend(self.mean().iter().map(|m| m * (k + 1.0).sqrt()));
        (rows, units + 8)
    }

    /// Rows `r_i` with `(1/k) sum_i r_i r_i'` the covariance, one after the other, and the units of
    /// rounding by which that is off the rows that were read.
    ///
    /// Cholesky's factor, with the largest pivot first, of columns brought to one size.
    pub fn roots(&self) -> (Vec<f64>, u32) {
        let d = self.d;
        let sizes: Vec<f64> = (0..d)
            .map(|l| match self.covariance(l, l).sqrt() {
                size if size > 0.0 && size.is_finite() => power_of_two_near(size),
                _ => 1.0,
            })
            .collect();
        let scaled = |j: usize, k: usize| self.covariance(j, k) / sizes[j] / sizes[k];
        let mut left: Vec<f64> = (0..d * d).map(|at| scaled(at / d, at % d)).collect();
        // The rounding error of a column of size about 1 after d steps.
        let least = 4.0 * UNIT * d as f64;
        let mut open: Vec<usize> = (0..d).collect();
        let mut roots = Vec::new();
        while let Some(place) = (0..open.len())
            .max_by(|&a, &b| left[open[a] * (d + 1)].total_cmp(&left[open[b] * (d + 1)]))
        {
            let pivot = open[place];
            let size = left[pivot * (d + 1)];
            if size <= least {
                break;
            }
            open.remove(place);
            let root = size.sqrt();
            let mut row = vec![0.0; d];
            row[pivot] = root;
            for &l in &open {
                row[l] = left[pivot.max(l) * d + pivot.min(l)] / root;
            }
            for &j in &open {
                for &k in open.iter().filter(|k| **k <= j) {
                    left[j * d + k] -= row[j] * row[k];
                }
            }
            roots.extend(row.iter().zip(&sizes).map(|(x, size)| x * size));
        }
        let k = (roots.len() / d.max(1)) as f64;
        for x in &mut roots {
            *x *= k.sqrt();
        }
        if roots.is_empty() {
            roots.resize(d, 0.0);
        }
        (roots, self.roundings() + 10 * d as u32 + 8)
    }
}

impl Part {
    fn join(mut self, other: &Part, d: usize) -> Part {
        let mass = self.mass + other.mass;
        let share = Double::from(other.mass) / Double::from(mass);
        let delta: Vec<Double> = other.mean.iter().zip(&self.mean).map(|(b, a)| *b - *a).collect();
        self.mean.iter_mut().zip(&delta).for_each(|(mean, delta)| *mean += *delta * share);
        self.scatter.iter_mut().zip(&other.scatter).for_each(|(sum, x)| *sum += x);
        let rounded: Vec<f64> = delta.iter().map(|delta| delta.value()).collect();
        add_square(&mut self.scatter, d, self.mass * (other.mass / mass), &rounded);
        self.least.iter_mut().zip(&other.least).for_each(|(a, b)| *a = a.min(*b));
        self.most.iter_mut().zip(&other.most).for_each(|(a, b)| *a = a.max(*b));
        Part {
            rows: self.rows + other.rows,
            mass,
            longest: self.longest.max(other.longest),
            joins: self.joins.max(other.joins) + 1,
            ..self
        }
    }
}

/// `matrix += c v v'`, on and below the diagonal.
fn add_square(matrix: &mut [f64], d: usize, c: f64, v: &[f64]) {
    for (j, row) in matrix.chunks_exact_mut(d).enumerate() {
        let of_row = c * v[j];
        row[..=j].iter_mut().zip(v).for_each(|(sum, x)| *sum += of_row * x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look random, of deviation about 1.
    fn noise(count: usize) -> Vec<f64> {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        (0..count).map(|_| next() + next() + next()).collect()
    }

    fn in_pieces(d: usize, rows: &[f64], piece: usize) -> RowMoments {
        let mut all = RowMoments::new(d);
        rows.chunks(piece * d).for_each(|rows| all.push(RowMoments::of_rows(d, rows, None)));
        all.whole()
    }

    /// Means 10^6 times the deviation, and drifting: twelve digits stay.
    #[test]
    fn far_from_zero_twelve_digits_stay() {
        let (d, n) = (5, 5003);
        let mut rows = noise(n * d);
        for (at, x) in rows.iter_mut().enumerate() {
            *x += 1e6 * (1.0 + (at % d) as f64) + at as f64 / (n * d) as f64;
        }
        let all = in_pieces(d, &rows, 64);
        assert_eq!(all.rows(), n as u64);
        let column = |l: usize| rows.iter().skip(l).step_by(d);
        let mean = |l: usize| {
            let sum = column(l).fold(Double::ZERO, |sum, x| sum + Double::from(*x));
            sum / Double::from(n as f64)
        };
        let means: Vec<Double> = (0..d).map(mean).collect();
        for j in 0..d {
            assert!((all.mean()[j] - means[j].value()).abs() <= 1e-9 * f64::EPSILON.sqrt());
            for k in 0..=j {
                let products = column(j)
                    .zip(column(k))
                    .map(|(a, b)| (Double::from(*a) - means[j]) * (Double::from(*b) - means[k]));
                let sum = products.fold(Double::ZERO, |sum, x| sum + x).value() / n as f64;
                let size = (all.covariance(j, j) * all.covariance(k, k)).sqrt();
                let off = (all.covariance(j, k) - sum).abs() / size;
                assert!(off <= 1e-14, "{j} {k}: {off:e}");
                assert!(off <= UNIT * f64::from(all.roundings()));
            }
        }
    }

    #[test]
    fn roots_give_the_covariance_back() {
        let (d, n) = (4, 300);
        let mut rows = noise(n * d);
        for row in rows.chunks_exact_mut(d) {
            row[1] *= 1e-8;
            row[2] = row[0] + 2e8 * row[1];
        }
        let all = in_pieces(d, &rows, 50);
        let (roots, units) = all.roots();
        let k = roots.len() / d;
        assert_eq!(k, 3, "one column is made of two others");
        for j in 0..d {
            for l in 0..d {
                let sum: f64 = roots.chunks_exact(d).map(|r| r[j] * r[l]).sum::<f64>() / k as f64;
                let size = (all.covariance(j, j) * all.covariance(l, l)).sqrt();
                assert!((sum - all.covariance(j, l)).abs() <= UNIT * f64::from(units) * size);
            }
        }
    }

    /// A row of weight 2 is two rows, and one of weight 0 none.
    #[test]
    fn weights_count_rows() {
        let rows = noise(12);
        let weights = [1.0, 2.0, 0.0, 1.0];
        let weighted = RowMoments::of_rows(3, &rows, Some(&weights));
        let mut written: Vec<f64> = rows[..6].to_vec();
        written.extend(&rows[3..6]);
        written.extend(&rows[9..]);
        let plain = RowMoments::of_rows(3, &written, None);
        for j in 0..3 {
            assert!((weighted.mean()[j] - plain.mean()[j]).abs() < 1e-15);
            assert!((weighted.covariance(j, 1) - plain.covariance(j, 1)).abs() < 1e-15);
        }
        assert_eq!(RowMoments::of_rows(3, &rows, Some(&[0.0; 4])).rows(), 0);
    }

    #[test]
    fn what_never_changes_is_known() {
        let rows = [1.0, 0.1, 2.0, 0.1, 3.0, 0.1];
        assert_eq!(in_pieces(2, &rows, 1).constant(), [1]);
        assert_eq!(in_pieces(2, &rows, 1).covariance(1, 1), 0.0);
    }
}

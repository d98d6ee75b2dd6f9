//! How large Jacobians are: what default steps are made of.

use super::{Inner, blocks};
use crate::linalg::blocks::Blocks;
use crate::linalg::vector::{axpy, distance_squared, norm_squared};

/// Jacobians of single terms, one at a time, at the coordinates that the term looks at: all of
/// them, or its support.
pub(crate) struct Jacobians<'f> {
    f: &'f dyn Inner,
    theta: &'f [f64],
    unit: Vec<f64>,
    /// All zeros between two calls.
    whole: Vec<f64>,
    rows: Vec<f64>,
}

impl<'f> Jacobians<'f> {
    pub(crate) fn new(f: &'f dyn Inner, theta: &'f [f64]) -> Self {
        Jacobians { f, theta, unit: vec![0.0; f.ell()], whole: vec![0.0; f.d()], rows: Vec::new() }
    }

    /// `fbar_i'(theta)`: ell rows, one after the other, each of as many numbers as term i has
    /// coordinates.
    pub(crate) fn mean(&mut self, i: usize) -> &[f64] {
        let (f, theta) = (self.f, self.theta);
        self.rows_of(i, |unit, row| f.add_mean_jac_t(theta, i, unit, 1.0, row))
    }

    /// `f'_theta(x_i, y_ij)` likewise.
    pub(crate) fn pair(&mut self, i: usize, j: usize) -> &[f64] {
        let (f, theta) = (self.f, self.theta);
        self.rows_of(i, |unit, row| f.add_jac_t(theta, i, j, unit, 1.0, row))
    }

    fn rows_of(&mut self, i: usize, product: impl Fn(&[f64], &mut [f64])) -> &[f64] {
        let Jacobians { f, unit, whole, rows, .. } = self;
        rows.clear();
        for c in 0..f.ell() {
            unit[c] = 1.0;
            product(unit, whole);
            unit[c] = 0.0;
            if let Some(support) = f.support(i) {
                rows.extend(support.iter().map(|&l| std::mem::take(&mut whole[l as usize])));
            } else {
                rows.extend_from_slice(whole);
                whole.fill(0.0);
            }
        }
        rows
    }
}

/// Calls `each` with the mean Jacobians of some terms in turn: those of an f whose calls are dear
/// by few of them.
fn each_mean(f: &dyn Inner, theta: &[f64], terms: &[usize], mut each: impl FnMut(&[f64])) {
    if !f.facts().calls_are_dear {
        let mut jacobians = Jacobians::new(f, theta);
        return terms.iter().for_each(|&i| each(jacobians.mean(i)));
    }
    let (ell, size) = (f.ell(), f.ell() * f.d());
    for terms in terms.chunks((MOST_NUMBERS / size.max(1)).max(1)) {
        let (mut f_bar, mut rows) = (vec![0.0; terms.len() * ell], vec![0.0; terms.len() * size]);
        f.means_of(theta, terms, usize::MAX, &mut f_bar, &mut rows);
        rows.chunks_exact(size.max(1)).for_each(&mut each);
    }
}

/// `max_i |fbar_i'(theta)|` (Frobenius): from the problem's bound or estimate where it has one,
/// otherwise by one pass at theta.
pub fn mean_jacobian_norm(f: &dyn Inner, theta: &[f64]) -> f64 {
    f.bounds().mean_jacobian.or_else(|| f.mean_jacobian_size(theta)).unwrap_or_else(|| {
        if f.facts().calls_are_dear {
            let mut most = 0.0_f64;
            let all: Vec<usize> = (0..f.n_x()).collect();
            each_mean(f, theta, &all, |jacobian| most = most.max(norm_squared(jacobian).sqrt()));
            return most;
        }
        blocks(f)
            .max(|| Jacobians::new(f, theta), |jacobians, i| norm_squared(jacobians.mean(i)).sqrt())
    })
}

/// The root of the mean of `|fbar_i'(theta)|^2` (Frobenius) over i, measured on at most 1024 outer
/// terms, evenly spread.
pub fn typical_mean_jacobian(f: &dyn Inner, theta: &[f64]) -> f64 {
    let n = f.n_x();
    let count = n.min(MOST_TERMS);
    let terms: Vec<usize> = (0..count).map(|k| k * n / count).collect();
    let mut sum = 0.0;
    each_mean(f, theta, &terms, |jacobian| sum += norm_squared(jacobian));
    (sum / count as f64).sqrt()
}

/// How far the Jacobians of single samples lie from their mean: `max_i mean_j |f'_ij - fbar_i'|^2`
/// (Frobenius), measured on at most 64 outer terms and as many samples of each, evenly spread.
pub fn jacobian_spread(f: &dyn Inner, theta: &[f64]) -> f64 {
    let probes = |n: usize| (0..n.min(PROBES)).map(move |k| k * n / n.min(PROBES));
    let mut jacobians = Jacobians::new(f, theta);
    let mut most = 0.0_f64;
    let mut mean = Vec::new();
    for i in probes(f.n_x()) {
        let share = 1.0 / f.n_y(i).min(PROBES) as f64;
        mean.clear();
        mean.resize(f.ell() * f.support(i).map_or(f.d(), <[u32]>::len), 0.0);
        let mut square = 0.0;
        for j in probes(f.n_y(i)) {
            let single = jacobians.pair(i, j);
            square += share * norm_squared(single);
            axpy(share, single, &mut mean);
        }
        most = most.max(square - norm_squared(&mean));
    }
    most
}

/// `mean_i c_i mean_j |f'_ij - fbar_i'|^2` (Frobenius), measured likewise.
pub(crate) fn jacobian_scatter(f: &dyn Inner, theta: &[f64], c: impl Fn(usize) -> f64) -> f64 {
    let terms = f.n_x().min(PROBES);
    let mut jacobians = Jacobians::new(f, theta);
    let mut sum = 0.0;
    for k in 0..terms {
        let i = k * f.n_x() / terms;
        let mean = jacobians.mean(i).to_vec();
        let samples = f.n_y(i).min(PROBES);
        let squares = (0..samples).map(|m| {
            let single = jacobians.pair(i, m * f.n_y(i) / samples);
            distance_squared(single, &mean)
        });
        sum += c(i) * squares.sum::<f64>() / samples as f64;
    }
    sum / terms as f64
}

/// Terms, and samples of each, at which [`jacobian_spread`] looks.
const PROBES: usize = 64;
/// Terms at which [`typical_mean_jacobian`] looks.
const MOST_TERMS: usize = 1024;

/// What [`Passes::some_mean_jacobians`](super::Passes::some_mean_jacobians) may return: terms that
/// are spread evenly, each averaged over all samples if they are few, otherwise over blocks that
/// are spread evenly.
pub(crate) fn sampled_mean_jacobians(f: &dyn Inner, theta: &[f64]) -> Vec<f64> {
    let (d, ell, n_x) = (f.d(), f.ell(), f.n_x());
    let terms = (MOST_NUMBERS / (ell * d)).clamp(1, MOST_TERMS).min(n_x);
    let mut out = vec![0.0; terms * ell * d];
    Blocks::new(terms, ell * d * BLOCKS * BLOCK).fill(ell * d, &mut out, |range, out| {
        let mut unit = vec![0.0; ell];
        for (k, jacobian) in range.zip(out.chunks_exact_mut(ell * d)) {
            let i = k * n_x / terms;
            let n_y = f.n_y(i);
            for (c, row) in jacobian.chunks_exact_mut(d).enumerate() {
                unit[c] = 1.0;
                if n_y <= BLOCKS * BLOCK {
                    f.add_mean_jac_t(theta, i, &unit, 1.0, row);
                } else {
                    for block in 0..BLOCKS {
                        let first = block * (n_y - BLOCK) / (BLOCKS - 1);
                        f.add_block_jac_t(
                            theta,
                            i,
                            first..first + BLOCK,
                            &unit,
                            1.0 / BLOCKS as f64,
                            row,
                        );
                    }
                }
                unit[c] = 0.0;
            }
        }
    });
    out
}

/// Blocks of a term, and samples of each, at which [`sampled_mean_jacobians`] looks.
const BLOCKS: usize = 16;
const BLOCK: usize = 16;
/// Numbers that it returns, at most: a few megabytes.
const MOST_NUMBERS: usize = 1 << 20;

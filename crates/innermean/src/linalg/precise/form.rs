//! A quadratic form of one average in double-double arithmetic, `u' C^-1 u / 2`.
//!
//! With any w, and `rho = u - C w`,
//!
//! ```text
//! u' C^-1 u / 2 = <u, w> - w' C w / 2 + rho' C^-1 rho / 2
//! ```
//!
//! so that of the inverse nothing has to be known but a number above its norm, once w is close to
//! `C^-1 u`.

use super::{Double, Factor};
use crate::model::inner::{Inner, ProjectedRows};
use crate::model::merit::QuadraticForm;

/// C with its factor.
pub(crate) struct Form {
    ell: usize,
    matrix: Vec<Double>,
    factor: Factor,
    /// Below the least eigenvalue of `S C S`, S the scales of the factor; none where it may be 0.
    least: Option<f64>,
    /// Products that were added up for an entry.
    products: usize,
}

/// Steps of iterative refinement of `C^-1 u`.
const CORRECTIONS: usize = 2;

/// What each transition counts.
pub(super) fn shares(given: &ProjectedRows<'_>) -> Vec<Double> {
    let weights = match given.weights {
        Some(weights) => weights.to_vec(),
        None => vec![1.0; given.rewards.len()],
    };
    let total = weights.iter().fold(Double::ZERO, |sum, weight| sum + Double::from(*weight));
    weights.iter().map(|weight| Double::from(*weight) / total).collect()
}

/// `z_t` for all t: the features, or their traces.
pub(super) fn left_factors(given: &ProjectedRows<'_>) -> Vec<Double> {
    traced(given, |x| x)
}

/// Those of features that are made into other numbers first.
fn traced(given: &ProjectedRows<'_>, of: impl Fn(Double) -> Double) -> Vec<Double> {
    let left = given.left.unwrap_or(given.features);
    let mut rows: Vec<Double> = left.iter().map(|x| of(Double::from(*x))).collect();
    let Some(traces) = given.traces else { return rows };
    let d = rows.len() / given.rewards.len().max(1);
    let decay = Double::from(given.discount) * Double::from(traces.lambda);
    for range in traces.starts.windows(2) {
        let mut before: Option<usize> = None;
        for &t in &traces.order[range[0]..range[1]] {
            let ratio = Double::from(traces.ratios.map_or(1.0, |ratios| ratios[t]));
            for l in 0..d {
                let carried = before.map_or(Double::ZERO, |before| decay * rows[before * d + l]);
                rows[t * d + l] = ratio * (carried + rows[t * d + l]);
            }
            before = Some(t);
        }
    }
    rows
}

/// Roundings of an entry of A: of its sum, and of the traces in it.
pub(crate) fn roundings(given: &ProjectedRows<'_>) -> usize {
    let terms = given.rewards.len();
    if given.traces.is_some() { 4 * terms } else { terms }
}

/// The mean sizes of what makes up the entries of A, row by row, that of b behind each row.
pub(crate) fn sizes_of_products(given: &ProjectedRows<'_>) -> Vec<f64> {
    let shares = shares(given);
    let d = given.features.len() / shares.len().max(1);
    // Terms of a trace may cancel.
    let left = traced(given, |x| Double::from(x.hi.abs()));
    let ell = left.len() / shares.len().max(1);
    let mut sizes = vec![0.0; ell * (d + 1)];
    for (t, share) in shares.iter().enumerate() {
        let (now, next) = (&given.features[t * d..][..d], &given.next_features[t * d..][..d]);
        for (row, x) in sizes.chunks_exact_mut(d + 1).zip(&left[t * ell..]) {
            let scaled = (share.hi * x.hi).abs();
            for (size, (now, next)) in row.iter_mut().zip(now.iter().zip(next)) {
                *size += scaled * (now.abs() + given.discount * next.abs());
            }
            row[d] += scaled * given.rewards[t].abs();
        }
    }
    sizes
}

/// The same for transitions that stand for others by their mean products: these are off by units of
/// rounding of `(E x^2 E y^2)^(1/2)`, however small the products of those that are left.
pub(crate) fn sizes_of_moments(given: &ProjectedRows<'_>) -> Vec<f64> {
    let count = given.rewards.len().max(1);
    let roots = |rows: &[f64]| -> Vec<f64> {
        let width = rows.len() / count;
        let mut squares = vec![0.0; width];
        for row in rows.chunks_exact(width.max(1)) {
            squares.iter_mut().zip(row).for_each(|(sum, x)| *sum += x * x / count as f64);
        }
        squares.into_iter().map(f64::sqrt).collect()
    };
    let (now, next) = (roots(given.features), roots(given.next_features));
    let reward = roots(given.rewards);
    let of_entry = now.iter().zip(next).map(|(now, next)| now + given.discount * next);
    let right: Vec<f64> = of_entry.chain(reward).collect();
    let left = roots(given.left.unwrap_or(given.features));
    left.iter().flat_map(|z| right.iter().map(move |x| z * x)).collect()
}

impl Form {
    /// Of an f with one term and its phi.
    pub(crate) fn new(f: &dyn Inner, form: &QuadraticForm) -> Self {
        let ell = form.ell();
        let mut matrix = vec![Double::ZERO; ell * ell];
        let mut add = |share: Double, row: &[f64]| {
            for (r, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                let scaled = share * Double::from(*x);
                let entries = matrix[r * ell..=r * ell + r].iter_mut();
                entries.zip(row).for_each(|(entry, y)| *entry += scaled * Double::from(*y));
            }
        };
        let mut products = 1;
        if let Some(given) =
            f.projected_rows().filter(|given| form.samples() == Some(given.rewards.len()))
        {
            let shares = shares(&given);
            products = shares.len();
            shares
                .iter()
                .zip(given.features.chunks_exact(ell))
                .for_each(|(share, row)| add(*share, row));
        } else if let Some(rows) = form.addends() {
            products = rows.len() / ell;
            let share = Double::from(1.0) / Double::from(products as f64);
            rows.chunks_exact(ell).for_each(|row| add(share, row));
        } else {
            matrix.iter_mut().zip(form.matrix()).for_each(|(entry, c)| *entry = Double::from(*c));
        }
        for r in 0..ell {
            for c in 0..r {
                matrix[c * ell + r] = matrix[r * ell + c];
            }
        }
        let factor = Factor::new(&matrix, ell);
        let least = factor.least_eigenvalue();
        Form { ell, matrix, factor, least, products }
    }

    /// Whether C is certain to be positive definite.
    pub(crate) fn is_definite(&self) -> bool {
        self.least.is_some()
    }

    /// `x <- L^-1 x` for `C = L L'`.
    pub(crate) fn whiten(&self, x: &mut [Double]) {
        self.factor.solve_lower(x);
    }

    /// `C w`
    fn product(&self, w: &[Double]) -> Vec<Double> {
        let row =
            |row: &[Double]| row.iter().zip(w).fold(Double::ZERO, |sum, (c, w)| sum + *c * *w);
        self.matrix.chunks_exact(self.ell).map(row).collect()
    }

    /// `u - C w`
    fn left(&self, u: &[Double], w: &[Double]) -> Vec<Double> {
        self.product(w).iter().zip(u).map(|(product, u)| *u - *product).collect()
    }

    /// `C^-1 u`
    pub(crate) fn solve(&self, u: &[Double]) -> Vec<Double> {
        let mut w = u.to_vec();
        self.factor.solve(&mut w);
        for _ in 0..CORRECTIONS {
            let mut rest = self.left(u, &w);
            self.factor.solve(&mut rest);
            w.iter_mut().zip(&rest).for_each(|(w, rest)| *w += *rest);
        }
        w
    }

    /// `u' C^-1 u / 2`
    pub(crate) fn value(&self, u: &[Double]) -> Double {
        let half = Double::from(0.5);
        let w = self.solve(u);
        let product = self.product(&w);
        let terms = u.iter().zip(&product).zip(&w);
        terms.fold(Double::ZERO, |sum, ((u, product), w)| sum + (*u - half * *product) * *w)
    }

    /// At least `u' C^-1 u / 2 + w' C w / 2 - <u, w>` for a u that is known up to `unit` times its
    /// sizes.
    pub(crate) fn mismatch(&self, u: &[Double], sizes: &[f64], w: &[Double], unit: f64) -> f64 {
        let Some(least) = self.least else { return f64::INFINITY };
        let unit = unit * (self.products + self.ell) as f64;
        let rho = self.left(u, w);
        let first = self.value(&rho).hi;
        // What value() leaves of rho, and what rounding may have done to it, as multiples of
        // sqrt(least).
        let unsolved = self.left(&rho, &self.solve(&rho));
        let (mut rest, mut rounding) = (0.0, 0.0);
        for (r, scale) in self.factor.scales().iter().enumerate() {
            let row = &self.matrix[r * self.ell..(r + 1) * self.ell];
            let size: f64 = row.iter().zip(w).map(|(c, w)| (c.hi * w.hi).abs()).sum();
            rest += (scale * unsolved[r].hi).powi(2);
            rounding += (scale * unit * (size + sizes[r] + u[r].hi.abs())).powi(2);
        }
        // Half the square of a sum of norms.
        let root = (2.0 * first.abs()).sqrt() + (rest / least).sqrt() + (rounding / least).sqrt();
        0.5 * root * root * (1.0 + 16.0 * f64::EPSILON)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::collapse::Collapsed;

    #[test]
    fn an_inverse_beyond_double_precision_is_found() {
        // Columns that differ by 1e-6, in units that differ by 1e9.
        let rows = vec![1.0, 1e9 * (1.0 + 1e-6), 2.0, 1e9 * (2.0 - 1e-6), -1.5, -1.5e9];
        let form =
            QuadraticForm::from_rows(2, rows).expect("positive definite in double precision too");
        let f = Collapsed::from_rows(2, vec![0.0; 2], vec![0.0]);
        let form = Form::new(&f, &form);
        assert!(form.is_definite());
        let w = [Double::from(3.0), Double::from(-2e-9)];
        let u = form.product(&w);
        for (found, w) in form.solve(&u).iter().zip(w) {
            assert!(((*found - w).hi / w.hi).abs() < 1e-10, "{found:?} {w:?}");
        }
        let half = 0.5 * (u[0] * w[0] + u[1] * w[1]).value();
        assert!((form.value(&u).value() / half - 1.0).abs() < 1e-15);
        let sizes = [u[0].hi.abs(), u[1].hi.abs()];
        assert!(form.mismatch(&u, &sizes, &w, 1e-30) < 1e-25 * half);
        // Duals that are off by delta cost delta' C delta / 2.
        let off = [w[0] + Double::from(0.5), w[1]];
        let cost = 0.125 * form.matrix[0].value();
        let found = form.mismatch(&u, &sizes, &off, 1e-30);
        assert!(found >= cost && found < cost * (1.0 + 1e-6), "{found} {cost}");
    }
}

//! The last few pairs of differences, and products with the inverse Hessian that they stand for.

use serde::{Deserialize, Serialize};

use crate::linalg::vector::{axpy, dot, norm_squared, update};

/// The least `<s, y> / (|s| |y|)` of a pair: H stays positive definite and of moderate condition.
const LEAST_COSINE: f64 = 1e-8;

/// Pairs `s = x^+ - x`, `y = r^+ - r` in a ring of fixed size.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::methods) struct Pairs {
    #[serde(with = "crate::run::checkpoint::shape::fixed")]
    d: usize,
    /// The ring has one slot more than pairs are used, so that a pair can be written before it is
    /// judged.
    #[serde(with = "crate::run::checkpoint::shape::fixed")]
    slots: usize,
    /// Pairs ever added; the last `slots - 1` are used.
    added: usize,
    s: Vec<f64>,
    y: Vec<f64>,
    /// `1 / <s, y>`
    rho: Vec<f64>,
    /// `rho <s, q>` of the first loop
    a: Vec<f64>,
    /// `<s, y> / <y, y>` of the last pair: the size of the inverse Hessian.
    scale: f64,
}

impl Pairs {
    pub(in crate::methods) fn new(most: usize, d: usize) -> Self {
        let slots = most + 1;
        let vectors = vec![0.0; slots * d];
        let numbers = vec![0.0; slots];
        Pairs {
            d,
            slots,
            added: 0,
            s: vectors.clone(),
            y: vectors,
            rho: numbers.clone(),
            a: numbers,
            scale: 0.0,
        }
    }

    pub(in crate::methods) fn is_empty(&self) -> bool {
        self.added == 0
    }

    pub(in crate::methods) fn clear(&mut self) {
        self.added = 0;
    }

    /// The pair that `write` puts into the ring, unless it bends the wrong way.
    pub(in crate::methods) fn add(&mut self, write: impl FnOnce(&mut [f64], &mut [f64])) {
        let k = self.added % self.slots;
        let own = k * self.d..(k + 1) * self.d;
        let (s, y) = (&mut self.s[own.clone()], &mut self.y[own]);
        write(s, y);
        let (sy, ss, yy) = (dot(s, y), norm_squared(s), norm_squared(y));
        if sy > LEAST_COSINE * (ss * yy).sqrt() {
            self.rho[k] = 1.0 / sy;
            self.scale = sy / yy;
            self.added += 1;
        }
    }

    /// `q <- -H q`, where H begins as a multiple of the identity.
    pub(super) fn descend(&mut self, q: &mut [f64]) {
        let scale = self.scale;
        self.descend_from(q, |q| update(q, |q| q * scale));
    }

    /// `q <- -H q` by the two loops (Nocedal and Wright, "Numerical Optimization", Algorithm 7.4),
    /// where `first` is the product with the H that the pairs improve on.
    pub(in crate::methods) fn descend_from(
        &mut self,
        q: &mut [f64],
        first: impl FnOnce(&mut [f64]),
    ) {
        let Pairs { d, slots, added, s, y, rho, a, .. } = self;
        let (oldest, newest) = (added.saturating_sub(*slots - 1), *added);
        let own = |k: usize| k * *d..(k + 1) * *d;
        for k in (oldest..newest).rev().map(|pair| pair % *slots) {
            a[k] = rho[k] * dot(&s[own(k)], q);
            axpy(-a[k], &y[own(k)], q);
        }
        first(q);
        for k in (oldest..newest).map(|pair| pair % *slots) {
            let b = rho[k] * dot(&y[own(k)], q);
            axpy(a[k] - b, &s[own(k)], q);
        }
        update(q, |q| -q);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Differences of the gradient of `<x, A x> / 2` with `A = diag(1, 2, ..., d) + 0.1`.
    fn pair(k: usize, s: &mut [f64], y: &mut [f64]) {
        for (l, s) in s.iter_mut().enumerate() {
            *s = ((7 * k + 3 * l) % 11) as f64 / 11.0 - 0.4;
        }
        let sum: f64 = s.iter().sum();
        for (l, (y, s)) in y.iter_mut().zip(s).enumerate() {
            *y = (l + 1) as f64 * *s + 0.1 * sum;
        }
    }

    #[test]
    fn the_last_pair_satisfies_the_secant_equation_and_old_ones_are_forgotten() {
        let d = 6;
        let mut ring = Pairs::new(3, d);
        for k in 0..8 {
            ring.add(|s, y| pair(k, s, y));
            let (mut s, mut y) = (vec![0.0; d], vec![0.0; d]);
            pair(k, &mut s, &mut y);
            // -H y = -s
            ring.descend(&mut y);
            assert!(y.iter().zip(&s).all(|(hy, s)| (hy + s).abs() < 1e-12), "pair {k}");
        }
        // Only the last three matter.
        let mut fresh = Pairs::new(3, d);
        for k in 5..8 {
            fresh.add(|s, y| pair(k, s, y));
        }
        let (mut a, mut b) = (vec![1.0; d], vec![1.0; d]);
        ring.descend(&mut a);
        fresh.descend(&mut b);
        assert_eq!(a, b);
        assert!(dot(&a, &vec![1.0; d]) < 0.0, "H is positive definite");
    }

    #[test]
    fn a_pair_that_bends_the_wrong_way_changes_nothing() {
        let d = 4;
        let mut ring = Pairs::new(2, d);
        for k in 0..5 {
            ring.add(|s, y| pair(k, s, y));
        }
        let mut other = ring.clone();
        other.add(|s, y| {
            pair(9, s, y);
            update(y, |y| -y);
        });
        let (mut a, mut b) = (vec![1.0; d], vec![1.0; d]);
        ring.descend(&mut a);
        other.descend(&mut b);
        assert_eq!(a, b);
    }
}

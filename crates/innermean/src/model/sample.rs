//! A part of the data as a problem of its own: some of the outer terms, and of each no more than so
//! many samples.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::draws::Stream;
use crate::linalg::blocks::{Blocks, MERIT};
use crate::linalg::vector::add_weighted_rows;
use crate::model::inner::{
    Duals, Facts, Fused, Inner, Lost, Passes, Rows, Sample, gradient_in_two_passes, sampled_mean,
    stretches,
};
use crate::model::merit::Merit;

/// Of the draws, far from those that methods number from 0.
const STREAM: u64 = 3000;

/// This many of `0..n`, rising: one drawn from each of as many equal stretches.
pub(crate) fn spread(n: usize, count: usize, seed: u64) -> Vec<usize> {
    let mut draws = Stream::new(seed, STREAM);
    let cut = |k: usize| k * n / count;
    let pick = |k: usize| cut(k) + ((cut(k + 1) - cut(k)) as f64 * draws.unit()) as usize;
    (0..count).map(pick).collect()
}

/// How many of the samples of a term are taken.
fn taken(n_y: usize, most: usize) -> usize {
    stretches(n_y, most).map_or(n_y, |stretches| stretches.map(|js| js.len()).sum())
}

/// Some terms of f: term k is that of number `terms[k]`, averaged over at most `most` of its
/// samples.
pub(crate) struct PartOf<'p> {
    whole: &'p dyn Inner,
    terms: &'p [usize],
    most: usize,
    facts: Facts,
    /// Where the last gradient was taken, and the Jacobians from which it was made: second
    /// derivatives are asked for at the same point.
    last: Mutex<(Vec<f64>, Vec<f64>)>,
}

impl<'p> PartOf<'p> {
    pub(crate) fn new(whole: &'p dyn Inner, terms: &'p [usize], most: usize) -> Self {
        let (facts, Rows { pair, merit, .. }) = (whole.facts(), whole.rows());
        // A term that keeps all of its samples shares them with others as before.
        let sample = if most == usize::MAX { facts.sample } else { Sample::Own };
        let shared = terms.first().map_or(0, |&i| whole.n_y(i));
        let samples = match sample {
            Sample::Own => terms.iter().map(|&i| taken(whole.n_y(i), most)).sum(),
            Sample::Shared => shared,
            Sample::Separable => terms.len() + shared,
        };
        let facts = Facts {
            affine: facts.affine,
            sample,
            calls_per_query: facts.calls_per_query,
            calls_are_dear: facts.calls_are_dear,
            rows: Some(Rows { pair, all: pair * samples as u64, merit }),
            ..Facts::default()
        };
        PartOf { whole, terms, most, facts, last: Mutex::default() }
    }
}

impl Inner for PartOf<'_> {
    fn d(&self) -> usize {
        self.whole.d()
    }

    fn ell(&self) -> usize {
        self.whole.ell()
    }

    fn n_x(&self) -> usize {
        self.terms.len()
    }

    fn n_y(&self, k: usize) -> usize {
        taken(self.whole.n_y(self.terms[k]), self.most)
    }

    fn facts(&self) -> Facts {
        self.facts
    }

    /// Sample j of those that are taken.
    fn value(&self, theta: &[f64], k: usize, j: usize, out: &mut [f64]) {
        let i = self.terms[k];
        self.whole.value(theta, i, self.sample(i, j), out);
    }

    fn add_jac_t(&self, theta: &[f64], k: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        let i = self.terms[k];
        self.whole.add_jac_t(theta, i, self.sample(i, j), w, c, out);
    }

    fn passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }
}

impl Fused for PartOf<'_> {
    fn f(&self) -> &dyn Inner {
        self
    }

    fn support(&self, k: usize) -> Option<&[u32]> {
        self.whole.support(self.terms[k])
    }

    fn mean(&self, theta: &[f64], k: usize, work: &mut [f64], out: &mut [f64]) {
        sampled_mean(self.whole, theta, self.terms[k], self.most, work, out);
    }

    fn add_mean_jac_t(&self, theta: &[f64], k: usize, w: &[f64], c: f64, out: &mut [f64]) {
        let i = self.terms[k];
        let Some(stretches) = stretches(self.whole.n_y(i), self.most) else {
            return self.whole.add_mean_jac_t(theta, i, w, c, out);
        };
        let share = c / stretches.len() as f64;
        for js in stretches {
            self.whole.add_block_jac_t(theta, i, js, w, share, out);
        }
    }
}

impl Passes for PartOf<'_> {
    fn mean_jacobians(&self, theta: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.0 == theta {
            out.copy_from_slice(&last.1);
            return Ok(());
        }
        drop(last);
        self.means_and_jacobians(theta, &mut vec![0.0; self.n_x() * self.ell()], out)
    }

    fn means(&self, theta: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        self.whole.whole(|f| f.means_of(theta, self.terms, self.most, out, &mut []))
    }

    fn means_and_jacobians(
        &self,
        theta: &[f64],
        f_bar: &mut [f64],
        jacobians: &mut [f64],
    ) -> Result<(), Lost> {
        self.whole.whole(|f| f.means_of(theta, self.terms, self.most, f_bar, jacobians))
    }

    /// With ell = 1 a Jacobian costs as much as its product with a dual, and is kept for the second
    /// derivatives.
    fn gradient(
        &self,
        theta: &[f64],
        duals: &Duals<'_>,
        f_bar: &mut [f64],
        w: &mut [f64],
        out: &mut [f64],
    ) -> Result<f64, Lost> {
        let (n_x, d) = (self.n_x(), self.d());
        if self.ell() > 1 {
            return gradient_in_two_passes(self, theta, duals, f_bar, w, out);
        }
        let mut jacobians = vec![0.0; n_x * d];
        self.means_and_jacobians(theta, f_bar, &mut jacobians)?;
        // The loss is behind the sum.
        let mut sum = vec![0.0; d + 1];
        Blocks::with_least(n_x, d + MERIT, d).fill_and_add(
            1,
            w,
            1.0 / n_x as f64,
            &mut sum,
            |terms, w, partial| {
                let (partial, loss) = partial.split_at_mut(d);
                loss[0] = duals(terms.clone(), &f_bar[terms.clone()], w);
                add_weighted_rows(&jacobians[terms.start * d..terms.end * d], w, partial);
            },
        );
        out.copy_from_slice(&sum[..d]);
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = (theta.to_vec(), jacobians);
        Ok(sum[d])
    }
}

impl PartOf<'_> {
    /// The number in term i of sample j of those that are taken.
    fn sample(&self, i: usize, j: usize) -> usize {
        let Some(mut stretches) = stretches(self.whole.n_y(i), self.most) else {
            return j;
        };
        let len = taken(self.whole.n_y(i), self.most) / stretches.len();
        stretches.nth(j / len).map_or(j, |stretch| stretch.start + j % len)
    }
}

/// Some terms of a phi: term k is that of number `terms[k]`.
pub(crate) struct TermsOf<'p> {
    pub(crate) whole: &'p dyn Merit,
    pub(crate) terms: &'p [usize],
}

impl Merit for TermsOf<'_> {
    fn terms(&self) -> Option<usize> {
        Some(self.terms.len())
    }

    fn value(&self, k: usize, u: &[f64]) -> f64 {
        self.whole.value(self.terms[k], u)
    }

    fn gradient(&self, k: usize, u: &[f64], out: &mut [f64]) {
        self.whole.gradient(self.terms[k], u, out);
    }

    fn hessian_diagonal(&self, terms: Range<usize>, u: &[f64], out: &mut [f64]) -> bool {
        let ell = u.len() / terms.len().max(1);
        for (k, (u, out)) in
            terms.zip(u.chunks_exact(ell.max(1)).zip(out.chunks_exact_mut(ell.max(1))))
        {
            let i = self.terms[k];
            self.whole.hessian_diagonal(i..i + 1, u, out);
        }
        self.whole.hessian_diagonal(0..0, &[], &mut [])
    }

    fn diagonal_less_rank_one(
        &self,
        terms: Range<usize>,
        u: &[f64],
        diagonal: &mut [f64],
        across: &mut [f64],
    ) -> bool {
        let ell = (u.len() / terms.len().max(1)).max(1);
        let parts = diagonal.chunks_exact_mut(ell).zip(across.chunks_exact_mut(ell));
        for ((k, u), (diagonal, across)) in terms.zip(u.chunks_exact(ell)).zip(parts) {
            let i = self.terms[k];
            self.whole.diagonal_less_rank_one(i..i + 1, u, diagonal, across);
        }
        self.whole.diagonal_less_rank_one(0..0, &[], &mut [], &mut [])
    }

    fn class_of(&self, k: usize) -> Option<(usize, f64)> {
        self.whole.class_of(self.terms[k])
    }

    fn conjugate(&self, k: usize, w: &[f64]) -> f64 {
        self.whole.conjugate(self.terms[k], w)
    }

    fn prox_conjugate(&self, k: usize, alpha: f64, w: &mut [f64]) {
        self.whole.prox_conjugate(self.terms[k], alpha, w);
    }

    fn prox_slopes(&self, terms: Range<usize>, alpha: f64, w: &[f64], out: &mut [f64]) -> bool {
        let ell = w.len() / terms.len().max(1);
        let each = w.chunks_exact(ell.max(1)).zip(out.chunks_exact_mut(ell.max(1)));
        let slopes = |(k, (w, out)): (usize, (&[f64], &mut [f64]))| {
            let i = self.terms[k];
            self.whole.prox_slopes(i..i + 1, alpha, w, out)
        };
        terms.zip(each).all(slopes)
    }

    fn gamma(&self) -> f64 {
        self.whole.gamma()
    }

    fn has_kinks(&self) -> bool {
        self.whole.has_kinks()
    }

    fn curvature(&self, k: usize, u: &[f64]) -> Option<f64> {
        self.whole.curvature(self.terms[k], u)
    }

    fn lipschitz(&self, ell: usize) -> f64 {
        self.whole.lipschitz(ell)
    }

    fn square_weight_of(&self, k: usize) -> Option<f64> {
        self.whole.square_weight_of(self.terms[k])
    }

    fn square_weight(&self) -> Option<f64> {
        self.whole.square_weight()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Stream;
    use crate::linalg::vector::norm_squared;
    use crate::model::collapse::Collapsed;
    use crate::problems::bags::{Bags, Groups, Link};

    /// Of every term that is taken: its mean is that of its samples, its Jacobian likewise, and the
    /// gradient that keeps Jacobians is the one in two passes.
    #[test]
    fn a_part_is_an_f_of_its_own() {
        let (d, sizes) = (3, [1, 40, 16, 300, 1000, 7]);
        let starts: Vec<usize> = (0..=sizes.len()).map(|i| sizes[..i].iter().sum()).collect();
        let mut draws = Stream::new(5, 0);
        let rows: Vec<f64> =
            (0..d * starts[sizes.len()]).map(|_| 2.0 * draws.unit() - 1.0).collect();
        let bags = Bags::new(Groups::new(d, rows, starts, false).expect("groups"), Link::Logistic);
        let (theta, terms) = ([0.3, -1.0, 0.7], [1, 3, 4]);
        for most in [16, 50, usize::MAX] {
            let part = PartOf::new(&bags, &terms, most);
            for (k, i) in terms.into_iter().enumerate() {
                assert!(part.n_y(k) <= most.max(16) && part.n_y(k) <= bags.n_y(i));
                let (mut sum, mut one, mut slopes) = (0.0, [0.0], [0.0; 3]);
                for j in 0..part.n_y(k) {
                    part.value(&theta, k, j, &mut one);
                    sum += one[0] / part.n_y(k) as f64;
                    part.add_jac_t(&theta, k, j, &[1.0], 1.0 / part.n_y(k) as f64, &mut slopes);
                }
                part.mean(&theta, k, &mut [0.0], &mut one);
                assert!((one[0] - sum).abs() < 1e-14);
                part.add_mean_jac_t(&theta, k, &[1.0], -1.0, &mut slopes);
                assert!(norm_squared(&slopes) < 1e-28);
            }
            let duals = |_: Range<usize>, u: &[f64], w: &mut [f64]| {
                w.copy_from_slice(u);
                0.5 * norm_squared(u)
            };
            let run = |two: bool| {
                let (mut f_bar, mut w, mut out) = (vec![0.0; 3], vec![0.0; 3], vec![0.0; d]);
                let (f_bar_mut, w_mut) = (&mut f_bar[..], &mut w[..]);
                let loss = if two {
                    gradient_in_two_passes(&part, &theta, &duals, f_bar_mut, w_mut, &mut out)
                } else {
                    part.gradient(&theta, &duals, f_bar_mut, w_mut, &mut out)
                };
                [vec![loss.expect("in memory")], f_bar, w, out].concat()
            };
            assert!(run(false).iter().zip(run(true)).all(|(a, b)| (a - b).abs() < 1e-14));
            // The Jacobians that were kept, and those at another point.
            for theta in [theta, [0.1, 0.2, 0.3]] {
                let mut rows = vec![0.0; 3 * d];
                part.f().mean_jacobians(&theta, &mut rows);
                let fresh = Collapsed::new(&PartOf::new(&bags, &terms, most), &theta);
                assert_eq!(Some(&rows[..]), fresh.dense());
            }
        }
    }
}

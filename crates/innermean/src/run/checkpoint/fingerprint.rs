//! A hash of a problem: of its data, of phi and of g, as seen through what they answer.
//!
//! Unless f tells its data, every pair is asked for its value and its Jacobian at one point, and of
//! most affine f the Jacobians are the data. This costs about a pass over the data, and hashes of
//! terms are
//! added up in their order, whatever the threads.

use super::hash::Hash;
use crate::draws::Stream;
use crate::model::inner::{Inner, Sample, blocks};
use crate::model::problem::Objective;

/// The seed of the points at which is asked, far from all others.
const SEED: u64 = 0x0ddb_a11c_0ffe_e000;

/// Numbers of ordinary size, none of them round.
fn ordinary(stream: u64, count: usize) -> Vec<f64> {
    let mut draws = Stream::new(SEED, stream);
    (0..count).map(|_| 0.25 + 0.5 * draws.unit()).collect()
}

impl Objective<'_> {
    /// A hash of the data, of phi and of g: problems that differ have another one. It does not
    /// depend on the number of threads.
    pub fn fingerprint(&self) -> u128 {
        let Objective { inner: f, merit, regularizer: g } = *self;
        let (d, ell, n_x) = (f.d(), f.ell(), f.n_x());
        let mut hash = Hash::default();
        for size in [d, ell, n_x] {
            hash.word(size as u64);
        }
        let theta = ordinary(0, d);
        if !f.hash_data(&mut hash) {
            hash.numbers(&terms(f, &theta));
        }
        let (u, mut w) = (ordinary(2, ell), vec![0.0; ell]);
        for i in 0..n_x {
            merit.gradient(i, &u, &mut w);
            hash.number(merit.value(i, &u));
            hash.numbers(&w);
        }
        hash.number(g.value(&theta));
        hash.number(g.conjugate(&theta));
        for sign in [1.0, -1.0] {
            let mut there: Vec<f64> = theta.iter().map(|t| sign * t).collect();
            g.prox(1.0, &mut there);
            hash.numbers(&there);
        }
        hash.finish()
    }
}

/// A hash for each term: of those of its samples that no other term has.
fn terms(f: &dyn Inner, theta: &[f64]) -> Vec<f64> {
    let (ell, sample) = (f.ell(), f.facts().sample);
    let w = ordinary(1, ell);
    let mut hashes = vec![0.0; f.n_x()];
    blocks(f).fill(1, &mut hashes, |range, hashes| {
        let (mut value, mut jacobian) = (vec![0.0; ell], vec![0.0; theta.len()]);
        for (i, out) in range.zip(hashes) {
            let own = match sample {
                _ if i == 0 => f.n_y(i),
                Sample::Own => f.n_y(i),
                Sample::Separable => 1,
                Sample::Shared => 0,
            };
            let mut hash = Hash::default();
            hash.word(f.n_y(i) as u64);
            for j in 0..own {
                f.value(theta, i, j, &mut value);
                hash.numbers(&value);
                f.add_jac_t(theta, i, j, &w, 1.0, &mut jacobian);
                match f.support(i) {
                    Some(support) => support.iter().for_each(|l| {
                        hash.word(u64::from(*l));
                        hash.number(std::mem::take(&mut jacobian[*l as usize]));
                    }),
                    None => jacobian.iter_mut().for_each(|x| hash.number(std::mem::take(x))),
                }
            }
            // As a whole number that is exact.
            *out = ((hash.finish() as u64) >> 11) as f64;
        }
    });
    hashes
}

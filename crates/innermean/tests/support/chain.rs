//! Transitions of random Markov chains, for policy evaluation.

use innermean::Mspbe;
use innermean::draws::Stream;

use super::dense::{Symmetric, dot};

/// Transitions of one chain.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    pub(crate) d: usize,
    pub(crate) discount: f64,
    /// `phi_t`, `phi'_t`, `r_t`
    pub(crate) transitions: Vec<(Vec<f64>, Vec<f64>, f64)>,
}

impl Chain {
    /// `t` transitions between 40 states with d random features each, the last of which are smaller
    /// by the factor `spread`; all in the unit `scale`.
    pub(crate) fn random(d: usize, t: usize, spread: f64, scale: f64, seed: u64) -> Self {
        const STATES: usize = 40;
        let mut draws = Stream::new(seed, 90);
        let size = |l: usize| scale * spread.powf(-(l as f64) / (d as f64 - 1.0).max(1.0));
        let features: Vec<Vec<f64>> = (0..STATES)
            .map(|_| (0..d).map(|l| size(l) * (2.0 * draws.unit() - 0.7)).collect())
            .collect();
        let rewards: Vec<f64> = (0..STATES).map(|_| draws.unit()).collect();
        // From each state to one of five others.
        let next: Vec<usize> = (0..5 * STATES).map(|_| draws.index(STATES)).collect();
        let mut state = 0;
        let transitions = (0..t)
            .map(|_| {
                let from = state;
                state = next[5 * from + draws.index(5)];
                // Now and then a fresh start, so that every state is seen.
                if draws.index(20) == 0 {
                    state = draws.index(STATES);
                }
                (features[from].clone(), features[state].clone(), rewards[from])
            })
            .collect();
        Chain { d, discount: 0.95, transitions }
    }

    pub(crate) fn mspbe(&self) -> Mspbe {
        let features = self.transitions.iter().flat_map(|(now, _, _)| now.clone()).collect();
        let next: Vec<f64> =
            self.transitions.iter().flat_map(|(_, next, _)| next.clone()).collect();
        let rewards = self.transitions.iter().map(|(_, _, r)| *r).collect();
        Mspbe::new(self.d, features, &next, rewards, self.discount).unwrap()
    }

    /// `(A theta, b)`, and the matrix C.
    fn moments(&self, theta: &[f64]) -> (Vec<f64>, Vec<f64>, Symmetric) {
        let share = 1.0 / self.transitions.len() as f64;
        let (mut a, mut b) = (vec![0.0; self.d], vec![0.0; self.d]);
        let mut c = Symmetric::scaled_identity(self.d, 0.0);
        for (now, next, reward) in &self.transitions {
            let value = dot(now, theta) - self.discount * dot(next, theta);
            for l in 0..self.d {
                a[l] += share * now[l] * value;
                b[l] += share * now[l] * reward;
            }
            c.add_outer(share, now);
        }
        (a, b, c)
    }

    /// `(b - A theta)' C^-1 (b - A theta) / 2 + (rho/2) |theta|^2` by the formula.
    pub(crate) fn objective(&self, theta: &[f64], rho: f64) -> f64 {
        let (a, b, c) = self.moments(theta);
        let u: Vec<f64> = b.iter().zip(&a).map(|(b, a)| b - a).collect();
        0.5 * dot(&u, &c.solve(&u)) + 0.5 * rho * dot(theta, theta)
    }

    /// The minimiser, from the normal equations `(A' C^-1 A + rho I) theta = A' C^-1 b`.
    pub(crate) fn minimiser(&self, rho: f64) -> Vec<f64> {
        let unit =
            |l: usize| (0..self.d).map(|m| f64::from(u8::from(l == m))).collect::<Vec<f64>>();
        let (_, b, c) = self.moments(&unit(0));
        // The columns of A, and C^-1 times these.
        let columns: Vec<Vec<f64>> = (0..self.d).map(|l| self.moments(&unit(l)).0).collect();
        let solved: Vec<Vec<f64>> = columns.iter().map(|column| c.solve(column)).collect();
        let mut matrix = Symmetric::scaled_identity(self.d, rho);
        for (l, column) in columns.iter().enumerate() {
            for (m, solved) in solved.iter().enumerate() {
                matrix.add_entry(l, m, dot(column, solved));
            }
        }
        matrix.solve(&solved.iter().map(|column| dot(column, &b)).collect::<Vec<_>>())
    }
}

//! C-SAGA on Bellman residuals, against an independent program.

use super::composition::run;
use crate::support::dense::{Symmetric, dot};
use innermean::draws::Stream;
use innermean::{Choice, Facts, Inner, Problem, Square, Status, Stop, Unregularized};

/// The Bellman residual of a random Markov reward process: `f = <psi_i, theta> - S P_ij (r_ij +
/// discount <psi_j, theta>)`, whose average over j is `<psi_i, theta> - E[r + discount <psi_j,
/// theta> | i]`.
struct Bellman {
    p: Vec<Vec<f64>>,
    r: Vec<Vec<f64>>,
    psi: Vec<Vec<f64>>,
}

const DISCOUNT: f64 = 0.9;

impl Bellman {
    fn random(states: usize, d: usize, seed: u64) -> Self {
        let mut draws = Stream::new(seed, 0);
        let mut matrix = |columns: usize| -> Vec<Vec<f64>> {
            (0..states).map(|_| (0..columns).map(|_| draws.unit()).collect()).collect()
        };
        let (mut p, r, psi) = (matrix(states), matrix(states), matrix(d));
        for row in &mut p {
            let sum: f64 = row.iter().sum();
            for p in row {
                *p /= sum;
            }
        }
        Bellman { p, r, psi }
    }

    /// The least squares solution, from the averages.
    fn solution(&self) -> Vec<f64> {
        let d = self.psi[0].len();
        let (mut matrix, mut right) = (Symmetric::scaled_identity(d, 0.0), vec![0.0; d]);
        for (i, p) in self.p.iter().enumerate() {
            let row: Vec<f64> = (0..d)
                .map(|l| {
                    self.psi[i][l]
                        - DISCOUNT * p.iter().zip(&self.psi).map(|(p, psi)| p * psi[l]).sum::<f64>()
                })
                .collect();
            let reward = dot(p, &self.r[i]);
            matrix.add_outer(1.0, &row);
            right.iter_mut().zip(&row).for_each(|(right, a)| *right += a * reward);
        }
        matrix.solve(&right)
    }
}

impl Inner for Bellman {
    fn d(&self) -> usize {
        self.psi[0].len()
    }

    fn n_x(&self) -> usize {
        self.p.len()
    }

    fn n_y(&self, _: usize) -> usize {
        self.p.len()
    }

    fn facts(&self) -> Facts {
        Facts::affine()
    }

    fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
        let weight = self.p.len() as f64 * self.p[i][j];
        out[0] = dot(&self.psi[i], theta)
            - weight * (self.r[i][j] + DISCOUNT * dot(&self.psi[j], theta));
    }

    fn add_jac_t(&self, _: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        let weight = self.p.len() as f64 * self.p[i][j] * DISCOUNT;
        for (out, (here, there)) in out.iter_mut().zip(self.psi[i].iter().zip(&self.psi[j])) {
            *out += c * w[0] * (here - weight * there);
        }
    }
}

/// An independent program needed 1800 to 6100 steps with the paper's step of 0.1, and about a tenth
/// with 1.
#[test]
fn c_saga_on_bellman_residuals_takes_as_many_steps_as_an_independent_program() {
    for seed in 1..=6 {
        let inner = Bellman::random(10, 5, seed);
        let theta = inner.solution();
        let problem =
            Problem { inner, merit: Square::new(1.0).unwrap(), regularizer: Unregularized }.boxed();
        let optimum = problem.objective(&theta);
        let steps = [0.1, 1.0].map(|alpha| {
            let stop = Stop {
                target_objective: Some(optimum + 1e-10),
                tolerance: None,
                max_outer: None,
                max_calls: Some(10_000_000),
                ..Stop::default()
            };
            let choice =
                Choice { alpha_theta: Some(alpha), batch: Some(1), ..Choice::seeded(seed) };
            let solution = run(&problem, "c-saga", &choice, &[0.0; 5], stop);
            assert_eq!(solution.status, Status::TargetReached, "step {alpha}, seed {seed}");
            solution.inner as f64
        });
        println!("seed {seed}: {steps:?} steps");
        assert!((600.0..20_000.0).contains(&steps[0]), "seed {seed}: {steps:?} steps");
        assert!((4.0..25.0).contains(&(steps[0] / steps[1])), "seed {seed}: {steps:?} steps");
    }
}

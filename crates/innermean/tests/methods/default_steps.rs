//! The steps that nobody had to choose.

use crate::support::dense::{Symmetric, distance_squared};
use innermean::draws::Stream;
use innermean::{AnyMethod, Choice, Driver, Facts, Inner, Problem, Ridge, Square, Status, Stop};

const D: usize = 6;
const LAMBDA: f64 = 0.1;

/// `f_theta(x_i, y_ij) = <y_ij, theta> - b_i` for groups of rows that scatter around a centre of
/// their own.
struct Groups {
    rows: Vec<Vec<Vec<f64>>>,
    b: Vec<f64>,
}

impl Groups {
    fn random(noise: f64, scale: f64) -> Self {
        let mut draws = Stream::new(5, 0);
        let mut symmetric = move || scale * (2.0 * draws.unit() - 1.0);
        let mut rows = Vec::new();
        for i in 0..200 {
            let centre: Vec<f64> = (0..D).map(|_| symmetric()).collect();
            let row = |c: &Vec<f64>, s: &mut dyn FnMut() -> f64| {
                c.iter().map(|c| c + noise * s()).collect()
            };
            rows.push((0..20 + i % 23).map(|_| row(&centre, &mut symmetric)).collect());
        }
        let b = (0..rows.len()).map(|_| symmetric()).collect();
        Groups { rows, b }
    }

    /// The minimiser of `(1/n) sum_i (<ybar_i, theta> - b_i)^2 + (lambda/2) |theta|^2`.
    fn normal_equations(&self, lambda: f64) -> Vec<f64> {
        let n = self.rows.len() as f64;
        let (mut matrix, mut right) = (Symmetric::scaled_identity(D, lambda), vec![0.0; D]);
        for (rows, b) in self.rows.iter().zip(&self.b) {
            let mean: Vec<f64> = (0..D)
                .map(|l| rows.iter().map(|row| row[l]).sum::<f64>() / rows.len() as f64)
                .collect();
            matrix.add_outer(2.0 / n, &mean);
            right.iter_mut().zip(&mean).for_each(|(right, y)| *right += 2.0 / n * b * y);
        }
        matrix.solve(&right)
    }
}

impl Inner for Groups {
    fn d(&self) -> usize {
        D
    }

    fn n_x(&self) -> usize {
        self.rows.len()
    }

    fn n_y(&self, i: usize) -> usize {
        self.rows[i].len()
    }

    fn facts(&self) -> Facts {
        Facts::affine()
    }

    fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
        out[0] = self.rows[i][j].iter().zip(theta).map(|(y, t)| y * t).sum::<f64>() - self.b[i];
    }

    fn add_jac_t(&self, _: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        out.iter_mut().zip(&self.rows[i][j]).for_each(|(out, y)| *out += c * w[0] * y);
    }
}

/// Single samples up to sixteen times as large as their means, and features in any unit.
#[test]
fn solve_groups_whatever_the_noise_and_the_unit() {
    for noise in [0.0, 1.0, 2.0, 4.0, 8.0, 16.0] {
        for scale in [1.0, 1e-3, 1e3] {
            let inner = Groups::random(noise, scale);
            // In other units the same problem: theta does not change.
            let lambda = LAMBDA * scale * scale;
            let expected = inner.normal_equations(lambda);
            let problem = Problem {
                inner,
                merit: Square::new(1.0).expect("a weight"),
                regularizer: Ridge::from_weight(lambda).expect("a weight"),
            };
            let start = [0.0; D];
            let driver = Driver {
                stop: Stop { tolerance: Some(1e-18), ..Stop::default() },
                ..Driver::default()
            };
            for name in ["svrpda1", "svrpda2"] {
                let method =
                    AnyMethod::named(name, &Choice::seeded(1), &problem, &start).expect("a method");
                let solution = method.run(&driver, &problem, &start, &mut ());
                let case = format!("{name}, noise {noise}, scale {scale}");
                assert_eq!(solution.status, Status::Solved, "{case}");
                assert!(solution.outer < 400, "{case}: {} outer iterations", solution.outer);
                assert!(distance_squared(&solution.theta, &expected).sqrt() < 1e-7, "{case}");
            }
        }
    }
}

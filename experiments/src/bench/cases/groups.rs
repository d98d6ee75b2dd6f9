//! Groups of rows with one proportion each, drawn in parallel.
//!
//! `y_ij = s (m_i + e_ij)` with centres `m_i ~ 0.7 N(0, 1)` and `e_ij ~ N(0, 1)`; s is 1 or, for
//! uneven features, 1/k for feature k. The proportion of a group is the mean of `sigmoid(<y_ij,
//! theta*> + 0.3)` with noise of 0.02, `theta* ~ N(0, 1)`, over `sqrt(d)` unless features are
//! uneven. The model has an intercept and a small ridge on the other coefficients; all begin at the
//! intercept of the mean proportion.

use std::path::Path;

use anyhow::Result;
use innermean::{Bags, Bernoulli, FreeTail, Groups, Link, Problem, Ridge};
use innermean_data::write_npy;
use rayon::prelude::*;
use serde_json::{Value, json};

use super::{Case, Run, Task, dot, mean, solve_from};
use crate::bench::draws::Draws;

/// Groups of equal size.
pub struct GroupsCase {
    groups: usize,
    size: usize,
    d: usize,
    rows: Vec<f64>,
    proportions: Vec<f64>,
}

/// On the coefficients, not on the intercept.
const RIDGE: f64 = 1e-6;

impl GroupsCase {
    /// This many groups of this many rows of d features.
    pub fn new(groups: usize, size: usize, d: usize, uneven: bool, seed: u64) -> Self {
        let scale: Vec<f64> = (1..=d).map(|k| if uneven { 1.0 / k as f64 } else { 1.0 }).collect();
        let mut model = Draws::new(seed, 0);
        let strength = if uneven { 1.0 } else { 1.0 / (d as f64).sqrt() };
        let truth: Vec<f64> = (0..d).map(|_| strength * model.normal()).collect();
        let mut rows = vec![0.0; groups * size * d];
        let mut proportions = vec![0.0; groups];
        rows.par_chunks_mut(size * d).zip(&mut proportions).enumerate().for_each(
            |(i, (rows, proportion))| {
                let mut draws = Draws::new(seed, 1 + i as u64);
                let centre: Vec<f64> = (0..d).map(|_| 0.7 * draws.normal()).collect();
                let mut sum = 0.0;
                for row in rows.chunks_exact_mut(d) {
                    for ((x, m), s) in row.iter_mut().zip(&centre).zip(&scale) {
                        *x = s * (m + draws.normal());
                    }
                    sum += sigmoid(dot(row, &truth) + 0.3);
                }
                *proportion = (sum / size as f64 + 0.02 * draws.normal()).clamp(0.02, 0.98);
            },
        );
        GroupsCase { groups, size, d, rows, proportions }
    }

    fn mean_proportion(&self) -> f64 {
        self.proportions.iter().sum::<f64>() / self.groups as f64
    }
}

fn sigmoid(t: f64) -> f64 {
    1.0 / (1.0 + (-t).exp())
}

impl Case for GroupsCase {
    fn family(&self) -> &'static str {
        "groups"
    }

    fn sizes(&self) -> String {
        format!("{} groups of {} rows, {} features", self.groups, self.size, self.d)
    }

    fn export(&self, folder: &Path) -> Result<Value> {
        write_npy(&folder.join("rows.npy"), self.d, &self.rows)?;
        write_npy(&folder.join("proportions.npy"), 1, &self.proportions)?;
        Ok(json!({ "l2": RIDGE }))
    }

    fn solve(&self, task: &Task) -> Run {
        let (rows, proportions) = (self.rows.clone(), self.proportions.clone());
        solve_from(task, self.groups * self.size, || {
            let starts = (0..=self.groups).map(|i| i * self.size).collect();
            let groups = Groups::new(self.d, rows, starts, true).expect("whole groups");
            let inner = Bags::new(groups, Link::Logistic);
            let start = inner.start(self.mean_proportion());
            let regularizer = FreeTail::new(Ridge::from_weight(RIDGE).expect("positive"), self.d);
            (
                Problem {
                    inner,
                    merit: Bernoulli::new(proportions).expect("proportions"),
                    regularizer,
                },
                start,
            )
        })
    }

    fn objectives(&self, theta: &[f64]) -> Vec<f64> {
        let (coefficients, intercept) = (&theta[..self.d], theta[self.d]);
        let probability = |r: usize| {
            sigmoid(dot(&self.rows[r * self.d..(r + 1) * self.d], coefficients) + intercept)
        };
        let mut loss = 0.0;
        for (i, q) in self.proportions.iter().enumerate() {
            let u = mean(self.size, |j| probability(i * self.size + j));
            loss -= q * u.ln() + (1.0 - q) * (1.0 - u).ln();
        }
        vec![loss / self.groups as f64 + 0.5 * RIDGE * dot(coefficients, coefficients)]
    }
}

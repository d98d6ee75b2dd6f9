//! Policy evaluation by the mean squared Bellman error, with dense transitions.

use std::path::Path;

use anyhow::Result;
use innermean::{Bellman, Problem, Square, Unregularized};
use innermean_data::{Mdp, MdpOptions, generate_mdp, write_npy};
use rayon::prelude::*;
use serde_json::{Value, json};

use super::{Case, Run, Task, dot, mean, solve};

/// A random decision process.
pub struct BellmanCase {
    mdp: Mdp,
    /// `Psi_i - discount sum_j P_ij Psi_j` and `sum_j P_ij r_ij`
    predictors: Vec<(Vec<f64>, f64)>,
}

impl BellmanCase {
    /// The paper's random process: uniform features, a reward for each transition.
    pub fn new(states: usize, d: usize, seed: u64) -> Self {
        let mdp = generate_mdp(&MdpOptions { states, d, seed, ..MdpOptions::default() });
        let row = |i: usize| {
            let own = &mdp.transitions[i * states..(i + 1) * states];
            let mut row = mdp.features[i * d..(i + 1) * d].to_vec();
            for (p, next) in own.iter().zip(mdp.features.chunks_exact(d)) {
                row.iter_mut().zip(next).for_each(|(x, psi)| *x -= mdp.discount * p * psi);
            }
            (row, dot(own, &mdp.rewards[i * states..(i + 1) * states]))
        };
        let predictors = (0..states).into_par_iter().map(row).collect();
        BellmanCase { mdp, predictors }
    }
}

impl Case for BellmanCase {
    fn family(&self) -> &'static str {
        "bellman"
    }

    fn sizes(&self) -> String {
        format!("{} states, dense, d = {}", self.mdp.states, self.mdp.d)
    }

    fn export(&self, folder: &Path) -> Result<Value> {
        let Mdp { states, d, .. } = self.mdp;
        write_npy(&folder.join("transitions.npy"), states, &self.mdp.transitions)?;
        write_npy(&folder.join("rewards.npy"), states, &self.mdp.rewards)?;
        write_npy(&folder.join("features.npy"), d, &self.mdp.features)?;
        Ok(json!({ "discount": self.mdp.discount }))
    }

    fn solve(&self, task: &Task) -> Run {
        let Mdp { states, d, discount, transitions, rewards, features, .. } = self.mdp.clone();
        solve(task, states, || Problem {
            inner: Bellman::new(d, features, transitions, rewards, discount)
                .expect("distributions"),
            merit: Square::new(1.0).expect("positive"),
            regularizer: Unregularized,
        })
    }

    fn objectives(&self, theta: &[f64]) -> Vec<f64> {
        let square = |i: usize| {
            let (row, target) = &self.predictors[i];
            (dot(row, theta) - target).powi(2)
        };
        vec![mean(self.predictors.len(), square)]
    }
}

//! Groups of rows with one proportion each.

use std::path::Path;

use anyhow::Result;
use innermean::{Bags, Bernoulli, Groups, Link, Problem, Ridge};
use innermean_data::{GroupOptions, RowLabels, generate_groups, write_npy};
use serde_json::{Value, json};

use super::{Case, Run, Task, dot, mean, solve};

/// Groups of equal size.
pub struct GroupsCase {
    groups: usize,
    size: usize,
    d: usize,
    rows: Vec<f64>,
    proportions: Vec<f64>,
    l2: f64,
}

impl GroupsCase {
    /// So many groups of so many rows; feature k is divided by k if `uneven`. The ridge is one part in the number of groups.
    pub fn new(groups: usize, size: usize, d: usize, uneven: bool, seed: u64) -> Self {
        let options =
            GroupOptions { groups, rows: (size, size), features: d, labels: RowLabels::Binary, seed };
        let drawn = generate_groups(&options);
        let mut rows = drawn.rows;
        if uneven {
            for row in rows.chunks_exact_mut(d) {
                row.iter_mut().enumerate().for_each(|(k, x)| *x /= (k + 1) as f64);
            }
        }
        GroupsCase { groups, size, d, rows, proportions: drawn.group_labels, l2: 1.0 / groups as f64 }
    }
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
        Ok(json!({ "l2": self.l2 }))
    }

    fn solve(&self, task: &Task) -> Run {
        let (rows, proportions) = (self.rows.clone(), self.proportions.clone());
        solve(task, self.groups * self.size, || {
            let starts = (0..=self.groups).map(|i| i * self.size).collect();
            let groups = Groups::new(self.d, rows, starts, false).expect("whole groups");
            Problem {
                inner: Bags::new(groups, Link::Logistic),
                merit: Bernoulli::new(proportions).expect("proportions"),
                regularizer: Ridge::from_weight(self.l2).expect("positive"),
            }
        })
    }

    fn objectives(&self, theta: &[f64]) -> Vec<f64> {
        let probability = |r: usize| {
            let score = dot(&self.rows[r * self.d..(r + 1) * self.d], theta);
            1.0 / (1.0 + (-score).exp())
        };
        let mut loss = 0.0;
        for (i, q) in self.proportions.iter().enumerate() {
            let u = mean(self.size, |j| probability(i * self.size + j));
            let part = |q: f64, u: f64| if q == 0.0 { 0.0 } else { -q * u.ln() };
            loss += part(*q, u) + part(1.0 - q, 1.0 - u);
        }
        vec![loss / self.groups as f64 + 0.5 * self.l2 * dot(theta, theta)]
    }
}

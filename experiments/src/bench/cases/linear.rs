//! Linear predictors, dense and sparse.
//!
//! Dense: standard normal features, `theta* ~ 3 N(0, 1) / sqrt(d)`. Sparse: columns by Zipf's law
//! (column k in proportion to 1/k), normal values, rows of length 1, `theta* ~ 3 N(0, 1)`. Scores
//! deviate by about 3 in both; labels have the logistic probabilities, and the ridge is 1/n. The
//! elastic net has 10 % of its coefficients in the truth, noise of deviation 1, and weights of a
//! tenth and a hundredth of the smallest l1 at which all is zero. A lasso has 100 or 200
//! coefficients in the truth, and columns that are all as likely where rows are sparse.

use std::path::Path;

use anyhow::Result;
use innermean::collapse::SparseRows;
use innermean::problems::linear::{predictors, sparse_predictors};
use innermean::{Collapsed, ElasticNet, Logistic, Problem, Ridge, Square, SquaredHinge};
use innermean_data::write_npy;
use serde_json::{Value, json};

use super::{Case, Run, Task, dot, mean, solve};
use crate::bench::draws::Draws;

/// What is fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// `log(1 + exp(-y u))`
    Logistic,
    /// `max(1 - y u, 0)^2`
    SquaredHinge,
    /// `(u - y)^2 / 2`
    Square,
}

/// Rows with targets.
pub struct LinearCase {
    d: usize,
    rows: Rows,
    targets: Vec<f64>,
    loss: Loss,
    l1: f64,
    l2: f64,
}

enum Rows {
    Dense(Vec<f64>),
    Sparse { starts: Vec<usize>, columns: Vec<u32>, values: Vec<f64> },
}

impl LinearCase {
    /// Dense rows of two classes.
    pub fn dense(n: usize, d: usize, loss: Loss, seed: u64) -> Self {
        let (mut model, mut draws, mut labels) =
            (Draws::new(seed, 0), Draws::new(seed, 1), Draws::new(seed, 2));
        let truth: Vec<f64> = (0..d).map(|_| 3.0 * model.normal() / (d as f64).sqrt()).collect();
        let values: Vec<f64> = (0..n * d).map(|_| draws.normal()).collect();
        let targets = values.chunks_exact(d).map(|row| labels.label(dot(row, &truth))).collect();
        LinearCase { d, rows: Rows::Dense(values), targets, loss, l1: 0.0, l2: 1.0 / n as f64 }
    }

    /// Sparse rows of two classes, with this many different columns each.
    pub fn sparse(n: usize, d: usize, nonzeros: usize, loss: Loss, seed: u64) -> Self {
        let (mut model, mut draws, mut labels) =
            (Draws::new(seed, 0), Draws::new(seed, 1), Draws::new(seed, 2));
        let truth: Vec<f64> = (0..d).map(|_| 3.0 * model.normal()).collect();
        let mut total = 0.0;
        let popularity: Vec<f64> = (1..=d)
            .map(|k| {
                total += 1.0 / k as f64;
                total
            })
            .collect();
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut targets = Vec::with_capacity(n);
        let mut own = Vec::with_capacity(nonzeros);
        for _ in 0..n {
            own.clear();
            while own.len() < nonzeros {
                let at = total * draws.unit();
                let column = popularity.partition_point(|sum| *sum <= at).min(d - 1) as u32;
                if !own.contains(&column) {
                    own.push(column);
                }
            }
            own.sort_unstable();
            let first = values.len();
            values.extend(own.iter().map(|_| draws.normal()));
            let length = dot(&values[first..], &values[first..]).sqrt();
            values[first..].iter_mut().for_each(|value| *value /= length);
            let score = own.iter().zip(&values[first..]).map(|(&l, x)| x * truth[l as usize]).sum();
            targets.push(labels.label(score));
            columns.extend_from_slice(&own);
            starts.push(columns.len());
        }
        let rows = Rows::Sparse { starts, columns, values };
        LinearCase { d, rows, targets, loss, l1: 0.0, l2: 1.0 / n as f64 }
    }

    /// Dense rows with numbers as targets, for the elastic net.
    pub fn elastic_net(n: usize, d: usize, seed: u64) -> Self {
        let values = |draws: &mut Draws| Rows::Dense((0..n * d).map(|_| draws.normal()).collect());
        let mut case = Self::regression(n, d, d / 10, seed, values);
        let most = case.least_zero();
        (case.l1, case.l2) = (0.1 * most, 0.01 * most);
        case
    }

    /// Dense rows of which 100 coefficients are in the truth, for a lasso of this part of the
    /// smallest l1 at which all is zero.
    pub fn lasso_dense(n: usize, d: usize, part: f64, seed: u64) -> Self {
        let values = |draws: &mut Draws| Rows::Dense((0..n * d).map(|_| draws.normal()).collect());
        let mut case = Self::regression(n, d, 100, seed, values);
        case.l1 = part * case.least_zero();
        case
    }

    /// The same with 200 coefficients and sparse rows, with this many different columns each, all
    /// as likely.
    pub fn lasso_sparse(n: usize, d: usize, nonzeros: usize, part: f64, seed: u64) -> Self {
        let rows = |draws: &mut Draws| {
            let mut columns = Vec::with_capacity(n * nonzeros);
            for i in 0..n {
                while columns.len() < (i + 1) * nonzeros {
                    let column = (draws.unit() * d as f64) as u32;
                    if !columns[i * nonzeros..].contains(&column) {
                        columns.push(column);
                    }
                }
                columns[i * nonzeros..].sort_unstable();
            }
            let values = columns.iter().map(|_| draws.normal()).collect();
            Rows::Sparse { starts: (0..=n).map(|i| i * nonzeros).collect(), columns, values }
        };
        let mut case = Self::regression(n, d, 200, seed, rows);
        case.l1 = part * case.least_zero();
        case
    }

    /// Rows with targets that so many coefficients make, spread evenly, and noise; no weights yet.
    fn regression(
        n: usize,
        d: usize,
        true_ones: usize,
        seed: u64,
        rows: impl FnOnce(&mut Draws) -> Rows,
    ) -> Self {
        let (mut model, mut draws, mut noise) =
            (Draws::new(seed, 0), Draws::new(seed, 1), Draws::new(seed, 2));
        let every = (d / true_ones.max(1)).max(1);
        let truth: Vec<f64> =
            (0..d).map(|l| if l % every == 0 { model.normal() } else { 0.0 }).collect();
        let rows = rows(&mut draws);
        let (targets, loss) = (vec![0.0; n], Loss::Square);
        let mut case = LinearCase { d, rows, targets, loss, l1: 0.0, l2: 0.0 };
        case.targets = (0..n).map(|i| case.score(&truth, i) + noise.normal()).collect();
        case
    }

    /// The smallest l1 at which all is zero: the largest slope at the origin.
    fn least_zero(&self) -> f64 {
        let mut slopes = vec![0.0; self.d];
        for (i, target) in self.targets.iter().enumerate() {
            match &self.rows {
                Rows::Dense(values) => {
                    let row = &values[i * self.d..(i + 1) * self.d];
                    slopes.iter_mut().zip(row).for_each(|(slope, x)| *slope += target * x);
                }
                Rows::Sparse { starts, columns, values } => {
                    for at in starts[i]..starts[i + 1] {
                        slopes[columns[at] as usize] += target * values[at];
                    }
                }
            }
        }
        slopes.iter().fold(0.0_f64, |most, slope| most.max(slope.abs())) / self.n() as f64
    }

    fn n(&self) -> usize {
        self.targets.len()
    }

    fn score(&self, theta: &[f64], i: usize) -> f64 {
        match &self.rows {
            Rows::Dense(values) => dot(&values[i * self.d..(i + 1) * self.d], theta),
            Rows::Sparse { starts, columns, values } => {
                let own = starts[i]..starts[i + 1];
                columns[own.clone()]
                    .iter()
                    .zip(&values[own])
                    .map(|(&l, x)| x * theta[l as usize])
                    .sum()
            }
        }
    }
}

impl Case for LinearCase {
    fn family(&self) -> &'static str {
        "linear"
    }

    fn sizes(&self) -> String {
        let (n, d) = (self.n(), self.d);
        match &self.rows {
            Rows::Dense(_) => format!("dense {n} x {d}"),
            Rows::Sparse { values, .. } => {
                format!("sparse {n} x {d}, {} non-zeros a row", values.len() / n)
            }
        }
    }

    fn export(&self, folder: &Path) -> Result<Value> {
        let write = |name: &str, columns: usize, values: &[f64]| {
            write_npy(&folder.join(format!("{name}.npy")), columns, values)
        };
        write("targets", 1, &self.targets)?;
        match &self.rows {
            Rows::Dense(values) => write("rows", self.d, values)?,
            Rows::Sparse { starts, columns, values } => {
                write("starts", 1, &starts.iter().map(|&at| at as f64).collect::<Vec<f64>>())?;
                write("columns", 1, &columns.iter().map(|&l| f64::from(l)).collect::<Vec<f64>>())?;
                write("values", 1, values)?;
            }
        }
        let loss = match self.loss {
            Loss::Logistic => "logistic",
            Loss::SquaredHinge => "squared-hinge",
            Loss::Square => "square",
        };
        let sparse = matches!(self.rows, Rows::Sparse { .. });
        Ok(json!({ "d": self.d, "sparse": sparse, "loss": loss, "l1": self.l1, "l2": self.l2 }))
    }

    fn solve(&self, task: &Task) -> Run {
        let targets = self.targets.clone();
        let minus: Vec<f64> = match self.loss {
            Loss::Square => targets.iter().map(|target| -target).collect(),
            _ => vec![0.0; self.n()],
        };
        let inner: Box<dyn FnOnce() -> Collapsed> = match &self.rows {
            Rows::Dense(values) => {
                let (d, values) = (self.d, values.clone());
                Box::new(move || predictors(d, values, minus).expect("finite numbers"))
            }
            Rows::Sparse { starts, columns, values } => {
                let (d, starts, columns, values) =
                    (self.d, starts.clone(), columns.clone(), values.clone());
                Box::new(move || {
                    let rows = SparseRows::new(d, starts, columns, values).expect("rising columns");
                    sparse_predictors(rows, minus).expect("finite numbers")
                })
            }
        };
        let ridge = || Ridge::from_weight(self.l2).expect("positive");
        match self.loss {
            Loss::Logistic => solve(task, self.n(), || Problem {
                inner: inner(),
                merit: Logistic::new(targets).expect("labels"),
                regularizer: ridge(),
            }),
            Loss::SquaredHinge => solve(task, self.n(), || Problem {
                inner: inner(),
                merit: SquaredHinge::new(targets).expect("labels"),
                regularizer: ridge(),
            }),
            Loss::Square => solve(task, self.n(), || Problem {
                inner: inner(),
                merit: Square::new(0.5).expect("positive"),
                regularizer: ElasticNet::from_weights(self.l1, self.l2).expect("positive"),
            }),
        }
    }

    fn objectives(&self, theta: &[f64]) -> Vec<f64> {
        let loss = mean(self.n(), |i| {
            let (u, y) = (self.score(theta, i), self.targets[i]);
            match self.loss {
                Loss::Logistic => (-y * u).max(0.0) + (-u.abs()).exp().ln_1p(),
                Loss::SquaredHinge => (1.0 - y * u).max(0.0).powi(2),
                Loss::Square => 0.5 * (u - y).powi(2),
            }
        });
        let l1: f64 = theta.iter().map(|t| t.abs()).sum();
        vec![loss + self.l1 * l1 + 0.5 * self.l2 * dot(theta, theta)]
    }
}

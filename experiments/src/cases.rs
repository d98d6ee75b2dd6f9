//! The problems on which default steps are measured, their types forgotten: a step through pointers
//! counts the same calls.

use std::fmt;
use std::path::Path;

use anyhow::{Context, Result};
use innermean::Objective;
use innermean::draws::Stream;
use innermean::problems::linear;
use innermean::{
    Bags, Bellman, Bernoulli, Groups, Inner, Link, Logistic, Merit, Portfolio, Problem,
    Regularizer, Ridge, Square, Unregularized, optimum,
};
use innermean_data::{
    Features, GroupOptions, LinearModel, MdpOptions, ReadOptions, RowLabels, generate_groups,
    generate_mdp, read_returns,
};

/// What a problem is like; results are summed up by family.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// Mean and variance of the daily returns of 25 assets.
    Portfolio,
    /// The Bellman error of random processes.
    Mdp,
    /// Labels of groups.
    Groups,
    /// Linear predictors, and averages of softplus.
    Logistic,
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Family::Portfolio => "portfolio",
            Family::Mdp => "mdp",
            Family::Groups => "groups",
            Family::Logistic => "logistic",
        })
    }
}

/// A problem, and where to start.
pub struct Case {
    /// What it is.
    pub name: String,
    /// What it is like.
    pub family: Family,
    inner: Box<dyn Inner + Send>,
    merit: Box<dyn Merit + Send>,
    regularizer: Box<dyn Regularizer + Send>,
    /// The start.
    pub start: Vec<f64>,
}

impl Case {
    fn new<F, P, G>(
        name: String,
        family: Family,
        problem: Problem<F, P, G>,
        start: Vec<f64>,
    ) -> Self
    where
        F: Inner + Send + 'static,
        P: Merit + Send + 'static,
        G: Regularizer + Send + 'static,
    {
        let Problem { inner, merit, regularizer } = problem;
        Case {
            name,
            family,
            inner: Box::new(inner),
            merit: Box::new(merit),
            regularizer: Box::new(regularizer),
            start,
        }
    }

    /// The problem.
    pub fn problem(&self) -> Objective<'_> {
        Objective { inner: &*self.inner, merit: &*self.merit, regularizer: &*self.regularizer }
    }

    /// `P* + gap (P(start) - P*)`
    ///
    /// # Panics
    /// If phi has a kink and f is not affine, which is so in none of these.
    pub fn target(&self, gap: f64) -> f64 {
        let problem = self.problem();
        let best = optimum(problem, &self.start).expect("phi is smooth").objective;
        best + gap * (problem.objective(&self.start) - best)
    }
}

/// The 18 portfolios, or those of them whose files are there, from a uniform start.
///
/// # Errors
/// If a file cannot be read.
pub fn portfolios(folder: &Path) -> Result<Vec<Case>> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .with_context(|| format!("{} holds the portfolios", folder.display()))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|ext| ext == "csv"))
        .collect();
    files.sort();
    files
        .iter()
        .enumerate()
        .map(|(k, path)| {
            let returns = read_returns(path, &ReadOptions::default())?;
            let d = returns.assets();
            let rows: Vec<f64> =
                (0..returns.rows()).flat_map(|i| returns.row(i).to_vec()).collect();
            let mut uniform = Stream::new(k as u64, 1000);
            let start = (0..d).map(|_| uniform.unit()).collect();
            let problem = Portfolio::new(d, rows)?.problem(Square::new(1.0)?, Unregularized)?;
            let name = path
                .file_stem()
                .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            Ok(Case::new(name, Family::Portfolio, problem, start))
        })
        .collect()
}

/// This many random processes: three kinds of features, three sizes, 5 and 10 features.
///
/// # Panics
/// Never: what is drawn is a problem.
pub fn processes(count: u64) -> Vec<Case> {
    let kinds = [
        (Features::Uniform, "uniform"),
        (Features::Gaussian, "gaussian"),
        (Features::MixedSign, "mixed"),
    ];
    let one = |seed: u64| {
        let (features, kind) = kinds[seed as usize % 3];
        let states = [10, 30, 100][seed as usize / 3 % 3];
        let d = [5, 10][seed as usize / 9 % 2].min(states / 2);
        let mdp = generate_mdp(&MdpOptions {
            states,
            d,
            features,
            seed: seed + 1,
            ..MdpOptions::default()
        });
        let inner = Bellman::new(d, mdp.features, mdp.transitions, mdp.rewards, mdp.discount)
            .expect("a generated process");
        let merit = Square::new(1.0).expect("a weight");
        let problem = Problem { inner, merit, regularizer: Unregularized };
        Case::new(
            format!("{kind} S={states} d={d} seed {}", seed + 1),
            Family::Mdp,
            problem,
            vec![0.0; d],
        )
    };
    (0..count).map(one).collect()
}

/// Group sizes and whether feature k is scaled by 1/k.
const SHAPES: [(usize, usize, usize, bool); 8] = [
    (2000, 5, 10, false),
    (2000, 5, 10, true),
    (300, 50, 10, false),
    (300, 50, 10, true),
    (100, 500, 20, false),
    (100, 500, 20, true),
    (30, 3000, 10, false),
    (30, 3000, 10, true),
];

/// Proportions of groups with a logistic link: by cross-entropy or squares, from many small groups
/// to few large ones.
pub fn groups() -> Vec<Case> {
    let mut cases = Vec::new();
    for (k, &(count, size, d, scaled)) in SHAPES.iter().enumerate() {
        for squares in [false, true] {
            cases.push(proportions(count, size, d, scaled, squares, 1 + k as u64));
        }
    }
    cases
}

/// One problem of [`groups`].
///
/// # Panics
/// Never: what is drawn is a problem.
pub fn proportions(
    count: usize,
    size: usize,
    d: usize,
    scaled: bool,
    squares: bool,
    seed: u64,
) -> Case {
    let options = GroupOptions {
        groups: count,
        rows: (size, size),
        features: d,
        labels: RowLabels::Binary,
        seed,
    };
    let mut drawn = generate_groups(&options);
    let mut scores = vec![0.0; count];
    for (k, row) in drawn.rows.chunks_exact_mut(d).enumerate() {
        let t: f64 = row.iter().zip(&drawn.coefficients).map(|(y, b)| y * b).sum();
        scores[k / size] += 1.0 / ((1.0 + (-t).exp()) * size as f64);
        if scaled {
            row.iter_mut().enumerate().for_each(|(l, y)| *y /= (l + 1) as f64);
        }
    }
    let starts = (0..=count).map(|i| i * size).collect();
    let groups = Groups::new(d, drawn.rows, starts, false).expect("generated groups");
    let name = format!(
        "{count} x {size}, d={d}{}{}",
        if scaled { ", scaled" } else { "" },
        if squares { ", squares" } else { "" }
    );
    let regularizer = Ridge::from_weight(1e-4).expect("a weight");
    let start = vec![0.0; d];
    if squares {
        let inner =
            Bags::with_targets(groups, Link::Logistic, scores).expect("a target for each group");
        let problem = Problem { inner, merit: Square::new(1.0).expect("a weight"), regularizer };
        Case::new(name, Family::Groups, problem, start)
    } else {
        let merit = Bernoulli::new(scores).expect("proportions");
        let problem = Problem { inner: Bags::new(groups, Link::Logistic), merit, regularizer };
        Case::new(name, Family::Groups, problem, start)
    }
}

/// Logistic regressions with a ridge, and a softplus of averages of softplus.
///
/// # Panics
/// Never: what is drawn is a problem.
pub fn logistic() -> Vec<Case> {
    let mut cases = Vec::new();
    for (rows, features, lambda) in
        [(1000, 10, 1e-2), (1000, 10, 1e-4), (5000, 50, 1e-3), (5000, 50, 1e-5)]
    {
        let model =
            LinearModel { rows, features, classes: true, seed: rows as u64 + features as u64 };
        let data = model.dense();
        let inner =
            linear::predictors(features, data.features, vec![0.0; rows]).expect("generated rows");
        let problem = Problem {
            inner,
            merit: Logistic::new(data.targets).expect("labels"),
            regularizer: Ridge::from_weight(lambda).expect("a weight"),
        };
        let name = format!("logistic {rows} x {features}, ridge {lambda:.0e}");
        cases.push(Case::new(name, Family::Logistic, problem, vec![0.0; features]));
    }
    for (n_x, n_y, d, scaled) in
        [(500, 10, 5, false), (500, 10, 10, true), (50, 200, 5, false), (50, 200, 10, true)]
    {
        let inner = Softplus::random(n_x, n_y, d, scaled);
        let problem = Problem {
            inner,
            merit: Logistic::new(vec![-1.0; n_x]).expect("labels"),
            regularizer: Ridge::from_weight(1e-3).expect("a weight"),
        };
        let scaled = if scaled { ", scaled" } else { "" };
        let name = format!("softplus {n_x} x {n_y}, d={d}{scaled}");
        cases.push(Case::new(name, Family::Logistic, problem, vec![0.0; d]));
    }
    cases
}

/// `f_theta(x_i, y_ij) = log(1 + e^<y_ij, theta>) - 1/2`: convex and not affine.
struct Softplus {
    d: usize,
    n_y: usize,
    rows: Vec<f64>,
}

impl Softplus {
    fn random(n_x: usize, n_y: usize, d: usize, scaled: bool) -> Self {
        let mut draws = Stream::new(3, 7);
        let mut rows = Vec::with_capacity(n_x * n_y * d);
        for _ in 0..n_x {
            let centre: Vec<f64> = (0..d).map(|_| 2.0 * draws.unit() - 1.0).collect();
            for _ in 0..n_y {
                rows.extend(centre.iter().enumerate().map(|(l, c)| {
                    (c + 4.0 * draws.unit() - 2.0) / if scaled { (l + 1) as f64 } else { 1.0 }
                }));
            }
        }
        Softplus { d, n_y, rows }
    }

    fn score(&self, theta: &[f64], i: usize, j: usize) -> f64 {
        self.row(i, j).iter().zip(theta).map(|(y, t)| y * t).sum()
    }

    fn row(&self, i: usize, j: usize) -> &[f64] {
        let first = (i * self.n_y + j) * self.d;
        &self.rows[first..first + self.d]
    }
}

impl Inner for Softplus {
    fn d(&self) -> usize {
        self.d
    }

    fn n_x(&self) -> usize {
        self.rows.len() / (self.d * self.n_y)
    }

    fn n_y(&self, _: usize) -> usize {
        self.n_y
    }

    fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
        let t = self.score(theta, i, j);
        out[0] = t.max(0.0) + (-t.abs()).exp().ln_1p() - 0.5;
    }

    fn add_jac_t(&self, theta: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        let slope = 1.0 / (1.0 + (-self.score(theta, i, j)).exp());
        out.iter_mut().zip(self.row(i, j)).for_each(|(out, y)| *out += c * w[0] * slope * y);
    }
}

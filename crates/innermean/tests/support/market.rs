//! Portfolios of returns: the raw formula of the objective, the closed form, and the same as a
//! quadratic program.

use std::path::PathBuf;
use std::sync::LazyLock;

use innermean::{
    Absolute, AnyMerit, AnyRegularizer, BoxConstraint, Budget, DownsideSquare, Huber, L1,
    Portfolio, Problem, Ridged, Simplex, Square, Tilted, Unregularized,
};
use innermean_data::{ReadOptions, Returns, generate_factor_model, read_returns};

use super::conic::Program;
use super::dense::{Symmetric, dot};

/// Rows of returns.
#[derive(Debug, Clone)]
pub(crate) struct Market {
    pub(crate) name: String,
    pub(crate) d: usize,
    pub(crate) rows: Vec<Vec<f64>>,
}

/// What is done to a deviation u.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Risk {
    /// `c u^2`
    Variance(f64),
    /// `c min(u, 0)^2`
    Semivariance(f64),
    /// `c |u|`
    Absolute(f64),
    /// `c u^2 / (2h)` up to `|u| = h`, `c (|u| - h/2)` beyond
    Huber(f64, f64),
}

/// What theta must satisfy.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Limits {
    Free,
    /// `theta >= 0`, sum 1
    LongOnly,
    /// `lo <= theta <= hi`
    Between(f64, f64),
    /// `lo <= theta <= hi`, sum 1
    Invested(f64, f64),
}

/// `-<m, theta> + (1/n) sum_i risk(<x_i - m, theta>) + l1 |theta|_1 + (l2/2) |theta|^2` within
/// limits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Task {
    pub(crate) risk: Risk,
    pub(crate) limits: Limits,
    pub(crate) l1: f64,
    pub(crate) l2: f64,
}

impl Market {
    fn new(returns: &Returns, name: String) -> Self {
        let rows = (0..returns.rows()).map(|i| returns.row(i).to_vec()).collect();
        Market { name, d: returns.assets(), rows }
    }

    pub(crate) fn generated(rows: usize, assets: usize, seed: u64) -> Self {
        let name = format!("{rows} generated days of {assets} assets");
        Market::new(&generate_factor_model(rows, assets, seed), name)
    }

    /// The real portfolios that lie beside the repository, in the order of their names; often none.
    /// They are read once for all tests.
    pub(crate) fn real() -> &'static [Self] {
        static READ: LazyLock<Vec<Market>> = LazyLock::new(Market::read);
        &READ
    }

    fn read() -> Vec<Self> {
        let folder =
            PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/data/portfolio");
        let Ok(entries) = std::fs::read_dir(&folder) else { return Vec::new() };
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "csv"));
        files.sort();
        files
            .iter()
            .map(|file| {
                let name = file.file_stem().unwrap().to_string_lossy().into_owned();
                Market::new(&read_returns(file, &ReadOptions::default()).unwrap(), name)
            })
            .collect()
    }

    /// Every `step`-th row.
    pub(crate) fn thinned(&self, step: usize) -> Self {
        let rows = self.rows.iter().step_by(step).cloned().collect();
        Market { name: format!("{}, every {step}th day", self.name), d: self.d, rows }
    }

    pub(crate) fn n(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn mean(&self) -> Vec<f64> {
        (0..self.d)
            .map(|l| self.rows.iter().map(|row| row[l]).sum::<f64>() / self.n() as f64)
            .collect()
    }

    fn deviations(&self) -> Vec<Vec<f64>> {
        let mean = self.mean();
        self.rows.iter().map(|row| row.iter().zip(&mean).map(|(x, m)| x - m).collect()).collect()
    }

    pub(crate) fn portfolio(&self) -> Portfolio {
        Portfolio::new(self.d, self.rows.concat()).unwrap()
    }

    /// `(2 c Cov + l2 I)^-1 m` minimises `-<m, theta> + c theta' Cov theta + (l2/2) |theta|^2`.
    pub(crate) fn closed_form(&self, c: f64, l2: f64) -> Vec<f64> {
        let mut matrix = Symmetric::scaled_identity(self.d, l2);
        for deviation in self.deviations() {
            matrix.add_outer(2.0 * c / self.n() as f64, &deviation);
        }
        matrix.solve(&self.mean())
    }

    /// The objective by its formula; the limits are left to [`Task::excess`].
    pub(crate) fn objective(&self, task: &Task, theta: &[f64]) -> f64 {
        let risk: f64 = self.deviations().iter().map(|x| task.risk.of(dot(x, theta))).sum();
        let l1: f64 = theta.iter().map(|t| t.abs()).sum();
        risk / self.n() as f64 - dot(&self.mean(), theta)
            + task.l1 * l1
            + 0.5 * task.l2 * dot(theta, theta)
    }

    /// The minimiser by Clarabel, from the formula: theta, the deviations `u_i = <x_i - m, theta>`
    /// as variables of their own, and whatever the risk needs beside them.
    pub(crate) fn by_interior_point(&self, task: &Task) -> Vec<f64> {
        let n = self.n() as f64;
        let mut program = Program::default();
        let theta: Vec<usize> = self.mean().iter().map(|m| program.variable(task.l2, -m)).collect();
        match task.limits {
            Limits::Free => {}
            Limits::LongOnly => {
                program.equal(theta.iter().map(|&v| (v, 1.0)).collect(), 1.0);
                for &v in &theta {
                    program.at_most(vec![(v, -1.0)], 0.0);
                }
            }
            Limits::Invested(lo, hi) => {
                program.equal(theta.iter().map(|&v| (v, 1.0)).collect(), 1.0);
                for &v in theta.iter().filter(|_| lo.is_finite()) {
                    program.at_most(vec![(v, -1.0)], -lo);
                }
                for &v in theta.iter().filter(|_| hi.is_finite()) {
                    program.at_most(vec![(v, 1.0)], hi);
                }
            }
            Limits::Between(lo, hi) => {
                for &v in &theta {
                    program.at_most(vec![(v, -1.0)], -lo);
                    program.at_most(vec![(v, 1.0)], hi);
                }
            }
        }
        if task.l1 > 0.0 {
            for &v in &theta {
                program.absolute_value(v, task.l1);
            }
        }
        for deviation in self.deviations() {
            let mut u: Vec<(usize, f64)> = theta.iter().copied().zip(deviation).collect();
            match task.risk {
                // u = s, c s^2
                Risk::Variance(c) => {
                    u.push((program.variable(2.0 * c / n, 0.0), -1.0));
                    program.equal(u, 0.0);
                }
                // s >= 0, s >= -u, c s^2
                Risk::Semivariance(c) => {
                    let s = program.variable(2.0 * c / n, 0.0);
                    program.at_most(vec![(s, -1.0)], 0.0);
                    for (_, a) in &mut u {
                        *a = -*a;
                    }
                    u.push((s, -1.0));
                    program.at_most(u, 0.0);
                }
                // u = s, c |s|
                Risk::Absolute(c) => {
                    let s = program.variable(0.0, 0.0);
                    program.absolute_value(s, c / n);
                    u.push((s, -1.0));
                    program.equal(u, 0.0);
                }
                // Huber's function is the least c s^2/(2h) + c |r| over u = s + r.
                Risk::Huber(c, h) => {
                    let s = program.variable(c / (h * n), 0.0);
                    let r = program.variable(0.0, 0.0);
                    program.absolute_value(r, c / n);
                    u.extend([(s, -1.0), (r, -1.0)]);
                    program.equal(u, 0.0);
                }
            }
        }
        let x = program.solve();
        theta.iter().map(|&v| x[v]).collect()
    }

    /// The same task for the library.
    pub(crate) fn problem(
        &self,
        task: &Task,
    ) -> Problem<Portfolio, AnyMerit, Tilted<Ridged<AnyRegularizer>>> {
        let merit: AnyMerit = match task.risk {
            Risk::Variance(c) => Square::new(c).unwrap().into(),
            Risk::Semivariance(c) => DownsideSquare::new(c).unwrap().into(),
            Risk::Absolute(c) => Absolute::new(c).unwrap().into(),
            Risk::Huber(c, h) => Huber::new(c, h).unwrap().into(),
        };
        let g: AnyRegularizer = match task.limits {
            Limits::Free if task.l1 > 0.0 => L1::new(task.l1).unwrap().into(),
            Limits::Free => Unregularized.into(),
            // On the simplex the l1 norm is 1.
            Limits::LongOnly => Simplex.into(),
            Limits::Invested(lo, hi) => {
                let bounds = BoxConstraint::new(lo, hi).unwrap().with_l1(task.l1).unwrap();
                Budget::new(self.d, bounds).unwrap().into()
            }
            Limits::Between(lo, hi) => {
                BoxConstraint::new(lo, hi).unwrap().with_l1(task.l1).unwrap().into()
            }
        };
        self.portfolio().problem(merit, Ridged::new(g, task.l2).unwrap()).unwrap()
    }
}

/// The real portfolios, or a word on why there is nothing to do.
pub(crate) fn real_markets() -> &'static [Market] {
    let markets = Market::real();
    if markets.is_empty() {
        println!(
            "skipped: the 18 real portfolios are not in shared/data/portfolio beside the repository"
        );
    } else {
        assert_eq!(markets.len(), 18);
    }
    markets
}

impl Risk {
    fn of(self, u: f64) -> f64 {
        match self {
            Risk::Variance(c) => c * u * u,
            Risk::Semivariance(c) => c * u.min(0.0) * u.min(0.0),
            Risk::Absolute(c) => c * u.abs(),
            Risk::Huber(c, h) if u.abs() <= h => c * u * u / (2.0 * h),
            Risk::Huber(c, h) => c * (u.abs() - 0.5 * h),
        }
    }
}

impl Task {
    pub(crate) fn new(risk: Risk, limits: Limits) -> Self {
        Task { risk, limits, l1: 0.0, l2: 0.0 }
    }

    /// How far theta is outside the limits.
    pub(crate) fn excess(&self, theta: &[f64]) -> f64 {
        let below = |lo: f64| theta.iter().fold(0.0_f64, |most, t| most.max(lo - t));
        let above = |hi: f64| theta.iter().fold(0.0_f64, |most, t| most.max(t - hi));
        match self.limits {
            Limits::Free => 0.0,
            Limits::LongOnly => below(0.0).max((theta.iter().sum::<f64>() - 1.0).abs()),
            Limits::Invested(lo, hi) => {
                below(lo).max(above(hi)).max((theta.iter().sum::<f64>() - 1.0).abs())
            }
            Limits::Between(lo, hi) => below(lo).max(above(hi)),
        }
    }
}

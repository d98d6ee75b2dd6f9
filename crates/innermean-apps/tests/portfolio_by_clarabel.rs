//! Random portfolios with every risk, weights of periods, benchmarks, limits and costs: the answer
//! is where Clarabel's is, feasible, and proven.

use std::path::PathBuf;

use innermean::draws::Stream;
use innermean_apps::penalty::Constraint;
use innermean_apps::portfolio::{
    Aim, AssetLimit, Benchmark, GroupLimit, Limits, PortfolioSettings, PortfolioTask, Risk,
    Scenarios,
};
use innermean_apps::wording::Named;
use innermean_data::{ReadOptions, Returns, generate_factor_model, read_returns};

use crate::conic::Program;
use crate::fit;

/// Rows of a few columns each, in percent: generated ones, and real ones where they are at hand.
fn markets() -> Vec<Returns> {
    let generated = [(90, 6, 1), (120, 8, 2), (60, 4, 3), (150, 5, 4), (75, 9, 5)];
    let mut markets: Vec<Returns> =
        generated.iter().map(|&(n, d, seed)| generate_factor_model(n, d, seed)).collect();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/portfolio");
    for name in ["Europe_ME", "Japan_INV", "North_America_OP", "Global_ME"] {
        let file = folder.join(format!("{name}.csv"));
        let Ok(read) = read_returns(&file, &ReadOptions::default()) else { continue };
        let d = read.assets();
        let kept: Vec<usize> = (0..d).step_by(3).collect();
        let rows = (0..read.rows()).step_by(read.rows() / 100);
        let values = rows.flat_map(|i| kept.iter().map(|&l| read.row(i)[l]).collect::<Vec<_>>());
        let values = values.collect();
        let names = kept.iter().map(|&l| read.names[l].clone()).collect();
        markets.push(Returns { names, values, ..read });
    }
    markets
}

/// A task, and all that its formula needs.
struct Case {
    settings: PortfolioSettings,
    limits: Limits,
    scenarios: Scenarios,
    /// In percent.
    level: f64,
    exponent: f64,
    /// The share of each period.
    shares: Vec<f64>,
    /// 0 without a benchmark.
    benchmark: Vec<f64>,
    mean: Vec<f64>,
    current: Vec<f64>,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Case {
    fn draw(market: &Returns, risk: Risk, draws: &mut Stream) -> Self {
        let mut coin = |part: f64| draws.unit() < part;
        let mut scenarios = Scenarios::new(market.names.clone(), market.values.clone());
        let n = market.rows();
        if coin(0.3) {
            let name = market.names[1].clone();
            scenarios.compare_with(&name).expect("a column");
        }
        let (weigh, halve) = (coin(0.3), coin(0.3));
        let mut shares = vec![1.0; n];
        if weigh {
            let given: Vec<f64> = (0..n).map(|i| (i % 4) as f64).collect();
            shares.clone_from(&given);
            scenarios.weights = Some(given);
        }
        if halve {
            scenarios.half_life = Some(20.0);
            for (age, share) in shares.iter_mut().rev().enumerate() {
                *share *= 0.5f64.powf(age as f64 / 20.0);
            }
        }
        let sum: f64 = shares.iter().sum();
        for share in &mut shares {
            *share /= sum;
        }
        let d = scenarios.names.len();
        let rows = scenarios.returns.held().expect("in memory").chunks_exact(d);
        let mut mean = vec![0.0; d];
        for (row, share) in rows.zip(&shares) {
            mean.iter_mut().zip(row).for_each(|(m, x)| *m += share * x);
        }
        let benchmark =
            scenarios.benchmark.as_ref().map_or_else(|| vec![0.0; n], |z| z.returns.clone());
        let current = vec![1.0 / d as f64; d];
        let mut settings = PortfolioSettings::default();
        settings.risk = risk;
        settings.aim = if coin(0.5) { Aim::Utility } else { Aim::MinRisk };
        settings.risk_aversion = if coin(0.5) { 0.4 } else { 1.0 };
        settings.constraint = match (coin(0.5), coin(0.5)) {
            (true, _) => Constraint::LongOnly,
            (_, true) => Constraint::SumToOne { lo: -0.3, hi: 0.7 },
            _ => Constraint::Box { lo: -0.4, hi: 0.8 },
        };
        if matches!(settings.constraint, Constraint::Box { .. }) {
            // Otherwise nothing is held, and nothing is at risk.
            settings.aim = Aim::Utility;
        }
        let (level, exponent) =
            (if coin(0.5) { 0.9 } else { 0.75 }, if coin(0.5) { 0.3 } else { 2.0 });
        settings.level = (risk == Risk::Cvar).then_some(level);
        settings.exponent = (risk == Risk::Entropic).then_some(exponent);
        settings.percent = risk == Risk::Kelly;
        settings.huber_width = (risk == Risk::Huber).then_some(0.4);
        settings.penalty.l2 = if coin(0.2) { 0.05 } else { 0.0 };
        let mut limits = Limits::default();
        if coin(0.3) {
            let limit = |l: usize| AssetLimit {
                asset: scenarios.names[l].clone(),
                upper: (l == 0).then_some(0.15),
                group: Some("first".to_owned()),
                ..AssetLimit::default()
            };
            limits.assets = vec![limit(0), limit(2)];
            let (lower, upper) = (Some(0.05), Some(0.35));
            limits.groups = vec![GroupLimit { group: "first".to_owned(), lower, upper }];
        }
        limits.gross = coin(0.2).then_some(1.4);
        let held = scenarios.names.iter().cloned().zip(current.iter().copied()).collect();
        limits.turnover = coin(0.2).then_some(0.6);
        limits.cost = coin(0.2).then_some(0.003);
        limits.current = (limits.turnover.is_some() || limits.cost.is_some()).then_some(held);
        limits.target_return = coin(0.2).then(|| dot(&mean, &current) - 1e-3);
        Case { settings, limits, scenarios, level, exponent, shares, benchmark, mean, current }
    }

    fn rows(&self) -> std::slice::ChunksExact<'_, f64> {
        self.scenarios.returns.held().expect("in memory").chunks_exact(self.scenarios.names.len())
    }

    fn is_centred(&self) -> bool {
        !matches!(self.settings.risk, Risk::Cvar | Risk::Entropic | Risk::Kelly)
    }

    /// `<x_i, theta> - z_i`, around its mean where the risk asks for that: the coefficients, and
    /// what is subtracted.
    fn affine(&self, i: usize, row: &[f64]) -> (Vec<f64>, f64) {
        if !self.is_centred() {
            return (row.to_vec(), self.benchmark[i]);
        }
        let around = row.iter().zip(&self.mean).map(|(x, m)| x - m).collect();
        (around, self.benchmark[i] - dot(&self.shares, &self.benchmark))
    }

    /// The objective by its formula.
    fn objective(&self, theta: &[f64]) -> f64 {
        let deviation = |(i, row): (usize, &[f64])| {
            let (a, b) = self.affine(i, row);
            dot(&a, theta) - b
        };
        let r: Vec<f64> = self.rows().enumerate().map(deviation).collect();
        let mean = |phi: &dyn Fn(f64) -> f64| -> f64 {
            r.iter().zip(&self.shares).map(|(u, share)| share * phi(*u)).sum()
        };
        let (level, gamma) = (self.level, self.exponent);
        let risk = match self.settings.risk {
            Risk::Variance => mean(&|u| u * u),
            Risk::Semivariance => mean(&|u| u.min(0.0).powi(2)),
            Risk::Absolute => mean(&|u| u.abs()),
            Risk::Huber => mean(&|u| if u.abs() <= 0.4 { u * u / 0.8 } else { u.abs() - 0.2 }),
            // The minimum over t is at one of the losses.
            Risk::Cvar => r
                .iter()
                .map(|loss| -loss + mean(&|u| (loss - u).max(0.0)) / (1.0 - level))
                .fold(f64::INFINITY, f64::min),
            Risk::Entropic => mean(&|u| (-gamma * u).exp()).ln() / gamma,
            Risk::Kelly => mean(&|u| -(1.0 + u / 100.0).ln()),
        };
        let PortfolioSettings { aim, risk_aversion, penalty, .. } = self.settings;
        let earned = if aim == Aim::Utility { dot(&self.mean, theta) } else { 0.0 };
        let traded: f64 = theta.iter().zip(&self.current).map(|(x, held)| (x - held).abs()).sum();
        risk_aversion * risk - earned
            + 0.5 * penalty.l2 * dot(theta, theta)
            + self.limits.cost.unwrap_or(0.0) * traded
    }

    fn bounds(&self, l: usize) -> (f64, f64) {
        let (lo, mut hi) = match self.settings.constraint {
            Constraint::Box { lo, hi } | Constraint::SumToOne { lo, hi } => (lo, hi),
            _ => (0.0, f64::INFINITY),
        };
        if !self.limits.assets.is_empty() && l == 0 {
            hi = hi.min(0.15);
        }
        (lo, hi)
    }

    fn has_budget(&self) -> bool {
        !matches!(self.settings.constraint, Constraint::Box { .. })
    }

    /// By how much the worst of the constraints is missed.
    fn violation(&self, theta: &[f64]) -> f64 {
        let mut worst = 0.0_f64;
        for (l, x) in theta.iter().enumerate() {
            let (lo, hi) = self.bounds(l);
            worst = worst.max(lo - x).max(x - hi);
        }
        if self.has_budget() {
            worst = worst.max((theta.iter().sum::<f64>() - 1.0).abs());
        }
        if !self.limits.groups.is_empty() {
            let group = theta[0] + theta[2];
            worst = worst.max(0.05 - group).max(group - 0.35);
        }
        let norm =
            |center: &[f64]| -> f64 { theta.iter().zip(center).map(|(x, c)| (x - c).abs()).sum() };
        if let Some(gross) = self.limits.gross {
            worst = worst.max(norm(&vec![0.0; theta.len()]) - gross);
        }
        if let Some(turnover) = self.limits.turnover {
            worst = worst.max(norm(&self.current) - turnover);
        }
        if let Some(target) = self.limits.target_return {
            worst = worst.max(target - dot(&self.mean, theta));
        }
        worst
    }

    /// Clarabel's weights.
    fn by_clarabel(&self) -> Vec<f64> {
        let mut program = Program::default();
        let PortfolioSettings { aim, penalty, .. } = self.settings;
        let tilt = |m: &f64| if aim == Aim::Utility { -m } else { 0.0 };
        let x: Vec<usize> =
            self.mean.iter().map(|m| program.variable(penalty.l2, tilt(m))).collect();
        let all = |a: &[f64]| x.iter().copied().zip(a.iter().copied()).collect::<Vec<_>>();
        let ones = vec![1.0; x.len()];
        for (l, &v) in x.iter().enumerate() {
            let (lo, hi) = self.bounds(l);
            program.at_most(vec![(v, -1.0)], -lo);
            if hi.is_finite() {
                program.at_most(vec![(v, 1.0)], hi);
            }
        }
        if self.has_budget() {
            program.equal(all(&ones), 1.0);
        }
        if !self.limits.groups.is_empty() {
            program.at_most(vec![(x[0], 1.0), (x[2], 1.0)], 0.35);
            program.at_most(vec![(x[0], -1.0), (x[2], -1.0)], -0.05);
        }
        if let Some(target) = self.limits.target_return {
            program.at_most(all(&self.mean.iter().map(|m| -m).collect::<Vec<_>>()), -target);
        }
        let mut norm = |center: &[f64], limit: Option<f64>, price: f64| {
            let mut sum = Vec::new();
            for (&v, c) in x.iter().zip(center) {
                let t = program.variable(0.0, price);
                program.at_most(vec![(v, 1.0), (t, -1.0)], *c);
                program.at_most(vec![(v, -1.0), (t, -1.0)], -c);
                sum.push((t, 1.0));
            }
            if let Some(limit) = limit {
                program.at_most(sum, limit);
            }
        };
        if self.limits.gross.is_some() {
            norm(&vec![0.0; x.len()], self.limits.gross, 0.0);
        }
        if self.limits.turnover.is_some() || self.limits.cost.is_some() {
            norm(&self.current, self.limits.turnover, self.limits.cost.unwrap_or(0.0));
        }
        self.add_risk(&mut program, &x);
        program.solve()[..x.len()].to_vec()
    }

    fn add_risk(&self, program: &mut Program, x: &[usize]) {
        let (c, gamma) = (self.settings.risk_aversion, self.exponent);
        let threshold = matches!(self.settings.risk, Risk::Cvar | Risk::Entropic)
            .then(|| program.variable(0.0, c));
        for (i, row) in self.rows().enumerate() {
            let share = c * self.shares[i];
            if share == 0.0 {
                continue;
            }
            // u = <a, x> - b
            let (a, b) = self.affine(i, row);
            let u = program.variable(
                if self.settings.risk == Risk::Variance { 2.0 * share } else { 0.0 },
                0.0,
            );
            let mut terms: Vec<(usize, f64)> = x.iter().copied().zip(a).collect();
            terms.push((u, -1.0));
            program.equal(terms, b);
            match self.settings.risk {
                Risk::Variance => {}
                Risk::Semivariance => {
                    let s = program.variable(2.0 * share, 0.0);
                    program.at_most(vec![(s, -1.0)], 0.0);
                    program.at_most(vec![(u, -1.0), (s, -1.0)], 0.0);
                }
                Risk::Absolute => program.absolute_value(u, share),
                Risk::Huber => {
                    let (s, r) = (program.variable(share / 0.4, 0.0), program.variable(0.0, 0.0));
                    program.absolute_value(r, share);
                    program.equal(vec![(u, 1.0), (s, -1.0), (r, -1.0)], 0.0);
                }
                Risk::Cvar => {
                    let s = program.variable(0.0, share / (1.0 - self.level));
                    program.at_most(vec![(s, -1.0)], 0.0);
                    let t = threshold.expect("a variable");
                    program.at_most(vec![(u, -1.0), (t, -1.0), (s, -1.0)], 0.0);
                }
                Risk::Entropic => {
                    let e = program.variable(0.0, share / gamma);
                    let t = threshold.expect("a variable");
                    program.exponential(&[(u, -gamma), (t, -gamma)], 0.0, e);
                }
                Risk::Kelly => {
                    let (log, wealth) = (program.variable(0.0, -share), program.variable(0.0, 0.0));
                    program.equal(vec![(wealth, 1.0), (u, -0.01)], 1.0);
                    program.exponential(&[(log, 1.0)], 0.0, wealth);
                }
            }
        }
    }
}

/// 224 of them.
#[test]
fn answers_are_those_of_an_interior_point_solver() {
    let markets = markets();
    assert!(markets.len() >= 5);
    let mut draws = Stream::new(17, 0);
    let mut compared = 0;
    for k in 0..32 {
        for &risk in Risk::ALL {
            let case =
                Case::draw(&markets[(k * 7 + risk as usize) % markets.len()], risk, &mut draws);
            let words = format!("{k}: {:?}, {:?}", case.settings, case.limits);
            let task =
                PortfolioTask::of(case.scenarios.clone(), &case.settings, case.limits.clone());
            // What was drawn may contradict itself, and then is refused.
            let Ok(task) = task else { continue };
            let found = fit(&task, 1e-8).solution;
            assert!(found.status.is_solved(), "{words}: {} {:?}", found.status, found.certificate);
            assert!(
                case.violation(&found.theta) <= 1e-9,
                "{words}: {}",
                case.violation(&found.theta)
            );
            let (ours, theirs) =
                (case.objective(&found.theta), case.objective(&case.by_clarabel()));
            let scale = theirs.abs().max(1e-2);
            assert!((ours - theirs).abs() <= 1e-6 * scale, "{words}: {ours} {theirs}");
            let gap = found.certificate.gap.unwrap_or_else(|| panic!("{words}: no proof"));
            assert!(gap <= 1e-6 * scale && ours - gap <= theirs + 1e-8 * scale, "{words}: {gap}");
            // The run may have ended next to the best threshold.
            let beside = found.objective - ours;
            assert!((-1e-9 * scale..=gap + 1e-9 * scale).contains(&beside), "{words}: {beside}");
            compared += 1;
        }
    }
    assert!(compared >= 200, "{compared}");
}

/// The benchmark is part of the data, and not of the assets.
#[test]
fn a_benchmark_is_no_asset() {
    let market = generate_factor_model(30, 3, 1);
    let mut scenarios = Scenarios::new(market.names.clone(), market.values.clone());
    scenarios.compare_with(&market.names[1]).expect("a column");
    let returns: Vec<f64> = (0..30).map(|i| market.row(i)[1]).collect();
    assert_eq!(scenarios.benchmark, Some(Benchmark { name: market.names[1].clone(), returns }));
    assert_eq!(scenarios.names, [market.names[0].clone(), market.names[2].clone()]);
    assert_eq!(scenarios.returns.numbers()[2..4], [market.row(1)[0], market.row(1)[2]]);
}

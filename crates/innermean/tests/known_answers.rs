//! Portfolios whose answer is known from elsewhere: by the closed form of mean-variance, and by
//! Clarabel, an interior-point solver that gets the raw formula as a quadratic program.

use std::num::NonZeroU64;
use std::ops::ControlFlow;

use crate::support::dense::{distance_squared, dot};
use crate::support::geometric_mean;
use crate::support::market::{Limits, Market, Risk, Task, real_markets};
use innermean::draws::Stream;
use innermean::evaluate::{Evaluator, Known};
use innermean::{
    AnyMethod, Certificate, Choice, Driver, Observer, Record, Solution, Square, Status, Stop,
    Unregularized,
};

/// A run on `-<m, theta> + theta' Cov theta` with the settings of the paper's figures.
struct PaperRun {
    /// `P(theta*)`
    optimum: f64,
    /// `|theta - theta*| / |theta*|`
    error: f64,
    solution: Solution,
}

impl PaperRun {
    fn new(market: &Market, method: &str, seed: u64, tolerance: f64) -> Self {
        let n = market.n();
        let mut uniform = Stream::new(seed, 1000);
        let start: Vec<f64> = (0..market.d).map(|_| uniform.unit()).collect();
        let problem = market.portfolio().problem(Square::new(1.0).unwrap(), Unregularized).unwrap();
        let choice = Choice {
            alpha_theta: Some(3e-4),
            alpha_w: Some(100.0),
            inner_iterations: Some(n),
            warmup_epochs: Some(1),
            ..Choice::seeded(seed)
        };
        let driver = Driver {
            stop: Stop { tolerance: Some(tolerance), max_outer: Some(2000), ..Stop::default() },
            evaluate_every: NonZeroU64::new(n as u64 / 2),
            ..Driver::default()
        };
        let solution = AnyMethod::named(method, &choice, &problem, &start).unwrap().run(
            &driver,
            &problem,
            &start,
            &mut (),
        );
        assert_eq!(solution.status, Status::Solved, "{} by {method}", market.name);
        let theta = market.closed_form(1.0, 0.0);
        let error = (distance_squared(&solution.theta, &theta) / dot(&theta, &theta)).sqrt();
        // At the optimum theta' Cov theta = <m, theta> / 2.
        PaperRun { optimum: -0.5 * dot(&market.mean(), &theta), error, solution }
    }

    fn gap(&self, record: &Record) -> f64 {
        record.objective - self.optimum
    }

    /// Millions of calls until the gap is first at or below `gap`.
    fn calls_to(&self, gap: f64) -> f64 {
        let record = self
            .solution
            .trace
            .iter()
            .find(|record| self.gap(record) <= gap)
            .expect("it was solved");
        record.calls.total() as f64 / 1e6
    }

    /// A plain epoch of 2 calls a step, then 3 n for each snapshot and 2 or 3 calls a step.
    fn calls_as_in_the_figures(&self, market: &Market, method: &str) -> u64 {
        let n = market.n() as u64;
        let steps = self.solution.inner - n;
        2 * n + 3 * n * steps.div_ceil(n) + if method == "SVRPDA-I" { 2 } else { 3 } * steps
    }

    /// `r^2` and slope of log10(gap) against millions of calls, from gap 1e-2 to 1e-10.
    fn line(&self) -> (f64, f64) {
        let window = self.calls_to(1e-2)..=self.calls_to(1e-10);
        let points: Vec<(f64, f64)> = self
            .solution
            .trace
            .iter()
            .map(|record| (record.calls.total() as f64 / 1e6, self.gap(record)))
            .filter(|(calls, gap)| window.contains(calls) && *gap > 0.0)
            .map(|(calls, gap)| (calls, gap.log10()))
            .collect();
        let count = points.len() as f64;
        let (x, y) = (
            points.iter().map(|p| p.0).sum::<f64>() / count,
            points.iter().map(|p| p.1).sum::<f64>() / count,
        );
        let sum =
            |of: fn(f64, f64) -> f64| points.iter().map(|p| of(p.0 - x, p.1 - y)).sum::<f64>();
        let (xx, xy, yy) = (sum(|x, _| x * x), sum(|x, y| x * y), sum(|_, y| y * y));
        (xy * xy / (xx * yy), xy / xx)
    }
}

#[test]
fn both_methods_reach_the_closed_form_of_the_18_portfolios_linearly() {
    /// SVRPDA-II runs on one portfolio of this many; `comparison.rs` has it on all.
    const EVERY_II: usize = 3;
    let mut ratios = Vec::new();
    for (k, market) in real_markets().iter().enumerate() {
        let methods = if k % EVERY_II == 0 { &["svrpda1", "svrpda2"][..] } else { &["svrpda1"] };
        let runs: Vec<PaperRun> =
            methods.iter().map(|method| PaperRun::new(market, method, 0, 1e-16)).collect();
        for (run, method) in runs.iter().zip(["SVRPDA-I", "SVRPDA-II"]) {
            let name = format!("{} by {method}", market.name);
            assert_eq!(
                run.solution.calls.total(),
                run.calls_as_in_the_figures(market, method),
                "{name}"
            );
            assert!(run.error < 1e-6, "{name}: theta is off by {:.1e}", run.error);
            let (r_squared, slope) = run.line();
            assert!(
                slope < 0.0 && r_squared > 0.9,
                "{name}: r^2 = {r_squared:.3}, slope {slope:.1}"
            );
            // The second four decades cost about what the first four did; at a sublinear rate, a
            // hundredfold.
            let [first, middle, last] = [1e-2, 1e-6, 1e-10].map(|gap| run.calls_to(gap));
            assert!(
                last - middle < 2.5 * (middle - first),
                "{name}: {first} {middle} {last} million calls"
            );
            println!(
                "{name}: {:.1e}, r^2 {r_squared:.3}, {first:.2} {middle:.2} {last:.2} million calls",
                run.error
            );
        }
        if let [one, two] = &runs[..] {
            ratios.push(two.calls_to(1e-6) / one.calls_to(1e-6));
        }
    }
    if !ratios.is_empty() {
        let ratio = geometric_mean(&ratios);
        println!("SVRPDA-II needs {ratio:.2} times the calls of SVRPDA-I");
        assert!(
            (1.05..1.4).contains(&ratio),
            "SVRPDA-II needs {ratio:.2} times the calls of SVRPDA-I"
        );
    }
}

#[test]
fn both_methods_reach_the_closed_form_of_a_generated_market() {
    let market = Market::generated(1500, 10, 3);
    for (c, l2) in [(1.0, 0.0), (2.5, 0.3)] {
        let task = Task { l2, ..Task::new(Risk::Variance(c), Limits::Free) };
        let theta = market.closed_form(c, l2);
        let problem = market.problem(&task);
        let start = vec![0.0; market.d];
        for name in ["svrpda1", "svrpda2"] {
            // A gap is about the square of an error.
            let stop = Stop { tolerance: Some(1e-16), ..Stop::default() };
            let driver = Driver { stop, ..Driver::default() };
            let method = AnyMethod::named(name, &Choice::seeded(5), &problem, &start).unwrap();
            let solution = method.run(&driver, &problem, &start, &mut ());
            let error = (distance_squared(&solution.theta, &theta) / dot(&theta, &theta)).sqrt();
            assert!(
                solution.status == Status::Solved && error < 1e-6,
                "{name}: off by {error:.1e}"
            );
        }
    }
}

#[test]
fn calls_on_three_portfolios_are_those_of_the_figures() {
    let figures = [("Europe_ME", 1.2), ("Asia_Pacific_ex_Japan_ME", 0.52), ("Global_ME", 2.3)];
    let markets = real_markets();
    let mut ratios = Vec::new();
    for (name, figure) in figures {
        let Some(market) = markets.iter().find(|market| market.name == name) else { continue };
        let mut calls: Vec<f64> = (0..3)
            .map(|seed| PaperRun::new(market, "svrpda1", seed, 1e-9).calls_to(1e-6))
            .collect();
        calls.sort_by(f64::total_cmp);
        println!("{name}: {:.2} million calls to gap 1e-6, {figure} in the figure", calls[1]);
        ratios.push(calls[1] / figure);
    }
    if !markets.is_empty() {
        assert_eq!(ratios.len(), 3);
        let ratio = geometric_mean(&ratios);
        assert!((1.0 / 1.5..1.5).contains(&ratio), "{ratio:.2} times the calls of the figures");
    }
}

/// Checks every evaluation: the objective is that of the formula, and a certificate one, `P - P* <=
/// gap` for the best point so far.
struct Checked<'a> {
    market: &'a Market,
    task: &'a Task,
    optimum: f64,
    best: f64,
    count: usize,
}

impl Observer for Checked<'_> {
    fn record(&mut self, record: &Record, theta: &[f64]) -> ControlFlow<()> {
        let objective = self.market.objective(self.task, theta);
        assert!((objective - record.objective).abs() < 1e-9 * (1.0 + objective.abs()));
        self.best = self.best.min(objective);
        if let Some(gap) = record.gap {
            assert!(gap >= self.best - self.optimum - 1e-9, "gap {gap}, optimum {}", self.optimum);
        }
        self.count += 1;
        ControlFlow::Continue(())
    }
}

/// The markets to be solved by Clarabel too.
fn markets() -> Vec<Market> {
    let mut markets = vec![Market::generated(300, 5, 1), Market::generated(400, 10, 2)];
    match Market::real().iter().find(|market| market.name == "Europe_ME") {
        Some(market) => markets.push(market.thinned(8)),
        None => {
            println!("skipped: Europe_ME is not in shared/data/portfolio beside the repository");
        }
    }
    markets
}

/// Solves by both methods with default steps from zero, and by Newton's where phi has no kink; `|P - P*|` is at most `accuracy` and `accuracy` times the size of the
/// objective's parts.
fn agrees(market: &Market, name: &str, task: &Task, stop: &Stop, accuracy: f64) -> Vec<Solution> {
    let reference = market.by_interior_point(task);
    assert!(task.excess(&reference) < 1e-9);
    let optimum = market.objective(task, &reference);
    let size = optimum.abs() + 2.0 * dot(&market.mean(), &reference).abs();
    let problem = market.problem(task);
    let start = vec![0.0; market.d];
    let run = |method: &str| {
        let method = AnyMethod::named(method, &Choice::seeded(1), &problem, &start).unwrap();
        let driver = Driver { stop: stop.clone(), ..Driver::default() };
        let mut checked = Checked { market, task, optimum, best: f64::INFINITY, count: 0 };
        let solution = method.run(&driver, &problem, &start, &mut checked);
        assert_eq!(checked.count, solution.trace.len());
        let Certificate { measure, gap, relative, .. } = solution.certificate;
        // Semivariance that nothing holds has a proof only if the Newton step finds one.
        assert!(
            gap.is_some() == measure.is_gap() && (gap.is_some() || name == "semivariance"),
            "{name}: {:?}",
            solution.certificate
        );
        assert!(solution.trace[0].optimality.expect("a measure, if an infinite one") > 0.01);
        // Clarabel's own precision shows: a kink of g or a flat valley turns its error into a gap
        // of first order.
        if !matches!(task.risk, Risk::Absolute(_)) {
            let mut evaluator = Evaluator::new(&problem);
            evaluator.evaluate(&start, Known::default());
            let there = evaluator
                .evaluate(&reference, Known::default())
                .certificate
                .relative
                .expect("smooth");
            assert!(there < 1e-3, "{name}: {there} at Clarabel's solution");
        }
        let difference = market.objective(task, &solution.theta) - optimum;
        println!(
            "{}, {name}: {:?}, {} outer iterations, {:.2} s, P* = {optimum:.6}, off by {difference:.1e}, {} {:.1e}",
            market.name,
            solution.status,
            solution.outer,
            solution.seconds,
            measure.title(),
            relative.expect("a measure"),
        );
        assert!(task.excess(&solution.theta) < 1e-9, "{name}: outside the limits");
        let limit = accuracy * size.clamp(1e-3, 1.0);
        assert!(
            difference.abs() <= limit,
            "{}, {name}: off by {difference:.1e}, not {limit:.1e}",
            market.name
        );
        solution
    };
    let newton = (!matches!(task.risk, Risk::Absolute(_))).then_some("newton");
    ["svrpda1", "svrpda2"].into_iter().chain(newton).map(run).collect()
}

#[test]
fn smooth_risks_agree_with_an_interior_point_solver() {
    let free = |risk| Task::new(risk, Limits::Free);
    let long_only = |risk| Task::new(risk, Limits::LongOnly);
    let variance = Risk::Variance(1.0);
    let tasks = [
        ("long-only variance", long_only(variance)),
        ("semivariance", free(Risk::Semivariance(1.0))),
        ("long-only semivariance", long_only(Risk::Semivariance(2.0))),
        ("long-only Huber", long_only(Risk::Huber(1.0, 0.5))),
        ("l1 variance", Task { l1: 0.01, ..free(variance) }),
        ("elastic net", Task { l1: 0.01, l2: 0.1, ..free(variance) }),
        ("box", Task::new(variance, Limits::Between(-0.02, 0.02))),
        ("box with l1", Task { l1: 0.005, ..Task::new(variance, Limits::Between(-0.02, 0.05)) }),
        ("fully invested", Task::new(variance, Limits::Invested(f64::NEG_INFINITY, f64::INFINITY))),
        ("at most 0.3 each", Task::new(variance, Limits::Invested(0.0, 0.3))),
        ("130/30", Task { l1: 0.02, ..Task::new(variance, Limits::Invested(-0.3, f64::INFINITY)) }),
    ];
    for market in markets().into_iter().step_by(2) {
        for (name, task) in &tasks {
            let stop = Stop { tolerance: Some(1e-8), ..Stop::default() };
            for solution in agrees(&market, name, task, &stop, 1e-6) {
                assert_eq!(solution.status, Status::Solved);
                assert!(solution.certificate.relative.expect("a measure") <= 1e-8);
            }
        }
    }
}

#[test]
fn absolute_deviation_with_a_ridge_agrees_with_an_interior_point_solver() {
    let task = Task { l2: 0.1, ..Task::new(Risk::Absolute(0.02), Limits::Free) };
    for market in markets() {
        let stop = Stop { tolerance: Some(1e-6), ..Stop::default() };
        for solution in agrees(&market, "absolute deviation with a ridge", &task, &stop, 1e-6) {
            assert_eq!(solution.status, Status::Solved);
        }
    }
}

#[test]
fn absolute_deviation_agrees_with_an_interior_point_solver() {
    let tasks = [
        ("long-only absolute deviation", Task::new(Risk::Absolute(0.5), Limits::LongOnly)),
        (
            "absolute deviation in a box",
            Task::new(Risk::Absolute(0.02), Limits::Between(-0.5, 0.5)),
        ),
        (
            "absolute deviation, at most 0.3 each",
            Task::new(Risk::Absolute(0.5), Limits::Invested(0.0, 0.3)),
        ),
    ];
    // With neither side strongly convex the last iterates circle around the optimum, and only their
    // averages come near it; the market put in here is the worst that was met.
    let mut markets = markets();
    markets[1] = Market::generated(400, 6, 11);
    for market in &markets {
        for (name, task) in &tasks {
            let stop = Stop { tolerance: Some(1e-6), max_outer: Some(1000), ..Stop::default() };
            for solution in agrees(market, name, task, &stop, 1e-6) {
                assert_eq!(solution.status, Status::Solved);
            }
        }
    }
}

/// Where risk outweighs all return the best portfolio is empty and the objective zero: the gap has
/// only g to be relative to. All kinks meet there, and the last iterates circle around it; from
/// zero itself the best point is the answer.
#[test]
fn the_gap_keeps_its_scale_where_the_optimum_is_zero() {
    for market in markets() {
        for (limits, l2) in [(Limits::Between(-0.5, 0.5), 0.0), (Limits::Free, 0.1)] {
            let task = Task { l2, ..Task::new(Risk::Absolute(0.5), limits) };
            let zero = vec![0.0; market.d];
            assert!(distance_squared(&market.by_interior_point(&task), &zero) < 1e-12);
            let stop = Stop { tolerance: Some(1e-6), max_outer: Some(200), ..Stop::default() };
            for solution in agrees(&market, "an empty portfolio", &task, &stop, 1e-6) {
                assert!(distance_squared(&solution.theta, &zero) < 1e-12);
                let worst = solution
                    .trace
                    .iter()
                    .map(|record| record.optimality.expect("a gap"))
                    .fold(0.0, f64::max);
                assert!(worst < 1e3, "a relative gap of {worst}");
            }
        }
    }
}

#[test]
fn a_condensed_market_has_the_means_and_covariances_of_the_whole() {
    let (n, d) = (40, 4);
    let mut draws = Stream::new(61, 0);
    let rows: Vec<f64> = (0..n * d).map(|k| draws.unit() * (1 + k % d) as f64 - 0.3).collect();
    let moments = |rows: &[f64]| {
        let n = (rows.len() / d) as f64;
        let mean: Vec<f64> =
            (0..d).map(|l| rows.iter().skip(l).step_by(d).sum::<f64>() / n).collect();
        let mut square = vec![0.0; d * d];
        for row in rows.chunks_exact(d) {
            for (l, k) in (0..d).flat_map(|l| (0..d).map(move |k| (l, k))) {
                square[l * d + k] += (row[l] - mean[l]) * (row[k] - mean[k]) / n;
            }
        }
        mean.into_iter().chain(square).collect::<Vec<f64>>()
    };
    let whole = innermean::Portfolio::new(d, rows.clone()).unwrap();
    let small = whole.condensed().expect("more rows than twice the assets");
    assert_eq!(small.returns().len(), 2 * d * d);
    for (a, b) in moments(&small.returns().numbers()).iter().zip(moments(&rows)) {
        assert!((a - b).abs() < 1e-13, "{a} {b}");
    }
    // Few rows are as good as any, and copies of an asset have no factor.
    assert!(
        innermean::Portfolio::new(d, rows[..2 * d * d].to_vec()).unwrap().condensed().is_none()
    );
    let copies: Vec<f64> = rows.iter().flat_map(|x| [*x, *x]).collect();
    assert!(innermean::Portfolio::new(2, copies).unwrap().condensed().is_none());
}

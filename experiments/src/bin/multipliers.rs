//! How fast the penalty of the method of multipliers should grow, and what it takes beside
//! SVRPDA-I's place in `auto`: absolute deviations of a long-only portfolio, absolute regression
//! with a ridge and with an l1 norm, of several sizes.
//!
//! For every growth the outer iterations, the passes' worth of rows and the least seconds,
//! evaluations included, until the gap is proven to be 1e-6 and 1e-10, relative. Writes
//! `experiments/results/multipliers.md`.

use std::fmt::Write;
use std::time::Instant;

use innermean::draws::Stream;
use innermean::methods::AnyMethod;
use innermean::methods::multipliers::Multipliers;
use innermean::{
    Absolute, Collapsed, Driver, Inner, L1, Portfolio, Problem, Regularizer, Ridge, Simplex, Stop,
};
use innermean_data::generate_factor_model;

/// The growths that are tried.
const GROWTHS: [f64; 5] = [1.5, 2.0, 3.0, 5.0, 10.0];
/// Runs, of which the shortest counts.
const RUNS: usize = 3;

/// Whatever it is.
type AnyProblem = Problem<Box<dyn Inner>, Absolute, Box<dyn Regularizer>>;

/// A response that rows explain in part, with errors of several sizes.
fn regression(n: usize, d: usize) -> Collapsed {
    let mut draws = Stream::new(3, 0);
    let rows: Vec<f64> = (0..n * d).map(|_| 2.0 * draws.unit() - 1.0).collect();
    let truth: Vec<f64> = (0..d).map(|_| 2.0 * draws.unit() - 1.0).collect();
    let mut response = |row: &[f64]| {
        let error = (draws.unit() + draws.unit() - 1.0) / (0.1 + draws.unit());
        row.iter().zip(&truth).map(|(a, t)| a * t).sum::<f64>() + error
    };
    let offsets = rows.chunks_exact(d).map(|row| -response(row)).collect();
    Collapsed::from_rows(d, rows, offsets)
}

fn cases() -> anyhow::Result<Vec<(String, AnyProblem)>> {
    let mut cases: Vec<(String, AnyProblem)> = Vec::new();
    for (n, d) in [(7240, 25), (3000, 300)] {
        let problem = Portfolio::new(d, generate_factor_model(n, d, 1).values)?
            .problem(Absolute::new(1.0)?, Simplex)?;
        let Problem { inner, merit, regularizer } = problem;
        let regularizer: Box<dyn Regularizer> = Box::new(regularizer);
        cases.push((
            format!("long-only, {n} x {d}"),
            Problem { inner: Box::new(inner), merit, regularizer },
        ));
    }
    for (n, d) in [(1000, 10), (100_000, 50), (5000, 300)] {
        let g: [(&str, Box<dyn Regularizer>); 2] =
            [("ridge", Box::new(Ridge::from_weight(1e-3)?)), ("l1", Box::new(L1::new(1e-2)?))];
        for (word, regularizer) in g {
            let inner: Box<dyn Inner> = Box::new(regression(n, d));
            cases.push((
                format!("{word}, {n} x {d}"),
                Problem { inner, merit: Absolute::new(1.0)?, regularizer },
            ));
        }
    }
    Ok(cases)
}

fn main() -> anyhow::Result<()> {
    let mut text = "# How fast the penalty of the method of multipliers grows\n\nWritten by `cargo run --release -p innermean-experiments --bin multipliers`: milliseconds (outer iterations, passes) to a proven relative gap.\n\n"
        .to_owned();
    let heads = GROWTHS.map(|growth| format!("times {growth}"));
    writeln!(
        text,
        "| problem | gap | {} |\n|---|---|{}",
        heads.join(" | "),
        "---|".repeat(GROWTHS.len())
    )?;
    for (name, problem) in cases()? {
        let problem = problem.erased();
        let (start, rows) = (vec![0.0; problem.inner.d()], problem.inner.n_x() as f64);
        for gap in [1e-6, 1e-10] {
            let stop = Stop { tolerance: Some(gap), max_outer: Some(100), ..Stop::default() };
            let driver = Driver { stop, ..Driver::default() };
            let cells = GROWTHS.map(|growth| {
                let method = AnyMethod::Multipliers(Multipliers { growth });
                let mut least = f64::INFINITY;
                let mut last = None;
                for _ in 0..RUNS {
                    let begun = Instant::now();
                    last = Some(method.run(&driver, problem, &start, &mut ()));
                    least = least.min(begun.elapsed().as_secs_f64());
                }
                let solution = last.expect("a run");
                if solution.status.is_solved() {
                    let passes = solution.rows as f64 / rows;
                    format!("{:.1} ({}, {passes:.0})", 1e3 * least, solution.outer)
                } else {
                    "-".to_owned()
                }
            });
            let line = format!("| {name} | {gap:e} | {} |", cells.join(" | "));
            println!("{line}");
            writeln!(text, "{line}")?;
        }
    }
    std::fs::write("experiments/results/multipliers.md", text)?;
    Ok(())
}

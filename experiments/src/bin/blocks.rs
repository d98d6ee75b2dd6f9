//! How many rows should a step of SVRPDA-I take at once? Problems with a proportion for each group,
//! to a relative gap of 1e-8, by SVRPDA-I with blocks of b rows and no other setting, and by
//! L-BFGS. The constants of `problems/bags.rs` rest on what it prints.
//!
//! `cargo run --release -p innermean-experiments --bin blocks [GROUPS ROWS FEATURES
//! [B,ALPHA_THETA,ALPHA_W,M/N_X ...]]` writes `experiments/results/blocks.md`, and with a shape of
//! one's own prints alone.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use innermean::methods::lbfgs::Lbfgs;
use innermean::{Choice, Driver, Listed, Method, Solution, Stop, Svrpda1};
use innermean_experiments::groups::{Proportions, Shape, draw};
use innermean_experiments::timing::seconds;

const GAP: f64 = 1e-8;
const BLOCKS: [usize; 5] = [1, 4, 16, 64, 256];
/// Groups, rows of each, features.
const SHAPES: [[usize; 3]; 3] = [[100, 20_000, 20], [500, 2000, 20], [2000, 200, 20]];
const RESULTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/results/blocks.md");

/// A run to the gap, with the seconds that its settings took before it.
struct Run {
    setup: f64,
    solution: Solution,
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |text: &String| text.parse::<usize>().with_context(|| format!("{text} is no number"));
    if args.len() >= 3 {
        let shape = [number(&args[0])?, number(&args[1])?, number(&args[2])?];
        let given =
            args[3..].iter().map(|text| choice(text, shape[0])).collect::<Result<Vec<_>>>()?;
        print!("{}", measure(shape, if given.is_empty() { &[] } else { &given }));
        return Ok(());
    }
    let mut report = String::from(
        "# Blocks of rows in SVRPDA-I\n\nWritten by `cargo run --release -p innermean-experiments --bin blocks`. Group proportions, feature k scaled by 1/k, relative gap 1e-8. \
         Passes are rows read over rows of the problem; seconds are those of the method.\n",
    );
    for shape in SHAPES {
        report += &measure(shape, &[]);
    }
    print!("{report}");
    std::fs::write(RESULTS, report).with_context(|| format!("cannot write {RESULTS}"))
}

/// `b,alpha_theta,alpha_w,M/n_X`, or b alone.
fn choice(text: &str, n_x: usize) -> Result<Choice> {
    let parts = text
        .split(',')
        .map(str::parse)
        .collect::<Result<Vec<f64>, _>>()
        .with_context(|| format!("{text}?"))?;
    let part = |k: usize| parts.get(k).copied();
    Ok(Choice {
        batch: part(0).filter(|b| *b > 0.0).map(|b| b as usize),
        alpha_theta: part(1),
        alpha_w: part(2),
        inner_iterations: part(3).map(|m| (m * n_x as f64) as usize),
        ..Choice::default()
    })
}

fn measure([groups, rows, width]: [usize; 3], given: &[Choice]) -> String {
    let (problem, start) = draw(Shape { groups, rows, width, scaled: true }, 1);
    let best = run::<Lbfgs>(&problem, &start, &Choice::default(), None).solution.objective;
    let target = best + GAP * best.abs();
    let all = (groups * rows) as f64;
    let by_block = BLOCKS
        .iter()
        .filter(|b| **b <= rows)
        .map(|b| Choice { batch: Some(*b), ..Choice::default() });
    let choices: Vec<Choice> = if given.is_empty() { by_block.collect() } else { given.to_vec() };
    let lbfgs = run::<Lbfgs>(&problem, &start, &Choice::default(), Some(target));
    let mut table = format!(
        "\n{groups} groups of {rows} rows, {width} features. L-BFGS: {} gradients, {:.2} s and {:.2} s before.\n\n\
         | b | alpha_theta | alpha_w | M | outer | passes | seconds | of L-BFGS | |\n|---|---|---|---|---|---|---|---|---|\n",
        lbfgs.solution.outer, lbfgs.solution.seconds, lbfgs.setup,
    );
    for choice in choices {
        let settings = Svrpda1::choose(&choice, &problem, &start).expect("steps").0;
        let Run { solution, .. } = run::<Svrpda1>(&problem, &start, &choice, Some(target));
        let _ = writeln!(
            table,
            "| {} | {:.3} | {:.2} | {} | {} | {:.1} | {:.3} | {:.2} | {} |",
            settings.batch,
            settings.alpha_theta,
            settings.alpha_w,
            settings.inner_iterations,
            solution.outer,
            solution.rows as f64 / all,
            solution.seconds,
            solution.seconds / lbfgs.solution.seconds,
            if solution.status.is_solved() { String::new() } else { solution.status.to_string() },
        );
    }
    table
}

/// To the target, or to the last digits without one.
fn run<M: Listed + Method>(
    problem: &Proportions,
    start: &[f64],
    choice: &Choice,
    target: Option<f64>,
) -> Run {
    let (setup, method) = seconds(|| M::choose(choice, problem, start).expect("steps"));
    let stop = Stop {
        tolerance: target.is_none().then_some(1e-11),
        target_objective: target,
        max_outer: Some(500),
        max_seconds: Some(60.0),
        ..Stop::default()
    };
    let solution = Driver { stop, ..Driver::default() }.run(problem, &method, start, &mut ());
    Run { setup, solution }
}

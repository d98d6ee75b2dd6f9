//! Solves the lines of the benchmark on request. The same source is built against this checkout and
//! against an older one (see `run` beside it), so that it uses only what both have.
//!
//! `lines [--quick]` reads names of lines, one at a time, from standard input; it solves each once
//! and answers `wall-seconds cpu-seconds solved objective method`. `lines [--quick] NAME` solves one
//! line once and ends, for a profiler; with a third word it only builds the data.

use std::io::{self, BufRead, Write};
use std::path::Path;

use innermean_experiments::bench::cases::bellman::BellmanCase;
use innermean_experiments::bench::cases::groups::GroupsCase;
use innermean_experiments::bench::cases::linear::{LinearCase, Loss};
use innermean_experiments::bench::cases::portfolio::{PortfolioCase, PortfolioTask};
use innermean_experiments::bench::cases::{Case, Task};

/// The problem of a line, with the sizes and the relative gap of `bin/bench.rs`.
fn case(name: &str, quick: bool) -> (Box<dyn Case>, f64) {
    let size = |full: usize, small: usize| if quick { small } else { full };
    let portfolio = |most, task| {
        let case = PortfolioCase::new(Path::new("../shared/data/portfolio"), most, task);
        Box::new(case.expect("readable returns"))
    };
    let dense = |loss| Box::new(LinearCase::dense(size(100_000, 20_000), 100, loss, 1));
    let sparse = |loss| {
        Box::new(LinearCase::sparse(size(200_000, 20_000), size(50_000, 5_000), 50, loss, 1))
    };
    match name {
        "portfolio" => (portfolio(18, PortfolioTask::Free), 1e-10),
        "portfolio long-only" => (portfolio(18, PortfolioTask::LongOnly), 1e-10),
        "portfolio absolute deviation" => (portfolio(size(3, 1), PortfolioTask::Absolute), 1e-6),
        "mdp" => (Box::new(BellmanCase::new(size(10_000, 2000), 10, 1)), 1e-8),
        "elastic net" => (Box::new(LinearCase::elastic_net(size(50_000, 10_000), 200, 1)), 1e-6),
        "logistic dense" => (dense(Loss::Logistic), 1e-6),
        "squared hinge dense" => (dense(Loss::SquaredHinge), 1e-6),
        "logistic sparse" => (sparse(Loss::Logistic), 1e-6),
        "squared hinge sparse" => (sparse(Loss::SquaredHinge), 1e-6),
        "groups" => (Box::new(GroupsCase::new(size(10_000, 1000), 100, 50, false, 1)), 1e-6),
        "few large groups" => {
            (Box::new(GroupsCase::new(100, size(100_000, 10_000), 20, true, 1)), 1e-8)
        }
        other => panic!("{other}: no line of the benchmark"),
    }
}

fn solve(case: &dyn Case, tolerance: f64) -> String {
    let run = case.solve(&Task { method: "auto", tolerance, max_seconds: 600.0 });
    let (wall, cpu) = (run.seconds, run.cpu_seconds);
    format!("{wall:e} {cpu:e} {} {:e} {}", run.solved, run.objective, run.method)
}

fn main() -> io::Result<()> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let quick = words.first().is_some_and(|word| word == "--quick");
    words.drain(..usize::from(quick));
    if let Some(name) = words.first() {
        let (case, tolerance) = case(name, quick);
        if words.len() == 1 {
            println!("{}", solve(&*case, tolerance));
        }
        return Ok(());
    }
    // Data of one line at a time.
    let mut held: Option<(String, Box<dyn Case>, f64)> = None;
    for name in io::stdin().lock().lines() {
        let name = name?;
        if held.as_ref().is_none_or(|(held, ..)| *held != name) {
            drop(held.take());
            let (case, tolerance) = case(&name, quick);
            held = Some((name, case, tolerance));
        }
        if let Some((_, case, tolerance)) = &held {
            println!("{}", solve(&**case, *tolerance));
            io::stdout().flush()?;
        }
    }
    Ok(())
}

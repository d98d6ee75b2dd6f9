//! How far `auto` is from the fastest method on 100 problems drawn at random: seconds of CPU time
//! of one thread, settings and certificates included, to a relative gap or stationarity of 1e-6.
//!
//! `cargo run --release -p innermean-experiments --bin auto` writes `results/auto.json` and `.md`;
//! `-- 7 16` measures these problems anew and keeps the lines of the others.
//!
//! A method that takes 10 times as long as the best so far is stopped. Short runs are repeated, and
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
use serde::{Deserialize, Serialize};

const PROBLEMS: u64 = 100;
const SEED: u64 = 1;
const TOLERANCE: f64 = 1e-6;
/// A method that takes this many times as long as the best is stopped.
const HOPELESS: f64 = 10.0;
/// The most and the least CPU seconds of a run before it is stopped.
const MOST_SECONDS: f64 = 6.0;
const LEAST_SECONDS: f64 = 0.05;
/// Runs are repeated until they have taken this long in all, up to 9 times.
const LONG: f64 = 0.2;
const CONTENDERS: [&str; 5] = ["direct", "newton", "lbfgs", "multipliers", "svrpda1"];

#[derive(Serialize, Deserialize)]
struct Line {
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
    let wanted: Vec<u64> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| {
        let numbers = (0..PROBLEMS).filter(|n| wanted.is_empty() || wanted.contains(n));
        let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
        let before = fs::read_to_string(results.join("auto.json"));
        let mut lines: Vec<Line> = serde_json::from_str(before.as_deref().unwrap_or("[]"))?;
        lines.retain(|line| !wanted.is_empty() && !wanted.contains(&line.number));
        for number in numbers {
            let line = measured(number, &draw(SEED, number)?);
            println!("{}", row(&line));
            lines.push(line);
        }
        lines.sort_by(|a, b| {
            let ratio = |line: &Line| line.ratio.unwrap_or(f64::INFINITY);
            ratio(b).total_cmp(&ratio(a))
        });
        fs::write(results.join("auto.json"), serde_json::to_string_pretty(&lines)? + "\n")?;
        fs::write(results.join("auto.md"), table(&lines))?;
        Ok(())
    })
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

fn measured(number: u64, drawn: &Drawn) -> Line {
    let Drawn { kind, shape, problem, start } = drawn;
    let driver = |most: f64| {
        let stop = Stop {
            max_outer: None,
            max_calls: None,
            // Of a machine that is busy with other work; steps that take long look at it.
            max_seconds: Some(4.0 * most),
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
    Line { number, kind, shape, ran, auto, fastest, ratio, seconds }
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
        "| {} | {} | {} | {} | {} | {} | {ratio} |",
        line.number,
        line.kind,
        line.shape,
        times.join(" | "),
        line.ran.join(", then "),
        shown(line.auto),
    )
}

fn table(lines: &[Line]) -> String {
    let mut text = "# `auto` beside the fastest method\n\nMilliseconds of CPU time of one thread to a relative gap or stationarity of 1e-6 on problems drawn at random, written by `cargo run --release -p \
                    innermean-experiments --bin auto`; a dash where 10 times the best was not enough, and nothing where a method does not suit. The last columns: what `auto` ran, how long \
                    it took, and that over the fastest of the others.\n\n"
        .to_owned();
    let above =
        |most: f64| lines.iter().filter(|line| line.ratio.is_none_or(|ratio| ratio > most)).count();
    let _ = writeln!(
        text,
        "Of {} problems `auto` takes more than 1.5 times the fastest on {}, and more than 3 times on {}.\n",
        lines.len(),
        above(1.5),
        above(3.0)
    );
    let names = CONTENDERS.join(" | ");
    let _ = writeln!(text, "| | problem | size | {names} | ran | auto | times the fastest |");
    let _ = writeln!(text, "|---|---|---|{}---|---|---|", "---|".repeat(CONTENDERS.len()));
    for line in lines {
        let _ = writeln!(text, "{}", row(line));
    }
    text
}

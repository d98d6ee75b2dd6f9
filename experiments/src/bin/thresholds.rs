//! Which method is the fastest on which problem, and whether `auto` takes it: seconds, settings
//! included, to a relative gap of 1e-6.
//!
//! `cargo run --release -p innermean-experiments --bin thresholds` writes `results/thresholds.json`
//! and `.md`; `-- FAMILY` measures some families anew and keeps the lines of the others, `--
//! --quick` measures the small ones and writes nothing.
//!
//! The gap is `P(theta) - P*` over that of the start, with P* the least that any run has found; of
//! problems that are not convex, a relative stationarity of 1e-6 counts. A method that takes 10
//! times as long as the best so far is stopped.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Result;
use innermean::optimum::optimum;
use innermean::{AnyMethod, Choice, Driver, Inner, METHODS, Merit, Stop, auto};
use innermean_experiments::families::{Case, curved, kinked, quadratics, smooth};
use innermean_experiments::timing::{median, seconds};
use serde::{Deserialize, Serialize};

/// The gap, relative to that of the start.
const GAP: f64 = 1e-6;
/// A method that takes this many times as long as the best is stopped.
const HOPELESS: f64 = 10.0;
/// The most that any run may take, and what a reference may take.
const MOST_SECONDS: f64 = 8.0;
/// A run shorter than that is done again, and the median taken.
const SHORT: f64 = 0.5;
/// Of these, on each problem those that suit.
const METHODS_TRIED: [&str; 9] =
    ["direct", "newton", "lbfgs", "apg", "prox-linear", "multipliers", "spdc", "saga", "svrpda1"];

/// Draws the problems of some families; true for the small ones.
type Family = fn(bool) -> Result<Vec<Case>>;

/// In the order of the table.
const FAMILIES: [&str; 18] = [
    "variance",
    "least squares",
    "sparse least squares",
    "Bellman error",
    "variance, long-only",
    "squares, l1",
    "semivariance",
    "logistic",
    "squared hinge",
    "logistic, l1",
    "sparse logistic",
    "absolute, long-only",
    "absolute, ridge",
    "groups",
    "groups, uneven features",
    "groups, many features",
    "groups, classes",
    "sequences, not convex",
];

/// One line of the table.
#[derive(Serialize, Deserialize)]
struct Line {
    family: String,
    size: String,
    /// The first choice of `auto`.
    auto: String,
    reason: String,
    best: String,
    /// How many times as long as the best `auto`'s choice takes; none if it did not get there.
    ratio: Option<f64>,
    seconds: Vec<(String, Option<f64>)>,
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let quick = arguments.iter().any(|a| a == "--quick");
    let wanted = |family: &str| {
        let names: Vec<&String> = arguments.iter().filter(|a| !a.starts_with("--")).collect();
        names.is_empty() || names.iter().any(|name| family.contains(name.as_str()))
    };
    let mut lines = Vec::new();
    let kinds: [(Family, &[&str]); 4] = [
        (quadratics, &FAMILIES[..4]),
        (smooth, &FAMILIES[4..11]),
        (kinked, &FAMILIES[11..13]),
        (curved, &FAMILIES[13..]),
    ];
    for (cases, families) in kinds {
        if !families.iter().any(|family| wanted(family)) {
            continue;
        }
        for case in cases(quick)? {
            if wanted(case.family) {
                let line = measured(&case);
                println!("{}", row(&line));
                lines.push(line);
            }
        }
    }
    if quick {
        return Ok(());
    }
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    fs::create_dir_all(&results)?;
    let before =
        fs::read_to_string(results.join("thresholds.json")).unwrap_or_else(|_| "[]".to_owned());
    let before: Vec<Line> = serde_json::from_str(&before)?;
    lines.extend(before.into_iter().filter(|line| !wanted(&line.family)));
    lines.sort_by_key(|line| FAMILIES.iter().position(|family| *family == line.family));
    fs::write(results.join("thresholds.json"), serde_json::to_string_pretty(&lines)? + "\n")?;
    fs::write(results.join("thresholds.md"), table(&lines))?;
    Ok(())
}

/// Runs every method on one problem.
fn measured(case: &Case) -> Line {
    let Case { family, size, problem, start } = case;
    let convex = !family.contains("not convex");
    let chosen = auto::choose(problem).into_iter().next().expect("there is always one");
    let target = convex.then(|| {
        let least = least(case);
        least + GAP * (problem.objective(start) - least)
    });
    let mut best = f64::INFINITY;
    let mut times = Vec::new();
    for row in METHODS_TRIED.iter().filter_map(|name| METHODS.iter().find(|row| row.name == *name))
    {
        if row.missing(problem).is_some() {
            continue;
        }
        let most = (HOPELESS * best).clamp(0.5, MOST_SECONDS);
        let stop = Stop {
            max_outer: None,
            max_calls: None,
            max_seconds: Some(most),
            target_objective: target,
            tolerance: target.is_none().then_some(GAP),
        };
        let mut took = Vec::new();
        loop {
            let driver = Driver { stop: stop.clone(), ..Driver::default() };
            let (settings, method) =
                seconds(|| AnyMethod::named(row.name, &Choice::default(), problem, start));
            let Ok(method) = method else { break };
            let solution = method.run(&driver, problem, start, &mut ());
            if !solution.status.is_solved() {
                break;
            }
            took.push(settings + solution.seconds);
            if took.len() == 3 || took[0] > SHORT {
                break;
            }
        }
        let took = (!took.is_empty()).then(|| median(took));
        best = best.min(took.unwrap_or(f64::INFINITY));
        times.push((row.name.to_owned(), took));
    }
    let fastest = times.iter().find(|(_, took)| *took == Some(best)).map(|(name, _)| name.clone());
    let of =
        |name: &str| times.iter().find(|(other, _)| *other == name).and_then(|(_, took)| *took);
    Line {
        family: (*family).to_owned(),
        size: size.clone(),
        auto: chosen.method.to_owned(),
        ratio: of(chosen.method).map(|took| took / best),
        reason: chosen.reason,
        best: fastest.unwrap_or_else(|| "-".to_owned()),
        seconds: times,
    }
}

/// The least objective that is known.
fn least(case: &Case) -> f64 {
    let Case { problem, start, .. } = case;
    if problem.merit.has_kinks() {
        return optimum(problem, start).map_or(f64::NAN, |optimum| optimum.objective);
    }
    let run = |name: &str| {
        let method = AnyMethod::named(name, &Choice::default(), problem, start).ok()?;
        let stop = Stop {
            // Where no gap is proven, a stationarity far below what is asked for does.
            tolerance: Some(if problem.inner.facts().affine { 1e-13 } else { 1e-9 }),
            max_seconds: Some(MOST_SECONDS),
            max_outer: Some(3000),
            ..Stop::default()
        };
        // The normal equations are done after a few.
        let stop = if name == "direct" { Stop { max_outer: Some(4), ..stop } } else { stop };
        Some(method.run(&Driver { stop, ..Driver::default() }, problem, start, &mut ()).objective)
    };
    ["direct", "newton", "lbfgs"].into_iter().find_map(run).unwrap_or(f64::NAN)
}

fn row(line: &Line) -> String {
    let times =
        METHODS_TRIED.map(|name| match line.seconds.iter().find(|(other, _)| *other == name) {
            None => String::new(),
            Some((_, None)) => "-".to_owned(),
            Some((_, Some(took))) if *took < 0.1 => format!("{:.2} ms", 1e3 * took),
            Some((_, Some(took))) => format!("{took:.2} s"),
        });
    let ratio = line.ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.1}"));
    format!("| {} | {} | {} | {} | {ratio} |", line.family, line.size, times.join(" | "), line.auto)
}

fn table(lines: &[Line]) -> String {
    let mut text = "# The fastest method\n\nSeconds to a relative gap of 1e-6, written by `cargo run --release -p innermean-experiments --bin thresholds`; a dash where 10 times \
                    the best was not enough, and nothing where a method does not suit. The last columns: the first choice of `auto`, and how many times as long as the best it took.\n\n"
        .to_owned();
    let names = METHODS_TRIED.join(" | ");
    let _ = writeln!(text, "| problem | size | {names} | auto | times the best |");
    let _ = writeln!(text, "|---|---|{}---|---|", "---|".repeat(METHODS_TRIED.len()));
    for line in lines {
        let _ = writeln!(text, "{}", row(line));
    }
    let ratios: Vec<f64> = lines.iter().filter_map(|line| line.ratio).collect();
    let within = ratios.iter().filter(|ratio| **ratio <= 1.5).count();
    let _ = writeln!(
        text,
        "\n`auto` is within 1.5 times the best on {within} of {} problems.",
        lines.len()
    );
    text
}

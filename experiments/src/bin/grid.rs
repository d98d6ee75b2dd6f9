//! SVRPDA-I with no settings against the best of a 7 x 7 x 3 grid of `alpha_theta`, `alpha_w` and
//! M: oracle calls to 1e-6 of the start's gap.
//!
//! `cargo run --release -p innermean-experiments --bin grid` measures all problems of `cases.rs`
//! and writes `experiments/results/grid.{json,md}`. `--quick` takes every sixth problem. What a
//! grid found is kept in the JSON and not searched for again; `--anew` forgets it. Words choose
//! families: `grid portfolio mdp`.
//!
//! `alpha_theta` and `alpha_w` of the grid are 1/64, 1/16, ... 64 and 1/256, 1/64, ... 16 in the
//! units `1 / max_i c_i |fbar_i'|^2` and `max_i c_i`, `c_i = phi_i''(fbar_i)` at the start. M is 2,
//! 6 or 20 times `n_X` or, where a snapshot costs more than `6 n_X` steps, 1/4, 1 or 4 times as
//! many as cost the same. Every setting runs with one seed until it has used twice the calls of the
//! best so far; the best three run with two seeds more, and the least of their medians is the
//! grid's. Both look at the objective at the end of an outer iteration.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::Result;
use innermean::curvature::Sizes;
use innermean::oracle::snapshot_calls;
use innermean::steps::Steps;
use innermean::{Choice, Driver, Listed, Settings, Stop, Svrpda1};
use innermean_experiments::cases::{self, Case, Family};
use innermean_experiments::timing::median;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Of the start's gap.
const GAP: f64 = 1e-6;
/// A setting that needs more calls than that has failed.
const MOST: f64 = 3e8;
/// The seeds of the runs with no settings, which the grid does not see.
const SEEDS: std::ops::Range<u64> = 11..16;
/// With no settings, this many times the grid's calls are a failure.
const FAILURE: f64 = 20.0;

/// What the grid has found.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Best {
    /// The median calls of the best setting.
    calls: f64,
    /// `alpha_theta` in its unit.
    alpha_theta: f64,
    /// `alpha_w` in its unit.
    alpha_w: f64,
    /// `M / n_X`
    epochs: f64,
}

/// One problem.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Row {
    family: Family,
    name: String,
    best: Best,
    /// Calls with no settings over those of the grid: the least, the median and the largest over
    /// seeds; none if a run failed.
    ratios: Option<[f64; 3]>,
}

/// Calls to the target; none if they are more than `most`.
fn calls(case: &Case, method: &Svrpda1, target: f64, most: f64) -> Option<f64> {
    let stop = Stop {
        max_outer: None,
        max_calls: Some(most as u64),
        max_seconds: None,
        target_objective: Some(target),
        tolerance: None,
    };
    let solution =
        Driver { stop, ..Driver::default() }.run(case.problem(), method, &case.start, &mut ());
    (solution.objective <= target).then_some(solution.calls.total() as f64)
}

fn grid(case: &Case, target: f64) -> Option<Best> {
    let problem = case.problem();
    let sizes = Sizes::at(problem, &case.start);
    let f = &problem.inner;
    let n_x = f.n_x();
    let even = snapshot_calls(f).total() as usize / if f.facts().affine { 2 } else { 4 };
    let epochs =
        if even <= 6 * n_x { [2 * n_x, 6 * n_x, 20 * n_x] } else { [even / 4, even, 4 * even] };
    let mut settings: Vec<(i32, i32, usize)> = (-3..=3)
        .flat_map(|a| (-4..=2).flat_map(move |b| epochs.into_iter().map(move |m| (a, b, m))))
        .collect();
    // The likely ones first: what is worse than twice the best is then cut short.
    settings.sort_by_key(|(a, b, m)| (a * a + (b + 1) * (b + 1), *m != epochs[1]));
    let method = |(a, b, inner_iterations): (i32, i32, usize), seed: u64| {
        Svrpda1(Settings::paper(
            Steps {
                alpha_theta: 4_f64.powi(a) / sizes.largest,
                alpha_w: 4_f64.powi(b) * sizes.duals,
                inner_iterations,
            },
            seed,
        ))
    };
    let mut found: Vec<(f64, (i32, i32, usize))> = Vec::new();
    let mut least = MOST / 2.0;
    for setting in settings {
        if let Some(calls) = calls(case, &method(setting, 1), target, 2.0 * least) {
            least = least.min(calls);
            found.push((calls, setting));
        }
    }
    found.sort_by(|x, y| x.0.total_cmp(&y.0));
    let medians = found.into_iter().take(3).map(|(first, setting)| {
        let again = (2..=3).map(|seed| {
            calls(case, &method(setting, seed), target, FAILURE * first).unwrap_or(f64::INFINITY)
        });
        let (a, b, m) = setting;
        Best {
            calls: median(std::iter::once(first).chain(again).collect()),
            alpha_theta: 4_f64.powi(a),
            alpha_w: 4_f64.powi(b),
            epochs: m as f64 / n_x as f64,
        }
    });
    medians.min_by(|x, y| x.calls.total_cmp(&y.calls))
}

fn measure(case: &Case, known: Option<Best>) -> Option<Row> {
    let target = case.target(GAP);
    let best = known.or_else(|| grid(case, target))?;
    let mut runs: Vec<f64> = SEEDS
        .map(|seed| {
            let method =
                Svrpda1::choose(&Choice::seeded(seed), case.problem(), &case.start).ok()?;
            Some(calls(case, &method, target, FAILURE * best.calls)? / best.calls)
        })
        .collect::<Option<_>>()
        .unwrap_or_default();
    runs.sort_by(f64::total_cmp);
    let ratios = runs.first().copied().zip(runs.last().copied()).map(|(a, b)| [a, median(runs), b]);
    Some(Row { family: case.family, name: case.name.clone(), best, ratios })
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let said = |flag: &str| args.iter().any(|arg| arg == flag);
    let families: Vec<&String> = args.iter().filter(|arg| !arg.starts_with("--")).collect();
    let wanted = |family: Family| {
        families.is_empty() || families.iter().any(|word| **word == family.to_string())
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Vec::new();
    if wanted(Family::Portfolio) {
        all.extend(cases::portfolios(&root.join("../../shared/data/portfolio"))?);
    }
    all.extend(cases::processes(100).into_iter().filter(|case| wanted(case.family)));
    all.extend(cases::groups().into_iter().filter(|case| wanted(case.family)));
    all.extend(cases::logistic().into_iter().filter(|case| wanted(case.family)));
    if said("--quick") {
        all = all.into_iter().step_by(6).collect();
    }
    let file = root.join("results/grid.json");
    let rows: BTreeMap<String, Row> = read(&file).unwrap_or_default();
    let rows = Mutex::new(rows);
    all.par_iter().for_each(|case| {
        let key = format!("{} {}", case.family, case.name);
        let known = rows.lock().expect("no panic").get(&key).map(|row| row.best);
        let row = measure(case, known.filter(|_| !said("--anew")));
        let ratio = row.as_ref().and_then(|row| row.ratios);
        println!(
            "{key}: {}",
            ratio.map_or("failed".to_owned(), |[_, middle, _]| format!("{middle:.2}"))
        );
        if let Some(row) = row {
            let mut rows = rows.lock().expect("no panic");
            rows.insert(key, row);
            // What has been found stays, whatever happens.
            let text = serde_json::to_string_pretty(&*rows).expect("finite numbers");
            std::fs::write(&file, text + "\n").expect("the results can be written");
        }
    });
    let rows = rows.into_inner().expect("no panic");
    std::fs::write(root.join("results/grid.md"), table(&rows))?;
    println!("\n{}", table(&rows));
    Ok(())
}

fn read(file: &PathBuf) -> Option<BTreeMap<String, Row>> {
    serde_json::from_slice(&std::fs::read(file).ok()?).ok()
}

/// By family, and the worst problems one by one.
fn table(rows: &BTreeMap<String, Row>) -> String {
    let mut out =
        String::from("| problems | number | median | worst | failed |\n|---|---|---|---|---|\n");
    for family in [Family::Portfolio, Family::Mdp, Family::Groups, Family::Logistic] {
        let of: Vec<&Row> = rows.values().filter(|row| row.family == family).collect();
        let ratios: Vec<f64> = of.iter().filter_map(|row| row.ratios.map(|r| r[1])).collect();
        let worst = ratios.iter().copied().fold(0.0, f64::max);
        let failed = of.len() - ratios.len();
        let line = format!(
            "| {family} | {} | {:.2} | {worst:.2} | {failed} |",
            of.len(),
            median(ratios.clone())
        );
        writeln!(out, "{line}").expect("a string takes all");
    }
    out.push_str("\n| the worst | calls of the best setting | alpha_theta | alpha_w | M / n_X | ratio | over seeds |\n|---|---|---|---|---|---|---|\n");
    let mut worst: Vec<&Row> = rows.values().collect();
    let ratio = |row: &Row| row.ratios.map_or(f64::INFINITY, |r| r[1]);
    worst.sort_by(|x, y| ratio(y).total_cmp(&ratio(x)));
    for row in worst.iter().take(12) {
        let Best { calls, alpha_theta, alpha_w, epochs } = row.best;
        let over = row.ratios.map_or("failed".to_owned(), |[a, _, b]| format!("{a:.2} to {b:.2}"));
        let line = format!(
            "| {}: {} | {calls:.0} | {alpha_theta} | {alpha_w} | {epochs:.1} | {:.2} | {over} |",
            row.family,
            row.name,
            ratio(row)
        );
        writeln!(out, "{line}").expect("a string takes all");
    }
    out
}

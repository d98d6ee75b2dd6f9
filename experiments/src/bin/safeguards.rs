//! What the safeguard of the steps costs where the rules' constants are right: oracle calls of
//! every stochastic method with no settings, over those of the same run with the rule's steps given
//! by hand, which the safeguard leaves alone. Prints a table and writes
//! `experiments/results/safeguards.md`.
//!
//! `--quick` takes one seed and fewer problems.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context, Result};
use innermean::Objective;
use innermean::methods::{Family, MethodInfo, Rate};
use innermean::oracle::gradient_calls;
use innermean::{AnyMethod, Choice, Driver, METHODS, Mspbe, Status, Stop};
use innermean_data::{Features, MdpOptions, generate_mdp};
use innermean_experiments::cases;
use innermean_experiments::timing::median;
use rayon::prelude::*;

/// Of the start's gap, where a run ends, and what it may take, in the calls of whole gradients.
const LINEAR: (f64, u64) = (1e-6, 2000);
const SUBLINEAR: (f64, u64) = (1e-2, 1000);

/// Calls to the target; none where it was not reached.
fn calls(
    method: &AnyMethod,
    problem: Objective<'_>,
    start: &[f64],
    target: f64,
    most: u64,
) -> Option<u64> {
    let stop = Stop {
        max_outer: None,
        max_calls: Some(most),
        max_seconds: None,
        target_objective: Some(target),
        tolerance: None,
    };
    let solution = method.run(&Driver { stop, ..Driver::default() }, problem, start, &mut ());
    (solution.status == Status::TargetReached).then(|| solution.calls.total())
}

/// The rule's steps as if they had been given.
fn given(method: &AnyMethod, choice: Choice) -> Result<Choice> {
    let settings = serde_json::to_value(method)?;
    let step = |name: &str| settings.get(name).and_then(serde_json::Value::as_f64);
    let has = |knob| method.info().settings.contains(&knob);
    Ok(Choice {
        alpha_theta: step("alpha_theta"),
        alpha_w: step("alpha_w").filter(|_| has(innermean::Knob::AlphaW)),
        ..choice
    })
}

/// Stochastic, and with a safeguard of the shared kind.
fn is_watched(row: &MethodInfo) -> bool {
    !row.name.starts_with("svrpda") && row.name != "pdbg" && row.family != Family::Batch
}

struct Ratio {
    method: &'static str,
    guarded: Option<u64>,
    given: Option<u64>,
}

fn compare(problem: Objective<'_>, start: &[f64], seed: u64) -> Result<Vec<Ratio>> {
    let optimum = innermean::optimum(problem, start).context("an optimum")?;
    let first = problem.objective(&problem.allowed(start));
    let pass = gradient_calls(&problem.inner).total();
    let rows: Vec<&MethodInfo> =
        METHODS.iter().filter(|row| is_watched(row) && row.suits(problem).is_ok()).collect();
    rows.into_iter()
        .map(|row| {
            let (gap, passes) = if row.rate == Rate::Linear { LINEAR } else { SUBLINEAR };
            let target = optimum.objective + gap * (first - optimum.objective);
            let choice = Choice::seeded(seed);
            let guarded = AnyMethod::named(row.name, &choice, problem, start)?;
            let bare = AnyMethod::named(row.name, &given(&guarded, choice)?, problem, start)?;
            let run = |method: &AnyMethod| calls(method, problem, start, target, passes * pass);
            Ok(Ratio { method: row.name, guarded: run(&guarded), given: run(&bare) })
        })
        .collect()
}

fn main() -> Result<()> {
    let quick = std::env::args().any(|arg| arg == "--quick");
    let mut tasks = cases::processes(if quick { 6 } else { 18 });
    tasks.extend(cases::logistic().into_iter().take(2));
    tasks.push(cases::proportions(200, 5, 5, false, true, 1));
    tasks.push(cases::proportions(60, 20, 5, true, true, 2));
    tasks.push(cases::proportions(60, 20, 5, false, false, 3));
    let seeds: Vec<u64> = if quick { vec![1] } else { vec![1, 2, 3] };
    let jobs: Vec<_> =
        tasks.iter().flat_map(|case| seeds.iter().map(move |seed| (case, *seed))).collect();
    let mut found: Vec<(String, Vec<Ratio>)> = jobs
        .par_iter()
        .map(|(case, seed)| Ok((case.name.clone(), compare(case.problem(), &case.start, *seed)?)))
        .collect::<Result<_>>()?;
    for seed in 1..=if quick { 2 } else { 5 } {
        let features =
            [Features::MixedSign, Features::Uniform, Features::Gaussian][seed as usize % 3];
        let mdp = generate_mdp(&MdpOptions { features, seed, ..MdpOptions::default() });
        let walk = mdp.walk(500, seed);
        let f = Mspbe::new(mdp.d, walk.features, &walk.next_features, walk.rewards, mdp.discount)?;
        let problem = f.problem(0.0)?;
        found.push((format!("walk {seed}"), compare(problem.erased(), &vec![0.0; mdp.d], seed)?));
    }
    if std::env::args().any(|arg| arg == "--all") {
        for (name, ratios) in &found {
            for r in ratios {
                println!("{name:30} {:12} guarded {:?} given {:?}", r.method, r.guarded, r.given);
            }
        }
    }
    let mut by_method: BTreeMap<&str, Vec<&Ratio>> = BTreeMap::new();
    for ratio in found.iter().flat_map(|(_, ratios)| ratios) {
        by_method.entry(ratio.method).or_default().push(ratio);
    }
    let mut table = String::from(
        "| method | runs | median | worst | only with | only without | neither |\n|---|---|---|---|---|---|---|\n",
    );
    for (method, ratios) in by_method {
        let both: Vec<f64> =
            ratios.iter().filter_map(|r| Some(r.guarded? as f64 / r.given? as f64)).collect();
        let count = |with: bool, without: bool| {
            ratios
                .iter()
                .filter(|r| (r.guarded.is_some(), r.given.is_some()) == (with, without))
                .count()
        };
        let worst = both.iter().copied().fold(0.0, f64::max);
        writeln!(
            table,
            "| {method} | {} | {:.2} | {worst:.2} | {} | {} | {} |",
            ratios.len(),
            if both.is_empty() { f64::NAN } else { median(both) },
            count(true, false),
            count(false, true),
            count(false, false),
        )?;
    }
    println!("{table}");
    let page = format!(
        "# The safeguard where constants are right\n\n\
         Oracle calls of runs with no settings over those of runs with the rule's steps given by hand, to {:e} of the start's gap where the rate is linear and to {:e} elsewhere;\n\
         and how many runs reach it only with the safeguard, only without it, and in neither way within {} and {} gradients' worth of calls.\n\
         Written by `cargo run --release -p innermean-experiments --bin safeguards`.\n\n{table}",
        LINEAR.0, SUBLINEAR.0, LINEAR.1, SUBLINEAR.1
    );
    if !quick {
        std::fs::write("experiments/results/safeguards.md", page).context("experiments/results")?;
    }
    Ok(())
}

//! Passes of methods whose calls do not grow with the condition number, beside all others: over a
//! family of condition numbers, and on problems of all kinds, nothing tuned and every query of phi
//! counted.
//!
//! Writes `experiments/results/beyond.md`, `beyond.json` and the picture in `docs/images`.
//! `--returns FOLDER` adds groups of real rows, from tables of daily returns; `--out FOLDER` writes
//! all three elsewhere; `--parts kappa,problems` makes those parts alone, and `--only WORDS` of the
//! problems those with that in their names. The parts `leak`,
//! `anderson`, `mirror`, `network` and `prototypes`, which are made where they are named, go to
//! files of their own, `beyond-leak.md` and so on.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use innermean::Choice;
use innermean_experiments::beyond::cases::{self, Case};
use innermean_experiments::beyond::contest::{
    self, AUTO, Entry, GAPS, MOST, Took, contest, exponent, geometric_mean,
};
use innermean_experiments::beyond::picture::picture;
use innermean_experiments::beyond::returns;
use innermean_experiments::beyond::steps;
use innermean_experiments::timing::median;
use serde_json::{Value, json};

/// Condition numbers of the family.
const KAPPAS: [f64; 5] = [2e2, 2e3, 2e4, 2e5, 2e6];
/// Passes and seconds that a run may take.
const LIMITS: (f64, f64) = (MOST, contest::PATIENCE);
/// Runs of each method on a problem, of which the shortest counts.
const ROUNDS: usize = 20;
/// The method in question, and those that it is measured by.
const OURS: &str = "prox-linear";
/// It and what can be said about it.
const VARIANTS: [&str; 4] = [OURS, "growing", "correction", AUTO];

/// The head of each file.
const HEAD: &str = "# Beyond the paper\n\nWritten by `cargo run --release -p innermean-experiments --bin beyond`. \
     A pass is 2 N calls, every f and every f' once; every query of phi is counted. Nothing is \
     tuned unless it is said to be.\n\n";

struct Report {
    text: String,
    json: serde_json::Map<String, Value>,
}

fn entries() -> Vec<Entry<'static>> {
    let plain = Choice::seeded(1);
    vec![
        (OURS, "prox-linear", plain),
        ("growing", "prox-linear", Choice { growing: Some(2), ..plain }),
        ("correction", "prox-linear", Choice { correction: Some(1), ..plain }),
        ("newton", "newton", plain),
        ("lbfgs", "lbfgs", plain),
        ("svrpda1", "svrpda1", plain),
    ]
}

fn cell(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"))
}

/// The family of condition numbers.
fn kappas(report: &mut Report, pictures: &Path) -> anyhow::Result<()> {
    let entries = entries();
    let mut lines: Vec<(String, Vec<(f64, f64)>)> =
        entries.iter().map(|entry| (entry.0.to_owned(), Vec::new())).collect();
    let mut rows: Vec<Vec<Took>> = Vec::new();
    for kappa in KAPPAS {
        let case = cases::family(kappa).draw();
        let start = vec![0.0; case.problem.inner.d()];
        let (_, took) = contest(case.problem.erased(), &start, &entries, 1, LIMITS);
        println!("kappa {kappa:e}");
        for (line, took) in lines.iter_mut().zip(&took) {
            println!("  {} {:?} last {:.1e}", took.method, took.passes, took.last);
            line.1.extend(took.between[0].map(|passes| (kappa, passes)));
        }
        rows.push(took);
    }
    let text = &mut report.text;
    let heads = KAPPAS.map(|kappa| format!("{kappa:.0e}"));
    writeln!(
        text,
        "## Passes to a gap of {:.0e} against the condition number\n\nCross-entropy, 50 groups of 40 \
         rows of 20 features; between evaluations the logarithm of the gap is a straight line; in \
         brackets at the evaluation itself. At most {MOST} passes.\n\n\
         | method | {} | exponent |\n|---|{}---|",
        GAPS[0],
        heads.join(" | "),
        "---|".repeat(KAPPAS.len())
    )?;
    let mut exponents = serde_json::Map::new();
    for (k, (name, points)) in lines.iter().enumerate() {
        let cells: Vec<String> = rows
            .iter()
            .map(|row| match (row[k].between[0], row[k].passes[0]) {
                (Some(between), Some(at)) => format!("{between:.1} ({at:.1})"),
                _ => "-".to_owned(),
            })
            .collect();
        let fitted = (points.len() > 1).then(|| exponent(points));
        let word = fitted.map_or_else(|| "-".to_owned(), |b| format!("{b:.3}"));
        writeln!(text, "| {name} | {} | {word} |", cells.join(" | "))?;
        exponents.insert(name.clone(), json!(fitted));
    }
    writeln!(text)?;
    report.json.insert("kappa".into(), json!({ "rows": rows, "exponents": exponents }));
    std::fs::create_dir_all(pictures)?;
    std::fs::write(pictures.join("beyond.svg"), picture(&lines))?;
    Ok(())
}

/// A ratio of what two methods took, where both arrived.
fn ratio(row: &[Took], other: &str, of: impl Fn(&Took) -> Option<f64>) -> Option<f64> {
    let find = |name: &str| row.iter().find(|took| took.method == name);
    Some(of(find(OURS)?)? / of(find(other)?)?)
}

/// Problems of all kinds.
fn problems(report: &mut Report, folder: Option<&Path>, only: &str) -> anyhow::Result<()> {
    let mut entries = entries();
    entries.push((AUTO, AUTO, Choice::seeded(1)));
    let mut all: Vec<(String, bool, Vec<Took>)> = Vec::new();
    let mut one = |case: &Case| {
        let start = vec![0.0; case.problem.inner.d()];
        let (_, took) = contest(case.problem.erased(), &start, &entries, ROUNDS, LIMITS);
        println!("{}", case.name);
        for took in &took {
            println!(
                "  {:12} passes {:.2?} seconds {:.6?} last {:.1e}",
                took.method, took.passes, took.seconds, took.last
            );
        }
        all.push((case.name.clone(), case.kinks, took));
    };
    for shape in cases::all().iter().filter(|shape| shape.name().contains(only)) {
        one(&shape.draw());
    }
    if let Some(folder) = folder {
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder)?
            .map(|entry| Ok(entry?.path()))
            .collect::<anyhow::Result<_>>()?;
        files.retain(|path| path.extension().is_some_and(|extension| extension == "csv"));
        files.sort();
        for path in files {
            one(&returns::read(&path)?);
        }
    }
    let text = &mut report.text;
    writeln!(
        text,
        "## {} problems without settings\n\nPasses to gaps of 1e-6 and 1e-9, at evaluations; \
         milliseconds to 1e-6, the least of as many runs in turns as take {} seconds, {ROUNDS} at \
         most. At most {MOST} passes or {} seconds.\n",
        all.len(),
        contest::ENOUGH,
        contest::PATIENCE
    )?;
    let names: Vec<&str> = entries.iter().map(|entry| entry.0).collect();
    writeln!(text, "| problem | {} |\n|---|{}", names.join(" | "), "---|".repeat(names.len()))?;
    for (name, _, row) in &all {
        let cells = names.iter().map(|name| match row.iter().find(|took| took.method == *name) {
            None => "not for it".to_owned(),
            Some(took) => format!(
                "{} / {}; {}",
                cell(took.passes[0]),
                cell(took.passes[1]),
                cell(took.seconds[0].map(|s| 1e3 * s))
            ),
        });
        writeln!(text, "| {name} | {} |", cells.collect::<Vec<_>>().join(" | "))?;
    }
    summary(report, &all)?;
    let rows: Vec<Value> = all
        .iter()
        .map(|(name, kinks, row)| json!({ "problem": name, "kinks": kinks, "methods": row }))
        .collect();
    report.json.insert("problems".into(), json!(rows));
    Ok(())
}

fn summary(report: &mut Report, all: &[(String, bool, Vec<Took>)]) -> anyhow::Result<()> {
    let text = &mut report.text;
    let ours = |row: &[Took]| row.iter().find(|took| took.method == OURS).cloned();
    let failed = all
        .iter()
        .filter(|(_, _, row)| ours(row).is_none_or(|took| took.passes.iter().any(Option::is_none)));
    writeln!(text, "\n- not solved to 1e-6 and 1e-9 by {OURS}: {}", failed.count())?;
    for other in ["newton", "lbfgs", "svrpda1", "growing", "correction"] {
        let calls: Vec<f64> =
            all.iter().filter_map(|(_, _, row)| ratio(row, other, |took| took.passes[0])).collect();
        if let Some(mean) = geometric_mean(&calls) {
            writeln!(
                text,
                "- calls to 1e-6 over those of {other}, where both arrive ({} problems): median \
                 {:.2}, geometric mean {mean:.2}",
                calls.len(),
                median(calls.clone())
            )?;
        }
    }
    let medians = |gap: usize| {
        let passes = all.iter().filter_map(|(_, _, row)| ours(row)?.passes[gap]).collect();
        median(passes)
    };
    writeln!(text, "- median passes of {OURS}: {:.1} and {:.1}", medians(0), medians(1))?;
    // What a user waits for who names no method.
    let waits: Vec<f64> = all
        .iter()
        .filter(|(_, kinks, _)| !kinks)
        .filter_map(|(_, _, row)| {
            let single = row.iter().filter(|took| !VARIANTS[1..].contains(&&*took.method));
            let best = single.filter_map(|took| took.seconds[0]).fold(f64::INFINITY, f64::min);
            Some(row.iter().find(|took| took.method == AUTO)?.seconds[0]? / best)
        })
        .collect();
    writeln!(
        text,
        "- smooth phi: seconds of {AUTO} over the best of all, {OURS} too, at most 1.1 on {} and at \
         most 1.5 on {} of {}, median {:.2}, most {:.2}",
        waits.iter().filter(|wait| **wait <= 1.1).count(),
        waits.iter().filter(|wait| **wait <= 1.5).count(),
        waits.len(),
        median(waits.clone()),
        waits.iter().copied().fold(0.0, f64::max)
    )?;
    for (word, kinks, name) in
        [("smooth phi", false, OURS), ("smooth phi", false, AUTO), ("kinks", true, OURS)]
    {
        let ratios: Vec<f64> = all
            .iter()
            .filter(|(_, has, _)| *has == kinks)
            .filter_map(|(_, _, row)| {
                let others = row.iter().filter(|took| !VARIANTS.contains(&&*took.method));
                let best = others.filter_map(|took| took.seconds[0]).fold(f64::INFINITY, f64::min);
                Some(row.iter().find(|took| took.method == name)?.seconds[0]? / best)
            })
            .collect();
        let within = |most: f64| ratios.iter().filter(|ratio| **ratio <= most).count();
        writeln!(
            text,
            "- {word}: seconds of {name} over the best of the others at most 1.1 on {} and at most 0.5 on {} \
             of {}, median {:.2}",
            within(1.1),
            within(0.5),
            ratios.len(),
            median(ratios.clone())
        )?;
    }
    writeln!(text)?;
    Ok(())
}

fn main() -> anyhow::Result<()> {
    let (mut folder, mut out, mut parts) = (None, None, "kappa,problems".to_owned());
    let mut only = String::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(flag) = arguments.next() {
        let value = arguments.next().with_context(|| format!("{flag} needs a value"))?;
        match flag.as_str() {
            "--returns" => folder = Some(PathBuf::from(value)),
            "--out" => out = Some(PathBuf::from(value)),
            "--parts" => parts = value,
            "--only" => only = value,
            _ => bail!("{flag}: expected --returns, --out, --parts or --only"),
        }
    }
    let results = out.clone().unwrap_or_else(|| "experiments/results".into());
    let pictures = out.unwrap_or_else(|| "docs/images".into());
    let mut report = Report { text: HEAD.to_owned(), json: serde_json::Map::new() };
    for part in parts.split(',') {
        match part {
            "kappa" => kappas(&mut report, &pictures)?,
            "problems" => problems(&mut report, folder.as_deref(), &only)?,
            _ => {
                // A file of its own.
                let own = steps::part(part, &only)?;
                write(&results, &format!("beyond-{part}"), &(HEAD.to_owned() + &own.0), &own.1)?;
            }
        }
    }
    if !report.json.is_empty() {
        write(&results, "beyond", &report.text, &Value::Object(report.json))?;
    }
    Ok(())
}

fn write(folder: &Path, stem: &str, text: &str, json: &Value) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join(format!("{stem}.md")), text)?;
    let json = serde_json::to_string_pretty(json)?;
    std::fs::write(folder.join(format!("{stem}.json")), json + "\n")?;
    println!("{text}");
    Ok(())
}

//! The report of a run.

use std::path::Path;

use anyhow::Result;
use innermean::{Certificate, Inner, Measure, Objective, Solution, Status};
use serde_json::Value;

use super::{Convergence, Kind, Report, Verdict};
use crate::output::human::{Facts, grouped, is_exact, outcome, proofs_end};
use crate::output::json::Settings;
use crate::output::named_numbers::{Heading, NamedNumbers};
use crate::run::application::Application;
use crate::run::page::{Page, Part};
use crate::run::plan::Plan;

/// All that there is to say; `notes` are what was decided without being asked.
pub(crate) fn report<'a, A: Application>(
    application: &'a A,
    problem: Objective<'_>,
    plan: &Plan,
    solution: &'a Solution,
    page: Page<'a>,
    inputs: &[&Path],
    notes: Vec<String>,
) -> Result<Report<'a>> {
    let mut answer = page.parts;
    if !answer.iter().any(|part| matches!(part, Part::Numbers(_))) {
        let heading = Heading { name: "coordinate", number: "weight", sum: false };
        let names = application.coordinates();
        let numbers = &solution.theta;
        let (error, intervals, has_table) = (0.0, &[][..], false);
        answer.push(Part::Numbers(NamedNumbers {
            heading,
            names,
            numbers,
            error,
            intervals,
            has_table,
            beside: None,
        }));
    }
    let settings = serde_json::to_value(Settings::of(plan, application.settings()))?;
    let settings = settings.as_object().into_iter().flatten();
    let settings = settings
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| (name.clone(), plain(value)))
        .filter(|(_, text)| !text.is_empty());
    let seed = ("seed".to_owned(), plan.run.seed.to_string());
    let rows = problem.inner.rows().all;
    Ok(Report {
        title: application.title(),
        source: application.source().text.to_owned(),
        verdict: Some(verdict(plan, solution, &page.warnings)),
        answer,
        facts: facts(&page.facts),
        convergence: Convergence::of_run(
            plan.run.info.name,
            format!("seed {}", plan.run.seed),
            &solution.trace,
            rows,
            solution.certificate.measure.title(),
        ),
        tables: Vec::new(),
        data: data(problem, inputs, application.source().text),
        notes,
        settings: settings.chain([seed]).collect(),
    })
}

/// All lines but the status, shown above, and the convergence, which has a picture.
fn facts(facts: &Facts) -> Vec<(String, String)> {
    let mut kept = Vec::new();
    let mut above = "";
    for (label, text) in facts.pairs() {
        above = if label.is_empty() { above } else { label };
        if !["status", "convergence"].contains(&above) {
            kept.push((label.to_owned(), text));
        }
    }
    kept
}

/// Files with their sizes, and the sizes of the problem.
pub(crate) fn data(
    problem: Objective<'_>,
    inputs: &[&Path],
    source: &str,
) -> Vec<(String, String)> {
    let f = &problem.inner;
    let mut data = vec![("source".to_owned(), source.to_owned())];
    for path in inputs {
        let size = std::fs::metadata(path).map(|file| format!(", {} bytes", grouped(file.len())));
        data.push(("file".to_owned(), format!("{}{}", path.display(), size.unwrap_or_default())));
    }
    let (mut least, mut most, mut samples) = (usize::MAX, 0, 0);
    for i in 0..f.n_x() {
        let n_y = f.n_y(i);
        (least, most, samples) = (least.min(n_y), most.max(n_y), samples + n_y as u64);
    }
    let counted = |count: usize| grouped(count as u64);
    data.push(("outer terms n_X".to_owned(), counted(f.n_x())));
    let each = if least == most {
        counted(most)
    } else {
        format!("{} to {}", counted(least), counted(most))
    };
    data.push((
        "inner samples n_Y".to_owned(),
        format!("{each} a term, {} in all", grouped(samples)),
    ));
    data.push(("coordinates d".to_owned(), counted(f.d())));
    data.push(("rows of data".to_owned(), grouped(f.rows().all)));
    data
}

/// How it ended, what makes it doubtful, what is proven, and what to do.
fn verdict(plan: &Plan, solution: &Solution, warnings: &[String]) -> Verdict {
    let Certificate { measure, gap, relative, is_rounding, reason, .. } = solution.certificate;
    let is_doubtful = !warnings.is_empty();
    let kind = match solution.status {
        status if status.is_solved() && is_doubtful => Kind::Limited,
        status if status.is_solved() => Kind::Good,
        Status::Diverged | Status::Unbounded | Status::StartNotFinite | Status::Failed => Kind::Bad,
        _ => Kind::Limited,
    };
    let reason = reason.map_or(String::new(), |reason| reason.to_string());
    let proven = match (gap, measure, relative) {
        (Some(gap), _, _) => {
            let end = proofs_end(is_rounding, &reason);
            let relative =
                relative.map_or(String::new(), |relative| format!("; relative {relative:.1e}"));
            let among = solution
                .certificate
                .hypothesis()
                .map_or(String::new(), |words| format!(" {words}"));
            format!(
                "The answer is proven to be within {gap:.1e} of the optimum{among} ({}{relative}{end}).",
                measure.title()
            )
        }
        (None, Measure::Stationarity, Some(relative)) => format!(
            "No distance from the optimum can be proven: {reason}. The relative stationarity is {relative:.1e}."
        ),
        _ if reason.is_empty() => "No distance from the optimum is proven.".to_owned(),
        _ => format!("No distance from the optimum is proven: {reason}."),
    };
    Verdict {
        kind,
        status: outcome(solution, is_doubtful).replace(", with a warning above", ""),
        text: {
            // Where no more digits can be proven there is nothing to advise.
            let advice = if is_exact(solution) { None } else { Some(plan.advice(solution.status)) };
            let parts = warnings.iter().cloned().chain([proven]).chain(advice);
            parts.collect::<Vec<_>>().join(" ")
        },
    }
}

/// A setting as it would be typed.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

//! What other programs of the project measure, quoted with its targets.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use serde::Deserialize;

use super::table::Claim;
use crate::timing::median;

/// One problem of `experiments/results/grid.json`.
#[derive(Deserialize)]
struct GridRow {
    family: String,
    /// Calls with no settings over those of the best setting: the least, the median and the largest
    /// over seeds; none if a run failed.
    ratios: Option<[f64; 3]>,
}

/// Automatic steps against the best of a grid (`cargo run --release -p innermean-experiments --bin
/// grid`).
pub fn grid(results: &Path) -> Vec<Claim> {
    match fs::read_to_string(results.join("grid.json")) {
        Ok(text) => grid_claims(&text),
        Err(_) => vec![grid_claim(
            "",
            None,
            "results/grid.json is not there: run `--bin grid`".to_owned(),
        )],
    }
}

fn grid_claim(family: &str, value: Option<f64>, note: String) -> Claim {
    let what = format!(
        "{family} calls of SVRPDA-I without settings / best of 147 settings, worst problem"
    );
    Claim::at_most("steps", what.trim_start(), value, Some(2.0)).noted(note)
}

fn grid_claims(text: &str) -> Vec<Claim> {
    let rows: BTreeMap<String, GridRow> = match serde_json::from_str(text) {
        Ok(rows) => rows,
        Err(error) => return vec![grid_claim("", None, format!("results/grid.json: {error}"))],
    };
    let mut families: BTreeMap<&str, Vec<Option<f64>>> = BTreeMap::new();
    for row in rows.values() {
        families.entry(&row.family).or_default().push(row.ratios.map(|[_, middle, _]| middle));
    }
    let claim = |(family, ratios): (&str, Vec<Option<f64>>)| {
        let reached: Vec<f64> = ratios.iter().flatten().copied().collect();
        let failed = ratios.len() - reached.len();
        let worst = reached.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // One that has no ratio is none that is met.
        let value = if failed > 0 { None } else { Some(worst) };
        let note = format!(
            "{} problems, median {:.2}, worst {worst:.2}, without a ratio {failed}",
            ratios.len(),
            median(reached)
        );
        grid_claim(family, value, note)
    };
    families.into_iter().map(claim).collect()
}

/// Steps and passes against bare loops (`cargo bench -p innermean --bench ratios`): the claims, and
/// all that it prints.
///
/// # Errors
/// If it does not run.
pub fn kernels() -> Result<(Vec<Claim>, String)> {
    let output = Command::new("cargo")
        .args(["bench", "-q", "-p", "innermean", "--bench", "ratios"])
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(output.status.success(), "cargo bench: {}", String::from_utf8_lossy(&output.stderr));
    Ok((text.lines().filter_map(kernel_claim).collect(), text))
}

/// A line such as `pass, 7240 x 25   51.2 us     83 % of the peak (at least 70 %)`; None for one
/// without a target.
fn kernel_claim(line: &str) -> Option<Claim> {
    let (rest, limit) = line.trim_end().strip_suffix(')')?.rsplit_once(" (at ")?;
    let limit = limit.trim_end_matches(": MISSED");
    let (at_least, target) = match limit.strip_prefix("least ") {
        Some(target) => (true, target),
        None => (false, limit.strip_prefix("most ")?),
    };
    let number = |text: &str| {
        let value = text.split_whitespace().next()?.parse::<f64>().ok()?;
        Some(if text.contains('%') { value / 100.0 } else { value })
    };
    // Name, time and figure are separated by two spaces or more.
    let mut columns = rest.split("  ").map(str::trim).filter(|column| !column.is_empty());
    let (name, time, figure) = (columns.next()?, columns.next()?, columns.next()?);
    let of = figure.split_once(' ').map_or("", |(_, of)| of).trim_start_matches("% ");
    let what = format!("{name}: {of}");
    let claim = if at_least { Claim::at_least } else { Claim::at_most };
    Some(Claim { ours: time.to_owned(), ..claim("kernels", &what, number(figure), number(target)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::table::Verdict;

    #[test]
    fn grids_are_summed_up_by_family() {
        let row =
            |family: &str, ratios: &str| format!(r#"{{"family": "{family}", "ratios": {ratios}}}"#);
        let text = format!(
            r#"{{"a": {}, "b": {}, "c": {}}}"#,
            row("mdp", "[0.5, 1.0, 2.0]"),
            row("mdp", "[0.5, 3.0, 4.0]"),
            row("groups", "null")
        );
        let claims = grid_claims(&text);
        assert_eq!(claims.len(), 2);
        assert_eq!(claims[0].verdict, Verdict::NotMeasured);
        assert_eq!((claims[1].value, claims[1].verdict), (Some(3.0), Verdict::Miss));
        assert_eq!(claims[1].note, "2 problems, median 2.00, worst 3.00, without a ratio 0");
        assert_eq!(grid_claims("[]")[0].verdict, Verdict::NotMeasured);
    }

    #[test]
    fn lines_of_kernels_are_read() {
        let line = |name: &str, figure: &str| format!("{name:56} {:>12}  {figure}", "51.2 us");
        let claim = kernel_claim(&line(
            "SVRPDA-I step, 7240 x 25",
            "   1.83 of the bare chain (at most 1.6: MISSED)",
        ));
        let claim = claim.expect("a claim");
        assert_eq!(
            (claim.value, claim.target, claim.verdict),
            (Some(1.83), Some(1.6), Verdict::Miss)
        );
        assert_eq!(
            (claim.what.as_str(), claim.ours.as_str()),
            ("SVRPDA-I step, 7240 x 25: of the bare chain", "51.2 us")
        );
        let share =
            kernel_claim(&line("pass, 2 threads", "   83 % of the bandwidth (at least 70 %)"))
                .expect("a claim");
        assert_eq!(
            (share.value, share.target, share.verdict),
            (Some(0.83), Some(0.7), Verdict::Pass)
        );
        assert_eq!(share.what, "pass, 2 threads: of the bandwidth");
        assert!(kernel_claim(&line("SVRPDA-II step", "   1.83 of the bare chain")).is_none());
        assert!(kernel_claim("passes").is_none() && kernel_claim("").is_none());
    }
}

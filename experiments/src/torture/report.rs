//! What came of many problems: a table, the worst cases, and whether it may pass.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::draw::Kind;
use super::draw::columns::Conditioning;
use super::judge::{Judged, Verdict};

/// One problem.
#[derive(Debug, Clone, Serialize)]
pub struct Line {
    /// Its number.
    pub number: u64,
    /// What it is.
    pub kind: Kind,
    /// What is the matter with it.
    pub conditioning: Conditioning,
    /// Its size, penalty and settings.
    pub words: String,
    /// Why the library refuses it.
    pub refused: Option<String>,
    /// Whether its objective falls for ever.
    pub unbounded: bool,
    /// Whether its minimum lies where doubles can tell.
    pub near: bool,
    /// By how much of the scale the rival ended above the best of the runs.
    pub behind: f64,
    /// The runs.
    pub runs: Vec<Judged>,
}

/// Many problems.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// Of the draws.
    pub seed: u64,
    /// One for each problem.
    pub lines: Vec<Line>,
}

/// Of the bounded problems, how many `auto` should leave unsolved at most.
pub const UNSOLVED: f64 = 0.005;

impl Report {
    /// How often a verdict was passed.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.found().filter(|(.., found, _)| *found == verdict).count()
    }

    fn found(&self) -> impl Iterator<Item = (&Line, &Judged, Verdict, f64)> {
        let runs = self.lines.iter().flat_map(|line| line.runs.iter().map(move |run| (line, run)));
        runs.flat_map(|(line, run)| {
            run.verdicts.iter().map(move |(verdict, by)| (line, run, *verdict, *by))
        })
    }

    /// Problems with a minimum that doubles can tell.
    pub fn bounded(&self) -> usize {
        self.lines
            .iter()
            .filter(|line| line.refused.is_none() && !line.unbounded && line.near)
            .count()
    }

    /// Problems on which a run found a better point than the rival did from its own start, by more
    /// than `1e-9` of the scale.
    pub fn behind(&self) -> usize {
        self.lines.iter().filter(|line| line.behind > 1e-9).count()
    }

    /// Why the library does not pass; empty if it does. Of the bounded problems, such a part may be
    /// left unsolved.
    pub fn failures(&self, may_be_unsolved: f64) -> Vec<String> {
        let none = [
            Verdict::FalseClaim,
            Verdict::WrongSolved,
            Verdict::UnboundedSolved,
            Verdict::WrongUnbounded,
            Verdict::Panic,
            Verdict::WrongObjective,
        ];
        let mut failures: Vec<String> = none
            .into_iter()
            .filter(|verdict| self.count(*verdict) > 0)
            .map(|verdict| format!("{} times {}", self.count(verdict), verdict.title()))
            .collect();
        let unsolved = self.count(Verdict::NotSolved);
        if unsolved as f64 > may_be_unsolved * self.bounded() as f64 {
            failures
                .push(format!("auto solves {unsolved} of {} bounded problems not", self.bounded()));
        }
        failures
    }

    /// Counts for each kind and conditioning, where there is anything to tell.
    pub fn table(&self) -> String {
        let mut cells: BTreeMap<(Kind, Conditioning), Vec<&Line>> = BTreeMap::new();
        for line in &self.lines {
            cells.entry((line.kind, line.conditioning)).or_default().push(line);
        }
        let mut text = format!(
            "{:<24} {:<12} {:>8} {:>6} {:>6}",
            "kind", "conditioning", "problems", "runs", "claims"
        );
        for verdict in Verdict::ALL {
            let _ = write!(text, " {:>21}", verdict.title());
        }
        text.push('\n');
        let mut total = [0; 11];
        for ((kind, conditioning), lines) in cells {
            let runs: Vec<&Judged> = lines.iter().flat_map(|line| &line.runs).collect();
            let of = |verdict| {
                runs.iter().filter(|run| run.verdicts.iter().any(|(v, _)| *v == verdict)).count()
            };
            let claims = runs.iter().filter(|run| run.gap.is_some()).count();
            let mut row = vec![lines.len(), runs.len(), claims];
            row.extend(Verdict::ALL.map(of));
            total.iter_mut().zip(&row).for_each(|(total, x)| *total += x);
            if row[3..10].iter().any(|x| *x > 0) {
                write_row(&mut text, kind.name(), conditioning.title(), &row);
            }
        }
        write_row(&mut text, "all", "", &total);
        text
    }

    /// The cases of each verdict, the worst first.
    pub fn worst(&self, most: usize) -> String {
        let mut text = String::new();
        for verdict in Verdict::ALL {
            let mut found: Vec<_> = self.found().filter(|(.., v, _)| *v == verdict).collect();
            found.sort_by(|a, b| b.3.total_cmp(&a.3));
            if !found.is_empty() {
                let _ = writeln!(text, "\n{} ({}):", verdict.title(), found.len());
            }
            for (line, run, _, by) in found.into_iter().take(most) {
                let gap =
                    run.gap.map_or_else(|| run.measure.clone(), |gap| format!("within {gap:.1e}"));
                let _ = writeln!(
                    text,
                    "  --problem {:<6} {} ({}), {} to {:e}: {} {:.9e}, {gap}; best {:.9e}; off by {by:.1e}",
                    line.number,
                    line.kind.name(),
                    line.conditioning.title(),
                    run.method,
                    run.tolerance,
                    run.status,
                    run.objective,
                    run.best,
                );
            }
        }
        text
    }
}

fn write_row(text: &mut String, kind: &str, conditioning: &str, row: &[usize]) {
    let _ = write!(text, "{kind:<24} {conditioning:<12} {:>8} {:>6} {:>6}", row[0], row[1], row[2]);
    for count in &row[3..] {
        let _ =
            write!(text, " {:>21}", if *count > 0 { count.to_string() } else { "-".to_owned() });
    }
    text.push('\n');
}

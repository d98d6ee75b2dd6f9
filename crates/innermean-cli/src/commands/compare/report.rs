//! What is said about a comparison, to people and to programs.

use anyhow::Result;
use innermean::{Record, Status};
use innermean_apps::compare::{Entry, GapKind, Outcome, SettingsFrom};
use innermean_apps::run::MethodSettings;
use serde::Serialize;

use super::comparison::{Comparison, seeds};
use crate::output::grid::Grid;
use crate::output::human::{self, paragraph, rounded_count, significant};

/// All that the report draws on.
pub(super) struct Report<'a> {
    pub(super) comparison: &'a Comparison<'a>,
    pub(super) outcome: &'a Outcome,
}

/// What a table counts.
#[derive(Clone, Copy)]
enum Count {
    Calls,
    Seconds,
    Rows,
}

impl Count {
    fn title(self) -> &'static str {
        match self {
            Count::Calls => "Oracle calls",
            Count::Seconds => "Seconds",
            Count::Rows => "Rows of data read",
        }
    }

    fn of(self, record: &Record) -> f64 {
        match self {
            Count::Calls => record.calls.total() as f64,
            Count::Seconds => record.seconds,
            Count::Rows => record.rows as f64,
        }
    }

    fn text(self, value: f64) -> String {
        match self {
            Count::Calls | Count::Rows => rounded_count(value as u64),
            Count::Seconds => significant(value, 2),
        }
    }
}

/// The median of several runs, with the least and the most; none where half of them or more did not
/// get there.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct Spread {
    median: f64,
    least: f64,
    /// None if some run did not get there.
    most: Option<f64>,
}

impl Spread {
    /// `values` holds what was reached, of this many runs.
    fn of(mut values: Vec<f64>, runs: usize) -> Option<Spread> {
        values.sort_by(f64::total_cmp);
        let at = |k: usize| values.get(k).copied();
        let median = match runs % 2 {
            1 => at(runs / 2)?,
            _ => 0.5 * (at(runs / 2 - 1)? + at(runs / 2)?),
        };
        Some(Spread { median, least: values[0], most: at(runs - 1) })
    }
}

impl Report<'_> {
    /// The tables.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        // Ten decades take some hundred columns; a narrow terminal shows every other one.
        for table in self.tables(human::width() >= 120) {
            text.push_str(&table.text());
            text.push('\n');
        }
        text.push_str("Settings\n");
        for entry in &self.outcome.entries {
            text.push_str(&settings(entry));
        }
        for note in self.notes() {
            text.push('\n');
            text.push_str(&paragraph("note:", &note));
        }
        text
    }

    /// What a reader must know of the tables.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let Outcome { resolution, status, not_run, .. } = self.outcome;
        if *resolution > 0.0 {
            notes.push(format!(
                "A run ended {resolution:.1e} below the optimum named above. Gaps are measured \
                 from there, and smaller ones than that cannot be told apart."
            ));
        }
        if *status == Status::Interrupted {
            let rest = if not_run.is_empty() { "nothing".to_owned() } else { not_run.join(", ") };
            notes.push(format!(
                "Interrupted: what was running was cut short, and {rest} was not run."
            ));
        }
        notes
    }

    /// Calls, seconds and rows to each decade of the gap, or to every other one.
    pub(super) fn tables(&self, all: bool) -> [Grid; 3] {
        [Count::Calls, Count::Seconds, Count::Rows].map(|count| self.table(count, all))
    }

    fn table(&self, count: Count, all: bool) -> Grid {
        let runs = self.comparison.flags.repeat;
        let several = runs > 1;
        let shown =
            |k: &i32| all || *k == 1 || k % 2 == 0 || k == self.comparison.contest.decades().end();
        let decades: Vec<i32> = self.comparison.contest.decades().filter(shown).collect();
        let header = decades.iter().map(|k| format!("1e-{k}"));
        let header = std::iter::once("gap".to_owned()).chain(header).chain(["ended at".to_owned()]);
        let mut rows: Vec<Vec<String>> = Vec::new();
        for entry in &self.outcome.entries {
            let spreads: Vec<Option<Spread>> =
                decades.iter().map(|k| self.spread(entry, count, 10_f64.powi(-k))).collect();
            let cells = spreads.iter().map(|s| s.map_or("-".to_owned(), |s| count.text(s.median)));
            let name = entry.entrant.info.name.to_owned();
            rows.push(std::iter::once(name).chain(cells).chain([self.ended(entry)]).collect());
            if several {
                let ranges = spreads.iter().map(|s| {
                    s.map_or(String::new(), |s| {
                        let most = s.most.map_or("-".to_owned(), |most| count.text(most));
                        format!("{}..{most}", count.text(s.least))
                    })
                });
                rows.push(
                    std::iter::once(String::new()).chain(ranges).chain([String::new()]).collect(),
                );
            }
        }
        let kind = match self.comparison.flags.gap {
            GapKind::Absolute => "",
            GapKind::Relative => ", relative to the gap at the start",
        };
        let medians = if several {
            format!(", medians and ranges of {}", seeds(runs))
        } else {
            String::new()
        };
        Grid {
            title: format!("{} to a gap{kind}{medians}", count.title()),
            header: header.collect(),
            rows,
            numbers: 1..decades.len() + 1,
            note: None,
        }
    }

    fn spread(&self, entry: &Entry, count: Count, gap: f64) -> Option<Spread> {
        if gap < self.outcome.resolution {
            return None;
        }
        let reached = entry.runs.iter().filter_map(|run| {
            self.comparison
                .contest
                .reached(run, self.outcome.optimum, gap)
                .map(|record| count.of(record))
        });
        Spread::of(reached.collect(), entry.runs.len())
    }

    /// Who reaches `gap` with the fewest calls or in the shortest time, with that number.
    pub(super) fn first(&self, gap: f64, by_calls: bool) -> Option<(&'static str, String)> {
        let count = if by_calls { Count::Calls } else { Count::Seconds };
        let reached = self.outcome.entries.iter();
        let reached = reached.filter_map(|entry| {
            Some((entry.entrant.info.name, self.spread(entry, count, gap)?.median))
        });
        let (name, median) = reached.min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some((name, count.text(median)))
    }

    /// The gap at which the runs ended (the median), and how.
    fn ended(&self, entry: &Entry) -> String {
        let gap =
            Spread::of(self.last_gaps(entry), entry.runs.len()).map_or(f64::NAN, |s| s.median);
        let diverged = entry.runs.iter().filter(|run| run.status == Status::Diverged).count();
        let limit = match entry.runs.first().map(|run| run.status) {
            Some(Status::MaxSeconds) => ", time limit",
            Some(Status::MaxCalls) => ", call limit",
            Some(Status::Interrupted) => ", interrupted",
            _ => "",
        };
        match (diverged, entry.runs.len()) {
            (0, _) if gap == 0.0 => format!("0{limit}"),
            (0, _) => format!("{gap:.0e}{limit}"),
            (_, 1) => format!("{gap:.0e}, diverged"),
            (some, all) => format!("{gap:.0e}, {some} of {all} diverged"),
        }
    }

    fn last_gaps(&self, entry: &Entry) -> Vec<f64> {
        entry
            .runs
            .iter()
            .map(|run| self.comparison.contest.gap(run.objective, self.outcome.optimum))
            .collect()
    }

    /// One JSON object on one line.
    pub(super) fn json(&self) -> Result<String> {
        let (comparison, contest) = (self.comparison, &self.comparison.contest);
        let methods = self.outcome.entries.iter().map(|entry| MethodDocument {
            name: entry.entrant.info.name,
            title: entry.entrant.info.title,
            settings: &entry.settings,
            settings_from: entry.entrant.origin,
            tuning: entry.tuning.as_deref(),
            reached: contest.decades().map(|k| self.reached(entry, 10_f64.powi(-k))).collect(),
            runs: entry
                .runs
                .iter()
                .zip(self.last_gaps(entry))
                .enumerate()
                .map(|(k, (run, gap))| RunDocument {
                    seed: comparison.flags.seed.wrapping_add(k as u64),
                    status: run.status,
                    objective: run.objective,
                    gap,
                    calls: run.calls.total(),
                    rows: run.rows,
                    seconds: run.seconds,
                })
                .collect(),
        });
        let document = Document {
            version: env!("CARGO_PKG_VERSION"),
            problem: comparison.named.problem,
            title: &comparison.named.title,
            source: &comparison.named.source,
            objective: &comparison.named.objective,
            n_x: contest.problem.inner.n_x(),
            d: contest.problem.inner.d(),
            optimum: self.outcome.optimum,
            optimum_source: contest.optimum.source.to_string(),
            objective_at_start: contest.at_start,
            start: comparison.flags.start.to_string(),
            gap: comparison.flags.gap,
            resolution: self.outcome.resolution,
            seed: comparison.flags.seed,
            repeat: comparison.flags.repeat,
            tuned: comparison.flags.tune,
            interrupted: self.outcome.status == Status::Interrupted,
            not_run: &self.outcome.not_run,
            notes: self.notes(),
            until: comparison.flags.until,
            max_calls: comparison.flags.max_calls,
            max_seconds: comparison.flags.max_seconds,
            threads: comparison.threads(),
            methods: methods.collect(),
            unsuited: contest
                .unsuited
                .iter()
                .map(|(name, reason)| Unsuited { name, reason })
                .collect(),
        };
        Ok(serde_json::to_string(&document)? + "\n")
    }

    fn reached(&self, entry: &Entry, gap: f64) -> ReachedDocument {
        ReachedDocument {
            gap,
            calls: self.spread(entry, Count::Calls, gap),
            seconds: self.spread(entry, Count::Seconds, gap),
            rows: self.spread(entry, Count::Rows, gap),
        }
    }
}

/// What a method was given, and by whom.
fn settings(entry: &Entry) -> String {
    paragraph(&format!("  {}:", entry.entrant.info.name), &settings_line(entry))
}

/// As above, without the name.
pub(super) fn settings_line(entry: &Entry) -> String {
    let origin = match (entry.entrant.origin, &entry.tuning) {
        (SettingsFrom::Paper, _) => "the paper's".to_owned(),
        (SettingsFrom::Default, _) => "its own".to_owned(),
        (SettingsFrom::Tuned, tuning) => tuning.clone().unwrap_or_default(),
    };
    let line = entry.settings.line();
    let line = if line.is_empty() { "no settings".to_owned() } else { line };
    format!("{line} ({origin})")
}

#[derive(Serialize)]
struct Document<'a> {
    version: &'static str,
    problem: &'static str,
    title: &'a str,
    source: &'a str,
    objective: &'a str,
    n_x: usize,
    d: usize,
    optimum: f64,
    optimum_source: String,
    objective_at_start: f64,
    start: String,
    gap: GapKind,
    resolution: f64,
    seed: u64,
    repeat: u64,
    tuned: bool,
    interrupted: bool,
    not_run: &'a [&'static str],
    notes: Vec<String>,
    until: f64,
    max_calls: u64,
    max_seconds: f64,
    threads: usize,
    methods: Vec<MethodDocument<'a>>,
    unsuited: Vec<Unsuited<'a>>,
}

#[derive(Serialize)]
struct MethodDocument<'a> {
    name: &'static str,
    title: &'static str,
    settings: &'a MethodSettings,
    settings_from: SettingsFrom,
    tuning: Option<&'a str>,
    /// One for each decade.
    reached: Vec<ReachedDocument>,
    runs: Vec<RunDocument>,
}

#[derive(Serialize)]
struct ReachedDocument {
    gap: f64,
    calls: Option<Spread>,
    seconds: Option<Spread>,
    rows: Option<Spread>,
}

#[derive(Serialize)]
struct RunDocument {
    seed: u64,
    status: Status,
    objective: f64,
    gap: f64,
    calls: u64,
    rows: u64,
    seconds: f64,
}

#[derive(Serialize)]
struct Unsuited<'a> {
    name: &'a str,
    reason: &'a str,
}

#[cfg(test)]
mod tests {
    use super::Spread;

    #[test]
    fn a_median_needs_more_than_half_of_the_runs() {
        let all = Spread::of(vec![3.0, 1.0, 2.0], 3).expect("all got there");
        assert_eq!(all, Spread { median: 2.0, least: 1.0, most: Some(3.0) });
        let some = Spread::of(vec![3.0, 1.0], 3).expect("most got there");
        assert_eq!(some, Spread { median: 3.0, least: 1.0, most: None });
        assert_eq!(Spread::of(vec![1.0], 3), None);
        assert_eq!(Spread::of(vec![1.0, 2.0], 4), None);
        assert_eq!(Spread::of(Vec::new(), 1), None);
    }
}

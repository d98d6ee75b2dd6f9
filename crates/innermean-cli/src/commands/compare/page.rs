//! The page of a comparison.

use innermean::Status;
use innermean_apps::compare::{Entry, GapKind, Outcome};

use super::report::{Report, settings_line};
use crate::output::human::rounded_count;
use crate::report::run::data;
use crate::report::{
    self, CALLS, Convergence, Course, EPOCHS, Kind, Panel, Quantity, SECONDS, Verdict, counts,
};

impl Report<'_> {
    /// All that there is to say.
    pub(super) fn page(&self) -> report::Report<'static> {
        let (comparison, contest) = (self.comparison, &self.comparison.contest);
        let named = comparison.named;
        let mut notes = self.notes();
        notes.extend(
            contest.unsuited.iter().map(|(name, reason)| format!("Left out: {name}, {reason}.")),
        );
        let entries = self.outcome.entries.iter();
        let settings =
            entries.map(|entry| (entry.entrant.info.name.to_owned(), settings_line(entry)));
        let flags = comparison.flags;
        let common = [
            ("start", flags.start.to_string()),
            ("seeds", format!("{} from {}", flags.repeat, flags.seed)),
            (
                "limits",
                format!(
                    "gap {:e}, {} calls, {} s",
                    flags.until,
                    rounded_count(flags.max_calls),
                    flags.max_seconds
                ),
            ),
            ("threads", comparison.threads().to_string()),
        ];
        report::Report {
            title: format!("Comparison on a {}", named.title),
            source: named.source.clone(),
            verdict: Some(self.verdict()),
            facts: vec![
                ("objective".to_owned(), named.objective.clone()),
                (
                    "optimum".to_owned(),
                    format!("{:.12}, by {}", self.outcome.optimum, contest.optimum.source),
                ),
            ],
            convergence: self.convergence(),
            // Ranges of several seeds take room.
            tables: self.tables(flags.repeat == 1).into(),
            data: data(contest.problem, &named.inputs, &named.source),
            notes,
            settings: common
                .map(|(name, text)| (name.to_owned(), text))
                .into_iter()
                .chain(settings)
                .collect(),
            ..report::Report::default()
        }
    }

    fn convergence(&self) -> Convergence {
        let rows = self.comparison.contest.problem.inner.rows().all;
        let (title, about) = match self.comparison.flags.gap {
            GapKind::Absolute => {
                ("objective − optimum", "The gap is the objective minus the optimum")
            }
            GapKind::Relative => (
                "(objective − optimum) / that at the start",
                "The gap is the objective minus the optimum, divided by what it is at the start",
            ),
        };
        let course = |entry: &Entry, k: usize| {
            let run = &entry.runs[k];
            let gap = |objective: f64| {
                if objective.is_finite() {
                    self.comparison.contest.gap(objective, self.outcome.optimum)
                } else {
                    f64::NAN
                }
            };
            Course {
                name: entry.entrant.info.name.to_owned(),
                note: format!("seed {}", self.comparison.flags.seed.wrapping_add(k as u64)),
                x: counts(&run.trace, rows),
                y: vec![run.trace.iter().map(|record| gap(record.objective)).collect()],
            }
        };
        let courses = self
            .outcome
            .entries
            .iter()
            .flat_map(|entry| (0..entry.runs.len()).map(move |k| course(entry, k)));
        Convergence {
            x: vec![CALLS, SECONDS, EPOCHS],
            y: vec![Quantity { title: title.to_owned(), log: true }],
            about: vec![format!(
                "{about}. The optimum: {}.",
                self.comparison.contest.optimum.source
            )],
            panels: vec![Panel { title: String::new(), courses: courses.collect() }],
        }
    }

    /// Who is first at the smallest gap that anybody reaches, by calls and by seconds.
    fn verdict(&self) -> Verdict {
        let Outcome { entries, status, .. } = self.outcome;
        let interrupted = *status == Status::Interrupted;
        let decades: Vec<i32> = self.comparison.contest.decades().collect();
        let best = decades.iter().rev().find_map(|k| {
            let by_calls = self.first(10_f64.powi(-k), true)?;
            Some((*k, by_calls, self.first(10_f64.powi(-k), false)?))
        });
        let text = match best {
            None => "No method reached a gap of 0.1.".to_owned(),
            Some((k, (calls_name, calls), (seconds_name, seconds))) => format!(
                "A gap of 1e-{k} is reached with the fewest oracle calls by {calls_name} \
                 ({calls}), and in the shortest time by {seconds_name} ({seconds} s). {}",
                if self.comparison.flags.tune {
                    "Steps were tuned for each method."
                } else {
                    "Nothing was tuned: see --tune for a fair comparison."
                }
            ),
        };
        let methods = entries.len();
        let cut = if interrupted { ", interrupted" } else { "" };
        Verdict {
            kind: if interrupted { Kind::Limited } else { Kind::Good },
            status: format!(
                "{methods} method{} compared{cut}",
                if methods == 1 { "" } else { "s" }
            ),
            text,
        }
    }
}

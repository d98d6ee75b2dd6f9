//! The answer for people: numbers they can read, and the lines about a run that every problem
//! shares.

use std::fmt::Write as _;

use console::{Term, style};
use innermean::auto::Attempt;
use innermean::{Certificate, Measure, Solution, Status};
use innermean_apps::run::Chosen;
pub(crate) use innermean_apps::wording::numbers::{grouped, rounded_count, significant};
use innermean_data::visible;

use crate::output::sparkline;
use crate::run::plan::Plan;

/// What a line takes where standard output is no terminal.
const USUAL_WIDTH: usize = 80;
/// Prose wider than this is hard to read.
const WIDEST_PROSE: usize = 100;
/// The labels of [`Facts`] are in a column of this width.
const LABEL: usize = 17;

/// Columns of the terminal.
pub(crate) fn width() -> usize {
    Term::stdout().size_checked().map_or(USUAL_WIDTH, |(_, columns)| usize::from(columns)).max(40)
}

/// Labelled lines, one below the other; a line without a label goes on with the one above.
#[derive(Default)]
pub(crate) struct Facts(Vec<(String, String)>);

impl Facts {
    /// One more line.
    pub(crate) fn line(&mut self, label: &str, text: &str) {
        self.0.push((visible(label).into_owned(), visible(text).into_owned()));
    }

    /// The lines that every run has; an answer is doubtful that has a warning above it.
    pub(crate) fn run(&mut self, plan: &Plan, solution: &Solution, is_doubtful: bool) {
        let Solution { status, calls, .. } = *solution;
        // With its colours, which `line` would take away.
        let status_line = painted(solution, is_doubtful) + &optimality(plan, solution);
        self.0.push(("status".to_owned(), status_line));
        if !is_exact(solution) {
            self.line("", &plan.advice(status));
        }
        let rule = plan.run.settings.rule().map_or(String::new(), |rule| format!(", {rule}"));
        match &plan.run.chosen {
            None => self
                .line("method", &format!("{}{rule}, seed {}", plan.run.info.title, plan.run.seed)),
            Some(Chosen { reason, fallbacks }) => {
                self.line("method", &format!("auto: {} ({reason})", plan.run.info.name));
                for Attempt { candidate, gave_up, .. } in fallbacks {
                    self.line(
                        "",
                        &format!(
                            "after {} ({}), which {}",
                            candidate.method,
                            candidate.reason,
                            gave_up.words()
                        ),
                    );
                }
            }
        }
        let settings = plan.run.settings.line();
        if !settings.is_empty() {
            self.line("", &settings);
        }
        if let Some(bars) = sparkline::convergence(&solution.trace) {
            self.line("convergence", &bars);
        }
        self.line(
            "oracle calls",
            &format!(
                "{} (f {}, f' {}, phi {})",
                grouped(calls.total()),
                grouped(calls.f),
                grouped(calls.jacobian),
                grouped(calls.merit)
            ),
        );
        self.line(
            "time",
            &format!(
                "{} for {} outer and {} inner iterations",
                duration(solution.seconds),
                grouped(solution.outer),
                grouped(solution.inner)
            ),
        );
    }

    /// All lines, wrapped at the terminal's width.
    pub(crate) fn text(&self) -> String {
        let room = width().min(WIDEST_PROSE) - LABEL;
        let mut out = String::new();
        for (label, text) in &self.0 {
            for (k, line) in wrap(text, room).iter().enumerate() {
                let label = if k == 0 { label } else { "" };
                // Writing to a string does not fail.
                let _ = writeln!(out, "{label:LABEL$}{line}");
            }
        }
        out
    }

    /// Labels and texts, without colours.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&str, String)> {
        self.0
            .iter()
            .map(|(label, text)| (label.as_str(), console::strip_ansi_codes(text).into_owned()))
    }
}

/// The status in a few words, which say no more than is known: 'solved' is for what is proven.
pub(crate) fn outcome(solution: &Solution, is_doubtful: bool) -> &'static str {
    match (solution.status, solution.certificate.measure) {
        (Status::Solved, _) if is_doubtful => "tolerance reached, with a warning above",
        (Status::Solved, Measure::Stationarity) => "stationary point reached",
        (status, _) => status.title(),
    }
}

/// A relative gap or stationarity below which another digit is not worth advice.
const NO_MORE: f64 = 1e-12;

/// Whether no more digits can be proven, or all that are printed are known: nothing is to be
/// advised then.
pub(crate) fn is_exact(solution: &Solution) -> bool {
    let Certificate { is_rounding, relative, .. } = solution.certificate;
    solution.status == Status::Solved && (is_rounding || relative.is_some_and(|r| r <= NO_MORE))
}

/// In colour where standard output is a terminal and `NO_COLOR` is not set.
fn painted(solution: &Solution, is_doubtful: bool) -> String {
    let title = style(outcome(solution, is_doubtful)).bold();
    let painted = match solution.status {
        _ if is_doubtful => title.yellow(),
        Status::Solved | Status::TargetReached => title.green(),
        Status::Diverged | Status::Unbounded | Status::Failed => title.red(),
        _ => title.yellow(),
    };
    painted.to_string()
}

/// `, within 3.2e-11 of the optimum (duality gap; relative 1.1e-10, tolerance 1e-6)`, or why that
/// cannot be said.
fn optimality(plan: &Plan, solution: &Solution) -> String {
    let Certificate { measure, gap, relative, is_rounding, reason, .. } = solution.certificate;
    let Some(tolerance) = plan.run.stop.tolerance else { return String::new() };
    let reason = reason.map_or(String::new(), |reason| reason.to_string());
    match (gap, measure, relative) {
        (Some(gap), _, Some(relative)) => {
            let end = proofs_end(is_rounding, &reason);
            let among = solution
                .certificate
                .hypothesis()
                .map_or(String::new(), |words| format!(" {words}"));
            format!(
                ", within {gap:.1e} of the optimum{among} ({}; relative {relative:.1e}, tolerance \
                 {tolerance:e}{end})",
                measure.title()
            )
        }
        (_, Measure::Stationarity, Some(relative)) => format!(
            ", relative stationarity {relative:.1e} (tolerance {tolerance:e}; no distance from the \
             optimum can be proven: {reason})"
        ),
        _ if !reason.is_empty() => format!(", no distance from the optimum proven: {reason}"),
        _ => String::new(),
    }
}

/// Why there is no better proof.
pub(crate) fn proofs_end(is_rounding: bool, reason: &str) -> String {
    match (is_rounding, reason) {
        (true, _) => "; double precision can prove no better".to_owned(),
        (false, "") => String::new(),
        (false, reason) => format!("; {reason}"),
    }
}

/// The largest coordinates of a direction, the largest of all as 1 or -1.
pub(crate) fn direction(names: &[String], direction: &[f64]) -> String {
    const SHOWN: usize = 6;
    // A run may have coordinates behind those of the answer, which have no name.
    let named = if names.is_empty() { direction.len() } else { names.len() };
    let direction = &direction[..named.min(direction.len())];
    let largest = direction.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let mut order: Vec<usize> = (0..direction.len()).filter(|l| direction[*l] != 0.0).collect();
    order.sort_by(|a, b| direction[*b].abs().total_cmp(&direction[*a].abs()));
    let word = |l: &usize| {
        let name = names.get(*l).map_or_else(|| format!("theta {l}"), Clone::clone);
        format!("{name} {}", significant(direction[*l] / largest, 3))
    };
    let shown: Vec<String> = order.iter().take(SHOWN).map(word).collect();
    let rest = if order.len() > SHOWN {
        format!(" and {} more", order.len() - SHOWN)
    } else {
        String::new()
    };
    shown.join(", ") + &rest
}

/// A paragraph with a hanging indent, such as `note: ...`.
pub(crate) fn paragraph(label: &str, text: &str) -> String {
    let indent = label.len() + 1;
    let lines = wrap(&visible(text), width().min(WIDEST_PROSE) - indent);
    let mut out = String::new();
    for (k, line) in lines.iter().enumerate() {
        let label = if k == 0 { label } else { "" };
        let _ = writeln!(out, "{label:indent$}{line}");
    }
    out
}

/// Breaks at blanks. Long words, such as paths, are left whole.
fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always a line");
        let taken = console::measure_text_width(line);
        if taken == 0 {
            line.push_str(word);
        } else if taken + 1 + console::measure_text_width(word) <= room {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// 0.42 s, 12 ms
pub(crate) fn duration(seconds: f64) -> String {
    if seconds < 0.1 { format!("{:.1} ms", seconds * 1e3) } else { format!("{seconds:.2} s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_breaks_at_blanks() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("averyverylongword x", 7), ["averyverylongword", "x"]);
        assert_eq!(wrap("", 7), [""]);
    }
}

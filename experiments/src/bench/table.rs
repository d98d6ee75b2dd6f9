//! Ratios, targets and verdicts, as a table and as JSON.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::contest::{Entrant, Outcome};
use super::parts::Size;

/// One claim and what was measured.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Claim {
    /// Of which part of the benchmark.
    pub part: String,
    /// At which size; empty where there is one.
    #[serde(default)]
    pub size: String,
    /// What is measured.
    pub what: String,
    /// Ours, in words.
    pub ours: String,
    /// What it is compared with, in words.
    pub other: String,
    /// The number.
    pub value: Option<f64>,
    /// What it should be at most or, with `at_least`, at least; none if it is for information.
    pub target: Option<f64>,
    /// Whether larger is better.
    pub at_least: bool,
    /// pass, miss, or why neither.
    pub verdict: Verdict,
    /// Why it is missed or not measured.
    pub note: String,
}

/// What to make of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The target is met.
    Pass,
    /// It is not.
    Miss,
    /// There is none.
    Information,
    /// There is no number.
    NotMeasured,
}

impl Verdict {
    /// Of a value, which should be at most or at least the target.
    pub fn of(value: Option<f64>, target: Option<f64>, at_least: bool) -> Self {
        match (value, target) {
            (None, _) => Verdict::NotMeasured,
            (Some(_), None) => Verdict::Information,
            (Some(value), Some(target)) if value == target || (value > target) == at_least => {
                if value.is_nan() {
                    Verdict::NotMeasured
                } else {
                    Verdict::Pass
                }
            }
            _ => Verdict::Miss,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Miss => "**miss**",
            Verdict::Information => "",
            Verdict::NotMeasured => "not measured",
        }
    }
}

impl Claim {
    /// A number that should be at most the target.
    pub fn at_most(part: &str, what: &str, value: Option<f64>, target: Option<f64>) -> Self {
        Claim {
            part: part.to_owned(),
            size: String::new(),
            what: what.to_owned(),
            ours: String::new(),
            other: String::new(),
            value,
            target,
            at_least: false,
            verdict: Verdict::of(value, target, false),
            note: String::new(),
        }
    }

    /// A number that should be at least the target.
    pub fn at_least(part: &str, what: &str, value: Option<f64>, target: Option<f64>) -> Self {
        let verdict = Verdict::of(value, target, true);
        Claim { at_least: true, verdict, ..Self::at_most(part, what, value, target) }
    }

    /// The time of `ours` as part of that of `other`.
    pub fn time(part: &str, ours: &Entrant, other: Option<&Entrant>, target: Option<f64>) -> Self {
        let Some(other) = other else {
            let what = "time against the fastest peer";
            return Claim {
                ours: text(ours),
                note: "no peer reached the gap".to_owned(),
                ..Self::at_most(part, what, None, target)
            };
        };
        if let (None, Some(ours_took), Some(limit)) =
            (other.seconds, ours.seconds, other.stopped_after)
        {
            let note = format!("less than that: no peer within {}", seconds(limit));
            let what = format!("time / {}", other.name);
            return Claim {
                ours: text(ours),
                other: format!("> {}", seconds(limit)),
                note,
                ..Self::at_most(part, &what, Some(ours_took / limit), target)
            };
        }
        let ratio = |of: fn(&Entrant) -> Option<f64>| {
            of(ours).zip(of(other)).map(|(ours, other)| ours / other)
        };
        let least =
            ratio(|entrant| entrant.least_seconds).zip(ratio(|entrant| entrant.cpu_seconds));
        let note = [&ours.note, &other.note].into_iter().find(|note| !note.is_empty()).cloned();
        let note = note.or_else(|| {
            least.map(|(least, cpu)| {
                format!("{} of least times, {} of all threads'", number(least), number(cpu))
            })
        });
        Claim {
            ours: text(ours),
            other: text(other),
            note: note.unwrap_or_default(),
            ..Self::at_most(
                part,
                &format!("time / {}", other.name),
                ratio(|entrant| entrant.seconds),
                target,
            )
        }
    }

    /// At a size.
    #[must_use]
    pub fn sized(self, size: Size) -> Self {
        Claim { size: size.name().to_owned(), ..self }
    }

    /// With a word on it.
    #[must_use]
    pub fn noted(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }
}

fn text(entrant: &Entrant) -> String {
    entrant.seconds.map_or_else(|| "—".to_owned(), seconds)
}

/// A time with three digits.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        s if s >= 100.0 => format!("{s:.0} s"),
        s if s >= 10.0 => format!("{s:.1} s"),
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 0.1 => format!("{:.0} ms", 1e3 * s),
        s if s >= 0.01 => format!("{:.1} ms", 1e3 * s),
        s if s >= 0.001 => format!("{:.2} ms", 1e3 * s),
        s => format!("{:.0} µs", 1e6 * s),
    }
}

/// A number with three digits.
fn number(x: f64) -> String {
    match x.abs() {
        a if a >= 100.0 => format!("{x:.0}"),
        a if a >= 10.0 => format!("{x:.1}"),
        _ => format!("{x:.2}"),
    }
}

/// A table in markdown, its columns aligned for those who read it as text.
pub fn markdown(header: &[&str], rows: &[Vec<String>]) -> String {
    let width = |k: usize| {
        let cells = rows.iter().map(|row| row[k].chars().count());
        cells.chain([header[k].chars().count(), 3]).max().unwrap_or(3)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let mut out = String::new();
    let mut line = |cells: Vec<&str>| {
        let padded: Vec<String> =
            cells.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}")).collect();
        let _ = writeln!(out, "| {} |", padded.join(" | "));
    };
    line(header.to_vec());
    let rules: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
    line(rules.iter().map(String::as_str).collect());
    for row in rows {
        line(row.iter().map(String::as_str).collect());
    }
    out
}

/// The table of claims.
pub fn claims(claims: &[Claim]) -> String {
    let rows: Vec<Vec<String>> = claims
        .iter()
        .map(|claim| {
            let sign = if claim.at_least { "≥" } else { "≤" };
            vec![
                claim.part.clone(),
                claim.size.clone(),
                claim.what.clone(),
                claim.ours.clone(),
                claim.other.clone(),
                claim.value.map_or_else(|| "—".to_owned(), number),
                claim.target.map_or_else(String::new, |target| format!("{sign} {target}")),
                claim.verdict.word().to_owned(),
                claim.note.clone(),
            ]
        })
        .collect();
    let header =
        ["part", "size", "measured", "ours", "other", "value", "target", "verdict", "note"];
    markdown(&header, &rows)
}

/// All who took part in one contest.
pub fn outcome(outcome: &Outcome) -> String {
    let fastest = outcome.ours().seconds;
    let rows: Vec<Vec<String>> = outcome
        .entrants
        .iter()
        .map(|entrant| {
            let ratio = entrant.seconds.zip(fastest).map(|(theirs, ours)| number(theirs / ours));
            let remark = match &entrant.ours {
                Some(run) => format!("{} passes by {}", number(run.passes), run.method),
                None => entrant.note.clone(),
            };
            let setting = match &entrant.setting {
                Value::Null => String::new(),
                setting => setting
                    .as_f64()
                    .filter(|x| *x < 0.1)
                    .map_or(setting.to_string(), |x| format!("{x:.0e}")),
            };
            vec![
                entrant.name.clone(),
                setting,
                text(entrant),
                entrant.least_seconds.map_or_else(|| "—".to_owned(), seconds),
                entrant.cpu_seconds.map_or_else(|| "—".to_owned(), seconds),
                ratio.unwrap_or_else(|| "—".to_owned()),
                entrant.gap.map_or_else(|| "—".to_owned(), |gap| format!("{:.1e}", gap.max(0.0))),
                entrant.runs.to_string(),
                remark,
            ]
        })
        .collect();
    let header = [
        "who",
        "setting",
        "time",
        "least",
        "of all threads",
        "times ours",
        "relative gap",
        "runs",
        "",
    ];
    format!(
        "{}, relative gap {:e}; the two references agree to {:.0e}\n\n{}",
        outcome.sizes,
        outcome.gap,
        outcome.spread,
        markdown(&header, &rows)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entrant(name: &str, seconds: Option<f64>) -> Entrant {
        Entrant {
            name: name.to_owned(),
            setting: Value::Null,
            seconds,
            least_seconds: seconds,
            cpu_seconds: seconds.map(|s| 2.0 * s),
            runs: 5,
            gap: Some(1e-7),
            ours: None,
            note: String::new(),
            stopped_after: None,
        }
    }

    #[test]
    fn verdicts() {
        assert_eq!(Verdict::of(Some(0.9), Some(1.0), false), Verdict::Pass);
        assert_eq!(Verdict::of(Some(1.0), Some(1.0), false), Verdict::Pass);
        assert_eq!(Verdict::of(Some(1.1), Some(1.0), false), Verdict::Miss);
        assert_eq!(Verdict::of(Some(1.9), Some(1.8), true), Verdict::Pass);
        assert_eq!(Verdict::of(Some(1.7), Some(1.8), true), Verdict::Miss);
        assert_eq!(Verdict::of(None, Some(1.0), false), Verdict::NotMeasured);
        assert_eq!(Verdict::of(Some(f64::NAN), Some(1.0), false), Verdict::NotMeasured);
        assert_eq!(Verdict::of(Some(3.0), None, false), Verdict::Information);
    }

    #[test]
    fn ratios_are_ours_over_the_other() {
        let claim = Claim::time(
            "p",
            &entrant("ours", Some(0.3)),
            Some(&entrant("numpy", Some(0.6))),
            Some(1.0),
        );
        assert_eq!((claim.value, claim.verdict), (Some(0.5), Verdict::Pass));
        assert_eq!((claim.ours.as_str(), claim.other.as_str()), ("300 ms", "600 ms"));
        assert_eq!(claim.what, "time / numpy");
        assert_eq!(claim.note, "0.50 of least times, 0.50 of all threads'");
        let missing =
            Claim::time("p", &entrant("ours", None), Some(&entrant("numpy", Some(0.6))), Some(1.0));
        assert_eq!(missing.verdict, Verdict::NotMeasured);
        assert_eq!(
            Claim::time("p", &entrant("ours", Some(1.0)), None, Some(1.0)).verdict,
            Verdict::NotMeasured
        );
    }

    #[test]
    fn tables_line_up() {
        let text = markdown(
            &["a", "long name"],
            &[vec!["x".into(), "1".into()], vec!["µµµµ".into(), String::new()]],
        );
        let lengths: Vec<usize> = text.lines().map(|line| line.chars().count()).collect();
        assert_eq!(lengths, [20, 20, 20, 20]);
        assert!(text.starts_with("| a    | long name |\n| ---- | --------- |\n"));
        let text = claims(&[Claim::at_least("kernels", "two threads", Some(1.85), Some(1.8))]);
        assert!(
            text.contains("| 1.85 ") && text.contains("≥ 1.8") && text.contains("pass"),
            "{text}"
        );
    }

    #[test]
    fn times_have_three_digits() {
        assert_eq!(
            [0.000_012, 0.001_234, 0.0123, 0.123, 1.234, 12.34, 123.4].map(seconds),
            ["12 µs", "1.23 ms", "12.3 ms", "123 ms", "1.23 s", "12.3 s", "123 s"]
        );
    }
}

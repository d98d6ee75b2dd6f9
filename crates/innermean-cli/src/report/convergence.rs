//! The course of runs, as pages and pictures show it.

use std::fmt::Write as _;

use innermean::Record;

use super::html::json_text;
use crate::plot::{self, Figure, thin};

/// The course of one or several runs on one or several problems.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Convergence {
    /// What may be counted along x.
    pub(crate) x: Vec<&'static str>,
    /// What may be shown along y.
    pub(crate) y: Vec<Quantity>,
    /// What these are, in whole sentences.
    pub(crate) about: Vec<String>,
    /// One for each problem.
    pub(crate) panels: Vec<Panel>,
}

/// Something that falls.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Quantity {
    pub(crate) title: String,
    /// Whether it is best seen on a logarithmic axis.
    pub(crate) log: bool,
}

/// One problem.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Panel {
    /// May be empty where there is one.
    pub(crate) title: String,
    pub(crate) courses: Vec<Course>,
}

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Course {
    /// The method; runs of one name look alike.
    pub(crate) name: String,
    /// What tells it from others of its name.
    pub(crate) note: String,
    /// For each of [`Convergence::x`].
    pub(crate) x: Vec<Vec<f64>>,
    /// For each of [`Convergence::y`].
    pub(crate) y: Vec<Vec<f64>>,
}

/// Along x: the calls that the paper counts, the method's own seconds, and rows read over rows that
/// there are.
pub(crate) const CALLS: &str = "oracle calls";
pub(crate) const SECONDS: &str = "seconds";
pub(crate) const EPOCHS: &str = "epochs";

/// Points on all curves of a page: with three counts and two quantities, about two megabytes.
const MOST_POINTS: usize = 36_000;
/// Fewer would not show the shape of a curve, more would not be seen.
const STRIPS: std::ops::RangeInclusive<usize> = 12..=250;

impl Convergence {
    /// The course of a single run; `rows` is how many a pass over the data reads.
    pub(crate) fn of_run(
        name: &str,
        note: String,
        trace: &[Record],
        rows: u64,
        measure: &str,
    ) -> Self {
        let lowest = trace.iter().map(|record| record.objective).fold(f64::INFINITY, f64::min);
        let above: Vec<f64> = trace.iter().map(|record| record.objective - lowest).collect();
        // A run that begins at its end, as one behind a search may.
        let is_flat = above.iter().all(|above| *above == 0.0);
        let objective = trace.iter().map(|record| record.objective).collect();
        let above_lowest = Quantity { title: "objective − lowest found".to_owned(), log: true };
        let itself = Quantity { title: "objective".to_owned(), log: false };
        let (mut y, mut values) = (vec![above_lowest, itself], vec![above, objective]);
        let mut about = Vec::new();
        if trace.iter().any(|record| record.gap.is_some()) {
            y.insert(0, Quantity { title: "proven gap".to_owned(), log: true });
            values.insert(0, trace.iter().map(|record| record.gap.unwrap_or(f64::NAN)).collect());
            about.push(format!("The proven gap is a bound on the objective minus the optimum, for the best point so far ({measure})."));
        } else if is_flat {
            about.push(
                "No distance from the optimum is proven, and the objective is that of the start."
                    .to_owned(),
            );
        } else {
            about.push("No distance from the optimum is proven; the objective is shown above the lowest that this run found, which says nothing about the optimum itself.".to_owned());
        }
        if is_flat {
            let place = y.len() - 2;
            y.remove(place);
            values.remove(place);
        }
        let course = Course { name: name.to_owned(), note, x: counts(trace, rows), y: values };
        Convergence {
            x: vec![CALLS, SECONDS, EPOCHS],
            y,
            about,
            panels: vec![Panel { title: String::new(), courses: vec![course] }],
        }
    }

    /// A picture of the first quantity against the first count.
    pub(crate) fn figure(&self, title: &str) -> Figure {
        let panels = self.panels.iter().map(|panel| plot::Panel {
            title: panel.title.clone(),
            curves: panel
                .courses
                .iter()
                .map(|course| plot::Curve {
                    name: course.name.clone(),
                    points: course.x[0].iter().copied().zip(course.y[0].iter().copied()).collect(),
                })
                .collect(),
        });
        let panels: Vec<plot::Panel> = panels.collect();
        // Wider than high, as pages are; 18 panels stand six in a row.
        let columns = (2.0 * panels.len() as f64).sqrt().round() as usize;
        Figure {
            title: title.to_owned(),
            x: self.x.first().copied().unwrap_or_default().to_owned(),
            y: self.y.first().map(|quantity| quantity.title.clone()).unwrap_or_default(),
            panels,
            columns,
            by_ratios: false,
        }
    }

    /// The names of all runs, in the order of their first appearance.
    fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for course in self.panels.iter().flat_map(|panel| &panel.courses) {
            if !names.contains(&course.name.as_str()) {
                names.push(&course.name);
            }
        }
        names
    }

    /// Whether there is anything to draw.
    pub(crate) fn is_empty(&self) -> bool {
        self.panels.iter().all(|panel| panel.courses.is_empty())
    }

    /// For the page's script, with no more points than it can carry.
    pub(super) fn json(&self) -> String {
        let names = self.names();
        let courses: usize = self.panels.iter().map(|panel| panel.courses.len()).sum();
        let strips = (MOST_POINTS / courses.max(1) / 8).clamp(*STRIPS.start(), *STRIPS.end());
        let mut out = String::from("{\"x\":[");
        list(&mut out, &self.x, |out, title| out.push_str(&json_text(title)));
        out.push_str("],\"y\":[");
        list(&mut out, &self.y, |out, quantity| {
            // Writing to a string does not fail.
            let _ = write!(
                out,
                "{{\"title\":{},\"log\":{}}}",
                json_text(&quantity.title),
                quantity.log
            );
        });
        out.push_str("],\"names\":[");
        list(&mut out, &names, |out, name| out.push_str(&json_text(name)));
        out.push_str("],\"panels\":[");
        list(&mut out, &self.panels, |out, panel| {
            let _ = write!(out, "{{\"title\":{},\"runs\":[", json_text(&panel.title));
            list(out, &panel.courses, |out, course| course.json(out, &names, strips));
            out.push_str("]}\n");
        });
        out + "]}"
    }
}

impl Course {
    fn json(&self, out: &mut String, names: &[&str], strips: usize) {
        let kept = thin::thinned(&self.x[0], &self.y[0], strips);
        let name = names.iter().position(|name| *name == self.name).unwrap_or(0);
        let _ = write!(out, "{{\"name\":{name},\"note\":{}", json_text(&self.note));
        for (key, columns) in [("x", &self.x), ("y", &self.y)] {
            let _ = write!(out, ",\"{key}\":[");
            list(out, columns, |out, column| {
                out.push('[');
                list(out, &kept, |out, k| out.push_str(&number(column[*k])));
                out.push(']');
            });
            out.push(']');
        }
        out.push('}');
    }
}

/// Calls, seconds and epochs.
pub(crate) fn counts(trace: &[Record], rows: u64) -> Vec<Vec<f64>> {
    let rows = rows.max(1) as f64;
    vec![
        trace.iter().map(|record| record.calls.total() as f64).collect(),
        trace.iter().map(|record| record.seconds).collect(),
        trace.iter().map(|record| record.rows as f64 / rows).collect(),
    ]
}

fn list<T>(out: &mut String, items: &[T], mut write: impl FnMut(&mut String, &T)) {
    for (k, item) in items.iter().enumerate() {
        if k > 0 {
            out.push(',');
        }
        write(out, item);
    }
}

/// Five digits, in as few letters as they take; null where there is no number.
fn number(value: f64) -> String {
    if !value.is_finite() {
        return "null".to_owned();
    }
    if value.fract() == 0.0 && value.abs() < 1e5 {
        return format!("{}", value + 0.0);
    }
    let text = format!("{value:.4e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    let plain = format!("{}", text.parse::<f64>().unwrap_or(value));
    let short = format!("{digits}e{exponent}");
    if plain.len() <= short.len() { plain } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let shown =
            [0.0, -0.0, 12.0, 0.5, 1_234_567.0, 1.0 / 3.0, 1e-10, 2.0e300, f64::NAN].map(number);
        assert_eq!(shown, ["0", "0", "12", "0.5", "1234600", "0.33333", "1e-10", "2e300", "null"]);
    }

    #[test]
    fn eighteen_panels_of_eight_methods_fit_into_a_page() {
        let course = |k: usize| Course {
            name: format!("method {k}"),
            note: "seed 0".to_owned(),
            x: (0..3)
                .map(|c| (0..20_000).map(|k| f64::from(k) * (1.3 + f64::from(c))).collect())
                .collect(),
            y: vec![
                (0..20_000)
                    .map(|j| (-f64::from(j) * 1e-3).exp() * (1.5 + f64::from(j).sin()))
                    .collect(),
            ],
        };
        let panel =
            |p: usize| Panel { title: format!("p{p}"), courses: (0..8).map(course).collect() };
        let all = Convergence {
            x: vec![CALLS, SECONDS, EPOCHS],
            y: vec![Quantity { title: "gap".to_owned(), log: true }],
            about: Vec::new(),
            panels: (0..18).map(panel).collect(),
        };
        let json = all.json();
        assert!((500_000..2_500_000).contains(&json.len()), "{}", json.len());
        serde_json::from_str::<serde_json::Value>(&json).expect("it is JSON");
        assert_eq!(all.figure("all").columns, 6);
    }
}

//! A method with one setting beside the same method without it, on a list of problems.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::cases::{Loss, Penalty, Shape};
use super::contest::{Entry, GAPS, Took, contest, geometric_mean};

/// Names of the two entries that are compared, and all that are shown.
pub struct Versus<'a> {
    /// The part of the report
    pub title: &'a str,
    /// What was asked
    pub text: &'a str,
    /// The first is divided by the second
    pub entries: &'a [Entry<'a>],
    /// Passes and seconds at most
    pub limits: (f64, f64),
}

fn cell(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"))
}

impl Versus<'_> {
    /// The table and its sum.
    pub fn report(&self, shapes: &[Shape]) -> (String, Value) {
        let names: Vec<&str> = self.entries.iter().map(|entry| entry.0).collect();
        let mut text = format!(
            "## {}\n\n{} Passes to gaps of {:.0e} and {:.0e}; at most {} passes or {} \
             seconds.\n\n| problem | {} | ratio |\n|---|{}---|\n",
            self.title,
            self.text,
            GAPS[0],
            GAPS[1],
            self.limits.0,
            self.limits.1,
            names.join(" | "),
            "---|".repeat(names.len())
        );
        let (mut ratios, mut rows) = (Vec::new(), Vec::new());
        for shape in shapes {
            let case = shape.draw();
            let start = vec![0.0; case.problem.inner.d()];
            let (_, took) = contest(case.problem.erased(), &start, self.entries, 1, self.limits);
            let find = |name: &str| took.iter().find(|took| took.method == name);
            let passes = |took: Option<&Took>, gap: usize| took.and_then(|took| took.passes[gap]);
            let ratio = passes(find(names[0]), 0)
                .zip(passes(find(names[1]), 0))
                .map(|(with, without)| with / without);
            ratios.extend(ratio);
            let cells: Vec<String> = names
                .iter()
                .map(|name| {
                    let took = find(name);
                    format!("{} / {}", cell(passes(took, 0)), cell(passes(took, 1)))
                })
                .collect();
            let ratio = ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"));
            let line = format!("| {} | {} | {ratio} |", case.name, cells.join(" | "));
            println!("{line}");
            text += &(line + "\n");
            rows.push(json!({ "problem": case.name, "methods": took }));
        }
        let mean = geometric_mean(&ratios);
        let worst = ratios.iter().copied().fold(0.0, f64::max);
        let mean = mean.map_or_else(|| "none".to_owned(), |mean| format!("{mean:.2}"));
        let sum = format!(
            "\n- calls to {:.0e} of {} over those of {}, where both arrive ({} problems): geometric \
             mean {mean}, most {worst:.2}\n\n",
            GAPS[0],
            names[0],
            names[1],
            ratios.len()
        );
        let _ = write!(text, "{sum}");
        print!("{sum}");
        (text, json!(rows))
    }
}

/// Problems that SVRPDA-II solves: moderate condition numbers, small and large groups.
pub fn moderate() -> Vec<Shape> {
    let mut seed = 300;
    let mut shapes = Vec::new();
    let sizes = [
        (50, 25, 20, 10.0),
        (50, 40, 20, 2e2),
        (50, 400, 20, 2e1),
        (100, 100, 20, 1e2),
        (100, 400, 30, 3e1),
        (500, 100, 40, 5e1),
        (200, 1000, 20, 1e2),
    ];
    for (groups, rows, width, kappa) in sizes {
        for loss in [Loss::Proportion, Loss::Counts, Loss::Square] {
            seed += 1;
            let penalty = Penalty::Ridge;
            shapes.push(Shape { loss, penalty, groups, rows, width, kappa, tail: 0.0, seed });
        }
    }
    shapes.truncate(20);
    shapes
}

/// Two problems for each condition number from 10 to 1e5, and two with more coordinates than are
/// mixed.
pub fn conditioned() -> Vec<Shape> {
    let mut seed = 400;
    let mut shapes = Vec::new();
    for kappa in [1e1, 1e2, 1e3, 1e4, 1e5] {
        for loss in [Loss::Proportion, Loss::Square] {
            seed += 1;
            let (groups, rows, width, penalty) = (50, 40, 20, Penalty::Ridge);
            shapes.push(Shape { loss, penalty, groups, rows, width, kappa, tail: 0.0, seed });
        }
    }
    for loss in [Loss::Proportion, Loss::Square] {
        seed += 1;
        let (groups, rows, width, penalty) = (100, 60, 100, Penalty::Ridge);
        shapes.push(Shape { loss, penalty, groups, rows, width, kappa: 1e3, tail: 0.0, seed });
    }
    shapes
}

/// What prototypes are tried on: moderate condition numbers, groups of very different scales, and
/// coefficients on a simplex, of few columns and of more.
pub fn tried() -> Vec<Shape> {
    let heavy = |shape: Shape| Shape { tail: 1.0, seed: shape.seed + 50, ..shape };
    let even: Vec<Shape> = conditioned().into_iter().take(6).collect();
    let tails: Vec<Shape> = even[..4].iter().copied().map(heavy).collect();
    let on_simplex = |(k, shape): (usize, &Shape)| Shape {
        penalty: Penalty::Simplex,
        width: if k < 2 { shape.width } else { 100 },
        seed: shape.seed + 90,
        ..*shape
    };
    let simplices: Vec<Shape> = even[..4].iter().enumerate().map(on_simplex).collect();
    [even, tails, simplices].concat()
}

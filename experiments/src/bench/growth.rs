//! Time and memory against the sizes of a problem.
//!
//! Each point is a process of its own, which draws the data, forgets how much memory that took,
//! builds the problem from the arrays and solves it to a relative gap of 1e-6: its seconds, passes
//! over the rows, and the most memory that it held meanwhile, the data included.

use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::cases::groups::GroupsCase;
use super::cases::linear::{LinearCase, Loss};
use super::cases::{Case, Task};
use super::table::{Claim, markdown, seconds};
use crate::timing::median;

/// What grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Curve {
    /// On the command line.
    pub name: &'static str,
    /// The first size.
    pub first: usize,
    /// How often it doubles.
    pub doublings: u32,
    /// What it says.
    pub what: &'static str,
    /// Whether time and memory should grow with it in proportion.
    pub linear: bool,
}

/// All curves.
pub const CURVES: &[Curve] = &[
    Curve {
        name: "n_x",
        first: 400,
        doublings: 6,
        what: "groups of 40 rows, 20 features, against n_X",
        linear: true,
    },
    Curve {
        name: "n_y",
        first: 160,
        doublings: 6,
        what: "100 groups, 20 features, against n_Y",
        linear: true,
    },
    Curve {
        name: "nnz",
        first: 8000,
        doublings: 6,
        what: "sparse logistic rows of 20 entries, 1000 columns, against n",
        linear: true,
    },
    Curve {
        name: "n",
        first: 8000,
        doublings: 6,
        what: "dense logistic rows, 30 features, against n",
        linear: true,
    },
    Curve {
        name: "d",
        first: 4,
        doublings: 6,
        what: "40 000 dense logistic rows, against d",
        linear: false,
    },
];

/// One point of a curve.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Point {
    /// The size.
    pub size: usize,
    /// From arrays to the solution.
    pub seconds: f64,
    /// Over the rows.
    pub passes: f64,
    /// The most memory, in MiB.
    pub mebibytes: f64,
}

/// A curve with its points.
#[derive(Debug, Clone, Serialize)]
pub struct Grown {
    /// Which.
    pub curve: Curve,
    /// Medians.
    pub points: Vec<Point>,
}

fn case(name: &str, size: usize) -> Result<Box<dyn Case>> {
    Ok(match name {
        "n_x" => Box::new(GroupsCase::new(size, 40, 20, false, 1)),
        "n_y" => Box::new(GroupsCase::new(100, size, 20, false, 1)),
        "nnz" => Box::new(LinearCase::sparse(size, 1000, 20, Loss::Logistic, 1)),
        "n" => Box::new(LinearCase::dense(size, 30, Loss::Logistic, 1)),
        "d" => Box::new(LinearCase::dense(40_000, size, Loss::Logistic, 1)),
        other => bail!("no such curve: {other}"),
    })
}

/// What the process of one point does; prints the point.
///
/// # Errors
/// If there is no such curve.
pub fn point(name: &str, size: usize, method: &'static str) -> Result<()> {
    let case = case(name, size)?;
    // 5 forgets the peak; without it the peak of drawing would count, which is smaller than that of
    // solving anyway.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let run = case.solve(&Task { method, tolerance: 1e-6, max_seconds: 600.0 });
    let point = Point {
        size,
        seconds: run.seconds,
        passes: run.passes,
        mebibytes: peak().unwrap_or(f64::NAN),
    };
    println!("{}", serde_json::to_string(&point)?);
    Ok(())
}

/// `VmHWM` in MiB.
fn peak() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<f64>().ok()? / 1024.0)
}

/// Measures a curve; `repeats` processes for each point.
///
/// # Errors
/// If a process fails.
pub fn measure(curve: Curve, method: &str, repeats: usize) -> Result<Grown> {
    let program = std::env::current_exe()?;
    let mut points = Vec::new();
    for doubling in 0..=curve.doublings {
        let size = curve.first << doubling;
        let mut runs: Vec<Point> = Vec::new();
        for _ in 0..repeats {
            let output = Command::new(&program)
                .args(["--point", curve.name, &size.to_string(), method])
                .output()?;
            let text = String::from_utf8_lossy(&output.stdout);
            runs.push(serde_json::from_str(text.trim()).with_context(|| {
                format!("{} {size}: {}", curve.name, String::from_utf8_lossy(&output.stderr))
            })?);
        }
        let middle = |of: fn(&Point) -> f64| median(runs.iter().map(of).collect());
        points.push(Point {
            size,
            seconds: middle(|p| p.seconds),
            passes: middle(|p| p.passes),
            mebibytes: middle(|p| p.mebibytes),
        });
    }
    Ok(Grown { curve, points })
}

impl Grown {
    /// By how much more than twice a quantity grows when the size doubles: on average, and at
    /// worst.
    fn growth(&self, of: impl Fn(&Point) -> f64) -> (f64, f64) {
        let factors: Vec<f64> =
            self.points.windows(2).map(|pair| of(&pair[1]) / of(&pair[0]) / 2.0).collect();
        let mean = factors.iter().map(|f| f.ln()).sum::<f64>() / factors.len() as f64;
        (mean.exp(), factors.into_iter().fold(0.0, f64::max))
    }

    /// Time and memory for each doubling.
    pub fn claims(&self) -> Vec<Claim> {
        let target = self.curve.linear.then_some(1.25);
        let claim = |what: &str, (mean, worst): (f64, f64)| {
            let what = format!("{what} per doubling of {} / 2, worst", self.curve.name);
            Claim::at_most("growth", &what, Some(worst), target)
                .noted(format!("{mean:.2} on average"))
        };
        vec![
            claim("time", self.growth(|p| p.seconds)),
            claim("time of a pass", self.growth(|p| p.seconds / p.passes)),
            claim("memory", self.growth(|p| p.mebibytes)),
        ]
    }

    /// The points.
    pub fn table(&self) -> String {
        let rows: Vec<Vec<String>> = self
            .points
            .iter()
            .map(|p| {
                vec![
                    p.size.to_string(),
                    seconds(p.seconds),
                    format!("{:.1}", p.passes),
                    seconds(p.seconds / p.passes),
                    format!("{:.0}", p.mebibytes),
                ]
            })
            .collect();
        let header = [self.curve.name, "time", "passes", "time of a pass", "MiB at most"];
        format!("{}\n\n{}", self.curve.what, markdown(&header, &rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::table::Verdict::{Miss, Pass};

    #[test]
    fn growth_is_measured_against_doubling() {
        let point = |size: usize, seconds: f64| Point {
            size,
            seconds,
            passes: 10.0,
            mebibytes: size as f64,
        };
        let points = vec![point(1, 1.0), point(2, 2.0), point(4, 6.0)];
        let grown = Grown { curve: CURVES[0], points };
        let (mean, worst) = grown.growth(|p| p.seconds);
        assert!((mean - 1.5_f64.sqrt()).abs() < 1e-12 && worst == 1.5);
        let verdicts: Vec<_> = grown.claims().iter().map(|claim| claim.verdict).collect();
        assert_eq!(verdicts, [Miss, Miss, Pass]);
        assert!(grown.table().contains("6.00 s"));
    }
}

//! Tests a problem of your own: f, phi and g against their definitions, in words.
//!
//! A sign or a factor that is wrong in a product, a conjugate or a prox does not crash: the methods
//! converge to something else, or not at all. [`check_problem`] asks every call at random points
//! and compares it with what the others say: products with differences of values, averages with the
//! values they average, a conjugate with Fenchel and Young, a prox with its optimality. What is
//! wrong is a [`Finding`], a sentence with the place, both numbers and the usual cause.
//!
//! ```
//! use innermean::{CheckOptions, Inner, Problem, Ridge, Square, check_problem};
//!
//! /// `f_theta(x_i, y_ij) = theta_0 y_ij`, with a sign wrong in f'.
//! struct Wrong(Vec<Vec<f64>>);
//!
//! impl Inner for Wrong {
//!     fn d(&self) -> usize { 1 }
//!     fn n_x(&self) -> usize { self.0.len() }
//!     fn n_y(&self, i: usize) -> usize { self.0[i].len() }
//!     fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) { out[0] = theta[0] * self.0[i][j]; }
//!     fn add_jac_t(&self, _: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
//!         out[0] -= c * w[0] * self.0[i][j];
//!     }
//! }
//!
//! let problem = Problem {
//!     inner: Wrong(vec![vec![1.0, 2.0], vec![3.0]]),
//!     merit: Square::new(1.0)?,
//!     regularizer: Ridge::from_weight(0.1)?,
//! };
//! let report = check_problem(&problem, &CheckOptions::default());
//! assert!(report.to_string().contains("add_jac_t has the opposite sign of what differences of value give"));
//! # Ok::<(), innermean::InvalidSetting>(())
//! ```

use std::fmt;

use crate::model::problem::Objective;

mod compare;
mod inner;
mod merit;
mod points;
mod regularizer;
mod structure;

use points::Points;

/// How hard to look.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckOptions {
    /// Random points theta at which f is asked.
    pub points: usize,
    /// Outer terms, and samples of each, that are looked at.
    pub pairs: usize,
    /// The size of the coordinates of random points.
    pub scale: f64,
    /// The middle of the random points: zeros if none is given. Give one where f or phi is not
    /// defined near zero.
    pub centre: Option<Vec<f64>>,
    /// By how much two numbers may differ that should be equal, relative to the numbers around
    /// them. Differences of values are not precise to more than about 1e-6.
    pub tolerance: f64,
    /// The seed of the random points.
    pub seed: u64,
}

impl Default for CheckOptions {
    fn default() -> Self {
        CheckOptions { points: 4, pairs: 5, scale: 1.0, centre: None, tolerance: 1e-5, seed: 0 }
    }
}

/// Which of the three is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// f
    Inner,
    /// phi
    Merit,
    /// g
    Regularizer,
}

impl fmt::Display for Part {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Part::Inner => "f",
            Part::Merit => "phi",
            Part::Regularizer => "g",
        })
    }
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// f, phi or g.
    pub part: Part,
    /// The call that is wrong.
    pub call: &'static str,
    /// What is wrong, where, both numbers and the usual cause: the first of its kind.
    pub message: String,
    /// At how many places the same call was wrong.
    pub places: usize,
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.part, self.message)?;
        if self.places > 1 {
            write!(out, " (and at {} more places)", self.places - 1)?;
        }
        Ok(())
    }
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct CheckReport {
    /// What is wrong; one finding for each call.
    pub findings: Vec<Finding>,
    /// What is not wrong and might be better.
    pub notes: Vec<String>,
    /// Comparisons made.
    pub comparisons: usize,
}

impl CheckReport {
    /// Whether nothing is wrong.
    pub fn is_ok(&self) -> bool {
        self.findings.is_empty()
    }

    /// # Panics
    /// With all findings, if there are any.
    pub fn assert_ok(&self) {
        assert!(self.is_ok(), "{self}");
    }

    fn wrong(&mut self, part: Part, call: &'static str, message: String) {
        match self.findings.iter_mut().find(|finding| finding.part == part && finding.call == call)
        {
            Some(finding) => finding.places += 1,
            None => self.findings.push(Finding { part, call, message, places: 1 }),
        }
    }
}

impl fmt::Display for CheckReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.findings.len() {
            0 => writeln!(out, "nothing is wrong in {} comparisons", self.comparisons)?,
            1 => writeln!(out, "one thing is wrong:")?,
            n => writeln!(out, "{n} things are wrong:")?,
        }
        for finding in &self.findings {
            writeln!(out, "- {finding}")?;
        }
        for note in &self.notes {
            writeln!(out, "note: {note}")?;
        }
        Ok(())
    }
}

/// Tests f, phi and g of `problem`. What is found first may be the cause of what is found later: f
/// before phi before g, values before products.
pub fn check_problem<'p>(problem: impl Into<Objective<'p>>, options: &CheckOptions) -> CheckReport {
    let problem = problem.into();
    let mut report = CheckReport::default();
    if !inner::dimensions(problem.inner, options, &mut report) {
        return report;
    }
    let mut points = Points::new(problem.inner, options);
    let thetas: Vec<Vec<f64>> =
        (0..options.points.max(2)).map(|_| problem.allowed(&points.theta())).collect();
    structure::samples(problem.inner, &thetas, &mut points, &mut report);
    inner::check(problem.inner, &thetas, &mut points, &mut report);
    structure::check(problem.inner, &thetas, &mut points, &mut report);
    merit::check(problem, &thetas, &mut points, &mut report);
    regularizer::check(problem.regularizer, &thetas, &mut points, &mut report);
    report
}

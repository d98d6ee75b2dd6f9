//! The compiled core of the Python package `innermean`: problems, runs and applications of the Rust
//! library behind a private module, `innermean._innermean`. What users see is Python above it
//! (`python/innermean`).
//!
//! A call takes numpy arrays of the right type and order, which Python has made sure of, and plain
//! settings as JSON; it returns arrays and plain values. Whatever computes runs beside the
//! interpreter ([`caller`]).

use pyo3::prelude::*;

mod apps;
mod arrays;
mod caller;
mod errors;
mod leaves;
mod own;
mod parts;
mod piece;
mod problem;
mod solution;
mod watch;

/// The private module.
#[pymodule]
mod _innermean {
    #[pymodule_export]
    use super::apps::{
        fit_bags, fit_linear, fit_moments, fit_policy, fit_portfolio, fit_sequences,
    };
    #[pymodule_export]
    use super::leaves::Leaves;
    #[pymodule_export]
    use super::own::curve::Curve;
    #[pymodule_export]
    use super::problem::{F, Phi, Problem};
    #[pymodule_export]
    use super::watch::Told;
    #[pymodule_export]
    use super::{methods, page, settings, version};
}

/// The version of the package.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The table of methods: name, title, family, summary, what it asks for, its settings.
#[pyfunction]
fn methods() -> Vec<[String; 6]> {
    let row = |row: &innermean::MethodInfo| {
        let asks: Vec<&str> = row.asks.iter().map(|ask| ask.words()).collect();
        let settings: Vec<&str> = row.settings.iter().map(|knob| knob.name()).collect();
        [
            row.name,
            row.title,
            row.family.title(),
            row.summary,
            &asks.join("; "),
            &settings.join(", "),
        ]
        .map(str::to_owned)
    };
    innermean::METHODS.iter().map(row).collect()
}

/// The style and the script of pages, those of the command line.
#[pyfunction]
fn page() -> (&'static str, &'static str) {
    (
        include_str!("../../innermean-cli/src/report/page.css"),
        include_str!("../../innermean-cli/src/report/page.js"),
    )
}

/// The names of the settings that methods may have.
#[pyfunction]
fn settings() -> Vec<&'static str> {
    innermean::Knob::ALL.iter().map(|knob| knob.name()).collect()
}

//! The tests of the applications from outside, in one program.

mod bags;
mod compare;
/// The independent solver of the library's tests.
#[allow(dead_code, reason = "the library's tests use all of it")]
#[path = "../../innermean/tests/support/conic.rs"]
mod conic;
mod linear;
mod policy;
mod portfolio;
mod portfolio_by_clarabel;
mod portfolio_risks;
mod portfolio_search;
mod portfolio_story;
mod runs;
mod sequences;
mod targets;
mod validation;

use innermean_apps::run::{Fit, Solver, Task, Watch};

/// Solved with the default settings, and a tolerance.
fn fit<T: Task>(task: &T, tolerance: f64) -> Fit<T::Answer> {
    let mut solver = Solver::default();
    solver.stop.tolerance = Some(tolerance);
    task.fit(&solver, Watch::by(&mut ())).expect("the settings suit")
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// A column of texts.
fn keys(texts: &[&str]) -> innermean_data::Keys {
    let mut keys = innermean_data::Keys { name: "column".to_owned(), ..Default::default() };
    for text in texts {
        let place = keys.names.iter().position(|name| name == text);
        keys.codes.push(place.unwrap_or(keys.names.len()) as u32);
        if place.is_none() {
            keys.names.push((*text).to_owned());
        }
    }
    keys
}

/// The refusal of something.
fn refused<T>(result: Result<T, innermean_apps::Error>) -> innermean_apps::Error {
    result.err().expect("it is refused")
}

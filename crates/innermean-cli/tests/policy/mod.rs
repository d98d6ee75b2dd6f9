//! The command `innermean policy`, driven as a user would.

mod answers;
mod bad_input;
mod chance;
mod double_sampling;
mod episodes;
mod files;
#[cfg(all(feature = "mat", feature = "parquet"))]
mod formats;
mod read_once;
mod rows;
mod sureness;

use crate::desk::{Desk, number, numbers};
use serde_json::Value;

fn desk() -> Desk {
    Desk::at("policy").with_predictions()
}

/// How far values lie from the closed form.
fn distance(answer: &Value) -> f64 {
    number(&answer["closed_form"]["values_distance"])
}

/// The value of a state.
fn value_of(answer: &Value, state: &str) -> f64 {
    let states = answer["states"].as_array().expect("states");
    let s = states
        .iter()
        .position(|name| name == state)
        .unwrap_or_else(|| panic!("{state} in {states:?}"));
    number(&answer["values"][s])
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-8 * (1.0 + b.abs())
}

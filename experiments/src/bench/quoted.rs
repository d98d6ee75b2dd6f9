//! What other programs of the project have measured, quoted with its target.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::table::Claim;

/// Automatic steps against the best of a grid, from `experiments/results/grid.json` (`--bin grid`).
pub fn grid(results: &Path) -> Vec<Claim> {
    let missing = |why: &str| {
        let what = "calls of automatic steps / best of the grid";
        vec![Claim::at_most("steps", what, None, Some(2.0)).noted(why)]
    };
    match read(&results.join("grid.json")) {
        None => missing("run `cargo run --release -p innermean-experiments --bin grid` first"),
        Some(_) => missing("results/grid.json is not understood"),
    }
}

/// The ratios of kernels, from `results/kernels.json` (`cargo bench -p innermean --bench ratios`).
pub fn kernels(results: &Path) -> Vec<Claim> {
    let _ = read(&results.join("kernels.json"));
    vec![
        Claim::at_most("kernels", "SVRPDA-I step / bare chain, d = 25", None, Some(1.6))
            .noted("run `cargo bench -p innermean --bench ratios` first"),
    ]
}

fn read(file: &Path) -> Option<Value> {
    serde_json::from_str(&fs::read_to_string(file).ok()?).ok()
}

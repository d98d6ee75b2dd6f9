//! Drives `innermean linear` as a user would.

use std::fmt::Write as _;
use std::fs;

use crate::desk::*;
use serde_json::Value;

mod answers;
mod bad_input;
#[cfg(target_os = "linux")]
mod limits;

fn desk() -> Desk {
    Desk::at("linear").with_predictions()
}

/// The objective by its formula: rows, targets (numbers, or -1 and 1), theta with an intercept at
/// the end if it is longer than a row.
fn objective(
    rows: &[Vec<f64>],
    targets: &[f64],
    theta: &[f64],
    loss: impl Fn(f64, f64) -> f64,
    l1: f64,
    l2: f64,
) -> f64 {
    let d = rows[0].len();
    let score = |row: &Vec<f64>| {
        row.iter().zip(theta).map(|(x, t)| x * t).sum::<f64>()
            + theta.get(d).copied().unwrap_or(0.0)
    };
    let losses: f64 = rows.iter().zip(targets).map(|(row, t)| loss(score(row), *t)).sum();
    let head = &theta[..d];
    losses / rows.len() as f64
        + l1 * head.iter().map(|t| t.abs()).sum::<f64>()
        + 0.5 * l2 * head.iter().map(|t| t * t).sum::<f64>()
}

/// A few rows of three features, of sizes a thousand apart, one of them far from zero; a number and
/// a class for each.
fn rows() -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut state = 12_345_u32;
    let mut draw = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1_u32 << 24) - 0.5
    };
    let rows: Vec<Vec<f64>> =
        (0..120).map(|_| vec![draw(), 2000.0 + 300.0 * draw(), 0.002 * draw()]).collect();
    let targets = rows
        .iter()
        .map(|row| 2.0 * row[0] + 0.01 * (row[1] - 2000.0) - 800.0 * row[2] + 0.4 + 0.5 * draw())
        .collect();
    (rows, targets)
}

/// As a table; the class is yes where the target is above 0.
fn csv(rows: &[Vec<f64>], targets: &[f64]) -> String {
    let mut text = "id,age,year,dose,y,class\n".to_owned();
    for (i, (row, t)) in rows.iter().zip(targets).enumerate() {
        let class = if *t > 0.0 { "yes" } else { "no" };
        let _ = writeln!(text, "r{i},{},{},{},{t},{class}", row[0], row[1], row[2]);
    }
    text
}

/// As sparse rows; labels are 1 and 2.
fn libsvm(rows: &[Vec<f64>], targets: &[f64], classes: bool) -> String {
    let mut text = String::new();
    for (row, t) in rows.iter().zip(targets) {
        let label = if classes { f64::from(1 + u8::from(*t > 0.0)) } else { *t };
        let _ = writeln!(text, "{label} 1:{} 2:{} 3:{}", row[0], row[1], row[2]);
    }
    text
}

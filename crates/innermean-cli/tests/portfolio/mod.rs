//! Drives the binary as a user would.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::desk::*;
use innermean_data::{Returns, generate_factor_model};
use serde_json::Value;

mod answers;
mod bad_input;
mod clashes;
mod file;
mod limits;
mod options;
mod output;
mod risks;
mod searched;
#[cfg(target_os = "linux")]
mod signals;

fn desk() -> Desk {
    Desk::at("portfolio")
}

/// The mean returns, written out.
fn means(returns: &Returns) -> Vec<f64> {
    let n = returns.rows() as f64;
    (0..returns.assets())
        .map(|l| (0..returns.rows()).map(|i| returns.row(i)[l]).sum::<f64>() / n)
        .collect()
}

/// `<x_i - m, theta>` for all i.
fn deviations(returns: &Returns, theta: &[f64]) -> Vec<f64> {
    let m = means(returns);
    let deviation =
        |i: usize| returns.row(i).iter().zip(&m).zip(theta).map(|((x, m), t)| (x - m) * t).sum();
    (0..returns.rows()).map(deviation).collect()
}

/// The mean of `phi` over the deviations.
fn risk(returns: &Returns, theta: &[f64], phi: impl Fn(f64) -> f64) -> f64 {
    deviations(returns, theta).into_iter().map(phi).sum::<f64>() / returns.rows() as f64
}

fn expected_return(returns: &Returns, theta: &[f64]) -> f64 {
    means(returns).iter().zip(theta).map(|(m, t)| m * t).sum()
}

fn assert_close(a: f64, b: f64, relative: f64) {
    assert!((a - b).abs() <= relative * a.abs().max(b.abs()).max(1e-300), "{a} and {b}");
}

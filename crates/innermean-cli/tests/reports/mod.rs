//! Pages and pictures, as a user gets them; pages are opened in Chromium where there is one.

mod browser;
mod in_browser;
mod pages;
mod portfolios;
mod refused;
mod reproduction;

use crate::desk::*;

/// Eight names, as of methods.
const NAMES: [&str; 8] =
    ["svrpda1", "svrpda2", "comp-svrg1", "comp-svrg2", "gd", "ascvrg", "lbfgs", "spdc"];

/// A trace of this many lines in a file of its own, with gaps that fall at a rate.
fn store(desk: &Desk, file: &str, lines: u32, rate: f64) {
    use std::fmt::Write as _;
    let mut text = String::new();
    for k in 0..lines {
        let t = f64::from(k) / f64::from(lines);
        let gap = 0.8 * (-rate * t).exp() * (1.3 + (37.0 * t).sin());
        let _ = writeln!(
            text,
            "{{\"outer\":{k},\"inner\":{},\"calls\":{},\"rows\":{},\"seconds\":{},\"objective\":{},\"optimality\":null,\"epochs\":{},\"gap\":{gap}}}",
            100 * k,
            14_480 * k,
            7240 * k,
            0.001_234_5 * f64::from(k),
            gap - 0.25,
            f64::from(k)
        );
    }
    if let Some(folder) = desk.path().join(file).parent() {
        std::fs::create_dir_all(folder).expect("a folder");
    }
    desk.file(file, &text);
}

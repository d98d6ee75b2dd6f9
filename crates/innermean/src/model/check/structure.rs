//! What f says about itself: structure and bounds.

use super::compare::number;
use super::points::Points;
use super::{CheckReport, Part};
use crate::linalg::vector::{distance_squared, norm_squared};
use crate::model::inner::{Bounds, Inner, PairRows, Sample};

/// Beyond rounding.
const BEYOND_ROUNDING: f64 = 1e-7;

fn value(f: &dyn Inner, theta: &[f64], i: usize, j: usize) -> Vec<f64> {
    let mut out = vec![0.0; f.ell()];
    f.value(theta, i, j, &mut out);
    out
}

fn product(f: &dyn Inner, theta: &[f64], i: usize, j: usize, w: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; f.d()];
    f.add_jac_t(theta, i, j, w, 1.0, &mut out);
    out
}

fn norm(x: &[f64]) -> f64 {
    norm_squared(x).sqrt()
}

/// The first coordinate in which two vectors differ clearly, of the size of what they are made of.
fn differs(a: &[f64], b: &[f64], size: f64) -> Option<usize> {
    (0..a.len()).find(|&c| (a[c] - b[c]).abs() > BEYOND_ROUNDING * size)
}

pub(super) fn check(
    f: &dyn Inner,
    thetas: &[Vec<f64>],
    points: &mut Points,
    report: &mut CheckReport,
) {
    let structure = f.facts();
    let mut bent = false;
    for (k, a) in thetas.iter().enumerate() {
        let b = &thetas[(k + 1) % thetas.len()];
        for (i, j) in points.pairs(f) {
            let w = points.vector(f.ell());
            bent |= affine(f, [a, b], (i, j), &w, structure.affine, report);
            bounds(f, [a, b], (i, j), &w, report);
            support(f, [a, b], (i, j), &w, report);
            pair_rows(f, [a, b], (i, j), report);
        }
    }
    if !structure.affine && !bent {
        report.notes.push(
            "f is affine at all points that were looked at; saying so in structure saves half of \
             the work and allows more methods."
                .to_owned(),
        );
    }
}

/// Compares what f lends as the rows of its pairs with how its values differ.
fn pair_rows(f: &dyn Inner, [a, b]: [&[f64]; 2], (i, j): (usize, usize), report: &mut CheckReport) {
    let Some(lent) = f.pair_rows() else { return };
    let (PairRows::Own(rows) | PairRows::Differences(rows, _)) = lent;
    let (n_x, d) = (f.n_x(), f.d());
    let samples = if matches!(lent, PairRows::Own(_)) { 1 } else { n_x };
    let fits = f.ell() == 1 && rows.len() == n_x * d && f.n_y(i) == samples;
    if !fits || !f.facts().affine {
        let message = format!(
            "pair_rows lends {} numbers, for an f with ell = {}, n_x = {n_x}, d = {d} and n_y = {} \
             at i = {i}; expected an affine f with ell = 1, a row of length d for each term, and \
             {samples} samples of each",
            rows.len(),
            f.ell(),
            f.n_y(i)
        );
        return report.wrong(Part::Inner, "pair_rows", message);
    }
    if let PairRows::Differences(_, mean) = lent {
        let true_mean = |l: usize| rows.iter().skip(l).step_by(d).sum::<f64>() / n_x as f64;
        let size = rows.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        if mean.len() != d
            || (0..d).any(|l| (mean[l] - true_mean(l)).abs() > BEYOND_ROUNDING * size)
        {
            return report.wrong(
                Part::Inner,
                "pair_rows",
                "pair_rows: the mean is not that of the rows".to_owned(),
            );
        }
    }
    let row = |i: usize| &rows[i * d..(i + 1) * d];
    let along: f64 = (0..d)
        .map(|l| {
            let other = if samples == 1 { 0.0 } else { row(j)[l] };
            (row(i)[l] - other) * (a[l] - b[l])
        })
        .sum();
    let differs = value(f, a, i, j)[0] - value(f, b, i, j)[0];
    let size = value(f, a, i, j)[0].abs() + value(f, b, i, j)[0].abs() + along.abs();
    if (along - differs).abs() > BEYOND_ROUNDING * size {
        let message = format!(
            "pair_rows say that the value changes by {along:e} between two points, and it changes \
             by {differs:e} (at i = {i}, j = {j})"
        );
        report.wrong(Part::Inner, "pair_rows", message);
    }
}

/// Whether f bends between two points; a finding if it says that it does not.
fn affine(
    f: &dyn Inner,
    [a, b]: [&[f64]; 2],
    (i, j): (usize, usize),
    w: &[f64],
    said: bool,
    report: &mut CheckReport,
) -> bool {
    report.comparisons += 2;
    let (at_a, at_b) = (value(f, a, i, j), value(f, b, i, j));
    let middle: Vec<f64> = a.iter().zip(b).map(|(a, b)| 0.5 * (a + b)).collect();
    let at_middle = value(f, &middle, i, j);
    let mean: Vec<f64> = at_a.iter().zip(&at_b).map(|(a, b)| 0.5 * (a + b)).collect();
    let size = norm(&at_a) + norm(&at_b) + norm(&at_middle);
    if let Some(c) = differs(&at_middle, &mean, size) {
        if said {
            let message = format!(
                "structure says affine, but f half-way between two points is {} and the mean of \
                 its values there {} (at i = {i}, j = {j}, coordinate {c})",
                number(at_middle[c]),
                number(mean[c])
            );
            report.wrong(Part::Inner, "structure", message);
        }
        return true;
    }
    let (slope_a, slope_b) = (product(f, a, i, j, w), product(f, b, i, j, w));
    if let Some(l) = differs(&slope_a, &slope_b, norm(&slope_a) + norm(&slope_b)) {
        if said {
            let message = format!(
                "structure says affine, but f' w is {} at one theta and {} at another (at i = {i}, \
                 j = {j}, coordinate {l})",
                number(slope_a[l]),
                number(slope_b[l])
            );
            report.wrong(Part::Inner, "structure", message);
        }
        return true;
    }
    false
}

/// f and f' w look at no coordinate outside the support: methods would not bring it up to date.
fn support(
    f: &dyn Inner,
    [a, b]: [&[f64]; 2],
    (i, j): (usize, usize),
    w: &[f64],
    report: &mut CheckReport,
) {
    report.comparisons += 3;
    let Some(support) = f.support(i) else {
        if let Some(other) = (0..f.n_x()).find(|&other| f.support(other).is_some()) {
            let message = format!(
                "support gives the coordinates of i = {other} and none for i = {i}; expected those \
                 of every term or of none"
            );
            report.wrong(Part::Inner, "support", message);
        }
        return;
    };
    let rises = support.windows(2).all(|pair| pair[0] < pair[1]);
    if !rises || support.last().is_some_and(|&l| l as usize >= f.d()) {
        let message = format!(
            "support does not rise strictly within 0..{} (at i = {i}): a coordinate twice, or out \
             of order?",
            f.d()
        );
        return report.wrong(Part::Inner, "support", message);
    }
    let inside = |l: usize| u32::try_from(l).is_ok_and(|l| support.binary_search(&l).is_ok());
    let slope = product(f, a, i, j, w);
    if let Some(l) = (0..f.d()).find(|&l| slope[l] != 0.0 && !inside(l)) {
        let message = format!(
            "support leaves out coordinate {l}, where f' w is {} (at i = {i}, j = {j})",
            number(slope[l])
        );
        return report.wrong(Part::Inner, "support", message);
    }
    // a, and b wherever f should not look.
    let mixed: Vec<f64> = (0..f.d()).map(|l| if inside(l) { a[l] } else { b[l] }).collect();
    let (one, other) = (value(f, a, i, j), value(f, &mixed, i, j));
    if let Some(c) = differs(&one, &other, norm(&one) + norm(&other)) {
        let message = format!(
            "f changes from {} to {} where only coordinates outside its support change (at i = \
             {i}, j = {j}, coordinate {c} of f)",
            number(one[c]),
            number(other[c])
        );
        report.wrong(Part::Inner, "support", message);
    }
}

/// What f promises about the size of f' holds at least here.
fn bounds(
    f: &dyn Inner,
    [a, b]: [&[f64]; 2],
    (i, j): (usize, usize),
    w: &[f64],
    report: &mut CheckReport,
) {
    let Bounds { b_f, b_theta, mean_jacobian } = f.bounds();
    let mut exceeded = |what: &str, bound: Option<f64>, size: f64| {
        report.comparisons += 1;
        if bound.is_some_and(|bound| size > bound * (1.0 + BEYOND_ROUNDING)) {
            let bound = number(bound.unwrap_or(0.0));
            let message = format!(
                "bounds says {what} = {bound}, but it is at least {} (at i = {i}, j = {j})",
                number(size)
            );
            report.wrong(Part::Inner, "bounds", message);
        }
    };
    let (at_a, at_b) = (product(f, a, i, j, w), product(f, b, i, j, w));
    exceeded("b_f", b_f, norm(&at_a) / norm(w));
    let apart = distance_squared(a, b).sqrt();
    if apart > 0.0 {
        exceeded("b_theta", b_theta, distance_squared(&at_a, &at_b).sqrt() / (norm(w) * apart));
    }
    if mean_jacobian.is_some() {
        let mut mean = vec![0.0; f.d()];
        f.add_mean_jac_t(a, i, w, 1.0, &mut mean);
        exceeded("mean_jacobian", mean_jacobian, norm(&mean) / norm(w));
    }
}

/// Whether samples that are said to be shared, or separable, are: averages that rest on it would be
/// wrong otherwise.
pub(super) fn samples(
    f: &dyn Inner,
    thetas: &[Vec<f64>],
    points: &mut Points,
    report: &mut CheckReport,
) {
    let sample = f.facts().sample;
    if sample != Sample::Own {
        for theta in thetas {
            related(f, theta, sample, points, report);
        }
    }
}

fn related(
    f: &dyn Inner,
    theta: &[f64],
    sample: Sample,
    points: &mut Points,
    report: &mut CheckReport,
) {
    let n_y = f.n_y(0);
    if let Some(i) = (1..f.n_x()).find(|&i| f.n_y(i) != n_y) {
        let message = format!(
            "structure says that samples are related, but n_y(0) is {n_y} and n_y({i}) is {}",
            f.n_y(i)
        );
        return report.wrong(Part::Inner, "structure", message);
    }
    let (i, k) = (0, f.n_x() - 1);
    for j in points.some(n_y) {
        report.comparisons += 1;
        // Of a separable f, what j changes is the same for all i.
        let at = |i: usize| match sample {
            Sample::Separable => {
                let first = value(f, theta, i, 0);
                value(f, theta, i, j).iter().zip(first).map(|(v, first)| v - first).collect()
            }
            _ => value(f, theta, i, j),
        };
        let (one, other) = (at(i), at(k));
        let size =
            norm(&one) + norm(&other) + norm(&value(f, theta, i, j)) + norm(&value(f, theta, k, j));
        if let Some(c) = differs(&one, &other, size) {
            let what = if sample == Sample::Shared {
                "Shared, but f"
            } else {
                "Separable, but f less its value at j = 0"
            };
            let message = format!(
                "structure says {what} is {} at i = {i} and {} at i = {k} (j = {j}, coordinate \
                 {c})",
                number(one[c]),
                number(other[c])
            );
            report.wrong(Part::Inner, "structure", message);
        }
    }
}

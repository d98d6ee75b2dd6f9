//! f: values, products, and the calls that are provided and may have been overridden.

use super::compare::{describe, equal, number};
use super::points::{MOST_SAMPLES, Points};
use super::{CheckOptions, CheckReport, Part};
use crate::linalg::vector::dot;
use crate::model::inner::{Inner, Sample};

mod block;

/// Coordinates that are moved one by one; of more, these are spread evenly.
const MOST_COORDINATES: usize = 60;
/// What a provided call may differ by: rounding, in another order.
const ROUNDING: f64 = 1e-9;

/// Whether the sizes make sense; nothing else is asked otherwise.
pub(super) fn dimensions(f: &dyn Inner, options: &CheckOptions, report: &mut CheckReport) -> bool {
    let before = report.findings.len();
    for (call, size) in [("d", f.d()), ("ell", f.ell()), ("n_x", f.n_x())] {
        if size == 0 {
            report.wrong(Part::Inner, call, format!("{call} is 0; expected at least 1"));
        }
    }
    if let Some(i) = (0..f.n_x()).find(|&i| f.n_y(i) == 0) {
        let message =
            format!("n_y({i}) is 0: there is nothing to average at i = {i}; leave the term out");
        report.wrong(Part::Inner, "n_y", message);
    }
    if let Some(centre) = options.centre.as_ref().filter(|centre| centre.len() != f.d()) {
        let message =
            format!("d is {}, and the centre of the check has {} numbers", f.d(), centre.len());
        report.wrong(Part::Inner, "d", message);
    }
    report.findings.len() == before
}

/// What f says at a pair.
fn value(f: &dyn Inner, theta: &[f64], i: usize, j: usize) -> Vec<f64> {
    let mut out = vec![0.0; f.ell()];
    f.value(theta, i, j, &mut out);
    out
}

fn product(
    f: &dyn Inner,
    theta: &[f64],
    (i, j): (usize, usize),
    w: &[f64],
    c: f64,
    out: f64,
) -> Vec<f64> {
    let mut out = vec![out; f.d()];
    f.add_jac_t(theta, i, j, w, c, &mut out);
    out
}

/// All of f at some points.
pub(super) fn check(
    f: &dyn Inner,
    thetas: &[Vec<f64>],
    points: &mut Points,
    report: &mut CheckReport,
) {
    let (mut kinks, mut moves) = (0, 0);
    for (k, theta) in thetas.iter().enumerate() {
        let other = &thetas[(k + 1) % thetas.len()];
        for pair in points.pairs(f) {
            if !values(f, theta, pair, report) {
                continue;
            }
            let w = points.vector(f.ell());
            let (kinked, moved) = products(f, theta, pair, &w, points.tolerance, report);
            kinks += kinked;
            moves += moved;
            differences(f, theta, other, pair, &w, report);
            block::check(f, theta, other, pair, &w, report);
        }
        means(f, theta, points, report);
    }
    if kinks * 2 > moves {
        let message = format!(
            "value has a kink or a jump at {kinks} of {moves} coordinates of random points: \
             differences from the two sides do not agree; is it random, or constant in steps?"
        );
        report.wrong(Part::Inner, "value", message);
    }
}

/// Whether `value` writes all of its output, and the same again.
fn values(f: &dyn Inner, theta: &[f64], (i, j): (usize, usize), report: &mut CheckReport) -> bool {
    report.comparisons += 1;
    let (clean, again, mut used) =
        (value(f, theta, i, j), value(f, theta, i, j), vec![1.0; f.ell()]);
    f.value(theta, i, j, &mut used);
    let at = format!("at i = {i}, j = {j}");
    let message = if clean.iter().any(|v| !v.is_finite()) {
        let c = clean.iter().position(|v| !v.is_finite()).unwrap_or(0);
        format!(
            "value is {} in coordinate {c} {at} for a random theta; if f is not defined there, \
             give a centre or a smaller scale",
            clean[c]
        )
    } else if let Some(c) = (0..again.len()).find(|&c| again[c] != clean[c]) {
        let (first, second) = (number(clean[c]), number(again[c]));
        format!(
            "value is {first} and then {second} in coordinate {c} {at}, asked twice; is it random?"
        )
    } else if let Some(c) = (0..used.len()).find(|&c| used[c] != clean[c]) {
        if used[c] == 1.0 && clean[c] == 0.0 {
            format!("value leaves coordinate {c} of out unwritten {at}")
        } else if (used[c] - clean[c] - 1.0).abs() <= ROUNDING * (1.0 + clean[c].abs()) {
            format!("value adds to out {at} instead of overwriting it")
        } else {
            format!(
                "value is {} in coordinate {c} {at} if out holds zeros, and {} if it holds ones; \
                 it is to overwrite out",
                number(clean[c]),
                number(used[c])
            )
        }
    } else {
        return true;
    };
    report.wrong(Part::Inner, "value", message);
    false
}

/// `add_jac_t` against central differences of value. Returns at how many coordinates there is a
/// kink, and of how many.
fn products(
    f: &dyn Inner,
    theta: &[f64],
    (i, j): (usize, usize),
    w: &[f64],
    tolerance: f64,
    report: &mut CheckReport,
) -> (usize, usize) {
    let d = f.d();
    let got = product(f, theta, (i, j), w, 1.0, 0.0);
    let along = |w: &[f64], l: usize, h: f64| {
        let mut moved = theta.to_vec();
        moved[l] += h;
        // What was really added.
        (dot(&value(f, &moved, i, j), w), moved[l] - theta[l])
    };
    let here = dot(&value(f, theta, i, j), w);
    let step = |l: usize| 1e-5 * (1.0 + theta[l].abs());
    // Slopes from both sides; at a kink they differ, and go on to differ when the step is shorter.
    let slopes = |l: usize, h: f64| {
        let ((right, up), (left, down)) = (along(w, l, h), along(w, l, -h));
        ((right - here) / up, (left - here) / down, (right - left) / (up - down))
    };
    let count = d.min(MOST_COORDINATES);
    let coordinates: Vec<usize> = (0..count).map(|k| k * d / count).collect();
    let mut expected = Vec::new();
    let mut kept = Vec::new();
    let size = got.iter().map(|g| g.abs()).fold(0.0, f64::max);
    for &l in &coordinates {
        let (right, left, middle) = slopes(l, step(l));
        let scale = size.max(middle.abs());
        if (right - left).abs() > 1e-2 * scale {
            let (right, left, _) = slopes(l, 0.1 * step(l));
            if (right - left).abs() > 0.5e-2 * scale {
                continue;
            }
        }
        kept.push(got[l]);
        expected.push(middle);
    }
    let kinks = (coordinates.len() - kept.len(), coordinates.len());
    if kept.is_empty() {
        return kinks;
    }
    report.comparisons += 1;
    // Differences lose what the values have in common.
    let slack = 1e-9
        * (here.abs()
            + value(f, theta, i, j).iter().zip(w).map(|(v, w)| (v * w).abs()).sum::<f64>());
    let at = format!("at i = {i}, j = {j}");
    if !equal(&kept, &expected, tolerance, slack) {
        let transposed = d == f.ell() && d <= MOST_COORDINATES && {
            // f' by differences, d x ell, and its transpose times w.
            let mut product = vec![0.0; d];
            for (l, w_l) in w.iter().enumerate() {
                let column: Vec<f64> = (0..d)
                    .map(|c| {
                        let mut unit = vec![0.0; d];
                        unit[c] = 1.0;
                        let ((right, up), (left, down)) =
                            (along(&unit, l, step(l)), along(&unit, l, -step(l)));
                        (right - left) / (up - down)
                    })
                    .collect();
                product.iter_mut().zip(&column).for_each(|(p, x)| *p += w_l * x);
            }
            equal(&got, &product, 10.0 * tolerance, slack)
        };
        let factors = [("n_y", f.n_y(i) as f64), ("n_x", f.n_x() as f64)];
        let how = if transposed {
            "is the product with the transpose of what differences of value give: f' is d x ell, \
             with a row for each coordinate of theta"
                .to_owned()
        } else {
            describe(&kept, &expected, "differences of value give", &factors, tolerance)
        };
        report.wrong(Part::Inner, "add_jac_t", format!("add_jac_t {how} ({at})"));
        return kinks;
    }
    accumulation(report, "add_jac_t", &at, &got, &|c, out| product(f, theta, (i, j), w, c, out));
    kinks
}

/// Whether a call that accumulates `c` times something does so.
fn accumulation(
    report: &mut CheckReport,
    call: &'static str,
    at: &str,
    once: &[f64],
    ask: &dyn Fn(f64, f64) -> Vec<f64>,
) {
    report.comparisons += 2;
    let plus_one: Vec<f64> = once.iter().map(|x| x + 1.0).collect();
    let onto = ask(1.0, 1.0);
    if !equal(&onto, &plus_one, ROUNDING, ROUNDING) {
        let message = if equal(&onto, once, ROUNDING, ROUNDING) {
            format!("{call} overwrites out instead of adding to it ({at})")
        } else {
            let how =
                describe(&onto, &plus_one, "what it adds to zeros, and one, make", &[], ROUNDING);
            format!("{call}, asked to add to ones, {how} ({at})")
        };
        return report.wrong(Part::Inner, call, message);
    }
    let scaled: Vec<f64> = once.iter().map(|x| 2.5 * x).collect();
    let got = ask(2.5, 0.0);
    if !equal(&got, &scaled, ROUNDING, 0.0) {
        let message = if equal(&got, once, ROUNDING, 0.0) {
            format!("{call} leaves out the factor c: c = 2.5 adds what c = 1 adds ({at})")
        } else {
            let how = describe(&got, &scaled, "2.5 times that of c = 1 would give", &[], ROUNDING);
            format!("{call} with c = 2.5 {how}: it is not linear in c ({at})")
        };
        report.wrong(Part::Inner, call, message);
    }
}

/// `difference`, `add_jac_t_difference` and `jacobian` at a pair, against their definitions.
fn differences(
    f: &dyn Inner,
    a: &[f64],
    b: &[f64],
    (i, j): (usize, usize),
    w: &[f64],
    report: &mut CheckReport,
) {
    let (d, ell) = (f.d(), f.ell());
    let at = format!("at i = {i}, j = {j}");
    let mut verdict =
        |call: &'static str, got: &[f64], expected: &[f64], slack: f64, source: &str| {
            report.comparisons += 1;
            if !equal(got, expected, ROUNDING, slack) {
                let how = describe(got, expected, source, &[], 1e-7);
                report.wrong(Part::Inner, call, format!("{call} {how} ({at})"));
            }
        };
    let (at_a, at_b) = (value(f, a, i, j), value(f, b, i, j));
    let expected: Vec<f64> = at_a.iter().zip(&at_b).map(|(a, b)| a - b).collect();
    let slack = ROUNDING * at_a.iter().chain(&at_b).map(|v| v.abs()).fold(0.0, f64::max);
    let mut got = vec![f64::NAN; ell];
    f.difference(a, b, i, j, &mut vec![0.0; ell], &mut got);
    verdict("difference", &got, &expected, slack, "two calls of value give");
    let mut expected = product(f, a, (i, j), w, 0.5, 1.0);
    f.add_jac_t(b, i, j, w, -0.5, &mut expected);
    let mut got = vec![1.0; d];
    f.add_jac_t_difference(a, b, i, j, w, 0.5, &mut got);
    verdict(
        "add_jac_t_difference",
        &got,
        &expected,
        ROUNDING,
        "two calls of add_jac_t, onto ones, give",
    );
    let mut got = vec![f64::NAN; ell * d];
    f.jacobian(a, i, j, &mut vec![0.0; ell], &mut got);
    let rows: Vec<f64> = (0..ell)
        .flat_map(|c| {
            let mut unit = vec![0.0; ell];
            unit[c] = 1.0;
            product(f, a, (i, j), &unit, 1.0, 0.0)
        })
        .collect();
    verdict("jacobian", &got, &rows, 0.0, "a product for each coordinate of f gives");
}

/// The averages, of one term and of all, against sums over pairs.
fn means(f: &dyn Inner, theta: &[f64], points: &mut Points, report: &mut CheckReport) {
    let (d, ell, n_x) = (f.d(), f.ell(), f.n_x());
    let terms: Vec<usize> =
        points.some(n_x).into_iter().filter(|&i| f.n_y(i) <= MOST_SAMPLES).take(6).collect();
    let shared = f.facts().sample == Sample::Shared;
    let mut w = vec![0.0; n_x * ell];
    let (mut bars, mut weighted) = (Vec::new(), vec![0.0; d]);
    for &i in &terms {
        let (n_y, at) = (f.n_y(i), format!("at i = {i}"));
        let factors = [("n_y", n_y as f64), ("n_x", n_x as f64)];
        let w_i = points.vector(ell);
        let (mut bar, mut product_bar) = (vec![0.0; ell], vec![0.0; d]);
        for j in 0..n_y {
            bar.iter_mut().zip(value(f, theta, i, j)).for_each(|(bar, v)| *bar += v / n_y as f64);
            f.add_jac_t(theta, i, j, &w_i, 1.0 / n_y as f64, &mut product_bar);
        }
        let size = bar.iter().map(|b| b.abs()).fold(0.0, f64::max);
        report.comparisons += 2;
        let mut got = vec![f64::NAN; ell];
        f.mean(theta, i, &mut vec![0.0; ell], &mut got);
        if !equal(&got, &bar, ROUNDING, ROUNDING * size) {
            let how = describe(&got, &bar, "the average of its values is", &factors, 1e-7);
            report.wrong(Part::Inner, "mean", format!("mean {how} ({at})"));
        }
        let ask = |c: f64, out: f64| {
            let mut out = vec![out; d];
            f.add_mean_jac_t(theta, i, &w_i, c, &mut out);
            out
        };
        let got = ask(1.0, 0.0);
        if equal(&got, &product_bar, 1e-8, 0.0) {
            accumulation(report, "add_mean_jac_t", &at, &got, &ask);
        } else {
            let how =
                describe(&got, &product_bar, "the average of its products is", &factors, 1e-6);
            report.wrong(Part::Inner, "add_mean_jac_t", format!("add_mean_jac_t {how} ({at})"));
        }
        w[i * ell..(i + 1) * ell].copy_from_slice(&w_i);
        bars.push((i, bar));
        weighted.iter_mut().zip(&product_bar).for_each(|(u, p)| *u += p / n_x as f64);
    }
    passes(f, theta, &w, &bars, &weighted, report);
    jacobians(f, theta, &terms, shared, report);
}

/// `means`, `add_weighted_jac_t` and `snapshot`: the terms that were averaged have weights, the
/// others none.
fn passes(
    f: &dyn Inner,
    theta: &[f64],
    w: &[f64],
    bars: &[(usize, Vec<f64>)],
    weighted: &[f64],
    report: &mut CheckReport,
) {
    let (d, ell, n_x) = (f.d(), f.ell(), f.n_x());
    let mut averages = |call: &'static str, got: &[f64]| {
        for (i, bar) in bars {
            report.comparisons += 1;
            let size = bar.iter().map(|b| b.abs()).fold(0.0, f64::max);
            if !equal(&got[i * ell..(i + 1) * ell], bar, ROUNDING, ROUNDING * size) {
                let factors = [("n_y", f.n_y(*i) as f64), ("n_x", n_x as f64)];
                let how = describe(
                    &got[i * ell..(i + 1) * ell],
                    bar,
                    "the average of its values is",
                    &factors,
                    1e-7,
                );
                report.wrong(Part::Inner, call, format!("{call} {how} (at i = {i})"));
            }
        }
    };
    let mut f_bar = vec![f64::NAN; n_x * ell];
    f.means(theta, &mut f_bar);
    averages("means", &f_bar);
    let (mut f_bar, mut u) = (vec![f64::NAN; n_x * ell], vec![f64::NAN; d]);
    f.snapshot(theta, w, &mut f_bar, &mut u);
    averages("snapshot", &f_bar);
    let factors = [("n_x", n_x as f64), ("n_y", f.n_y(0) as f64)];
    let source = "(1/n_X) sum_i fbar_i' w_i by single products is";
    report.comparisons += 2;
    if !equal(&u, weighted, 1e-8, 0.0) {
        let how = describe(&u, weighted, source, &factors, 1e-6);
        report.wrong(Part::Inner, "snapshot", format!("u of snapshot {how}"));
    }
    let ask = |out: f64| {
        let mut out = vec![out; d];
        f.add_weighted_jac_t(theta, w, &mut out);
        out
    };
    let got = ask(0.0);
    if !equal(&got, weighted, 1e-8, 0.0) {
        let how = describe(&got, weighted, source, &factors, 1e-6);
        return report.wrong(
            Part::Inner,
            "add_weighted_jac_t",
            format!("add_weighted_jac_t {how}"),
        );
    }
    let onto: Vec<f64> = got.iter().map(|x| x + 1.0).collect();
    if !equal(&ask(1.0), &onto, ROUNDING, ROUNDING) {
        let message = "add_weighted_jac_t overwrites out instead of adding to it".to_owned();
        report.wrong(Part::Inner, "add_weighted_jac_t", message);
    }
}

/// `mean_jacobians` at some terms, against `add_mean_jac_t`; of few enough terms to fit in memory.
fn jacobians(
    f: &dyn Inner,
    theta: &[f64],
    terms: &[usize],
    shared: bool,
    report: &mut CheckReport,
) {
    let (d, ell, n_x) = (f.d(), f.ell(), f.n_x());
    if n_x.saturating_mul(ell * d) > 1 << 26 {
        return;
    }
    let mut all = vec![f64::NAN; n_x * ell * d];
    f.mean_jacobians(theta, &mut all);
    for &i in terms {
        for c in 0..ell {
            let (mut unit, mut expected) = (vec![0.0; ell], vec![0.0; d]);
            unit[c] = 1.0;
            f.add_mean_jac_t(theta, i, &unit, 1.0, &mut expected);
            let row = &all[(i * ell + c) * d..(i * ell + c + 1) * d];
            report.comparisons += 1;
            if !equal(row, &expected, 1e-8, 0.0) {
                let factors = [("n_y", f.n_y(i) as f64), ("n_x", n_x as f64)];
                let how = describe(row, &expected, "add_mean_jac_t gives", &factors, 1e-6);
                let kind = if shared { "of a shared sample " } else { "" };
                let message = format!("mean_jacobians {kind}{how} (at i = {i}, row {c})");
                report.wrong(Part::Inner, "mean_jacobians", message);
            }
        }
    }
}

//! phi: convexity, slopes, conjugate, prox, and what it says about its curvature.

use super::compare::{describe, equal, number};
use super::points::Points;
use super::{CheckReport, Part};
use crate::linalg::vector::{distance_squared, dot, norm_squared};
use crate::model::merit::Merit;
use crate::model::problem::Objective;

/// Steps of the dual prox.
const ALPHAS: [f64; 3] = [0.2, 1.0, 5.0];
/// What Fenchel and Young's inequality may miss, relative to its three terms: conjugates are often
/// a difference of large numbers.
const SLACK: f64 = 1e-8;

/// One phi at a few points of its domain.
struct Phi<'p> {
    merit: &'p dyn Merit,
    i: usize,
    ell: usize,
}

impl Phi<'_> {
    fn value(&self, u: &[f64]) -> f64 {
        self.merit.value(self.i, u)
    }

    fn gradient(&self, u: &[f64]) -> Vec<f64> {
        let mut out = vec![f64::NAN; self.ell];
        self.merit.gradient(self.i, u, &mut out);
        out
    }

    fn conjugate(&self, w: &[f64]) -> f64 {
        self.merit.conjugate(self.i, w)
    }

    fn prox(&self, alpha: f64, w: &[f64]) -> Vec<f64> {
        let mut w = w.to_vec();
        self.merit.prox_conjugate(self.i, alpha, &mut w);
        w
    }
}

/// All phi at averages of f, points between them, and others where they are finite.
pub(super) fn check(
    problem: Objective<'_>,
    thetas: &[Vec<f64>],
    points: &mut Points,
    report: &mut CheckReport,
) {
    let (f, merit) = (problem.inner, problem.merit);
    let (n_x, ell) = (f.n_x(), f.ell());
    let terms = points.some(n_x);
    let averages: Vec<Vec<f64>> = thetas
        .iter()
        .map(|theta| {
            let mut f_bar = vec![0.0; n_x * ell];
            f.means(theta, &mut f_bar);
            f_bar
        })
        .collect();
    for i in terms {
        let phi = Phi { merit, i, ell };
        let mut us: Vec<Vec<f64>> =
            averages.iter().map(|f_bar| f_bar[i * ell..(i + 1) * ell].to_vec()).collect();
        if let Some(u) = us.iter().find(|u| phi.value(u).is_nan()) {
            let message =
                format!("value is NaN at i = {i}, u = {}; outside its domain it is +inf", list(u));
            report.wrong(Part::Merit, "value", message);
            continue;
        }
        for scale in [0.1, 1.0, 10.0] {
            us.push(points.vector(ell).iter().map(|x| scale * x).collect());
        }
        us.retain(|u| phi.value(u).is_finite());
        if us.len() < 2 {
            let message = format!(
                "value is finite at fewer than two of the points that were tried at i = {i}; if \
                 phi is not defined there, give a centre or a smaller scale"
            );
            report.wrong(Part::Merit, "value", message);
            continue;
        }
        for k in 0..us.len() {
            at_point(&phi, &us[k], points.tolerance, report);
            between(&phi, &us[k], &us[(k + 1) % us.len()], report);
        }
    }
}

fn list(u: &[f64]) -> String {
    let numbers: Vec<String> = u.iter().take(4).map(|x| number(*x)).collect();
    format!("[{}{}]", numbers.join(", "), if u.len() > 4 { ", ..." } else { "" })
}

/// Gradient, conjugate and prox at u.
fn at_point(phi: &Phi<'_>, u: &[f64], tolerance: f64, report: &mut CheckReport) {
    let i = phi.i;
    let at = format!("at i = {i}, u = {}", list(u));
    let value = phi.value(u);
    let slope = phi.gradient(u);
    // Differences, but for coordinates where phi has a kink or ends.
    let (mut got, mut expected) = (Vec::new(), Vec::new());
    let size = slope.iter().map(|s| s.abs()).fold(0.0, f64::max);
    for c in 0..phi.ell {
        let slopes = |h: f64| {
            let along = |h: f64| {
                let mut moved = u.to_vec();
                moved[c] += h;
                (phi.value(&moved), moved[c] - u[c])
            };
            let ((right, up), (left, down)) = (along(h), along(-h));
            ((right - value) / up, (left - value) / down, (right - left) / (up - down))
        };
        let h = 1e-5 * (1.0 + u[c].abs());
        let mut step = h;
        let (mut right, mut left, mut middle) = slopes(step);
        // Where phi bends sharply, as a logarithm near zero, the step is shortened.
        while (!middle.is_finite() || (right - left).abs() > 1e-3 * size.max(middle.abs()))
            && step > 1e-3 * h
        {
            step *= 0.1;
            (right, left, middle) = slopes(step);
        }
        if middle.is_finite() && (right - left).abs() <= 1e-2 * size.max(middle.abs()) {
            got.push(slope[c]);
            expected.push(middle);
        }
    }
    report.comparisons += 1;
    if !equal(&got, &expected, 10.0 * tolerance, 1e-7 * value.abs() + 1e-9) {
        let how = describe(&got, &expected, "differences of value give", &[], 10.0 * tolerance);
        return report.wrong(Part::Merit, "gradient", format!("gradient {how} ({at})"));
    }
    let (mut sum, mut expected) = (vec![1.0; phi.ell], vec![1.0; phi.ell]);
    phi.merit.add_gradient(i, u, 0.5, &mut vec![0.0; phi.ell], &mut sum);
    expected.iter_mut().zip(&slope).for_each(|(e, s)| *e += 0.5 * s);
    report.comparisons += 1;
    if !equal(&sum, &expected, 1e-9, 1e-9) {
        let how = describe(&sum, &expected, "half of the gradient, onto ones, gives", &[], 1e-7);
        report.wrong(Part::Merit, "add_gradient", format!("add_gradient {how} ({at})"));
    }
    conjugate_at(phi, u, &slope, report);
    prox_at(phi, u, &slope, report);
    let steepest = phi.merit.lipschitz(phi.ell);
    // A NaN is no bound.
    if steepest.is_nan() || norm_squared(&slope).sqrt() > steepest * (1.0 + 1e-9) {
        let message = format!(
            "lipschitz is {}, but the slope is {} ({at})",
            number(steepest),
            number(norm_squared(&slope).sqrt())
        );
        report.wrong(Part::Merit, "lipschitz", message);
    }
    if let Some(c) = phi.merit.square_weight() {
        let square = c * norm_squared(u);
        if (square - value).abs() > 1e-9 * (square.abs() + value.abs()) {
            let message = format!(
                "square_weight says {} |u|^2 = {}, but value is {} ({at})",
                number(c),
                number(square),
                number(value)
            );
            report.wrong(Part::Merit, "square_weight", message);
        }
    }
}

/// Fenchel and Young with equality: `phi(u) + phi*(w) = <u, w>` for `w = phi'(u)`.
fn conjugate_at(phi: &Phi<'_>, u: &[f64], w: &[f64], report: &mut CheckReport) {
    report.comparisons += 1;
    let (value, conjugate, product) = (phi.value(u), phi.conjugate(w), dot(u, w));
    let size = value.abs() + product.abs() + 1e-6;
    let expected = product - value;
    if (conjugate - expected).abs() <= SLACK * (size + conjugate.abs()) {
        return;
    }
    let cause = if conjugate == f64::INFINITY {
        "a slope lies outside its domain".to_owned()
    } else if (conjugate + expected).abs() <= SLACK * size {
        "a sign?".to_owned()
    } else if expected.abs() > 1e-6 * size {
        format!(
            "it is {} times that; a factor, or a constant left out?",
            number(conjugate / expected)
        )
    } else {
        "a constant left out?".to_owned()
    };
    let message = format!(
        "conjugate is {} at the slope at i = {}, u = {}, where <u, w> - phi(u) = {}: {cause}",
        number(conjugate),
        phi.i,
        list(u),
        number(expected)
    );
    report.wrong(Part::Merit, "conjugate", message);
}

/// The slope `w = phi'(u)` is where `w + alpha u` comes back to, for every alpha.
fn prox_at(phi: &Phi<'_>, u: &[f64], w: &[f64], report: &mut CheckReport) {
    for alpha in ALPHAS {
        report.comparisons += 1;
        let moved: Vec<f64> = w.iter().zip(u).map(|(w, u)| w + alpha * u).collect();
        let back = phi.prox(alpha, &moved);
        let size = moved.iter().chain(w).map(|x| x.abs()).fold(0.0, f64::max);
        if equal(&back, w, 1e-7, 1e-7 * size) {
            continue;
        }
        // At a kink many w have the same u: then back is good if it is a subgradient, by Fenchel
        // and Young.
        let point: Vec<f64> = moved.iter().zip(&back).map(|(m, b)| (m - b) / alpha).collect();
        let left = phi.value(&point) + phi.conjugate(&back) - dot(&point, &back);
        if left.abs() <= 1e-6 * (1.0 + phi.value(&point).abs() + dot(&point, &back).abs()) {
            continue;
        }
        let cause = if equal(&back, &moved, 1e-9, 0.0) {
            "; it changes nothing".to_owned()
        } else if alpha != 1.0 && equal(&phi.prox(1.0, &moved), &back, 1e-9, 0.0) {
            "; it is the same for alpha = 1: is alpha left out?".to_owned()
        } else if equal(&point, w, 1e-6, 1e-6 * size) {
            "; is it a prox of phi and not of phi*?".to_owned()
        } else {
            "; a wrong factor with alpha, or the prox of phi and not of phi*?".to_owned()
        };
        let how = describe(&back, w, "the slope is", &[], 1e-6);
        let message = format!(
            "prox_conjugate of w + {alpha} u with w = phi'(u), which should be w, {how} (at i = \
             {}, u = {}){cause}",
            phi.i,
            list(u)
        );
        return report.wrong(Part::Merit, "prox_conjugate", message);
    }
}

/// Convexity between two points, gamma, curvature, and the inequality of Fenchel and Young.
fn between(phi: &Phi<'_>, a: &[f64], b: &[f64], report: &mut CheckReport) {
    report.comparisons += 3;
    let at = format!("at i = {}, between u = {} and {}", phi.i, list(a), list(b));
    let middle: Vec<f64> = a.iter().zip(b).map(|(a, b)| 0.5 * (a + b)).collect();
    let (value_a, value_b) = (phi.value(a), phi.value(b));
    let mean = 0.5 * (value_a + value_b);
    let value = phi.value(&middle);
    if value > mean + 1e-9 * (value_a.abs() + value_b.abs()) {
        let message = format!(
            "value is not convex: {} half-way, above the mean {} of the ends ({at})",
            number(value),
            number(mean)
        );
        report.wrong(Part::Merit, "value", message);
    }
    let (slope_a, slope_b) = (phi.gradient(a), phi.gradient(b));
    let conjugate = phi.conjugate(&slope_a);
    let below = value_b + conjugate - dot(b, &slope_a);
    if below < -SLACK * (value_b.abs() + conjugate.abs() + dot(b, &slope_a).abs() + 1e-6) {
        let message = format!(
            "conjugate is {} too small: phi(u) + phi*(w) - <u, w> should not be below 0 for u at \
             one end and w the slope at the other ({at})",
            number(-below)
        );
        report.wrong(Part::Merit, "conjugate", message);
    }
    let apart = distance_squared(a, b).sqrt();
    let change = distance_squared(&slope_a, &slope_b).sqrt();
    let gamma = phi.merit.gamma();
    if gamma.is_nan() || (gamma > 0.0 && change * gamma > apart * (1.0 + 1e-7) + 1e-12) {
        let message = format!(
            "gamma is {}, but slopes change by {} over a distance of {}: it is at most {} ({at})",
            number(gamma),
            number(change),
            number(apart),
            number(apart / change)
        );
        report.wrong(Part::Merit, "gamma", message);
    }
    if let Some(curvature) = phi.merit.curvature(phi.i, a) {
        // Along the segment, close to a.
        let h = 1e-6;
        let near: Vec<f64> = a.iter().zip(b).map(|(a, b)| a + h * (b - a)).collect();
        let along = distance_squared(&slope_a, &phi.gradient(&near)).sqrt() / (h * apart);
        if apart > 1e-9 && along > curvature * (1.0 + 1e-3) + 1e-6 {
            let message = format!(
                "curvature is {}, but slopes change by {} for each unit ({at})",
                number(curvature),
                number(along)
            );
            report.wrong(Part::Merit, "curvature", message);
        }
    }
}

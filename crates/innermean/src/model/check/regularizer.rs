//! g: prox, step, conjugate, and what it says about its curvature and its parts.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "comparisons that no NaN passes")]

use super::compare::{describe, equal, number};
use super::points::Points;
use super::{CheckReport, Part};
use crate::linalg::vector::{axpy, distance_squared, dot, norm_squared};
use crate::model::regularizer::Regularizer;

const ALPHAS: [f64; 3] = [0.3, 1.0, 2.0];
/// What an inequality may miss, relative to its terms.
const SLACK: f64 = 1e-8;
/// How far a subgradient is moved away from the edge of the conjugate's domain.
const INWARD: f64 = 1e-10;

/// A prox: `p = prox_{alpha g}(v)`, with `s = (v - p) / alpha`, a subgradient of g at p.
struct Prox {
    alpha: f64,
    v: Vec<f64>,
    p: Vec<f64>,
    s: Vec<f64>,
}

fn prox(g: &dyn Regularizer, alpha: f64, v: &[f64]) -> Prox {
    let mut p = v.to_vec();
    g.prox(alpha, &mut p);
    let s = v.iter().zip(&p).map(|(v, p)| (v - p) / alpha).collect();
    Prox { alpha, v: v.to_vec(), p, s }
}

pub(super) fn check(
    g: &dyn Regularizer,
    thetas: &[Vec<f64>],
    points: &mut Points,
    report: &mut CheckReport,
) {
    let mut all = Vec::new();
    for theta in thetas {
        for alpha in ALPHAS {
            let v: Vec<f64> = theta.iter().map(|t| t + points.number()).collect();
            all.push(prox(g, alpha, &v));
        }
    }
    if let Some(bad) = all.iter().find(|prox| !g.value(&prox.p).is_finite()) {
        let message = format!(
            "value is {} at a point that prox gives (alpha = {}); a prox lies where g is finite",
            g.value(&bad.p),
            bad.alpha
        );
        return report.wrong(Part::Regularizer, "prox", message);
    }
    for (k, one) in all.iter().enumerate() {
        optimality(g, one, &all, k, report);
        step(g, one, points, report);
    }
    coordinates(g, &all, points, report);
    if let Some((lambda, tilt)) = g.quadratic(thetas[0].len()) {
        quadratic(g, lambda, &tilt, &all, report);
    }
}

/// `g(z) >= g(p) + <s, z - p> + (mu/2) |z - p|^2` for all z, and `g(p) + g*(s) = <p, s>`.
fn optimality(g: &dyn Regularizer, one: &Prox, all: &[Prox], k: usize, report: &mut CheckReport) {
    let Prox { alpha, v, p, s } = one;
    let value = g.value(p);
    let mu = g.mu();
    // Other points that are allowed: those of other proxes, and half of the way to them.
    let others = all.iter().skip(k + 1).chain(all).take(4).map(|other| other.p.clone());
    let halves = all
        .iter()
        .take(2)
        .map(|other| p.iter().zip(&other.p).map(|(p, z)| 0.9 * p + 0.1 * z).collect());
    for z in others.chain(halves).chain([v.clone()]) {
        let there = g.value(&z);
        if !there.is_finite() {
            continue;
        }
        report.comparisons += 1;
        let linear = dot(s, &z) - dot(s, p);
        let size = there.abs()
            + value.abs()
            + norm_squared(s).sqrt() * distance_squared(&z, p).sqrt()
            + 1e-12;
        let excess = value + linear - there;
        // Written so that no NaN passes.
        if !(excess <= SLACK * size) {
            let mut again = v.clone();
            g.prox(2.0 * alpha, &mut again);
            let cause = if equal(&again, p, 1e-12, 0.0) && !equal(p, v, 1e-12, 0.0) {
                "; it is the same for twice that alpha: is alpha left out?"
            } else if equal(p, v, 1e-12, 0.0) {
                "; it changes nothing"
            } else {
                "; a factor of alpha, or a wrong sign?"
            };
            let message = format!(
                "prox with alpha = {alpha} is not the minimiser of g(x) + |x - v|^2 / (2 alpha): \
                 another point is better by {}{cause}",
                number(excess)
            );
            return report.wrong(Part::Regularizer, "prox", message);
        }
        let curved = 0.5 * mu * distance_squared(&z, p);
        if !(excess + curved <= SLACK * size) {
            let message = format!(
                "mu is {}, but between two points g is only {} above its tangent, where mu asks \
                 for {}",
                number(mu),
                number(-excess),
                number(curved)
            );
            return report.wrong(Part::Regularizer, "mu", message);
        }
    }
    report.comparisons += 1;
    // Rounding may have carried s over the edge of the domain: a little towards the middle of all
    // subgradients.
    let inward: Vec<f64> = (0..s.len())
        .map(|l| {
            let middle = all.iter().map(|other| other.s[l]).sum::<f64>() / all.len() as f64;
            s[l] + INWARD * (middle - s[l])
        })
        .collect();
    let exact = g.conjugate(s);
    let conjugate = if exact.is_finite() { exact } else { g.conjugate(&inward) };
    let expected = dot(p, s) - value;
    let size = value.abs() + norm_squared(p).sqrt() * norm_squared(s).sqrt() + 1e-9;
    let allowed = SLACK * (size + if conjugate.is_finite() { conjugate.abs() } else { 0.0 });
    if !((conjugate - expected).abs() <= allowed) {
        let message = format!(
            "conjugate is {} at a subgradient s of g at p, where <p, s> - g(p) = {}: a factor or a \
             sign, or too small a domain?",
            number(conjugate),
            number(expected)
        );
        report.wrong(Part::Regularizer, "conjugate", message);
    }
}

/// `step(alpha, direction)` is the prox of the point moved by it.
fn step(g: &dyn Regularizer, one: &Prox, points: &mut Points, report: &mut CheckReport) {
    report.comparisons += 1;
    let direction = points.vector(one.v.len());
    let (mut got, mut expected) = (one.v.clone(), one.v.clone());
    g.step(one.alpha, &direction, &mut got);
    axpy(-one.alpha, &direction, &mut expected);
    g.prox(one.alpha, &mut expected);
    if !equal(&got, &expected, 1e-9, 1e-12) {
        let how = describe(&got, &expected, "the prox of theta - alpha direction gives", &[], 1e-7);
        report.wrong(Part::Regularizer, "step", format!("step with alpha = {} {how}", one.alpha));
    }
}

/// `coordinate(l)` takes the same steps as g does, coordinate by coordinate; for every l or for
/// none.
fn coordinates(g: &dyn Regularizer, all: &[Prox], points: &mut Points, report: &mut CheckReport) {
    let d = all[0].v.len();
    let told = (0..d).filter(|&l| g.coordinate(l).is_some()).count();
    if told == 0 {
        return;
    }
    if told < d {
        let message = format!("coordinate tells {told} of {d} parts of g; expected all or none");
        return report.wrong(Part::Regularizer, "coordinate", message);
    }
    for one in all {
        let direction = points.vector(d);
        let mut stepped = one.v.clone();
        g.step(one.alpha, &direction, &mut stepped);
        for (l, part) in (0..d).filter_map(|l| Some((l, g.coordinate(l)?))) {
            report.comparisons += 1;
            let step = part.step(one.alpha, direction[l], one.v[l]);
            let size = stepped[l].abs() + one.v[l].abs() + one.alpha * direction[l].abs();
            if !((step - stepped[l]).abs() <= SLACK * size) {
                let message = format!(
                    "coordinate({l}) steps to {}, and g itself to {} (alpha = {}): another g_l, or \
                     g is no sum over coordinates?",
                    number(step),
                    number(stepped[l]),
                    one.alpha
                );
                return report.wrong(Part::Regularizer, "coordinate", message);
            }
        }
    }
}

/// `g(theta) - (lambda/2) |theta|^2 - <tilt, theta>` is a constant.
fn quadratic(
    g: &dyn Regularizer,
    lambda: f64,
    tilt: &[f64],
    all: &[Prox],
    report: &mut CheckReport,
) {
    let rest = |x: &[f64]| g.value(x) - 0.5 * lambda * norm_squared(x) - dot(tilt, x);
    let first = rest(&all[0].v);
    for one in all {
        report.comparisons += 1;
        let here = rest(&one.v);
        let size = g.value(&one.v).abs() + first.abs() + 0.5 * lambda * norm_squared(&one.v) + 1e-9;
        if (here - first).is_nan() || (here - first).abs() > SLACK * size {
            let message = format!(
                "quadratic says lambda = {} and a tilt, but g less these is {} at one point and {} \
                 at another",
                number(lambda),
                number(first),
                number(here)
            );
            return report.wrong(Part::Regularizer, "quadratic", message);
        }
    }
}

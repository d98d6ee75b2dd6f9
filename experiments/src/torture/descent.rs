//! Whether a point of an objective that is not convex is stationary, judged in units in which all
//! columns have one size: damped Newton steps with derivatives by differences, in doubles.

use super::curved::Curved;

/// Steps of the differences, in units in which columns have size 1.
const DIFFERENCE: f64 = 1e-4;
/// Newton's steps, and dampings tried for each.
const STEPS: usize = 25;
const DAMPINGS: usize = 12;

/// Where the steps lead, and the point after the first of them.
#[derive(Debug, Clone)]
pub struct Descent {
    /// After one step.
    pub first: Vec<f64>,
    /// After the last.
    pub last: Vec<f64>,
}

/// Goes down from theta.
pub fn descend(problem: &Curved, theta: &[f64]) -> Descent {
    let d = theta.len();
    let units: Vec<f64> = (0..d).map(|l| 1.0 / problem.column_size(l)).collect();
    let to_theta =
        |z: &[f64]| -> Vec<f64> { z.iter().zip(&units).map(|(z, unit)| z * unit).collect() };
    let value = |z: &[f64]| {
        problem.searched(&to_theta(z), DIFFERENCE * units.iter().fold(f64::MAX, |a, b| a.min(*b)))
    };
    let mut z: Vec<f64> = theta.iter().zip(&units).map(|(x, unit)| x / unit).collect();
    let mut first = None;
    let mut here = value(&z);
    let mut damping = 1e-8;
    for _ in 0..STEPS {
        let (gradient, hessian) = differences(&value, &z, here);
        let size = (0..d).map(|l| hessian[l * d + l].abs()).fold(f64::MIN_POSITIVE, f64::max);
        let mut moved = false;
        for _ in 0..DAMPINGS {
            if let Some(p) = newton_step(&gradient, &hessian, damping * size) {
                let next: Vec<f64> = z.iter().zip(&p).map(|(z, p)| z + p).collect();
                let there = value(&next);
                if there < here {
                    (z, here, moved) = (next, there, true);
                    damping = (damping / 10.0).max(1e-12);
                    break;
                }
            }
            damping *= 10.0;
        }
        if !moved {
            break;
        }
        first.get_or_insert_with(|| to_theta(&z));
    }
    Descent { first: first.unwrap_or_else(|| theta.to_vec()), last: to_theta(&z) }
}

/// Gradient and Hessian by central differences.
fn differences(value: &dyn Fn(&[f64]) -> f64, z: &[f64], here: f64) -> (Vec<f64>, Vec<f64>) {
    let (d, h) = (z.len(), DIFFERENCE);
    let at = |moves: &[(usize, f64)]| {
        let mut z = z.to_vec();
        for (l, by) in moves {
            z[*l] += by;
        }
        value(&z)
    };
    let ahead: Vec<f64> = (0..d).map(|l| at(&[(l, h)])).collect();
    let behind: Vec<f64> = (0..d).map(|l| at(&[(l, -h)])).collect();
    let gradient = ahead.iter().zip(&behind).map(|(a, b)| (a - b) / (2.0 * h)).collect();
    let mut hessian = vec![0.0; d * d];
    for k in 0..d {
        hessian[k * d + k] = (ahead[k] - 2.0 * here + behind[k]) / (h * h);
        for l in 0..k {
            let bend = (at(&[(k, h), (l, h)]) - ahead[k] - ahead[l] + here) / (h * h);
            (hessian[k * d + l], hessian[l * d + k]) = (bend, bend);
        }
    }
    (gradient, hessian)
}

/// `-(H + damping)^-1 gradient` by Gauss's elimination; none where a pivot is not above 0, so that
/// the step might not lead down.
fn newton_step(gradient: &[f64], hessian: &[f64], damping: f64) -> Option<Vec<f64>> {
    let d = gradient.len();
    let mut a = hessian.to_vec();
    (0..d).for_each(|l| a[l * d + l] += damping);
    let mut p: Vec<f64> = gradient.iter().map(|g| -g).collect();
    for k in 0..d {
        if a[k * d + k] <= 0.0 || !a[k * d + k].is_finite() {
            return None;
        }
        for l in k + 1..d {
            let factor = a[l * d + k] / a[k * d + k];
            (k..d).for_each(|m| a[l * d + m] -= factor * a[k * d + m]);
            p[l] -= factor * p[k];
        }
    }
    for k in (0..d).rev() {
        let known: f64 = (k + 1..d).map(|l| a[k * d + l] * p[l]).sum();
        p[k] = (p[k] - known) / a[k * d + k];
    }
    p.iter().all(|x| x.is_finite()).then_some(p)
}

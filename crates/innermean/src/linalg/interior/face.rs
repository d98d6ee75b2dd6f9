//! The face of the feasible set on which the steps have ended: what is active there is met exactly,
//! and the minimum on the face is found by one Newton step.
//!
//! A constraint is active where its multiplier is larger than its slack, both measured by the
//! scales of the program. Coordinates at a bound or at a kink stay there; rows and limits that are
//! active become equations `C p = b` for the step p of the others,
//!
//! ```text
//! min over p of  <grad, p> + (1/2) p' B p  with  C p = b
//! ```

use super::Curvature;
use super::steps::{Point, Scaled, Side};
use crate::linalg::cholesky::Cholesky;
use crate::linalg::vector::{axpy, dot};

/// A regularisation of B on the face, relative to its diagonal: a step of the proximal point method
/// where B is singular there.
const RIDGE: f64 = 1e-12;
/// How far beyond a bound rounding may lead, where x has size 1.
const SLACK: f64 = 1e-12;
/// Rounds in which coordinates that would leave their bounds are stopped there.
const MOST_ROUNDS: usize = 8;

/// What is active.
struct Face {
    /// The value of a coordinate that rests.
    resting: Vec<Option<f64>>,
    /// The slope of every kink's `|x - center|`, 0 at the centre.
    signs: Vec<f64>,
    rows: Vec<(usize, f64)>,
    groups: Vec<usize>,
}

/// The minimum on the face; None if it is not feasible, so that the face is another.
pub(super) fn polished(scaled: &Scaled<'_>, point: &Point) -> Option<Vec<f64>> {
    let mut face = Face::new(scaled, point);
    let program = scaled.program;
    for _ in 0..MOST_ROUNDS {
        let x = face.minimum(scaled, &point.x)?;
        let mut stopped = false;
        for (l, value) in x.iter().enumerate() {
            let (lo, hi) = (program.lo[l], program.hi[l]);
            let slack = SLACK * scaled.size;
            if face.resting[l].is_none() && (*value < lo - slack || *value > hi + slack) {
                face.resting[l] = Some(if *value < lo { lo } else { hi });
                stopped = true;
            }
        }
        if !stopped {
            let ends = program.lo.iter().zip(&program.hi);
            let x: Vec<f64> = x.iter().zip(ends).map(|(x, (lo, hi))| x.max(*lo).min(*hi)).collect();
            return suits(scaled, point, &x).then_some(x);
        }
    }
    None
}

impl Face {
    fn new(scaled: &Scaled<'_>, point: &Point) -> Self {
        let program = scaled.program;
        let unit = scaled.steepness / scaled.size;
        let is_active = |i: usize| point.dual[i] > unit * point.slack[i];
        let mut face = Face {
            resting: vec![None; point.x.len()],
            signs: vec![0.0; program.kinks.len()],
            rows: scaled.equations.iter().map(|&k| (k, program.rows[k].lo)).collect(),
            groups: Vec::new(),
        };
        let mut sides_of_kinks = vec![(false, false); program.kinks.len()];
        for (i, side) in scaled.sides.iter().enumerate() {
            let active = is_active(i);
            match *side {
                Side::Lower(l) if active => face.resting[l] = Some(program.lo[l]),
                Side::Upper(l) if active => face.resting[l] = Some(program.hi[l]),
                Side::RowLower(k) if active => face.rows.push((k, program.rows[k].lo)),
                Side::RowUpper(k) if active => face.rows.push((k, program.rows[k].hi)),
                Side::Above(k) => sides_of_kinks[k].0 = active,
                Side::Below(k) => sides_of_kinks[k].1 = active,
                Side::Limit(j) if active => face.groups.push(j),
                _ => {}
            }
        }
        for (k, kink) in program.kinks.iter().enumerate() {
            let off = point.x[kink.coordinate] - kink.center;
            let binds = kink.cost > 0.0 || kink.group.is_some_and(|g| face.groups.contains(&g.0));
            if sides_of_kinks[k] == (true, true) && binds {
                face.resting[kink.coordinate] = Some(kink.center);
            } else {
                face.signs[k] = off.signum();
            }
        }
        face
    }

    /// The equations on the coordinates that move, with what is left at `x`.
    fn equations(
        &self,
        scaled: &Scaled<'_>,
        free: &[usize],
        x: &[f64],
    ) -> (Vec<Vec<f64>>, Vec<f64>) {
        let program = scaled.program;
        let (mut rows, mut left) = (Vec::new(), Vec::new());
        for &(k, end) in &self.rows {
            let (row, length) = (program.rows[k].coefficients, scaled.lengths[k]);
            rows.push(free.iter().map(|&l| row[l] / length).collect::<Vec<f64>>());
            left.push((end - dot(row, x)) / length);
        }
        for &j in &self.groups {
            let (mut row, mut spent) = (vec![0.0; x.len()], 0.0);
            for (k, kink) in program.kinks.iter().enumerate() {
                if let Some((_, weight)) = kink.group.filter(|group| group.0 == j) {
                    row[kink.coordinate] += weight * self.signs[k];
                    spent += weight * (x[kink.coordinate] - kink.center).abs();
                }
            }
            rows.push(free.iter().map(|&l| row[l]).collect());
            left.push(program.limits[j] - spent);
        }
        // An equation of coordinates that all rest is met or not.
        let keep: Vec<bool> = rows.iter().map(|row| row.iter().any(|a| *a != 0.0)).collect();
        let mut kept = keep.iter();
        rows.retain(|_| *kept.next().unwrap_or(&true));
        let mut kept = keep.iter();
        left.retain(|_| *kept.next().unwrap_or(&true));
        (rows, left)
    }

    /// The minimum on the face, next to a point.
    fn minimum(&self, scaled: &Scaled<'_>, near: &[f64]) -> Option<Vec<f64>> {
        let program = scaled.program;
        let d = near.len();
        let mut x: Vec<f64> =
            near.iter().zip(&self.resting).map(|(x, rest)| rest.unwrap_or(*x)).collect();
        let free: Vec<usize> = (0..d).filter(|&l| self.resting[l].is_none()).collect();
        let m = free.len();
        if m == 0 {
            return Some(x);
        }
        let mut matrix = match program.curvature {
            Curvature::Dense(full) => {
                free.iter().flat_map(|l| free.iter().map(move |c| full[l * d + c])).collect()
            }
            Curvature::Diagonal(_) => vec![0.0; m * m],
        };
        if let Curvature::Diagonal(bends) = program.curvature {
            let entries = matrix.iter_mut().step_by(m + 1);
            entries.zip(&free).for_each(|(entry, &l)| *entry = bends[l]);
        }
        let (rows, _) = self.equations(scaled, &free, &x);
        // On the face `c |C p|^2 / 2` adds nothing, and B may be singular across it.
        let across = matrix.iter().step_by(m + 1).sum::<f64>() / m as f64;
        let across = if across > 0.0 { across } else { scaled.steepness / scaled.size };
        for row in &rows {
            for (entries, a) in matrix.chunks_exact_mut(m).zip(row) {
                axpy(across * a, row, entries);
            }
        }
        matrix.iter_mut().step_by(m + 1).for_each(|entry| *entry += RIDGE * (*entry + across));
        let factor = Cholesky::new(&matrix, m).ok()?;
        let solved: Vec<Vec<f64>> = rows
            .iter()
            .map(|row| {
                let mut row = row.clone();
                factor.solve(&mut row);
                row
            })
            .collect();
        let of_rows = if rows.is_empty() { None } else { Some(factor_of_rows(&rows, &solved)?) };
        // The second round takes off what rounding left of the first.
        for _ in 0..3 {
            let (_, left) = self.equations(scaled, &free, &x);
            let mut step = self.descent(scaled, &x, &free);
            factor.solve(&mut step);
            if let Some(of_rows) = &of_rows {
                let mut y: Vec<f64> =
                    rows.iter().zip(&left).map(|(row, left)| left - dot(row, &step)).collect();
                of_rows.solve(&mut y);
                solved.iter().zip(&y).for_each(|(solved, y)| axpy(*y, solved, &mut step));
            }
            free.iter().zip(&step).for_each(|(&l, p)| x[l] += p);
        }
        Some(x)
    }

    /// Minus the gradient of the objective on the face.
    fn descent(&self, scaled: &Scaled<'_>, x: &[f64], free: &[usize]) -> Vec<f64> {
        let program = scaled.program;
        let mut gradient = program.times(x);
        axpy(1.0, &program.linear, &mut gradient);
        for (kink, sign) in program.kinks.iter().zip(&self.signs) {
            gradient[kink.coordinate] += kink.cost * sign;
        }
        free.iter().map(|&l| -gradient[l]).collect()
    }
}

/// The factor of `C K^-1 C'`; None if equations depend on each other.
fn factor_of_rows(rows: &[Vec<f64>], solved: &[Vec<f64>]) -> Option<Cholesky> {
    let n = rows.len();
    let mut matrix: Vec<f64> =
        rows.iter().flat_map(|row| solved.iter().map(|solved| dot(row, solved))).collect();
    matrix.iter_mut().step_by(n + 1).for_each(|entry| *entry *= 1.0 + 1e-13);
    Cholesky::new(&matrix, n).ok()
}

/// Whether x is feasible and no worse than the point that the steps have ended at.
fn suits(scaled: &Scaled<'_>, point: &Point, x: &[f64]) -> bool {
    let program = scaled.program;
    let t: Vec<f64> =
        program.kinks.iter().map(|kink| (x[kink.coordinate] - kink.center).abs()).collect();
    let size = scaled.size.max(x.iter().fold(0.0, |most: f64, x| most.max(x.abs())));
    let feasible = |side: &Side| match side {
        Side::Above(_) | Side::Below(_) => true,
        side => scaled.value(*side, x, &t) >= -1e-11 * size,
    };
    let met = scaled.equation_residuals(x).iter().all(|r| r.abs() <= 1e-11 * size);
    let objective = |x: &[f64], t: &[f64]| {
        let costs: f64 = program.kinks.iter().zip(t).map(|(kink, t)| kink.cost * t).sum();
        0.5 * dot(&program.times(x), x) + dot(&program.linear, x) + costs
    };
    let allowed = 1e-9 * scaled.steepness * size;
    met && scaled.sides.iter().all(feasible)
        && objective(x, &t) <= objective(&point.x, &point.t) + allowed
}

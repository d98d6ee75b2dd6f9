//! A program in units of its own: `x_l = u_l z_l`.
//!
//! Columns of returns may differ by powers of ten, and so do the slopes that an answer is measured
//! by; limits of norms, and rows with the bounds of other coordinates, may hold one far within its
//! own. Units are powers of two, so that bounds stay where they are.

use super::steps::Scaled;
use super::{Answer, Band, Curvature, Kink, Program};

/// The units of a program.
pub(super) struct Units {
    units: Vec<f64>,
    /// How far each coordinate can be from 0 for the limits of norms; infinite without one.
    reach: Vec<f64>,
}

/// A power of two next to x.
fn power_of_two(x: f64) -> f64 {
    const LARGEST: f64 = 500.0;
    x.log2().round().clamp(-LARGEST, LARGEST).exp2()
}

impl Units {
    pub(super) fn of(program: &Program<'_>) -> Self {
        let d = program.linear.len();
        let mut reach = vec![f64::INFINITY; d];
        for kink in &program.kinks {
            if let Some((group, weight)) = kink.group.filter(|group| group.1 > 0.0) {
                let most = kink.center.abs() + program.limits[group].max(0.0) / weight;
                let reach = &mut reach[kink.coordinate];
                *reach = reach.min(most);
            }
        }
        let own: Vec<(f64, f64)> =
            program.lo.iter().copied().zip(program.hi.iter().copied()).collect();
        let mut ends = own.clone();
        for row in &program.rows {
            for (end, (low, high)) in ends.iter_mut().zip(row.implied_ends(&own)) {
                *end = (end.0.max(low), end.1.min(high));
            }
        }
        let ends = |l: usize| ends[l].0.abs().max(ends[l].1.abs());
        let mut units: Vec<f64> = (0..d)
            .map(|l| {
                let bend = program.bend(l);
                let natural = if bend > 0.0 { 1.0 / bend.sqrt() } else { f64::INFINITY };
                natural.min(reach[l]).min(ends(l))
            })
            .collect();
        // What nothing measures is measured like the others.
        let known = units.iter().copied().filter(|u| u.is_finite() && *u > 0.0);
        let largest = known.fold(0.0, f64::max);
        let otherwise = if largest > 0.0 { largest } else { 1.0 };
        for u in &mut units {
            *u = power_of_two(if u.is_finite() && *u > 0.0 { *u } else { otherwise });
        }
        // The largest unit is 1: what is common to all is found by `Scaled::measure`.
        let largest = units.iter().copied().fold(0.0, f64::max);
        for u in &mut units {
            *u /= largest;
        }
        Units { units, reach }
    }

    /// Solves the program in these units.
    pub(super) fn solve(&self, program: &Program<'_>, start: &[f64]) -> Answer {
        let u = &self.units;
        let times = |x: &[f64]| x.iter().zip(u).map(|(x, u)| x * u).collect::<Vec<f64>>();
        let over = |x: &[f64]| x.iter().zip(u).map(|(x, u)| x / u).collect::<Vec<f64>>();
        let d = u.len();
        let matrix: Vec<f64> = match program.curvature {
            Curvature::Dense(matrix) => {
                let rows = matrix.chunks_exact(d).zip(u);
                rows.flat_map(|(row, c)| row.iter().zip(u).map(move |(b, u)| b * u * c)).collect()
            }
            Curvature::Diagonal(bends) => bends.iter().zip(u).map(|(b, u)| b * u * u).collect(),
        };
        let curvature = match program.curvature {
            Curvature::Dense(_) => Curvature::Dense(&matrix),
            Curvature::Diagonal(_) => Curvature::Diagonal(&matrix),
        };
        let coefficients: Vec<Vec<f64>> =
            program.rows.iter().map(|row| times(row.coefficients)).collect();
        let rows = program.rows.iter().zip(&coefficients);
        let rows = rows.map(|(row, own)| Band { coefficients: own, ..*row }).collect();
        let kink = |kink: &Kink| {
            let u = u[kink.coordinate];
            Kink {
                center: kink.center / u,
                cost: kink.cost * u,
                group: kink.group.map(|(group, weight)| (group, weight * u)),
                ..*kink
            }
        };
        // A bound that no norm lets it reach would only hold the first point back.
        let beyond = |(end, reach): (&f64, &f64)| {
            if end.abs() > 2.0 * reach { end.signum() * f64::INFINITY } else { *end }
        };
        let ends = |ends: &[f64]| ends.iter().zip(&self.reach).map(beyond).collect::<Vec<f64>>();
        let scaled = Program {
            curvature,
            linear: times(&program.linear),
            lo: over(&ends(&program.lo)),
            hi: over(&ends(&program.hi)),
            rows,
            kinks: program.kinks.iter().map(kink).collect(),
            limits: program.limits.clone(),
        };
        let answer = Scaled::new(&scaled).solve(&over(start));
        let mut kinks = answer.kinks;
        for (slope, kink) in kinks.iter_mut().zip(&program.kinks) {
            *slope /= u[kink.coordinate];
        }
        Answer { x: times(&answer.x), kinks, ..answer }
    }
}

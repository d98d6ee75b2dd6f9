//! A program without the coordinates that cannot move.

use super::units::Units;
use super::{Answer, Band, Curvature, Kink, Program};
use crate::linalg::vector::{axpy, dot};

/// What is left of a program where some coordinates have one value alone.
pub(super) struct Reduced {
    matrix: Vec<f64>,
    rows: Vec<Vec<f64>>,
    /// Of every kink, which one it is of those that are left.
    kinks: Vec<Option<usize>>,
    /// `x_l` of those that do not move, 0 elsewhere.
    fixed: Vec<f64>,
}

impl Reduced {
    pub(super) fn new(program: &Program<'_>, moving: &[usize]) -> Self {
        let d = program.linear.len();
        let matrix = match program.curvature {
            Curvature::Dense(full) => {
                moving.iter().flat_map(|l| moving.iter().map(move |c| full[l * d + c])).collect()
            }
            Curvature::Diagonal(bends) => moving.iter().map(|&l| bends[l]).collect(),
        };
        let narrow = |row: &Band<'_>| moving.iter().map(|&l| row.coefficients[l]).collect();
        let mut next = 0..;
        let kinks = program
            .kinks
            .iter()
            .map(|kink| moving.binary_search(&kink.coordinate).ok().and_then(|_| next.next()));
        let kinks = kinks.collect();
        let value = |l: usize| if moving.binary_search(&l).is_ok() { 0.0 } else { program.lo[l] };
        let fixed = (0..d).map(value).collect();
        Reduced { matrix, rows: program.rows.iter().map(narrow).collect(), kinks, fixed }
    }

    pub(super) fn solve<'a>(
        &'a self,
        program: &Program<'_>,
        moving: &[usize],
        start: &[f64],
    ) -> Answer {
        let pulled = program.times(&self.fixed);
        let curvature = match program.curvature {
            Curvature::Dense(_) => Curvature::Dense(&self.matrix),
            Curvature::Diagonal(_) => Curvature::Diagonal(&self.matrix),
        };
        let pick = |x: &[f64]| moving.iter().map(|&l| x[l]).collect::<Vec<f64>>();
        let mut linear = pick(&program.linear);
        axpy(1.0, &pick(&pulled), &mut linear);
        let band = |(row, own): (&Band<'_>, &'a Vec<f64>)| {
            let part = dot(row.coefficients, &self.fixed);
            Band { coefficients: own, lo: row.lo - part, hi: row.hi - part }
        };
        let rows = program.rows.iter().zip(&self.rows).map(band).collect();
        let mut limits = program.limits.clone();
        let mut kinks = Vec::new();
        for (kink, left) in program.kinks.iter().zip(&self.kinks) {
            if left.is_some() {
                let place = moving.partition_point(|&l| l < kink.coordinate);
                kinks.push(Kink { coordinate: place, ..*kink });
            } else if let Some((group, weight)) = kink.group {
                limits[group] -= weight * (self.fixed[kink.coordinate] - kink.center).abs();
            }
        }
        let (lo, hi) = (pick(&program.lo), pick(&program.hi));
        let small = Program { curvature, linear, lo, hi, rows, kinks, limits };
        let answer = Units::of(&small).solve(&small, &pick(start));
        let mut x = self.fixed.clone();
        moving.iter().zip(&answer.x).for_each(|(&l, value)| x[l] = *value);
        let of_kink = |(kink, left): (&Kink, &Option<usize>)| {
            let side = (self.fixed[kink.coordinate] - kink.center).signum();
            left.map_or(kink.cost * side, |k| answer.kinks[k])
        };
        let kinks = program.kinks.iter().zip(&self.kinks).map(of_kink).collect();
        Answer { x, kinks, ..answer }
    }
}

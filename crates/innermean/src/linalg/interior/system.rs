//! The linear equations of a step: one Cholesky factor, used for the predictor and the step.

use super::steps::{Point, Scaled, Side};
use super::{Curvature, Kink};
use crate::linalg::cholesky::Cholesky;
use crate::linalg::vector::{axpy, dot};

/// A regularisation of the matrix, relative to its diagonal, where B is singular.
const RIDGE: f64 = 1e-13;
/// Solves of a step: a second one takes off what the ridge and rounding leave of the first.
const SOLVES: usize = 2;

/// A step of every unknown.
pub(super) struct Direction {
    pub(super) x: Vec<f64>,
    pub(super) t: Vec<f64>,
    pub(super) y: Vec<f64>,
    pub(super) slack: Vec<f64>,
    pub(super) dual: Vec<f64>,
}

/// What a kink adds to the matrix, with t eliminated.
struct Bend {
    /// `K_tt` without its group
    of_t: f64,
    /// `K_xt`
    across: f64,
}

/// The matrix `K = B + sum_i (z_i / s_i) c_i' c_i'^T` at a point, factored.
pub(super) struct System<'a, 's> {
    scaled: &'s Scaled<'a>,
    /// K with the t eliminated, and its factor.
    matrix: Vec<f64>,
    factor: Cholesky,
    bends: Vec<Bend>,
    /// For every group, `z / s` of its limit and `D / (1 + D sum_k weight_k^2 / K_tt)`.
    groups: Vec<f64>,
    /// `K^-1 E'`, an equation each, and the factor of `E K^-1 E'`.
    across: Vec<Vec<f64>>,
    equations: Option<Cholesky>,
}

impl<'a, 's> System<'a, 's> {
    /// None if the matrix is not positive definite in double precision.
    pub(super) fn new(scaled: &'s Scaled<'a>, point: &Point) -> Option<Self> {
        let program = scaled.program;
        let d = program.linear.len();
        let mut matrix = match program.curvature {
            Curvature::Dense(matrix) => matrix.to_vec(),
            Curvature::Diagonal(_) => vec![0.0; d * d],
        };
        if let Curvature::Diagonal(bends) = program.curvature {
            matrix.iter_mut().step_by(d + 1).zip(bends).for_each(|(entry, bend)| *entry = *bend);
        }
        let none = || Bend { of_t: 0.0, across: 0.0 };
        let mut bends: Vec<Bend> = program.kinks.iter().map(|_| none()).collect();
        let mut limits = vec![0.0; program.limits.len()];
        for (i, side) in scaled.sides.iter().enumerate() {
            let weight = point.dual[i] / point.slack[i];
            match *side {
                Side::Lower(l) | Side::Upper(l) => matrix[l * (d + 1)] += weight,
                Side::RowLower(k) | Side::RowUpper(k) => {
                    let row = program.rows[k].coefficients;
                    let weight = weight / (scaled.lengths[k] * scaled.lengths[k]);
                    add_product(weight, row, &mut matrix);
                }
                Side::Above(k) => {
                    bends[k].of_t += weight;
                    bends[k].across -= weight;
                }
                Side::Below(k) => {
                    bends[k].of_t += weight;
                    bends[k].across += weight;
                }
                Side::Limit(j) => limits[j] += weight,
            }
        }
        for (kink, bend) in program.kinks.iter().zip(&bends) {
            // (D5 + D6) - (D6 - D5)^2 / (D5 + D6), without the difference
            let (more, less) = (bend.of_t + bend.across, bend.of_t - bend.across);
            matrix[kink.coordinate * (d + 1)] += more * less / bend.of_t;
        }
        let groups = (0..limits.len()).map(|j| {
            let own = own_kinks(&program.kinks, j);
            let sum: f64 = own.map(|(k, weight)| weight * weight / bends[k].of_t).sum();
            limits[j] / (1.0 + limits[j] * sum)
        });
        let groups: Vec<f64> = groups.collect();
        for (j, share) in groups.iter().enumerate() {
            let mut row = vec![0.0; d];
            for (k, weight) in own_kinks(&program.kinks, j) {
                row[program.kinks[k].coordinate] += bends[k].across * weight / bends[k].of_t;
            }
            add_product(*share, &row, &mut matrix);
        }
        let least = RIDGE * scaled.steepness / scaled.size;
        let mut ridged = matrix.clone();
        ridged.iter_mut().step_by(d + 1).for_each(|entry| *entry += RIDGE * *entry + least);
        let factor = Cholesky::new(&ridged, d).ok()?;
        let mut system =
            System { scaled, matrix, factor, bends, groups, across: Vec::new(), equations: None };
        system.prepare_equations()?;
        Some(system)
    }

    fn prepare_equations(&mut self) -> Option<()> {
        let scaled = self.scaled;
        let unit = |k: usize| {
            let length = scaled.lengths[k];
            scaled.program.rows[k].coefficients.iter().map(|a| a / length).collect::<Vec<f64>>()
        };
        let rows: Vec<Vec<f64>> = scaled.equations.iter().map(|&k| unit(k)).collect();
        self.across.clone_from(&rows);
        self.across.iter_mut().for_each(|row| self.factor.solve(row));
        let m = rows.len();
        if m > 0 {
            let mut matrix = vec![0.0; m * m];
            for (k, row) in rows.iter().enumerate() {
                for (c, solved) in self.across.iter().enumerate() {
                    matrix[k * m + c] = dot(row, solved);
                }
            }
            // Equations may depend on each other.
            matrix.iter_mut().step_by(m + 1).for_each(|entry| *entry *= 1.0 + 1e-12);
            self.equations = Some(Cholesky::new(&matrix, m).ok()?);
        }
        Some(())
    }

    /// The step for given `r_c`.
    pub(super) fn direction(
        &self,
        scaled: &Scaled<'_>,
        point: &Point,
        products: &[f64],
    ) -> Direction {
        let (mut x, mut t) = scaled.lagrangian(point);
        x.iter_mut().chain(&mut t).for_each(|r| *r = -*r);
        let slack_residuals = scaled.slack_residuals(point);
        for (i, side) in scaled.sides.iter().enumerate() {
            let pull = (products[i] - point.dual[i] * slack_residuals[i]) / point.slack[i];
            scaled.add_gradient(*side, pull, &mut x, &mut t);
        }
        // t first: x -= K_xt K_tt^-1 t
        let carried = self.solve_t(&t);
        for (k, kink) in scaled.program.kinks.iter().enumerate() {
            x[kink.coordinate] -= self.bends[k].across * carried[k];
        }
        let ends: Vec<f64> =
            scaled.equation_residuals(&point.x).iter().map(|residual| -residual).collect();
        let (x, y) = self.solve_x(&x, &ends);
        for (k, kink) in scaled.program.kinks.iter().enumerate() {
            t[k] -= self.bends[k].across * x[kink.coordinate];
        }
        let t = self.solve_t(&t);
        let (mut slack, mut dual) = (slack_residuals, vec![0.0; products.len()]);
        for (i, side) in scaled.sides.iter().enumerate() {
            slack[i] += scaled.slope(*side, &x, &t);
            dual[i] = (products[i] - point.dual[i] * slack[i]) / point.slack[i];
        }
        Direction { x, t, y, slack, dual }
    }

    /// `K x - E' y = right` and `E x = ends`, each solve after the first for what is left of both.
    fn solve_x(&self, right: &[f64], ends: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let scaled = self.scaled;
        let row = |k: usize| (scaled.program.rows[k].coefficients, scaled.lengths[k]);
        let (mut x, mut y) = (vec![0.0; right.len()], vec![0.0; ends.len()]);
        for _ in 0..SOLVES {
            let products = self.matrix.chunks_exact(x.len()).map(|row| dot(row, &x));
            let mut rest: Vec<f64> =
                right.iter().zip(products).map(|(right, product)| right - product).collect();
            for (&k, y) in scaled.equations.iter().zip(&y) {
                let (row, length) = row(k);
                axpy(y / length, row, &mut rest);
            }
            self.factor.solve(&mut rest);
            if let Some(equations) = &self.equations {
                // dx = K^-1 (rest + E' dy)
                let missing = |(&k, end): (&usize, &f64)| {
                    let (row, length) = row(k);
                    end - (dot(row, &x) + dot(row, &rest)) / length
                };
                let mut change: Vec<f64> = scaled.equations.iter().zip(ends).map(missing).collect();
                equations.solve(&mut change);
                let solved = self.across.iter().zip(&change);
                solved.for_each(|(solved, y)| axpy(*y, solved, &mut rest));
                axpy(1.0, &change, &mut y);
            }
            axpy(1.0, &rest, &mut x);
        }
        (x, y)
    }

    /// `K_tt^-1 t`
    fn solve_t(&self, t: &[f64]) -> Vec<f64> {
        let mut solved: Vec<f64> =
            t.iter().zip(&self.bends).map(|(t, bend)| t / bend.of_t).collect();
        for (j, share) in self.groups.iter().enumerate() {
            let kinks = &self.scaled.program.kinks;
            let sum: f64 = own_kinks(kinks, j).map(|(k, weight)| weight * solved[k]).sum();
            for (k, weight) in own_kinks(kinks, j) {
                solved[k] -= share * sum * weight / self.bends[k].of_t;
            }
        }
        solved
    }
}

/// The kinks of a group with their weights.
fn own_kinks(kinks: &[Kink], group: usize) -> impl Iterator<Item = (usize, f64)> {
    let own =
        move |(k, kink): (usize, &Kink)| kink.group.filter(|g| g.0 == group).map(|g| (k, g.1));
    kinks.iter().enumerate().filter_map(own)
}

/// `matrix += weight row row'`
fn add_product(weight: f64, row: &[f64], matrix: &mut [f64]) {
    for (entries, a) in matrix.chunks_exact_mut(row.len()).zip(row) {
        if *a != 0.0 {
            axpy(weight * a, row, entries);
        }
    }
}

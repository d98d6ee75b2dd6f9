//! Columns brought to one scale for the run.
//!
//! Gradient methods crawl where columns are of very different size, or far from zero. In `z_l =
//! size_l theta_l` the columns are `x_l / size_l`, and g is the same function in other units; where
//! there is an intercept, which is free, columns can be centred as well: `<x, theta> + intercept =
//! sum_l ((x_l - center_l) / size_l) z_l + z_0` with `z_0 = intercept + <centers, theta>`. The
//! problem is the same, and so is its answer in theta. Where there are several classes, each has
//! features and an intercept of its own in theta: the features of all classes first, then the
//! intercepts.
//!
//! Sizes are powers of two, and centers are taken only where every difference is a number of double
//! precision: nothing is rounded, and what is proven of the problem in z holds for that of the
//! file.

use serde::{Deserialize, Serialize};

use self::spread::Spread;
use crate::linalg::precise::Double;
use crate::linalg::scalar::power_of_two_near;
use crate::model::problem::Objective;
use crate::model::regularizer::{Regularizer, Separable};
use crate::model::row_data::RowData;
use crate::model::setting::InvalidSetting;
use crate::run::Solution;

mod spread;

/// The units of z, one size and one center for each feature; none of either if theta is taken as it
/// is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    sizes: Vec<f64>,
    /// Empty without an intercept.
    centers: Vec<f64>,
    /// Classes with features and an intercept of their own.
    classes: usize,
}

/// Columns within this factor of each other are left as they are.
const SIMILAR_SCALES: f64 = 10.0;
/// So are columns that lie no further than this many deviations from zero.
const CENTRED_DEVIATIONS: f64 = 3.0;
/// A column of numbers smaller than this, or larger than its inverse, is beyond help.
const SMALLEST_SCALE: f64 = 1e-100;

impl Scaling {
    /// Scales rows of d features in place, if they need it: shared ones are copied only then, and
    /// rows that are read when they are looked at are scaled then.
    pub fn of_rows(rows: &mut RowData, d: usize, intercept: bool) -> Self {
        Self::of_wide_rows(rows, d, d, intercept)
    }

    /// The same of rows of `width` numbers, the first d of which are features.
    pub fn of_wide_rows(rows: &mut RowData, d: usize, width: usize, intercept: bool) -> Self {
        let scaling = Self::needed(rows, d, width, intercept);
        if scaling.is_on() {
            if rows.held().is_some() {
                scaling.apply_wide(rows.to_mut(), width);
            } else {
                let units = scaling.clone();
                *rows = rows.each_made(width, width, move |row, out| {
                    out.copy_from_slice(row);
                    units.apply_wide(out, width);
                });
            }
        }
        scaling
    }

    /// The units that rows of d features need, if they need others than their own.
    fn needed(rows: &RowData, d: usize, width: usize, intercept: bool) -> Self {
        let Spread { mean: mut centers, variance, is_constant } =
            Spread::of(rows, d, width, intercept);
        let mut sizes: Vec<f64> = variance.into_iter().map(f64::sqrt).collect();
        for (l, (size, center)) in sizes.iter_mut().zip(&mut centers).enumerate() {
            if is_constant[l] && intercept {
                // Only an intercept can take the place of a constant column.
                *size = 1.0;
                continue;
            }
            if !(SMALLEST_SCALE..1.0 / SMALLEST_SCALE).contains(size) {
                (*size, *center) = (1.0, 0.0);
                continue;
            }
            // In these units nothing is rounded: the problem that is solved is that of the file.
            *size = power_of_two_near(*size);
            *center = (*center / *size).round() * *size;
        }
        let (least, most) = sizes
            .iter()
            .fold((f64::INFINITY, 0.0_f64), |(a, b), size| (a.min(*size), b.max(*size)));
        let are_far = |centers: &[f64]| {
            let mut each = centers.iter().zip(&sizes);
            each.any(|(center, size)| center.abs() > CENTRED_DEVIATIONS * size)
        };
        let is_similar = most <= SIMILAR_SCALES * least;
        if is_similar && !are_far(&centers) {
            return Scaling::default();
        }
        let mut are_exact = vec![true; d];
        rows.each_row(width, |_, row| {
            for (l, x) in row[..d].iter().enumerate() {
                are_exact[l] &= is_constant[l] || is_exact(*x, centers[l]);
            }
        });
        for (center, is_exact) in centers.iter_mut().zip(are_exact) {
            if !is_exact {
                *center = 0.0;
            }
        }
        if is_similar && !are_far(&centers) {
            return Scaling::default();
        }
        if !intercept {
            centers.clear();
        }
        Scaling { sizes, centers, classes: 1 }
    }

    /// Units that are known: a size above 0 for each feature, and centers unless there are none.
    pub fn given(sizes: Vec<f64>, centers: Vec<f64>) -> Self {
        Scaling { sizes, centers, classes: 1 }
    }

    /// Brings other rows of as many features to these units, in place. A center is exact for the
    /// rows that it was found from; differences of others may be rounded.
    pub fn apply(&self, rows: &mut [f64]) {
        if self.is_on() {
            self.apply_wide(rows, self.sizes.len());
        }
    }

    /// What follows the features of a row of `width` numbers stays.
    fn apply_wide(&self, rows: &mut [f64], width: usize) {
        let center = |l: usize| self.centers.get(l).copied().unwrap_or(0.0);
        for row in rows.chunks_exact_mut(width) {
            for (l, (x, size)) in row.iter_mut().zip(&self.sizes).enumerate() {
                *x = (*x - center(l)) / size;
            }
        }
    }

    /// Whether these are units of `d` features and this many classes: for numbers that come from a
    /// file.
    pub fn is_for(&self, d: usize, classes: usize) -> bool {
        !self.is_on()
            || (self.sizes.len() == d
                && self.classes == classes
                && (self.centers.is_empty() || self.centers.len() == d)
                && self.sizes.iter().all(|size| size.is_finite() && *size > 0.0)
                && self.centers.iter().all(|center| center.is_finite()))
    }

    /// The same for this many classes.
    #[must_use]
    pub fn of_classes(self, classes: usize) -> Self {
        Scaling { classes, ..self }
    }

    /// Whether anything was changed.
    pub fn is_on(&self) -> bool {
        !self.sizes.is_empty()
    }

    /// g as a function of z.
    ///
    /// # Errors
    /// If g is no sum over coordinates, and so has no other units.
    pub fn regularizer(
        &self,
        g: Box<dyn Regularizer>,
    ) -> Result<Box<dyn Regularizer>, InvalidSetting> {
        if !self.is_on() {
            return Ok(g);
        }
        // Intercepts, if there are any, keep their unit.
        let intercepts = if self.centers.is_empty() { 0 } else { self.classes };
        let mut sizes = self.sizes.repeat(self.classes);
        sizes.resize(sizes.len() + intercepts, 1.0);
        match Separable::rescaled(&*g, &sizes)? {
            Some(rescaled) => Ok(Box::new(rescaled)),
            None => Err(InvalidSetting::new(
                "penalty",
                "no sum over coordinates",
                "one that has other units, or columns as they are",
            )),
        }
    }

    /// `change(coefficients of a class, its intercept)` for every class.
    fn for_classes(&self, theta: &mut [f64], change: impl Fn(&mut [f64], Option<&mut f64>)) {
        if self.is_on() {
            let (heads, intercepts) = theta.split_at_mut(self.classes * self.sizes.len());
            let mut intercepts = intercepts.iter_mut();
            for head in heads.chunks_exact_mut(self.sizes.len()) {
                change(head, intercepts.next());
            }
        }
    }

    /// Brings the answer of a run back to the columns as they are. An intercept next to centers
    /// that are far away is rounded: objective, gap and status are those of the theta that is left,
    /// for a run that asked for that tolerance.
    pub fn restate<'p>(
        &self,
        problem: impl Into<Objective<'p>>,
        tolerance: f64,
        solution: &mut Solution,
    ) {
        let problem = problem.into();
        let z = solution.theta.clone();
        self.unscale(&mut solution.theta);
        let there = self.scaled(&solution.theta);
        if there != z && solution.objective.is_finite() {
            solution.move_objective(problem.objective(&there), tolerance);
        }
    }

    /// theta from z, in place.
    pub fn unscale(&self, z: &mut [f64]) {
        self.for_classes(z, |z, intercept| {
            for (z, size) in z.iter_mut().zip(&self.sizes) {
                *z /= size;
            }
            if let Some(intercept) = intercept {
                *intercept = (Double::from(*intercept) - self.at_centers(z)).value();
            }
        });
    }

    /// `<centers, theta>`
    fn at_centers(&self, theta: &[f64]) -> Double {
        let products =
            theta.iter().zip(&self.centers).map(|(theta, center)| Double::product(*theta, *center));
        products.fold(Double::ZERO, |sum, product| sum + product)
    }

    /// z from theta.
    pub fn scaled(&self, theta: &[f64]) -> Vec<f64> {
        let mut z = theta.to_vec();
        self.for_classes(&mut z, |theta, intercept| {
            if let Some(intercept) = intercept {
                *intercept = (Double::from(*intercept) + self.at_centers(theta)).value();
            }
            for (theta, size) in theta.iter_mut().zip(&self.sizes) {
                *theta *= size;
            }
        });
        z
    }
}

/// What was taken off each feature, and what it was divided by: 1 for a feature that is always the
/// same.
#[derive(Debug, Clone)]
pub struct Standard {
    /// The means.
    pub means: Vec<f64>,
    /// The deviations.
    pub deviations: Vec<f64>,
    /// Features that are always the same.
    pub constant: Vec<usize>,
}

/// Of the size of a feature's mean: what rounding leaves of a constant.
const NO_DEVIATION: f64 = 1e-12;

impl Standard {
    /// Brings rows of d features to mean 0 and deviation 1, in place: random starts and a ridge
    /// mean the same for each then. Rounded, so that the problem is another one.
    ///
    /// # Errors
    /// The number of a feature whose numbers are too large to be squared.
    pub fn of_rows(rows: &mut [f64], d: usize) -> Result<Self, usize> {
        let n = (rows.len() / d) as f64;
        let mut means = vec![0.0; d];
        each(rows, d, |l, x| means[l] += *x / n);
        let mut squares = vec![0.0; d];
        each(rows, d, |l, x| squares[l] += (*x - means[l]) * (*x - means[l]) / n);
        let mut deviations: Vec<f64> = squares.iter().map(|square| square.sqrt()).collect();
        if let Some(l) = deviations.iter().position(|deviation| !deviation.is_finite()) {
            return Err(l);
        }
        let constant: Vec<usize> = (0..d)
            .filter(|&l| deviations[l] <= NO_DEVIATION * means[l].abs() || deviations[l] == 0.0)
            .collect();
        for &l in &constant {
            deviations[l] = 1.0;
        }
        each(rows, d, |l, x| *x = (*x - means[l]) / deviations[l]);
        Ok(Standard { means, deviations, constant })
    }
}

/// Whether `x - center` is a number of double precision.
fn is_exact(x: f64, center: f64) -> bool {
    let difference = x - center;
    let shadow = difference - x;
    (x - (difference - shadow)) - (center + shadow) == 0.0
}

/// `visit(l, number)` for every number, l its column.
fn each(rows: &mut [f64], d: usize, mut visit: impl FnMut(usize, &mut f64)) {
    for row in rows.chunks_exact_mut(d) {
        for (l, x) in row.iter_mut().enumerate() {
            visit(l, x);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_the_same_in_either_unit() {
        let rows = [1000.0, 0.001, 5.0, 1010.0, -0.002, 5.0, 990.0, 0.004, 5.0, 1003.0, 0.0, 5.0];
        let theta = [0.3, -20.0, 7.0, 0.25];
        for intercept in [true, false] {
            let mut scaled = RowData::from(rows.to_vec());
            let scaling = Scaling::of_rows(&mut scaled, 3, intercept);
            assert!(scaling.is_on());
            let theta = &theta[..3 + usize::from(intercept)];
            let mut z = scaling.scaled(theta);
            let score = |row: &[f64], theta: &[f64]| {
                row.iter().zip(theta).map(|(x, t)| x * t).sum::<f64>()
                    + theta.get(3).unwrap_or(&0.0)
            };
            for (row, scaled) in rows.chunks(3).zip(scaled.numbers().chunks(3)) {
                assert!((score(row, theta) - score(scaled, &z)).abs() < 1e-11 * 300.0);
            }
            scaling.unscale(&mut z);
            assert!(
                z.iter().zip(theta).all(|(a, b)| (a - b).abs() < 1e-11 * (1.0 + b.abs()) * 300.0),
                "{z:?}"
            );
        }
    }

    #[test]
    fn nothing_is_rounded() {
        let rows = [1e6 + 0.1, 0.003, 7.3, 1e6 - 0.7, 0.1, 7.3, 1e6 + 0.3, -0.05, 7.3];
        let mut scaled = RowData::from(rows.to_vec());
        let scaling = Scaling::of_rows(&mut scaled, 3, true);
        for (row, scaled) in rows.chunks(3).zip(scaled.numbers().chunks(3)) {
            for l in 0..3 {
                assert_eq!(scaled[l] * scaling.sizes[l] + scaling.centers[l], row[l]);
                assert!(is_exact(row[l], scaling.centers[l]));
            }
            assert!(scaled[0].abs() < 4.0 && scaled[2] == 0.0);
        }
        assert!(!is_exact(0.1, 1e6));
    }

    #[test]
    fn a_g_that_has_no_other_units_is_refused() {
        let scaling = Scaling { sizes: vec![1.0, 1000.0], centers: Vec::new(), classes: 1 };
        let message = scaling
            .regularizer(Box::new(crate::model::regularizer::Simplex))
            .err()
            .expect("no sum")
            .to_string();
        assert!(message.contains("columns as they are"), "{message}");
        assert!(scaling.regularizer(Box::new(crate::model::regularizer::Unregularized)).is_ok());
        assert!(
            Scaling::default().regularizer(Box::new(crate::model::regularizer::Simplex)).is_ok()
        );
    }

    #[test]
    fn columns_that_are_alike_are_left_alone() {
        let rows = [1.0, 0.3, -1.0, -0.3, 0.5, 0.2];
        let mut same = RowData::from(rows.to_vec());
        assert!(!Scaling::of_rows(&mut same, 2, true).is_on());
        assert_eq!(*same.numbers(), rows);
    }

    /// Other rows come to the units of those that they were found from.
    #[test]
    fn other_rows_are_scaled_alike() {
        let rows = [1.0, 2000.0, 2.0, 2300.0, 4.0, 1900.0, -1.0, 2100.0];
        for intercept in [false, true] {
            let mut all = RowData::from(rows.to_vec());
            let scaling = Scaling::of_rows(&mut all, 2, intercept);
            let mut last = [rows[6], rows[7]];
            scaling.apply(&mut last);
            assert_eq!(last, all.numbers()[6..]);
            assert!(scaling.is_on() && scaling.is_for(2, 1));
            assert!(!scaling.is_for(3, 1) && !scaling.is_for(2, 4));
        }
        let mut row = [3.0];
        Scaling::default().apply(&mut row);
        assert!(row == [3.0] && Scaling::default().is_for(7, 2));
    }
}

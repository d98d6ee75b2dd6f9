//! Penalties from strong to weak.

use innermean::elementary::Elementary;

use crate::bags::{BagData, BagSettings, BagTask};
use crate::error::Error;
use crate::linear::{LinearData, LinearSettings, LinearTask, Rows};
use crate::penalty::Penalty;
use crate::run::{Solver, Task, Watch};
use crate::wording::named;

named! {
    /// Which norm a path goes along.
    pub enum PathOf, default L2 {
        /// The l1 norm, from the weight at which all coefficients are zero
        L1 = "l1",
        /// The ridge, from a hundred times the largest variance of a column
        L2 = "l2",
    }
}

/// Weights of a norm in geometric progression, from the largest that is useful.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Path {
    /// Which norm.
    pub of: PathOf,
    /// How many weights.
    pub length: usize,
    /// The smallest over the largest.
    pub ratio: f64,
    /// The weight of the other norm.
    pub other: f64,
}

/// At this many times the largest variance of a column, a ridge leaves about a hundredth of the
/// coefficients of least squares.
const STRONGEST_RIDGE: f64 = 100.0;

/// Of the intercept beside which all coefficients are zero.
const TOLERANCE: f64 = 1e-12;

impl Path {
    /// The weights from `largest` on.
    pub fn from(&self, largest: f64) -> Vec<Penalty> {
        let last = (self.length.max(2) - 1) as f64;
        let weight = |k: usize| largest * self.ratio.to_power(k as f64 / last);
        let penalty = |k: usize| match self.of {
            PathOf::L1 => Penalty { l1: weight(k), l2: self.other },
            PathOf::L2 => Penalty { l1: self.other, l2: weight(k) },
        };
        (0..self.length).map(penalty).collect()
    }

    /// For a linear model of these rows.
    ///
    /// # Errors
    /// If rows or settings are refused.
    pub fn of_linear(
        &self,
        data: &LinearData,
        settings: &LinearSettings,
    ) -> Result<Vec<Penalty>, Error> {
        let (n, d) = (data.len(), data.names().len());
        let largest = match self.of {
            PathOf::L2 => STRONGEST_RIDGE * data.rows().largest_variance(n, d),
            PathOf::L1 => {
                let classes = data.target().width();
                let mut theta = vec![0.0; classes * d];
                let places: Vec<usize> = (0..n).collect();
                if settings.intercept {
                    let nothing = Rows::dense(vec![0.0; n]);
                    let alone = data.subset(&places)?.with_rows(vec!["0".to_owned()], nothing);
                    let mut of_alone = *settings;
                    of_alone.penalty = Penalty { l1: 0.0, l2: 1.0 };
                    let alone = LinearTask::new(alone, &of_alone)?;
                    let mut solver = Solver::default();
                    solver.stop.tolerance = Some(TOLERANCE);
                    let found = alone.run(&solver, Watch::by(&mut ()))?.solution;
                    theta.extend_from_slice(&found.theta[classes..]);
                }
                let mut as_they_are = *settings;
                as_they_are.scaling = false;
                let task = LinearTask::new(data.subset(&places)?, &as_they_are)?;
                largest_slope(&task, &theta, classes * d)
            }
        };
        Ok(self.from(largest))
    }

    /// For a model of rows in groups.
    ///
    /// # Errors
    /// If groups or settings are refused.
    pub fn of_bags(
        &self,
        data: &BagData,
        features: &[f64],
        settings: &BagSettings,
    ) -> Result<Vec<Penalty>, Error> {
        let (n, d) = (data.members().rows(), data.feature_names().len());
        let largest = match self.of {
            PathOf::L2 => STRONGEST_RIDGE * Rows::dense(features.to_vec()).largest_variance(n, d),
            PathOf::L1 => {
                let mut as_they_are = *settings;
                as_they_are.scaling = false;
                let task = BagTask::new(data.clone(), features.to_vec(), &as_they_are)?;
                let theta = task.start().unwrap_or_default();
                largest_slope(&task, &theta, d * data.label_names().len())
            }
        };
        Ok(self.from(largest))
    }
}

/// The largest slope among the first `d` coordinates at theta, which an l1 norm has to outweigh.
fn largest_slope<T: Task>(task: &T, theta: &[f64], d: usize) -> f64 {
    let mut slopes = vec![0.0; theta.len()];
    task.problem().gradient(theta, &mut slopes);
    slopes[..d].iter().fold(0.0_f64, |most, slope| most.max(slope.abs()))
}

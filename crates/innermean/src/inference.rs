//! How sure an answer is: covariances of theta-hat over samples like the one at hand.
//!
//! An answer solves `F'(theta) + g'(theta) = 0`, where F' is a sum over independent units: terms,
//! samples, or clusters of them such as groups and episodes. With the bread `H = F'' + g''` and the
//! scores `s_c` of the units, the sandwich formula (Huber, 1967; White, 1980)
//!
//! ```text
//! Cov(theta-hat) = H^-1 (sum_c s_c s_c') H^-1
//! ```
//!
//! holds whether or not the loss is a likelihood. [`of_terms`] takes the terms of F as the units,
//! [`of_samples`] the samples of a single term under a [`QuadraticForm`](crate::QuadraticForm): the
//! generalised method of moments. [`bootstrap`] draws units again and solves each time.

use crate::linalg::vector::dot;
use crate::setting::InvalidSetting;

pub use bootstrap::{Replicates, bootstrap, resampled_terms};
pub use sandwich::{of_samples, of_terms};

mod bootstrap;
pub mod distributions;
mod sandwich;

/// Which terms or samples belong together: those of one cluster may depend on each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clusters {
    of: Vec<u32>,
    count: usize,
}

impl Clusters {
    /// Each of `n` alone.
    pub fn singles(n: usize) -> Self {
        Clusters { of: (0..n as u32).collect(), count: n }
    }

    /// By a number for each, 0 up to the number of clusters less one.
    ///
    /// # Errors
    /// If a number below the largest is missing.
    pub fn new(of: Vec<u32>) -> Result<Self, InvalidSetting> {
        let count = of.iter().max().map_or(0, |most| *most as usize + 1);
        let mut seen = vec![false; count];
        of.iter().for_each(|&c| seen[c as usize] = true);
        match seen.iter().position(|seen| !seen) {
            Some(c) => Err(InvalidSetting::new(
                "clusters",
                format!("no member of number {c}"),
                "numbers from 0 without a gap",
            )),
            None => Ok(Clusters { of, count }),
        }
    }

    /// The cluster of each.
    pub fn of(&self) -> &[u32] {
        &self.of
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether any has more than one member.
    fn are_joined(&self) -> bool {
        self.count < self.of.len()
    }

    /// What the covariance is multiplied by.
    fn correction(&self, d: usize, correction: Correction) -> Result<f64, Unsure> {
        let (n, count) = (self.of.len(), self.count);
        if count < 2 || n <= d || count <= d && !self.are_joined() {
            return Err(Unsure::TooFew { units: count, d });
        }
        let (n, count) = (n as f64, count as f64);
        Ok(match correction {
            Correction::None => 1.0,
            Correction::SmallSample if self.are_joined() => {
                count / (count - 1.0) * (n - 1.0) / (n - d as f64)
            }
            Correction::SmallSample => n / (n - d as f64),
        })
    }
}

/// Whether residuals of a fit, which are smaller than errors, are made up for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Correction {
    /// They are taken as they are: White's HC0.
    None,
    /// By `n/(n - d)` as White's HC1 has it; for c clusters by `c/(c - 1) (n - 1)/(n - d)`.
    SmallSample,
}

/// Why nothing can be said.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsure {
    /// l1, or another kink of g.
    #[error("the penalty has a corner, so that the answer is not normal about the truth")]
    Corner,
    /// A bound or budget is met with equality.
    #[error("a constraint binds at coordinate {0}")]
    Binds(usize),
    /// Neither a sum over coordinates nor known otherwise.
    #[error("the penalty is no sum over coordinates")]
    Unknown,
    /// phi has no second derivative.
    #[error("the loss has kinks")]
    Kinks,
    /// H is not positive definite.
    #[error("the data do not determine all coordinates: the Hessian is singular")]
    Singular,
    /// Too few units for so many coordinates.
    #[error("{units} independent units are too few for {d} coordinates")]
    TooFew {
        /// Terms, samples or clusters.
        units: usize,
        /// Coordinates.
        d: usize,
    },
    /// theta is not where the gradient vanishes.
    #[error(
        "theta is no minimum: a Newton step from it moves a coordinate by {0:.1e} of its standard error"
    )]
    NotSolved(f64),
    /// The formula is for another kind of problem.
    #[error("{0}")]
    Form(&'static str),
}

/// The covariance of theta-hat.
#[derive(Debug, Clone, PartialEq)]
pub struct Covariance {
    d: usize,
    matrix: Vec<f64>,
    units: usize,
}

impl Covariance {
    /// Of d coordinates, row by row.
    ///
    /// # Panics
    /// Unless the matrix has d rows of d numbers.
    pub fn new(d: usize, matrix: Vec<f64>, units: usize) -> Self {
        assert_eq!(matrix.len(), d * d, "a covariance of {d} coordinates");
        Covariance { d, matrix, units }
    }

    /// d rows of d numbers.
    pub fn matrix(&self) -> &[f64] {
        &self.matrix
    }

    /// The independent units that it was made of.
    pub fn units(&self) -> usize {
        self.units
    }

    /// Roots of its diagonal.
    pub fn standard_errors(&self) -> Vec<f64> {
        self.matrix.iter().step_by(self.d + 1).map(|variance| variance.sqrt()).collect()
    }

    /// That of `A theta-hat`, where `rows` are those of A.
    pub fn of_combinations(&self, rows: &[f64]) -> Covariance {
        let d = self.d;
        let count = rows.len() / d;
        let through: Vec<f64> = rows
            .chunks_exact(d)
            .flat_map(|row| self.matrix.chunks_exact(d).map(|entries| dot(entries, row)))
            .collect();
        let mut matrix = vec![0.0; count * count];
        for (r, through) in through.chunks_exact(d).enumerate() {
            for (c, row) in rows.chunks_exact(d).enumerate() {
                matrix[r * count + c] = dot(through, row);
            }
        }
        Covariance { d: count, matrix, units: self.units }
    }
}

/// `theta -+ z se` with the normal quantile z of the level, such as 0.95.
pub fn interval(theta: f64, standard_error: f64, level: f64) -> [f64; 2] {
    let z = distributions::normal_quantile(0.5 + 0.5 * level);
    [theta - z * standard_error, theta + z * standard_error]
}

//! Columns brought to mean 0 and deviation 1.

use crate::model::row_data::RowData;

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
    /// What brings rows of d features to mean 0 and deviation 1: random starts and a ridge mean the
    /// same for each then. Rounded, so that the problem is another one.
    ///
    /// # Errors
    /// The number of a feature whose numbers are too large to be squared.
    pub fn of_rows(rows: &RowData, d: usize) -> Result<Self, usize> {
        let n = (rows.len() / d) as f64;
        let each = |visit: &mut dyn FnMut(usize, f64)| {
            rows.each_row(d, |_, row| row.iter().enumerate().for_each(|(l, x)| visit(l, *x)));
        };
        let mut means = vec![0.0; d];
        each(&mut |l, x| means[l] += x / n);
        let mut squares = vec![0.0; d];
        each(&mut |l, x| squares[l] += (x - means[l]) * (x - means[l]) / n);
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
        Ok(Standard { means, deviations, constant })
    }

    /// Brings a row to it.
    pub fn bring(&self, row: &mut [f64]) {
        for (x, (mean, deviation)) in row.iter_mut().zip(self.means.iter().zip(&self.deviations)) {
            *x = (*x - mean) / deviation;
        }
    }
}

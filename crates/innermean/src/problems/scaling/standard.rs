//! Columns brought to mean 0 and deviation 1.

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

/// `visit(l, number)` for every number, l its column.
fn each(rows: &mut [f64], d: usize, mut visit: impl FnMut(usize, &mut f64)) {
    for row in rows.chunks_exact_mut(d) {
        for (l, x) in row.iter_mut().enumerate() {
            visit(l, x);
        }
    }
}

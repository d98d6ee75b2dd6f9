//! The covariance of an estimate, and what follows from it.

use super::distributions::student_t_quantile;
use crate::linalg::vector::dot;

/// The covariance of d estimates.
#[derive(Debug, Clone, PartialEq)]
pub struct Covariance {
    d: usize,
    matrix: Vec<f64>,
    degrees_of_freedom: f64,
}

impl Covariance {
    /// A d x d matrix, row by row, with the degrees of freedom of its intervals: infinite for
    /// normal ones.
    ///
    /// # Panics
    /// Unless the matrix has d rows of d numbers and the degrees of freedom are above 0.
    pub fn new(d: usize, matrix: Vec<f64>, degrees_of_freedom: f64) -> Self {
        assert_eq!(matrix.len(), d * d, "a covariance of {d} estimates");
        assert!(degrees_of_freedom > 0.0, "{degrees_of_freedom} degrees of freedom");
        Covariance { d, matrix, degrees_of_freedom }
    }

    /// d rows of d numbers.
    pub fn matrix(&self) -> &[f64] {
        &self.matrix
    }

    /// Those of Student's t in intervals.
    pub fn degrees_of_freedom(&self) -> f64 {
        self.degrees_of_freedom
    }

    /// The square roots of the diagonal.
    pub fn standard_errors(&self) -> Vec<f64> {
        self.matrix.iter().step_by(self.d + 1).map(|variance| variance.max(0.0).sqrt()).collect()
    }

    /// `estimate_l -+ t se_l` for each l with the quantile t that leaves out `1 - level`, half on
    /// each side.
    ///
    /// # Panics
    /// Unless there are d estimates and the level lies strictly between 0 and 1.
    pub fn intervals(&self, estimate: &[f64], level: f64) -> Vec<[f64; 2]> {
        assert_eq!(estimate.len(), self.d, "{} estimates", self.d);
        assert!(level > 0.0 && level < 1.0, "a level of {level}, expected one between 0 and 1");
        let t = student_t_quantile(self.degrees_of_freedom, 0.5 + 0.5 * level);
        let errors = self.standard_errors();
        estimate.iter().zip(errors).map(|(x, error)| [x - t * error, x + t * error]).collect()
    }

    /// The covariance of `A theta-hat` for a matrix A given by its rows of length d: by the delta
    /// method that of any smooth function of theta-hat whose Jacobian is A.
    ///
    /// # Panics
    /// Unless rows are whole.
    #[must_use]
    pub fn of_combinations(&self, rows: &[f64]) -> Covariance {
        let d = self.d;
        assert!(d > 0 && rows.len().is_multiple_of(d), "rows of length {d}");
        let count = rows.len() / d;
        let products: Vec<f64> = rows
            .chunks_exact(d)
            .flat_map(|row| self.matrix.chunks_exact(d).map(|entries| dot(entries, row)))
            .collect();
        let mut matrix = vec![0.0; count * count];
        for (r, product) in products.chunks_exact(d).enumerate() {
            for (c, row) in rows.chunks_exact(d).enumerate() {
                matrix[r * count + c] = dot(product, row);
            }
        }
        Covariance { d: count, matrix, degrees_of_freedom: self.degrees_of_freedom }
    }

    /// The covariance of `map(theta-hat)` for a linear map that acts in place, such as
    /// [`Scaling::unscale`](crate::problems::scaling::Scaling::unscale), which brings the
    /// coefficients of scaled columns back to those of the columns as they were.
    #[must_use]
    pub fn transformed(&self, map: impl Fn(&mut [f64])) -> Covariance {
        let d = self.d;
        let mut rows = vec![0.0; d * d];
        let mut column = vec![0.0; d];
        for l in 0..d {
            column.fill(0.0);
            column[l] = 1.0;
            map(&mut column);
            for (r, x) in column.iter().enumerate() {
                rows[r * d + l] = *x;
            }
        }
        self.of_combinations(&rows)
    }
}

//! The regression of regressors on instruments, which tells how much these say about them.

use super::Moments;
use crate::inference::InferenceError;
use crate::linalg::vector::dot;
use crate::model::merit::QuadraticForm;

/// How much the instruments say about a regressor beyond what the exogenous regressors do: the test
/// that all coefficients of the excluded instruments are 0, of one variance for all errors.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct FirstStage {
    /// `((R - S)/q) / (S/(n - ell))` with the sums of squared residuals S of the regression on all
    /// instruments and R of that on the exogenous regressors alone. Below 10 or so, estimates are
    /// biased towards least squares and intervals too narrow (Staiger and Stock, 1997). NaN where n
    /// is ell, so that no residual is left.
    pub f: f64,
    /// q, the number of excluded instruments, and `n - ell`.
    pub degrees_of_freedom: [usize; 2],
    /// `1 - S/R`
    pub partial_r_squared: f64,
}

/// Of an instrument's mean square, what the instruments before it must leave: less is rounding.
const OWN: f64 = 1e-12;

impl Moments {
    /// The first instrument that is a linear combination of those before it, up to rounding. Columns
    /// far from zero, or in units far apart, are to be brought to one scale before
    /// ([`Scaling`](crate::problems::scaling::Scaling)).
    pub fn dependent_instrument(&self) -> Option<usize> {
        let ell = self.ell;
        let products = self.instrument_products();
        let size: Vec<f64> = (0..ell).map(|c| products[c * ell + c].sqrt()).collect();
        // The Cholesky factor of the products of columns of mean square 1, as far as it goes.
        let mut l = vec![0.0; ell * ell];
        for r in 0..ell {
            if size[r] == 0.0 {
                return Some(r);
            }
            for c in 0..=r {
                let product = products[r * ell + c] / (size[r] * size[c]);
                let rest = product - dot(&l[r * ell..r * ell + c], &l[c * ell..c * ell + c]);
                if c < r {
                    l[r * ell + c] = rest / l[c * ell + c];
                } else if rest > OWN {
                    l[r * ell + r] = rest.sqrt();
                } else {
                    return Some(r);
                }
            }
        }
        None
    }

    /// One for each of the first `endogenous` regressors. The last `d - endogenous` instruments are
    /// the other regressors.
    ///
    /// # Errors
    /// If instruments are linearly dependent.
    ///
    /// # Panics
    /// If there are fewer regressors than that, or fewer instruments than other regressors.
    pub fn first_stages(&self, endogenous: usize) -> Result<Vec<FirstStage>, InferenceError> {
        let (d, ell, n) = (self.d, self.ell, self.outcomes.len());
        assert!(endogenous <= d && d - endogenous <= ell, "{endogenous} of {d} regressors");
        let excluded = ell - (d - endogenous);
        let products = self.instrument_products();
        let all = QuadraticForm::new(products.clone())?;
        let included: Vec<f64> = (excluded..ell)
            .flat_map(|r| &products[r * ell + excluded..(r + 1) * ell])
            .copied()
            .collect();
        let others = match included.len() {
            0 => None,
            _ => Some(QuadraticForm::new(included)?),
        };
        // The sum of squared residuals of regressor l with the instruments from `first` on.
        let left = |l: usize, first: usize, form: Option<&QuadraticForm>| -> f64 {
            let mut slope: Vec<f64> = (first..ell).map(|c| self.a[c * d + l]).collect();
            if let Some(form) = form {
                form.factor().solve(&mut slope);
            }
            let residual =
                |j: usize| self.regressor(j)[l] - dot(&self.instrument(j)[first..], &slope);
            (0..n).map(|j| residual(j).powi(2)).sum()
        };
        let degrees_of_freedom = [excluded, n.saturating_sub(ell)];
        let of = |l: usize| {
            let (full, restricted) = (left(l, 0, Some(&all)), left(l, excluded, others.as_ref()));
            let [q, rest] = degrees_of_freedom.map(|degrees| degrees as f64);
            FirstStage {
                // Without degrees of freedom there is no such test.
                f: if rest > 0.0 { ((restricted - full) / q) / (full / rest) } else { f64::NAN },
                degrees_of_freedom,
                partial_r_squared: 1.0 - full / restricted,
            }
        };
        Ok((0..endogenous).map(of).collect())
    }
}

//! The sandwich `H^-1 (sum_c s_c s_c') H^-1` of terms, and of the samples of one mean.

use super::bread::{
    Bread, GoOn, add_penalty, add_shifts, loss_hessian, or_out_of_time, smooth_penalty,
};
use super::{Correction, Covariance, Dependence, InferenceError};
use crate::linalg::vector::{axpy, dot};
use crate::model::inner::mean_jacobian;
use crate::model::problem::Objective;

/// How a covariance is made of scores.
///
/// ```
/// use innermean::inference::{Dependence, Sandwich};
/// use innermean::problems::linear::ridge_regression;
///
/// // y = 1 + 2 x and some noise
/// let rows = vec![0.0, 1.0, 1.0, 1.0, 2.0, 1.0, 3.0, 1.0, 4.0, 1.0];
/// let problem = ridge_regression(2, rows, &[1.1, 2.8, 5.1, 6.9, 9.1], 0.0)?;
/// let theta = innermean::solve(&problem, &[0.0; 2])?.theta;
/// let covariance = Sandwich::new(Dependence::Independent).of_terms(&problem, &theta)?;
/// let [low, high] = covariance.intervals(&theta, 0.95)[0];
/// assert!(1.8 < low && low < 2.0 && 2.0 < high && high < 2.2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Sandwich {
    /// Which terms or samples depend on each other.
    pub dependence: Dependence,
    /// What makes up for residuals that are smaller than errors.
    pub correction: Correction,
    /// Sets of coordinates to which a constant may be added without changing the loss, such as the
    /// coefficients of one feature for all classes of a softmax
    /// ([`SoftmaxBags::shifts`](crate::SoftmaxBags::shifts)). The covariance is that of theta less
    /// the means of these sets, unless a penalty fixes them.
    pub shifts: Vec<Vec<usize>>,
}

impl Sandwich {
    /// With the small-sample correction and no shifts.
    pub fn new(dependence: Dependence) -> Self {
        Sandwich { dependence, correction: Correction::SmallSample, shifts: Vec::new() }
    }

    /// The covariance of a theta-hat that minimises `(1/n) sum_i phi_i(fbar_i(theta)) + g(theta)`
    /// with independent terms, or independent clusters of them. The score of a term is
    /// `fbar_i' phi_i'(fbar_i) / n`.
    ///
    /// # Errors
    /// See [`InferenceError`].
    ///
    /// # Panics
    /// Unless theta has the length of the problem's, and clusters are those of its terms.
    pub fn of_terms<'p>(
        &self,
        problem: impl Into<Objective<'p>>,
        theta: &[f64],
    ) -> Result<Covariance, InferenceError> {
        self.covariance_of_terms(problem.into(), theta, &|| Ok(()))
    }

    /// The same as long as `go_on` says so, which is asked a few times for each coordinate.
    ///
    /// # Errors
    /// See [`InferenceError`]; [`InferenceError::OutOfTime`] once it says no.
    ///
    /// # Panics
    /// As [`Sandwich::of_terms`].
    pub fn of_terms_while<'p>(
        &self,
        go_on: &(dyn Fn() -> bool + Sync),
        problem: impl Into<Objective<'p>>,
        theta: &[f64],
    ) -> Result<Covariance, InferenceError> {
        self.covariance_of_terms(problem.into(), theta, &or_out_of_time(go_on))
    }

    fn covariance_of_terms(
        &self,
        problem: Objective<'_>,
        theta: &[f64],
        go_on: &GoOn<'_>,
    ) -> Result<Covariance, InferenceError> {
        let f = problem.inner;
        let (n, ell, d) = (f.n_x(), f.ell(), f.d());
        assert_eq!(theta.len(), d, "a theta of {d} coordinates");
        self.dependence.assert_covers(n);
        let g = smooth_penalty(problem, theta)?;
        if problem.merit.has_kinks() {
            return Err(InferenceError::LossKink);
        }
        let (mut f_bar, mut w) = (vec![0.0; n * ell], vec![0.0; n * ell]);
        let mut slope = vec![0.0; d];
        problem.loss_and_gradient(theta, &mut f_bar, &mut w, &mut slope);
        let mut hessian = loss_hessian(problem, theta, &f_bar, go_on)?;
        add_penalty(&g, &mut hessian);
        let identified = d - add_shifts(&self.shifts, &mut hessian, d);
        let factor = self.dependence.factor(n, identified, self.correction)?;
        let bread = Bread::new(hessian, d)?;

        let share = 1.0 / n as f64;
        let add_score = |i: usize, out: &mut [f64]| {
            f.add_mean_jac_t(theta, i, &w[i * ell..(i + 1) * ell], share, out);
        };
        // A penalty moves the mean of the scores away from 0.
        let add_centred = |i: usize, out: &mut [f64]| {
            add_score(i, out);
            axpy(-share, &slope, out);
        };
        let middle = self.dependence.sum_of_products(n, d, &add_centred, go_on)?;
        let matrix = bread.around(middle, factor, go_on)?;
        g.add_gradient(theta, &mut slope);
        let cancelled = |step: &[f64]| {
            let mut score = vec![0.0; d];
            let mut along = |i: usize| {
                score.fill(0.0);
                add_score(i, &mut score);
                dot(&score, step).abs()
            };
            (0..n).map(&mut along).sum()
        };
        bread.check_minimum(problem, &g, theta, &slope, &matrix, &cancelled)?;
        Ok(Covariance::new(d, matrix, self.dependence.degrees_of_freedom(n, identified)))
    }

    /// The covariance of a theta-hat that minimises `u' C^-1 u / 2 + g(theta)` with the mean
    /// `u = fbar(theta) = J theta + b` of affine moments `f_t` of one sample: the projected Bellman
    /// error, whose moments are `phi_t (r_t - <phi_t - gamma phi'_t, theta>)`, and with it LSTD.
    ///
    /// With `w = C^-1 u` the score of sample t is `(J_t' w + J' C^-1 (f_t - u) - J' C^-1 (c_t c_t' -
    /// C) w) / n`, the last part where C is the mean of `c_t c_t'` over the same samples. Where u is
    /// 0, as without a penalty and with as many moments as coordinates, this is LSTD's
    /// `A^-1 (sum_t f_t f_t') A'^-1 / n^2`.
    ///
    /// From a log of episodes, transitions are clustered by episode. Along one trajectory the
    /// moments are uncorrelated if the value function is a combination of the features, and
    /// [`Dependence::Independent`] is right; if it is only near one, take
    /// [`Dependence::Serial`] with lags of the order of the mixing time.
    ///
    /// # Errors
    /// See [`InferenceError`]; also if there are several terms, or phi is not a quadratic form.
    ///
    /// # Panics
    /// Unless theta has the length of the problem's, and clusters are those of its samples.
    pub fn of_samples<'p>(
        &self,
        problem: impl Into<Objective<'p>>,
        theta: &[f64],
    ) -> Result<Covariance, InferenceError> {
        self.covariance_of_samples(problem.into(), theta, &|| Ok(()))
    }

    /// The same as long as `go_on` says so, which is asked a few times for each coordinate.
    ///
    /// # Errors
    /// As [`Sandwich::of_samples`]; [`InferenceError::OutOfTime`] once it says no.
    ///
    /// # Panics
    /// As [`Sandwich::of_samples`].
    pub fn of_samples_while<'p>(
        &self,
        go_on: &(dyn Fn() -> bool + Sync),
        problem: impl Into<Objective<'p>>,
        theta: &[f64],
    ) -> Result<Covariance, InferenceError> {
        self.covariance_of_samples(problem.into(), theta, &or_out_of_time(go_on))
    }

    fn covariance_of_samples(
        &self,
        problem: Objective<'_>,
        theta: &[f64],
        go_on: &GoOn<'_>,
    ) -> Result<Covariance, InferenceError> {
        let f = problem.inner;
        let (ell, d) = (f.ell(), f.d());
        assert_eq!(theta.len(), d, "a theta of {d} coordinates");
        let form = problem.merit.quadratic_form();
        let (Some(form), 1, true) = (form, f.n_x(), f.facts().affine) else {
            return Err(InferenceError::WrongForm(
                "the formula is for a quadratic form of one mean of affine moments",
            ));
        };
        let n = f.n_y(0);
        self.dependence.assert_covers(n);
        let g = smooth_penalty(problem, theta)?;
        let (mut u, mut w, mut slope) = (vec![0.0; ell], vec![0.0; ell], vec![0.0; d]);
        problem.loss_and_gradient(theta, &mut u, &mut w, &mut slope);
        let mut hessian = loss_hessian(problem, theta, &u, go_on)?;
        add_penalty(&g, &mut hessian);
        let identified = d - add_shifts(&self.shifts, &mut hessian, d);
        let factor = self.dependence.factor(n, identified, self.correction)?;
        let bread = Bread::new(hessian, d)?;

        let mut jacobian = vec![0.0; ell * d];
        mean_jacobian(f, theta, 0, &mut jacobian);
        let rows = form.rows().filter(|rows| rows.len() == n * ell);
        let share = 1.0 / n as f64;
        let add_score = |t: usize, out: &mut [f64]| {
            let mut moment = vec![0.0; ell];
            f.value(theta, 0, t, &mut moment);
            f.add_jac_t(theta, 0, t, &w, share, out);
            axpy(-share, &slope, out);
            // C w = u: the last part is `u - c_t <c_t, w>`.
            match rows.map(|rows| &rows[t * ell..(t + 1) * ell]) {
                Some(row) => axpy(-dot(row, &w), row, &mut moment),
                None => axpy(-1.0, &u, &mut moment),
            }
            form.factor().solve(&mut moment);
            for (row, x) in jacobian.chunks_exact(d).zip(&moment) {
                axpy(share * x, row, out);
            }
        };
        let middle = self.dependence.sum_of_products(n, d, &add_score, go_on)?;
        let matrix = bread.around(middle, factor, go_on)?;
        let mut gradient = slope.clone();
        g.add_gradient(theta, &mut gradient);
        // An affine f and a quadratic phi: the Newton step ends at the minimum.
        bread.check_minimum(problem, &g, theta, &gradient, &matrix, &|_| f64::INFINITY)?;
        Ok(Covariance::new(d, matrix, self.dependence.degrees_of_freedom(n, identified)))
    }
}

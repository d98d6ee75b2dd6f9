//! Policy evaluation by the mean squared projected Bellman error (Sutton et al. 2009; as a saddle problem, Du et al. 2017).
//!
//! A policy has been followed for T transitions: features `phi_t` in `R^d` of a state, reward `r_t`, features `phi'_t` of the next state.
//! The value of a state is modelled as `<phi, theta>`, with discount factor `gamma`. With
//! `A = (1/T) sum_t phi_t (phi_t - gamma phi'_t)'`, `b = (1/T) sum_t r_t phi_t` and `C = (1/T) sum_t phi_t phi_t'`,
//!
//! ```text
//! min over theta of  (b - A theta)' C^-1 (b - A theta) / 2 + (rho/2) |theta|^2
//! f_theta(y_t) = r_t phi_t - phi_t <phi_t - gamma phi'_t, theta>,  n_X = 1,  n_Y = T,  ell = d
//! ```
//!
//! and phi the [`QuadraticForm`] of C, whose rows are the features. For `rho = 0` and a regular A the minimum is zero, where
//! `A theta = b`: the LSTD solution.

use std::sync::Arc;

use crate::elimination;
use crate::inner::{Bounds, Inner, Sample, Structure};
use crate::merit::QuadraticForm;
use crate::problem::Problem;
use crate::regularizer::Ridge;
use crate::setting::{self, InvalidSetting};
use crate::vector::{axpy, dot, norm_squared, prefetch};

/// The f of the projected Bellman error. A value and a product cost `O(d)`; averages come from A and b, which are kept.
#[derive(Debug, Clone)]
pub struct Mspbe {
    d: usize,
    /// `phi_t`, T rows of d
    features: Arc<[f64]>,
    /// `phi_t - gamma phi'_t`, T rows of d
    differences: Vec<f64>,
    rewards: Vec<f64>,
    /// A, row by row
    a: Vec<f64>,
    b: Vec<f64>,
    /// `max_t |phi_t| |phi_t - gamma phi'_t|`
    reach: f64,
}

impl Mspbe {
    /// Takes `features` and `next_features` as rows of length `d`, one for each reward.
    ///
    /// # Errors
    /// Unless there is a row of finite numbers for each reward, at least one, and the discount lies in `[0, 1]`.
    pub fn new(
        d: usize,
        features: Vec<f64>,
        next_features: &[f64],
        rewards: Vec<f64>,
        discount: f64,
    ) -> Result<Self, InvalidSetting> {
        let t = rewards.len();
        for (name, rows) in [("features", &features[..]), ("next_features", next_features)] {
            if d == 0 || t == 0 || rows.len() != t * d {
                let shape = format!("{} numbers in rows of {d}", rows.len());
                return Err(InvalidSetting::new(name, shape, format!("a row for each of the {t} rewards")));
            }
            if let Some(bad) = rows.iter().position(|x| !x.is_finite()) {
                let place = format!("{} in row {}, column {}", rows[bad], bad / d, bad % d);
                return Err(InvalidSetting::new(name, place, "finite numbers"));
            }
        }
        let rewards = setting::all_finite("rewards", rewards)?;
        if !(0.0..=1.0).contains(&discount) {
            return Err(InvalidSetting::new("discount", format!("{discount:?}"), "a number from 0 to 1"));
        }
        let differences: Vec<f64> =
            features.iter().zip(next_features).map(|(now, next)| now - discount * next).collect();
        let (mut a, mut b, mut reach) = (vec![0.0; d * d], vec![0.0; d], 0.0_f64);
        let scale = 1.0 / t as f64;
        let rows = features.chunks_exact(d).zip(differences.chunks_exact(d));
        for ((phi, difference), reward) in rows.zip(&rewards) {
            for (row, phi) in a.chunks_exact_mut(d).zip(phi) {
                axpy(scale * phi, difference, row);
            }
            axpy(scale * reward, phi, &mut b);
            reach = reach.max((norm_squared(phi) * norm_squared(difference)).sqrt());
        }
        Ok(Mspbe { d, features: features.into(), differences, rewards, a, b, reach })
    }

    /// The whole problem, with the ridge `(rho/2) |theta|^2`.
    ///
    /// # Errors
    /// If the features do not span `R^d`, or rho is negative.
    pub fn problem(self, rho: f64) -> Result<Problem<Mspbe, QuadraticForm, Ridge>, InvalidSetting> {
        let merit = QuadraticForm::from_rows(self.d, Arc::clone(&self.features))?;
        let regularizer =
            Ridge::from_weight(rho).map_err(|_| setting::non_negative("rho", rho).unwrap_err())?;
        Ok(Problem { inner: self, merit, regularizer })
    }

    /// `A theta = b`, the minimiser for `rho = 0`; none if A is singular.
    pub fn lstd(&self) -> Option<Vec<f64>> {
        elimination::solve(&self.a, &self.b)
    }

    /// A, row by row.
    pub fn a(&self) -> &[f64] {
        &self.a
    }

    /// b
    pub fn b(&self) -> &[f64] {
        &self.b
    }

    #[inline(always)]
    fn feature(&self, t: usize) -> &[f64] {
        &self.features[t * self.d..(t + 1) * self.d]
    }

    #[inline(always)]
    fn difference_row(&self, t: usize) -> &[f64] {
        &self.differences[t * self.d..(t + 1) * self.d]
    }
}

impl Inner for Mspbe {
    #[inline(always)]
    fn d(&self) -> usize {
        self.d
    }

    #[inline(always)]
    fn ell(&self) -> usize {
        self.d
    }

    #[inline(always)]
    fn n_x(&self) -> usize {
        1
    }

    #[inline(always)]
    fn n_y(&self, _: usize) -> usize {
        self.rewards.len()
    }

    fn structure(&self) -> Structure {
        Structure { affine: true, sample: Sample::Shared }
    }

    fn bounds(&self) -> Bounds {
        let mean = norm_squared(&self.a).sqrt();
        Bounds { b_f: Some(self.reach), b_theta: Some(0.0), mean_jacobian: Some(mean) }
    }

    #[inline(always)]
    fn prefetch(&self, _: usize, t: usize) {
        prefetch(&self.features, t * self.d, self.d);
        prefetch(&self.differences, t * self.d, self.d);
    }

    /// `phi_t (r_t - <phi_t - gamma phi'_t, theta>)`
    #[inline(always)]
    fn value(&self, theta: &[f64], _: usize, t: usize, out: &mut [f64]) {
        let error = self.rewards[t] - dot(self.difference_row(t), theta);
        out.fill(0.0);
        axpy(error, self.feature(t), out);
    }

    /// `-(phi_t - gamma phi'_t) <phi_t, w>`
    #[inline(always)]
    fn add_jac_t(&self, _: &[f64], _: usize, t: usize, w: &[f64], c: f64, out: &mut [f64]) {
        axpy(-c * dot(self.feature(t), w), self.difference_row(t), out);
    }

    /// `b - A theta`
    #[inline(always)]
    fn mean(&self, theta: &[f64], _: usize, _: &mut [f64], out: &mut [f64]) {
        for ((out, row), b) in out.iter_mut().zip(self.a.chunks_exact(self.d)).zip(&self.b) {
            *out = b - dot(row, theta);
        }
    }

    /// `-A' w`
    #[inline(always)]
    fn add_mean_jac_t(&self, _: &[f64], _: usize, w: &[f64], c: f64, out: &mut [f64]) {
        for (row, w) in self.a.chunks_exact(self.d).zip(w) {
            axpy(-c * w, row, out);
        }
    }
}

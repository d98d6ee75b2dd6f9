//! The variance-reduced estimator of the gradient of a composition that Comp-SVRG-1, Comp-SVRG-2,
//! VRSC-PG and ASCVRG share, and their state. Each method's file holds its box: which estimator,
//! how many samples, how long a loop, which reference point.
//!
//! At a reference point `theta_ref` a snapshot gives all `fbar_i(theta_ref)` and the whole gradient
//! `h~ = F'(theta_ref)`. A step draws i and A samples j of it, and estimates
//!
//! ```text
//! fhat_i = fbar_i(theta_ref) + mean_A( f_theta(x_i, y_ij) - f_theta_ref(x_i, y_ij) )
//! ```
//!
//! and the mean Jacobian by one sample, or by `fbar_i'(theta_ref)` and B samples of its change.
//!
//! The papers have a sample that is shared by all i, problem (2); here is the same for problem
//! (1). Nothing is lost: where the sample is shared, the lines are theirs, and for a separable `f =
//! a_theta(x_i) + b_theta(y_j)`, like the portfolio's, they are what the identification
//! `F_theta(y_j) = (theta, b_theta(y_j))` gives, because `a_theta(x_i)` is the same in `f_theta`
//! and in its mean and so enters `B_i Fhat` exactly.

use serde::{Deserialize, Serialize};

use crate::draws::Stream;
use crate::linalg::vector::{Aligned, axpy, update, update_with};
use crate::model::inner::{Sample, jacobian_spread};
use crate::model::problem::Objective;
use crate::oracle::Oracle;
use crate::tuning::curvature;

/// The steps of a loop where there are only a few outer terms: a loop that is worth its snapshot.
pub(in crate::methods) const SHORTEST: usize = 50;

/// The state of the four methods.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Composition {
    /// The iterate.
    pub theta: Aligned,
    /// The reference point.
    pub theta_ref: Aligned,
    /// `fbar_i(theta_ref)`, flat.
    f_bar: Vec<f64>,
    /// `fbar_i'(theta_ref)`, ell rows of d for each i, or for all at once where the sample is
    /// shared; empty if not stored.
    jac_bar: Vec<f64>,
    /// Whether `jac_bar` holds the Jacobians of an affine f, good for ever.
    jac_bar_known: bool,
    /// `h~ = F'(theta_ref)`
    gradient: Aligned,
    /// h
    direction: Aligned,
    /// The sum of the iterates of this loop and, after its last step, their average; empty where
    /// the last iterate is taken.
    average: Aligned,
    /// Steps made in this loop, of how many, and in those before it.
    pub(in crate::methods) k: usize,
    pub(in crate::methods) steps: usize,
    pub(in crate::methods) before: usize,
    /// Loops begun.
    pub(in crate::methods) outer: usize,
    /// `fhat_i`, and `phi_i'` at it and at `fbar_i(theta_ref)`.
    f_hat: Vec<f64>,
    slope: Vec<f64>,
    slope_ref: Vec<f64>,
    /// Two vectors of length ell, and one of the size of `f_bar` for a snapshot.
    change: Vec<f64>,
    work: Vec<f64>,
    all_slopes: Vec<f64>,
    draws: Draws,
}

/// One stream for each random variable.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Draws {
    /// i
    i: Stream,
    /// The A samples for the average.
    value_j: Stream,
    /// The sample, or the B samples, for its Jacobian.
    jacobian_j: Stream,
}

/// Which numbers a method keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::methods) struct Keeps {
    /// `fbar_i'(theta_ref)`
    pub(in crate::methods) jacobians: bool,
    /// The average of a loop's iterates, which becomes the next reference point.
    pub(in crate::methods) average: bool,
}

impl Composition {
    /// Everything allocated, nothing asked.
    pub(in crate::methods) fn new(
        oracle: &Oracle<'_>,
        theta: &[f64],
        seed: u64,
        keeps: Keeps,
    ) -> Self {
        let (d, ell, n_x) = (oracle.d(), oracle.ell(), oracle.n_x());
        let terms = if oracle.facts().sample == Sample::Shared { 1 } else { n_x };
        Composition {
            theta: theta.into(),
            theta_ref: theta.into(),
            f_bar: vec![0.0; n_x * ell],
            jac_bar: vec![0.0; if keeps.jacobians { terms * ell * d } else { 0 }],
            jac_bar_known: false,
            gradient: Aligned::zeros(d),
            direction: Aligned::zeros(d),
            average: if keeps.average { theta.into() } else { Aligned::zeros(0) },
            k: 0,
            steps: 0,
            before: 0,
            outer: 0,
            f_hat: vec![0.0; ell],
            slope: vec![0.0; ell],
            slope_ref: vec![0.0; ell],
            change: vec![0.0; ell],
            work: vec![0.0; ell],
            all_slopes: vec![0.0; n_x * ell],
            draws: Draws {
                i: Stream::new(seed, 0),
                value_j: Stream::new(seed, 1),
                jacobian_j: Stream::new(seed, 2),
            },
        }
    }

    /// The head of a loop of `steps` steps: `theta_ref`, `fbar_i(theta_ref)`, `h~` and, where they
    /// are stored, `fbar_i'(theta_ref)`.
    pub(in crate::methods) fn snapshot(&mut self, oracle: &mut Oracle<'_>, steps: usize) {
        let next = if self.average.is_empty() { &self.theta } else { &self.average };
        self.theta_ref.copy_from_slice(next);
        self.average.fill(0.0);
        self.outer += 1;
        self.before += self.k;
        (self.k, self.steps) = (0, steps);
        oracle.pass().gradient(
            &self.theta_ref,
            &mut self.f_bar,
            &mut self.all_slopes,
            &mut self.gradient,
        );
        if !self.jac_bar.is_empty() && !self.jac_bar_known {
            oracle.pass().mean_jacobians(&self.theta_ref, &mut self.jac_bar);
            self.jac_bar_known = oracle.facts().affine;
        }
    }

    /// The reference point and the averages at it.
    pub(in crate::methods) fn reference(&self) -> (&[f64], &[f64]) {
        (&self.theta_ref, &self.f_bar)
    }

    /// `h = h~`, to which a step adds its corrections.
    #[inline(always)]
    pub(in crate::methods) fn begin_step(&mut self) {
        self.direction.copy_from_slice(&self.gradient);
    }

    /// Draws i.
    #[inline(always)]
    pub(in crate::methods) fn draw_term(&mut self, oracle: &Oracle<'_>) -> usize {
        self.draws.i.index(oracle.n_x())
    }

    /// Draws A samples of i: `fhat_i`, then `phi_i'(fhat_i)` and `phi_i'(fbar_i(theta_ref))`.
    #[inline(always)]
    pub(in crate::methods) fn estimate_average(
        &mut self,
        oracle: &mut Oracle<'_>,
        i: usize,
        samples: usize,
    ) {
        let (ell, n_y) = (oracle.ell(), oracle.n_y(i));
        let f_bar = &self.f_bar[i * ell..(i + 1) * ell];
        self.f_hat.copy_from_slice(f_bar);
        for k in 0..samples {
            if oracle.patience.ends_at(k) {
                break;
            }
            let j = self.draws.value_j.index(n_y);
            oracle.difference(&self.theta, &self.theta_ref, i, j, &mut self.work, &mut self.change);
            axpy(1.0 / samples as f64, &self.change, &mut self.f_hat);
        }
        oracle.merit_gradient(i, &self.f_hat, &mut self.slope);
        oracle.merit_gradient(i, f_bar, &mut self.slope_ref);
    }

    /// Draws a sample of i: `h += c [ f'_theta(x_i, y_ij) phi_i'(fhat_i) - f'_theta_ref(x_i, y_ij)
    /// phi_i'(fbar_i(theta_ref)) ]`.
    #[inline(always)]
    pub(in crate::methods) fn add_by_sample(&mut self, oracle: &mut Oracle<'_>, i: usize, c: f64) {
        let j = self.draws.jacobian_j.index(oracle.n_y(i));
        if oracle.facts().affine {
            // One f' for both.
            update_with(&mut self.slope, &self.slope_ref, |at_theta, at_ref| at_theta - at_ref);
            return oracle.add_jac_t(&self.theta, i, j, &self.slope, c, &mut self.direction);
        }
        oracle.add_jac_t(&self.theta, i, j, &self.slope, c, &mut self.direction);
        oracle.add_jac_t(&self.theta_ref, i, j, &self.slope_ref, -c, &mut self.direction);
    }

    /// Draws B samples of i: `Jhat = fbar_i'(theta_ref) + mean_B( f'_theta(x_i, y_ij) -
    /// f'_theta_ref(x_i, y_ij) )` and `h += c [ Jhat phi_i'(fhat_i) - fbar_i'(theta_ref)
    /// phi_i'(fbar_i(theta_ref)) ]`.
    #[inline(always)]
    pub(in crate::methods) fn add_by_mean(
        &mut self,
        oracle: &mut Oracle<'_>,
        i: usize,
        samples: usize,
        c: f64,
    ) {
        let (d, ell) = (oracle.d(), oracle.ell());
        let own = if oracle.facts().sample == Sample::Shared { 0 } else { i * ell * d };
        let rows = self.jac_bar[own..own + ell * d].chunks_exact(d);
        for ((row, at_theta), at_ref) in rows.zip(&self.slope).zip(&self.slope_ref) {
            axpy(c * (at_theta - at_ref), row, &mut self.direction);
        }
        if oracle.facts().affine {
            return;
        }
        update(&mut self.slope, |slope| slope * c / samples as f64);
        for k in 0..samples {
            if oracle.patience.ends_at(k) {
                break;
            }
            let j = self.draws.jacobian_j.index(oracle.n_y(i));
            let (theta, theta_ref) = (&self.theta, &self.theta_ref);
            oracle.add_jac_t_difference(theta, theta_ref, i, j, &self.slope, &mut self.direction);
        }
    }

    /// `theta <- prox_{alpha g}(theta - alpha h)`
    #[inline(always)]
    pub(in crate::methods) fn step(&mut self, oracle: &Oracle<'_>, alpha: f64) {
        oracle.g().step(alpha, &self.direction, &mut self.theta);
        self.k += 1;
        if !self.average.is_empty() {
            axpy(1.0 / self.steps as f64, &self.theta, &mut self.average);
            if self.k == self.steps {
                // Rounding may have carried the average out of a constraint.
                oracle.problem().allow(&mut self.average);
            }
        }
    }

    /// The iterate or, at the end of a loop, the next reference point.
    pub(in crate::methods) fn output(&self) -> &[f64] {
        let ended = self.k == self.steps && !self.average.is_empty();
        if ended { &self.average } else { &self.theta }
    }
}

/// What a step of the four methods must not exceed the inverse of, up to a constant: the curvature
/// of the mean, and what terms and samples that are drawn add to it, less the more are drawn. SCGD
/// and ASC-PG, which draw one of each, begin with such a step too.
pub(in crate::methods) fn smoothness(
    problem: Objective<'_>,
    theta: &[f64],
    terms: usize,
    samples: usize,
) -> f64 {
    let start = problem.allowed(theta);
    let spread = jacobian_spread(problem.inner, &start) / problem.gamma_at(&start);
    let by_terms = curvature::of_terms(problem, &start) + SPREAD * spread / samples as f64;
    curvature::of_mean(problem, &start) + by_terms / terms as f64
}

/// The step times the smoothness. Found on a generated portfolio (free, long-only, semivariance),
/// Bellman residuals of 10 and 100 states, least squares and logistic losses of rows, least squares
/// of scattered groups and softplus of softplus: twice as much converges too on all of them, four
/// times as much fails on the portfolio, the rows and the groups.
pub(in crate::methods) const STEP: f64 = 1.0;
/// The weight of the spread of single samples, found with the step: without it, groups that scatter
/// diverge.
const SPREAD: f64 = 4.0;

//! The problem: f, phi and g together, with its objective, gradient and constants.
//!
//! Nothing here is counted as an oracle call: these are the judge's calls, not the method's (see
//! `oracle.rs`).

use std::fmt;
use std::ops::Range;

use crate::linalg::blocks::{Blocks, MERIT};
use crate::linalg::vector::norm_squared;
use crate::model::inner::Inner;
use crate::model::merit::Merit;
use crate::model::regularizer::Regularizer;
use crate::model::setting::InvalidSetting;

/// `P(theta) = F(theta) + g(theta)` with `F(theta) = (1/n_X) sum_i phi_i( fbar_i(theta) )` and
/// `fbar_i(theta) = (1/n_Yi) sum_j f_theta(x_i, y_ij)`.
#[derive(Debug, Clone)]
pub struct Problem<F, P, G> {
    /// f
    pub inner: F,
    /// phi
    pub merit: P,
    /// g
    pub regularizer: G,
}

/// The constants of the paper's Assumptions 1 to 3, as far as they are known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constants {
    /// `B_f >= |f'_theta(x_i, y_ij)|`
    pub b_f: Option<f64>,
    /// `B_theta`: f' is `B_theta`-Lipschitz in theta.
    pub b_theta: Option<f64>,
    /// `B_w`: every phi is `B_w`-Lipschitz; `+inf` where it is not.
    pub b_w: f64,
    /// Every phi is `1/gamma`-smooth; zero where it is not.
    pub gamma: f64,
    /// g is mu-strongly convex.
    pub mu: f64,
}

/// A problem with its types erased: what everything behind the constructor works on, compiled once.
#[derive(Clone, Copy)]
pub struct Objective<'p> {
    /// f
    pub inner: &'p dyn Inner,
    /// phi
    pub merit: &'p dyn Merit,
    /// g
    pub regularizer: &'p dyn Regularizer,
}

/// A problem that owns its parts, of whatever types: problems of many kinds in one list.
pub type BoxedProblem = Problem<Box<dyn Inner>, Box<dyn Merit>, Box<dyn Regularizer>>;

impl fmt::Debug for Objective<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(formatter)
    }
}

impl<'p, F: Inner, P: Merit, G: Regularizer> From<&'p Problem<F, P, G>> for Objective<'p> {
    fn from(problem: &'p Problem<F, P, G>) -> Self {
        Objective {
            inner: &problem.inner,
            merit: &problem.merit,
            regularizer: &problem.regularizer,
        }
    }
}

impl<'p> From<&Objective<'p>> for Objective<'p> {
    fn from(problem: &Objective<'p>) -> Self {
        *problem
    }
}

impl<F: Inner, P: Merit, G: Regularizer> Problem<F, P, G> {
    /// The problem of these parts.
    ///
    /// # Errors
    /// Unless phi has as many terms as f, and g goes with vectors of the length of theta.
    pub fn new(inner: F, merit: P, regularizer: G) -> Result<Self, InvalidSetting> {
        let problem = Problem { inner, merit, regularizer };
        problem.erased().check_lengths()?;
        Ok(problem)
    }

    /// This problem with its types erased.
    pub fn erased(&self) -> Objective<'_> {
        self.into()
    }

    /// This problem with its parts behind pointers.
    #[must_use]
    pub fn boxed(self) -> BoxedProblem
    where
        F: 'static,
        P: 'static,
        G: 'static,
    {
        let Problem { inner, merit, regularizer } = self;
        Problem {
            inner: Box::new(inner),
            merit: Box::new(merit),
            regularizer: Box::new(regularizer),
        }
    }

    /// `P(theta)`
    pub fn objective(&self, theta: &[f64]) -> f64 {
        self.erased().objective(theta)
    }

    /// `out = F'(theta) = (1/n_X) sum_i fbar_i'(theta) phi_i'(fbar_i(theta))`, g left out.
    pub fn gradient(&self, theta: &[f64], out: &mut [f64]) {
        self.erased().gradient(theta, out);
    }

    /// The constants of the paper's assumptions, as far as f, phi and g know them.
    pub fn constants(&self) -> Constants {
        self.erased().constants()
    }
}

impl Objective<'_> {
    /// `P(theta)`
    pub fn objective(&self, theta: &[f64]) -> f64 {
        let mut f_bar = vec![0.0; self.inner.n_x() * self.inner.ell()];
        self.inner.means(theta, &mut f_bar);
        self.loss(&f_bar) + self.regularizer.value(theta)
    }

    /// `F = (1/n_X) sum_i phi_i(fbar_i)`, from the averages.
    pub fn loss(&self, f_bar: &[f64]) -> f64 {
        let (n_x, ell) = (self.inner.n_x(), self.inner.ell());
        let mut loss = [0.0];
        Blocks::new(n_x, MERIT * ell).add(1.0, &mut loss, |terms, loss| {
            let own = terms.start * ell..terms.end * ell;
            loss[0] = self.merit.values(terms, &f_bar[own]);
        });
        loss[0] / n_x as f64
    }

    /// `w_i = phi_i'(fbar_i)` for all i: the best duals for given averages.
    pub fn duals(&self, f_bar: &[f64], w: &mut [f64]) {
        let ell = self.inner.ell();
        Blocks::new(self.inner.n_x(), MERIT * ell).fill(
            ell,
            w,
            #[inline(always)]
            |range, rows| {
                for (i, w_i) in range.zip(rows.chunks_exact_mut(ell)) {
                    self.merit.gradient(i, &f_bar[i * ell..(i + 1) * ell], w_i);
                }
            },
        );
    }

    /// `out = F'(theta) = (1/n_X) sum_i fbar_i'(theta) phi_i'(fbar_i(theta))`, g left out.
    pub fn gradient(&self, theta: &[f64], out: &mut [f64]) {
        let mut f_bar = vec![0.0; self.inner.n_x() * self.inner.ell()];
        let mut w = f_bar.clone();
        self.loss_and_gradient(theta, &mut f_bar, &mut w, out);
    }

    /// [`Self::gradient`] with `F(theta)` as what is returned; on the way, `f_bar_i =
    /// fbar_i(theta)` and `w_i = phi_i'(f_bar_i)`.
    pub fn loss_and_gradient(
        &self,
        theta: &[f64],
        f_bar: &mut [f64],
        w: &mut [f64],
        out: &mut [f64],
    ) -> f64 {
        let duals = |terms: Range<usize>, u: &[f64], w: &mut [f64]| {
            self.merit.values_and_gradients(terms, u, w)
        };
        self.inner.gradient(theta, &duals, f_bar, w, out)
    }

    /// The prox-gradient mapping `(theta - prox_{alpha g}(theta - alpha F'(theta))) / alpha`: zero
    /// exactly at a stationary point, and equal to `P'(theta)` where g is smooth and alpha goes to
    /// zero.
    pub fn prox_gradient_mapping(&self, theta: &[f64], alpha: f64) -> Vec<f64> {
        let mut gradient = vec![0.0; theta.len()];
        self.gradient(theta, &mut gradient);
        self.mapping(theta, &gradient, alpha)
    }

    /// The prox-gradient mapping when `F'(theta)` is at hand.
    pub(crate) fn mapping(&self, theta: &[f64], gradient: &[f64], alpha: f64) -> Vec<f64> {
        let mut next = theta.to_vec();
        self.regularizer.step(alpha, gradient, &mut next);
        theta.iter().zip(&next).map(|(here, next)| (here - next) / alpha).collect()
    }

    /// `|prox-gradient mapping|`
    pub fn stationarity(&self, theta: &[f64], alpha: f64) -> f64 {
        norm_squared(&self.prox_gradient_mapping(theta, alpha)).sqrt()
    }

    /// # Errors
    /// Unless phi has as many terms as f, and g goes with vectors of the length of theta.
    fn check_lengths(&self) -> Result<(), InvalidSetting> {
        let (d, n_x) = (self.inner.d(), self.inner.n_x());
        if let Some(terms) = self.merit.terms()
            && terms != n_x
        {
            let expected = format!("{n_x}, as many as f has");
            return Err(InvalidSetting::new("phi", format!("{terms} terms"), expected));
        }
        if !self.regularizer.fits(d) {
            let own = self.regularizer.d().map_or("another length".to_owned(), |d| d.to_string());
            let given = format!("a function of vectors of {own}");
            return Err(InvalidSetting::new("g", given, format!("one of {d}, as theta has")));
        }
        Ok(())
    }

    /// # Errors
    /// Unless phi and g fit f, and the start has as many numbers as theta.
    pub(crate) fn check_start(&self, theta: &[f64]) -> Result<(), InvalidSetting> {
        self.check_lengths()?;
        let d = self.inner.d();
        if theta.len() == d {
            return Ok(());
        }
        let given = format!("{} numbers", theta.len());
        Err(InvalidSetting::new("start", given, format!("{d}, as many as theta has")))
    }

    /// theta, or the point next to it that g allows.
    pub fn allowed(&self, theta: &[f64]) -> Vec<f64> {
        let mut theta = theta.to_vec();
        self.allow(&mut theta);
        theta
    }

    /// Moves theta to the point next to it that g allows: the prox with a vanishing step.
    pub fn allow(&self, theta: &mut [f64]) {
        if !self.regularizer.value(theta).is_finite() {
            // Not otherwise: even a vanishing step along a tilt would make subnormal numbers out of
            // zeros.
            self.regularizer.prox(f64::MIN_POSITIVE, theta);
        }
    }

    /// gamma, for steps that begin at theta: that of phi, or the inverse of its largest curvature
    /// at the averages of theta where a phi without kinks has a curvature that differs from place
    /// to place. Zero where phi has a kink.
    pub fn gamma_at(&self, theta: &[f64]) -> f64 {
        let mut f_bar = vec![0.0; self.inner.n_x() * self.inner.ell()];
        if self.varies() {
            self.inner.means(theta, &mut f_bar);
        }
        self.gamma_of(&f_bar)
    }

    /// [`Self::gamma_at`] from the averages at theta.
    pub(crate) fn gamma_of(&self, f_bar: &[f64]) -> f64 {
        let (n_x, ell) = (self.inner.n_x(), self.inner.ell());
        if !self.varies() {
            return self.merit.gamma();
        }
        let curvature = |i: usize| self.merit.curvature(i, &f_bar[i * ell..(i + 1) * ell]);
        let most = Blocks::new(n_x, ell).max(|| (), |(), i| curvature(i).unwrap_or(0.0));
        if most > 0.0 && most.is_finite() { 1.0 / most } else { 1.0 }
    }

    /// Whether phi has no kinks, and a curvature of its own at each place.
    fn varies(&self) -> bool {
        let somewhere = vec![0.0; self.inner.ell()];
        let Objective { inner, merit, .. } = self;
        !merit.has_kinks() && inner.n_x() > 0 && merit.curvature(0, &somewhere).is_some()
    }

    /// Whether `F''` is the same everywhere: f is affine, and phi a square or a quadratic form.
    pub(crate) fn quadratic(&self) -> bool {
        let Objective { inner, merit, .. } = self;
        let square = inner.n_x() > 0 && merit.square_weight_of(0).is_some();
        inner.facts().affine && (square || merit.quadratic_form().is_some())
    }

    /// The constants of the paper's assumptions, as far as f, phi and g know them.
    pub fn constants(&self) -> Constants {
        let bounds = self.inner.bounds();
        Constants {
            b_f: bounds.b_f,
            b_theta: bounds.b_theta,
            b_w: self.merit.lipschitz(self.inner.ell()),
            gamma: self.merit.gamma(),
            mu: self.regularizer.mu(),
        }
    }
}

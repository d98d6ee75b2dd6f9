//! What all proofs of a problem rest on: the problem, g coordinate by coordinate, and how far
//! rounding may have moved what is computed of them.

use std::cell::OnceCell;

use super::bracket;
use super::definite::Definite;
use super::dual::Point;
use super::lean::Lean;
use super::sizes::{Sizes, UNIT, mean_square};
use crate::model::inner::{Summed, mean_jacobian_norm};
use crate::model::merit::QuadraticForm;
use crate::model::problem::Objective;
use crate::model::regularizer::Parts;

/// What all proofs of a problem rest on.
pub(crate) struct Ground<'p> {
    pub(crate) problem: Objective<'p>,
    /// g along its coordinates; None for a g of one's own. Where g has constraints on theta as a
    /// whole, the function below it that `lean` makes of it.
    pub(crate) parts: Option<Parts>,
    /// Those constraints.
    pub(crate) lean: Option<Lean>,
    sizes: OnceCell<Sizes>,
    /// Whether they come from an `F''` that was known before a Hessian was made of it.
    pub(super) is_sized_by_hessian: bool,
    /// At most the smallest eigenvalue of C, scaled to a diagonal of ones, where phi is a quadratic
    /// form of it; 0 where C may be singular.
    least: OnceCell<f64>,
}

impl<'p> Ground<'p> {
    pub(crate) fn new(problem: Objective<'p>) -> Self {
        let parts = Parts::with_constraints(problem.regularizer, problem.inner.d())
            .filter(|g| g.outside == 0)
            .map(bounded_by_budget);
        let lean = parts.as_ref().and_then(Lean::new);
        let parts = lean.as_ref().map(|lean| lean.parts().clone()).or(parts);
        let (sizes, least) = (OnceCell::new(), OnceCell::new());
        Ground { problem, parts, lean, sizes, is_sized_by_hessian: false, least }
    }

    /// Takes the sizes of columns from their variances, unless they are known.
    pub(crate) fn know_variances(&self, variances: &[f64]) {
        self.sizes.get_or_init(|| Sizes::new(self.problem.inner, Some(variances)));
    }

    /// The same, whatever was known: what a run that goes on from here finds, too.
    pub(crate) fn take_variances(&mut self, variances: &[f64]) {
        self.sizes = OnceCell::from(Sizes::new(self.problem.inner, Some(variances)));
        self.is_sized_by_hessian = true;
    }

    /// Whether sizes are known that no Hessian gave.
    pub(crate) fn has_sizes(&self) -> bool {
        self.sizes.get().is_some() && !self.is_sized_by_hessian
    }

    pub(crate) fn sizes(&self) -> &Sizes {
        self.sizes.get_or_init(|| {
            let f = self.problem.inner;
            if f.facts().affine {
                return Sizes::new(f, None);
            }
            if let Some(columns) = f.summed().and_then(Summed::columns) {
                return Sizes::of_all(&columns);
            }
            let size = mean_jacobian_norm(f, &vec![0.0; f.d()]);
            Sizes::of_curved(f.d(), size)
        })
    }

    pub(crate) fn n_x(&self) -> usize {
        self.problem.inner.n_x()
    }

    /// The duals at theta, in root mean square: those in w or, of an f that is all of F, those
    /// behind it.
    pub(crate) fn omega(&self, theta: &[f64], w: &[f64]) -> f64 {
        match self.problem.inner.summed() {
            Some(summed) => summed.slopes(theta).unwrap_or(f64::NAN),
            None => mean_square(w, self.n_x()),
        }
    }

    /// What each `u_l` at theta is known up to, with the rounding of a mean that is part of g.
    pub(crate) fn errors(&self, theta: &[f64], w: &[f64]) -> Vec<f64> {
        let sizes = self.sizes();
        let mut errors = sizes.sum_errors(w, self.omega(theta, w));
        if self.problem.inner.centred_rows().is_some() {
            let tilts = sizes.columns.iter().map(|size| sizes.of_sum * size);
            errors.iter_mut().zip(tilts).for_each(|(error, tilt)| *error += tilt);
        }
        if let Some(lean) = &self.lean {
            errors.iter_mut().zip(&lean.error).for_each(|(error, tilt)| *error += tilt);
        }
        errors
    }

    /// What the objective at a point with these duals may be rounded by.
    pub(crate) fn objective_error(&self, point: Point<'_>, w: &[f64]) -> f64 {
        let sizes = self.sizes();
        let tilt = if self.problem.inner.centred_rows().is_some() { sizes.of_sum } else { 0.0 };
        let g = self.parts.as_ref().map_or(point.g.abs(), |g| {
            let term = |l: usize| {
                let (part, x) = (&g.parts[l], point.theta[l].abs());
                x * (part.tilt.abs() + part.l1 + part.l2 * x)
            };
            (0..point.theta.len()).map(term).sum()
        });
        sizes.product_error(point.theta, w, self.omega(point.theta, w))
            + self.bent_error(point.theta)
            + self.form_error(w)
            + tilt * sizes.reach(point.theta)
            + sizes.of_sum * point.loss.abs()
            + UNIT * (point.theta.len() as f64 + 3.0) * g
    }

    /// What averages that are off by delta, in root mean square, do to phi beyond its slope:
    /// `delta^2 / (2 gamma)`, and twice the largest slope at most.
    fn bent_error(&self, theta: &[f64]) -> f64 {
        let (merit, delta) = (self.problem.merit, self.sizes().average_error(theta));
        if let Some(form) = merit.quadratic_form() {
            return self.bent_form_error(form, theta);
        }
        let (square, line) = (
            delta * delta / (2.0 * merit.gamma()),
            2.0 * merit.lipschitz(self.problem.inner.ell()) * delta,
        );
        let most = if square < line { square } else { line };
        if most.is_finite() { most } else { 0.0 }
    }

    /// The same where phi is a quadratic form and its averages stand for others: `delta' C^-1 delta /
    /// 2`, which is not small beside a minimum of zero.
    fn bent_form_error(&self, form: &QuadraticForm, theta: &[f64]) -> f64 {
        let errors = self.sizes().average_errors(theta);
        let Some(errors) = errors.filter(|_| self.problem.inner.facts().roundings > 0) else {
            return 0.0;
        };
        let diagonal = form.matrix().iter().step_by(form.ell() + 1);
        let squares: f64 = errors.iter().zip(diagonal).map(|(delta, c)| delta * delta / c).sum();
        0.5 * squares / self.least(form)
    }

    fn least(&self, form: &QuadraticForm) -> f64 {
        let unit = UNIT * (form.terms() + form.ell()) as f64;
        *self.least.get_or_init(|| {
            let definite = Definite::new(form.matrix().to_vec(), form.ell(), unit);
            definite.map_or(0.0, |definite| definite.lambda())
        })
    }

    /// What a step from the origin along the best coordinate would gain at least, where F is as
    /// bent as it can be and g has a tilt and squares alone. Where that is not known, as phi has
    /// kinks: the least that the tilt of a coordinate does between its bounds. Infinite where there
    /// is neither.
    pub(crate) fn gain(&self, slope: &[f64]) -> f64 {
        let (Some(g), sizes) = (&self.parts, self.sizes()) else { return f64::INFINITY };
        let bend = 1.0 / self.problem.merit.gamma();
        let along = |l: usize| {
            (slope[l] + g.parts[l].tilt).powi(2)
                / (2.0 * (bend * sizes.columns[l].powi(2) + g.parts[l].l2))
        };
        let most = (0..slope.len()).map(along).filter(|gain| gain.is_finite()).fold(0.0, f64::max);
        let between = g.parts.iter().map(|part| part.tilt.abs() * part.lo.abs().max(part.hi.abs()));
        let least = between.filter(|gain| *gain > 0.0).fold(f64::INFINITY, f64::min);
        if most > 0.0 { most } else { least }
    }

    /// What rounding of C and of its factor may do to `u' C^-1 u / 2 = w' C w / 2` where phi is a
    /// quadratic form: it is as large as the terms of the latter.
    fn form_error(&self, w: &[f64]) -> f64 {
        let Some(form) = self.problem.merit.quadratic_form() else { return 0.0 };
        let ell = form.ell();
        let (mut size, mut whole) = (0.0, 0.0);
        for (row, x) in form.matrix().chunks_exact(ell).zip(w) {
            for term in row.iter().zip(w).map(|(c, w)| c * w * x) {
                (size, whole) = (size + term.abs(), whole + term);
            }
        }
        let unit = UNIT * (form.terms() + ell) as f64;
        // Small changes of C do as little to its inverse as the smallest eigenvalue is far from
        // them.
        let condition = 2.0 * ell as f64 / self.least(form);
        if whole == 0.0 { unit * size } else { unit * (size + condition * whole.abs()) }
    }

    /// The relative error of the entries of `(1/n) A' W A` on some coordinates, for weights up to
    /// `most`.
    pub(crate) fn gram_error(&self, most: f64, coordinates: &[usize], matrix: &[f64]) -> f64 {
        let (sizes, d) = (self.sizes(), self.sizes().columns.len());
        let root = most.sqrt();
        let lost = |l: &usize| sizes.of_entry * root * sizes.columns[*l] / matrix[l * d + l].sqrt();
        let lost = if sizes.of_entry > 0.0 {
            coordinates.iter().map(lost).fold(0.0, f64::max)
        } else {
            0.0
        };
        sizes.of_sum + 3.0 * lost
    }

    /// The multiplier of the budget that suits duals best; 0 without a budget.
    pub(crate) fn multiplier(&self, g: &Parts, point: Point<'_>, w: &[f64], u: &[f64]) -> f64 {
        if g.budget { bracket::multiplier(g, u, &self.radius(point, w, u, 2.0)) } else { 0.0 }
    }

    /// How far theta may go, coordinate by coordinate, for a bound among `times` the answer: `S_l
    /// |z_l|` up to this many times the largest `S_l |theta_l|`, or what else tells how large a
    /// theta is that matters: the averages, what moves the loss by itself, or what a step along a
    /// slope does.
    pub(crate) fn radius(&self, point: Point<'_>, w: &[f64], u: &[f64], times: f64) -> Vec<f64> {
        let (sizes, merit) = (self.sizes(), self.problem.merit);
        let omega = self.omega(point.theta, w);
        let of_loss = if omega > 0.0 { (point.loss.abs() + point.g.abs()) / omega } else { 0.0 };
        let bend = 1.0 / merit.gamma();
        let of_step = |l: usize| {
            let tilt = self.parts.as_ref().map_or(0.0, |g| g.parts[l].tilt);
            let size = sizes.columns[l];
            if size > 0.0 && bend.is_finite() { (u[l] + tilt).abs() / (size * bend) } else { 0.0 }
        };
        let step = (0..u.len()).map(of_step).fold(0.0, f64::max);
        let least = mean_square(point.f_bar, self.n_x()).max(of_loss).max(step);
        let extent = sizes.extent(point.theta, least);
        let radius = |size: &f64| if *size > 0.0 { times * extent / size } else { f64::MAX };
        sizes.columns.iter().map(radius).collect()
    }
}

/// With the bounds that a budget makes of those of the other coordinates: weights of 0 or more that
/// add up to 1 are at most 1.
fn bounded_by_budget(mut g: Parts) -> Parts {
    if g.budget {
        let (least, most): (f64, f64) = g
            .parts
            .iter()
            .fold((0.0, 0.0), |(least, most), part| (least + part.lo, most + part.hi));
        for part in &mut g.parts {
            // Not a number where it is without bounds itself.
            let (others_least, others_most) = (least - part.lo, most - part.hi);
            let slack = SLACK * (1.0 + others_least.abs().min(others_most.abs()));
            if others_least.is_finite() {
                part.hi = part.hi.min(1.0 - others_least + slack);
            }
            if others_most.is_finite() {
                part.lo = part.lo.max(1.0 - others_most - slack);
            }
        }
    }
    g
}

/// What rounding may do to such a bound.
const SLACK: f64 = 1e-12;

//! The normal equations: where f is affine, every phi a square (or the only one a quadratic form) and g no more than a ridge and a linear term, P is a
//! quadratic, and `theta <- theta - P''^-1 P'(theta)` leads to its minimum from anywhere. Legendre 1805, Gauss 1809; the factor is Cholesky's
//! (Benoit 1924), and steps after the first take off what rounding left (Wilkinson 1963).
//!
//! Asks of the problem: what makes it a quadratic. Where `P''` is singular but P bounded below, the steps are those of a matrix slightly above it:
//! they lead to the minimiser nearest to the start, in a few steps more.
//! Once: one product for every mean Jacobian, `n_X ell d^2` multiply-adds and `d^3 / 3`; or `(n_X ell)^2 d` where there are fewer averages than coordinates; and one whole
//! gradient. Per step: another. Storage: `d^2` or `(n_X ell)^2`, and the averages, `n_X d ell`, of an f that does not have them at hand.

use serde::{Deserialize, Serialize};

use self::quadratic::Factor;
use super::{Ask, Family, Form, Listed, Method, MethodInfo, Rate};
use crate::choice::{Choice, ChoiceError};
use crate::cholesky::Cholesky;
use crate::collapse::Collapsed;
use crate::evaluate::Gradient;
use crate::inner::Inner;
use crate::merit::Merit;
use crate::oracle::Oracle;
use crate::problem::Problem;
use crate::regularizer::{Quadratic, Regularizer};
use crate::vector::{axpy, norm_squared};

pub(crate) mod quadratic;

/// The table's row.
pub const INFO: MethodInfo = MethodInfo {
    name: "direct",
    title: "Normal equations",
    family: Family::Batch,
    summary: "solves a quadratic problem by Cholesky's factor of its second derivatives",
    reference: "Legendre 1805; Gauss 1809; Benoit 1924",
    storage: "min(d, n_X ell)^2",
    rate: Rate::Linear,
    form: Form::Given,
    asks: &[Ask::Quadratic],
    settings: &[],
};

/// Of the largest gradient; what stays of it and is smaller may be rounding.
const ENDLESS: f64 = 1e-8;

/// The normal equations, which have no settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Direct;

/// Theta, the gradient at it and the factor.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
    /// `F'(theta)`
    gradient: Vec<f64>,
    direction: Vec<f64>,
    /// The norm of the gradient at the last point, if `P''` is singular: it falls, or there is no minimum.
    last: f64,
    /// The largest of them.
    first: f64,
    f_bar: Vec<f64>,
    w: Vec<f64>,
    g: Quadratic,
    factor: Factor,
    /// The averages of an f that does not have them at hand.
    model: Option<Collapsed>,
}

impl State {
    /// `F'(theta)`
    fn look<F: Inner, P: Merit, G: Regularizer>(&mut self, oracle: &mut Oracle<'_, F, P, G>) {
        let State { theta, gradient, f_bar, w, model, .. } = self;
        match model {
            Some(model) => oracle.gradient_of_model(model, theta, f_bar, w, gradient),
            None => {
                oracle.gradient(theta, f_bar, w, gradient);
            }
        }
    }

    /// Theta, where it is the only one.
    pub(crate) fn minimiser(&self) -> Option<&[f64]> {
        self.factor.is_unique().then_some(&self.theta)
    }
}

impl Listed for Direct {
    const INFO: MethodInfo = INFO;

    fn settings<F: Inner, P: Merit, G: Regularizer>(
        _: &Choice,
        _: &Problem<F, P, G>,
        _: &[f64],
    ) -> Result<Self, ChoiceError> {
        Ok(Direct)
    }
}

impl<F: Inner, P: Merit, G: Regularizer> Method<F, P, G> for Direct {
    type State = State;

    fn init(&self, oracle: &mut Oracle<'_, F, P, G>, theta: &[f64]) -> State {
        let g = oracle.quadratic_regularizer().expect("the method has been chosen for this problem");
        let (factor, model) = Factor::new(oracle, &g.l2, theta);
        let size = oracle.n_x() * oracle.ell();
        let mut state = State {
            theta: theta.to_vec(),
            gradient: vec![0.0; oracle.d()],
            direction: vec![0.0; oracle.d()],
            last: f64::INFINITY,
            first: 0.0,
            f_bar: vec![0.0; size],
            w: vec![0.0; size],
            g,
            factor,
            model,
        };
        state.look(oracle);
        state
    }

    /// What a step needs is at hand.
    fn outer(&self, _: &mut Oracle<'_, F, P, G>, _: &mut State) {}

    fn inner_iterations(&self, _: &State) -> usize {
        1
    }

    /// `theta <- theta - P''^-1 P'(theta)`. Along a direction in which P falls for ever the gradient stays what it is, and theta goes to infinity
    /// at once.
    fn inner(&self, oracle: &mut Oracle<'_, F, P, G>, s: &mut State) {
        s.direction.copy_from_slice(&s.gradient);
        s.g.add_gradient(&s.theta, &mut s.direction);
        if !s.factor.is_unique() {
            let norm = norm_squared(&s.direction).sqrt();
            if norm > ENDLESS * s.first.max(norm) && norm > 0.9 * s.last {
                return s.theta.fill(f64::INFINITY);
            }
            (s.first, s.last) = (s.first.max(norm), norm);
        }
        s.factor.solve(oracle.averages().or(s.model.as_ref()), &mut s.direction);
        axpy(-1.0, &s.direction, &mut s.theta);
        s.look(oracle);
    }

    fn theta<'s>(&self, s: &'s State) -> &'s [f64] {
        &s.theta
    }

    fn factor<'s>(&self, s: &'s State) -> Option<&'s Cholesky> {
        s.factor.exact()
    }

    fn gradient<'s>(&self, s: &'s State) -> Option<Gradient<'s>> {
        Some(Gradient { f_bar: &s.f_bar, w: &s.w, gradient: &s.gradient })
    }
}
